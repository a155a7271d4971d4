"""The register of jobs: a row for each, in one file that survives a restart."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from contracts.runtime.schema import Schema
from contracts.runtime.sqlite import changed_rows
from gateway.access import Caller, Role
from gateway.grants import granted, grants_text
from gateway.jobs.job import JobKind, JobState, KeptJob, Made
from storage.checked.damage import DamageNotes
from storage.checked.kept import Kept, open_kept

_TABLE: Final = """
CREATE TABLE jobs (
  number INTEGER PRIMARY KEY,
  job_id TEXT NOT NULL UNIQUE,
  name TEXT NOT NULL,
  role TEXT NOT NULL,
  grants TEXT,
  kind TEXT NOT NULL,
  subjects TEXT NOT NULL,
  state TEXT NOT NULL,
  asked_ms INTEGER NOT NULL,
  began_ms INTEGER,
  ended_ms INTEGER,
  error TEXT NOT NULL DEFAULT '',
  media_type TEXT,
  file_name TEXT,
  size INTEGER,
  sha256 BLOB
);
"""
SCHEMA: Final = Schema("register of jobs", (_TABLE,))
_COLUMNS: Final = (
    "number, job_id, name, role, grants, kind, subjects, state, asked_ms, began_ms, ended_ms,"
    " error, media_type, file_name, size, sha256"
)
_KINDS: Final = ", ".join(f"'{kind}'" for kind in JobKind)
_OWNED: Final = f"name = ? AND role = ? AND grants IS ? AND kind IN ({_KINDS})"
"""The same name with other rights is another owner: a job was done by the rights of its time. A job
of a kind that a newer version began is shown to nobody; it is forgotten as any other."""


class JobRegister(Kept):
    """The jobs of one gateway; safe to use from several threads."""

    def __init__(self, path: Path, damage: DamageNotes | None = None) -> None:
        self._db = open_kept(path, SCHEMA, damage)

    def add(
        self, job_id: str, owner: Caller, kind: JobKind, subjects: Sequence[str], now: int
    ) -> None:
        """Write a new job down; durable on return.

        Raises:
            UnavailableError: It cannot be written.
        """
        row = (job_id, *_owner(owner), kind, json.dumps(list(subjects)), JobState.WAITING, now)
        with self._db.transaction() as db:
            db.execute(
                "INSERT INTO jobs (job_id, name, role, grants, kind, subjects, state, asked_ms)"
                " VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                row,
            )

    def find(self, owner: Caller, job_id: str) -> KeptJob | None:
        """Return a job of an owner, or None."""
        sql = f"SELECT {_COLUMNS} FROM jobs WHERE job_id = ? AND {_OWNED}"  # noqa: S608
        rows = self._db.query(sql, job_id, *_owner(owner))
        return _job(*rows[0]) if rows else None

    def listed(self, owner: Caller, after: int, count: int) -> list[KeptJob]:
        """Return up to `count` jobs of an owner whose numbers follow `after`."""
        sql = f"SELECT {_COLUMNS} FROM jobs WHERE {_OWNED} AND number > ? ORDER BY number LIMIT ?"  # noqa: S608
        return [_job(*row) for row in self._db.query(sql, *_owner(owner), after, count)]

    def begin(self, job_id: str, now: int) -> None:
        """Note that work begins.

        Raises:
            UnavailableError: It cannot be written.
        """
        sql = "UPDATE jobs SET state = ?, began_ms = ? WHERE job_id = ?"
        with self._db.transaction() as db:
            db.execute(sql, (JobState.RUNNING, now, job_id))

    def end(
        self, job_id: str, state: JobState, now: int, *, error: str = "", made: Made | None = None
    ) -> None:
        """Note how a job ended.

        Raises:
            UnavailableError: It cannot be written.
        """
        file = (None,) * 4 if made is None else _file(made)
        with self._db.transaction() as db:
            db.execute(
                "UPDATE jobs SET state = ?, ended_ms = ?, error = ?, media_type = ?, file_name = ?,"
                " size = ?, sha256 = ? WHERE job_id = ?",
                (state, now, error, *file, job_id),
            )

    def drop(self, job_id: str) -> None:
        """Forget a job."""
        with self._db.transaction() as db:
            db.execute("DELETE FROM jobs WHERE job_id = ?", (job_id,))

    def expire(self, before_ms: int, most_of_one: int, alive: Sequence[str]) -> int:
        """Forget jobs that are old, and of each owner all but the newest; return how many.

        Args:
            before_ms: What was asked for earlier, and did not end since, is old.
            most_of_one: So many of each name stay.
            alive: Jobs that stay in any case.
        """
        with self._db.transaction() as db:
            db.execute(
                "DELETE FROM jobs WHERE job_id NOT IN (SELECT value FROM json_each(?)) AND"
                " (max(asked_ms, ifnull(ended_ms, 0)) < ? OR number IN (SELECT number FROM (SELECT"
                " number, row_number() OVER (PARTITION BY name ORDER BY number DESC) AS place"
                " FROM jobs) WHERE place > ?))",
                (json.dumps(list(alive)), before_ms, most_of_one),
            )
            return changed_rows(db)

    def files(self) -> dict[str, tuple[str, int]]:
        """Return owner's name and size of each file that is kept, by job."""
        rows = self._db.query("SELECT job_id, name, size FROM jobs WHERE size IS NOT NULL")
        return {job_id: (name, size) for job_id, name, size in rows}


def _owner(caller: Caller) -> tuple[str, str, str | None]:
    grants = None if caller.grants is None else grants_text(caller.grants)
    return caller.name, caller.role, grants


def _file(made: Made) -> tuple[str, str, int, bytes]:
    return made.media_type, made.file_name, made.size, made.sha256


def _job(*row: Any) -> KeptJob:  # noqa: ANN401 - a row of SQLite
    (number, job_id, name, role, grants, kind, subjects, state, asked_ms, began, ended, error) = (
        row[:12]
    )
    owner = Caller(name, Role(role), granted(grants))
    made = None if row[12] is None else Made(*row[12:])
    return KeptJob(
        number,
        job_id,
        owner,
        JobKind(kind),
        tuple(json.loads(subjects)),
        JobState(state),
        asked_ms,
        began,
        ended,
        error,
        made,
    )
