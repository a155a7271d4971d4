"""The record of accesses: whether it leads to the heads on the ledger, and how new they are."""

from collections.abc import Iterator
from contextlib import closing
from typing import Final

from contracts.accesses import access_hash
from contracts.errors import UnavailableError, WaysealError
from contracts.ledger.client import LedgerClient
from contracts.records.clock import rfc3339
from contracts.runtime.checks import Finding, error, ok, warning
from gateway.people.accesslog import SCHEMA
from gateway.people.committedheads import COMMIT_EVERY_MS, committed, mismatch
from gateway.settings import Settings
from storage.checked.look import LookedAt, looking_at

_ANSWER_S: Final = 5.0
_SUBJECT: Final = "accesses"


def findings(settings: Settings, now_ms: int) -> Iterator[Finding]:
    """Yield what was found, if there is a record and the ledger answers; `check` tells the rest."""
    if not settings.accesses_file.exists():
        return
    try:
        with closing(LedgerClient(settings.ledger.place, timeout_s=_ANSWER_S)) as ledger:
            newest = next(committed(ledger, settings.site_id), None)
        with looking_at(settings.accesses_file, SCHEMA) as db:
            number = 0 if newest is None else newest.head.number
            here, found = _newest(db), _hash(db, number)
    except UnavailableError:
        return
    except WaysealError as problem:
        yield error(_SUBJECT, problem, "restore accesses.db from the backup")
        return
    if newest is not None and (words := mismatch(newest, found)):
        remedy = "wayseal-gateway accesses --check --ledger says more; restore accesses.db"
        yield error(_SUBJECT, words, remedy)
    elif newest is None and here:
        yield warning(_SUBJECT, "no access is on the ledger yet", _remedy(settings))
    elif newest is not None and here > number and now_ms - newest.head.at_ms > 2 * COMMIT_EVERY_MS:
        at = rfc3339(newest.head.at_ms)
        words = f"access {here} is the newest, the ledger has {number}, of {at}"
        yield warning(_SUBJECT, words, _remedy(settings))
    elif newest is not None:
        yield ok(_SUBJECT, f"the record leads to access {number}, which the ledger holds")


def _newest(db: LookedAt) -> int:
    ((number,),) = db.query("SELECT ifnull(max(number), 0) FROM accesses")
    return int(number)


def _hash(db: LookedAt, number: int) -> bytes | None:
    rows = db.query("SELECT wire FROM accesses WHERE number = ?", number)
    return access_hash(rows[0][0]) if rows else None


def _remedy(settings: Settings) -> str:
    return (
        "the gateway tries each hour and logs why not: the ledger needs rules 1.3, and site "
        f"{settings.site_id} the gateway's key"
    )
