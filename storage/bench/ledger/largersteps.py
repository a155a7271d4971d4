"""The steps with a state larger than memory, as part of `wayseal-bench ledger`."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Final

from storage.bench.ledger.larger import KERNEL_BYTES, LARGER, SHARE, LargeState
from storage.bench.ledger.modes import Choices
from storage.bench.run.part import Setup
from storage.bench.run.plan import Part, Step, StepGroup

NOTE: Final = (
    f"{LARGER.name}: the node on each volume, with one filled state, once with memory to spare "
    "(roomy) and once in a control group (limited) whose memory is what the node itself needed "
    f"then, {KERNEL_BYTES >> 20} MiB for the kernel, and {SHARE:.0%} of the state's bytes. The "
    "node's own need includes its caches of up to 40,000 values. Rates include the processor in "
    "Python, which has all the memory that it wants."
)
_FILL_S: Final = 200e-6
"""Time to fill one record, about."""
_RATE_PER_S: Final = 200.0
"""Flat out, of both halves on average, about."""
_STARTS_S: Final = 6.0
"""Starts and ends of the nodes of one execution, about."""


def groups(choices: Choices, setup: Setup, notes: list[str]) -> Iterator[StepGroup]:
    """Yield the steps, one for each volume; note where they are left out, and why.

    The state of a volume is filled by the first step that needs it, and removed at the end.
    """
    states = []
    for volume in setup.volumes:
        state = LargeState(volume, choices)
        why = state.why_not()
        if why:
            notes.append(f"{LARGER.name} is left out on {volume.name}: {why}.")
        else:
            states.append(state)
    if not states:
        return
    notes.append(NOTE)

    @contextmanager
    def opened() -> Iterator[Sequence[Step]]:
        try:
            yield [Step(LARGER.name, state.volume.name, state.execute) for state in states]
        finally:
            for state in states:
                state.remove()

    flat_s = LARGER.flat_out * choices.scale / _RATE_PER_S
    each_s = 2 * (flat_s + choices.open_s) + _STARTS_S
    expected_s = sum(state.records * _FILL_S + setup.repetitions * each_s for state in states)
    yield StepGroup(Part.LEDGER, LARGER.name, expected_s, opened, setup.repetitions)
