"""Events of a block, for subscribers.

Source: Sawtooth 1.2 architecture guide, "Events and Transaction Receipts";
`events.proto`.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

import re2

from contracts.errors import RejectedError
from contracts.ledger.engine.blocks import StoredBlock, net_changes
from contracts.proto.component_pb2 import EventFilter, EventSubscription, StateChangeList
from contracts.proto.sawtooth_pb2 import Event, TransactionReceipt

BLOCK_COMMIT: Final = "sawtooth/block-commit"
STATE_DELTA: Final = "sawtooth/state-delta"
SUBSCRIPTIONS_MAX: Final = 100
"""Subscriptions in one request."""
FILTERS_MAX: Final = 100
"""Filters in one request."""
PATTERN_CHARS_MAX: Final = 1_000
_PATTERN_BYTES: Final = 1 << 20
_Test = Callable[[str], bool]


class FilterError(RejectedError):
    """A filter is unknown, malformed, or one too many."""


@dataclass(frozen=True, slots=True)
class _Filter:
    """A test of all attributes with one key."""

    key: str
    test: _Test
    every: bool

    def takes(self, event: Event) -> bool:
        """Say whether any attribute passes, or with `every`, whether none fails."""
        passed = (self.test(each.value) for each in event.attributes if each.key == self.key)
        return all(passed) if self.every else any(passed)


@dataclass(frozen=True, slots=True)
class Subscription:
    """Events of one type that pass all filters."""

    event_type: str
    filters: Sequence[_Filter]

    def takes(self, event: Event) -> bool:
        """Say whether `event` passes."""
        return event.event_type == self.event_type and all(
            each.takes(event) for each in self.filters
        )


def compile_subscriptions(requested: Sequence[EventSubscription]) -> list[Subscription]:
    """Compile subscriptions.

    Raises:
        FilterError: A filter is unknown or malformed, or there are too many.
    """
    filters = sum(len(each.filters) for each in requested)
    if len(requested) > SUBSCRIPTIONS_MAX or filters > FILTERS_MAX:
        raise FilterError(
            f"{len(requested)} subscriptions with {filters} filters, "
            f"at most {SUBSCRIPTIONS_MAX} with {FILTERS_MAX} allowed"
        )
    return [
        Subscription(each.event_type, [_compile(filter_) for filter_ in each.filters])
        for each in requested
    ]


def events_of(stored: StoredBlock, subscriptions: Sequence[Subscription]) -> list[Event]:
    """Return the events of a block that pass: its commit, those of families, its state."""
    types = {each.event_type for each in subscriptions}
    events = [_block_commit(stored)] if BLOCK_COMMIT in types else []
    if types - {BLOCK_COMMIT}:
        receipts = list(stored.receipts())
        events += (event for receipt in receipts for event in receipt.events)
        if STATE_DELTA in types:
            events.append(_state_delta(receipts))
    return [event for event in events if any(each.takes(event) for each in subscriptions)]


def _compile(requested: EventFilter) -> _Filter:
    kind, pattern = requested.filter_type, requested.match_string
    if kind in (EventFilter.SIMPLE_ANY, EventFilter.SIMPLE_ALL):
        return _Filter(requested.key, pattern.__eq__, kind == EventFilter.SIMPLE_ALL)
    if kind in (EventFilter.REGEX_ANY, EventFilter.REGEX_ALL):
        return _Filter(requested.key, _regex(pattern), kind == EventFilter.REGEX_ALL)
    raise FilterError(f"Unknown filter type: {kind}")


def _regex(pattern: str) -> _Test:
    """Compile a pattern; RE2 takes time linear in the text, whatever pattern a client sends."""
    if len(pattern) > PATTERN_CHARS_MAX:
        raise FilterError(
            f"Invalid regular expression: {len(pattern)} characters, "
            f"at most {PATTERN_CHARS_MAX} allowed"
        )
    options = re2.Options()
    options.max_mem = _PATTERN_BYTES
    options.log_errors = False
    try:
        compiled = re2.compile(pattern, options)
    except re2.error as error:
        raise FilterError(f"Invalid regular expression: {pattern}: {error}") from error
    return lambda text: compiled.search(text) is not None


def _block_commit(stored: StoredBlock) -> Event:
    pairs = {
        "block_id": stored.id,
        "block_num": str(stored.num),
        "state_root_hash": stored.header.state_root_hash,
        "previous_block_id": stored.header.previous_block_id,
    }
    attributes = [Event.Attribute(key=key, value=value) for key, value in pairs.items()]
    return Event(event_type=BLOCK_COMMIT, attributes=attributes)


def _state_delta(receipts: Sequence[TransactionReceipt]) -> Event:
    changes = net_changes(receipts)
    return Event(
        event_type=STATE_DELTA,
        attributes=[Event.Attribute(key="address", value=each.address) for each in changes],
        data=StateChangeList(state_changes=changes).SerializeToString(),
    )
