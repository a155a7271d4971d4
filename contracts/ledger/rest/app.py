"""The routes of the REST API."""

from pathlib import Path
from typing import Final

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route, WebSocketRoute

from contracts.errors import WaysealError
from contracts.ledger.engine.ports import (
    BlockReader,
    CannotWriteError,
    QueueFullError,
    Sealer,
    Submitter,
)
from contracts.ledger.execution.verify import Verifier
from contracts.ledger.rest import errors
from contracts.ledger.rest.answers import Answers
from contracts.ledger.rest.byids import ByIds
from contracts.ledger.rest.envelope import error_response, one_response
from contracts.ledger.rest.health import Ready, live
from contracts.ledger.rest.lists import Lists
from contracts.ledger.rest.metrics import Metrics
from contracts.ledger.rest.submit import Submit
from contracts.ledger.rest.subscriptions import Subscriptions
from contracts.ledger.state.reader import NotKeptError

ENDPOINT: Final = "tcp://127.0.0.1:8800"
"""A Sawtooth validator's default endpoint for peers. This node has no peers."""
CLIENT_LEFT: Final = 499
"""nginx's status for this; HTTP has none."""


def build_app(
    blocks: BlockReader,
    submitter: Submitter,
    verifier: Verifier,
    subscriptions: Subscriptions,
    data: Path | None = None,
    sealer: Sealer | None = None,
) -> Starlette:
    """Return the application: it reads an engine's blocks, and submits batches to it.

    Args:
        blocks: The engine's.
        submitter: Takes batches.
        verifier: Checks them before.
        subscriptions: Of clients over WebSockets.
        data: Directory of the chain, for metrics of its disk.
        sealer: Tells what a network's validators signed; None where one signer makes the blocks.
    """
    answers, ready = Answers(), Ready(submitter)
    lists, by_ids = Lists(blocks, sealer), ByIds(blocks, submitter, answers)
    routes = [
        Route("/batches", Submit(submitter, verifier, blocks).post, methods=["POST"]),
        answers.route("/batches", lists.batches),
        answers.route("/batches/{id}", lists.batch),
        Route("/batch_statuses", by_ids.statuses, methods=["GET", "POST"]),
        answers.route("/blocks", lists.blocks),
        answers.route("/blocks/{id}", lists.block),
        answers.route("/blocks/{id}/seals", lists.seals),
        answers.route("/transactions", lists.transactions),
        answers.route("/transactions/{id}", lists.transaction),
        answers.route("/state", lists.state),
        answers.route("/state/{address}", lists.value),
        answers.route("/state/{address}/nodes", lists.nodes),
        Route("/receipts", by_ids.receipts, methods=["GET", "POST"]),
        Route("/peers", peers),
        Route("/status", status),
        Route("/healthz", live),
        Route("/readyz", ready.get),
        Route("/metrics", Metrics(blocks, ready, data).get),
        WebSocketRoute("/subscriptions", subscriptions.serve),
        Route("/subscriptions", subscriptions.refuse),
    ]
    app = Starlette(
        routes=routes,
        exception_handlers={
            WaysealError: explain,
            HTTPException: refuse,
            ClientDisconnect: let_go,
        },
    )
    app.router.redirect_slashes = False
    return app


async def peers(request: Request) -> Response:
    """`GET /peers`: a single node has none."""
    return one_response(request, [])


async def status(request: Request) -> Response:
    """`GET /status`."""
    return one_response(request, {"endpoint": ENDPOINT, "peers": []})


async def explain(_: Request, error: Exception) -> Response:
    """Answer with one of the API's errors."""
    match error:
        case errors.ApiError():
            answer = error
        case NotKeptError():
            answer = errors.HEAD_NOT_FOUND.error()
        case QueueFullError():
            answer = errors.QUEUE_FULL.error()
        case CannotWriteError():
            answer = errors.CANNOT_WRITE.error(str(error))
        case _:
            answer = errors.DAMAGED.error(str(error))
    return error_response(answer)


async def let_go(_: Request, __: Exception) -> Response:
    """Answer a client that has left: nobody reads this."""
    return Response(status_code=CLIENT_LEFT)


async def refuse(_: Request, error: Exception) -> Response:
    """Answer a request for an unknown path or method in plain text, as Sawtooth does."""
    if not isinstance(error, HTTPException):
        raise error
    return PlainTextResponse(
        f"{error.status_code}: {error.detail}", error.status_code, error.headers
    )
