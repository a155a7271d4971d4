"""What a check of the record of accesses says beside the heads that the ledger has."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from contracts.accesses import access_hash, problems
from contracts.encoding import canonical, parse
from contracts.keys import Signer
from contracts.proto.access_pb2 import Access
from contracts.records.clock import rfc3339
from contracts.sawtooth.batches import Status
from gateway.people.accesslog import SCHEMA
from gateway.people.headcheck import DAY_MS, Beside, LookedRecord, heads_on_ledger, judge
from storage.checked.look import looking_at
from support.gateways.heads import GATEWAY, SITE, Gateway, Ledger
from support.network.world import key
from support.verifier.heads import head, signed

STRANGER = "gateway-seller"


@pytest.fixture
def gateway(tmp_path: Path) -> Iterator[Gateway]:
    made = Gateway(tmp_path)
    with closing(made.log):
        yield made


def looked(gateway: Gateway, *keys: str) -> Beside:
    """Return what a check says; `keys` are this gateway's besides those that signed heads here."""
    with looking_at(gateway.file, SCHEMA) as db:
        record = LookedRecord(db)
        on_ledger = heads_on_ledger(gateway.ledger, SITE, record.sha256)
        return judge(record, on_ledger, record.signers | {*keys}, gateway.ms)


def day(gateway: Gateway, days_ago: int = 0) -> str:
    return rfc3339(gateway.ms - days_ago * DAY_MS)[:10]


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


def cut(gateway: Gateway, last: int) -> None:
    with gateway.log._db.transaction() as db:  # noqa: SLF001 - as its operator may
        db.execute("DELETE FROM accesses WHERE number > ?", (last,))
        db.execute("DELETE FROM heads WHERE number > ?", (last,))


def test_a_record_without_an_access_has_nothing_to_say(gateway: Gateway) -> None:
    said = "there is no access yet, and no head of this record on the ledger"
    assert looked(gateway) == Beside(said, (), ())


def test_nothing_was_committed_yet(gateway: Gateway) -> None:
    gateway.take("a")
    said = f"no head of this record yet, whose first access is of {day(gateway)}, less than a day"
    assert said in looked(gateway).state
    assert looked(gateway).notes == ()
    gateway.a_day_later()
    gateway.a_day_later()
    gateway.ms += 1
    found = looked(gateway)
    assert found.state.endswith(f"whose first access is of {day(gateway, 2)}, 2 days ago")
    expected = f"the ledger has no head of access 1, written from {day(gateway, 2)} on"
    assert found.notes == (expected,)


def test_a_sound_record_says_how_far_the_ledger_has_it(gateway: Gateway) -> None:
    gateway.take("a", "b")
    gateway.step()
    gateway.a_day_later()
    newest = f"the last of access 2 on {day(gateway, 1)}, a day ago"
    said = f"the ledger has 1 head of this record, {newest}"
    assert looked(gateway) == Beside(said, (), ())
    for _ in range(30):  # nobody took anything
        gateway.a_day_later()
    assert looked(gateway).notes == ()


def test_heads_that_the_ledger_does_not_decide_are_named(gateway: Gateway) -> None:
    gateway.take("a")
    gateway.step()
    gateway.ledger.undecided = Status.PENDING
    for _ in range(3):
        gateway.take("b")
        gateway.a_day_later()
        gateway.step()
    (said,) = looked(gateway).notes
    assert "no head of accesses 2 to 4, written" in said
    assert said.endswith("heads were sent, and the ledger has not decided")


def test_a_record_that_was_cut_below_a_head(gateway: Gateway) -> None:
    gateway.take("a", "b", "c")
    gateway.step()
    cut(gateway, 1)
    (said,) = looked(gateway, GATEWAY.public_key).problems
    assert f"the head of access 3 of {day(gateway)}, and the record ends with access 1" in said


def test_a_record_that_was_written_again(gateway: Gateway) -> None:
    gateway.take("a", "b", "c")
    gateway.step()
    gateway.take("d")
    rewrite(gateway, {4: "after the head: nobody can tell"})
    assert looked(gateway).problems == ()
    rewrite(gateway, {2: "another"})
    (said,) = looked(gateway).problems
    assert f"access 3 is another one than the ledger's head of {day(gateway)} says" in said
    assert list(problems(gateway.log.wires(0, 1000), [])) == []  # in itself it is sound


def test_an_earlier_head_counts_as_well_as_the_newest(gateway: Gateway) -> None:
    """Who controls the key may commit a head of a rewritten record; the earlier heads stay."""
    gateway.take("a", "b")
    gateway.step()
    gateway.take("c")
    rewrite(gateway, {2: "another"})
    gateway.a_day_later()
    gateway.step()
    assert gateway.numbers() == [2, 3]
    (said,) = looked(gateway).problems
    assert "access 2 is another one" in said


def test_a_record_that_began_again_names_the_ones_on_the_ledger(tmp_path: Path) -> None:
    lost = Gateway(tmp_path / "lost")
    with closing(lost.log):
        lost.take("a", "b", "c")
        lost.step()
        name = lost.log_name
    again = Gateway(tmp_path / "new", ledger=lost.ledger)
    expected = (
        f"the record began again: the ledger has record {name}… of this gateway with 3 accesses "
        f"until {day(lost)}, not here"
    )
    with closing(again.log):
        assert looked(again, GATEWAY.public_key).problems == (expected,)  # before the first access
        again.take("d")
        again.step()
        assert looked(again).problems == (expected,)
        assert again.numbers() == [1]


def test_a_rewritten_first_access_is_a_record_that_began_again(gateway: Gateway) -> None:
    gateway.take("a", "b")
    gateway.step()
    rewrite(gateway, {1: "another"})
    (said,) = looked(gateway).problems
    assert said.startswith("the record began again")


def test_days_without_a_head_are_named(gateway: Gateway) -> None:
    gateway.take("a")
    gateway.step()
    gateway.a_day_later()
    gateway.take("b")
    for _ in range(4):
        gateway.a_day_later()  # nobody made a head
    gateway.step()
    (said,) = looked(gateway).notes
    assert said == f"no head was made from {day(gateway, 4)} to {day(gateway)} of access 2"


def test_heads_that_are_missing_between_are_named(gateway: Gateway) -> None:
    gateway.take("a")
    gateway.step()
    gateway.a_day_later()
    gateway.take("b")
    gateway.log.step()
    with gateway.log._db.transaction() as db:  # noqa: SLF001 - as its operator may
        db.execute("INSERT INTO committed VALUES (2, 0)")
    gateway.a_day_later()
    gateway.take("c")
    gateway.step()
    assert gateway.numbers() == [1, 3]
    (said,) = looked(gateway).notes
    assert said.startswith(f"the head of access 2, signed here on {day(gateway, 1)}, is not on")


def test_heads_that_came_late_are_named(gateway: Gateway) -> None:
    for _ in range(5):
        gateway.take("a")
        gateway.log.step()
        gateway.a_day_later()
    gateway.ledger.host.tell_time(gateway.ms // 1000)
    gateway.step()
    (said,) = looked(gateway).notes
    expected = (
        f"3 heads of {day(gateway, 5)} to {day(gateway, 3)} came to the ledger on {day(gateway)}"
    )
    assert said.startswith(expected)


def test_heads_by_another_key_of_the_site_are_named(gateway: Gateway, tmp_path: Path) -> None:
    gateway.take("a")
    gateway.step()
    gateway.ledger.register(GATEWAY.public_key, key("thief").public_key)
    theirs = head(1, 1)
    theirs.record_sha256 = theirs.sha256 = gateway.log.record_sha256()
    gateway.ledger.host.apply(signed(theirs, by="thief"))
    assert looked(gateway, key("thief").public_key).notes == ()
    (said,) = looked(gateway).notes
    assert said.startswith(
        f"key {key('thief').public_key} of the site, which is not this gateway's"
    )
    second = Gateway(tmp_path / "second", key("thief"), gateway.ledger)
    with closing(second.log):
        second.take("b")
        second.step()
        name = second.log_name
    expected = f"the site has record {name}… by key {key('thief').public_key} with 1 access until"
    assert any(each.startswith(expected) for each in looked(gateway).notes)
    assert looked(gateway).problems == ()


def test_heads_by_another_site_are_named_and_accuse_nobody(gateway: Gateway) -> None:
    gateway.take("a")
    gateway.step()
    for sequence in (1, 2):
        theirs = head(sequence, 8)
        theirs.site_id, theirs.record_sha256 = "site-seller", gateway.log.record_sha256()
        gateway.ledger.host.apply(signed(theirs, by=STRANGER))
    found = looked(gateway)
    assert found.problems == ()
    (said,) = found.notes
    assert said.startswith("site site-seller committed 2 heads of this record by key ")
    assert said.endswith("the record does not lead to 2 of them")


def test_a_gateway_with_a_new_key_goes_on_with_its_record(gateway: Gateway) -> None:
    gateway.take("a")
    gateway.step()
    new = Signer.generate()
    gateway.ledger.register(new.public_key)
    later = gateway.copy(new)
    with closing(later.log):
        later.a_day_later()
        later.take("b")
        later.step()
        assert later.numbers() == [2]
        assert looked(later).problems == looked(later).notes == ()
        assert "2 heads of this record" in looked(later).state


def test_many_records_and_signers_are_counted(gateway: Gateway) -> None:
    gateway.take("a")
    gateway.step()
    for number in range(8):
        theirs = head(1, 1)
        theirs.record_sha256 = theirs.sha256 = bytes([number]) * 32
        gateway.ledger.host.apply(signed(theirs))
    found = looked(gateway).problems
    assert len(found) == 6
    assert found[-1] == "3 more such records"


def test_the_ledger_of_another_network_has_nothing(tmp_path: Path) -> None:
    gateway = Gateway(tmp_path)
    with closing(gateway.log):
        gateway.take("a")
        gateway.step()
        gateway.ledger = Ledger()
        assert "no head of this record yet" in looked(gateway).state
