"""Namespaces of state and of events that belong to one family each, whatever others declare.

Sawtooth leaves this to the setting `sawtooth.validator.transaction_families`. A party that
registers a processor there may otherwise make itself an administrator.
"""

from collections.abc import Mapping
from typing import Final

from contracts import address
from contracts.actions.payload import FAMILY
from contracts.proto.sawtooth_pb2 import TransactionHeader
from contracts.rules.context import InvalidTransactionError
from contracts.sawtooth import block_info, identity, settings

OWNERS: Final[Mapping[str, str]] = {
    address.NAMESPACE: FAMILY.name,
    address.SETTINGS_NAMESPACE: settings.FAMILY.name,
    address.IDENTITY_NAMESPACE: identity.FAMILY.name,
    address.BLOCK_INFO_NAMESPACE: block_info.FAMILY.name,
}
"""The family of each reserved namespace."""

ANNOUNCERS: Final[Mapping[str, str]] = {
    "sawtooth": "",
    "settings": settings.FAMILY.name,
    "identity": identity.FAMILY.name,
    "wayseal": FAMILY.name,
}
"""The family of each reserved first part of an event type; empty for the ledger's own events."""


def check_event(family_name: str, event_type: str) -> None:
    """Check that a family announces no event of another family's.

    Subscribers act on these events: they pay, or warn.

    Raises:
        InvalidTransactionError: The event type is another family's.
    """
    owner = ANNOUNCERS.get(event_type.partition("/")[0], family_name)
    if owner != family_name:
        raise InvalidTransactionError(
            f"event {event_type[:80]!r} of family {family_name[:80]!r}: only "
            f"{f'family {owner}' if owner else 'the ledger itself'} announces such events"
        )


def check_outputs(header: TransactionHeader) -> None:
    """Check that a transaction declares no output in another family's namespace.

    Raises:
        InvalidTransactionError: An output lies in one, or is a prefix of one.
    """
    for namespace, owner in OWNERS.items():
        if owner == header.family_name:
            continue
        for output in header.outputs:
            if output.startswith(namespace) or namespace.startswith(output):
                raise InvalidTransactionError(
                    f"output {output[:80]!r} of family {header.family_name[:80]!r} reaches into "
                    f"namespace {namespace}, which only family {owner} writes"
                )
