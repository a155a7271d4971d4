"""The durable record of deletions: each is signed before it starts, and marked when it is done.

Nothing is ever removed from the record. Each deletion names the one before by hash.
"""

import logging
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Final

from contracts.copies import Copy, Place
from contracts.deletion import deletion_hash, open_deletion, sign_deletion
from contracts.encoding import parse
from contracts.errors import RejectedError
from contracts.keys import Signer, is_point
from contracts.proto.deletion_pb2 import Deletion, DeletionBody
from contracts.runtime.sqlite import Schema
from storage.checked.damage import DamageNotes
from storage.checked.kept import open_kept
from storage.checked.salvage import Proofs, Row

_log: Final = logging.getLogger(__name__)

_FIRST: Final = """
CREATE TABLE deletions (
  number INTEGER PRIMARY KEY,
  recording BLOB NOT NULL,
  wire BLOB NOT NULL,
  state TEXT NOT NULL,
  ended_ms INTEGER,
  why TEXT NOT NULL DEFAULT ''
);
CREATE INDEX deletions_by_recording ON deletions (recording);
CREATE INDEX deletions_under_way ON deletions (state) WHERE state = 'begun';
"""
_SCHEMA: Final = Schema("deletions", (_FIRST,))


class DeletionState(StrEnum):
    """Where a deletion stands."""

    BEGUN = "begun"
    DONE = "done"
    WITHDRAWN = "withdrawn"
    """Nothing was deleted: a reason to keep the recording came up at the last moment."""


@dataclass(frozen=True, slots=True)
class Recorded:
    """One deletion on record.

    Attributes:
        deletion: The deletion as it was signed.
        state: Where it stands.
        ended_ms: When it was done or withdrawn, by the wall clock; None before that.
        why: Why it was withdrawn; empty otherwise.
    """

    deletion: Deletion
    state: DeletionState
    ended_ms: int | None
    why: str

    @property
    def body(self) -> DeletionBody:
        """Return the body that the gateway signed."""
        return DeletionBody.FromString(self.deletion.body)

    @property
    def is_of_everything(self) -> bool:
        """Say whether no copy was meant to remain at this site."""
        return not self.body.remaining


class Deletions:
    """The deletions of one gateway, in one file; safe to use from several threads.

    Args:
        path: The file; created if it is missing.
        signer: The gateway's key.
        damage: Where damage of the file is noted.

    Raises:
        UnavailableError: The file cannot be opened, or has another version.
    """

    def __init__(self, path: Path, signer: Signer, damage: DamageNotes | None = None) -> None:
        self._signer = signer
        self._db = open_kept(path, _SCHEMA, damage, Proofs({"deletions": _by_signature}))

    def close(self) -> None:
        """Close the file."""
        self._db.close()

    def check(self) -> None:
        """Read the whole file, so that damage is found and mended.

        Raises:
            UnavailableError: The medium failed.
        """
        self._db.check()

    def begin(self, draft: DeletionBody) -> DeletionBody:
        """Number, sign and record a deletion that is about to start; durable on return.

        Args:
            draft: All but `number` and `before_sha256`.
        """
        body = DeletionBody()
        body.CopyFrom(draft)
        with self._db.transaction() as db:
            last = db.execute(
                "SELECT number, wire FROM deletions ORDER BY number DESC LIMIT 1"
            ).fetchone()
            body.number = last[0] + 1 if last else 1
            body.before_sha256 = deletion_hash(Deletion.FromString(last[1])) if last else b""
            wire = sign_deletion(self._signer, body).SerializeToString(deterministic=True)
            db.execute(
                "INSERT INTO deletions (number, recording, wire, state) VALUES (?,?,?,?)",
                (body.number, body.recording_sha256, wire, DeletionState.BEGUN),
            )
        return body

    def signers(self) -> set[str]:
        """Return the key that signed the last deletion; nothing without one, or if it is rotten."""
        rows = self._db.query("SELECT number, wire FROM deletions ORDER BY number DESC LIMIT 1")
        for number, wire in rows:
            try:
                key = parse(Deletion, bytes(wire)).gateway_public_key
            except RejectedError:
                key = ""
            if is_point(key):
                return {key}
            _log.warning("the last deletion, number %d, is damaged", number)
        return set()

    def end(self, number: int, state: DeletionState, ended_ms: int, why: str = "") -> None:
        """Mark a deletion as done or withdrawn."""
        with self._db.transaction() as db:
            db.execute(
                "UPDATE deletions SET state = ?, ended_ms = ?, why = ? WHERE number = ?",
                (state, ended_ms, why, number),
            )

    def under_way(self) -> list[Recorded]:
        """Return deletions that have begun and not ended: in progress, or cut off by a kill."""
        return self._select("WHERE state = 'begun' ORDER BY number")

    def of(self, recording_id: bytes) -> list[Recorded]:
        """Return the deletions of one recording, oldest first, withdrawn ones included."""
        return self._select("WHERE recording = ? ORDER BY number", recording_id)

    def took_everything(self, recording_id: bytes) -> Recorded | None:
        """Return the last deletion that left no copy of a recording here, or None."""
        gone = [
            each
            for each in self.of(recording_id)
            if each.is_of_everything and each.state is not DeletionState.WITHDRAWN
        ]
        return gone[-1] if gone else None

    def took_volume_copy(self, recording_id: bytes) -> bool:
        """Say whether a whole copy of a recording was deleted on purpose."""
        return any(
            Copy.parse(text).place is Place.VOLUME
            for each in self.of(recording_id)
            if each.state is DeletionState.DONE
            for text in each.body.copies
        )

    def is_under_way(self, recording_id: bytes) -> bool:
        """Say whether a copy of a recording is being deleted."""
        return any(each.state is DeletionState.BEGUN for each in self.of(recording_id))

    def listed(self, after: int, count: int) -> list[tuple[int, Recorded]]:
        """Return up to `count` deletions whose numbers follow `after`, each with its number."""
        found = self._select("WHERE number > ? ORDER BY number LIMIT ?", after, count)
        return [(each.body.number, each) for each in found]

    def _select(self, where: str, *values: object) -> list[Recorded]:
        sql = f"SELECT wire, state, ended_ms, why FROM deletions {where}"  # noqa: S608
        return [
            Recorded(Deletion.FromString(wire), DeletionState(state), ended_ms, why)
            for wire, state, ended_ms, why in self._db.query(sql, *values)
        ]


def _by_signature(row: Row) -> Row:
    """Return a row from a damaged page, with all that its signed deletion tells.

    Whoever signed it, the signature shows that these are the bytes that were signed. A state that
    is unreadable becomes `begun`: then everything is judged again.

    Raises:
        Exception: The bytes are not a deletion whose signature is valid.
    """
    _, _, wire, state, ended_ms, why = row
    deletion = Deletion.FromString(wire)
    body = open_deletion(deletion, {deletion.gateway_public_key})
    if state not in set(DeletionState):
        state, ended_ms, why = DeletionState.BEGUN, None, ""
    if ended_ms is not None and not isinstance(ended_ms, int):
        ended_ms = None
    return body.number, body.recording_sha256, wire, state, ended_ms, str(why)
