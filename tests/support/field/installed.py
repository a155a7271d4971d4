"""A network made by `site.yml` from bare Debian: an office with the ledger, sites, and a truck."""

import json
import ssl
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final
from urllib.error import HTTPError
from urllib.request import Request, urlopen

from support.field.ansible import CACHE, COMMANDS, Network
from support.field.machines import Machine, fleet
from support.field.prepared import prepared
from support.trucks.rogue import until

PARTIES: Final = [
    {"id": "dairy", "name": "Dairy Ltd", "roles": ["seller"]},
    {"id": "haulier", "name": "Haulier", "roles": ["carrier"]},
    {"id": "shop", "name": "Shop", "roles": ["buyer"]},
]
OFFICE: Final = "office"
SITES: Final = ("dock-a", "dock-b")
FURTHER: Final = "hub-c"
"""A third site, which comes later."""
TRUCK: Final = "truck-7"
OWNERS: Final = {"dock-a": "dairy", "dock-b": "shop", FURTHER: "haulier"}
RECEIVERS: Final = [{"name": name} for name in ("pager", "tickets", "dead-mans-switch")]
LOG: Final = "\n".join(
    ["time,temperature", *(f"2026-03-01T06:{n:02}:00Z,4.{n % 9}" for n in range(60)), ""]
)
TIMEOUT_S: Final = 60


def site(name: str) -> dict[str, Any]:
    """Return the variables of a gateway."""
    return {
        "wayseal_site": {"party": OWNERS[name], "name": f"Site {name}"},
        "gateway_tokens": [
            {"name": "ansible", "role": "operator"},
            {"name": "inspector", "role": "auditor"},
        ],
    }


@dataclass(frozen=True, slots=True)
class Installed:
    """A network on machines of a fleet.

    Attributes:
        network: Its inventory.
        stack: Takes down what a test boots.
    """

    network: Network
    stack: ExitStack

    def machine(self, name: str) -> Machine:
        return self.network.fleet.machines[name]

    def describe(self, *sites: str) -> None:
        """Write the inventory with these sites."""
        self.network.write(
            {
                "ledger": {OFFICE: {}},
                "gateways": {name: site(name) for name in sites},
                "backups": {name: {} for name in (OFFICE, *sites)},
                "monitoring": {OFFICE: {"monitoring_receivers": RECEIVERS}},
                "trucks": {
                    TRUCK: {
                        "device_party": "haulier",
                        "device_trip": {"origin_site": "dock-a", "destination_site": "dock-b"},
                    }
                },
            },
            wayseal_parties=PARTIES,
            release_wheels=str(self.network.folder / "wheels"),
        )

    def trip(self, at: str, *more: str) -> str:
        """Record a trip and offload it at a site; return its id once it is receipted.

        Args:
            at: The site.
            more: Options of `wayseal-device record`.
        """
        truck = self.machine(TRUCK)
        truck.run("sh", "-c", "cat > /root/log.csv", given=LOG)
        device = ("wayseal-device", "--config", "/etc/wayseal/device.toml")
        made = json.loads(
            truck.run(*device, "record", "--again", "--json", "--readings", "/root/log.csv", *more)
        )
        sent = json.loads(truck.run(*device, "offload", "--json", "--wait-s", "120", "--site", at))
        assert sent["receipted"] == [made["trip"]]
        return str(made["trip"])

    def token(self, name: str) -> str:
        return (self.network.secrets / name / "inspector.token").read_text().strip()

    def ask(self, name: str, path: str, token: str | None = None) -> bytes:
        """Return what a site answers to an auditor, over TLS of the network's own authority."""
        asked = Request(
            f"https://{self.machine(name).address}:8080/v1/{path}",
            headers={"Authorization": f"Bearer {token or self.token(name)}"},
        )
        with urlopen(asked, timeout=TIMEOUT_S, context=self.trusting()) as answer:  # noqa: S310 - our own address
            return bytes(answer.read())

    def trusting(self) -> ssl.SSLContext:
        return ssl.create_default_context(cafile=self.network.secrets / "pki" / "ca.crt")

    def knows(self, name: str, trip: str) -> bool:
        try:
            self.ask(name, f"trips/{trip}")
        except HTTPError as error:
            # 503: a gateway that was restored makes its index again.
            if error.code not in {404, 503}:
                raise
            return False
        return True

    def verdict(self, name: str, trip: str) -> dict[str, Any]:
        """Return what the verifier says of a trip's evidence from a site, which must hold."""
        folder = self.network.folder
        # Another site learns of the trip with the next blocks.
        until(f"{name} knows the trip", lambda: self.knows(name, trip))
        (folder / "trip.evidence").write_bytes(self.ask(name, f"evidence?trip={trip}"))
        keys = folder / f"keys-{name}.json"
        if not keys.exists():  # an auditor asks for them once
            trust = ("wayseal-gateway", "trust", "--config", "/etc/wayseal/gateway.toml")
            keys.write_text(self.machine(name).run(*trust))
        words = ["--trust", str(keys), "--trip", trip, "--json"]
        done = subprocess.run(  # noqa: S603 - our own words
            [COMMANDS / "wayseal-verify", folder / "trip.evidence", *words],
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        said = json.loads(done.stdout)
        assert isinstance(said, dict)
        return said


@contextmanager
def installed(folder: Path) -> Iterator[Installed]:
    """Yield the network as `site.yml` makes it, of bare machines but for the further sites.

    Args:
        folder: Empty; for machines, inventory and secrets.
    """
    with fleet(folder, CACHE) as (made, stack):
        image = prepared(folder)
        for name in (OFFICE, SITES[0], TRUCK):
            made.start(name, stack)
        for name in SITES[1:]:
            made.start(name, stack, image)
        yielded = Installed(Network(folder, made), stack)
        yielded.describe(*SITES)
        # As docs/ansible.md has it: sites first, and a truck when it is in reach.
        yielded.network.play("site.yml", "--limit", "all:!trucks")
        yielded.network.play("site.yml", "--limit", TRUCK)
        yield yielded
