"""On what a directory stands, said honestly."""

import os
from collections.abc import Sequence
from pathlib import Path

import pytest

from contracts.errors import UnavailableError
from storage.drives.inventory import take
from storage.drives.kernel import Kernel
from storage.drives.links import LinkWatch
from storage.drives.mounts import mounts
from storage.drives.standing import Standing, standing
from storage.drives.tools import Said, run_tool
from storage.volumes.volume import VolumePlace
from support.machine.sysfs import Machine


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    made = Machine(tmp_path)
    made.mount(made.virtio("vda"), "/", "ext4", "/dev/root")
    return made


def stands(machine: Machine, path: str, *, must_be_mount: bool = False) -> Standing:
    kernel = machine.kernel
    return standing("main", Path(path), kernel, mounts(kernel), None, must_be_mount=must_be_mount)


def test_a_directory_on_its_own_drive(machine: Machine) -> None:
    machine.mount(machine.nvme_pcie(), "/srv/video", "xfs", "/dev/nvme0n1")
    told = stands(machine, "/srv/video/recordings")
    assert (told.device, told.problem) == ("nvme0n1", "")
    assert stands(machine, "/srv/video", must_be_mount=True).problem == ""


def test_an_empty_mount_point_is_not_taken_for_the_volume(machine: Machine) -> None:
    told = stands(machine, "/srv/video", must_be_mount=True)
    assert told.device == "vda"
    assert told.problem == "nothing is mounted there: it is on / (root)"


@pytest.mark.parametrize(
    ("options", "problem"), [("ro,errors=remount-ro", "mounted read-only"), ("rw", "")]
)
def test_a_file_system_that_turned_read_only(machine: Machine, options: str, problem: str) -> None:
    machine.mount(machine.nvme_pcie(), "/srv/video", "ext4", "/dev/nvme0n1", options)
    assert stands(machine, "/srv/video").problem == problem


def test_a_drive_that_went_while_mounted(machine: Machine) -> None:
    machine.mount("259:77", "/srv/video", "xfs", "/dev/nvme1n1")
    told = stands(machine, "/srv/video")
    assert told.device == ""
    assert told.problem == "its drive (nvme1n1) is gone, though still mounted: unmount it"


def test_an_overlay_writes_to_its_upper_layer(machine: Machine) -> None:
    machine.mount(machine.nvme_pcie(), "/layers", "xfs", "/dev/nvme0n1")
    options = "rw,lowerdir=/a,upperdir=/layers/u,workdir=/layers/w"
    machine.mount("0:40", "/srv/video", "overlay", "overlay", options)
    told = stands(machine, "/srv/video")
    assert told.device == "nvme0n1"
    assert told.note == "overlay: what is written goes to /layers/u"


def test_an_overlay_of_which_nothing_is_seen(tmp_path: Path) -> None:
    machine = Machine(tmp_path)
    machine.mount("0:40", "/", "overlay", "overlay", "rw,upperdir=/var/lib/u")
    told = stands(machine, "/srv/video")
    assert (told.device, told.note) == ("", "overlay: what is below is not visible from here")


@pytest.mark.parametrize(
    ("kind", "source", "note"),
    [
        ("tmpfs", "tmpfs", "tmpfs: in memory, gone after a restart"),
        ("nfs4", "nas:/v", "nfs4 from nas:/v: no block device of this machine"),
    ],
)
def test_what_is_on_no_drive(machine: Machine, kind: str, source: str, note: str) -> None:
    machine.mount("0:41", "/srv/video", kind, source)
    told = stands(machine, "/srv/video")
    assert (told.device, told.note, told.problem) == ("", note, "")


def test_btrfs_is_on_the_first_of_its_drives(machine: Machine) -> None:
    machine.nvme_pcie()
    machine.mount("0:42", "/srv/video", "btrfs", "/dev/nvme0n1", root="/@video")
    assert stands(machine, "/srv/video").device == "nvme0n1"


def test_a_symbolic_link_is_followed_on_this_machine(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("/proc")
    kernel = Kernel()
    told = standing("main", tmp_path / "link", kernel, mounts(kernel), run_tool)
    assert told.mount is not None
    assert told.mount.filesystem == "proc"


def test_a_directory_that_is_not_there(tmp_path: Path) -> None:
    kernel = Kernel()
    told = standing("main", tmp_path / "none", kernel, mounts(kernel), run_tool)
    assert "No such file" in told.problem
    assert told.mount is not None
    assert (
        told.mount.number
        == f"{os.major(tmp_path.stat().st_dev)}:{os.minor(tmp_path.stat().st_dev)}"
    )


def test_a_directory_that_does_not_answer(machine: Machine) -> None:
    def hang(command: Sequence[str], limit_s: float) -> Said:
        raise UnavailableError(f"{command[0]} did not answer in {limit_s} s")

    kernel = machine.kernel
    told = standing("main", Path("/srv"), kernel, mounts(kernel), hang)
    assert (told.device, told.problem) == ("vda", "does not answer within 2 s")


def test_nobody_asks_a_drive_whose_link_is_lost(machine: Machine) -> None:
    machine.controller("nvme1", "nqn.a", "traddr=192.168.7.2,trsvcid=4420", state="connecting")
    number = machine.head("nqn.a", {"nvme1": "optimized"})
    machine.mount(number, "/srv/video", "xfs", "/dev/nvme1n1")
    machine.dm("dm-0", "nvme1n1", "LVM-abc", "vg-lv")
    asked: list[str] = []

    def note(command: Sequence[str], limit_s: float) -> Said:
        asked.append(" ".join(command))
        raise UnavailableError(f"limit {limit_s}")

    seen = take(machine.kernel, {"main": VolumePlace(Path("/srv/video"))}, note, LinkWatch())
    assert asked == ["blkid --probe --output export /dev/vda"]
    assert seen.health["nvme1n1"].why == ("not asked: its link is down",)
    assert seen.volumes[0].problem.startswith("nvme1 to 192.168.7.2:4420 is connecting")
