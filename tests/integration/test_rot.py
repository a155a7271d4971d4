"""One flipped bit or one cut in any file of a gateway's data: right, mended or named, never wrong.

The data are those of a real gateway after a visit with a video, a deletion and a round of the
scrub. Each kind of file is damaged many times, by a seeded choice, and what the gateway's parts
then answer is compared with what they answered before.
"""

import hashlib
import random
import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, closing
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import pytest

from contracts.copies import Place
from contracts.errors import WaysealError
from contracts.ledger.client import LedgerClient
from gateway.access import Caller, Role, Tokens
from gateway.blobstore import BLOBS_ID
from gateway.index.follower import Follower
from gateway.index.network import Network
from gateway.index.rebuilding import RebuildingError
from gateway.index.store import IndexStore
from gateway.intake.held import State
from gateway.intake.inbox import Inbox
from gateway.jobs.job import JobKind
from gateway.jobs.jobs import Jobs, Work
from gateway.ownkey import check_key, own_key
from gateway.people.accesslog import AccessLog, Taken
from gateway.people.persons import Persons
from gateway.people.sessions import SessionKind, Sessions
from gateway.records.records import Records
from gateway.retention.deletions import Deletions
from gateway.settings import Settings
from gateway.upkeep.catalogue import Recataloguing
from gateway.uploads.claims import Claims
from storage.blobs.files import FileBlobs
from storage.checked.damage import DamageNotes
from storage.recordings.store import RecordingStore
from storage.recordings.writer import DigestError
from storage.retention.ages import Ages
from storage.scrub.report import ScrubReport
from storage.volumes.marker import Identity
from storage.volumes.volume import VolumePlace
from storage.volumes.volumes import Volumes
from support.gateways.dock import CONTENT, Dock
from support.network.world import key
from support.trucks.rogue import until

pytestmark = pytest.mark.integration

SEED: Final = 18
EACH: Final = 24
"""Mutations of each kind of file in `make test`, over 500 in all; the long form has many more."""
EACH_LONG: Final = 120
PARTIAL: Final = bytes(range(256)) * 800
BYTES_MAX: Final = 1 << 30
AUDITOR: Final = Caller("auditor", Role.AUDITOR)

Answers = dict[str, list[object]]


@dataclass(frozen=True)
class Kept:
    """The data that a gateway left, the same right after a kill, its ledger and its tokens."""

    data: Path
    killed: Path
    ledger: LedgerClient
    tokens: Mapping[str, str]

    def settings(self, data: Path) -> Settings:
        return Settings(data=data, site_id="site-b")

    def in_inbox(self, data: Path, damage: DamageNotes) -> Answers:
        inbox = Inbox(
            data / "inbox.db", bytes_max=BYTES_MAX, quarantine_bytes_max=BYTES_MAX, damage=damage
        )
        with closing(inbox):
            inbox.check()
            batches = [each for state in State for each in inbox.in_state(state, 1000)]
            recordings = {each.recording for each in batches if each.recording}
            return {
                "batches": [
                    (each.batch_id, each.device_id, each.trip_id, each.wire, each.readings)
                    for each in batches
                ],
                "visits": [
                    (visit.trip_id, visit.device_id) for _, visit in inbox.visits.listed(0, 1000)
                ],
                "receipts": list(inbox.visits.receipts()),
                "offers": [offer for each in recordings for offer in inbox.offers_of(each)],
                "genesis": [each for each in [inbox.genesis_id()] if each],
            }

    def in_index(self, data: Path, _: DamageNotes) -> Answers:
        with ExitStack() as stack:
            index = stack.enter_context(closing(IndexStore(data / "index.db", worked_before=True)))
            inbox = stack.enter_context(
                closing(Inbox(data / "inbox.db", bytes_max=BYTES_MAX, quarantine_bytes_max=1))
            )
            network = Network(self.ledger, inbox, index)
            follower = Follower(self.ledger, network, index, lambda: None, lambda: None)

            def ask() -> Answers | None:
                try:
                    while follower.catch_up() or index.rebuild:
                        pass
                    return self._rows(index)
                except RebuildingError:
                    return None

            return ask() or ask() or {}

    def _rows(self, index: IndexStore) -> Answers:
        tables = index.query("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name")
        return {
            name: sorted(index.query(f"SELECT * FROM {name}"), key=repr)  # noqa: S608
            for (name,) in tables
            # When transactions are sorted in depends on the rebuild; each index has its own home.
            if not name.endswith("transactions") and name != "cold_home"
        }

    def in_deletions(self, data: Path, damage: DamageNotes) -> Answers:
        signer = own_key(self.settings(self.data))
        with closing(Deletions(data / "deletions.db", signer, damage)) as deletions:
            deletions.check()
            return {"deletions": [repr(each) for each in deletions.listed(0, 100)]}

    def in_scrub(self, data: Path, damage: DamageNotes) -> Answers:
        with closing(ScrubReport(data / "scrub.db", damage)) as report:
            report.check()
            found = report.listed(0, 100, number=None, outcome=None)
            return {"rounds": list(report.rounds(100)), "findings": list(found)}

    def in_retention(self, data: Path, damage: DamageNotes) -> Answers:
        with closing(Ages(data / "retention.db", lambda: 0.0, damage=damage)) as ages:
            ages.check()
            return {"released": list(ages.released()), "uploads": list(ages.uploads())}

    def in_uploads(self, data: Path, damage: DamageNotes) -> Answers:
        with Claims(data / "uploads.db", lambda _: True, damage=damage) as claims:
            claims.check()
            return {"claims": list(claims.all())}

    def in_accesses(self, data: Path, damage: DamageNotes) -> Answers:
        with closing(accesses_in(data, damage)) as log:
            log.check()
            heads = [head.SerializeToString() for head in log.record.heads()]
            return {"accesses": list(log.record.wires(0, 100)), "heads": list(heads)}

    def in_sessions(self, data: Path, damage: DamageNotes) -> Answers:
        with closing(sessions_in(data, damage)) as sessions:
            sessions.check()
            return {"sessions": [repr(each) for each in sessions.all()]}

    def in_jobs(self, data: Path, damage: DamageNotes) -> Answers:
        """Return the jobs, and the verdicts that came of them."""
        with closing(jobs_in(data, damage)) as jobs:
            jobs.register.check()
            found = [each for _, each in jobs.listed(AUDITOR, 0, 100)]
            verdicts = [jobs.content(each, each.made) for each in found if each.made]
            # One whose end is lost says that it was interrupted.
            facts = [(each.job_id, each.kind, each.subjects, each.asked_ms) for each in found]
            return {"jobs": list(facts), "verdicts": list(verdicts)}

    def in_tokens(self, data: Path, damage: DamageNotes) -> Answers:
        tokens = Tokens(data / "tokens.json", damage)
        return {
            "callers": [
                (name, found)
                for name, token in self.tokens.items()
                if (found := tokens.caller(token))
            ]
        }

    def in_key(self, data: Path, _: DamageNotes) -> Answers:
        with closing(Inbox(data / "inbox.db", bytes_max=1, quarantine_bytes_max=1)) as inbox:
            signer = own_key(self.settings(data))
            check_key(self.settings(data), signer, inbox.visits.signers)
            return {"key": [signer.public_key]}

    def in_store(self, data: Path, _: DamageNotes) -> Answers:
        """Return the video that a client gets, and what is whole."""
        with ExitStack() as stack:
            volume = {"volume": VolumePlace(data / "volume")}
            volumes = stack.enter_context(Volumes(volume, data / "volume-ids"))
            inbox = stack.enter_context(
                closing(Inbox(data / "inbox.db", bytes_max=BYTES_MAX, quarantine_bytes_max=1))
            )
            index = stack.enter_context(closing(IndexStore(data / "index.db")))
            deletions = stack.enter_context(
                closing(Deletions(data / "deletions.db", own_key(self.settings(self.data))))
            )
            store = stack.enter_context(
                RecordingStore(data / "recordings", blobs_in(data), volumes)
            )
            again = Recataloguing(store, Records(index), inbox, deletions, self.ledger)
            again.step()
            video = b"".join(store.read(hashlib.sha256(CONTENT).digest()))
            whole = [each.hex() for each in store.recordings()]
            return {"video": [video], "whole": list(whole)}

    def in_part(self, data: Path, damage: DamageNotes) -> Answers:
        """Return the video whose upload goes on; noted is that it had to begin at 0 again."""
        with ExitStack() as stack:
            volume = {"volume": VolumePlace(data / "volume")}
            volumes = stack.enter_context(Volumes(volume, data / "volume-ids"))
            store = stack.enter_context(
                RecordingStore(data / "recordings", blobs_in(data), volumes)
            )
            recording_id = hashlib.sha256(PARTIAL).digest()
            for _ in range(2):
                with store.begin(recording_id, len(PARTIAL)) as writer:
                    writer.write(PARTIAL[writer.offset :])
                    try:
                        writer.finish()
                        break
                    except DigestError as error:
                        damage.lost(str(error))
            return {"uploaded": [b"".join(store.read(recording_id))]}


Ask = Callable[[Kept, Path, DamageNotes], Answers]
DATABASES: Final[Mapping[str, tuple[str, Ask]]] = {
    "index": ("index.db", Kept.in_index),
    "inbox": ("inbox.db", Kept.in_inbox),
    "deletions": ("deletions.db", Kept.in_deletions),
    "scrub": ("scrub.db", Kept.in_scrub),
    "retention": ("retention.db", Kept.in_retention),
    "uploads": ("uploads.db", Kept.in_uploads),
    "accesses": ("accesses.db", Kept.in_accesses),
    "sessions": ("sessions.db", Kept.in_sessions),
    "jobs": ("jobs.db", Kept.in_jobs),
}
LOG: Final = "-[ws]*"
"""What SQLite keeps beside a database that is open: the write-ahead log and the log's index."""
KINDS: Final[Mapping[str, tuple[str, Ask]]] = {
    **DATABASES,
    **{f"log of {kind}": (f"{name}{LOG}", ask) for kind, (name, ask) in DATABASES.items()},
    "result of a job": ("jobs/*", Kept.in_jobs),
    "tokens": ("tokens.json", Kept.in_tokens),
    "key": ("gateway.key", Kept.in_key),
    "public half": ("gateway.pub", Kept.in_key),
    "entry": ("recordings/whole/*/*", Kept.in_store),
    "progress": ("recordings/partial/*", Kept.in_part),
    "blobs": ("blobs/*/*/*/0*", Kept.in_store),
    "manifest of the blobs": ("blobs/*/*/*/manifest", Kept.in_store),
    "whole file": ("volume/??/*", Kept.in_store),
    "partial file": ("volume/parts/*", Kept.in_part),
    "mark of the volume": ("volume/.wayseal-*", Kept.in_store),
    "mark of the blobs": ("blobs/.wayseal-*", Kept.in_store),
    "remembered volume": ("volume-ids/*", Kept.in_store),
}


def blobs_in(data: Path) -> FileBlobs:
    """Open the blobs of a gateway as it does."""
    memory = data / "volume-ids" / BLOBS_ID
    return FileBlobs(data / "blobs", Identity(data / "blobs", memory, shared=True))


def accesses_in(data: Path, damage: DamageNotes) -> AccessLog:
    """Open the record of accesses of a gateway as it does."""
    return AccessLog(data / "accesses.db", key("gateway"), "site-b", damage)


def jobs_in(data: Path, damage: DamageNotes) -> Jobs:
    """Open the jobs of a gateway as it does."""
    return Jobs(data / "jobs.db", data / "jobs", damage)


def sessions_in(data: Path, damage: DamageNotes) -> Sessions:
    """Open the sessions of a gateway as it does."""
    persons = Persons(data / "people.json")
    return Sessions(data / "sessions.db", Tokens(data / "tokens.json"), persons, damage)


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kept]:
    dock = Dock(tmp_path_factory.mktemp("rot"))
    try:
        names = {f"truck-{number}": Role.DEVICE for number in range(2, 6)}
        tokens = Tokens(dock.data / "tokens.json")
        made = {name: tokens.add(name, role) for name, role in names.items()}
        dock.scrubbed()
        dock.restart(dock.crowded())
        until("the deletion", lambda: [each["state"] for each in dock.deletions()] == ["done"])
        dock.restart({})
        gateway, node = dock.site.appliance.gateway, dock.site.appliance.node
        assert gateway is not None
        assert node is not None
        gateway.kill()
        killed = dock.data.with_name("killed")
        part(dock.data, killed)
        with closing(LedgerClient(node.addresses["rest"])) as ledger:
            kept = Kept(dock.data, killed, ledger, made)
            for _, ask in DATABASES.values():
                ask(kept, dock.data, DamageNotes())  # empties its log
            yield kept
    finally:
        dock.site.stop()


def part(data: Path, killed: Path) -> None:
    """Leave a partial upload, an access and a session, and give the recording its whole file again.

    All so far is copied.
    """
    recording_id = hashlib.sha256(PARTIAL).digest()
    with ExitStack() as stack:
        volumes = stack.enter_context(
            Volumes({"volume": VolumePlace(data / "volume")}, data / "volume-ids")
        )
        store = stack.enter_context(RecordingStore(data / "recordings", blobs_in(data), volumes))
        claims = stack.enter_context(Claims(data / "uploads.db", lambda _: True))
        claims.claim(recording_id, "truck-2", len(PARTIAL))
        with store.begin(recording_id, len(PARTIAL)) as writer:
            writer.write(PARTIAL[:1000])
            writer.sync()
        ours = hashlib.sha256(CONTENT).digest()
        store.want(ours, Place.VOLUME)
        assert store.fill(ours)
        log = stack.enter_context(closing(accesses_in(data, DamageNotes())))
        sessions = stack.enter_context(closing(sessions_in(data, DamageNotes())))
        jobs = stack.enter_context(closing(jobs_in(data, DamageNotes())))
        jobs.start()
        verdict = Work(
            JobKind.VERIFY_LOT, ("lot",), lambda _: [b"{}"], "application/json", "lot.json"
        )
        jobs.wait(jobs.add(AUDITOR, verdict), 30)
        jobs.stop()
        for number in range(3):
            log.note(AUDITOR, "192.0.2.7", Taken.EVIDENCE, [f"trip-{number}"])
            sessions.begin(SessionKind.PERSON, "ann", f"mark-{number}", AUDITOR)
        assert log.step()
        shutil.copytree(data, killed)  # with the logs of what is open


def damaged(path: Path, chance: random.Random) -> str:
    """Flip one bit of a file, or cut it; return what was done."""
    wire = bytearray(path.read_bytes())
    if chance.random() < 0.2 or not wire:
        length = chance.randrange(len(wire)) if wire else 0
        path.write_bytes(wire[:length])
        return f"cut to {length}"
    place, bit = chance.randrange(len(wire)), chance.randrange(8)
    wire[place] ^= 1 << bit
    path.write_bytes(wire)
    return f"bit {bit} of byte {place}"


def mutate(kept: Kept, kind: str, count: int, work: Path, caplog: pytest.LogCaptureFixture) -> None:
    pattern, ask = KINDS[kind]
    data = kept.killed if pattern.endswith(LOG) else kept.data
    chance = random.Random(f"{SEED} {kind}")
    shutil.copytree(data, work)
    right = ask(kept, work, DamageNotes())
    assert any(right.values()), "nothing to lose"
    for _ in range(count):
        shutil.rmtree(work)
        shutil.copytree(data, work)
        path = chance.choice(sorted(each for each in work.glob(pattern) if each.is_file()))
        done = damaged(path, chance)
        told = f"{kind}: {path.relative_to(work)}: {done}"
        caplog.clear()
        damage = DamageNotes()
        try:
            found = ask(kept, work, damage)
        except WaysealError as error:
            if path.stem not in str(error):
                raise AssertionError(f"{told}: an error that does not name it") from error
            continue
        for what, rows in found.items():
            assert all(row in right[what] for row in rows), f"{told}: wrong {what}"
        if path.name.endswith("-wal") and done.startswith("cut"):
            continue  # a power cut leaves the same; nothing in the files tells one from the other
        lost = any(len(found.get(what, [])) < len(rows) for what, rows in right.items())
        assert not lost or damage.told() or caplog.messages, f"{told}: silently lost"


def test_every_file_is_of_a_kind_that_is_damaged(kept: Kept) -> None:
    """All but the reserve, whose bytes nobody reads."""
    for data in (kept.data, kept.killed):
        files = {each for each in data.rglob("*") if each.is_file() and each.stat().st_size}
        kinds = {each for pattern, _ in KINDS.values() for each in data.glob(pattern)}
        assert files - kinds == {data / "reserve"}


@pytest.mark.parametrize("kind", KINDS)
def test_rot_is_mended_or_named(
    kept: Kept, kind: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    mutate(kept, kind, EACH, tmp_path / "data", caplog)


@pytest.mark.long
@pytest.mark.parametrize("kind", KINDS)
def test_much_rot_is_mended_or_named(
    kept: Kept, kind: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    mutate(kept, kind, EACH_LONG, tmp_path / "data", caplog)
