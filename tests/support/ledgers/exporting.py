"""Exports of a ledger that one signer made."""

from pathlib import Path

from contracts.ledger.blocks.copying import committed
from contracts.ledger.blocks.export import write_export
from contracts.ledger.engine.genesis import own_genesis
from contracts.proto.sawtooth_pb2 import Batch
from support.ledgers.nodes import intkey_batch
from support.ledgers.publishing import SIGNER, publishing


def exported(data: Path, path: Path, blocks: int, *more: Batch) -> Path:
    """Write the export of a chain with block times that one signer made.

    Args:
        data: Gets the chain.
        path: Gets the export.
        blocks: Of intkey and the genesis.
        more: A block each, after these.
    """
    with publishing(data, own_genesis(SIGNER, [SIGNER.public_key])) as running:
        batches = [intkey_batch(SIGNER, number * 10, 3) for number in range(1, blocks)]
        for batch in (*batches, *more):
            running.clock.now_s += 10
            assert not running.decide(batch).invalid
    write_export(path, (each.block for each in committed(data / "chain.log")))
    return path
