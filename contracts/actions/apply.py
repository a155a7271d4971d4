"""Applies one transaction to the state, the same in every host of the rules."""

from contracts.actions.payload import check_fields, check_form, check_scope, decode
from contracts.actions.table import KINDS, Action, OfReadings
from contracts.errors import RejectedError
from contracts.proto.sawtooth_pb2 import TransactionHeader
from contracts.rules.case import Case, invalid
from contracts.rules.context import Context, InvalidTransactionError
from contracts.rules.ids import Rule
from contracts.rules.version import RulesVersion


def apply(header: TransactionHeader, payload: bytes, transaction_id: str, context: Context) -> None:
    """Apply one transaction of family `wayseal`, any version, to the state in `context`.

    Deterministic and without side effects, since a ledger may run it more than
    once. The host has checked the signatures and the payload's hash before.

    Args:
        header: The transaction's header.
        payload: Its payload, as signed.
        transaction_id: Its id, the header's signature.
        context: The state it may read and write.

    Raises:
        InvalidTransactionError: The message starts with the id of the broken rule.
    """
    try:
        action, version = well_formed(header, payload)
        kind, case = KINDS[type(action)], Case(header, transaction_id, context, version)
        if kind.duty:
            case.check_duty(kind.duty)
        kind.apply(action, case)
    except InvalidTransactionError:
        raise
    except RejectedError as error:
        raise invalid(Rule.FORM, str(error)) from error


def well_formed(header: TransactionHeader, payload: bytes) -> tuple[Action, RulesVersion]:
    """Return a transaction's action and version, once form and declared addresses are checked.

    Raises:
        InvalidTransactionError: They are not as the version of the rules in the header has them.
    """
    try:
        action = decode(payload)
        version = check_scope(action, header)
        if isinstance(action, OfReadings):  # a reading's rule checks its form while parsing it
            check_fields(action, version, payload)
        else:
            check_form(action, version)
    except InvalidTransactionError:
        raise
    except RejectedError as error:
        raise invalid(Rule.FORM, str(error)) from error
    return action, version
