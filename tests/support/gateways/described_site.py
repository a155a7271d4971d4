"""A site whose every route has something to answer, and how its routes are asked."""

import hashlib
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import httpx

from contracts.proto.payload_pb2 import PackUnit
from support.evidence.chain import digest_of
from support.gateways.described import Description, Route
from support.gateways.goods_site import goods_site
from support.network.world import START_MS, Trip, key, one, reading
from support.trucks.rogue import Site, nonce, until
from support.trucks.uploads import offer_of, send

CONTENT: Final = b"film" * 1000
VIDEO: Final = f"/v1/recordings/{hashlib.sha256(CONTENT).hexdigest()}/content"
_ALSO: Final = {"/v1/fsma204.xlsx": ("gtin", "lot")}
"""Parameters that a route needs together, though it could do without."""
_PALLET: Final = PackUnit(
    party_id="seller", sscc="340123450000000000", site_id="site-hub", at_ms=START_MS
)


@dataclass
class Scene:
    """A site after trips with and without video, and a client of each role."""

    site: Site
    described: Description
    clients: dict[str, httpx.Client] = field(default_factory=dict)

    def may(self, route: Route) -> str:
        """Return a role that may use a route."""
        return "device" if route.path.startswith("/v1/uploads") else "operator"


@contextmanager
def described_site(directory: Path) -> Iterator[Scene]:
    """Run the site; return once it has all of that."""
    with goods_site(directory) as goods:
        site = goods.site
        site.commit([one(key("seller-2"), _PALLET)])
        made = Scene(site, Description(site.ask("/openapi.json")))
        trip = Trip(nonce=nonce(70))
        *batches, video = trip.whole([reading(0)], [digest_of(CONTENT)])
        with site.device() as truck:
            for name, role in (("auditor", "auditor"), ("truck-1", "device")):
                made.clients[role] = site.client(name, role)
            made.clients["operator"] = site.operator
            truck.send(*batches)
            truck.ask(recordings=[offer_of(trip, CONTENT, video)])
            send(made.clients["device"], CONTENT)
            until("the receipt", lambda: site.offload(trip.trip_id)["receipted"])
        yield made


def ask(client: httpx.Client, route: Route, path: str, **options: Any) -> httpx.Response:  # noqa: ANN401 - httpx's
    headers = {"Tus-Resumable": "1.0.0"} if route.path.startswith("/v1/uploads") else {}
    return client.request(route.method, path, headers=headers, **options)


def harvest(answer: object, found: dict[str, list[str]]) -> None:
    """Gather what a JSON answer names."""
    if isinstance(answer, list):
        for each in answer:
            harvest(each, found)
    elif isinstance(answer, dict):
        for name, value in answer.items():
            if isinstance(value, str) and value:
                found[name].append(value)
            harvest(value, found)


@dataclass(frozen=True)
class Asked:
    """One question to a route, and its answer."""

    route: Route
    places: dict[str, str]
    query: dict[str, str]
    answer: httpx.Response


def ask_all(scene: Scene) -> Iterator[Asked]:
    """Ask every route but the one without an end, with names that earlier answers gave."""
    found: dict[str, list[str]] = defaultdict(list)
    for route in sorted(scene.described.routes(), key=lambda route: len(route.places)):
        if route.path == "/v1/changes":
            continue  # it has no end: see test_gateway_changes.py
        choices = [dict.fromkeys(route.places, "unknown")]
        if all(found[name] for name in route.places):
            last = {name: list(dict.fromkeys(found[name]))[-5:] for name in route.places}
            count = max(map(len, last.values()), default=1)
            choices += [
                {name: values[at % len(values)] for name, values in last.items()}
                for at in range(count)
            ]
        needed = {
            each["name"]: (found["trip_id" if each["name"] == "trip" else each["name"]] or ["x"])[0]
            for each in route.operation.get("parameters", [])
            if each["in"] == "query"
            and (each.get("required") or each["name"] in _ALSO.get(route.path, ()))
        }
        for values in choices:
            answer = ask(
                scene.clients[scene.may(route)], route, route.filled(values), params=needed
            )
            if answer.is_success and answer.headers.get("content-type") == "application/json":
                harvest(answer.json(), found)
            yield Asked(route, values, needed, answer)
        if answer.is_success and route.method == "GET" and "202" in route.operation["responses"]:
            path, client = route.filled(values), scene.clients[scene.may(route)]
            job = client.get(path, params=needed, headers={"Prefer": "respond-async"})
            yield Asked(route, values, needed, job)
            client.delete(job.headers.get("location", "/v1/jobs/none"))
