"""A site after one trip by two trucks, with all that parties may say about it."""

import io
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import httpx

from contracts.actions.payload import FAMILIES, decode
from contracts.actions.table import Action
from contracts.evidence.container import EvidenceReader, Part, parse_part
from contracts.proto.payload_pb2 import (
    AcceptDelivery,
    RotateKeys,
)
from contracts.proto.sawtooth_pb2 import Batch
from contracts.runtime.clienttls import usual_trust
from contracts.sawtooth.batches import Family, parse_header
from gateway.access import Role, Tokens
from gateway.grants import parse_grants
from gateway.settings_file import load_settings
from support.network.goods import closed, companion, hold, made, newcomers, released
from support.network.world import GTIN, START_MS, Trip, handovers, key, one, reading
from support.trucks.rogue import Site, nonce, running_site, until

WARM: Final = 9000
TEMPERATURES: Final = [5000, *[WARM] * 6, 5000, 5000]
ACCEPT: Final = AcceptDelivery(delivery_id="delivery-1", at_ms=START_MS)
ROTATE: Final = RotateKeys(
    party_id="seller", added=[key("seller-2").public_key], revoked=[key("seller").public_key]
)


@dataclass
class Scene:
    """A site after one trip by two trucks, with all that parties may say about it."""

    site: Site
    trip: Trip
    driven: list[Batch]

    def ask(self, path: str) -> Any:  # noqa: ANN401 - JSON
        return self.site.ask(f"/v1/{path}")

    def get(self, path: str) -> httpx.Response:
        return self.site.operator.get(f"/v1/{path}")

    def of_trip(self, path: str = "") -> Any:  # noqa: ANN401 - JSON
        return self.ask(f"trips/{self.trip.trip_id}{path}")

    def trace(self, lot: str, query: str = "") -> Any:  # noqa: ANN401 - JSON
        return self.ask(f"lots/{GTIN}/{lot}/trace{query}")

    def exported(self, query: str = "") -> list[Action]:
        """Return all actions in the trip's evidence."""
        answer = self.get(f"evidence?trip={self.trip.trip_id}{query}")
        assert answer.is_success, answer.text
        batches = [
            parse_part(Batch, payload)
            for part, payload in EvidenceReader(io.BytesIO(answer.content)).frames()
            if part is Part.BATCH
        ]
        return [
            decode(each.payload)
            for batch in batches
            for each in batch.transactions
            if Family.of(parse_header(each)) in FAMILIES  # blocks begin with their time
        ]


def driven(trip: Trip) -> list[Batch]:
    """Return a trip in batches, its readings alone and in a run."""
    values = [reading(at, value) for at, value in enumerate(TEMPERATURES)]
    signed = [trip.sign(trip.start), trip.record(values[0]), trip.run(values[1:8])]
    signed += [trip.record(values[8]), trip.seal()]
    return trip.batches(signed, 3)


def told(trip_id: str) -> list[Batch]:
    """Return what parties say once the trip is over."""
    return [
        *handovers(trip_id),
        one(key("buyer"), ACCEPT),
        closed(trip_id, "buyer"),
        hold(trip_id, "case-17", "customs"),
        hold(trip_id, "case-18", "customs"),
        released(trip_id, "case-18", "customs"),
        made("cooking", "kitchen", ["L42"], ["P1", "P2"]),
        made("serving", "kitchen", ["P2"], ["menu/7"]),
        one(key("seller"), ROTATE),
    ]


@contextmanager
def goods_site(directory: Path) -> Iterator[Scene]:
    """Run the site; return once it has all of that."""
    with running_site(directory) as site:
        site.commit(newcomers())
        site.commit(
            [
                made("milking", "seller", [], ["M1", "M2"]),
                made("mixing", "seller", ["M1", "sugar"], ["L42"]),
                made("churning", "seller", ["M2"], ["B1"]),
            ]
        )
        trip = Trip(nonce=nonce(1), others=["truck-2"], via=["site-hub"])
        scene = Scene(site, trip, driven(trip))
        beside = companion(trip, "truck-2", [reading(at) for at in range(3)])
        with site.device() as first, site.device("truck-2") as second:
            assert len(first.send(*scene.driven).batch_ids) == len(scene.driven)
            until("the first truck", lambda: site.offload(trip.trip_id)["receipted"])
            assert list(second.send(beside).batch_ids) == [beside.header_signature]
            assert second.receipt().signature
        site.commit(told(trip.trip_id))
        until("the last word", lambda: bool(scene.ask("parties/seller")["revoked_keys"]))
        yield scene


def reader(scene: Scene, *grants: str, name: str = "reader") -> httpx.Client:
    """Return a client whose token has grants."""
    tokens = Tokens(load_settings(scene.site.appliance.settings_file).tokens_file)
    token = tokens.add(name, Role.AUDITOR, grants=parse_grants(grants))
    client = httpx.Client(
        base_url=scene.site.appliance.rest,
        headers={"Authorization": f"Bearer {token}"},
        trust_env=False,
        timeout=30,
        verify=usual_trust(scene.site.appliance.rest),
    )
    scene.site.clients.append(client)
    return client
