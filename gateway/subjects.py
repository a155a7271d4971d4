"""Which batches prove trips: all about them, and all without which these break a rule.

A batch is found by what it is about, its subjects (`subjects_of` in
gateway/index/projection.py), and can be shown only whole. Whoever applies the
rules to the evidence alone must find every key, start and term that a batch
leans on; a trip that merely shared a delivery or a batch is not told whole.

Anyone's device may write about any trip and start trips with any delivery. What
strangers wrote so is left out: it changes nothing, and they must not be able to
make anyone's evidence fail, or grow.
"""

from collections.abc import Iterable
from typing import Final

from contracts.encoding import parse
from contracts.errors import RejectedError
from contracts.proto.payload_pb2 import HandOver, OpenDelivery, StartTrip
from contracts.proto.sawtooth_pb2 import BlockHeader
from contracts.proto.state_pb2 import Delivery
from contracts.rules.sites import sites_of
from contracts.rules.trips import devices_of
from gateway.index.entries import delivery_entry, transformation_entry
from gateway.index.store import IndexStore
from gateway.index.tracing import Direction, LotId, walk

TRANSFORMATIONS_MAX: Final = 10_000
"""Transformations, and about as many lots, that lead to those on one trip, in evidence."""


class UnknownTripError(RejectedError):
    """The trip is not on the ledger."""


def batches_about(
    index: IndexStore, trip_ids: Iterable[str], *, with_lots: bool
) -> dict[tuple[int, int], str]:
    """Return the ids of the batches that prove trips, by block and place in it.

    Args:
        index: Follows the ledger.
        trip_ids: Trips on the ledger.
        with_lots: Put in what the delivered lots were made from, too.

    Raises:
        UnknownTripError: There is no such trip.
        RejectedError: Too many transformations lead to the lots.
    """
    wanted: set[str] = set()
    named = list(trip_ids)
    for trip_id in named:
        start = _start(index, trip_id)
        if start is None:
            raise UnknownTripError(f"no trip {trip_id[:80]!r} on the ledger")
        wanted.add(f"trip {trip_id}")
        if with_lots:
            wanted |= _sources(index, start)
    return _Gathering(index, named).gather(wanted)


class _Gathering:
    """Batches on their way into evidence, and what they make others needed for."""

    def __init__(self, index: IndexStore, trip_ids: Iterable[str]) -> None:
        self._index = index
        self._named = {f"trip {trip_id}" for trip_id in trip_ids}
        self._places: dict[tuple[int, int], str] = {}
        self._owners: dict[str, set[str]] = {}
        """Whose the keys are that signed what was met: `party …` or `device …`."""
        self._wanted: set[str] = set()

    def gather(self, wanted: Iterable[str]) -> dict[tuple[int, int], str]:
        """Return the ids of the batches that tell all about what is wanted, by their place."""
        self._wanted |= set(wanted)
        seen: set[str] = set()
        while new := self._wanted - seen:
            seen |= new
            for subject in new:
                self._wanted |= _needs(self._index, subject)
                self._tell(subject)
        return self._places

    def _tell(self, subject: str) -> None:
        """Take the batches about a subject, but for what strangers wrote."""
        familiar: dict[str, bool] = {}
        for block_num, place, batch_id, signer in self._index.query(
            "SELECT block_num, place, batch_id, signer FROM batches WHERE subject = ?", subject
        ):
            if signer not in familiar:
                familiar[signer] = not _is_strange(self._index, subject, self._owner(signer))
            if familiar[signer]:
                self._take((block_num, place), batch_id, signer)
                if subject in self._named:
                    self._follow((block_num, place))

    def _take(self, where: tuple[int, int], batch_id: str, signer: str) -> None:
        self._wanted |= self._owner(signer)
        if where not in self._places:
            self._places[where] = batch_id
            self._wanted |= _mates(self._index, batch_id)

    def _follow(self, where: tuple[int, int]) -> None:
        """Take what a batch depends on: in the story of a named trip it may not be missing."""
        for block_num, place, header in self._index.query(_DEPENDENCIES, *where):
            batch_id = parse(BlockHeader, header).batch_ids[place]
            signers = _column(
                self._index, "SELECT signer FROM batches WHERE batch_id = ?", batch_id
            )
            # Nothing is known of who signed a batch of other families, and nothing needed.
            self._take((block_num, place), batch_id, next(iter(signers), ""))

    def _owner(self, signer: str) -> set[str]:
        if signer not in self._owners:
            self._owners[signer] = _column(
                self._index, "SELECT subject FROM keys WHERE public_key = ?", signer
            )
        return self._owners[signer]


_DEPENDENCIES: Final = " UNION ".join(
    f"""
    SELECT named.block_num, named.place, header
    FROM dependencies JOIN {table} AS named USING (short_id)
    JOIN blocks ON blocks.block_num = named.block_num
    WHERE dependencies.block_num = ?1 AND dependencies.place = ?2
    """  # noqa: S608 - two tables of our own
    for table in ("transactions", "new_transactions")
)


def _is_strange(index: IndexStore, subject: str, owners: Iterable[str]) -> bool:
    """Say whether a key is of a device that has no part in a subject.

    Readings and seals are committed whoever's device signs them, and so is the start of a trip
    that names any delivery. What parties sign, the rules let only those sign whom it concerns.
    """
    kind, name = subject.split(" ", 1)
    devices = [owner.removeprefix("device ") for owner in owners if owner.startswith("device ")]
    if not devices:
        return False
    match kind:
        case "trip":
            start = _start(index, name)
            return start is not None and set(devices).isdisjoint(devices_of(start))
        case "delivery":
            sql = "SELECT party_id FROM devices WHERE device_id = ?"
            return _terms(index, name).carrier_id not in _column(index, sql, devices[0])
        case _:
            return False


def _mates(index: IndexStore, batch_id: str) -> set[str]:
    """Return what the actions of a batch lean on.

    A reading or a seal leans on its trip's start; a video digest, a hold, or the end of a trip on
    all of the trip; what is done to anything else on its history.
    """
    found = _column(index, "SELECT subject FROM batches WHERE batch_id = ?", batch_id)
    return {_leaned_on(*subject.split(" ", 1)) for subject in found}


def _leaned_on(kind: str, name: str) -> str:
    match kind:
        case "trip":
            return f"start {name}"
        case "whole":
            return f"trip {name}"
        case _:
            return f"{kind} {name}"


def _needs(index: IndexStore, subject: str) -> set[str]:
    """Return what a subject's whole story speaks of besides itself."""
    kind, name = subject.split(" ", 1)
    match kind:
        case "trip":
            return _needs_of_trip(index, name)
        case "delivery":
            return _needs_of_delivery(index, name)
        case "transformation":
            return _needs_of_transformation(index, name)
        case "device" | "site":
            sql = f"SELECT party_id FROM {kind}s WHERE {kind}_id = ?"  # noqa: S608
            return {f"party {party_id}" for party_id in _column(index, sql, name)}
        case _:
            return set()


def _needs_of_trip(index: IndexStore, trip_id: str) -> set[str]:
    start = _start(index, trip_id)
    if start is None:
        return set()
    return {
        *(f"device {name}" for name in devices_of(start)),
        *(f"site {name}" for name in sites_of(start)),
        *(f"delivery {name}" for name in start.delivery_ids),
    }


def _needs_of_delivery(index: IndexStore, delivery_id: str) -> set[str]:
    """Return the parties to a delivery, and the sites where it changed hands."""
    needs = {
        f"site {HandOver.FromString(action).site_id}"
        for (action,) in index.query(
            "SELECT action FROM handovers WHERE delivery_id = ?", delivery_id
        )
    }
    # Offers that were corrected are told, too: whom they named must be registered.
    for (entry,) in index.query(
        "SELECT DISTINCT entry FROM deliveries WHERE delivery_id = ?", delivery_id
    ):
        terms = Delivery.FromString(entry).terms
        needs |= {f"party {name}" for name in (terms.seller_id, terms.carrier_id, terms.buyer_id)}
    return needs


def _needs_of_transformation(index: IndexStore, transformation_id: str) -> set[str]:
    """Return who made lots, and where."""
    found = transformation_entry(index, transformation_id)
    if found is None:
        return set()
    terms = found[0].terms
    return {f"party {terms.party_id}", f"site {terms.site_id}"}


def _sources(index: IndexStore, start: StartTrip) -> set[str]:
    """Return the transformations that lead to the lots on a trip."""
    lots = {
        LotId(lot.gtin, lot.lot)
        for delivery_id in start.delivery_ids
        for lot in _terms(index, delivery_id).lots
    }
    found = walk(index, sorted(lots), Direction.BACKWARD, TRANSFORMATIONS_MAX)
    if found.cut_at:
        raise RejectedError(
            f"more than {TRANSFORMATIONS_MAX} transformations or lots lead to the lots on trip "
            f"{start.trip_id}: ask with lots=false, and trace the lots"
        )
    return {f"transformation {name}" for name in found.transformations}


def _start(index: IndexStore, trip_id: str) -> StartTrip | None:
    rows = index.query("SELECT start FROM trips WHERE trip_id = ?", trip_id)
    return StartTrip.FromString(rows[0][0]) if rows else None


def _terms(index: IndexStore, delivery_id: str) -> OpenDelivery:
    """Return a delivery's terms; a trip may name one that nobody signed, which has none."""
    return (delivery_entry(index, delivery_id) or Delivery()).terms


def _column(index: IndexStore, sql: str, *values: object) -> set[str]:
    return {row[0] for row in index.query(sql, *values)}
