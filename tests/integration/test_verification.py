"""A recording or a lot is verified by ledger and bytes; what was not looked at is named."""

from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

import pytest

from contracts.evidence.trust import Trust
from contracts.ledger.client import LedgerClient
from contracts.proto.sawtooth_pb2 import Batch, BlockHeader
from gateway.index.projection import project
from gateway.index.store import IndexStore
from gateway.records import evidence, judged
from gateway.records.evidence import Audit
from gateway.records.judged import Footing, Judged, KeptVerdicts
from gateway.records.records import Records
from gateway.records.registry import NotOnLedgerError
from gateway.records.tracing import LotId
from gateway.records.verification import (
    AS_JOB,
    AT_ONCE,
    Bounds,
    LeftOutKind,
    Outcome,
    Verification,
)
from gateway.records.watch import StoppedError, Unit, Watch
from storage.recordings.store import RecordingStore
from support.evidence.chain import digest_of
from support.ledgers.rest_hosts import RestHost, ledgers
from support.network.goods import hold, newcomers
from support.network.world import GTIN, Trip, delivering, key, one, reading, registrations
from support.storage.stores import blob_file, flip, open_store, put, volume_file
from support.trucks.rogue import nonce

pytestmark = pytest.mark.integration

CONTENT: Final = bytes(range(256)) * 5000  # two blobs
OTHER: Final = b"another film"
FIRST: Final = Trip(nonce=nonce(1))
SECOND: Final = Trip(nonce=nonce(2))
LOT: Final = LotId(GTIN, "L42")


@dataclass
class Scene:
    """A node with two trips of one lot, each with a film, and the index that follows it."""

    ledger: RestHost
    index: IndexStore
    client: LedgerClient

    def commit(self, *batches: Batch) -> None:
        """Put batches on the ledger, and let the index follow."""
        self.ledger.apply_all(batches)
        self.follow()

    def follow(self) -> None:
        head = self.index.head()
        for committed in self.client.committed(head.block_num + 1 if head else 0):
            block_num = BlockHeader.FromString(committed.block.header).block_num
            self.index.add(*project(committed, block_num))

    @contextmanager
    def judging(self, root: Path, *films: bytes) -> Iterator[tuple[Audit, RecordingStore]]:
        """Yield an audit by a gateway that has some of the films."""
        with self.looking(root, *films) as (found, store):
            yield found.audit, store

    @contextmanager
    def looking(
        self, root: Path, *films: bytes, client: LedgerClient | None = None
    ) -> Iterator[tuple[Verification, RecordingStore]]:
        """Yield a verification by a gateway that has some of the films."""
        with open_store(root) as store:
            for film in films:
                put(store, film)
            audit = Audit(self.index, client or self.client, store)
            yield (
                Verification(
                    Records(self.index), audit, store, lambda _: True, lambda _: "never came"
                ),
                store,
            )


@pytest.fixture(scope="module")
def scene(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scene]:
    root = tmp_path_factory.mktemp("verification")
    with ledgers(root, elsewhere=False) as made, made.fresh() as ledger:
        ledger.apply_all([*registrations(), *newcomers()])
        for trip, film in ((FIRST, CONTENT), (SECOND, OTHER)):
            values = [reading(at) for at in range(3)]
            ledger.apply_all(trip.whole(values, [digest_of(film)], size=3))
        with (
            closing(LedgerClient(ledger.url)) as client,
            closing(IndexStore(root / "index.db")) as index,
        ):
            made_scene = Scene(ledger, index, client)
            made_scene.follow()
            yield made_scene


def test_a_recording_holds_by_its_bytes_and_its_trip(scene: Scene, tmp_path: Path) -> None:
    with scene.looking(tmp_path, CONTENT) as (found, _):
        found.recording(digest_of(CONTENT).sha256)
    assert found.outcome is Outcome.HOLDS
    assert (found.problems, found.left_out) == ([], {})
    assert list(found.verdicts) == [FIRST.trip_id]
    (report,) = found.copies.values()
    assert [copy.holds for copy in report.copies] == [True, True]


def test_a_lot_holds_by_all_its_trips_and_their_films(scene: Scene, tmp_path: Path) -> None:
    with scene.looking(tmp_path, CONTENT, OTHER) as (found, _):
        found.lot(LOT, video=True)
    assert (found.problems, found.left_out) == ([], {})
    assert found.outcome is Outcome.HOLDS
    assert set(found.verdicts) == {FIRST.trip_id, SECOND.trip_id}
    assert set(found.copies) == {digest_of(CONTENT).sha256, digest_of(OTHER).sha256}


def test_rot_is_named_by_copy(scene: Scene, tmp_path: Path) -> None:
    name = digest_of(CONTENT).sha256
    with scene.looking(tmp_path, CONTENT, OTHER) as (found, _):
        flip(volume_file(tmp_path, name), 7)
        blob_file(tmp_path, name, 1).unlink()
        found.lot(LOT, video=True)
    assert found.outcome is Outcome.FAILS
    assert found.problems == [
        f"recording {name.hex()}, copy volume:volume: 1 blobs are rotten",
        f"recording {name.hex()}, copy blobs:files: 1 blobs are missing",
    ]


def test_a_film_that_is_not_here_leaves_the_answer_incomplete(scene: Scene, tmp_path: Path) -> None:
    with scene.looking(tmp_path, CONTENT) as (found, _):
        found.lot(LOT, video=True)
    assert found.outcome is Outcome.INCOMPLETE
    absent = digest_of(OTHER).sha256.hex()
    assert found.left_out == {(LeftOutKind.RECORDING, "never came"): [absent]}


def test_video_that_was_not_asked_for_was_not_looked_at(scene: Scene, tmp_path: Path) -> None:
    with scene.looking(tmp_path, CONTENT, OTHER) as (found, _):
        found.lot(LOT, video=False)
    assert (found.outcome, found.copies) == (Outcome.INCOMPLETE, {})
    (((kind, reason), names),) = found.left_out.items()
    assert (kind, len(names)) == (LeftOutKind.RECORDING, 2)
    assert reason == "films were not asked for"


@pytest.mark.parametrize(
    ("limit", "bounds", "kinds"),
    [
        ("TRIPS_MAX", replace(AT_ONCE, trips=1), {LeftOutKind.TRIP: 1}),
        (
            "VIDEO_BYTES_MAX",
            replace(AT_ONCE, video_bytes=2 * len(OTHER)),
            {LeftOutKind.RECORDING: 1},
        ),
        ("JOB_BEGIN_MAX_S", replace(AS_JOB, begin_s=0.0), {LeftOutKind.TRIP: 2}),
    ],
)
def test_a_limit_that_cuts_something_is_named(
    scene: Scene, tmp_path: Path, limit: str, bounds: Bounds, kinds: dict[LeftOutKind, int]
) -> None:
    with scene.looking(tmp_path, CONTENT, OTHER) as (found, _):
        found.bounds = bounds
        found.lot(LOT, video=True)
    assert found.outcome is Outcome.INCOMPLETE
    assert {kind: len(names) for (kind, _), names in found.left_out.items()} == kinds
    assert all(reason.startswith(f"{limit}: ") for _, reason in found.left_out)


def test_a_trip_that_the_reader_may_not_see_whole_is_left_out(scene: Scene, tmp_path: Path) -> None:
    with scene.looking(tmp_path, CONTENT, OTHER) as (found, _):
        found.may_judge = lambda trip_id: trip_id == FIRST.trip_id
        found.lot(LOT, video=True)
    assert found.outcome is Outcome.INCOMPLETE
    assert found.left_out == {
        (LeftOutKind.TRIP, "it carries deliveries that you may not see"): [SECOND.trip_id]
    }


def test_a_ledger_that_is_away_proves_nothing_and_refutes_nothing(
    scene: Scene, tmp_path: Path
) -> None:
    with (
        closing(LedgerClient("http://127.0.0.1:9")) as away,  # nobody listens
        scene.looking(tmp_path, CONTENT, client=away) as (found, _),
    ):
        found.recording(digest_of(CONTENT).sha256)
    assert (found.outcome, found.problems, found.verdicts) == (Outcome.INCOMPLETE, [], {})
    assert [kind for kind, _ in found.left_out] == [LeftOutKind.TRIP]
    assert list(found.copies), "the bytes were read all the same"


def test_a_lot_without_a_trip_is_not_said_to_hold(scene: Scene, tmp_path: Path) -> None:
    with scene.looking(tmp_path) as (found, _), pytest.raises(NotOnLedgerError):
        found.lot(LotId(GTIN, "none"), video=True)
    assert found.outcome is Outcome.INCOMPLETE


def test_an_index_that_says_more_than_the_ledger_is_found_out(scene: Scene, tmp_path: Path) -> None:
    with scene.looking(tmp_path, CONTENT, OTHER) as (found, store):
        found.recording(digest_of(CONTENT).sha256)
        found._compare(  # noqa: SLF001 - an index that lies
            FIRST.trip_id,
            digest_of(OTHER).sha256,
            found.verdicts[FIRST.trip_id],
            store.find(digest_of(OTHER).sha256),
        )
    assert found.outcome is Outcome.FAILS
    assert "as the index has it, and found none" in found.problems[0]


class Heard(Watch):
    """Keeps what it is told; stops the work at a word, if it has one."""

    def __init__(self, stop_at: str = "") -> None:
        self.subjects: list[tuple[str, int, int]] = []
        self.words: dict[str, tuple[int, int, Unit]] = {}
        self._stop_at = stop_at

    def begin(self, subject: str, step: int, steps: int) -> None:
        self.subjects.append((subject, step, steps))

    def tell(self, doing: str, done: int, total: int, unit: Unit) -> None:
        self.words[doing] = (done, total, unit)
        if doing == self._stop_at:
            raise StoppedError("told to stop")


def test_progress_names_each_trip_and_film_and_what_is_read_of_it(
    scene: Scene, tmp_path: Path
) -> None:
    with scene.looking(tmp_path, CONTENT, OTHER) as (found, _):
        found.watch = heard = Heard()
        found.lot(LOT, video=True)
    names = {subject for subject, *_ in heard.subjects}
    assert names == {
        f"trip {FIRST.trip_id}",
        f"trip {SECOND.trip_id}",
        f"recording {digest_of(CONTENT).sha256.hex()}",
        f"recording {digest_of(OTHER).sha256.hex()}",
    }
    assert [(step, steps) for _, step, steps in heard.subjects] == [(at, 4) for at in range(4)]
    assert set(heard.words) == {"reads the ledger's batches", "checks the evidence"} | {
        "reads every copy"
    }
    done, total, unit = heard.words["checks the evidence"]
    assert (done, unit) == (total, Unit.BYTES)
    assert heard.words["reads the ledger's batches"][2] is Unit.BATCHES


@pytest.mark.parametrize(
    "word", ["reads the ledger's batches", "checks the evidence", "reads every copy"]
)
def test_work_that_is_told_to_stop_gives_no_answer(scene: Scene, tmp_path: Path, word: str) -> None:
    with scene.looking(tmp_path, CONTENT, OTHER) as (found, _):
        found.watch = Heard(word)
        with pytest.raises(StoppedError):
            found.lot(LOT, video=True)


def elsewhere(number: int) -> list[Batch]:
    """Return a trip of that device with none of the deliveries."""
    return Trip(nonce=nonce(number), deliveries=[]).whole([reading(0)])


def test_a_verdict_stands_while_blocks_come_that_do_not_concern_its_trip(
    scene: Scene, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with scene.judging(tmp_path, CONTENT) as (audit, _):
        assert audit.judged(FIRST.trip_id) is None, "nothing was judged yet"
        first = audit.judge(FIRST.trip_id)
        monkeypatch.setattr(scene.client, "batch", None)  # no batch is read again
        assert audit.judged(FIRST.trip_id) is first
        scene.commit(*elsewhere(40))
        assert audit.judged(FIRST.trip_id) is first


def a_hold() -> list[Batch]:
    return [hold(FIRST.trip_id, "case-40", "customs")]


def a_handover_on_the_other_trip() -> list[Batch]:
    """It moves the delivery that went on both."""
    deliver = delivering(SECOND.trip_id)
    return [one(key("carrier"), deliver), one(key("buyer"), deliver)]


@pytest.mark.parametrize("news", [a_hold, a_handover_on_the_other_trip])
def test_a_trip_that_has_changed_never_gets_its_earlier_verdict(
    scene: Scene, tmp_path: Path, news: Callable[[], list[Batch]]
) -> None:
    with scene.judging(tmp_path, CONTENT) as (audit, _):
        before = audit.judge(FIRST.trip_id)
        scene.commit(*news())
        assert audit.judged(FIRST.trip_id) is None
        after = audit.judge(FIRST.trip_id)
        assert after.verdict.holds
        assert after.verdict.blocks > before.verdict.blocks
        assert audit.judged(FIRST.trip_id) is after


def test_a_film_that_comes_or_goes_ends_a_verdict(scene: Scene, tmp_path: Path) -> None:
    with scene.judging(tmp_path) as (audit, store):
        before = audit.judge(FIRST.trip_id)
        put(store, CONTENT)
        assert audit.judged(FIRST.trip_id) is None
        after = audit.judge(FIRST.trip_id)
    assert [each.leaves for each in before.verdict.videos] != [
        each.leaves for each in after.verdict.videos
    ]


def test_other_keys_end_a_verdict_and_one_that_does_not_hold_is_not_kept(
    scene: Scene, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    right = evidence.trust_of(scene.client)
    others = replace(right, admin_keys=frozenset([key("mallory").public_key]))
    with scene.judging(tmp_path, CONTENT) as (audit, _):
        audit.judge(FIRST.trip_id)
        trusting(monkeypatch, others)
        assert audit.judged(FIRST.trip_id) is None
        assert not audit.judge(FIRST.trip_id).verdict.holds
        assert audit.judged(FIRST.trip_id) is None
        trusting(monkeypatch, right)
        assert audit.judged(FIRST.trip_id) is None


def trusting(monkeypatch: pytest.MonkeyPatch, trust: Trust) -> None:
    """Let the ledger have other keys."""
    monkeypatch.setattr(evidence, "trust_of", lambda _: trust)


def test_a_fork_below_its_last_block_ends_a_verdict(scene: Scene, tmp_path: Path) -> None:
    with scene.judging(tmp_path, CONTENT) as (audit, _):
        first = audit.judge(FIRST.trip_id)
        scene.index.cut(first.verdict.blocks - 2)
        assert audit.judged(FIRST.trip_id) is None
        scene.follow()  # the same block again
        assert audit.judged(FIRST.trip_id) is first


def test_a_verdict_lasts_an_hour_and_only_the_newest_are_kept(
    scene: Scene, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with scene.judging(tmp_path, CONTENT) as (audit, _):
        found = audit.judge(FIRST.trip_id)
        (_, footing) = of(audit, FIRST.trip_id)
    now_s = 0.0
    kept = KeptVerdicts(lambda: now_s)
    kept.put("T", found, footing, kept.forgotten())
    now_s = judged.VERDICT_LASTS_MAX_S - 1
    assert kept.get("T") == (found, footing)
    now_s += 1
    assert kept.get("T") is None
    monkeypatch.setattr(judged, "VERDICTS_KEPT", 2)
    for name in ("A", "B", "C"):
        kept.put(name, found, footing, kept.forgotten())
    assert [kept.get(name) is not None for name in ("A", "B", "C")] == [False, True, True]
    before = kept.forgotten()
    kept.forget("A")  # another look, which began later and was faster, found something wrong
    kept.put("A", found, footing, before)
    assert kept.get("A") is None


def of(audit: Audit, trip_id: str) -> tuple[Judged, Footing]:
    found = audit._kept.get(trip_id)  # noqa: SLF001 - what no answer shows
    assert found is not None
    return found
