"""Files with a key, token or password, as our commands accept them."""

from pathlib import Path

from contracts.runtime.files import OWNER_ONLY


def write_private(path: Path, text: str) -> Path:
    """Write a file that only its owner can read; return its path."""
    path.touch(OWNER_ONLY)
    path.chmod(OWNER_ONLY)
    path.write_text(text, "utf-8")
    return path
