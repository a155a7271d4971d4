"""What the parties of a random world say, right or wrong, and the ledger that takes it or not."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from random import Random
from typing import Final

from contracts.actions.payload import build
from contracts.actions.table import Action
from contracts.errors import RejectedError
from contracts.proto import payload_pb2 as said
from contracts.proto.sawtooth_pb2 import Batch
from contracts.sawtooth.batches import build_batch
from support.ledgers.hosts import DirectHost
from support.network.world import START_MS, Trip, key

ROLES: Final = {
    "farm": [said.MANUFACTURER, said.SELLER],
    "dairy": [said.MANUFACTURER, said.SELLER, said.BUYER],
    "haulier": [said.CARRIER],
    "depot": [said.CARRIER, said.BUYER],
    "shop": [said.BUYER],
    "agency": [said.AUTHORITY],
}
DEVICES: Final = {"truck-1": "haulier", "truck-2": "depot", "cam-1": "haulier"}
SITES: Final = {"dock-1": "dairy", "dock-2": "depot", "dock-3": "shop"}
GTINS: Final = ["00012345678905", "4006381333931"]
UNITS: Final = ["340123450000000000", "340123450000000017", "340123450000000024"]
STEP_MS: Final = 60_000
DAY_MS: Final = 86_400_000
BLOCK_BATCHES: Final = 5
STRANGE: Final = 0.2
"""How often a party says something about a delivery of other parties."""


@dataclass
class Talk:
    """A ledger that took what parties said, as far as the rules allow.

    Attributes:
        seed: Plays it again.
        refused: How many batches the rules refused, by rule.
        groups: The committed batches, by block.
    """

    seed: int
    refused: Counter[str] = field(default_factory=Counter)
    groups: list[list[Batch]] = field(default_factory=list)
    _trips: list[Trip] = field(default_factory=list)
    _deliveries: dict[str, said.OpenDelivery] = field(default_factory=dict)
    _seen: set[str] = field(default_factory=set)
    _pending: list[Batch] = field(default_factory=list)

    def __post_init__(self) -> None:
        """Begin with an empty ledger."""
        self.random = Random(self.seed)
        self._host = DirectHost()

    def _say(self, signer: str, action: Action) -> bool:
        """Commit an action if the rules allow it; say whether they did."""
        return self._commit(build_batch(key(signer), [build(key(signer), action)]))

    def _commit(self, batch: Batch) -> bool:
        ids = {each.header_signature for each in batch.transactions}
        if not self._seen.isdisjoint(ids):
            self.refused["duplicate"] += 1
            return False
        try:
            self._host.apply(batch)
        except RejectedError as error:
            self.refused[str(error).split(":", 1)[0]] += 1
            return False
        self._seen |= ids
        self._pending.append(batch)
        if len(self._pending) >= self.random.randint(1, BLOCK_BATCHES):
            self._flush()
        return True

    def _flush(self) -> None:
        if self._pending:
            self.groups.append(self._pending)
            self._pending = []

    def _registrations(self) -> Iterator[tuple[str, Action]]:
        for name, roles in ROLES.items():
            keys = [key(name).public_key, key(f"{name}'s second").public_key]
            yield (
                "admin",
                said.RegisterParty(party_id=name, name=name.title(), public_keys=keys, roles=roles),
            )
        for name, party in SITES.items():
            site = said.RegisterSite(site_id=name, party_id=party, name=name)
            if self.random.random() < 0.5:
                site.position.latitude_e7, site.radius_m = 520_000_000, 5_000
            yield party, site
        for name, party in DEVICES.items():
            device = said.RegisterDevice(
                device_id=name, party_id=party, public_keys=[key(name).public_key]
            )
            yield party, device

    def _party(self) -> str:
        return self.random.choice(list(ROLES))

    def _time(self) -> int:
        return START_MS + self.random.randint(0, 40) * STEP_MS

    def open(self) -> None:
        name = f"delivery-{self.random.randint(1, 4)}"
        seller, buyer = self.random.choice(["farm", "dairy"]), self.random.choice(["shop", "depot"])
        terms = said.OpenDelivery(
            delivery_id=name,
            order_id="order",
            lots=[said.Lot(gtin=GTINS[0], lot=f"L{self.random.randint(1, 3)}")],
            product=self.random.choice(["milk", "cheese"]),
            quantity=self.random.choice([10, 20]),
            unit="KGM",
            seller_id=seller,
            carrier_id=self.random.choice(["haulier", "depot"]),
            buyer_id=buyer,
            limits=self._limits(),
            other_carrier_ids=self.random.choice([[], ["depot"]]),
            units=self.random.choice([[], UNITS[:1]]),
            required_certificates=self.random.choice(
                [[], [said.RequiredCertificate(holder_id="haulier", kind="GDP")]]
            ),
        )
        for signer in self.random.choice([[seller, buyer], [buyer, seller], [seller], [buyer]]):
            if self._say(signer, terms):
                self._deliveries.setdefault(name, terms)

    def _limits(self) -> list[said.Limit]:
        temperature = said.Limit(
            quantity=said.Limit.TEMPERATURE_MCEL,
            minimum=2000,
            maximum=8000,
            tolerated_s=self.random.choice([0, 120]),
            longest_silence_s=self.random.choice([0, 180]),
        )
        humidity = said.Limit(quantity=said.Limit.HUMIDITY_MPCT, maximum=70_000, tolerated_s=60)
        return self.random.choice([[], [temperature], [temperature, humidity]])

    def _any_delivery(self) -> said.OpenDelivery | None:
        return self.random.choice(list(self._deliveries.values())) if self._deliveries else None

    def _hands(self, terms: said.OpenDelivery) -> list[str]:
        """Return the parties to a delivery, rarely somebody else too, in any order."""
        parties = [terms.seller_id, terms.carrier_id, terms.buyer_id]
        if self.random.random() < STRANGE:
            parties.append(self._party())
        return self.random.sample(parties, len(parties))

    def end(self) -> None:
        terms = self._any_delivery()
        if terms is None:
            return
        name, at = terms.delivery_id, self._time()
        actions: list[Action] = [
            said.AcceptDelivery(delivery_id=name, at_ms=at),
            said.DisputeDelivery(delivery_id=name, reason="warm", at_ms=at),
            said.CloseDelivery(delivery_id=name, payment=said.RELEASED, at_ms=START_MS),
            said.CloseDelivery(delivery_id=name, payment=said.WITHHELD, at_ms=START_MS),
            said.CancelDelivery(delivery_id=name, reason="no truck", at_ms=START_MS),
            said.AnnounceSettlement(
                delivery_id=name, authority_id="agency", reason="no word", at_ms=START_MS
            ),
            said.SettleDelivery(
                delivery_id=name,
                authority_id="agency",
                payment=said.WITHHELD,
                reason="no word",
                at_ms=START_MS + self.random.choice([0, 40 * DAY_MS]),
            ),
        ]
        action = self.random.choice(actions)
        for signer in (*self._hands(terms), "agency"):
            self._say(signer, action)

    def hand_over(self) -> None:
        trips = [trip for trip in self._trips if trip.deliveries]
        if not trips:
            return
        trip = self.random.choice(trips)
        terms = self._deliveries[self.random.choice(trip.deliveries)]
        giver, taker = self._hands(terms)[:2]
        hands = said.HandOver(
            trip_id=trip.trip_id,
            delivery_id=terms.delivery_id,
            site_id=self.random.choice(list(SITES)),
            from_party_id=giver,
            to_party_id=taker,
            at_ms=self._time(),
            quantity=self.random.choice([0, 0, 5, 10]),
            seal_numbers=self.random.choice([[], ["S1"], ["S2"]]),
            returned=giver == terms.buyer_id or taker == terms.seller_id,
        )
        for signer in self.random.choice([[giver, taker], [taker, giver], [giver]]):
            self._say(signer, hands)

    def transform(self) -> None:
        def lots(count: int) -> list[said.LotQuantity]:
            names = self.random.sample(["L1", "L2", "L3", "L4"], count)
            return [
                said.LotQuantity(gtin=self.random.choice(GTINS), lot=lot, quantity=10, unit="KGM")
                for lot in names
            ]

        maker = self.random.choice(["farm", "dairy"])
        self._say(
            maker,
            said.TransformLots(
                transformation_id=f"t{self.random.randint(1, 30)}",
                party_id=maker,
                site_id=self.random.choice(list(SITES)),
                inputs=lots(self.random.randint(0, 2)),
                outputs=lots(1),
                at_ms=self._time(),
            ),
        )

    def mark_lot(self) -> None:
        party = self.random.choice(["farm", "dairy", "agency"])
        self._say(
            party,
            said.SetLotStatus(
                party_id=party,
                gtin=GTINS[0],
                lot=f"L{self.random.randint(1, 3)}",
                status=self.random.choice(said.SetLotStatus.Status.keys()),
                reason="tested",
                at_ms=self._time(),
            ),
        )

    def pack(self) -> None:
        party = self.random.choice(["farm", "dairy", "haulier"])
        outer, inner = self.random.sample(UNITS, 2)
        self._say(
            party,
            said.PackUnit(
                party_id=party,
                sscc=outer,
                site_id=self.random.choice(list(SITES)),
                units=self.random.choice([[], [inner]]),
                at_ms=self._time(),
            ),
        )

    def certify(self) -> None:
        self._say(
            "agency",
            said.CertifyParty(
                party_id="agency",
                holder_id="haulier",
                kind="GDP",
                valid_from_ms=START_MS,
                valid_until_ms=self._time(),
                revoked=self.random.random() < STRANGE,
                at_ms=self._time(),
            ),
        )

    def rotate(self) -> None:
        party = self._party()
        names = [party, f"{party}'s second", f"{party}'s third"]
        change = said.RotateKeys(
            party_id=party,
            added=[key(each).public_key for each in self.random.sample(names, 1)],
            revoked=[],
        )
        gone = key(self.random.choice(names)).public_key
        if gone not in change.added:
            change.revoked.append(gone)
        self._say(self.random.choice(names), change)

    def replace_device(self) -> None:
        device, party = self.random.choice(list(DEVICES.items()))
        keys = self.random.choice([[device], [device, f"{device} new"], [f"{device} new"]])
        self._say(
            party,
            said.RegisterDevice(
                device_id=device,
                party_id=party,
                public_keys=[key(each).public_key for each in keys],
                calibrated_until_ms=self.random.choice([0, START_MS, START_MS * 2]),
            ),
        )

    def hold(self) -> None:
        if not self._trips:
            return
        trip_id = self.random.choice(self._trips).trip_id
        party, hold_id = self._party(), f"case-{self.random.randint(1, 2)}"
        at = self._time()
        actions: list[Action] = [
            said.PlaceHold(
                trip_id=trip_id, hold_id=hold_id, party_id=party, reason="claim", at_ms=at
            ),
            said.ReleaseHold(trip_id=trip_id, hold_id=hold_id, party_id=party, at_ms=at),
            said.CloseTrip(trip_id=trip_id, party_id=party, at_ms=at),
        ]
        self._say(party, self.random.choice(actions))
