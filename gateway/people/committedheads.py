"""Puts the head of the record of accesses on the ledger once a day, if there was an access.

From then on nobody changes or cuts an entry up to it unseen, the gateway's own operator included:
the ledger keeps every head that was ever committed, and each access names the one before.
"""

import logging
import time
from collections.abc import Callable, Iterator
from typing import Final, Protocol

from contracts import address
from contracts.actions.payload import build
from contracts.encoding import parse
from contracts.errors import WaysealError
from contracts.keys import SigningKey
from contracts.ledger.client import LedgerClient
from contracts.party.submit import commit
from contracts.proto.access_pb2 import AccessHeadBody
from contracts.proto.payload_pb2 import CommitAccesses
from contracts.proto.state_pb2 import CommittedAccesses
from contracts.records.clock import now_ms
from contracts.rules.version import RulesVersion
from gateway.people.accesslog import AccessLog
from gateway.worker import Worker

COMMIT_EVERY_MS: Final = 86_400_000
COMMIT_WAIT_MAX_S: Final = 10.0
"""How long one attempt waits for its block."""
_AGAIN_S: Final = 3600.0
"""After a head that was not committed; whatever stands in its way lasts, and a batch may wait."""
_LOOK_EVERY_S: Final = 600.0

_log = logging.getLogger(__name__)


class _State(Protocol):
    def state(self, place: str) -> bytes | None:
        """Return the value at a state address, or None."""
        ...


def committed(ledger: _State, site_id: str) -> Iterator[CommittedAccesses]:
    """Yield the heads of a site that the ledger holds, the newest first.

    Raises:
        RejectedError: An entry is malformed.
        UnavailableError: The ledger does not answer.
    """
    wire = ledger.state(address.accesses(site_id))
    while wire is not None:
        found = parse(CommittedAccesses, wire)
        yield found
        before = found.before_number
        wire = ledger.state(address.accesses(site_id, before)) if before else None


def as_head(entry: CommittedAccesses) -> AccessHeadBody:
    """Return a committed head as a check of the record takes it."""
    head = entry.head
    return AccessHeadBody(
        site_id=head.site_id, number=head.number, sha256=head.sha256, at_ms=head.at_ms
    )


def mismatch(entry: CommittedAccesses, found: bytes | None) -> str:
    """Say how the record here differs from a head on the ledger; empty: it leads to it.

    Args:
        entry: On the ledger.
        found: The hash of the access of that number here; None: there is none.
    """
    if found == entry.head.sha256:
        return ""
    here = "is missing here" if found is None else "is another one here"
    return (
        f"the ledger holds the hash of access {entry.head.number}, which {here}: the record was "
        "changed or cut"
    )


class CommittedHeads:
    """Commits heads of one gateway; `worker` runs it.

    Args:
        log: The record of accesses.
        ledger: Where heads go.
        signer: The gateway's key, which its site has registered.
        site_id: The gateway's site.
        now: The time, UTC ms.
        clock_s: A clock that never goes back, seconds.
    """

    def __init__(
        self,
        log: AccessLog,
        ledger: LedgerClient,
        signer: SigningKey,
        site_id: str,
        *,
        now: Callable[[], int] = now_ms,
        clock_s: Callable[[], float] = time.monotonic,
    ) -> None:
        self._accesses = log
        self._ledger = ledger
        self._signer = signer
        self._site_id = site_id
        self._now = now
        self._clock_s = clock_s
        self._not_before_s = 0.0
        self._told: dict[int, str] = {}
        self.worker = Worker("access head on the ledger", self.step, idle_s=_LOOK_EVERY_S)

    def step(self) -> bool:
        """Commit the newest access, unless a head of today is committed or nothing is new.

        Raises:
            UnavailableError: The ledger does not answer.
        """
        number, sha256 = self._accesses.newest()
        before = next(committed(self._ledger, self._site_id), None)
        if before is not None:
            words = mismatch(before, self._accesses.hash_of(before.head.number))
            if words:  # later accesses are committed all the same, and earlier heads stay
                self._tell(logging.ERROR, words)
        is_new = number > (0 if before is None else before.head.number)
        is_due = before is None or abs(self._now() - before.head.at_ms) >= COMMIT_EVERY_MS
        if is_new and is_due and self._clock_s() >= self._not_before_s:
            self._commit(number, sha256)
        return False

    def _commit(self, number: int, sha256: bytes) -> None:
        action = CommitAccesses(
            site_id=self._site_id, number=number, sha256=sha256, at_ms=self._now()
        )
        transaction = build(self._signer, action, version=RulesVersion.V1_3)
        try:
            commit(self._signer, transaction, self._ledger, COMMIT_WAIT_MAX_S)
        except WaysealError as error:
            self._not_before_s = self._clock_s() + _AGAIN_S
            self._tell(logging.WARNING, f"access {number} is not on the ledger: {error}")
            return
        _log.info("the ledger holds the hash of access %d, %s", number, sha256.hex())

    def _tell(self, level: int, words: str) -> None:
        """Log something that lasts, once."""
        if self._told.get(level) != words:
            self._told[level] = words
            _log.log(level, "%s", words)
