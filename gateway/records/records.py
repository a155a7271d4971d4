"""The one place to ask what the ledger says: typed answers from the index that follows it."""

from typing import Self

from gateway.grants import Grants
from gateway.index.store import IndexStore
from gateway.records import registry
from gateway.records.blocks import Blocks
from gateway.records.deliveries import Deliveries
from gateway.records.digests import Digests
from gateway.records.finding import Search
from gateway.records.lots import Lots
from gateway.records.sight import GrantedIndex
from gateway.records.trips import Trips
from gateway.records.visits import Visits


class Records:
    """Answers questions about everything on the ledger; used by any thread.

    Every question may raise UnavailableError: the index's file did not answer.

    Attributes:
        blocks: The blocks that are in the index.
        parties: Parties, with their revoked keys.
        sites: Sites as registered last.
        devices: Devices as registered last.
        deliveries: Deliveries as they stand.
        lots: Lots, transformations and traces.
        units: Logistic units as packed last, by SSCC.
        trips: Trips, readings, breaches, tamper events, findings, holds and recordings.
        digests: Committed digests of recordings, and which of them count.
        visits: What is committed of a device's visit.
        search: What a word may mean.
    """

    def __init__(self, index: IndexStore) -> None:
        self.blocks = Blocks(index)
        self.parties = registry.parties(index)
        self.sites = registry.sites(index)
        self.devices = registry.devices(index)
        self.deliveries = Deliveries(index)
        self.lots = Lots(index)
        self.units = registry.units(index)
        self.trips = Trips(index)
        self.digests = Digests(index)
        self.visits = Visits(index)
        self.search = Search(index)
        self._index = index

    def granted(self, grants: Grants | None) -> Self:
        """Return the answers for a reader with grants; None: without any, who may see all."""
        return self if grants is None else type(self)(GrantedIndex(self._index, grants))
