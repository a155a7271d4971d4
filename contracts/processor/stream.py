"""A stand-in for `sawtooth_sdk.messaging.stream`, whose own does not run on Python 3.10 or later.

Adapter: the only importer of ZeroMQ outside the node. The interface is that of
sawtooth-sdk 1.2.5. One thread owns the socket; a connection that is lost is
made anew, and who waited for an answer on it is told so.
"""

import contextlib
import logging
import queue
import socket
import threading
import uuid
from collections.abc import Callable
from typing import Final

import zmq
from sawtooth_sdk.messaging.exceptions import ValidatorConnectionError
from sawtooth_sdk.messaging.future import Future as Reply
from sawtooth_sdk.messaging.future import FutureError, FutureResult, FutureTimeoutError
from sawtooth_sdk.protobuf.processor_pb2 import TpRegisterResponse
from sawtooth_sdk.protobuf.validator_pb2 import Message
from zmq.utils.monitor import recv_monitor_message

_LOG = logging.getLogger(__name__)

RECONNECT_EVENT: Final = -1
"""What is received first once a connection that was lost is made again."""
SILENCE_S: Final = 3
"""It is said after so many seconds, and again and again, that nobody answers."""
_EVENTS: Final = zmq.EVENT_HANDSHAKE_SUCCEEDED | zmq.EVENT_DISCONNECTED
_OPTIONS: Final = {
    zmq.LINGER: 0,
    zmq.SNDHWM: 0,  # the SDK answers what it is asked, one by one
    zmq.RECONNECT_IVL: 100,
    zmq.RECONNECT_IVL_MAX: 1_000,
    zmq.HEARTBEAT_IVL: 10_000,  # finds a dead host, where no socket closes
    zmq.HEARTBEAT_TIMEOUT: 30_000,
}


class Next:
    """The next message that is no answer, as the SDK waits for it."""

    def __init__(self, received: "queue.SimpleQueue[object]") -> None:
        self._received = received

    def result(self, timeout: float | None = None) -> object:
        """Return the message.

        Raises:
            TimeoutError: None came within `timeout` seconds.
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
        url: Its component port, `tcp://HOST:PORT`.
        registered: Called, in any thread, when the validator took a registration.

    Raises:
        zmq.ZMQError: That is no such endpoint.
    """

    def __init__(self, url: str, registered: Callable[[], None]) -> None:
        self.url = url
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
            trial.connect(url)  # raises here rather than in the thread
        self._thread.start()

    def send(self, message_type: int, content: bytes) -> Reply:
        """Send a request; return what becomes of it.

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
        """Return the next message that is no answer; asking for its result waits for it."""
        return Next(self._received)

    def wait_for_ready(self) -> None:
        """Wait until there is a connection.

        Raises:
            FutureTimeoutError: `interrupt` was called, and there is none.
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
        """Have the SDK end, as by Ctrl-C, once it has finished what it is at."""
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
            for option, value in _OPTIONS.items():
                dealer.setsockopt(option, value)
            # A new name each time: a validator that missed the end of the last
            # connection must not mistake this one for it.
            self.zmq_id = dealer.identity = uuid.uuid4().hex[:16].encode()
            monitor = dealer.get_monitor_socket(_EVENTS)
            dealer.connect(self.url)
            self._serve(dealer, monitor, first=first)
            dealer.disable_monitor()
            monitor.close(linger=0)
            dealer.close(linger=0)
            self._lose()
            first = False
        self._context.destroy(linger=0)

    def _serve(
        self, dealer: "zmq.Socket[bytes]", monitor: "zmq.Socket[bytes]", *, first: bool
    ) -> None:
        """Carry messages until the connection is lost, or is not wanted any more."""
        poller = zmq.Poller()
        poller.register(dealer, zmq.POLLIN)
        poller.register(monitor, zmq.POLLIN)
        poller.register(self._woken, zmq.POLLIN)
        while not self._closing.is_set():
            ready = dict(poller.poll())
            if monitor in ready:
                if recv_monitor_message(monitor)["event"] == zmq.EVENT_DISCONNECTED:
                    return
                self._found(first=first)
            if dealer in ready:
                self._take(dealer.recv())
            if self._woken.fileno() in ready:
                self._woken.recv(4096)
                with contextlib.suppress(queue.Empty):
                    while True:
                        dealer.send(self._outgoing.get_nowait())

    def _found(self, *, first: bool) -> None:
        with self._changed:
            self._is_ready = True
            self._changed.notify_all()
        if not first:
            self._received.put(RECONNECT_EVENT)

    def _take(self, wire: bytes) -> None:
        message = Message()
        message.ParseFromString(wire)
        reply = self._replies.pop(message.correlation_id, None)
        if reply is None:
            self._received.put(message)
            return
        if message.message_type == Message.TP_REGISTER_RESPONSE:
            answer = TpRegisterResponse()
            answer.ParseFromString(message.content)
            if answer.status == TpRegisterResponse.OK:
                self._registered()
        reply.set_result(FutureResult(message_type=message.message_type, content=message.content))

    def _lose(self) -> None:
        """Forget what belongs to the connection; who waits for an answer gets none."""
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
