"""MQTT 3.1.1 packets on a plain socket, for clients that no library would be."""

import socket
from typing import Final, Self

DEADLINE_S: Final = 30.0
CONNECT: Final = 0x10
PUBLISH: Final = 0x30
SUBSCRIBE: Final = 0x82
ACCEPTED: Final = b"\x20\x02\x00\x00"


def packet(head: int, body: bytes) -> bytes:
    """Return a control packet with its length (MQTT 3.1.1, 2.2.3)."""
    length, size = b"", len(body)
    while True:
        size, digit = divmod(size, 128)
        length += bytes([digit | (0x80 if size else 0)])
        if not size:
            return bytes([head]) + length + body


def text(words: str) -> bytes:
    """Return a string with its length (1.5.3)."""
    return len(words.encode()).to_bytes(2, "big") + words.encode()


def connect(client_id: str, name: str = "", password: str = "", *, clean: bool = True) -> bytes:
    """Return CONNECT with a keepalive of a minute; without a name it is anonymous."""
    flags = (0xC0 if name else 0) | (0x02 if clean else 0)
    who = text(name) + text(password) if name else b""
    return packet(CONNECT, text("MQTT") + bytes([4, flags, 0, 60]) + text(client_id) + who)


def publish(topic: str, payload: bytes, *, qos: int = 0, ticket: int = 1) -> bytes:
    """Return PUBLISH."""
    named = ticket.to_bytes(2, "big") if qos else b""
    return packet(PUBLISH | qos << 1, text(topic) + named + payload)


def subscribe(*topics: str, qos: int = 0) -> bytes:
    """Return SUBSCRIBE."""
    wanted = b"".join(text(name) + bytes([qos]) for name in topics)
    return packet(SUBSCRIBE, b"\0\1" + wanted)


class RawClient:
    """A connection that sends what it is told, and reads nothing unless told."""

    def __init__(self, address: str, first: bytes = b"") -> None:
        host, port = address.rsplit(":", 1)
        self.socket = socket.socket()
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        self.socket.settimeout(DEADLINE_S)
        self.socket.connect((host, int(port)))
        if first:
            self.socket.sendall(first)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.socket.close()

    def answer(self) -> bytes:
        """Return the next four bytes; fewer if the connection ended."""
        got = b""
        try:
            while len(got) < len(ACCEPTED) and (part := self.socket.recv(len(ACCEPTED) - len(got))):
                got += part
        except ConnectionResetError:
            return b""
        return got

    def send(self, *packets: bytes) -> bool:
        """Send packets; say whether the connection took them all."""
        try:
            for each in packets:
                self.socket.sendall(each)
        except (ConnectionError, TimeoutError):
            return False
        return True
