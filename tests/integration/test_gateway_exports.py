"""Exports of a real gateway: the same facts as over REST, on record, and for entitled readers."""

import csv
import io
import json
from collections.abc import Iterator
from typing import Final

import httpx
import pytest

from gateway.access import Role, Tokens
from gateway.grants import parse_grants
from gateway.settings_file import load_settings
from support.gateways.goods_site import Scene, goods_site

pytestmark = pytest.mark.integration

NOBODYS: Final = "party:stranger"


@pytest.fixture(scope="module")
def scene(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scene]:
    with goods_site(tmp_path_factory.mktemp("exports")) as goods:
        yield goods


def reader(scene: Scene, *grants: str) -> httpx.Client:
    """Return a client whose token has grants."""
    tokens = Tokens(load_settings(scene.site.appliance.settings_file).tokens_file)
    token = tokens.add("reader", Role.AUDITOR, grants=parse_grants(grants))
    client = httpx.Client(
        base_url=scene.site.appliance.rest,
        headers={"Authorization": f"Bearer {token}"},
        trust_env=False,
        timeout=30,
    )
    scene.site.clients.append(client)
    return client


def taken(scene: Scene) -> set[tuple[str, str, tuple[str, ...]]]:
    """Return who took what of which subjects, by the record of accesses."""
    items = scene.ask("accesses?limit=1000")["items"]
    return {(each["who"], each["what"], tuple(each["subjects"])) for each in items}


@pytest.mark.parametrize("form", ["csv", "senml"])
def test_readings_leave_for_entitled_readers_alone_and_on_record(scene: Scene, form: str) -> None:
    path = f"/v1/trips/{scene.trip.trip_id}/readings.{form}"
    refused = reader(scene, NOBODYS).get(path)
    assert refused.status_code == 404, refused.text
    assert ("reader", "readings", (scene.trip.trip_id,)) not in taken(scene) or form == "senml"
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


def trip(scene: Scene) -> str:
    return f"trips/{scene.trip.trip_id}"
