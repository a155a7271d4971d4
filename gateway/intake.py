"""MQTT intake: what trucks send becomes durable, and only then is acknowledged.

Messages are taken in groups, one inbox transaction a group; PUBACKs and `held`
messages go out after its fsync. Adapter: the only importer of paho here.
"""

import logging
import queue
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

from paho.mqtt.client import Client, ConnectFlags, DisconnectFlags, MQTTMessage
from paho.mqtt.enums import CallbackAPIVersion
from paho.mqtt.properties import Properties
from paho.mqtt.reasoncodes import ReasonCode

from contracts.chunktree import HASH_BYTES
from contracts.errors import RejectedError, UnavailableError
from contracts.proto.wire_pb2 import Held, Offer, Records, Refusal
from contracts.wire import (
    MESSAGE_BYTES_MAX,
    OFFER_BATCHES_MAX,
    OFFER_RECORDINGS_MAX,
    QOS,
    Topic,
    parse_message,
    parse_topic,
    topic,
)
from gateway import admission
from gateway.inbox import HeldBatch, Inbox, State
from gateway.inbox import Offer as HeldOffer
from storage.stages import Stage, Stages, Untold, timed

GROUP_MESSAGES_MAX: Final = 32
QUEUE_MESSAGES_MAX: Final = 256
"""Messages in memory; the broker keeps back the rest, since they are not acknowledged."""
RECORDS_BATCHES_MAX: Final = 512
"""Batches in a records message; the smallest signed ones fill it with fewer."""
SESSION_BYTES_MAX: Final = 64
REASON_CHARS_MAX: Final = 400
REASON_CHARS_MIN: Final = 24
"""What is left of each reason when they are so many that the answer grew beyond its limit."""
RECONNECT_MAX_S: Final = 10
CLIENT_ID: Final = "wayseal-gateway"

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class _Message:
    device_id: str
    kind: Topic
    wire: bytes
    ticket: int


@dataclass(slots=True)
class _Group:
    """What a group of messages leaves behind: rows for the inbox, answers for devices."""

    batches: list[HeldBatch] = field(default_factory=list)
    offers: list[HeldOffer] = field(default_factory=list)
    answers: list[tuple[str, Held]] = field(default_factory=list)


class Intake:
    """Connects to the broker and feeds the inbox until closed."""

    def __init__(
        self,
        inbox: Inbox,
        session: str,
        *,
        trip_of: Callable[[str, str], str | None],
        repeat_receipts: Callable[[str, set[str]], None],
        on_change: Callable[[], None],
        stages: Stages | None = None,
    ) -> None:
        """Prepare the intake.

        Args:
            inbox: Where batches and offers are kept.
            session: Names this gateway's session at the broker; nobody else may use it.
            trip_of: Tells the trip of a device's committed batch, for those that came in elsewhere.
            repeat_receipts: Told device and trips of every offer, since its receipt may be lost.
            on_change: Called after the inbox grew.
            stages: Told how long each group of messages took.
        """
        self._inbox = inbox
        self._trip_of = trip_of
        self._repeat_receipts = repeat_receipts
        self._on_change = on_change
        self._stages = stages or Untold()
        self._waiting: queue.Queue[_Message | None] = queue.Queue(QUEUE_MESSAGES_MAX)
        self._client = Client(
            CallbackAPIVersion.VERSION2,
            client_id=f"{CLIENT_ID}-{session}",
            clean_session=False,
            manual_ack=True,
        )
        self._client.reconnect_delay_set(1, RECONNECT_MAX_S)
        self._client.on_connect = self._subscribe
        self._client.on_disconnect = self._note_disconnect
        self._client.on_message = self._receive
        self._worker = threading.Thread(target=self._work, name="intake", daemon=True)
        self.connected = threading.Event()

    def start(self, host: str, port: int, username: str, password: str) -> None:
        """Begin to connect, and go on trying."""
        self._client.username_pw_set(username, password)
        self._client.connect_async(host, port)
        self._client.loop_start()
        self._worker.start()

    def close(self) -> None:
        """Disconnect; what was not acknowledged will be sent again."""
        self._client.disconnect()
        self._client.loop_stop()
        self._waiting.put(None)
        self._worker.join()

    def send_receipt(self, device_id: str, wire: bytes) -> None:
        """Publish a receipt; a device that misses it asks again with its next offer."""
        self._client.publish(topic(device_id, Topic.RECEIPTS), wire, qos=QOS)

    def _subscribe(
        self,
        client: Client,
        _userdata: object,
        _flags: ConnectFlags,
        reason: ReasonCode,
        _properties: Properties | None,
    ) -> None:
        if reason.is_failure:
            _log.error("broker refuses the gateway: %s", reason)
            return
        client.subscribe([(topic("+", Topic.RECORDS), QOS), (topic("+", Topic.OFFERS), QOS)])
        self.connected.set()

    def _note_disconnect(
        self,
        _client: Client,
        _userdata: object,
        _flags: DisconnectFlags,
        reason: ReasonCode,
        _properties: Properties | None,
    ) -> None:
        self.connected.clear()
        if reason.is_failure:
            _log.warning("lost the broker: %s; trying again", reason)

    def _receive(self, client: Client, _userdata: object, message: MQTTMessage) -> None:
        try:
            device_id, kind = parse_topic(message.topic)
        except RejectedError as error:
            _log.warning("message dropped: %s", error)
            client.ack(message.mid, message.qos)
            return
        self._waiting.put(_Message(device_id, kind, bytes(message.payload), message.mid))

    def _work(self) -> None:
        while (first := self._waiting.get()) is not None:
            messages, stop = [first], False
            while len(messages) < GROUP_MESSAGES_MAX and not self._waiting.empty():
                more = self._waiting.get()
                if more is None:
                    stop = True
                    break
                messages.append(more)
            try:
                with timed(self._stages, Stage.INTAKE, sum(len(each.wire) for each in messages)):
                    self._take(messages)
            except Exception as error:  # noqa: BLE001  # a worker that died would take nothing more
                self._hold_nothing(messages, error)
            if stop:
                return

    def _take(self, messages: list[_Message]) -> None:
        group = _Group()
        for message in messages:
            self._read(message, group)
        self._inbox.add(group.batches, group.offers)
        trips = [self._complete(device_id, answer) for device_id, answer in group.answers]
        for message in messages:
            self._client.ack(message.ticket, QOS)
        for (device_id, answer), trip_ids in zip(group.answers, trips, strict=True):
            self._answer(device_id, answer)
            self._repeat_receipts(device_id, trip_ids)
        self._on_change()

    def _hold_nothing(self, messages: list[_Message], error: Exception) -> None:
        """Say that nothing of this counts as held, so that the devices keep and offer it again.

        A PUBACK goes out all the same: it promises nothing, and its lack would
        only stop the broker from delivering anything else.
        """
        expected = isinstance(error, UnavailableError)
        _log.error("nothing held of %d messages: %s", len(messages), error, exc_info=not expected)
        reason = str(error) if expected else "the gateway failed, see its log"
        for message in messages:
            self._client.ack(message.ticket, QOS)
        for device_id in {message.device_id for message in messages}:
            self._answer(device_id, Held(refused=[Refusal(reason=reason, retry=True)]))

    def _answer(self, device_id: str, answer: Held) -> None:
        for chars in (REASON_CHARS_MAX, REASON_CHARS_MIN):
            for refusal in answer.refused:
                refusal.reason = refusal.reason[:chars]
            if answer.ByteSize() <= MESSAGE_BYTES_MAX:
                break
        self._client.publish(topic(device_id, Topic.HELD), answer.SerializeToString(), qos=QOS)

    def _read(self, message: _Message, group: _Group) -> None:
        try:
            if message.kind is Topic.RECORDS:
                self._read_records(message, group)
            elif message.kind is Topic.OFFERS:
                self._read_offer(message, group)
        except RejectedError as error:
            _log.warning("%s from %s refused: %s", message.kind, message.device_id, error)
            refusal = Refusal(reason=str(error))
            group.answers.append((message.device_id, Held(refused=[refusal])))

    def _read_records(self, message: _Message, group: _Group) -> None:
        answer = Held()
        batches = parse_message(Records, message.wire).batches
        _check_count("batches", len(batches), RECORDS_BATCHES_MAX)
        for wire in batches:
            try:
                batch = admission.admit_records(wire, message.device_id)
            except RejectedError as error:
                _log.warning("batch from %s refused: %s", message.device_id, error)
                answer.refused.add(reason=str(error))
                continue
            group.batches.append(batch)
            if batch.state is State.QUARANTINED:
                _log.warning("batch from %s quarantined: %s", message.device_id, batch.reason)
                answer.refused.add(id=batch.batch_id, reason=batch.reason)
            else:
                answer.batch_ids.append(batch.batch_id)
        group.answers.append((message.device_id, answer))

    def _read_offer(self, message: _Message, group: _Group) -> None:
        offer = parse_message(Offer, message.wire)
        _check_count("batch ids", len(offer.batch_ids), OFFER_BATCHES_MAX)
        _check_count("recordings", len(offer.recordings), OFFER_RECORDINGS_MAX)
        if not 1 <= len(offer.session) <= SESSION_BYTES_MAX:
            raise RejectedError(
                f"an offer's session is 1..{SESSION_BYTES_MAX} bytes, got {len(offer.session)}"
            )
        answer = Held(session=offer.session, batch_ids=offer.batch_ids)
        for recording in offer.recordings:
            try:
                batch, held = admission.admit_offer(recording, message.device_id)
            except RejectedError as error:
                _log.warning("recording from %s refused: %s", message.device_id, error)
                answer.refused.add(id=recording.sha256[:HASH_BYTES].hex(), reason=str(error))
                continue
            group.batches.append(batch)
            group.offers.append(held)
            answer.batch_ids.append(batch.batch_id)
        group.answers.append((message.device_id, answer))

    def _complete(self, device_id: str, answer: Held) -> set[str]:
        """Turn the ids that an offer asks for into those held here or committed.

        Returns:
            Their trips; none for what answers no offer.
        """
        trips: set[str] = set()
        if not answer.session:
            return trips
        asked = list(answer.batch_ids)
        del answer.batch_ids[:]
        for batch_id in asked:
            known = self._inbox.standing(batch_id)
            trip_id = known[0] if known else self._trip_of(batch_id, device_id)
            if known and known[1] is State.QUARANTINED:
                answer.refused.add(id=batch_id, reason=known[2])
            elif known and known[1] is State.LOST:
                continue  # not held: may the device still have it
            elif trip_id is not None:
                answer.batch_ids.append(batch_id)
                trips.add(trip_id)
                if not known:
                    self._inbox.visit(trip_id, device_id)
        return trips


def _check_count(what: str, count: int, limit: int) -> None:
    if count > limit:
        raise RejectedError(f"message with {count} {what}, at most {limit} allowed")
