"""What block devices are, read from recorded trees of sysfs."""

from pathlib import Path

import pytest

from storage.drives.counters import Counters, counters
from storage.drives.devices import Device, below, devices
from storage.drives.kernel import Kernel
from storage.drives.mounts import mount_of, mounts, parse_mount
from support.machine.sysfs import STAT, Machine

NQN = "nqn.2026-01.example:video"
TWO_WAYS = {"nvme1": "optimized", "nvme2": "non-optimized"}


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


def found(machine: Machine) -> dict[str, Device]:
    kernel = machine.kernel
    return {each.name: each for each in devices(kernel, mounts(kernel))}


def two_paths(machine: Machine, second: str = "connecting") -> str:
    machine.controller("nvme1", NQN, "traddr=192.168.7.2,trsvcid=4420,src_addr=192.168.7.9")
    machine.controller("nvme2", NQN, "traddr=192.168.8.2,trsvcid=4420", state=second)
    return machine.head(NQN, TWO_WAYS)


def test_a_local_nvme_drive(machine: Machine) -> None:
    machine.nvme_pcie()
    drive = found(machine)["nvme0n1"]
    assert (drive.interface, drive.model) == ("nvme-pcie", "Samsung SSD 980 PRO 1TB")
    assert (drive.serial, drive.firmware) == ("S5GXNX0T123456", "5B2QGXA7")
    assert drive.size_bytes == 931 << 30
    assert drive.link == "PCIe 8.0 GT/s x4 (can 16.0 GT/s x4)"
    assert [path.controller.peer for path in drive.paths] == ["0000:01:00.0"]
    assert not drive.lost


def test_a_multipath_head_is_listed_once_with_its_paths(machine: Machine) -> None:
    two_paths(machine)
    assert list(found(machine)) == ["nvme1n1"]
    drive = found(machine)["nvme1n1"]
    assert (drive.interface, drive.nqn) == ("nvme-tcp", NQN)
    assert [
        (path.controller.name, path.controller.peer, path.controller.state, path.disk)
        for path in drive.paths
    ] == [
        ("nvme1", "192.168.7.2:4420", "live", "nvme1c1n1"),
        ("nvme2", "192.168.8.2:4420", "connecting", "nvme1c2n1"),
    ]
    assert [path.usable for path in drive.paths] == [True, False]
    assert not drive.lost


def test_a_drive_is_lost_when_no_path_is_usable(machine: Machine) -> None:
    two_paths(machine)
    machine.set("nvme1", state="resetting")
    assert found(machine)["nvme1n1"].lost


def test_a_path_that_the_target_calls_inaccessible_is_not_usable(machine: Machine) -> None:
    machine.controller("nvme1", NQN, "traddr=192.168.7.2,trsvcid=4420")
    machine.head(NQN, {"nvme1": "inaccessible"})
    assert found(machine)["nvme1n1"].lost


def test_controllers_of_other_subsystems_are_no_paths(machine: Machine) -> None:
    two_paths(machine)
    machine.nvme_pcie()
    machine.controller("nvme3", f"{NQN}-2", "traddr=192.168.7.2,trsvcid=4420")
    names = [path.controller.name for path in found(machine)["nvme1n1"].paths]
    assert names == ["nvme1", "nvme2"]


def test_a_subsystem_without_multipath(machine: Machine) -> None:
    own = machine.controller("nvme1", NQN, "traddr=fd00::2,trsvcid=4420", transport="rdma")
    machine.disk(f"{own}/nvme1n1", own)
    drive = found(machine)["nvme1n1"]
    assert (drive.interface, drive.model, drive.firmware) == ("nvme-rdma", "Linux", "6.1.0-18")
    assert [path.controller.peer for path in drive.paths] == ["[fd00::2]:4420"]


def test_the_speed_towards_a_target_is_its_cards(machine: Machine) -> None:
    two_paths(machine, "live")
    machine.card("eth0", 1000)
    machine.card("eth1", 25000)
    machine.routes("eth0 00000000 00000000", "eth1 0007A8C0 00FFFFFF")
    assert found(machine)["nvme1n1"].link == "eth0 1 Gb/s + eth1 25 Gb/s"


@pytest.mark.parametrize("speed", [-1, 0])
def test_the_speed_of_a_card_without_link_is_not_known(machine: Machine, speed: int) -> None:
    two_paths(machine)
    machine.card("eth1", speed)
    machine.routes("eth1 00000000 00000000")
    assert found(machine)["nvme1n1"].link == ""


def test_a_bound_connection_uses_its_card(machine: Machine) -> None:
    machine.controller("nvme1", NQN, "traddr=192.168.7.2,trsvcid=4420,host_iface=eth5")
    machine.card("eth5", 100)
    machine.head(NQN, {"nvme1": "optimized"})
    assert found(machine)["nvme1n1"].link == "eth5 100 Mb/s"


def test_the_loopback_says_no_speed(machine: Machine) -> None:
    machine.controller("nvme1", NQN, "traddr=127.0.0.1,trsvcid=4420")
    machine.head(NQN, {"nvme1": ""})
    machine.routes("eth1 00000000 00000000")
    machine.card("eth1", 1000)
    assert found(machine)["nvme1n1"].link == ""


@pytest.mark.parametrize(("rotational", "interface"), [(0, "sata-ssd"), (1, "sata-hdd")])
def test_sata_drives_say_their_whole_name(
    machine: Machine, rotational: int, interface: str
) -> None:
    machine.sata("sda", 3, rotational=rotational, model="Samsung SSD 870 EVO 4TB")
    drive = found(machine)["sda"]
    assert (drive.interface, drive.link) == (interface, "SATA 6.0 Gb/s")
    told = (drive.model, drive.serial, drive.firmware)
    assert told == ("Samsung SSD 870 EVO 4TB", "SERIAL", "FW123456")


def test_a_sata_drive_of_an_old_kernel_says_what_scsi_knows(machine: Machine) -> None:
    machine.sata("sda", 1, rotational=1, model="WDC WD40EFRX-68N32N0")
    (machine.kernel.block("sda") / "device" / "vpd_pg89").unlink()
    drive = found(machine)["sda"]
    told = (drive.model, drive.serial, drive.firmware)
    assert told == ("WDC WD40EFRX-68N", "SERIAL", "1234")


def test_a_usb_stick(machine: Machine) -> None:
    machine.usb_stick("sdb")
    drive = found(machine)["sdb"]
    assert (drive.interface, drive.link, drive.removable) == ("usb", "USB 5 Gb/s", True)
    assert (drive.model, drive.serial) == ("SanDisk Ultra", "4C53000")


def test_a_virtual_disk(machine: Machine) -> None:
    machine.virtio("vda")
    drive = found(machine)["vda"]
    assert (drive.interface, drive.serial, drive.model) == ("virtio", "disk-1", "")


def test_partitions_follow_their_disk(machine: Machine) -> None:
    machine.nvme_pcie()
    machine.partition("nvme0n1", "nvme0n1p1")
    machine.partition("nvme0n1", "nvme0n1p2", gib=5)
    assert list(found(machine)) == ["nvme0n1", "nvme0n1p1", "nvme0n1p2"]
    part = found(machine)["nvme0n1p2"]
    assert (part.disk, part.interface, part.size_bytes) == ("nvme0n1", "nvme-pcie", 5 << 30)


def test_an_encrypted_volume_stands_on_its_drive(machine: Machine) -> None:
    machine.nvme_pcie()
    machine.partition("nvme0n1", "nvme0n1p1")
    machine.dm("dm-0", "nvme0n1p1", "CRYPT-LUKS2-0badcafe-video", "video")
    volume = found(machine)["dm-0"]
    assert (volume.interface, volume.detail) == ("dm", "crypt luks2 video")
    chain = [each.name for each in below(found(machine).values(), "dm-0")]
    assert chain == ["dm-0", "nvme0n1p1", "nvme0n1"]


def test_a_loop_device_stands_on_the_drive_with_its_file(machine: Machine) -> None:
    machine.mount(machine.virtio("vda"), "/", "ext4", "/dev/root")
    machine.mount(machine.nvme_pcie(), "/srv/images", "xfs", "/dev/nvme0n1")
    machine.loop("loop0", "/srv/images/a.img")
    machine.loop("loop1", "/srv/other/b.img (deleted)")
    machine.disk("devices/virtual/block/loop2", gib=0)
    known = found(machine)
    assert known["loop0"].stands_on == ("nvme0n1",)
    assert known["loop0"].detail == "/srv/images/a.img"
    assert known["loop1"].stands_on == ("vda",)
    assert "loop2" not in known


def test_the_counters_of_a_head_are_the_sum_of_its_paths(machine: Machine) -> None:
    two_paths(machine)
    for disk, reads in (("nvme1c1n1", 7), ("nvme1c2n1", 5)):
        said = STAT.format(
            reads=reads, read=80, read_ms=3, writes=2, written=8, write_ms=1, busy_ms=4
        )
        machine.write(f"class/block/{disk}", stat=said)
    assert counters(machine.kernel, "nvme1n1") == Counters(12, 160 * 512, 6, 4, 16 * 512, 2, 8)


def test_a_head_that_counts_itself_is_not_counted_twice(machine: Machine) -> None:
    two_paths(machine)
    for disk in ("nvme1n1", "nvme1c1n1"):
        said = STAT.format(reads=9, read=8, read_ms=1, writes=0, written=0, write_ms=0, busy_ms=1)
        machine.write(f"class/block/{disk}", stat=said)
    assert counters(machine.kernel, "nvme1n1").reads == 9


def test_counters_of_what_is_gone_are_zero(machine: Machine) -> None:
    assert counters(machine.kernel, "sdz") == Counters()


def test_a_line_of_mountinfo() -> None:
    mount = parse_mount(
        r"36 35 259:1 / /srv/my\040video rw,noatime shared:7 master:1 - ext4 /dev/sda1 ro,data=x"
    )
    assert (str(mount.point), mount.filesystem, mount.source) == (
        "/srv/my video",
        "ext4",
        "/dev/sda1",
    )
    assert mount.read_only


def test_the_last_mount_at_a_place_hides_the_others(machine: Machine) -> None:
    machine.mount("8:1", "/", "ext4", "/dev/sda1")
    machine.mount("8:2", "/srv", "ext4", "/dev/sda2")
    machine.mount("8:3", "/srv", "xfs", "/dev/sda3")
    known = mounts(machine.kernel)
    assert [
        mount.number for path in ("/srv/video", "/srvx") if (mount := mount_of(Path(path), known))
    ] == ["8:3", "8:1"]


def test_this_machines_own_devices_are_read() -> None:
    kernel = Kernel()
    known = devices(kernel, mounts(kernel))
    assert all(each.number and each.interface for each in known)
