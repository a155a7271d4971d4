"""What an action must look like, before anything is asked of the state.

A gateway checks the same before it submits, since an ill-formed transaction
would void its whole batch.
"""

from typing import Final

from contracts.chunktree import HASH_BYTES
from contracts.errors import RejectedError
from contracts.ids import check_gln, check_id, check_trip_id
from contracts.payload import DELIVERIES_MAX, Action, trip_id_of
from contracts.proto.payload_pb2 import (
    RELEASED,
    WITHHELD,
    AcceptDelivery,
    CloseDelivery,
    CloseTrip,
    DisputeDelivery,
    HandOver,
    Limit,
    OpenDelivery,
    PlaceHold,
    RecordReading,
    RecordRun,
    RecordVideo,
    RegisterDevice,
    RegisterParty,
    RegisterSite,
    ReleaseHold,
    Role,
    RotateKeys,
    SealTrip,
    StartTrip,
    TransformLots,
)
from contracts.records.clock import Clock, check_utc_ms
from contracts.records.placed import placed
from contracts.records.recording import RecordingDigest
from contracts.rules.case import invalid
from contracts.rules.fields import check_hash, check_keys, check_lot, check_quantity, check_text
from contracts.rules.ids import Rule

NONCE_BYTES: Final = 16
SITES_VIA_MAX: Final = 32
"""Sites of a trip between its first and its last."""
OTHER_DEVICES_MAX: Final = 16
"""Devices on a trip beside the one that starts it."""
SOURCES_MAX: Final = 16
RECORDINGS_MAX: Final = 512
"""Recordings that one device makes on one trip."""
LOTS_MAX: Final = 100
LIMITS_MAX: Final = 16
TRANSFORMED_MAX: Final = 50
"""Lots that go into one transformation, and that come out of it."""
LOT_QUANTITY_MAX: Final = 10**15
"""Quantity of a lot, and what sums of it stop at: exact in every JSON parser."""


def check_form(action: Action) -> None:
    """Check the form of an action.

    Raises:
        RejectedError: A field has no meaning, or lies outside its range.
    """
    match action:
        case RecordReading() | RecordRun():
            placed(action)
        case StartTrip() | SealTrip() | RecordVideo() | HandOver():
            _check_of_trip(action)
        case CloseTrip() | PlaceHold() | ReleaseHold():
            _check_end_of_trip(action)
        case OpenDelivery():
            _check_terms(action)
        case AcceptDelivery() | DisputeDelivery() | CloseDelivery():
            _check_end_of_delivery(action)
        case TransformLots():
            _check_transformation(action)
        case RegisterParty() | RotateKeys() | RegisterSite() | RegisterDevice():
            _check_registration(action)


def _check_registration(
    action: RegisterParty | RotateKeys | RegisterSite | RegisterDevice,
) -> None:
    match action:
        case RegisterParty():
            check_id("party", action.party_id)
            check_text("name", action.name)
            check_keys(action.public_keys)
            if len(set(action.roles)) != len(action.roles) or any(
                role not in Role.values()[1:] for role in action.roles
            ):
                raise RejectedError(f"a party has known roles, none twice: {list(action.roles)}")
        case RotateKeys():
            check_id("party", action.party_id)
            check_keys(action.added)
            check_keys(action.revoked)
            both = set(action.added) & set(action.revoked)
            if both or not (action.added or action.revoked):
                raise RejectedError("a rotation adds or revokes at least one key, none does both")
        case RegisterSite():
            check_id("site", action.site_id)
            check_text("name", action.name)
            if action.gln:
                check_gln(action.gln)
            check_keys(action.gateway_public_keys)
        case RegisterDevice():
            check_id("device", action.device_id)
            check_utc_ms("calibrated_until_ms", action.calibrated_until_ms)
            check_keys(action.public_keys)


def _check_of_trip(action: StartTrip | SealTrip | RecordVideo | HandOver) -> None:
    match action:
        case StartTrip():
            _check_start(action)
        case SealTrip():
            _check_seal(action)
        case RecordVideo():
            check_trip_id(action.trip_id)
            check_utc_ms("started_at_ms", action.started_at_ms)
            check_utc_ms("duration_ms", action.duration_ms)
            RecordingDigest(action.sha256, action.size, action.tree_root)
        case HandOver():
            check_trip_id(action.trip_id)
            check_utc_ms("at_ms", action.at_ms)


def _check_end_of_trip(action: CloseTrip | PlaceHold | ReleaseHold) -> None:
    check_trip_id(action.trip_id)
    check_utc_ms("at_ms", action.at_ms)
    if not isinstance(action, CloseTrip):
        check_id("hold", action.hold_id)
    if isinstance(action, PlaceHold):
        check_text("reason", action.reason)


def _check_start(action: StartTrip) -> None:
    check_id("device", action.device_id)
    expected = trip_id_of(action.device_id, action.nonce)
    if len(action.nonce) != NONCE_BYTES or action.trip_id != expected:
        raise invalid(Rule.TRIP_ID, f"trip id must be {expected} for its nonce: {action.trip_id}")
    for site_id in (action.origin_site_id, *action.via_site_ids, action.destination_site_id):
        check_id("site", site_id)
    if len(action.via_site_ids) > SITES_VIA_MAX:
        raise RejectedError(f"a trip has up to {SITES_VIA_MAX} sites between first and last")
    for delivery_id in action.delivery_ids:
        check_id("delivery", delivery_id)
    if len(set(action.delivery_ids)) != len(action.delivery_ids) or (
        len(action.delivery_ids) > DELIVERIES_MAX
    ):
        raise RejectedError(f"a trip carries up to {DELIVERIES_MAX} different deliveries")
    devices = [action.device_id, *action.other_device_ids]
    for device_id in devices:
        check_id("device", device_id)
    if len(set(devices)) != len(devices) or len(devices) > 1 + OTHER_DEVICES_MAX:
        raise RejectedError(f"a trip names up to {OTHER_DEVICES_MAX} different other devices")
    check_utc_ms("started_at_ms", action.started_at_ms)
    if len(action.derived_from) > SOURCES_MAX or any(
        len(source.sha256) != HASH_BYTES for source in action.derived_from
    ):
        raise RejectedError(f"up to {SOURCES_MAX} sources, each with a SHA-256 of 32 bytes")


def _check_seal(action: SealTrip) -> None:
    check_trip_id(action.trip_id)
    check_id("device", action.device_id)
    Clock.from_message(action.clock)
    names = [recording.sha256 for recording in action.recordings]
    if names != sorted(set(names)) or len(names) > RECORDINGS_MAX:
        raise RejectedError(
            f"a seal names up to {RECORDINGS_MAX} different recordings, sorted by SHA-256"
        )
    if any(len(name) != HASH_BYTES for name in names):
        raise RejectedError(f"a recording's SHA-256 is {HASH_BYTES} bytes")
    if len(action.head_sha256) != (HASH_BYTES if action.reading_count else 0):
        raise RejectedError(f"the head of a chain is {HASH_BYTES} bytes, or none for no readings")


def _check_terms(terms: OpenDelivery) -> None:
    check_id("delivery", terms.delivery_id)
    check_id("order", terms.order_id)
    check_text("name", terms.product)
    if not 1 <= len(terms.lots) <= LOTS_MAX:
        raise RejectedError(f"a delivery holds 1..{LOTS_MAX} lots, got {len(terms.lots)}")
    for lot in terms.lots:
        check_lot(lot.gtin, lot.lot)
    check_quantity(terms.quantity, terms.unit)
    if terms.seller_id == terms.buyer_id:
        raise RejectedError(f"seller and buyer must differ, both are {terms.seller_id!r}")
    check_hash("the hash of the payment terms", terms.payment_terms_sha256)
    check_hash("the hash of the price", terms.price_sha256)
    _check_limits(terms)


def _check_limits(terms: OpenDelivery) -> None:
    quantities = [limit.quantity for limit in terms.limits]
    if len(quantities) > LIMITS_MAX or len(set(quantities)) != len(quantities):
        raise RejectedError("at most one limit per quantity")
    for limit in terms.limits:
        if limit.quantity not in Limit.Quantity.values()[1:]:
            raise RejectedError(f"a limit needs a known quantity, got {limit.quantity}")
        bounded = limit.HasField("minimum"), limit.HasField("maximum")
        if not any(bounded) or (all(bounded) and limit.minimum > limit.maximum):
            raise RejectedError("a limit needs a minimum, a maximum, or both in that order")


def _check_end_of_delivery(action: AcceptDelivery | DisputeDelivery | CloseDelivery) -> None:
    check_id("delivery", action.delivery_id)
    check_utc_ms("at_ms", action.at_ms)
    match action:
        case DisputeDelivery():
            check_text("reason", action.reason)
        case CloseDelivery() if action.payment not in (RELEASED, WITHHELD):
            raise RejectedError(
                f"a closed delivery's payment is released or withheld, got {action.payment}"
            )
        case _:
            pass


def _check_transformation(action: TransformLots) -> None:
    check_id("transformation", action.transformation_id)
    check_utc_ms("at_ms", action.at_ms)
    if len(action.inputs) > TRANSFORMED_MAX or not 1 <= len(action.outputs) <= TRANSFORMED_MAX:
        raise RejectedError(
            f"a transformation has 0..{TRANSFORMED_MAX} inputs and 1..{TRANSFORMED_MAX} outputs, "
            f"got {len(action.inputs)} and {len(action.outputs)}"
        )
    lots = [*action.inputs, *action.outputs]
    for lot in lots:
        check_lot(lot.gtin, lot.lot)
        check_quantity(lot.quantity, lot.unit)
        if lot.quantity > LOT_QUANTITY_MAX:
            raise RejectedError(f"a lot's quantity is at most {LOT_QUANTITY_MAX}: {lot.quantity}")
    if len({(lot.gtin, lot.lot) for lot in lots}) != len(lots):
        raise RejectedError("a transformation names no lot twice")
