"""Which keys a site has registered for its gateways, now or earlier, as the index knows."""

from contracts.proto.state_pb2 import Site
from gateway.index.store import IndexStore


def gateway_keys(index: IndexStore, site_id: str) -> dict[str, int | None]:
    """Return the public keys that a site had registered, each with when it was removed, UTC ms.

    None: it is registered now, or it was removed in a block without a time.
    """
    removed_ms: dict[str, int | None] = {}
    registered: frozenset[str] = frozenset()
    for entry, time_s in index.query(
        "SELECT entry, time_s FROM sites LEFT JOIN block_times USING (block_num)"
        " WHERE site_id = ? ORDER BY sites.rowid",
        site_id,
    ):
        now = frozenset(Site.FromString(entry).site.gateway_public_keys)
        at_ms = None if time_s is None else time_s * 1000
        removed_ms |= dict.fromkeys(registered - now, at_ms)
        removed_ms |= dict.fromkeys(now)
        registered = now
    return removed_ms
