"""A verdict in words for people and in JSON for programs."""

from collections import Counter
from collections.abc import Iterator
from typing import Any

from contracts.chunktree import blob_count
from contracts.evidence.recordings import Video
from contracts.evidence.replay import TripStory
from contracts.evidence.verify import Verdict
from contracts.proto.state_pb2 import Breach
from contracts.records.clock import rfc3339
from contracts.records.quantity import QUANTITIES
from contracts.records.reading import Tamper


def summary(verdict: Verdict) -> str:
    """Return the verdict in one word: `holds`, `unanchored` or `does-not-hold`."""
    if verdict.problems:
        return "does-not-hold"
    return "holds" if verdict.anchored else "unanchored"


def as_text(verdict: Verdict) -> str:
    """Return the verdict for people, several lines."""
    return "".join(f"{_printable(line)}\n" for line in _lines(verdict))


def as_json(verdict: Verdict) -> dict[str, Any]:
    """Return the verdict for programs (docs/evidence.md, "Verdict")."""
    return {
        "verdict": summary(verdict),
        "problems": verdict.problems,
        "keys": {
            "genesis_block_id": verdict.genesis_id,
            "block_signers": sorted(verdict.block_signers),
            "admin_keys": sorted(verdict.admin_keys),
        },
        "ledger": {"blocks": verdict.blocks, "last_block_id": verdict.last_block_id},
        "trips": [_trip_json(story) for story in verdict.trips.values()],
        "recordings": [_video_json(video) for video in verdict.videos],
    }


def _lines(verdict: Verdict) -> Iterator[str]:
    yield f"ledger: {verdict.blocks} blocks, the last is {verdict.last_block_id}"
    for story in verdict.trips.values():
        yield from _trip_lines(story)
    for video in verdict.videos:
        total = blob_count(video.digest.size)
        yield (
            f"recording {video.digest.sha256.hex()}: {video.digest.size} bytes, "
            f"{video.blobs} of {total} blobs in the file"
        )
    yield from (f"DOES NOT HOLD: {problem}" for problem in verdict.problems)
    match summary(verdict):
        case "holds":
            yield "verdict: holds; every chain of signatures ends in a key you trust"
        case "unanchored":
            yield "verdict: consistent, but anchored in no key you trust; the keys found are"
            yield f"  genesis block {verdict.genesis_id}"
            yield from (f"  block signer {key}" for key in sorted(verdict.block_signers))
            yield from (f"  admin key {key}" for key in sorted(verdict.admin_keys))
        case _:
            yield "verdict: does not hold"


def _trip_lines(story: TripStory) -> Iterator[str]:
    start = story.start
    yield (
        f"trip {start.trip_id} by device {start.device_id}, "
        f"{start.origin_site_id} to {start.destination_site_id}: {story.readings} readings"
        f"{_span(story)}"
    )
    if story.derived:
        yield f"  derived: {story.derived} of {story.readings} readings, replayed or shifted"
    for source in start.derived_from:
        yield f"  derived: {source.role} from {source.name}, SHA-256 {source.sha256.hex()}"
    yield from (f"  signed by device key {key}" for key in sorted(story.signers))
    for breach in story.breaches.values():
        yield f"  breach: {_breach_words(breach)}"
    for tamper in story.tampers:
        yield (
            f"  tamper: {Tamper(tamper.flags).name} at {rfc3339(tamper.utc_ms)}, "
            f"device {tamper.device_id}"
        )
    for rule, count in sorted(Counter(finding.rule for finding in story.findings).items()):
        yield f"  finding: {rule}, {count} times"


def _trip_json(story: TripStory) -> dict[str, Any]:
    start = story.start
    return {
        "trip_id": start.trip_id,
        "device_id": start.device_id,
        "device_keys": sorted(story.signers),
        "origin_site_id": start.origin_site_id,
        "destination_site_id": start.destination_site_id,
        "delivery_ids": list(start.delivery_ids),
        "derived_from": [
            {"role": source.role, "name": source.name, "sha256": source.sha256.hex()}
            for source in start.derived_from
        ],
        "readings": story.readings,
        "readings_derived": story.derived,
        "first_reading_at": rfc3339(story.first_ms) if story.first_ms is not None else None,
        "last_reading_at": rfc3339(story.last_ms) if story.last_ms is not None else None,
        "breaches": [_breach_words(breach) for breach in story.breaches.values()],
        "tampers": [
            {
                "at": rfc3339(tamper.utc_ms),
                "device_id": tamper.device_id,
                "flags": Tamper(tamper.flags).name,
            }
            for tamper in story.tampers
        ],
        "findings": [
            {"rule": finding.rule, "device_id": finding.device_id, "detail": finding.detail}
            for finding in story.findings
        ],
    }


def _video_json(video: Video) -> dict[str, Any]:
    return {
        "sha256": video.digest.sha256.hex(),
        "trip_id": video.digest.trip_id,
        "size": video.digest.size,
        "derived": video.digest.derived,
        "blobs": blob_count(video.digest.size),
        "leaf_hashes_checked": video.leaves is not None,
        "blobs_checked": video.blobs,
    }


def _breach_words(breach: Breach) -> str:
    quantity = QUANTITIES[breach.limit.quantity]
    return (
        f"{quantity.name} up to {breach.extreme / quantity.scale:g} {quantity.symbol} "
        f"from {rfc3339(breach.since_ms)} "
        f"to {rfc3339(breach.until_ms)}, delivery {breach.delivery_id}, device {breach.device_id}"
    )


def _printable(line: str) -> str:
    """Return `line` so that no name in it can end the line, or move a terminal's cursor."""
    return "".join(sign if sign.isprintable() else repr(sign)[1:-1] for sign in line)


def _span(story: TripStory) -> str:
    if story.first_ms is None or story.last_ms is None:
        return ""
    return f", {rfc3339(story.first_ms)} to {rfc3339(story.last_ms)}"
