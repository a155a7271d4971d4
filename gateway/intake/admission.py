"""Checks each batch before the inbox takes it: signatures, form, one device, one trip.

A batch with an invalid signature is refused and not kept, since anyone could
have made it, and so is a batch of another device than the one that sent it. A
batch that is well signed, but that the rules would reject, is kept in quarantine
and shown, in its sender's name: a device did sign it.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import TypeVar

from google.protobuf.message import Message

from contracts.actions.payload import check_form, check_scope, decode, version_of
from contracts.encoding import is_canonical, parse
from contracts.errors import RejectedError
from contracts.ids import ID_MAX, check_id
from contracts.keys import is_signature
from contracts.proto.payload_pb2 import RecordReading, RecordRun, RecordVideo, SealTrip, StartTrip
from contracts.proto.sawtooth_pb2 import Batch
from contracts.proto.wire_pb2 import RecordingOffer
from contracts.sawtooth.batches import ID_HEX, CheckedBatch, check_batch
from contracts.text import quoted
from contracts.wire import BATCH_BYTES_MAX
from gateway.intake.held import HeldBatch, Offer, State

TripAction = StartTrip | RecordReading | RecordRun | SealTrip | RecordVideo
_ActionT = TypeVar("_ActionT", bound=TripAction)


def admit_records(wire: bytes, device_id: str) -> HeldBatch:
    """Check a batch with a trip's start, readings or seal.

    Args:
        wire: The serialised batch.
        device_id: The device on whose topic the batch came.

    Returns:
        The batch, held, or quarantined with a reason.

    Raises:
        RejectedError: The bytes are not a batch, too large, from another device, or a signature
            is invalid.
    """
    checked = _checked(wire)
    try:
        actions = _actions(checked, StartTrip, RecordReading, RecordRun, SealTrip)
        held = _held(checked, wire, actions)
    except RejectedError as error:
        _check_claims(checked, device_id)
        return _quarantined(checked, wire, device_id, str(error))
    _check_sender(held.batch_id, held.device_id, device_id)
    return held


def admit_offer(offer: RecordingOffer, device_id: str) -> tuple[HeldBatch, Offer]:
    """Check the offer of a recording and its digest, which is alone in its batch.

    Args:
        offer: The announcement of the recording.
        device_id: The device on whose topic the batch came.

    Raises:
        RejectedError: A signature is invalid, the digest is from another device, or offer and
            digest name different recordings.
    """
    checked = _checked(offer.digest_batch)
    actions = _actions(checked, RecordVideo)
    if len(actions) != 1:
        raise RejectedError(f"a digest must be alone in its batch, got {len(actions)} transactions")
    digest = actions[0]
    check_id("device", digest.device_id)  # the form of a digest leaves it to the trip's start
    if (offer.sha256, offer.size, offer.trip_id) != (digest.sha256, digest.size, digest.trip_id):
        raise RejectedError(
            f"offer names {offer.sha256.hex()[:16]} with {offer.size} bytes on trip "
            f"{offer.trip_id[:32]}, "
            f"its digest names {digest.sha256.hex()[:16]} with {digest.size} bytes on trip "
            f"{digest.trip_id}"
        )
    held = replace(_held(checked, offer.digest_batch, actions), recording=digest.sha256)
    _check_sender(held.batch_id, held.device_id, device_id)
    return held, Offer(
        held.trip_id,
        held.device_id,
        digest.sha256,
        digest.size,
        digest.tree_root,
        held.batch_id,
    )


def _checked(wire: bytes) -> CheckedBatch:
    if len(wire) > BATCH_BYTES_MAX:
        raise RejectedError(f"batch of {len(wire)} bytes, at most {BATCH_BYTES_MAX} allowed")
    batch = parse(Batch, wire)
    checked = check_batch(batch)
    if batch.trace or not is_canonical(batch, wire):
        raise RejectedError(f"batch {batch.header_signature[:16]}… is not in canonical encoding")
    return checked


def _check_sender(batch_id: str, signed_by: str, device_id: str) -> None:
    """Refuse a batch from another device's topic: it could take the place of the true batch."""
    if signed_by != device_id:
        raise RejectedError(
            f"batch {batch_id[:16]}… is of device {signed_by[:ID_MAX]}, but came from {device_id}"
        )


def _check_claims(checked: CheckedBatch, device_id: str) -> None:
    """Refuse a batch that no rule accepts if any of its actions is another device's."""
    for transaction in checked.batch.transactions:
        try:
            action = decode(transaction.payload)
        except RejectedError:
            continue
        if isinstance(action, TripAction):
            _check_sender(checked.batch.header_signature, action.device_id, device_id)


def _check_form(name: str, header: Message, wire: bytes) -> None:
    """Refuse a header whose bytes could not be restored from the ledger's JSON.

    Its signature would not verify on the restored bytes, nor would any evidence file with it.
    """
    if not is_canonical(header, wire):
        raise RejectedError(f"header of {name[:16]}… is not in canonical encoding")


def _actions(checked: CheckedBatch, *kinds: type[_ActionT]) -> list[_ActionT]:
    batch = checked.batch
    _check_form(batch.header_signature, checked.header, batch.header)
    actions: list[_ActionT] = []
    for transaction, header in zip(batch.transactions, checked.headers, strict=True):
        _check_form(transaction.header_signature, header, transaction.header)
        version = version_of(header)
        action = decode(transaction.payload)
        if not isinstance(action, kinds):
            wanted = ", ".join(kind.__name__ for kind in kinds)
            raise RejectedError(f"expected {wanted}, got {type(action).__name__}")
        check_scope(action, header)
        check_form(action, version, transaction.payload)
        actions.append(action)
    return actions


def _held(checked: CheckedBatch, wire: bytes, actions: Sequence[TripAction]) -> HeldBatch:
    """Return the batch as held; all its actions must be of one device and one trip.

    The form of each action is checked, and with it the trip's id, which names files.
    """
    places = {(action.trip_id, action.device_id) for action in actions}
    if len(places) != 1:
        raise RejectedError(f"a batch must belong to one device and one trip, got {len(places)}")
    (trip_id, device_id) = next(iter(places))
    return HeldBatch(
        checked.batch.header_signature,
        device_id,
        trip_id,
        wire,
        sum(map(_readings, actions)),
        _dependency(checked),
        checked.header.transaction_ids[-1],
    )


def _readings(action: TripAction) -> int:
    """Return the number of readings that an action records."""
    if isinstance(action, RecordRun):
        return len(action.readings)
    return int(isinstance(action, RecordReading))


def _dependency(checked: CheckedBatch) -> str:
    """Return the id of the one transaction that must be committed first, or ""."""
    named = {each for header in checked.headers for each in header.dependencies}
    own = named.intersection(checked.header.transaction_ids)
    if own:  # the inbox would hold it for ever: the ledger never decides such a batch
        raise RejectedError(
            "expected dependencies on earlier batches, got one on transaction "
            f"{min(own)[:16]}… of the batch itself"
        )
    if len(named) > 1:
        raise RejectedError(f"a batch depends on at most one transaction, got {len(named)}")
    if any(not is_signature(dependency) for dependency in named):
        raise RejectedError(
            f"a dependency must be a transaction id of {ID_HEX} lower-case hexadecimal digits, "
            f"got {quoted(next(iter(named)))}"
        )
    return next(iter(named), "")


def _quarantined(checked: CheckedBatch, wire: bytes, device_id: str, reason: str) -> HeldBatch:
    return HeldBatch(
        checked.batch.header_signature,
        device_id,
        "",
        wire,
        0,
        "",
        checked.header.transaction_ids[-1],
        state=State.QUARANTINED,
        reason=reason,
    )
