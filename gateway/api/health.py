"""For programs that start, restart and watch the gateway: no token is needed.

It gives no reasons, because these may name hosts and paths; `/v1/status` has them. `/healthz` and
`/readyz` are `/health/live` and `/health/ready` by the names that the node has too.
"""

from http import HTTPStatus
from typing import Any, Final

from fastapi import APIRouter, Response
from pydantic import BaseModel, Field

from gateway.api.parts import AllParts
from gateway.services import Services

router = APIRouter(tags=["health"])


class Live(BaseModel):
    """The gateway runs."""

    live: bool = True


class Health(Live):
    """The gateway runs; which one it is, and whether it can do all its work now."""

    site_id: str = Field(
        description="the gateway's site; a truck compares it with its settings before it sends "
        "its token"
    )
    public_key: str = Field(
        description="key that signs the gateway's receipts; a truck trusts it only if its settings "
        "name it"
    )
    genesis_block_id: str | None = Field(
        description="first block of the gateway's ledger, as trucks pin it; null until the ledger "
        "was reached once"
    )
    ready: bool = Field(
        description="a truck that comes now can leave with a final receipt: broker, ledger, blob "
        "store and at least one volume work"
    )
    out: list[str] = Field(description="what does not work: `broker`, `ledger`, `volume main`")


_NOT_READY: Final[dict[int | str, dict[str, Any]]] = {
    HTTPStatus.SERVICE_UNAVAILABLE: {"model": Health}
}


@router.get("/health")
def health(services: AllParts) -> Health:
    """Return whether the gateway can do all its work now, always with 200."""
    return _health(services)


@router.get("/healthz")
@router.get("/health/live")
async def live() -> Live:
    """Return 200 while the gateway answers at all; restart it if it does not."""
    return Live()


@router.get("/readyz", responses=_NOT_READY)
@router.get("/health/ready", responses=_NOT_READY)
def ready(services: AllParts, response: Response) -> Health:
    """Return 200 if the gateway can do all its work now, else 503; a restart does not help."""
    found = _health(services)
    if not found.ready:
        response.status_code = HTTPStatus.SERVICE_UNAVAILABLE
    return found


def _health(services: Services) -> Health:
    dependencies = services.dependencies
    out = [name for name, standing in dependencies.standings().items() if standing.reason]
    return Health(
        site_id=services.settings.site_id,
        public_key=services.public_key,
        genesis_block_id=services.network.genesis_block_id,
        ready=dependencies.ready(),
        out=out,
    )
