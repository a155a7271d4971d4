"""What goes wrong with an upload, as problem documents with the statuses that tus asks for.

Source: tus resumable upload protocol 1.0.0; RFC 9457.
"""

from typing import Final

from fastapi import Response

from contracts.errors import RejectedError, UnavailableError, WaysealError
from gateway.api import tus
from gateway.api.problems import CONTENT, Answers, problem
from gateway.uploads.claims import ConflictError
from gateway.uploads.lanes import BusyError
from gateway.uploads.pouring import BrokenOffError, ChecksumError, OversizedError
from gateway.uploads.spoiled import SpoiledError
from gateway.uploads.status import NotAcceptedError, UnknownUploadError
from storage.recordings.writer import DigestError

RETRY_AFTER_S: Final = 5


class VersionError(RejectedError):
    """The client speaks another version of tus, or does not name one."""

    def __init__(self, named: str | None) -> None:
        super().__init__(f"Tus-Resumable must be {tus.VERSION}, got {named!r}")


class MediaTypeError(RejectedError):
    """The body of PATCH has another media type than tus asks for."""


_PROBLEMS: Final[dict[type[WaysealError], tuple[int, str]]] = {
    UnknownUploadError: (404, "Unknown upload"),
    BrokenOffError: (408, "Sender stopped early"),
    ConflictError: (409, "Conflict with what is here"),
    VersionError: (412, "Other tus version"),
    OversizedError: (413, "Too many bytes"),
    MediaTypeError: (415, "Other media type"),
    DigestError: (422, "Digest mismatch"),
    BusyError: (423, "Upload in use"),
    SpoiledError: (429, "Too many failed requests"),
    ChecksumError: (460, "Checksum mismatch"),
    NotAcceptedError: (403, "Not accepted"),
    tus.HeaderError: (400, "Malformed header"),
    RejectedError: (400, "Rejected"),
    WaysealError: (503, "Unavailable"),
}


def tus_errors(*statuses: int) -> Answers:
    """Return the description of these statuses of tus for OpenAPI."""
    titles = dict(_PROBLEMS.values())
    return {status: {"description": titles[status], "content": CONTENT} for status in statuses}


def as_problem(error: WaysealError) -> Response:
    """Return the answer that reports an error."""
    status, title = next(
        _PROBLEMS[kind]
        for kind in type(error).__mro__
        if issubclass(kind, WaysealError) and kind in _PROBLEMS
    )
    members: dict[str, str | int] = {}
    headers: dict[str, str] = {}
    match error:
        case DigestError():
            members = {"expected": error.expected.hex(), "actual": error.actual.hex()}
        case ConflictError():
            members = {"expected": error.expected, "actual": error.actual}
        case UnavailableError():
            headers = {"Retry-After": str(RETRY_AFTER_S)}
        case VersionError():
            headers = {"Tus-Version": tus.VERSION}
    return problem(
        status,
        str(error),
        kind=f"urn:wayseal:problem:{title.lower().replace(' ', '-')}",
        title=title,
        members=members,
        headers=headers,
    )
