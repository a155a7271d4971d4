"""The rules of each transaction family, by name and version."""

from collections.abc import Callable, Mapping
from typing import Final

from contracts.actions.apply import apply
from contracts.actions.payload import FAMILIES
from contracts.ledger.execution import blocktimes, identities, settings
from contracts.proto.sawtooth_pb2 import TransactionHeader
from contracts.rules.context import Context, InvalidTransactionError
from contracts.sawtooth.batches import Family
from contracts.sawtooth.block_info import FAMILY as BLOCK_INFO
from contracts.sawtooth.identity import FAMILY as IDENTITY
from contracts.sawtooth.settings import FAMILY as SETTINGS

Handler = Callable[[TransactionHeader, bytes, str, Context], None]
"""Applies header, payload and transaction id to the state; deterministic, without side effects.

Raises:
    InvalidTransactionError: The family's rules refuse the transaction.
"""
Families = Mapping[Family, Handler]


BUILT_IN: Final[Families] = {
    SETTINGS: settings.apply,
    IDENTITY: identities.apply,
    BLOCK_INFO: blocktimes.refuse,
    **dict.fromkeys(FAMILIES, apply),
}


def handler_of(families: Families, header: TransactionHeader) -> Handler:
    """Return the handler of a transaction's family.

    Raises:
        InvalidTransactionError: There is no handler. Sawtooth would wait for a processor.
    """
    handler = families.get(Family.of(header))
    if handler is None:
        raise InvalidTransactionError(
            f"no processor for family {header.family_name[:80]!r} "
            f"version {header.family_version[:80]!r}"
        )
    return handler
