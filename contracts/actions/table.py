"""The table of actions: one row for each action that can be signed and put on the ledger.

A row says who signs the action, how its form is checked, which state it reads
and writes, which rule applies it, and under which subjects evidence finds it.
The codec, the rules' way in, the verifier and the gateway's index follow the
rows. A new action needs a message in payload.proto, a rule in contracts/rules,
its row in contracts/actions/rows, and its section in docs/contract.md.
"""

from collections.abc import Mapping
from typing import Any, Final

from google.protobuf.message import Message

from contracts.actions.kind import ActionKind
from contracts.actions.rows import deliveries, lots, parties, sites, trips
from contracts.proto.payload_pb2 import (
    AcceptDelivery,
    AnnounceSettlement,
    CancelDelivery,
    CertifyParty,
    CloseDelivery,
    CloseTrip,
    CommitAccesses,
    DisputeDelivery,
    HandOver,
    OpenDelivery,
    PackUnit,
    PlaceHold,
    RecordReading,
    RecordRun,
    RecordVideo,
    RegisterDevice,
    RegisterParty,
    RegisterSite,
    ReleaseHold,
    RotateKeys,
    SealTrip,
    SetLotStatus,
    SettleDelivery,
    StartTrip,
    TransformLots,
)

Action = (
    RegisterParty
    | RotateKeys
    | RegisterSite
    | RegisterDevice
    | CertifyParty
    | OpenDelivery
    | AcceptDelivery
    | DisputeDelivery
    | CloseDelivery
    | CancelDelivery
    | AnnounceSettlement
    | SettleDelivery
    | StartTrip
    | RecordReading
    | RecordRun
    | SealTrip
    | RecordVideo
    | HandOver
    | CloseTrip
    | PlaceHold
    | ReleaseHold
    | TransformLots
    | SetLotStatus
    | PackUnit
    | CommitAccesses
)
OfReadings: Final = (RecordReading, RecordRun)
"""Actions that record readings."""
# Any: each row is typed by its own message; here they stand side by side.
ACTIONS: Final[tuple[ActionKind[Any], ...]] = (
    *parties.ROWS,
    *deliveries.ROWS,
    *trips.ROWS,
    *lots.ROWS,
    *sites.ROWS,
)
KINDS: Final[Mapping[type[Message], ActionKind[Any]]] = {kind.message: kind for kind in ACTIONS}
"""The row of each action, by its message."""
