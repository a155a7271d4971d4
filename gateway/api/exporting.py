"""How an export leaves: as the answer, or made in a job for a caller who prefers one."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any

from fastapi import Depends
from fastapi.responses import Response, StreamingResponse

from gateway.access import Caller
from gateway.api.accesses import TakingPart
from gateway.api.jobs import STARTED, TAKEN, BackgroundPart
from gateway.api.preference import VARIES
from gateway.api.problems import ABSENT
from gateway.jobs.job import JobKind
from gateway.jobs.work import Work
from gateway.records.watch import UNWATCHED, Watch

Made = bytes | Iterable[bytes]
"""All of a file, or its pieces in order."""


@dataclass(frozen=True, slots=True)
class Export:
    """A file in the form of others.

    Attributes:
        kind: Of the job that makes it.
        subject: Its subject on the record of accesses, such as a trip.
        media_type: Of the file.
        file_name: For the reader's disk.
        make: Returns the whole file, or yields it piece by piece, and tells the watch how far it
            is. The question was checked before.
        headers: More of the answer's own.
    """

    kind: JobKind
    subject: str
    media_type: str
    file_name: str
    make: Callable[[Watch], Made]
    headers: Mapping[str, str] | None = None


class Leaving:
    """Hands an export to its reader; each is on the record of accesses before it leaves."""

    def __init__(self, taking: TakingPart, background: BackgroundPart) -> None:
        self._taking = taking
        self._background = background

    @property
    def caller(self) -> Caller:
        """Return the reader."""
        return self._taking.caller

    @property
    def is_job(self) -> bool:
        """Say whether the reader prefers a job, which may take longer and reach further."""
        return self._background.is_wanted

    def answer(self, export: Export) -> Response:
        """Return the export, or the job that makes it.

        Raises:
            HTTPException: 429: as many jobs as may be are under way.
            WaysealError: It cannot be made, or the access cannot be written down: nothing leaves.
        """

        def note() -> None:
            self._taking.note(TAKEN[export.kind], export.subject)

        if self.is_job:
            work = Work(
                export.kind,
                (export.subject,),
                lambda watch: _pieces(export.make(watch)),
                export.media_type,
                export.file_name,
            )
            return self._background.begin(work, note)
        made = export.make(UNWATCHED)
        note()
        headers = {
            "Content-Disposition": f'attachment; filename="{export.file_name}"',
            **VARIES,
            **(export.headers or {}),
        }
        if isinstance(made, bytes):
            return Response(made, headers=headers, media_type=export.media_type)
        return StreamingResponse(made, headers=headers, media_type=export.media_type)


LeavingPart = Annotated[Leaving, Depends()]


def exported(media_type: str, schema: Mapping[str, object]) -> dict[str, Any]:
    """Return the description of a route whose answer is an export."""
    content = {media_type.partition(";")[0]: {"schema": schema}}
    return {"response_class": Response, "responses": ABSENT | STARTED | {200: {"content": content}}}


def _pieces(made: Made) -> Iterable[bytes]:
    return (made,) if isinstance(made, bytes) else made
