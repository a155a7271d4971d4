"""One checkpoint on embedded defaults: a ledger node, a gateway, and the network around them."""

from contextlib import closing
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

from contracts import address
from contracts.actions.table import Action
from contracts.errors import RejectedError, UnavailableError
from contracts.keys import Signer
from contracts.ledger.client import LedgerClient
from contracts.ledger.place import LedgerPlace
from contracts.party.network import SampleNetwork
from contracts.party.submit import submit
from contracts.proto.payload_pb2 import HandOver, RegisterParty, RegisterSite
from contracts.records.clock import now_ms
from demo.processes import Service, run_json
from storage.bench.servers.checkpoint import GatewayFiles

NETWORK: Final = SampleNetwork(
    seller="dairy",
    carrier="haulier",
    buyer="shop",
    party_name=lambda party_id: f"{party_id.title()} Ltd",
)
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
    """Node and gateway as processes; one directory holds all they keep.

    Attributes:
        directory: Data, keys, settings and logs.
        ports: Kept over restarts, once chosen.
        existing: The ledger to use instead of its own node.
        validators: How many validators make the blocks; 0: one node alone does.
        others: Nodes of the validators besides the one that the gateway asks.
        variables: Environment variables that win over the gateway's settings file.
        lasting: Whether the processes outlive the one that starts them.
    """

    directory: Path
    ports: Ports = field(default_factory=Ports)
    existing: Existing | None = None
    validators: int = 0
    others: list[Service] = field(default_factory=list)
    node: Service | None = None
    gateway: Service | None = None
    variables: dict[str, str] = field(default_factory=dict)
    lasting: bool = False

    def check_existing(self) -> None:
        """Check that the ledger that runs already has none of the parties to register.

        Raises:
            RejectedError: It has one: to register it again would revoke its keys.
            UnavailableError: It does not answer.
        """
        if self.existing is None:
            return
        with closing(LedgerClient(LedgerPlace.here(self.existing.url))) as ledger:
            for party_id in (NETWORK.seller, NETWORK.carrier, NETWORK.buyer):
                if ledger.state(address.party(party_id)):
                    raise RejectedError(
                        f"expected a ledger without parties, {self.existing.url} has {party_id}: "
                        f"to register it again would revoke its keys"
                    )

    def start(self) -> None:
        """Start the node, unless there is a ledger already, then the gateway.

        Raises:
            UnavailableError: One of them does not get ready.
        """
        if self.existing is None:
            self.start_node()
        self.start_gateway()

    def start_node(self) -> None:
        """Start the ledger, administered with this appliance's admin key."""
        rest = ("--rest", f"127.0.0.1:{self.ports.ledger}")
        admin = ("--admin", self.key("admin").public_key)
        if self.validators:
            self._start_validators(rest, admin)
        else:
            self.node = self._node("node", *rest, *admin)
        if self.node is None:
            raise UnavailableError("no validator has started")
        self.ports = replace(self.ports, ledger=_port(self.node.addresses["rest"]))

    def _start_validators(self, rest: tuple[str, ...], admin: tuple[str, ...]) -> None:
        """Start a network of validators on this machine; the gateway asks the first one."""
        network = self.directory / "network"
        if not network.exists():
            out = ("--out", str(network), "--p2p-port", "0")
            count = ("--validators", str(self.validators))
            run_json(["wayseal-node", "init", "--chain-id", "demo", *out, *count, *admin])
        for number in range(self.validators):
            own = rest if number == 0 else ("--rest", "127.0.0.1:0")
            node = self._node(f"network/node{number}", *own, "--engine", "cometbft")
            if number == 0:
                self.node = node
            else:
                self.others.append(node)

    def _node(self, place: str, *options: str) -> Service:
        """Start one node; its log is beside its data."""
        data = self.directory / place
        return Service(
            ["wayseal-node", "--data", str(data), *options],
            data.with_name(f"{data.name}.log"),
            lasting=self.lasting,
        )

    def lose_a_validator(self) -> None:
        """Kill one validator; the others go on."""
        self.others.pop().kill()

    def start_gateway(self) -> None:
        """Start the gateway of site B, with a broker in its process."""
        self._write_settings()
        log = self.directory / "gateway.log"
        self.gateway = Service(
            self._files.command("serve"), log, self.variables, lasting=self.lasting
        )
        found = self.gateway.addresses
        self.ports = replace(self.ports, rest=_port(found["rest"]), mqtt=_port(found["mqtt"]))

    def stop(self) -> None:
        """Stop what runs, the gateway first."""
        for service in (self.gateway, self.node, *self.others):
            if service is not None:
                service.stop()
        self.gateway = self.node = None
        self.others.clear()

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
        return self._files.settings

    @property
    def gateway_data(self) -> Path:
        """Return the directory that the gateway keeps everything in."""
        return self._files.data

    def key(self, name: str) -> Signer:
        """Return the private key that this demo holds for `name`.

        Raises:
            RejectedError: The file of the existing ledger's admin key holds no valid key.
        """
        if name == "admin" and self.existing is not None:
            return Signer.load(self.existing.admin_key)
        return Signer.load_or_create(self.key_file(name))

    def key_file(self, name: str) -> Path:
        """Return where this demo keeps the private key of `name`."""
        return self.directory / "keys" / f"{name}.key"

    def gateway_key(self) -> str:
        """Return the public key that signs the gateway's receipts."""
        return self._files.public_key()

    def genesis_block_id(self) -> str:
        """Return the id of the ledger's first block."""
        with closing(LedgerClient(LedgerPlace.here(self.ledger))) as ledger:
            return ledger.genesis().header_signature

    def newest_block_num(self) -> int:
        """Return the number of the ledger's last block."""
        with closing(LedgerClient(LedgerPlace.here(self.ledger))) as ledger:
            return ledger.head_num()

    def token(self, name: str, role: str) -> str:
        """Make an API token."""
        return self._files.token(name, role)

    def trust_file(self) -> Path:
        """Write the keys that an auditor of this network trusts, taken from their makers."""
        path = self.directory / "trust.json"
        path.write_text(self._files.trust(), "utf-8")
        return path

    def register_network(self) -> None:
        """Register parties and sites, and have both sides sign a delivery with its limits."""
        self.register_parties()
        self.offer(DELIVERY_ID, "order-4711")

    def register_parties(self) -> None:
        """Register the parties and sites that the ledger does not have."""
        keys = [self.gateway_key()]
        for signer, action in NETWORK.registrations(
            lambda name: self.key(name).public_key, lambda _: keys
        ):
            if not self.has(_address(action)):
                self.sign(signer, action)

    def has(self, entry: str) -> bool:
        """Return whether the ledger's state has an entry at an address."""
        with closing(LedgerClient(LedgerPlace.here(self.ledger))) as ledger:
            return bool(ledger.state(entry))

    def offer(self, delivery_id: str, order_id: str) -> None:
        """Make the lot, and have both sides sign a delivery of it with its limits."""
        for signer, action in NETWORK.delivery(NETWORK.terms(delivery_id, order_id), now_ms()):
            self.sign(signer, action)

    def register_device(self, device_id: str, public_key: str) -> None:
        """Register a truck's recorder as the haulier's."""
        self.sign(*NETWORK.device(device_id, public_key))

    def hand_over(self, trip_id: str, delivery_id: str = DELIVERY_ID) -> None:
        """Let both parties sign each handover: at loading and at delivery."""
        seller, carrier, buyer = NETWORK.seller, NETWORK.carrier, NETWORK.buyer
        for site_id, giver, taker in (("site-a", seller, carrier), ("site-b", carrier, buyer)):
            terms = HandOver(
                trip_id=trip_id,
                delivery_id=delivery_id,
                site_id=site_id,
                from_party_id=giver,
                to_party_id=taker,
                at_ms=now_ms(),
            )
            self.sign(giver, terms)
            self.sign(taker, terms)

    def sign(self, who: str, action: Action) -> str:
        """Sign an action as one party and submit it; return the transaction id."""
        return submit(self.key(who), action, LedgerPlace.here(self.ledger))

    @property
    def _files(self) -> GatewayFiles:
        return GatewayFiles(self.directory)

    def _write_settings(self) -> None:
        ports = self.ports
        GatewayFiles.made(self.directory, self.ledger, rest=ports.rest, mqtt=ports.mqtt)


def _address(action: Action) -> str:
    """Return where the ledger keeps what an action registers."""
    if isinstance(action, RegisterParty):
        return address.party(action.party_id)
    if isinstance(action, RegisterSite):
        return address.site(action.site_id)
    raise TypeError(f"expected the registration of a party or a site, got {type(action).__name__}")


def _port(endpoint: str) -> int:
    port = endpoint.rpartition(":")[2]
    return int(port) if port.isdecimal() else 0  # a Unix socket has no port
