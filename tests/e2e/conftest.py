"""A whole appliance for a test: node, gateway, and a network that they serve."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from demo.appliance import Appliance
from demo.auditor import Auditor
from demo.processes import run
from support.ledgers.brought import existing_ledger
from support.project.checkout import make_checkout


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """Return a checkout in a folder whose name has to be quoted everywhere."""
    return make_checkout(tmp_path / "a 'nice' place")


@pytest.fixture
def appliance(tmp_path: Path) -> Iterator[Appliance]:
    with existing_ledger(tmp_path) as existing:
        made = Appliance(tmp_path / "site-b", existing=existing)
        try:
            made.start()
            made.register_network()
            yield made
        finally:
            made.stop()


@pytest.fixture
def operator(appliance: Appliance) -> Iterator[Auditor]:
    asker = Auditor(appliance.rest, appliance.token("operator", "operator"))
    yield asker
    asker.close()


@pytest.fixture(scope="session")
def trip_files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A simulated trip of 1,080 readings and a video of several blobs."""
    out = tmp_path_factory.mktemp("trip")
    done = run(["wayseal-device", "simulate", "--out", str(out)])
    assert done.returncode == 0, done.stderr
    return out
