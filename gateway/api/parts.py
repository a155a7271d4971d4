"""The gateway's parts, as endpoints ask for them by type.

`build_app` puts the services into the application's state.
"""

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Annotated, TypeVar

from fastapi import Depends, Request

from gateway.access import Caller
from gateway.api.problems import NotFoundError
from gateway.clips.clips import Clips
from gateway.intake.inbox import Inbox
from gateway.jobs.jobs import Jobs
from gateway.metrics import Metrics
from gateway.offload.receipts import Receipts
from gateway.offload.saga import OffloadSaga
from gateway.people.accesslog import AccessLog
from gateway.people.signing import People
from gateway.records.evidence import Audit
from gateway.records.records import Records
from gateway.records.successions import Successions
from gateway.retention.autoholds import AutomaticHolds
from gateway.retention.deletions import Deletions
from gateway.services import Services
from gateway.upkeep.filling import Filling
from gateway.upkeep.scrubbing import Scrubbing
from gateway.uploads.service import Uploads
from gateway.volumes.follow import DriveFollower
from storage.recordings.store import RecordingStore
from storage.volumes.volumes import Volumes

if TYPE_CHECKING:
    from gateway.people.oidc.issuer import OidcIssuer

_PartT = TypeVar("_PartT")


def _part(get: Callable[[Services], _PartT]) -> Callable[[Request], Awaitable[_PartT]]:
    """Return a dependency. It is a coroutine: FastAPI runs plain functions in another thread."""

    async def part(request: Request) -> _PartT:
        return get(request.app.state.services)

    return part


async def _records(request: Request) -> Records:
    caller, records = getattr(request.state, "caller", None), request.app.state.services.records
    seen: Records = records.granted(caller.grants) if isinstance(caller, Caller) else records
    return seen


async def _issuer(request: Request) -> "OidcIssuer":
    services: Services = request.app.state.services
    if services.issuer is None:
        raise NotFoundError("sign-in by an issuer is off: oidc.issuer is not set")
    return services.issuer


async def _holds(request: Request) -> AutomaticHolds:
    services: Services = request.app.state.services
    records = await _records(request)
    return AutomaticHolds(records, services.deletions.hold_ends, services.inbox)


AccessLogPart = Annotated[AccessLog, Depends(_part(lambda services: services.accesses))]
AllParts = Annotated[Services, Depends(_part(lambda services: services))]
AuditPart = Annotated[Audit, Depends(_part(lambda services: services.audit))]
ClipsPart = Annotated[Clips, Depends(_part(lambda services: services.clips))]
DeletionsPart = Annotated[Deletions, Depends(_part(lambda services: services.deletions))]
DrivesPart = Annotated[DriveFollower, Depends(_part(lambda services: services.drives))]
FillingPart = Annotated[Filling, Depends(_part(lambda services: services.filling))]
HoldsPart = Annotated[AutomaticHolds, Depends(_holds)]
"""The automatic holds on what the caller may see."""
InboxPart = Annotated[Inbox, Depends(_part(lambda services: services.inbox))]
IssuerPart = Annotated["OidcIssuer", Depends(_issuer)]
JobsPart = Annotated[Jobs, Depends(_part(lambda services: services.jobs))]
MetricsPart = Annotated[Metrics, Depends(_part(lambda services: services.metrics))]
PeoplePart = Annotated[People, Depends(_part(lambda services: services.people))]
ReceiptsPart = Annotated[Receipts, Depends(_part(lambda services: services.receipts))]
RecordsPart = Annotated[Records, Depends(_records)]
"""What the caller may see of the ledger."""
SagaPart = Annotated[OffloadSaga, Depends(_part(lambda services: services.saga))]
ScrubbingPart = Annotated[Scrubbing, Depends(_part(lambda services: services.scrubbing))]
StorePart = Annotated[RecordingStore, Depends(_part(lambda services: services.recordings))]
SuccessionsPart = Annotated[Successions, Depends(_part(lambda services: services.successions))]
UploadsPart = Annotated[Uploads, Depends(_part(lambda services: services.uploads))]
VolumesPart = Annotated[Volumes, Depends(_part(lambda services: services.volumes))]
