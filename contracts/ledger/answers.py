"""Ledger answers: read whole, bounded in size, and checked before use."""

import json
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final, TypeVar

from google.protobuf.message import DecodeError

from contracts.errors import RejectedError, UnavailableError

ANSWER_BYTES_MAX: Final = 128 << 20
"""A block of the embedded node is shorter, both as JSON and with its receipts: a test compares
the limits."""
EXCERPT_CHARS_MAX: Final = 400
"""Characters of an answer, or of its title or message, that an error quotes."""
_NOT_FOUND: Final = 404
TOO_MANY: Final = 429
_SUCCESS: Final = range(200, 300)
_SERVER_ERROR: Final = 500

Decoded = TypeVar("Decoded")


class TooLongError(UnavailableError):
    """The answer is longer than `ANSWER_BYTES_MAX`; ask for less."""


@dataclass(frozen=True, slots=True)
class Answer:
    """One answer.

    Attributes:
        told: The request and the HTTP status, for error messages.
        status: HTTP status.
        body: As received.
        kind: Its media type.
    """

    told: str
    status: int
    body: bytes
    kind: str

    @property
    def missing(self) -> bool:
        """Say whether the ledger answered that there is no such thing.

        A 404 of another server does not count.

        Raises:
            UnavailableError: The answer is not a ledger's.
        """
        return self.status == _NOT_FOUND and isinstance(self._document().get("error"), dict)

    @property
    def absent(self) -> bool:
        """Say whether the ledger does not know such a path: Sawtooth then answers in plain text."""
        return self.status == _NOT_FOUND and self.kind.startswith("text/plain")

    def check(self) -> dict[str, Any]:
        """Return the ledger's JSON object, or an empty one if the answer is not an object.

        Raises:
            RejectedError: The ledger refuses the request for good.
            UnavailableError: It cannot answer now, or the answer is not a ledger's.
        """
        document = self._document()
        if self.status in _SUCCESS:
            return document
        problem = document.get("error")
        words = problem if isinstance(problem, dict) else {}
        busy = self.status >= _SERVER_ERROR or self.status == TOO_MANY
        raise (UnavailableError if busy else RejectedError)(
            f"{self.told}: {_short(words.get('title'))}: {_short(words.get('message'))}"
        )

    @contextmanager
    def read(self) -> Iterator[dict[str, Any]]:
        """Yield the answer as JSON; a KeyError or TypeError in the block means an unknown form.

        Raises:
            RejectedError: The ledger refuses the request for good.
            UnavailableError: It cannot answer now, or the answer is not in a ledger's form.
        """
        try:
            yield self.check()
        except (
            LookupError,
            TypeError,
            AttributeError,
            ValueError,
            ArithmeticError,
            DecodeError,
        ) as error:
            raise UnavailableError(
                f"{self.told}, not in the form of a Sawtooth ledger "
                f"({type(error).__name__}): {self._excerpt()}"
            ) from error

    def decode(self, how: Callable[[bytes], Decoded]) -> Decoded:
        """Return the answer's bytes as `how` decodes them.

        Raises:
            UnavailableError: `how` rejects them.
        """
        try:
            return how(self.body)
        except RejectedError as error:
            raise UnavailableError(f"{self.told}: {error}") from error

    def _document(self) -> dict[str, Any]:
        try:
            found = json.loads(self.body)
        except (ValueError, RecursionError) as error:
            raise UnavailableError(f"{self.told}, not JSON: {self._excerpt()}") from error
        return found if isinstance(found, dict) else {}

    def _excerpt(self) -> str:
        """Return the beginning of the answer."""
        return repr(self.body[:EXCERPT_CHARS_MAX].decode("utf-8", "replace"))


def join(told: str, pieces: Iterable[bytes]) -> bytes:
    """Return the body that arrives in `pieces`.

    Raises:
        TooLongError: It is longer than `ANSWER_BYTES_MAX`; the rest was not read.
    """
    body: list[bytes] = []
    size = 0
    for piece in pieces:
        body.append(piece)
        size += len(piece)
        if size > ANSWER_BYTES_MAX:
            raise TooLongError(f"{told} and more than {ANSWER_BYTES_MAX} bytes")
    return b"".join(body)


def _short(text: object) -> str:
    return str(text)[:EXCERPT_CHARS_MAX]
