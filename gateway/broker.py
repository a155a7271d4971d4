"""An MQTT broker in this process, for the demo and for a gateway on one machine.

It forgets queued messages when it stops, and may: nothing is deleted on a truck
before the gateway's signed receipt. Adapter: the only importer of amqtt.
"""

import asyncio
import hmac
import logging
import threading
from collections.abc import Coroutine
from dataclasses import dataclass
from pathlib import Path
from typing import Final, TypeVar

from amqtt.broker import Broker
from amqtt.contexts import Action, BrokerConfig, ListenerConfig
from amqtt.plugins.base import BaseAuthPlugin, BaseTopicPlugin
from amqtt.session import Session

from contracts.errors import RejectedError, UnavailableError, WaysealError
from contracts.wire import Topic, parse_topic
from gateway.access import Role, Tokens

_T = TypeVar("_T")
START_TIMEOUT_S: Final = 15.0
CONNECTIONS_MAX: Final = 500
_PUBLISHED_BY_DEVICES: Final = (Topic.RECORDS, Topic.OFFERS)

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class BrokerAccess:
    """Whom the broker lets in: devices by their tokens, the gateway by its password."""

    tokens_file: Path
    gateway_username: str
    gateway_password: str

    def allows(self, username: str | None, password: str | None, client_id: str | None) -> bool:
        """Say whether a client may connect; a device under its own name only."""
        if username == self.gateway_username:
            return hmac.compare_digest((password or "").encode(), self.gateway_password.encode())
        try:
            caller = Tokens(self.tokens_file).caller(password or "")
        except WaysealError as error:
            _log.error("no device can connect: %s", error)  # said once, plainly
            return False
        return (
            caller is not None
            and caller.role is Role.DEVICE
            and caller.name == username == client_id
        )

    def allows_topic(self, username: str | None, topic: str | None, *, publish: bool) -> bool:
        """Say whether a connected client may publish on, or subscribe to, a topic."""
        if username == self.gateway_username:
            return True
        try:
            device_id, kind = parse_topic(topic or "")
        except RejectedError:
            return False
        return device_id == username and publish == (kind in _PUBLISHED_BY_DEVICES)


class TokenAuth(BaseAuthPlugin):
    """Asks `BrokerAccess` whether a client may connect."""

    async def authenticate(self, *, session: Session) -> bool:
        """See `BaseAuthPlugin.authenticate`."""
        access: BrokerAccess = self.config.access
        # amqtt publishes wills without asking DeviceTopics, so none is taken.
        return not session.will_flag and access.allows(
            session.username, session.password, session.client_id
        )

    @dataclass
    class Config:
        """What the broker hands to the plugin."""

        access: BrokerAccess


class DeviceTopics(BaseTopicPlugin):
    """Asks `BrokerAccess` whether a client may use a topic."""

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

    @dataclass
    class Config:
        """What the broker hands to the plugin."""

        access: BrokerAccess


class EmbeddedBroker:
    """The broker and the thread whose event loop it runs in."""

    def __init__(self, host: str, port: int, access: BrokerAccess) -> None:
        """Start listening; `port` tells the chosen one.

        Raises:
            UnavailableError: The address cannot be listened on.
        """
        logging.getLogger("amqtt").setLevel(logging.CRITICAL)  # what fails at the start, we say
        logging.getLogger("transitions").setLevel(logging.ERROR)
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="broker", daemon=True)
        self._thread.start()
        try:
            self._broker = self._run(self._start(host, port, access))
        except Exception as error:
            self._stop_loop()
            raise UnavailableError(f"MQTT broker on {host}:{port}: {error}") from error
        logging.getLogger("amqtt").setLevel(logging.ERROR)
        listener = self._broker._servers["default"].instance  # noqa: SLF001
        self.port: int = listener.sockets[0].getsockname()[1]

    def close(self) -> None:
        """Stop listening and drop all clients."""
        self._run(self._broker.shutdown())
        self._stop_loop()

    @staticmethod
    async def _start(host: str, port: int, access: BrokerAccess) -> Broker:
        config = BrokerConfig(
            listeners={
                "default": ListenerConfig(bind=f"{host}:{port}", max_connections=CONNECTIONS_MAX)
            },
            plugins={
                "gateway.broker.TokenAuth": {"access": access},
                "gateway.broker.DeviceTopics": {"access": access},
            },
        )
        broker = Broker(config)
        await broker.start()
        return broker

    def _run(self, work: Coroutine[object, object, _T]) -> _T:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(START_TIMEOUT_S)

    def _stop_loop(self) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(START_TIMEOUT_S)
        self._loop.close()
