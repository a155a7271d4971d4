"""What a device may leave in the inbox: well signed, well formed, of one trip.

Bytes whose signatures do not hold are refused and not kept, since anyone could
make them. A well signed batch that no rule would take is kept in quarantine,
visibly: it is some device's word.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import TypeVar

from google.protobuf.message import Message

from contracts.encoding import is_canonical, parse
from contracts.errors import RejectedError
from contracts.ids import check_id, check_trip_id
from contracts.keys import is_signature
from contracts.payload import FAMILY, check_scope, decode
from contracts.proto.payload_pb2 import RecordReading, RecordRun, RecordVideo, SealTrip, StartTrip
from contracts.proto.sawtooth_pb2 import Batch, BatchHeader
from contracts.proto.wire_pb2 import RecordingOffer
from contracts.rules.form import check_form
from contracts.sawtooth.batches import check_batch
from contracts.sawtooth.transactions import ID_HEX, Family, parse_header
from contracts.wire import BATCH_BYTES_MAX
from gateway.inbox import HeldBatch, Offer, State

TripAction = StartTrip | RecordReading | RecordRun | SealTrip | RecordVideo
_ActionT = TypeVar("_ActionT", bound=TripAction)


def admit_records(wire: bytes, device_id: str) -> HeldBatch:
    """Take a batch of a trip's start, readings and seal.

    Args:
        wire: The serialised batch.
        device_id: The device on whose topic it came.

    Returns:
        The batch, held, or quarantined with a reason.

    Raises:
        RejectedError: Not a batch, oversized, of another device, or a signature does not hold.
    """
    batch = _signed(wire)
    try:
        held = _held(batch, wire, _actions(batch, StartTrip, RecordReading, RecordRun, SealTrip))
    except RejectedError as error:
        return _quarantined(batch, wire, str(error))
    _check_sender(held, device_id)
    return held


def admit_offer(offer: RecordingOffer, device_id: str) -> tuple[HeldBatch, Offer]:
    """Take the offer of a recording with its digest, alone in its batch.

    Args:
        offer: What was announced.
        device_id: The device on whose topic it came.

    Raises:
        RejectedError: A signature does not hold, it is another device's, or offer and digest are
            not of one recording.
    """
    batch = _signed(offer.digest_batch)
    actions = _actions(batch, RecordVideo)
    if len(actions) != 1:
        raise RejectedError(f"a digest is alone in its batch, got {len(actions)} transactions")
    digest = actions[0]
    if (offer.sha256, offer.size, offer.trip_id) != (digest.sha256, digest.size, digest.trip_id):
        raise RejectedError(
            f"offer of {offer.sha256.hex()[:16]} with {offer.size} bytes on trip "
            f"{offer.trip_id[:32]}, "
            f"its digest is of {digest.sha256.hex()[:16]} with {digest.size} bytes on trip "
            f"{digest.trip_id}"
        )
    held = replace(_held(batch, offer.digest_batch, actions), recording=digest.sha256)
    _check_sender(held, device_id)
    return held, Offer(
        held.trip_id,
        held.device_id,
        digest.sha256,
        digest.size,
        digest.tree_root,
        held.batch_id,
    )


def _signed(wire: bytes) -> Batch:
    if len(wire) > BATCH_BYTES_MAX:
        raise RejectedError(f"batch of {len(wire)} bytes, at most {BATCH_BYTES_MAX} allowed")
    batch = parse(Batch, wire)
    check_batch(batch)
    if batch.trace or not is_canonical(batch, wire):
        raise RejectedError(f"batch {batch.header_signature[:16]}… is not in canonical encoding")
    return batch


def _check_sender(held: HeldBatch, device_id: str) -> None:
    """Refuse a batch under another device's name, which could take the place of its true one."""
    if held.device_id != device_id:
        raise RejectedError(
            f"batch {held.batch_id[:16]}… is of device {held.device_id}, it came from {device_id}"
        )


def _check_form(name: str, header: Message, wire: bytes) -> None:
    """Refuse a header that the ledger's JSON could not give back byte by byte.

    Its signature would never verify again, and with it no evidence that it is part of.
    """
    if not is_canonical(header, wire):
        raise RejectedError(f"header of {name[:16]}… is not in canonical encoding")


def _actions(batch: Batch, *kinds: type[_ActionT]) -> list[_ActionT]:
    _check_form(batch.header_signature, parse(BatchHeader, batch.header), batch.header)
    actions: list[_ActionT] = []
    for transaction in batch.transactions:
        header = parse_header(transaction)
        _check_form(transaction.header_signature, header, transaction.header)
        if Family.of(header) != FAMILY:
            raise RejectedError(
                f"transaction of family {header.family_name[:40]!r} {header.family_version[:20]!r},"
                f" expected {FAMILY.name} {FAMILY.version}"
            )
        action = decode(transaction.payload)
        if not isinstance(action, kinds):
            wanted = ", ".join(kind.__name__ for kind in kinds)
            raise RejectedError(f"a {type(action).__name__} where {wanted} is expected")
        check_scope(action, header)
        check_form(action)
        actions.append(action)
    return actions


def _held(batch: Batch, wire: bytes, actions: Sequence[TripAction]) -> HeldBatch:
    """Return the batch as held, once it is of one device and one trip."""
    places = {(action.trip_id, action.device_id) for action in actions}
    if len(places) != 1:
        raise RejectedError(f"a batch holds one device's trip, got {len(places)}")
    (trip_id, device_id) = next(iter(places))
    return HeldBatch(
        batch.header_signature,
        check_id("device", device_id),
        check_trip_id(trip_id),
        wire,
        sum(map(_readings, actions)),
        _dependency(batch),
        batch.transactions[-1].header_signature,
    )


def _readings(action: TripAction) -> int:
    """Return how many readings an action records."""
    if isinstance(action, RecordRun):
        return len(action.readings)
    return int(isinstance(action, RecordReading))


def _dependency(batch: Batch) -> str:
    """Return the one transaction outside the batch that must come before it, or ""."""
    inside = {transaction.header_signature for transaction in batch.transactions}
    outside = {
        dependency
        for transaction in batch.transactions
        for dependency in parse_header(transaction).dependencies
    } - inside
    if len(outside) > 1:
        raise RejectedError(f"a batch follows one transaction, got {len(outside)}")
    if any(not is_signature(dependency) for dependency in outside):
        raise RejectedError(
            f"a dependency is a transaction id of {ID_HEX} lower-case hexadecimal digits, "
            f"got {next(iter(outside))[:80]!r}"
        )
    return next(iter(outside), "")


def _quarantined(batch: Batch, wire: bytes, reason: str) -> HeldBatch:
    return HeldBatch(
        batch.header_signature,
        "",
        "",
        wire,
        0,
        "",
        batch.transactions[-1].header_signature,
        state=State.QUARANTINED,
        reason=reason,
    )
