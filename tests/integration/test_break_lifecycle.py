"""A gateway that is stopped, started twice, or brought to another ledger."""

import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from contracts.errors import UnavailableError
from demo.appliance import Appliance
from storage.bench.servers.processes import executable
from support.trucks.rogue import running_site, until

pytestmark = pytest.mark.integration


@pytest.fixture
def appliance(tmp_path: Path) -> Iterator[Appliance]:
    made = Appliance(tmp_path / "site-b")
    try:
        made.start()
        yield made
    finally:
        made.stop()


def test_sigterm_closes_everything_and_exits_0(appliance: Appliance) -> None:
    assert appliance.gateway is not None
    assert appliance.gateway.stop() == 0
    assert not list(appliance.gateway_data.glob("*-wal"))


def test_a_second_gateway_on_the_same_data_is_refused(appliance: Appliance) -> None:
    # The settings file was written before the ports were chosen, so it asks for free ones.
    with subprocess.Popen(  # noqa: S603  # our own command
        [executable("wayseal-gateway"), "serve", "--config", appliance.settings_file],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as second:
        assert second.stdout is not None
        said = second.stdout.readline()
        second.kill()
    assert not said.startswith("ready"), said


def test_another_genesis_is_not_answered_with_the_old_ledger(tmp_path: Path) -> None:
    with running_site(tmp_path) as site:
        until("the delivery", lambda: bool(site.ask("/v1/parties")["items"]))
        site.appliance.stop()
        shutil.rmtree(site.appliance.directory / "node")
        try:
            site.appliance.start()
        except UnavailableError:
            return  # to refuse another ledger is as good as to follow it
        site.operator = site.client("operator", "operator")
        until("an empty ledger's answer", lambda: not site.ask("/v1/parties")["items"])
