"""Connecting as NVMe-oF's engineers do: secrets, options, side by side, beside other programs."""

import base64
import json
import re
import shutil
import socket
import threading
import time
import zlib
from collections.abc import Sequence
from pathlib import Path

import pytest

from contracts.errors import RejectedError, UnavailableError
from storage.drives.keeper import Keeper
from storage.drives.nvmeof import Made, answers
from storage.drives.saved import name_host, remember, saved
from storage.drives.secrets import hidden, read_secret
from storage.drives.targets import ConnectOptions, Reconnect, Target, WantedConnection
from storage.drives.tools import Said, run_tool
from support.machine.nvmecli import NvmeCli, willing
from support.machine.sysfs import Machine

NQN = "nqn.2026-01.example:video"
TARGET = Target("tcp", "192.168.7.2", "4420", NQN)
OTHER = Target("tcp", "192.168.8.2", "4420", NQN)
DEADLINE_S = 60


def secret(seed: int, kind: str = "DHHC-1:00") -> str:
    key = bytes([seed]) * 32
    check = zlib.crc32(key).to_bytes(4, "little")
    return f"{kind}:{base64.b64encode(key + check).decode()}:"


def file_with(path: Path, said: str, mode: int = 0o600) -> str:
    path.write_text(f"{said}\n", "ascii")
    path.chmod(mode)
    return str(path)


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


def test_all_options_reach_nvme_cli_and_the_kernel(machine: Machine) -> None:
    cli = NvmeCli(machine)
    target = Target("tcp", "192.168.7.2", "4420", NQN, "192.168.7.9", "eth1")
    options = ConnectOptions(4, hdr_digest=True, data_digest=True, iopolicy="round-robin")
    cli.fabric.connect(WantedConnection(target, Reconnect(), options))
    assert cli.called == [
        [
            *("nvme", "connect", "--transport=tcp", "--traddr=192.168.7.2", "--trsvcid=4420"),
            *("--host-traddr=192.168.7.9", "--host-iface=eth1", f"--nqn={NQN}"),
            *("--keep-alive-tmo=5", "--reconnect-delay=2", "--ctrl-loss-tmo=-1"),
            *("--nr-io-queues=4", "--hdr-digest", "--data-digest"),
        ]
    ]
    policy = machine.kernel.sys / "class/nvme-subsystem/nvme-subsys1/iopolicy"
    assert policy.read_text() == "round-robin\n"


def test_secrets_are_in_no_argument(machine: Machine, tmp_path: Path) -> None:
    cli = NvmeCli(machine, attributes={"dhchap_secret": secret(1)})
    name_host(machine.root)
    own, theirs = (file_with(tmp_path / f"key{n}", secret(n)) for n in (1, 2))
    options = ConnectOptions(dhchap_secret_file=own, dhchap_ctrl_secret_file=theirs)
    cli.fabric.connect(WantedConnection(TARGET, Reconnect(), options))
    (command,) = cli.called
    assert "DHHC" not in " ".join(command)
    (host,) = json.loads(cli.configs[0])
    assert host["hostnqn"] == name_host(machine.root)
    (subsystem,) = host["subsystems"]
    assert subsystem == {
        "nqn": NQN,
        "ports": [
            {
                "transport": "tcp",
                "traddr": "192.168.7.2",
                "trsvcid": "4420",
                "dhchap_key": secret(1),
                "dhchap_ctrl_key": secret(2),
            }
        ],
    }
    shown = machine.kernel.sys / "class/nvme/nvme1/dhchap_secret"
    assert shown.stat().st_mode & 0o777 == 0o600
    assert not Path(command[-1].partition("=")[2]).exists()


def test_a_kernel_that_ignores_the_secret_is_no_success(machine: Machine, tmp_path: Path) -> None:
    cli = NvmeCli(machine)
    options = ConnectOptions(dhchap_secret_file=file_with(tmp_path / "key", secret(1)))
    with pytest.raises(UnavailableError, match="is built without NVMe in-band authentication"):
        cli.fabric.connect(WantedConnection(TARGET, Reconnect(), options))
    assert [command[1] for command in cli.called] == ["connect", "disconnect"]


@pytest.mark.parametrize(
    ("refusal", "given", "meaning"),
    [
        ("Key was rejected by service", True, "DH-CHAP failed, this host and the target have"),
        ("Required key not available", False, "asks for a DH-CHAP secret, and this connection has"),
    ],
)
def test_a_refused_proof_is_one_clear_error(
    machine: Machine, tmp_path: Path, refusal: str, meaning: str, *, given: bool
) -> None:
    file = file_with(tmp_path / "key", secret(1)) if given else ""
    cli = NvmeCli(machine, refusal=f"Failed to write to /dev/nvme-fabrics: {refusal}\nmore\n")
    with pytest.raises(UnavailableError, match=meaning):
        cli.fabric.connect(
            WantedConnection(TARGET, Reconnect(), ConnectOptions(dhchap_secret_file=file))
        )


@pytest.mark.parametrize(
    ("said", "mode", "complaint"),
    [
        (secret(1), 0o640, "expected a file for its owner alone, got mode 0640"),
        ("hunter2", 0o600, "expected one line, DHHC-1:…:…:, got another form"),
        (secret(1).replace("AQEB", "AQEC", 1), 0o600, "its CRC does not match"),
        (secret(1, "NVMeTLSkey-1:01"), 0o600, "got another form"),
        (secret(1) * 9, 0o600, "got another form"),
        ("", 0o600, "got another form"),
    ],
)
def test_a_file_without_a_valid_secret_is_not_quoted(
    tmp_path: Path, said: str, mode: int, complaint: str
) -> None:
    path = Path(file_with(tmp_path / "key", said, mode))
    with pytest.raises(RejectedError, match=complaint) as caught:
        read_secret(path, "DHHC-1")
    assert "hunter2" not in str(caught.value)
    assert "AQEB" not in str(caught.value)


def test_a_missing_secret_connects_nothing(machine: Machine, tmp_path: Path) -> None:
    cli = NvmeCli(machine)
    options = ConnectOptions(dhchap_secret_file=str(tmp_path / "gone"))
    with pytest.raises(UnavailableError, match="gone: expected a file, it is missing"):
        cli.fabric.connect(WantedConnection(TARGET, Reconnect(), options))
    assert not cli.called


def test_an_error_repeats_no_secret(machine: Machine) -> None:
    told = f"connect ctrl, 'nqn=x,dhchap_secret={secret(1)},tls_key=NVMeTLSkey-1:01:abc:'"
    assert hidden(told) == "connect ctrl, 'nqn=x,dhchap_secret=DHHC-1:…,tls_key=NVMeTLSkey-1:…'"
    with pytest.raises(UnavailableError) as caught:
        NvmeCli(machine, refusal=told).fabric.connect(WantedConnection(TARGET))
    assert "AQEB" not in str(caught.value)


def test_tls_without_a_kernel_that_has_it_is_said(machine: Machine, tmp_path: Path) -> None:
    (machine.root / "dev").mkdir()
    gate = machine.root / "dev/nvme-fabrics"
    key = file_with(tmp_path / "psk", secret(1, "NVMeTLSkey-1:01"))
    wanted = WantedConnection(TARGET, Reconnect(), ConnectOptions(tls=True, tls_key_file=key))
    gate.write_text("instance=-1,cntlid=-1,dhchap_secret=%s\n")
    with pytest.raises(
        UnavailableError, match=r"has no TLS for NVMe over TCP: expected Linux 6\.7"
    ):
        NvmeCli(machine).fabric.connect(wanted)
    gate.write_text("instance=-1,cntlid=-1,keyring=%d,tls_key=%d,tls\n")
    with pytest.raises(
        UnavailableError, match=r"this nvme-cli has no --tls: TLS needs version 2\.6"
    ):
        NvmeCli(machine, knows="--config=<FILE>").fabric.connect(wanted)
    with pytest.raises(UnavailableError, match=r"has no --tls-key: .* a key in a file 2\.11"):
        NvmeCli(machine, knows="[ --tls ] --- enable TLS").fabric.connect(wanted)
    cli = NvmeCli(machine, knows="[ --tls ] [ --tls-key=<STR> ] [ --keyring=<STR> ]")
    cli.fabric.connect(wanted)
    assert cli.called[0][-2] == "--tls"
    assert json.loads(cli.configs[0])[0]["subsystems"][0]["ports"][0]["tls_key"].startswith("NVMeT")


def test_a_saved_connection_has_its_options_and_no_secret(tmp_path: Path) -> None:
    key = file_with(tmp_path / "key", secret(1))
    wanted = WantedConnection(
        TARGET, Reconnect(), ConnectOptions(2, hdr_digest=True, dhchap_secret_file=key)
    )
    remember(tmp_path, wanted)
    assert saved(tmp_path) == (wanted,)
    assert "DHHC" not in (tmp_path / "etc/wayseal/nvmeof.json").read_text()


def test_a_file_of_an_older_version_has_no_options(tmp_path: Path) -> None:
    remember(tmp_path, WantedConnection(TARGET))
    path = tmp_path / "etc/wayseal/nvmeof.json"
    document = json.loads(path.read_text())
    del document["connections"][0]["options"]
    for name in ("host_traddr", "host_iface"):
        del document["connections"][0]["target"][name]
    path.write_text(json.dumps(document))
    assert saved(tmp_path) == (WantedConnection(TARGET),)


def theirs(machine: Machine) -> None:
    """Make a connection as another program would."""
    machine.controller("nvme1", NQN, "traddr=192.168.7.2,trsvcid=4420", fast_io_fail_tmo=7)
    machine.head(NQN, {"nvme1": "optimized"})


def test_a_connection_of_another_program_is_used_and_left_as_it_is(machine: Machine) -> None:
    theirs(machine)
    cli = NvmeCli(machine)
    made = cli.fabric.connect(WantedConnection(TARGET))
    assert not made.own
    assert made.controller.name == "nvme1"
    assert cli.called == []
    assert (machine.kernel.sys / "class/nvme/nvme1/fast_io_fail_tmo").read_text() == "7\n"


def test_what_another_program_connected_is_not_disconnected(machine: Machine) -> None:
    theirs(machine)
    cli = NvmeCli(machine)
    cli.fabric.connect(WantedConnection(OTHER))
    told = cli.fabric.disconnect(NQN)
    assert [each.name for each in told.ended] == ["nvme2"]
    assert [each.name for each in told.left] == ["nvme1"]
    assert cli.called[-1] == ["nvme", "disconnect", "--device=nvme2"]
    cli.fabric.disconnect(NQN, everyone=True)
    assert cli.called[-1] == ["nvme", "disconnect", "--device=nvme1"]


def test_a_connection_of_another_program_can_be_taken_over(machine: Machine) -> None:
    cli = NvmeCli(machine)
    cli.fabric.adopt(TARGET)  # there is none yet
    theirs(machine)
    cli.fabric.adopt(TARGET)
    assert cli.fabric.connect(WantedConnection(TARGET)).own
    assert (machine.kernel.sys / "class/nvme/nvme1/fast_io_fail_tmo").read_text() == "60\n"


def test_a_later_controller_of_the_same_name_is_not_ours(machine: Machine) -> None:
    cli = NvmeCli(machine)
    cli.fabric.connect(WantedConnection(TARGET))
    cli.fabric.disconnect(NQN)
    place = machine.kernel.sys / "devices/virtual/nvme-fabrics/ctl/nvme1"
    place.rename(place.with_name("gone"))  # its inode stays in use
    machine.controller("nvme1", NQN, "traddr=192.168.7.2,trsvcid=4420")
    assert not cli.fabric.disconnect(NQN).ended


def test_another_program_that_is_faster_keeps_its_connection(machine: Machine) -> None:
    class Faster(NvmeCli):
        def __call__(self, command: Sequence[str], limit_s: float) -> Said:
            theirs(self.machine)
            self.refusal = "already connected\n"
            return super().__call__(command, limit_s)

    assert not Faster(machine).fabric.connect(WantedConnection(TARGET)).own


def test_an_error_after_the_connection_was_made_is_none(machine: Machine) -> None:
    class Late(NvmeCli):
        def __call__(self, command: Sequence[str], limit_s: float) -> Said:
            super().__call__(command, limit_s)
            return Said(1, "", "failed to lookup subsystem for controller nvme1\n")

    assert Late(machine).fabric.connect(WantedConnection(TARGET)).own


def test_connections_are_made_side_by_side(machine: Machine) -> None:
    both = threading.Barrier(2, timeout=DEADLINE_S)

    class Together(NvmeCli):
        def __call__(self, command: Sequence[str], limit_s: float) -> Said:
            if command[1] == "connect":
                both.wait()  # breaks unless both are at it at the same time
                with lock:
                    return super().__call__(command, limit_s)
            return super().__call__(command, limit_s)

    lock = threading.Lock()
    done = Together(machine).fabric.connect_all([WantedConnection(TARGET), WantedConnection(OTHER)])
    assert [isinstance(each, Made) for each in done] == [True, True]


def test_any_other_error_of_a_connection_is_named(machine: Machine) -> None:
    class Broken(NvmeCli):
        def __call__(self, command: Sequence[str], limit_s: float) -> Said:
            if "--traddr=192.168.8.2" in command:
                raise UnicodeDecodeError("utf-8", b"\xff", 0, 1, "invalid start byte")
            return super().__call__(command, limit_s)

    cli = Broken(machine)
    done = cli.fabric.connect_all([WantedConnection(OTHER), WantedConnection(TARGET)])
    assert [type(each) for each in done] == [UnavailableError, Made]
    assert "UnicodeDecodeError('utf-8'" in str(done[0])
    remember(machine.root, WantedConnection(OTHER))
    keeper = Keeper(machine.kernel, machine.root, cli, answers=willing)
    said: list[str] = []
    until = time.monotonic() + DEADLINE_S
    while not said or keeper.connecting:
        assert time.monotonic() < until, said
        said += keeper.step()
    assert said[0].startswith(f"{NQN} at 192.168.8.2: UnicodeDecodeError('utf-8'")


def test_one_target_that_does_not_answer_keeps_no_other_waiting(machine: Machine) -> None:
    silent = threading.Event()
    remember(machine.root, WantedConnection(OTHER))
    remember(machine.root, WantedConnection(TARGET))

    def reached(target: Target) -> None:
        if target == OTHER:
            silent.wait(DEADLINE_S)
            raise UnavailableError("no answer within 3 s")
        willing(target)

    cli = NvmeCli(machine)
    keeper = Keeper(machine.kernel, machine.root, cli, answers=reached)
    said = keeper.step()
    until = time.monotonic() + DEADLINE_S
    while not any("connected to" in words for words in said):
        assert time.monotonic() < until, said
        said += keeper.step()
    assert f"{NQN} at 192.168.8.2" not in " ".join(said)
    silent.set()
    while not any("192.168.8.2" in words for words in said):
        assert time.monotonic() < until, said
        said += keeper.step()
    assert f"{NQN} at 192.168.8.2: no answer within 3 s" in said
    assert [command[3] for command in cli.called] == ["--traddr=192.168.7.2"]


@pytest.mark.skipif(shutil.which("nvme") is None, reason="nvme-cli is not installed")
def test_the_real_nvme_cli_has_our_options() -> None:
    said = run_tool(("nvme", "connect", "--help"), DEADLINE_S)
    known = set(re.findall(r"--[a-z-]+", said.out + said.errors))
    assert {
        *("--transport", "--traddr", "--trsvcid", "--host-traddr", "--host-iface", "--nqn"),
        *("--keep-alive-tmo", "--reconnect-delay", "--ctrl-loss-tmo", "--nr-io-queues"),
        *("--hdr-digest", "--data-digest", "--config"),
    } <= known


def test_a_target_that_refuses_is_not_handed_to_the_kernel() -> None:
    with socket.socket() as deaf:
        deaf.bind(("127.0.0.1", 0))
        port = str(deaf.getsockname()[1])
        with pytest.raises(UnavailableError, match="no TCP connection: "):
            answers(Target("tcp", "127.0.0.1", port, NQN))
        deaf.listen()
        answers(Target("tcp", "127.0.0.1", port, NQN))
    answers(Target("rdma", "127.0.0.1", "1", NQN))
