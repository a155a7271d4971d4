"""What a ledger answered: whole, bounded, and trusted in nothing until it was looked at."""

import json
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final, TypeVar

from google.protobuf.message import DecodeError

from contracts.errors import RejectedError, UnavailableError

ANSWER_BYTES_MAX: Final = 128 << 20
"""One block that the embedded node makes, with its receipts or as JSON, is shorter: a test holds
the limits of both against each other."""
EXCERPT_CHARS_MAX: Final = 400
"""So much of an answer, or of its words, stands in an error."""
_NOT_FOUND: Final = 404
TOO_MANY: Final = 429
_SUCCESS: Final = range(200, 300)
_SERVER_ERROR: Final = 500

Decoded = TypeVar("Decoded")


class TooLongError(UnavailableError):
    """The answer is longer than `ANSWER_BYTES_MAX`; less of it may be asked for."""


@dataclass(frozen=True, slots=True)
class Answer:
    """One answer.

    Attributes:
        told: For messages: what was asked, and the status.
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
        """Say whether a ledger has no such thing; another server's 404 proves nothing.

        Raises:
            UnavailableError: This is no ledger.
        """
        return self.status == _NOT_FOUND and isinstance(self._document().get("error"), dict)

    def check(self) -> dict[str, Any]:
        """Return the JSON object that the ledger answered; one that is empty if it is no object.

        Raises:
            RejectedError: The ledger refuses what was asked, for good.
            UnavailableError: It cannot answer now, or this is no ledger.
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
        """Give the answer's JSON; in here, to find it of no form that a ledger's has is an error.

        Raises:
            RejectedError: The ledger refuses what was asked, for good.
            UnavailableError: It cannot answer now, or this is no ledger.
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
                f"{self.told}, in another form than a Sawtooth ledger "
                f"({type(error).__name__}): {self._excerpt()}"
            ) from error

    def decode(self, how: Callable[[bytes], Decoded]) -> Decoded:
        """Return what `how` makes of the answer's bytes; errors of a ledger's come as JSON.

        Raises:
            UnavailableError: It makes nothing of them.
        """
        try:
            return how(self.body)
        except RejectedError as error:
            raise UnavailableError(f"{self.told}: {error}") from error

    def _document(self) -> dict[str, Any]:
        try:
            found = json.loads(self.body)
        except (ValueError, RecursionError) as error:
            raise UnavailableError(f"{self.told} and no JSON: {self._excerpt()}") from error
        return found if isinstance(found, dict) else {}

    def _excerpt(self) -> str:
        """Return how the answer begins."""
        return repr(self.body[:EXCERPT_CHARS_MAX].decode("utf-8", "replace"))


def join(told: str, pieces: Iterable[bytes]) -> bytes:
    """Return the body that arrives in `pieces`.

    Raises:
        TooLongError: It is longer than any answer may be; the rest was not taken.
    """
    body = bytearray()
    for piece in pieces:
        body += piece
        if len(body) > ANSWER_BYTES_MAX:
            raise TooLongError(f"{told} and more than {ANSWER_BYTES_MAX} bytes")
    return bytes(body)


def _short(text: object) -> str:
    return str(text)[:EXCERPT_CHARS_MAX]
