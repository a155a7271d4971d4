"""The video through a real Cassandra: on a volume, and in a cluster that was there before."""

import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path

import pytest

from contracts.chunktree import HASH_BYTES
from contracts.errors import RejectedError, UnavailableError
from storage.bench.io.blobtable import BlobTable
from storage.bench.io.cassandra import PASSWORD, add_cassandra_options, prepare_cassandra
from storage.bench.io.keyspaces import new_name
from storage.bench.run.part import Prepared
from storage.bench.servers.cassandra.cluster import SUPERUSER, Cluster
from storage.bench.trucks.payload import PIECE_BYTES, Payload
from support.bench.papers import drawn, wanted
from support.bench.stages import execute, flags, parsed, setup_on, steps_of, values
from support.storage.cassandras import config_of, cql, make_cassandra, opened, wait_until_it_works

pytestmark = pytest.mark.integration

STACK = ExitStack()
PIECES = 4
TINY = ("--video-gb", str(PIECES * PIECE_BYTES / 1e9), "--in-flight", "3")
RATES = {"write-rate", "read-rate"}
DEVICE = {"write-mean", "write-max", "read-mean", "read-max", "write-amplification"}
BLOCK_BYTES = 4096
"""What the commit log is written in: the first that counts may hold what came before, too."""
CPU = {"write-client-cpu", "write-server-cpu", "read-client-cpu", "read-server-cpu"}


def keyspaces(cluster: Cluster) -> set[str]:
    with cql(config_of(cluster, "none")) as session:
        rows = session.execute("SELECT keyspace_name FROM system_schema.keyspaces")
        return {name for (name,) in rows}


def existing(cluster: Cluster, name: str = "old") -> tuple[str, str]:
    return ("--cassandra", f"{name}={cluster.addresses[0]}:{cluster.ports.native}")


@pytest.mark.long
def test_a_server_on_a_volume_has_log_and_tables_there_and_goes_with_them(tmp_path: Path) -> None:
    with setup_on(tmp_path, "a") as setup:
        (volume,) = setup.volumes
        with steps_of(prepare_cassandra(parsed(add_cassandra_options, *TINY), setup, STACK)) as (
            step,
        ):
            assert (step.workload, step.target) == ("cassandra", "a")
            outcome = execute(step, tmp_path / "scratch")
            tables = list(volume.work.rglob("wayseal_bench*/blob-*/*-Data.db"))
            stored = sum(path.stat().st_size for path in tables)
            logged = list(volume.work.rglob("CommitLog-*.log"))
        left = [path.name for path in volume.work.iterdir()]
    assert stored >= PIECES * PIECE_BYTES
    assert outcome.work.bytes_moved == 2 * PIECES * PIECE_BYTES
    assert logged
    assert left == ["made-by-wayseal-bench"]
    found = values(outcome)
    counted = DEVICE if volume.drives else set()
    assert found.keys() == RATES | counted | CPU | {"commit-log-bytes"}
    assert wanted("io", "cassandra") <= RATES | DEVICE
    columns = {(each.name, column) for each in outcome.series for column in each.columns}
    assert drawn("io", "cassandra") <= columns
    assert all(found[name] > 0 for name in RATES)
    assert found["commit-log-bytes"] > PIECES * PIECE_BYTES - BLOCK_BYTES
    if volume.drives:
        # Log and table hold all of it: where the device says less, the counters are not its own.
        assert found["write-amplification"] >= 2
    assert not any("INVALID" in each for each in flags(outcome).values())
    assert [each.name for each in outcome.latencies] == ["write-response", "read-response"]


def test_an_existing_cluster_is_of_unknown_placement_and_stays_as_it_was(
    tmp_path: Path, cassandra: Cluster
) -> None:
    before = keyspaces(cassandra)
    ended = subprocess.Popen([sys.executable, "-c", ""])
    running = new_name(ended.pid)
    config = config_of(cassandra, running)
    with cql(config) as session:
        others = running.replace("wayseal_bench_", "wayseal_bench_0", 1)[:40]
        for name in (running, others):
            session.execute(
                f"CREATE KEYSPACE {name} WITH replication ="
                " {'class': 'NetworkTopologyStrategy', 'dc1': 1}"
            )
    ended.wait()
    options = parsed(add_cassandra_options, *TINY, *existing(cassandra))
    with setup_on(tmp_path) as setup:
        prepared = prepare_cassandra(options, setup, STACK)
        assert keyspaces(cassandra) == before | {others}
        with steps_of(prepared) as (step,):
            (made,) = keyspaces(cassandra) - before - {others}
            assert made.startswith("wayseal_bench_")
            outcome = execute(step, tmp_path / "scratch")
    assert keyspaces(cassandra) == before | {others}
    with cql(config) as session:
        session.execute(f"DROP KEYSPACE {others}")
    (target,) = prepared.targets
    assert (target["name"], target["kind"], target["interface"]) == ("old", "cassandra", "unknown")
    assert (target["nodes"], len(target["releases"])) == (1, 1)
    assert values(outcome).keys() == RATES | {"write-client-cpu", "read-client-cpu"}
    assert all(each == {"UNKNOWN PLACEMENT"} for each in flags(outcome).values())


def test_what_cannot_be_is_said_before_anything_is_written(
    tmp_path: Path, cassandra: Cluster
) -> None:
    with setup_on(tmp_path, "a") as setup:
        nobody = parsed(add_cassandra_options, *TINY, "--cassandra", "far=127.0.0.1:1")
        with pytest.raises(UnavailableError, match=r"--cassandra far: cannot connect"):
            prepare_cassandra(nobody, setup, STACK)
        twice = parsed(add_cassandra_options, *TINY, *existing(cassandra, "a"))
        with pytest.raises(RejectedError, match="a different name for each target, got a twice"):
            prepare_cassandra(twice, setup, STACK)
        huge = parsed(add_cassandra_options, "--video-gb", "1000")
        with pytest.raises(RejectedError, match="GiB free"):
            prepare_cassandra(huge, setup, STACK)
        assert (
            prepare_cassandra(parsed(add_cassandra_options, "--video-gb", "0"), setup, STACK).groups
            == ()
        )


@pytest.mark.long
def test_a_login_that_is_refused_is_said_before_anything_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with (
        make_cassandra(tmp_path / "guarded", authentication=True) as guarded,
        setup_on(tmp_path, "a") as setup,
    ):
        login = {"username": SUPERUSER, "password": SUPERUSER}
        with opened(config_of(guarded, "theirs", **login)) as store:
            wait_until_it_works(store)  # the first role is made some time after the start

        def prepared(user: str, password: str) -> Prepared:
            monkeypatch.setenv(PASSWORD, password)
            words = (*TINY, *existing(guarded), "--cassandra-user", user)
            return prepare_cassandra(parsed(add_cassandra_options, *words), setup, STACK)

        for user, password in ((SUPERUSER, "wrong"), ("nobody", SUPERUSER), ("", "")):
            with pytest.raises(RejectedError, match="old: Cassandra refuses this user name"):
                prepared(user, password)
        (target,) = prepared(SUPERUSER, SUPERUSER).targets
        assert target["name"] == "old"
        (volume,) = setup.volumes
        assert [path.name for path in volume.work.iterdir()] == ["made-by-wayseal-bench"]


def test_bytes_that_come_back_otherwise_are_noticed(cassandra: Cluster) -> None:
    recording, one, other = bytes(HASH_BYTES), Payload(1, PIECES), Payload(2, PIECES)
    with BlobTable.made(config_of(cassandra, "wayseal_bench_wrong")) as table:
        assert table.write(recording, one, 2).wrong == []
        read = table.read(recording, one, 2)
        assert (read.wrong, len(read.took_s)) == ([], PIECES)
        assert sorted(table.read(recording, other, 2).wrong) == list(range(PIECES))
        table.empty()
        assert sorted(table.read(recording, one, 2).wrong) == list(range(PIECES))
