"""A share of each step for every device, so that one with much work holds up no other."""

import random
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

_T = TypeVar("_T")


def fair_share(items: Sequence[_T], device_of: Callable[[_T], str], share: int) -> Iterator[_T]:
    """Yield up to `share` items of each device, picked and ordered by chance.

    Chance gives each item its turn in one of the next steps.
    """
    taken: Counter[str] = Counter()
    for item in random.sample(items, len(items)):
        device_id = device_of(item)
        if taken[device_id] < share:
            taken[device_id] += 1
            yield item
