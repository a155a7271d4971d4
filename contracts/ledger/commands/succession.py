"""`wayseal-node export` and `replay`: a chain goes on as another one, with the same state."""

import argparse
import json
import sys
from typing import TYPE_CHECKING

from contracts.backup.kept import HALF_RESTORED
from contracts.backup.restoring import check_free
from contracts.keys import Signer
from contracts.ledger.blocks.chain import Chain
from contracts.ledger.blocks.copying import committed
from contracts.ledger.blocks.export import write_export
from contracts.ledger.execution.families import BUILT_IN
from contracts.ledger.solo.replay import replay as repeat
from contracts.runtime.files import (
    disk_errors,
    locked,
    make_directory,
    make_private,
    remove_file,
    sync_directory,
)

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from contracts.proto.sawtooth_pb2 import Block


def export(options: argparse.Namespace) -> None:
    """Write all blocks of a node's chain into one file, beside a running node or without one.

    Raises:
        RejectedError: The chain is damaged, or the file exists.
        UnavailableError: The disk is full or failed.
    """
    last: dict[str, object] = {}

    def blocks() -> "Iterator[Block]":
        for stored in committed(options.data / "chain.log"):
            last.update(
                block_num=stored.num,
                block_id=stored.id,
                state_root=stored.header.state_root_hash,
            )
            yield stored.block

    count, digest = write_export(options.file, blocks())
    _tell({"export": str(options.file), "blocks": count, "sha256": digest, **last})


def replay(options: argparse.Namespace) -> None:
    """Make the chain of a new node of an export, and seal the old chain's head into it.

    Raises:
        RejectedError: The data directory is not empty, or the export cannot be replayed.
        UnavailableError: The disk is full or failed.
    """
    data: Path = options.data
    administrator = Signer.load(options.admin_key)
    check_free(data)
    make_directory(data)
    with locked(data / "lock", f"data directory {data} is in use by another node"):
        marker = data / HALF_RESTORED
        with disk_errors("write", marker):
            make_private(marker)
            sync_directory(data)
        key = data / "node.key"
        signer = Signer.load(options.key) if options.key else Signer.load_or_create(key)
        chain = Chain.open(data)
        try:
            found = repeat(options.file, chain, signer, administrator, BUILT_IN)
        finally:
            chain.close()
        remove_file(marker)
    _tell(
        {
            "data": str(data),
            "predecessor": found.predecessor.document(),
            "state_root": found.state_root,
            "seal_block_id": found.seal_block_id,
        }
    )


def _tell(document: dict[str, object]) -> None:
    sys.stdout.write(json.dumps(document) + "\n")
