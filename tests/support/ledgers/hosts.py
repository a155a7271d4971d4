"""Hosts of the rules as tests see them: apply a batch, get its events, read the state."""

from collections.abc import Sequence
from typing import Protocol

import pytest

from contracts import address
from contracts.address import ADMIN_KEYS_SETTING
from contracts.encoding import canonical
from contracts.errors import RejectedError
from contracts.evidence.memory import MemoryHost
from contracts.proto.block_info_pb2 import BlockInfo, BlockInfoConfig
from contracts.proto.sawtooth_pb2 import Batch, Event, Transaction
from contracts.proto.state_pb2 import Breach, Finding, TamperEvent
from contracts.rules.case import EVENT_BREACH, EVENT_FINDING, EVENT_TAMPER
from contracts.rules.ids import Rule
from contracts.sawtooth.batches import build_batch, check_batch, parse_header
from support.network.world import Trip, admin_setting, one, registrations


class Host(Protocol):
    """A ledger on which the key `admin` may register parties."""

    def apply(self, batch: Batch) -> list[Event]:
        """Commit a batch, whole or not at all; return the events of its transactions.

        Raises:
            RejectedError: A signature or a rule does not hold; nothing changed. When it is a
                rule, the message begins with its id.
        """
        ...

    def apply_all(self, batches: Sequence[Batch]) -> list[Event]:
        """Commit batches in order, all of which are valid; return all their events."""
        ...

    def state(self, place: str) -> bytes | None:
        """Return the bytes at an address; None if there are none."""
        ...

    def dump(self) -> dict[str, bytes]:
        """Return all state of family `wayseal`."""
        ...


class DirectHost:
    """The rules called directly, in this process."""

    def __init__(self) -> None:
        self._memory = MemoryHost()
        self._memory.state[address.setting(ADMIN_KEYS_SETTING)] = admin_setting()

    def apply(self, batch: Batch) -> list[Event]:
        check_batch(batch)
        before = dict(self._memory.state)
        try:
            return [
                event
                for transaction in batch.transactions
                for event in self._memory.apply(
                    parse_header(transaction), transaction.payload, transaction.header_signature
                ).events
            ]
        except BaseException:
            self._memory.state = before
            raise

    def apply_all(self, batches: Sequence[Batch]) -> list[Event]:
        return [event for batch in batches for event in self.apply(batch)]

    def tell_time(self, utc_s: int, block_num: int = 1) -> None:
        """Let the latest block begin at `utc_s`, as family block_info says it."""
        config = BlockInfoConfig(latest_block=block_num)
        entry = BlockInfo(block_num=block_num, timestamp=utc_s)
        self._memory.state[address.block_info_config()] = canonical(config)
        self._memory.state[address.block_info(block_num)] = canonical(entry)

    def state(self, place: str) -> bytes | None:
        return self._memory.state.get(place)

    def copy(self) -> "DirectHost":
        """Return a ledger of its own in the same state."""
        made = DirectHost()
        made._memory.state = dict(self._memory.state)
        return made

    def put(self, place: str, value: bytes) -> None:
        """Put an entry of another family into the state."""
        self._memory.state[place] = value

    def dump(self) -> dict[str, bytes]:
        return {
            place: value
            for place, value in self._memory.state.items()
            if place.startswith(address.NAMESPACE)
        }


def refused(host: Host, batch: Batch) -> Rule:
    """Return the rule for which `host` refuses `batch`, which must change nothing."""
    before = host.dump()
    with pytest.raises(RejectedError) as caught:
        host.apply(batch)
    assert host.dump() == before
    return Rule(str(caught.value).split(":", 1)[0])


def rules_found(events: Sequence[Event]) -> list[str]:
    """Return the rules of the findings among `events`, in order."""
    return [finding.rule for finding in findings(events)]


def findings(events: Sequence[Event]) -> list[Finding]:
    """Return the findings among `events`."""
    return [Finding.FromString(event.data) for event in _of(EVENT_FINDING, events)]


def breaches(events: Sequence[Event]) -> list[Breach]:
    """Return the beginnings and ends of breaches among `events`."""
    return [Breach.FromString(event.data) for event in _of(EVENT_BREACH, events)]


def tampers(events: Sequence[Event]) -> list[TamperEvent]:
    """Return the signs of tampering among `events`."""
    return [TamperEvent.FromString(event.data) for event in _of(EVENT_TAMPER, events)]


def _of(kind: str, events: Sequence[Event]) -> list[Event]:
    return [event for event in events if event.event_type == kind]


def apply_all(host: Host, batches: Sequence[Batch]) -> list[Event]:
    """Commit batches in order; return all their events."""
    return host.apply_all(batches)


def told(kind: str, events: Sequence[Event]) -> list[dict[str, str]]:
    """Return the attributes of the events of a kind, in order."""
    return [
        {pair.key: pair.value for pair in event.attributes}
        for event in events
        if event.event_type == kind
    ]


def trip_begun(host: Host) -> Trip:
    """Return a trip that has begun on `host`."""
    trip = Trip()
    apply_all(host, [*registrations(), one(trip.signer, trip.start)])
    return trip


def commit(host: Host, trip: Trip, *transactions: Transaction) -> list[Event]:
    """Apply a batch of a trip's device."""
    return host.apply(build_batch(trip.signer, transactions))
