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
from gateway.people.accesslog import HEAD_EVERY_MS, SCHEMA
from gateway.people.accessrecord import AccessRecord
from gateway.people.headcheck import Beside, heads_on_ledger, judge
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
        record = AccessRecord(db)
        on_ledger = heads_on_ledger(gateway.ledger, SITE, record.sha256)
        return judge(record, on_ledger, record.signers | {*keys}, gateway.ms)


def day(gateway: Gateway, days_ago: int = 0) -> str:
    return rfc3339(gateway.ms - days_ago * HEAD_EVERY_MS)[:10]


def rewrite(gateway: Gateway, change: dict[int, str]) -> None:
    """Write the record again with other subjects, each entry naming the one before."""
    before = b""
    with gateway.log._db.transaction() as db:  # noqa: SLF001 - as its operator may
        for number, wire in gateway.log.record.wires(0, 1000):
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


def thief_commits_a_head(gateway: Gateway) -> None:
    """The gateway commits a head; so does another key of its site, for the same access."""
    gateway.take("a")
    gateway.step()
    gateway.ledger.register(GATEWAY.public_key, key("thief").public_key)
    theirs = head(1, 1)
    theirs.record_sha256 = theirs.sha256 = gateway.log.record.sha256
    gateway.ledger.host.apply(signed(theirs, by="thief"))


def test_a_record_without_an_access_has_nothing_to_say(gateway: Gateway) -> None:
    said = "there is no access yet, and no head of this record on the ledger"
    assert looked(gateway) == Beside(said, (), (), ())


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
    assert looked(gateway) == Beside(said, (), (), ())
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
    assert list(problems(gateway.log.record.wires(0, 1000), [])) == []  # in itself it is sound


def test_an_earlier_head_counts_as_well_as_the_newest(gateway: Gateway) -> None:
    """Who controls the key may commit a head of a rewritten record; the earlier heads stay."""
    gateway.take("a", "b")
    gateway.step()
    gateway.take("c")
    rewrite(gateway, {2: "another"})
    gateway.a_day_later()
    gateway.step()
    assert gateway.numbers() == [2, 2, 3]  # it does not lead to the first, and all go again
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


def test_one_head_that_names_a_far_time_hides_no_day_after_it(gateway: Gateway) -> None:
    """The clock was ahead once, or somebody chose the time: the block tells when it came."""
    gateway.ledger.host.tell_time(gateway.ms // 1000)
    begun = gateway.ms
    gateway.take("a")
    gateway.ms += 7300 * HEAD_EVERY_MS
    gateway.take("b")
    gateway.step()
    gateway.ms = begun
    assert f"the last of access 2 on {day(gateway)}, less than a day ago" in looked(gateway).state
    for _ in range(300):
        gateway.take("c")
        gateway.a_day_later()
    found = looked(gateway)
    assert f"the last of access 2 on {day(gateway, 300)}, 300 days ago" in found.state
    assert f"no head of accesses 3 to 302, written from {day(gateway, 300)} on" in found.notes[0]
    assert found.notes[1].startswith(f"the head of access 2 by key {GATEWAY.public_key} says 20")


def test_no_head_is_called_ahead_on_a_network_that_has_nothing_else_to_do(
    gateway: Gateway,
) -> None:
    """Such a block has the time of the votes on the block before, which came with the last head."""
    voted_ms = gateway.ms - 30 * HEAD_EVERY_MS
    for _ in range(4):
        gateway.ledger.host.tell_time(voted_ms // 1000)
        gateway.take("a")
        gateway.step()
        voted_ms = gateway.ms
        assert looked(gateway).notes == ()
        gateway.a_day_later()
        assert looked(gateway).notes == ()


def test_a_far_time_on_a_chain_without_times_hides_no_day_either(gateway: Gateway) -> None:
    begun = gateway.ms
    gateway.take("a")
    gateway.step()
    gateway.take("b")
    gateway.ms += 7300 * HEAD_EVERY_MS
    gateway.step()
    gateway.ms = begun
    gateway.take("c")
    for _ in range(3):
        gateway.a_day_later()
    found = looked(gateway)
    assert found.state.endswith("the last of access 2 at a time that nobody can tell")
    assert "no head of access 3, written" in found.notes[0]
    assert "which had not come when it was made" in found.notes[1]


def test_a_far_time_by_another_key_of_the_site_hides_no_day(gateway: Gateway) -> None:
    gateway.take("a")
    gateway.step()
    gateway.ledger.register(GATEWAY.public_key, key("thief").public_key)
    theirs = head(1, 1)
    theirs.record_sha256 = theirs.sha256 = gateway.log.record.sha256
    theirs.at_ms = gateway.ms + 7300 * HEAD_EVERY_MS
    gateway.ledger.host.apply(signed(theirs, by="thief"))
    gateway.take("b")
    for _ in range(3):
        gateway.a_day_later()
    found = looked(gateway)
    assert f"the last of access 1 on {day(gateway, 3)}, 3 days ago" in found.state
    assert "no head of access 2, written" in found.notes[0]


def test_a_head_of_an_earlier_access_that_came_later_makes_no_day_missing(
    gateway: Gateway,
) -> None:
    gateway.take("a")
    gateway.step()
    gateway.a_day_later()
    gateway.take("b", "c")
    gateway.step()
    for _ in range(9):
        gateway.a_day_later()
    gateway.ledger.register(GATEWAY.public_key, key("thief").public_key)
    theirs = head(1, 2)
    theirs.record_sha256 = gateway.log.record.sha256
    theirs.sha256 = gateway.log.record.hash_of(2) or b""
    theirs.at_ms = gateway.ms
    gateway.ledger.host.apply(signed(theirs, by="thief"))
    assert looked(gateway, key("thief").public_key).notes == ()


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


def test_heads_by_another_key_of_the_site_are_named(gateway: Gateway) -> None:
    thief_commits_a_head(gateway)
    assert looked(gateway, key("thief").public_key).notes == ()
    (said,) = looked(gateway).notes
    assert said.startswith(
        f"key {key('thief').public_key} of the site, which is not this gateway's"
    )
    assert looked(gateway).problems == ()


def test_another_gateway_of_the_site_needs_no_note_while_its_key_is_registered(
    gateway: Gateway, tmp_path: Path
) -> None:
    other = key("second")
    gateway.ledger.register(GATEWAY.public_key, other.public_key)
    gateway.take("a")
    gateway.step()
    second = Gateway(tmp_path / "second", other, gateway.ledger)
    with closing(second.log):
        second.take("b", "c")
        second.step()
        name = second.log_name
    found = looked(gateway)
    assert found.problems == found.notes == ()
    (said,) = found.others
    expected = f"the site has record {name}… by key {other.public_key} with 2 accesses until"
    assert said.startswith(expected)
    assert said.endswith(": another gateway's")
    gateway.ledger.register(GATEWAY.public_key)
    found = looked(gateway)
    assert found.others == ()
    (said,) = found.notes
    assert said.startswith(expected)
    assert said.endswith("or this one's before its key was changed")


def test_a_row_that_names_another_key_as_signer_makes_that_key_nobodys(gateway: Gateway) -> None:
    thief_commits_a_head(gateway)
    forged = gateway.log.record.heads()[0]
    forged.gateway_public_key = key("thief").public_key
    with gateway.log._db.transaction() as db:  # noqa: SLF001 - as its operator may
        db.execute("INSERT INTO heads VALUES (2, 0, ?)", (canonical(forged),))
    (said,) = looked(gateway).notes
    assert "which is not this gateway's, committed 1 head" in said


def test_heads_by_another_site_are_not_even_read(gateway: Gateway) -> None:
    """Any member with a site may name a record of this one: a check does not pay for it."""
    gateway.take("a")
    gateway.step()
    for sequence in (1, 2):
        theirs = head(sequence, 8)
        theirs.site_id, theirs.record_sha256 = "site-seller", gateway.log.record.sha256
        gateway.ledger.host.apply(signed(theirs, by=STRANGER))
    assert len(heads_on_ledger(gateway.ledger, SITE, gateway.log.record.sha256).own) == 1
    assert looked(gateway).problems == looked(gateway).notes == ()


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
