"""The index follows a ledger: each block comes once, and after a fork the other ones."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from contracts.errors import UnavailableError
from contracts.ledger.client import LedgerClient
from gateway.index.follower import Follower
from gateway.index.network import Network
from gateway.index.store import IndexStore
from gateway.intake.inbox import Inbox
from support.ledgers.fake import FakeLedger

ROUNDS = 12


class Following:
    """An index that follows a ledger; counts how often it was cut back."""

    def __init__(
        self, ledger: FakeLedger, client: LedgerClient, inbox: Inbox, store: IndexStore
    ) -> None:
        self.ledger = ledger
        self.store = store
        self.cuts = 0
        network = Network(client, inbox, store)
        self.follower = Follower(client, network, store, lambda: None, self._note_cut)

    def _note_cut(self) -> None:
        self.cuts += 1

    def at_head(self) -> None:
        """Follow to the ledger's head."""
        for _ in range(ROUNDS):
            self.follower.catch_up()
            head = self.store.head()
            if head is not None and head.block_id == self.ledger.blocks[-1].header_signature:
                break
        ids = [self.store.block_id(number) for number in range(len(self.ledger.blocks) + 1)]
        assert ids == [*(block.header_signature for block in self.ledger.blocks), None]


@pytest.fixture
def following(tmp_path: Path) -> Iterator[Following]:
    with (
        FakeLedger() as ledger,
        closing(LedgerClient(ledger.url)) as client,
        closing(Inbox(tmp_path / "i.db", bytes_max=1 << 20, quarantine_bytes_max=1 << 20)) as inbox,
        closing(IndexStore(tmp_path / "index.db")) as store,
    ):
        ledger.extend([[]] * 5)
        found = Following(ledger, client, inbox, store)
        found.at_head()
        ledger.asked.clear()
        yield found


def test_a_block_is_asked_for_once(following: Following) -> None:
    for number in range(5, 8):
        following.ledger.extend([[]])
        following.at_head()
        assert following.ledger.asked == [number]
        following.ledger.asked.clear()
    assert not following.cuts


@pytest.mark.parametrize("lost", [1, 2, 4])
@pytest.mark.parametrize("made", [0, 1, 2, 3, 5])
def test_other_blocks_take_the_place_of_those_that_are_gone(
    following: Following, lost: int, made: int
) -> None:
    del following.ledger.blocks[-lost:]
    following.ledger.extend([[]] * made, salt="another branch")
    following.at_head()
    assert following.cuts


@pytest.mark.parametrize("was_lost", [False, True])
def test_an_index_gives_way_to_people_unless_they_wait_for_it(
    tmp_path: Path, *, was_lost: bool
) -> None:
    asked: list[str] = []
    with (
        FakeLedger() as ledger,
        closing(LedgerClient(ledger.url)) as client,
        closing(Inbox(tmp_path / "i.db", bytes_max=1 << 20, quarantine_bytes_max=1 << 20)) as inbox,
        closing(IndexStore(tmp_path / "index.db", worked_before=was_lost)) as store,
    ):
        ledger.extend([[]] * 5)
        following = Following(ledger, client, inbox, store)
        following.follower.give_way = lambda: asked.append("may others go first?")
        following.at_head()
        assert bool(asked) is not was_lost
        following.follower.catch_up()
        assert store.rebuild is None
        ledger.extend([[]])
        following.at_head()
        assert asked


def test_a_ledger_that_does_not_answer_cuts_nothing(following: Following) -> None:
    following.ledger.extend([[]])
    before = following.store.head()
    answer = following.ledger.answer

    def no_blocks(method: str, target: str, body: bytes) -> tuple[int, object]:
        if "start=" in target:
            return 503, {"error": {"title": "Validator Timed Out", "message": ""}}
        return answer(method, target, body)

    following.ledger.answer = no_blocks  # type: ignore[method-assign]  # of this one ledger
    with pytest.raises(UnavailableError):
        following.follower.catch_up()
    assert (following.store.head(), following.cuts) == (before, 0)
