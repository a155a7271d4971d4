"""Sessions of browsers: a random id in a cookie stands for a token, a person or an issuer's word.

Of the id only a hash is kept. A session ends after half an hour without a request, after twelve
hours at the latest, and with what it stands for: at each request that is looked up again. An issuer
is not asked again, so its sessions are shorter, and end when the settings let in other people.
"""

import hashlib
import secrets
from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path
from typing import Final

from contracts.records.clock import now_ms
from contracts.runtime.schema import Schema
from contracts.runtime.sqlite import changed_rows
from gateway.access import Caller, Role, Tokens
from gateway.grants import granted, grants_text
from gateway.people.persons import Persons
from storage.checked.damage import DamageNotes
from storage.checked.kept import Kept, open_kept

IDLE_MAX_S: Final = 1800
LASTS_MAX_S: Final = 43_200
SESSIONS_MAX: Final = 10_000
"""Sessions at a time; beyond that the one that was used longest ago ends."""
_SEEN_EVERY_MS: Final = 60_000
"""How often it is written down that a session is used: not with every request."""
_ID_BYTES: Final = 32

_TABLE: Final = """
CREATE TABLE sessions (
  id_sha256 BLOB PRIMARY KEY,
  kind TEXT NOT NULL,
  name TEXT NOT NULL,
  mark TEXT NOT NULL,
  role TEXT NOT NULL,
  grants TEXT,
  began_ms INTEGER NOT NULL,
  seen_ms INTEGER NOT NULL
) WITHOUT ROWID;
CREATE INDEX sessions_by_use ON sessions (seen_ms);
"""
SCHEMA: Final = Schema("sessions", (_TABLE,))
_COLUMNS: Final = "id_sha256, kind, name, mark, role, grants, began_ms, seen_ms"


class SessionKind(StrEnum):
    """What a session stands for."""

    TOKEN = "token"  # noqa: S105 - a word
    PERSON = "person"
    ISSUER = "issuer"
    """The word of an OpenID Connect issuer for one of its people."""


@dataclass(frozen=True, slots=True)
class IssuerTerms:
    """What sessions by an issuer's word stand on.

    Attributes:
        mark: Changes with whom the settings let in, and with the issuer.
        lasts_s: How long such a session lasts at most, seconds.
    """

    mark: str
    lasts_s: int


@dataclass(frozen=True, slots=True)
class Session:
    """One session.

    Attributes:
        id_sha256: The hash of its id, which no other session has.
        kind: What it stands for.
        name: Of the token, the person, or the issuer's subject.
        mark: What a token, a password, or an issuer's terms must still be.
        owner: Whose requests they are.
        began_ms: When it began, UTC.
        seen_ms: When it was used last, up to a minute ago, UTC.
        lasts_s: How long it lasts at most, seconds.
    """

    id_sha256: bytes
    kind: SessionKind
    name: str
    mark: str
    owner: Caller
    began_ms: int
    seen_ms: int
    lasts_s: int

    @property
    def ends_ms(self) -> int:
        """Return when it ends without a further request, UTC."""
        return min(self.began_ms + self.lasts_s * 1000, self.seen_ms + IDLE_MAX_S * 1000)


class Sessions(Kept):
    """The sessions of one gateway, in one file; safe to use from several threads.

    Args:
        path: The file.
        tokens: What a session may stand for.
        persons: What else.
        damage: Where damage of the file is noted.
        now: The time, UTC ms.
        issuer: What sessions by an issuer's word stand on; None: there is no issuer.
    """

    def __init__(
        self,
        path: Path,
        tokens: Tokens,
        persons: Persons,
        damage: DamageNotes | None = None,
        now: Callable[[], int] = now_ms,
        *,
        issuer: IssuerTerms | None = None,
    ) -> None:
        self._tokens = tokens
        self._persons = persons
        self._issuer = issuer
        self._now = now
        self._db = open_kept(path, SCHEMA, damage)

    def begin(self, kind: SessionKind, name: str, mark: str, owner: Caller) -> str:
        """Begin a session and return its id; only a hash of it is kept.

        Raises:
            UnavailableError: It cannot be written.
        """
        session_id, now = secrets.token_urlsafe(_ID_BYTES), self._now()
        grants = None if owner.grants is None else grants_text(owner.grants)
        with self._db.transaction() as db:
            db.execute(
                "DELETE FROM sessions WHERE seen_ms <= ? OR began_ms <= ? OR id_sha256 IN"
                " (SELECT id_sha256 FROM sessions ORDER BY seen_ms DESC LIMIT -1 OFFSET ?)",
                (now - IDLE_MAX_S * 1000, now - LASTS_MAX_S * 1000, SESSIONS_MAX - 1),
            )
            db.execute(
                "INSERT INTO sessions VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                (_hashed(session_id), kind, name, mark, owner.role, grants, now, now),
            )
        return session_id

    def find(self, session_id: str) -> Session | None:
        """Return a session that is under way, and note that it is used.

        Raises:
            RejectedError: The file of tokens or of people is malformed.
            UnavailableError: The medium failed.
        """
        key, now = _hashed(session_id), self._now()
        rows = self._db.query(f"SELECT {_COLUMNS} FROM sessions WHERE id_sha256 = ?", key)  # noqa: S608
        found = self._session(*rows[0]) if rows else None
        # A clock that went back makes nobody's session longer.
        if found is None or not found.seen_ms - _SEEN_EVERY_MS <= now < found.ends_ms:
            return None
        owner = self._owner(found)
        if owner is None:
            return None
        if now - found.seen_ms >= _SEEN_EVERY_MS:
            with self._db.transaction() as db:
                db.execute("UPDATE sessions SET seen_ms = ? WHERE id_sha256 = ?", (now, key))
        return replace(found, owner=owner, seen_ms=now)

    def end(self, session_id: str) -> None:
        """End a session, if it is under way."""
        with self._db.transaction() as db:
            db.execute("DELETE FROM sessions WHERE id_sha256 = ?", (_hashed(session_id),))

    def end_of(self, name: str) -> int:
        """End all sessions of a name; return how many."""
        with self._db.transaction() as db:
            db.execute("DELETE FROM sessions WHERE name = ?", (name,))
            return changed_rows(db)

    def all(self) -> list[Session]:
        """Return the sessions under way, in no order."""
        rows = self._db.query(f"SELECT {_COLUMNS} FROM sessions")  # noqa: S608
        now = self._now()
        return [each for each in (self._session(*row) for row in rows) if now < each.ends_ms]

    def _owner(self, session: Session) -> Caller | None:
        """Return the caller that a session stands for now; None if token or person are gone."""
        match session.kind:
            case SessionKind.TOKEN:
                token = self._tokens.by_hash(session.mark)
                return None if token is None else token.owner
            case SessionKind.PERSON:
                person = self._persons.get(session.name)
                right = person is not None and person.mark == session.mark
                return person.owner if person is not None and right else None
            case SessionKind.ISSUER:
                right = self._issuer is not None and self._issuer.mark == session.mark
                return session.owner if right else None

    def _session(
        self,
        id_sha256: bytes,
        kind: str,
        name: str,
        mark: str,
        role: str,
        grants: str | None,
        began_ms: int,
        seen_ms: int,
    ) -> Session:
        owner, lasts_s = Caller(name, Role(role), granted(grants)), LASTS_MAX_S
        if kind == SessionKind.ISSUER and self._issuer is not None:
            lasts_s = self._issuer.lasts_s
        known_by = (id_sha256, SessionKind(kind), name, mark)
        return Session(*known_by, owner, began_ms, seen_ms, lasts_s)


def _hashed(session_id: str) -> bytes:
    return hashlib.sha256(session_id.encode()).digest()
