"""The light port: what validators signed, for a validator that joins by a snapshot.

CometBFT's light client asks two validators for headers, and believes only what two thirds of the
validators signed. It speaks JSON-RPC. Of the engine's methods only those are passed on that it
needs; they read, and show what each member of the network has anyway. So the port needs no TLS.

Source: CometBFT 0.38, "Light client" and RPC.
"""

import asyncio
import json
import re
from collections.abc import Mapping
from typing import Any, Final

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from contracts.errors import RejectedError, UnavailableError, WaysealError
from contracts.ledger.engine.running import Ask
from contracts.ledger.rest.body import read_body

METHODS: Final[Mapping[str, frozenset[str]]] = {
    "commit": frozenset({"height"}),
    "validators": frozenset({"height", "page", "per_page"}),
    "consensus_params": frozenset({"height"}),
}
"""The calls that are passed on, each with its parameters."""
QUESTION_BYTES_MAX: Final = 4_096
QUESTIONS_MAX: Final = 4
"""Questions in one request."""
_NUMBER: Final = re.compile(r"\d{1,18}")
_REFUSED: Final = -32600
_FAILED: Final = -32603


class Light:
    """Answers at the light port.

    Args:
        ask: Asks the engine beside this node.
    """

    def __init__(self, ask: Ask) -> None:
        self._ask = ask
        # Questions wait here, not in the threads that REST uses too.
        self._one = asyncio.Lock()

    @property
    def app(self) -> Starlette:
        """Return the application."""
        return Starlette(routes=[Route("/", self.post, methods=["POST"])])

    async def post(self, request: Request) -> Response:
        """`POST /`: a question of JSON-RPC, or a list of some."""
        try:
            asked = json.loads(await read_body(request, QUESTION_BYTES_MAX))
        except (ValueError, RecursionError, RejectedError) as error:
            return JSONResponse(_error(None, _REFUSED, f"expected JSON-RPC: {error}"), 400)
        if not isinstance(asked, list):
            return JSONResponse(await self._in_turn(asked))
        if not 1 <= len(asked) <= QUESTIONS_MAX:
            words = f"expected 1 to {QUESTIONS_MAX} questions, got {len(asked)}"
            return JSONResponse(_error(None, _REFUSED, words), 400)
        return JSONResponse([await self._in_turn(each) for each in asked])

    async def _in_turn(self, asked: object) -> dict[str, Any]:
        async with self._one:
            return await run_in_threadpool(self._answer, asked)

    def _answer(self, asked: object) -> dict[str, Any]:
        name = asked.get("id") if isinstance(asked, dict) else None
        if not isinstance(name, int | str | None):
            name = None
        try:
            method, parameters = _question(asked)
            result = self._ask(method, **parameters)
        except UnavailableError as error:
            return _error(name, _FAILED, str(error))
        except WaysealError as error:
            return _error(name, _REFUSED, str(error))
        return {"jsonrpc": "2.0", "id": name, "result": result}


def _question(asked: object) -> tuple[str, dict[str, str]]:
    """Return method and parameters of a question.

    Raises:
        RejectedError: It is not one that is passed on.
    """
    method = asked.get("method") if isinstance(asked, dict) else None
    if not isinstance(asked, dict) or not isinstance(method, str) or method not in METHODS:
        raise RejectedError(f"expected one of the methods {', '.join(METHODS)}")
    given = asked.get("params") or {}
    if not isinstance(given, dict) or not given.keys() <= METHODS[method]:
        raise RejectedError(f"{method}: expected parameters {', '.join(sorted(METHODS[method]))}")
    parameters = {name: str(value) for name, value in given.items() if value is not None}
    if not all(_NUMBER.fullmatch(value) for value in parameters.values()):
        raise RejectedError(f"{method}: expected numbers")
    return method, parameters


def _error(name: int | str | None, code: int, words: str) -> dict[str, Any]:
    return {
        "jsonrpc": "2.0",
        "id": name,
        "error": {"code": code, "message": "Refused", "data": words[:500]},
    }
