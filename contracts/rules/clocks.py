"""A device's clock: UTC against the counter of one boot, from moment to moment."""

from typing import Final

from contracts.proto.state_pb2 import Chain
from contracts.rules.case import Notes
from contracts.rules.ids import Rule
from contracts.rules.passed import Moment

CLOCK_JUMP_MS: Final = 60_000
"""How far UTC may move apart from the monotonic counter within one boot.

Version 1.0 compares two readings only. So UTC may leave the counter behind in small steps.
"""


def check_clock(before: Moment, now: Moment, chain: Chain, notes: Notes, sequence: int) -> None:
    """Find that a device's clock went back, or that UTC and the counter moved apart."""
    went_ms = now.utc_ms - before.utc_ms
    if went_ms < 0:
        notes.add(Rule.CLOCK_BACK, f"UTC went back by {-went_ms} ms", sequence)
    same_boot = now.boot_id == before.boot_id
    passed_ms = now.monotonic_ms - before.monotonic_ms
    steady = same_boot and went_ms >= 0 and passed_ms >= 0
    if same_boot and passed_ms < 0:
        notes.add(Rule.CLOCK_BACK, f"the counter went back by {-passed_ms} ms", sequence)
    elif steady and abs(went_ms - passed_ms) > CLOCK_JUMP_MS:
        notes.add(
            Rule.CLOCK_JUMP, f"UTC moved by {went_ms} ms while {passed_ms} ms passed", sequence
        )
        steady = False
    if notes.case.version:  # since 1.1
        _check_drift(before, now, chain, notes, sequence, steady=steady)


def _check_drift(
    before: Moment, now: Moment, chain: Chain, notes: Notes, sequence: int, *, steady: bool
) -> None:
    """Find that UTC and the counter moved apart step by step since both were compared last."""
    apart_ms = now.utc_ms - now.monotonic_ms
    known_ms = chain.apart_ms
    if steady and not known_ms and not chain.HasField("apart_ms"):
        chain.apart_ms = known_ms = before.utc_ms - before.monotonic_ms
    if steady and abs(apart_ms - known_ms) > CLOCK_JUMP_MS:
        notes.add(
            Rule.CLOCK_JUMP,
            f"UTC moved {apart_ms - known_ms} ms further than the counter, step by step",
            sequence,
        )
        steady = False
    if not steady:
        chain.apart_ms = apart_ms
