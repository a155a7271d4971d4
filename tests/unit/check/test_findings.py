"""What a command that only looks may say: whatever is not well has a remedy."""

import pytest

from contracts.runtime.checks import Finding, Severity, error, ok, warning


@pytest.mark.parametrize("severity", [Severity.WARNING, Severity.ERROR])
def test_what_is_not_well_has_a_remedy(severity: Severity) -> None:
    with pytest.raises(ValueError, match="expected a remedy"):
        Finding(severity, "clock", "it is not synchronised")


def test_what_is_well_needs_none() -> None:
    with pytest.raises(ValueError, match="none for ok"):
        Finding(Severity.OK, "clock", "synchronised", "apt install chrony")
    assert ok("clock", "synchronised").remedy == ""


def test_a_problem_is_told_in_its_own_words() -> None:
    problem = ValueError("expected 1, got 2")
    for tell, severity in ((warning, Severity.WARNING), (error, Severity.ERROR)):
        assert tell("a", problem, "b") == Finding(severity, "a", "expected 1, got 2", "b")
