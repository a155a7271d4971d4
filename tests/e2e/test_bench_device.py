"""`make bench-device` at its smallest: every key is there, and nothing is left behind."""

import json
import os
from pathlib import Path

import pytest

from storage.bench.goals.device.figures import PUBLISHED
from storage.bench.run.directories import WORKPLACE
from support.project.checkout import ROOT, live_data, make, running

pytestmark = pytest.mark.e2e

FILM = Path(os.environ.get("WAYSEAL_SAMPLES", ROOT.parent / "shared" / "data")) / "dock_camera.avi"


@pytest.mark.long
@pytest.mark.timeout(900)
def test_every_key_is_printed_and_written(checkout: Path) -> None:
    if os.geteuid() != 0:
        pytest.skip("it mounts a card, which needs root")
    if not FILM.is_file():
        pytest.skip(f"no {FILM}; WAYSEAL_SAMPLES names its folder")
    done = make(checkout, "bench-device", OPTIONS=f"--smallest --film {FILM}")
    assert done.returncode == 0, done.stdout + done.stderr
    figures = json.loads(done.stdout.splitlines()[-1])
    assert tuple(figures) == PUBLISHED
    assert figures == json.loads((checkout / "build" / "bench" / "device.json").read_text())
    assert all(figures[name] > 0 for name in PUBLISHED)
    assert figures["fleet_receipts"] == 2
    assert running(checkout) == []
    assert not live_data(checkout).exists()
    assert not (checkout / "build" / "bench" / WORKPLACE).exists()


def test_a_film_that_is_not_there_is_named(checkout: Path) -> None:
    done = make(checkout, "bench-device", OPTIONS="--film nowhere.avi")
    assert done.returncode != 0
    assert "nowhere.avi: expected a film of people" in done.stderr or os.geteuid() != 0
