"""The doctor and a real Cassandra: its schema, and deletions that stay open."""

import time
from pathlib import Path
from typing import Final

import pytest

from contracts.runtime.checks import Finding
from storage.bench.servers.cassandra.cluster import Cluster
from support.gateways.ailing import DAY_MS, Ailing
from support.storage.cassandras import config_of, cql, opened, wait_until_it_works

pytestmark = pytest.mark.integration
KEYSPACE: Final = "doctor"
RECORDING: Final = bytes(31) + b"\x01"


def about(found: list[Finding], subject: str) -> tuple[str, str]:
    each = next(each for each in reversed(found) if each.subject == subject)
    return each.severity, each.words


def test_a_cluster_s_schema_and_open_deletions(cassandra: Cluster, tmp_path: Path) -> None:
    ailing = Ailing(tmp_path, "http://127.0.0.1:1")
    ailing.set("storage", blob_store="cassandra")
    ailing.set("cassandra", port=cassandra.ports.native, keyspace=KEYSPACE)
    ailing.set("cassandra", contact_points=list(cassandra.addresses))
    config = config_of(cassandra, KEYSPACE)
    severity, words = about(ailing.look(offline=False), "cassandra schema")
    assert (severity, f"keyspace {KEYSPACE} is missing" in words) == ("warning", True)
    with cql(config) as session:
        assert not session.execute(
            "SELECT * FROM system_schema.keyspaces WHERE keyspace_name = %s", (KEYSPACE,)
        ).one()
        with opened(config) as store:
            wait_until_it_works(store)
        found = ailing.look(offline=False)
        assert about(found, "cassandra")[0] == about(found, "cassandra schema")[0] == "ok"
        assert about(found, "deletions") == ("ok", "0 not confirmed by every replica yet")
        now_ms = time.time_ns() // 1_000_000
        for days, expected in ((0, "ok"), (2, "warning"), (11, "error")):
            deleted_us = (now_ms - days * DAY_MS) * 1000
            session.execute(
                f"INSERT INTO {KEYSPACE}.deletion (recording, deleted_us) VALUES (%s, %s)",  # noqa: S608
                (RECORDING, deleted_us),
            )
            severity, words = about(ailing.look(offline=False), "deletions")
            assert severity == expected
            assert words.startswith("1 not confirmed by every replica")
        session.execute(f"DELETE FROM {KEYSPACE}.migration WHERE number = 2")  # noqa: S608
        severity, words = about(ailing.look(offline=False), "cassandra schema")
        assert (severity, words) == ("warning", f"keyspace {KEYSPACE} is at step 1 of 2")
        with opened(config) as store:
            wait_until_it_works(store)
        assert about(ailing.look(offline=False), "cassandra schema")[0] == "ok"
