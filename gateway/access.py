"""API tokens and their roles. Only hashes of tokens are kept.

The file maps a name to a role and the SHA-256 of its token. A device's name is
its device id, so that a token lets a truck speak for itself only. Its token is
made here, or the device keeps it and enrols with its hashes. A device's or operator's
entry also has the token's hash in mosquitto's form, for a site's broker. `made` and `expires` are
RFC 3339 times; an entry without `expires` holds until it is revoked. `grants` names what its owner
may see; an entry without them may see everything that its role may.
"""

import hashlib
import secrets
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Final

from contracts.enrolment import Enrolment
from contracts.errors import RejectedError
from contracts.ids import check_id
from contracts.passwords import mosquitto_hash
from contracts.records.clock import now_ms, parse_rfc3339, rfc3339
from gateway.entryfile import Entry, EntryFile
from gateway.grants import Grants, granted, grants_text
from storage.checked.damage import DamageNotes

TOKEN_BYTES: Final = 32


class Role(StrEnum):
    """A set of rights."""

    OPERATOR = "operator"
    AUDITOR = "auditor"
    DEVICE = "device"


@dataclass(frozen=True, slots=True)
class Caller:
    """The owner of the token, or of the session, that a request carries.

    Attributes:
        name: Of the token or the person.
        role: What they may do.
        grants: What they may see; None: everything.
    """

    name: str
    role: Role
    grants: Grants | None = None


@dataclass(frozen=True, slots=True)
class TokenEntry:
    """What is kept of a token.

    Attributes:
        made_ms: When it was made, UTC; None if an earlier version made it.
        expires_ms: From when on it admits nobody, UTC; None: it does not expire.
        grants: What its owner may see; None: everything.
        sha256: Of the token, hexadecimal.
    """

    name: str
    role: Role
    made_ms: int | None
    expires_ms: int | None
    grants: Grants | None = None
    sha256: str = field(default="", compare=False, repr=False)

    @property
    def owner(self) -> Caller:
        """Return who it admits."""
        return Caller(self.name, self.role, self.grants)

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
        self._file = EntryFile(path, "token", _sound, damage or DamageNotes())
        self._stamp: tuple[int, ...] | None = None
        self._now = now
        self._by_hash: dict[str, TokenEntry] = {}
        self._by_name: dict[str, TokenEntry] = {}
        self._refresh()

    def caller(self, token: str) -> Caller | None:
        """Return the owner of a token, or None if it is unknown or has expired.

        Looking up a hash leaks no timing about the token itself.
        """
        found = self.by_hash(_digest(token))
        return None if found is None else found.owner

    def hash_of(self, token: str) -> str:
        """Return what is kept of a token, hexadecimal."""
        return _digest(token)

    def by_hash(self, sha256: str) -> TokenEntry | None:
        """Return the token with that hash, or None if it is unknown or has expired."""
        self._refresh()
        found = self._by_hash.get(sha256)
        return None if found is None or found.has_expired(self._now()) else found

    def add(
        self, name: str, role: Role, expires_ms: int | None = None, grants: Grants | None = None
    ) -> str:
        """Make a token for `name`, in place of an earlier one, and return it; it is not kept.

        Args:
            name: Of the owner; for a device, its id.
            role: What the owner may do.
            expires_ms: From when on it admits nobody, UTC; None: it does not expire.
            grants: What the owner may see; None: everything.

        Raises:
            RejectedError: The name is malformed, or the role takes no grants.
            UnavailableError: The file cannot be written; it is unchanged.
        """
        check_id(role, name)
        check_grants(role, grants)
        token = secrets.token_urlsafe(TOKEN_BYTES)
        entry = {"role": role, "sha256": _digest(token), "made": rfc3339(self._now())}
        if expires_ms is not None:
            entry["expires"] = rfc3339(expires_ms)
        if grants is not None:
            entry["grants"] = grants_text(grants)
        if role in (Role.DEVICE, Role.OPERATOR):
            entry["mosquitto"] = mosquitto_hash(token)
        with self._file.changing() as entries:
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
        with self._file.changing() as entries:
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

    def has(self, enrolment: Enrolment) -> bool:
        """Say whether a device's own token counts already.

        Raises:
            RejectedError: The file is not a token file.
        """
        entry = self._file.read().get(enrolment.device_id, {})
        return entry.get("sha256") == enrolment.sha256 and "mosquitto" in entry

    def entries(self) -> list[TokenEntry]:
        """Return what is kept of each token, by name.

        Raises:
            RejectedError: The file is not a token file.
        """
        return [_entry(name, entry) for name, entry in sorted(self._file.read().items())]

    def revoke(self, names: Sequence[str]) -> None:
        """Drop the tokens of these names: they admit nobody any more.

        Raises:
            RejectedError: A name has no token; nothing is changed.
            UnavailableError: The file cannot be written; it is unchanged.
        """
        with self._file.changing(names) as entries:
            for name in set(names):
                del entries[name]

    def expire(self, names: Sequence[str], at_ms: int) -> None:
        """Let the tokens of these names admit nobody from a time on, UTC.

        Raises:
            RejectedError: A name has no token; nothing is changed.
            UnavailableError: The file cannot be written; it is unchanged.
        """
        with self._file.changing(names) as entries:
            for name in names:
                entries[name]["expires"] = rfc3339(at_ms)

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
        found = self._by_name.get(name)
        return None if found is None or found.has_expired(self._now()) else found.role

    def _passwords(self, role: Role) -> dict[str, str | None]:
        entries = self._file.read().items()
        return {
            check_id(role, name): entry.get("mosquitto")
            for name, entry in entries
            if entry["role"] == role and not _entry(name, entry).has_expired(self._now())
        }

    def _refresh(self) -> None:
        stamp = self._file.stamp()
        if stamp is None:
            self._by_hash, self._by_name, self._stamp = {}, {}, None
        elif stamp != self._stamp:
            entries = [_entry(*each) for each in self._file.read().items()]
            self._by_hash = {each.sha256: each for each in entries}
            self._by_name = {each.name: each for each in entries}
            self._stamp = stamp


def check_grants(role: Role, grants: Grants | None) -> None:
    """Check that a role takes grants: an operator runs the whole gateway.

    Raises:
        RejectedError: It does not.
    """
    if grants is not None and role is not Role.AUDITOR:
        raise RejectedError(f"expected grants for the role auditor alone, got them for {role}")


def times_of(name: str, entry: Entry) -> tuple[int | None, int | None]:
    """Return when an entry was made, and from when on it admits nobody; None: not said.

    Raises:
        ValueError: A time is malformed.
    """
    try:
        made, expires = (
            parse_rfc3339(entry[key]) if key in entry else None for key in ("made", "expires")
        )
    except RejectedError as error:
        raise ValueError(f"entry {name}: {error}") from error
    return made, expires


def _sound(name: str, entry: Entry) -> None:
    _entry(name, entry)
    bytes.fromhex(entry["sha256"])


def _entry(name: str, entry: Entry) -> TokenEntry:
    """Return what an entry says.

    Raises:
        ValueError: Its role or a time has no known form.
        LookupError: It has no role.
    """
    made_ms, expires_ms = times_of(name, entry)
    role, grants = Role(entry["role"]), granted(entry.get("grants"))
    return TokenEntry(name, role, made_ms, expires_ms, grants, entry["sha256"])


def _digest(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()
