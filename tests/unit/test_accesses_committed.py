"""Heads of the record of accesses on a ledger: who puts them there, when, and how often."""

import logging
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from contracts import address
from contracts.encoding import parse
from contracts.errors import UnavailableError
from contracts.keys import Signer
from contracts.proto.payload_pb2 import CommitAccesses
from contracts.proto.state_pb2 import CommittedAccesses
from contracts.rules.ids import Rule
from contracts.rules.version import RulesVersion
from contracts.sawtooth.batches import Status
from gateway.people.accesslog import HEAD_EVERY_MS
from gateway.people.committedheads import AGAIN_S, HEADS_IN_BATCH_MAX
from support.gateways.heads import GATEWAY, SITE, Gateway, Ledger
from support.ledgers.hosts import refused
from support.network.world import START_MS, key
from support.verifier.heads import HOSTILE, RECORD, head, signed


@pytest.fixture
def gateway(tmp_path: Path) -> Iterator[Gateway]:
    made = Gateway(tmp_path)
    with closing(made.log):
        yield made


def newest(ledger: Ledger, record: bytes = RECORD, signer: str = "gateway-buyer") -> int:
    """Return the sequence of the newest head of a record by a key."""
    place = address.newest_accesses(SITE, record, key(signer).public_key)
    return parse(CommittedAccesses, ledger.state(place) or b"").head.sequence


def test_a_gateway_of_the_site_alone_commits_and_leaves_out_no_head() -> None:
    host = Ledger().host
    for by in ("gateway-seller", "buyer", "admin", "truck-1", "stranger"):
        assert refused(host, signed(head(), by=by)) == Rule.UNKNOWN_KEY
    nowhere = head()
    nowhere.site_id = "nowhere"
    assert refused(host, signed(nowhere)) == Rule.UNKNOWN_SITE
    host.apply(signed(head(1, 5)))
    for sequence in (1, 3, 1 << 40):
        assert refused(host, signed(head(sequence, 9))) == Rule.WRONG_STATE
    host.apply(signed(head(2, 9), head(3, 4)))  # a record that was restored goes on at once
    kept = [
        parse(CommittedAccesses, wire)
        for place, wire in sorted(host.dump().items())
        if place.startswith(address.accesses_prefix(SITE, RECORD))
    ]
    assert {(each.head.sequence, each.head.number) for each in kept} == {(1, 5), (2, 9), (3, 4)}
    assert {each.public_key for each in kept} == {GATEWAY.public_key}
    assert {each.rules for each in kept} == {1}


def test_a_head_keeps_the_time_of_the_block_before_it() -> None:
    ledger = Ledger()
    ledger.host.tell_time(START_MS // 1000)
    ledger.host.apply(signed(head()))
    place = address.accesses(SITE, RECORD, GATEWAY.public_key, 1)
    entry = parse(CommittedAccesses, ledger.state(place) or b"")
    assert entry.committed_at_s == START_MS // 1000


def test_neither_another_record_nor_another_key_keeps_a_head_from_the_ledger() -> None:
    """A thief's key, and a record that is gone, count for themselves."""
    ledger = Ledger()
    ledger.register(GATEWAY.public_key, key("thief").public_key)
    ledger.host.apply(signed(head(1, (1 << 63) - 1), by="thief"))
    lost = head(1, 9)
    lost.record_sha256 = bytes(32)
    ledger.host.apply(signed(lost))
    ledger.host.apply(signed(head(1, 1)))
    assert newest(ledger) == newest(ledger, bytes(32)) == newest(ledger, RECORD, "thief") == 1


@pytest.mark.parametrize("name", HOSTILE)
def test_a_malformed_head_is_refused(name: str) -> None:
    said = head()
    HOSTILE[name](said)
    assert refused(Ledger().host, signed(said)) == Rule.FORM


@pytest.mark.parametrize("version", [RulesVersion.V1_0, RulesVersion.V1_1, RulesVersion.V1_2])
def test_earlier_rules_know_no_such_action(version: RulesVersion) -> None:
    assert refused(Ledger().host, signed(head(), version=version)) == Rule.FORM


def test_a_head_is_committed_once_a_day_if_there_was_an_access(gateway: Gateway) -> None:
    gateway.step()
    assert gateway.ledger.submitted == []  # nobody took anything
    gateway.take("a", "b")
    gateway.step()
    assert gateway.numbers() == [2]
    gateway.take("c")
    gateway.step()
    assert gateway.numbers() == [2]
    gateway.a_day_later()
    gateway.step()
    assert gateway.numbers() == [2, 3]
    gateway.a_day_later()
    gateway.step()
    assert (gateway.numbers(), len(gateway.ledger.submitted)) == ([2, 3], 2)


def test_a_record_that_began_again_is_committed_at_once(tmp_path: Path) -> None:
    """However many accesses the lost one had."""
    first = Gateway(tmp_path / "lost")
    with closing(first.log):
        first.take(*"abcdefgh")
        first.step()
    again = Gateway(tmp_path / "new", ledger=first.ledger)
    with closing(again.log):
        again.ms = first.ms + 1
        again.take("i")
        again.step()
        assert again.numbers() == [1]
        assert again.log.record.sha256 != first_record(first)


def first_record(gateway: Gateway) -> bytes:
    (sent,) = gateway.ledger.submitted[:1]
    return gateway.heads_of(sent)[0].record_sha256


def test_a_record_that_was_restored_from_an_older_copy_goes_on_at_once(gateway: Gateway) -> None:
    gateway.take("a")
    gateway.step()
    older = gateway.copy()
    for _ in range(3):
        gateway.take("b", "c")
        gateway.a_day_later()
        gateway.step()
    assert gateway.numbers() == [1, 3, 5, 7]
    with closing(older.log):
        older.ms, older.s = gateway.ms, gateway.s
        older.take("d")
        older.a_day_later()
        older.step()
        assert older.numbers() == [1, 3, 5, 7, 1, 2]  # the ledger's newest tells this one nothing


def test_older_nodes_get_one_batch_and_the_heads_of_the_days_after_go_together(
    gateway: Gateway, caplog: pytest.LogCaptureFixture
) -> None:
    gateway.ledger.undecided = Status.PENDING
    for each in "abcd":
        gateway.take(each)
        for _ in range(4):
            gateway.step()
            gateway.s += AGAIN_S
        gateway.a_day_later()
    assert len(gateway.ledger.submitted) == 1
    told = [each.getMessage() for each in caplog.records if "waits at the ledger" in each.message]
    assert len(told) == 1
    gateway.ledger.upgrade()
    gateway.step()
    gateway.step()
    assert gateway.numbers() == [1, 2, 3, 4]
    assert [len(gateway.heads_of(each)) for each in gateway.ledger.submitted] == [1, 3]


def test_a_batch_that_the_ledger_forgot_is_sent_again_byte_by_byte(gateway: Gateway) -> None:
    gateway.ledger.undecided = Status.UNKNOWN
    gateway.take("a")
    gateway.step()
    gateway.step()
    assert len(gateway.ledger.submitted) == 1
    gateway.s += AGAIN_S
    gateway.step()
    first, second = gateway.ledger.submitted
    assert first == second
    gateway.ledger.undecided = None
    gateway.s += AGAIN_S
    gateway.step()
    gateway.step()
    assert gateway.numbers() == [1]


def test_a_batch_that_was_sent_before_a_restart_is_followed_after_it(gateway: Gateway) -> None:
    gateway.ledger.undecided = Status.PENDING
    gateway.take("a")
    gateway.step()
    gateway.ledger.upgrade()
    after = gateway.copy()
    with closing(after.log):
        after.step()
        assert (after.numbers(), len(after.ledger.submitted)) == ([1], 1)


def test_nothing_is_sent_before_the_site_has_registered_the_key(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    new = Signer.generate()
    gateway = Gateway(tmp_path, new)
    with closing(gateway.log):
        gateway.take("a")
        for _ in range(3):
            gateway.step()
            gateway.s += AGAIN_S
        assert gateway.ledger.submitted == []
        (said,) = [each.getMessage() for each in caplog.records if "wait: site" in each.message]
        assert f"site {SITE} does not have the key {new.public_key}" in said
        gateway.ledger.register(new.public_key)
        gateway.step()
        assert gateway.numbers() == [1]


def test_nothing_is_sent_while_the_network_does_not_permit_the_family(
    gateway: Gateway, caplog: pytest.LogCaptureFixture
) -> None:
    gateway.ledger.listed = '[{"family": "wayseal", "version": "1.2"}]'
    gateway.take("a")
    gateway.step()
    assert gateway.ledger.submitted == []
    assert "does not list wayseal 1.3" in caplog.text
    gateway.ledger.listed = '[{"family": "wayseal", "version": "1.3"}]'
    gateway.step()
    assert gateway.numbers() == [1]


def test_a_refused_batch_is_made_again_an_hour_later(
    gateway: Gateway, caplog: pytest.LogCaptureFixture
) -> None:
    gateway.take("a")
    gateway.log.step()
    gateway.ledger.refuses = True
    gateway.heads.step()
    gateway.heads.step()
    assert len(gateway.ledger.submitted) == 1
    assert "the ledger refused the head of access 1: wrong-state" in caplog.text
    gateway.ledger.refuses = False
    gateway.s += AGAIN_S
    gateway.step()
    assert gateway.numbers() == [1]


def test_many_heads_go_in_batches_of_a_limited_size(gateway: Gateway) -> None:
    for _ in range(HEADS_IN_BATCH_MAX + 1):
        gateway.take("a")
        gateway.log.step()
        gateway.a_day_later()
    while gateway.heads.step():
        pass
    sizes = [len(gateway.heads_of(each)) for each in gateway.ledger.submitted]
    assert sizes == [HEADS_IN_BATCH_MAX, 1]


def test_a_ledger_that_is_away_is_told_by_the_worker(gateway: Gateway) -> None:
    gateway.take("a")
    gateway.ledger.is_away = True
    with pytest.raises(UnavailableError):
        gateway.step()


def test_what_is_committed_is_logged(gateway: Gateway, caplog: pytest.LogCaptureFixture) -> None:
    gateway.take("a")
    with caplog.at_level(logging.INFO):
        gateway.step()
    assert "the ledger has the head of access 1" in caplog.text
    assert isinstance(gateway.heads_of(gateway.ledger.submitted[0])[0], CommitAccesses)


def test_a_head_that_names_a_far_time_keeps_no_later_one_from_the_ledger(gateway: Gateway) -> None:
    """A copy from before the first batch goes on while the ledger has a head of 20 years later."""
    gateway.take("a")
    copy = gateway.copy()
    gateway.ms += 7300 * HEAD_EVERY_MS
    gateway.step()
    with closing(copy.log):
        for _ in range(3):
            copy.take("b")
            copy.a_day_later()
            copy.step()
        assert copy.numbers() == [1, 2, 3, 4]


def test_a_ledger_that_was_restored_from_before_a_head_gets_it_again(gateway: Gateway) -> None:
    before = gateway.ledger.host.copy()
    gateway.take("a")
    gateway.step()
    gateway.a_day_later()
    between = gateway.ledger.host.copy()
    gateway.take("b")
    gateway.step()
    for host, left in ((between, [1]), (before, [])):
        gateway.ledger.host = host
        assert gateway.numbers() == left
        gateway.step()
        assert gateway.numbers() == [1, 2]


def test_a_network_of_sawtooth_says_first_that_all_its_processors_know_the_rules(
    gateway: Gateway, caplog: pytest.LogCaptureFixture
) -> None:
    """There a batch without a processor holds up all batches after it."""
    gateway.ledger.is_sawtooth = True
    for listed in ("", "[", "[]"):
        gateway.ledger.listed = listed
        gateway.take("a")
        gateway.step()
    assert gateway.ledger.submitted == []
    assert "expected sawtooth.validator.transaction_families on this ledger of Sawtooth" in (
        caplog.text
    )
    gateway.ledger.listed = '[{"family": "wayseal", "version": "1.3"}]'
    gateway.step()
    assert gateway.numbers() == [1]


def test_a_batch_that_a_busy_ledger_did_not_take_goes_as_soon_as_it_does(gateway: Gateway) -> None:
    gateway.ledger.is_busy = True
    gateway.take("a")
    with pytest.raises(UnavailableError, match="busy"):
        gateway.step()
    gateway.ledger.is_busy = False
    gateway.step()
    gateway.step()
    assert (gateway.numbers(), len(gateway.ledger.submitted)) == ([1], 1)
