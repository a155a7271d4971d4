"""A gateway beside a ledger node, as processes, with settings and tokens of the benchmark."""

import json
from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, Self

from contracts.files import make_directory
from storage.bench.ledger.fleet import key
from storage.bench.processes import Service, ask, serving


@dataclass(frozen=True, slots=True)
class GatewayFiles:
    """Where one gateway keeps everything.

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
        """Return the directory of all that it stores."""
        return self.directory / "data"

    @classmethod
    def made(cls, directory: Path, ledger: str) -> Self:
        """Make the directory, with settings for the ledger at a URL."""
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
port = 0

[rest]
port = 0
""",
            "utf-8",
        )
        return files

    def token(self, name: str, role: Literal["device", "operator"]) -> str:
        """Make an API token."""
        return str(json.loads(self.tokens([name], role))["token"])

    def tokens(self, names: Sequence[str], role: Literal["device", "operator"]) -> str:
        """Make API tokens; return the lines that tell them."""
        command = ("wayseal-gateway", "token", *names, "--role", role, "--config", self.settings)
        return ask(command)

    def public_key(self) -> str:
        """Return the key that signs its receipts."""
        command = ("wayseal-gateway", "key", "--config", self.settings)
        return str(json.loads(ask(command))["public_key"])

    def serving(self, profile: Path | None = None) -> AbstractContextManager[Service]:
        """Run the gateway; see `serving`."""
        command = ("wayseal-gateway", "serve", "--config", self.settings)
        return serving(command, self.directory / "gateway.log", profile)


def node(
    directory: Path, profile: Path | None = None, options: Sequence[str] = ()
) -> AbstractContextManager[Service]:
    """Run a ledger node on the chain in a directory; see `serving`.

    Args:
        directory: Made if need be.
        profile: See `serving`.
        options: More of the node's.
    """
    make_directory(directory)
    command: list[str | Path] = ["wayseal-node", "--data", directory, "--rest", "127.0.0.1:0"]
    command += ["--admin", key("admin").public_key, *options]
    return serving(command, directory / "node.log", profile)
