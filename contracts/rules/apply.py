"""The way in: one transaction against the rules, the same under every host."""

from collections.abc import Callable, Mapping
from typing import Final

from contracts.errors import RejectedError
from contracts.payload import OfReadings, check_scope, decode
from contracts.proto.payload_pb2 import (
    AcceptDelivery,
    CloseDelivery,
    CloseTrip,
    DisputeDelivery,
    HandOver,
    OpenDelivery,
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
from contracts.proto.sawtooth_pb2 import TransactionHeader
from contracts.rules import deliveries, handovers, holds, lots, parties, readings, seals, trips
from contracts.rules.case import Case, invalid
from contracts.rules.context import Context, InvalidTransactionError
from contracts.rules.form import check_form
from contracts.rules.ids import Rule

_RULES: Final[Mapping[type, Callable[..., None]]] = {
    RegisterParty: parties.register_party,
    RotateKeys: parties.rotate_keys,
    RegisterSite: parties.register_site,
    RegisterDevice: parties.register_device,
    OpenDelivery: deliveries.open_delivery,
    HandOver: handovers.hand_over,
    AcceptDelivery: deliveries.accept_delivery,
    DisputeDelivery: deliveries.dispute_delivery,
    CloseDelivery: deliveries.close_delivery,
    TransformLots: lots.transform_lots,
    StartTrip: trips.start_trip,
    RecordReading: readings.record_readings,
    RecordRun: readings.record_readings,
    SealTrip: seals.seal_trip,
    RecordVideo: seals.record_video,
    CloseTrip: trips.close_trip,
    PlaceHold: holds.place_hold,
    ReleaseHold: holds.release_hold,
}


def apply(header: TransactionHeader, payload: bytes, transaction_id: str, context: Context) -> None:
    """Apply one transaction of family `wayseal` 1.0 to the state in `context`.

    Deterministic and without side effects, since a ledger may run it more than
    once. The host has checked the signatures and the payload's hash.

    Args:
        header: The transaction's header.
        payload: Its payload, as signed.
        transaction_id: Its id, the header's signature.
        context: The state it may read and write.

    Raises:
        InvalidTransactionError: The message starts with the id of the broken rule.
    """
    try:
        action = decode(payload)
        check_scope(action, header)
        if not isinstance(action, OfReadings):  # which are checked as they are taken apart
            check_form(action)
        _RULES[type(action)](action, Case(header, transaction_id, context))
    except InvalidTransactionError:
        raise
    except RejectedError as error:
        raise invalid(Rule.FORM, str(error)) from error
