"""What the doctor says of a volume's quota and of the journal, and what metrics say of failures."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import pytest

from contracts.errors import UnavailableError
from contracts.runtime.kernelclock import kernel_clock
from gateway.budgets import Budget
from gateway.doctor import journal, room
from gateway.doctor.machine import Machine
from gateway.figures import looked, present, watch
from gateway.gauges import Family, gauge, timestamp
from gateway.metrics import Metrics
from gateway.settings import Settings


def settings(tmp_path: Path, **more: object) -> Settings:
    volume = {"path": tmp_path / "volume", "quota_bytes": 1000}
    values: dict[str, Any] = {"data": tmp_path, "site_id": "b", "volumes": {"main": volume}, **more}
    return Settings(**values)


def of_the_quota(given: Settings) -> tuple[str, str]:
    (found,) = (each for each in room.findings(given) if "quota_bytes" in each.words)
    return found.severity, found.words


@pytest.mark.parametrize(
    ("size", "make_room", "severity"),
    [(950, False, "warning"), (950, True, "ok"), (10, False, "ok")],
)
def test_a_quota_near_its_end_is_told(
    tmp_path: Path, size: int, *, make_room: bool, severity: str
) -> None:
    name = "ab" * 32
    file = tmp_path / "volume" / name[:2] / name
    file.parent.mkdir(parents=True)
    file.write_bytes(bytes(size))
    (tmp_path / "volume" / "parts").mkdir()
    told, words = of_the_quota(settings(tmp_path, retention={"make_room": make_room}))
    assert told == severity, words


def test_a_volume_that_was_never_used_has_no_quota_to_tell_of(tmp_path: Path) -> None:
    (tmp_path / "volume").mkdir()
    assert not [each for each in room.findings(settings(tmp_path)) if "quota" in each.words]
    assert [each for each in room.findings(settings(tmp_path)) if each.severity == "error"] == []


def test_a_budget_is_nearly_full_beyond_nine_tenths() -> None:
    assert [Budget("inbox", used, 100).nearly_full for used in (90, 91)] == [False, True]


def test_a_journal_in_memory_is_told(tmp_path: Path) -> None:
    machine = Machine(journald=tmp_path / "socket", journal=tmp_path / "journal")
    assert list(journal.findings(machine)) == []
    (tmp_path / "socket").touch()
    (warned,) = journal.findings(machine)
    assert (warned.severity, warned.remedy[:10]) == ("warning", "install -d")
    (tmp_path / "journal" / "m").mkdir(parents=True)
    (tmp_path / "journal" / "m" / "system.journal").write_bytes(bytes(3 << 20))
    (kept,) = journal.findings(machine)
    assert kept.severity == "ok"
    assert kept.words.startswith("3")


def test_the_kernel_tells_of_its_clock() -> None:
    clock = kernel_clock()
    assert clock is not None
    assert clock.max_error_s >= 0
    assert abs(clock.offset_s) <= clock.max_error_s + 1


def test_what_nobody_knows_has_no_value() -> None:
    metrics = Metrics()
    metrics.watch(lambda: [gauge("wayseal_a", "A.", None), timestamp("wayseal_b", "B.", 1500)])
    text = metrics.text().decode()
    assert "# TYPE wayseal_a gauge" in text
    assert "\nwayseal_a " not in text
    assert "\nwayseal_b_timestamp_seconds 1.5\n" in text


def test_a_group_that_fails_is_told_and_leaves_the_others(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def fails(_: object) -> Iterator[Family]:
        yield gauge("wayseal_half", "Half.", 1)
        raise UnavailableError("the disk is gone")

    def works(_: object) -> Iterator[Family]:
        yield gauge("wayseal_whole", "Whole.", 2)

    monkeypatch.setattr(looked, "GROUPS", {"bad": fails, "good": works})
    monkeypatch.setattr(looked, "machine", lambda *_: iter(()))
    monkeypatch.setattr(present, "families", lambda _: iter(()))
    kept = watch.Figures(cast("Any", object()))
    assert "wayseal_figures_timestamp_seconds" in {each.name for each in kept.families()}
    kept.look()
    shown = {each.name: dict(each.samples) for each in kept.families()}
    assert shown["wayseal_figures_failed"] == {
        ("bad",): True,
        ("good",): False,
        ("machine",): False,
    }
    assert shown["wayseal_whole"] == {(): 2}
    assert shown["wayseal_figures_timestamp_seconds"]
