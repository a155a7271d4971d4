"""CURVE keys of ZeroMQ in files: of the component port, and of a processor.

Source: ZeroMQ RFC 26 (CurveZMQ), RFC 32 (Z85).
"""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Final

from contracts.errors import RejectedError
from contracts.runtime.files import OWNER_ONLY, check_private, disk_errors, write_file

PUBLIC_SUFFIX: Final = ".pub"
_LIKE_AN_OPTION: Final = b"-"
"""A key that begins so would not be taken as the value of a command's option."""
_Z85_KEY: Final = re.compile(r"[0-9a-zA-Z.\-:+=^!/*?&<>()\[\]{}@%$#]{40}", re.ASCII)


def is_z85_key(text: str) -> bool:
    """Say whether `text` has the form of a CURVE key: 32 bytes as 40 characters of Z85."""
    return _Z85_KEY.fullmatch(text) is not None


def load_or_create(path: Path, make: Callable[[], tuple[bytes, bytes]]) -> str:
    """Read the secret key at `path`; make it if it is missing, with its public key beside it.

    Args:
        path: A file with one line of Z85. The public key's file has the suffix `.pub` too.
        make: Returns a new public key and its secret key, Z85.

    Raises:
        RejectedError: The file does not hold a key, or others than its owner may read it.
        UnavailableError: The file cannot be read or made.
    """
    if not path.exists():
        public, secret = make()
        while public.startswith(_LIKE_AN_OPTION):
            public, secret = make()
        _write(path.with_name(path.name + PUBLIC_SUFFIX), public)
        _write(path, secret)
    with disk_errors("read", path):
        check_private("CURVE key", path)
        text = path.read_text("ascii", "replace").strip()
    if not is_z85_key(text):  # the text is never echoed
        raise RejectedError(
            f"CURVE key {path}: expected 40 characters of Z85, got {len(text)} characters"
        )
    return text


def _write(path: Path, key: bytes) -> None:
    temporary = path.with_name(f".{path.name}.part")
    write_file(path, key + b"\n", temporary=temporary, mode=OWNER_ONLY)
