"""Search: what a word on a label, an invoice or a screen may mean on the ledger."""

from typing import Annotated

from fastapi import APIRouter, Query
from pydantic import BaseModel, Field
from pydantic.config import JsonDict

from gateway.api.parts import RecordsPart
from gateway.records.finding import FoundKind

_WORD_MAX = 128
_EXAMPLE: JsonDict = {
    "items": [
        {"kind": "lot", "name": "L-2027-014", "gtin": "09012345678904", "about": ""},
        {"kind": "order", "name": "PO-7731", "gtin": "", "about": "D-2027-000310"},
    ]
}


class FoundThing(BaseModel):
    """One thing that has the word as its name, or begins with it."""

    kind: FoundKind
    name: str = Field(description="its id; of a lot, the lot number; of an order, the order's id")
    gtin: str = Field(description="of a lot; empty otherwise")
    about: str = Field(description="the delivery of an order, the GLN of a site; empty otherwise")


class FoundThings(BaseModel):
    """What was found, up to 20 of a kind."""

    model_config = {"json_schema_extra": {"examples": [_EXAMPLE]}}

    items: list[FoundThing]


router = APIRouter(prefix="/v1", tags=["search"])


@router.get("/search")
def search(
    records: RecordsPart,
    q: Annotated[
        str,
        Query(
            min_length=1,
            max_length=_WORD_MAX,
            description="a lot, GTIN, order, GLN, trip, device, delivery, site, party, SSCC, "
            "transformation or recording, or how it begins; case counts",
        ),
    ],
) -> FoundThings:
    """Find what has a word as its name or begins with it.

    By time, place, site, lot, order or breach: `GET /v1/trips`.
    """
    found = records.search.find(q)
    return FoundThings(
        items=[FoundThing.model_validate(each, from_attributes=True) for each in found]
    )
