"""An MQTT broker in this process, for the demo and for a gateway on one machine.

It forgets queued messages when it stops. That is safe: a truck deletes nothing
before it has the gateway's signed receipt. Adapter: the only importer of amqtt.
"""

import asyncio
import hmac
import logging
import threading
from collections import deque
from collections.abc import Callable, Coroutine, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, TypeVar

from amqtt.adapters import (
    ReaderAdapter,
    StreamReaderAdapter,
    StreamWriterAdapter,
    WriterAdapter,
)
from amqtt.broker import Broker
from amqtt.contexts import Action, BrokerConfig, ListenerConfig
from amqtt.errors import AMQTTError, MQTTError
from amqtt.mqtt.protocol.broker_handler import BrokerProtocolHandler
from amqtt.plugins.base import BaseAuthPlugin, BaseTopicPlugin
from amqtt.session import Session

from contracts.errors import RejectedError, UnavailableError, WaysealError
from contracts.wire import (
    FROM_DEVICES,
    MESSAGE_BYTES_MAX,
    STATUS_BYTES_MAX,
    TO_DEVICES,
    Topic,
    parse_topic,
    topic,
)
from gateway.access import Role, Tokens

_T = TypeVar("_T")
START_TIMEOUT_S: Final = 15.0
CONNECTIONS_MAX: Final = 500
CONNECT_TIMEOUT_S: Final = 10
"""Time for a new client to send CONNECT, seconds."""
PACKET_BYTES_MAX: Final = MESSAGE_BYTES_MAX + 4096
"""The largest payload of our protocol, with its topic."""
QUEUE_MESSAGES_MAX: Final = 64
IN_FLIGHT_MAX: Final = 64
"""Messages on their way to subscribers at which the broker slows down."""
SLOW_DOWN_S: Final = 1.0
RECORDS_BYTES_MIN: Final = 16 << 10
"""A longer packet brings records or what a truck offers; people come before it."""

_ALL_STATUS: Final = (topic("+", Topic.STATUS),)
"""What an operator's program hears."""

_log = logging.getLogger(__name__)


class BrokerAccess:
    """Decides which clients may connect: devices by their tokens, the gateway by its password."""

    def __init__(self, tokens_file: Path, gateway_username: str, gateway_password: str) -> None:
        """Prepare; the file is read when the first client comes, and again when it has changed."""
        self._tokens_file = tokens_file
        self._gateway_username = gateway_username
        self._gateway_password = gateway_password
        self._read: Tokens | None = None

    def allows(self, username: str | None, password: str | None, client_id: str | None) -> bool:
        """Say whether a client may connect; a device may use only its own name.

        An operator may, to hear how trucks stand, under its own name and any client id that no
        device uses.
        """
        if username == self._gateway_username:
            return hmac.compare_digest((password or "").encode(), self._gateway_password.encode())
        try:
            caller = self._tokens().caller(password or "")
        except WaysealError as error:
            _log.error("no device can connect: %s", error)
            return False
        if caller is None or caller.name != username:
            return False
        return caller.role is Role.OPERATOR or (
            caller.role is Role.DEVICE and caller.name == client_id
        )

    def allows_topic(self, username: str | None, topic: str | None, *, publish: bool) -> bool:
        """Say whether a connected client may publish on, or subscribe to, a topic."""
        if username == self._gateway_username:
            return True
        if not publish and topic in _ALL_STATUS:
            return self._is_operator(username)
        try:
            device_id, kind = parse_topic(topic or "")
        except RejectedError:
            return False
        if device_id != username or self._is_operator(username):
            return False
        return kind in (FROM_DEVICES if publish else TO_DEVICES)

    def _is_operator(self, name: str | None) -> bool:
        try:
            return self._tokens().role_of(name or "") is Role.OPERATOR
        except WaysealError as error:
            _log.error("nobody hears how trucks stand: %s", error)
            return False

    def _tokens(self) -> Tokens:
        """Return the tokens.

        Raises:
            RejectedError: Their file is malformed, or others may read it.
        """
        if self._read is None:
            self._read = Tokens(self._tokens_file)
        return self._read


@dataclass
class PluginConfig:
    """The settings that the broker passes to a plugin; amqtt finds it as `Config`."""

    access: BrokerAccess


class TokenAuth(BaseAuthPlugin):
    """Refuses clients that `BrokerAccess` does not let in."""

    Config = PluginConfig

    async def authenticate(self, *, session: Session) -> bool:
        """See `BaseAuthPlugin.authenticate`."""
        access: BrokerAccess = self.config.access
        # amqtt publishes wills without asking DeviceTopics, so a client with a will is refused.
        return not session.will_flag and access.allows(
            session.username, session.password, session.client_id
        )


class DeviceTopics(BaseTopicPlugin):
    """Refuses topics that `BrokerAccess` does not allow."""

    Config = PluginConfig

    async def topic_filtering(
        self,
        *,
        session: Session | None = None,
        topic: str | None = None,
        action: Action | None = None,
    ) -> bool:
        """See `BaseTopicPlugin.topic_filtering`."""
        access: BrokerAccess = self.config.access
        username = session.username if session else None
        if action == Action.RECEIVE:
            return True
        return access.allows_topic(username, topic, publish=action == Action.PUBLISH)


class _LimitedReader(StreamReaderAdapter):
    """Reads from a client, and ends the connection if a packet exceeds `PACKET_BYTES_MAX`."""

    def __init__(
        self,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        give_way: Callable[[], None],
    ) -> None:
        super().__init__(reader)
        self._writer = writer
        self._give_way = give_way

    async def read(self, n: int = -1) -> bytes:
        """See `ReaderAdapter.read`."""
        if n > PACKET_BYTES_MAX:
            self._writer.close()  # amqtt itself would continue to read
            raise MQTTError(f"packet of {n} bytes, at most {PACKET_BYTES_MAX} allowed")
        if n >= RECORDS_BYTES_MIN:
            self._give_way()
        data: bytes = await super().read(n)
        return data


class _Subscriptions(dict[str, Any]):
    """Subscriptions that may change during an iteration: amqtt 0.12 awaits within its loops."""

    def items(self) -> Any:  # noqa: ANN401  # a list instead of a view, on purpose
        """Return a copy of the present items."""
        return list(super().items())

    def __iter__(self) -> Iterator[str]:
        """Go through the present topics."""
        return iter(list(super().__iter__()))


class _Unsaid(dict[str, Any]):
    """A message on its way: amqtt 0.12 writes each one out for a log line that nobody keeps."""

    def __repr__(self) -> str:
        """Return its topic."""
        return str(self["topic"])


class _Broadcasts(asyncio.Queue[Any]):
    """Messages for subscribers; their bytes are not written out, and people come before them."""

    def __init__(self, give_way: Callable[[], None]) -> None:
        super().__init__(QUEUE_MESSAGES_MAX)
        self._give_way = give_way

    async def get(self) -> Any:  # noqa: ANN401  # of amqtt
        """See `Queue.get`."""
        item = await super().get()
        self._give_way()
        return item

    async def put(self, item: Any) -> None:  # noqa: ANN401  # of amqtt
        """See `Queue.put`."""
        await super().put(_Unsaid(item))


class _BoundedBroker(Broker):
    """amqtt's broker with a deadline for CONNECT and bounded buffers, which it lacks."""

    def __init__(self, config: BrokerConfig, give_way: Callable[[], None]) -> None:
        super().__init__(config)
        self._give_way = give_way
        self._broadcast_queue: asyncio.Queue[Any] = _Broadcasts(give_way)
        self._subscriptions: _Subscriptions = _Subscriptions()

    async def stream_connected(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, listener_name: str
    ) -> None:
        """See `Broker.stream_connected`."""
        await self.external_connected(
            _LimitedReader(reader, writer, self._give_way),
            StreamWriterAdapter(writer),
            listener_name,
        )

    async def _initialize_client_session(
        self,
        reader: ReaderAdapter,
        writer: WriterAdapter,
        remote_address: str,
        remote_port: int,
    ) -> tuple[BrokerProtocolHandler, Session]:
        work = super()._initialize_client_session(reader, writer, remote_address, remote_port)
        try:
            return await asyncio.wait_for(work, CONNECT_TIMEOUT_S)
        except TimeoutError as error:
            await writer.close()
            raise AMQTTError(f"no CONNECT within {CONNECT_TIMEOUT_S} s") from error

    async def _run_broadcast(self, running_tasks: deque[asyncio.Task[Any]]) -> None:
        """Take the next message; wait while too many are on their way, so that senders wait."""
        if len(running_tasks) >= IN_FLIGHT_MAX:
            await asyncio.wait(
                running_tasks, timeout=SLOW_DOWN_S, return_when=asyncio.FIRST_COMPLETED
            )
        await super()._run_broadcast(running_tasks)

    async def _publish_retained_messages_for_subscription(
        self, subscription: tuple[str, int], session: Session
    ) -> None:
        """Send what is retained; amqtt 0.12 also sends it for a subscription that it refused."""
        if await self._topic_filtering(session, subscription[0], Action.SUBSCRIBE):
            await super()._publish_retained_messages_for_subscription(subscription, session)

    async def retain_message(
        self,
        source_session: Session | None,
        topic_name: str | None,
        data: bytes | bytearray | None,
        qos: int | None = None,
    ) -> None:
        """Retain how a truck stands, and nothing else: memory is bounded by the trucks' count."""
        try:
            kind = parse_topic(topic_name or "")[1]
        except RejectedError:
            return
        if kind is Topic.STATUS and len(data or b"") <= STATUS_BYTES_MAX:
            await super().retain_message(source_session, topic_name, data, qos)


class EmbeddedBroker:
    """Runs the broker in the event loop of its own thread."""

    def __init__(
        self,
        host: str,
        port: int,
        access: BrokerAccess,
        give_way: Callable[[], None] = lambda: None,
    ) -> None:
        """Start listening; with port 0 the system chooses, and `self.port` tells which one.

        `give_way` is called in the broker's thread before each message of a truck; it may wait.

        Raises:
            UnavailableError: The broker cannot listen on that address.
        """
        logging.getLogger("amqtt").setLevel(logging.CRITICAL)  # a failed start is reported below
        logging.getLogger("transitions").setLevel(logging.ERROR)
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="broker", daemon=True)
        self._thread.start()
        try:
            self._broker = self._run(self._start(host, port, access, give_way))
        except Exception as error:
            self._stop_loop()
            raise UnavailableError(f"MQTT broker on {host}:{port}: {error}") from error
        logging.getLogger("amqtt").setLevel(logging.ERROR)
        listener = self._broker._servers["default"].instance  # noqa: SLF001
        self.port: int = listener.sockets[0].getsockname()[1]

    def close(self) -> None:
        """Stop listening and disconnect all clients."""
        self._run(self._broker.shutdown())
        self._stop_loop()

    @staticmethod
    async def _start(
        host: str, port: int, access: BrokerAccess, give_way: Callable[[], None]
    ) -> Broker:
        config = BrokerConfig(
            listeners={
                "default": ListenerConfig(bind=f"{host}:{port}", max_connections=CONNECTIONS_MAX)
            },
            plugins={
                "gateway.intake.broker.TokenAuth": {"access": access},
                "gateway.intake.broker.DeviceTopics": {"access": access},
            },
        )
        broker = _BoundedBroker(config, give_way)
        await broker.start()
        return broker

    def _run(self, work: Coroutine[object, object, _T]) -> _T:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(START_TIMEOUT_S)

    def _stop_loop(self) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(START_TIMEOUT_S)
        self._loop.close()
