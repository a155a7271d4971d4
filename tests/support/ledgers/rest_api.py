"""The node's REST application in this process, on any engine."""

import asyncio
from collections.abc import Callable
from typing import Any

from httpx import ASGITransport, AsyncClient, Response

from contracts.keys import Signer
from contracts.ledger.blocks.chain import Chain
from contracts.ledger.engine.ports import BlockReader, Submitter
from contracts.ledger.engine.submissions import Submission, Submissions
from contracts.ledger.execution.verify import VerifiedBatch, Verifier, verify_batch
from contracts.ledger.rest.app import build_app
from contracts.ledger.rest.subscriptions import Subscriptions
from contracts.proto.sawtooth_pb2 import Batch, BatchList
from support.ledgers.nodes import intkey_batch

SIGNER = Signer.from_hex("11" * 32)
BLOCKS = 4
JSON = {"Content-Type": "application/json"}


def batches_of(number: int) -> list[VerifiedBatch]:
    """Return the two batches, of two transactions each, of a block after the genesis block."""
    return [verify_batch(intkey_batch(SIGNER, 10 * number + each, 2)) for each in (0, 2)]


def queueing(chain: Chain, put: Callable[[Submission], None] = lambda _: None) -> Submissions:
    """Return the queue of a node whose publisher has not started."""
    return Submissions(put, lambda: None, lambda name: chain.find_batch(name) is not None)


class Api:
    """The application in this process, on an engine."""

    def __init__(self, blocks: BlockReader, submitter: Callable[[], Submitter]) -> None:
        self._blocks = blocks
        self._submitter = submitter

    def ask(self, *requests: tuple[str, str, dict[str, Any]]) -> list[Response]:
        return asyncio.run(self._ask(requests))

    def get(self, path: str, headers: dict[str, str] | None = None) -> Response:
        return self.ask(("GET", path, {"headers": headers}))[0]

    def post(self, path: str, **more: Any) -> Response:  # noqa: ANN401 - httpx takes what it takes
        return self.ask(("POST", path, more))[0]

    async def _ask(self, requests: tuple[tuple[str, str, dict[str, Any]], ...]) -> list[Response]:
        verifier = Verifier()
        subscriptions = Subscriptions(self._blocks)
        app = build_app(self._blocks, self._submitter(), verifier, subscriptions)
        transport = ASGITransport(app)
        async with AsyncClient(transport=transport, base_url="http://node") as client:
            answers = [await client.request(how, path, **more) for how, path, more in requests]
        verifier.close()
        return answers


def names(api: Api, path: str) -> list[str]:
    """Return the ids or addresses of a whole list, page by page."""
    found: list[str] = []
    while path:
        page = api.get(path).json()
        found += [one.get("header_signature") or one["address"] for one in page["data"]]
        path = page["paging"].get("next", "")
    return found


def page(api: Api, path: str) -> list[dict[str, str]]:
    entries: list[dict[str, str]] = api.get(path).json()["data"]
    return entries


def code(answer: Response) -> int:
    number: int = answer.json()["error"]["code"]
    return number


def wire(*batches: Batch) -> bytes:
    return BatchList(batches=batches).SerializeToString()
