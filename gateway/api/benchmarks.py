"""The reports of `wayseal-bench`, for operators."""

from typing import Final

from fastapi import APIRouter, Response
from pydantic import BaseModel, Field

from contracts.records.clock import moment
from gateway.api.models import Page
from gateway.api.parts import AllParts
from gateway.api.placed import PlacedPaging
from gateway.api.problems import ABSENT, NotFoundError
from gateway.benchmarks import BenchmarkRun, report_of, runs_in
from gateway.moments import Moment

_POLICY: Final = (
    "default-src 'none'; style-src 'unsafe-inline'; img-src data:; sandbox; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'none'"
)
"""A report has its styles and charts inside it. It runs no script, and gets no cookie of ours."""


class Benchmark(BaseModel):
    """A run of `wayseal-bench` that has a report."""

    name: str = Field(description="of its folder; it begins with the time of the run")
    written: Moment = Field(description="when the report was written")
    size: int = Field(description="of the report, bytes")


router = APIRouter(prefix="/v1/benchmarks", tags=["operations"])


@router.get("", name="list_benchmarks")
def every(services: AllParts, window: PlacedPaging) -> Page[Benchmark]:
    """List the runs in the folder of the setting `benchmarks.folder`, newest name first."""
    listed = map(_view, runs_in(services.settings.benchmarks.folder))
    return window.page(listed, lambda each: each.name, newest_first=True)


@router.get(
    "/{name}/report",
    response_class=Response,
    responses=ABSENT | {200: {"description": "the page", "content": {"text/html": {}}}},
)
def report(services: AllParts, name: str) -> Response:
    """Return the page of one run, which needs nothing else."""
    found = report_of(services.settings.benchmarks.folder, name)
    if found is None:
        raise NotFoundError(f"expected a run with a report, got {name[:128]!r}")
    headers = {"Content-Security-Policy": _POLICY}
    return Response(found, headers=headers, media_type="text/html")


def _view(each: BenchmarkRun) -> Benchmark:
    return Benchmark(name=each.name, written=moment(each.written_ms), size=each.size)
