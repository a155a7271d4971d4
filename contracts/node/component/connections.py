"""The socket of the component port, and those who are connected to it.

Adapter: the only importer of ZeroMQ in the node. One frame per message, an
envelope; what is no such thing is dropped. Nothing here waits for a peer:
what a connection does not read is kept up to a limit, then it is hung up on.

Source: Sawtooth 1.2 `validator.proto`; heartbeats as the validator's.
"""

import contextlib
import logging
import math
import os
import socket
import time
import uuid
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

import zmq
from google.protobuf.message import DecodeError
from google.protobuf.message import Message as Content
from zmq.utils.monitor import recv_monitor_message

from contracts.errors import RejectedError, WaysealError
from contracts.proto.component_pb2 import Message, PingRequest

_LOG = logging.getLogger(__name__)

PEERS_MAX: Final = 200
"""Connections; one more is hung up on."""
MESSAGE_BYTES_MAX: Final = 17 << 20
"""One frame: a state value with its address. ZeroMQ ends a connection that sends more."""
CORRELATION_CHARS_MAX: Final = 256
QUEUED_MESSAGES_MAX: Final = 16
"""Messages of one connection that ZeroMQ keeps, each way."""
OUTBOX_BYTES_MAX: Final = 32 << 20
"""And what we keep behind them; then the connection is hung up on."""
STALL_MAX_S: Final = 30.0
"""Or when it has read nothing for so long, seconds, while there was something."""
HEARTBEAT_S: Final = 10.0
"""Silence after which a processor or subscriber is pinged, seconds, again and again."""
SILENCE_MAX_S: Final = 120.0
"""Silence after which it is taken for lost, seconds."""
STRANGER_MAX_S: Final = 60.0
"""Silence after which a connection that is neither registered nor subscribed is hung up on,
seconds; it takes the place of one that would be."""
TURN_MESSAGES: Final = 100
"""Messages taken before everything else gets its turn."""
_KNOWN_BY: Final = (Message.TP_REGISTER_REQUEST, Message.CLIENT_EVENTS_SUBSCRIBE_REQUEST)
_CLOSING_EVENTS: Final = zmq.EVENT_ACCEPTED | zmq.EVENT_DISCONNECTED
_Take = Callable[[bytes, Message], None]
"""Takes who sent a message, and the message."""


@dataclass(slots=True)
class _Peer:
    """A connection that is registered or subscribed.

    Attributes:
        fd: Its TCP socket.
        heard_s: When, on the monotonic clock, it sent something.
        pinged_s: When it was pinged.
        outbox: What ZeroMQ did not take yet.
        outbox_bytes: Its size.
        moved_s: When ZeroMQ last took something, or had nothing to take.
    """

    fd: int
    heard_s: float
    pinged_s: float = 0.0
    outbox: deque[bytes] = field(default_factory=deque)
    outbox_bytes: int = 0
    moved_s: float = 0.0


class Connections:
    """Listens from the beginning; implements `link.Link`; used by the port's thread but for `wake`.

    Args:
        endpoint: `tcp://HOST:PORT`; port 0 takes a free one.
        lost: Called with a connection that is gone, once it was registered or subscribed.

    Raises:
        RejectedError: The endpoint cannot be had.
    """

    def __init__(self, endpoint: str, lost: Callable[[bytes], None]) -> None:
        self._context = zmq.Context()
        self._socket = self._context.socket(zmq.ROUTER)
        self._monitor = self._socket.get_monitor_socket(_CLOSING_EVENTS)
        try:
            _bind(self._socket, endpoint)
        except zmq.ZMQError as error:
            self._end()
            why = os.strerror(error.errno or 0)
            raise RejectedError(f"cannot listen on {endpoint}: {why}") from error
        self.endpoint = self._socket.getsockopt_string(zmq.LAST_ENDPOINT)
        self._waker, self._woken = socket.socketpair()
        for end in (self._waker, self._woken):
            end.setblocking(False)  # noqa: FBT003  # the standard library has it so
        self._poller = zmq.Poller()
        for each in (self._socket, self._monitor):
            self._poller.register(each, zmq.POLLIN)
        self._poller.register(self._woken, zmq.POLLIN)
        self._lost = lost
        self._fds: set[int] = set()
        self._strangers: dict[int, float] = {}  # those of no peer, and when they were heard
        self._peers: dict[bytes, _Peer] = {}

    def wake(self) -> None:
        """End a `wait`; any thread."""
        with contextlib.suppress(BlockingIOError):  # full: it is being woken already
            self._waker.send(b"\0")

    def wait(self, timeout_s: float) -> None:
        """Return when there is something to do, or after `timeout_s` seconds."""
        self._poller.poll(math.ceil(timeout_s * 1000))
        with contextlib.suppress(BlockingIOError):
            self._woken.recv(4096)

    def close(self) -> None:
        """Let go of the endpoint; doing so again is nothing."""
        if not self._socket.closed:
            self._waker.close()
            self._woken.close()
            self._end()

    def send(
        self, identity: bytes, kind: Message.MessageType, content: Content, correlation_id: str
    ) -> bool:
        """See `Link.send`."""
        envelope = Message(
            message_type=kind, correlation_id=correlation_id, content=content.SerializeToString()
        )
        wire = envelope.SerializeToString()
        peer = self._peers.get(identity)
        if peer is not None and peer.outbox:
            return self._keep(identity, peer, wire)
        try:
            self._socket.send_multipart([identity, wire], zmq.NOBLOCK)
        except zmq.Again:
            return peer is not None and self._keep(identity, peer, wire)
        except zmq.ZMQError:
            return False
        return True

    def hang_up(self, identity: bytes) -> None:
        """See `Link.hang_up`."""
        peer = self._peers.get(identity)
        if peer is not None:
            self._shut(peer.fd)

    def is_behind(self, identity: bytes) -> bool:
        """Say whether something is kept for a connection that it has not taken yet."""
        peer = self._peers.get(identity)
        return peer is not None and bool(peer.outbox)

    def watch(self) -> None:
        """Take note of connections that came and went."""
        while self._monitor.poll(0):
            event = recv_monitor_message(self._monitor)
            fd = event["value"]
            if event["event"] == zmq.EVENT_ACCEPTED:
                self._fds.add(fd)
                if len(self._fds) > PEERS_MAX:
                    self._shut(fd)
                if all(peer.fd != fd for peer in self._peers.values()):
                    self._strangers[fd] = time.monotonic()
            else:
                self._fds.discard(fd)
                self._strangers.pop(fd, None)
                for identity in [name for name, peer in self._peers.items() if peer.fd == fd]:
                    self._lose(identity)

    def receive(self, take: _Take) -> bool:
        """Give messages to `take`, with who sent each; return whether there may be more."""
        for _ in range(TURN_MESSAGES):
            try:
                frames = self._socket.recv_multipart(zmq.NOBLOCK, copy=False)
            except zmq.Again:
                return False
            identity, *rest = frames
            if len(rest) != 1:
                _LOG.debug("message of %d frames, expected 1", len(rest))
            elif not rest[0].bytes:  # a probe, which the validator echoes
                with contextlib.suppress(zmq.ZMQError):
                    self._socket.send_multipart([identity.bytes, b""], zmq.NOBLOCK)
            else:
                self._take(identity.bytes, rest[0], take)
        return True

    def beat(self) -> None:
        """Ping who is silent; give up who stays so, or who reads nothing."""
        now = time.monotonic()
        for fd in [fd for fd, heard_s in self._strangers.items() if now - heard_s > STRANGER_MAX_S]:
            _LOG.warning("a connection neither registers nor subscribes")
            del self._strangers[fd]
            self._shut(fd)
        for identity, peer in tuple(self._peers.items()):
            stalled = peer.outbox and now - peer.moved_s > STALL_MAX_S
            if stalled or now - peer.heard_s > SILENCE_MAX_S:
                _LOG.warning("a peer is %s", "not reading" if stalled else "silent")
                self._shut(peer.fd)
                self._lose(identity)
            elif now - max(peer.heard_s, peer.pinged_s) > HEARTBEAT_S:
                peer.pinged_s = now
                self.send(identity, Message.PING_REQUEST, PingRequest(), uuid.uuid4().hex)

    def flush(self) -> bool:
        """Send what is kept for connections; return whether something is left."""
        left = [self._flush(identity) for identity in tuple(self._peers)]  # all get their turn
        return any(left)

    def _keep(self, identity: bytes, peer: _Peer, wire: bytes) -> bool:
        if peer.outbox_bytes + len(wire) > OUTBOX_BYTES_MAX:
            _LOG.warning("a peer leaves more than %d bytes unread", OUTBOX_BYTES_MAX)
            self.hang_up(identity)
            return False
        if not peer.outbox:
            peer.moved_s = time.monotonic()
        peer.outbox.append(wire)
        peer.outbox_bytes += len(wire)
        return True

    def _take(self, identity: bytes, frame: zmq.Frame, take: _Take) -> None:
        try:
            message = Message.FromString(frame.bytes)
            if len(message.correlation_id) > CORRELATION_CHARS_MAX:
                raise RejectedError(f"correlation id of {len(message.correlation_id)} characters")
            self._meet(identity, int(frame.get(zmq.SRCFD)), message.message_type)
            take(identity, message)
        except DecodeError as error:
            _LOG.debug("message that is none: %s", error)
        except WaysealError as error:
            _LOG.warning("message not answered: %s", error)

    def _meet(self, identity: bytes, fd: int, kind: Message.MessageType) -> None:
        """Know who registers or subscribes, and when one was last heard of."""
        peer = self._peers.get(identity)
        if peer is not None and peer.fd != fd:  # came back before it was missed
            self._lose(identity)
            peer = None
        if peer is not None:
            peer.heard_s = time.monotonic()
        elif kind in _KNOWN_BY:
            self._peers[identity] = _Peer(fd, time.monotonic())
            self._strangers.pop(fd, None)
        elif fd in self._strangers:
            self._strangers[fd] = time.monotonic()

    def _flush(self, identity: bytes) -> bool:
        """Send what is kept for a connection; return whether something is left."""
        peer = self._peers.get(identity)
        while peer is not None and peer.outbox:
            try:
                self._socket.send_multipart([identity, peer.outbox[0]], zmq.NOBLOCK)
            except zmq.Again:
                return True
            except zmq.ZMQError:
                self._lose(identity)
                return False
            peer.outbox_bytes -= len(peer.outbox.popleft())
            peer.moved_s = time.monotonic()
        return False

    def _lose(self, identity: bytes) -> None:
        self._peers.pop(identity, None)
        self._lost(identity)

    def _shut(self, fd: int) -> None:
        """End a connection, whose number may mean another one by now, but only one of ours."""
        with (
            contextlib.suppress(OSError),
            socket.socket(fileno=os.dup(fd)) as connection,
        ):
            if connection.getsockname()[1] == int(self.endpoint.rpartition(":")[2]):
                connection.shutdown(socket.SHUT_RDWR)

    def _end(self) -> None:
        self._socket.disable_monitor()
        self._monitor.close(linger=0)
        self._socket.close(linger=0)
        self._context.term()


def _bind(listener: "zmq.Socket[bytes]", endpoint: str) -> None:
    options = {
        zmq.ROUTER_MANDATORY: 1,  # an error, rather than nothing, when a peer is gone or full
        zmq.ROUTER_HANDOVER: 1,  # who comes back is met again, even before it is missed
        zmq.IPV6: int("[" in endpoint),
        zmq.MAXMSGSIZE: MESSAGE_BYTES_MAX,
        zmq.SNDHWM: QUEUED_MESSAGES_MAX,
        zmq.RCVHWM: QUEUED_MESSAGES_MAX,
        zmq.HEARTBEAT_IVL: int(HEARTBEAT_S * 1000),  # finds a dead host, where no socket closes
        zmq.HEARTBEAT_TIMEOUT: int(STALL_MAX_S * 1000),
        zmq.LINGER: 0,
    }
    for option, value in options.items():
        listener.setsockopt(option, value)
    listener.bind(endpoint)
