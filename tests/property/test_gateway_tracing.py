"""A walk through any graph of lots, with or without cycles, reaches exactly the reachable lots."""

import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from gateway.index.store import IndexStore
from gateway.records.tracing import Direction, walk
from support.gateways.indexed_lots import Made, add_made, lot

NAMES = st.sampled_from([f"L{at}" for at in range(8)])
SIDE = st.lists(NAMES, max_size=3, unique=True)
GRAPHS = st.lists(st.builds(Made, SIDE, SIDE), max_size=12)


@contextmanager
def index_of(made: list[Made]) -> Iterator[IndexStore]:
    with (
        tempfile.TemporaryDirectory() as folder,
        closing(IndexStore(Path(folder) / "index.db")) as store,
    ):
        add_made(store, made)
        yield store


def reached(made: list[Made], start: str, direction: Direction) -> tuple[set[str], set[str]]:
    """Return lots and transformations, by going round until nothing new is found."""
    lots, transformations = {start}, set[str]()
    while True:
        before = len(lots), len(transformations)
        for number, each in enumerate(made):
            near, far = each.outputs, each.inputs
            if direction is Direction.FORWARD:
                near, far = far, near
            if lots.intersection(near):
                transformations.add(f"T{number}")
                lots.update(far)
        if before == (len(lots), len(transformations)):
            return lots, transformations


@given(made=GRAPHS, start=NAMES, direction=st.sampled_from(Direction))
def test_a_walk_reaches_what_can_be_reached(
    made: list[Made], start: str, direction: Direction
) -> None:
    with index_of(made) as index:
        walked = walk(index, [lot(start)], direction, 1000)
    lots, transformations = reached(made, start, direction)
    assert {found.lot for found in walked.steps} == lots
    assert set(walked.transformations) == transformations
    assert walked.cut_at == []


@given(made=GRAPHS, start=NAMES, direction=st.sampled_from(Direction), limit=st.integers(1, 5))
def test_walks_from_where_one_was_cut_reach_all_of_it(
    made: list[Made], start: str, direction: Direction, limit: int
) -> None:
    with index_of(made) as index:
        walked = walk(index, [lot(start)], direction, limit)
        found = set(walked.steps)
        for each in walked.cut_at:
            found |= walk(index, [each], direction, 1000).steps.keys()
    assert len(walked.transformations) <= limit
    assert {each.lot for each in found} == reached(made, start, direction)[0]
