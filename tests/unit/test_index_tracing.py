"""The walk through lots ends in cycles, reports limits, and splits no transformation."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from gateway.index.store import IndexStore
from gateway.records.tracing import ASKED_AT_ONCE, Direction, LotId, walk
from support.gateways.indexed_lots import Made, add_made, lot

LIMIT = 100


@pytest.fixture
def index(tmp_path: Path) -> Iterator[IndexStore]:
    store = IndexStore(tmp_path / "index.db")
    yield store
    store.close()


def steps(index: IndexStore, name: str, direction: Direction) -> dict[str, int]:
    walked = walk(index, [lot(name)], direction, LIMIT)
    return {found.lot: count for found, count in walked.steps.items()}


def chain(count: int) -> list[Made]:
    return [Made([f"L{at}"], [f"L{at + 1}"]) for at in range(count)]


def test_backward_is_all_sources_and_forward_all_that_was_reached(index: IndexStore) -> None:
    add_made(
        index,
        [
            Made([], ["milk-1", "milk-2"]),
            Made(["milk-1", "milk-2", "sugar"], ["yoghurt"]),
            Made(["yoghurt"], ["pot-1", "pot-2"]),
            Made(["milk-2"], ["butter"]),
            Made(["flour"], ["bread"]),
        ],
    )
    assert steps(index, "yoghurt", Direction.BACKWARD) == {
        "yoghurt": 0,
        "milk-1": 1,
        "milk-2": 1,
        "sugar": 1,
    }
    forward = {"milk-2": 0, "yoghurt": 1, "butter": 1, "pot-1": 2, "pot-2": 2}
    assert steps(index, "milk-2", Direction.FORWARD) == forward
    assert steps(index, "bread", Direction.FORWARD) == {"bread": 0}


@pytest.mark.parametrize(
    "made",
    [
        [Made(["a"], ["a"])],
        [Made(["a"], ["b"]), Made(["b"], ["a"])],
        [Made(["a"], ["b"]), Made(["b"], ["c"]), Made(["c"], ["a", "b"])],
    ],
)
def test_a_cycle_ends(index: IndexStore, made: Sequence[Made]) -> None:
    add_made(index, made)
    for direction in Direction:
        walked = walk(index, [lot("a")], direction, LIMIT)
        assert len(walked.transformations) == len(made)
        assert walked.cut_at == []


def test_a_limit_is_told_and_the_walk_goes_on_from_there(index: IndexStore) -> None:
    add_made(index, chain(10))
    walked = walk(index, [lot("L0")], Direction.FORWARD, 4)
    assert [found.lot for found in walked.steps] == ["L0", "L1", "L2", "L3", "L4"]
    assert walked.cut_at == [lot("L4")]
    rest = walk(index, walked.cut_at, Direction.FORWARD, LIMIT)
    assert [found.lot for found in rest.steps] == ["L4", "L5", "L6", "L7", "L8", "L9", "L10"]
    assert rest.cut_at == []


def test_a_limit_that_is_just_enough_cuts_nothing(index: IndexStore) -> None:
    add_made(index, chain(10))
    assert walk(index, [lot("L0")], Direction.FORWARD, 10).cut_at == []
    assert walk(index, [lot("L0")], Direction.FORWARD, 9).cut_at == [lot("L9")]


def test_one_lot_with_too_many_transformations_is_cut_at_itself(index: IndexStore) -> None:
    add_made(index, [Made(["milk"], [f"pot-{at}"]) for at in range(LIMIT * 3)])
    walked = walk(index, [lot("milk")], Direction.FORWARD, LIMIT)
    assert len(walked.transformations) == LIMIT
    assert walked.cut_at == [lot("milk")]


def test_transformations_of_many_lots_are_bounded_and_never_split(index: IndexStore) -> None:
    wide = [[f"pot-{at}-{each}" for each in range(50)] for at in range(5)]
    add_made(index, [Made(["milk"], outputs) for outputs in wide])
    walked = walk(index, [lot("milk")], Direction.FORWARD, 60)
    assert len(walked.steps) == 101
    assert walked.cut_at == [lot("milk")]


def test_a_lot_is_its_gtin_and_its_name(index: IndexStore) -> None:
    add_made(index, [Made(["a"], ["b"])])
    assert walk(index, [LotId("other", "a")], Direction.FORWARD, LIMIT).transformations == []


def test_a_level_wider_than_one_question_is_walked_in_its_order(index: IndexStore) -> None:
    wide = [f"pot-{at:03}" for at in range(ASKED_AT_ONCE * 2 + 1)]
    eaten = [Made([pot], [f"plate-{pot}"]) for pot in wide]
    add_made(index, [Made(["milk"], wide), *eaten])
    limit = 3 * len(wide)
    walked = walk(index, [lot("milk")], Direction.FORWARD, limit)
    assert [each.lot for each in walked.steps] == ["milk", *wide, *(f"plate-{pot}" for pot in wide)]
    assert walked.transformations == [f"T{at}" for at in range(len(eaten) + 1)]
    assert walked.cut_at == []
    cut = walk(index, [lot("milk")], Direction.FORWARD, len(wide) + 2)
    assert cut.transformations == ["T0", "T1", "T2"]
    assert cut.cut_at == [lot(pot) for pot in wide[2:]]
