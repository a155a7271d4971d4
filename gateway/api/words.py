"""The words that answers choose from, as enums of the OpenAPI description.

They are taken from where each word is made, so the description names all of them.
"""

from collections.abc import Iterable
from typing import Annotated

from pydantic import WithJsonSchema

from contracts.evidence.report import SUMMARIES
from contracts.proto import payload_pb2, state_pb2
from contracts.records.quantity import QUANTITIES
from contracts.records.reading import TAMPER_ALL, ClockOrigin
from contracts.records.remark import RemarkKind
from contracts.rendered import signs
from contracts.rendered_remarks import CHANGES
from contracts.rules.deliveries import payment_name, status_name
from contracts.rules.ids import Rule
from contracts.rules.lots import lot_status_name


def _one_of(words: Iterable[str]) -> WithJsonSchema:
    return WithJsonSchema({"type": "string", "enum": list(words)})


_UNSET = 0

PartyRole = Annotated[
    str, _one_of(name.lower() for name, role in payload_pb2.Role.items() if role != _UNSET)
]
KeyDuty = Annotated[
    str,
    _one_of(name.lower() for name, duty in payload_pb2.KeyDuties.Duty.items() if duty != _UNSET),
]
DeliveryStatus = Annotated[
    str,
    _one_of(status_name(each) for each in state_pb2.Delivery.Status.values() if each != _UNSET),
]
Payment = Annotated[str, _one_of(map(payment_name, payload_pb2.Payment.values()))]
LotStatusName = Annotated[
    str, _one_of(map(lot_status_name, payload_pb2.SetLotStatus.Status.values()))
]
Clock = Annotated[str, _one_of(each.name.lower() for each in ClockOrigin)]
RemarkName = Annotated[str, _one_of(each.name_for_people for each in RemarkKind)]
Change = Annotated[str, _one_of(CHANGES)]
TamperSign = Annotated[str, _one_of(signs(TAMPER_ALL))]
Quantity = Annotated[str, _one_of(each.name for each in QUANTITIES.values())]
QuantityUnit = Annotated[str, _one_of(each.unit_code for each in QUANTITIES.values())]
VerdictWord = Annotated[str, _one_of(SUMMARIES)]
RuleId = Annotated[str, _one_of(Rule)]
