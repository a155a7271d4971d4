"""Parties, sites, devices and deliveries: the newest row of each, by name."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

from contracts.errors import RejectedError
from contracts.proto.payload_pb2 import CertifyParty, RegisterSite
from contracts.proto.state_pb2 import Certificates, LogisticUnit, Party, Site
from contracts.text import quoted
from gateway.index.store import IndexStore
from gateway.records.pages import Listed, listed

T = TypeVar("T")


class NotOnLedgerError(RejectedError):
    """The ledger has no record of that name."""


def unknown(kind: str, name: str) -> NotOnLedgerError:
    """Return the error for a name that the ledger does not have, such as trip `0af3…`."""
    return NotOnLedgerError(f"no {kind} {quoted(name)} on the ledger")


@dataclass(frozen=True, slots=True)
class PartyRecord:
    """A party as it stands.

    Attributes:
        entry: Its state on the ledger.
        revoked_keys: Public keys that it had once and has no more, oldest first.
        certificates: What authorities certify, revoked and expired certificates included.
    """

    entry: Party
    revoked_keys: tuple[str, ...]
    certificates: tuple[CertifyParty, ...]


@dataclass(frozen=True, slots=True)
class DeviceRecord:
    """A device as registered last; `calibrated_until_ms` is 0 when unknown."""

    device_id: str
    party_id: str
    public_keys: tuple[str, ...]
    calibrated_until_ms: int


class Registry(Generic[T]):
    """The records of one kind that are registered under a name, and may be registered again.

    Args:
        index: The index to ask.
        table: Where the records are.
        key: The column with their names, such as `site_id`.
        columns: What `read` takes.
        read: Makes a record from those columns.
    """

    def __init__(
        self, index: IndexStore, table: str, key: str, columns: str, read: Callable[..., T]
    ) -> None:
        self._index = index
        self._table = table
        self._key = key
        self._columns = columns
        self._read = read

    def listed(self, after: int, count: int, *, newest_first: bool = False) -> Listed[T]:
        """Return a page of the records, each as it stands, by its last change."""
        sql = (
            f"SELECT rowid AS at, {self._columns} FROM {self._table} WHERE rowid IN"  # noqa: S608
            f" (SELECT max(rowid) FROM {self._table} GROUP BY {self._key})"
        )
        return listed(
            self._index, sql, (), self._read, after=after, count=count, newest_first=newest_first
        )

    def get(self, name: str) -> T:
        """Return the record of that name as it stands.

        Raises:
            NotOnLedgerError: There is no record of that name.
        """
        rows = self._index.query(
            f"SELECT {self._columns} FROM {self._table} WHERE {self._key} = ?"  # noqa: S608
            " ORDER BY rowid DESC LIMIT 1",
            name,
        )
        if not rows:
            raise unknown(self._key.removesuffix("_id"), name)
        return self._read(*rows[0])


def parties(index: IndexStore) -> Registry[PartyRecord]:
    """Return the registered parties."""

    def read(entry: bytes) -> PartyRecord:
        party = Party.FromString(entry)
        every = index.query(
            "SELECT DISTINCT public_key FROM keys WHERE subject = ? ORDER BY rowid",
            f"party {party.party_id}",
        )
        current = set(party.public_keys)
        certified = index.query(
            "SELECT entry FROM certificates WHERE rowid IN"
            " (SELECT max(rowid) FROM certificates WHERE holder_id = ? GROUP BY kind)"
            " ORDER BY kind",
            party.party_id,
        )
        return PartyRecord(
            party,
            tuple(key for (key,) in every if key not in current),
            tuple(
                each for (wire,) in certified for each in Certificates.FromString(wire).by_authority
            ),
        )

    return Registry(index, "parties", "party_id", "entry", read)


def sites(index: IndexStore) -> Registry[RegisterSite]:
    """Return the registered sites."""

    def read(entry: bytes) -> RegisterSite:
        return Site.FromString(entry).site

    return Registry(index, "sites", "site_id", "entry", read)


def units(index: IndexStore) -> Registry[LogisticUnit]:
    """Return the logistic units that were packed, or that others hold, by SSCC."""
    return Registry(index, "units", "sscc", "entry", LogisticUnit.FromString)


def devices(index: IndexStore) -> Registry[DeviceRecord]:
    """Return the registered devices."""
    columns = "device_id, party_id, public_keys, calibrated_until_ms"
    return Registry(index, "devices", "device_id", columns, _device)


def _device(device_id: str, party_id: str, keys: str, calibrated_until_ms: int) -> DeviceRecord:
    return DeviceRecord(device_id, party_id, tuple(json.loads(keys)), calibrated_until_ms)
