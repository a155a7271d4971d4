"""How to reach the cluster and what to ask of it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from contracts.copies import CONSISTENCY_LEVELS
from contracts.errors import RejectedError


@dataclass(frozen=True, slots=True)
class CassandraConfig:
    """The settings of one gateway; defaults and ranges are those of docs/operator.md.

    Attributes:
        contact_points: Addresses of nodes to ask first.
        port: Native transport, the same at all nodes.
        datacentre: The nearest; empty takes that of the first node that answers.
        keyspace: Made and migrated by us.
        replication: Copies by data centre; empty is one in each. It only ever grows.
        write_consistency: When a blob counts as kept.
        read_consistency: How many replicas must agree.
        username: Empty asks for no login.
        password: Of that role.
        tls_ca: PEM; given, connections are TLS and nodes must prove their address.
        tls_certificate: PEM, ours, if nodes ask for one.
        tls_key: PEM, its key.
        in_flight: Requests on their way at once; further ones wait.
        timeout_s: For one request, all tries included.
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
        """Check what no driver would explain."""
        if not self.contact_points:
            raise RejectedError("cassandra.contact_points: expected at least one, got none")
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
