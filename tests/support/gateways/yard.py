"""A site whose video is outside the data directory, and our commands run in this process."""

import io
import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, NoReturn

import pytest

from contracts.evidence.wayseal_verify import main as verify
from contracts.ledger.options import Options, parse_command
from contracts.ledger.wayseal_node import run_command
from gateway.wayseal_gateway import main as gateway
from support.evidence.chain import digest_of
from support.network.world import Trip, reading
from support.trucks.rogue import Site, nonce, running_site, until
from support.trucks.uploads import offer_of, send


@dataclass(frozen=True)
class Ended:
    """How a command ended."""

    returncode: int
    stdout: str
    stderr: str


def command(name: str, *words: object) -> Ended:
    """Run a command of ours to its end, in this process: a start takes seconds."""
    out, err = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        try:
            COMMANDS[name](list(map(str, words)))
        except SystemExit as ended:
            return Ended(int(ended.code or 0), out.getvalue(), err.getvalue())
    raise AssertionError(f"{name} did not exit")


def node(words: list[str]) -> NoReturn:
    parsed = parse_command(words)
    assert not isinstance(parsed, Options)
    raise SystemExit(run_command(parsed))


COMMANDS: Final[dict[str, Callable[[list[str]], object]]] = {
    "wayseal-gateway": gateway,
    "wayseal-node": node,
    "wayseal-verify": lambda words: sys.exit(verify(words)),
}


def done(name: str, *words: object) -> dict[str, Any]:
    """Run a command that works; return what it printed."""
    ended = command(name, *words)
    assert ended.returncode == 0, ended.stderr + ended.stdout
    document: dict[str, Any] = json.loads(ended.stdout)
    return document


def refused(name: str, *words: object) -> str:
    """Run a command that fails; return what it said."""
    ended = command(name, *words)
    assert ended.returncode == 1, ended.stderr + ended.stdout
    return ended.stderr + ended.stdout


class Yard:
    """A site whose video is outside the data directory, as docs/operator.md has it."""

    def __init__(self, site: Site, folder: Path) -> None:
        self.site, self.folder = site, folder
        self.appliance = site.appliance
        self.node_data = self.appliance.directory / "node"
        self.settings = self.appliance.settings_file
        self.auditor = site.client("auditor", "auditor")
        self.backups = folder / "backups"
        self.options = ("--config", self.settings)
        self.node = ("--data", self.node_data)

    def visit(self, number: int) -> tuple[Trip, bytes]:
        """Let a truck leave with a final receipt for a trip with a video."""
        trip, content = Trip(nonce=nonce(number)), b"film %d " % number * 300_000
        *batches, video = trip.whole([reading(0)], [digest_of(content)])
        with self.site.device() as truck:
            truck.send(*batches)
            truck.ask(recordings=[offer_of(trip, content, video)])
            send(self.site.client("truck-1", "device"), content)
            self.receipted(trip)
        return trip, content

    def receipted(self, trip: Trip) -> None:
        until("the receipt", lambda: self.site.offload(trip.trip_id).get("receipted", False))

    def readable(self, trip: Trip, content: bytes) -> None:
        """Check that a trip and its video are shown, and that its evidence holds."""
        assert len(self.site.ask(f"/v1/trips/{trip.trip_id}/readings")["items"]) == 1
        video = digest_of(content).sha256.hex()
        found = self.site.operator.get(f"/v1/recordings/{video}/content")
        assert found.content == content
        file = self.folder / "evidence"
        query = {"trip": trip.trip_id, "video": "true"}
        file.write_bytes(self.auditor.get("/v1/evidence", params=query).content)
        trust = self.appliance.trust_file()
        checked = command("wayseal-verify", file, "--trust", trust)
        assert checked.returncode == 0, checked.stdout + checked.stderr

    def commit_again(self, trip: Trip) -> None:
        """Wait until the gateway has put a trip on the restored ledger again."""

        def is_there() -> bool:
            answer = self.site.operator.get(f"/v1/trips/{trip.trip_id}/readings")
            return answer.is_success and len(answer.json()["items"]) == 1

        until("the trip", is_there)
        self.receipted(trip)

    def kill_gateway(self) -> None:
        assert self.appliance.gateway is not None
        self.appliance.gateway.kill()

    def kill_node(self) -> None:
        assert self.appliance.node is not None
        self.appliance.node.kill()


@contextmanager
def running_yard(folder: Path) -> Iterator[Yard]:
    """Run a site with backups, volume and blobs in directories of their own."""
    variables = {
        "WAYSEAL_VOLUME": str(folder / "video"),
        "WAYSEAL_BLOBS": str(folder / "blobs"),
        "WAYSEAL_BACKUP__DIRECTORY": str(folder / "backups"),
    }
    with pytest.MonkeyPatch.context() as patch:
        for name, value in variables.items():
            patch.setenv(name, value)
        with running_site(folder, variables=variables) as site:
            yield Yard(site, folder)
