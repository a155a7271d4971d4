"""For trucks that pin a ledger which goes on as another: no token is needed, signatures count."""

import base64

from fastapi import APIRouter
from pydantic import BaseModel, Field

from gateway.api.parts import SuccessionsPart

router = APIRouter(tags=["health"])


class SignedSuccessions(BaseModel):
    """Which ledgers go on as which, in administrators' own words."""

    successions: list[str] = Field(
        description="signed transactions that propose `wayseal.succession`, protobuf in base64, "
        "the oldest first; empty if the ledger succeeds no other"
    )


@router.get("/successions")
def successions(found: SuccessionsPart) -> SignedSuccessions:
    """Return the signed statements that an earlier ledger goes on as this gateway's."""
    return SignedSuccessions(
        successions=[base64.b64encode(each).decode("ascii") for each in found.all()]
    )
