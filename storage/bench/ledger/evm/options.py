"""The options of `wayseal-bench ledger` for EVMs, and the targets that they name."""

import argparse
from collections.abc import Iterator
from typing import Final

from contracts.errors import RejectedError
from storage.bench.arguments import named
from storage.bench.ledger.evm.urls import named_evm
from storage.bench.ledger.extras import needing
from storage.bench.ledger.ledgers import LedgerTarget
from storage.bench.run.part import Setup

PROGRAMS: Final = ("anvil", "geth")
NOTE: Final = (
    "On an EVM a reading is a call of the benchmark's contract with paper 002's fields (order, "
    "batch, product, quantity, digest): the reading itself stays off the chain, and no rule looks "
    "at it. A batch is a group of transactions of one account, sent in one request; unlike a "
    "batch of Sawtooth's it is not all or nothing. It is committed when each of its transactions "
    "has a receipt with status 1. The contract executes the calls of the other workloads: no "
    "Python is in the way."
)
ONE_NODE: Final = (
    "anvil and geth run as one node without consensus, for development: their rates are those of "
    "execution and of the JSON-RPC, and nothing agrees on their blocks."
)


def add_options(group: argparse._ArgumentGroup) -> None:
    """Add the options."""
    add = group.add_argument
    add(
        "--evm", type=named_evm, action="append", default=[], metavar="NAME=URL",
        help="JSON-RPC of an EVM for tests; needs the extra evm; transactions stay on it; "
        "NAME=@FILE reads the URL from a file",
    )  # fmt: skip
    add(
        "--evm-key", type=named("FILE"), action="append", default=[], metavar="NAME=FILE",
        help="private key, 64 hex digits, of an account that pays; default: one of the node's; "
        "needs --evm-chain",
    )  # fmt: skip
    add(
        "--evm-contract", type=named("ADDRESS"), action="append", default=[],
        metavar="NAME=ADDRESS",
        help="where the benchmark's contract already is; default: each run creates it",
    )  # fmt: skip
    add(
        "--evm-chain", type=named("ID"), action="append", default=[], metavar="NAME=ID",
        help="id that the chain there must have",
    )  # fmt: skip
    add(
        "--evm-node", choices=PROGRAMS, action="append", default=[],
        help="also a node of this program of our own, without consensus; geth on each target",
    )  # fmt: skip


def evms(options: argparse.Namespace, setup: Setup) -> Iterator[LedgerTarget]:
    """Yield the targets that the options name; a contract is created where none is given.

    Raises:
        RejectedError: An option makes no sense, a library or program is missing, the server is no
            EVM, or the chain refuses.
        UnavailableError: A node does not answer.
    """
    names = {name for name, _ in options.evm}
    for option in ("key", "contract", "chain"):
        for name, _ in getattr(options, f"evm_{option}"):
            if name not in names:
                raise RejectedError(f"--evm-{option}: expected a name of --evm, got {name!r}")
    guarded = dict(options.evm_chain)
    for name, _ in options.evm_key:
        if name not in guarded:
            raise RejectedError(
                f"--evm-key {name}: expected --evm-chain {name}=ID beside it, got none: a key pays "
                "on no other chain than that of the tests"
            )
    if not options.evm and not options.evm_node:
        return
    with needing("evm", "an EVM"):
        from storage.bench.ledger.evm import preparing  # noqa: PLC0415
    for name, url in options.evm:
        yield preparing.network(
            name,
            url,
            setup.seed,
            key_file=dict(options.evm_key).get(name),
            contract=dict(options.evm_contract).get(name),
            chain_id=dict(options.evm_chain).get(name),
        )
    for program in dict.fromkeys(options.evm_node):
        yield from preparing.nodes(program, setup.volumes)
