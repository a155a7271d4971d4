"""Four validators under a short schedule of faults; `make soak` runs longer ones, of more seeds."""

from itertools import islice
from pathlib import Path

import pytest

from support.ledgers.cometbft import need_cometbft
from support.ledgers.faults import KINDS, run, schedule

pytestmark = pytest.mark.integration


def test_a_seed_gives_the_same_faults_again_and_all_kinds_come() -> None:
    first = list(islice(schedule(7), 50))
    assert first == list(islice(schedule(7), 50))
    assert first != list(islice(schedule(8), 50))
    assert {each.kind for each in first} == set(KINDS)


@pytest.mark.long
def test_nothing_is_lost_doubled_or_reordered(tmp_path: Path) -> None:
    need_cometbft()
    told = run(3, 45, tmp_path)
    assert told["problems"] == [], told
    assert told["batches"]
