"""Plays random worlds for as long as it is told; ends with a failure if a forgery passes.

`make soak` runs it. `--seed N --worlds 1` plays one world again.
"""

import argparse
import json
import sys
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import count
from random import Random
from typing import Final

from support.evidence.chain import Evidence, trust_in
from support.evidence.forgers import Forger, passes
from support.evidence.forgery import verdict_on
from support.evidence.worlds import World

FORGERIES: Final = 40
"""Forged files of each honest one."""
_ANOTHER_WORLD: Final = 1 << 32
"""Added to a seed for the world from which a forger takes parts: no world is played under it."""


@dataclass
class Played:
    """What was played so far.

    Attributes:
        passed: Forgeries that were believed, in words.
    """

    worlds: int = 0
    transactions: int = 0
    refused: int = 0
    files: int = 0
    holding: int = 0
    forgeries: Counter[str] = field(default_factory=Counter)
    passed: list[str] = field(default_factory=list)

    def play(self, seed: int, forgeries: int) -> None:
        """Play the world of a seed, and forge each of its files so many times."""
        world = World(seed)
        self.worlds += 1
        self.transactions += world.transactions
        self.refused += world.refused.total()
        other = next(_files_of_others(seed))
        random = Random(seed)
        for told in world.evidence:
            self._forge(world, told, Forger(world, told, other, random), forgeries)

    def _forge(self, world: World, told: Evidence, forger: Forger, forgeries: int) -> None:
        trust = trust_in(told.heads)
        honest = verdict_on(told.wire(), trust)
        self.files += 1
        self.holding += honest.holds
        for number in range(forgeries):
            forged = forger.forge()
            self.forgeries[forged.kind] += 1
            if passes(forged, honest, trust):
                self.passed.append(
                    f"seed {world.seed}, trips {', '.join(told.header.trip_ids)}, "
                    f"forgery {number}: {forged.kind}"
                )

    def as_json(self) -> dict[str, object]:
        """Return the counts."""
        return {
            "worlds": self.worlds,
            "transactions": self.transactions,
            "refused": self.refused,
            "files": self.files,
            "holding": self.holding,
            "forgeries": self.forgeries.total(),
            "passed": len(self.passed),
        }


def _files_of_others(seed: int) -> Iterator[Evidence]:
    for at in count(seed + _ANOTHER_WORLD):
        yield from World(at).evidence


def main() -> None:
    """Play worlds; print one line of JSON; exit with 1 if a forgery passed."""
    parser = argparse.ArgumentParser(prog="play", description=__doc__)
    parser.add_argument("--seed", type=int, default=time.time_ns() % 10**9)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--worlds", type=int, default=sys.maxsize)
    options = parser.parse_args()
    print(f"worlds from seed {options.seed} on", file=sys.stderr)  # noqa: T201
    played, end = Played(), time.monotonic() + options.seconds
    for seed in range(options.seed, options.seed + options.worlds):
        played.play(seed, FORGERIES)
        for passed in played.passed:
            print(f"a forgery passed: {passed}", file=sys.stderr)  # noqa: T201
        if played.passed or time.monotonic() > end:
            break
    print(json.dumps({"seed": options.seed, **played.as_json()}))  # noqa: T201
    sys.exit(bool(played.passed))


if __name__ == "__main__":
    main()
