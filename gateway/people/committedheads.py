"""Puts the heads of the record of accesses on the ledger, one for each day with an access.

From then on nobody changes or cuts an entry up to it unseen, the gateway's own operator included:
the ledger keeps every head that was ever committed, and each access names the one before.

Heads go in one batch at a time, which is kept until the ledger has decided it. A node of ours that
is older than rules 1.3 leaves it pending; heads of later days wait here, and go together once it is
decided. A validator of Sawtooth would hold up all later batches of everybody: so nothing goes there
before the network says that all its processors know the rules.
"""

import logging
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Final, Protocol

from contracts import address
from contracts.actions.payload import build
from contracts.encoding import canonical, parse
from contracts.errors import RejectedError
from contracts.keys import SigningKey
from contracts.ledger.fromjson import BatchStatus
from contracts.proto.access_pb2 import AccessHeadBody
from contracts.proto.payload_pb2 import CommitAccesses
from contracts.proto.sawtooth_pb2 import Batch
from contracts.proto.state_pb2 import CommittedAccesses, Site
from contracts.rules.version import RulesVersion
from contracts.sawtooth.batches import Family, Status, build_batch
from contracts.sawtooth.nodes import StateTreeNode
from contracts.sawtooth.settings import TRANSACTION_FAMILIES, permitted_families
from gateway.people.accesslog import AccessLog
from gateway.worker import Worker

HEADS_IN_BATCH_MAX: Final = 100
"""Heads that go in one batch; the next ones follow once it is committed."""
COMMIT_WAIT_S: Final = 5
"""How long a step waits for the block of a batch that it has just sent."""
AGAIN_S: Final = 3600.0
"""After a batch that the ledger refused, lost, or has not decided."""
_LOOK_EVERY_S: Final = 600.0
_FAMILY: Final = Family("wayseal", RulesVersion.V1_3.family_version)

_log = logging.getLogger(__name__)


class TakesHeads(Protocol):
    """What is asked of the ledger; `LedgerClient` answers."""

    def head_id(self) -> str:
        """Return the id of the newest block."""
        ...

    def state(self, place: str) -> bytes | None:
        """Return the value at a state address, or None."""
        ...

    def entries(self, head_id: str, prefix: str = "") -> Iterator[tuple[str, bytes]]:
        """Yield the addresses under a prefix and their values after a block, in order."""
        ...

    def state_nodes(self, head_id: str, target: str) -> list[StateTreeNode] | None:
        """Return nodes of the tree of state; None from a ledger that is not ours."""
        ...

    def setting(self, name: str) -> str:
        """Return the value of an on-chain setting; empty when it is not set."""
        ...

    def submit(self, batches: Sequence[Batch]) -> None:
        """Submit batches; safe to repeat."""
        ...

    def statuses(self, batch_ids: Sequence[str], *, wait_s: int = 0) -> dict[str, BatchStatus]:
        """Return the status of each batch; wait up to `wait_s` seconds until none is pending."""
        ...


class CommittedHeads:
    """Commits the heads of one gateway; `worker` runs it.

    Args:
        log: The record of accesses, which signs and keeps heads.
        ledger: Where heads go.
        signer: The gateway's key, which its site has registered.
        site_id: The gateway's site.
        clock_s: A clock that never goes back, seconds.
    """

    def __init__(
        self,
        log: AccessLog,
        ledger: TakesHeads,
        signer: SigningKey,
        site_id: str,
        *,
        clock_s: Callable[[], float] = time.monotonic,
    ) -> None:
        self._accesses = log
        self._record = log.record
        self._ledger = ledger
        self._signer = signer
        self._site_id = site_id
        self._clock_s = clock_s
        self._not_before_s = 0.0
        self._told = ""
        self.worker = Worker("access heads on the ledger", self.step, idle_s=_LOOK_EVERY_S)

    def step(self) -> bool:
        """Send the heads that the ledger lacks, or look what became of those that were sent.

        Returns:
            Whether heads were committed, so that more may follow at once.

        Raises:
            UnavailableError: The ledger does not answer.
        """
        kept = self._record.sending()
        if kept is not None:
            return self._follow(*kept)
        if self._clock_s() < self._not_before_s or not self._record.heads(count=1):
            return False
        newest = self._newest()
        wires = self._record.heads(self._known(newest), HEADS_IN_BATCH_MAX)
        if not wires:
            return False
        if words := self._hindrance():
            self._tell(words)
            return False
        heads = [parse(AccessHeadBody, each.body) for each in wires]
        batch = self._batch(heads, newest.head.sequence + 1)
        self._accesses.keep_sending(heads[-1].number, canonical(batch))
        self._submit(batch)
        return self._follow(heads[-1].number, canonical(batch), COMMIT_WAIT_S)

    def _follow(self, number: int, wire: bytes, wait_s: int = 0) -> bool:
        batch = parse(Batch, wire)
        said = self._ledger.statuses([batch.header_signature], wait_s=wait_s)
        found = said[batch.header_signature]
        if found.status is Status.COMMITTED:
            self._accesses.sent()
            self._told, self._not_before_s = "", 0.0
            _log.info("the ledger has the head of access %d", number)
            return True
        is_due = self._clock_s() >= self._not_before_s
        if found.status is Status.INVALID:
            self._accesses.sent()
            self._not_before_s = self._clock_s() + AGAIN_S
            self._tell(f"the ledger refused the head of access {number}: {found.reason}")
        elif found.status is Status.UNKNOWN and is_due:
            self._submit(batch)
        elif found.status is Status.PENDING and is_due:
            self._tell(
                f"the head of access {number} waits at the ledger: do all nodes, and processors of "
                "a Sawtooth network, know rules 1.3?"
            )
        return False

    def _submit(self, batch: Batch) -> None:
        try:
            self._ledger.submit([batch])
        except RejectedError as error:
            self._tell(f"the ledger does not take a head of the record of accesses: {error}")
        # A ledger that is away or busy raises UnavailableError, and is asked again soon.
        self._not_before_s = self._clock_s() + AGAIN_S

    def _hindrance(self) -> str:
        """Say why the ledger would refuse a head; empty if it would not."""
        place = address.site(self._site_id)
        site = parse(Site, self._ledger.state(place) or b"").site
        if self._signer.public_key not in site.gateway_public_keys:
            what = "has no key" if not site.site_id else "does not have the key"
            return (
                f"heads of the record of accesses wait: site {self._site_id} {what} "
                f"{self._signer.public_key} of this gateway on the ledger"
            )
        try:
            listed = permitted_families(self._ledger.setting(TRANSACTION_FAMILIES))
        except RejectedError:
            listed = {}  # a malformed setting permits everything, as with the validator
        if _FAMILY in listed:
            return ""
        if listed:
            return (
                f"heads of the record of accesses wait: {TRANSACTION_FAMILIES} on the ledger does "
                f"not list {_FAMILY.name} {_FAMILY.version}"
            )
        if self._ledger.state_nodes(self._ledger.head_id(), place) is None:
            # A validator of Sawtooth without a processor for a batch holds up all batches after it.
            return (
                f"heads of the record of accesses wait: expected {TRANSACTION_FAMILIES} on this "
                f"ledger of Sawtooth to list {_FAMILY.name} {_FAMILY.version}, which says that the "
                "processors of all validators know it"
            )
        return ""

    def _newest(self) -> CommittedAccesses:
        """Return the newest head of this record by this key; an empty one before the first."""
        record = self._record.sha256
        place = address.newest_accesses(self._site_id, record, self._signer.public_key)
        return parse(CommittedAccesses, self._ledger.state(place) or b"")

    def _known(self, newest: CommittedAccesses) -> int:
        """Return the number up to which the ledger has the heads of this record.

        The ledger alone is asked: it may have been restored from before a head. A head that this
        record does not lead to tells nothing; then all go again, which harms nobody.
        """
        if newest.head.sequence:
            return self._number_of(newest)
        prefix = address.records_prefix(self._site_id)
        found = [
            parse(CommittedAccesses, wire)
            for _, wire in self._ledger.entries(self._ledger.head_id(), prefix)
        ]
        own = [each for each in found if each.head.record_sha256 == self._record.sha256]
        earlier_keys = self._record.signers if own else set()
        return max(
            (self._number_of(each) for each in own if each.public_key in earlier_keys), default=0
        )

    def _number_of(self, head: CommittedAccesses) -> int:
        """Return the number that a head names; 0 if this record does not lead to it."""
        is_ours = self._record.hash_of(head.head.number) == head.head.sha256
        return head.head.number if is_ours else 0

    def _batch(self, heads: Sequence[AccessHeadBody], sequence: int) -> Batch:
        record = self._record.sha256
        said = [
            CommitAccesses(
                site_id=self._site_id,
                record_sha256=record,
                sequence=number,
                number=head.number,
                sha256=head.sha256,
                at_ms=head.at_ms,
            )
            for number, head in enumerate(heads, sequence)
        ]
        version = RulesVersion.V1_3
        return build_batch(
            self._signer, [build(self._signer, each, version=version) for each in said]
        )

    def _tell(self, words: str) -> None:
        """Log what lasts, once."""
        if self._told != words:
            self._told = words
            _log.warning("%s", words)
