"""What an auditor sees of goods: lots traced, deliveries to their end, runs, keys, holds."""

import io
import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import urlencode

import httpx
import pytest

from contracts.evidence.container import Part, parse_part, read_frames
from contracts.payload import Action, decode
from contracts.proto.payload_pb2 import AcceptDelivery, RotateKeys, TransformLots
from contracts.proto.sawtooth_pb2 import Batch
from contracts.records.clock import moment
from support.goods import closed, companion, hold, made, newcomers, released
from support.lots import GTIN
from support.pages import ROOT, code_lines
from support.rogue import Site, nonce, until
from support.world import START_MS, STEP_MS, Trip, handovers, key, one, reading

pytestmark = pytest.mark.integration

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
            for part, payload in read_frames(io.BytesIO(answer.content))
            if part is Part.BATCH
        ]
        return [decode(each.payload) for batch in batches for each in batch.transactions]


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


@pytest.fixture(scope="module")
def scene(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scene]:
    site = Site(tmp_path_factory.mktemp("goods"))
    try:
        site.start()
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
    finally:
        site.stop()


def test_readings_of_a_run_are_listed_like_single_ones(scene: Scene) -> None:
    items = scene.of_trip("/readings")["items"]
    mine = [item for item in items if item["device_id"] == "truck-1"]
    assert [item["sequence"] for item in mine] == list(range(9))
    assert [item["temperature_cel"] for item in mine] == [each / 1000 for each in TEMPERATURES]
    assert mine[4]["time"] == moment(START_MS + 4 * STEP_MS).isoformat().replace("+00:00", "Z")
    first, second = (batch.transactions for batch in scene.driven)
    ids = [first[1], *[first[2]] * 7, second[0]]
    assert [item["transaction_id"] for item in mine] == [each.header_signature for each in ids]
    assert [item["sequence"] for item in items if item["device_id"] == "truck-2"] == [0, 1, 2]


def test_readings_of_a_run_are_counted(scene: Scene) -> None:
    assert scene.of_trip()["readings"] == 12
    visits = [item for item in scene.ask("offloads") if item["trip_id"] == scene.trip.trip_id]
    counts = {item["device_id"]: item["readings"]["committed"] for item in visits}
    assert counts == {"truck-1": 9, "truck-2": 3}
    assert all(item["receipted"] for item in visits)


def test_a_trip_shows_devices_sites_close_and_holds(scene: Scene) -> None:
    trip = scene.of_trip()
    assert (trip["device_id"], trip["other_device_ids"]) == ("truck-1", ["truck-2"])
    assert trip["via_site_ids"] == ["site-hub"]
    assert trip["party_ids"] == ["buyer", "carrier", "seller"]
    assert trip["closed"]["party_id"] == "buyer"
    assert trip["holds"] == 1
    assert sorted(seal["device_id"] for seal in trip["seals"]) == ["truck-1", "truck-2"]


def test_holds_are_listed_with_those_released(scene: Scene) -> None:
    found = scene.of_trip("/holds")["items"]
    assert [(item["hold_id"], item["released_at"] is None) for item in found] == [
        ("case-17", True),
        ("case-18", False),
    ]
    assert (found[0]["party_id"], found[0]["reason"]) == ("customs", "inquiry")
    page = scene.of_trip("/holds?limit=1")
    assert scene.of_trip(f"/holds?cursor={page['next_cursor']}")["items"] == found[1:]
    assert scene.get(f"trips/{'0' * 32}/holds").status_code == 404


def test_a_delivery_shows_how_it_ended(scene: Scene) -> None:
    found = scene.ask("deliveries/delivery-1")
    assert (found["status"], found["payment"], found["custodian_id"]) == (
        "accepted",
        "released",
        "buyer",
    )
    assert found["payment_terms_sha256"] == "00" * 32
    assert found["price_sha256"] is None
    assert (found["dispute"], found["closing"]) == (None, None)
    assert found["breaches"] == 1
    (breach,) = scene.ask("deliveries/delivery-1/breaches")["items"]
    assert [breach] == scene.of_trip("/breaches")["items"]
    assert breach["trip_id"] == scene.trip.trip_id
    assert (breach["first_sequence"], breach["last_sequence"]) == (1, 6)
    assert scene.get("deliveries/none/breaches").status_code == 404


def test_a_party_shows_roles_and_keys(scene: Scene) -> None:
    found = scene.ask("parties/seller")
    assert found["roles"] == ["seller"]
    assert found["public_keys"] == [key("seller-2").public_key]
    assert found["revoked_keys"] == [key("seller").public_key]
    assert scene.ask("parties/customs")["roles"] == ["authority"]
    assert scene.ask("parties/customs")["revoked_keys"] == []


def names(side: Any) -> dict[str, int]:  # noqa: ANN401 - JSON
    """Return the lots of one side of a trace, and how far each is."""
    return {lot["lot"]: lot["steps"] for lot in side["lots"]}


def test_a_lot_is_traced_to_its_sources_and_to_all_that_it_reached(scene: Scene) -> None:
    found = scene.trace("L42")
    assert names(found["backward"]) == {"L42": 0, "M1": 1, "sugar": 1}
    made_by = [each["transformation_id"] for each in found["backward"]["transformations"]]
    assert made_by == ["mixing", "milking"]
    assert names(found["forward"]) == {"L42": 0, "P1": 1, "P2": 1, "menu/7": 2}
    for side in (found["backward"], found["forward"]):
        assert (side["complete"], side["cut_at"], side["left_out"]) == (True, [], [])


def test_a_trace_tells_deliveries_trips_and_breaches(scene: Scene) -> None:
    side = scene.trace("M1", "?direction=forward")["forward"]
    lots = {lot["lot"]: lot for lot in side["lots"]}
    assert lots["L42"]["delivery_ids"] == ["delivery-1"]
    assert lots["M1"]["delivery_ids"] == []
    assert (lots["M1"]["party_id"], lots["M1"]["made"], lots["M1"]["used"]) == ("seller", 1, 1)
    (delivery,) = side["deliveries"]
    assert (delivery["delivery_id"], delivery["status"]) == ("delivery-1", "accepted")
    assert delivery["breaches"] == 1
    assert delivery["trips"] == [{"trip_id": scene.trip.trip_id, "breaches": 1, "tampers": 0}]


def test_a_lot_that_nobody_made_is_found(scene: Scene) -> None:
    (mixing,) = scene.trace("sugar")["forward"]["transformations"][:1]
    assert [finding["rule"] for finding in mixing["findings"]] == ["lot-unknown"]
    assert mixing == scene.ask("transformations/mixing")
    sugar = scene.trace("sugar")["backward"]["lots"][0]
    assert (sugar["party_id"], sugar["made"], sugar["used"]) == (None, 0, 1)


def test_a_trace_takes_one_direction_and_lots_with_a_slash(scene: Scene) -> None:
    found = scene.trace("menu/7", "?direction=backward")
    assert found["forward"] is None
    assert names(found["backward"])["M1"] == 3
    assert scene.trace("menu%2F7", "?direction=backward") == found


def test_a_trace_that_is_cut_says_where_to_go_on(scene: Scene) -> None:
    side = scene.trace("M1", "?direction=forward&limit=1")["forward"]
    assert names(side) == {"M1": 0, "L42": 1}
    assert (side["complete"], side["left_out"]) == (False, ["transformations"])
    assert side["cut_at"] == [{"gtin": GTIN, "lot": "L42"}]


@pytest.mark.parametrize("query", ["limit=0", "limit=1001", "direction=up"])
def test_a_trace_asked_badly_is_422(scene: Scene, query: str) -> None:
    answer = scene.get(f"lots/{GTIN}/L42/trace?{query}")
    assert answer.status_code == 422
    assert query.split("=", maxsplit=1)[0] in answer.json()["detail"]


@pytest.mark.parametrize("lot", ["menu/7", "L42"])
def test_the_query_names_a_lot_as_the_path_does(scene: Scene, lot: str) -> None:
    named = {"gtin": GTIN, "lot": lot}
    assert scene.ask(f"lot?{urlencode(named)}") == scene.ask(f"lots/{GTIN}/{lot}")
    query = urlencode(named | {"direction": "backward", "limit": 1})
    assert scene.ask(f"trace?{query}") == scene.trace(lot, "?direction=backward&limit=1")
    assert scene.get(f"lot?gtin={GTIN}").status_code == 422
    assert scene.get(f"trace?gtin={GTIN}&lot=none").status_code == 404


def test_what_is_not_on_the_ledger_is_404(scene: Scene) -> None:
    for path in (f"lots/{GTIN}/none/trace", f"lots/{GTIN}/none", "transformations/none"):
        answer = scene.get(path)
        assert answer.status_code == 404
        assert "none" in answer.json()["detail"]


def test_lots_and_transformations_are_listed(scene: Scene) -> None:
    lots = {item["lot"] for item in scene.ask("lots")["items"]}
    assert lots == {"L42", "M1", "M2", "B1", "sugar", "P1", "P2", "menu/7"}
    listed = [item["transformation_id"] for item in scene.ask("transformations")["items"]]
    assert listed == ["milking", "mixing", "churning", "cooking", "serving"]
    assert scene.ask(f"lots/{GTIN}/P1") == []
    assert [each["delivery_id"] for each in scene.ask(f"lots/{GTIN}/L42")] == ["delivery-1"]


def test_evidence_holds_what_led_to_the_lots_and_what_parties_said(scene: Scene) -> None:
    actions = scene.exported()
    ways = [each.transformation_id for each in actions if isinstance(each, TransformLots)]
    assert ways == ["milking", "mixing"]
    kinds = {type(action).__name__ for action in actions}
    assert kinds >= {
        "RecordRun",
        "RotateKeys",
        "AcceptDelivery",
        "CloseTrip",
        "PlaceHold",
        "ReleaseHold",
    }


def test_evidence_without_lots_holds_no_transformation(scene: Scene) -> None:
    actions = scene.exported("&lots=false")
    assert not any(isinstance(action, TransformLots) for action in actions)


def test_the_evidence_of_all_this_holds(scene: Scene) -> None:
    answer = scene.site.operator.post(f"/v1/trips/{scene.trip.trip_id}/verify")
    assert answer.json()["problems"] == []
    assert answer.json()["verdict"] == "holds"


ASK: Final = "ask() {"
TOLD: Final = [
    [[0, GTIN, "L42", "seller"], [1, GTIN, "M1", "seller"], [1, GTIN, "sugar", None]],
    [
        [0, GTIN, "L42", ["delivery-1"]],
        [1, GTIN, "P1", []],
        [1, GTIN, "P2", []],
        [2, GTIN, "menu/7", []],
    ],
    [["cooking", "kitchen", ["L42"], ["P1", "P2"]], ["serving", "kitchen", ["P2"], ["menu/7"]]],
    [["delivery-1", "accepted"]],
    [Trip(nonce=nonce(1)).trip_id],
    [[True, [], []]],
]
"""What the lines of docs/auditor.md about traces print here, in order."""


def test_the_auditors_page_tells_what_to_type(scene: Scene) -> None:
    assert shutil.which("jq"), "scripts/packages jq"
    lines = list(code_lines(ROOT / "docs" / "auditor.md"))
    (ask,) = (line for line in lines if line.startswith(ASK))
    traces = [line for line in lines if "/trace" in line]
    assert len(traces) == len(TOLD)
    token = scene.site.appliance.token("auditor-1", "auditor")
    variables = os.environ | {"TOKEN": token, "GATEWAY": scene.site.appliance.rest}
    for line, expected in zip(traces, TOLD, strict=True):
        done = subprocess.run(  # noqa: S603 - what our own page says
            ["/bin/bash", "-euo", "pipefail", "-c", f"{ask}\n{line}"],
            capture_output=True,
            check=True,
            env=variables,
            text=True,
        )
        printed = [json.loads(said) for said in done.stdout.splitlines()]
        assert printed == expected, line


@pytest.mark.parametrize("lot", ["..", "a/trace", "a/../b", "?x=1&lot=2#"])
def test_a_lot_that_no_path_can_hold_is_named_in_the_query(scene: Scene, lot: str) -> None:
    scene.site.commit([made(f"odd-{lot.encode().hex()}", "kitchen", [], [lot])])
    query = urlencode({"gtin": GTIN, "lot": lot})
    until("the lot", lambda: scene.get(f"lot?{query}").is_success)
    assert scene.ask(f"lot?{query}") == []
    assert names(scene.ask(f"trace?{query}")["backward"]) == {lot: 0}
