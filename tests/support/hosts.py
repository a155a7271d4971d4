"""Hosts of the rules, as tests see them: give a batch, hear its events, look at the state."""

from collections.abc import Sequence
from typing import Protocol

import pytest

from contracts import address
from contracts.encoding import canonical
from contracts.errors import RejectedError
from contracts.payload import ADMIN_KEYS_SETTING
from contracts.proto.sawtooth_pb2 import Batch, Event, Setting
from contracts.proto.state_pb2 import Breach, Finding, TamperEvent
from contracts.rules.case import EVENT_BREACH, EVENT_FINDING, EVENT_TAMPER
from contracts.rules.ids import Rule
from contracts.rules.memory import MemoryHost
from contracts.sawtooth.batches import check_batch
from contracts.sawtooth.transactions import parse_header
from support.world import key


def admin_setting() -> bytes:
    """Return the on-chain setting under which the key `admin` registers parties."""
    entry = Setting.Entry(key=ADMIN_KEYS_SETTING, value=key("admin").public_key)
    return canonical(Setting(entries=[entry]))


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
        """Return what lies at an address."""
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
                )
            ]
        except BaseException:
            self._memory.state = before
            raise

    def apply_all(self, batches: Sequence[Batch]) -> list[Event]:
        return [event for batch in batches for event in self.apply(batch)]

    def state(self, place: str) -> bytes | None:
        return self._memory.state.get(place)

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
