"""Commands of a network refuse before they change or remove anything."""

import json
import re
import tempfile
from argparse import Namespace
from pathlib import Path

import pytest

from contracts.errors import RejectedError, UnavailableError
from contracts.ledger.cometbft.home import HOME, make_validator_key
from contracts.ledger.cometbft.network import begin_again, forget_chain, found, found_after
from contracts.ledger.cometbft.networkfile import FILE, Card, Network, write_network
from contracts.ledger.cometbft.snapshots.wish import Wish, fulfil_wish, read_wish
from contracts.ledger.commands import network as commands
from support.ledgers.exporting import exported
from support.ledgers.heights import CHAIN, VALIDATOR
from support.ledgers.intkey_node import FAMILIES
from support.ledgers.publishing import SIGNER

CARD = Card(VALIDATOR.public_key, f"{'ab' * 20}@127.0.0.1:1")
NO_SNAPSHOT: dict[str, object] = {"snapshot": [], "trust": ""}
PORTS = ["http://127.0.0.1:1", "http://[::1]:2"]


@pytest.fixture(scope="module")
def exports(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Return the export from which the network goes on, and one of another time."""
    place = tmp_path_factory.mktemp("old")
    right = exported(place / "right", place / "right.chain", 3)
    return right, exported(place / "other", place / "other.chain", 2)


@pytest.fixture(autouse=True)
def _intkey(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(commands, "BUILT_IN", FAMILIES)


@pytest.fixture
def network(exports: tuple[Path, Path], tmp_path: Path) -> Network:
    return found_after([CARD], CHAIN, exports[0], SIGNER, FAMILIES, tmp_path)


@pytest.fixture
def file(network: Network, tmp_path: Path) -> Path:
    write_network(tmp_path / "network.json", network)
    return tmp_path / "network.json"


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """Return a data directory with a validator's keys."""
    place = tmp_path / "data"
    for name in ("config", "data"):
        (place / HOME / name).mkdir(parents=True)
    make_validator_key(place / HOME)
    return place


def test_resync_refuses_before_it_removes(
    exports: tuple[Path, Path], data: Path, network: Network, file: Path, tmp_path: Path
) -> None:
    right, other = exports
    commands.join_network(Namespace(data=data, file=file, chain=right, **NO_SNAPSHOT))
    kept = (data / "chain.log").read_bytes()
    broken = tmp_path / "broken"
    broken.write_bytes(right.read_bytes()[:-1] + b"!")
    for chain in (None, other, broken, tmp_path / "mistyped"):
        with pytest.raises((RejectedError, UnavailableError)):
            commands.resync(Namespace(data=data, chain=chain, **NO_SNAPSHOT))
        assert (data / "chain.log").read_bytes() == kept
    write_network(data / FILE, found([CARD], CHAIN, [SIGNER.public_key]))
    with pytest.raises(RejectedError, match="goes on from no ledger"):
        commands.resync(Namespace(data=data, chain=right, **NO_SNAPSHOT))
    assert (data / "chain.log").read_bytes() == kept
    write_network(data / FILE, network)
    commands.resync(Namespace(data=data, chain=right, **NO_SNAPSHOT))
    again = (data / "chain.log").read_bytes()
    assert again != kept  # each log has a random number of its own
    assert len(again) == len(kept)


def test_join_refuses_before_it_repeats_the_ledger(
    exports: tuple[Path, Path], data: Path, file: Path, tmp_path: Path
) -> None:
    right, other = exports
    for place, chain in ((tmp_path / "keyless", right), (data, other)):
        with pytest.raises(RejectedError):
            commands.join_network(Namespace(data=place, file=file, chain=chain, **NO_SNAPSHOT))
        assert not (place / "chain.log").exists()


@pytest.mark.parametrize(
    ("chain", "key"), [(None, Path("key")), (Path("chain"), None), (Path("chain"), Path("key"))]
)
def test_init_refuses_options_before_it_makes_keys(
    chain: Path | None, key: Path | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(commands, "find_program", Path)
    out = tmp_path / "out"
    options = Namespace(
        cometbft="", out=out, validators=1, p2p_port=1, admin=[], chain=chain, admin_key=key
    )
    with pytest.raises(RejectedError):
        commands.init(options)
    assert not out.exists()


@pytest.mark.parametrize("said", [None, "yesterday", "2026-01-31T08:00:00"])
def test_a_damaged_network_file_is_one_clear_error(
    said: str | None, data: Path, network: Network, file: Path
) -> None:
    write_network(file, Network(network.cards, network.genesis | {"genesis_time": said}))
    with pytest.raises(RejectedError, match="expected genesis_time as"):
        commands.join_network(Namespace(data=data, file=file, chain=None, **NO_SNAPSHOT))


def test_an_export_may_lie_where_nothing_can_be_written(
    exports: tuple[Path, Path], tmp_path: Path
) -> None:
    medium = tmp_path / "medium"
    medium.mkdir()
    (medium / "chain").write_bytes(exports[0].read_bytes())
    changed_ns = medium.stat().st_mtime_ns
    found_after([CARD], CHAIN, medium / "chain", SIGNER, FAMILIES, tmp_path / "out")
    assert medium.stat().st_mtime_ns == changed_ns
    (tmp_path / "file").touch()
    with pytest.raises(UnavailableError, match="file"):
        found_after([CARD], CHAIN, medium / "chain", SIGNER, FAMILIES, tmp_path / "file")


def test_a_directory_that_has_joined_no_network_has_no_chain_to_forget(tmp_path: Path) -> None:
    with pytest.raises(UnavailableError, match=r"read .*cometbft/data"):
        forget_chain(tmp_path)


def test_a_snapshot_is_wished_for_until_it_is_there(data: Path, file: Path) -> None:
    """A start removes what is half there; keys, votes and the wish stay."""
    wished = {"data": data, "chain": None, "snapshot": PORTS, "trust": ""}
    commands.join_network(Namespace(file=file, **wished))
    commands.join_network(Namespace(file=file, **wished))  # cut short, it is typed again
    kept = {path: path.read_bytes() for path in data.rglob("*") if path.is_file()}
    assert read_wish(data) == Wish(PORTS)
    for name in ("chain.log", "history.seals", "snapshot/000000", f"{HOME}/data/state.db/LOG"):
        (data / name).parent.mkdir(parents=True, exist_ok=True)
        (data / name).write_bytes(b"half")
    begin_again(data)
    assert {path: path.read_bytes() for path in data.rglob("*") if path.is_file()} == kept
    with pytest.raises(RejectedError, match="is to begin with a snapshot"):
        commands.join_network(Namespace(data=data, file=file, chain=None, **NO_SNAPSHOT))
    fulfil_wish(data)
    (data / "chain.log").write_bytes(b"whole")
    begin_again(data)
    assert (data / "chain.log").read_bytes() == b"whole"
    with pytest.raises(RejectedError, match="has a chain: `wayseal-node resync --snapshot`"):
        commands.join_network(Namespace(file=file, **wished))
    commands.resync(Namespace(**wished))
    assert read_wish(data) == Wish(PORTS)
    assert not (data / "chain.log").exists()


@pytest.mark.parametrize(
    ("ports", "trust", "words"),
    [
        (PORTS[:1], "", "at least 2 validators, each with a --snapshot of its own, got 1"),
        (PORTS[:1] * 2, "", "got 1"),
        ([*PORTS, "https://dairy.example:1"], "", "as http://HOST:PORT, got 'https://dairy"),
        ([*PORTS, "http://[1:2]:1"], "", "as http://HOST:PORT, got 'http://[1:2]:1'"),
        ([*PORTS, "http://dairy.example:65536"], "", "as http://HOST:PORT, got 'http://dairy"),
        (PORTS, "1", "--trust: expected HEIGHT:HASH"),
        (PORTS, f"0:{'ab' * 32}", "--trust: expected HEIGHT:HASH"),
        ([], f"1:{'ab' * 32}", "--trust is for --snapshot"),
    ],
)
def test_wrong_options_of_a_snapshot_are_one_clear_error(
    ports: list[str], trust: str, words: str, data: Path, file: Path
) -> None:
    with pytest.raises(RejectedError, match=re.escape(words)):
        commands.join_network(
            Namespace(data=data, file=file, chain=None, snapshot=ports, trust=trust)
        )
    assert not (data / FILE).exists()


def test_a_snapshot_needs_no_export(data: Path, file: Path, exports: tuple[Path, Path]) -> None:
    with pytest.raises(RejectedError, match="expected one of them"):
        commands.join_network(
            Namespace(data=data, file=file, chain=exports[0], snapshot=PORTS, trust="")
        )


def test_who_joins_is_told_who_administers_and_who_validates(
    data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    admins = [SIGNER.public_key, VALIDATOR.public_key]
    write_network(tmp_path / "network.json", found([CARD], CHAIN, admins))
    file = tmp_path / "network.json"
    commands.join_network(Namespace(data=data, file=file, chain=None, **NO_SNAPSHOT))
    told = json.loads(capsys.readouterr().out)
    assert told["administrators"] == admins
    assert told["validators"] == {CARD.public_key: 1}
    assert re.fullmatch("[0-9a-f]{128}", told["genesis_block_id"])


def test_the_administrators_of_a_ledger_stay_and_are_not_told(
    data: Path, file: Path, exports: tuple[Path, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    commands.join_network(Namespace(data=data, file=file, chain=exports[0], **NO_SNAPSHOT))
    assert "administrators" not in json.loads(capsys.readouterr().out)


def test_a_network_file_that_shows_other_validators_than_it_has_is_refused(
    data: Path, tmp_path: Path
) -> None:
    network = found([CARD], CHAIN, [SIGNER.public_key])
    shown = Card(SIGNER.public_key, CARD.peer)
    write_network(tmp_path / "network.json", Network([shown], network.genesis))
    file = tmp_path / "network.json"
    with pytest.raises(RejectedError, match="other validators than its cards"):
        commands.join_network(Namespace(data=data, file=file, chain=None, **NO_SNAPSHOT))
    assert not (data / FILE).exists()


@pytest.mark.parametrize("validators", [None, [], [{"pub_key": {}}], [{"power": "many"}]])
def test_a_genesis_without_validators_is_one_clear_error(
    validators: object, data: Path, tmp_path: Path
) -> None:
    genesis = found([CARD], CHAIN, [SIGNER.public_key]).genesis | {"validators": validators}
    write_network(tmp_path / "network.json", Network([CARD], genesis))
    file = tmp_path / "network.json"
    with pytest.raises(RejectedError, match="validators"):
        commands.join_network(Namespace(data=data, file=file, chain=None, **NO_SNAPSHOT))


@pytest.mark.parametrize(
    ("hosts", "shared"),
    [
        (("dairy.example", "shop.example"), False),
        (("ledgers.example", "LEDGERS.example"), True),
        (("10.0.0.5", "10.0.0.6"), False),
        (("[2001:db8::1]", "[2001:db8::1]"), True),
        (("127.0.0.1", "shop.example"), True),
    ],
)
def test_validators_behind_one_address_let_each_other_in(
    hosts: tuple[str, str], *, shared: bool
) -> None:
    keys = (SIGNER.public_key, VALIDATOR.public_key)
    cards = [
        Card(key, f"{'ab' * 20}@{host}:{26656 + number}")
        for number, (key, host) in enumerate(zip(keys, hosts, strict=True))
    ]
    assert found(cards, CHAIN, [SIGNER.public_key]).many_on_one_host is shared


def test_a_machine_without_a_directory_for_temporary_files_says_so(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_network(tmp_path / "network.json", found([CARD], CHAIN, [SIGNER.public_key]))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "missing"))
    options = Namespace(data=data, file=tmp_path / "network.json", chain=None, **NO_SNAPSHOT)
    with pytest.raises(UnavailableError, match=r"directory for temporary files: .*missing"):
        commands.join_network(options)
    assert not (data / FILE).exists()
