"""What was lost is connected and mounted again, and nothing else is touched."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from storage.drives.keeper import REMOUNT_EVERY_S, Keeper
from storage.drives.saved import FSTAB, add_to_fstab, fstab_line, remember
from storage.drives.targets import Reconnect, Target, WantedConnection
from storage.drives.tools import Run, Said
from support.machine.sysfs import Machine

NQN = "nqn.2026-01.example:video"
TARGET = Target("tcp", "192.168.7.2", "4420", NQN)
POINT = "/srv/my video"


@dataclass
class Host:
    """A machine whose tools do what they are told, as far as its drives let them."""

    machine: Machine
    present: bool = True
    answers: bool = True
    busy: bool = False
    now: float = 0.0
    called: list[str] = field(default_factory=list)
    number: str = ""

    def __post_init__(self) -> None:
        self.keeper = self.watched_by(self.run)

    def watched_by(self, run: Run) -> Keeper:
        """Return a keeper whose targets all answer."""
        root = self.machine.root
        return Keeper(self.machine.kernel, root, run, lambda: self.now, lambda _: None)

    def connect(self) -> None:
        self.machine.controller("nvme1", NQN, "traddr=192.168.7.2,trsvcid=4420")
        self.number = self.machine.head(NQN, {"nvme1": "optimized"})

    def mount(self, options: str = "rw") -> None:
        self.machine.mount(self.number, POINT.replace(" ", r"\040"), "xfs", "/dev/nvme1n1", options)

    def run(self, command: Sequence[str], _: float) -> Said:
        if command[0] == "stat":
            return Said(0, "0") if self.answers else Said(1, "", "stat: Input/output error")
        self.called.append(" ".join(command[:2]))
        if command[:2] == ("umount", POINT):
            if self.busy:
                return Said(32, "", "umount: target is busy.")
            self.machine.unmount(POINT.replace(" ", r"\040"))
            self.answers = True
        if command[:2] == ("mount", POINT) and self.present:
            self.mount()
        if command[1] == "connect":
            self.connect()
        return Said(0, "")


@pytest.fixture
def host(tmp_path: Path) -> Host:
    made = Host(Machine(tmp_path))
    (tmp_path / FSTAB).parent.mkdir()
    (tmp_path / FSTAB).write_text("UUID=1 / ext4 defaults 0 1\nUUID=2 /other xfs _netdev 0 0\n")
    add_to_fstab(tmp_path, fstab_line("xfs", "3", Path(POINT), network=True))
    remember(tmp_path, WantedConnection(TARGET, Reconnect()))
    return made


def test_at_a_start_it_connects_and_mounts(host: Host) -> None:
    assert host.keeper.step() == [
        "nvme1: connected to nqn.2026-01.example:video at 192.168.7.2:4420: nvme1n1",
        f"{POINT}: mounted",
    ]
    assert host.called == ["nvme connect", f"mount {POINT}"]


def test_what_is_well_is_left_alone(host: Host) -> None:
    host.keeper.step()
    host.called.clear()
    assert host.keeper.step() == []
    assert host.called == []


def test_a_drive_that_is_not_there_is_tried_again(host: Host) -> None:
    host.present = False
    host.keeper.step()
    host.present = True
    assert host.keeper.step() == [f"{POINT}: mounted"]


@pytest.mark.parametrize("state", ["connecting", "resetting"])
def test_while_the_link_is_down_nothing_is_touched(host: Host, state: str) -> None:
    host.keeper.step()
    host.called.clear()
    host.answers = False
    host.machine.set("nvme1", state=state)
    assert host.keeper.step() == []
    assert host.called == []


def test_a_file_system_that_shut_down_is_mounted_again(host: Host) -> None:
    host.keeper.step()
    host.answers = False
    assert host.keeper.step() == [
        f"{POINT}: unmounted, its file system has shut down",
        f"{POINT}: mounted",
    ]


def test_a_file_system_that_turned_read_only_is_mounted_again(host: Host) -> None:
    host.connect()
    host.mount("ro")
    assert host.keeper.step() == [
        f"{POINT}: unmounted, its file system turned read-only",
        f"{POINT}: mounted",
    ]


def test_one_that_dies_again_at_once_stays_out_for_a_while(host: Host) -> None:
    host.keeper.step()
    for wait_s, mends in ((0.0, True), (REMOUNT_EVERY_S - 1, False), (2, True)):
        host.now += wait_s
        host.answers = False
        assert bool(host.keeper.step()) is mends


def test_what_is_in_use_is_not_torn_away(host: Host) -> None:
    host.keeper.step()
    host.answers, host.busy = False, True
    assert host.keeper.step() == [f"{POINT}: umount failed: umount: target is busy."]
    host.busy = False
    assert len(host.keeper.step()) == 2


def test_a_drive_that_came_back_as_another_device_is_mounted_again(host: Host) -> None:
    host.connect()
    host.machine.mount("259:99", POINT.replace(" ", r"\040"), "xfs", "/dev/nvme7n1")
    assert host.keeper.step()[0] == f"{POINT}: unmounted, its drive (nvme7n1) is gone"


def test_a_drive_of_this_machine_that_errs_is_left_to_people(host: Host) -> None:
    host.connect()
    host.number = host.machine.nvme_pcie()
    host.mount("ro")
    host.answers = False
    assert host.keeper.step() == []


def test_one_target_that_is_away_does_not_keep_others_out(host: Host) -> None:
    other = Target("tcp", "192.168.9.9", "4420", "nqn.2026-01.example:other")
    remember(host.machine.root, WantedConnection(other, Reconnect()))
    run = host.run

    def refuse(command: Sequence[str], limit_s: float) -> Said:
        if "--traddr=192.168.9.9" in command:
            return Said(1, "", "Connection refused")
        return run(command, limit_s)

    host.keeper = host.watched_by(refuse)
    said = host.keeper.step()
    assert any("Connection refused" in words for words in said)
    assert f"{POINT}: mounted" in said
