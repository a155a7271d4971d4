"""A gateway's record of accesses, a ledger that runs the rules in this process, and clocks."""

import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from contracts import address
from contracts.actions.payload import decode
from contracts.encoding import parse
from contracts.errors import RejectedError, UnavailableError
from contracts.keys import Signer
from contracts.ledger.fromjson import BatchStatus
from contracts.proto.payload_pb2 import CommitAccesses, RegisterSite
from contracts.proto.sawtooth_pb2 import Batch
from contracts.proto.state_pb2 import CommittedAccesses
from contracts.records.clock import now_ms
from contracts.sawtooth.batches import Status
from contracts.sawtooth.nodes import StateTreeNode
from gateway.access import Caller, Role
from gateway.people.accesslog import HEAD_EVERY_MS, AccessLog, Taken
from gateway.people.committedheads import CommittedHeads
from support.ledgers.hosts import DirectHost, apply_all
from support.network.world import key, one, registrations

SITE: Final = "site-buyer"
GATEWAY: Final = key("gateway-buyer")
AUDITOR: Final = Caller("auditor", Role.AUDITOR)


class Ledger:
    """What a gateway asks of a ledger, answered by the rules.

    Attributes:
        submitted: Every batch that was sent, in order.
        undecided: The status of each batch that is sent; None: the rules decide at once.
        refuses: Whether each batch is INVALID.
        listed: The on-chain setting of permitted families.
        is_away: Whether it does not answer.
        is_busy: Whether it takes no batch.
        is_sawtooth: Whether it tells no nodes of its tree.
    """

    def __init__(self) -> None:
        self.host = DirectHost()
        apply_all(self.host, registrations())
        self.submitted: list[Batch] = []
        self.undecided: Status | None = None
        self.refuses = False
        self.listed = ""
        self.is_away = False
        self.is_busy = False
        self.is_sawtooth = False
        self._said: dict[str, BatchStatus] = {}

    def state(self, place: str) -> bytes | None:
        self._answer()
        return self.host.state(place)

    def setting(self, name: str) -> str:
        assert name == "sawtooth.validator.transaction_families"
        return self.listed

    def head_id(self) -> str:
        return "ab" * 64

    def entries(self, head_id: str, prefix: str = "") -> Iterator[tuple[str, bytes]]:
        self._answer()
        assert head_id == self.head_id()
        yield from sorted(each for each in self.host.dump().items() if each[0].startswith(prefix))

    def state_nodes(self, head_id: str, target: str) -> list[StateTreeNode] | None:
        assert (head_id, target) == (self.head_id(), address.site(SITE))
        return None if self.is_sawtooth else []

    def submit(self, batches: Sequence[Batch]) -> None:
        self._answer()
        if self.is_busy:
            raise UnavailableError("the ledger is busy")
        for batch in batches:
            self.submitted.append(batch)
            self._decide(batch)

    def statuses(self, batch_ids: Sequence[str], *, wait_s: int = 0) -> dict[str, BatchStatus]:
        assert wait_s >= 0
        unknown = BatchStatus(Status.UNKNOWN, "")
        return {each: self._said.get(each, unknown) for each in batch_ids}

    def upgrade(self) -> None:
        """Let nodes know the rules of each batch that waits."""
        self.undecided = None
        for batch in list(self.submitted):
            if self._said[batch.header_signature].status is Status.PENDING:
                self._decide(batch)

    def register(self, *public_keys: str) -> None:
        """Let the site register these keys of its gateways, and no others."""
        place = RegisterSite(
            site_id=SITE, party_id="buyer", name="Dock B", gateway_public_keys=public_keys
        )
        self.host.apply(one(key("buyer"), place))

    def _answer(self) -> None:
        if self.is_away:
            raise UnavailableError("the ledger does not answer")

    def _decide(self, batch: Batch) -> None:
        self._said[batch.header_signature] = self._outcome(batch)

    def _outcome(self, batch: Batch) -> BatchStatus:
        if self.undecided is not None:
            return BatchStatus(self.undecided, "")
        if self.refuses:
            return BatchStatus(Status.INVALID, "wrong-state: expected head 2")
        try:
            self.host.apply(batch)
        except RejectedError as error:
            return BatchStatus(Status.INVALID, str(error))
        return BatchStatus(Status.COMMITTED, "")


class Gateway:
    """A record of accesses, its heads, and clocks that a test moves."""

    def __init__(
        self, directory: Path, signer: Signer = GATEWAY, ledger: Ledger | None = None
    ) -> None:
        directory.mkdir(exist_ok=True)
        self.ms, self.s = now_ms(), 0.0
        self.file = directory / "accesses.db"
        self.signer = signer
        self.log = AccessLog(self.file, signer, SITE, now=lambda: self.ms, clock_s=lambda: self.s)
        self.ledger = ledger or Ledger()
        self.heads = CommittedHeads(self.log, self.ledger, signer, SITE, clock_s=lambda: self.s)

    @property
    def log_name(self) -> str:
        """How a check names this record."""
        return self.log.record.sha256.hex()[:16]

    def take(self, *what: str) -> None:
        """Note accesses."""
        for each in what:
            self.s += 1
            self.log.note(AUDITOR, "192.0.2.1", Taken.EVIDENCE, [each, str(self.s)])

    def step(self) -> None:
        """Do what both workers do."""
        self.log.step()
        self.heads.step()

    def a_day_later(self) -> None:
        """Move the clocks."""
        self.ms += HEAD_EVERY_MS
        self.s += HEAD_EVERY_MS / 1000

    def copy(self, signer: Signer | None = None) -> "Gateway":
        """Return a gateway with a copy of the record as it is, on the same ledger."""
        self.log._db.query("PRAGMA wal_checkpoint(TRUNCATE)")  # noqa: SLF001 - for the copy
        directory = self.file.parent / f"copy-{len(list(self.file.parent.iterdir()))}"
        directory.mkdir()
        shutil.copyfile(self.file, directory / self.file.name)
        made = Gateway(directory, signer or self.signer, self.ledger)
        made.ms, made.s = self.ms, self.s
        return made

    def numbers(self) -> list[int]:
        """Return the numbers of this record's accesses that have heads by this key, in order."""
        found = [
            parse(CommittedAccesses, wire)
            for _, wire in self.ledger.entries(
                self.ledger.head_id(), address.accesses_prefix(SITE, self.log.record.sha256)
            )
        ]
        own = [each.head for each in found if each.public_key == self.signer.public_key]
        return [each.number for each in sorted(own, key=lambda each: each.sequence)]

    def heads_of(self, batch: Batch) -> list[CommitAccesses]:
        """Return the heads in a batch."""
        actions = [decode(each.payload) for each in batch.transactions]
        return [each for each in actions if isinstance(each, CommitAccesses)]
