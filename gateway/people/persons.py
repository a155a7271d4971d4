"""People who sign in with a name and a password. Only a hash of the password is kept."""

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from contracts.errors import RejectedError
from contracts.ids import check_id
from contracts.records.clock import now_ms, rfc3339
from gateway.access import Caller, Role, check_grants, times_of
from gateway.entryfile import Entry, EntryFile
from gateway.grants import Grants, granted, grants_text
from gateway.people.passwords import is_hash, is_right, password_hash
from storage.checked.damage import DamageNotes


@dataclass(frozen=True, slots=True)
class Person:
    """Someone with a password.

    Attributes:
        name: By which they sign in.
        role: What they may do.
        grants: What they may see; None: everything.
        made_ms: When they were added, UTC.
        expires_ms: When their admission ends, UTC; None: never.
        password: What is kept of their password.
    """

    name: str
    role: Role
    grants: Grants | None
    made_ms: int | None
    expires_ms: int | None
    password: str = field(repr=False)

    @property
    def owner(self) -> Caller:
        """Return who signs in."""
        return Caller(self.name, self.role, self.grants)

    @property
    def mark(self) -> str:
        """Return what changes with the password: a session of an earlier one ends with it."""
        return hashlib.sha256(self.password.encode()).hexdigest()


class Persons:
    """The people in one file, which is read again whenever it changes.

    Args:
        path: The file; it need not exist yet.
        damage: Where rotten entries are noted.
        now: The time, UTC ms.
    """

    def __init__(
        self,
        path: Path,
        damage: DamageNotes | None = None,
        now: Callable[[], int] = now_ms,
    ) -> None:
        self._file = EntryFile(path, "person", _person, damage or DamageNotes())
        self._now = now
        self._stamp: tuple[int, ...] | None = None
        self._by_name: dict[str, Person] = {}

    def get(self, name: str) -> Person | None:
        """Return the person of a name, or None if the name is unknown or their time is over.

        Raises:
            RejectedError: The file is of another kind, or others may read it.
        """
        stamp = self._file.stamp()
        if stamp is None:
            self._by_name, self._stamp = {}, None
        elif stamp != self._stamp:
            self._by_name = {each.name: each for each in self.all()}
            self._stamp = stamp
        found = self._by_name.get(name)
        over = found is not None and found.expires_ms is not None
        return None if over and found and (found.expires_ms or 0) <= self._now() else found

    def signs_in(self, name: str, password: str) -> Person | None:
        """Return the person; None if name or password is wrong, both after the same time."""
        found = self.get(name)
        right = is_right(None if found is None else found.password, password)
        return found if right else None

    def all(self) -> list[Person]:
        """Return every person, by name.

        Raises:
            RejectedError: The file is of another kind, or others may read it.
        """
        return [_person(*each) for each in sorted(self._file.read().items())]

    def add(
        self,
        name: str,
        role: Role,
        password: str,
        *,
        expires_ms: int | None = None,
        grants: Grants | None = None,
    ) -> None:
        """Add a person.

        Raises:
            RejectedError: The name or the password is malformed, the name is taken, or the role
                is a device's or takes no grants; nothing is changed.
            UnavailableError: The file cannot be written; it is unchanged.
        """
        check_id("person", name)
        check_grants(role, grants)
        if role is Role.DEVICE:
            raise RejectedError("a device has a token: expected the role auditor or operator")
        entry = {"role": role, "password": password_hash(password), "made": rfc3339(self._now())}
        if expires_ms is not None:
            entry["expires"] = rfc3339(expires_ms)
        if grants is not None:
            entry["grants"] = grants_text(grants)
        with self._file.changing() as entries:
            if name in entries:
                raise RejectedError(f"there is a person {name} already; remove them first")
            entries[name] = entry

    def set_password(self, name: str, password: str) -> None:
        """Give a person another password; their sessions end.

        Raises:
            RejectedError: There is no such person, or the password is malformed.
            UnavailableError: The file cannot be written; it is unchanged.
        """
        kept = password_hash(password)
        with self._file.changing([name]) as entries:
            entries[name]["password"] = kept

    def remove(self, names: Sequence[str]) -> None:
        """Remove people; their sessions end.

        Raises:
            RejectedError: There is no person of a name; nothing is changed.
            UnavailableError: The file cannot be written; it is unchanged.
        """
        with self._file.changing(names) as entries:
            for name in set(names):
                del entries[name]


def _person(name: str, entry: Entry) -> Person:
    made_ms, expires_ms = times_of(name, entry)
    if not is_hash(entry["password"]):
        raise ValueError(f"entry {name}: its password is not kept by argon2id")
    grants = granted(entry.get("grants"))
    return Person(name, Role(entry["role"]), grants, made_ms, expires_ms, entry["password"])
