"""The transaction families that the network permits, by an on-chain setting.

A malformed setting permits everything, as with the validator.

Source: Sawtooth 1.2 administration guide, "Setting the Allowed Transaction
Types".
"""

import logging
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

from contracts.errors import RejectedError
from contracts.ledger.execution.families import Families, Handler
from contracts.ledger.execution.settings import Readable, setting_in_force
from contracts.proto.sawtooth_pb2 import TransactionHeader
from contracts.rules.context import Context, InvalidTransactionError
from contracts.sawtooth.batches import Family
from contracts.sawtooth.settings import TRANSACTION_FAMILIES, permitted_families

_LOG = logging.getLogger(__name__)

_Listed = Mapping[Family, tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class Permitted:
    """The families of the setting, with the namespaces that each may declare to write.

    Attributes:
        listed: The families; an empty mapping permits everything.
    """

    listed: _Listed

    def check(self, header: TransactionHeader) -> None:
        """Check the family and outputs of a transaction.

        Raises:
            InvalidTransactionError: The setting does not permit them.
        """
        if not self.listed:
            return
        namespaces = self.listed.get(Family.of(header))
        if namespaces is None:
            raise InvalidTransactionError(
                f"family {header.family_name[:80]!r} version {header.family_version[:80]!r} "
                f"is not listed in {TRANSACTION_FAMILIES}"
            )
        for output in header.outputs:
            if not output.startswith(namespaces):
                raise InvalidTransactionError(
                    f"output {output[:80]} is in no namespace that {TRANSACTION_FAMILIES} lists "
                    f"for family {header.family_name[:80]!r}"
                )

    def restrict(self, families: Families) -> Families:
        """Return `families` with handlers that refuse what is not permitted."""
        if not self.listed:
            return families
        return {family: self._checked(handler) for family, handler in families.items()}

    def _checked(self, handler: Handler) -> Handler:
        def apply(header: TransactionHeader, payload: bytes, name: str, context: Context) -> None:
            self.check(header)
            handler(header, payload, name, context)

        return apply


def permitted_in_force(state: Readable) -> Permitted:
    """Return what the network permits after the newest block."""
    return parse_permitted(setting_in_force(state, TRANSACTION_FAMILIES))


@lru_cache(maxsize=8)
def parse_permitted(value: str | None) -> Permitted:
    """Parse a value of the setting; a malformed one permits everything."""
    try:
        return Permitted(permitted_families(value or ""))
    except RejectedError:
        _LOG.exception("%s is ignored: not a JSON list of families", TRANSACTION_FAMILIES)
        return Permitted({})
