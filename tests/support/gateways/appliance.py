"""An appliance for tests of something other than the gateway's commands."""

from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from contracts.ledger.client import LedgerClient
from contracts.runtime.ports import free_port
from demo.appliance import Appliance, Ports
from gateway.access import Role, Tokens
from gateway.ownkey import own_key
from gateway.settings_file import load_settings
from support.network.world import key


class QuickAppliance(Appliance):
    """Makes tokens and reads the gateway's key in the test's own process.

    `wayseal-gateway token` and `key` do the same, but each takes 1.5 s of CPU to start.
    """

    def start(self) -> None:
        """Start on ports that no client is given while the appliance is stopped for a while."""
        if self.ports == Ports():
            self.ports = Ports(free_port(), free_port(), free_port())
        super().start()

    def token(self, name: str, role: str) -> str:
        return Tokens(load_settings(self.settings_file).tokens_file).add(name, Role(role))

    def gateway_key(self) -> str:
        return own_key(load_settings(self.settings_file)).public_key


@contextmanager
def founded(folder: Path) -> Iterator[tuple[Appliance, LedgerClient]]:
    """Run the node of an appliance whose network `admin` of the tests founded, and a client."""
    appliance = Appliance(folder)
    path = folder / "keys" / "admin.key"
    path.parent.mkdir()
    key("admin").save(path)
    appliance.start_node()
    try:
        with closing(LedgerClient(appliance.ledger)) as client:
            yield appliance, client
    finally:
        appliance.stop()


class SecuredAppliance(QuickAppliance):
    """An appliance whose REST uses TLS."""

    @property
    def rest(self) -> str:
        """Return the URL of the gateway."""
        return super().rest.replace("http:", "https:")
