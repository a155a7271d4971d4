"""Which keys a site has registered for its gateways, now or earlier, as the ledger's blocks say."""

from contracts.encoding import parse
from contracts.errors import WaysealError
from contracts.ledger.client import LedgerClient
from contracts.proto.block_info_pb2 import BlockInfoTxn
from contracts.proto.state_pb2 import Site
from gateway.index.store import IndexStore


def gateway_keys(
    index: IndexStore, site_id: str, ledger: LedgerClient | None
) -> dict[str, int | None]:
    """Return the public keys that a site had registered, each with when it was removed, UTC ms.

    None: it is registered now; or nobody knows when it was removed, because blocks have no time or
    no ledger was given.

    Args:
        index: Of the ledger.
        site_id: The site.
        ledger: Tells the times of blocks.

    Raises:
        UnavailableError: The ledger does not answer.
    """
    removed_ms: dict[str, int | None] = {}
    registered: frozenset[str] = frozenset()
    for entry, block_num in index.query(
        "SELECT entry, block_num FROM sites WHERE site_id = ? ORDER BY rowid", site_id
    ):
        now = frozenset(Site.FromString(entry).site.gateway_public_keys)
        gone = registered - now
        if gone:
            at_ms = _time_ms(index, block_num, ledger)
            removed_ms |= dict.fromkeys(gone, at_ms)
        removed_ms |= dict.fromkeys(now)
        registered = now
    return removed_ms


def _time_ms(index: IndexStore, block_num: int, ledger: LedgerClient | None) -> int | None:
    """Return the time of a block, UTC ms, if it has one."""
    rows = index.query("SELECT batch_id FROM batches WHERE subject = ?", f"time {block_num}")
    batch = ledger.batch(rows[0][0]) if rows and ledger is not None else None
    if batch is None:
        return None
    try:
        told = parse(BlockInfoTxn, batch.transactions[0].payload)
    except WaysealError:
        return None
    return int(told.block.timestamp) * 1000
