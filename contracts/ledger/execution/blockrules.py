"""The demands of the setting `sawtooth.validator.block_validation_rules` on a block.

`NofX` limits the transactions of a family in one block. `XatY` and `local` demand something of the
transaction at a position: this node honours them for the transaction that it puts there itself, and
refuses others, for then the order of arrival would decide which batch is valid.

Source: Sawtooth 1.2 architecture guide, "Injecting Batches and On-Chain Block
Validation Rules"; syntax as its validation rule enforcer reads it.
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final

from contracts.errors import RejectedError
from contracts.proto.sawtooth_pb2 import TransactionHeader
from contracts.rules.context import InvalidTransactionError
from contracts.sawtooth import block_info
from contracts.sawtooth.settings import BLOCK_VALIDATION_RULES
from contracts.text import WHITESPACE

_NUMBER: Final = re.compile(r"[0-9]{1,18}")
_INJECTED: Final = 0
"""Position of the injected transaction."""


@dataclass(frozen=True, slots=True)
class BlockRules:
    """The rules in force for one block.

    Attributes:
        limits: The most transactions of a family in one block, by the family's name. Family
            block_info is not listed: a client's transaction of it is never valid.
    """

    limits: Mapping[str, int] = field(default_factory=dict)

    def count(self, headers: Iterable[TransactionHeader]) -> Counter[str]:
        """Return how many of these transactions are of each limited family."""
        names = (header.family_name for header in headers)
        return Counter(name for name in names if name in self.limits)

    def permit(self, counts: Mapping[str, int]) -> bool:
        """Say whether a block may have so many transactions of each limited family."""
        return all(count <= self.limits[name] for name, count in counts.items())

    def check(self, counts: Mapping[str, int]) -> None:
        """Check the counts of one batch, which no block may exceed.

        Raises:
            InvalidTransactionError: No block may hold the batch.
        """
        for name, count in counts.items():
            if count > self.limits[name]:
                raise InvalidTransactionError(
                    f"{count} transactions of family {name[:80]!r}: {BLOCK_VALIDATION_RULES} "
                    f"permits {self.limits[name]} in a block"
                )


def parse_rules(value: str, *, injects: bool) -> BlockRules:
    """Parse a value of the setting.

    Args:
        value: Rules separated by semicolons.
        injects: Whether each block begins with a transaction of family block_info.

    Raises:
        RejectedError: A rule is malformed, or the node cannot honour it.
    """
    limits: dict[str, int] = {}
    for rule in filter(None, (rule.strip(WHITESPACE) for rule in value.split(";"))):
        kind, colon, rest = rule.partition(":")
        arguments = [part.strip(WHITESPACE) for part in rest.split(",")]
        match kind.strip(WHITESPACE), arguments:
            case "NofX", [number, block_info.FAMILY.name] if colon and _NUMBER.fullmatch(number):
                _check_own(int(number), injects=injects)
            case "NofX", [number, family] if colon and _NUMBER.fullmatch(number):
                limits[family] = min(int(number), limits.get(family, int(number)))
            case "XatY", [family, place] if colon and _NUMBER.fullmatch(place):
                _check_injected(rule, [place], injects=injects and family == block_info.FAMILY.name)
            case "local", places if colon and all(map(_NUMBER.fullmatch, places)):
                _check_injected(rule, places, injects=injects)
            case _:
                raise RejectedError(
                    f"{BLOCK_VALIDATION_RULES}: expected NofX:NUMBER,FAMILY or XatY:FAMILY,PLACE "
                    f"or local:PLACE,…, got {rule[:80]!r}"
                )
    return BlockRules(limits)


def _check_own(limit: int, *, injects: bool) -> None:
    if injects and not limit:
        raise RejectedError(
            f"{BLOCK_VALIDATION_RULES}: expected at least 1 block_info in a block, since each "
            "begins with one, got 0"
        )


def _check_injected(rule: str, places: Iterable[str], *, injects: bool) -> None:
    if not injects or any(int(place) != _INJECTED for place in places):
        raise RejectedError(
            f"{BLOCK_VALIDATION_RULES}: this node honours XatY:block_info,0 and local:0, while "
            f"sawtooth.validator.batch_injectors is block_info; got {rule[:80]!r}"
        )
