"""The Cassandra cluster: nodes, schema, and deletions that not every replica has confirmed.

Nobody has to run `nodetool repair` for deletions: docs/adr/0030-deletions-at-every-replica.md. What
takes its place is here and in the scrub's report.
"""

from collections.abc import Iterator
from typing import Final

from contracts.errors import WaysealError
from contracts.records.clock import rfc3339
from contracts.runtime.checks import Finding, error, ok, warning
from gateway.blobstore import cassandra_config
from gateway.settings import Settings

FORGOTTEN_DAYS: Final = 10
"""After that Cassandra forgets a deletion (gc_grace_seconds), and a node is replaced."""
LATE_DAYS: Final = 1
_DAY_MS: Final = 86_400_000
_UP: Final = "start Cassandra there, or find what keeps this machine from it"


def findings(settings: Settings, now_ms: int) -> Iterator[Finding]:
    """Yield what was found of the cluster; nothing if the gateway uses none."""
    if settings.storage.blob_store == "files":
        return
    # Imported late, as in `gateway.blobstore`: the driver is large.
    from storage.blobs.cassandra.look import look  # noqa: PLC0415

    try:
        seen = look(cassandra_config(settings.cassandra))
    except WaysealError as problem:
        yield error("cassandra", problem, "nodetool status on a node; compare [cassandra] with it")
        return
    if seen.down:
        yield warning("cassandra", f"out of reach: {', '.join(seen.down)}", _UP)
    else:
        yield ok("cassandra", f"{len(seen.nodes)} nodes: {', '.join(seen.nodes)}")
    if seen.disagreement:
        yield error(
            "cassandra schema",
            seen.disagreement,
            "nodetool describecluster names the nodes; wait a minute, then restart those behind",
        )
    keyspace = settings.cassandra.keyspace
    if seen.step is None:
        why = f"keyspace {keyspace} is missing; the gateway makes it when it first connects"
        yield warning("cassandra schema", why, "systemctl start wayseal-gateway")
    elif seen.step < seen.newest_step:
        why = f"keyspace {keyspace} is at step {seen.step} of {seen.newest_step}"
        yield warning("cassandra schema", why, "systemctl restart wayseal-gateway takes them")
    elif seen.step > seen.newest_step:
        why = f"keyspace {keyspace} is at step {seen.step}, this gateway knows {seen.newest_step}"
        yield error("cassandra schema", why, "upgrade this gateway to the version of the others")
    elif not seen.disagreement:
        yield ok("cassandra schema", f"keyspace {keyspace} is at step {seen.step}, and all agree")
    yield _open(seen.deletions.count, seen.deletions.since_ms, now_ms)


def _open(count: int, since_ms: int | None, now_ms: int) -> Finding:
    days = 0 if since_ms is None else (now_ms - since_ms) // _DAY_MS
    if since_ms is None or days < LATE_DAYS:
        return ok("deletions", f"{count} not confirmed by every replica yet")
    why = (
        f"{count} not confirmed by every replica, the oldest of {rfc3339(since_ms)}, {days} days "
        "ago"
    )
    if days >= FORGOTTEN_DAYS:
        remedy = f"replace the node that was away for {FORGOTTEN_DAYS} days, do not bring it back"
        return error("deletions", why, remedy)
    return warning("deletions", why, f"bring back the nodes that are down: {_UP}")
