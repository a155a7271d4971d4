"""What a lost link means, in plain words, from recorded trees and a clock that is told."""

from dataclasses import dataclass
from pathlib import Path

import pytest

from storage.drives.inventory import observe
from storage.drives.links import LinkState, LinkWatch, Word
from storage.volumes.volume import VolumePlace
from support.machine.sysfs import Machine

NQN = "nqn.2026-01.example:video"
ONE, TWO = "traddr=192.168.7.2,trsvcid=4420", "traddr=192.168.8.2,trsvcid=4420"


@dataclass
class Site:
    """A machine with one NVMe-oF volume, watched under a clock of ours."""

    machine: Machine
    now: float = 100.0

    def __post_init__(self) -> None:
        self.watch = LinkWatch(lambda: self.now)

    def look(self, *, after_s: float = 0) -> LinkState:
        self.now += after_s
        return observe(self.machine.kernel, {}, self.watch).links["nvme1n1"]


@pytest.fixture
def site(tmp_path: Path) -> Site:
    machine = Machine(tmp_path)
    machine.controller("nvme1", NQN, ONE, ctrl_loss_tmo=600, fast_io_fail_tmo=15)
    machine.head(NQN, {"nvme1": "optimized"})
    return Site(machine)


def second_path(site: Site, state: str) -> None:
    own = site.machine.controller("nvme2", NQN, TWO, state=state)
    site.machine.disk(f"{own}/nvme1c2n1", own, hidden=1, ana_state="optimized")


def test_a_live_link_is_live(site: Site) -> None:
    assert site.look() == LinkState(Word.LIVE, "live")


def test_a_link_that_was_seen_to_go_counts_down(site: Site) -> None:
    site.look()
    site.machine.set("nvme1", state="connecting")
    site.look(after_s=1)
    told = site.look(after_s=12)
    assert (told.word, told.for_s, told.fails_in_s, told.given_up_in_s) == (
        Word.WAITING,
        12,
        3,
        588,
    )
    assert told.words == (
        "nvme1 to 192.168.7.2:4420 is connecting for 12 s: reads and writes wait; in 3 s they fail"
        " with EIO, the gateway takes the volume out, and its file system may shut down. The kernel"
        " tries again every 2 s and gives the drive up in 588 s"
    )


def test_after_that_reads_and_writes_fail(site: Site) -> None:
    site.look()
    site.machine.set("nvme1", state="connecting")
    site.look(after_s=1)
    told = site.look(after_s=20)
    assert (told.word, told.fails_in_s) == (Word.FAILING, 0)
    assert "reads and writes fail with EIO, a volume on it is out" in told.words


def test_a_link_that_comes_back_starts_over(site: Site) -> None:
    site.look()
    for state, word in (("connecting", Word.WAITING), ("live", Word.LIVE)) * 2:
        site.machine.set("nvme1", state=state)
        told = site.look(after_s=4)
        assert told.word is word
        assert told.for_s in (None, 0)


def test_since_when_a_link_is_down_is_not_guessed(site: Site) -> None:
    site.machine.set("nvme1", state="connecting")
    site.look()
    told = site.look(after_s=60)
    assert (told.word, told.for_s, told.fails_in_s) == (Word.LOST, None, None)
    assert "wait until 15 s after the loss, then fail with EIO" in told.words
    assert "gives the drive up 600 s after the loss" in told.words


def test_a_loss_that_happened_while_nobody_looked_has_no_time(site: Site) -> None:
    site.look()
    site.machine.set("nvme1", state="connecting")
    assert site.look(after_s=3600).word is Word.LOST


def test_without_a_limit_reads_and_writes_wait(site: Site) -> None:
    site.look()
    site.machine.set("nvme1", state="connecting", fast_io_fail_tmo="off", ctrl_loss_tmo="off")
    site.look(after_s=1)
    told = site.look(after_s=60)
    assert (told.word, told.fails_in_s, told.given_up_in_s) == (Word.WAITING, None, None)
    assert "reads and writes wait. The kernel tries again" in told.words
    assert told.words.endswith("never gives the drive up")


def test_one_of_two_paths_lost_is_no_reason_to_wait(site: Site) -> None:
    second_path(site, "connecting")
    told = site.look()
    assert told.word is Word.DEGRADED
    assert "reads and writes go over 192.168.7.2:4420" in told.words


def test_with_both_paths_lost_the_last_limit_counts(site: Site) -> None:
    second_path(site, "live")
    site.look()
    site.machine.set("nvme1", state="connecting")
    site.look(after_s=5)
    site.machine.set("nvme2", state="connecting")
    site.look(after_s=4)
    told = site.look(after_s=4)
    assert (told.word, told.for_s, told.fails_in_s) == (Word.WAITING, 4, 7)


def test_a_controller_that_is_being_removed_does_not_return(site: Site) -> None:
    site.machine.set("nvme1", state="deleting")
    told = site.look()
    assert told.word is Word.GONE
    assert "unmount it, connect again, mount it" in told.words


def test_a_namespace_that_its_target_took_away(site: Site) -> None:
    (site.machine.kernel.sys / "class/nvme/nvme1/nvme1c1n1").rename(site.machine.root / "elsewhere")
    told = site.look()
    assert "is connected, but offers this namespace no more" in told.words


def ana(site: Site, *states: str) -> LinkState:
    """Return the state of the link while the target calls its paths so."""
    for number, state in enumerate(states, start=1):
        site.machine.write(f"class/nvme/nvme{number}/nvme1c{number}n1", ana_state=state)
    return site.look(after_s=3)


def test_a_path_that_changes_is_a_wait_and_no_loss(site: Site) -> None:
    site.look()
    told = ana(site, "change")
    assert (told.word, told.fails_in_s, told.given_up_in_s) == (Word.CHANGING, None, None)
    assert told.words == (
        "nvme1 to 192.168.7.2:4420 is connected, but its target calls the path change: reads and "
        "writes wait until the target has changed it, normally for seconds. The kernel connects "
        "again if that takes longer than the target promised"
    )
    assert ana(site, "optimized").word is Word.LIVE


@pytest.mark.parametrize("state", ["inaccessible", "persistent-loss"])
def test_a_drive_that_its_target_keeps_back_waits_without_a_limit(site: Site, state: str) -> None:
    site.look()
    told = ana(site, state)
    assert (told.word, told.fails_in_s) == (Word.WAITING, None)
    assert f"calls the path {state}: reads and writes wait, without a limit" in told.words


@pytest.mark.parametrize(
    ("second", "word"),
    [
        ("non-optimized", Word.LIVE),
        ("inaccessible", Word.LIVE),
        ("change", Word.LIVE),
        ("persistent-loss", Word.DEGRADED),
    ],
)
def test_what_a_target_calls_its_second_path(site: Site, second: str, word: Word) -> None:
    second_path(site, "live")
    told = ana(site, "optimized", second)
    assert told.word is word
    assert second in told.words


def test_a_path_that_changes_counts_more_than_one_that_is_lost(site: Site) -> None:
    second_path(site, "connecting")
    assert ana(site, "change").word is Word.CHANGING
    told = ana(site, "inaccessible")
    assert (told.word, told.fails_in_s) == (Word.WAITING, None)


def test_a_volume_has_no_problem_while_its_target_changes_paths(site: Site) -> None:
    number = (site.machine.kernel.block("nvme1n1") / "dev").read_text().strip()
    site.machine.mount(number, "/srv/video", "xfs", "/dev/nvme1n1")
    places = {"main": VolumePlace(Path("/srv/video/recordings"))}
    for state, problem in (("change", False), ("inaccessible", True)):
        ana(site, state)
        (volume,) = observe(site.machine.kernel, places, site.watch).volumes
        assert bool(volume.problem) is problem


def test_a_volume_on_a_lost_drive_says_so(site: Site) -> None:
    number = (site.machine.kernel.block("nvme1n1") / "dev").read_text().strip()
    site.machine.mount(number, "/srv/video", "xfs", "/dev/nvme1n1")
    site.machine.set("nvme1", state="connecting")
    places = {"main": VolumePlace(Path("/srv/video/recordings"))}
    (volume,) = observe(site.machine.kernel, places, site.watch).volumes
    assert volume.device == "nvme1n1"
    assert volume.problem.startswith("nvme1 to 192.168.7.2:4420 is connecting")
