"""What docs/network.md tells four organisations to type, typed by each in its own folder."""

import json
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any, Final

import pytest

from contracts.commits import check_commit, validators_of
from contracts.evidence.trust import Trust, TrustedNetwork
from contracts.ledger.client import LedgerClient
from contracts.proto.cometbft_pb2 import SealedHeader
from contracts.runtime.ports import free_port
from contracts.succession import SETTING as PREDECESSORS
from support.ledgers.cometbft import need_cometbft
from support.machine.private import write_private
from support.machine.waiting import wait_until
from support.project.pages import ROOT
from support.project.typed import carry_out

pytestmark = pytest.mark.integration

PAGE: Final = (ROOT / "docs" / "network.md").read_text("utf-8")
FOUR: Final = ("dairy", "haulier", "shop", "port")
ADMINISTER: Final = FOUR[:2]
AGREE: Final = 3
DEADLINE_S: Final = 240


FOUNDING: Final = "Four organisations found a network"
GOING_ON: Final = "A ledger of one node goes on as a network's"


def typed(command: str, heading: str) -> str:
    """Return the line below a heading that begins with a command."""
    section = PAGE.split(f"## {heading}\n", 1)[1].split("\n## ", 1)[0]
    (line,) = re.findall(rf"^ {{8}}({re.escape(command)}(?: .*)?)$", section, re.MULTILINE)
    return str(line)


class Organisations:
    """Four folders, each with the data, the keys and the validator of one organisation."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.rest = {name: free_port() for name in FOUR}
        self._p2p = {name: free_port() for name in FOUR}
        self._running: list[subprocess.Popen[bytes]] = []
        for name in FOUR:
            (folder / name).mkdir()

    def place(self, name: str) -> str:
        return f"http://127.0.0.1:{self.rest[name]}"

    def line(self, name: str, command: str, keys: Mapping[str, str], heading: str) -> str:
        """Return a line of the page as this organisation types it on this machine."""
        line = typed(command, heading)
        moved = {
            "/var/lib/wayseal/node": "old",
            "/var/lib/wayseal": "data",
            "0.0.0.0:26656": f"127.0.0.1:{self._p2p[name]}",
            "ledger.dairy.example:26656": f"127.0.0.1:{self._p2p[name]}",
            "> dairy.json": f"> {name}.json",
            "127.0.0.1:8008": f"127.0.0.1:{self.rest[name]}",
            **keys,
        }
        for old, new in moved.items():
            line = line.replace(old, new)
        return line

    def type(
        self,
        name: str,
        command: str,
        keys: Mapping[str, str] | None = None,
        heading: str = FOUNDING,
    ) -> str:
        """Type a line; return what it printed."""
        folder = self.folder / name
        (folder / "script").write_text(self.line(name, command, keys or {}, heading), "utf-8")
        return carry_out("script", folder, {}, DEADLINE_S)

    def give(self, file: str, giver: str) -> None:
        """Send a file to the others."""
        for name in FOUR:
            (self.folder / name / file).write_bytes((self.folder / giver / file).read_bytes())

    def start(self, name: str) -> None:
        """Start a validator; return once it serves."""
        self.serve(name, *shlex.split(self.line(name, "wayseal-node --data", {}, FOUNDING))[1:])

    def serve(self, name: str, *options: str) -> None:
        """Start a node; return once it serves."""
        program = Path(sys.executable).parent / "wayseal-node"
        log = self.folder / name / f"log-{len(self._running)}"
        with log.open("wb") as out:
            self._running.append(
                subprocess.Popen(  # noqa: S603 - our own page
                    [program, *options], cwd=self.folder / name, stdout=out, stderr=out
                )
            )
        wait_until(lambda: b"ready rest=" in log.read_bytes(), DEADLINE_S)

    def close(self) -> None:
        """End all that runs."""
        for each in self._running:
            each.terminate()
        for each in self._running:
            assert each.wait(DEADLINE_S) == 0
        self._running.clear()


@pytest.fixture
def four(tmp_path: Path) -> Iterator[Organisations]:
    need_cometbft()
    with closing(Organisations(tmp_path)) as made:
        yield made


def public_key(said: str) -> str:
    return str(json.loads(said)["public_key"])


def exchange_cards(four: Organisations) -> None:
    for name in FOUR:
        four.type(name, "wayseal-node validator")
        four.give(f"{name}.json", name)


def found(four: Organisations) -> dict[str, Any]:
    """Make keys and the network file, join and start; return what `found` said."""
    exchange_cards(four)
    made = [
        public_key(four.type(name, "wayseal-party --key admin.key make-key")) for name in ADMINISTER
    ]
    keys = dict(zip(("02ab…", "03cd…"), made, strict=True))
    said: dict[str, Any] = json.loads(four.type(FOUR[0], "wayseal-node found", keys))
    assert said["administrators"] == made
    four.give("cold-chain-1.json", FOUR[0])
    for name in FOUR:
        assert json.loads(four.type(name, "wayseal-node join")) == said | {"network": "data"}
    for name in FOUR:
        four.start(name)
    return said


def sealed_head(four: Organisations, name: str) -> SealedHeader:
    """Return the last block of a validator with its signatures, once it has them."""
    found: list[SealedHeader] = []

    def signed() -> bool:
        with closing(LedgerClient(four.place(name))) as ledger:
            found[:] = ledger.seals(ledger.head_id()) or []
        return bool(found)

    wait_until(signed, DEADLINE_S)
    return found[-1]


def test_four_organisations_found_a_network_as_the_page_says(four: Organisations) -> None:
    said = found(four)
    for name, key in zip(
        ADMINISTER, said["administrators"], strict=True
    ):  # at their own validators
        keys = {"02ef…": key, "-party dairy": f"-party {name}"}
        four.type(name, "wayseal-party --key admin.key --ledger", keys)
    for name in FOUR:
        sealed = sealed_head(four, name)
        assert set(validators_of(sealed)) == set(said["validators"])
        assert len(check_commit(sealed)) >= AGREE
    settings = f'data = "gateway"\nsite_id = "dock"\n[ledger]\nurl = "{four.place(FOUR[3])}"\n'
    write_private(four.folder / "gateway.toml", settings + "[mqtt]\nembedded = true\n")
    (four.folder / "script").write_text("wayseal-gateway trust --config gateway.toml > trust.json")
    carry_out("script", four.folder, {}, DEADLINE_S)
    trust = Trust.load(four.folder / "trust.json")
    assert trust.network == TrustedNetwork(said["chain_id"], said["validators"])
    assert trust.genesis_block_id == said["genesis_block_id"]
    assert trust.admin_keys == set(said["administrators"])


@pytest.mark.long
def test_a_ledger_of_one_node_goes_on_as_the_page_says(four: Organisations) -> None:
    first = FOUR[0]
    key = public_key(four.type(first, "wayseal-party --key admin.key make-key"))
    rest = f"127.0.0.1:{four.rest[first]}"
    four.serve(first, "--data", "old", "--rest", rest, "--admin", key)
    register = "wayseal-party --key admin.key --ledger"
    four.type(first, register, {"02ef…": key})
    with closing(LedgerClient(four.place(first))) as ledger:
        head = ledger.head_id()
    four.close()
    four.type(first, "wayseal-node export", heading=GOING_ON)
    four.give("ledger.chain", first)
    exchange_cards(four)
    said = json.loads(four.type(first, "wayseal-node found", heading=GOING_ON))
    assert "administrators" not in said  # they stay
    four.give("cold-chain-1.json", first)
    for name in FOUR:
        joined = json.loads(four.type(name, "wayseal-node join", heading=GOING_ON))
        assert joined == said | {"network": "data"}
    for name in FOUR:
        four.start(name)
    other = public_key(four.type(FOUR[2], "wayseal-party --key admin.key make-key"))
    four.type(first, register, {"02ef…": other, "-party dairy": "-party shop"})
    for name in FOUR:
        assert set(validators_of(sealed_head(four, name))) == set(said["validators"])
        with closing(LedgerClient(four.place(name))) as ledger:
            assert head in ledger.setting(PREDECESSORS)
