"""A site's side of an offload, in this process: an inbox, and the network's ledger with its rules.

It holds what it acknowledged, as a real gateway does after its fsync, and signs a receipt once a
trip is committed. It can be told to misbehave for one visit.
"""

import random
from collections import Counter, deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from contracts.actions.payload import decode
from contracts.encoding import parse
from contracts.errors import UnavailableError
from contracts.keys import Signer
from contracts.proto.payload_pb2 import RecordReading, SealTrip, StartTrip
from contracts.proto.sawtooth_pb2 import Batch
from contracts.proto.wire_pb2 import Held, Offer, ReceiptBody, Records
from contracts.receipt import sign_receipt
from contracts.sawtooth.batches import check_batch, parse_header
from contracts.wire import Topic, parse_message
from support.ledgers.hosts import DirectHost, findings
from support.network.world import key, registrations
from support.trucks.truck import records_in

if TYPE_CHECKING:
    from contracts.proto.state_pb2 import Finding

GENESIS: Final = "9" * 128
FAULTS: Final = {
    "garbage": "no answer to",
    "forged": "is not trusted",
    "wrong-count": "receipt reading count: expected",
    "wrong-head": "receipt head: expected",
    "wrong-seal": "receipt seal: expected",
    "ledger-down": "the gateway holds everything",
    "cut-off": "the connection was lost",
}
"""What a site may do wrong during a visit, and what has to be said of it then."""

FALSE_RECEIPTS: Final = ("forged", "wrong-count", "wrong-head", "wrong-seal")


class Ledger:
    """The network's ledger: the real rules, in memory."""

    def __init__(self) -> None:
        self.host = DirectHost()
        self.host.apply_all(registrations())
        self.batches: set[str] = set()
        self.transactions: set[str] = set()
        self.records: dict[str, list[RecordReading]] = {}
        self.starts: dict[str, StartTrip] = {}
        self.seals: dict[str, tuple[str, SealTrip]] = {}
        self.found: dict[str, list[Finding]] = {}
        self.trip_of: dict[str, str] = {}

    def take(self, batch: Batch) -> bool:
        """Commit a batch, once; return False if what it depends on is missing."""
        needed = parse_header(batch.transactions[0]).dependencies
        if batch.header_signature in self.batches:
            return True
        if not set(needed) <= self.transactions:
            return False
        events = self.host.apply(batch)
        self.batches.add(batch.header_signature)
        self.trip_of[batch.header_signature] = decode(batch.transactions[0].payload).trip_id  # type: ignore[union-attr] # a truck's actions all have a trip
        for transaction in batch.transactions:
            self.transactions.add(transaction.header_signature)
            action = decode(transaction.payload)
            for record in records_in(action):
                self.records.setdefault(record.trip_id, []).append(record)
            if isinstance(action, StartTrip):
                self.starts[action.trip_id] = action
            if isinstance(action, SealTrip):
                self.seals[action.trip_id] = transaction.header_signature, action
        for finding in findings(events):
            self.found.setdefault(finding.rule, []).append(finding)
        return True


@dataclass
class Site:
    """One site of the network.

    Attributes:
        name: Its id.
        ledger: The network's.
        chance: Of garbage, and of where a connection is lost.
        fault: One of FAULTS, or empty.
    """

    name: str
    ledger: Ledger
    chance: random.Random
    fault: str = ""
    inbox: dict[str, Batch] = field(default_factory=dict)

    @property
    def signer(self) -> Signer:
        return key(f"gateway-of-{self.name}")

    def settle(self) -> None:
        """Commit what can be committed of the inbox."""
        if self.fault == "ledger-down":
            return
        left = list(self.inbox.values())
        while left:
            waiting = [batch for batch in left if not self.ledger.take(batch)]
            if len(waiting) == len(left):
                break
            left = waiting
        self.inbox = {batch.header_signature: batch for batch in left}

    def knows(self, batch_id: str) -> bool:
        """Say whether this site, or the ledger that all share, has a batch."""
        return batch_id in self.inbox or batch_id in self.ledger.batches

    def receipt(self, trip_id: str, device_id: str) -> bytes:
        """Sign the receipt of a committed trip, or a false one."""
        seal_id, seal = self.ledger.seals[trip_id]
        records = self.ledger.records.get(trip_id, [])
        body = ReceiptBody(
            device_id=device_id,
            trip_id=trip_id,
            reading_count=len(records) + (self.fault == "wrong-count"),
            head_sha256=bytes(32) if self.fault == "wrong-head" else seal.head_sha256,
            seal_transaction_id="0" * 128 if self.fault == "wrong-seal" else seal_id,
            block_num=7,
            genesis_id=GENESIS,
            site_id=self.name,
        )
        signer = key("a stranger") if self.fault == "forged" else self.signer
        return sign_receipt(signer, body).SerializeToString()


Wait = Callable[[float], None]
"""Lets time pass: so many seconds."""


class Line:
    """One connection of the truck to a site: stands in for `MqttConnection`.

    Args:
        site: Its other end.
        device_id: The truck.
        wait: Used while no answer comes.
        messages: After so many it is lost.
    """

    def __init__(self, site: Site, device_id: str, wait: Wait, messages: int) -> None:
        self._site = site
        self._device_id = device_id
        self._wait = wait
        self._left = messages
        self._answers: deque[tuple[Topic, bytes]] = deque()
        self._asked: set[str] = set()

    def publish(self, kind: Topic, wire: bytes) -> None:
        """See `MqttConnection.publish`."""
        if not self._left:
            raise UnavailableError("the connection was lost")
        self._left -= 1
        if self._site.fault == "garbage":
            topic = self._site.chance.choice([Topic.HELD, Topic.RECEIPTS])
            self._answers.append((topic, self._site.chance.randbytes(60)))
        elif kind is Topic.RECORDS:
            batches = [parse(Batch, each) for each in parse_message(Records, wire).batches]
            self._hold(batches)
        else:
            self._answer(parse_message(Offer, wire))
        self._issue()

    def receive(self, timeout_s: float) -> tuple[Topic, bytes] | None:
        """See `MqttConnection.receive`."""
        if self._answers:
            return self._answers.popleft()
        self._wait(timeout_s)
        return None

    def close(self) -> None:
        """See `MqttConnection.close`."""

    def _hold(self, batches: Sequence[Batch]) -> None:
        for batch in batches:
            check_batch(batch)
            self._asked.add(batch.header_signature)
            if not self._site.knows(batch.header_signature):
                self._site.inbox[batch.header_signature] = batch
        self._say(Held(batch_ids=[batch.header_signature for batch in batches]))
        self._site.settle()

    def _answer(self, offer: Offer) -> None:
        self._site.settle()
        self._asked.update(offer.batch_ids)
        known = [each for each in offer.batch_ids if self._site.knows(each)]
        committed = sum(each in self._site.ledger.batches for each in known)
        self._say(Held(session=offer.session, batch_ids=known, committed=committed))

    def _issue(self) -> None:
        if self._site.fault in ("garbage", "ledger-down"):
            return
        ledger = self._site.ledger
        trips = {ledger.trip_of[each] for each in self._asked & ledger.batches}
        for trip_id in sorted(trips & ledger.seals.keys()):
            wire = self._site.receipt(trip_id, self._device_id)
            self._answers.append((Topic.RECEIPTS, wire))

    def _say(self, held: Held) -> None:
        self._answers.append((Topic.HELD, held.SerializeToString()))


def serials(ledger: Ledger) -> Counter[int]:
    """Return how often each numbered reading is on the ledger."""
    return Counter(
        record.position.latitude_e7
        for records in ledger.records.values()
        for record in records
        if record.HasField("position")
    )
