"""Auditors: they read videos over the gateway's REST interface in ranges, and check each byte."""

import random
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.client import HTTPConnection, HTTPException
from typing import Final
from urllib.parse import urlsplit

from contracts.errors import RejectedError, UnavailableError
from contracts.records.recording import RecordingDigest
from storage.bench.trucks.payload import PIECE_BYTES, Payload

RANGE_PIECES: Final = 8
"""Pieces of one request: 8 MB."""
ANSWER_TIMEOUT_S: Final = 60
LISTED_TIMEOUT_S: Final = 60
_POLL_S: Final = 0.05
_OK: Final = 200
_PARTIAL: Final = 206
_NOT_FOUND: Final = 404


@dataclass(frozen=True, slots=True)
class Video:
    """A recording on a gateway, and the bytes that it must have."""

    payload: Payload
    digest: RecordingDigest

    @property
    def path(self) -> str:
        """Return its resource."""
        return f"/v1/recordings/{self.digest.sha256.hex()}"

    @property
    def ranges(self) -> list[int]:
        """Return the first piece of each range."""
        return list(range(0, self.payload.pieces, RANGE_PIECES))


@dataclass(slots=True)
class RangesRead:
    """The ranges that auditors read.

    Attributes:
        size: Bytes.
        elapsed_s: From the first request to the last byte.
        took_s: Seconds of each range.
        wrong: Pieces that differ from the upload.
    """

    size: int = 0
    elapsed_s: float = 0.0
    took_s: list[float] = field(default_factory=list)
    wrong: list[int] = field(default_factory=list)


class Auditor:
    """One connection to a gateway.

    Args:
        rest: The gateway's URL.
        token: Of an operator or auditor.
    """

    def __init__(self, rest: str, token: str) -> None:
        place = urlsplit(rest)
        self._link = HTTPConnection(place.hostname or "", place.port, timeout=ANSWER_TIMEOUT_S)
        self._headers = {"Authorization": f"Bearer {token}"}

    def close(self) -> None:
        """End the connection."""
        self._link.close()

    def wait_until_listed(self, video: Video) -> None:
        """Return once the gateway shows a video: its digest is committed and indexed.

        Raises:
            UnavailableError: The video is not listed in time.
        """
        end_s = time.monotonic() + LISTED_TIMEOUT_S
        while not self._is_listed(video):
            if time.monotonic() > end_s:
                raise UnavailableError(
                    f"expected {video.path} listed within {LISTED_TIMEOUT_S} s, it is not"
                )
            time.sleep(_POLL_S)

    def watch(self, video: Video, firsts: Iterable[int]) -> RangesRead:
        """Read ranges of a video one after the other.

        Args:
            video: To read.
            firsts: The first piece of each range.

        Raises:
            RejectedError: The gateway does not send the range.
            UnavailableError: It does not answer, or breaks off.
        """
        seen, start_s = RangesRead(), time.monotonic()
        for first in firsts:
            with gateway_errors():
                self._read(video, first, seen)
        seen.elapsed_s = time.monotonic() - start_s
        return seen

    def _read(self, video: Video, first: int, seen: RangesRead) -> None:
        start_s = time.monotonic()
        end = min(first + RANGE_PIECES, video.payload.pieces)
        bounds = f"bytes={first * PIECE_BYTES}-{end * PIECE_BYTES - 1}"
        self._link.request(
            "GET", f"{video.path}/content", headers={**self._headers, "Range": bounds}
        )
        answer = self._link.getresponse()
        if answer.status not in (_OK, _PARTIAL):
            raise RejectedError(
                f"{bounds} of {video.path}: expected HTTP 206, got {answer.status}: "
                f"{answer.read()[:300]!r}"
            )
        for index in range(first, end):
            piece = answer.read(PIECE_BYTES)
            seen.size += len(piece)
            if not video.payload.holds(index, piece):
                seen.wrong.append(index)
        answer.read()  # the next request needs the connection with nothing unread
        seen.took_s.append(time.monotonic() - start_s)

    def _is_listed(self, video: Video) -> bool:
        with gateway_errors():
            self._link.request("GET", video.path, headers=self._headers)
            answer = self._link.getresponse()
            said = answer.read()
        if answer.status not in (_OK, _NOT_FOUND):
            raise RejectedError(f"{video.path}: HTTP {answer.status}: {said[:300]!r}")
        return answer.status == _OK


@contextmanager
def gateway_errors() -> Iterator[None]:
    """Turn errors of a connection into an UnavailableError."""
    try:
        yield
    except (OSError, HTTPException) as error:
        raise UnavailableError(f"the gateway does not answer: {error!r}") from error


class Audits:
    """Several auditors that read a video's ranges in random order until told to end.

    All ranges are read before any is read again, and the caches are emptied between.

    Args:
        auditors: Each with its own connection.
        video: To read.
        seed: Of the order.
        cool: Empties the caches.
    """

    def __init__(
        self, auditors: Sequence[Auditor], video: Video, seed: int, cool: Callable[[], None]
    ) -> None:
        self._auditors = auditors
        self._video = video
        self._chance = random.Random(seed)  # noqa: S311 - to be repeated, no secret
        self._cool = cool
        self._ended = threading.Event()
        self._lock = threading.Lock()
        self._waiting: list[int] = []

    def run(self, work: Callable[[], None]) -> RangesRead:
        """Let all of them read while `work` runs; each finishes its current range.

        Raises:
            RejectedError: An auditor did not get a range.
            UnavailableError: An auditor got no answer.
        """
        start_s = time.monotonic()
        with ThreadPoolExecutor(len(self._auditors)) as pool:
            reading = [
                pool.submit(auditor.watch, self._video, self._ranges())
                for auditor in self._auditors
            ]
            try:
                work()
            finally:
                self._ended.set()
            each = [future.result() for future in reading]
        return RangesRead(
            sum(seen.size for seen in each),
            time.monotonic() - start_s,
            [took_s for seen in each for took_s in seen.took_s],
            [index for seen in each for index in seen.wrong],
        )

    def _ranges(self) -> Iterator[int]:
        while not self._ended.is_set():
            with self._lock:
                if not self._waiting:
                    self._cool()
                    self._waiting = self._chance.sample(self._video.ranges, len(self._video.ranges))
                first = self._waiting.pop()
            yield first
