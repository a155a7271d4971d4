"""The form of each action: what is checked of its fields before the state is asked.

A gateway checks the same before it submits, since an ill-formed transaction
would void its whole batch.
"""

import re
from typing import Final

from contracts.actions.fields import (
    all_differ,
    check_hash,
    check_keys,
    check_lot,
    check_quantity,
    check_text,
)
from contracts.chunktree import HASH_BYTES
from contracts.errors import RejectedError
from contracts.ids import check_gln, check_id, check_trip_id, trip_id_of
from contracts.proto.payload_pb2 import (
    RELEASED,
    WITHHELD,
    AcceptDelivery,
    AnnounceSettlement,
    CancelDelivery,
    CloseDelivery,
    CloseTrip,
    CommitAccesses,
    DisputeDelivery,
    HandOver,
    Limit,
    OpenDelivery,
    PlaceHold,
    RecordVideo,
    RegisterDevice,
    RegisterParty,
    RegisterSite,
    ReleaseHold,
    Role,
    RotateKeys,
    SealTrip,
    SettleDelivery,
    StartTrip,
    TransformLots,
)
from contracts.records.clock import check_utc_ms
from contracts.records.reading import Clock
from contracts.records.recording import RecordingDigest
from contracts.rules.case import invalid
from contracts.rules.custody import parties_of
from contracts.rules.ids import Rule
from contracts.rules.lots import LOT_QUANTITY_MAX
from contracts.rules.trips import devices_of, route_of

NONCE_BYTES: Final = 16
SITES_VIA_MAX: Final = 32
"""Sites of a trip between its first and its last."""
DELIVERIES_MAX: Final = 32
"""Deliveries on one trip; a reading may write to all of them."""
OTHER_DEVICES_MAX: Final = 16
"""Devices on a trip other than the one that starts it."""
SOURCES_MAX: Final = 16
RECORDINGS_MAX: Final = 512
"""Recordings that one device makes on one trip."""
LOTS_MAX: Final = 100
LIMITS_MAX: Final = 16
OTHER_CARRIERS_MAX: Final = 8
"""Parties on a delivery's way besides its first carrier."""
SEAL_NUMBERS_MAX: Final = 8
SEAL_NUMBER: Final = re.compile(r"[A-Za-z0-9/._-]{1,20}")
"""Number of a mechanical seal, ISO 17712; written without blanks."""
_NUMBER_BELOW: Final = 1 << 63
"""Of an access, and of a head of the record of accesses: SQLite's integers end there."""
TRANSFORMED_MAX: Final = 50
"""Lots that go into one transformation, and lots that come out of it."""


def check_accesses(action: CommitAccesses) -> None:
    """Check a head of a record of accesses."""
    check_id("site", action.site_id)
    for name, digest in (("record_sha256", action.record_sha256), ("sha256", action.sha256)):
        if len(digest) != HASH_BYTES:
            raise RejectedError(f"{name} must have {HASH_BYTES} bytes: {len(digest)}")
    for name, number in (("sequence", action.sequence), ("number", action.number)):
        if not 0 < number < _NUMBER_BELOW:
            raise RejectedError(f"{name} must be 1..{_NUMBER_BELOW - 1}: {number}")
    if action.number == 1 and action.sha256 != action.record_sha256:
        raise RejectedError("the hash of access 1 must be that of the record")
    check_utc_ms("at_ms", action.at_ms)


def check_party(action: RegisterParty) -> None:
    """Check the registration of a party."""
    check_id("party", action.party_id)
    check_text("name", action.name)
    check_keys(action.public_keys)
    known = Role.values()[1:]
    if not all_differ(action.roles, len(known)) or not set(known).issuperset(action.roles):
        raise RejectedError(f"a party has known roles, each once: {list(action.roles)}")


def check_rotation(action: RotateKeys) -> None:
    """Check a rotation of a party's keys."""
    check_id("party", action.party_id)
    check_keys(action.added)
    check_keys(action.revoked)
    both = set(action.added) & set(action.revoked)
    if both or not (action.added or action.revoked):
        raise RejectedError("a rotation adds or revokes at least one key, and no key is both")


def check_site(action: RegisterSite) -> None:
    """Check the registration of a site."""
    check_id("site", action.site_id)
    check_text("name", action.name)
    if action.gln:
        check_gln(action.gln)
    check_keys(action.gateway_public_keys)


def check_device(action: RegisterDevice) -> None:
    """Check the registration of a device."""
    check_id("device", action.device_id)
    check_utc_ms("calibrated_until_ms", action.calibrated_until_ms)
    check_keys(action.public_keys)


def check_start(action: StartTrip) -> None:
    """Check the start of a trip."""
    check_id("device", action.device_id)
    expected = trip_id_of(action.device_id, action.nonce)
    if len(action.nonce) != NONCE_BYTES or action.trip_id != expected:
        raise invalid(Rule.TRIP_ID, f"trip id must be {expected} for its nonce: {action.trip_id}")
    for site_id in route_of(action):
        check_id("site", site_id)
    if len(action.via_site_ids) > SITES_VIA_MAX:
        raise RejectedError(f"a trip has up to {SITES_VIA_MAX} sites between first and last")
    for delivery_id in action.delivery_ids:
        check_id("delivery", delivery_id)
    if not all_differ(action.delivery_ids, DELIVERIES_MAX):
        raise RejectedError(f"a trip carries up to {DELIVERIES_MAX} different deliveries")
    for device_id in devices_of(action):
        check_id("device", device_id)
    if not all_differ(devices_of(action), 1 + OTHER_DEVICES_MAX):
        raise RejectedError(f"a trip names up to {OTHER_DEVICES_MAX} different other devices")
    check_utc_ms("started_at_ms", action.started_at_ms)
    if len(action.derived_from) > SOURCES_MAX or any(
        len(source.sha256) != HASH_BYTES for source in action.derived_from
    ):
        raise RejectedError(f"up to {SOURCES_MAX} sources, each with a SHA-256 of 32 bytes")


def check_start_1_1(action: StartTrip) -> None:
    """Check what version 1.1 adds to the start of a trip."""
    check_hash("the hash of the seal before", action.previous_seal_sha256)
    if action.HasField("clock"):
        utc_ms = Clock.from_message(action.clock).utc_ms
        if utc_ms != action.started_at_ms:
            raise RejectedError(
                f"a trip starts at one time, got {action.started_at_ms} and {utc_ms} ms"
            )


def check_seal(action: SealTrip) -> None:
    """Check a device's seal of a trip."""
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
        raise RejectedError(
            f"the head of a chain is {HASH_BYTES} bytes, or absent without readings"
        )


def check_video(action: RecordVideo) -> None:
    """Check the digest of a recording."""
    check_trip_id(action.trip_id)
    check_utc_ms("started_at_ms", action.started_at_ms)
    check_utc_ms("duration_ms", action.duration_ms)
    RecordingDigest(action.sha256, action.size, action.tree_root)


def check_trip_time(action: HandOver | CloseTrip | PlaceHold | ReleaseHold) -> None:
    """Check which trip an action is about, and when it happened."""
    check_trip_id(action.trip_id)
    check_utc_ms("at_ms", action.at_ms)


def check_hold(action: PlaceHold) -> None:
    """Check a legal hold."""
    check_trip_time(action)
    check_id("hold", action.hold_id)
    check_text("reason", action.reason)


def check_release(action: ReleaseHold) -> None:
    """Check the release of a legal hold."""
    check_trip_time(action)
    check_id("hold", action.hold_id)


def check_terms(terms: OpenDelivery) -> None:
    """Check the terms of a delivery."""
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
    if not all_differ([limit.quantity for limit in terms.limits], LIMITS_MAX):
        raise RejectedError("at most one limit per quantity")
    for limit in terms.limits:
        if limit.quantity not in Limit.Quantity.values()[1:]:
            raise RejectedError(f"a limit needs a known quantity, got {limit.quantity}")
        bounded = limit.HasField("minimum"), limit.HasField("maximum")
        if not any(bounded) or (all(bounded) and limit.minimum > limit.maximum):
            raise RejectedError("a limit needs a minimum, a maximum, or both in that order")


def check_terms_1_1(terms: OpenDelivery) -> None:
    """Check what version 1.1 adds to the terms of a delivery."""
    if not all_differ([terms.carrier_id, *terms.other_carrier_ids], 1 + OTHER_CARRIERS_MAX):
        raise RejectedError(f"a delivery names up to {OTHER_CARRIERS_MAX} different other carriers")
    if {terms.seller_id, terms.buyer_id}.intersection(terms.other_carrier_ids):
        raise RejectedError("seller and buyer are not among the other carriers")
    check_utc_ms("deadline_ms", terms.deadline_ms)
    if terms.authority_id and terms.authority_id in parties_of(terms):
        raise RejectedError(
            f"the authority {terms.authority_id!r} must be no party of the delivery"
        )


_Ending = AcceptDelivery | DisputeDelivery | CloseDelivery | CancelDelivery
_WithReason = DisputeDelivery | CancelDelivery | AnnounceSettlement | SettleDelivery


def check_delivery_time(action: _Ending | _WithReason) -> None:
    """Check which delivery an action is about, and when it happened."""
    check_id("delivery", action.delivery_id)
    check_utc_ms("at_ms", action.at_ms)


def check_received(action: AcceptDelivery) -> None:
    """Check what version 1.1 adds to an acceptance."""
    _check_amount("received_quantity", action.received_quantity)


def check_dispute(action: _WithReason) -> None:
    """Check a dispute, or another word with its reason."""
    check_delivery_time(action)
    check_text("reason", action.reason)


def check_closing(action: CloseDelivery | SettleDelivery) -> None:
    """Check the end of a delivery."""
    check_delivery_time(action)
    if action.payment not in (RELEASED, WITHHELD):
        raise RejectedError(
            f"a closed delivery's payment is released or withheld, got {action.payment}"
        )


def check_settlement(action: SettleDelivery) -> None:
    """Check an authority's end of a delivery."""
    check_closing(action)
    check_text("reason", action.reason)


def check_goods(action: HandOver) -> None:
    """Check what version 1.1 adds to a handover: when, how much, and under which seals."""
    if not action.at_ms:  # silence around a trip is judged by it
        raise RejectedError("a handover says when it happened, got at_ms 0")
    _check_amount("quantity", action.quantity)
    if not all_differ(action.seal_numbers, SEAL_NUMBERS_MAX):
        raise RejectedError(f"a handover names up to {SEAL_NUMBERS_MAX} different seal numbers")
    for number in action.seal_numbers:
        if not SEAL_NUMBER.fullmatch(number):
            raise RejectedError(
                "a seal number is 1..20 ASCII letters, digits, '/', '.', '_' or '-': "
                f"{number[:40]!r}"
            )


def _check_amount(name: str, quantity: int) -> None:
    if quantity > LOT_QUANTITY_MAX:
        raise RejectedError(f"{name} is at most {LOT_QUANTITY_MAX}: {quantity}")


def check_transformation(action: TransformLots) -> None:
    """Check a transformation of lots."""
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
        raise RejectedError("a transformation names each lot once")
