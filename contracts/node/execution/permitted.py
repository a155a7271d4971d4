"""Which families the network permits, by an on-chain setting.

Source: Sawtooth 1.2 administration guide, "Setting the Allowed Transaction
Types"; that a value which is no such list permits everything is as the
validator does it.
"""

import json
import logging
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

from contracts.node.execution.families import Families, Handler
from contracts.proto.sawtooth_pb2 import TransactionHeader
from contracts.rules.context import Context, InvalidTransactionError
from contracts.sawtooth.settings import TRANSACTION_FAMILIES
from contracts.sawtooth.transactions import Family

_LOG = logging.getLogger(__name__)

_Listed = Mapping[Family, tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class Permitted:
    """The families of the setting, with the namespaces that each may declare to write.

    Attributes:
        listed: The families; none means that everything is permitted.
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
        """Return `families`, each of which refuses what is not permitted."""
        if not self.listed:
            return families
        return {family: self._checked(handler) for family, handler in families.items()}

    def _checked(self, handler: Handler) -> Handler:
        def apply(header: TransactionHeader, payload: bytes, name: str, context: Context) -> None:
            self.check(header)
            handler(header, payload, name, context)

        return apply


@lru_cache(maxsize=8)
def parse_permitted(value: str | None) -> Permitted:
    """Return what a value of the setting permits."""
    try:
        return Permitted(dict(map(_family, json.loads(value or "[]"))))
    except (ValueError, TypeError, KeyError, RecursionError):
        _LOG.exception("%s is no JSON list of families, and ignored", TRANSACTION_FAMILIES)
        return Permitted({})


def _family(entry: Mapping[str, object]) -> tuple[Family, tuple[str, ...]]:
    name, version = entry["family"], entry["version"]
    namespaces = entry.get("namespaces", [""])
    if not (isinstance(name, str) and isinstance(version, str) and isinstance(namespaces, list)):
        raise TypeError(f"expected family, version and a list of namespaces, got {entry!r}")
    return Family(name, version), tuple(map(str, namespaces))
