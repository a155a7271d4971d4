"""A verdict in words, for people."""

from collections import Counter
from collections.abc import Iterator, Sequence

from contracts.chunktree import blob_count
from contracts.evidence.report import breach_words, summary
from contracts.evidence.story import TripStory
from contracts.evidence.verify import Verdict
from contracts.proto.payload_pb2 import LotQuantity
from contracts.proto.state_pb2 import Delivery, Finding, Hold, Transformation
from contracts.records.clock import rfc3339
from contracts.records.reading import Tamper
from contracts.rules.deliveries import payment_name, status_name
from contracts.rules.trips import devices_of


def as_text(verdict: Verdict) -> str:
    """Return the verdict for people, several lines."""
    return "".join(f"{_printable(line)}\n" for line in _lines(verdict))


def _lines(verdict: Verdict) -> Iterator[str]:
    yield f"ledger: {verdict.blocks} blocks, the last is {verdict.last_block_id}"
    for story in verdict.trips.values():
        yield from _trip_lines(story)
    for transformation in verdict.transformations:
        yield from _transformation_lines(transformation)
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
    sites = (start.origin_site_id, *start.via_site_ids, start.destination_site_id)
    devices = ", ".join(devices_of(start))
    yield (
        f"trip {start.trip_id} by device {devices}, {' to '.join(sites)}: "
        f"{story.readings} readings{_span(story)}"
    )
    if story.derived:
        yield f"  derived: {story.derived} of {story.readings} readings, replayed or shifted"
    for source in start.derived_from:
        yield f"  derived: {source.role} from {source.name}, SHA-256 {source.sha256.hex()}"
    yield from (f"  signed by device key {key}" for key in sorted(story.signers))
    for breach in story.breaches.values():
        yield f"  breach: {breach_words(breach)}"
    for tamper in story.tampers:
        yield (
            f"  tamper: {Tamper(tamper.flags).name} at {rfc3339(tamper.utc_ms)}, "
            f"device {tamper.device_id}"
        )
    yield from _finding_lines(story.findings)
    yield from (f"  delivery {_delivery_words(delivery)}" for delivery in story.deliveries)
    if story.close is not None:
        yield f"  closed by {story.close.party_id} at {rfc3339(story.close.at_ms)}"
    yield from (f"  hold {_hold_words(hold)}" for hold in story.holds.values())


def _delivery_words(delivery: Delivery) -> str:
    words = (
        f"{delivery.terms.delivery_id}: {status_name(delivery.status)}, "
        f"payment {payment_name(delivery.payment)}, with {delivery.custodian_id or 'nobody'}, "
        f"{delivery.breaches} breaches, {delivery.tampers} tamper events"
    )
    if delivery.disputed_by:
        words += f", disputed by {delivery.disputed_by}: {delivery.dispute.reason}"
    return words


def _hold_words(hold: Hold) -> str:
    placed = hold.placed
    words = f"{placed.hold_id} by {placed.party_id} since {rfc3339(placed.at_ms)}: {placed.reason}"
    if hold.HasField("released"):
        words += f"; released at {rfc3339(hold.released.at_ms)}"
    return words


def _transformation_lines(transformation: Transformation) -> Iterator[str]:
    terms = transformation.terms
    yield (
        f"transformation {terms.transformation_id} by {terms.party_id} at {terms.site_id}, "
        f"{rfc3339(terms.at_ms)}: {_lots(terms.inputs)} into {_lots(terms.outputs)}"
    )
    yield from _finding_lines(transformation.findings)


def _lots(lots: Sequence[LotQuantity]) -> str:
    named = (f"{lot.quantity} {lot.unit} of {lot.gtin}:{lot.lot}" for lot in lots)
    return ", ".join(named) or "nothing on record"


def _finding_lines(findings: Sequence[Finding]) -> Iterator[str]:
    for rule, count in sorted(Counter(finding.rule for finding in findings).items()):
        yield f"  finding: {rule}, {count} times"


def _printable(line: str) -> str:
    """Return `line` so that no name in it can end the line, or move a terminal's cursor."""
    return "".join(sign if sign.isprintable() else repr(sign)[1:-1] for sign in line)


def _span(story: TripStory) -> str:
    if story.first_ms is None or story.last_ms is None:
        return ""
    return f", {rfc3339(story.first_ms)} to {rfc3339(story.last_ms)}"
