"""For operators: offloads under way, batches that are stuck, and the gateway's own state."""

from functools import partial
from typing import Annotated

from fastapi import APIRouter, Depends, Query
from pydantic import BaseModel, Field

from contracts.copies import Place
from contracts.errors import RejectedError
from contracts.receipt import body_of
from contracts.records.clock import moment
from contracts.text import quoted
from gateway.api.models import Page
from gateway.api.paging import Order, Ordered, Paging, page_of
from gateway.api.parts import (
    AllParts,
    FillingPart,
    InboxPart,
    ReceiptsPart,
    SagaPart,
    UploadsPart,
)
from gateway.api.placed import LINKED, InParts, since
from gateway.api.problems import ABSENT, NotFoundError
from gateway.budgets import budgets
from gateway.index.rebuilding import Rebuild
from gateway.intake.held import KeptReceipt, State
from gateway.intake.visits import Visit
from gateway.intake.waiting import WaitingBatch
from gateway.moments import Moment
from gateway.services import Services
from gateway.uploads.known import KnownUploads


class OffloadRecording(BaseModel):
    """The progress of a recording's upload."""

    recording_id: str
    size: int
    received: int
    copies: list[str] = Field(
        description="whole copies, as in receipts; none while the upload is partial"
    )
    damaged: bool = Field(
        description="its entry here is damaged, which the scrub reports, or the copy that another "
        "site stored is; in the second case the truck has to upload it"
    )
    digest: State


class Offload(BaseModel):
    """One device's visit: what is held, committed and stored, and what is missing."""

    trip_id: str
    device_id: str
    since: Moment
    batches: dict[State, int]
    readings: dict[State, int]
    blocked_by: dict[str, str]
    recordings: list[OffloadRecording]
    receipted: bool = Field(
        description="a final receipt was given: the truck may delete its copies"
    )
    provisional: bool = Field(
        description="a provisional receipt was given: all is committed, the truck keeps its copies"
    )
    lacking: list[str] = Field(description="what the final receipt waits for, as far as known")


class BacklogItem(BaseModel):
    """A whole recording that lacks a copy."""

    recording_id: str
    size: int
    lacks: list[Place]
    since: Moment
    problem: str | None = Field(description="why the last attempt failed; null if none failed")


class QuarantinedBatch(BaseModel):
    """A signed batch that the ledger refused, or would refuse."""

    batch_id: str
    device_id: str
    trip_id: str
    reason: str
    bytes: int


class BacklogSum(BaseModel):
    """The number and size of whole recordings that lack a copy."""

    recordings: int
    bytes: int
    oldest: Moment | None = Field(description="since when the oldest of them waits")


class IndexRebuild(BaseModel):
    """An index that was dropped and is being made again from the ledger."""

    reason: str
    since: Moment
    blocks: int = Field(description="how many blocks it has again")
    blocks_of: int | None = Field(
        description="how many the ledger has; null before the ledger answered"
    )


class DeletionsSum(BaseModel):
    """Deletions of recordings that not every replica of the blob store has confirmed."""

    open: int | None = Field(
        description="null until the blob store could be asked after the gateway's start"
    )
    oldest: Moment | None = Field(
        description="when the oldest was deleted; after 10 days replace the node that is away"
    )
    problem: str | None = Field(description="why the last attempt failed; null if none failed")
    checked: Moment | None = Field(
        description="when the scrub last asked every replica for all that was ever deleted"
    )


class DependencyState(BaseModel):
    """Something that the gateway needs and that may go and come."""

    name: str = Field(description="`broker`, `ledger`, `blobs`, or a volume, as in `volume main`")
    works: bool
    reason: str | None = Field(description="why it is out; null while it works")
    since: Moment = Field(description="since when it works or is out")


class BudgetState(BaseModel):
    """A limit of the settings, and how much of it is used."""

    name: str = Field(description="`inbox`, `quarantine`, or a volume with a quota")
    used_bytes: int
    limit_bytes: int
    nearly_full: bool = Field(description="over nine tenths are used")


class Status(BaseModel):
    """The gateway's own state."""

    site_id: str
    site_registered: bool | None = Field(
        description="whether the ledger has the site; null before the ledger answered"
    )
    gateway_public_key: str
    broker_connected: bool
    ready: bool = Field(description="as in `/health/ready`")
    dependencies: list[DependencyState]
    index_block_num: int | None
    index_block_id: str | None
    index_rebuild: IndexRebuild | None = Field(
        description="null unless the index is being made again; until then questions get 503"
    )
    damage: list[str] = Field(
        description="what was found damaged or missing since the start of the gateway"
    )
    backlog: BacklogSum
    deletions: DeletionsSum
    budgets: list[BudgetState] = Field(description="without volumes that are out")


router = APIRouter(prefix="/v1", tags=["operations"])
status_router = APIRouter(prefix="/v1", tags=["operations"])


class Desk:
    """Visits as one answer shows them: what came in, what was sent on, what is missing."""

    def __init__(
        self, inbox: InboxPart, saga: SagaPart, receipts: ReceiptsPart, uploads: UploadsPart
    ) -> None:
        self._visits = inbox.visits
        self._receipts = receipts
        self._known = uploads.known
        self._blocked = saga.blocked_by()

    def view(self, visit: Visit) -> Offload:
        """Return a visit with the progress of its offload."""
        visits, named = self._visits, (visit.trip_id, visit.device_id)
        counts, receipt = visits.counts(*named), visits.receipt(*named)
        held = visits.batch_ids(*named, State.HELD)
        offered = visits.offered(*named)
        return Offload(
            trip_id=visit.trip_id,
            device_id=visit.device_id,
            since=moment(visit.since_ms),
            batches={state: batches for state, (batches, _) in counts.items()},
            readings={state: readings for state, (_, readings) in counts.items()},
            blocked_by={name: self._blocked[name] for name in held if name in self._blocked},
            recordings=[_recording(self._known, visit.device_id, *each) for each in offered],
            receipted=receipt is not None and receipt.final,
            provisional=receipt is not None and not receipt.final,
            lacking=_lacking(receipt, self._receipts.awaited(*named)),
        )


@router.get("/offloads")
def offloads(
    inbox: InboxPart,
    desk: Annotated[Desk, Depends()],
    window: Paging,
    order: Ordered = Order.OLDEST,
    *,
    only_open: Annotated[
        bool, Query(alias="open", description="only visits without a final receipt")
    ] = False,
) -> Page[Offload]:
    """List the visits of devices with the progress of their offloads, oldest first."""
    ask = partial(inbox.visits.listed, newest_first=order is Order.NEWEST, only_open=only_open)
    return page_of(ask, desk.view, window)


@router.get("/backlog", responses=LINKED)
def backlog(filling: FillingPart, parts: InParts) -> list[BacklogItem]:
    """Return the whole recordings that lack a copy, oldest first."""
    listed = parts.of(
        filling.waiting(), lambda each: since(each.item.since_ms, each.item.recording_id.hex())
    )
    return [
        BacklogItem(
            recording_id=each.item.recording_id.hex(),
            size=each.item.size,
            lacks=list(each.item.lacks),
            since=moment(each.item.since_ms),
            problem=each.problem or None,
        )
        for each in listed
    ]


@router.get("/quarantine")
def quarantine(inbox: InboxPart, window: Paging) -> Page[QuarantinedBatch]:
    """List the signed batches that the ledger refused or would refuse, oldest first."""
    return page_of(partial(inbox.waiting.batches, state=State.QUARANTINED), _refused, window)


@router.post("/quarantine/{batch_id}/release", status_code=204, responses=ABSENT)
def release(inbox: InboxPart, saga: SagaPart, batch_id: str) -> None:
    """Try a quarantined batch once more, for example after its device was registered."""
    batch = inbox.batch(batch_id)
    if batch is None or batch.state is not State.QUARANTINED:
        raise NotFoundError(f"no quarantined batch {quoted(batch_id, 140)}")
    if not batch.trip_id:
        raise RejectedError(f"no rule will ever accept this batch: {batch.reason}")
    inbox.mark([batch_id], State.HELD)
    saga.worker.wake()


@status_router.get("/status")
def status(parts: AllParts) -> Status:
    """Return the gateway's identity, its place on the ledger, its backlog and open deletions."""
    head = parts.records.blocks.head()
    waiting = [each.item for each in parts.filling.waiting()]
    return Status(
        site_id=parts.settings.site_id,
        site_registered=parts.own_site.registered,
        gateway_public_key=parts.public_key,
        broker_connected=parts.intake.connected.is_set(),
        ready=parts.dependencies.ready(),
        dependencies=[
            DependencyState(
                name=name,
                works=not standing.reason,
                reason=standing.reason or None,
                since=moment(standing.since_ms),
            )
            for name, standing in parts.dependencies.standings().items()
        ],
        index_block_num=head.block_num if head else None,
        index_block_id=head.block_id if head else None,
        index_rebuild=_rebuild(parts.index.rebuild, head.block_num + 1 if head else 0),
        damage=parts.damage.told(),
        backlog=BacklogSum(
            recordings=len(waiting),
            bytes=sum(item.size for item in waiting),
            oldest=moment(waiting[0].since_ms) if waiting else None,
        ),
        deletions=_deletions(parts),
        budgets=[
            BudgetState(
                name=each.name,
                used_bytes=each.used,
                limit_bytes=each.limit,
                nearly_full=each.nearly_full,
            )
            for each in budgets(parts.settings, parts.inbox, parts.volumes)
        ],
    )


def _refused(batch: WaitingBatch) -> QuarantinedBatch:
    return QuarantinedBatch(
        batch_id=batch.batch_id,
        device_id=batch.device_id,
        trip_id=batch.trip_id,
        reason=batch.reason,
        bytes=batch.bytes,
    )


def _deletions(parts: Services) -> DeletionsSum:
    left, checked_ms = parts.settling.open, parts.scrubbing.journal.deletions_checked_ms()
    return DeletionsSum(
        open=parts.settling.count,
        oldest=None if left.since_ms is None else moment(left.since_ms),
        problem=left.reason or None,
        checked=None if checked_ms is None else moment(checked_ms),
    )


def _rebuild(rebuild: Rebuild | None, blocks: int) -> IndexRebuild | None:
    if rebuild is None:
        return None
    return IndexRebuild(
        reason=rebuild.reason,
        since=moment(rebuild.since_ms),
        blocks=blocks,
        blocks_of=None if rebuild.of is None else rebuild.of + 1,
    )


def _recording(
    known: KnownUploads, device_id: str, recording: bytes, size: int, state: State
) -> OffloadRecording:
    try:
        status, damaged = known.status(recording, device_id), known.is_damaged(recording)
    except RejectedError:  # one damaged entry must not hide all visits
        status, damaged = None, True
    return OffloadRecording(
        recording_id=recording.hex(),
        size=size,
        received=status.offset if status else 0,
        copies=list(map(str, status.copies)) if status else [],
        damaged=damaged,
        digest=state,
    )


def _lacking(receipt: KeptReceipt | None, awaited: str) -> list[str]:
    if receipt is not None and receipt.final:
        return []
    if awaited or receipt is None:
        return [awaited] if awaited else []
    try:
        return list(body_of(receipt.wire).lacking)
    except RejectedError:
        return ["the receipt is damaged"]
