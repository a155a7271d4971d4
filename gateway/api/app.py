"""The REST application: routes, roles, problem documents, OpenAPI under /v1/openapi.json."""

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager

from fastapi import FastAPI

from gateway.access import Role, Tokens
from gateway.api import problems
from gateway.api.catalogue import catalogue_router
from gateway.api.deletions import deletions_router
from gateway.api.evidence import evidence_router
from gateway.api.lots import lots_router
from gateway.api.metrics import metrics_router
from gateway.api.operations import operations_router, status_router
from gateway.api.recordings import recordings_router
from gateway.api.scrub import scrub_router
from gateway.api.security import require
from gateway.api.trips import trips_router
from gateway.api.uploads import uploads_router
from gateway.api.volumes import volumes_router
from gateway.services import Services

_DESCRIPTION = """\
What happened to goods on the way, from the ledger, and evidence of it.
Answers come from an index that follows the ledger; evidence proves them."""


def build_app(services: Services, tokens: Tokens) -> FastAPI:
    """Wire the routes around the gateway's services."""
    app = FastAPI(
        title="Wayseal gateway",
        version="1",
        description=_DESCRIPTION,
        openapi_url="/v1/openapi.json",
        docs_url=None,
        redoc_url=None,
        lifespan=_closing(services),
    )
    problems.install(app)
    may_read = require(tokens, Role.AUDITOR, Role.OPERATOR)
    may_operate = require(tokens, Role.OPERATOR)
    may_upload = require(tokens, Role.DEVICE, Role.OPERATOR)
    index, recordings = services.index, services.recordings
    app.include_router(catalogue_router(index, may_read))
    app.include_router(lots_router(index, may_read))
    app.include_router(trips_router(index, recordings, services.audit, may_read))
    app.include_router(recordings_router(index, recordings, services.deletions, may_read))
    app.include_router(deletions_router(services.deletions, may_read))
    app.include_router(evidence_router(services.audit, may_read))
    app.include_router(uploads_router(services.uploads, may_upload))
    app.include_router(
        operations_router(
            services.inbox,
            services.saga,
            services.receipts,
            services.filling,
            services.uploads,
            may_operate,
        )
    )
    app.include_router(scrub_router(services.scrubbing, may_operate))
    app.include_router(
        status_router(
            services.settings.site_id,
            services.public_key,
            services.intake,
            index,
            services.filling,
            may_read,
        )
    )
    app.include_router(metrics_router(services.metrics, may_operate))
    app.include_router(volumes_router(services.drives, services.volumes.states, may_operate))
    return app


def _closing(services: Services) -> Callable[[FastAPI], AbstractAsyncContextManager[None]]:
    """Return what ends open uploads, in their own event loop, when the server stops."""

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        yield
        await services.uploads.close()

    return lifespan
