"""Enrolments: one key of a device gives each site a token of its own, and proves its hashes."""

import hashlib
import json
from pathlib import Path

import pytest

from contracts import address
from contracts.encoding import canonical
from contracts.enrolment import Enrolment, token_for
from contracts.errors import RejectedError
from contracts.passwords import ROUNDS
from contracts.proto.state_pb2 import Key
from device.wayseal_device import main as device
from gateway.access import Caller, Role, Tokens
from gateway.mosquitto.text import PASSWORDS
from gateway.settings_file import load_settings
from gateway.wayseal_gateway import main as gateway
from support.ledgers.fake import FakeLedger
from support.machine.mosquitto import tables
from support.machine.private import write_private
from support.network.world import key

TRUCK = key("truck-7")
LINE = Enrolment.sign(TRUCK, "truck-7", "dock-b")


def test_each_site_device_and_key_gives_another_token() -> None:
    tokens = [
        token_for(key(name), device_id, site)
        for name in ("truck-7", "truck-8")
        for device_id in ("truck-7", "truck-8")
        for site in ("dock-a", "dock-b")
    ]
    assert len(set(tokens)) == 8
    assert {len(each) for each in tokens} == {43}
    assert token_for(TRUCK, "truck-7", "dock-a") == tokens[0]


def test_a_token_is_the_hmac_of_its_purpose() -> None:
    """So that another program, or a later version, computes the same one."""
    assert TRUCK.secret(b"one") != TRUCK.secret(b"two")
    assert token_for(key("a"), "truck-7", "dock-b") == "faHaw4wbxTml7i3t6C54AHmq0x6O9gATS02K2C3FVj0"


def test_an_enrolment_says_the_hashes_and_not_the_token() -> None:
    token = token_for(TRUCK, "truck-7", "dock-b")
    assert Enrolment.parse(LINE.to_json()) == LINE
    assert LINE.sha256 == hashlib.sha256(token.encode()).hexdigest()
    assert token not in LINE.to_json()


@pytest.mark.parametrize(
    ("part", "value", "words"),
    [
        ("device_id", "truck-8", "signature does not match"),
        ("site_id", "dock-a", "signature does not match"),
        ("sha256", "0" * 64, "signature does not match"),
        ("public_key", key("thief").public_key, "signature does not match"),
        ("signature", "0" * 128, "signature does not match"),
        ("device_id", "gateway:x\nevil", "device id must be"),
        ("site_id", "a b", "site id must be"),
        ("sha256", "0" * 63, "expected the hashes of a token"),
        ("mosquitto", f"{LINE.mosquitto}\nevil:x", "expected the hashes of a token"),
        ("mosquitto", LINE.mosquitto.replace(f"${ROUNDS}$", "$999999$"), "expected the hashes"),
        ("mosquitto", 3, "expected mosquitto to be a text"),
    ],
)
def test_a_changed_enrolment_is_refused(part: str, value: object, words: str) -> None:
    document = json.loads(LINE.to_json()) | {part: value}
    with pytest.raises(RejectedError, match=words):
        Enrolment.parse(json.dumps(document))


@pytest.mark.parametrize("line", ["", "{", "[]", "3", '"x"', "{}", '{"extra": 1}', "[" * 100_000])
def test_what_is_no_enrolment_is_refused(line: str) -> None:
    with pytest.raises(RejectedError, match="expected an enrolment as `wayseal-device enrol`"):
        Enrolment.parse(line)


def of_device(name: str, *, revoked: bool = False) -> bytes:
    return canonical(Key(owner=Key.DEVICE, owner_id=name, revoked=revoked))


class Dock:
    """A gateway's settings on a ledger that has truck-7's key, and its command `enrol`."""

    def __init__(self, folder: Path, ledger: FakeLedger) -> None:
        self.folder, self.ledger = folder, ledger
        text = f'data = "{folder}/data"\nsite_id = "dock-b"\n{tables(folder, 1883, 8883)}'
        self.file = write_private(
            folder / "gateway.toml", f'{text}[ledger]\nurl = "{ledger.url}"\n'
        )
        self.settings = load_settings(self.file)
        ledger.state[address.key(TRUCK.public_key)] = of_device("truck-7")

    def enrol(self, *enrolments: Enrolment | str) -> int:
        path = self.folder / "trucks.jsonl"
        path.write_text("".join(f"{_line(each)}\n" for each in enrolments))
        with pytest.raises(SystemExit) as ended:
            gateway(["enrol", str(path), "--config", str(self.file)])
        return int(ended.value.code or 0)

    @property
    def tokens(self) -> Tokens:
        return Tokens(self.settings.tokens_file)


def _line(enrolment: Enrolment | str) -> str:
    return enrolment if isinstance(enrolment, str) else enrolment.to_json()


@pytest.fixture
def dock(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Dock:
    monkeypatch.setenv("WAYSEAL_MOSQUITTO__PLUGIN", str(tmp_path / "plugin.so"))
    return Dock(tmp_path, FakeLedger())


def test_a_gateway_admits_who_enrolled_and_mosquitto_too(
    dock: Dock, capsys: pytest.CaptureFixture[str]
) -> None:
    with dock.ledger:
        assert dock.enrol(LINE, Enrolment.sign(TRUCK, "truck-7", "dock-a")) == 0
    said = capsys.readouterr()
    assert json.loads(said.out) == {"name": "truck-7", "role": "device", "enrolled": True}
    assert "left out 1 for other sites: dock-a" in said.err
    token = token_for(TRUCK, "truck-7", "dock-b")
    assert dock.tokens.caller(token) == Caller("truck-7", Role.DEVICE)
    assert dock.tokens.caller(token_for(TRUCK, "truck-7", "dock-a")) is None
    assert dock.settings.mosquitto.folder is not None
    passwords = (dock.settings.mosquitto.folder / PASSWORDS).read_text("utf-8")
    assert f"truck-7:{LINE.mosquitto}\n" in passwords


@pytest.mark.parametrize("embedded", [False, True])
def test_without_a_folder_for_mosquitto_it_is_said_what_must_be_done(
    dock: Dock, capsys: pytest.CaptureFixture[str], *, embedded: bool
) -> None:
    more = "[mqtt]\nembedded = true\n" if embedded else ""
    text = f'data = "{dock.folder}/data"\nsite_id = "dock-b"\n{more}'
    write_private(dock.file, f'{text}[ledger]\nurl = "{dock.ledger.url}"\n')
    with dock.ledger:
        assert dock.enrol(LINE) == 0
        with pytest.raises(SystemExit):
            gateway(["token", "truck-8", "--role", "device", "--config", str(dock.file)])
    said = capsys.readouterr().err
    for words in ("folder is not set", "/conf.d/wayseal.conf", "systemctl restart mosquitto"):
        assert said.count(words) == (0 if embedded else 2)


@pytest.mark.parametrize(
    ("enrolments", "words"),
    [
        ([Enrolment.sign(TRUCK, "truck-7", "dock-a")], "for site dock-b, got 1 for dock-a"),
        ([], "for site dock-b, got 0 for no site"),
        ([LINE, Enrolment.sign(TRUCK, "truck-8", "dock-b")], "register the device first"),
        ([LINE, Enrolment.sign(key("thief"), "truck-7", "dock-b")], "register the device first"),
        ([LINE, Enrolment.sign(key("old"), "truck-7", "dock-b")], ", which is revoked"),
        ([LINE, Enrolment.sign(TRUCK, "gateway", "dock-b")], "have the gateway's own name"),
        ([LINE, "", '{"device_id": "truck-7"}'], "trucks.jsonl, line 3: expected an enrolment"),
    ],
)
def test_one_wrong_enrolment_admits_nobody(
    dock: Dock, capsys: pytest.CaptureFixture[str], enrolments: list[Enrolment | str], words: str
) -> None:
    dock.ledger.state[address.key(key("old").public_key)] = of_device("truck-7", revoked=True)
    with dock.ledger:
        assert dock.enrol(*enrolments) == 1
    assert words in capsys.readouterr().err
    assert dock.tokens.entries() == []


def test_an_enrolment_takes_no_persons_name(tmp_path: Path) -> None:
    tokens = Tokens(tmp_path / "tokens.json")
    token = tokens.add("truck-7", Role.OPERATOR)
    with pytest.raises(RejectedError, match="has the role operator: revoke it first"):
        tokens.enrol([Enrolment.sign(key("truck-8"), "truck-8", "dock-b"), LINE])
    assert tokens.caller(token) == Caller("truck-7", Role.OPERATOR)
    assert tokens.of_devices() == {}


def test_a_truck_prints_a_line_for_each_site_without_a_token(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    tabled = "".join(
        f'[[gateways]]\nsite_id = "{site}"\nmqtt = "{site}:1"\nrest = "http://{site}:1"\n'
        f"public_keys = []\n{more}"
        for site, more in (("dock-a", ""), ("dock-b", ""), ("dock-c", 'token = "own"\n'))
    )
    path = write_private(tmp_path / "device.toml", f'device_id = "truck-7"\ndata = "d"\n{tabled}')
    assert device(["enrol", "--config", str(path)]) == 1
    assert "`wayseal-device init` creates them" in capsys.readouterr().err
    (tmp_path / "d").mkdir()
    TRUCK.save(tmp_path / "d" / "device.key")
    assert device(["enrol", "--config", str(path)]) == 0
    made = [Enrolment.parse(line) for line in capsys.readouterr().out.splitlines()]
    assert [(each.device_id, each.site_id) for each in made] == [
        ("truck-7", "dock-a"),
        ("truck-7", "dock-b"),
    ]
    path = write_private(path, 'device_id = "truck-7"\ndata = "d"\n')
    assert device(["enrol", "--config", str(path)]) == 2
    assert "so there is nothing to enrol" in capsys.readouterr().err
