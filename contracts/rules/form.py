"""What an action must look like, before anything is asked of the state.

A gateway checks the same before it submits, since an ill-formed transaction
would void its whole batch.
"""

from collections.abc import Sequence
from typing import Final

from contracts.chunktree import HASH_BYTES
from contracts.errors import RejectedError
from contracts.ids import check_gln, check_gtin, check_id, check_trip_id
from contracts.keys import is_public_key
from contracts.payload import Action, trip_id_of
from contracts.proto.payload_pb2 import (
    HandOver,
    Limit,
    OpenDelivery,
    RecordReading,
    RecordVideo,
    RegisterDevice,
    RegisterParty,
    RegisterSite,
    SealTrip,
    StartTrip,
)
from contracts.records.clock import Clock, check_utc_ms
from contracts.records.reading import link_of, reading_of
from contracts.records.recording import RecordingDigest
from contracts.rules.case import invalid
from contracts.rules.ids import Rule

NONCE_BYTES: Final = 16
DELIVERIES_MAX: Final = 32
SOURCES_MAX: Final = 16
RECORDINGS_MAX: Final = 512
"""Recordings that one device makes on one trip."""
LOTS_MAX: Final = 100
LIMITS_MAX: Final = 16
LOT_MAX: Final = 20
"""Characters of a lot, GS1 application identifier (10)."""
UNIT_MAX: Final = 3
"""Characters of a UN/ECE Recommendation 20 unit code."""
KEYS_MAX: Final = 16
"""Current public keys of one party, device or site."""
NAME_MAX: Final = 200


def check_form(action: Action) -> None:
    """Check the form of an action.

    Raises:
        RejectedError: A field has no meaning, or lies outside its range.
    """
    match action:
        case RecordReading():
            link_of(action)
            reading_of(action)
        case SealTrip():
            _check_seal(action)
        case RecordVideo():
            _check_video(action)
        case StartTrip():
            _check_start(action)
        case HandOver():
            check_trip_id(action.trip_id)
            check_utc_ms("at_ms", action.at_ms)
        case OpenDelivery():
            _check_terms(action)
        case RegisterDevice():
            check_id("device", action.device_id)
            check_utc_ms("calibrated_until_ms", action.calibrated_until_ms)
            _check_keys(action.public_keys)
        case RegisterSite():
            _check_site(action)
        case RegisterParty():
            check_id("party", action.party_id)
            _check_name(action.name)
            _check_keys(action.public_keys)


def _check_site(action: RegisterSite) -> None:
    check_id("site", action.site_id)
    _check_name(action.name)
    if action.gln:
        check_gln(action.gln)
    _check_keys(action.gateway_public_keys)


def _check_start(action: StartTrip) -> None:
    check_id("device", action.device_id)
    check_id("site", action.origin_site_id)
    check_id("site", action.destination_site_id)
    expected = trip_id_of(action.device_id, action.nonce)
    if len(action.nonce) != NONCE_BYTES or action.trip_id != expected:
        raise invalid(Rule.TRIP_ID, f"trip id must be {expected} for its nonce: {action.trip_id}")
    for delivery_id in action.delivery_ids:
        check_id("delivery", delivery_id)
    if len(set(action.delivery_ids)) != len(action.delivery_ids) or (
        len(action.delivery_ids) > DELIVERIES_MAX
    ):
        raise RejectedError(f"a trip carries up to {DELIVERIES_MAX} different deliveries")
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


def _check_video(action: RecordVideo) -> None:
    check_trip_id(action.trip_id)
    check_utc_ms("started_at_ms", action.started_at_ms)
    check_utc_ms("duration_ms", action.duration_ms)
    RecordingDigest(action.sha256, action.size, action.tree_root)


def _check_terms(terms: OpenDelivery) -> None:
    check_id("delivery", terms.delivery_id)
    check_id("order", terms.order_id)
    _check_name(terms.product)
    if not 1 <= len(terms.lots) <= LOTS_MAX:
        raise RejectedError(f"a delivery holds 1..{LOTS_MAX} lots, got {len(terms.lots)}")
    for lot in terms.lots:
        check_gtin(lot.gtin)
        if not 1 <= len(lot.lot) <= LOT_MAX or not lot.lot.isprintable():
            raise RejectedError(f"a lot is 1..{LOT_MAX} printable characters: {lot.lot[:40]!r}")
    if terms.quantity < 1 or not 1 <= len(terms.unit) <= UNIT_MAX or not terms.unit.isalnum():
        raise RejectedError(
            f"quantity must be at least 1 with a UN/ECE unit code, got "
            f"{terms.quantity} {terms.unit[:20]!r}"
        )
    if terms.seller_id == terms.buyer_id:
        raise RejectedError(f"seller and buyer must differ, both are {terms.seller_id!r}")
    if len(terms.payment_terms_sha256) not in (0, HASH_BYTES):
        raise RejectedError(f"the hash of payment terms is {HASH_BYTES} bytes or absent")
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


def _check_keys(keys: Sequence[str]) -> None:
    if len(keys) > KEYS_MAX or len(set(keys)) != len(keys):
        raise RejectedError(f"at most {KEYS_MAX} different public keys, got {len(keys)}")
    for key in keys:
        if not is_public_key(key):
            raise RejectedError(f"a public key is 66 hexadecimal digits, 02… or 03…: {key[:80]!r}")


def _check_name(name: str) -> None:
    """Check a name meant for people.

    Raises:
        RejectedError: Empty, too long, or with control characters.
    """
    if not 1 <= len(name) <= NAME_MAX or not name.isprintable():
        raise RejectedError(f"a name must be 1..{NAME_MAX} printable characters: {name[:80]!r}")
