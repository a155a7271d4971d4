"""The record of accesses to evidence and video: an entry is durable before a byte leaves."""

import logging
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Sequence
from enum import StrEnum
from pathlib import Path
from typing import Final

from contracts.accesses import access_hash, sign_head
from contracts.encoding import canonical, parse
from contracts.errors import RejectedError
from contracts.keys import SigningKey
from contracts.proto.access_pb2 import Access, AccessHead, AccessHeadBody
from contracts.records.clock import now_ms
from contracts.runtime.schema import Schema
from gateway.access import Caller
from gateway.people.accessrecord import AccessRecord
from gateway.worker import Worker
from storage.checked.chained import following
from storage.checked.damage import DamageNotes
from storage.checked.kept import Kept, open_kept

ONE_ACCESS_MAX_S: Final = 600.0
"""Requests of one reader for one thing within this time are one access: a player asks in ranges."""
REMEMBERED_MAX: Final = 10_000
"""Accesses that further requests may belong to; beyond that a request is its own access."""
STRANGER: Final = "stranger"
"""Stands for the role of a caller without a role."""
HEAD_EVERY_MS: Final = 86_400_000
_LOOK_EVERY_S: Final = 600.0

_TABLES: Final = """
CREATE TABLE accesses (number INTEGER PRIMARY KEY, wire BLOB NOT NULL);
CREATE TABLE heads (number INTEGER PRIMARY KEY, at_ms INTEGER NOT NULL, wire BLOB NOT NULL);
"""
_WITH_LEDGER: Final = """
-- The batch with the heads up to `number` that the ledger has not decided; at most one.
CREATE TABLE sending (number INTEGER PRIMARY KEY, wire BLOB NOT NULL);
"""
SCHEMA: Final = Schema("record of accesses", (_TABLES, _WITH_LEDGER))

_log = logging.getLogger(__name__)


class Taken(StrEnum):
    """What leaves the gateway."""

    EVIDENCE = "evidence"
    VIDEO = "video"
    LEAVES = "leaves"
    READINGS = "readings"
    EVENTS = "events"
    SPREADSHEET = "spreadsheet"
    CERTIFICATE = "certificate"
    VERDICT = "verdict"
    NOTHING = "nothing"
    """Somebody for whom the issuer vouches, and whom the settings do not let in, was refused."""


class AccessLog(Kept):
    """The accesses of one gateway, in one file; safe to use from several threads.

    Args:
        path: The file.
        signer: The gateway's key, which signs a head once a day.
        site_id: The gateway's site.
        damage: Where damage of the file is noted.
        now: The time, UTC ms.
        clock_s: A clock that never goes back, seconds.

    Attributes:
        worker: The thread that has heads signed.
        record: What the file has.
    """

    def __init__(
        self,
        path: Path,
        signer: SigningKey,
        site_id: str,
        damage: DamageNotes | None = None,
        *,
        now: Callable[[], int] = now_ms,
        clock_s: Callable[[], float] = time.monotonic,
    ) -> None:
        self._signer = signer
        self._site_id = site_id
        self._now = now
        self._clock_s = clock_s
        self._lock = threading.Lock()
        self._recent: OrderedDict[tuple[str, Taken, tuple[str, ...]], float] = OrderedDict()
        self._db = open_kept(path, SCHEMA, damage)
        self.record = AccessRecord(self._db)
        self.worker = Worker("access heads", self.step, idle_s=_LOOK_EVERY_S)

    def note(self, caller: Caller, address: str, what: Taken, subjects: Sequence[str]) -> None:
        """Write an access down; durable on return.

        Args:
            caller: Who takes it.
            address: The client's.
            what: What it is.
            subjects: Trips, or the SHA-256 of a recording.

        Raises:
            UnavailableError: It cannot be written: then nothing may leave.
        """
        self._note(caller.name, caller.role, address, what, subjects)

    def note_stranger(self, name: str, address: str) -> None:
        """Write down that somebody was refused for whom the issuer vouches; see `note`."""
        self._note(name, STRANGER, address, Taken.NOTHING, ())

    def _note(
        self, who: str, role: str, address: str, what: Taken, subjects: Sequence[str]
    ) -> None:
        key, now_s = (who, what, tuple(subjects)), self._clock_s()
        with self._lock:
            last_s = self._recent.get(key)
        if last_s is not None and now_s - last_s < ONE_ACCESS_MAX_S:
            return
        self._write(who, role, address, what, subjects)
        with self._lock:
            self._recent[key] = now_s
            self._recent.move_to_end(key)
            while len(self._recent) > REMEMBERED_MAX:
                self._recent.popitem(last=False)

    def listed(self, after: int, count: int) -> list[tuple[int, Access]]:
        """Return up to `count` sound accesses whose numbers follow `after`, each with its number.

        An access that is rotten is left out; `wayseal-gateway accesses --check` names it.
        """
        found: list[tuple[int, Access]] = []
        while len(found) < count:
            rows = self.record.wires(after, count - len(found))
            if not rows:
                break
            after = rows[-1][0]
            for number, wire in rows:
                try:
                    found.append((number, parse(Access, wire)))
                except RejectedError as error:
                    _log.warning("access %d is damaged and left out: %s", number, error)
        return found

    def keep_sending(self, number: int, wire: bytes) -> None:
        """Keep the batch that goes to the ledger, with the heads up to `number`; durable."""
        with self._db.transaction() as db:
            db.execute("DELETE FROM sending")
            db.execute("INSERT INTO sending VALUES (?, ?)", (number, wire))

    def sent(self) -> None:
        """Forget the kept batch: the ledger has decided it."""
        with self._db.transaction() as db:
            db.execute("DELETE FROM sending")

    def head(self) -> AccessHead:
        """Return the newest access by number and hash, under the gateway's signature."""
        rows = self._db.query("SELECT number, wire FROM accesses ORDER BY number DESC LIMIT 1")
        number, sha256 = (rows[0][0], access_hash(rows[0][1])) if rows else (0, b"")
        body = AccessHeadBody(
            site_id=self._site_id, number=number, sha256=sha256, at_ms=self._now()
        )
        return sign_head(self._signer, body)

    def step(self) -> bool:
        """Sign a head and keep it, unless there is one of today or nothing is new."""
        rows = self._db.query("SELECT number, at_ms FROM heads ORDER BY number DESC LIMIT 1")
        last_number, last_ms = rows[0] if rows else (0, 0)
        head = self.head()
        body = parse(AccessHeadBody, head.body)
        if body.number <= last_number or abs(body.at_ms - last_ms) < HEAD_EVERY_MS:
            return False
        with self._db.transaction() as db:
            wire = head.SerializeToString(deterministic=True)
            db.execute("INSERT INTO heads VALUES (?, ?, ?)", (body.number, body.at_ms, wire))
        _log.info("access %d has hash %s", body.number, body.sha256.hex())  # a copy elsewhere
        return True

    def _write(
        self, who: str, role: str, address: str, what: Taken, subjects: Sequence[str]
    ) -> None:
        with self._db.transaction() as db:
            number, before_sha256 = following(db, "accesses")
            access = Access(
                number=number,
                before_sha256=before_sha256,
                site_id=self._site_id,
                at_ms=self._now(),
                who=who,
                role=role,
                address=address,
                what=what,
                subjects=subjects,
            )
            db.execute("INSERT INTO accesses VALUES (?, ?)", (access.number, canonical(access)))
