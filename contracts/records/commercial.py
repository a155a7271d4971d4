"""Commercial fields: on the ledger, which all members read, only their salted hashes.

Without the salt, whoever guesses a price could check the guess against the hash.
"""

import hashlib
from typing import Final

SALT_BYTES: Final = 16


def commit(text: str, salt: bytes) -> bytes:
    """Return what goes on the ledger for `text`: SHA-256 over salt and UTF-8 text, 32 bytes.

    Args:
        text: The plaintext, as both sides agreed on it.
        salt: 16 random bytes, used for this text alone.
    """
    return hashlib.sha256(salt + text.encode()).digest()


def matches(sha256: bytes, text: str, salt: bytes) -> bool:
    """Say whether `sha256`, from the ledger, stands for `text` under `salt`."""
    return len(salt) == SALT_BYTES and commit(text, salt) == sha256
