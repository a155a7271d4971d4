"""The gateway's settings of storage: volumes, blob store, receipts, scrub, retention."""

from pathlib import Path
from typing import Annotated, Final, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from contracts.backup.options import KEEP, KEEP_MAX
from contracts.copies import CONSISTENCY_LEVELS, DEFAULT_POLICY, Policy
from contracts.errors import RejectedError

MIB: Final = 1 << 20
Days = Annotated[int, Field(ge=0, le=36_500)]


def _known_level(value: str) -> str:
    if value not in CONSISTENCY_LEVELS:
        raise ValueError(f"expected one of {', '.join(CONSISTENCY_LEVELS)}")
    return value


def _policy(value: list[str]) -> list[str]:
    try:
        Policy.parse(value)
    except RejectedError as error:
        raise ValueError(str(error)) from error
    return value


Consistency = Annotated[str, AfterValidator(_known_level)]


class Table(BaseModel):
    """A table of the settings file: unknown keys are errors."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class VolumeSettings(Table):
    """A volume for whole recordings; its name is in receipts."""

    path: Path = Field(description="directory on the volume, for this gateway alone")
    mount: bool = Field(
        default=False, description="the path must be a mount point: without its mount it is out"
    )
    quota_bytes: int = Field(
        0, ge=0, description="most that recordings may take there; 0: all of the volume"
    )


class StorageSettings(Table):
    """Where recordings are stored."""

    blob_store: Literal["files", "cassandra", "both"] = Field(
        "files", description="files in `blobs`, Cassandra, or both at once"
    )
    without_volume: Literal["blobs", "refuse"] = Field(
        "blobs",
        description="while no volume works: uploads go to the blob store alone, or are refused",
    )


class CassandraSettings(Table):
    """The Cassandra cluster that keeps the blobs of all sites."""

    contact_points: list[str] = Field(["127.0.0.1"], min_length=1, description="nodes to ask first")
    port: int = Field(9042, ge=1, le=65535, description="native transport")
    datacentre: str = Field("", description="of this site; empty takes that of the first node")
    keyspace: str = Field(
        "wayseal", pattern=r"^[a-z][a-z0-9_]{0,47}$", description="made by the gateway"
    )
    replication: dict[str, int] = Field(
        {}, description="copies by data centre; empty: one in each; used when the keyspace is made"
    )
    write_consistency: Consistency = Field("QUORUM", description="when a blob counts as kept")
    read_consistency: Consistency = Field("QUORUM", description="how many replicas must answer")
    username: str = Field("", description="empty: no login")
    password: str = Field("", description="of that role")
    tls_ca: Path | None = Field(None, description="PEM; with it the connection uses TLS")
    tls_certificate: Path | None = Field(None, description="PEM, if nodes ask for the client's")
    tls_key: Path | None = Field(None, description="PEM, its key")
    in_flight: int = Field(16, ge=1, le=256, description="blobs in transfer at once")
    timeout_s: float = Field(20.0, gt=0, le=600, description="for one blob, retries included")


class ReceiptSettings(Table):
    """When a receipt is final."""

    requires: Annotated[list[str], AfterValidator(_policy)] = Field(
        list(map(str, DEFAULT_POLICY.requirements)),
        description="copies without which a receipt is provisional",
    )
    confirmations: int = Field(
        0, ge=0, le=10_000, description="blocks on top of a block before a receipt names it"
    )


class ScrubSettings(Table):
    """How often and how fast the scrub reads everything that is stored."""

    every_days: Days = Field(7, description="from the start of one round to the next; 0: never")
    bytes_per_s: int = Field(20 * MIB, ge=1, description="most that is read in a second")


class BackupSettings(Table):
    """Where backups of gateway and node are kept, and how old the newest may be."""

    directory: Path | None = Field(None, description="of this gateway's backups alone")
    node_directory: Path | None = Field(
        None, description="of the network's node, if its backups are on this machine; for `doctor`"
    )
    keep: int = Field(KEEP, ge=1, le=KEEP_MAX, description="older ones are dropped")
    overdue_hours: int = Field(
        26, ge=1, le=8784, description="age of the newest at which `doctor` complains"
    )


class BenchmarkSettings(Table):
    """Where runs of `wayseal-bench` are, whose reports operators may look at."""

    folder: Path | None = Field(None, description="the folder of `wayseal-bench`'s `--out`")


class IndexSettings(Table):
    """When readings of old trips leave the index for cold files, and where those lie."""

    cold_after_days: Days = Field(
        0,
        description="time after a trip's end and its last reading at which its readings move into "
        "a cold file, unless a hold keeps them in the index; 0: never",
    )
    cold: Path | None = Field(
        None,
        description="directory, such as one on a larger and slower disk; the files lie in a folder "
        "with the site's id below it; default DATA/cold",
    )


class RetentionSettings(Table):
    """When copies of committed recordings are deleted, unless a hold keeps them; 0: never."""

    make_room: bool = Field(
        default=False,
        description="whether a full volume loses its oldest whole copies, so that uploads fit",
    )
    volume_days: Days = Field(0, description="age at which the whole copy is deleted")
    blobs_days: Days = Field(0, description="age at which all copies are deleted, shared blobs too")
    partial_days: Days = Field(
        30, description="time after which an upload without progress is deleted"
    )
