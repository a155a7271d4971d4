"""A gateway's OpenAPI description is true: every route's answers, the good and the bad ones."""

import hashlib
import re
from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Final
from urllib.parse import quote

import httpx
import pytest
from openapi_spec_validator import OpenAPIV31SpecValidator

from support.gateways.described_site import CONTENT, VIDEO, Scene, ask, ask_all, described_site
from support.trucks.uploads import announce

pytestmark = pytest.mark.integration

ETAG: Final = f'"{hashlib.sha256(CONTENT).hexdigest()}"'
PROBLEM: Final = "application/problem+json"
NO_TOKEN: Final = (
    "/health",
    "/health/live",
    "/health/ready",
    "/healthz",
    "/readyz",
    "/successions",
    "/v1/session/issuer",
    "/v1/session/ways",
)
NEVER_GOOD: Final = {
    "GET /v1/benchmarks/{name}/report",
    "GET /v1/recordings/{recording_id}/clip",
    "GET /v1/session/issuer",
    "POST /v1/enrolment",
    "POST /v1/quarantine/{batch_id}/release",
    "POST /v1/trips/{trip_id}/automatic-holds/end",
    "DELETE /v1/waiting/batches/{batch_id}",
    "DELETE /v1/waiting/uploads/{device_id}/{recording_id}",
    "POST /v1/uploads",
    "HEAD /v1/uploads/{recording}",
    "PATCH /v1/uploads/{recording}",
    "DELETE /v1/uploads/{recording}",
}
"""These need a state that the scene has not; other tests have their good answers."""


@pytest.fixture(scope="module")
def scene(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scene]:
    with described_site(tmp_path_factory.mktemp("described")) as made:
        yield made


def test_the_description_is_openapi_3_1(scene: Scene) -> None:
    document = scene.described.document
    assert document["openapi"].startswith("3.1")
    assert document == scene.clients["auditor"].get("/v1/openapi.json").json()
    OpenAPIV31SpecValidator(document).validate()
    names = [route.operation["operationId"] for route in scene.described.routes()]
    assert len(names) == len(set(names))


def test_every_good_answer_is_as_described(scene: Scene) -> None:
    good = set()
    for asked in ask_all(scene):
        scene.described.check(asked.route, asked.answer)
        if asked.answer.is_success:
            good.add(f"{asked.route.method} {asked.route.path}")
    every = {f"{route.method} {route.path}" for route in scene.described.routes()}
    assert every - good == NEVER_GOOD | {"GET /v1/changes"}


def test_routes_that_need_no_token_answer_without_one_and_say_so(scene: Scene) -> None:
    open_ones = [each for each in scene.described.routes() if not each.operation.get("security")]
    assert {each.path for each in open_ones if each.method != "OPTIONS"} == set(NO_TOKEN)
    assert "the others, such as `/healthz`" in scene.described.document["info"]["description"]
    with httpx.Client(base_url=scene.site.appliance.rest, trust_env=False) as stranger:
        page = stranger.get("/docs").text
        assert page.count("It needs no token.") == len(open_ones)
        assert "very route" not in page
        for each in open_ones:
            path = each.filled(dict.fromkeys(each.places, "x"))
            expected = (404,) if each.path == "/v1/session/issuer" else (200, 204)
            assert ask(stranger, each, path).status_code in expected


def test_every_parameter_of_evidence_is_described(scene: Scene) -> None:
    parameters = scene.described.document["paths"]["/v1/evidence"]["get"]["parameters"]
    assert {each["name"] for each in parameters if each.get("description")} == {
        *("trip", "video", "recording", "blobs", "from", "to", "lots"),
    }


def test_a_stranger_and_a_wrong_role_are_refused_as_described(scene: Scene) -> None:
    with httpx.Client(base_url=scene.site.appliance.rest, trust_env=False) as stranger:
        for route in scene.described.routes():
            if route.method == "OPTIONS" or route.path in {*NO_TOKEN, "/v1/enrolment"}:
                continue  # enrolment takes a claim code or a certificate: test_device_begins.py
            path = route.filled(dict.fromkeys(route.places, "x"))
            for headers in ({}, {"Authorization": "Bearer wrong"}, {"Authorization": "Basic eA=="}):
                stranger.headers = httpx.Headers(headers)
                answer = ask(stranger, route, path)
                assert answer.status_code == 401, route
                assert answer.headers["www-authenticate"] == "Bearer"
                scene.described.check(route, answer)
            wrong = "auditor" if scene.may(route) == "device" else "device"
            answer = ask(scene.clients[wrong], route, path)
            assert answer.status_code == 403, route
            scene.described.check(route, answer)


def test_an_unknown_parameter_is_422_on_every_route(scene: Scene) -> None:
    for route in scene.described.routes():
        path = route.filled(dict.fromkeys(route.places, "x"))
        answer = ask(scene.clients[scene.may(route)], route, path, params={"form": "2026"})
        assert answer.status_code == 422, route
        scene.described.check(route, answer)
        if route.method != "HEAD":
            assert "'form'" in answer.json()["detail"]
    for path in ("/openapi.json", "/v1/openapi.json", "/docs"):
        answer = scene.clients["auditor"].get(path, params={"form": "2026"})
        assert (answer.status_code, answer.headers["content-type"]) == (422, PROBLEM)
    refused = scene.site.operator.get("/v1/trips?form=2026").json()["detail"]
    assert refused.startswith("query: unknown parameter 'form', expected one of breached, ")
    answer = scene.clients["auditor"].get("/v1/deliveries/D/breaches?device_id=truck-1")
    assert answer.json()["detail"].endswith(
        "; /v1/trips, /v1/trips/{trip_id}/readings/buckets, /v1/waiting can be asked with it"
    )


def test_cursors_have_one_type(scene: Scene) -> None:
    lists = [
        (route, each["schema"])
        for route in scene.described.routes()
        for each in route.operation.get("parameters", [])
        if each["name"] == "cursor"
    ]
    assert len(lists) > 15
    assert {schema["type"] for _, schema in lists} == {"string"}
    schemas = scene.described.document["components"]["schemas"]
    for route, _ in lists:
        answer = route.operation["responses"]["200"]
        schema = answer["content"]["application/json"]["schema"]
        if schema.get("type") == "array":  # which has no room for a cursor
            assert "Link" in answer["headers"]
            continue
        shown = schemas[schema["$ref"].rpartition("/")[2]]["properties"]["next_cursor"]
        assert shown["anyOf"] == [{"type": "string"}, {"type": "null"}]


def test_lists_are_filtered_and_ordered(scene: Scene) -> None:
    def ids(query: str) -> list[str]:
        return [each["trip_id"] for each in scene.site.ask(f"/v1/trips?{query}")["items"]]

    first, last = ids("")
    assert ids("order=newest") == [last, first]
    assert ids("device_id=truck-2") == [first]
    started = scene.site.ask(f"/v1/trips/{first}")["started_at"]
    assert ids(f"to={started}") == []
    assert first in ids(f"from={started}")
    ended = max(each["time"] for each in scene.site.ask(f"/v1/trips/{first}/readings")["items"])
    assert first in ids(f"from={ended}")
    assert ids("from=2200-01-01T00:00:00Z") == []
    path = f"/v1/trips/{first}/readings"
    readings = scene.site.ask(path)["items"]
    times = sorted(each["time"] for each in readings)
    span = f"from={times[2]}&to={times[4]}&order=newest"
    within = [each for each in readings if times[2] <= each["time"] < times[4]]
    assert scene.site.ask(f"{path}?{span}")["items"] == within[::-1]
    (breach,) = scene.site.ask("/v1/breaches?order=newest")["items"]
    assert breach["trip_id"] == first
    assert breach["ended"]
    after = f"from={breach['until']}&to=2200-01-01T00:00:00Z"  # it began before
    for path in ("", f"trips/{first}/", f"deliveries/{breach['delivery_id']}/"):
        assert scene.site.ask(f"/v1/{path}breaches?{after}")["items"] == [breach]
        assert scene.site.ask(f"/v1/{path}breaches?to={breach['since']}")["items"] == []
        later = quote((datetime.fromisoformat(breach["until"]) + timedelta(seconds=1)).isoformat())
        assert scene.site.ask(f"/v1/{path}breaches?from={later}")["items"] == []
    for query, expected in (
        (f"delivery_id={breach['delivery_id']}", [breach]),
        (f"trip_id={first}&delivery_id={breach['delivery_id']}", [breach]),
        (f"trip_id={last}", []),
    ):
        assert scene.site.ask(f"/v1/breaches?{query}")["items"] == expected
    for path in ("/v1/trips", "/v1/breaches"):
        parameters = scene.described.document["paths"][path]["get"]["parameters"]
        told = {each["name"]: each.get("description", "") for each in parameters}
        assert all("overlaps" in told[name] for name in ("from", "to"))


def test_a_missing_parameter_is_said_to_be_missing(scene: Scene) -> None:
    answer = scene.clients["auditor"].get("/v1/evidence")
    assert answer.status_code == 422
    assert answer.json()["detail"] == "query.trip: Field required, got nothing"


@pytest.mark.parametrize(
    ("query", "status", "words"),
    [
        ("from=2026", 422, "query.from: "),
        ("to=2026-01-01T00:00:00", 422, "query.to: "),
        ("from=2026-01-01T00:00:00+01:00", 422, "write the plus of the zone as %2B"),
        ("from=2026-01-02T00:00:00Z&to=2026-01-01T00:00:00Z", 422, "from must be before to"),
        ("order=latest", 422, "'oldest' or 'newest'"),
        ("device_id=truck-99", 404, "no device 'truck-99'"),
        ("device_id=truck-1&device_id=truck-2", 422, "expected 'device_id' once, got it 2 times"),
        ("to=2026-01-01T00:00:00Z&to=2200-01-01T00:00:00Z", 422, "expected 'to' once"),
    ],
)
def test_a_filter_that_means_nothing_is_refused(
    scene: Scene, query: str, status: int, words: str
) -> None:
    answer = scene.clients["auditor"].get(f"/v1/trips?{query}")
    assert answer.status_code == status
    assert words in answer.json()["detail"]


@pytest.mark.parametrize(
    ("headers", "status", "length"),
    [
        ({"If-None-Match": ETAG}, 304, 0),
        ({"If-None-Match": f'"other", W/{ETAG}'}, 304, 0),
        ({"If-None-Match": "*", "Range": "bytes=0-9"}, 304, 0),
        ({"If-None-Match": '"other"'}, 200, len(CONTENT)),
        ({"If-Range": ETAG, "Range": "bytes=0-9"}, 206, 10),
        ({"If-Range": f"W/{ETAG}", "Range": "bytes=0-9"}, 200, len(CONTENT)),
        ({"If-Range": '"other"', "Range": "bytes=0-9"}, 200, len(CONTENT)),
        ({"If-Range": "Sat, 01 Jan 2028 00:00:00 GMT", "Range": "bytes=0-"}, 200, len(CONTENT)),
        ({"If-Range": '"other"', "Range": "bytes=9999999-"}, 200, len(CONTENT)),
        ({"If-Range": ETAG, "Range": "bytes=9999999-"}, 416, None),
        ({"Range": "bytes=5-4"}, 416, None),
    ],
)
def test_conditions_on_a_video(
    scene: Scene, headers: dict[str, str], status: int, length: int | None
) -> None:
    answer = scene.clients["auditor"].get(VIDEO, headers=headers)
    assert answer.status_code == status
    assert length is None or len(answer.content) == length
    (route,) = (
        each
        for each in scene.described.routes()
        if each.method == "GET" and each.path.endswith("/content")
    )
    scene.described.check(route, answer)
    if status == 304:
        assert answer.headers["etag"] == ETAG
        head = scene.clients["auditor"].head(VIDEO, headers=headers)
        assert (head.status_code, head.headers["etag"]) == (304, ETAG)


def test_an_announcement_is_answered_as_described(scene: Scene) -> None:
    routes = {f"{each.method} {each.path}": each for each in scene.described.routes()}
    answer = announce(scene.clients["device"], b"never signed")
    assert answer.status_code == 403
    scene.described.check(routes["POST /v1/uploads"], answer)


def test_the_page_names_every_route_and_loads_nothing(scene: Scene) -> None:
    answer = httpx.get(f"{scene.site.appliance.rest}/docs", trust_env=False)
    assert answer.status_code == 200
    assert answer.headers["content-type"].startswith("text/html")
    for route in scene.described.routes():
        assert f"{route.method} {route.path}" in answer.text
    examples = re.findall("<pre>(.*?)</pre>", answer.text, re.DOTALL)
    assert len(examples) > 50
    assert not any("<" in each for each in examples), "an example is text, whatever it holds"
    rest = re.sub("<pre>.*?</pre>", "", answer.text, flags=re.DOTALL)
    for loading in ("<script", "<link", "<img", "src=", "http://", "https://", "@import"):
        assert loading not in rest
