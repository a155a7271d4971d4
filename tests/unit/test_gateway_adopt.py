"""`wayseal-gateway adopt` takes only the successor of its own ledger; else it changes nothing."""

import json
from argparse import Namespace
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import pytest

from contracts.address import setting
from contracts.errors import RejectedError, UnavailableError
from contracts.proto.sawtooth_pb2 import Setting
from contracts.runtime.files import locked
from contracts.succession import SETTING, Predecessor, encode
from gateway.commands.adopt import run
from gateway.index.store import IndexStore
from gateway.intake.inbox import Inbox
from gateway.settings_file import load_settings
from support.ledgers.fake import FakeLedger
from support.machine.private import write_private
from support.network.world import key

OLD, END, OTHER = ("a" * 128, "b" * 128, "c" * 128)
OLD_URL = "http://127.0.0.1:8008"
HEIGHT = 7


@dataclass
class Site:
    """A gateway's files and the ledger that it is to adopt."""

    folder: Path
    ledger: FakeLedger

    @property
    def file(self) -> Path:
        return self.folder / "gateway.toml"

    def inbox(self) -> Inbox:
        sizes = 1 << 20
        return Inbox(self.folder / "data" / "inbox.db", bytes_max=sizes, quarantine_bytes_max=sizes)

    def index(self, *blocks: tuple[int, str]) -> None:
        """Have seen these blocks of the old ledger."""
        with closing(IndexStore(self.folder / "data" / "index.db")) as store:
            store.add({"blocks": [(*block, b"header") for block in blocks]})

    def adopt(self, url: str = "") -> None:
        settings = load_settings(self.file)
        run(Namespace(config=self.file, url=url or self.ledger.url), settings)

    def kept(self) -> tuple[str, str | None]:
        with closing(self.inbox()) as inbox:
            return self.file.read_text("utf-8"), inbox.genesis_id()


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    with FakeLedger() as ledger:
        ledger.extend([[]])
        made = Site(tmp_path, ledger)
        text = f'data = "{tmp_path}/data"\nsite_id = "b"\n[ledger]\nurl = "{OLD_URL}"\n'
        write_private(made.file, text)
        (tmp_path / "data").mkdir()
        with closing(made.inbox()) as inbox:
            inbox.put_genesis_id(OLD)
        ledger.state[setting(SETTING)] = b""
        yield made


def succeeds(site: Site) -> None:
    """Let the ledger say that it goes on from block `HEIGHT` of the old one."""
    before = Predecessor(OLD, HEIGHT, END, (key("node").public_key,))
    entry = Setting.Entry(key=SETTING, value=encode([before]))
    site.ledger.state[setting(SETTING)] = Setting(entries=[entry]).SerializeToString()


def refused(site: Site, words: str, kind: type[Exception] = RejectedError, url: str = "") -> None:
    before = site.kept()
    with pytest.raises(kind, match=words):
        site.adopt(url)
    assert site.kept() == before


def test_a_successor_is_adopted_and_the_settings_name_it(
    site: Site, capsys: pytest.CaptureFixture[str]
) -> None:
    succeeds(site)
    site.index((HEIGHT, END))
    site.adopt()
    found = site.ledger.blocks[0].header_signature
    assert json.loads(capsys.readouterr().out) == {
        "site_id": "b",
        "genesis_block_id": found,
        "predecessor": OLD,
        "ledger_url": site.ledger.url,
        "settings_changed": True,
    }
    text, genesis = site.kept()
    assert f'url = "{site.ledger.url}"' in text
    assert genesis == found
    site.adopt()
    again = json.loads(capsys.readouterr().out)
    assert (again["predecessor"], again["settings_changed"]) == (None, False)


def test_a_ledger_of_another_network(site: Site) -> None:
    refused(site, "does not go on from this gateway's")


def test_a_successor_of_another_history(site: Site) -> None:
    succeeds(site)
    site.index((HEIGHT, OTHER))
    refused(site, "its successor goes on from another history")


def test_a_successor_that_lacks_the_newest_blocks(site: Site) -> None:
    succeeds(site)
    site.index((HEIGHT, END), (HEIGHT + 1, OTHER))
    refused(site, "has seen block 8 of the old ledger, and its successor goes on from block 7")


def test_a_setting_that_is_damaged(site: Site) -> None:
    entry = Setting.Entry(key=SETTING, value="[{}]")
    site.ledger.state[setting(SETTING)] = Setting(entries=[entry]).SerializeToString()
    refused(site, "predecessor: expected an object")


def test_a_gateway_that_runs(site: Site) -> None:
    succeeds(site)
    with locked(site.folder / "data" / "lock", "the gateway runs"):
        refused(site, "stop the gateway first", UnavailableError)


def test_a_ledger_that_does_not_answer(site: Site) -> None:
    site.ledger.failures = [(503, "")] * 100
    refused(site, "503", UnavailableError)


def test_a_ledger_across_a_network_in_plain_text(site: Site) -> None:
    refused(site, "ledger.url http://ledger.example:8008: ", url="http://ledger.example:8008")


def test_settings_that_do_not_name_the_old_ledger_in_one_line(site: Site) -> None:
    succeeds(site)
    line = f'url = "{OLD_URL}"'
    write_private(site.file, site.file.read_text("utf-8").replace(line, f"url = '{OLD_URL}'"))
    refused(site, "no settings file has that in one line")
