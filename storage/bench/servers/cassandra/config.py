"""Files that a server reads at its start: cassandra.yaml, rack, data centre, log format.

The settings are those that docs/storage.md asks of a site's own node.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Literal

from contracts.errors import RejectedError

CommitLogSync = Literal["batch", "group", "periodic"]

_SYNC: Final[Mapping[CommitLogSync, Mapping[str, object]]] = {
    # An acknowledged write is on the medium. `periodic`, Cassandra's own default, loses
    # acknowledged blobs when all replicas die at once: measured in 5 of 6 runs.
    "batch": {"commitlog_sync": "batch"},
    "group": {"commitlog_sync": "group", "commitlog_sync_group_window": "10ms"},
    "periodic": {"commitlog_sync": "periodic", "commitlog_sync_period": "10000ms"},
}
_HEAP_MB_MIN: Final = 256
_TOKENS: Final = 1 << 64
_TOKEN_MIN: Final = -(1 << 63)
_LOGBACK: Final = """\
<configuration>
  <appender name="OUT" class="ch.qos.logback.core.ConsoleAppender">
    <encoder><pattern>%-5level %date{ISO8601} %F:%L - %msg%n</pattern></encoder>
  </appender>
  <root level="INFO"><appender-ref ref="OUT"/></root>
</configuration>
"""
_EXPORTS: Final = """
java.base/jdk.internal.misc java.base/jdk.internal.ref java.base/sun.nio.ch java.base/java.lang.ref
java.management.rmi/com.sun.jmx.remote.internal.rmi java.rmi/sun.rmi.registry
java.rmi/sun.rmi.server java.sql/java.sql jdk.unsupported/sun.misc
"""
_OPENS: Final = """
java.base/java.lang java.base/java.lang.module java.base/java.lang.reflect java.base/java.io
java.base/java.net java.base/java.util java.base/java.util.concurrent
java.base/java.util.concurrent.atomic java.base/java.nio java.base/sun.nio.ch
java.base/jdk.internal.loader java.base/jdk.internal.math java.base/jdk.internal.module
java.base/jdk.internal.ref java.base/jdk.internal.reflect java.base/jdk.internal.util.jar
java.rmi/sun.rmi.transport.tcp jdk.management/com.sun.management.internal
"""
MODULE_FLAGS: Final = (
    *(f"--add-exports={name}=ALL-UNNAMED" for name in _EXPORTS.split()),
    *(f"--add-opens={name}=ALL-UNNAMED" for name in _OPENS.split()),
)
"""Source: Cassandra 5.0, conf/jvm17-server.options."""


@dataclass(frozen=True, slots=True)
class NodePlace:
    """The place of a node.

    Attributes:
        address: The node listens on it. 127.0.0.1, 127.0.0.2 and so on are all this machine.
        datacentre: A site of the network.
        rack: Nodes of one site that fail together.
        prefix: Command in front of its own, as in `ip netns exec NAME`.
    """

    address: str = "127.0.0.1"
    datacentre: str = "dc1"
    rack: str = "rack1"
    prefix: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Tls:
    """Certificates of clients' connections; with them, plain connections are refused.

    Attributes:
        keystore: PEM, the server's PKCS 8 key and its certificates.
        clients_ca: PEM; with it, clients must show a certificate that it signed.
    """

    keystore: Path
    clients_ca: Path | None = None


@dataclass(frozen=True, slots=True)
class Options:
    """Options that all nodes of a cluster share.

    Attributes:
        commitlog_sync: When a write counts as durable; `group` waits up to 10 ms.
        authentication: Ask for a login; the first is `cassandra`, password `cassandra`.
        tls: For clients.
        heap_mb: Of each JVM.
        yaml: Further keys of cassandra.yaml, which win over ours.
        jvm: Further options of the JVM.
    """

    commitlog_sync: CommitLogSync = "batch"
    authentication: bool = False
    tls: Tls | None = None
    heap_mb: int = 1024
    yaml: Mapping[str, object] = field(default_factory=dict)
    jvm: Sequence[str] = ()

    def __post_init__(self) -> None:
        """Check the ranges."""
        if self.heap_mb < _HEAP_MB_MIN:
            raise RejectedError(f"heap must be at least {_HEAP_MB_MIN} MB, got {self.heap_mb}")


@dataclass(frozen=True, slots=True)
class Ports:
    """Ports of a cluster, the same at every address.

    Attributes:
        native: For clients.
        storage: Between nodes.
        jmx: For nodetool, on the loopback address; one for each node.
    """

    native: int
    storage: int
    jmx: tuple[int, ...]


def initial_token(index: int, count: int) -> int:
    """Return the token of a node: the first `count` are spread evenly, later ones lie beside."""
    return _TOKEN_MIN + _TOKENS // count * (index % count) + index // count


def write_config(
    directory: Path,
    place: NodePlace,
    options: Options,
    ports: Ports,
    seeds: Sequence[str],
    token: int | None,
) -> None:
    """Write the files of one node into its directory, which exists.

    Without a token it takes the place of a dead node, and fetches its copy from the others.
    """
    yaml = _yaml(place, options, ports, seeds, token)
    # JSON is YAML, and quotes what needs to be quoted.
    (directory / "cassandra.yaml").write_text(json.dumps(yaml, indent=1), "utf-8")
    (directory / "logback.xml").write_text(_LOGBACK, "utf-8")
    (directory / "rackdc.properties").write_text(
        f"dc={place.datacentre}\nrack={place.rack}\n", "utf-8"
    )


def _yaml(
    place: NodePlace, options: Options, ports: Ports, seeds: Sequence[str], token: int | None
) -> dict[str, object]:
    return {
        "cluster_name": "wayseal",
        "num_tokens": 1,
        **({"auto_bootstrap": False, "initial_token": str(token)} if token is not None else {}),
        "partitioner": "org.apache.cassandra.dht.Murmur3Partitioner",
        "endpoint_snitch": "GossipingPropertyFileSnitch",
        # Otherwise a busy node passes requests for itself to another node: see ADR 0014.
        "dynamic_snitch": False,
        "listen_address": place.address,
        "rpc_address": place.address,
        "storage_port": ports.storage,
        "native_transport_port": ports.native,
        "seed_provider": [
            {
                "class_name": "org.apache.cassandra.locator.SimpleSeedProvider",
                "parameters": [{"seeds": ",".join(f"{each}:{ports.storage}" for each in seeds)}],
            }
        ],
        **_SYNC[options.commitlog_sync],
        # O_DIRECT where the file system has it: 1 MiB blobs then wait less for their sync.
        "commitlog_disk_access_mode": "auto",
        "commitlog_segment_size": "32MiB",
        # Each of up to 160 threads that write keeps the partition that it wrote last from being
        # collected. On the heap that is 1 MiB a row: a node of 1 GB ran out after 16 GiB.
        "memtable_allocation_type": "offheap_objects",
        "memtable": {"configurations": {"default": {"class_name": "TrieMemtable"}}},
        "disk_failure_policy": "stop",
        "commit_failure_policy": "stop",
        "hinted_handoff_throttle": "100MiB",
        # Without a limit the hints for one site that is away fill the disk.
        "max_hints_size_per_host": "16GiB",
        # Two seconds, the default, are too short for 1 MiB blobs on a busy machine.
        "write_request_timeout": "10s",
        "read_request_timeout": "10s",
        "range_request_timeout": "20s",
        **_authentication(options),
        **_tls(options),
        **options.yaml,
    }


def _authentication(options: Options) -> dict[str, object]:
    if not options.authentication:
        return {}
    return {
        "authenticator": "PasswordAuthenticator",
        "authorizer": "CassandraAuthorizer",
        "role_manager": "CassandraRoleManager",
    }


def _tls(options: Options) -> dict[str, object]:
    if options.tls is None:
        return {}
    encryption: dict[str, object] = {
        "enabled": True,
        "optional": False,
        "ssl_context_factory": {
            "class_name": "org.apache.cassandra.security.PEMBasedSslContextFactory"
        },
        "keystore": str(options.tls.keystore),
        "require_client_auth": options.tls.clients_ca is not None,
    }
    if options.tls.clients_ca is not None:
        encryption["truststore"] = str(options.tls.clients_ca)
    return {"client_encryption_options": encryption}
