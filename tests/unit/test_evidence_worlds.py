"""Random worlds: what honest parties export holds, and what forgers make of it never passes."""

import pytest

from contracts.evidence.endstate import EndState
from contracts.evidence.replay import Replay
from support.evidence.chain import trust_in
from support.evidence.forgery import verdict_on
from support.evidence.play import Played
from support.evidence.worlds import World

SEEDS = [0, *(pytest.param(seed, marks=pytest.mark.long) for seed in (1, 2))]


@pytest.mark.parametrize("seed", SEEDS)
def test_no_forgery_of_a_random_world_passes(seed: int) -> None:
    played = Played()
    played.play(seed, forgeries=10)
    assert played.passed == []
    assert played.forgeries.total() == 10 * played.files


def test_the_same_seed_plays_the_same_world() -> None:
    first, again = World(7), World(7)
    assert first.groups == again.groups
    assert first.refused == again.refused
    assert first.groups != World(8).groups


def test_honest_files_of_a_world_without_losses_hold() -> None:
    held = 0
    for seed in range(4):
        for told in World(seed).evidence:
            verdict = verdict_on(told.wire(), trust_in(told.heads))
            assert verdict.holds or verdict.problems
            held += verdict.holds
    assert held


def test_the_forgers_would_be_believed_if_the_end_state_were_not_compared(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(Replay, "compare", lambda *_: EndState())
    played = Played()
    played.play(0, forgeries=10)
    assert any("batches left out" in each for each in played.passed)
