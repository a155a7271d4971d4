"""Counts the answers that people wait for, so that offloads give way to them."""

import asyncio
from typing import Final

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from gateway.api import uploads
from gateway.peoplefirst import Answers

ANSWER_MAX_S: Final = 0.5
"""An answer that takes longer counts no further: an export, or a clip that is being cut."""
NEXT_S: Final = 0.005
"""For so long after its head an answer still counts: a page asks one question after the other, and
a batch that was taken up between two of them would delay the second."""
_OF_PEOPLE: Final = "/v1/"


class PeopleFirst:
    """An ASGI application that counts its answers to people, around another application.

    An answer counts from its request's head until its own head is sent, and a moment longer: a
    stream of events or of video counts no longer than that. Requests with a body are left out,
    since a client may take its time to send it, and so are those of trucks and of programs that
    watch the gateway.

    Args:
        app: The application.
        answers: Where they are counted.
    """

    def __init__(self, app: ASGIApp, answers: Answers) -> None:
        self._app = app
        self._answers = answers

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        if not _is_of_people(scope):
            await self._app(scope, receive, send)
            return
        answer = _Answer(self._answers, send)
        try:
            await self._app(scope, receive, answer.send)
        finally:
            answer.end()


class _Answer:
    """One answer on its way; it ends once, whatever comes first."""

    def __init__(self, answers: Answers, send: Send) -> None:
        self._answers = answers
        self._send = send
        self._counts = True
        answers.begin()
        self._loop = asyncio.get_running_loop()
        self._late = self._loop.call_later(ANSWER_MAX_S, self.end)

    async def send(self, message: Message) -> None:
        await self._send(message)
        if message["type"] == "http.response.start":
            self.end()

    def end(self) -> None:
        """Count it for a moment longer, and then no more."""
        if self._counts:
            self._counts = False
            self._late.cancel()
            self._loop.call_later(NEXT_S, self._answers.end)


def _is_of_people(scope: Scope) -> bool:
    """Say whether a person waits for the answer to a request."""
    if scope["type"] != "http" or scope["method"] not in {"GET", "HEAD"}:
        return False
    path: str = scope["path"]
    return path.startswith(_OF_PEOPLE) and not path.startswith(uploads.PREFIX)
