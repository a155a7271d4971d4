"""When blocks begin: batches that keep coming share one, a batch alone does not wait."""

import pytest

from contracts.ledger.solo.pace import (
    BLOCK_GAP_S,
    FULL_BYTES,
    QUIET_TIMES,
    SHARED_GAP_S,
    BlockPace,
    Waiting,
)

BEGAN_S = 100.0
ENDED_S = 100.002
READING_BYTES = 1_400


def pace(interval_s: float = 0.0) -> BlockPace:
    """Return the pace after one block."""
    made = BlockPace(interval_s)
    made.made(BEGAN_S, ENDED_S)
    return made


def waits_s(arrivals_s: list[float], now_s: float, size: int = READING_BYTES) -> float:
    """Return how long a block waits on for batches that came after `BEGAN_S`."""
    waiting = Waiting(len(arrivals_s), BEGAN_S + arrivals_s[-1], len(arrivals_s) * size)
    return pace().more_in_s(BEGAN_S + now_s, waiting)


def test_the_first_block_is_due_at_once() -> None:
    assert BlockPace().due_in_s(0.0) < 0
    assert BlockPace().more_in_s(0.0, Waiting(5, 0.0, 5)) <= 0


def test_a_block_follows_another_after_a_gap() -> None:
    assert pace().due_in_s(BEGAN_S + 0.002) == pytest.approx(BLOCK_GAP_S - 0.002)
    assert pace().due_in_s(BEGAN_S + BLOCK_GAP_S) == pytest.approx(0)
    assert pace(interval_s=2.0).due_in_s(BEGAN_S + 1.0) == pytest.approx(1.002)


@pytest.mark.parametrize("came_s", [0.001, 0.006, 0.3])
def test_a_batch_that_comes_alone_does_not_wait_for_others(came_s: float) -> None:
    assert waits_s([came_s], max(came_s, BLOCK_GAP_S)) <= 0


def test_batches_that_keep_coming_share_a_block() -> None:
    """One comes each 2 ms: the block waits for all that come in `SHARED_GAP_S`."""
    arrivals_s = [0.002, 0.004]
    while (wait_s := waits_s(arrivals_s, arrivals_s[-1] + 0.001)) > 0:
        assert wait_s <= SHARED_GAP_S
        arrivals_s.append(arrivals_s[-1] + 0.002)
    assert arrivals_s[-1] == pytest.approx(SHARED_GAP_S)


def test_a_block_waits_no_longer_once_none_comes() -> None:
    """As with clients that each wait for their batch before they send the next one."""
    arrivals_s, distance_s = [0.001, 0.002, 0.003, 0.004], 0.001
    assert waits_s(arrivals_s, 0.005) == pytest.approx(QUIET_TIMES * distance_s - 0.001)
    assert waits_s(arrivals_s, 0.004 + QUIET_TIMES * distance_s) == pytest.approx(0)


def test_a_block_that_is_full_waits_for_no_more() -> None:
    arrivals_s = [0.001, 0.002]
    assert waits_s(arrivals_s, 0.004, FULL_BYTES // 2 - 1) > 0
    assert waits_s(arrivals_s, 0.004, FULL_BYTES // 2) <= 0


def test_few_batches_that_came_while_a_block_was_made_do_not_wait() -> None:
    """They come each 10 ms, and the block before took longer than that."""
    assert waits_s([0.002, 0.012], 0.013) <= 0


def test_what_came_while_a_long_block_was_made_does_not_wait() -> None:
    assert waits_s([0.001, 0.002, 0.03], 0.031) <= 0
