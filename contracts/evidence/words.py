"""The verdict in words, for people."""

from collections import Counter
from collections.abc import Iterator, Sequence

from contracts import rendered, rendered_remarks
from contracts.chunktree import blob_count
from contracts.evidence.report import (
    breach_words,
    limits_kept,
    not_shown,
    summary,
    was_certified,
)
from contracts.evidence.silences import block_time_words, silence_lines
from contracts.evidence.story import TripStory
from contracts.evidence.verify import Verdict
from contracts.proto.payload_pb2 import LotQuantity, RequiredCertificate, StartTrip
from contracts.proto.state_pb2 import Delivery, Finding, Hold, Transformation
from contracts.records.clock import rfc3339
from contracts.rules.deliveries import payment_name, status_name
from contracts.rules.trips import devices_of, route_of
from contracts.rules.version import RulesVersion
from contracts.text import counted, escaped


def as_text(verdict: Verdict) -> str:
    """Return the verdict for people, several lines."""
    return "".join(f"{escaped(line)}\n" for line in _lines(verdict))


def _lines(verdict: Verdict) -> Iterator[str]:
    if verdict.problems:  # before the story, which nobody should believe then
        yield "verdict: does not hold"
        yield from (f"DOES NOT HOLD: {problem}" for problem in verdict.problems)
        if verdict.blocks:
            yield "what follows is what the file says, and is not proved"
    yield from _story_lines(verdict)
    yield from (f"not shown: {each}" for each in not_shown(verdict))
    yield from _verdict_lines(verdict)


def _story_lines(verdict: Verdict) -> Iterator[str]:
    if verdict.blocks:
        yield f"ledger: {counted(verdict.blocks, 'block')}, the last is {verdict.last_block_id}"
    if verdict.sealed is not None:
        sealed = verdict.sealed
        yield (
            f"ledger: sealed by {counted(len(sealed.signers), 'validator')} of network "
            f"{sealed.chain_id} with {sealed.power} of {sealed.power_of_all} of the voting power, "
            f"at height {sealed.height}, {rfc3339(sealed.utc_ms)}"
        )
        yield from (f"  signed by validator {key}" for key in sorted(sealed.signers))
    for each in verdict.predecessors:
        yield (
            f"ledger: goes on from the one that began with block {each.genesis_block_id}, "
            f"and ended with block {each.block_num}, {each.block_id}"
        )
    if verdict.block_times.blocks or not verdict.problems:  # a problem may end the check before
        yield f"  {block_time_words(verdict.block_times)}"
    for story in verdict.trips.values():
        yield from _trip_lines(story)
    for transformation in verdict.transformations:
        yield from _transformation_lines(transformation)
    for video in verdict.videos:
        total = blob_count(video.digest.size)
        yield (
            f"recording {video.digest.sha256.hex()}: {video.digest.size} bytes, "
            f"{video.blobs} of {total} blobs checked"
        )
        name, blobs = video.digest.sha256.hex(), "1 blob" if total == 1 else f"all {total} blobs"
        yield from (f"  {each} is recording {name}, {blobs}" for each in video.files)
        claims = verdict.claims[video.digest.sha256]
        if len(claims) > 1:
            yield f"  claimed by {len(claims)} trips: {', '.join(claims)}"


def _verdict_lines(verdict: Verdict) -> Iterator[str]:
    match summary(verdict):
        case "format-1":
            yield "verdict: what the file shows holds, but format 1 cannot show what was left out"
            yield "  if that is enough for you, give --format-1"
        case "holds":
            yield "verdict: holds; every chain of signatures ends in a key you trust"
        case "unanchored":
            yield "verdict: consistent, but not anchored in a key you trust; the keys found are"
            yield f"  genesis block {verdict.genesis_id}"
            yield from (f"  block signer {key}" for key in sorted(verdict.block_signers))
            if verdict.sealed is not None:
                yield f"  network {verdict.sealed.chain_id}, which began with the validators"
                began = sorted(verdict.sealed.began_with.items())
                yield from (f"  {key} with a power of {power}" for key, power in began)
            yield from (f"  admin key {key}" for key in sorted(verdict.admin_keys))
        case _:
            yield "verdict: does not hold"  # again: the end is what a terminal shows


def _devices(start: StartTrip) -> str:
    """Name the devices of a trip, and which trip it is of the device that started it."""
    first, *others = devices_of(start)
    number = f" (its trip number {start.trip_number})" if start.trip_number else ""
    return ", ".join([f"{first}{number}", *others])


def _trip_lines(story: TripStory) -> Iterator[str]:
    start = story.start
    yield (
        f"trip {start.trip_id} by device {_devices(start)}, "
        f"{' to '.join(route_of(start))}: "
        f"{counted(story.readings, 'reading')}{_span(story)}"
    )
    if story.derived:
        yield f"  derived: {story.derived} of {story.readings} readings, replayed or shifted"
    for source in start.derived_from:
        yield f"  derived: {source.role} from {source.name}, SHA-256 {source.sha256.hex()}"
    for key in sorted(story.signers):
        revoked = ", which is revoked by now" if key in story.revoked else ""
        yield f"  signed by device key {key}{revoked}"
    for breach in story.breaches.values():
        yield f"  breach: {breach_words(breach, story.times)}"
    yield from _told_lines(story)
    yield from _finding_lines(story.findings)
    yield from silence_lines(story)
    for delivery in story.deliveries:
        yield from _delivery_lines(delivery, story)
    for rule, count in sorted(story.strangers.items()):
        yield f"  finding on a stranger's batch, not in the file: {rule}, {counted(count, 'time')}"
    for delivery_id, signed_by in sorted(story.drafts.items()):
        yield (
            f"  draft: when the trip started, {' and '.join(signed_by)} alone had signed delivery "
            f"{delivery_id}; its limits on this trip are no agreed terms"
        )
    yield from _lot_lines(story)
    if story.close is not None:
        yield f"  closed by {story.close.party_id} at {rfc3339(story.close.at_ms)}"
    yield from (f"  hold {_hold_words(hold)}" for hold in story.holds.values())


def _told_lines(story: TripStory) -> Iterator[str]:
    """Yield the signs of tampering, and what the devices said of themselves."""
    for tamper in story.tampers:
        for change, flags in (("tamper", tamper.flags), ("tamper ended", tamper.ended_flags)):
            if flags:
                at = story.times.of_reading(tamper.device_id, tamper.sequence)
                yield (
                    f"  {change}: {', '.join(rendered.signs(flags))} at "
                    f"{rendered_remarks.claimed(tamper.utc_ms, at)}, device {tamper.device_id}"
                )
    for stretch in rendered_remarks.stretches(story.remarks):
        yield f"  {stretch}"
    for chain in story.chains:
        yield from (f"  {line}" for line in rendered_remarks.telling_words(chain))
    for correction in story.times.corrections:
        yield f"  {rendered_remarks.correction_words(correction)}"


def _lot_lines(story: TripStory) -> Iterator[str]:
    for kind, lots in (("lot", story.lots), ("source lot", story.source_lots)):
        for lot in lots:
            if said := rendered.lot_status(lot):
                yield (
                    f"  {kind} {lot.gtin}:{lot.lot} {said['status']} by {said['party_id']} "
                    f"at {said['at']}: {said['reason']}"
                )


def _delivery_lines(delivery: Delivery, story: TripStory) -> Iterator[str]:
    yield f"  delivery {_delivery_words(delivery, story)}"
    about = f"delivery {delivery.terms.delivery_id}"
    for each in story.between.get(delivery.terms.delivery_id, ()):
        yield f"  {about}: {each}"
    for finding in delivery.findings:
        yield f"  finding on {about}: {finding.rule}: {finding.detail}"
    for required in delivery.terms.required_certificates:
        yield (
            f"  {about} requires that {required.holder_id} holds {required.kind}: "
            f"{_held(delivery, required, story)}"
        )


def _held(delivery: Delivery, required: RequiredCertificate, story: TripStory) -> str:
    """Say who gave a required certificate, and for which time, as it stood when both signed."""
    held = [
        f"by {each.party_id}, {rfc3339(each.valid_from_ms)} to {rfc3339(each.valid_until_ms)}"
        for each in delivery.certificates
        if (each.holder_id, each.kind) == (required.holder_id, required.kind)
    ]
    if held:
        valid = was_certified(delivery, required, story.start)
        return "; ".join([*held, *([] if valid else ["not valid when the trip started"])])
    return "nobody gave it" if len(delivery.signed_by) > 1 else "one side has not signed"


def _delivery_words(delivery: Delivery, story: TripStory) -> str:
    words = (
        f"{delivery.terms.delivery_id}: {status_name(delivery.status)}, "
        f"payment {payment_name(delivery.payment)}, with {_holders(delivery)}, "
        f"{counted(delivery.breaches, 'breach', 'breaches')}, "
        f"{counted(delivery.silences, 'silence')}, {counted(delivery.tampers, 'tamper event')}"
    )
    # Goods and certificates are checked once both have signed, and under 1.0 not at all.
    if delivery.rules >= RulesVersion.V1_1 and len(delivery.signed_by) > 1:
        words += f", {counted(len(delivery.findings), 'finding')}"
    if limits_kept(delivery, story) is None:
        words += "; nobody can say that its limits were kept"
    if delivery.disputed_by:
        words += f", disputed by {delivery.disputed_by}: {delivery.dispute.reason}"
    return words + _quantity_words(delivery)


def _holders(delivery: Delivery) -> str:
    """Return the party that has the goods, or how much each of them has."""
    parts = [f"{each.party_id} ({each.quantity})" for each in delivery.holdings if each.quantity]
    return delivery.custodian_id or ", ".join(parts) or "nobody"


def _quantity_words(delivery: Delivery) -> str:
    """Say how much went where, if any of it did, and what waits for a trip."""
    words, unit = "", delivery.terms.unit
    if delivery.sent_quantity or delivery.received_quantity:
        words += (
            f"; of {delivery.terms.quantity} {unit}, {delivery.sent_quantity} sent, "
            f"{delivery.received_quantity} received, {delivery.returned_quantity} returned"
        )
    if delivery.accepted_quantity:
        words += f", {delivery.accepted_quantity} accepted"
    if delivery.early:
        words += f"; {counted(len(delivery.early), 'handover')} on trips that are not on the ledger"
    if delivery.HasField("settlement"):
        settled = delivery.settlement
        words += f"; settled by {settled.authority_id}: {settled.reason}"
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
        yield f"  finding: {rule}, {counted(count, 'time')}"


def _span(story: TripStory) -> str:
    if story.first_ms is None or story.last_ms is None:
        return ""
    return f", {rfc3339(story.first_ms)} to {rfc3339(story.last_ms)}"
