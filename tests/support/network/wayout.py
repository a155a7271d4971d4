"""Searches the rules for a way to a delivery's end, by the parties that are left."""

from collections.abc import Iterator, Sequence

from contracts import address
from contracts.actions.table import Action
from contracts.encoding import canonical
from contracts.errors import RejectedError
from contracts.proto.block_info_pb2 import BlockInfo, BlockInfoConfig
from contracts.proto.payload_pb2 import (
    RELEASED,
    WITHHELD,
    AcceptDelivery,
    AnnounceSettlement,
    CancelDelivery,
    CloseDelivery,
    DisputeDelivery,
    SettleDelivery,
)
from contracts.proto.state_pb2 import Delivery
from contracts.rules.life import ENDS
from contracts.rules.settling import NOTICE_MS
from contracts.rules.version import USUAL, RulesVersion
from support.ledgers.hosts import DirectHost
from support.network.chains import DEADLINE_MS
from support.network.world import key, one

LATER_MS = DEADLINE_MS + NOTICE_MS
MUCH_LATER_MS = LATER_MS + NOTICE_MS
STEPS_MAX = 3


def delivery_of(host: DirectHost) -> Delivery:
    """Return the delivery as it stands; empty before the first signature."""
    return Delivery.FromString(host.state(address.delivery("delivery-1")) or b"")


def at_time(host: DirectHost, now_ms: int) -> None:
    """Give the ledger the time of a block, as family block_info does."""
    host.put(address.block_info_config(), canonical(BlockInfoConfig(latest_block=7)))
    info = BlockInfo(block_num=7, timestamp=now_ms // 1000)
    host.put(address.block_info(7), canonical(info))


def way_out(
    host: DirectHost, left: Sequence[str], version: RulesVersion = USUAL
) -> list[str] | None:
    """Return the shortest way to an end, in words; None if the parties left have none."""
    reached: list[tuple[DirectHost, list[str]]] = [(host, [])]
    seen: set[bytes] = set()
    for _ in range(STEPS_MAX + 1):
        following: list[tuple[DirectHost, list[str]]] = []
        for here, way in reached:
            entry = delivery_of(here)
            if entry.status in ENDS:
                return way
            for signer, action, now_ms in _words(entry, left):
                there = here.copy()
                if version >= RulesVersion.V1_1:
                    at_time(there, now_ms)
                try:
                    there.apply(one(key(signer), action, version=version))
                except RejectedError:
                    continue
                wire = canonical(delivery_of(there))
                if wire not in seen:
                    seen.add(wire)
                    following.append((there, [*way, f"{signer}: {type(action).__name__}"]))
        reached = following
    return None


def _words(entry: Delivery, left: Sequence[str]) -> Iterator[tuple[str, Action, int]]:
    """Yield what each party that is left may try to say, and when."""
    about = entry.terms.delivery_id
    for name in left:
        if name in ("court", "customs"):
            for payment in (RELEASED, WITHHELD):
                settle = SettleDelivery(
                    delivery_id=about,
                    authority_id=name,
                    payment=payment,
                    reason="no end",
                    at_ms=MUCH_LATER_MS,
                )
                yield name, settle, MUCH_LATER_MS
            notice = AnnounceSettlement(
                delivery_id=about, authority_id=name, reason="no end", at_ms=LATER_MS
            )
            yield name, notice, LATER_MS
            continue
        yield name, entry.terms, LATER_MS
        # What the other side has signed alone must be signed in the same words.
        if entry.HasField("cancelling"):
            yield name, entry.cancelling, LATER_MS
        yield name, CancelDelivery(delivery_id=about, reason="no end", at_ms=LATER_MS), LATER_MS
        if entry.HasField("closing"):
            yield name, entry.closing, LATER_MS
        for payment in (RELEASED, WITHHELD):
            close = CloseDelivery(delivery_id=about, payment=payment, at_ms=LATER_MS)
            yield name, close, LATER_MS
        yield name, AcceptDelivery(delivery_id=about, at_ms=LATER_MS), LATER_MS
        dispute = DisputeDelivery(delivery_id=about, reason="no end", at_ms=LATER_MS)
        yield name, dispute, LATER_MS
