"""The machine's drives and the gateway's volumes, for operators."""

from typing import Annotated

from fastapi import APIRouter, Query

from gateway.api.parts import DrivesPart, VolumesPart
from gateway.volumes.document import Volumes, volumes_of

Asked = Annotated[bool, Query(description="ask each drive for its health; takes up to 10 s")]

router = APIRouter(prefix="/v1", tags=["operations"])


@router.get("/volumes")
def volumes(drives: DrivesPart, volumes: VolumesPart, *, health: Asked = False) -> Volumes:
    """Return every block device of the machine, and the gateway's volumes with their state."""
    return volumes_of(drives.report(ask_drives=health), drives.kernel, volumes.states())
