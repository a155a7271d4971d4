"""secp256k1 keys: who signed what.

Signatures are Sawtooth's: 64 bytes r ‖ s, compact, low s, over the SHA-256 of
the message, with the deterministic nonce of RFC 6979; keys are 33 byte
compressed points. Only libsecp256k1 verifies: it refuses the high-s twin that
OpenSSL accepts, and mixing verifiers would split what counts as valid.
"""

import hashlib
import os
import re
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Self

import coincurve
from coincurve._libsecp256k1 import ffi, lib  # type: ignore[import-not-found]  # compiled, no types
from coincurve.context import GLOBAL_CONTEXT

from contracts.errors import RejectedError, UnavailableError
from contracts.files import make_directory, sync_directory

PRIVATE_KEY_HEX: Final = 64
SIGNATURE_BYTES: Final = 64
_PUBLIC_KEY: Final = re.compile(r"0[23][0-9a-f]{64}")
_SIGNATURE: Final = re.compile(r"[0-9a-f]{128}")


def is_public_key(text: str) -> bool:
    """Say whether `text` has the form of a compressed public key, lower-case hexadecimal."""
    return _PUBLIC_KEY.fullmatch(text) is not None


def is_point(text: str) -> bool:
    """Say whether `text` is a public key that somebody can have: a point of the curve."""
    return _KEYS.get(text) is not None


def is_signature(text: str) -> bool:
    """Say whether `text` has the form of a signature, 128 lower-case hexadecimal digits."""
    return _SIGNATURE.fullmatch(text) is not None


@dataclass(frozen=True, slots=True, repr=False)
class Signer:
    """A private key and its public half.

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
        """Take the private key written as 64 hexadecimal digits.

        Raises:
            RejectedError: Wrong form, or outside the group order. The text is never echoed.
        """
        expected = (
            f"a private key is {PRIVATE_KEY_HEX} hexadecimal digits within the group order; "
            f"got {len(text)} characters that are not"
        )
        if len(text) != PRIVATE_KEY_HEX:
            raise RejectedError(expected)
        try:
            return cls._of(coincurve.PrivateKey(bytes.fromhex(text)))
        except ValueError as error:
            raise RejectedError(expected) from error

    @classmethod
    def load(cls, path: Path) -> Self:
        """Read the key file at `path`: one line of 64 hexadecimal digits.

        Raises:
            RejectedError: The file is missing, unreadable or holds no key.
        """
        try:
            text = path.read_text("ascii")
        except (OSError, UnicodeDecodeError) as error:
            raise RejectedError(f"key file {path}: {error}") from error
        try:
            return cls.from_hex(text.strip())
        except RejectedError as error:
            raise RejectedError(f"key file {path}: {error}") from error

    def save(self, path: Path) -> None:
        """Write the key to a new file that only its owner can read; durable on return.

        After a power cut there is the whole file or none, since half a key would be taken for a
        damaged one and stop the owner for good.

        Raises:
            RejectedError: The file exists; a key is never overwritten.
            UnavailableError: The disk is full or fails; there is no file.
        """
        try:
            descriptor, draft = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
            try:
                with os.fdopen(descriptor, "wb") as file:
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
        """Read the key file at `path`; make one when there is none.

        Raises:
            RejectedError: The file holds no key.
            UnavailableError: It cannot be made.
        """
        if path.exists():
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

    @classmethod
    def _of(cls, key: coincurve.PrivateKey) -> Self:
        return cls(key, key.public_key.format().hex())


class PublicKeys:
    """Parsed public keys, kept, since decompressing a point costs as much as a hash.

    Bounded: a hostile sender of many keys empties it rather than growing it.
    """

    _LIMIT: Final = 4096

    def __init__(self) -> None:
        self._parsed: dict[str, coincurve.PublicKey] = {}

    def get(self, public_key: str) -> coincurve.PublicKey | None:
        """Return the parsed key, or None when the text is no point of the curve."""
        known = self._parsed.get(public_key)
        if known is None and is_public_key(public_key):
            try:
                known = coincurve.PublicKey(bytes.fromhex(public_key))
            except ValueError:
                return None
            if len(self._parsed) >= self._LIMIT:
                self._parsed.clear()
            self._parsed[public_key] = known
        return known


_KEYS: Final = PublicKeys()


def verify(public_key: str, signature: str, message: bytes) -> bool:
    """Say whether `signature` over `message` was made by the owner of `public_key`.

    Anything malformed, a high-s signature included, is simply not valid. The
    global interpreter lock is released meanwhile.
    """
    key = _KEYS.get(public_key)
    if key is None or not is_signature(signature):
        return False
    # Not coincurve's own verify, which takes DER: both ways between the forms for nothing, and
    # each step gives the interpreter's lock away and must win it back.
    form = ffi.new("secp256k1_ecdsa_signature *")
    context = GLOBAL_CONTEXT.ctx
    if not lib.secp256k1_ecdsa_signature_parse_compact(context, form, bytes.fromhex(signature)):
        return False
    digest = hashlib.sha256(message).digest()
    return bool(lib.secp256k1_ecdsa_verify(context, form, digest, key.public_key))
