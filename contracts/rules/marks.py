"""Marks: breaches and tamper events that readings add to the deliveries on their trip."""

from contracts import address
from contracts.proto.state_pb2 import Chain, Delivery, Device, Trip
from contracts.rules.case import Notes
from contracts.rules.ids import Rule


class Marks:
    """What one transaction's readings add; each delivery is read and written once.

    Only devices of a delivery's carrier mark it: anyone's may write readings on a trip, and none
    may mark a competitor's goods. That one cannot is found once per device and delivery.
    """

    def __init__(self, trip: Trip, chain: Chain, notes: Notes, *, revoked: bool) -> None:
        """Gather marks on a trip's deliveries; those under a revoked key do not count."""
        self._chain = chain
        self._notes = notes
        self._revoked = revoked
        self._places = {each.delivery_id: at for at, each in enumerate(trip.deliveries)}
        self._opened: dict[str, Delivery | tuple[Rule, str] | None] = {}
        self._marked: dict[str, Delivery] = {}

    def add(self, delivery_id: str, sequence: int, *, breaches: int = 0, tampers: int = 0) -> None:
        """Count a breach or a tamper event on a delivery, if these readings may."""
        if delivery_id not in self._opened:
            self._opened[delivery_id] = self._open(delivery_id)
        opened = self._opened[delivery_id]
        if isinstance(opened, Delivery):
            opened.breaches += breaches
            opened.tampers += tampers
            self._marked[delivery_id] = opened
        elif opened is not None and self._places[delivery_id] not in self._chain.unmarked:
            self._chain.unmarked.append(self._places[delivery_id])
            self._notes.add(*opened, sequence)

    def keep(self) -> None:
        """Write the deliveries that were marked."""
        for delivery_id, delivery in self._marked.items():
            self._notes.case.store(address.delivery(delivery_id), delivery)

    def _open(self, delivery_id: str) -> Delivery | tuple[Rule, str] | None:
        """Return a delivery that may be marked, or what is found instead."""
        if self._revoked:  # which a finding on each reading says
            return None
        case = self._notes.case
        place = address.delivery(delivery_id)
        if place not in case.header.outputs:
            return Rule.DELIVERY_NOT_DECLARED, f"the reading cannot mark delivery {delivery_id}"
        delivery = case.load(place, Delivery)
        device = case.load(address.device(self._notes.device_id), Device)
        if delivery is None or device is None:
            return None
        if device.party_id != delivery.terms.carrier_id:
            return Rule.CARRIER_MISMATCH, (
                f"a device of {device.party_id} does not mark delivery {delivery_id}, "
                f"which {delivery.terms.carrier_id} carries"
            )
        return delivery
