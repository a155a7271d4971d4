"""Rows of the table of actions: lots and the units that hold them."""

from typing import Final

from contracts import address
from contracts.actions import form, goods
from contracts.actions.kind import ActionKind, SignedBy, party
from contracts.proto.payload_pb2 import KeyDuties, PackUnit, SetLotStatus, TransformLots
from contracts.rules import lots, units

ROWS: Final = (
    ActionKind(
        TransformLots,
        SignedBy.PARTY,
        duty=KeyDuties.GOODS,
        check=form.check_transformation,
        reads=lambda made: [address.party(made.party_id), address.site(made.site_id)],
        writes=lambda made: [
            address.transformation(made.transformation_id),
            *(address.lot(each.gtin, each.lot) for each in (*made.inputs, *made.outputs)),
        ],
        rule=lots.transform_lots,
        subjects=lambda made: [f"transformation {made.transformation_id}"],
    ),
    ActionKind(
        SetLotStatus,
        SignedBy.PARTY,
        duty=KeyDuties.GOODS,
        check=goods.check_lot_status,
        reads=party,
        writes=lambda said: [address.lot(said.gtin, said.lot)],
        rule=lots.set_lot_status,
        subjects=lambda said: [f"lot {said.gtin} {said.lot}"],
    ),
    ActionKind(
        PackUnit,
        SignedBy.PARTY,
        duty=KeyDuties.GOODS,
        check=goods.check_packing,
        reads=lambda packed: [address.party(packed.party_id), address.site(packed.site_id)],
        writes=lambda _: [address.UNIT_PREFIX],
        rule=units.pack_unit,
        subjects=lambda packed: [f"unit {sscc}" for sscc in (packed.sscc, *packed.units)],
    ),
)
