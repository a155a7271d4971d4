"""A dependency is told once when it is lost and once when it is back."""

import pytest

from contracts.runtime.dependency import NOT_LOOKED_AT, Dependency


class Clock:
    at_ms = 0

    def __call__(self) -> int:
        return self.at_ms


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def ledger(clock: Clock, caplog: pytest.LogCaptureFixture) -> Dependency:
    caplog.set_level("INFO")
    return Dependency("the ledger", clock)


def lines(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [f"{each.levelname} {each.getMessage()}" for each in caplog.records]


def test_it_is_out_until_it_was_looked_at(ledger: Dependency) -> None:
    assert ledger.reason == NOT_LOOKED_AT


def test_what_works_from_the_start_has_one_line(
    ledger: Dependency, caplog: pytest.LogCaptureFixture
) -> None:
    ledger.works()
    ledger.works()
    assert ledger.reason == ""
    assert lines(caplog) == ["INFO the ledger is in use"]


def test_each_loss_and_each_return_has_one_line(
    ledger: Dependency, clock: Clock, caplog: pytest.LogCaptureFixture
) -> None:
    ledger.fails("refused")
    clock.at_ms = 1000
    ledger.fails("no route")
    assert ledger.reason == "no route"
    assert ledger.standing.since_ms == 0
    clock.at_ms = 2400
    ledger.works()
    assert ledger.standing.since_ms == 2400
    ledger.fails("refused again")
    assert lines(caplog) == [
        "WARNING the ledger is out: refused",
        "INFO the ledger is back, after 2 s",
        "WARNING the ledger is out: refused again",
    ]


def test_a_clock_that_is_set_back_makes_no_negative_time(
    ledger: Dependency, clock: Clock, caplog: pytest.LogCaptureFixture
) -> None:
    clock.at_ms = 5000
    ledger.fails("refused")
    clock.at_ms = 1000
    ledger.works()
    assert lines(caplog)[-1] == "INFO the ledger is back, after 0 s"
