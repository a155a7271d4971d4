"""A job's result is handed out on record, and not again to a client that has it."""

import asyncio
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Final, cast

import pytest
from fastapi.responses import Response, StreamingResponse

from contracts.errors import UnavailableError
from gateway.access import Caller, Role
from gateway.api.conditions import Conditions
from gateway.api.jobs import TAKEN, job_result
from gateway.api.problems import NotFoundError
from gateway.jobs.job import JobKind
from gateway.jobs.jobs import Jobs
from gateway.jobs.work import Work
from gateway.people.accesslog import Taken

if TYPE_CHECKING:
    from gateway.api.accesses import Taking

ANNA: Final = Caller("anna", Role.AUDITOR)
FILE: Final = b"time,device_id\r\n"


class Noting:
    """A reader whose accesses are counted, or cannot be written down."""

    def __init__(self, error: Exception | None = None, caller: Caller = ANNA) -> None:
        self.caller = caller
        self.noted: list[tuple[str, ...]] = []
        self._error = error

    def note(self, what: Taken, *subjects: str) -> None:
        if self._error is not None:
            raise self._error
        self.noted.append((what, *subjects))


Fetch = Callable[..., tuple[Response, bytes]]


@pytest.fixture
def fetch(tmp_path: Path) -> Iterator[Fetch]:
    """Yield what fetches the result of a job that is done, by what a client says in headers."""
    jobs = Jobs(tmp_path / "jobs.db", tmp_path / "jobs")
    jobs.start()
    work = Work(JobKind.READINGS_CSV, ("trip-1",), lambda _: [FILE], "text/csv", "trip.csv")
    job_id = jobs.add(ANNA, work)
    jobs.wait(job_id, 30)

    def fetched(reader: Noting, **asked: str) -> tuple[Response, bytes]:
        answer = job_result(cast("Taking", reader), jobs, job_id, Conditions(**asked))
        if not isinstance(answer, StreamingResponse):
            return answer, bytes(answer.body)
        return answer, asyncio.run(_read(answer))

    yield fetched
    jobs.stop()
    jobs.close()


async def _read(answer: StreamingResponse) -> bytes:
    return b"".join([cast("bytes", piece) async for piece in answer.body_iterator])


def test_who_fetches_a_result_is_on_record_with_what_it_is_about(fetch: Fetch) -> None:
    reader = Noting()
    answer, content = fetch(reader)
    assert (answer.status_code, content) == (200, FILE)
    assert reader.noted == [("readings", "trip-1")]
    with pytest.raises(UnavailableError, match="disk is full"):
        fetch(Noting(UnavailableError("the disk is full")))


def test_a_client_that_has_a_result_is_told_so_and_takes_nothing(fetch: Fetch) -> None:
    etag, reader = fetch(Noting())[0].headers["etag"], Noting()
    for known in (etag, f'"other", W/{etag}', "*"):
        answer, content = fetch(reader, if_none_match=known)
        assert (answer.status_code, answer.headers["etag"], content) == (304, etag, b"")
    assert fetch(reader, range="bytes=99-")[0].status_code == 416
    assert reader.noted == []
    assert fetch(reader, if_none_match='"other"', range="bytes=2-3")[1] == FILE[2:4]
    assert len(reader.noted) == 1


def test_a_stranger_s_fetch_is_no_access(fetch: Fetch) -> None:
    reader = Noting(caller=Caller("ben", Role.AUDITOR))
    with pytest.raises(NotFoundError):
        fetch(reader)
    assert reader.noted == []


def test_each_kind_of_job_has_a_word_on_record() -> None:
    assert set(TAKEN) == set(JobKind)
