"""Which rules a transaction obeys, by family name and version."""

from collections.abc import Callable, Mapping
from typing import Final

from contracts.node.execution import settings
from contracts.payload import FAMILY
from contracts.proto.sawtooth_pb2 import TransactionHeader
from contracts.rules.apply import apply
from contracts.rules.context import Context, InvalidTransactionError
from contracts.sawtooth.settings import FAMILY as SETTINGS
from contracts.sawtooth.transactions import Family

Handler = Callable[[TransactionHeader, bytes, str, Context], None]
"""Applies header, payload and transaction id to the state; deterministic, without side effects.

Raises:
    InvalidTransactionError: The family's rules refuse the transaction.
"""
Families = Mapping[Family, Handler]


BUILT_IN: Final[Families] = {SETTINGS: settings.apply, FAMILY: apply}


def handler_of(families: Families, header: TransactionHeader) -> Handler:
    """Return the handler of a transaction's family.

    Raises:
        InvalidTransactionError: No handler; Sawtooth would wait for a processor to register.
    """
    handler = families.get(Family.of(header))
    if handler is None:
        raise InvalidTransactionError(
            f"no processor for family {header.family_name[:80]!r} "
            f"version {header.family_version[:80]!r}"
        )
    return handler
