"""One checkpoint on embedded defaults: a ledger node, a gateway, and the network around them."""

import json
from dataclasses import dataclass, field
from pathlib import Path

from contracts.keys import Signer
from contracts.party.submit import submit
from contracts.payload import Action
from contracts.proto.payload_pb2 import (
    BUYER,
    CARRIER,
    SELLER,
    Limit,
    Lot,
    OpenDelivery,
    RegisterDevice,
    RegisterParty,
    RegisterSite,
)
from demo.processes import Service, run, run_json

PARTIES = {
    "dairy": ("Dairy Ltd", SELLER),
    "haulier": ("Haulier Ltd", CARRIER),
    "shop": ("Shop Ltd", BUYER),
}
SITES = {"site-a": ("dairy", "4006381333931"), "site-b": ("shop", "5901234123457")}
DELIVERY_ID = "delivery-1"


@dataclass(frozen=True, slots=True)
class Ports:
    """Where the appliance listens on 127.0.0.1; 0 lets the system choose."""

    rest: int = 0
    mqtt: int = 0
    ledger: int = 0


@dataclass(frozen=True, slots=True)
class Existing:
    """A ledger that runs already, with the rules of family `wayseal`.

    Attributes:
        url: Of its REST API.
        admin_key: File of a private key that may register parties there.
    """

    url: str
    admin_key: Path


@dataclass(slots=True)
class Appliance:
    """The processes, and where they keep everything: one directory.

    Attributes:
        directory: Data, keys, settings and logs.
        ports: Kept over restarts, once chosen.
        existing: The ledger to use instead of a node of its own.
        variables: Environment variables that win over the gateway's settings file.
    """

    directory: Path
    ports: Ports = field(default_factory=Ports)
    existing: Existing | None = None
    node: Service | None = None
    gateway: Service | None = None
    variables: dict[str, str] = field(default_factory=dict)

    def start(self) -> None:
        """Start the node, unless there is a ledger already, then the gateway.

        Raises:
            UnavailableError: One of them does not get ready.
        """
        if self.existing is None:
            self.start_node()
        self.start_gateway()

    def start_node(self) -> None:
        """Start the ledger node, administered with this appliance's admin key."""
        self.node = Service(
            [
                "wayseal-node",
                *("--data", str(self.directory / "node")),
                *("--rest", f"127.0.0.1:{self.ports.ledger}"),
                *("--admin", self.key("admin").public_key),
            ],
            self.directory / "node.log",
        )
        self.ports = Ports(self.ports.rest, self.ports.mqtt, _port(self.node.addresses["rest"]))

    def start_gateway(self) -> None:
        """Start the gateway of site B, with a broker in its process."""
        self._write_settings()
        command = ["wayseal-gateway", "serve", "--config", str(self.settings_file)]
        self.gateway = Service(command, self.directory / "gateway.log", self.variables)
        found = self.gateway.addresses
        self.ports = Ports(_port(found["rest"]), _port(found["mqtt"]), self.ports.ledger)

    def stop(self) -> None:
        """Stop what runs, the gateway first."""
        for service in (self.gateway, self.node):
            if service is not None:
                service.stop()
        self.gateway = self.node = None

    @property
    def rest(self) -> str:
        """Return the gateway's URL."""
        return f"http://127.0.0.1:{self.ports.rest}"

    @property
    def mqtt(self) -> str:
        """Return the broker's address."""
        return f"127.0.0.1:{self.ports.mqtt}"

    @property
    def ledger(self) -> str:
        """Return the ledger's URL."""
        if self.existing is not None:
            return self.existing.url
        return f"http://127.0.0.1:{self.ports.ledger}"

    @property
    def settings_file(self) -> Path:
        """Return the gateway's settings file."""
        return self.directory / "gateway.toml"

    @property
    def gateway_data(self) -> Path:
        """Return the directory that the gateway keeps everything in."""
        return self.directory / "gateway"

    def key(self, name: str) -> Signer:
        """Return the private key that this demo holds for `name`.

        Raises:
            RejectedError: The admin key of the existing ledger is none.
        """
        if name == "admin" and self.existing is not None:
            return Signer.load(self.existing.admin_key)
        return Signer.load_or_create(self.directory / "keys" / f"{name}.key")

    def gateway_key(self) -> str:
        """Return the public key that signs the gateway's receipts."""
        found = run_json(["wayseal-gateway", "key", "--config", str(self.settings_file)])
        return str(found["public_key"])

    def token(self, name: str, role: str) -> str:
        """Make an API token."""
        command = ["wayseal-gateway", "token", name, "--role", role]
        return str(run_json([*command, "--config", str(self.settings_file)])["token"])

    def trust_file(self) -> Path:
        """Write the keys that an auditor of this network trusts, taken from their makers."""
        done = run(["wayseal-gateway", "trust", "--config", str(self.settings_file)])
        path = self.directory / "trust.json"
        path.write_text(done.stdout, "utf-8")
        return path

    def register_network(self) -> None:
        """Register parties and sites, and have both sides sign a delivery with its limits."""
        for party_id, (name, role) in PARTIES.items():
            keys = [self.key(party_id).public_key]
            party = RegisterParty(party_id=party_id, name=name, public_keys=keys, roles=[role])
            self.sign("admin", party)
        for site_id, (party_id, gln) in SITES.items():
            site = RegisterSite(
                site_id=site_id,
                party_id=party_id,
                name=f"Dock of {PARTIES[party_id][0]}",
                gln=gln,
                gateway_public_keys=[self.gateway_key()],
            )
            self.sign(party_id, site)
        terms = OpenDelivery(
            delivery_id=DELIVERY_ID,
            order_id="order-4711",
            lots=[Lot(gtin="00012345678905", lot="L42")],
            product="fresh milk",
            quantity=1200,
            unit="LTR",
            seller_id="dairy",
            carrier_id="haulier",
            buyer_id="shop",
            limits=[
                Limit(quantity=Limit.TEMPERATURE_MCEL, minimum=2000, maximum=8000, tolerated_s=600)
            ],
        )
        self.sign("dairy", terms)
        self.sign("shop", terms)

    def register_device(self, device_id: str, public_key: str) -> None:
        """Register a truck's recorder as the haulier's."""
        device = RegisterDevice(device_id=device_id, party_id="haulier", public_keys=[public_key])
        self.sign("haulier", device)

    def sign(self, who: str, action: Action) -> str:
        """Put one party's word on the ledger; return its transaction id."""
        return submit(self.key(who), action, self.ledger)

    def _write_settings(self) -> None:
        self.settings_file.parent.mkdir(parents=True, exist_ok=True)
        self.settings_file.write_text(
            f"""\
data = {json.dumps(str(self.gateway_data))}
site_id = "site-b"

[ledger]
url = "{self.ledger}"

[mqtt]
embedded = true
port = {self.ports.mqtt}

[rest]
port = {self.ports.rest}
""",
            "utf-8",
        )


def _port(address: str) -> int:
    return int(address.rsplit(":", 1)[1])
