"""`/batch_statuses` and `/receipts`: answers about ids in the query or in a body."""

import json
from base64 import b64encode
from typing import Final

from starlette.requests import Request
from starlette.responses import Response

from contracts.ledger.engine.ports import BlockReader, Submitter
from contracts.ledger.rest import errors
from contracts.ledger.rest.answers import Answers
from contracts.ledger.rest.body import read_body
from contracts.ledger.rest.envelope import (
    JsonResponse,
    check_ids,
    content_type,
    filter_ids,
    one_response,
    queries,
    whole,
)
from contracts.ledger.rest.leaving import while_there
from contracts.ledger.rest.views import Json, receipt_view
from contracts.sawtooth.batches import Status

IDS_BODY_BYTES_MAX: Final = 1 << 20
WAIT_S: Final = 285.0
"""Time, seconds, that `wait` without a number waits."""
WAIT_MAX_S: Final = 300.0
_WITH_REASON: Final = (Status.INVALID, Status.UNKNOWN)
"""Sawtooth gives reasons for INVALID only. This node says too why it will never decide a batch."""
_UINT32_MAX: Final = (1 << 32) - 1


class ByIds:
    """Answers by id.

    Args:
        blocks: Hold the receipts.
        submitter: Has the statuses of batches.
        answers: Limits large answers.
    """

    def __init__(self, blocks: BlockReader, submitter: Submitter, answers: Answers) -> None:
        self._blocks = blocks
        self._submitter = submitter
        self._answers = answers

    async def statuses(self, request: Request) -> Response:
        """`GET` and `POST /batch_statuses`."""
        names = await _ids(request, errors.STATUSES)
        timeout_s = wait_s(queries(request).get("wait", "false"))
        if timeout_s:
            await while_there(request.receive, self._submitter.wait(names, timeout_s))
        return _answer(request, [self._status_view(name) for name in names])

    async def receipts(self, request: Request) -> Response:
        """`GET` and `POST /receipts`."""
        names = await _ids(request, errors.RECEIPTS)
        return self._answers.later(
            lambda: _answer(request, whole(self._receipt_view(name) for name in names))
        )

    def _receipt_view(self, name: str) -> tuple[int, Json]:
        position = self._blocks.find_transaction(name)
        stored = None if position is None else self._blocks.by_num(position.block_num)
        if position is None or stored is None:
            raise errors.RECEIPT_NOT_FOUND.error()
        receipt = stored.receipt_of(position)
        return receipt.ByteSize(), receipt_view(receipt)

    def _status_view(self, name: str) -> Json:
        status = self._submitter.status(name)
        invalid: list[Json] = []
        refusal = self._submitter.refusal(name) if status in _WITH_REASON else None
        if refusal is not None:
            reason: dict[str, Json] = {"id": refusal.transaction_id}
            if refusal.message:
                reason["message"] = refusal.message
            if refusal.extended_data:
                reason["extended_data"] = b64encode(refusal.extended_data).decode()
            invalid.append(reason)
        return {"id": name, "invalid_transactions": invalid, "status": status.value}


async def _ids(request: Request, wrong: errors.IdErrors) -> list[str]:
    if request.method != "POST":
        names = filter_ids(request)
        if names is None:
            raise wrong.query.error()
        return names
    if content_type(request) != "application/json":
        raise wrong.content_type.error()
    body = await read_body(request, IDS_BODY_BYTES_MAX)
    try:
        posted = json.loads(body.decode())
    except (ValueError, RecursionError) as error:
        raise wrong.body.error() from error
    if not isinstance(posted, list) or not posted:
        raise wrong.body.error()
    names = [name for name in posted if isinstance(name, str)]
    if len(names) != len(posted):
        raise wrong.body.error()
    return check_ids(names)


def _answer(request: Request, data: list[Json]) -> Response:
    if request.method == "POST":
        return JsonResponse({"data": data})
    return one_response(request, data)


def wait_s(wait: str) -> float:
    """Return the time, seconds, that a `wait` parameter requests; 0 means not to wait."""
    if wait.lower() == "false":
        return 0.0
    try:
        number = int(wait)
    except ValueError:
        return WAIT_S
    if not 0 <= number <= _UINT32_MAX:
        return WAIT_S
    return min(float(number), WAIT_MAX_S) or WAIT_MAX_S
