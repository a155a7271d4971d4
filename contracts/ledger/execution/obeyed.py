"""All settings on the chain that the node must obey while it makes a block.

The state after one block says it for the next one. A value that the node
cannot honour is refused when it is set.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Final

from contracts import address, validators
from contracts.errors import RejectedError
from contracts.ledger.execution.blockrules import BlockRules, parse_rules
from contracts.ledger.execution.permissions import Permissions, permissions_after
from contracts.ledger.execution.permitted import Permitted, permitted_in_force
from contracts.ledger.execution.settings import Readable, get_setting, max_batches_per_block
from contracts.ledger.state.reader import StateReader
from contracts.sawtooth import block_info
from contracts.sawtooth.settings import BATCH_INJECTORS, BLOCK_VALIDATION_RULES, CHAIN_ID

CHECKED_WHEN_SET: Final = frozenset(
    map(address.setting, (BATCH_INJECTORS, BLOCK_VALIDATION_RULES, validators.SETTING, CHAIN_ID))
)
"""Addresses of the settings of which not every value can be honoured."""
_NAMESPACES: Final = (address.SETTINGS_NAMESPACE, address.IDENTITY_NAMESPACE)
"""All that is read for `Obeyed` lies there."""


@dataclass(frozen=True, slots=True)
class Obeyed:
    """The settings and roles that one block obeys.

    Attributes:
        permitted: The families that the network permits.
        permissions: The keys that may sign.
        rules: The rules for the block as a whole.
        injects_times: Whether the block begins with the time of the block before.
        batches_max: How many batches it may hold; 0 means any number.
    """

    permitted: Permitted = field(default_factory=lambda: Permitted({}))
    permissions: Permissions = field(default_factory=Permissions)
    rules: BlockRules = field(default_factory=BlockRules)
    injects_times: bool = False
    batches_max: int = 0


@dataclass(frozen=True, slots=True)
class _Values:
    """State by a function."""

    get: Callable[[str], bytes | None]


def obeyed_after(state: StateReader) -> Obeyed:
    """Return what the block after a state obeys.

    Raises:
        RejectedError: A value in that state cannot be honoured.
    """
    injects, rules = _read(state)
    return Obeyed(
        permitted_in_force(state),
        permissions_after(state),
        rules,
        injects,
        max_batches_per_block(state),
    )


def may_change_obeyed(changed: Iterable[str]) -> bool:
    """Say whether a block that changes these addresses may change what the next one obeys."""
    return any(place.startswith(_NAMESPACES) for place in changed)


def check_new_settings(
    before: Callable[[str], bytes | None], after: Callable[[str], bytes | None]
) -> None:
    """Check settings that a batch has changed.

    Args:
        before: Returns the value at an address before the batch.
        after: The same, after the batch.

    Raises:
        RejectedError: The node cannot honour them.
    """
    injects, _ = _read(_Values(after))
    if _injects(_Values(before)) and not injects:
        raise RejectedError(
            f"{BATCH_INJECTORS}: block_info cannot be switched off: the rules would compare all "
            "later readings with the time of the last block that has one"
        )
    validators.validators_in(after)
    named, renamed = validators.chain_id_in(before), validators.chain_id_in(after)
    if named not in {None, renamed}:
        raise RejectedError(f"{CHAIN_ID}: expected {named!r} as since the first block")


def _injects(state: Readable) -> bool:
    names = get_setting(state, BATCH_INJECTORS)
    if names not in {None, "", block_info.FAMILY.name}:
        raise RejectedError(f"{BATCH_INJECTORS}: expected block_info or nothing, got {names!r}")
    return bool(names)


def _read(state: Readable) -> tuple[bool, BlockRules]:
    injects = _injects(state)
    value = get_setting(state, BLOCK_VALIDATION_RULES)
    return injects, parse_rules(value or "", injects=injects)
