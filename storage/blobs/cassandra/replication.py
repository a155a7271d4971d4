"""The copies of the keyspace, and whether they can satisfy the settings."""

from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from typing import Final

from cassandra.metadata import ReplicationStrategy

from contracts.errors import RejectedError

_COUNTED: Final = {"ONE": 1, "TWO": 2, "THREE": 3}
_LOCAL: Final = ("LOCAL_ONE", "LOCAL_QUORUM")


def wanted(
    asked: Mapping[str, int], present: Mapping[str, int] | None, known: AbstractSet[str]
) -> Mapping[str, int]:
    """Return the copies by data centre that the keyspace should have.

    Args:
        asked: The setting; empty is one copy in each data centre when the keyspace is created.
        present: The keyspace's copies now; None if the keyspace does not exist.
        known: The data centres of the cluster.

    Raises:
        RejectedError: A data centre is unknown, or the keyspace would grow by more than one copy.
            A quorum of the new replicas could then lack what a quorum of the old ones has.
    """
    unknown = sorted(asked.keys() - known)
    if unknown:
        raise RejectedError(
            f"cassandra.replication: expected data centres of {sorted(known)}, got {unknown}"
        )
    if present is None:
        return asked or dict.fromkeys(sorted(known), 1)
    grown = {name: max(asked.get(name, 0), present.get(name, 0)) for name in {**present, **asked}}
    if sum(grown.values()) > sum(present.values()) + 1:
        raise RejectedError(
            f"cassandra.replication: grows by one copy at a time, each filled by `nodetool "
            f"rebuild`; the keyspace has {dict(present)}, asked for {dict(asked)}"
        )
    return grown


def copies_of(keyspace: str, strategy: ReplicationStrategy) -> Mapping[str, int]:
    """Return the copies by data centre of an existing keyspace.

    Raises:
        RejectedError: Its replication strategy is not NetworkTopologyStrategy.
    """
    if getattr(strategy, "name", "") != "NetworkTopologyStrategy":
        raise RejectedError(
            f"keyspace {keyspace}: expected NetworkTopologyStrategy, "
            f"got {getattr(strategy, 'name', strategy)}"
        )
    return {
        str(name): int(info.all_replicas)
        for name, info in strategy.dc_replication_factors_info.items()
    }


def check_reachable(key: str, level: str, copies: Mapping[str, int], local: str) -> None:
    """Check that a consistency level can be met when every node is up.

    Raises:
        RejectedError: It requires more copies than exist.
    """
    if level in _LOCAL and not copies.get(local):
        raise RejectedError(
            f"cassandra.{key} {level}: data centre {local!r} has no copy, got {dict(copies)}"
        )
    if _COUNTED.get(level, 1) > sum(copies.values()):
        raise RejectedError(
            f"cassandra.{key} {level}: there are {sum(copies.values())} copies, {dict(copies)}"
        )


def cql_of(copies: Mapping[str, int]) -> str:
    """Return the replication map of CREATE and ALTER KEYSPACE."""
    # Names of data centres come from the cluster; CQL doubles a quote in a name.
    each = (f"'{name.replace(chr(39), chr(39) * 2)}': {count}" for name, count in copies.items())
    return "{'class': 'NetworkTopologyStrategy', " + ", ".join(each) + "}"
