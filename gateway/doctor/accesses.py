"""The record of accesses: whether it leads to the heads on the ledger, and which are missing."""

from collections.abc import Iterator
from contextlib import closing
from typing import Final

from contracts.errors import UnavailableError, WaysealError
from contracts.ledger.client import LedgerClient
from contracts.runtime.checks import Finding, error, ok, warning
from gateway.ownkey import kept_public_key
from gateway.people.accesslog import SCHEMA
from gateway.people.headcheck import LookedRecord, heads_on_ledger, judge
from gateway.settings import Settings
from storage.checked.look import looking_at

_ANSWER_S: Final = 5.0
_SUBJECT: Final = "accesses"


def findings(settings: Settings, now_ms: int) -> Iterator[Finding]:
    """Yield what was found, if there is a record and the ledger answers; `check` tells the rest."""
    if not settings.accesses_file.exists():
        return
    known = kept_public_key(settings)
    try:
        with (
            closing(LedgerClient(settings.ledger.place, timeout_s=_ANSWER_S)) as ledger,
            looking_at(settings.accesses_file, SCHEMA) as db,
        ):
            record = LookedRecord(db)
            on_ledger = heads_on_ledger(ledger, settings.site_id, record.sha256)
            own_keys = record.signers | ({known} if known else set())
            judged = judge(record, on_ledger, own_keys, now_ms)
    except UnavailableError:
        return
    except WaysealError as problem:
        yield error(_SUBJECT, problem, "restore accesses.db from the backup")
        return
    for words in judged.problems:
        yield error(_SUBJECT, words, "wayseal-gateway accesses --check; restore accesses.db")
    for words in judged.notes:
        yield warning(
            _SUBJECT, words, 'docs/operator.md, "Accesses on the ledger", says what to do'
        )
    if not judged.problems and not judged.notes:
        yield ok(_SUBJECT, judged.state)
