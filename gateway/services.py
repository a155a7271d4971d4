"""The gateway's parts, wired together, started and stopped in order."""

import logging
import secrets
from collections.abc import Callable
from contextlib import ExitStack, closing
from dataclasses import replace
from pathlib import Path

from contracts.copies import Copy, Place, Policy
from contracts.errors import RejectedError, UnavailableError
from contracts.keys import Signer
from contracts.ledger import LedgerClient
from gateway.access import Caller, Role
from gateway.audit import Audit
from gateway.blobstore import blob_store
from gateway.completed import Completed
from gateway.filling import Filling
from gateway.inbox import Inbox
from gateway.index.follower import Follower
from gateway.index.store import IndexStore
from gateway.intake import Intake
from gateway.ledgerfacts import LedgerFacts
from gateway.metrics import Metrics
from gateway.network import Network
from gateway.offload import OffloadSaga
from gateway.receipts import Receipts
from gateway.recheck import Recheck
from gateway.retention.deletions import Deletions
from gateway.retention.judge import Judge
from gateway.retention.keeper import Retention
from gateway.retention.remover import Remover
from gateway.retention.reserve import Reserve
from gateway.retention.room import Room
from gateway.scrubbing import Scrubbing
from gateway.settings import Settings
from gateway.uploads.service import Uploads
from gateway.volumes.follow import DriveFollower
from gateway.volumes.places import places_of
from storage.blobs.port import BlobStore
from storage.recordings.manifest import StoredRecording
from storage.recordings.store import RecordingStore
from storage.retention.ages import Ages
from storage.stages import Stages
from storage.volumes.volumes import Volumes

_log = logging.getLogger(__name__)


class Services:
    """Everything that a gateway runs besides its broker and its REST server."""

    def __init__(self, settings: Settings) -> None:
        """Open what is on disk; nothing runs before `start`.

        Raises:
            RejectedError: The key file is no key.
            UnavailableError: A directory or file cannot be opened.
        """
        self.settings = settings
        self.metrics = Metrics()
        signer = own_key(settings)
        self.public_key = signer.public_key
        with ExitStack() as opened:
            self.ledger = opened.enter_context(closing(LedgerClient(settings.ledger.url)))
            self.volumes = opened.enter_context(_volumes(settings))
            blobs = opened.enter_context(closing(blob_store(settings)))
            self.inbox = opened.enter_context(closing(_inbox(settings)))
            self.recordings = opened.enter_context(
                _recordings(settings, blobs, self.volumes, self._is_as_announced, self.metrics)
            )
            self.index = opened.enter_context(closing(IndexStore(settings.data / "index.db")))
            self.deletions = opened.enter_context(
                closing(Deletions(settings.data / "deletions.db", signer))
            )
            self.scrubbing = opened.enter_context(
                closing(Scrubbing(self.recordings, settings.data / "scrub.db", settings.scrub))
            )
            ages = opened.enter_context(closing(Ages(settings.data / "retention.db")))
            self._closing = opened.pop_all()
        self.audit = Audit(self.index, self.ledger, self.recordings)
        self._network = Network(self.ledger, self.inbox, self.index)
        facts = LedgerFacts(self.ledger)
        self.receipts = Receipts(
            self.inbox,
            Completed(facts, self.index),
            self._manifest,
            signer,
            site_id=settings.site_id,
            policy=Policy.parse(settings.receipts.requires),
            confirmations=settings.receipts.confirmations,
            send=self._send_receipt,
        )
        recheck = Recheck(self.inbox, self.index, self.ledger, facts)
        self.saga = OffloadSaga(
            self.inbox,
            self.ledger,
            self._network,
            facts,
            self.recordings,
            self.receipts,
            recheck,
            self.metrics,
        )
        self.follower = Follower(
            self.ledger,
            self._network,
            self.index,
            self.saga.worker.wake,
            recheck.doubt,
            self.metrics,
        )
        self.intake = Intake(
            self.inbox,
            _session(settings),
            trip_of=self._trip_of,
            repeat_receipts=self.receipts.repeat,
            on_change=self.saga.worker.wake,
            stages=self.metrics,
        )
        self.filling = Filling(self.recordings, self._note_copies)
        self.drives = DriveFollower(places_of(settings))
        self.uploads = Uploads(
            self.recordings, self._note_recording, self._accepts, stages=self.metrics
        )
        self.retention = self._retention(ages)

    def start(self) -> None:
        """Start to follow the ledger, to offload, and to take in what trucks send.

        Raises:
            RejectedError: The ledger is another one than before.
        """
        try:
            self._network.check()
        except UnavailableError as error:
            _log.warning("starting without the ledger: %s", error)
        mqtt = self.settings.mqtt
        self.drives.worker.start()
        self._closing.callback(self.drives.worker.close)
        self.follower.worker.start()
        self._closing.callback(self.follower.worker.close)
        self.saga.worker.start()
        self._closing.callback(self.saga.worker.close)
        for worker in (self.filling.worker, self.scrubbing.worker, self.retention.worker):
            worker.start()
            self._closing.callback(worker.close)
        self.intake.start(mqtt.host, mqtt.port, mqtt.username, mqtt.password)
        self._closing.callback(self.intake.close)

    def close(self) -> None:
        """Stop everything, in the opposite order, each after the step at hand."""
        self._closing.close()

    def _retention(self, ages: Ages) -> Retention:
        settings, policy = self.settings, Policy.parse(self.settings.receipts.requires)
        judge = Judge(
            self.inbox,
            self.index,
            self.ledger,
            self._network,
            confirmations=settings.receipts.confirmations,
        )
        room = Room(self.volumes, self.recordings, self.inbox)
        remover = Remover(
            self.recordings,
            self.deletions,
            judge,
            policy=policy,
            site_id=settings.site_id,
            let_go=self.uploads.let_go,
            touched=room.look_again,
        )
        return Retention(
            self.recordings,
            ages,
            self.deletions,
            judge,
            remover,
            settings.retention,
            room.fills,
            Reserve(settings.data / "reserve"),
        )

    def _send_receipt(self, device_id: str, wire: bytes) -> None:
        self.intake.send_receipt(device_id, wire)

    def _note_recording(self, recording_id: bytes) -> None:
        _log.info("recording %s is whole", recording_id.hex())
        self._note_copies()
        self.filling.worker.wake()

    def _note_copies(self) -> None:
        self.receipts.note_copies()
        self.saga.worker.wake()

    def _manifest(self, recording_id: bytes) -> StoredRecording | None:
        """Return a whole recording with the copies that a receipt may name now.

        Whether a volume that is out still has its copy is not known before it is back.

        The deletions are looked at first. A deletion that begins after that looks at what was
        announced after it is on record, and so finds the visit that the receipt is for.
        """
        if self.deletions.is_under_way(recording_id):
            raise UnavailableError(f"a copy of recording {recording_id.hex()} is being deleted")
        stored = self.recordings.manifest(recording_id)
        if stored is None:
            return None
        return replace(stored, copies=tuple(filter(self._is_at_hand, stored.copies)))

    def _is_at_hand(self, copy: Copy) -> bool:
        volume = self.volumes.get(copy.name) if copy.place is Place.VOLUME else None
        return copy.place is not Place.VOLUME or (volume is not None and volume.usable)

    def _trip_of(self, batch_id: str, device_id: str) -> str | None:
        """Return the trip of a committed batch, or None; only a device that recorded on it asks."""
        rows = self.index.query(
            "SELECT substr(subject, 6) AS trip FROM batches"
            " WHERE batch_id = ?1 AND subject LIKE 'trip %' AND ("
            " EXISTS (SELECT 1 FROM trips WHERE trip_id = trip AND device_id = ?2)"
            " OR EXISTS (SELECT 1 FROM readings WHERE trip_id = trip AND device_id = ?2)"
            " OR EXISTS (SELECT 1 FROM seals WHERE trip_id = trip AND device_id = ?2))",
            batch_id,
            device_id,
        )
        return str(rows[0][0]) if rows else None

    def _accepts(self, recording_id: bytes, size: int, caller: Caller) -> None:
        """Let in what was announced with a signed digest, from the device that signed it."""
        if size > self.settings.limits.upload_bytes:
            raise RejectedError(
                f"recording of {size} bytes, at most {self.settings.limits.upload_bytes} allowed"
            )
        offers = self.inbox.offers_of(recording_id)
        mine = [
            offer
            for offer in offers
            if offer.size == size
            and (caller.role is Role.OPERATOR or offer.device_id == caller.name)
        ]
        if not mine:
            raise RejectedError(
                f"no signed digest by {caller.name} announces recording {recording_id.hex()} "
                f"with {size} bytes"
            )

    def _is_as_announced(self, shared: StoredRecording) -> bool:
        """Say whether another site's manifest is that of which each device here signed the digest.

        A false one would be here in the place of the bytes, and the true digest be refused.
        """
        offers = self.inbox.offers_of(shared.sha256)
        return bool(offers) and all(shared.fits(each.size, each.tree_root) for each in offers)


def own_key(settings: Settings) -> Signer:
    """Return the key that signs this gateway's receipts; make it for a new gateway.

    Raises:
        RejectedError: It is no key; or it is gone, and trucks would not know another one.
        UnavailableError: It cannot be written.
    """
    if _inbox_file(settings).exists() and not settings.key_file.exists():
        raise RejectedError(
            f"key file {settings.key_file} is missing, though this gateway worked before: restore "
            f"it, for trucks accept no receipt by another key"
        )
    return Signer.load_or_create(settings.key_file)


def _volumes(settings: Settings) -> Volumes:
    return Volumes(places_of(settings), settings.data / "volume-ids")


def _recordings(
    settings: Settings,
    blobs: BlobStore,
    volumes: Volumes,
    believes: Callable[[StoredRecording], bool],
    stages: Stages,
) -> RecordingStore:
    return RecordingStore(
        settings.data / "recordings",
        blobs,
        volumes,
        without_volume=settings.storage.without_volume == "blobs",
        believes=believes,
        stages=stages,
    )


def _inbox(settings: Settings) -> Inbox:
    limits = settings.limits
    return Inbox(
        _inbox_file(settings),
        bytes_max=limits.inbox_bytes,
        quarantine_bytes_max=limits.quarantine_bytes,
    )


def _inbox_file(settings: Settings) -> Path:
    """Return the file of the inbox; where it is, a gateway has worked."""
    return settings.data / "inbox.db"


def _session(settings: Settings) -> str:
    """Return the gateway's name at the broker: kept, so that the broker keeps what it missed.

    But an embedded broker keeps nothing, and lets a stranger who comes under a name that it
    knows end that session before it asks for a password; so there nobody can guess it.
    """
    if settings.mqtt.embedded:
        return f"{settings.site_id}-{secrets.token_hex(8)}"
    return settings.site_id
