"""What a page of a benchmark says first: which target, by how much, limited by what."""

from collections.abc import Sequence

import pytest

from storage.bench.report.answer import Answer, answer
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
            "flags": [], "ceiling": None, **others}  # fmt: skip


def of(*figures: Document) -> Answer:
    found = answer(figures, [])
    assert found is not None
    assert len(found.sentences) == 3
    return found


def test_who_is_ahead_by_how_much_and_limited_by_what() -> None:
    link = {"value": 2.1e8, "why": "its link"}
    found = of(
        figure("sata", LOW),
        figure("nvmeof", HIGH, ceiling=link),
        figure("sata", HIGH, metric="read-rate"),
        figure("nvmeof", LOW, metric="read-rate"),
    )
    assert found.sentences == (
        "nvmeof is ahead of sata: 200 MB/s against 100 MB/s, 2.00 times as much.",
        "Of 2 figures that can be compared, it is ahead in 1, and another target in 1.",
        "It reaches 95% of 210 MB/s (its link), which limits it.",
    )
    assert found.title == "Storage: write-rate of direct, more is better"
    assert [(each.target, each.value, round(each.share)) for each in found.bars] == [
        ("nvmeof", "200 MB/s", 100),
        ("sata", "100 MB/s", 50),
    ]


def test_a_limit_that_is_far_away_limits_nothing() -> None:
    link = {"value": 1e9, "why": "its link"}
    *_, limit = of(figure("nvmeof", HIGH, ceiling=link)).sentences
    assert limit == (
        "It reaches 20% of the limit that is known, 1.00 GB/s (its link): something else limits it."
    )


def test_noise_puts_nobody_ahead_and_a_clear_figure_answers_before_it() -> None:
    noise = [figure("a", LOW), figure("b", MIXED)]
    which, often, limit = of(*noise).sentences
    assert which.startswith("No target is ahead: ")
    assert which.endswith("within noise.")
    assert often == "Of 1 figure that can be compared none puts a target ahead by more than noise."
    assert limit.endswith(" is not known.")
    clear = [figure(name, values, metric="read-rate") for name, values in (("a", LOW), ("b", HIGH))]
    which, *_ = of(*noise, *clear).sentences
    assert which.startswith("b is ahead of a")


def test_of_one_target_nothing_is_compared() -> None:
    which, often, _ = of(figure("here", LOW)).sentences
    assert which == "Only one target was measured, here: 100 MB/s."
    assert often == "Nothing was compared, because no figure has two targets."


def test_less_is_better_where_it_is() -> None:
    late = {"metric": "fsync-latency-p50", "unit": "s", "better": "lower"}
    found = of(figure("a", [0.1 + n / 1e6 for n in range(6)], **late),
               figure("b", [0.2 + n / 1e6 for n in range(6)], **late))  # fmt: skip
    assert found.sentences[0].startswith("a is ahead of b: 100 ms against 200 ms")
    assert found.title.endswith("less is better")
    assert [each.target for each in found.bars] == ["a", "b"]


@pytest.mark.parametrize("flag", [Flag.INVALID, Flag.CACHED, Flag.OVER_LINK_RATE])
def test_figures_that_cannot_be_compared_answer_nothing(flag: Flag) -> None:
    told = [{"flag": flag, "why": "expected a, got b"}]
    assert answer([figure("a", LOW, flags=told), figure("b", HIGH, flags=told)], []) is None
    assert answer([figure("a", LOW), figure("b", HIGH)], told) is None
    assert answer([], []) is None
