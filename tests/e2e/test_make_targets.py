"""What a newcomer types: `make demo`, `make up`, `make down`, in a checkout of their own."""

import json
import re
import socket
from pathlib import Path
from typing import Any

import httpx
import pytest

from support.project.checkout import PORTS, live_data, make, running

pytestmark = pytest.mark.e2e

KEYS = {
    "directory",
    "rest",
    "mqtt",
    "ledger",
    "operator_token",
    "auditor_token",
    "trust",
    "settings",
    "admin_key",
}


def fields(line: str) -> dict[str, str]:
    return dict(re.findall(r"(\w+)=(.*?)(?= \w+=|$)", line))


def test_the_demo_ends_ok(checkout: Path) -> None:
    done = make(checkout, "demo")
    assert done.returncode == 0, done.stdout + done.stderr
    last = done.stdout.strip().splitlines()[-1]
    assert last.startswith("demo: ok readings=")
    found = fields(last)
    assert list(found) == ["readings", "recordings", "bytes", "trip", "evidence"]
    assert (found["readings"], found["recordings"]) == ("1080", "1")
    assert int(found["bytes"]) > 1 << 20
    assert (checkout / found["evidence"]).stat().st_size > int(found["bytes"])
    assert running(checkout) == []
    assert not live_data(checkout).exists()


@pytest.mark.parametrize(
    "damage",
    [
        "cell",
        "track",
        *(pytest.param(each, marks=pytest.mark.long) for each in ("empty", "missing")),
    ],
)
def test_the_demo_says_that_it_failed(checkout: Path, damage: str) -> None:
    readings = checkout / "readings.csv"
    if damage != "missing":
        row = "2022-01-31 12:21:15,warm,57.5\n" if damage == "cell" else ""
        readings.write_text("Date/Time,Temperature,Humidity\n" + row)
    variables = {"TRACK" if damage == "track" else "READINGS": str(readings)}
    done = make(checkout, "demo", **variables)
    assert done.returncode != 0
    last = done.stdout.strip().splitlines()[-1]
    assert last.startswith("demo: failed ")
    assert {
        "cell": "expected a decimal number, got 'warm'",
        "empty": "expected at least one row",
        "missing": "readings.csv",
        "track": "need READINGS",
    }[damage] in last
    assert ("wayseal-device check failed: " in last) == (damage != "track")
    assert last.count("wayseal-device") == (damage != "track")
    assert "Traceback" not in done.stdout + done.stderr
    assert running(checkout) == []


def test_up_and_down(checkout: Path) -> None:
    done = make(checkout, "up", **PORTS)
    try:
        assert done.returncode == 0, done.stderr
        state: dict[str, Any] = json.loads((checkout / "build" / "up.json").read_text())
        assert state.keys() == KEYS
        assert json.loads(done.stdout[done.stdout.index("{") :]) == state
        for role in ("operator", "auditor"):
            headers = {"Authorization": f"Bearer {state[f'{role}_token']}"}
            answer = httpx.get(f"{state['rest']}/v1/status", headers=headers, trust_env=False)
            assert answer.status_code == 200
        assert httpx.get(f"{state['ledger']}/blocks", trust_env=False).status_code == 200
        host, port = state["mqtt"].split(":")
        socket.create_connection((host, int(port)), 5).close()
        assert json.loads(Path(state["trust"]).read_text())
        assert not live_data(checkout).exists()
        again = make(checkout, "up", **(PORTS | {"REST_PORT": "1"}))
        assert again.returncode == 0
        assert "already up" in again.stderr
        assert (
            f"expected rest at port 1, it stays at {state['rest'].rpartition(':')[2]}"
            in again.stderr
        )
        assert "expected mqtt" not in again.stderr
        assert json.loads(again.stdout) == state
        assert len(running(checkout)) == 2
        trip = make(checkout, "trip")
        assert trip.returncode == 0, trip.stderr
        told = json.loads(trip.stdout)
        headers = {"Authorization": f"Bearer {state['auditor_token']}"}
        with httpx.Client(base_url=state["rest"], headers=headers, trust_env=False) as auditor:
            lot = auditor.get(f"/v1/lots/{told['lot']}").json()
            assert told["trip"] in str(lot)
            assert auditor.get(f"/v1/trips/{told['trip']}").json()["trip_id"] == told["trip"]
            (recording,) = auditor.get(f"/v1/trips/{told['trip']}/recordings").json()["items"]
            assert recording["stored"]
            more = make(checkout, "trip")
            assert more.returncode == 0, more.stderr
            later = json.loads(more.stdout)
            assert (told["delivery"], later["delivery"]) == ("order-12", "order-13")
            assert (told["lot"], later["lot"]) == ("00012345678905/L42", "00012345678905/L42")
            found = auditor.get("/v1/trips?order=newest").json()["items"]
            assert [each["trip_id"] for each in found] == [later["trip"], told["trip"]]
            deliveries = auditor.get(f"/v1/lots/{told['lot']}").json()["deliveries"]
            assert {each["delivery_id"]: each["order_id"] for each in deliveries} == {
                "order-12": "4711",
                "order-13": "4712",
            }
            assert {each["status"] for each in deliveries} == {"delivered"}
    finally:
        down = make(checkout, "down")
    assert down.returncode == 0, down.stderr
    assert running(checkout) == []
    assert not (checkout / "build" / "up.json").exists()
    assert "nothing is up" in make(checkout, "down").stderr
    assert "trip: nothing is up: `make up` comes first" in make(checkout, "trip").stderr


@pytest.mark.parametrize("which", ["REST_PORT", "MQTT_PORT", "LEDGER_PORT"])
def test_a_taken_port_is_one_clear_error_and_leaves_nothing(checkout: Path, which: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        done = make(checkout, "up", **{**PORTS, which: port})
    assert done.returncode != 0
    ours = [line for line in done.stderr.splitlines() if not line.startswith("make")]
    assert len(ours) == 1, done.stderr
    assert ours[0].startswith("up: ")
    assert f":{port}" in ours[0]
    assert "choose ports that are free with REST_PORT=" in ours[0]
    assert running(checkout) == []
    assert not (checkout / "build" / "up.json").exists()
