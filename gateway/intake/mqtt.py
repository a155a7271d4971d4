"""MQTT intake: makes the trucks' messages durable, and acknowledges them only then.

Messages are taken in groups, with one inbox transaction for each. PUBACKs and `held` messages go
out after its fsync. With `gateway.mosquitto.sessions`, the only importer of paho here.
"""

import logging
import queue
import sys
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from paho.mqtt.client import Client, ConnectFlags, DisconnectFlags, MQTTMessage
from paho.mqtt.enums import CallbackAPIVersion
from paho.mqtt.reasoncodes import ReasonCode

from contracts.chunktree import HASH_BYTES
from contracts.errors import RejectedError, UnavailableError
from contracts.proto.wire_pb2 import Held, Offer, Records, Refusal
from contracts.runtime.dependency import Dependency
from contracts.runtime.seldom import Seldom
from contracts.wire import (
    FOR_GATEWAYS,
    MESSAGE_BYTES_MAX,
    OFFER_BATCHES_MAX,
    OFFER_RECORDINGS_MAX,
    QOS,
    Topic,
    parse_message,
    parse_topic,
    topic,
)
from gateway.intake import admission
from gateway.intake.brokerlink import BrokerLink
from gateway.intake.brokertls import BrokerTls
from gateway.intake.held import HeldBatch, State
from gateway.intake.held import Offer as HeldOffer
from gateway.intake.inbox import Inbox
from gateway.intake.noroom import take_back
from gateway.intake.refused import OnRefused, Refused, not_counted
from storage.stages import NO_METER, StageMeter

GROUP_MESSAGES_MAX: Final = 32
GROUP_BYTES: Final = 1 << 20
"""A group that has so many bytes takes no more messages: the ledger begins with what it has."""
QUEUE_MESSAGES_MAX: Final = 256
"""Messages in memory; the broker holds the rest back, since it lacks their acknowledgements."""
RECORDS_BATCHES_MAX: Final = 512
"""Batches in a records message, and in one answer; no message has room for so many signed ones."""
SESSION_BYTES_MAX: Final = 64
REASON_CHARS_MAX: Final = 400
REASON_CHARS_MIN: Final = 24
"""Length that each reason is cut to if the answer would exceed its limit."""
RECONNECT_MAX_S: Final = 10
CLIENT_ID: Final = "wayseal-gateway"

_log = logging.getLogger(__name__)
_log.addFilter(Seldom(arguments=1))  # a line for each device, however much it sends


@dataclass(frozen=True, slots=True)
class _Message:
    device_id: str
    kind: Topic
    wire: bytes
    ticket: int


@dataclass(slots=True)
class _Group:
    """Rows for the inbox and answers for devices, read from a group of messages."""

    batches: list[HeldBatch] = field(default_factory=list)
    offers: list[HeldOffer] = field(default_factory=list)
    answers: list[tuple[str, Held]] = field(default_factory=list)
    _of_records: dict[str, Held] = field(default_factory=dict)

    def answer_to(self, device_id: str, batches: int) -> Held:
        """Return the answer that takes a device's next batches.

        It is one for many messages: each answer costs the truck a transaction in its journal.
        """
        last = self._of_records.get(device_id)
        if last is None or len(last.batch_ids) + len(last.refused) + batches > RECORDS_BATCHES_MAX:
            last = self._of_records[device_id] = Held()
            self.answers.append((device_id, last))
        return last


class Intake:
    """Connects to the broker and feeds the inbox until closed.

    Attributes:
        broker: Whether the broker works.
        connected: Set while it is connected.
        refused: Counts what was refused.
        sent_first: Returns those of the recordings that a truck should send before the others.
        give_way: Called before each batch.
    """

    def __init__(
        self,
        inbox: Inbox,
        session: str,
        *,
        trip_of: Callable[[str, str], str | None],
        repeat_receipts: Callable[[str, set[str]], None],
        on_change: Callable[[], None],
        socket: Path | None = None,
        tls: BrokerTls | None = None,
        meter: StageMeter = NO_METER,
    ) -> None:
        """Prepare the intake.

        Args:
            inbox: Where batches and offers are kept.
            session: Name of this gateway's session at the broker; no other client may use it.
            trip_of: Returns the trip of a device's committed batch, also of one that came in at
                another gateway; None if the batch is not committed.
            repeat_receipts: Called with device and trips of every offer, since a receipt may have
                been lost.
            on_change: Called after the inbox grew.
            socket: Unix socket of the broker; if given, host and port do not matter.
            tls: The TLS of the connection; None: plain text.
            meter: Records how long each group of messages took, and its bytes.
        """
        self._inbox = inbox
        self._trip_of = trip_of
        self._repeat_receipts = repeat_receipts
        self._on_change = on_change
        self._meter = meter
        self.refused: OnRefused = not_counted
        self.give_way: Callable[[], None] = lambda: None
        self.sent_first: Callable[[Sequence[bytes]], Sequence[bytes]] = lambda _: ()
        self._waiting: queue.Queue[_Message | None] = queue.Queue(QUEUE_MESSAGES_MAX)
        self._client = Client(
            CallbackAPIVersion.VERSION2,
            client_id=f"{CLIENT_ID}-{session}",
            clean_session=False,
            manual_ack=True,
            transport="unix" if socket else "tcp",
        )
        if tls is not None:
            self._client.tls_set_context(tls.context)
            self._client.on_pre_connect = lambda *_: tls.refresh()
        self._socket = socket
        self._place = ""
        self.broker = Dependency("the MQTT broker")
        self._link = BrokerLink(self.broker, f"{CLIENT_ID}-{session}")
        self._client.reconnect_delay_set(1, RECONNECT_MAX_S)
        self._client.on_connect = self._subscribe
        self._client.on_connect_fail = self._note_unreachable
        self._client.on_disconnect = self._note_disconnect
        self._client.on_message = self._receive
        self._worker = threading.Thread(target=self._work, name="intake", daemon=True)
        self.connected = threading.Event()

    def start(self, host: str, port: int, username: str, password: str) -> None:
        """Begin to connect; retries until it succeeds."""
        self._client.username_pw_set(username, password)
        place = str(self._socket or host)
        self._place = place if self._socket else f"{host}:{port}"
        self._client.connect_async(place, port)
        self._client.loop_start()
        self._worker.start()

    def close(self) -> None:
        """Disconnect; the broker sends unacknowledged messages again."""
        self._client.disconnect()
        with suppress(AttributeError):  # paho 2.1 joins a thread that it forgets when that ends
            self._client.loop_stop()
        self._link.close()
        self._waiting.put(None)
        self._worker.join()

    def send_receipt(self, device_id: str, wire: bytes) -> None:
        """Publish a receipt; a device that missed it asks for it with its next offer."""
        self._client.publish(topic(device_id, Topic.RECEIPTS), wire, qos=QOS)

    def _subscribe(
        self,
        client: Client,
        _userdata: object,
        _flags: ConnectFlags,
        reason: ReasonCode,
        *_: object,
    ) -> None:
        if reason.is_failure:
            self._link.failed(f"{self._place} refused the gateway: {reason}")
            return
        client.subscribe([(topic("+", kind), QOS) for kind in FOR_GATEWAYS])
        self.connected.set()
        self._link.connected()

    def _note_unreachable(self, _client: Client, _userdata: object) -> None:
        self._link.failed(f"{self._place} cannot be reached: {sys.exception()}")

    def _note_disconnect(
        self,
        _client: Client,
        _userdata: object,
        _flags: DisconnectFlags,
        reason: ReasonCode,
        *_: object,
    ) -> None:
        was_connected = self.connected.is_set()
        self.connected.clear()
        if reason.is_failure and was_connected:
            self._link.lost(f"the connection to {self._place} was lost: {reason}")

    def _receive(self, client: Client, _userdata: object, message: MQTTMessage) -> None:
        try:
            device_id, kind = parse_topic(message.topic)
        except RejectedError as error:
            _log.warning("dropped a message: %s", error)
            client.ack(message.mid, message.qos)
            return
        if message.qos != QOS:  # without a ticket: mosquitto ends a session that acknowledges 0
            _log.warning(
                "%s: dropped a message of QoS %d, expected QoS %d; if it goes on, revoke its token",
                device_id,
                message.qos,
                QOS,
                extra={"device_id": device_id},
            )
            return
        self._waiting.put(_Message(device_id, kind, bytes(message.payload), message.mid))

    def _work(self) -> None:
        while (first := self._waiting.get()) is not None:
            messages, size, stop = [first], len(first.wire), False
            while (
                len(messages) < GROUP_MESSAGES_MAX
                and size < GROUP_BYTES
                and not self._waiting.empty()
            ):
                more = self._waiting.get()
                if more is None:
                    stop = True
                    break
                messages.append(more)
                size += len(more.wire)
            try:
                self._meter.add_bytes(size)
                with self._meter.timed():
                    self._take(messages)
            except Exception as error:  # noqa: BLE001  # a dead worker would take no more messages
                self._hold_nothing(messages, error)
            if stop:
                return

    def _take(self, messages: list[_Message]) -> None:
        group = _Group()
        for message in messages:
            self._read(message, group)
        unfit = self._inbox.add(group.batches, group.offers)
        for device_id, answer in group.answers if unfit else ():
            take_back(device_id, answer, unfit)
        for _ in unfit:
            self.refused(Refused.ROOM)
        trips = [self._completed(device_id, answer) for device_id, answer in group.answers]
        for message in messages:
            self._client.ack(message.ticket, QOS)
        for (device_id, answer), trip_ids in zip(group.answers, trips, strict=True):
            self._answer(device_id, answer)
            self._repeat_receipts(device_id, trip_ids)
        self._on_change()

    def _hold_nothing(self, messages: list[_Message], error: Exception) -> None:
        """Tell the devices that nothing of these messages is held; they offer all of it again.

        The PUBACKs go out anyway: a PUBACK promises nothing, and without it the broker
        would deliver no further messages.
        """
        expected = isinstance(error, UnavailableError)
        _log.error("held none of %d messages: %s", len(messages), error, exc_info=not expected)
        reason = str(error) if expected else "the gateway failed; see its log"
        for message in messages:
            self.refused(Refused.FAILURE)
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
            self._refuse(message.device_id, message.kind, error)
            refusal = Refusal(reason=str(error))
            group.answers.append((message.device_id, Held(refused=[refusal])))

    def _refuse(self, device_id: str, what: str, error: RejectedError) -> None:
        self.refused(Refused.RULES)
        _log.warning("%s: refused %s: %s", device_id, what, error, extra={"device_id": device_id})

    def _read_records(self, message: _Message, group: _Group) -> None:
        batches = parse_message(Records, message.wire).batches
        _check_count("batches", len(batches), RECORDS_BATCHES_MAX)
        answer = group.answer_to(message.device_id, len(batches))
        for wire in batches:
            self.give_way()
            try:
                batch = admission.admit_records(wire, message.device_id)
            except RejectedError as error:
                self._refuse(message.device_id, "a batch", error)
                answer.refused.add(reason=str(error))
                continue
            group.batches.append(batch)
            if batch.state is State.QUARANTINED:
                self.refused(Refused.RULES)
                _log.warning(
                    "%s: quarantined a batch: %s",
                    message.device_id,
                    batch.reason,
                    extra={"device_id": message.device_id, "batch_id": batch.batch_id},
                )
                answer.refused.add(id=batch.batch_id, reason=batch.reason)
            else:
                answer.batch_ids.append(batch.batch_id)

    def _read_offer(self, message: _Message, group: _Group) -> None:
        offer = parse_message(Offer, message.wire)
        _check_count("batch ids", len(offer.batch_ids), OFFER_BATCHES_MAX)
        _check_count("recordings", len(offer.recordings), OFFER_RECORDINGS_MAX)
        if not 1 <= len(offer.session) <= SESSION_BYTES_MAX:
            raise RejectedError(
                f"an offer's session must be 1..{SESSION_BYTES_MAX} bytes, got {len(offer.session)}"
            )
        answer = Held(session=offer.session, batch_ids=offer.batch_ids)
        for recording in offer.recordings:
            try:
                batch, held = admission.admit_offer(recording, message.device_id)
            except RejectedError as error:
                self._refuse(message.device_id, "a recording", error)
                answer.refused.add(id=recording.sha256[:HASH_BYTES].hex(), reason=str(error))
                continue
            group.batches.append(batch)
            group.offers.append(held)
            answer.batch_ids.append(batch.batch_id)
            answer.first.append(held.recording)
        group.answers.append((message.device_id, answer))

    def _completed(self, device_id: str, answer: Held) -> set[str]:
        """Complete an answer, or ask for its offer again: the group's other messages are held."""
        try:
            return self._complete(device_id, answer)
        except UnavailableError as error:
            self.refused(Refused.FAILURE)
            _log.error("%s: an offer has no answer: %s", device_id, error)
            answer.CopyFrom(Held(refused=[Refusal(reason=str(error), retry=True)]))
            return set()

    def _complete(self, device_id: str, answer: Held) -> set[str]:
        """Reduce the ids that an offer asks about to batches that are held here or committed.

        Likewise its recordings, to those that should be sent before the others.

        Returns:
            The trips of these batches; empty if the answer does not belong to an offer.
        """
        trips: set[str] = set()
        if not answer.session:
            return trips
        asked = list(answer.batch_ids)
        standings = self._inbox.standings(asked)
        del answer.batch_ids[:]
        for batch_id in asked:
            known = standings.get(batch_id)
            trip_id = known.trip_id if known else self._trip_of(batch_id, device_id)
            if known and known.state is State.QUARANTINED:
                answer.refused.add(id=batch_id, reason=known.reason)
            elif known and known.state is State.DROPPED:
                answer.refused.add(id=batch_id, reason=known.reason, retry=True)
            elif known and known.state is State.LOST:
                continue  # not held: the device may still have it, and send it
            elif trip_id is not None:
                answer.batch_ids.append(batch_id)
                answer.committed += known is None or known.state is State.COMMITTED
                trips.add(trip_id)
                if not known:
                    self._inbox.visits.note(trip_id, device_id)
        answer.first[:] = self.sent_first(answer.first)
        return trips


def _check_count(what: str, count: int, limit: int) -> None:
    if count > limit:
        raise RejectedError(f"message has {count} {what}, at most {limit} allowed")
