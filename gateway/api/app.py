"""The REST application: routes, roles, problem documents, OpenAPI."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from fastapi import APIRouter, Depends, FastAPI

from gateway.access import Caller
from gateway.api import (
    accesses,
    admissions,
    benchmarks,
    blocks,
    catalogue,
    certificates,
    changes,
    clips,
    deletions,
    docs,
    enrolment,
    epcis,
    est,
    evidence,
    exports,
    health,
    holds,
    issuer,
    jobs,
    lots,
    metrics,
    operations,
    pages,
    problems,
    recordings,
    scrub,
    search,
    sessions,
    successions,
    trips,
    uploads,
    verification,
    volumes,
    waiting,
)
from gateway.api.description import DescribedApp, only_described_parameters
from gateway.api.headers import Headed
from gateway.api.peoplefirst import PeopleFirst
from gateway.api.security import may_operate, may_read, may_read_all
from gateway.api.tusgate import TusGate
from gateway.people.rates import Rates
from gateway.services import Services

_DESCRIPTION = """\
What happened to goods on the way, according to the ledger, and evidence that proves it.
Answers come from an index that follows the ledger.
A route with `security` needs `Authorization: Bearer TOKEN`, or the cookie that `POST /v1/session`
gives a browser; the others, such as `/healthz`, and this description need no token."""


def build_app(services: Services) -> FastAPI:
    """Put the routes together, each with the roles that may use it."""
    app = DescribedApp(
        title="Wayseal gateway",
        version="1",
        description=_DESCRIPTION,
        openapi_url=None,
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
        lifespan=_closing,
    )
    app.state.services = services
    app.state.streams = changes.Streams()
    app.state.verifications = verification.VerificationPlaces()
    app.state.rates = Rates(services.settings.rest.requests_per_minute)
    problems.install(app)
    app.add_middleware(TusGate, prefix=uploads.PREFIX)
    app.add_middleware(Headed)
    app.add_middleware(PeopleFirst, answers=services.answers)
    for about in (
        catalogue,
        certificates,
        epcis,
        lots,
        trips,
        holds,
        recordings,
        clips,
        evidence,
        exports,
        search,
        changes,
        verification,
        jobs,
    ):
        _include(app, about.router, may_read)
    for router in (blocks.router, deletions.router, holds.ends_router):
        _include(app, router, may_read_all)
    for about in (operations, waiting, scrub, metrics, volumes):
        _include(app, about.router, may_operate)
    for about in (accesses, admissions, benchmarks):
        _include(app, about.router, may_operate)
    for router in (sessions.list_router, holds.operators_router):
        _include(app, router, may_operate)
    _include(app, operations.status_router, may_read_all)
    _include(app, issuer.router)
    _include(app, sessions.router)
    _include(app, uploads.router)
    _include(app, est.router)
    _include(app, enrolment.router)
    _include(app, docs.router)
    _include(app, health.router)
    _include(app, successions.router)
    for router in (pages.router, issuer.callback_router):
        app.include_router(router)  # what they make of a query is their own matter
    return app


def _include(app: FastAPI, router: APIRouter, *roles: Callable[..., Caller]) -> None:
    """Add routes that callers of these roles may use; all callers if no role is given.

    A caller without the role learns of that first, and then of a parameter that is unknown.
    """
    asked = [*map(Depends, roles), Depends(only_described_parameters)]
    denials = problems.errors(401, 403) if roles else {}
    answers = denials | problems.errors(422, 503)
    app.include_router(router, dependencies=asked, responses=answers)


@asynccontextmanager
async def _closing(app: FastAPI) -> AsyncIterator[None]:
    """End open uploads, in their own event loop, when the server stops."""
    yield
    await app.state.services.uploads.close()
