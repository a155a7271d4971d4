"""Loop devices of this machine, and the real lsblk, blkid, nvme-cli and smartctl."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from storage.drives.counters import counters
from storage.drives.devices import Device, devices
from storage.drives.filesystems import filesystems
from storage.drives.health import Condition, health
from storage.drives.inventory import take
from storage.drives.kernel import Kernel
from storage.drives.links import LinkWatch
from storage.drives.mounts import mounts
from storage.drives.tools import run_tool
from storage.volumes.volume import VolumePlace
from support.machine.loops import loop_device, make_ext4, mounted_at
from support.machine.mounts import run

pytestmark = pytest.mark.integration

KERNEL = Kernel()
COMMAND = Path(sys.executable).with_name("wayseal-gateway")
IMAGE_BYTES = 64 << 20
DEADLINE_S = 60


@pytest.fixture
def loop(tmp_path: Path) -> Iterator[Path]:
    """An ext4 file system on a loop device, mounted nowhere."""
    with loop_device(tmp_path / "an image.img", IMAGE_BYTES) as device:
        make_ext4(device)
        yield device


@pytest.fixture
def mounted(loop: Path, tmp_path: Path) -> Iterator[Path]:
    with mounted_at(tmp_path / "a volume", loop) as point:
        yield point


def uuid_on(device: Path) -> str:
    command = ("blkid", "--probe", "--match-tag", "UUID", "--output", "value", str(device))
    done = subprocess.run(command, check=True, capture_output=True, text=True)  # noqa: S603
    return done.stdout.strip()


def known(name: str) -> Device:
    return next(each for each in devices(KERNEL, mounts(KERNEL)) if each.name == name)


def volumes(*words: str, config: Path | None = None) -> subprocess.CompletedProcess[str]:
    clean = {name: text for name, text in os.environ.items() if not name.startswith("WAYSEAL_")}
    if config:
        clean["WAYSEAL_GATEWAY_CONFIG"] = str(config)
    return subprocess.run(  # noqa: S603 - our own command
        [COMMAND, "volumes", *words],
        capture_output=True,
        text=True,
        env=clean,
        timeout=DEADLINE_S,
        check=False,
    )


def test_a_loop_device_is_seen_with_what_it_stands_on(loop: Path, tmp_path: Path) -> None:
    device = known(loop.name)
    assert (device.interface, device.size_bytes) == ("loop", IMAGE_BYTES)
    assert device.detail == str(tmp_path / "an image.img")
    number = tmp_path.stat().st_dev
    below = KERNEL.name_of(f"{os.major(number)}:{os.minor(number)}")
    assert device.stands_on == ((below,) if below else ())


def test_its_file_system_is_known_by_uuid(loop: Path) -> None:
    every = devices(KERNEL, mounts(KERNEL))  # others among them, which may be empty
    told = filesystems(KERNEL, every, run_tool)[loop.name]
    assert (told.kind, told.uuid) == ("ext4", uuid_on(loop))


def test_a_volume_on_it_is_found(mounted: Path, loop: Path) -> None:
    places = {"main": VolumePlace(mounted, mount=True)}
    seen = take(KERNEL, places, run_tool, LinkWatch(), ask_drives=False)
    (volume,) = seen.volumes
    assert (volume.device, volume.problem) == (loop.name, "")
    assert seen.holds(loop.name) == ("main",)
    assert seen.filesystems[loop.name].kind == "ext4"


def test_a_volume_that_turned_read_only_says_so(mounted: Path) -> None:
    run("mount", "-o", "remount,ro", mounted)
    seen = take(KERNEL, {"main": VolumePlace(mounted)}, run_tool, LinkWatch(), ask_drives=False)
    assert seen.volumes[0].problem == "mounted read-only"


def test_what_is_written_is_counted(mounted: Path, loop: Path) -> None:
    before = counters(KERNEL, loop.name)
    with (mounted / "file").open("wb") as file:
        file.write(bytes(8 << 20))
        file.flush()
        os.fsync(file.fileno())
    after = counters(KERNEL, loop.name)
    assert after.written_bytes - before.written_bytes >= 8 << 20
    assert after.writes > before.writes


def test_the_command_shows_it_to_people_and_programs(
    mounted: Path, loop: Path, tmp_path: Path
) -> None:
    config = tmp_path / "gateway.toml"
    config.write_text(
        f'data = "{tmp_path}/data"\nsite_id = "a"\n'
        f'[volumes.main]\npath = "{mounted}"\nmount = true\n'
    )
    shown = volumes(config=config)
    assert shown.returncode == 0, shown.stderr
    assert f"main: {mounted} on {loop.name} (loop), ext4 mounted on {mounted}\n" in shown.stdout
    document = json.loads(volumes("--json", config=config).stdout)
    (drive,) = (each for each in document["devices"] if each["name"] == loop.name)
    assert drive["volumes"] == ["main"]
    assert drive["mounts"] == [{"point": str(mounted), "filesystem": "ext4", "read_only": False}]


def test_the_line_that_mounts_it(loop: Path) -> None:
    said = volumes("fstab", str(loop), "/srv/video")
    assert said.stdout == (
        f"UUID={uuid_on(loop)} /srv/video ext4 "
        "x-wayseal,nofail,noatime,x-systemd.device-timeout=30s,errors=remount-ro 0 2\n"
    )


def test_without_fabrics_a_connection_fails_clearly() -> None:
    if shutil.which("nvme") is None:
        pytest.skip("scripts/packages nvme-cli")
    if Path("/dev/nvme-fabrics").exists():
        pytest.skip("this machine can do NVMe-oF")
    said = volumes("connect", "127.0.0.1", "nqn.2026-01.example:video")
    assert said.returncode == 1
    assert "/dev/nvme-fabrics is missing: run modprobe nvme-fabrics" in said.stderr


def test_the_real_smartctl_is_understood(loop: Path) -> None:
    if shutil.which("smartctl", path=f"{os.environ['PATH']}:/usr/sbin") is None:
        pytest.skip("scripts/packages smartmontools")
    drive = known(loop.name)
    as_sata = Device(
        drive.name, drive.number, "sata-hdd", 1, read_only=False, removable=False, rotational=True
    )
    told = health(as_sata, run_tool)
    assert told.verdict is Condition.UNKNOWN
    assert told.why == (f"{loop}: Unable to detect device type",)


def test_the_real_nvme_cli_is_understood() -> None:
    if shutil.which("nvme", path=f"{os.environ['PATH']}:/usr/sbin") is None:
        pytest.skip("scripts/packages nvme-cli")
    said = run_tool(("nvme", "smart-log", "/dev/nvme77", "--output-format=json"), DEADLINE_S)
    assert said.status != 0
    assert said.complaint == "/dev/nvme77: No such file or directory"
