"""Accesses: a gateway's record of readers of evidence and video; each entry names the one before.

Who keeps a signed head can tell whether an entry up to it was left out or changed later.
"""

import hashlib
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Final

from contracts.encoding import parse
from contracts.errors import RejectedError
from contracts.keys import SigningKey
from contracts.proto.access_pb2 import Access, AccessHead, AccessHeadBody
from contracts.statement import StatementKind

_HEAD: Final = StatementKind("access head", AccessHead, AccessHeadBody, b"wayseal access head 1\n")


def access_hash(wire: bytes) -> bytes:
    """Return the hash by which the next access names this one, 32 bytes."""
    return hashlib.sha256(wire).digest()


def sign_head(signer: SigningKey, body: AccessHeadBody) -> AccessHead:
    """Return `body` under the gateway's signature."""
    return _HEAD.sign(signer, body)


def open_head(head: AccessHead, trusted_keys: Collection[str]) -> AccessHeadBody:
    """Check the signature of a head and return its body; see `StatementKind.open`."""
    return _HEAD.open(head, trusted_keys)


def problems(wires: Iterable[tuple[int, bytes]], heads: Iterable[AccessHeadBody]) -> Iterator[str]:
    """Yield what does not hold of a record of accesses.

    Args:
        wires: Number and canonical bytes of each access, oldest first.
        heads: Heads that were kept; the record must lead to each.
    """
    kept = list(heads)
    asked = {head.number for head in kept}
    hashes: dict[int, bytes] = {0: b""}
    before = b""
    expected = 1
    for number, wire in wires:
        if number != expected:
            yield f"expected access {expected}, got {number}: entries are missing"
        try:
            access = parse(Access, wire)
        except RejectedError as error:
            yield f"access {number} is malformed: {error}"
        else:
            if access.number != number:
                yield f"access {number} says that it is number {access.number}"
            if access.before_sha256 != before and number == expected:
                yield f"access {number} does not name the one before it"
        before = access_hash(wire)
        if number in asked:
            hashes[number] = before
        expected = number + 1
    yield from _not_led_to(kept, hashes)


def _not_led_to(heads: Iterable[AccessHeadBody], hashes: Mapping[int, bytes]) -> Iterator[str]:
    """Yield the heads that a record does not lead to, by the hashes of its accesses."""
    for head in heads:
        found = hashes.get(head.number)
        if found is None:
            yield f"the head of access {head.number} was signed, and that access is missing"
        elif found != head.sha256:
            yield f"access {head.number} is another one than its signed head says"
