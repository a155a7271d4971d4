"""Some days in the life of a truck; `make soak` lives 200 of them."""

import pytest

from support.life.walk import Life, folder_in_memory

pytestmark = pytest.mark.integration

DAYS = 4


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_whatever_happens_nothing_is_lost_or_doubled_and_each_fault_is_found(seed: int) -> None:
    with folder_in_memory() as folder:
        life = Life(folder, seed)
        with life.lived():
            for _ in range(DAYS):
                life.day()
    assert life.checks.durable


def test_a_seed_makes_the_same_life_again() -> None:
    lives = []
    for _ in range(2):
        with folder_in_memory() as folder:
            life = Life(folder, seed=5)
            with life.lived():
                life.day()
            lives.append(life.checks.summary())
    assert lives[0] == lives[1]
