"""The head of a page: what matters most, and which target is ahead by more than noise."""

from collections.abc import Sequence

import pytest

from storage.bench.report.glance import Glance, glances
from storage.bench.run.document import Document
from storage.bench.run.flags import Flag
from storage.bench.run.plan import Part

LOW = [1e8 + n for n in range(6)]
HIGH = [2e8 + n for n in range(6)]
MIXED = [1e8 + 2 * n - 5 for n in range(6)]


def figure(target: str, values: Sequence[float], **others: object) -> Document:
    """Return a figure of the result."""
    ordered = sorted(values)
    known = {"part": Part.IO, "workload": "direct", "metric": "write-rate", "unit": "B/s"}
    found = {"better": "higher", "median": ordered[len(ordered) // 2], "values": list(values)}
    return {**known, **found, "target": target, "low": ordered[0], "high": ordered[-1],
            "flags": [], **others}  # fmt: skip


def only(*figures: Document, of_all: Sequence[Flag] = ()) -> Glance:
    (glance,) = glances(figures, ["a", "b", "c"], raised(*of_all))
    return glance


def raised(*flags: Flag) -> list[Document]:
    return [{"flag": flag, "why": "expected a, got b"} for flag in flags]


@pytest.mark.parametrize(
    ("better", "words"), [("higher", "b, 2.00 x a"), ("lower", "a, 0.500 x b"), ("neither", "")]
)
def test_who_is_ahead_is_said_with_how_far(better: str, words: str) -> None:
    glance = only(figure("a", LOW, better=better), figure("b", HIGH, better=better))
    (row,) = glance.rows
    assert (glance.targets, row.ahead) == (["a", "b"], words)
    assert [each and each.median for each in row.found] == ["100 MB/s", "200 MB/s"]


def test_what_is_noise_puts_nobody_ahead() -> None:
    (row,) = only(figure("a", LOW), figure("b", MIXED)).rows
    assert row.ahead in ("a and b: within noise", "b and a: within noise")
    (few,) = only(figure("a", LOW[:2]), figure("b", HIGH[:2])).rows
    assert few.ahead == "too few values to tell"


def test_the_best_is_compared_with_the_next_of_several() -> None:
    best = [3e8 + n for n in range(6)]
    (row,) = only(figure("a", LOW), figure("b", best), figure("c", HIGH)).rows
    assert row.ahead == "b, 1.50 x c"


@pytest.mark.parametrize("flag", [Flag.INVALID, Flag.CACHED, Flag.OVER_LINK_RATE])
def test_what_says_nothing_of_its_target_is_shown_with_its_flag_and_not_compared(
    flag: Flag,
) -> None:
    best = figure("b", HIGH, flags=raised(flag))
    (alone,) = only(figure("a", LOW), best).rows
    assert alone.ahead == ""
    assert [each and each.flags for each in alone.found] == [[], [flag]]
    (others,) = only(figure("a", LOW), best, figure("c", [each / 2 for each in LOW])).rows
    assert others.ahead == "a, 2.00 x c"
    assert only(figure("a", LOW), figure("b", HIGH), of_all=[flag]).rows[0].ahead == ""


def test_a_target_may_lack_a_figure_and_sweeps_are_left_to_charts() -> None:
    glance = only(
        figure("a", LOW),
        figure("a", LOW, workload="cassandra"),
        figure("b", HIGH, workload="cassandra"),
        figure("a", LOW, workload="random-4k-qd1-read100", metric="read-operations"),
        figure("a", LOW, metric="write-amplification"),
    )
    rate = "write-rate"
    found = {(row.workload, row.metric): [bool(each) for each in row.found] for row in glance.rows}
    assert found == {("direct", rate): [True, False], ("cassandra", rate): [True, True]}


def test_a_ledger_at_a_given_rate_tells_how_long_it_took_and_others_how_much_they_did() -> None:
    rate = figure("a", LOW, part=Part.LEDGER, metric="committed-rate", unit="1/s")
    wait = figure("a", LOW, part=Part.LEDGER, metric="response-p95", unit="s", better="lower")
    flat, open_loop = {"workload": "readings-flat-out"}, {"workload": "readings-open-loop"}
    glance = only(*({**each, **at} for each in (rate, wait) for at in (flat, open_loop)))
    assert [(row.workload, row.metric) for row in glance.rows] == [
        ("readings-flat-out", "committed-rate"),
        ("readings-open-loop", "response-p95"),
        ("readings-open-loop", "committed-rate"),
    ]
    (first,) = (each for each in glance.rows[0].found if each)
    assert first.median == "100 M tx/s"


def test_without_figures_there_is_nothing_to_see() -> None:
    assert list(glances([], ["a"], [])) == []


def test_targets_stand_in_the_order_of_the_page_and_errors_have_no_ratio() -> None:
    none = [0.0] * 6
    glance = only(figure("b", none), figure("a", HIGH))
    assert (glance.targets, glance.rows[0].ahead) == (["a", "b"], "a")


def test_what_most_figures_have_is_said_below_the_table() -> None:
    some = [figure(each, LOW, flags=raised(Flag.NOT_PRECONDITIONED)) for each in "abc"]
    some[0]["flags"] += raised(Flag.NOT_STEADY)
    glance = only(*some, figure("a", LOW, workload="cassandra"))
    assert list(glance.flags) == [Flag.NOT_PRECONDITIONED]
    seen = [each.flags for row in glance.rows for each in row.found if each]
    assert [list(each) for each in seen if each] == [[Flag.NOT_STEADY]]
