"""docs/sizing.md has the table that its assumptions and docs/performance.md give."""

from support.project.sizing import PAGE, assumed, measured_bytes, table


def test_the_table_follows_from_the_assumptions() -> None:
    text = PAGE.read_text("utf-8")
    for row in table():
        assert row in text, f"expected: {row}"


def test_the_bytes_are_the_measured_ones() -> None:
    in_runs, alone = measured_bytes()
    assert assumed()["runs"] == in_runs
    assert 0 <= assumed()["alone"] - alone < 5  # rounded up
