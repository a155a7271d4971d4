"""Adapter: uploads one recording over tus 1.0; the only module here that imports httpx.

The gateway knows the offset. After any doubt the client asks again, and the upload continues
at that very byte.

Source: tus resumable upload protocol 1.0.0, core and creation.
"""

import base64
import json
import ssl
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import cached_property
from pathlib import Path
from typing import Final, Self

import httpx

from contracts.chunktree import BLOB_BYTES
from contracts.errors import RejectedError, UnavailableError
from contracts.records.recording import RecordingDigest
from contracts.runtime.clienttls import usual_trust
from device.offload.throttle import Throttle
from device.offload.tls import context_of
from device.settings import GatewaySettings

PIECE_BYTES_MAX: Final = 64 * BLOB_BYTES
"""Bytes per request: at most these are sent again after a connection broke unnoticed."""
MISMATCH_TRIES: Final = 3
"""How often the gateway may receive other bytes than were signed before the device gives up."""
CONNECT_MAX_S: Final = 5
"""Longest wait for a connection while several sites are tried: most of them are far away."""
HEALTH_BYTES_MAX: Final = 64 << 10
_NOT_TAKEN: Final = (
    " A gateway does so if this device's certificate was revoked, has ended, or is of another "
    "authority."
)
_VERSION: Final = "1.0.0"
_DETAIL_MAX: Final = 300
_OK: Final = (200, 201, 204)
_RETRY: Final = (403, 404, 408, 409, 410, 423, 425, 429, 460, 500, 502, 503, 504, 507)
_UNKNOWN: Final = (404, 410)
_REFUSED: Final = (401, 403)
_MISMATCH: Final = 422


class MismatchError(UnavailableError):
    """The gateway received other bytes than were signed; the upload starts again."""


def check_site(gateway: GatewaySettings) -> dict[str, object]:
    """Ask, without a token, whether the gateway there is that of the site that the settings say.

    Returns:
        The gateway's statement about itself: the members of `GET /health`.

    Raises:
        RejectedError: It is another site's, and the settings name one; the message names both.
        UnavailableError: It does not answer, or does not say its site.
    """
    url = f"{gateway.rest}/health"
    try:
        status, body = bounded(url, gateway, HEALTH_BYTES_MAX)
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        cut = isinstance(error, (httpx.RemoteProtocolError, httpx.ReadError))
        why = _NOT_TAKEN if cut and gateway.tls_certificate else ""
        raise UnavailableError(f"{url}: {error}{why}") from error
    try:
        told: dict[str, object] = json.loads(body)
        found = told["site_id"]
    except (ValueError, LookupError, TypeError, RecursionError) as error:
        raise UnavailableError(
            f"{url}: expected a gateway that says its site_id, got an answer of {status} without; "
            f"an older gateway must be updated"
        ) from error
    if gateway.site_id is not None and found != gateway.site_id:
        raise RejectedError(
            f"{url}: expected the gateway of site {gateway.site_id}, as the settings say, got that "
            f"of site {found!r:.80}"
        )
    return told


class TusClient:
    """Uploads to one gateway; a context manager, for one thread."""

    def __init__(self, gateway: GatewaySettings, device_id: str) -> None:
        self._base = f"{gateway.rest}/v1/uploads"
        self._device_id = device_id
        self._gateway = gateway
        self._trust = _trust(gateway)
        self._open = ExitStack()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._open.close()

    @cached_property
    def _client(self) -> httpx.Client:
        """Made for the first recording: it loads modules for 50 ms, and most offloads need none."""
        client = httpx.Client(
            headers={"Authorization": f"Bearer {self._gateway.token}", "Tus-Resumable": _VERSION},
            timeout=self._gateway.timeout_s,
            trust_env=False,  # a proxy of the environment must not come between truck and gateway
            verify=self._trust,
        )
        return self._open.enter_context(client)

    def upload(
        self,
        path: Path,
        digest: RecordingDigest,
        trip_id: str,
        *,
        throttle: Throttle,
        reached: Callable[[int], None],
        stopped: Callable[[], bool],
    ) -> None:
        """Bring the gateway from its offset to the end of the file at `path`.

        Args:
            path: The recording.
            digest: Its signed digest.
            trip_id: Its trip.
            throttle: Waits where bytes are sent too fast.
            reached: Told how many bytes are sent, first those that the gateway had before.
            stopped: Says whether to stop.

        Raises:
            MismatchError: The gateway received other bytes than were signed, and starts again.
            RejectedError: The gateway refuses it for good, or the file cannot be read.
            UnavailableError: The upload was interrupted; the next call continues it.
        """
        url = f"{self._base}/{digest.sha256.hex()}"
        offset = self._offset(url, digest, trip_id)
        reached(offset)
        while offset < digest.size:
            size = min(PIECE_BYTES_MAX, digest.size - offset)
            headers = {
                "Content-Type": "application/offset+octet-stream",
                "Content-Length": str(size),
                "Upload-Offset": str(offset),
            }
            body = _piece(path, offset, size, throttle, reached, stopped)
            kept = _offset_of(self._send("PATCH", url, headers, body))
            if not offset < kept <= digest.size:
                raise UnavailableError(
                    f"upload {url}: expected an offset within {offset + 1}..{digest.size}, "
                    f"got {kept}"
                )
            offset = kept
            reached(offset)

    def check_token(self) -> None:
        """Ask for a recording that nobody has, to see whether the gateway knows the token.

        Raises:
            RejectedError: It does not know the token, or the token may not upload.
            UnavailableError: It does not answer, or something else answers in its place.
        """
        url = f"{self._base}/{'0' * (64)}"
        try:
            answer = self._client.head(url)
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            raise UnavailableError(f"no answer: {error}") from error
        if answer.status_code in _REFUSED:
            raise RejectedError(
                f"refuses the token with {answer.status_code}: make another one there, or enrol "
                f"this device there"
            )
        if answer.status_code not in (*_OK, *_UNKNOWN) or "Tus-Resumable" not in answer.headers:
            raise UnavailableError(f"expected a gateway, got an answer of {answer.status_code}")

    def _offset(self, url: str, digest: RecordingDigest, trip_id: str) -> int:
        """Return the gateway's offset; create the upload if it does not exist."""
        try:
            answer = self._client.head(url)
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            raise UnavailableError(f"upload {url}: {error}") from error
        if answer.status_code not in _UNKNOWN:
            return _offset_of(_checked("HEAD", url, answer))
        metadata = {"sha256": digest.sha256.hex(), "device": self._device_id, "trip": trip_id}
        pairs = (f"{key} {_base64(value)}" for key, value in metadata.items())
        headers = {"Upload-Length": str(digest.size), "Upload-Metadata": ",".join(pairs)}
        self._send("POST", self._base, headers)
        return _offset_of(self._send("HEAD", url, {}))

    def _send(
        self, method: str, url: str, headers: dict[str, str], body: Iterator[bytes] | None = None
    ) -> httpx.Response:
        try:
            answer = self._client.request(method, url, headers=headers, content=body)
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            raise UnavailableError(f"upload {url}: {method}: {error}") from error
        return _checked(method, url, answer)


def bounded(url: str, gateway: GatewaySettings, bytes_max: int) -> tuple[int, bytes]:
    """Return the status and the beginning of an answer, however long or slow a stranger's is."""
    timeout_s, trust = gateway.timeout_s, _trust(gateway)
    timeout = httpx.Timeout(timeout_s, connect=min(CONNECT_MAX_S, timeout_s))
    headers, body, until_s = {"Accept-Encoding": "identity"}, b"", time.monotonic() + timeout_s
    with httpx.stream(
        "GET", url, headers=headers, timeout=timeout, trust_env=False, verify=trust
    ) as answer:
        for piece in answer.iter_raw():
            body += piece
            if len(body) > bytes_max or time.monotonic() > until_s:
                break
    return answer.status_code, body


def _trust(gateway: GatewaySettings) -> ssl.SSLContext | bool:
    return context_of(gateway) if gateway.rest.startswith("https:") else usual_trust(gateway.rest)


def _checked(method: str, url: str, answer: httpx.Response) -> httpx.Response:
    if answer.status_code in _OK:
        return answer
    message = f"upload {url}: {method} answered {answer.status_code}: {answer.text[:_DETAIL_MAX]}"
    if answer.status_code == _MISMATCH:
        raise MismatchError(message)
    if answer.status_code in _RETRY:
        raise UnavailableError(message)
    raise RejectedError(message)


def _offset_of(answer: httpx.Response) -> int:
    text = answer.headers.get("Upload-Offset", "")
    if not text.isascii() or not text.isdigit() or len(text) > len(str(1 << 63)):
        raise UnavailableError(f"expected Upload-Offset to be a number of bytes, got {text[:40]!r}")
    return int(text)


def _piece(
    path: Path,
    offset: int,
    size: int,
    throttle: Throttle,
    reached: Callable[[int], None],
    stopped: Callable[[], bool],
) -> Iterator[bytes]:
    try:
        with path.open("rb") as file:
            file.seek(offset)
            while size > 0:
                if stopped():
                    raise UnavailableError(f"upload of {path} was stopped")
                throttle.take(min(throttle.piece_bytes, size))
                blob = file.read(min(throttle.piece_bytes, size))
                if not blob:
                    raise RejectedError(f"recording {path}: expected {size} more bytes, got none")
                size -= len(blob)
                yield blob
                offset += len(blob)
                reached(offset)
    except OSError as error:
        raise RejectedError(f"recording {path}: {error}") from error


def _base64(text: str) -> str:
    return base64.b64encode(text.encode()).decode("ascii")
