"""The record of accesses: gapless, each entry naming the one before, and heads that prove it."""

from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Final

import pytest

from contracts.accesses import open_head, problems, sign_head
from contracts.encoding import canonical, parse
from contracts.errors import RejectedError
from contracts.keys import Signer
from contracts.proto.access_pb2 import Access, AccessHeadBody
from gateway.access import Caller, Role
from gateway.people.accesslog import HEAD_EVERY_MS, ONE_ACCESS_MAX_S, AccessLog, Taken

START_MS: Final = 1_800_000_000_000
SIGNER: Final = Signer.generate()
AUDITOR: Final = Caller("auditor", Role.AUDITOR)
Wires = list[tuple[int, bytes]]


class Log:
    """A record with clocks that a test moves."""

    def __init__(self, directory: Path) -> None:
        self.path = directory / "accesses.db"
        self.ms, self.s = START_MS, 0.0
        self.log = AccessLog(
            self.path, SIGNER, "site-b", now=lambda: self.ms, clock_s=lambda: self.s
        )

    def fill(self, count: int) -> Wires:
        for number in range(count):
            self.log.note(AUDITOR, "192.0.2.1", Taken.EVIDENCE, [f"trip {number}"])
        return self.log.record.wires(0, 1000)

    def heads(self) -> list[AccessHeadBody]:
        return [open_head(each, [SIGNER.public_key]) for each in self.log.record.heads()]


@pytest.fixture
def kept(tmp_path: Path) -> Iterator[Log]:
    made = Log(tmp_path)
    with closing(made.log):
        yield made


def test_accesses_are_gapless_and_chained_also_after_a_restart(tmp_path: Path) -> None:
    for _ in range(2):
        made = Log(tmp_path)
        with closing(made.log):
            wires = made.fill(3)
    assert [number for number, _ in wires] == [1, 2, 3, 4, 5, 6]
    assert list(problems(wires, [])) == []
    assert parse(Access, wires[0][1]).before_sha256 == b""


def test_requests_of_one_reader_for_one_thing_are_one_access(kept: Log) -> None:
    def count() -> int:
        return len(kept.log.record.wires(0, 1000))

    kept.log.note(AUDITOR, "a", Taken.VIDEO, ["film"])
    kept.log.note(AUDITOR, "a", Taken.VIDEO, ["film"])
    assert count() == 1
    kept.log.note(AUDITOR, "a", Taken.EVIDENCE, ["film"])
    kept.log.note(Caller("other", Role.AUDITOR), "a", Taken.VIDEO, ["film"])
    assert count() == 3
    kept.s += ONE_ACCESS_MAX_S
    kept.log.note(AUDITOR, "a", Taken.VIDEO, ["film"])
    assert count() == 4


def changed(wires: Wires) -> Wires:
    access = parse(Access, wires[1][1])
    access.who = "nobody"
    return [wires[0], (2, canonical(access)), *wires[2:]]


@pytest.mark.parametrize(
    ("spoil", "words"),
    [
        (changed, "access 3 does not name the one before it"),
        (lambda wires: [wires[0], *wires[2:]], "expected access 2, got 3"),
        (lambda wires: wires[1:], "expected access 1, got 2"),
        (lambda wires: wires[:-1], "the head of access 4 was signed, and that access is missing"),
        (lambda _: [], "the head of access 4 was signed"),
        (lambda wires: [(1, b"\xff"), *wires[1:]], "access 1 is malformed"),
        (lambda wires: [(1, wires[1][1]), *wires[1:]], "access 1 says that it is number 2"),
    ],
)
def test_whatever_is_changed_or_left_out_is_named(
    kept: Log, spoil: Callable[[Wires], Wires], words: str
) -> None:
    wires = kept.fill(4)
    assert kept.log.step()
    assert list(problems(wires, kept.heads())) == []
    assert any(words in each for each in problems(spoil(wires), kept.heads()))


def test_a_record_that_was_written_again_contradicts_its_head(kept: Log, tmp_path: Path) -> None:
    kept.fill(4)
    kept.log.step()
    (tmp_path / "again").mkdir()
    other = Log(tmp_path / "again")
    other.ms += 1
    with closing(other.log):
        wires = other.fill(4)
    assert list(problems(wires, [])) == []
    assert list(problems(wires, kept.heads())) == [
        "access 4 is another one than its signed head says"
    ]


def test_a_head_is_signed_once_a_day_and_only_for_what_is_new(kept: Log) -> None:
    assert not kept.log.step()  # nothing happened yet
    kept.fill(1)
    assert kept.log.step()
    kept.fill(1)
    assert not kept.log.step()  # the same access again, within ten minutes
    kept.s += ONE_ACCESS_MAX_S
    kept.fill(1)
    assert not kept.log.step()
    kept.ms += HEAD_EVERY_MS
    assert kept.log.step()
    kept.ms += HEAD_EVERY_MS
    assert not kept.log.step()
    assert [each.number for each in kept.heads()] == [1, 2]


def test_a_head_of_another_key_is_refused(kept: Log) -> None:
    head = sign_head(Signer.generate(), AccessHeadBody(site_id="site-b", number=1))
    with pytest.raises(RejectedError):
        open_head(head, [SIGNER.public_key])
    assert open_head(kept.log.head(), [SIGNER.public_key]).number == 0


def test_a_rotten_access_is_left_out_and_the_others_are_told(kept: Log) -> None:
    kept.fill(3)
    with kept.log._db.transaction() as changing:  # noqa: SLF001 - rot
        changing.execute("UPDATE accesses SET wire = ? WHERE number = 2", (b"\xff\xff",))
    assert [number for number, _ in kept.log.listed(0, 10)] == [1, 3]
    assert any(
        "access 2 is malformed" in each for each in problems(kept.log.record.wires(0, 9), [])
    )
