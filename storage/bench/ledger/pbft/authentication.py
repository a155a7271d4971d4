"""How a message proves its sender: a MAC for each receiver, or one signature for all."""

import hashlib
import hmac
from collections.abc import Callable, Mapping
from typing import Final, Protocol

from contracts.keys import Signer, verify
from storage.bench.ledger.pbft.messages import CLIENT

MAC_BYTES: Final = 16


class Authenticator(Protocol):
    """Proves and checks the sender of a message, between replicas and one client."""

    def prove(self, head: bytes, *, reply: bool = False) -> bytes:
        """Return the proof of this replica's message: for all other replicas, or for the client.

        Args:
            head: See `Message.head`.
            reply: The message goes to the client alone.
        """
        ...

    def holds(self, head: bytes, proof: bytes, sender: int) -> bool:
        """Say whether a message is its sender's, to this replica or to the client."""
        ...


class Macs:
    """Implements `Authenticator`: keyed BLAKE2b, one key for each pair, a MAC for each receiver.

    Source: Castro and Liskov, "Practical Byzantine Fault Tolerance", 5.2: a vector of MACs for the
    other replicas, and one MAC for the client of a reply.

    Args:
        own: Number of this replica, or of the client.
        everyone: Numbers of all replicas, in the order of the MACs, and of the client.
    """

    def __init__(self, own: int, everyone: tuple[int, ...]) -> None:
        replicas = [number for number in everyone if number != CLIENT]
        self._keys = {other: _pair(own, other) for other in everyone if other != own}
        self._others = [self._keys[other] for other in replicas if other != own]
        self._places = {
            sender: 0 if own == CLIENT else MAC_BYTES * (own - (own > sender))
            for sender in replicas
            if sender != own
        }

    def prove(self, head: bytes, *, reply: bool = False) -> bytes:
        """See `Authenticator.prove`."""
        if reply:
            return _mac(self._keys[CLIENT], head)
        return b"".join(_mac(secret, head) for secret in self._others)

    def holds(self, head: bytes, proof: bytes, sender: int) -> bool:
        """See `Authenticator.holds`."""
        place = self._places.get(sender)
        if place is None:
            return False
        mine = proof[place : place + MAC_BYTES]
        return hmac.compare_digest(mine, _mac(self._keys[sender], head))


class Signatures:
    """Implements `Authenticator`: ECDSA over secp256k1, as elsewhere in this project.

    Args:
        own: Number of this replica, or of the client.
        everyone: Numbers of all.
    """

    def __init__(self, own: int, everyone: tuple[int, ...]) -> None:
        self._own = signer_of(own)
        self._keys = {other: signer_of(other).public_key for other in everyone}

    def prove(self, head: bytes, *, reply: bool = False) -> bytes:
        """See `Authenticator.prove`; one signature convinces everybody."""
        del reply
        return bytes.fromhex(self._own.sign(head))

    def holds(self, head: bytes, proof: bytes, sender: int) -> bool:
        """See `Authenticator.holds`."""
        public_key = self._keys.get(sender)
        return public_key is not None and verify(public_key, proof.hex(), head)


class SignedReplies:
    """Implements `Authenticator`: MACs between replicas, signatures towards the client.

    Args:
        own: Number of this replica, or of the client.
        everyone: As for `Macs`.
    """

    def __init__(self, own: int, everyone: tuple[int, ...]) -> None:
        self._macs = Macs(own, everyone)
        self._signatures = Signatures(own, everyone)
        self._of_replies = own == CLIENT

    def prove(self, head: bytes, *, reply: bool = False) -> bytes:
        """See `Authenticator.prove`."""
        return (self._signatures if reply else self._macs).prove(head, reply=reply)

    def holds(self, head: bytes, proof: bytes, sender: int) -> bool:
        """See `Authenticator.holds`."""
        own = self._signatures if self._of_replies else self._macs
        return own.holds(head, proof, sender)


KINDS: Final[Mapping[str, Callable[[int, tuple[int, ...]], Authenticator]]] = {
    "macs": Macs,
    "macs-internode": SignedReplies,
    "signatures": Signatures,
}
"""By name. Source: papers 001, section V: domain-optimised, MACs between nodes, public keys."""


def signer_of(number: int) -> Signer:
    """Return the key pair of a replica or of the client."""
    # Not by `fleet.key`: each replica would import all that signs readings.
    return Signer.from_hex(hashlib.sha256(f"wayseal bench pbft {number}".encode()).hexdigest())


def _pair(one: int, other: int) -> bytes:
    low, high = sorted((one, other))
    return hashlib.sha256(f"wayseal bench pbft {low} {high}".encode()).digest()


def _mac(secret: bytes, body: bytes) -> bytes:
    return hashlib.blake2b(body, key=secret, digest_size=MAC_BYTES).digest()
