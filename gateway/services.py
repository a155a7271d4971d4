"""The gateway's parts, wired together, started and stopped in order.

They are in one module, although it is long: a part is opened after the parts that it uses and
closed before them, and this order can be read in one place.
"""

import logging
from contextlib import ExitStack, closing
from functools import partial
from typing import TYPE_CHECKING

from contracts.copies import Policy
from contracts.errors import UnavailableError
from contracts.keys import SigningKey
from contracts.ledger.client import LedgerClient
from gateway.access import Tokens
from gateway.blobstore import blob_store
from gateway.clips.clips import Clips
from gateway.coldplace import cold_files
from gateway.dependencies import Dependencies
from gateway.enrolling import Enrolling
from gateway.index.cooling import ColdKeeper, Cooling, Moving
from gateway.index.follower import Follower
from gateway.index.network import Network
from gateway.index.store import IndexStore
from gateway.intake.brokertls import broker_tls
from gateway.intake.inbox import Inbox
from gateway.intake.mqtt import Intake
from gateway.jobs.jobs import Jobs
from gateway.metrics import Metrics
from gateway.mosquitto.ending import Ending
from gateway.offload.copies import CopiesAtHand
from gateway.offload.ledgerfacts import Completed, LedgerFacts
from gateway.offload.receipts import Receipts
from gateway.offload.recheck import Recheck
from gateway.offload.saga import OffloadSaga
from gateway.ownkey import check_key, note_missing, own_key
from gateway.ownsite import OwnSite
from gateway.people.accesslog import AccessLog
from gateway.people.committedheads import CommittedHeads
from gateway.people.oidc.admission import terms_of
from gateway.people.persons import Persons
from gateway.people.sessions import Sessions
from gateway.people.signing import People
from gateway.people.tries import Tries
from gateway.peoplefirst import Answers, GivingWay
from gateway.records.evidence import Audit
from gateway.records.records import Records
from gateway.records.successions import Successions
from gateway.retention.deletions import Deletions
from gateway.retention.judge import Judge
from gateway.retention.keeper import Retention
from gateway.retention.remover import Remover
from gateway.retention.reserve import Reserve
from gateway.retention.room import Room
from gateway.retention.sentfirst import sent_first
from gateway.settings import Settings
from gateway.upkeep.blobwatch import BlobWatch
from gateway.upkeep.catalogue import Recataloguing
from gateway.upkeep.certificates import CertificateUpkeep
from gateway.upkeep.expiry import Expiry
from gateway.upkeep.filling import Filling
from gateway.upkeep.scrubbing import Scrubbing
from gateway.upkeep.sessions import SessionUpkeep
from gateway.upkeep.settling import Settling
from gateway.upkeep.soundness import Soundness
from gateway.uploads.announced import Announced
from gateway.uploads.claims import Claims
from gateway.uploads.service import Uploads
from gateway.uploads.status import UPLOAD_BYTES_MAX, UploadLimits
from gateway.volumes.follow import DriveFollower, places_of
from storage.checked.damage import DamageNotes
from storage.recordings.store import RecordingStore
from storage.retention.ages import Ages
from storage.retention.rules import DAY_S
from storage.stages import Stage
from storage.volumes.volumes import Volumes

if TYPE_CHECKING:
    from gateway.people.oidc.issuer import OidcIssuer

_log = logging.getLogger(__name__)


class Services:
    """Everything that a gateway runs besides its broker and its REST server."""

    def __init__(self, settings: Settings, answers: Answers | None = None) -> None:
        """Open all files and connections; nothing runs before `start`.

        Args:
            settings: Of the gateway.
            answers: Where answers to people are counted; None makes a new count.

        Raises:
            RejectedError: The key file is invalid, missing, or has another key than before.
            UnavailableError: A directory or file cannot be opened.
        """
        self.settings = settings
        self.metrics = Metrics()
        self.damage = DamageNotes()
        self.answers = answers or Answers()
        signer = own_key(settings)
        self.public_key = signer.public_key
        self._policy = Policy.parse(settings.receipts.requires)
        note_missing(settings, self.damage)
        with ExitStack() as opened:
            self._open(opened, signer)
            check_key(
                settings, signer, lambda: self.inbox.visits.signers() | self.deletions.signers()
            )
            self._closing = opened.pop_all()
        self.records = Records(self._index)
        self.audit = Audit(self._index, self._ledger, self.recordings)
        self.clips = Clips(self.recordings)
        self.successions = Successions(self._ledger)
        self.committed_heads = CommittedHeads(self.accesses, self._ledger, signer, settings.site_id)
        self.own_site = OwnSite(self._ledger, self.records, settings.site_id)
        self.recataloguing = Recataloguing(
            self.recordings, self.records, self.inbox, self.deletions, self._ledger
        )
        self.soundness = Soundness(
            [
                self._index,
                self.inbox,
                self.deletions,
                self._claims,
                self.scrubbing,
                self._ages,
                self.people.sessions,
                self.accesses,
                self.jobs.register,
                self.cold,
            ]
        )
        self.network = Network(self._ledger, self.inbox, self._index)
        self._wire_offload(signer)
        self.dependencies = Dependencies(
            self.intake.broker, self.follower.reached, self._blobwatch.store, self.volumes
        )
        self.expiry = Expiry(self.inbox, settings.limits.waiting_days)
        self.filling = Filling(self.recordings, self._note_copies)
        self.drives = DriveFollower(places_of(settings), out=self.volumes.out)
        self.metrics.watch_drives(lambda: self.drives.health)
        self.uploads = Uploads(
            self.recordings,
            self._claims,
            self._note_recording,
            self._announced.check_upload,
            places=settings.limits.places,
            limits=UploadLimits(
                bytes_max=min(settings.limits.upload_bytes, UPLOAD_BYTES_MAX),
                bytes_per_s=settings.limits.device_bytes_per_s,
                left_s=self._upload_left_s,
            ),
            stages=self.metrics,
        )
        self.retention = self._retention()
        self.enrolling = Enrolling(settings)

    def start(self) -> None:
        """Start to follow the ledger, to offload, and to take in messages from trucks.

        Raises:
            RejectedError: The ledger is another one than before.
        """
        try:
            self.network.check()
        except UnavailableError as error:
            self.follower.reached.fails(str(error))
        for worker in (
            self.drives.worker,
            self.drives.asking,
            self.own_site.worker,
            Ending(self.settings).worker,
            CertificateUpkeep(self.settings).worker,
            SessionUpkeep(self.settings).worker,
            self.follower.worker,
            self.saga.worker,
            self.filling.worker,
            self.recataloguing.worker,
            self.scrubbing.worker,
            self.retention.worker,
            self.settling.worker,
            self.expiry.worker,
            self.cold.worker,
            self.soundness.worker,
            self.accesses.worker,
            self.committed_heads.worker,
            self._blobwatch.worker,
        ):
            worker.start()
            self._closing.callback(worker.close)
        self.jobs.start()
        self._closing.callback(self.jobs.stop)
        mqtt = self.settings.mqtt
        self.intake.start(mqtt.host, mqtt.port, mqtt.username, mqtt.password)
        self._closing.callback(self.intake.close)

    @property
    def index(self) -> IndexStore:
        """The index of the ledger."""
        return self._index

    def close(self) -> None:
        """Stop everything in the opposite order, each part after its current step."""
        self._closing.close()

    def _open(self, opened: ExitStack, signer: SigningKey) -> None:
        """Open every file and connection; `opened` closes them in the opposite order."""
        settings, data = self.settings, self.settings.data
        self._ledger = opened.enter_context(closing(LedgerClient(settings.ledger.place)))
        self.volumes = opened.enter_context(Volumes(places_of(settings), data / "volume-ids"))
        blobs = opened.enter_context(closing(blob_store(settings)))
        self.settling = Settling(blobs)
        self._blobwatch = BlobWatch(blobs)
        limits = settings.limits
        self.inbox = opened.enter_context(
            closing(
                Inbox(
                    data / "inbox.db",
                    bytes_max=limits.inbox_bytes,
                    quarantine_bytes_max=limits.quarantine_bytes,
                    of_device=limits.of_device,
                    damage=self.damage,
                )
            )
        )
        self._announced = Announced(self.inbox, limits.upload_bytes)
        self.recordings = opened.enter_context(
            RecordingStore(
                data / "recordings",
                blobs,
                self.volumes,
                without_volume=settings.storage.without_volume == "blobs",
                believes=self._announced.believes,
                stages=self.metrics,
            )
        )
        self._claims = opened.enter_context(
            Claims(
                data / "uploads.db",
                lambda upload: self.recordings.progress(upload) is not None,
                bytes_max=limits.device_partial_bytes,
                damage=self.damage,
            )
        )
        self._cooling = Cooling(cold_files(settings), settings.index.cold_after_days)
        self._index = opened.enter_context(
            closing(
                IndexStore(
                    settings.index_file,
                    cold=self._cooling.files,
                    worked_before=self.inbox.genesis_id() is not None,
                    on_rebuild=self._index_was_dropped,
                )
            )
        )
        self.cold = ColdKeeper(self._index, self._cooling, data, damage=self.damage)
        self.metrics.watch_index(self._index)
        self.deletions = opened.enter_context(
            closing(Deletions(data / "deletions.db", signer, self.damage))
        )
        self.scrubbing = opened.enter_context(
            closing(
                Scrubbing(
                    self.recordings,
                    data / "scrub.db",
                    settings.scrub,
                    lambda: self.recataloguing.remade(),  # noqa: PLW0108 - it is made later
                    self.damage,
                )
            )
        )
        tokens = Tokens(settings.tokens_file, self.damage)
        persons = Persons(settings.people_file, self.damage)
        sessions = Sessions(
            data / "sessions.db", tokens, persons, self.damage, issuer=terms_of(settings.oidc)
        )
        self.issuer = _issuer(settings)
        self.people = People(tokens, persons, opened.enter_context(closing(sessions)), Tries())
        log = AccessLog(settings.accesses_file, signer, settings.site_id, self.damage)
        self.accesses = opened.enter_context(closing(log))
        jobs = Jobs(data / "jobs.db", data / "jobs", self.damage, ended=self.metrics.job_ended)
        self.jobs = opened.enter_context(closing(jobs))
        self._ages = opened.enter_context(closing(Ages(data / "retention.db", damage=self.damage)))

    def _wire_offload(self, signer: SigningKey) -> None:
        """Connect intake, saga, receipts and the index's follower."""
        facts = LedgerFacts(self._ledger)
        self.receipts = Receipts(
            self.inbox,
            Completed(facts, self.records),
            CopiesAtHand(self.recordings, self.deletions, self.volumes).manifest,
            signer,
            site_id=self.settings.site_id,
            policy=self._policy,
            confirmations=self.settings.receipts.confirmations,
            send=lambda *receipt: self.intake.send_receipt(*receipt),  # noqa: PLW0108 - it is made later
        )
        recheck = self._recheck = Recheck(self.inbox, self.records, self._ledger, facts)
        self.saga = OffloadSaga(
            self.inbox,
            self._ledger,
            self.network,
            facts,
            self.recordings,
            self.receipts,
            recheck,
            self.metrics,
        )
        self.saga.refused = self.metrics.refused
        self.saga.give_way = GivingWay(self.answers)
        self.follower = Follower(
            self._ledger,
            self.network,
            self._index,
            self.saga.worker.wake,
            recheck.doubt,
            self.metrics,
            Moving(self._index, self._cooling),
        )
        self.follower.give_way = GivingWay(self.answers)
        self.saga.committed = self.follower.worker.wake
        self.intake = Intake(
            self.inbox,
            self.settings.mqtt.session_of(self.settings.site_id),
            trip_of=self.records.visits.trip_of,
            repeat_receipts=self.receipts.repeat,
            on_change=self.saga.worker.wake,
            socket=self.settings.mqtt.socket,
            tls=broker_tls(self.settings.mqtt),
            meter=self.metrics.meter(Stage.INTAKE),
        )
        self.intake.refused = self.metrics.refused
        self.intake.give_way = GivingWay(self.answers)
        self.intake.sent_first = partial(sent_first, self.records, self.inbox)

    def _retention(self) -> Retention:
        settings = self.settings
        judge = Judge(
            self.inbox,
            self.records,
            self._ledger,
            self.network,
            self.deletions.hold_ends,
            confirmations=settings.receipts.confirmations,
        )
        room = Room(self.volumes, self.recordings, self.inbox, settings.limits.device_partial_bytes)
        remover = Remover(
            self.recordings,
            self.deletions,
            judge,
            policy=self._policy,
            site_id=settings.site_id,
            let_go=self.uploads.let_go,
            touched=room.look_again,
        )
        return Retention(
            self.recordings,
            self._ages,
            self.deletions,
            judge,
            remover,
            settings.retention,
            room.fills,
            Reserve(settings.data / "reserve"),
        )

    def _upload_left_s(self, upload: bytes, offset: int) -> float | None:
        """Return after how many seconds retention may delete an upload that stands at `offset`."""
        days = self.settings.retention.partial_days
        if not days:
            return None
        return max(0.0, days * DAY_S - self._ages.stood_s(upload, offset))

    def _index_was_dropped(self) -> None:
        """Have the index made again at once, and what was said by it compared afterwards."""
        self._recheck.doubt()
        self.follower.worker.wake()

    def _note_recording(self, recording_id: bytes) -> None:
        _log.info(
            "recording %s is whole", recording_id.hex(), extra={"recording_id": recording_id.hex()}
        )
        self._note_copies()
        self.filling.worker.wake()

    def _note_copies(self) -> None:
        self.receipts.note_copies()
        self.saga.worker.wake()


def _issuer(settings: Settings) -> "OidcIssuer | None":
    """Return the issuer whose word lets people in, if there is one.

    Raises:
        RejectedError: Its CA file is missing or malformed.
    """
    if not settings.oidc.issuer:
        return None
    # Imported late: authlib takes 0.1 s and 12 MB, which most gateways need not spend.
    from gateway.people.oidc.issuer import OidcIssuer  # noqa: PLC0415

    return OidcIssuer(settings.oidc, settings.pages_address)
