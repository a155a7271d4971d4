"""Simulated trucks, many at once, against a real gateway and node, and what the gateway tells."""

import json
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from prometheus_client.parser import text_string_to_metric_families

from contracts.runtime.commands import INTERRUPTED
from demo.appliance import Appliance
from demo.processes import run
from storage.bench.servers.processes import environment, executable
from storage.recordings.buffers import PIECE_BYTES
from storage.stages import Stage
from support.machine.private import write_private
from support.project.pages import ROOT
from support.trucks.rogue import Site

pytestmark = pytest.mark.integration

TRUCKS = 3
READINGS = 150
VIDEO_BYTES = 2_500_000
TIMEOUT_S = 120


def tokens(appliance: Appliance, *names: str) -> list[str]:
    """Return the lines that tell new device tokens."""
    command = ["wayseal-gateway", "token", *names, "--role", "device"]
    done = run([*command, "--config", str(appliance.settings_file)])
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def fleet_command(site: Site, work: Path, lines: Sequence[str], *more: str) -> list[str | Path]:
    work.mkdir(exist_ok=True)
    file, appliance = work.with_suffix(".tokens"), site.appliance
    write_private(file, "".join(f"{line}\n" for line in lines))
    return [
        executable("wayseal-device"),
        "fleet",
        *("--trucks", str(len(lines)), "--readings", str(READINGS)),
        *("--video-mb", str(VIDEO_BYTES / 1_000_000)),
        *("--mqtt", appliance.mqtt, "--rest", appliance.rest, "--ledger", appliance.ledger),
        *("--gateway-key", appliance.gateway_key(), "--tokens", file, "--work", work),
        *("--admin", appliance.directory / "keys" / "admin.key"),
        *more,
    ]


def send(command: Sequence[str | Path]) -> tuple[int, str, str]:
    """Run a fleet to its end; return exit status, standard output and error."""
    done = subprocess.run(  # noqa: S603 - our own command
        command, capture_output=True, text=True, timeout=TIMEOUT_S, env=environment(), check=False
    )
    return done.returncode, done.stdout, done.stderr


def told(site: Site, name: str) -> dict[str, float]:
    """Return what the gateway's metrics say of each stage."""
    answer = site.operator.get("/metrics")
    assert answer.headers["content-type"].startswith("text/plain; version=0.0.4")
    families = text_string_to_metric_families(answer.text)
    samples = (sample for family in families for sample in family.samples)
    return {sample.labels["stage"]: sample.value for sample in samples if sample.name == name}


def test_trucks_offload_together_and_the_gateway_tells_where_the_time_went(
    site: Site, tmp_path: Path
) -> None:
    seconds, size = (
        told(site, "wayseal_stage_seconds_sum"),
        told(site, "wayseal_stage_bytes_total"),
    )
    lines = tokens(site.appliance, *(f"fleet-{number}" for number in range(TRUCKS)))
    assert len(lines) == TRUCKS
    status, out, err = send(fleet_command(site, tmp_path / "work", lines))
    assert status == 0, out + err
    *table, last = out.splitlines()
    found: dict[str, Any] = json.loads(last)
    assert table[0].split() == ["receipted", str(TRUCKS), "of", str(TRUCKS), "trucks"]
    assert (found["trucks"], found["receipted"], found["errors"]) == (TRUCKS, TRUCKS, [])
    assert found["readings"] == TRUCKS * READINGS
    assert found["bytes"] == TRUCKS * VIDEO_BYTES
    assert found["offload_p50_s"] == sorted(found["offloads_s"])[1]
    assert found["offload_p95_s"] == found["offload_max_s"] <= found["elapsed_s"]
    assert list((tmp_path / "work").iterdir()) == []
    visits = site.ask("/v1/offloads")["items"]
    assert [visit["receipted"] for visit in visits] == [True] * TRUCKS
    assert sum(visit["readings"]["committed"] for visit in visits) == TRUCKS * READINGS
    _check_stages(site, seconds, size)


def _check_stages(site: Site, seconds: dict[str, float], size: dict[str, float]) -> None:
    """Every byte of video went through each stage, hashed twice; every stage took its time."""
    after_s = told(site, "wayseal_stage_seconds_sum")
    after = told(site, "wayseal_stage_bytes_total")
    moved = {stage: after[stage] - size[stage] for stage in Stage}
    assert after_s.keys() == after.keys() == set(Stage)
    assert all(after_s[stage] > seconds[stage] for stage in Stage)
    whole = TRUCKS * VIDEO_BYTES
    assert {stage: moved[stage] for stage in (Stage.RECEIVE, Stage.BLOBS, Stage.VOLUME)} == {
        Stage.RECEIVE: whole,
        Stage.BLOBS: whole,
        Stage.VOLUME: whole,
    }
    assert moved[Stage.HASH] == 2 * whole
    pieces = TRUCKS * (VIDEO_BYTES // PIECE_BYTES + 1)
    assert told(site, "wayseal_stage_seconds_count")[Stage.HASH] == pieces + TRUCKS
    # What the trucks signed came in once, with the offers around it, and went to the ledger once.
    assert moved[Stage.INTAKE] > moved[Stage.LEDGER] > TRUCKS * READINGS * 100


def test_metrics_are_the_operators(site: Site) -> None:
    assert site.client("auditor", "auditor").get("/metrics").status_code == 403


def test_a_truck_that_fails_is_told_of_and_the_others_go_on(site: Site, tmp_path: Path) -> None:
    honest, stranger = tokens(site.appliance, "fleet-7", "fleet-8")
    wrong = json.dumps({**json.loads(stranger), "token": "wrong"})
    status, out, err = send(fleet_command(site, tmp_path / "work", [honest, wrong]))
    assert status == 1, err
    *table, last = out.splitlines()
    found = json.loads(last)
    assert (found["receipted"], found["failed"], found["readings"]) == (1, 1, READINGS)
    (error,) = found["errors"]
    assert error["device_id"] == "fleet-8"
    assert "refuses device fleet-8" in error["why"]
    assert table[-1] == f"FAILED fleet-8: {error['why']}"
    assert list((tmp_path / "work").iterdir()) == []


def test_the_same_devices_come_again_with_new_keys(site: Site, tmp_path: Path) -> None:
    (line,) = tokens(site.appliance, "fleet-9")
    for _ in range(2):
        command = fleet_command(site, tmp_path / "work", [line], "--json", "--video-mb", "0")
        status, out, err = send(command)
        assert status == 0, out + err
        assert json.loads(out)["bytes"] == 0


def test_ctrl_c_ends_it_and_removes_its_files(site: Site, tmp_path: Path) -> None:
    line, work = tokens(site.appliance, "fleet-9")[0], tmp_path / "work"
    command = fleet_command(site, work, [line], "--readings", "100000")
    process = subprocess.Popen(  # noqa: S603 - our own command
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment()
    )
    with process:
        assert process.stderr is not None
        while "recording" not in (said := process.stderr.readline()):
            assert said, "ended early"
        assert len(list(work.iterdir())) == 1
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=TIMEOUT_S)
    assert process.returncode == INTERRUPTED
    assert "stopped" in err
    assert "Traceback" not in err
    assert list(work.iterdir()) == []


def test_what_cannot_be_is_refused_before_anything_is_made(tmp_path: Path) -> None:
    file = tmp_path / "tokens"
    common = [
        *(
            "--mqtt",
            "127.0.0.1:1",
            "--rest",
            "http://127.0.0.1:1",
            "--ledger",
            "http://127.0.0.1:1",
        ),
        *("--gateway-key", "02" + "00" * 32, "--tokens", str(file), "--admin", str(file)),
        *("--work", str(tmp_path / "work")),
    ]
    for content, options, why in (
        ('{"name": "a", "token": "t"}\n', ["--trucks", "2"], "expected 2 tokens"),
        ("nonsense\n", ["--trucks", "1"], "line 1: expected what"),
        ('{"name": "a/b", "token": "t"}\n', ["--trucks", "1"], "id must be"),
        ("", ["--trucks", "1001"], "--trucks: expected at most 1000, got 1001"),
        ("", ["--trucks", "2", "--at-once", "3"], "--at-once: expected at most 2, got 3"),
        ("", ["--trucks", "0"], "expected a whole number from 1, got '0'"),
        ("", ["--video-mb", "nan"], "expected"),
        ("", ["--mqtt", "nowhere"], "expected HOST:PORT, got 'nowhere'"),
    ):
        write_private(file, content)
        done = subprocess.run(  # noqa: S603 - our own command
            [sys.executable, "-m", "device.wayseal_device", "fleet", *common, *options],
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode in (1, 2), done.stdout
        assert why in done.stderr, done.stderr
    assert not (tmp_path / "work").exists()
