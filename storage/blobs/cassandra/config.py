"""The settings of the Cassandra blob store."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from contracts.copies import CONSISTENCY_LEVELS
from contracts.errors import RejectedError


@dataclass(frozen=True, slots=True)
class CassandraConfig:
    """The settings of one gateway; docs/operator.md lists defaults and ranges.

    Attributes:
        contact_points: Addresses of nodes to ask first.
        port: Native transport, the same at all nodes.
        datacentre: The nearest data centre; if empty, the one of the first node that answers.
        keyspace: Created and migrated by the gateway.
        replication: Copies by data centre; empty is one in each. It can only grow.
        write_consistency: When a blob counts as stored.
        read_consistency: How many replicas must agree.
        username: Empty means no login.
        password: Of that role.
        tls_ca: PEM; if set, connections use TLS and nodes must prove their address.
        tls_certificate: PEM, the gateway's certificate, if nodes ask for one.
        tls_key: PEM, its key.
        in_flight: Limit of requests under way at once; further ones wait.
        timeout_s: For one request, with all retries.
    """

    contact_points: tuple[str, ...] = ("127.0.0.1",)
    port: int = 9042
    datacentre: str = ""
    keyspace: str = "wayseal"
    replication: Mapping[str, int] = field(default_factory=dict)
    write_consistency: str = "QUORUM"
    read_consistency: str = "QUORUM"
    username: str = ""
    password: str = field(default="", repr=False)
    tls_ca: Path | None = None
    tls_certificate: Path | None = None
    tls_key: Path | None = None
    in_flight: int = 16
    timeout_s: float = 20.0

    def __post_init__(self) -> None:
        """Check what the driver would not explain."""
        if not self.contact_points:
            raise RejectedError("cassandra.contact_points: expected at least one address, got none")
        for level in (self.write_consistency, self.read_consistency):
            if level not in CONSISTENCY_LEVELS:
                expected = ", ".join(CONSISTENCY_LEVELS)
                raise RejectedError(f"cassandra: consistency {level!r}, expected one of {expected}")
        if any(copies < 1 for copies in self.replication.values()):
            raise RejectedError(
                f"cassandra.replication: at least 1 copy each, got {dict(self.replication)}"
            )
        if (self.tls_certificate is None) != (self.tls_key is None):
            raise RejectedError("cassandra: tls_certificate and tls_key belong together")
        if self.tls_certificate is not None and self.tls_ca is None:
            raise RejectedError("cassandra: tls_certificate without tls_ca")
