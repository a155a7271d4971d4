"""Adapter: one MQTT 3.1.1 connection to a gateway, QoS 1; the only importer of paho here.

It never reconnects by itself. After a loss the whole session starts again with a new offer,
because MQTT's PUBACK is hop by hop and proves nothing.
"""

import logging
import queue
import threading
import time
from collections import deque
from contextlib import suppress
from typing import Final, Self

from paho.mqtt.client import (
    Client,
    ConnectFlags,
    DisconnectFlags,
    MQTTMessage,
    MQTTMessageInfo,
)
from paho.mqtt.enums import CallbackAPIVersion, MQTTErrorCode, MQTTProtocolVersion
from paho.mqtt.properties import Properties
from paho.mqtt.reasoncodes import ReasonCode

from contracts.errors import RejectedError, UnavailableError
from contracts.wire import MESSAGE_BYTES_MAX, QOS, Topic, parse_topic, topic
from device.settings import GatewaySettings

IN_FLIGHT_MAX: Final = 4
"""Messages that may wait for their PUBACK; the sender waits when there are more."""
RECEIVED_MAX: Final = 1_000
"""Answers that may wait to be read; more are dropped, and the next offer asks for them again."""
KEEPALIVE_S: Final = 30
_POLL_S: Final = 0.1
_log: Final = logging.getLogger(__name__)


class MqttConnection:
    """An open connection that is subscribed to the gateway's answers; a context manager.

    Args:
        gateway: Where to connect, and the token that is the password.
        device_id: Client id and user name.
    """

    def __init__(self, gateway: GatewaySettings, device_id: str) -> None:
        self._gateway = gateway
        self._device_id = device_id
        self._received: queue.Queue[tuple[Topic, bytes]] = queue.Queue(RECEIVED_MAX)
        self._in_flight: deque[MQTTMessageInfo] = deque()
        self._greeting: queue.Queue[ReasonCode] = queue.Queue()
        self._lost = threading.Event()
        self._client = Client(
            CallbackAPIVersion.VERSION2,
            client_id=device_id,
            protocol=MQTTProtocolVersion.MQTTv311,
            reconnect_on_failure=False,
        )
        self._client.username_pw_set(device_id, gateway.token)
        self._client.connect_timeout = gateway.timeout_s
        self._client.on_connect = self._on_connect
        self._client.on_disconnect = self._on_disconnect
        self._client.on_subscribe = self._on_subscribe
        self._client.on_message = self._on_message

    def __enter__(self) -> Self:
        """Connect and subscribe.

        Raises:
            RejectedError: The gateway refuses this device or its token, or `mqtt_ca` is not a file
                of certificates.
            UnavailableError: The gateway does not answer.
        """
        place = self._gateway.mqtt
        self._trust(place)
        try:
            self._client.connect(self._gateway.mqtt_host, self._gateway.mqtt_port, KEEPALIVE_S)
        except (OSError, ValueError) as error:
            raise UnavailableError(f"broker {place}: {error}") from error
        self._client.loop_start()
        try:
            self._greet(place)
        except BaseException:
            self.close()
            raise
        return self

    def _trust(self, place: str) -> None:
        """Use TLS if the settings name whose certificates count."""
        if (authority := self._gateway.mqtt_ca) is None:
            return
        try:
            ours = self._gateway
            shown = None if ours.tls_certificate is None else str(ours.tls_certificate)
            key = None if ours.tls_key is None else str(ours.tls_key)
            self._client.tls_set(str(authority), shown, key)
        except (OSError, ValueError) as error:
            raise RejectedError(
                f"broker {place}: {authority} of gateway.mqtt_ca is not a file of certificates: "
                f"{error}"
            ) from error

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Disconnect and end the network thread."""
        self._client.disconnect()
        with suppress(AttributeError):  # paho 2.1 joins a thread that it forgets when that ends
            self._client.loop_stop()

    def publish(self, kind: Topic, wire: bytes) -> None:
        """Send one message; wait first while too many are unacknowledged.

        Raises:
            RejectedError: Larger than a message may be.
            UnavailableError: The connection is lost, or no PUBACK came in time.
        """
        if len(wire) > MESSAGE_BYTES_MAX:
            raise RejectedError(f"{kind} message of {len(wire)} bytes, limit {MESSAGE_BYTES_MAX}")
        while len(self._in_flight) >= IN_FLIGHT_MAX:
            self._await_ack(self._in_flight.popleft())
        is_status = kind is Topic.STATUS
        try:
            sent = self._client.publish(
                topic(self._device_id, kind), wire, qos=QOS, retain=is_status
            )
        except (ValueError, RuntimeError) as error:
            raise UnavailableError(f"publish on {kind} failed: {error}") from error
        if sent.rc is not MQTTErrorCode.MQTT_ERR_SUCCESS:
            raise UnavailableError(f"publish on {kind} failed: {sent.rc.name}")
        self._in_flight.append(sent)

    def settle(self) -> None:
        """Wait until the broker has acknowledged all that was sent.

        Raises:
            UnavailableError: The connection is lost, or a PUBACK does not come in time.
        """
        while self._in_flight:
            self._await_ack(self._in_flight.popleft())

    def receive(self, timeout_s: float) -> tuple[Topic, bytes] | None:
        """Return the next answer; None if no answer came in time.

        Raises:
            UnavailableError: The connection is lost.
        """
        deadline_s = time.monotonic() + timeout_s
        while True:
            left_s = deadline_s - time.monotonic()
            try:
                return self._received.get(timeout=max(0.001, min(_POLL_S, left_s)))
            except queue.Empty:
                self._check_alive()
                if left_s <= 0:
                    return None

    def _greet(self, place: str) -> None:
        reason = self._next_greeting(f"broker {place}: no CONNACK")
        if reason.is_failure:
            raise RejectedError(f"broker {place} refuses device {self._device_id}: {reason}")
        topics = [
            (topic(self._device_id, Topic.HELD), QOS),
            (topic(self._device_id, Topic.RECEIPTS), QOS),
        ]
        self._client.subscribe(topics)
        for _ in topics:
            reason = self._next_greeting(f"broker {place}: no SUBACK")
            if reason.is_failure:
                raise RejectedError(f"broker {place} refuses a subscription: {reason}")

    def _next_greeting(self, failure: str) -> ReasonCode:
        deadline_s = time.monotonic() + self._gateway.timeout_s
        while time.monotonic() < deadline_s:
            try:
                return self._greeting.get(timeout=_POLL_S)
            except queue.Empty:
                self._check_alive()
        raise UnavailableError(f"{failure} within {self._gateway.timeout_s} s")

    def _await_ack(self, sent: MQTTMessageInfo) -> None:
        deadline_s = time.monotonic() + self._gateway.timeout_s
        try:
            while not sent.is_published():
                self._check_alive()
                if time.monotonic() > deadline_s:
                    raise UnavailableError(f"no PUBACK within {self._gateway.timeout_s} s")
                sent.wait_for_publish(_POLL_S)
        except (ValueError, RuntimeError) as error:
            raise UnavailableError(f"message was not sent: {error}") from error

    def _check_alive(self) -> None:
        if self._lost.is_set():
            raise UnavailableError("the connection to the gateway is lost")

    def _on_connect(
        self,
        _client: Client,
        _userdata: object,
        _flags: ConnectFlags,
        reason: ReasonCode,
        _properties: Properties | None,
    ) -> None:
        self._greeting.put(reason)

    def _on_disconnect(
        self,
        _client: Client,
        _userdata: object,
        _flags: DisconnectFlags,
        _reason: ReasonCode,
        _properties: Properties | None,
    ) -> None:
        self._lost.set()

    def _on_subscribe(
        self,
        _client: Client,
        _userdata: object,
        _mid: int,
        reasons: list[ReasonCode],
        _properties: Properties | None,
    ) -> None:
        for reason in reasons:
            self._greeting.put(reason)

    def _on_message(self, _client: Client, _userdata: object, message: MQTTMessage) -> None:
        try:
            _, kind = parse_topic(message.topic)
            self._received.put_nowait((kind, bytes(message.payload)))
        except RejectedError as error:
            _log.warning("message ignored: %s", error)
        except queue.Full:
            _log.warning(
                "message on %s dropped: %d messages wait already", message.topic, RECEIVED_MAX
            )
