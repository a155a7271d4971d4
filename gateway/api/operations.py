"""What an operator watches: offloads under way, what is stuck, and the gateway itself."""

from collections.abc import Callable
from typing import Any

from fastapi import APIRouter, Depends

from contracts.errors import RejectedError
from contracts.receipt import body_of
from contracts.records.clock import moment
from gateway.api import operationmodels
from gateway.api.problems import NotFoundError
from gateway.filling import Filling
from gateway.inbox import Inbox, KeptReceipt, State
from gateway.index.store import IndexStore
from gateway.intake import Intake
from gateway.offload import OffloadSaga
from gateway.receipts import Receipts
from gateway.uploads.service import Uploads

QUARANTINE_MAX = 1000


def operations_router(
    inbox: Inbox,
    saga: OffloadSaga,
    receipts: Receipts,
    filling: Filling,
    uploads: Uploads,
    may_operate: Callable[..., Any],
) -> APIRouter:
    """Return the routes, for callers that `may_operate` lets pass."""
    router = APIRouter(prefix="/v1", tags=["operations"], dependencies=[Depends(may_operate)])

    @router.get("/offloads")
    def offloads() -> list[operationmodels.Offload]:
        """Return every visit of a device, newest last, and how far its offload is."""
        return [_offload(*visit) for visit in inbox.visits()]

    @router.get("/backlog")
    def backlog() -> list[operationmodels.BacklogItem]:
        """Return the whole recordings that lack a copy, oldest first."""
        return [
            operationmodels.BacklogItem(
                recording_id=each.item.recording_id.hex(),
                size=each.item.size,
                lacks=list(map(str, each.item.lacks)),
                since=moment(each.item.since_ms),
                problem=each.problem or None,
            )
            for each in filling.waiting()
        ]

    @router.get("/quarantine")
    def quarantine() -> list[operationmodels.QuarantinedBatch]:
        """Return the signed batches that the ledger would not take, with the reason."""
        return [
            operationmodels.QuarantinedBatch(
                batch_id=batch.batch_id,
                device_id=batch.device_id,
                trip_id=batch.trip_id,
                reason=batch.reason,
                bytes=len(batch.wire),
            )
            for batch in inbox.in_state(State.QUARANTINED, QUARANTINE_MAX)
        ]

    @router.post("/quarantine/{batch_id}/release", status_code=204)
    def release(batch_id: str) -> None:
        """Try a quarantined batch once more, for example after its device was registered."""
        batch = inbox.batch(batch_id)
        if batch is None or batch.state is not State.QUARANTINED:
            raise NotFoundError(f"no quarantined batch {batch_id[:140]!r}")
        if not batch.trip_id:
            raise RejectedError(f"no rule will ever take this batch: {batch.reason}")
        inbox.mark([batch_id], State.HELD)
        saga.worker.wake()

    def _offload(trip_id: str, device_id: str, since_ms: int) -> operationmodels.Offload:
        counts = inbox.counts(trip_id, device_id)
        blocked = saga.blocked_by()
        receipt = inbox.receipt(trip_id, device_id)
        return operationmodels.Offload(
            trip_id=trip_id,
            device_id=device_id,
            since=moment(since_ms),
            batches={state: batches for state, (batches, _) in counts.items()},
            readings={state: readings for state, (_, readings) in counts.items()},
            blocked_by={
                batch_id: blocked[batch_id]
                for batch_id in inbox.batch_ids(trip_id, device_id, State.HELD)
                if batch_id in blocked
            },
            recordings=[
                _recording(recording, size, state)
                for recording, size, state in inbox.offered(trip_id, device_id)
            ],
            receipted=receipt is not None and receipt.final,
            provisional=receipt is not None and not receipt.final,
            lacking=_lacking(receipt, receipts.awaited(trip_id, device_id)),
        )

    def _recording(recording: bytes, size: int, state: State) -> operationmodels.OffloadRecording:
        status = uploads.status(recording)
        return operationmodels.OffloadRecording(
            recording_id=recording.hex(),
            size=size,
            received=status.offset if status else 0,
            copies=list(map(str, status.copies)) if status else [],
            damaged=uploads.is_damaged(recording),
            digest=state,
        )

    return router


def _lacking(receipt: KeptReceipt | None, awaited: str) -> list[str]:
    if receipt is not None and receipt.final:
        return []
    return [awaited] if awaited else list(body_of(receipt.wire).lacking) if receipt else []


def status_router(
    site_id: str,
    public_key: str,
    intake: Intake,
    index: IndexStore,
    filling: Filling,
    may_read: Callable[..., Any],
) -> APIRouter:
    """Return the route that tells how the gateway is."""
    router = APIRouter(prefix="/v1", tags=["operations"], dependencies=[Depends(may_read)])

    @router.get("/status")
    def status() -> operationmodels.Status:
        """Return who this gateway is, how far it has followed the ledger, and what waits."""
        head, waiting = index.head(), [each.item for each in filling.waiting()]
        return operationmodels.Status(
            site_id=site_id,
            gateway_public_key=public_key,
            broker_connected=intake.connected.is_set(),
            index_block_num=head[0] if head else None,
            index_block_id=head[1] if head else None,
            backlog=operationmodels.BacklogSum(
                recordings=len(waiting),
                bytes=sum(item.size for item in waiting),
                oldest=moment(waiting[0].since_ms) if waiting else None,
            ),
        )

    return router
