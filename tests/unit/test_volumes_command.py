"""`wayseal-gateway volumes`: what people and programs get to see."""

import json
import logging
import os
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from contracts.errors import UnavailableError
from contracts.runtime.sizes import size
from gateway.commands import volumes
from gateway.settings_file import load_settings
from gateway.volumes.document import Volumes as Document
from gateway.volumes.document import volumes_of
from gateway.volumes.follow import DriveFollower, facts_of, places_of
from gateway.volumes.markers import with_markers
from gateway.volumes.table import page
from gateway.wayseal_gateway import main
from storage.drives.inventory import observe, take
from storage.drives.links import LinkWatch, Word
from storage.drives.tools import Said
from storage.volumes.marker import MARKER, Identity
from storage.volumes.volume import VolumePlace
from storage.volumes.volumes import Volumes
from support.machine.sysfs import Machine

NQN = "nqn.2026-01.example:video"
PLACES = {
    "main": VolumePlace(Path("/srv/video"), mount=True),
    "spare": VolumePlace(Path("/srv/spare"), mount=True),
}


def tools(command: Sequence[str], _: float) -> Said:
    if command[0] == "nvme":
        log = {"critical_warning": 0, "temperature": 311, "avail_spare": 99, "percent_used": 93}
        return Said(0, json.dumps(log))
    if command[0] == "smartctl":
        return Said(0, '{"smart_status": {"passed": false}}')
    if command[0] == "stat":
        return Said(1, "", "stat: cannot statx")
    raise UnavailableError(f"{command[0]} is not installed")


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    """A gateway's machine with a drive of each kind."""
    made = Machine(tmp_path)
    made.mount(made.virtio("vda"), "/", "ext4", "/dev/vda")
    made.nvme_pcie()
    made.partition("nvme0n1", "nvme0n1p1")
    made.mount(made.partition("nvme0n1", "nvme0n1p2", gib=900), "/boot", "ext4", "/dev/nvme0n1p2")
    made.dm("dm-0", "nvme0n1p1", "CRYPT-LUKS2-0badcafe-video", "video")
    made.controller("nvme1", NQN, "traddr=192.168.7.2,trsvcid=4420")
    made.controller("nvme2", NQN, "traddr=192.168.8.2,trsvcid=4420", state="connecting")
    head = made.head(NQN, {"nvme1": "optimized", "nvme2": "optimized"})
    made.mount(head, "/srv/video", "xfs", "/dev/nvme1n1")
    made.card("eth1", 25000)
    made.routes("eth1 00000000 00000000")
    made.sata("sda", 1, rotational=0, model="Samsung SSD 870 EVO 4TB")
    made.sata("sdb", 2, rotational=1, model="WDC WD40EFRX-68N32N0")
    stick = made.usb_stick("sdc")
    made.mount(stick, "/media/a-stick-with-a-very-long-name/and-more-of-it", "vfat", "/dev/sdc")
    made.loop("loop0", "/var/lib/images/disk.img")
    return made


@pytest.fixture
def seen(machine: Machine) -> Document:
    return volumes_of(take(machine.kernel, PLACES, tools, LinkWatch()), machine.kernel)


@pytest.mark.parametrize("width", [60, 80, 100, 120, 200])
def test_no_line_is_wider_than_the_terminal(seen: Document, width: int) -> None:
    assert max(map(len, page(seen, width).splitlines())) <= width


def test_a_narrow_terminal_has_what_matters(seen: Document) -> None:
    lines = page(seen, 80).splitlines()
    assert lines[0].split("  ")[0] == "DEVICE"
    for word in ("INTERFACE", "SIZE", "HEALTH", "VOLUME", "MOUNTED ON"):
        assert word in lines[0]
    (fabric,) = (line for line in lines if line.startswith("nvme1n1 "))
    assert fabric.split() == [
        "nvme1n1",
        "NVMe-oF",
        "tcp",
        "2.1",
        "TB",
        "link",
        "degraded",
        "main",
        "/srv/video",
        *(["xfs"] if "FS" in lines[0] else []),
    ]


def test_a_wide_terminal_has_all(seen: Document) -> None:
    lines = page(seen, 200).splitlines()
    (disk,) = (line for line in lines if line.startswith("sdb "))
    for word in ("SATA HDD", "failing", "SATA 6.0 Gb/s", "WDC WD40EFRX-68N32N0", "FW123456"):
        assert word in disk


def test_a_file_has_all_uncut(seen: Document) -> None:
    said = page(seen, None)
    assert "/media/a-stick-with-a-very-long-name/and-more-of-it" in said
    assert "PCIe 8.0 GT/s x4 (can 16.0 GT/s x4)" in said


def test_sentences_follow_the_table(seen: Document) -> None:
    said = page(seen, None)
    assert "spare: /srv/spare on vda (virtio), ext4 mounted on /. Problem: nothing is" in said
    assert "nvme2 to 192.168.8.2:4420 is connecting: reads and writes go over 192.168.7.2" in said
    assert "sdb: failing: SMART status: failed" in said
    assert "vda: unknown: virtio devices do not tell" in said


def test_the_document_says_where_recordings_are(seen: Document) -> None:
    document = json.loads(seen.model_dump_json())
    drives = {each["name"]: each for each in document["devices"]}
    assert drives["nvme1n1"]["volumes"] == ["main"]
    assert drives["nvme1n1"]["link"]["state"] == "degraded"
    assert [path["state"] for path in drives["nvme1n1"]["paths"]] == ["live", "connecting"]
    assert drives["nvme1n1"]["paths"][0]["fast_io_fail_s"] == 10
    assert drives["nvme1n1"]["paths"][0]["ctrl_loss_s"] is None
    assert drives["nvme1n1"]["filesystem"] == "xfs"
    assert drives["nvme0n1"]["health"]["verdict"] == "worn"
    assert drives["dm-0"]["health"] is None
    assert drives["nvme0n1p2"]["mounts"][0]["point"] == "/boot"
    assert [each["device"] for each in document["volumes"]] == ["nvme1n1", "vda"]


def test_what_changes_is_told_and_time_alone_changes_nothing(machine: Machine) -> None:
    clock = iter(range(0, 1000, 5))
    watch = LinkWatch(lambda: float(next(clock)))

    def look() -> dict[str, str]:
        facts = facts_of(observe(machine.kernel, PLACES, watch))
        return {key: told.state for key, told in facts.items()}

    before = look()
    assert before["link nvme1n1"] == "degraded (nvme1 live, nvme2 connecting)"
    assert look() == before
    machine.set("nvme1", state="connecting")
    after = look()
    assert {key for key in after if after[key] != before[key]} == {"link nvme1n1", "volume main"}


@pytest.mark.parametrize(
    ("count", "said"),
    [
        (0, "0 B"),
        (999, "999 B"),
        (1 << 20, "1.0 MB"),
        (1_920_383_410_176, "1.9 TB"),
        (10**16, "10 PB"),
    ],
)
def test_sizes_are_those_on_the_box(count: int, said: str) -> None:
    assert size(count) == said


def run(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as ended:
        main(["volumes", *words])
    said = capsys.readouterr()
    assert isinstance(ended.value.code, int)
    return ended.value.code, said.out, said.err


@pytest.fixture
def no_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in os.environ:
        if name.startswith("WAYSEAL_"):
            monkeypatch.delenv(name)


@pytest.mark.usefixtures("no_settings")
def test_the_command_needs_no_settings(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "--no-health")
    assert code == 0
    assert out.startswith("DEVICE")
    assert "The gateway's volumes are not shown: setting data" in out


def test_with_settings_it_shows_the_gateways_volumes(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    settings = tmp_path / "gateway.toml"
    settings.write_text(
        f'data = "{tmp_path}"\nsite_id = "a"\n[volumes.main]\npath = "{tmp_path}"\nmount = true\n'
    )
    code, out, _ = run(capsys, "--json", "--no-health", "--config", str(settings))
    assert code == 0
    (volume,) = json.loads(out)["volumes"]
    assert volume["name"] == "main"
    assert volume["problem"].startswith("nothing is mounted there")


def remembered(folder: Path) -> tuple[Path, Path]:
    """Return the settings of a gateway that knows a volume, and that volume."""
    volume = folder / "video"
    volume.mkdir()
    (folder / "volume-ids").mkdir()
    Identity(volume, folder / "volume-ids" / "main").check()
    path = folder / "gateway.toml"
    path.write_text(f'data = "{folder}"\nsite_id = "a"\n[volumes.main]\npath = "{volume}"\n')
    return path, volume


def test_a_volume_without_its_marker_has_a_problem(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    settings, volume = remembered(tmp_path)
    words = ("--no-health", "--config", str(settings))
    assert "Problem" not in run(capsys, *words)[1]
    (volume / MARKER).unlink()
    assert f"Problem: its marker {volume / MARKER} is missing" in run(capsys, *words)[1]


def test_a_volume_whose_link_is_changing_is_not_read(tmp_path: Path) -> None:
    settings, volume = remembered(tmp_path)
    (volume / MARKER).unlink()
    loaded = load_settings(settings)
    machine = Machine(tmp_path / "machine")
    machine.controller("nvme1", NQN, "traddr=192.168.7.2,trsvcid=4420")
    machine.mount(machine.head(NQN, {"nvme1": "change"}), str(volume), "xfs", "/dev/nvme1n1")
    seen = take(machine.kernel, places_of(loaded), tools, LinkWatch())
    assert seen.links["nvme1n1"].word == Word.CHANGING
    assert not with_markers(seen, loaded).volumes[0].problem


def test_settings_that_are_named_must_be_right(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, _, err = run(capsys, "--config", str(tmp_path / "none.toml"))
    assert code == 2
    assert "none.toml" in err


@pytest.mark.usefixtures("no_settings")
@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (("connect", "127.0.0.1", "video"), "expected the NQN of a subsystem"),
        (
            ("connect", "nn-0x1", "nqn.2026-01.example:video", "--transport", "fc"),
            "address: fc needs a port's names",
        ),
        (
            ("discover", "127.0.0.1", "--transport", "rdma", "--host-iface", "eth0"),
            "host-iface: only tcp has it",
        ),
        (
            ("connect", "127.0.0.1", "nqn.2026-01.example:video", "--tls-keyring", "mine"),
            "expected tls to be on",
        ),
        (
            ("connect", "127.0.0.1", "nqn.a", "--transport", "rdma", "--data-digest"),
            "digests and TLS: only tcp has them",
        ),
        (("disconnect", "nqn.2026-01.example:none"), "not connected to nqn.2026-01.example:none"),
        (("fstab", "none0n1", "/srv"), "no block device none0n1"),
    ],
)
def test_what_cannot_be_done_is_said(
    capsys: pytest.CaptureFixture[str], words: tuple[str, ...], problem: str
) -> None:
    code, _, err = run(capsys, *words)
    assert code == 1
    assert problem in err


@pytest.mark.usefixtures("no_settings")
def test_watching_begins_with_what_is_there(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "watch", "--seconds", "1", "--json")
    assert code == 0
    assert all(
        set(json.loads(line)) == {"at", "kind", "subject", "state", "words"}
        for line in out.splitlines()
    )


def test_the_running_gateway_logs_what_changes(
    machine: Machine, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "gateway.volumes.follow")
    drives = DriveFollower(PLACES, machine.kernel)
    drives.look()
    caplog.clear()
    drives.look()
    assert caplog.records == []
    machine.set("nvme1", state="connecting")
    drives.look()
    said = [(each.levelname, each.getMessage()) for each in caplog.records]
    assert [level for level, _ in said] == ["WARNING", "WARNING"]
    assert said[0][1].startswith("link nvme1n1: nvme1 to 192.168.7.2:4420 is connecting")
    assert said[1][1].startswith("volume main: volume /srv/video on nvme1n1: nvme1 to 192.168.7.2")
    caplog.clear()
    for name in ("nvme1", "nvme2"):
        machine.set(name, state="live")
    drives.look()
    assert [each.levelname for each in caplog.records] == ["INFO", "INFO"]


def test_the_running_gateway_logs_why_it_does_not_use_a_volume(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "gateway.volumes.follow")
    with Volumes({"main": VolumePlace(tmp_path / "video")}, tmp_path / "ids") as known:
        drives = DriveFollower({"main": VolumePlace(tmp_path / "video")}, out=known.out)
        drives.look()
        assert caplog.messages[-1].endswith(": no problem")
        (volume,) = known
        (tmp_path / "video" / MARKER).unlink()
        volume.probe()
        drives.look()
    last = caplog.records[-1]
    assert last.levelname == "WARNING"
    assert f"its marker {tmp_path / 'video' / MARKER} is missing" in last.getMessage()


def test_without_a_gateway_only_the_kernel_is_known_to_be_content(machine: Machine) -> None:
    machine.mount(machine.nvme_pcie("0000:07:00.0", "nvme7"), "/srv/spare", "xfs", "/dev/nvme7n1")
    facts = facts_of(observe(machine.kernel, PLACES, LinkWatch()))
    assert facts["volume spare"].words.endswith(": the kernel reports no problem")


def test_the_saved_unit_names_the_link_that_an_upgrade_sets(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    version, links = tmp_path / "gateway-0.1.0" / "bin", tmp_path / "bin"
    for folder in (version, links):
        folder.mkdir(parents=True)
    installed = version / "wayseal-gateway"
    installed.write_text("#!/bin/sh\n")
    installed.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(version / "python"))
    monkeypatch.setenv("PATH", str(links))
    assert volumes.own_program() == installed
    (links / "wayseal-gateway").symlink_to(installed)
    assert volumes.own_program() == links / "wayseal-gateway"
    installed.rename(tmp_path / "another")
    (links / "wayseal-gateway").unlink()
    (links / "wayseal-gateway").symlink_to(tmp_path / "another")
    installed.write_text("#!/bin/sh\n")
    assert volumes.own_program() == installed
