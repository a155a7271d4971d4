"""A client at the gateway's broker that speaks for a device, well or badly, byte by byte."""

import queue
import secrets
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self

import httpx
from paho.mqtt.client import Client, ConnectFlags, MQTTMessage
from paho.mqtt.enums import CallbackAPIVersion
from paho.mqtt.properties import Properties
from paho.mqtt.reasoncodes import ReasonCode

from contracts.encoding import canonical
from contracts.ledger.client import LedgerClient
from contracts.proto.sawtooth_pb2 import Batch, TransactionHeader
from contracts.proto.wire_pb2 import Held, Offer, Receipt, RecordingOffer, Records
from contracts.runtime.clienttls import usual_trust
from contracts.sawtooth.batches import build_batch
from contracts.wire import QOS, Topic, parse_topic, topic
from demo.appliance import Appliance
from support.gateways.appliance import QuickAppliance
from support.ledgers.walk import committed
from support.network.world import key, registrations

DEADLINE_S: Final = 30.0
POLL_S: Final = 0.02


def until(what: str, condition: Callable[[], bool], deadline_s: float = DEADLINE_S) -> None:
    """Return once `condition` holds; fail, naming what never came, when it does not in time."""
    end_s = time.monotonic() + deadline_s
    while not condition():
        assert time.monotonic() < end_s, f"never came: {what}"
        time.sleep(POLL_S)


class Rogue:
    """Publishes what it is told, on any topic, and hears what the gateway answers a device."""

    def __init__(  # every part of a connection may be wrong
        self,
        address: str,
        device_id: str,
        token: str,
        *,
        client_id: str | None = None,
        will: tuple[str, bytes] | None = None,
    ) -> None:
        self.device_id = device_id
        self.heard: queue.Queue[Held] = queue.Queue()
        self.receipts: queue.Queue[Receipt] = queue.Queue()
        self.refused = threading.Event()
        self._ready = threading.Event()
        self._client = Client(
            CallbackAPIVersion.VERSION2,
            client_id=client_id or device_id,
            reconnect_on_failure=False,
        )
        self._client.username_pw_set(device_id, token)
        if will is not None:
            self._client.will_set(will[0], will[1], qos=QOS)
        self._client.on_connect = self._connected
        self._client.on_subscribe = lambda *_: self._ready.set()
        self._client.on_message = self._take
        host, port = address.rsplit(":", 1)
        self._client.connect(host, int(port))
        self._client.loop_start()
        until("an answer of the broker", lambda: self._ready.is_set() or self.refused.is_set())

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        self._client.disconnect()
        self._client.loop_stop()

    def publish(self, kind: Topic | str, wire: bytes, *, device_id: str | None = None) -> None:
        """Send one message; a `kind` with a slash is the whole topic."""
        name = kind if "/" in kind else topic(device_id or self.device_id, Topic(kind))
        self._client.publish(name, wire, qos=QOS).wait_for_publish(DEADLINE_S)

    def say(self, kind: Topic, wire: bytes) -> Held:
        """Send one message and return the answer to it."""
        while not self.heard.empty():
            self.heard.get()
        self.publish(kind, wire)
        return self.hear()

    def hear(self) -> Held:
        """Return the next answer."""
        return self.heard.get(timeout=DEADLINE_S)

    def send(self, *batches: Batch) -> Held:
        """Send batches in one records message."""
        return self.say(Topic.RECORDS, records(wire_of(batch) for batch in batches))

    def ask(self, *batch_ids: str, recordings: Iterable[RecordingOffer] = ()) -> Held:
        """Offer batches by id, and recordings; return the answer to that very offer."""
        session = secrets.token_bytes(16)
        offer = Offer(session=session, batch_ids=batch_ids, recordings=recordings)
        held = self.say(Topic.OFFERS, offer.SerializeToString())
        while held.session != session:
            held = self.hear()
        return held

    def receipt(self) -> Receipt:
        """Return the next receipt."""
        return self.receipts.get(timeout=DEADLINE_S)

    def _connected(
        self,
        client: Client,
        _userdata: object,
        _flags: ConnectFlags,
        reason: ReasonCode,
        _properties: Properties | None,
    ) -> None:
        if reason.is_failure:
            self.refused.set()
            return
        client.subscribe(
            [(topic(self.device_id, kind), QOS) for kind in (Topic.HELD, Topic.RECEIPTS)]
        )

    def _take(self, _client: Client, _userdata: object, message: MQTTMessage) -> None:
        _, kind = parse_topic(message.topic)
        if kind is Topic.HELD:
            self.heard.put(Held.FromString(bytes(message.payload)))
        else:
            self.receipts.put(Receipt.FromString(bytes(message.payload)))


class Site:
    """An appliance whose network is that of support.network.world, seen by its operator."""

    def __init__(self, directory: Path, appliance: Appliance | None = None) -> None:
        self.appliance = appliance or QuickAppliance(directory / "site-b")
        for name in ("admin", "seller", "carrier", "buyer"):
            path = self.appliance.directory / "keys" / f"{name}.key"
            path.parent.mkdir(parents=True, exist_ok=True)
            key(name).save(path)
        self.clients: list[httpx.Client] = []

    def start(self) -> None:
        self.appliance.start()
        self.commit(registrations())
        self.operator = self.client("operator", "operator")

    def stop(self) -> None:
        for client in self.clients:
            client.close()
        self.appliance.stop()

    def commit(self, batches: list[Batch]) -> None:
        """Put batches on the ledger directly, past the gateway."""
        ledger = LedgerClient(self.appliance.ledger)
        try:
            ledger.submit(batches)
            names = [batch.header_signature for batch in batches]
            found = ledger.statuses(names, wait_s=30)
            assert {answer.status for answer in found.values()} == {"COMMITTED"}, found
        finally:
            ledger.close()

    def client(self, name: str, role: str) -> httpx.Client:
        """Return a REST client with a token of that role."""
        token = self.appliance.token(name, role)
        made = httpx.Client(
            base_url=self.appliance.rest,
            headers={"Authorization": f"Bearer {token}"},
            timeout=DEADLINE_S,
            trust_env=False,
            verify=usual_trust(self.appliance.rest),
        )
        self.clients.append(made)
        return made

    def device(self, device_id: str = "truck-1") -> Rogue:
        return Rogue(self.appliance.mqtt, device_id, self.appliance.token(device_id, "device"))

    def ask(self, path: str) -> Any:  # noqa: ANN401 - JSON
        answer = self.operator.get(path)
        assert answer.is_success, answer.text
        return answer.json()

    def await_index(self) -> None:
        """Return once the gateway knows all blocks that the ledger has now."""
        newest = self.appliance.newest_block_num()
        until("the index", lambda: (self.ask("/v1/status")["index_block_num"] or 0) >= newest)

    def listed(self, path: str) -> Iterator[dict[str, Any]]:
        """Yield the items of a list, page after page."""
        cursor = "0"
        while cursor:
            page = self.ask(f"{path}?limit=1000&cursor={cursor}")
            yield from page["items"]
            cursor = page["next_cursor"]

    def offload(self, trip_id: str) -> dict[str, Any]:
        """Return how a trip's offload stands; nothing when it is not known."""
        visits = self.listed("/v1/offloads")
        return next((item for item in visits if item["trip_id"] == trip_id), {})

    def committed(self, trip_id: str) -> int:
        """Return how many batches of a trip the gateway knows to be committed."""
        return int(self.offload(trip_id).get("batches", {}).get("committed", 0))

    def quarantined(self, batch_id: str) -> dict[str, Any] | None:
        found = self.listed("/v1/quarantine")
        return next((item for item in found if item["batch_id"] == batch_id), None)


@contextmanager
def running_site(
    directory: Path,
    appliance: Appliance | None = None,
    *,
    variables: Mapping[str, str] | None = None,
) -> Iterator[Site]:
    """Run a site, whose gateway has these variables besides its settings file."""
    site = Site(directory, appliance)
    site.appliance.variables.update(variables or {})
    try:
        site.start()
        yield site
    finally:
        site.stop()


def records(wires: Iterable[bytes]) -> bytes:
    """Return a records message."""
    return Records(batches=list(wires)).SerializeToString()


def wire_of(batch: Batch) -> bytes:
    """Return a batch's bytes."""
    return batch.SerializeToString(deterministic=True)


def nonce(number: int) -> bytes:
    """Return the nonce of a test's trip; each takes its own number."""
    return number.to_bytes(16, "big")


def rekeyed(batch: Batch, change: TransactionHeader, tail: bytes = b"") -> Batch:
    """Return a batch of one transaction whose header is `change` and `tail`, properly signed."""
    signer = key("truck-1")
    made = Batch.FromString(wire_of(batch)).transactions[0]
    made.header = canonical(change) + tail
    made.header_signature = signer.sign(made.header)
    return build_batch(signer, [made])


def readings_on_ledger(site: Site, trip_id: str) -> list[int]:
    """Return the sequences of a trip's committed readings; each must be there once."""
    found, _ = committed(site.appliance.ledger)
    mine = {number: count for (trip, number), count in found.items() if trip == trip_id}
    assert set(mine.values()) <= {1}
    return sorted(mine)
