"""API tokens: who may do what. Only hashes of tokens are kept.

The file maps a name to a role and the SHA-256 of its token. A device's name is
its device id, so that a token lets a truck speak for itself only.
"""

import hashlib
import json
import secrets
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Final

from contracts.errors import RejectedError
from contracts.files import OWNER_ONLY, write_file
from contracts.ids import check_id

TOKEN_BYTES: Final = 32


class Role(StrEnum):
    """What a caller may do."""

    OPERATOR = "operator"
    AUDITOR = "auditor"
    DEVICE = "device"


@dataclass(frozen=True, slots=True)
class Caller:
    """Who is asking."""

    name: str
    role: Role


class Tokens:
    """The tokens in one file, read again whenever the file changes."""

    def __init__(self, path: Path) -> None:
        """Open the file at `path`; it need not exist yet.

        Raises:
            RejectedError: It exists and is no token file.
        """
        self._path = path
        self._stamp: tuple[int, int] | None = None
        self._callers: dict[str, Caller] = {}
        self._refresh()

    def caller(self, token: str) -> Caller | None:
        """Return whose token this is, or None.

        Looking up a hash leaks no timing about the token itself.
        """
        self._refresh()
        return self._callers.get(_digest(token))

    def add(self, name: str, role: Role) -> str:
        """Make a token for `name`, replacing the one it had; return it, the only time it is shown.

        Raises:
            RejectedError: The name has no proper form.
            UnavailableError: The file cannot be written; it is as it was.
        """
        check_id(role, name)
        token = secrets.token_urlsafe(TOKEN_BYTES)
        entries = self._read()
        entries[name] = {"role": role, "sha256": _digest(token)}
        text = json.dumps(entries, indent=2) + "\n"
        draft = self._path.with_suffix(".new")
        write_file(self._path, text.encode(), temporary=draft, mode=OWNER_ONLY)
        return token

    def _refresh(self) -> None:
        try:
            status = self._path.stat()
        except OSError:  # no file, or none that can be seen, lets nobody in
            self._callers, self._stamp = {}, None
            return
        stamp = (status.st_mtime_ns, status.st_ino)
        if stamp != self._stamp:
            self._callers = {
                entry["sha256"]: Caller(name, Role(entry["role"]))
                for name, entry in self._read().items()
            }
            self._stamp = stamp

    def _read(self) -> dict[str, dict[str, str]]:
        if not self._path.exists():
            return {}
        try:
            entries: dict[str, dict[str, str]] = json.loads(self._path.read_text("utf-8"))
            for entry in entries.values():
                Role(entry["role"])
                bytes.fromhex(entry["sha256"])
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
            raise RejectedError(f"token file {self._path}: {error!r}") from error
        return entries


def _digest(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()
