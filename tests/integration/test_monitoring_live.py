"""A real Prometheus watches a real gateway and node, and tells what is wrong with them."""

import re
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Final

import pytest

from support.machine.mosquitto import MosquittoAppliance
from support.machine.private import write_private
from support.machine.prometheus import Prometheus
from support.project.alerts import OF_PROMETHEUS, alerts, metrics_of, panel_expressions, tool
from support.trucks.rogue import until

pytestmark = pytest.mark.integration

AT_PEACE: Final = {"Watchdog", "BackupMissing"}
"""A backup takes more than a day to be missed; here no alert waits."""
OF_THE_MACHINE: Final = {"ClockNotSynchronised", "DiskFilling", "DiskFull", "DriveWorn"}
"""What this machine may really have."""


@dataclass
class Watched:
    """An appliance and the Prometheus that watches it."""

    site: MosquittoAppliance
    prometheus: Prometheus
    token: str

    def metrics(self, url: str) -> str:
        asked = urllib.request.Request(  # noqa: S310 - our own servers
            f"{url}/metrics", headers={"Authorization": f"Bearer {self.token}"}
        )
        with urllib.request.urlopen(asked) as answer:  # noqa: S310
            return str(answer.read().decode())

    def sees(self, expression: str, value: float) -> bool:
        return self.prometheus.value(expression) == value

    def fires(self, name: str) -> None:
        until(f"alert {name}", lambda: name in self.prometheus.firing())

    def ends(self, name: str) -> None:
        until(f"the end of alert {name}", lambda: name not in self.prometheus.firing())


@pytest.fixture(scope="module")
def watched(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Watched]:
    root = tmp_path_factory.mktemp("watched")
    site = MosquittoAppliance(root / "site")
    site.variables = {"WAYSEAL_BACKUP__DIRECTORY": str(root / "backups")}
    site.start()
    site.register_network()
    token = site.token("prometheus", "operator")
    prometheus = Prometheus(
        root / "prometheus",
        site.rest.removeprefix("http://"),
        token,
        site.ledger.removeprefix("http://"),
    )
    try:
        prometheus.start()
        yield Watched(site, prometheus, token)
    finally:
        prometheus.stop()
        site.stop()


def test_a_site_at_peace_has_the_watchdog_and_no_backup_yet(watched: Watched) -> None:
    for job in ("wayseal-gateway", "wayseal-node"):
        up = f'up{{job="{job}"}}'
        until(f"the first scrape of {job}", partial(watched.sees, up, 1))
    until("peace", lambda: watched.prometheus.firing() - OF_THE_MACHINE == AT_PEACE)


def test_metrics_are_as_prometheus_wants_them(watched: Watched) -> None:
    for url in (watched.site.rest, watched.site.ledger):
        checked = tool("promtool", "check", "metrics", stdin=watched.metrics(url))
        assert (checked.returncode, checked.stdout, checked.stderr) == (0, "", "")


def test_every_metric_that_alerts_and_panels_name_exists(watched: Watched) -> None:
    told = watched.metrics(watched.site.rest) + watched.metrics(watched.site.ledger)
    names = set(re.findall(r"^# TYPE (\w+) ", told, re.MULTILINE))
    names |= {f"{name}_{part}" for name in names for part in ("sum", "bucket", "count")}
    named = {name for each in alerts() for name in metrics_of(each["expr"])}
    named |= {name for each in panel_expressions() for name in metrics_of(each)}
    assert {name for name in named if not OF_PROMETHEUS.fullmatch(name)} <= names


def test_metrics_of_the_node(watched: Watched) -> None:
    value = watched.prometheus.value
    until("the node's metrics", lambda: value("wayseal_node_ready") == 1)
    assert value("sum(wayseal_node_out)") == 0
    until("the index", lambda: value("wayseal_node_block_num - on () wayseal_index_block_num") == 0)
    age_s = value("time() - wayseal_node_block_timestamp_seconds")
    assert age_s is not None
    assert age_s < 3600
    assert (value("wayseal_node_disk_free_bytes") or 0) > 0


def test_a_lost_broker_is_told_until_it_is_back(watched: Watched) -> None:
    broker = watched.site.broker
    assert broker is not None
    broker.stop()
    watched.fires("BrokerDown")
    broker.start()
    watched.ends("BrokerDown")


def test_a_volume_that_is_gone_is_told_until_it_is_back(watched: Watched) -> None:
    volume = watched.site.gateway_data / "volume"
    away = volume.rename(volume.with_name("away"))
    watched.fires("VolumeDown")
    watched.fires("NoVolumeWorks")
    away.rename(volume)
    watched.ends("NoVolumeWorks")
    watched.ends("VolumeDown")


def test_a_lost_ledger_is_told_twice(watched: Watched) -> None:
    node = watched.site.node
    assert node is not None
    node.kill()
    watched.fires("NodeDown")
    watched.fires("LedgerDown")
    watched.site.start_node()
    watched.ends("NodeDown")
    watched.ends("LedgerDown")


def test_a_wrong_token_is_no_silence(watched: Watched) -> None:
    file = watched.prometheus.token_file
    write_private(file, "wrong")
    watched.fires("GatewayDown")
    write_private(file, watched.token)
    watched.ends("GatewayDown")


def test_a_killed_gateway_is_told_until_it_is_back(watched: Watched) -> None:
    gateway = watched.site.gateway
    assert gateway is not None
    gateway.kill()
    watched.fires("GatewayDown")
    watched.site.start_gateway()
    watched.ends("GatewayDown")
    until("peace", lambda: watched.prometheus.firing() - OF_THE_MACHINE == AT_PEACE)
