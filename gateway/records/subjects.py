"""The batches that prove trips: all batches about them, and the ones that these need to be valid.

A batch is found by its subjects (contracts/actions/table.py), and is shown whole
or not at all. A verifier applies the rules to the evidence alone, so the
evidence holds every key, start and term that its batches refer to, and the time
with which a block begins, if the block has one. It compares the end with the
ledger's state, so the evidence holds every batch that changed an entry that
counts: also another trip, if that trip changed a delivery of a named one. A trip
that only shares a batch with a named trip is not shown in full.

Any device may write about any trip, and start trips with any delivery. Batches
by such strangers are left out: they change nothing, and a stranger must not be
able to spoil or enlarge the evidence.
"""

from collections.abc import Iterable
from typing import Final

from contracts import address
from contracts.encoding import parse
from contracts.errors import RejectedError
from contracts.evidence.endstate import Scope
from contracts.proto.payload_pb2 import HandOver, OpenDelivery, StartTrip
from contracts.proto.sawtooth_pb2 import BlockHeader
from contracts.proto.state_pb2 import Delivery
from contracts.rules.custody import carriers_of, parties_of
from contracts.rules.trips import devices_of, sites_of
from gateway.index.schema import LEVELS
from gateway.index.store import IndexStore
from gateway.records.entries import delivery_entry, transformation_record, trip_start
from gateway.records.registry import unknown
from gateway.records.tracing import Direction, LotId, walk

TRANSFORMATIONS_MAX: Final = 10_000
"""Transformations in evidence that lead to the lots of one trip, and about as many lots."""


class Gathering:
    """Gathers batches for evidence, and the subjects that these batches refer to.

    Attributes:
        places: The ids of the batches found so far, by block and place in it.
    """

    def __init__(
        self, index: IndexStore, trip_ids: Iterable[str], *, with_lots: bool, up_to: int
    ) -> None:
        """Gather what proves trips.

        Args:
            index: The index to ask.
            trip_ids: Trips on the ledger.
            with_lots: Include how the sources of the delivered lots were made.
            up_to: Number of the last block.

        Raises:
            NotOnLedgerError: There is no such trip.
            RejectedError: Too many transformations lead to the lots.
        """
        self._index = index
        self._up_to = up_to
        self._named = {f"trip {trip_id}" for trip_id in trip_ids}
        self.places: dict[tuple[int, int], str] = {}
        self._owners: dict[str, set[str]] = {}
        """The owners, `party …` or `device …`, of each key that signed a batch found so far."""
        self._wanted = set(self._named)
        self._seen: set[str] = set()
        for subject in sorted(self._named):
            trip_id = subject.removeprefix("trip ")
            start = trip_start(index, trip_id)
            if start is None:
                raise unknown("trip", trip_id)
            self._take_writers(map(address.delivery, start.delivery_ids))
            if with_lots:
                self._wanted |= _sources(index, start)
        self._gather()

    def complete(self, scope: Scope) -> bool:
        """Add the batches that changed what a replay of these batches met.

        Args:
            scope: The entries that the evidence will prove.

        Returns:
            Whether there were any, so that the replay must be done again.
        """
        before = len(self.places)
        self._take_writers(scope.places())
        self._gather()
        return len(self.places) > before

    def _gather(self) -> None:
        """Take what the wanted subjects need, and what that needs in turn."""
        while new := self._wanted - self._seen:
            self._seen |= new
            for subject in new:
                self._wanted |= _needs(self._index, subject)
                self._take_about(subject)

    def _take_writers(self, places: Iterable[str]) -> None:
        """Take every batch that changed an entry; if it is a delivery, the trips that did."""
        for entry in places:
            for block_num, place, header in self._index.query(_WRITERS, entry, self._up_to):
                batch_id = parse(BlockHeader, header).batch_ids[place]
                if entry.startswith(address.DELIVERY_PREFIX):
                    self._wanted |= _trips_of(self._index, batch_id)
                self._take((block_num, place), batch_id, _signer(self._index, batch_id))

    def _take_about(self, subject: str) -> None:
        """Take the batches about a subject, except those by strangers."""
        familiar: dict[str, bool] = {}
        for block_num, place, batch_id, signer in self._index.query(
            "SELECT block_num, place, batch_id, signer FROM batches"
            " WHERE subject = ? AND block_num <= ?",
            subject,
            self._up_to,
        ):
            if signer not in familiar:
                familiar[signer] = not _is_strange(self._index, subject, self._owner(signer))
            if familiar[signer]:
                self._take((block_num, place), batch_id, signer)
                if subject in self._named:
                    self._follow((block_num, place))

    def _take(self, where: tuple[int, int], batch_id: str, signer: str) -> None:
        self._wanted |= self._owner(signer)
        if where not in self.places:
            self.places[where] = batch_id
            self._wanted.add(f"time {where[0]}")  # the rules compare times with the block's
            self._wanted |= _mates(self._index, batch_id)

    def _follow(self, where: tuple[int, int]) -> None:
        """Take what a batch depends on: the story of a named trip must be complete."""
        for block_num, place, header in self._index.query(_DEPENDENCIES, *where):
            batch_id = parse(BlockHeader, header).batch_ids[place]
            self._take((block_num, place), batch_id, _signer(self._index, batch_id))

    def _owner(self, signer: str) -> set[str]:
        if signer not in self._owners:
            self._owners[signer] = _column(
                self._index, "SELECT subject FROM keys WHERE public_key = ?", signer
            )
        return self._owners[signer]


_WRITERS: Final = """
    SELECT block_num, place, header FROM writes JOIN blocks USING (block_num)
    WHERE address = ? AND block_num <= ?
"""
_DEPENDENCIES: Final = " UNION ".join(
    f"""
    SELECT named.block_num, named.place, header
    FROM dependencies JOIN {table} AS named USING (short_id)
    JOIN blocks ON blocks.block_num = named.block_num
    WHERE dependencies.block_num = ?1 AND dependencies.place = ?2
    """  # noqa: S608 - tables of our own
    for table in LEVELS
)


def _signer(index: IndexStore, batch_id: str) -> str:
    """Return the signer of a batch; empty for other families, for which evidence needs no key."""
    found = _column(index, "SELECT signer FROM batches WHERE batch_id = ?", batch_id)
    return next(iter(found), "")


def _trips_of(index: IndexStore, batch_id: str) -> set[str]:
    """Return the trips that a batch is about: their story must be complete."""
    subjects = _column(index, "SELECT subject FROM batches WHERE batch_id = ?", batch_id)
    return {subject for subject in subjects if subject.startswith("trip ")}


def _is_strange(index: IndexStore, subject: str, owners: Iterable[str]) -> bool:
    """Say whether a key belongs to a device that has no part in a subject.

    The rules commit readings and seals by any device, and starts that name any delivery. Actions
    that parties sign are accepted from the parties concerned only.
    """
    kind, name = subject.split(" ", 1)
    devices = [owner.removeprefix("device ") for owner in owners if owner.startswith("device ")]
    if not devices:
        return False
    match kind:
        case "trip":
            start = trip_start(index, name)
            return start is not None and set(devices).isdisjoint(devices_of(start))
        case "delivery":
            sql = "SELECT party_id FROM devices WHERE device_id = ?"
            return _column(index, sql, devices[0]).isdisjoint(carriers_of(_terms(index, name)))
        case _:
            return False


def _mates(index: IndexStore, batch_id: str) -> set[str]:
    """Return the subjects that the actions of a batch refer to.

    A reading or a seal refers to its trip's start. A video digest, a hold, or the end of a trip
    refers to the whole trip. What a logistic unit holds is not told: anyone may pack it, so its
    history would lead to that of all units; nor are heads of records of accesses, of which there
    is one a day. Any other action refers to the whole history of its subject.
    """
    found = _column(index, "SELECT subject FROM batches WHERE batch_id = ?", batch_id)
    told = [subject for subject in found if not subject.startswith(("unit ", "accesses "))]
    return {_leaned_on(*subject.split(" ", 1)) for subject in told}


def _leaned_on(kind: str, name: str) -> str:
    match kind:
        case "trip":
            return f"start {name}"
        case "whole":
            return f"trip {name}"
        case _:
            return f"{kind} {name}"


def _needs(index: IndexStore, subject: str) -> set[str]:
    """Return the other subjects that a subject's whole story refers to."""
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
    start = trip_start(index, trip_id)
    if start is None:
        return set()
    return {
        *(f"device {name}" for name in devices_of(start)),
        *(f"site {name}" for name in sites_of(start)),
        *(f"delivery {name}" for name in start.delivery_ids),
    }


def _needs_of_delivery(index: IndexStore, delivery_id: str) -> set[str]:
    """Return the parties to a delivery, and the sites where it was handed over."""
    needs = {
        f"site {HandOver.FromString(action).site_id}"
        for (action,) in index.query(
            "SELECT action FROM handovers WHERE delivery_id = ?", delivery_id
        )
    }
    # Corrected offers are in the evidence too, so the parties that they named must be.
    for (entry,) in index.query(
        "SELECT DISTINCT entry FROM deliveries WHERE delivery_id = ?", delivery_id
    ):
        terms = Delivery.FromString(entry).terms
        named = [*parties_of(terms), *filter(None, [terms.authority_id])]
        needs |= {f"party {name}" for name in named}
    return needs


def _needs_of_transformation(index: IndexStore, transformation_id: str) -> set[str]:
    """Return the party that made lots, and the site."""
    found = transformation_record(index, transformation_id)
    if found is None:
        return set()
    terms = found.entry.terms
    return {f"party {terms.party_id}", f"site {terms.site_id}"}


def _sources(index: IndexStore, start: StartTrip) -> set[str]:
    """Return the transformations behind the lots on a trip."""
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


def _terms(index: IndexStore, delivery_id: str) -> OpenDelivery:
    """Return a delivery's terms, empty for a delivery that a trip names but nobody signed."""
    return (delivery_entry(index, delivery_id) or Delivery()).terms


def _column(index: IndexStore, sql: str, *values: object) -> set[str]:
    return {row[0] for row in index.query(sql, *values)}
