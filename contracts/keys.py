"""secp256k1 keys and signatures.

Signatures are Sawtooth's: 64 bytes r ‖ s, compact, low s, over the SHA-256 of
the message, with the deterministic nonce of RFC 6979. Keys are 33 byte
compressed points. Only libsecp256k1 verifies: it refuses the high-s twin that
OpenSSL accepts, and two verifiers would disagree on which signatures are valid.
"""

import hashlib
import hmac
import os
import re
import tempfile
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Final, Protocol, Self

import coincurve
from coincurve._libsecp256k1 import ffi, lib  # type: ignore[import-not-found]  # compiled, no types
from coincurve.context import GLOBAL_CONTEXT

from contracts.errors import RejectedError, UnavailableError
from contracts.runtime.files import (
    check_private,
    disk_errors,
    give_to_owner_of,
    make_directory,
    sync_directory,
)

PRIVATE_KEY_HEX: Final = 64
SIGNATURE_BYTES: Final = 64
NOT_OF_A_DEVICE: Final = "never was a key of a registered device"
"""How ledger and gateway refuse an unregistered truck's key; the truck then says what to do."""
_REMEMBERED: Final = 4096
"""Public keys that are kept parsed; a hostile sender of many keys cannot grow them."""
_PUBLIC_KEY: Final = re.compile(r"0[23][0-9a-f]{64}")
_PRIVATE_KEY: Final = re.compile(rf"[0-9a-fA-F]{{{PRIVATE_KEY_HEX}}}")
_SIGNATURE: Final = re.compile(r"[0-9a-f]{128}")


def is_public_key(text: str) -> bool:
    """Say whether `text` has the form of a compressed public key, lower-case hexadecimal."""
    return _PUBLIC_KEY.fullmatch(text) is not None


def is_point(text: str) -> bool:
    """Say whether `text` is a public key that has a private half: a point of the curve."""
    return is_public_key(text) and point(text) is not None


def is_signature(text: str) -> bool:
    """Say whether `text` has the form of a signature, 128 lower-case hexadecimal digits."""
    return _SIGNATURE.fullmatch(text) is not None


class SigningKey(Protocol):
    """A key that signs, wherever its private half is; may be used by several threads."""

    @property
    def public_key(self) -> str:
        """Return the public half: a compressed point, 66 hexadecimal digits."""
        ...

    def sign(self, message: bytes) -> str:
        """Return a signature over `message` that `verify` takes, 128 hexadecimal digits.

        Two calls need not return the same one.

        Raises:
            RejectedError: The key is another one now, or its keeper refuses us for good.
            UnavailableError: The key's keeper does not answer; nothing was signed.
        """
        ...


@dataclass(frozen=True, slots=True, repr=False)
class Signer:
    """A private key in a file, and its public half; implements `SigningKey`.

    Attributes:
        public_key: Compressed point, 66 hexadecimal digits.
    """

    _key: coincurve.PrivateKey
    public_key: str

    @classmethod
    def generate(cls) -> Self:
        """Make a new random key."""
        return cls._of(coincurve.PrivateKey())

    @classmethod
    def from_hex(cls, text: str) -> Self:
        """Read a private key from 64 hexadecimal digits.

        Raises:
            RejectedError: Wrong form, or outside the group order. The text is never echoed.
        """
        expected = (
            f"a private key is {PRIVATE_KEY_HEX} hexadecimal digits within the group order; "
            f"got {len(text)} other characters"
        )
        if not _PRIVATE_KEY.fullmatch(text):  # bytes.fromhex would skip white space
            raise RejectedError(expected)
        try:
            return cls._of(coincurve.PrivateKey(bytes.fromhex(text)))
        except ValueError as error:
            raise RejectedError(expected) from error

    @classmethod
    def load(cls, path: Path) -> Self:
        """Read the key file at `path`: one line of 64 hexadecimal digits.

        Raises:
            RejectedError: The file is missing, unreadable, readable by others, or not a key.
        """
        try:
            check_private("key file", path)
            text = path.read_text("ascii")
        except (OSError, UnicodeDecodeError) as error:
            raise RejectedError(f"key file {path}: {error}") from error
        try:
            return cls.from_hex(text.strip())
        except RejectedError as error:
            raise RejectedError(f"key file {path}: {error}") from error

    def save(self, path: Path) -> None:
        """Write the key to a new file that only its owner can read; durable on return.

        After a power cut the file is whole or missing: half a key would count as damaged and
        stop its owner for good.

        Raises:
            RejectedError: The file exists; a key is never overwritten.
            UnavailableError: The disk is full or fails; no file is left.
        """
        try:
            descriptor, draft = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
            try:
                with os.fdopen(descriptor, "wb") as file:
                    give_to_owner_of(path.parent, descriptor)
                    file.write(self._key.to_hex().encode("ascii") + b"\n")
                    file.flush()
                    os.fsync(descriptor)
                os.link(draft, path)  # unlike a rename, it fails when the name is taken
            finally:
                Path(draft).unlink()
            sync_directory(path.parent)
        except FileExistsError as error:
            raise RejectedError(f"key file {path} exists and is not overwritten") from error
        except OSError as error:
            raise UnavailableError(f"key file {path}: {error}") from error

    @classmethod
    def load_or_create(cls, path: Path) -> Self:
        """Read the key file at `path`; make it if it is missing.

        Raises:
            RejectedError: The file does not hold a key, or others may read it.
            UnavailableError: The file cannot be made, or the medium failed.
        """
        with disk_errors("look at", path):
            exists = path.exists()
        if exists:
            return cls.load(path)
        signer = cls.generate()
        make_directory(path.parent)
        signer.save(path)
        return signer

    def sign(self, message: bytes) -> str:
        """Return the signature over `message`, 128 hexadecimal digits.

        Source: Sawtooth 1.2, sawtooth_signing.secp256k1; RFC 6979.
        """
        return self._key.sign_recoverable(message)[:SIGNATURE_BYTES].hex()

    def secret(self, purpose: bytes) -> bytes:
        """Return 32 bytes that only the key's owner can compute, others for each `purpose`.

        They tell nothing about the key, nor about those for another purpose.

        Source: RFC 2104, HMAC with SHA-256 and the private key as its key.
        """
        return hmac.digest(self._key.secret, purpose, hashlib.sha256)

    @classmethod
    def _of(cls, key: coincurve.PrivateKey) -> Self:
        return cls(key, key.public_key.format().hex())


@lru_cache(maxsize=_REMEMBERED)
def point(public_key: str) -> coincurve.PublicKey | None:
    """Return the parsed key, or None if it is not a point of the curve.

    Cached, since decompressing a point costs as much as a hash.

    Args:
        public_key: A text in the right form, so that no long text stays in the cache.
    """
    try:
        return coincurve.PublicKey(bytes.fromhex(public_key))
    except ValueError:
        return None


def compressed(uncompressed: bytes) -> str:
    """Return a public key, 66 hexadecimal digits, from its point: 0x04, x, y.

    Raises:
        RejectedError: It is not a point of the curve.
    """
    try:
        return coincurve.PublicKey(uncompressed).format().hex()
    except ValueError as error:
        raise RejectedError(
            f"expected a point of secp256k1, 65 bytes, got {uncompressed[:80].hex()}"
        ) from error


def low_s(signature: bytes) -> str:
    """Return a compact signature as Sawtooth wants it, 128 hexadecimal digits.

    Of the two values of s that are valid to ECDSA, Sawtooth takes the lower one only.

    Raises:
        RejectedError: It is not r and s, 32 bytes each and below the group order.
    """
    form = ffi.new("secp256k1_ecdsa_signature *")
    context = GLOBAL_CONTEXT.ctx
    if len(signature) != SIGNATURE_BYTES or not lib.secp256k1_ecdsa_signature_parse_compact(
        context, form, signature
    ):
        raise RejectedError(f"expected a signature, r and s, got {signature[:80].hex()}")
    lib.secp256k1_ecdsa_signature_normalize(context, form, form)
    wire = ffi.new(f"unsigned char[{SIGNATURE_BYTES}]")
    lib.secp256k1_ecdsa_signature_serialize_compact(context, wire, form)
    return bytes(ffi.buffer(wire)).hex()


def verify(public_key: str, signature: str, message: bytes) -> bool:
    """Say whether the owner of `public_key` made `signature` over `message`.

    A malformed key or signature, a high-s signature included, is not valid. Releases the global
    interpreter lock while it verifies.
    """
    if not is_public_key(public_key) or not is_signature(signature):
        return False
    key = point(public_key)
    if key is None:
        return False
    # Not coincurve's own verify: it takes DER, so the signature would be converted there and back,
    # and each step would release the interpreter's lock and have to win it back.
    form = ffi.new("secp256k1_ecdsa_signature *")
    context = GLOBAL_CONTEXT.ctx
    if not lib.secp256k1_ecdsa_signature_parse_compact(context, form, bytes.fromhex(signature)):
        return False
    digest = hashlib.sha256(message).digest()
    return bool(lib.secp256k1_ecdsa_verify(context, form, digest, key.public_key))
