"""The socket of the component port and its connections.

A connection is a stranger until its peer registers or subscribes. Strangers make
room for each other, so silent ones keep nobody out.

Adapter: the only importer of ZeroMQ in the node. A message is one frame, an
envelope; anything else is dropped. Nothing here waits for a peer: messages
that a peer does not read are kept up to a limit, then its connection is closed.

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
import zmq.utils.z85
from google.protobuf.message import DecodeError
from google.protobuf.message import Message as Content
from zmq.utils.monitor import recv_monitor_message

from contracts.errors import RejectedError, WaysealError
from contracts.ledger.component.listening import IPC, Listening, private_socket
from contracts.proto.component_pb2 import Message, PingRequest

_LOG = logging.getLogger(__name__)

PEERS_MAX: Final = 150
"""Connections that registered or subscribed; one more is refused, unless another one is quiet."""
STRANGERS_MAX: Final = 50
"""Connections that did neither; with one more, the oldest of them is closed."""
QUIET_S: Final = 30.0
"""Silence, seconds, after which a peer loses its place to another one: it left pings unanswered."""
HANDSHAKE_S: Final = 10.0
"""Time, seconds, for a connection to say that it speaks ZeroMQ, and to prove its key."""
MESSAGE_BYTES_MAX: Final = 17 << 20
"""One frame: a state value with its address. ZeroMQ closes a connection that sends more."""
CORRELATION_CHARS_MAX: Final = 256
QUEUED_MESSAGES_MAX: Final = 16
"""Messages of one connection that ZeroMQ keeps, each way."""
OUTBOX_BYTES_MAX: Final = 32 << 20
"""Bytes kept for one connection besides those messages; with more, it is closed."""
STALL_MAX_S: Final = 30.0
"""Time, seconds, after which a connection that reads none of the kept bytes is closed."""
HEARTBEAT_S: Final = 10.0
"""Silence, seconds, after which a processor or subscriber is pinged, repeatedly."""
SILENCE_MAX_S: Final = 120.0
"""Silence, seconds, after which it counts as lost."""
STRANGER_MAX_S: Final = 60.0
"""Silence, seconds, after which a connection that is neither registered nor subscribed is closed:
another one may need its place."""
TURN_MESSAGES: Final = 100
"""Messages, connections or keys that are handled before all other work gets its turn."""
_GATE: Final = "inproc://zeromq.zap.01"
"""Where ZeroMQ asks about CURVE keys."""
_KNOWN_BY: Final = (Message.TP_REGISTER_REQUEST, Message.CLIENT_EVENTS_SUBSCRIBE_REQUEST)
_CLOSING_EVENTS: Final = zmq.EVENT_ACCEPTED | zmq.EVENT_DISCONNECTED
_Take = Callable[[bytes, Message], None]
"""Takes the identity of a message's sender, and the message."""


@dataclass(slots=True)
class _Peer:
    """A connection that asked to register or to subscribe.

    Attributes:
        fd: Its socket.
        heard_s: Last time, on the monotonic clock, that it sent something.
        pinged_s: Last time that it was pinged.
        outbox: Messages that ZeroMQ did not take yet.
        outbox_bytes: Their size.
        moved_s: Last time that ZeroMQ took a message, or that the outbox was empty.
        admitted: Whether it was let in, and is not a stranger any more.
    """

    fd: int
    heard_s: float
    pinged_s: float = 0.0
    outbox: deque[bytes] = field(default_factory=deque)
    outbox_bytes: int = 0
    moved_s: float = 0.0
    admitted: bool = False


class Connections:
    """Listens from its construction; for the port's thread, except `wake`.

    Args:
        listening: Where to listen; port 0 takes a free one.
        lost: Called with the identity of a lost connection that had registered or subscribed.

    Raises:
        RejectedError: The endpoint cannot be bound.
        UnavailableError: The directory of a Unix socket cannot be written.
    """

    def __init__(self, listening: Listening, lost: Callable[[bytes], None]) -> None:
        self._context = zmq.Context()
        self._gate = self._context.socket(zmq.REP)
        self._clients = {zmq.utils.z85.decode(key) for key in listening.client_keys}
        self._socket = self._context.socket(zmq.ROUTER)
        self._monitor = self._socket.get_monitor_socket(_CLOSING_EVENTS)
        try:
            self._gate.bind(_GATE)
            _bind(self._socket, listening)
        except zmq.ZMQError as error:
            self._end()
            why = os.strerror(error.errno or 0)
            raise RejectedError(f"cannot listen on {listening.endpoint}: {why}") from error
        except WaysealError:
            self._end()
            raise
        secret = listening.secret_key
        self.public_key = None if secret is None else zmq.curve_public(secret.encode()).decode()
        """CURVE public key of the port, Z85; None without CURVE."""
        self.endpoint = self._socket.getsockopt_string(zmq.LAST_ENDPOINT)
        self._waker, self._woken = socket.socketpair()
        for end in (self._waker, self._woken):
            end.setblocking(False)  # noqa: FBT003  # the standard library's signature
        self._poller = zmq.Poller()
        for each in (self._socket, self._monitor, self._gate):
            self._poller.register(each, zmq.POLLIN)
        self._poller.register(self._woken, zmq.POLLIN)
        self._lost = lost
        # Sockets of no peer, and when they last sent something.
        self._strangers: dict[int, float] = {}
        self._peers: dict[bytes, _Peer] = {}

    def wake(self) -> None:
        """End a `wait`; any thread."""
        with contextlib.suppress(BlockingIOError):  # full, so it wakes anyway
            self._waker.send(b"\0")

    def wait(self, timeout_s: float) -> None:
        """Return when there is work, or after `timeout_s` seconds."""
        self._poller.poll(math.ceil(timeout_s * 1000))
        with contextlib.suppress(BlockingIOError):
            self._woken.recv(4096)

    def close(self) -> None:
        """Release the endpoint; safe to repeat."""
        if not self._socket.closed:
            self._waker.close()
            self._woken.close()
            self._end()

    def send(
        self, identity: bytes, kind: Message.MessageType, content: Content, correlation_id: str
    ) -> bool:
        """Send a message without blocking, in order; return False if the connection is gone."""
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
        """Close a connection, so that the peer notices and may connect again."""
        peer = self._peers.get(identity)
        if peer is not None:
            self._shut(peer.fd)

    def is_behind(self, identity: bytes) -> bool:
        """Say whether messages are kept that the connection has not taken yet."""
        peer = self._peers.get(identity)
        return peer is not None and bool(peer.outbox)

    def watch(self) -> None:
        """Handle connections that were opened and closed."""
        for _ in range(TURN_MESSAGES):
            if not self._monitor.poll(0):
                return
            event = recv_monitor_message(self._monitor)
            fd = event["value"]
            if event["event"] == zmq.EVENT_ACCEPTED:
                # Its first message may have come before this news.
                if not any(peer.fd == fd and peer.admitted for peer in self._peers.values()):
                    self._strangers[fd] = time.monotonic()
                if len(self._strangers) > STRANGERS_MAX:
                    oldest = next(iter(self._strangers))
                    del self._strangers[oldest]
                    self._shut(oldest)
            else:
                self._strangers.pop(fd, None)
                for identity in [name for name, peer in self._peers.items() if peer.fd == fd]:
                    self._lose(identity)

    def authenticate(self) -> None:
        """Say of connections under way whether their CURVE keys may connect.

        Source: ZeroMQ RFC 27 (ZAP), "Response Format".
        """
        for _ in range(TURN_MESSAGES):
            if not self._gate.poll(0):
                return
            version, request_id, _, _, _, mechanism, *credentials = self._gate.recv_multipart()
            known = mechanism == b"CURVE" and credentials[0] in self._clients
            if not known:
                _LOG.warning("a CURVE key that is not permitted")
            status = (b"200", b"OK") if known else (b"400", b"not permitted")
            self._gate.send_multipart([version, request_id, *status, b"", b""])

    def admit(self, identity: bytes) -> bool:
        """Let a connection in that registers or subscribes; return False if there is no room.

        A peer that left pings unanswered loses its place.
        """
        peer = self._peers.get(identity)
        if peer is None or peer.admitted:
            return peer is not None
        inside = {name: each for name, each in self._peers.items() if each.admitted}
        if len(inside) >= PEERS_MAX:
            quietest = min(inside, key=lambda name: inside[name].heard_s)
            if time.monotonic() - inside[quietest].heard_s <= QUIET_S:
                return False
            _LOG.warning("a quiet peer makes room for another one")
            self._shut(inside[quietest].fd)
            self._lose(quietest)
        peer.admitted = True
        self._strangers.pop(peer.fd, None)
        return True

    def receive(self, take: _Take) -> bool:
        """Pass messages to `take`, with their senders; return whether there may be more."""
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
        """Ping silent peers; close connections that stay silent or read nothing."""
        now = time.monotonic()
        for fd in [fd for fd, heard_s in self._strangers.items() if now - heard_s > STRANGER_MAX_S]:
            _LOG.warning("closing a connection that neither registers nor subscribes")
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
        """Send kept messages; return whether some are left."""
        left = [self._flush(identity) for identity in tuple(self._peers)]
        return any(left)  # only now: every peer gets its turn

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
            self._meet(identity, _fd_of(frame), message.message_type)
            take(identity, message)
        except DecodeError as error:
            _LOG.debug("malformed message: %s", error)
        except WaysealError as error:
            _LOG.warning("message not answered: %s", error)

    def _meet(self, identity: bytes, fd: int, kind: Message.MessageType) -> None:
        """Remember peers that ask to register or subscribe, and when they last sent something."""
        peer = self._peers.get(identity)
        if peer is not None and peer.fd != fd:  # reconnected before the loss was noticed
            self._lose(identity)
            peer = None
        if peer is not None:
            peer.heard_s = time.monotonic()
        elif kind in _KNOWN_BY:
            self._peers[identity] = _Peer(fd, time.monotonic())
        if fd in self._strangers:
            self._strangers[fd] = time.monotonic()

    def _flush(self, identity: bytes) -> bool:
        """Send messages kept for a connection; return whether some are left."""
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
        """Close a socket, if it is still a connection of this port."""
        with (
            contextlib.suppress(OSError),
            socket.socket(fileno=os.dup(fd)) as connection,
        ):
            if _is_of(connection.getsockname(), self.endpoint):
                connection.shutdown(socket.SHUT_RDWR)

    def _end(self) -> None:
        self._gate.close(linger=0)
        self._socket.disable_monitor()
        self._monitor.close(linger=0)
        self._socket.close(linger=0)
        self._context.term()


def new_curve_key() -> tuple[bytes, bytes]:
    """Return a new public CURVE key and its secret key, Z85."""
    return zmq.curve_keypair()


def _is_of(name: object, endpoint: str) -> bool:
    """Say whether a socket's own name is that of a connection of this endpoint."""
    if isinstance(name, tuple):
        return str(name[1]) == endpoint.rpartition(":")[2]
    return name == endpoint.removeprefix(IPC)


def _fd_of(frame: zmq.Frame) -> int:
    """Return the socket that a message came from.

    Raises:
        RejectedError: ZeroMQ does not know, since the peer did not say what it is.
    """
    try:
        return int(frame.get(zmq.SRCFD))
    except zmq.ZMQError as error:
        raise RejectedError("expected ZMTP 3 (ZeroMQ 4), got an older protocol") from error


def _bind(listener: "zmq.Socket[bytes]", listening: Listening) -> None:
    options = {
        zmq.ROUTER_MANDATORY: 1,  # sending to a lost or full peer is an error
        zmq.ROUTER_HANDOVER: 1,  # a peer may reconnect before its loss is noticed
        zmq.IPV6: int("[" in listening.endpoint),
        zmq.MAXMSGSIZE: MESSAGE_BYTES_MAX,
        zmq.SNDHWM: QUEUED_MESSAGES_MAX,
        zmq.RCVHWM: QUEUED_MESSAGES_MAX,
        zmq.HEARTBEAT_IVL: int(HEARTBEAT_S * 1000),  # finds a dead host, where no socket closes
        zmq.HEARTBEAT_TIMEOUT: int(STALL_MAX_S * 1000),
        zmq.HANDSHAKE_IVL: int(HANDSHAKE_S * 1000),
        zmq.LINGER: 0,
    }
    for option, value in options.items():
        listener.setsockopt(option, value)
    if listening.secret_key is not None:
        listener.curve_server = True
        listener.curve_secretkey = listening.secret_key.encode()
    if listening.path is None:
        listener.bind(listening.endpoint)
    else:
        with private_socket(listening.path):
            listener.bind(listening.endpoint)
