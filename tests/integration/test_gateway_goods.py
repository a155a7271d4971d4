"""What an auditor sees of goods: traced lots, finished deliveries, runs, keys, holds."""

import io
import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from typing import Any, Final
from urllib.parse import urlencode

import pytest

from contracts.evidence.report import as_json
from contracts.evidence.verify import verify_evidence
from contracts.evidence.words import as_text
from contracts.proto.payload_pb2 import (
    CertifyParty,
    LotQuantity,
    SetLotStatus,
    TransformLots,
)
from contracts.records.clock import rfc3339
from support.gateways.goods_site import TEMPERATURES, Scene, goods_site
from support.network.goods import SSCC, goods, made
from support.network.world import GTIN, START_MS, STEP_MS, Trip, key, one, reading
from support.project.pages import ROOT, code_lines
from support.trucks.rogue import nonce, until

pytestmark = pytest.mark.integration


@pytest.fixture(scope="module")
def scene(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scene]:
    with goods_site(tmp_path_factory.mktemp("goods")) as driven:
        yield driven


def test_readings_of_a_run_are_listed_like_single_ones(scene: Scene) -> None:
    items = scene.of_trip("/readings")["items"]
    mine = [item for item in items if item["device_id"] == "truck-1"]
    assert [item["sequence"] for item in mine] == list(range(9))
    assert [item["temperature_cel"] for item in mine] == [each / 1000 for each in TEMPERATURES]
    assert mine[4]["time"] == rfc3339(START_MS + 4 * STEP_MS)
    first, second = (batch.transactions for batch in scene.driven)
    ids = [first[1], *[first[2]] * 7, second[0]]
    assert [item["transaction_id"] for item in mine] == [each.header_signature for each in ids]
    assert [item["sequence"] for item in items if item["device_id"] == "truck-2"] == [0, 1, 2]


def test_readings_of_a_run_are_counted(scene: Scene) -> None:
    assert scene.of_trip()["readings"] == 12
    visits = [
        item for item in scene.ask("offloads")["items"] if item["trip_id"] == scene.trip.trip_id
    ]
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
    assert made_by == ["made-for-delivery-1", "mixing", "milking"]
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
    first, *later = listed
    assert first == "made-for-delivery-1"
    assert later == ["milking", "mixing", "churning", "cooking", "serving"]
    unsold, sold = scene.ask(f"lots/{GTIN}/P1"), scene.ask(f"lots/{GTIN}/L42")
    assert unsold["deliveries"] == []
    assert [each["delivery_id"] for each in sold["deliveries"]] == ["delivery-1"]
    assert sold["deliveries"] == [scene.ask("deliveries/delivery-1")]
    assert (sold["lot"], sold["party_id"], sold["made"], sold["status"]) == (
        "L42",
        "seller",
        101,
        None,
    )


def test_evidence_holds_what_led_to_the_lots_and_what_parties_said(scene: Scene) -> None:
    actions = scene.exported()
    ways = [each.transformation_id for each in actions if isinstance(each, TransformLots)]
    assert ways == ["made-for-delivery-1", "milking", "mixing"]
    kinds = {type(action).__name__ for action in actions}
    assert kinds >= {
        "RecordRun",
        "RotateKeys",
        "AcceptDelivery",
        "CloseTrip",
        "PlaceHold",
        "ReleaseHold",
    }


def test_evidence_without_lots_holds_the_delivered_lots_and_not_their_sources(
    scene: Scene,
) -> None:
    actions = scene.exported("&lots=false")
    ways = [each for each in actions if isinstance(each, TransformLots)]
    assert all("L42" in {lot.lot for lot in (*each.inputs, *each.outputs)} for each in ways)
    assert "made-for-delivery-1" in {each.transformation_id for each in ways}


def test_the_evidence_of_all_this_holds(scene: Scene) -> None:
    answer = scene.site.operator.post(f"/v1/trips/{scene.trip.trip_id}/verify")
    assert answer.json()["problems"] == []
    assert answer.json()["verdict"] == "holds"


ASK: Final = "ask() {"
TOLD: Final = [
    [None, ["delivery-1"]],
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
"""What the lines of docs/auditor.md about lots print here, in order."""


def test_the_auditors_page_tells_what_to_type(scene: Scene) -> None:
    assert shutil.which("jq"), "scripts/packages jq"
    lines = list(code_lines(ROOT / "docs" / "auditor.md"))
    (ask,) = (line for line in lines if line.startswith(ASK))
    asked = [line for line in lines if "lots/0" in line]
    assert len(asked) == len(TOLD)
    token = scene.site.appliance.token("auditor-1", "auditor")
    variables = os.environ | {"TOKEN": token, "GATEWAY": scene.site.appliance.rest}
    for line, expected in zip(asked, TOLD, strict=True):
        done = subprocess.run(  # noqa: S603 - what our own page says
            ["/bin/bash", "-euo", "pipefail", "-c", f"{ask}\n{line}"],
            capture_output=True,
            check=True,
            env=variables,
            text=True,
        )
        printed = [json.loads(said) for said in done.stdout.splitlines()]
        assert printed == expected, line


@pytest.mark.parametrize("lot", ["..", "a/trace", "a/../b", "?x=1&lot=2%"])
def test_a_lot_that_no_path_can_hold_is_named_in_the_query(scene: Scene, lot: str) -> None:
    scene.site.commit([made(f"odd-{lot.encode().hex()}", "kitchen", [], [lot])])
    query = urlencode({"gtin": GTIN, "lot": lot})
    until("the lot", lambda: scene.get(f"lot?{query}").is_success)
    assert scene.ask(f"lot?{query}")["deliveries"] == []
    assert names(scene.ask(f"trace?{query}")["backward"]) == {lot: 0}


CERTIFIED: Final = CertifyParty(
    party_id="customs",
    holder_id="carrier",
    kind="GDP",
    valid_from_ms=START_MS,
    valid_until_ms=START_MS + 86_400_000,
    at_ms=START_MS,
)


def test_a_recall_of_a_lot_that_nothing_else_names_is_told(scene: Scene) -> None:
    recall = SetLotStatus(
        party_id="customs",
        gtin=GTIN,
        lot="smuggled",
        status=SetLotStatus.RECALLED,
        reason="no papers",
        at_ms=START_MS,
    )
    scene.site.commit([one(key("customs"), recall)])
    until("the recall", lambda: scene.get(f"lots/{GTIN}/smuggled").is_success)
    shown = scene.ask(f"lots/{GTIN}/smuggled")
    assert (shown["status"]["status"], shown["status"]["party_id"]) == ("recalled", "customs")
    assert (shown["party_id"], shown["deliveries"]) == (None, [])
    assert {"gtin": GTIN, "lot": "smuggled"} in scene.ask("lots?limit=1000")["items"]


def test_a_plus_in_a_query_that_came_as_a_blank_is_told(scene: Scene) -> None:
    for question in ("lot", "trace"):
        said = scene.get(f"{question}?gtin={GTIN}&lot=A+B")
        assert said.status_code == 404
        assert "write it as %2B" in said.json()["detail"]
    assert "%2B" not in scene.get(f"lot?gtin={GTIN}&lot=A%2BB").json()["detail"]


def test_the_goods_of_a_delivery_are_shown_and_proved(scene: Scene) -> None:
    signer = key("seller-2")
    terms = goods("delivery-goods", "G1", 1)
    making = TransformLots(
        transformation_id="making-g1",
        party_id="seller",
        site_id="site-seller",
        outputs=[LotQuantity(gtin=GTIN, lot="G1", quantity=1, unit="C62")],
        at_ms=START_MS,
    )
    scene.site.commit([one(signer, making), one(key("customs"), CERTIFIED), one(signer, terms)])
    path = f"deliveries/{terms.delivery_id}"
    until("the offer", lambda: scene.get(path).is_success)
    offered = scene.ask(path)
    assert offered["findings"] == []
    assert [each["held"] for each in offered["required_certificates"]] == [None, None]

    recall = SetLotStatus(
        party_id="seller",
        gtin=GTIN,
        lot="G1",
        status=SetLotStatus.RECALLED,
        reason="listeria",
        at_ms=START_MS,
    )
    trip = Trip(nonce=nonce(2), deliveries=[terms.delivery_id], number=2)
    scene.site.commit(
        [one(key("buyer"), terms), *trip.whole([reading(0), reading(1)]), one(signer, recall)]
    )
    until("the trip", lambda: scene.get(f"trips/{trip.trip_id}").is_success)
    until("the recall", lambda: scene.trace("G1")["backward"]["lots"][0]["status"] is not None)
    recalled = {"status": "recalled", "party_id": "seller", "reason": "listeria"}
    shown = scene.ask(f"lots/{GTIN}/G1")
    assert shown["status"] == recalled | {"at": rfc3339(START_MS)}
    assert shown["status"] == scene.trace("G1")["backward"]["lots"][0]["status"]
    found = scene.ask(path)
    assert shown["deliveries"] == [found]
    item = {"gtin": GTIN, "lot": "G1", "product": "milk", "quantity": 1, "unit": "C62"}
    assert found["items"] == [item, item | {"lot": "ghost"}]
    assert found["units"] == [SSCC]
    carrier, seller = found["required_certificates"]
    assert (seller["holder_id"], seller["held"]) == ("seller", [])
    (held,) = carrier["held"]
    assert (held["authority_id"], held["revoked"]) == ("customs", False)
    assert held["valid_until"] == "2025-06-16T15:06:40.000Z"
    told = [(each["rule"], each["detail"]) for each in found["findings"]]
    assert told == [
        ("lot-unknown", f"nobody is on record as the maker of lot {GTIN}:ghost"),
        ("unit-unknown", f"nobody is on record as the packer of unit {SSCC}"),
        ("certificate-missing", "seller holds no certificate 'GDP'"),
    ]
    for query in ("", "&lots=false"):
        evidence = scene.get(f"evidence?trip={trip.trip_id}{query}")
        verdict = verify_evidence(io.BytesIO(evidence.content), None, [])
        assert verdict.problems == []
        ((delivery,),) = (each["deliveries"] for each in as_json(verdict)["trips"])
        assert (delivery["items"], delivery["units"]) == (found["items"], [SSCC])
        proved = [each["held"] for each in delivery["required_certificates"]]
        assert [[each["authority_id"] for each in held] for held in proved] == [["customs"], []]
        assert [(each["rule"], each["detail"]) for each in delivery["findings"]] == told
        assert f"  lot {GTIN}:G1 recalled by seller" in as_text(verdict)
