"""Three sites with a gateway and a Cassandra node each, and one ledger for all of them.

Where networks can be made, gateway and Cassandra node of a site are in its network namespace, each
behind a cable to the ledger and to the other sites. A truck that is at a site is inside it too.
"""

import json
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import httpx

from contracts.runtime.ports import free_port
from demo.appliance import Existing
from demo.processes import Service
from storage.bench.servers.cassandra.cluster import Cluster
from support.gateways.appliance import QuickAppliance
from support.gateways.yard import command
from support.network.world import key
from support.storage.cassandra_nodes import wait_until_all_are_up
from support.storage.cassandra_sites import COUNT, Network, network, three_sites
from support.storage.cassandras import config_of, opened, wait_until_it_works
from support.trucks.rogue import Site
from support.trucks.visits import table

KEYSPACE: Final = "network"
OWN: Final = ("copies", "stored", "whole", "playable")
"""What an answer tells of the site's own copies."""


class FieldSite(Site):
    """A site of the network; whoever asks its gateway is inside it."""

    def __init__(self, directory: Path, net: Network, index: int, ledger: Existing) -> None:
        self.site_id = f"site-{'abc'[index]}"
        super().__init__(directory, QuickAppliance(directory / self.site_id, existing=ledger))
        self.appliance.variables["WAYSEAL_SITE_ID"] = self.site_id
        self._net, self._index = net, index

    def inside(self) -> Any:  # noqa: ANN401 - a context manager
        return self._net.inside(self._index)

    def cut(self) -> Any:  # noqa: ANN401 - a context manager
        """Cut the site off: ledger and other sites are out of its reach."""
        return self._net.cut(self._index)

    def open(self) -> None:
        """Start the gateway."""
        with self.inside():
            self.appliance.start()
        self.operator = self.client("operator", "operator")
        self.auditor = self.client("auditor", "auditor")

    def ask(self, path: str) -> Any:  # noqa: ANN401 - JSON
        with self.inside():
            return super().ask(path)

    def get(self, path: str, **query: str) -> httpx.Response:
        with self.inside():
            return self.auditor.get(path, params=query)

    def copies(self, trip_id: str) -> dict[str, list[str]]:
        """Return the copies of each recording of a visit, as the gateway knows them now."""
        recordings = self.offload(trip_id).get("recordings", [])
        return {each["recording_id"]: sorted(each["copies"]) for each in recordings}

    def answers(self, trip_id: str) -> dict[str, Any]:
        """Return what an auditor is told of a trip, but for the copies at the site itself."""
        trip = f"/v1/trips/{trip_id}"
        paths = [trip, *(f"{trip}/{name}" for name in ("readings", "breaches", "findings"))]
        paths += ["/v1/deliveries/delivery-1", "/v1/lots/00012345678905/L42/trace"]
        told = {path: self.ask(path) for path in paths}
        recordings = self.ask(f"{trip}/recordings")["items"]
        told["recordings"] = [
            {name: value for name, value in each.items() if name not in OWN} for each in recordings
        ]
        return told

    def verdict(self, trip_id: str, trust: Path, folder: Path) -> dict[str, Any]:
        """Export a trip's evidence with its video here, and judge it offline."""
        answer = self.get("/v1/evidence", trip=trip_id, video="true")
        assert answer.is_success, answer.text
        file = folder / f"{self.site_id}.evidence"
        file.write_bytes(answer.content)
        ended = command("wayseal-verify", file, "--trust", trust, "--json")
        assert ended.returncode == 0, ended.stdout + ended.stderr
        found: dict[str, Any] = json.loads(ended.stdout)
        return found


@dataclass(frozen=True)
class Field:
    """All of it, running."""

    net: Network
    cassandra: Cluster
    sites: tuple[FieldSite, ...]

    def tables(self) -> str:
        """Return a truck's settings for all sites."""
        return "".join(table(site, site.site_id) for site in self.sites)

    def blocks(self) -> list[int]:
        """Return how far the index of each site is."""
        return [site.ask("/v1/status")["index_block_num"] for site in self.sites]

    def wait_for_all_nodes(self) -> None:
        """Return once a client of site A uses all Cassandra nodes."""
        config = config_of(self.cassandra, KEYSPACE, datacentre="site1", write_consistency="ALL")
        with opened(config) as store:
            wait_until_it_works(store)
            wait_until_all_are_up(store)


@contextmanager
def field(directory: Path) -> Iterator[Field]:
    """Run three sites and the ledger; all that they keep is in the directory."""
    directory.mkdir()
    with ExitStack() as closing:
        net = closing.enter_context(network(COUNT))
        cassandra = closing.enter_context(three_sites(directory / "cassandra", net))
        node = _node(directory, net)
        closing.callback(node.stop)
        admin = directory / "admin.key"
        key("admin").save(admin)
        existing = Existing(f"http://{node.addresses['rest'].removeprefix('http://')}", admin)
        sites = tuple(FieldSite(directory, net, index, existing) for index in range(COUNT))
        for index, site in enumerate(sites):
            site.appliance.variables |= _variables(cassandra, index)
            closing.callback(site.stop)
            site.open()
        yield Field(net, cassandra, sites)


def _node(directory: Path, net: Network) -> Service:
    """Start the ledger's node, outside of the sites."""
    return Service(
        [
            "wayseal-node",
            *("--data", str(directory / "node")),
            *("--rest", f"{net.hub}:{free_port()}"),
            *("--admin", key("admin").public_key),
            "--plain-text",  # a network of the test's own
        ],
        directory / "node.log",
    )


def _variables(cassandra: Cluster, index: int) -> dict[str, str]:
    copies = {node.place.datacentre: 1 for node in cassandra.nodes}
    return {
        "WAYSEAL_LEDGER__PLAIN_TEXT": "true",
        "WAYSEAL_STORAGE__BLOB_STORE": "cassandra",
        "WAYSEAL_CASSANDRA__CONTACT_POINTS": json.dumps(cassandra.addresses),
        "WAYSEAL_CASSANDRA__PORT": str(cassandra.ports.native),
        "WAYSEAL_CASSANDRA__DATACENTRE": cassandra.nodes[index].place.datacentre,
        "WAYSEAL_CASSANDRA__REPLICATION": json.dumps(copies),
        "WAYSEAL_CASSANDRA__KEYSPACE": KEYSPACE,
        "WAYSEAL_CASSANDRA__TIMEOUT_S": "5",
        "WAYSEAL_RECEIPTS__REQUIRES": '["volume:fsync", "blobs:QUORUM"]',
    }
