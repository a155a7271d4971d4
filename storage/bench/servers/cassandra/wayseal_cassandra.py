"""`make cassandra`: real Cassandra servers for a developer, until Ctrl-C.

    python -m storage.bench.servers.cassandra.wayseal_cassandra build/cassandra/dev --nodes 3

Node 1 is 127.0.0.1 in data centre `site1`, node 2 is 127.0.0.2 in `site2`, and
so on. Their data stay in the directory for the next start.
"""

import argparse
import json
import signal
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final, get_args

from contracts.errors import WaysealError
from contracts.runtime.commands import FAILED, complain, write_for_any_terminal
from contracts.runtime.files import locked, make_directory
from storage.bench.servers.cassandra.cluster import SUPERUSER, Cluster
from storage.bench.servers.cassandra.config import CommitLogSync, NodePlace, Options, Tls

NODES_MAX: Final = 9


def main(arguments: Sequence[str] | None = None) -> None:
    """Start the servers, print a gateway's settings for them, and wait to be ended."""
    write_for_any_terminal()
    chosen = _parse(arguments)
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        make_directory(chosen.directory)
        with locked(chosen.directory / "lock", f"other servers run in {chosen.directory}"):
            cluster = Cluster(
                chosen.directory, _places(chosen.nodes), _options(chosen), native_port=chosen.port
            )
            with cluster:
                print(f"{_settings(cluster, chosen)}\nready", flush=True)
                _wait()
                cluster.stop()
    except WaysealError as error:
        complain("cassandra", error)
        sys.exit(FAILED)
    except KeyboardInterrupt:  # while it started, or a second one while it stopped
        sys.exit(FAILED)


def _wait() -> None:
    """Return at Ctrl-C or SIGTERM."""
    with suppress(KeyboardInterrupt):
        while True:
            signal.pause()


def _places(count: int) -> list[NodePlace]:
    return [NodePlace(f"127.0.0.{number}", f"site{number}") for number in range(1, count + 1)]


def _options(chosen: argparse.Namespace) -> Options:
    tls = Tls(chosen.tls, chosen.tls_clients_ca) if chosen.tls else None
    return Options(chosen.commitlog_sync, chosen.login, tls, chosen.heap_mb)


def _settings(cluster: Cluster, chosen: argparse.Namespace) -> str:
    """Return what a gateway at site1 needs in its settings file."""
    lines = [
        *("[storage]", 'blob_store = "cassandra"', "", "[cassandra]"),
        f"contact_points = {json.dumps(cluster.addresses)}",
        f"port = {cluster.ports.native}",
        f'datacentre = "{cluster.nodes[0].place.datacentre}"',
    ]
    if chosen.login:
        lines += [f'username = "{SUPERUSER}"', f'password = "{SUPERUSER}"']
    if chosen.tls:
        lines.append('tls_ca = "the certificate that signed the servers\'"')
    return "\n".join(lines)


def _parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="cassandra", description=__doc__.partition("\n")[0])
    add = parser.add_argument
    add("directory", type=Path, help="for their data")
    add(
        "--nodes",
        type=int,
        default=1,
        choices=range(1, NODES_MAX + 1),
        metavar="N",
        help="how many; default 1",
    )
    add(
        "--port", type=int, default=9042, help="for clients; default 9042; 0 lets the system choose"
    )
    add("--commitlog-sync", default="batch", choices=get_args(CommitLogSync), help="default batch")
    add("--heap-mb", type=int, default=1024, help="of each JVM; default 1024")
    add(
        "--login",
        action="store_true",
        help="require a login; the first is cassandra, password cassandra",
    )
    add("--tls", type=Path, metavar="PEM", help="the servers' key and certificate")
    add(
        "--tls-clients-ca",
        type=Path,
        metavar="PEM",
        help="CA that must have signed the clients' certificates",
    )
    return parser.parse_args(arguments)


if __name__ == "__main__":
    main()
