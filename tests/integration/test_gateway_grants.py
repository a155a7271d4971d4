"""What readers with grants see and what is written of it, search, readings in buckets, and jobs."""

import base64
import hashlib
import io
import json
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Final

import httpx
import pytest

from contracts.evidence.verify import verify_evidence
from gateway.access import Role, Tokens
from gateway.settings_file import load_settings
from support.gateways.goods_site import Scene, goods_site, reader
from support.gateways.jobs import job_of
from support.network.goods import hold
from support.network.world import GTIN, Trip, reading
from support.trucks.rogue import nonce, until

pytestmark = pytest.mark.integration

NOBODYS: Final = ["party:stranger", "trip:" + "0" * 32, "lot:09999999999999/none", "delivery:none"]


@pytest.fixture(scope="module")
def scene(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scene]:
    with goods_site(tmp_path_factory.mktemp("grants")) as goods:
        other = Trip(nonce=nonce(2), deliveries=[])
        batches = other.batches(
            [
                other.sign(other.start),
                *(other.record(reading(at)) for at in range(3)),
                other.seal(),
            ],
            9,
        )
        with goods.site.device() as truck:
            truck.send(*batches)
            until("the other trip", lambda: goods.site.offload(other.trip_id)["receipted"])
        yield goods


def ids(client: httpx.Client, kind: str, key: str) -> set[str]:
    answer = client.get(f"/v1/{kind}?limit=1000")
    assert answer.status_code == 200, answer.text
    return {each[key] for each in answer.json()["items"]}


def test_a_party_sees_its_delivery_and_its_trips_alone(scene: Scene) -> None:
    everything = ids(scene.site.operator, "trips", "trip_id")
    assert len(everything) == 2
    buyer = reader(scene, "party:buyer")
    assert ids(buyer, "trips", "trip_id") == {scene.trip.trip_id}
    assert ids(buyer, "deliveries", "delivery_id") == {"delivery-1"}
    assert ids(buyer, "transformations", "transformation_id") == set()
    trip = f"/v1/trips/{scene.trip.trip_id}"
    assert buyer.get(f"{trip}/readings").json() == scene.of_trip("/readings")
    assert buyer.get(f"{trip}/breaches").json() == scene.of_trip("/breaches")
    assert buyer.get(f"{trip}/readings/buckets").json()["readings"] == 12
    (hidden,) = everything - {scene.trip.trip_id}
    for path in ("", "/readings", "/readings/buckets", "/breaches", "/recordings", "/holds"):
        answer = buyer.get(f"/v1/trips/{hidden}{path}")
        assert answer.status_code == 404, path
        assert answer.json()["detail"] == f"no trip '{hidden}' on the ledger"
    assert buyer.get(f"/v1/evidence?trip={hidden}").status_code == 404
    assert buyer.post(f"/v1/trips/{hidden}/verify").status_code == 404
    assert buyer.post(f"{trip}/verify").json()["verdict"]


def test_a_party_sees_what_it_made(scene: Scene) -> None:
    seller = reader(scene, "party:seller")
    own = {"milking", "mixing", "churning", "made-for-delivery-1"}
    assert ids(seller, "transformations", "transformation_id") == own
    seen = ids(seller, "lots", "lot")
    assert seen >= {"M1", "M2", "sugar", "L42", "B1"}
    assert seen.isdisjoint({"P1", "P2", "menu/7"})  # the kitchen made these


@pytest.mark.parametrize("grant", NOBODYS)
def test_a_grant_of_nothing_shows_nothing(scene: Scene, grant: str) -> None:
    client = reader(scene, grant)
    for kind in (
        "trips",
        "deliveries",
        "lots",
        "transformations",
        "units",
        "recordings",
        "devices",
    ):
        assert client.get(f"/v1/{kind}").json()["items"] == [], kind
    assert client.get("/v1/breaches").json()["items"] == []
    assert client.get(f"/v1/search?q={scene.trip.trip_id[:8]}").json()["items"] == []
    assert client.get(f"/v1/lots/{GTIN}/L42").status_code == 404
    assert client.get(f"/v1/lots/{GTIN}/L42/trace").status_code == 404
    assert client.get(f"/v1/trips/{scene.trip.trip_id}").status_code == 404


def test_a_granted_lot_brings_its_trace_and_nothing_beside_it(scene: Scene) -> None:
    client = reader(scene, f"lot:{GTIN}/M1")
    assert ids(client, "lots", "lot") >= {"M1", "sugar", "L42", "P1", "P2", "menu/7"}
    assert "B1" not in ids(client, "lots", "lot")
    assert ids(client, "deliveries", "delivery_id") == {"delivery-1"}
    assert ids(client, "trips", "trip_id") == {scene.trip.trip_id}
    trace = client.get(f"/v1/lots/{GTIN}/L42/trace").json()
    whole = scene.trace("L42")
    names = [each["transformation_id"] for each in trace["backward"]["transformations"]]
    assert set(names) <= {
        each["transformation_id"] for each in whole["backward"]["transformations"]
    }
    assert "mixing" in names


def test_a_granted_delivery_or_trip_brings_the_other(scene: Scene) -> None:
    for grant in ("delivery:delivery-1", f"trip:{scene.trip.trip_id}"):
        client = reader(scene, grant)
        assert ids(client, "trips", "trip_id") == {scene.trip.trip_id}
        assert ids(client, "deliveries", "delivery_id") == {"delivery-1"}


def test_a_reader_with_grants_sees_nothing_of_the_gateway(scene: Scene) -> None:
    client = reader(scene, "party:buyer")
    for path in ("status", "deletions", "offloads", "quarantine", "volumes", "sessions"):
        assert client.get(f"/v1/{path}").status_code == 403, path
    assert client.get("/v1/session").json()["grants"] == ["party:buyer"]


def test_quotes_in_a_grant_are_data(scene: Scene) -> None:
    client = reader(scene, "lot:1/'); DROP TABLE trips; --", "party:'||(SELECT 1)||'")
    assert ids(client, "trips", "trip_id") == set()
    assert scene.ask("trips")["items"]


def test_search_finds_by_any_name_and_by_its_beginning(scene: Scene) -> None:
    def found(word: str) -> list[tuple[str, str]]:
        answer = scene.site.operator.get("/v1/search", params={"q": word})
        return [(each["kind"], each["name"]) for each in answer.json()["items"]]

    assert ("trip", scene.trip.trip_id) in found(scene.trip.trip_id[:6])
    assert ("delivery", "delivery-1") in found("delivery-1")
    assert ("lot", "L42") in found("L42")
    assert ("lot", "menu/7") in found("menu/")
    assert ("device", "truck-2") in found("truck-")
    assert ("transformation", "milking") in found("milk")
    terms = scene.ask("deliveries/delivery-1")
    assert ("order", terms["order_id"]) in found(terms["order_id"])
    gln = next(each["gln"] for each in scene.ask("sites")["items"] if each["gln"])
    assert "site" in {kind for kind, _ in found(gln)}
    for nothing in ("%", "_", "' OR 1=1 --", "\u202e", "zzz"):
        assert found(nothing) == []
    assert scene.get("search?q=").status_code == 422


def test_trips_are_found_by_order_lot_site_place_and_breach(scene: Scene) -> None:
    def trips(**query: object) -> set[str]:
        answer = scene.site.operator.get("/v1/trips", params=query)  # type: ignore[arg-type]
        assert answer.status_code == 200, answer.text
        return {each["trip_id"] for each in answer.json()["items"]}

    own, order = {scene.trip.trip_id}, scene.ask("deliveries/delivery-1")["order_id"]
    assert trips(order_id=order) == own
    assert trips(order_id="other") == set()
    assert trips(breached=True) == own
    assert trips(gtin=GTIN, lot="L42") == own
    assert trips(gtin=GTIN, lot="B1") == set()
    assert trips(site_id="site-hub") == own
    assert trips(site_id="site-hub", order_id="other") == set()
    assert trips(gln="nowhere") == set()
    place = next(
        each["position"] for each in scene.of_trip("/readings")["items"] if each["position"]
    )
    near = f"{place['latitude']},{place['longitude']}"
    assert own <= trips(near=near, within_km=1)
    assert trips(near=f"{-place['latitude']},{place['longitude']}", within_km=1) == set()
    for query in ("gtin=1", "near=north", "near=91,0", "near=1,2&within_km=0", "near=nan,nan"):
        assert scene.get(f"trips?{query}").status_code == 422, query


def test_buckets_hide_no_extreme_and_leave_gaps_empty(scene: Scene) -> None:
    readings = scene.of_trip("/readings")["items"]
    warm = [each["temperature_cel"] for each in readings]
    for count in (1, 2, 5, 2000):
        found = scene.of_trip(f"/readings/buckets?buckets={count}")
        column = found["temperature_cel"]
        assert found["readings"] == len(readings) == sum(found["counts"])
        assert max(filter(None, column["max"])) == max(warm)
        assert min(filter(None, column["min"])) == min(warm)
        sizes = {len(found["times"]), len(found["positions"]), len(found["tamper"])}
        assert sizes == {len(column["mean"])} == {len(found["counts"])}
        for number, mean in zip(found["counts"], column["mean"], strict=True):
            assert (mean is None) == (number == 0)
    of_one = scene.of_trip("/readings/buckets?device_id=truck-2")
    assert of_one["readings"] == 3
    empty = scene.of_trip("/readings/buckets?to=2001-01-01T00:00:00Z")
    assert (empty["readings"], empty["times"], empty["from"]) == (0, [], None)
    for query in ("buckets=0", "buckets=2001", "buckets=x"):
        assert scene.get(f"trips/{scene.trip.trip_id}/readings/buckets?{query}").status_code == 422


def test_who_takes_evidence_is_written_down_first_and_the_record_holds(
    scene: Scene, tmp_path: Path
) -> None:
    before = len(scene.ask("accesses?limit=1000")["items"])
    client = reader(scene, "party:buyer")
    path = f"/v1/evidence?trip={scene.trip.trip_id}"
    assert client.get(path).status_code == 200
    assert client.get(path).status_code == 200  # the same access
    assert client.get("/v1/evidence?trip=" + "0" * 32).status_code == 404
    assert client.get("/v1/accesses").status_code == 403
    items = scene.ask("accesses?limit=1000")["items"]
    assert len(items) == before + 1
    assert [each["number"] for each in items] == list(range(1, len(items) + 1))
    assert (items[-1]["who"], items[-1]["what"]) == ("reader", "evidence")
    assert items[-1]["subjects"] == [scene.trip.trip_id]
    head = scene.ask("accesses/head")
    assert head["number"] == len(items)
    written = base64.b64decode(items[-1]["written"])
    assert hashlib.sha256(written).hexdigest() == head["sha256"]
    kept = tmp_path / "head.json"
    kept.write_text(json.dumps(head))
    found = command(scene, "--check", "--head", str(kept))
    told = json.loads(found.stdout)
    assert (told["accesses"], told["holds"]) == (len(items), True)
    kept.write_text(json.dumps(head | {"signed": "AAAA"}))
    assert "expected an answer of" in command(scene, "--check", "--head", str(kept)).stderr


def test_no_byte_leaves_when_the_access_cannot_be_written(scene: Scene) -> None:
    settings = load_settings(scene.site.appliance.settings_file)
    client = reader(scene, f"trip:{scene.trip.trip_id}")
    client.headers["Authorization"] = (
        f"Bearer {Tokens(settings.tokens_file).add('x', Role.AUDITOR)}"
    )
    with closing(sqlite3.connect(settings.accesses_file, isolation_level=None)) as held:
        held.execute("BEGIN IMMEDIATE")
        answer = client.get(f"/v1/evidence?trip={scene.trip.trip_id}", timeout=90)
        held.execute("ROLLBACK")
    assert answer.status_code == 503
    assert answer.headers["content-type"] == "application/problem+json"
    assert client.get(f"/v1/evidence?trip={scene.trip.trip_id}").status_code == 200


def command(scene: Scene, *options: str) -> subprocess.CompletedProcess[str]:
    """Run `wayseal-gateway accesses`."""
    settings = str(scene.site.appliance.settings_file)
    called = "from gateway.wayseal_gateway import main; main()"
    arguments = [sys.executable, "-c", called, "accesses", "--config", settings, *options]
    return subprocess.run(arguments, capture_output=True, text=True, check=False, timeout=60)  # noqa: S603


ASYNC: Final = {"Prefer": "respond-async"}


def test_a_verification_as_a_job_says_what_it_says_at_once(scene: Scene) -> None:
    for path, kind in (
        (f"/v1/trips/{scene.trip.trip_id}/verify", "verify-trip"),
        (f"/v1/lot/verify?gtin={GTIN}&lot=L42", "verify-lot"),
        (f"/v1/lots/{GTIN}/L42/verify", "verify-lot"),
    ):
        answer = scene.site.operator.post(path, headers=ASYNC)
        assert answer.headers["preference-applied"] == "respond-async"
        job = job_of(scene.site.operator, answer)
        assert (job["kind"], job["state"]) == (kind, "done")
        assert (job["error"], job["progress"]) == (None, None)
        assert job["asked"] <= job["began"] <= job["ended"] < job["expires"]
        found = scene.site.operator.get(job["result"])
        assert hashlib.sha256(found.content).hexdigest() == job["sha256"]
        assert same(found, scene.site.operator.post(path))


def same(one: httpx.Response, other: httpx.Response) -> bool:
    """Say whether two verdicts are the same, whenever each was reached."""
    found = [{**each.json(), "judged_at": None} for each in (one, other)]
    return bool(found[0] == found[1])


def test_a_verdict_is_reached_again_when_asked_so_or_when_its_trip_has_changed(
    scene: Scene,
) -> None:
    path = f"/v1/trips/{scene.trip.trip_id}/verify"
    first = scene.site.operator.post(path)
    buyer = reader(scene, "party:buyer")
    for client in (scene.site.operator, buyer):
        assert client.post(f"{path}?kept=true").json() == first.json()
    again = scene.site.operator.post(path)
    assert same(again, first)
    assert again.json()["judged_at"] > first.json()["judged_at"]
    before = len(scene.of_trip("/holds")["items"])
    scene.site.commit([hold(scene.trip.trip_id, "case-40", "customs")])
    until("the hold", lambda: len(scene.of_trip("/holds")["items"]) > before)
    (changed,) = scene.site.operator.post(f"{path}?kept=true").json()["trips"]
    assert "case-40" in [each["hold_id"] for each in changed["holds"]]
    nobodys = reader(scene, "delivery:none").post(f"{path}?kept=true")
    assert nobodys.status_code == 404


def test_an_answer_that_comes_in_time_needs_no_job(scene: Scene) -> None:
    path, before = f"/v1/trips/{scene.trip.trip_id}/verify", scene.ask("jobs?limit=1000")
    in_time = {"Prefer": "handling=strict, respond-async, wait=5"}
    answer = scene.site.operator.post(path, headers=in_time)
    while answer.status_code == 202:  # a busy machine needed longer
        scene.site.operator.delete(answer.headers["location"])
        answer = scene.site.operator.post(path, headers=in_time)
    assert answer.status_code == 200, answer.text
    assert answer.headers["preference-applied"] == "respond-async, wait=5"
    assert same(answer, scene.site.operator.post(path, headers={"Prefer": "wait=x"}))
    assert scene.ask("jobs?limit=1000") == before


def test_evidence_of_a_job_is_fetched_in_ranges_and_holds(scene: Scene) -> None:
    operator, trip_id = scene.site.operator, scene.trip.trip_id
    asked = operator.post(
        f"/v1/evidence?trip={trip_id}&video=true",
        headers={"Prefer": "respond-async, wait=5"},  # for a verdict; a file would fill memory
    )
    job = job_of(operator, asked)
    half = job["size"] // 2
    first = operator.get(job["result"], headers={"Range": f"bytes=0-{half - 1}"})
    rest = operator.get(
        job["result"], headers={"Range": f"bytes={half}-", "If-Range": first.headers["etag"]}
    )
    assert (first.status_code, rest.status_code) == (206, 206)
    assert first.headers["content-range"] == f"bytes 0-{half - 1}/{job['size']}"
    whole = first.content + rest.content
    assert hashlib.sha256(whole).hexdigest() == job["sha256"]
    assert whole == operator.get(job["result"]).content
    assert list(verify_evidence(io.BytesIO(whole), None, []).trips) == [trip_id]
    beyond = operator.get(job["result"], headers={"Range": f"bytes={job['size']}-"})
    assert (beyond.status_code, beyond.json()["status"]) == (416, 416)
    assert operator.delete(f"/v1/jobs/{job['job_id']}").status_code == 204
    assert operator.get(job["result"]).status_code == 404


def test_a_job_is_its_owners_alone_and_grants_hold(scene: Scene) -> None:
    buyer, trip_id = reader(scene, "party:buyer"), scene.trip.trip_id
    job = job_of(buyer, buyer.post(f"/v1/trips/{trip_id}/verify", headers=ASYNC))
    place = f"/v1/jobs/{job['job_id']}"
    assert [each["job_id"] for each in buyer.get("/v1/jobs").json()["items"]] == [job["job_id"]]
    for path in (place, job["result"]):
        answer = scene.site.operator.get(path)
        assert answer.status_code == 404
        assert "of yours" in answer.json()["detail"]
    assert scene.site.operator.delete(place).status_code == 404
    assert job["job_id"] not in str(scene.ask("jobs?limit=1000"))
    (hidden,) = ids(scene.site.operator, "trips", "trip_id") - {trip_id}
    for path in (
        f"/v1/trips/{hidden}/verify",
        f"/v1/evidence?trip={hidden}",
        f"/v1/lot/verify?gtin={GTIN}&lot=B2",
        "/v1/recordings/" + "0" * 64 + "/verify",
    ):
        assert buyer.post(path, headers=ASYNC).status_code == 404, path
    narrower = reader(scene, "delivery:none")  # the same name with other grants
    assert narrower.get(job["result"]).status_code == 404
    items = scene.ask("accesses?limit=1000")["items"]
    assert ("reader", "verdict", [trip_id]) in [
        (each["who"], each["what"], each["subjects"]) for each in items
    ]


def test_a_result_that_rots_on_the_disk_is_not_handed_out(scene: Scene) -> None:
    operator = scene.site.operator
    path = f"/v1/trips/{scene.trip.trip_id}/verify"
    job = job_of(operator, operator.post(path, headers=ASYNC))
    file = load_settings(scene.site.appliance.settings_file).data / "jobs" / job["job_id"]
    file.write_bytes(file.read_bytes().replace(b'"verdict":"', b'"verdict":"X'))
    answer = operator.get(job["result"])
    assert answer.status_code == 500
    assert "is damaged on the gateway's disk" in answer.json()["detail"]
