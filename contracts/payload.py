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
    HandOver,
    OpenDelivery,
    Payload,
    RecordReading,
    RecordVideo,
    RegisterDevice,
    RegisterParty,
    RegisterSite,
    SealTrip,
    StartTrip,
)
from contracts.proto.sawtooth_pb2 import Transaction, TransactionHeader
from contracts.sawtooth.transactions import Family, build_transaction

FAMILY: Final = Family("wayseal", "1.0")
ADMIN_KEYS_SETTING: Final = "wayseal.admin_keys"
PAYLOAD_BYTES_MAX: Final = 64 * 1024
TRIP_ID_HEX: Final = 32

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
)
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
    inputs = [address.key(signer_public_key)]
    match action:
        case RegisterParty():
            outputs = [address.party(action.party_id), address.KEY_PREFIX]
            inputs = [address.setting(ADMIN_KEYS_SETTING)]
        case RegisterSite():
            outputs = [address.site(action.site_id)]
            inputs.append(address.party(action.party_id))
        case RegisterDevice():
            outputs = [address.device(action.device_id), address.KEY_PREFIX]
            inputs.append(address.party(action.party_id))
        case OpenDelivery():
            outputs = [address.delivery(action.delivery_id)]
            inputs += map(address.party, (action.seller_id, action.carrier_id, action.buyer_id))
        case StartTrip():
            deliveries = [address.delivery(delivery_id) for delivery_id in action.delivery_ids]
            outputs = [address.trip_prefix(action.trip_id), *deliveries]
            inputs.append(address.device(action.device_id))
            inputs += map(address.site, (action.origin_site_id, action.destination_site_id))
        case RecordReading():
            outputs = [address.trip_prefix(action.trip_id), *deliveries]
            inputs.append(address.device(action.device_id))
        case SealTrip() | RecordVideo():
            outputs = [address.trip_prefix(action.trip_id)]
        case HandOver():
            outputs = [address.trip_prefix(action.trip_id), address.delivery(action.delivery_id)]
            inputs.append(address.site(action.site_id))
    return inputs + outputs, outputs


def check_scope(action: Action, header: TransactionHeader) -> None:
    """Check that a transaction declares exactly the addresses that its action needs.

    Raises:
        RejectedError: Other inputs or outputs than `scope` gives.
    """
    deliveries = header.outputs[1:] if isinstance(action, RecordReading) else ()
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
