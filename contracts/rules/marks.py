"""Marks: breaches, tamper events and silences that a device adds to the deliveries on its trip."""

from contracts import address
from contracts.proto.state_pb2 import Chain, Delivery, Device, Trip
from contracts.rules.case import Notes
from contracts.rules.custody import carriers_of
from contracts.rules.ids import Rule


class Marks:
    """The marks of one device's transaction; each delivery is read and written once.

    Only devices of its carriers mark a delivery: any device may write readings on a trip, and must
    not mark a competitor's goods. A device that may not mark a delivery gets one finding for it.
    """

    def __init__(self, trip: Trip, chain: Chain, notes: Notes, *, revoked: bool) -> None:
        """Gather marks on a trip's deliveries; marks under a revoked key do not count."""
        self._chain = chain
        self._notes = notes
        self._revoked = revoked
        self._trip = trip
        self._opened: dict[str, Delivery | tuple[Rule, str] | None] = {}
        self._marked: dict[str, Delivery] = {}

    def add(
        self,
        delivery_id: str,
        sequence: int,
        *,
        breaches: int = 0,
        tampers: int = 0,
        silences: int = 0,
    ) -> None:
        """Count on a delivery what a device recorded or did not, if it may mark the delivery."""
        if delivery_id not in self._opened:
            self._opened[delivery_id] = self._open(delivery_id)
        opened = self._opened[delivery_id]
        if isinstance(opened, Delivery):
            opened.breaches += breaches
            opened.tampers += tampers
            opened.silences += silences
            self._marked[delivery_id] = opened
        elif opened is not None:
            place = [each.delivery_id for each in self._trip.deliveries].index(delivery_id)
            if place not in self._chain.unmarked:
                self._chain.unmarked.append(place)
                self._notes.add(*opened, sequence)

    def keep(self) -> None:
        """Write the marked deliveries."""
        for delivery_id, delivery in self._marked.items():
            self._notes.case.store(address.delivery(delivery_id), delivery)

    def _open(self, delivery_id: str) -> Delivery | tuple[Rule, str] | None:
        """Return a delivery that may be marked, or the finding in its place."""
        if self._revoked:  # each reading has a finding that says so
            return None
        case = self._notes.case
        place = address.delivery(delivery_id)
        if place not in case.header.outputs:
            return Rule.DELIVERY_NOT_DECLARED, f"the reading cannot mark delivery {delivery_id}"
        delivery = case.load(place, Delivery)
        device = case.load(address.device(self._notes.device_id), Device)
        if delivery is None or device is None:
            return None
        carriers = ", ".join(carriers_of(delivery.terms))
        if device.party_id not in carriers_of(delivery.terms):
            return Rule.CARRIER_MISMATCH, (
                f"a device of {device.party_id} does not mark delivery {delivery_id}, "
                f"which {carriers} carries"
            )
        return delivery
