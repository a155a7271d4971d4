"""Exports of a real gateway: the same facts as over REST, on record, and for entitled readers."""

import csv
import hashlib
import io
import json
import re
from collections.abc import Iterator
from typing import Any, Final

import httpx
import openpyxl
import pytest
from cryptography.hazmat.primitives.serialization import Encoding

from gateway.exports.certificate.identity import identity_of
from gateway.exports.epcis.eventhash import with_id
from gateway.settings_file import load_settings
from support.gateways.goods_site import WARM, Scene, goods_site, reader
from support.gateways.jobs import job_of
from support.network.world import GTIN
from support.project.certificates import check_laid_out
from support.project.epcis import check_document, others_ids, without_disputed
from support.project.pdfs import qr_of, signed_by, text_of

pytestmark = pytest.mark.integration

NOBODYS: Final = "party:stranger"


@pytest.fixture(scope="module")
def scene(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scene]:
    with goods_site(tmp_path_factory.mktemp("exports")) as goods:
        yield goods


def taken(scene: Scene) -> set[tuple[str, str, tuple[str, ...]]]:
    """Return who took what of which subjects, by the record of accesses."""
    items = scene.ask("accesses?limit=1000")["items"]
    return {(each["who"], each["what"], tuple(each["subjects"])) for each in items}


@pytest.mark.parametrize("form", ["csv", "senml"])
def test_readings_leave_for_entitled_readers_alone_and_on_record(scene: Scene, form: str) -> None:
    path = f"/v1/trips/{scene.trip.trip_id}/readings.{form}"
    refused = reader(scene, NOBODYS).get(path)
    assert refused.status_code == 404, refused.text
    answer = reader(scene, "party:buyer").get(path)
    assert answer.status_code == 200, answer.text
    assert ("reader", "readings", (scene.trip.trip_id,)) in taken(scene)
    assert answer.headers["content-disposition"].startswith("attachment;")


def test_csv_and_senml_have_the_readings_that_rest_has(scene: Scene) -> None:
    items = scene.of_trip("/readings")["items"]
    lines = csv.DictReader(io.StringIO(scene.get(f"{trip(scene)}/readings.csv").text, newline=""))
    rows = [(each["device_id"], int(each["sequence"]), each["time"]) for each in lines]
    assert rows == [(each["device_id"], each["sequence"], each["time"]) for each in items]
    pack = json.loads(scene.get(f"{trip(scene)}/readings.senml").content)
    warm = [each["v"] for each in pack if each["n"] == "temperature"]
    assert warm == [each["temperature_cel"] for each in items]
    later = scene.get(f"{trip(scene)}/readings.csv?from={items[4]['time']}").text
    assert len(later.splitlines()) < len(rows) + 1


def test_the_certificate_of_a_trip_is_signed_and_leaves_on_record(scene: Scene) -> None:
    path = f"/v1/{trip(scene)}/certificate.pdf"
    refused = reader(scene, NOBODYS).get(path)
    assert refused.status_code == 404, refused.text
    answer = reader(scene, "party:buyer").get(path)
    assert answer.status_code == 200, answer.text
    assert answer.headers["content-type"] == "application/pdf"
    assert ("reader", "certificate", (scene.trip.trip_id,)) in taken(scene)
    settings = load_settings(scene.site.appliance.settings_file)
    signer = identity_of(settings).certificate.public_bytes(Encoding.DER)
    found = signed_by(answer.content, signer)
    assert (found.intact, found.whole, found.trusted) == (True, True, True)
    said = text_of(answer.content)
    assert "Genuine and complete, with 1 excursion" in said
    assert f"Temperature reached {WARM / 1000:g} °C" in said
    leads = qr_of(answer.content)
    assert leads.startswith(f"{scene.site.appliance.rest}/{trip(scene)}?block=")
    page = httpx.get(leads, trust_env=False)
    assert page.headers["content-type"].startswith("text/html")


def test_the_certificate_of_a_lot_is_signed_and_leaves_on_record(scene: Scene) -> None:
    asked = {"gtin": GTIN, "lot": "L42"}
    refused = reader(scene, NOBODYS).get("/v1/lot/certificate.pdf", params=asked)
    assert refused.status_code == 404, refused.text
    answer = reader(scene, "party:buyer").get("/v1/lot/certificate.pdf", params=asked)
    assert answer.status_code == 200, answer.text
    assert ("reader", "certificate", (f"{GTIN}/L42",)) in taken(scene)
    settings = load_settings(scene.site.appliance.settings_file)
    signer = identity_of(settings).certificate.public_bytes(Encoding.DER)
    found = signed_by(answer.content, signer)
    assert (found.intact, found.whole, found.trusted) == (True, True, True)
    leads = qr_of(answer.content)
    assert leads == f"{scene.site.appliance.rest}/lot?gtin={GTIN}&lot=L42"
    check_laid_out(answer.content)
    assert "M1" not in text_of(answer.content)  # the buyer has no part in what was made of it


def test_the_certificate_of_a_lot_says_what_rest_says(scene: Scene) -> None:
    asked = {"gtin": GTIN, "lot": "L42", "video": "false"}
    told = scene.site.operator.post("/v1/lot/verify", params=asked).json()
    assert told["outcome"] == "holds"
    answer = scene.get(f"lots/{GTIN}/L42/certificate.pdf")
    assert answer.status_code == 200, answer.text
    check_laid_out(answer.content)
    said = text_of(answer.content)
    for words in ("Genuine and complete, with", "1 excursion", scene.trip.trip_id, "holds"):
        assert words in said
    assert f"Temperature reached {WARM / 1000:g} °C" in said
    for each in scene.ask("deliveries/delivery-1/handovers")["items"]:
        assert f"{each['from_party_id']} to {each['to_party_id']}" in said
    sides = [scene.trace("L42")[side] for side in ("backward", "forward")]
    assert {each["lot"] for side in sides for each in side["lots"]} > {"L42", "M1"}
    for side in sides:
        assert all(each["lot"] in said for each in side["lots"])
        assert all(each["site_id"] in said for each in side["transformations"])
    for each in scene.ask("deliveries/delivery-1")["findings"]:
        assert each["detail"] in said


ASYNC: Final = {"Prefer": "respond-async"}
OF_A_TRIP: Final = ("readings.csv", "readings.senml", "epcis", "certificate.pdf")
OF_A_LOT: Final = ("epcis", "certificate.pdf")
KINDS: Final = (
    *("readings-csv", "readings-senml", "trip-epcis", "trip-certificate"),
    *("lot-epcis", "lot-certificate", "fsma204"),
)


def every_export(scene: Scene) -> list[tuple[str, str]]:
    """Return the path of each export, and the kind of its job."""
    of_lot = f"gtin={GTIN}&lot=L42"
    paths = [f"/v1/{trip(scene)}/{each}" for each in OF_A_TRIP]
    paths += [f"/v1/lot/{each}?{of_lot}" for each in OF_A_LOT]
    return list(zip([*paths, f"/v1/fsma204.xlsx?{of_lot}"], KINDS, strict=True))


@pytest.mark.parametrize("number", range(len(KINDS)), ids=KINDS)
def test_an_export_as_a_job_is_the_one_that_comes_at_once(scene: Scene, number: int) -> None:
    path, kind = every_export(scene)[number]
    name = f"taker-of-{kind}"
    buyer = reader(scene, "party:buyer", name=name)
    answer = buyer.get(path, headers=ASYNC)
    (subject,) = answer.json()["subjects"]
    what = {"epcis": "events", "csv": "readings", "senml": "readings", "fsma204": "spreadsheet"}
    word = kind.rpartition("-")[2]
    assert (name, what.get(word, word), (subject,)) in taken(scene)  # before anything leaves
    assert answer.headers["preference-applied"] == "respond-async"
    assert answer.headers["vary"] == "Prefer"
    job = job_of(buyer, answer)
    assert (job["kind"], job["state"], job["error"]) == (kind, "done", None)
    result = buyer.get(job["result"])
    assert hashlib.sha256(result.content).hexdigest() == job["sha256"]
    at_once = buyer.get(path)
    assert result.headers["content-type"] == at_once.headers["content-type"]
    assert result.headers["content-disposition"] == at_once.headers["content-disposition"]
    assert "Prefer" in at_once.headers["vary"]
    if kind.startswith("readings"):
        assert result.content == at_once.content
    elif kind.endswith("epcis"):
        assert events_of(result.json()) == events_of(at_once.json())
    elif kind.endswith("certificate"):
        assert without_times(text_of(result.content)) == without_times(text_of(at_once.content))
    else:
        sheets = sheets_of(result)
        assert sheets["Shipping"]
        assert sheets | {"About": []} == sheets_of(at_once) | {"About": []}
    rest = buyer.get(job["result"], headers={"Range": "bytes=9-"})
    assert (rest.status_code, rest.content) == (206, result.content[9:])
    assert buyer.delete(f"/v1/jobs/{job['job_id']}").status_code == 204


def without_times(text: str) -> str:
    """Return what a certificate says, whenever it was made."""
    return re.sub(r"[0-9]{2}:[0-9]{2}(:[0-9.]+)?", "", text)


@pytest.mark.parametrize("number", range(len(KINDS)), ids=KINDS)
def test_an_export_that_may_not_be_seen_makes_no_job(scene: Scene, number: int) -> None:
    stranger = reader(scene, NOBODYS)
    path, kind = every_export(scene)[number]
    assert stranger.get(path, headers=ASYNC).status_code == 404, kind
    assert stranger.get("/v1/jobs").json()["items"] == []


def test_a_spreadsheet_without_rows_says_so(scene: Scene) -> None:
    empty = scene.get("fsma204.xlsx?from=1999-01-01T00:00:00Z&to=1999-01-02T00:00:00Z")
    sheets = sheets_of(empty)
    assert [len(sheets[name]) for name in ("Shipping", "Receiving", "Transformation")] == [0, 0, 0]
    assert dict(sheets["About"])["Rows"].startswith("none: ")
    full = sheets_of(scene.get(f"fsma204.xlsx?gtin={GTIN}&lot=L42"))
    assert dict(full["About"])["Rows"][0].isdigit()


def test_readings_of_a_time_without_any_are_files_without_any(scene: Scene) -> None:
    asked = "from=1999-01-01T00:00:00Z&to=1999-01-02T00:00:00Z"
    lines = scene.get(f"{trip(scene)}/readings.csv?{asked}").text.splitlines()
    assert len(lines) == 1
    pack = scene.get(f"{trip(scene)}/readings.senml?{asked}").json()
    name = f"urn:wayseal:trip:{scene.trip.trip_id}:readings"
    assert pack == [{"n": name, "u": "count", "v": 0}]


def test_a_damaged_file_for_signing_is_told_as_the_gateways_fault(scene: Scene) -> None:
    path = load_settings(scene.site.appliance.settings_file).documents_file
    scene.get(f"{trip(scene)}/certificate.pdf")
    whole = path.read_bytes()
    path.write_bytes(b"none")
    answer = reader(scene, "party:buyer").get(f"/v1/{trip(scene)}/certificate.pdf")
    path.write_bytes(whole)
    assert answer.status_code == 503, answer.text
    assert "documents.pem: expected an unencrypted private key" in answer.json()["detail"]


def trip(scene: Scene) -> str:
    return f"trips/{scene.trip.trip_id}"


def events_of(document: Any) -> list[dict[str, Any]]:  # noqa: ANN401 - JSON
    check_document(document)
    body = document["epcisBody"]
    found = body.get("queryResults", {}).get("resultsBody", body)["eventList"]
    for event in found:
        assert with_id(event)["eventID"] == event["eventID"]
    compared = [with_id(without_disputed(event)) for event in found]
    assert others_ids(compared) == [event["eventID"] for event in compared]
    return list(found)


def test_a_trip_is_an_epcis_document_by_the_standard_s_schema(scene: Scene) -> None:
    answer = scene.get(f"{trip(scene)}/epcis")
    assert answer.headers["content-type"] == "application/ld+json"
    found = events_of(answer.json())
    steps = [event["bizStep"] for event in found]
    assert steps.count("loading") == steps.count("unloading") == 1
    assert [step for step in steps if step.endswith("ing")][-3:] == [
        "arriving",
        "sensor_reporting",
        "sensor_reporting",
    ]
    breach = found[-1]
    (alarm,) = breach["sensorElementList"][0]["sensorReport"]
    assert alarm == {
        "type": "Temperature",
        "maxValue": WARM / 1000,
        "uom": "CEL",
        "exception": "ALARM_CONDITION",
    }
    assert breach["persistentDisposition"] == {"set": ["non_conformant"]}
    assert breach["quantityList"][0]["epcClass"] == f"https://id.gs1.org/01/{GTIN}/10/L42"
    summary = found[-2]["sensorElementList"][0]["sensorReport"][0]
    values = [each["temperature_cel"] for each in scene.of_trip("/readings")["items"]]
    assert (summary["minValue"], summary["maxValue"]) == (min(values), max(values))


def test_a_lot_is_an_epcis_document_with_all_that_was_made(scene: Scene) -> None:
    found = events_of(scene.ask(f"lot/epcis?gtin={GTIN}&lot=L42"))
    made = [event for event in found if event["type"] == "TransformationEvent"]
    names = {event["transformationID"].rpartition(":")[2] for event in made}
    assert names >= {"mixing", "cooking", "serving"}
    begun = [event for event in found if event.get("action") == "ADD" and "quantityList" in event]
    assert any(event["bizStep"] == "commissioning" for event in begun)
    odd = f"https://id.gs1.org/01/{GTIN}/10/menu%2F7"
    assert any(odd == each["epcClass"] for event in made for each in event["outputQuantityList"])
    assert scene.get(f"lot/epcis?gtin={GTIN}&lot=nothing").status_code == 404


def every_event(client: httpx.Client, query: str) -> list[dict[str, Any]]:
    """Return all events of a query, page by page."""
    url, found = f"/v1/epcis/events?{query}", []
    while url:
        answer = client.get(url)
        assert answer.status_code == 200, answer.text
        assert answer.headers["gs1-epcis-version"] == "2.0"
        found += events_of(answer.json())
        url = answer.links.get("next", {}).get("url", "")
    return found


def test_events_are_the_same_by_pages_of_any_length(scene: Scene) -> None:
    operator = scene.site.operator
    whole = every_event(operator, "perPage=1000")
    assert every_event(operator, "perPage=3") == whole
    ids = [event["eventID"] for event in whole]
    assert len(ids) == len(set(ids)) > 9
    document = events_of(scene.ask(f"{trip(scene)}/epcis"))
    assert [each for each in whole if each in document] == document


def test_queries_take_what_they_ask_for(scene: Scene) -> None:
    operator = scene.site.operator
    whole = every_event(operator, "perPage=1000")
    departed = every_event(operator, "EQ_bizStep=departing|arriving")
    assert departed == [each for each in whole if each["bizStep"] in ("departing", "arriving")]
    moment = departed[-1]["eventTime"]
    late = every_event(operator, f"GE_eventTime={moment}")
    early = every_event(operator, f"LT_eventTime={moment}")
    assert len(late) + len(early) == len(whole)
    assert all(each["eventTime"] >= moment for each in late)
    of_lot = every_event(operator, f"MATCH_anyEPCClass=https://id.gs1.org/01/{GTIN}/10/L42")
    assert {each["bizStep"] for each in of_lot} >= {"departing", "loading", "commissioning"}
    assert all("L42" in json.dumps(each) for each in of_lot)
    assert every_event(operator, "eventType=AggregationEvent") == []


@pytest.mark.parametrize(
    ("query", "status"),
    [
        ("nextPageToken=x", 400),
        ("nextPageToken=trips.99999999999999999999.1", 400),
        ("nextPageToken=trips.%C2%B2.1", 400),
        ("GE_eventTime=yesterday", 422),
        ("MATCH_anyEPCClass=urn:x", 422),
        ("perPage=0", 422),
        ("orderBy=eventTime", 422),
    ],
)
def test_a_query_that_cannot_be_answered_is_refused(scene: Scene, query: str, status: int) -> None:
    answer = scene.get(f"epcis/events?{query}")
    assert answer.status_code == status, answer.text
    assert answer.headers["content-type"] == "application/problem+json"


def test_events_are_for_entitled_readers_alone_and_on_record(scene: Scene) -> None:
    stranger = reader(scene, NOBODYS)
    assert every_event(stranger, "perPage=1000") == []
    assert stranger.get(f"/v1/{trip(scene)}/epcis").status_code == 404
    assert stranger.get(f"/v1/lot/epcis?gtin={GTIN}&lot=L42").status_code == 404
    buyer = reader(scene, "party:buyer")
    seen = every_event(buyer, "perPage=1000")
    assert not any(each["type"] == "TransformationEvent" for each in seen)
    assert buyer.get(f"/v1/{trip(scene)}/epcis").status_code == 200
    assert ("reader", "events", (scene.trip.trip_id,)) in taken(scene)


def sheets_of(answer: httpx.Response) -> dict[str, list[tuple[Any, ...]]]:
    assert answer.status_code == 200, answer.text
    book = openpyxl.load_workbook(io.BytesIO(answer.content))
    return {
        sheet.title: list(sheet.iter_rows(min_row=2, values_only=True)) for sheet in book.worksheets
    }


def test_the_spreadsheet_of_a_lot_has_its_shipping_receiving_and_making(scene: Scene) -> None:
    found = sheets_of(scene.get(f"fsma204.xlsx?gtin={GTIN}&lot=L42"))
    code = f"(01){GTIN}(10)L42"
    assert [row[0] for row in found["Shipping"]] == [code]
    assert [row[0] for row in found["Receiving"]] == [code]
    names = {name: scene.ask(f"parties/{name}")["name"] for name in ("seller", "buyer")}
    assert found["Shipping"][0][9] == names["buyer"]
    assert found["Receiving"][0][9] == names["seller"]
    assert {row[0] for row in found["Transformation"]} >= {"mixing", "cooking", "serving"}
    about = dict(found["About"])
    assert re.fullmatch("[0-9]+, [0-9a-f]{128}", about["Newest block of the ledger"])
    subjects = (f"lot L42 of GTIN {GTIN}",)
    assert ("spreadsheet", subjects) in {(what, named) for _, what, named in taken(scene)}


def test_the_spreadsheet_of_a_time_has_what_changed_hands_then(scene: Scene) -> None:
    whole = sheets_of(scene.get("fsma204.xlsx?from=2000-01-01T00:00:00Z&to=2100-01-01T00:00:00Z"))
    assert len(whole["Shipping"]) == len(whole["Receiving"]) == 1
    assert len(whole["Transformation"]) > 9
    early = sheets_of(scene.get("fsma204.xlsx?from=2000-01-01T00:00:00Z&to=2000-01-02T00:00:00Z"))
    assert early["Shipping"] == early["Receiving"] == early["Transformation"] == []


@pytest.mark.parametrize("query", ["", "?gtin=1", "?from=2000-01-01T00:00:00Z"])
def test_a_spreadsheet_of_everything_is_refused(scene: Scene, query: str) -> None:
    answer = scene.get(f"fsma204.xlsx{query}")
    assert (answer.status_code, "from and to" in answer.json()["detail"]) == (422, True)


def test_a_spreadsheet_shows_entitled_readers_theirs_alone(scene: Scene) -> None:
    span = "fsma204.xlsx?from=2000-01-01T00:00:00Z&to=2100-01-01T00:00:00Z"
    nothing = sheets_of(reader(scene, NOBODYS).get(f"/v1/{span}"))
    assert nothing["Shipping"] == nothing["Receiving"] == nothing["Transformation"] == []
    buyers = sheets_of(reader(scene, "party:buyer").get(f"/v1/{span}"))
    assert (len(buyers["Receiving"]), buyers["Transformation"]) == (1, [])
