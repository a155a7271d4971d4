"""Silence in the verdict's words, also when all is well."""

from collections.abc import Iterator

from contracts.evidence.story import TripStory
from contracts.evidence.times import BlockTimesTold
from contracts.proto.state_pb2 import Chain, Silence
from contracts.records.quantity import QUANTITIES
from contracts.rules.silence import silences_allowed


def silence_lines(story: TripStory) -> Iterator[str]:
    """Yield a line for each limited quantity and device, or one that says why it is missing."""
    allowed = silences_allowed(story.entry)
    if not allowed:
        return
    if not story.judges_silence:
        yield "  longest silence: unknown, rules of version 1.0 do not judge it"
        return
    for quantity, by_delivery in allowed.items():
        name, allowed_s = QUANTITIES[quantity].name, min(by_delivery.values()) // 1000
        measured = [
            (chain, each)
            for chain in story.chains
            for each in chain.silences
            if each.quantity == quantity and each.measured
        ]
        for chain, each in measured:
            yield f"  longest silence: {_words(name, allowed_s, chain, each)}"
        if not measured:
            yield f"  longest silence: {name}, which is limited, was measured by no device"


def _words(name: str, allowed_s: int, chain: Chain, silence: Silence) -> str:
    words = f"{name} {silence.longest_ms / 1000:.10g} s of {allowed_s} s allowed"
    if silence.gaps:
        words += f", gaps: {silence.gaps}"
    return f"{words}, device {chain.device_id}"


def block_time_words(times: BlockTimesTold) -> str:
    """Return in words whether claimed times could be compared with blocks."""
    timed, blocks = len(times.timed & times.blocks), len(times.blocks)
    if not timed:
        return "times: the blocks have none, so claimed times were compared with nothing"
    if timed < blocks:
        return (
            f"times: {timed} of {blocks} blocks have one, so some claimed times were not compared"
        )
    return f"times: claimed times were compared with those of {blocks} blocks"
