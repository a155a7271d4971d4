"""Gateway and ledger node as processes, with settings and tokens of a benchmark or the demo."""

import json
from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from contracts.runtime.files import make_directory
from storage.bench.servers.processes import Service, ask, serving
from storage.bench.trucks.fleet import key


@dataclass(frozen=True, slots=True)
class GatewayFiles:
    """The files of the gateway of site B, which has a broker in its process.

    Attributes:
        directory: For settings, data and log.
    """

    directory: Path

    @property
    def settings(self) -> Path:
        """Return the settings file."""
        return self.directory / "gateway.toml"

    @property
    def data(self) -> Path:
        """Return the directory of its data."""
        return self.directory / "gateway"

    @classmethod
    def made(cls, directory: Path, ledger: str, *, rest: int = 0, mqtt: int = 0) -> Self:
        """Make the directory and the settings.

        Args:
            directory: For settings, data and log.
            ledger: URL of the ledger.
            rest: Port on 127.0.0.1; with 0 the system chooses.
            mqtt: The broker's port likewise.
        """
        files = cls(directory)
        make_directory(directory)
        files.settings.write_text(
            f"""\
data = {json.dumps(str(files.data))}
site_id = "site-b"

[ledger]
url = "{ledger}"

[mqtt]
embedded = true
port = {mqtt}

[rest]
port = {rest}
""",
            "utf-8",
        )
        return files

    def command(self, *words: str) -> list[str]:
        """Return the command line of `wayseal-gateway` with these settings."""
        return ["wayseal-gateway", *words, "--config", str(self.settings)]

    def token(self, name: str, role: str) -> str:
        """Make an API token: `role` is auditor, device or operator."""
        return str(json.loads(self.tokens([name], role))["token"])

    def tokens(self, names: Sequence[str], role: str) -> str:
        """Make API tokens; return them as JSON, one a line."""
        return ask(self.command("token", *names, "--role", role))

    def public_key(self) -> str:
        """Return the public key of its receipts."""
        return str(json.loads(ask(self.command("key")))["public_key"])

    def trust(self) -> str:
        """Return the trust file of its network, JSON."""
        return ask(self.command("trust"))

    def serving(self, profile: Path | None = None) -> AbstractContextManager[Service]:
        """Run the gateway; see `serving`."""
        return serving(self.command("serve"), self.directory / "gateway.log", profile)


def node(
    directory: Path,
    profile: Path | None = None,
    options: Sequence[str] = (),
    group: Path | None = None,
) -> AbstractContextManager[Service]:
    """Run a ledger node on the chain in a directory; see `serving`.

    Args:
        directory: Made if need be.
        profile: See `serving`.
        options: Further options of the node.
        group: See `serving`.
    """
    make_directory(directory)
    command: list[str | Path] = ["wayseal-node", "--data", directory, "--rest", "127.0.0.1:0"]
    command += ["--admin", key("admin").public_key, *options]
    return serving(command, directory / "node.log", profile, group)
