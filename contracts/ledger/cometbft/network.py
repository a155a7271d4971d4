"""Founding a network: its validators, where they find each other, and its first block.

Each validator makes its keys itself and hands out a card. One of them puts the cards together into
the network file, which holds nothing secret; every validator joins with the same file. A validator
that knows another file makes another network, and the others do not talk to it.
"""

import logging
import re
import shutil
from collections.abc import Mapping, Sequence
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

from contracts.errors import RejectedError
from contracts.keys import Signer
from contracts.ledger.blocks.chain import Chain
from contracts.ledger.blocks.copying import LOG
from contracts.ledger.blocks.repeating import read_ended
from contracts.ledger.cometbft import home as homes
from contracts.ledger.cometbft.founding import (
    Founding,
    begun,
    founding_of,
    go_on,
    repeat_for_network,
)
from contracts.ledger.cometbft.history import SEALS
from contracts.ledger.cometbft.home import HOME, Pace, Peers
from contracts.ledger.cometbft.networkfile import (
    FILE,
    Card,
    Network,
    network_time_s,
    read_json,
    read_network,
    share_a_host,
    validators_of,
    write_json,
)
from contracts.ledger.cometbft.process import run_program
from contracts.ledger.cometbft.snapshots.beginning import Beginning
from contracts.ledger.cometbft.snapshots.restoring import CHUNKS
from contracts.ledger.cometbft.snapshots.wish import read_wish, state_sync
from contracts.ledger.engine.genesis import ALGORITHM, ALGORITHM_VERSION, own_genesis
from contracts.ledger.execution.families import Families
from contracts.runtime.files import disk_errors, make_directory
from contracts.sawtooth.settings import CARRIED, CHAIN_ID, ZSTD
from contracts.succession import Predecessor
from contracts.validators import CHAIN_ID_MAX, SETTING, encode, powers_of

_LOG = logging.getLogger(__name__)

_CHAIN_ID: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")


def make_validator(program: Path, data: Path, listen: str, advertised: str) -> Card:
    """Make the keys of a validator in its data directory; return its card.

    Args:
        program: CometBFT, which makes its own key for connections.
        data: The data directory.
        listen: `HOST:PORT` at which the others reach this machine's CometBFT.
        advertised: `HOST:PORT` that the others are told.

    Raises:
        RejectedError: There are keys already.
        UnavailableError: The disk refuses.
    """
    home = data / HOME
    make_directory(home / "config")
    make_directory(home / "data")
    public_key = homes.make_validator_key(home)
    run_program(program, "gen-node-key", "--home", str(home))
    peer = run_program(program, "show-node-id", "--home", str(home)).strip()
    write_json(data / "listen.json", {"listen": listen})
    return Card(public_key, f"{peer}@{advertised}")


def found(cards: Sequence[Card], chain_id: str, admins: Sequence[str]) -> Network:
    """Return a new network, whose ledger begins with its first block.

    Args:
        cards: Its validators.
        chain_id: Its name, which every signature of a validator covers.
        admins: Public keys that administer it.

    Raises:
        RejectedError: A validator comes twice, or the name is invalid.
    """
    settings = _settings(cards, chain_id)
    founding = Founding([own_genesis(Signer.generate(), admins, settings)])
    genesis = _genesis(cards, chain_id, founding, datetime.now(UTC))
    return Network(tuple(cards), genesis, share_a_host(cards))


def found_after(
    cards: Sequence[Card],
    chain_id: str,
    export: Path,
    administrator: Signer,
    families: Families,
    beside: Path,
) -> Network:
    """Return a network that goes on from a ledger which one signer made.

    Args:
        cards: Its validators.
        chain_id: Its name.
        export: All blocks of that ledger, as `wayseal-node export` writes them.
        administrator: May change settings on it. Its administrators administer the network.
        families: The rules.
        beside: Directory that gets a chain as large as that ledger for a while.

    Raises:
        RejectedError: A validator comes twice, the name is invalid, the export cannot be repeated,
            or the ledger refuses the administrator's settings.
        UnavailableError: The disk is full or failed.
    """
    settings, at = _settings(cards, chain_id), datetime.now(UTC)
    time_s = int(at.timestamp())
    make_directory(beside)
    with disk_errors("make a directory in", beside):
        temporary = TemporaryDirectory(dir=beside)
    with temporary as place, closing(Chain.open(Path(place))) as chain:
        predecessor = repeat_for_network(export, chain, families)
        founding = go_on(chain, predecessor, administrator, settings, time_s)
        begun(chain, founding, families, time_s)  # or each validator would be the first to refuse
    genesis = _genesis(cards, chain_id, founding, at)
    return Network(tuple(cards), genesis, share_a_host(cards))


def join(data: Path, network: Network) -> None:
    """Turn a data directory into that of a validator, or of a node that only follows the network.

    A network that goes on from a ledger needs that one's chain there, see `repeat_chain`.

    Raises:
        RejectedError: It has no keys, or belongs to another network.
        UnavailableError: The disk refuses.
    """
    check_joins(data, network)
    homes.write_genesis(data / HOME, network.genesis)
    write_json(data / FILE, network.document())


def check_joins(data: Path, network: Network) -> None:
    """Check that a data directory can be that of a network's validator.

    Raises:
        RejectedError: It has no keys, or belongs to another network; or the cards of the network
            are not those of the validators with which its engine begins.
    """
    homes.validator_key(data / HOME)
    if homes.powers_in(network.genesis) != validators_of(network):
        raise RejectedError(
            "the network file contradicts itself: its genesis has other validators than its cards"
        )
    _check_known(data, network)


def check_no_chain(data: Path) -> None:
    """Check that a data directory has no chain, before one is taken as a snapshot.

    Raises:
        RejectedError: It has one.
    """
    if (data / LOG).exists() and read_wish(data) is None:
        raise RejectedError(
            f"{data} has a chain: `wayseal-node resync --snapshot` takes it again from the others"
        )


def check_no_wish(data: Path) -> None:
    """Check that a data directory is not to begin with a snapshot.

    Raises:
        RejectedError: It is.
    """
    if read_wish(data) is not None:
        raise RejectedError(
            f"{data} is to begin with a snapshot: `wayseal-node resync` without --snapshot has it "
            "execute all heights instead"
        )


def check_export(network: Network, export: Path | None) -> None:
    """Read an export once, without executing it, before anything is done with it.

    Raises:
        RejectedError: There is an export too many or too few, or it is damaged or not of the ledger
            from which the network goes on.
        UnavailableError: It cannot be read.
    """
    ended = _predecessor(network, export)
    if ended is not None and export is not None:
        _check_same(export, read_ended(export), ended)


def repeat_chain(data: Path, network: Network, export: Path | None, families: Families) -> None:
    """Put the chain of the ledger from which a network goes on into a data directory.

    Cut short, it goes on when it is called again.

    Args:
        data: The data directory.
        network: The network.
        export: That ledger's blocks; None where a network begins with its first block.
        families: The rules.

    Raises:
        RejectedError: There is an export too many or too few, or it is not of that ledger.
        UnavailableError: The disk refuses.
    """
    ended = _predecessor(network, export)
    if ended is None or export is None:
        return
    founding, time_s = _founding(network), network_time_s(network)
    _check_known(data, network)
    with closing(Chain.open(data)) as chain:
        _check_same(export, repeat_for_network(export, chain, families), ended)
        head, last = chain.head, chain.by_num(ended.block_num)
        if head and last and head.num > last.num and last.id == founding.after:
            return  # the validator has begun already
        begun(chain, founding, families, time_s)


def _founding(network: Network) -> Founding:
    return founding_of(network.genesis.get("app_state"))


def _predecessor(network: Network, export: Path | None) -> Predecessor | None:
    """Return the ledger from which a network goes on; there is an export if there is one.

    Raises:
        RejectedError: There is an export too many or too few.
    """
    ended = _founding(network).predecessor
    if ended is None and export is not None:
        raise RejectedError(
            "--chain: this network begins with its first block, and goes on from no ledger"
        )
    if ended is not None and export is None:
        raise RejectedError(
            f"this network goes on from a ledger that ended with block {ended.block_num}, "
            f"{ended.block_id[:16]}…: expected its export as --chain FILE"
        )
    return ended


def _check_same(export: Path, found: Predecessor, ended: Predecessor) -> None:
    if found != ended:
        raise RejectedError(
            f"{export} ends with block {found.block_num}, {found.block_id[:16]}…, and the "
            f"network goes on from block {ended.block_num}, {ended.block_id[:16]}…: it is "
            "the export of another ledger, or was made at another time"
        )


def _check_known(data: Path, network: Network) -> None:
    known = data / FILE
    if known.exists() and read_network(known).genesis != network.genesis:
        raise RejectedError(f"{data} belongs to another network; take an empty directory")


def _settings(cards: Sequence[Card], chain_id: str) -> Mapping[str, str]:
    """Return what a network needs on its ledger.

    Raises:
        RejectedError: A validator comes twice, or the name is invalid.
    """
    if not _CHAIN_ID.fullmatch(chain_id) or len(chain_id) > CHAIN_ID_MAX:
        raise RejectedError(
            f"chain id: expected 1 to {CHAIN_ID_MAX} letters, digits, '.', '_' or '-', got "
            f"{chain_id!r}"
        )
    powers = {card.public_key: card.power for card in cards}
    if len(powers) != len(cards) or len({card.peer for card in cards}) != len(cards):
        raise RejectedError("cards: expected each validator once, and each with a peer of its own")
    return {
        ALGORITHM: "CometBFT",
        ALGORITHM_VERSION: "0.38",
        CHAIN_ID: chain_id,
        CARRIED: ZSTD,
        SETTING: encode(powers_of(powers)),
    }


def _genesis(
    cards: Sequence[Card], chain_id: str, founding: Founding, at: datetime
) -> dict[str, Any]:
    powers = {card.public_key: card.power for card in cards}
    return homes.genesis(chain_id, powers, founding, at=at.strftime("%Y-%m-%dT%H:%M:%S.%fZ"))


def prepare(data: Path, pace: Pace) -> Beginning | None:
    """Write the engine's settings before it starts.

    Returns:
        How the validator begins with a snapshot; None if it has begun, or does so without one.

    Raises:
        RejectedError: The data directory has not joined a network, or a light port is of another
            one.
        UnavailableError: The disk refuses, or a light port does not answer.
    """
    network = read_network(data / FILE)
    own = homes.validator_key(data / HOME)
    others = [card.peer for card in network.cards if card.public_key != own]
    peers = Peers(_listen(data), others, network.many_on_one_host)
    wish = read_wish(data)
    wanted = None if wish is None else state_sync(wish, network)
    homes.write_settings(data / HOME, own[:16], peers, pace, wanted)
    return None if wish is None else Beginning(data, network, _founding(network))


def begin_again(data: Path) -> None:
    """Remove a chain that was to begin with a snapshot and is half there.

    Raises:
        RejectedError: The file that says so is damaged.
        UnavailableError: The disk refuses.
    """
    if read_wish(data) is None:
        return
    if (data / LOG).exists():
        _LOG.warning("%s has half a snapshot: it is removed, and taken again", data)
    forget_chain(data)


def forget_chain(data: Path) -> None:
    """Remove the blocks and the state of a validator, here and at its engine, but no key or vote.

    Raises:
        UnavailableError: The disk refuses.
    """
    kept = data / HOME / "data" / homes.VOTES
    gone = [data / "index", data / LOG]  # an index ahead of its log is refused
    gone += [data / SEALS, data / CHUNKS]
    with disk_errors("read", kept.parent):
        gone[:0] = [path for path in kept.parent.iterdir() if path != kept]
    for path in gone:
        with disk_errors("remove", path):
            if path.is_dir():
                shutil.rmtree(path)
            else:
                path.unlink(missing_ok=True)


def _listen(data: Path) -> str:
    path = data / "listen.json"
    listen = read_json(path, "the address that `wayseal-node validator` was given").get("listen")
    if not isinstance(listen, str):
        raise RejectedError(f"{path}: expected listen as HOST:PORT, got {listen!r}")
    return listen
