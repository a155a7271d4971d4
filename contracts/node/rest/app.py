"""The routes."""

from typing import Final

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route, WebSocketRoute

from contracts.errors import WaysealError
from contracts.node.rest import errors
from contracts.node.rest.answers import Answers
from contracts.node.rest.byids import ByIds
from contracts.node.rest.envelope import error_response, one_response
from contracts.node.rest.lists import Lists
from contracts.node.rest.submit import Submit
from contracts.node.rest.subscriptions import Subscriptions
from contracts.node.statuses import Statuses
from contracts.node.store.chain import Chain

ENDPOINT: Final = "tcp://127.0.0.1:8800"
"""Where a Sawtooth validator listens for its peers; this node has none and says the default."""


def build_app(
    chain: Chain, submit: Submit, statuses: Statuses, subscriptions: Subscriptions
) -> Starlette:
    """Wire the routes to the node."""
    answers = Answers()
    lists, by_ids = Lists(chain), ByIds(chain.blocks, statuses, answers)
    routes = [
        Route("/batches", submit.post, methods=["POST"]),
        answers.route("/batches", lists.batches),
        answers.route("/batches/{id}", lists.batch),
        Route("/batch_statuses", by_ids.statuses, methods=["GET", "POST"]),
        answers.route("/blocks", lists.blocks),
        answers.route("/blocks/{id}", lists.block),
        answers.route("/transactions", lists.transactions),
        answers.route("/transactions/{id}", lists.transaction),
        answers.route("/state", lists.state),
        answers.route("/state/{address}", lists.value),
        Route("/receipts", by_ids.receipts, methods=["GET", "POST"]),
        Route("/peers", peers),
        Route("/status", status),
        WebSocketRoute("/subscriptions", subscriptions.serve),
        Route("/subscriptions", subscriptions.refuse),
    ]
    app = Starlette(
        routes=routes,
        exception_handlers={
            errors.ApiError: explain,
            HTTPException: refuse,
            WaysealError: cannot_read,
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
    """Answer with an error of the API."""
    if not isinstance(error, errors.ApiError):
        raise error
    return error_response(error)


async def refuse(_: Request, error: Exception) -> Response:
    """Answer to an unknown path or method, in plain text as Sawtooth does."""
    if not isinstance(error, HTTPException):
        raise error
    return PlainTextResponse(
        f"{error.status_code}: {error.detail}", error.status_code, error.headers
    )


async def cannot_read(_: Request, error: Exception) -> Response:
    """Answer when what is stored cannot be read."""
    return error_response(errors.DAMAGED.error(str(error)))
