"""The REST application: routes, roles, problem documents, OpenAPI under /v1/openapi.json."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from fastapi import Depends, FastAPI

from gateway.access import Tokens
from gateway.api import (
    catalogue,
    deletions,
    evidence,
    lots,
    metrics,
    operations,
    problems,
    recordings,
    scrub,
    trips,
    uploads,
    volumes,
    waiting,
)
from gateway.api.security import may_operate, may_read
from gateway.api.tusgate import TusGate
from gateway.services import Services

_DESCRIPTION = """\
What happened to goods on the way, according to the ledger, and evidence that proves it.
Answers come from an index that follows the ledger."""


def build_app(services: Services, tokens: Tokens) -> FastAPI:
    """Put the routes together, each with the roles that may use it."""
    app = FastAPI(
        title="Wayseal gateway",
        version="1",
        description=_DESCRIPTION,
        openapi_url="/v1/openapi.json",
        docs_url=None,
        redoc_url=None,
        lifespan=_closing,
    )
    app.state.services, app.state.tokens = services, tokens
    problems.install(app)
    app.add_middleware(TusGate, prefix=uploads.PREFIX)
    readers, operators = [Depends(may_read)], [Depends(may_operate)]
    for about in (catalogue, lots, trips, recordings, deletions, evidence):
        app.include_router(about.router, dependencies=readers)
    app.include_router(uploads.router)
    app.include_router(operations.router, dependencies=operators)
    app.include_router(waiting.router, dependencies=operators)
    app.include_router(scrub.router, dependencies=operators)
    app.include_router(operations.status_router, dependencies=readers)
    app.include_router(metrics.router, dependencies=operators)
    app.include_router(volumes.router, dependencies=operators)
    return app


@asynccontextmanager
async def _closing(app: FastAPI) -> AsyncIterator[None]:
    """End open uploads, in their own event loop, when the server stops."""
    yield
    await app.state.services.uploads.close()
