"""Connecting NVMe-oF subsystems: what nvme-cli is told, what is written to sysfs, what is kept."""

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from contracts.errors import RejectedError, UnavailableError
from storage.drives.discovery import (
    discover,
    parse_discovery,
    require_fabrics,
    resolve,
    service,
)
from storage.drives.kernel import text
from storage.drives.nvme import controllers
from storage.drives.nvmeof import Fabric
from storage.drives.saved import (
    CONNECTIONS,
    ENABLED,
    FSTAB,
    HOST_NQN,
    UNIT,
    add_to_fstab,
    enable,
    forget,
    fstab_line,
    kept_points,
    name_host,
    remember,
    saved,
)
from storage.drives.targets import Reconnect, Target, WantedConnection
from storage.drives.tools import Said
from support.machine.nvmecli import NvmeCli
from support.machine.sysfs import Machine

NQN = "nqn.2026-01.example:video"
TARGET = Target("tcp", "192.168.7.2", "4420", NQN)
AT = service("tcp", "192.168.7.2", "4420", "", "")
COMMAND = ("/opt/wayseal/bin/wayseal-gateway", "volumes", "keep")
LOG = {
    "genctr": 4,
    "records": [
        {
            "trtype": "tcp",
            "adrfam": "ipv4",
            "subtype": "current discovery subsystem",
            "portid": 1,
            "trsvcid": "4420",
            "subnqn": "nqn.2014-08.org.nvmexpress.discovery",
            "traddr": "192.168.7.2",
        },
        {
            "trtype": "tcp",
            "adrfam": "ipv4",
            "subtype": "nvme subsystem",
            "treq": "not specified, sq flow control disable supported",
            "portid": 1,
            "trsvcid": "4420",
            "subnqn": NQN,
            "traddr": "192.168.7.2",
            "sectype": "none",
        },
    ],
}


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


def test_a_discovery_log_names_what_is_offered(machine: Machine) -> None:
    cli = NvmeCli(machine, log=LOG)
    assert discover(AT, cli) == (TARGET,)
    assert cli.called == [
        [
            "nvme",
            "discover",
            "--transport=tcp",
            "--traddr=192.168.7.2",
            "--trsvcid=4420",
            "--output-format=json",
        ]
    ]


@pytest.mark.parametrize("said", ["", "No discovery log entries to fetch.\n"])
def test_a_target_may_offer_nothing(said: str) -> None:
    assert list(parse_discovery(said, AT)) == []


@pytest.mark.parametrize("said", ["{", '{"records": [{}]}', '{"records": 5}'])
def test_a_discovery_log_that_is_none(said: str) -> None:
    with pytest.raises(UnavailableError, match="nvme discover said"):
        list(parse_discovery(said, AT))


def test_what_a_target_offers_forges_no_line_on_the_terminal() -> None:
    record = {"subtype": "nvme subsystem", "trtype": "tcp", "traddr": "1.2.3.4", "trsvcid": "1"}
    said = json.dumps({"records": [{**record, "subnqn": "nqn.x\x1b[2J\nnqn.good"}]})
    with pytest.raises(UnavailableError, match="expected the NQN"):
        list(parse_discovery(said, AT))


def test_what_a_drive_says_of_itself_has_no_control_characters(tmp_path: Path) -> None:
    (tmp_path / "model").write_bytes(b" Fast\x1b[2J Drive\xff\nHEALTH good\n")
    assert text(tmp_path / "model") == "Fast?[2J Drive\ufffd?HEALTH good"


def test_a_connection_gets_our_settings(machine: Machine) -> None:
    cli = NvmeCli(machine)
    made = cli.fabric.connect(WantedConnection(TARGET))
    assert cli.called == [
        [
            "nvme",
            "connect",
            "--transport=tcp",
            "--traddr=192.168.7.2",
            "--trsvcid=4420",
            f"--nqn={NQN}",
            "--keep-alive-tmo=5",
            "--reconnect-delay=2",
            "--ctrl-loss-tmo=-1",
        ]
    ]
    place = machine.kernel.sys / "class" / "nvme" / "nvme1"
    written = {
        name: (place / name).read_text()
        for name in ("reconnect_delay", "ctrl_loss_tmo", "fast_io_fail_tmo")
    }
    assert written == {
        "reconnect_delay": "2\n",
        "ctrl_loss_tmo": "-1\n",
        "fast_io_fail_tmo": "60\n",
    }
    assert made.controller.name == "nvme1"
    assert made.own
    assert [each.name for each in made.devices] == ["nvme1n1"]


def test_what_is_connected_is_not_connected_again_but_set(machine: Machine) -> None:
    cli = NvmeCli(machine)
    cli.fabric.connect(WantedConnection(TARGET))
    cli.fabric.connect(WantedConnection(TARGET, Reconnect(fast_io_fail_s=30)))
    assert len(cli.called) == 1
    (controller,) = controllers(machine.kernel)
    assert controller.timeouts.fast_io_fail_s == 30


@pytest.mark.parametrize(
    ("address", "port", "ours"),
    [
        ("192.168.7.2", "4420", True),
        ("192.168.7.2", "4421", False),
        ("192.168.8.2", "4420", False),
    ],
)
def test_another_path_to_the_subsystem_is_another_connection(
    machine: Machine, address: str, port: str, *, ours: bool
) -> None:
    NvmeCli(machine).fabric.connect(WantedConnection(TARGET))
    (controller,) = controllers(machine.kernel)
    assert Target("tcp", address, port, NQN).is_of(controller) is ours


def test_a_refusal_is_told(machine: Machine) -> None:
    cli = NvmeCli(machine, "failed to write to nvme-fabrics device: Connection refused\nmore")
    with pytest.raises(UnavailableError, match=r"nvme connect failed: .*Connection refused"):
        cli.fabric.connect(WantedConnection(TARGET))


def test_a_controller_that_does_not_come_is_not_waited_for_without_end(machine: Machine) -> None:
    times = iter((0.0, 1.0, 1000.0))

    def nothing(*_: object) -> Said:
        return Said(0, "")

    fabric = Fabric(machine.kernel, machine.root, nothing, lambda _: None, lambda: next(times))
    with pytest.raises(UnavailableError, match="but the controller is not there"):
        fabric.connect(WantedConnection(TARGET))


def test_a_disconnection(machine: Machine) -> None:
    cli = NvmeCli(machine)
    assert not cli.fabric.disconnect(NQN).ended
    cli.fabric.connect(WantedConnection(TARGET))
    assert [each.name for each in cli.fabric.disconnect(NQN).ended] == ["nvme1"]
    assert cli.called[-1] == ["nvme", "disconnect", "--device=nvme1"]


@pytest.mark.parametrize(
    ("transport", "nqn"), [("loop", NQN), ("tcp", "video"), ("tcp", "nqn." + "x" * 220)]
)
def test_no_target(transport: str, nqn: str) -> None:
    with pytest.raises(RejectedError):
        Target(transport, "192.168.7.2", "4420", nqn)


@pytest.mark.parametrize(
    "wrong",
    [{"keep_alive_s": 0}, {"fast_io_fail_s": -2}, {"fast_io_fail_s": 60, "ctrl_loss_s": 30}],
)
def test_settings_that_make_no_sense(wrong: dict[str, int]) -> None:
    with pytest.raises(RejectedError):
        Reconnect(**wrong)


def test_a_kernel_without_fabrics_is_told_before_anything_is_tried(tmp_path: Path) -> None:
    gate = tmp_path / "nvme-fabrics"

    def load(command: Sequence[str], _: float) -> Said:
        assert command == ("modprobe", "nvme-fabrics")
        gate.touch()
        return Said(0, "")

    def refuse(*_: object) -> Said:
        raise UnavailableError("modprobe is not installed")

    with pytest.raises(UnavailableError, match="is missing: run modprobe nvme-fabrics as root"):
        require_fabrics(refuse, gate)
    require_fabrics(load, gate)
    require_fabrics(refuse, gate)


def test_names_become_addresses() -> None:
    assert resolve("tcp", "localhost", 4420) in ("127.0.0.1", "::1")
    assert resolve("fc", "nn-0x1:pn-0x2", 0) == "nn-0x1:pn-0x2"
    with pytest.raises(UnavailableError, match=r"no-such-host\.invalid"):
        resolve("tcp", "no-such-host.invalid", 4420)


def test_a_connection_is_remembered_once(tmp_path: Path) -> None:
    other = WantedConnection(Target("rdma", "192.168.9.2", "4420", f"{NQN}-2"), Reconnect())
    for each in (
        WantedConnection(TARGET, Reconnect()),
        other,
        WantedConnection(TARGET, Reconnect(ctrl_loss_s=600)),
    ):
        remember(tmp_path, each)
    assert saved(tmp_path) == (other, WantedConnection(TARGET, Reconnect(ctrl_loss_s=600)))


def test_the_keeper_is_enabled_once(tmp_path: Path) -> None:
    assert enable(tmp_path, COMMAND)
    assert not enable(tmp_path, COMMAND)
    unit = (tmp_path / UNIT).read_text()
    assert "ExecStart=/opt/wayseal/bin/wayseal-gateway volumes keep\n" in unit
    assert (tmp_path / ENABLED).readlink() == Path("/", UNIT)


def test_what_is_so_already_is_not_written_again(tmp_path: Path) -> None:
    def make() -> list[int]:
        remember(tmp_path, WantedConnection(TARGET, Reconnect()))
        enable(tmp_path, COMMAND)
        return [(tmp_path / file).lstat().st_ino for file in (CONNECTIONS, UNIT, ENABLED)]

    assert make() == make()


def test_what_is_forgotten_is_not_connected_again(tmp_path: Path) -> None:
    assert forget(tmp_path, NQN) == 0
    remember(tmp_path, WantedConnection(TARGET, Reconnect()))
    assert forget(tmp_path, NQN) == 1
    assert saved(tmp_path) == ()


@pytest.mark.parametrize("text", ["", "{}", '{"connections": [{"target": {}}]}', "[]"])
def test_a_file_of_connections_that_is_none(tmp_path: Path, text: str) -> None:
    (tmp_path / CONNECTIONS).parent.mkdir(parents=True)
    (tmp_path / CONNECTIONS).write_text(text)
    with pytest.raises(RejectedError, match="names no NVMe-oF connections"):
        saved(tmp_path)


def test_a_line_of_fstab() -> None:
    assert fstab_line("xfs", "0bad-cafe", Path("/srv/my video"), network=True) == (
        r"UUID=0bad-cafe /srv/my\040video xfs "
        "x-wayseal,nofail,noatime,x-systemd.device-timeout=30s,_netdev 0 0"
    )
    assert fstab_line("ext4", "1", Path("/srv"), network=False) == (
        "UUID=1 /srv ext4 x-wayseal,nofail,noatime,x-systemd.device-timeout=30s,"
        "errors=remount-ro 0 2"
    )


def test_a_line_is_added_to_fstab_once_and_the_rest_stays(tmp_path: Path) -> None:
    path = tmp_path / FSTAB
    path.parent.mkdir()
    path.write_text("# a comment\nUUID=7 / ext4 defaults 0 1")
    path.chmod(0o600)
    line = fstab_line("xfs", "8", Path("/srv/video"), network=True)
    assert add_to_fstab(tmp_path, line)
    assert not add_to_fstab(tmp_path, line)
    assert path.read_text() == f"# a comment\nUUID=7 / ext4 defaults 0 1\n{line}\n"
    assert path.stat().st_mode & 0o777 == 0o600


def test_fstab_keeps_the_bytes_that_are_no_utf_8(tmp_path: Path) -> None:
    path = tmp_path / FSTAB
    path.parent.mkdir(parents=True)
    path.write_bytes(b"# Festplatte f\xfcr Bilder\n")
    assert add_to_fstab(tmp_path, "UUID=8 /srv/video xfs x-wayseal,nofail 0 0")
    assert path.read_bytes().startswith(b"# Festplatte f\xfcr Bilder\nUUID=8 ")
    assert kept_points(tmp_path) == (Path("/srv/video"),)


@pytest.mark.parametrize(
    ("kind", "uuid", "point"),
    [
        ("xfs", "8", "srv"),
        ("xfs", "8 /etc ext4\nUUID=9", "/srv"),
        ("xfs,suid", "8", "/srv"),
        ("xfs", "", "/srv"),
    ],
)
def test_what_would_be_another_line_of_fstab_is_refused(kind: str, uuid: str, point: str) -> None:
    with pytest.raises(RejectedError):
        fstab_line(kind, uuid, Path(point), network=False)


def test_a_mount_point_that_fstab_has_already_is_not_given_twice(tmp_path: Path) -> None:
    add_to_fstab(tmp_path, "UUID=8 /srv/video xfs nofail 0 0")
    with pytest.raises(RejectedError, match="has /srv/video already: UUID=8"):
        add_to_fstab(tmp_path, "UUID=9 /srv/video xfs nofail 0 0")


@pytest.mark.parametrize(
    "before", ["", "nqn.2014-08.org.nvmexpress:uuid:00000000-0000-0000-0000-000000000000\n"]
)
def test_a_host_without_a_name_gets_one_and_keeps_it(tmp_path: Path, before: str) -> None:
    if before:
        (tmp_path / HOST_NQN).parent.mkdir(parents=True)
        (tmp_path / HOST_NQN).write_text(before)
    name = name_host(tmp_path)
    assert name != before.strip()
    assert name.startswith("nqn.2014-08.org.nvmexpress:uuid:")
    assert name_host(tmp_path) == name
