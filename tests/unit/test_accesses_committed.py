"""Heads of the record of accesses on a ledger: who puts them there, and what they prove later."""

import logging
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Final, cast

import pytest

from contracts.accesses import access_hash, problems
from contracts.actions.payload import build
from contracts.encoding import canonical, parse
from contracts.errors import RejectedError, UnavailableError
from contracts.keys import Signer
from contracts.ledger.fromjson import BatchStatus
from contracts.proto.access_pb2 import Access
from contracts.proto.payload_pb2 import CommitAccesses
from contracts.proto.sawtooth_pb2 import Batch
from contracts.records.clock import now_ms
from contracts.rules.ids import Rule
from contracts.rules.version import RulesVersion
from contracts.sawtooth.batches import Status, build_batch
from gateway.access import Caller, Role
from gateway.people.accesslog import AccessLog, Taken
from gateway.people.committedheads import COMMIT_EVERY_MS, CommittedHeads, as_head, committed
from support.ledgers.hosts import DirectHost, apply_all, refused
from support.network.world import key, registrations

if TYPE_CHECKING:
    from contracts.ledger.client import LedgerClient

SITE: Final = "site-buyer"
GATEWAY: Final = key("gateway-buyer")
AUDITOR: Final = Caller("auditor", Role.AUDITOR)


class Ledger:
    """What the gateway asks of a ledger, answered by the rules in this process."""

    def __init__(self) -> None:
        self.host = DirectHost()
        apply_all(self.host, registrations())
        self.submitted = 0
        self.is_away = False
        self._said: dict[str, BatchStatus] = {}

    def state(self, place: str) -> bytes | None:
        if self.is_away:
            raise UnavailableError("the ledger does not answer")
        return self.host.state(place)

    def submit(self, batches: Sequence[Batch]) -> None:
        for batch in batches:
            self.submitted += 1
            try:
                self.host.apply(batch)
            except RejectedError as error:
                said = BatchStatus(Status.INVALID, str(error))
            else:
                said = BatchStatus(Status.COMMITTED, "")
            self._said[batch.header_signature] = said

    def statuses(self, batch_ids: Sequence[str], wait_s: int) -> dict[str, BatchStatus]:
        assert wait_s > 0
        return {each: self._said[each] for each in batch_ids}


class Gateway:
    """A record of accesses, a ledger, and clocks that a test moves."""

    def __init__(self, directory: Path, signer: Signer = GATEWAY) -> None:
        self.ms, self.s = now_ms(), 0.0
        self.log = AccessLog(
            directory / "accesses.db", signer, SITE, now=lambda: self.ms, clock_s=lambda: self.s
        )
        self.ledger = Ledger()
        self.heads = CommittedHeads(
            self.log,
            cast("LedgerClient", self.ledger),
            signer,
            SITE,
            now=lambda: self.ms,
            clock_s=lambda: self.s,
        )

    def take(self, *what: str) -> None:
        for each in what:
            self.log.note(AUDITOR, "192.0.2.1", Taken.EVIDENCE, [each])

    def numbers(self) -> list[int]:
        """Return the numbers of the heads on the ledger, the newest first."""
        return [each.head.number for each in committed(self.ledger, SITE)]

    def a_day_later(self) -> None:
        self.ms += COMMIT_EVERY_MS
        self.s += COMMIT_EVERY_MS / 1000


@pytest.fixture
def gateway(tmp_path: Path) -> Iterator[Gateway]:
    made = Gateway(tmp_path)
    with closing(made.log):
        yield made


def head(number: int = 1, site_id: str = SITE, sha256: bytes = bytes(32)) -> CommitAccesses:
    return CommitAccesses(site_id=site_id, number=number, sha256=sha256, at_ms=1)


def signed(action: CommitAccesses, by: str = "gateway-buyer") -> Batch:
    signer = key(by)
    return build_batch(signer, [build(signer, action, version=RulesVersion.V1_3)])


def test_a_gateway_of_the_site_alone_commits_and_numbers_grow() -> None:
    host = Ledger().host
    for by in ("gateway-seller", "buyer", "admin", "truck-1", "stranger"):
        assert refused(host, signed(head(), by)) == Rule.UNKNOWN_KEY
    assert refused(host, signed(head(site_id="nowhere"))) == Rule.UNKNOWN_SITE
    host.apply(signed(head(5)))
    for number in (5, 4, 1):
        assert refused(host, signed(head(number, sha256=b"x" * 32))) == Rule.WRONG_STATE
    host.apply(signed(head(9)))
    found = list(committed(host, SITE))
    assert [(each.head.number, each.before_number) for each in found] == [(9, 5), (5, 0)]
    assert {each.public_key for each in found} == {GATEWAY.public_key}


@pytest.mark.parametrize(
    "action",
    [
        head(0),
        head(1 << 63),
        head(sha256=b""),
        head(sha256=bytes(31)),
        head(site_id=""),
        head(site_id="a b"),
        CommitAccesses(site_id=SITE, number=1, sha256=bytes(32), at_ms=1 << 60),
    ],
)
def test_a_malformed_head_is_refused(action: CommitAccesses) -> None:
    assert refused(Ledger().host, signed(action)) == Rule.FORM


@pytest.mark.parametrize("version", [RulesVersion.V1_0, RulesVersion.V1_1, RulesVersion.V1_2])
def test_earlier_rules_know_no_such_action(version: RulesVersion) -> None:
    transaction = build(GATEWAY, head(), version=version)
    assert refused(Ledger().host, build_batch(GATEWAY, [transaction])) == Rule.FORM


def test_a_head_is_committed_once_a_day_if_there_was_an_access(gateway: Gateway) -> None:
    gateway.heads.step()
    assert gateway.ledger.submitted == 0  # nobody took anything
    gateway.take("a", "b")
    gateway.heads.step()
    assert gateway.numbers() == [2]
    gateway.take("c")
    gateway.heads.step()
    assert gateway.numbers() == [2]
    gateway.a_day_later()
    gateway.heads.step()
    assert gateway.numbers() == [3, 2]
    gateway.a_day_later()
    gateway.heads.step()
    assert (gateway.numbers(), gateway.ledger.submitted) == ([3, 2], 2)


def test_what_keeps_a_head_off_the_ledger_is_told_once_and_tried_again_each_hour(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    gateway = Gateway(tmp_path, Signer.generate())  # a key that the site has not registered
    with closing(gateway.log):
        gateway.take("a")
        for _ in range(3):
            gateway.heads.step()
            gateway.s += 600
        assert gateway.ledger.submitted == 1
        gateway.s += 3600
        gateway.heads.step()
        assert gateway.ledger.submitted == 2
        gateway.ledger.is_away = True
        with pytest.raises(UnavailableError):  # the worker says so, and asks again
            gateway.heads.step()
    (said,) = [each for each in caplog.records if "not on the ledger" in each.getMessage()]
    assert "access 1 is not on the ledger: unknown-key" in said.getMessage()


def check(gateway: Gateway) -> list[str]:
    """Return what a check of the record finds beside the heads on the ledger."""
    heads = [as_head(each) for each in committed(gateway.ledger, SITE)]
    return list(problems(gateway.log.wires(0, 1000), heads))


def rewrite(gateway: Gateway, change: dict[int, str]) -> None:
    """Write the record again with other subjects, each entry naming the one before."""
    before = b""
    with gateway.log._db.transaction() as db:  # noqa: SLF001 - as its operator may
        for number, wire in gateway.log.wires(0, 1000):
            access = parse(Access, wire)
            access.before_sha256 = before
            if number in change:
                access.subjects[:] = [change[number]]
            before = access_hash(canonical(access))
            db.execute("UPDATE accesses SET wire = ? WHERE number = ?", (canonical(access), number))


def test_a_record_that_was_rewritten_whole_is_found(
    gateway: Gateway, caplog: pytest.LogCaptureFixture
) -> None:
    gateway.take("a", "b", "c")
    gateway.heads.step()
    gateway.take("d")
    assert check(gateway) == []
    rewrite(gateway, {4: "after the head: nobody can tell"})
    assert check(gateway) == []
    rewrite(gateway, {2: "another"})
    assert check(gateway) == ["access 3 is another one than its signed head says"]
    gateway.a_day_later()
    with caplog.at_level(logging.ERROR):
        gateway.heads.step()
        gateway.heads.step()
    (said,) = caplog.records
    assert "access 3, which is another one here" in said.getMessage()
    assert gateway.numbers() == [4, 3]  # later accesses are protected all the same
    assert check(gateway) == ["access 3 is another one than its signed head says"]


def test_a_record_that_was_cut_or_begun_again_is_found(gateway: Gateway) -> None:
    gateway.take("a", "b", "c")
    gateway.heads.step()
    with gateway.log._db.transaction() as db:  # noqa: SLF001 - as its operator may
        db.execute("DELETE FROM accesses WHERE number > 1")
    assert check(gateway) == ["the head of access 3 was signed, and that access is missing"]
    gateway.take("d")
    gateway.a_day_later()
    gateway.heads.step()
    assert gateway.numbers() == [3]
    gateway.take("e", "f")  # as many as there were, and others
    assert check(gateway) == ["access 3 is another one than its signed head says"]


def test_an_earlier_head_counts_as_well_as_the_newest(gateway: Gateway) -> None:
    """Who controls the key may commit a head of a rewritten record; the earlier heads stay."""
    gateway.take("a", "b")
    gateway.heads.step()
    gateway.take("c")
    rewrite(gateway, {1: "another"})
    ((number, wire),) = gateway.log.wires(2, 1)
    gateway.ledger.host.apply(signed(head(number, sha256=access_hash(wire))))
    assert gateway.numbers() == [3, 2]
    assert check(gateway) == ["access 2 is another one than its signed head says"]
