"""Lots made from lots, put into an index without a ledger."""

from collections.abc import Sequence
from dataclasses import dataclass

from gateway.index.projection import LotRole, Row
from gateway.index.store import IndexStore
from gateway.records.tracing import LotId
from support.network.world import GTIN


@dataclass(frozen=True, slots=True)
class Made:
    """One transformation: names of the lots used and made."""

    inputs: Sequence[str]
    outputs: Sequence[str]


def lot(name: str) -> LotId:
    """Return the lot that tests call `name`."""
    return LotId(GTIN, name)


def add_made(index: IndexStore, made: Sequence[Made]) -> None:
    """Put transformations T0, T1, … into block 0."""
    rows: list[Row] = [
        (GTIN, name, role, f"T{number}", 0)
        for number, each in enumerate(made)
        for role, names in ((LotRole.INPUT, each.inputs), (LotRole.OUTPUT, each.outputs))
        for name in names
    ]
    index.add({"lots": rows})
