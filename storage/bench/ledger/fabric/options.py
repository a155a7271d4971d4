"""The option of `wayseal-bench ledger` for Fabric networks, and the targets that it names."""

import argparse
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from storage.bench.arguments import named
from storage.bench.ledger.extras import needing
from storage.bench.ledger.ledgers import LedgerTarget

NOTE: Final = (
    "On Fabric a reading is a call of the benchmark's chaincode with paper 002's fields (order, "
    "batch, product, quantity, digest): the reading itself stays off the chain, and no rule looks "
    "at it. Fabric has no batches: each call is a transaction of its own, which peers execute "
    "before it is ordered. If another transaction changes a value that it read before its own turn "
    "in a block comes, Fabric refuses it (MVCC_READ_CONFLICT): it counts as refused, never as "
    "committed, and the benchmark does not send it again. The benchmark's driver was tested "
    "against a stand-in of the Gateway and on small networks of Fabric 3.1.5 on one machine (one "
    "peer, Raft and BFT), and on no other."
)


def add_options(group: argparse._ArgumentGroup) -> None:
    """Add the option."""
    group.add_argument(
        "--fabric", type=named("FILE"), action="append", default=[], metavar="NAME=FILE",
        help="Gateway of a Fabric peer for tests, as a settings file says; needs the extra fabric; "
        "transactions stay there",
    )  # fmt: skip


def fabrics(files: Sequence[tuple[str, str]]) -> Iterator[LedgerTarget]:
    """Yield the networks of settings files, which have names.

    Raises:
        RejectedError: A library is missing, a setting is wrong, or a peer refuses.
        UnavailableError: A peer does not answer.
    """
    if not files:
        return
    with needing("fabric", "Fabric"):
        from storage.bench.ledger.fabric.targets import FabricNetwork  # noqa: PLC0415
    for name, file in files:
        yield FabricNetwork.found(name, Path(file))
