"""What the parts of a gateway answer from the data that another gateway left."""

import hashlib
from collections.abc import Callable, Mapping
from contextlib import ExitStack, closing
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from contracts.ledger.client import LedgerClient
from gateway.access import Caller, Role, Tokens
from gateway.blobstore import BLOBS_ID
from gateway.index.follower import Follower
from gateway.index.network import Network
from gateway.index.rebuilding import RebuildingError
from gateway.index.store import IndexStore
from gateway.intake.held import State
from gateway.intake.inbox import Inbox
from gateway.jobs.jobs import Jobs
from gateway.ownkey import check_key, own_key
from gateway.people.accesslog import AccessLog
from gateway.people.persons import Persons
from gateway.people.sessions import Sessions
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
from support.gateways.dock import CONTENT
from support.network.world import key

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
