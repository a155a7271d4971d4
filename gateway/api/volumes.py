"""The drives below the gateway, and its volumes in and out of use, for operators."""

from collections.abc import Callable, Iterable
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Query

from gateway.volumes.follow import DriveFollower
from gateway.volumes.models import Volumes, volumes_of
from storage.volumes.volume import VolumeState

Asked = Annotated[bool, Query(description="ask each drive how it is; takes up to 10 s")]


def volumes_router(
    drives: DriveFollower,
    states: Callable[[], Iterable[VolumeState]],
    may_operate: Callable[..., Any],
) -> APIRouter:
    """Return the route, for callers that `may_operate` lets pass."""
    router = APIRouter(prefix="/v1", tags=["operations"], dependencies=[Depends(may_operate)])

    @router.get("/volumes")
    def volumes(*, health: Asked = False) -> Volumes:
        """Return every block device of the machine, and the gateway's volumes with their state."""
        return volumes_of(drives.report(ask_drives=health), drives.kernel, states())

    return router
