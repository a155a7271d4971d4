"""Payloads of family `wayseal` 1.0: one canonical byte string per action.

What does not encode back to the very same bytes is refused.
"""

import hashlib
from collections.abc import Sequence
from typing import Final

from contracts import address
from contracts.encoding import canonical, is_canonical, parse
from contracts.errors import RejectedError
from contracts.keys import Signer
from contracts.proto.payload_pb2 import (
    AcceptDelivery,
    CloseDelivery,
    CloseTrip,
    DisputeDelivery,
    HandOver,
    OpenDelivery,
    Payload,
    PlaceHold,
    RecordReading,
    RecordRun,
    RecordVideo,
    RegisterDevice,
    RegisterParty,
    RegisterSite,
    ReleaseHold,
    RotateKeys,
    SealTrip,
    StartTrip,
    TransformLots,
)
from contracts.proto.sawtooth_pb2 import Transaction, TransactionHeader
from contracts.sawtooth.transactions import Family, build_transaction

FAMILY: Final = Family("wayseal", "1.0")
ADMIN_KEYS_SETTING: Final = "wayseal.admin_keys"
PAYLOAD_BYTES_MAX: Final = 64 * 1024
TRIP_ID_HEX: Final = 32
DELIVERIES_MAX: Final = 32
"""Deliveries on one trip, and so those that a reading may write to."""

Action = (
    RegisterParty
    | RegisterSite
    | RegisterDevice
    | OpenDelivery
    | StartTrip
    | RecordReading
    | SealTrip
    | RecordVideo
    | HandOver
    | RecordRun
    | RotateKeys
    | TransformLots
    | AcceptDelivery
    | DisputeDelivery
    | CloseDelivery
    | CloseTrip
    | PlaceHold
    | ReleaseHold
)
_OfTrip = (
    StartTrip
    | RecordReading
    | RecordRun
    | SealTrip
    | RecordVideo
    | HandOver
    | CloseTrip
    | PlaceHold
    | ReleaseHold
)
OfReadings: Final = (RecordReading, RecordRun)
"""Actions that tell of readings, and so may write to the deliveries on their trip."""
_FIELD: Final[dict[type, str]] = {
    RegisterParty: "register_party",
    RegisterSite: "register_site",
    RegisterDevice: "register_device",
    OpenDelivery: "open_delivery",
    StartTrip: "start_trip",
    RecordReading: "record_reading",
    SealTrip: "seal_trip",
    RecordVideo: "record_video",
    HandOver: "hand_over",
    RecordRun: "record_run",
    RotateKeys: "rotate_keys",
    TransformLots: "transform_lots",
    AcceptDelivery: "accept_delivery",
    DisputeDelivery: "dispute_delivery",
    CloseDelivery: "close_delivery",
    CloseTrip: "close_trip",
    PlaceHold: "place_hold",
    ReleaseHold: "release_hold",
}
_TRIP_ID_SALT: Final = b"wayseal trip\0"


def trip_id_of(device_id: str, nonce: bytes) -> str:
    """Return the id of the trip that `device_id` starts with a 16 byte random `nonce`.

    Derived, so that no other device can take the id first.
    """
    digest = hashlib.sha256(_TRIP_ID_SALT + device_id.encode() + b"\0" + nonce)
    return digest.hexdigest()[:TRIP_ID_HEX]


def encode(action: Action) -> bytes:
    """Return the canonical payload that carries `action`."""
    payload = Payload()
    getattr(payload, _FIELD[type(action)]).CopyFrom(action)
    return canonical(payload)


def decode(wire: bytes) -> Action:
    """Parse a payload.

    Raises:
        RejectedError: Oversized, no Payload message, no action, or not canonical.
    """
    if len(wire) > PAYLOAD_BYTES_MAX:
        raise RejectedError(f"payload of {len(wire)} bytes, at most {PAYLOAD_BYTES_MAX} allowed")
    payload = parse(Payload, wire)
    field = payload.WhichOneof("action")
    if field is None:
        raise RejectedError("payload carries no action that this version knows")
    if not is_canonical(payload, wire):
        raise RejectedError(f"payload {field} is not in canonical encoding")
    action: Action = getattr(payload, field)
    return action


def scope(
    action: Action, signer_public_key: str, deliveries: Sequence[str] = ()
) -> tuple[list[str], list[str]]:
    """Return the inputs and outputs, as addresses, that a transaction with `action` declares.

    Args:
        action: The action.
        signer_public_key: Key that signs the transaction.
        deliveries: Addresses of the deliveries that the trip carries; for readings only.
    """
    key = address.key(signer_public_key)
    match action:  # readings first, of which there are most
        case (
            RecordReading()
            | RecordRun()
            | StartTrip()
            | SealTrip()
            | RecordVideo()
            | HandOver()
            | CloseTrip()
            | PlaceHold()
            | ReleaseHold()
        ):
            inputs, outputs = _scope_of_trips(action, key, deliveries)
        case RegisterParty() | RotateKeys() | RegisterSite() | RegisterDevice():
            inputs, outputs = _scope_of_parties(action, key)
        case _:
            inputs, outputs = _scope_of_goods(action, key)
    return inputs + outputs, outputs


_Scope = tuple[list[str], list[str]]
"""What is only read, and what may be read and written."""


def _scope_of_parties(
    action: RegisterParty | RotateKeys | RegisterSite | RegisterDevice, key: str
) -> _Scope:
    party = address.party(action.party_id)
    match action:
        case RegisterParty():
            return [address.setting(ADMIN_KEYS_SETTING)], [party, address.KEY_PREFIX]
        case RotateKeys():
            return [key], [party, address.KEY_PREFIX]
        case RegisterSite():
            return [key, party], [address.site(action.site_id)]
        case RegisterDevice():
            return [key, party], [address.device(action.device_id), address.KEY_PREFIX]


def _scope_of_goods(
    action: OpenDelivery | AcceptDelivery | DisputeDelivery | CloseDelivery | TransformLots,
    key: str,
) -> _Scope:
    match action:
        case OpenDelivery():
            parties = map(address.party, (action.seller_id, action.carrier_id, action.buyer_id))
            return [key, *parties], [address.delivery(action.delivery_id)]
        case TransformLots():
            lots = [address.lot(each.gtin, each.lot) for each in (*action.inputs, *action.outputs)]
            return (
                [key, address.party(action.party_id), address.site(action.site_id)],
                [address.transformation(action.transformation_id), *lots],
            )
        case _:
            return [key], [address.delivery(action.delivery_id)]


def _scope_of_trips(action: _OfTrip, key: str, deliveries: Sequence[str]) -> _Scope:
    trip = address.trip_prefix(action.trip_id)
    match action:
        case RecordReading() | RecordRun():
            return [key, address.device(action.device_id)], [trip, *deliveries]
        case StartTrip():
            sites = (action.origin_site_id, *action.via_site_ids, action.destination_site_id)
            carried = map(address.delivery, action.delivery_ids)
            device = address.device(action.device_id)
            return [key, device, *map(address.site, sites)], [trip, *carried]
        case SealTrip() | RecordVideo():
            return [key], [trip]
        case HandOver():
            site = address.site(action.site_id)
            return [key, site], [trip, address.delivery(action.delivery_id)]
        case CloseTrip() | PlaceHold() | ReleaseHold():
            return [key, address.party(action.party_id)], [trip]


def check_scope(action: Action, header: TransactionHeader) -> None:
    """Check that a transaction's signer signs its batch, and what addresses it declares.

    Raises:
        RejectedError: Another batcher, or other inputs or outputs than `scope` gives.
    """
    if header.batcher_public_key != header.signer_public_key:
        raise RejectedError(
            f"signed by {header.signer_public_key}, made for a batch signed by "
            f"{header.batcher_public_key[:66]!r}"
        )
    deliveries = header.outputs[1:] if isinstance(action, OfReadings) else ()
    if len(deliveries) > DELIVERIES_MAX or len(set(deliveries)) != len(deliveries):
        raise RejectedError(
            f"a reading may write to up to {DELIVERIES_MAX} different deliveries, "
            f"it declares {len(deliveries)}"
        )
    if any(
        not place.startswith(address.DELIVERY_PREFIX) or len(place) != address.ADDRESS_HEX
        for place in deliveries
    ):
        raise RejectedError("a reading may write under its trip and to deliveries only")
    inputs, outputs = scope(action, header.signer_public_key, deliveries)
    if list(header.inputs) != inputs or list(header.outputs) != outputs:
        raise RejectedError(
            f"{_FIELD[type(action)]} declares other inputs or outputs than its action needs"
        )


def build(
    signer: Signer,
    action: Action,
    *,
    dependencies: Sequence[str] = (),
    deliveries: Sequence[str] = (),
    nonce: str = "",
) -> Transaction:
    """Return a transaction with `action`, signed by `signer`, who will also sign its batch.

    Args:
        signer: Device or party.
        action: What to record.
        dependencies: Ids of transactions that must be committed before.
        deliveries: Addresses of the deliveries that the trip carries; for readings only.
        nonce: Tells apart transactions that are otherwise equal.
    """
    inputs, outputs = scope(action, signer.public_key, deliveries)
    return build_transaction(
        signer,
        FAMILY,
        encode(action),
        batcher_public_key=signer.public_key,
        inputs=inputs,
        outputs=outputs,
        dependencies=dependencies,
        nonce=nonce,
    )
