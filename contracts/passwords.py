"""The form in which mosquitto keeps passwords.

Source: mosquitto 2.0, `password_mosq.c` and mosquitto_passwd(1): `$7$`, PBKDF2 with SHA-512.
"""

import hashlib
import re
import secrets
from base64 import b64encode
from typing import Final

ROUNDS: Final = 101
"""mosquitto_passwd's own number. More would cost the broker time for each stranger who connects,
and protect nothing: tokens are 256 random bits."""
_SALT_BYTES: Final = 12
_HASH: Final = re.compile(rf"\$7\${ROUNDS}\$[A-Za-z0-9+/]{{16}}\$[A-Za-z0-9+/]{{86}}==")


def mosquitto_hash(password: str) -> str:
    """Return a line's part after `NAME:` in mosquitto's password file, with a new salt."""
    salt = secrets.token_bytes(_SALT_BYTES)
    digest = hashlib.pbkdf2_hmac("sha512", password.encode(), salt, ROUNDS)
    return f"$7${ROUNDS}${b64encode(salt).decode()}${b64encode(digest).decode()}"


def is_mosquitto_hash(text: str) -> bool:
    """Say whether `text` has the form that `mosquitto_hash` returns.

    Other numbers of rounds are refused: the broker stands still while it counts them.
    """
    return _HASH.fullmatch(text) is not None
