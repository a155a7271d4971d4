"""The record of accesses: whether it is whole and leads to the heads on the ledger."""

from collections.abc import Generator, Iterator
from contextlib import closing
from typing import Final

from contracts.accesses import problems
from contracts.errors import RejectedError, UnavailableError, WaysealError
from contracts.ledger.client import LedgerClient
from contracts.runtime.checks import Finding, error, ok, warning
from gateway.ownkey import kept_public_key
from gateway.people.accesslog import SCHEMA
from gateway.people.accessrecord import AccessRecord
from gateway.people.headcheck import OnLedger, begun_again, heads_on_ledger, judge
from gateway.settings import Settings
from storage.checked.look import looking_at

_ANSWER_S: Final = 5.0
_SUBJECT: Final = "accesses"
_FAULTS_MAX: Final = 5
"""Faults of the file that are named; `accesses --check` names more."""
_UNREAD: Final = (
    "check the disk; a start of the gateway brings up a file of an older version, and keeps the "
    "rows of a damaged one that are good"
)
_SHOWS: Final = "wayseal-gateway accesses --check; restore accesses.db from the newest backup"


def findings(settings: Settings, now_ms: int) -> Iterator[Finding]:
    """Yield what was found; nothing of a ledger that does not answer, which `check` reports."""
    known = kept_public_key(settings)
    if not settings.accesses_file.exists():
        yield from _missing(settings, known, now_ms)
        return
    try:
        with looking_at(settings.accesses_file, SCHEMA) as db:
            record = AccessRecord(db)
            faults = list(problems(record.all_wires(), []))
            own_keys = record.own_keys(known)
            on_ledger = yield from _asked(settings, record.sha256)
            judged = None if on_ledger is None else judge(record, on_ledger, own_keys, now_ms)
    except WaysealError as problem:
        yield error(_SUBJECT, problem, _UNREAD)
        return
    for words in faults[:_FAULTS_MAX]:
        yield error(_SUBJECT, words, _SHOWS)
    if judged is None:
        return
    for words in judged.problems:
        yield error(_SUBJECT, words, _SHOWS)
    for words in judged.notes:
        yield warning(
            _SUBJECT, words, 'docs/operator.md, "Accesses on the ledger", says what to do'
        )
    if not faults and not judged.problems and not judged.notes:
        yield ok(_SUBJECT, judged.state)


def _missing(settings: Settings, known: str | None, now_ms: int) -> Iterator[Finding]:
    """Yield that there is no file, if the ledger has heads by this gateway's key."""
    on_ledger = yield from _asked(settings, b"")
    if on_ledger is None or known is None:
        return
    for words in begun_again(on_ledger.others, [known], now_ms):
        yield error(
            _SUBJECT,
            f"{settings.accesses_file} is missing: {words}",
            "restore accesses.db from the newest backup before you start the gateway",
        )


def _asked(settings: Settings, record_sha256: bytes) -> Generator[Finding, None, OnLedger | None]:
    """Return what the ledger has; yield why it says nothing, unless it does not answer."""
    try:
        with closing(LedgerClient(settings.ledger.place, timeout_s=_ANSWER_S)) as ledger:
            return heads_on_ledger(ledger, settings.site_id, record_sha256)
    except UnavailableError:
        return None
    except RejectedError as problem:
        yield warning(_SUBJECT, f"the ledger: {problem}", "run wayseal-gateway doctor again")
        return None
