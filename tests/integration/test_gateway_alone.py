"""One gateway owns its data directory: a second one would sweep what the first is writing."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from demo.processes import Service, run

pytestmark = pytest.mark.integration


@pytest.fixture
def serve(tmp_path: Path) -> list[str]:
    config = tmp_path / "gateway.toml"
    config.write_text(
        f"""\
data = {json.dumps(str(tmp_path / "data"))}
site_id = "site-b"
[ledger]
url = "http://127.0.0.1:1"
[mqtt]
embedded = true
port = 0
[rest]
port = 0
"""
    )
    return ["wayseal-gateway", "serve", "--config", str(config)]


@pytest.fixture
def gateway(serve: list[str], tmp_path: Path) -> Iterator[Service]:
    service = Service(serve, tmp_path / "gateway.log")
    yield service
    service.stop()


@pytest.mark.usefixtures("gateway")
def test_a_second_gateway_is_refused(serve: list[str]) -> None:
    second = run(serve)
    assert second.returncode == 1
    assert "in use by another gateway" in second.stderr.splitlines()[-1]


def test_the_next_gateway_follows_a_killed_one(
    serve: list[str], gateway: Service, tmp_path: Path
) -> None:
    gateway.process.kill()
    gateway.process.wait()
    Service(serve, tmp_path / "next.log").stop()


def test_a_place_for_data_that_is_none_is_one_clear_error(serve: list[str], tmp_path: Path) -> None:
    (tmp_path / "data").write_bytes(b"")
    ended = run(serve)
    assert ended.returncode == 1
    assert "cannot make directory" in ended.stderr.splitlines()[-1]
    assert "Traceback" not in ended.stderr
