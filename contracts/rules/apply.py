"""The way in: one transaction against the rules, the same under every host."""

from contracts.errors import RejectedError
from contracts.payload import Action, check_scope, decode
from contracts.proto.payload_pb2 import (
    HandOver,
    OpenDelivery,
    RecordReading,
    RecordVideo,
    RegisterDevice,
    RegisterParty,
    RegisterSite,
    SealTrip,
    StartTrip,
)
from contracts.proto.sawtooth_pb2 import TransactionHeader
from contracts.rules import deliveries, parties, readings, seals, trips
from contracts.rules.case import Case, invalid
from contracts.rules.context import Context, InvalidTransactionError
from contracts.rules.form import check_form
from contracts.rules.ids import Rule


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
        check_form(action)
        _dispatch(action, Case(header, transaction_id, context))
    except InvalidTransactionError:
        raise
    except RejectedError as error:
        raise invalid(Rule.FORM, str(error)) from error


def _dispatch(action: Action, case: Case) -> None:
    match action:
        case RecordReading():
            readings.record_reading(action, case)
        case SealTrip():
            seals.seal_trip(action, case)
        case RecordVideo():
            seals.record_video(action, case)
        case StartTrip():
            trips.start_trip(action, case)
        case HandOver():
            deliveries.hand_over(action, case)
        case OpenDelivery():
            deliveries.open_delivery(action, case)
        case RegisterDevice():
            parties.register_device(action, case)
        case RegisterSite():
            parties.register_site(action, case)
        case RegisterParty():
            parties.register_party(action, case)
