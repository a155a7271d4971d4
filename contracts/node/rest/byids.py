"""`/batch_statuses` and `/receipts`: what is known of some ids, by GET or POST."""

import json
from base64 import b64encode
from dataclasses import dataclass
from typing import Final

from starlette.requests import Request
from starlette.responses import Response

from contracts.node.rest import errors
from contracts.node.rest.answers import Answers
from contracts.node.rest.body import read_body
from contracts.node.rest.envelope import (
    JsonResponse,
    check_ids,
    content_type,
    filter_ids,
    one_response,
    queries,
    whole,
)
from contracts.node.rest.views import Json, receipt_view
from contracts.node.statuses import Statuses
from contracts.node.store.blockstore import BlockStore
from contracts.sawtooth.batches import Status

IDS_BODY_BYTES_MAX: Final = 1 << 20
WAIT_S: Final = 285.0
"""How long `wait` without a number waits, seconds."""
WAIT_MAX_S: Final = 300.0
_UINT32_MAX: Final = (1 << 32) - 1


@dataclass(frozen=True, slots=True)
class _Kinds:
    """Which errors tell that the ids are not as they should be."""

    query: errors.Kind
    content_type: errors.Kind
    body: errors.Kind


_STATUSES: Final = _Kinds(errors.STATUSES_QUERY, errors.STATUSES_CONTENT_TYPE, errors.STATUSES_BODY)
_RECEIPTS: Final = _Kinds(errors.RECEIPTS_QUERY, errors.RECEIPTS_CONTENT_TYPE, errors.RECEIPTS_BODY)


class ByIds:
    """Answers by id.

    Args:
        blocks: Holds receipts.
        statuses: Knows what became of batches.
        answers: Limits how many large answers are made at a time.
    """

    def __init__(self, blocks: BlockStore, statuses: Statuses, answers: Answers) -> None:
        self._blocks = blocks
        self._known = statuses
        self._answers = answers

    async def statuses(self, request: Request) -> Response:
        """`GET` and `POST /batch_statuses`."""
        names = await _ids(request, _STATUSES)
        timeout_s = wait_s(queries(request).get("wait", "false"))
        if timeout_s:
            await self._known.wait(names, timeout_s)
        return _answer(request, [self._status_view(name) for name in names])

    async def receipts(self, request: Request) -> Response:
        """`GET` and `POST /receipts`."""
        names = await _ids(request, _RECEIPTS)
        return self._answers.later(
            lambda: _answer(request, whole(self._receipt_view(name) for name in names))
        )

    def _receipt_view(self, name: str) -> tuple[int, Json]:
        place = self._blocks.find_transaction(name)
        receipt = None if place is None else self._blocks.receipt_at(place)
        if receipt is None:
            raise errors.RECEIPT_NOT_FOUND.error()
        return receipt.ByteSize(), receipt_view(receipt)

    def _status_view(self, name: str) -> Json:
        status = self._known.get(name)
        invalid: list[Json] = []
        verdict = self._known.verdict(name) if status is Status.INVALID else None
        if verdict is not None:
            reason: dict[str, Json] = {"id": verdict.transaction_id}
            if verdict.message:
                reason["message"] = verdict.message
            if verdict.extended_data:
                reason["extended_data"] = b64encode(verdict.extended_data).decode()
            invalid.append(reason)
        return {"id": name, "invalid_transactions": invalid, "status": status.value}


async def _ids(request: Request, kinds: _Kinds) -> list[str]:
    if request.method != "POST":
        names = filter_ids(request)
        if names is None:
            raise kinds.query.error()
        return names
    if content_type(request) != "application/json":
        raise kinds.content_type.error()
    body = await read_body(request, IDS_BODY_BYTES_MAX)
    try:
        posted = json.loads(body.decode())
    except (ValueError, RecursionError) as error:
        raise kinds.body.error() from error
    if not isinstance(posted, list) or not posted:
        raise kinds.body.error()
    names = [name for name in posted if isinstance(name, str)]
    if len(names) != len(posted):
        raise kinds.body.error()
    return check_ids(names)


def _answer(request: Request, data: list[Json]) -> Response:
    if request.method == "POST":
        return JsonResponse({"data": data})
    return one_response(request, data)


def wait_s(wait: str) -> float:
    """Return how long a `wait` parameter asks to wait, seconds; 0 when not at all."""
    if wait.lower() == "false":
        return 0.0
    try:
        number = int(wait)
    except ValueError:
        return WAIT_S
    if not 0 <= number <= _UINT32_MAX:
        return WAIT_S
    return min(float(number), WAIT_MAX_S) or WAIT_MAX_S
