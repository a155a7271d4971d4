"""docs/sizing.md has the table that its assumptions and docs/performance.md give."""

from support.project.sizing import (
    PAGE,
    assumed,
    cold_table,
    index_table,
    measured_bytes,
    measured_growth,
    measured_index,
    pages_table,
    table,
)


def test_the_table_follows_from_the_assumptions() -> None:
    text = PAGE.read_text("utf-8")
    for row in (*table(), *index_table(), *pages_table(), *cold_table()):
        assert row in text, f"expected: {row}"


def test_the_bytes_are_the_measured_ones() -> None:
    in_runs, alone = measured_bytes()
    assert assumed()["runs"] == in_runs
    assert 0 <= assumed()["alone"] - alone < 5  # rounded up


def test_the_index_is_the_measured_one() -> None:
    measured = {**measured_index(), **measured_growth()}
    assert len(measured) == 8
    assert {name: assumed()[name] for name in measured} == measured
