"""What tus asks of every request and answer, also of those that no route of ours sees.

Source: tus resumable upload protocol 1.0.0, core: Tus-Resumable, X-HTTP-Method-Override, HEAD.
"""

from http import HTTPStatus
from typing import Final

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from gateway.api import tus
from gateway.api.problems import problem
from gateway.api.tusproblems import VersionError, as_problem

OVERRIDE: Final = "X-HTTP-Method-Override"
_FAILED: Final = "the gateway failed; its log says why"


class TusGate:
    """An ASGI application that speaks tus below one path, around another application.

    Every answer names the protocol's version and may not be cached. A request with
    X-HTTP-Method-Override has that method, whatever its own is. A request in another version is
    not processed.

    Args:
        app: The application.
        prefix: The path, without a slash at its end.
    """

    def __init__(self, app: ASGIApp, prefix: str) -> None:
        self._app = app
        self._prefix = prefix

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        if scope["type"] != "http" or not self._is_below(scope["path"]):
            await self._app(scope, receive, send)
            return
        answer, headers = _Answer(send), Headers(raw=scope["headers"])
        # A copy: the server frames the answer by the method that the request really has.
        scope = {**scope, "method": headers.get(OVERRIDE, scope["method"])}
        version = headers.get("Tus-Resumable", tus.VERSION)  # a route misses it after the token
        if version != tus.VERSION and scope["method"] != "OPTIONS":
            await as_problem(VersionError(version))(scope, receive, answer.send)
            return
        try:
            await self._app(scope, receive, answer.send)
        except Exception:
            if not answer.begun:
                closing = {"Connection": "close"}  # the server does it when it logs the error
                failed = problem(HTTPStatus.INTERNAL_SERVER_ERROR, _FAILED, headers=closing)
                await failed(scope, receive, answer.send)
            raise

    def _is_below(self, path: str) -> bool:
        return path == self._prefix or path.startswith(f"{self._prefix}/")


class _Answer:
    """Adds the headers to an answer on its way to the client."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self.begun = False

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.begun = True
            headers = MutableHeaders(scope=message)
            headers["Tus-Resumable"] = tus.VERSION
            headers["Cache-Control"] = "no-store"
        await self._send(message)
