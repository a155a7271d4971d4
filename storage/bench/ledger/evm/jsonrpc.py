"""JSON-RPC 2.0 over HTTP, many calls in one request, with as little CPU as a loader may use."""

import asyncio
import re
from collections.abc import Sequence
from typing import Any, Final, Self
from urllib.parse import urlsplit, urlunsplit

import orjson

from contracts.errors import RejectedError, UnavailableError
from storage.bench.ledger.evm.urls import shown
from storage.bench.ledger.wire import JSON, Connection

CALLS_MAX: Final = 100
"""In one request: every node takes so many. Source: geth takes 1,000, Besu 1,024."""
BODY_BYTES_MAX: Final = 1 << 20
"""Of one request with several calls. Source: anvil takes 2 MiB, geth 5 MiB."""
ANSWER_S: Final = 30.0
_OK: Final = 200
_SHOWN: Final = 200
_NUMBER: Final = re.compile("0x[0-9a-fA-F]+")

Call = tuple[str, list[Any]]
"""Method and parameters."""


class NodeError(RejectedError):
    """The node answered one call with its own error.

    Attributes:
        code: Of JSON-RPC.
        words: The node's message.
    """

    def __init__(self, answer: object) -> None:
        known = answer if isinstance(answer, dict) else {"message": repr(answer)}
        self.code = known.get("code", 0)
        self.words = str(known.get("message", known))[:_SHOWN]
        super().__init__(self.words)


def number_of(answer: object) -> int:
    """Return a number as JSON-RPC has it, `0x` and hex digits.

    Raises:
        RejectedError: The answer is not such a number.
    """
    if not isinstance(answer, str) or not _NUMBER.fullmatch(answer):
        said = repr(answer)[:_SHOWN]
        raise RejectedError(f"expected a number in hex from the node, got {said}")
    return int(answer, 16)


class JsonRpc:
    """One connection to a node; one request at a time.

    Args:
        url: Of the node, for errors.
        connection: To it.
    """

    def __init__(self, url: str, connection: Connection) -> None:
        self._url = shown(url)
        self._connection = connection
        parts = urlsplit(url)
        # The path is the connection's own; some providers have their key in the query.
        root = "" if parts.path.rstrip("/") else "/"
        self._target = urlunsplit(("", "", root, parts.query, ""))

    @classmethod
    async def open(cls, url: str) -> Self:
        """Connect to the node at `url`.

        Raises:
            UnavailableError: It does not take connections.
        """
        return cls(url, await Connection.open(url))

    def close(self) -> None:
        """End the connection."""
        self._connection.close()

    async def call(self, method: str, *parameters: object) -> Any:  # noqa: ANN401 - any JSON
        """Return the result of one call.

        Raises:
            NodeError: The node's own error.
            RejectedError: The server is not a JSON-RPC node.
            UnavailableError: No answer.
        """
        (found,) = await self.many([(method, list(parameters))])
        if isinstance(found, NodeError):
            raise found
        return found

    async def many(self, calls: Sequence[Call]) -> list[Any]:
        """Return the results of calls in their order, a `NodeError` for one that failed.

        Raises:
            RejectedError: The server is not a JSON-RPC node, or refuses several calls in one
                request.
            UnavailableError: No answer.
        """
        body = orjson.dumps(
            [
                {"jsonrpc": "2.0", "id": number, "method": method, "params": parameters}
                for number, (method, parameters) in enumerate(calls)
            ]
        )
        try:
            async with asyncio.timeout(ANSWER_S):
                status, answer = await self._connection.post(self._target, JSON, body)
        except TimeoutError as error:
            raise UnavailableError(f"{self._url}: no answer in {ANSWER_S:.0f} s") from error
        try:
            found = orjson.loads(answer)
        except orjson.JSONDecodeError:
            found = None
        if isinstance(found, dict) and "error" in found:
            raise RejectedError(f"{self._url}: {NodeError(found['error'])}")
        if status != _OK or not isinstance(found, list):
            raise RejectedError(
                f"expected the JSON-RPC of an EVM at {self._url}, "
                f"got HTTP {status}: {answer[:_SHOWN]!r}"
            )
        by_id = {each.get("id"): each for each in found if isinstance(each, dict)}
        return [self._result(by_id.get(number)) for number in range(len(calls))]

    def _result(self, answer: dict[str, Any] | None) -> object:
        if answer is None:
            raise RejectedError(f"{self._url}: expected an answer to each call, one is missing")
        if "error" in answer:
            return NodeError(answer["error"])
        return answer.get("result")
