"""The blocks of the ledger, as far as the index has taken them in."""

from functools import partial

from fastapi import APIRouter
from pydantic import BaseModel, Field

from contracts.records.clock import moment
from gateway.api.models import Page
from gateway.api.paging import Order, Ordered, Paging, page_of
from gateway.api.parts import RecordsPart
from gateway.moments import Moment
from gateway.records.blocks import ListedBlock


class Block(BaseModel):
    """A block of the ledger."""

    block_num: int = Field(description="the first is 0")
    block_id: str
    at: Moment | None = Field(
        description="when its maker says that it was begun, whole seconds; null if it has no time"
    )
    batches: int
    signer_public_key: str = Field(
        description="of the node that signed it; empty if a network of validators made it"
    )


router = APIRouter(prefix="/v1/blocks", tags=["ledger"])


@router.get("", name="list_blocks")
def every(records: RecordsPart, window: Paging, order: Ordered = Order.OLDEST) -> Page[Block]:
    """List the blocks that the index has taken in."""
    ask = partial(records.blocks.listed, newest_first=order is Order.NEWEST)
    return page_of(ask, _view, window)


def _view(each: ListedBlock) -> Block:
    return Block(
        block_num=each.block_num,
        block_id=each.block_id,
        at=None if each.at_ms is None else moment(each.at_ms),
        batches=each.batches,
        signer_public_key=each.signer_public_key,
    )
