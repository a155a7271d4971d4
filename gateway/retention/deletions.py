"""The durable record of deletions: each is signed before it starts, and marked when it is done.

The same file has the ends of automatic holds: `holdends`.

Nothing is ever removed from the record. Each deletion names the one before by hash. An entry whose
bytes are not what was signed stays in the file, and is named and left out of every answer.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Final

from contracts.copies import Copy, Place
from contracts.deletion import open_deletion, sign_deletion
from contracts.encoding import parse
from contracts.errors import RejectedError
from contracts.keys import SigningKey
from contracts.proto.deletion_pb2 import Deletion, DeletionBody
from contracts.runtime.schema import Schema
from gateway.retention import holdends
from gateway.retention.holdends import HoldEnds
from storage.checked.chained import following, wire_of
from storage.checked.damage import DamageNotes
from storage.checked.kept import Kept, open_kept
from storage.checked.salvage import Proofs, Row

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
SCHEMA: Final = Schema("deletions", (_FIRST, holdends.TABLE))
_COLUMNS: Final = "number, recording, wire, state, ended_ms, why"
_CHECKED_AT_ONCE: Final = 500


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
        body: What the gateway signed.
        state: Where it stands.
        ended_ms: When it was done or withdrawn, by the wall clock; None before that.
        why: Why it was withdrawn; empty otherwise.
    """

    deletion: Deletion
    body: DeletionBody
    state: DeletionState
    ended_ms: int | None
    why: str

    @property
    def is_of_everything(self) -> bool:
        """Say whether no copy was meant to remain at this site."""
        return not self.body.remaining


class Deletions(Kept):
    """The deletions of one gateway, in one file; safe to use from several threads.

    Args:
        path: The file; created if it is missing.
        signer: The gateway's key.
        damage: Where damage of the file, and each rotten entry, is noted.

    Raises:
        UnavailableError: The file cannot be opened, or has another version.

    Attributes:
        hold_ends: The automatic holds that were ended, in the same file.
    """

    def __init__(self, path: Path, signer: SigningKey, damage: DamageNotes | None = None) -> None:
        self._signer = signer
        self._damage = damage or DamageNotes()
        self._named: set[str] = set()
        proofs = Proofs({"deletions": _by_signature, "hold_ends": holdends.by_signature})
        self._db = open_kept(path, SCHEMA, self._damage, proofs)
        self.hold_ends = HoldEnds(self._db, signer, self._name)

    def check(self) -> None:
        """Read the whole file, so that damage is found and mended, and rotten entries are named.

        Raises:
            UnavailableError: The medium failed.
        """
        super().check()
        self._judge_again()
        for listed in (self.listed, self.hold_ends.listed):
            after = 0
            while some := listed(after, _CHECKED_AT_ONCE):
                after = some[-1][0]

    def begin(self, draft: DeletionBody) -> DeletionBody:
        """Number, sign and record a deletion that is about to start; durable on return.

        Args:
            draft: All but `number` and `before_sha256`.
        """
        body = DeletionBody()
        body.CopyFrom(draft)
        with self._db.transaction() as db:
            body.number, body.before_sha256 = following(db, "deletions")
            wire = sign_deletion(self._signer, body).SerializeToString(deterministic=True)
            db.execute(
                "INSERT INTO deletions (number, recording, wire, state) VALUES (?,?,?,?)",
                (body.number, body.recording_sha256, wire, DeletionState.BEGUN),
            )
        return body

    def signers(self) -> set[str]:
        """Return the key that signed the last deletion; nothing without one, or if it is rotten."""
        last = self._select("ORDER BY number DESC LIMIT 1")
        return {each.deletion.gateway_public_key for each in last}

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
        found: list[tuple[int, Recorded]] = []
        where = "WHERE number > ? ORDER BY number LIMIT ?"
        while rows := self._rows(where, after, count - len(found)):
            after = rows[-1][0]
            found.extend((each.body.number, each) for each in self._opened(rows))
        return found

    def _select(self, where: str, *values: object) -> list[Recorded]:
        return list(self._opened(self._rows(where, *values)))

    def _rows(self, where: str, *values: object) -> list[Row]:
        return self._db.query(f"SELECT {_COLUMNS} FROM deletions {where}", *values)  # noqa: S608

    def _opened(self, rows: Iterable[Row]) -> Iterator[Recorded]:
        """Yield what the rows hold; name each that is rotten, and leave it out."""
        for row in rows:
            try:
                deletion, body = _signed_for(row)
            except RejectedError as error:
                self._name(f"deletion {row[0]} in {self._db.path} is damaged and left out: {error}")
                continue
            yield Recorded(deletion, body, *_with_known_state(row))

    def _judge_again(self) -> None:
        """Let deletions begin whose state is unknown: retention judges them again."""
        known = ",".join(f"'{each}'" for each in DeletionState)
        unknown = f"state NOT IN ({known})"
        sql = f"SELECT number, state FROM deletions WHERE {unknown}"  # noqa: S608 - our own words
        if rows := self._db.query(sql):
            for number, state in rows:
                self._name(
                    f"deletion {number} in {self._db.path} has the unknown state {state!r}: it is "
                    f"judged again"
                )
            with self._db.transaction() as db:
                db.execute(
                    f"UPDATE deletions SET state = ?, ended_ms = NULL, why = '' WHERE {unknown}",  # noqa: S608
                    (DeletionState.BEGUN,),
                )

    def _name(self, what: str) -> None:
        """Note damage when it is met first: entries are read again and again."""
        if what not in self._named:
            self._named.add(what)
            self._damage.lost(what)


def _signed(wire: object) -> tuple[Deletion, DeletionBody]:
    """Return a stored deletion and its body.

    The signature, by any key, shows that these are the bytes that were signed.

    Raises:
        RejectedError: They are not.
    """
    deletion = parse(Deletion, wire_of(wire))
    return deletion, open_deletion(deletion, {deletion.gateway_public_key})


def _signed_for(row: Row) -> tuple[Deletion, DeletionBody]:
    """Return the deletion of a row, and its body.

    Raises:
        RejectedError: The row does not hold the deletion that was signed for it.
    """
    number, recording, wire, *_ = row
    deletion, body = _signed(wire)
    if (body.number, body.recording_sha256) != (number, recording):
        raise RejectedError(
            f"expected deletion {number} of recording {wire_of(recording).hex()}, got deletion "
            f"{body.number} of {body.recording_sha256.hex()}"
        )
    return deletion, body


def _by_signature(row: Row) -> Row:
    """Return a row from a damaged page, with everything that its signed deletion says.

    Raises:
        RejectedError: The bytes are not a deletion whose signature is valid.
    """
    _, body = _signed(row[2])
    return body.number, body.recording_sha256, row[2], *_with_known_state(row)


def _with_known_state(row: Row) -> tuple[DeletionState, int | None, str]:
    """Return how a row ended; one whose state is unreadable is `begun`: it is judged again."""
    *_, state, ended_ms, why = row
    if state not in set(DeletionState):
        return DeletionState.BEGUN, None, ""
    return DeletionState(state), ended_ms if isinstance(ended_ms, int) else None, str(why)
