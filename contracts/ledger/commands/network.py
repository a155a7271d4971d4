"""`wayseal-node validator`, `found`, `join` and `init`: how a network of validators comes about."""

import argparse
import json
import shutil
import sys
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

from contracts.errors import RejectedError
from contracts.keys import Signer
from contracts.ledger.cometbft.firstblock import beginning_of
from contracts.ledger.cometbft.network import (
    check_export,
    check_joins,
    check_no_chain,
    check_no_wish,
    forget_chain,
    found,
    found_after,
    join,
    make_validator,
    repeat_chain,
)
from contracts.ledger.cometbft.networkfile import (
    FILE,
    Card,
    Network,
    read_card,
    read_network,
    validators_of,
    write_network,
)
from contracts.ledger.cometbft.process import find_program
from contracts.ledger.cometbft.snapshots.wish import Wish, fulfil_wish, write_wish
from contracts.ledger.execution.families import BUILT_IN
from contracts.runtime.files import locked, make_directory
from contracts.runtime.ports import free_port


def validator(options: argparse.Namespace) -> None:
    """Make a validator's keys, and print its card.

    Raises:
        RejectedError: There are keys already, or CometBFT is missing.
        UnavailableError: The disk refuses.
    """
    program = find_program(options.cometbft)
    card = make_validator(program, options.data, options.p2p, options.advertise or options.p2p)
    _tell(card.document())


def found_network(options: argparse.Namespace) -> None:
    """Write the network file for the validators of some cards.

    Raises:
        RejectedError: A card is malformed, or comes twice; or the file exists.
        UnavailableError: The disk refuses.
    """
    if options.out.exists():
        raise RejectedError(f"{options.out} exists: a network is founded once")
    cards = [read_card(path) for path in options.card]
    if options.chain is None and not options.admin:
        raise RejectedError("expected --admin PUBLIC_KEY, or --chain FILE and --admin-key FILE")
    administrator = _administrator(options)
    network = _founded(options, cards, options.admin, administrator, options.out.parent)
    write_network(options.out, network)
    _tell(_summary(network, options.out))


def _administrator(options: argparse.Namespace) -> Signer | None:
    """Return who signs that the network goes on from a ledger; None if it begins one."""
    if options.chain is None:
        if options.admin_key is not None:
            raise RejectedError("--admin-key is for --chain FILE: expected --admin PUBLIC_KEY")
        return None
    if options.admin or options.admin_key is None:
        raise RejectedError(
            "--chain: expected --admin-key FILE with the key of an administrator of that ledger, "
            "and no --admin: its administrators stay"
        )
    return Signer.load(options.admin_key)


def _founded(
    options: argparse.Namespace,
    cards: Sequence[Card],
    admins: Sequence[str],
    administrator: Signer | None,
    beside: Path,
) -> Network:
    """Return the network of some cards, which begins a ledger or goes on from one."""
    if administrator is None:
        return found(cards, options.chain_id, admins)
    return found_after(cards, options.chain_id, options.chain, administrator, BUILT_IN, beside)


def join_network(options: argparse.Namespace) -> None:
    """Join a network.

    Raises:
        RejectedError: The file is malformed, or the directory belongs to another network.
        UnavailableError: The disk refuses.
    """
    data: Path = options.data
    network, wish = read_network(options.file), _wish(options)
    make_directory(data)
    with locked(data / "lock", f"data directory {data} is in use by another node"):
        check_joins(data, network)
        summary = _summary(network, data)
        if wish is None:
            check_no_wish(data)
            check_export(network, options.chain)
            repeat_chain(data, network, options.chain, BUILT_IN)
        else:
            check_no_chain(data)
            write_wish(data, wish)
        join(data, network)
    _tell(summary)


def resync(options: argparse.Namespace) -> None:
    """Forget the chain of a validator, which then makes it again from the others' blocks.

    Its keys stay, and so does the record of its votes: without it, it could vote twice. Where the
    network goes on from a ledger, that one's blocks come from its export, or with a snapshot.

    Raises:
        RejectedError: It runs, or is in no network.
        UnavailableError: The disk refuses.
    """
    data: Path = options.data
    network, wish = read_network(data / FILE), _wish(options)
    with locked(data / "lock", f"data directory {data} is in use by another node"):
        if wish is not None:
            write_wish(data, wish)  # first: cut short, the next start removes the rest
            forget_chain(data)
        else:
            check_export(network, options.chain)
            forget_chain(data)
            fulfil_wish(data)
            repeat_chain(data, network, options.chain, BUILT_IN)
    _tell(_summary(network, data))


def _wish(options: argparse.Namespace) -> Wish | None:
    """Return how the validator begins with a snapshot; None: without one.

    Raises:
        RejectedError: The options do not fit each other.
    """
    if not options.snapshot:
        if options.trust:
            raise RejectedError("--trust is for --snapshot URL")
        return None
    if options.chain is not None:
        raise RejectedError(
            "--snapshot and --chain: expected one of them; a snapshot has the blocks of the ledger "
            "from which the network goes on"
        )
    return Wish(options.snapshot, options.trust)


def init(options: argparse.Namespace) -> None:
    """Write the data directories of a whole network on one machine, for trying out.

    Raises:
        RejectedError: One of them exists, or CometBFT is missing.
        UnavailableError: The disk refuses.
    """
    program = find_program(options.cometbft)
    out: Path = options.out
    places = [out / f"node{number}" for number in range(options.validators)]
    if taken := [place for place in places if place.exists()]:
        raise RejectedError(f"{taken[0]} exists: expected an empty directory for the network")
    administrator = _administrator(options)
    make_directory(out)
    admins = options.admin
    if not admins and administrator is None:
        signer = Signer.load_or_create(out / "admin.key")
        admins = [signer.public_key]
    with ExitStack() as undo:
        cards = []
        for number, place in enumerate(places):
            undo.callback(shutil.rmtree, place, ignore_errors=True)  # or the next try is refused
            make_directory(place)
            port = options.p2p_port + number if options.p2p_port else free_port()
            at = f"127.0.0.1:{port}"
            cards.append(make_validator(program, place, at, at))
        network = _founded(options, cards, admins, administrator, out)
        for place in places:
            repeat_chain(place, network, options.chain, BUILT_IN)
            join(place, network)
        write_network(out / "network.json", network)
        undo.pop_all()
    _tell(_summary(network, out) | {"data": [str(place) for place in places]})


def _summary(network: Network, where: Path) -> dict[str, object]:
    """Return what each organisation compares before it starts its validator."""
    first = beginning_of(network, BUILT_IN)
    known = first and {"genesis_block_id": first.id, "administrators": first.administrators}
    return {
        "network": str(where),
        "chain_id": network.genesis["chain_id"],
        "validators": validators_of(network),
        **(known or {}),
    }


def _tell(document: dict[str, object]) -> None:
    sys.stdout.write(json.dumps(document) + "\n")
