"""How a message proves its sender: a MAC for each receiver, or one signature for all."""

import hashlib
import hmac
from typing import Final, Protocol

from contracts.keys import Signer, verify

MAC_BYTES: Final = 16


class Authenticator(Protocol):
    """Proves and checks who sent a message, between replicas and one client."""

    def prove(self, body: bytes) -> bytes:
        """Return the proof of a message of this replica, for all others."""
        ...

    def holds(self, body: bytes, proof: bytes, sender: int) -> bool:
        """Say whether a message is its sender's, to this replica."""
        ...


class Macs:
    """Implements `Authenticator`: keyed BLAKE2b, one key for each pair.

    Args:
        own: Number of this replica, or of the client.
        everyone: Numbers of all, in the order of the MACs.
    """

    def __init__(self, own: int, everyone: tuple[int, ...]) -> None:
        self._own = own
        self._place = everyone.index(own) * MAC_BYTES
        self._keys = {other: _pair(own, other) for other in everyone}

    def prove(self, body: bytes) -> bytes:
        """See `Authenticator.prove`."""
        return b"".join(_mac(secret, body) for secret in self._keys.values())

    def holds(self, body: bytes, proof: bytes, sender: int) -> bool:
        """See `Authenticator.holds`."""
        secret = self._keys.get(sender)
        mine = proof[self._place : self._place + MAC_BYTES]
        return secret is not None and hmac.compare_digest(mine, _mac(secret, body))


class Signatures:
    """Implements `Authenticator`: ECDSA over secp256k1, as elsewhere in this project.

    Args:
        own: Number of this replica, or of the client.
        everyone: Numbers of all.
    """

    def __init__(self, own: int, everyone: tuple[int, ...]) -> None:
        self._own = signer_of(own)
        self._keys = {other: signer_of(other).public_key for other in everyone}

    def prove(self, body: bytes) -> bytes:
        """See `Authenticator.prove`."""
        return bytes.fromhex(self._own.sign(body))

    def holds(self, body: bytes, proof: bytes, sender: int) -> bool:
        """See `Authenticator.holds`."""
        public_key = self._keys.get(sender)
        return public_key is not None and verify(public_key, proof.hex(), body)


def authenticator(kind: str, own: int, everyone: tuple[int, ...]) -> Authenticator:
    """Return the authenticator of a kind, `macs` or `signatures`."""
    return Macs(own, everyone) if kind == "macs" else Signatures(own, everyone)


def signer_of(number: int) -> Signer:
    """Return the key pair of a replica or of the client."""
    # Not by `fleet.key`: each replica would import all that signs readings.
    return Signer.from_hex(hashlib.sha256(f"wayseal bench pbft {number}".encode()).hexdigest())


def _pair(one: int, other: int) -> bytes:
    low, high = sorted((one, other))
    return hashlib.sha256(f"wayseal bench pbft {low} {high}".encode()).digest()


def _mac(secret: bytes, body: bytes) -> bytes:
    return hashlib.blake2b(body, key=secret, digest_size=MAC_BYTES).digest()
