"""Commands of a network refuse before they change or remove anything."""

from argparse import Namespace
from pathlib import Path

import pytest

from contracts.errors import RejectedError, UnavailableError
from contracts.ledger.cometbft.home import HOME, make_validator_key
from contracts.ledger.cometbft.network import forget_chain, found, found_after
from contracts.ledger.cometbft.networkfile import FILE, Card, Network, write_network
from contracts.ledger.commands import network as commands
from support.ledgers.exporting import exported
from support.ledgers.heights import CHAIN, VALIDATOR
from support.ledgers.intkey_node import FAMILIES
from support.ledgers.publishing import SIGNER

CARD = Card(VALIDATOR.public_key, f"{'ab' * 20}@127.0.0.1:1")


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
    commands.join_network(Namespace(data=data, file=file, chain=right))
    kept = (data / "chain.log").read_bytes()
    broken = tmp_path / "broken"
    broken.write_bytes(right.read_bytes()[:-1] + b"!")
    for chain in (None, other, broken, tmp_path / "mistyped"):
        with pytest.raises((RejectedError, UnavailableError)):
            commands.resync(Namespace(data=data, chain=chain))
        assert (data / "chain.log").read_bytes() == kept
    write_network(data / FILE, found([CARD], CHAIN, [SIGNER.public_key]))
    with pytest.raises(RejectedError, match="goes on from no ledger"):
        commands.resync(Namespace(data=data, chain=right))
    assert (data / "chain.log").read_bytes() == kept
    write_network(data / FILE, network)
    commands.resync(Namespace(data=data, chain=right))
    again = (data / "chain.log").read_bytes()
    assert again != kept  # each log has a random number of its own
    assert len(again) == len(kept)


def test_join_refuses_before_it_repeats_the_ledger(
    exports: tuple[Path, Path], data: Path, file: Path, tmp_path: Path
) -> None:
    right, other = exports
    for place, chain in ((tmp_path / "keyless", right), (data, other)):
        with pytest.raises(RejectedError):
            commands.join_network(Namespace(data=place, file=file, chain=chain))
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
        commands.join_network(Namespace(data=data, file=file, chain=None))


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
