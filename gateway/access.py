"""API tokens and their roles. Only hashes of tokens are kept.

The file maps a name to a role and the SHA-256 of its token. A device's name is
its device id, so that a token lets a truck speak for itself only. Its token is
made here, or the device keeps it and enrols with its hashes. A device's or operator's
entry also has the token's hash in mosquitto's form, for a site's broker. `made` and `expires` are
RFC 3339 times; an entry without `expires` holds until it is revoked.

Each entry has a checksum over its name and itself, so that a rotten entry hurts that entry alone.
An entry without a checksum, made by an earlier version, is taken as it is.
"""

import hashlib
import json
import re
import secrets
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Final

from contracts.enrolment import Enrolment
from contracts.errors import RejectedError, UnavailableError
from contracts.ids import check_id
from contracts.passwords import mosquitto_hash
from contracts.records.clock import now_ms, parse_rfc3339, rfc3339
from contracts.runtime.files import (
    OWNER_ONLY,
    check_private,
    disk_errors,
    in_turn,
    make_directory,
    write_file,
)
from storage.checked.damage import DamageNotes

TOKEN_BYTES: Final = 32
_ENTRY: Final = re.compile(rb'"[^"{}]*": *\{[^{}]*\}')


class Role(StrEnum):
    """A set of rights."""

    OPERATOR = "operator"
    AUDITOR = "auditor"
    DEVICE = "device"


@dataclass(frozen=True, slots=True)
class Caller:
    """The owner of the token that a request carries."""

    name: str
    role: Role


@dataclass(frozen=True, slots=True)
class TokenEntry:
    """What is kept of a token.

    Attributes:
        made_ms: When it was made, UTC; None if an earlier version made it.
        expires_ms: From when on it admits nobody, UTC; None: it does not expire.
    """

    name: str
    role: Role
    made_ms: int | None
    expires_ms: int | None

    def has_expired(self, at_ms: int) -> bool:
        """Say whether it admits nobody at a time, UTC."""
        return self.expires_ms is not None and self.expires_ms <= at_ms


class Tokens:
    """The tokens in one file, which is read again whenever it changes."""

    def __init__(
        self,
        path: Path,
        damage: DamageNotes | None = None,
        now: Callable[[], int] = now_ms,
    ) -> None:
        """Open the file at `path`; it need not exist yet.

        Args:
            path: The file.
            damage: Where rotten entries are noted.
            now: The time, UTC ms.

        Raises:
            RejectedError: The file exists and is not a token file, or others may read it.
        """
        self._path = path
        self._damage = damage or DamageNotes()
        self._stamp: tuple[int, ...] | None = None
        self._now = now
        self._callers: dict[str, TokenEntry] = {}
        self._is_unreadable = False
        self._refresh()

    def caller(self, token: str) -> Caller | None:
        """Return the owner of a token, or None if it is unknown or has expired.

        Looking up a hash leaks no timing about the token itself.
        """
        self._refresh()
        found = self._callers.get(_digest(token))
        if found is None or found.has_expired(self._now()):
            return None
        return Caller(found.name, found.role)

    def add(self, name: str, role: Role, expires_ms: int | None = None) -> str:
        """Make a token for `name`, in place of an earlier one, and return it; it is not kept.

        Raises:
            RejectedError: The name is malformed.
            UnavailableError: The file cannot be written; it is unchanged.
        """
        check_id(role, name)
        token = secrets.token_urlsafe(TOKEN_BYTES)
        entry = {"role": role, "sha256": _digest(token), "made": rfc3339(self._now())}
        if expires_ms is not None:
            entry["expires"] = rfc3339(expires_ms)
        if role in (Role.DEVICE, Role.OPERATOR):
            entry["mosquitto"] = mosquitto_hash(token)
        make_directory(self._path.parent)
        with self._changing() as entries:
            entries[name] = entry
        return token

    def enrol(self, enrolments: Sequence[Enrolment]) -> None:
        """Keep the hashes of devices' own tokens, in place of earlier ones.

        Args:
            enrolments: For this site, by keys that the ledger has of these devices.

        Raises:
            RejectedError: A person's token has a device's name; the file is unchanged.
            UnavailableError: The file cannot be written; it is unchanged.
        """
        made = rfc3339(self._now())
        make_directory(self._path.parent)
        with self._changing() as entries:
            for each in enrolments:
                role = entries.get(each.device_id, {}).get("role", Role.DEVICE)
                if role != Role.DEVICE:
                    raise RejectedError(
                        f"enrolment of {each.device_id}: expected a device, but the token of that "
                        f"name has the role {role}: revoke it first"
                    )
                entries[each.device_id] = {
                    "role": Role.DEVICE,
                    "sha256": each.sha256,
                    "made": made,
                    "mosquitto": each.mosquitto,
                }

    def entries(self) -> list[TokenEntry]:
        """Return what is kept of each token, by name.

        Raises:
            RejectedError: The file is not a token file.
        """
        return [_entry(name, entry) for name, entry in sorted(self._read().items())]

    def revoke(self, names: Sequence[str]) -> None:
        """Drop the tokens of these names: they admit nobody any more.

        Raises:
            RejectedError: A name has no token; nothing is changed.
            UnavailableError: The file cannot be written; it is unchanged.
        """
        with self._changing(names) as entries:
            for name in set(names):
                del entries[name]

    def expire(self, names: Sequence[str], at_ms: int) -> None:
        """Let the tokens of these names admit nobody from a time on, UTC.

        Raises:
            RejectedError: A name has no token; nothing is changed.
            UnavailableError: The file cannot be written; it is unchanged.
        """
        with self._changing(names) as entries:
            for name in names:
                entries[name]["expires"] = rfc3339(at_ms)

    @contextmanager
    def _changing(self, names: Sequence[str] = ()) -> Iterator[dict[str, dict[str, str]]]:
        """Yield the entries to be changed, and write them after the block."""
        if names and not self._path.exists():
            raise RejectedError(f"no token of {names[0]} in {self._path}: there is no token yet")
        with in_turn(self._path.with_suffix(".lock")):  # or the last of two keeps its own alone
            entries = self._read()
            missing = sorted(set(names) - entries.keys())
            if missing:
                raise RejectedError(
                    f"no token of {', '.join(missing)} in {self._path}; `wayseal-gateway token "
                    f"--list` shows the names"
                )
            yield entries
            for name, entry in entries.items():
                if "check" in entry or "made" in entry:
                    entry["check"] = _check(name, entry)
            text = json.dumps(entries, indent=2) + "\n"
            draft = self._path.with_suffix(".new")
            write_file(self._path, text.encode(), temporary=draft, mode=OWNER_ONLY)

    def of_devices(self) -> dict[str, str | None]:
        """Return each device's password in mosquitto's form, by device id; expired ones not.

        None stands for a token that an earlier version made, which kept no such hash.

        Raises:
            RejectedError: The file is not a token file.
        """
        return self._passwords(Role.DEVICE)

    def of_operators(self) -> dict[str, str | None]:
        """Return the same for operators, whose programs may hear how trucks stand.

        Raises:
            RejectedError: The file is not a token file.
        """
        return self._passwords(Role.OPERATOR)

    def role_of(self, name: str) -> Role | None:
        """Return the role of the token of that name; None without one, or if it has expired."""
        self._refresh()
        for entry in self._callers.values():
            if entry.name == name and not entry.has_expired(self._now()):
                return entry.role
        return None

    def _passwords(self, role: Role) -> dict[str, str | None]:
        entries = self._read().items()
        return {
            check_id(role, name): entry.get("mosquitto")
            for name, entry in entries
            if entry["role"] == role and not _entry(name, entry).has_expired(self._now())
        }

    def _refresh(self) -> None:
        try:
            with disk_errors("look at", self._path):
                status = self._path.stat()
        except UnavailableError as error:  # without a readable file nobody may enter
            self._callers, self._stamp = {}, None
            if not isinstance(error.__cause__, FileNotFoundError) and not self._is_unreadable:
                self._is_unreadable = True  # told once, not to everybody who asks
                self._damage.lost(f"nobody may enter: {error}")
            return
        self._is_unreadable = False
        stamp = (status.st_mtime_ns, status.st_ctime_ns, status.st_size, status.st_ino)
        if stamp != self._stamp:
            self._callers = {
                entry["sha256"]: _entry(name, entry) for name, entry in self._read().items()
            }
            self._stamp = stamp

    def _read(self) -> dict[str, dict[str, str]]:
        if not self._path.exists():
            return {}
        try:
            check_private("token file", self._path)
            entries = self._parsed(self._path.read_bytes())
            for name, entry in entries.items():
                _entry(name, entry)
                bytes.fromhex(entry["sha256"])
        except (
            OSError,
            ValueError,
            LookupError,
            TypeError,
            AttributeError,
            RecursionError,
        ) as error:
            raise RejectedError(f"token file {self._path}: {error!r}") from error
        return entries

    def _parsed(self, wire: bytes) -> dict[str, dict[str, str]]:
        """Return the entries with a right checksum, or without one if the file is whole JSON.

        Raises:
            ValueError: There is no entry, and the file is not an empty list of tokens.
        """
        try:
            entries: dict[str, dict[str, str]] = json.loads(wire)
            good = {name: each for name, each in entries.items() if _is_right(name, each)}
            bad = len(entries) - len(good)
        except ValueError:
            good = dict(_entries_alone(wire))
            if not good:
                raise
            bad = 1
        if bad:
            self._damage.lost(
                f"token file {self._path}: at least {bad} of its entries is damaged and admits "
                f"nobody; make that token again (intact: {', '.join(good) or 'none'})"
            )
        return good


def _entry(name: str, entry: dict[str, str]) -> TokenEntry:
    """Return what an entry says.

    Raises:
        ValueError: Its role or a time has no known form.
        LookupError: It has no role.
    """
    try:
        made, expires = (
            parse_rfc3339(entry[key]) if key in entry else None for key in ("made", "expires")
        )
    except RejectedError as error:
        raise ValueError(f"entry {name}: {error}") from error
    return TokenEntry(name, Role(entry["role"]), made, expires)


def _entries_alone(wire: bytes) -> Iterator[tuple[str, dict[str, str]]]:
    """Yield the entries of a file that is no JSON as a whole, if they have the right checksum."""
    for found in _ENTRY.finditer(wire):
        try:
            ((name, entry),) = json.loads(b"{" + found.group() + b"}").items()
        except ValueError:
            continue
        if isinstance(entry, dict) and "check" in entry and _is_right(name, entry):
            yield name, entry


def _is_right(name: str, entry: dict[str, str]) -> bool:
    return "check" not in entry or entry["check"] == _check(name, entry)


def _check(name: str, entry: dict[str, str]) -> str:
    """Return the checksum of an entry under its name."""
    rest = {key: value for key, value in entry.items() if key != "check"}
    return hashlib.sha256(json.dumps([name, rest], sort_keys=True).encode()).hexdigest()[:16]


def _digest(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()
