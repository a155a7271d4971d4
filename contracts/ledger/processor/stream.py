"""A stand-in for `sawtooth_sdk.messaging.stream`, whose own does not run on Python 3.10 or later.

Adapter: the only importer of ZeroMQ outside the node. The interface is that of
sawtooth-sdk 1.2.5. One thread owns the socket. It replaces a lost connection;
requests that waited for an answer on the old one fail.
"""

import contextlib
import logging
import queue
import socket
import threading
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import zmq
from google.protobuf.message import DecodeError
from sawtooth_sdk.messaging.exceptions import ValidatorConnectionError
from sawtooth_sdk.messaging.future import Future as Reply
from sawtooth_sdk.messaging.future import FutureError, FutureResult, FutureTimeoutError
from sawtooth_sdk.protobuf.processor_pb2 import TpRegisterResponse
from sawtooth_sdk.protobuf.validator_pb2 import Message
from zmq.utils.monitor import recv_monitor_message

_LOG = logging.getLogger(__name__)

RECONNECT_EVENT: Final = -1
"""The first message after a lost connection was replaced."""
SILENCE_S: Final = 3
"""Time, seconds, without an answer after which a warning is logged, repeatedly."""
REFUSED_PAUSE_S: Final = 1.0
"""Pause, seconds, after a connection that the validator ended before it was of use."""
_REFUSED: Final = zmq.EVENT_HANDSHAKE_FAILED_AUTH | zmq.EVENT_HANDSHAKE_FAILED_PROTOCOL
_EVENTS: Final = zmq.EVENT_HANDSHAKE_SUCCEEDED | zmq.EVENT_DISCONNECTED | _REFUSED
_OPTIONS: Final = {
    zmq.LINGER: 0,
    zmq.SNDHWM: 0,  # the SDK answers requests one by one
    zmq.RECONNECT_IVL: 100,
    zmq.RECONNECT_IVL_MAX: 1_000,
    zmq.HEARTBEAT_IVL: 10_000,  # finds a dead host, where no socket closes
    zmq.HEARTBEAT_TIMEOUT: 30_000,
}


@dataclass(frozen=True, slots=True)
class CurveKeys:
    """The keys with which a processor proves itself at a component port that wants CURVE.

    Attributes:
        secret: The processor's own secret key, Z85.
        server: The port's public key, Z85.
    """

    secret: str
    server: str

    @property
    def public(self) -> str:
        """Return the processor's public key, Z85."""
        return zmq.curve_public(self.secret.encode()).decode()

    @property
    def options(self) -> dict[int, bytes]:
        """Return the socket options."""
        return {
            zmq.CURVE_SERVERKEY: self.server.encode(),
            zmq.CURVE_PUBLICKEY: self.public.encode(),
            zmq.CURVE_SECRETKEY: self.secret.encode(),
        }


def new_curve_key() -> tuple[bytes, bytes]:
    """Return a new public CURVE key and its secret key, Z85."""
    return zmq.curve_keypair()


class Next:
    """The next message that is not an answer, as the SDK waits for it."""

    def __init__(self, received: "queue.SimpleQueue[object]") -> None:
        self._received = received

    def result(self, timeout: float | None = None) -> object:
        """Return the message.

        Raises:
            TimeoutError: No message came within `timeout` seconds.
            KeyboardInterrupt: `Stream.interrupt` was called.
        """
        try:
            message = self._received.get(timeout=timeout)
        except queue.Empty:
            raise TimeoutError from None
        if isinstance(message, KeyboardInterrupt):
            raise message
        return message


class Stream:
    """Talks to one validator.

    Args:
        url: Its component port, `tcp://HOST:PORT` or `ipc:///PATH`.
        registered: Called, in any thread, when the validator accepted a registration.
        curve: Keys for a port that wants CURVE.

    Raises:
        zmq.ZMQError: `url` is not an endpoint.
    """

    def __init__(
        self, url: str, registered: Callable[[], None], curve: CurveKeys | None = None
    ) -> None:
        self.url = url
        self._options = _OPTIONS | ({} if curve is None else curve.options)
        self.zmq_id = b""
        self._registered = registered
        self._context = zmq.Context()
        self._outgoing: queue.SimpleQueue[bytes] = queue.SimpleQueue()
        self._received: queue.SimpleQueue[object] = queue.SimpleQueue()
        self._replies: dict[str, Reply] = {}
        self._changed = threading.Condition()
        self._is_ready = False
        self._interrupted = False
        self._closing = threading.Event()
        self._waker, self._woken = socket.socketpair()
        self._thread = threading.Thread(target=self._run, name="stream", daemon=True)
        with self._context.socket(zmq.DEALER) as trial:
            trial.connect(url)  # raises here and not in the thread
        self._thread.start()

    def send(self, message_type: int, content: bytes) -> Reply:
        """Send a request; return the SDK's future for its answer.

        Raises:
            ValidatorConnectionError: There is no connection.
        """
        name = uuid.uuid4().hex
        reply = Reply(name, request_type=message_type)
        with self._changed:
            if not self._is_ready:
                raise ValidatorConnectionError
            self._replies[name] = reply
        self.send_back(message_type, name, content)
        return reply

    def send_back(self, message_type: int, correlation_id: str, content: bytes) -> None:
        """Send an answer.

        Raises:
            ValidatorConnectionError: There is no connection.
        """
        if not self._is_ready:
            raise ValidatorConnectionError
        message = Message(message_type=message_type, correlation_id=correlation_id, content=content)
        self._outgoing.put(message.SerializeToString())
        self._waker.send(b"\0")

    def receive(self) -> Next:
        """Return the next message that is not an answer; its `result` waits for it."""
        return Next(self._received)

    def wait_for_ready(self) -> None:
        """Wait until there is a connection.

        Raises:
            FutureTimeoutError: `interrupt` was called, and there is no connection.
        """
        with self._changed:
            while not self._is_ready:
                if self._interrupted:
                    raise FutureTimeoutError
                if not self._changed.wait(SILENCE_S):
                    _LOG.warning("nobody answers at %s; still trying", self.url)

    def is_ready(self) -> bool:
        """Say whether there is a connection."""
        return self._is_ready

    def interrupt(self) -> None:
        """Make the SDK end, as by Ctrl-C, after its current transaction."""
        with self._changed:
            self._interrupted = True
            self._changed.notify_all()
        self._received.put(KeyboardInterrupt())

    def close(self) -> None:
        """End the connection."""
        self._closing.set()
        self._waker.send(b"\0")
        self._thread.join()

    def _run(self) -> None:
        first = True
        while not self._closing.is_set():
            dealer = self._context.socket(zmq.DEALER)
            for option, value in self._options.items():
                dealer.setsockopt(option, value)
            # Each connection gets a new name: a validator that missed the end of the last
            # one must not take this one for it.
            self.zmq_id = dealer.identity = uuid.uuid4().hex[:16].encode()
            monitor = dealer.get_monitor_socket(_EVENTS)
            dealer.connect(self.url)
            met = self._serve(dealer, monitor, first=first)
            dealer.disable_monitor()
            monitor.close(linger=0)
            dealer.close(linger=0)
            self._lose()
            first = first and not met
            if not met:
                self._closing.wait(REFUSED_PAUSE_S)
        self._context.destroy(linger=0)

    def _serve(
        self, dealer: "zmq.Socket[bytes]", monitor: "zmq.Socket[bytes]", *, first: bool
    ) -> bool:
        """Carry messages until the connection is lost or `close` is called.

        Returns:
            Whether there was a connection at all.
        """
        met = False
        poller = zmq.Poller()
        poller.register(dealer, zmq.POLLIN)
        poller.register(monitor, zmq.POLLIN)
        poller.register(self._woken, zmq.POLLIN)
        while not self._closing.is_set():
            ready = dict(poller.poll())
            if monitor in ready:
                event = recv_monitor_message(monitor)["event"]
                if event == zmq.EVENT_DISCONNECTED:
                    return met
                if event & _REFUSED:
                    _LOG.warning("%s refuses the connection: other CURVE keys expected", self.url)
                else:
                    met = True
                    self._found(first=first)
            if dealer in ready:
                self._take(dealer.recv())
            if self._woken.fileno() in ready:
                self._woken.recv(4096)
                with contextlib.suppress(queue.Empty):
                    while True:
                        dealer.send(self._outgoing.get_nowait())
        return met

    def _found(self, *, first: bool) -> None:
        with self._changed:
            self._is_ready = True
            self._changed.notify_all()
        if not first:
            self._received.put(RECONNECT_EVENT)

    def _take(self, wire: bytes) -> None:
        message = Message()
        try:
            message.ParseFromString(wire)
        except (DecodeError, ValueError) as error:  # this thread goes on, whatever comes
            _LOG.warning("dropped %d bytes from %s: %s", len(wire), self.url, error)
            return
        reply = self._replies.pop(message.correlation_id, None)
        if reply is None:
            self._received.put(message)
            return
        if message.message_type == Message.TP_REGISTER_RESPONSE:
            answer = TpRegisterResponse()
            with contextlib.suppress(DecodeError, ValueError):  # the SDK reads it again
                answer.ParseFromString(message.content)
                if answer.status == TpRegisterResponse.OK:
                    self._registered()
        reply.set_result(FutureResult(message_type=message.message_type, content=message.content))

    def _lose(self) -> None:
        """Forget all messages of the connection; requests without an answer fail."""
        with self._changed:
            self._is_ready = False
            replies, self._replies = self._replies, {}
        for line in (self._outgoing, self._received):
            with contextlib.suppress(queue.Empty):
                while True:
                    line.get_nowait()
        if self._interrupted:
            self._received.put(KeyboardInterrupt())
        for reply in replies.values():
            reply.set_result(FutureError())
