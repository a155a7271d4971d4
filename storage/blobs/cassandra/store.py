"""Adapter: BlobStore in Cassandra.

A recording's blobs lie in buckets of 64. A row in table `bucket` is written before the first blob
of a bucket, so that `recordings`, `leaves` and `delete` find every stored blob.

In Cassandra the greater timestamp wins, and a delete hides every write with a smaller one, even a
later write by a clock that is behind. So no write trusts its clock alone: it reads the timestamp of
the last write or delete, and takes a greater one.
"""

import logging
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import groupby
from typing import Final

from cassandra import ReadFailure
from cassandra.query import PreparedStatement

from contracts.chunktree import HASH_BYTES
from contracts.errors import RejectedError, UnavailableError, WaysealError
from storage.blobs.cassandra.config import CassandraConfig
from storage.blobs.cassandra.deletions import (
    Deleted,
    Deletion,
    buckets_of,
    delete,
    repeat,
    returned,
)
from storage.blobs.cassandra.marks import Marks, later_us
from storage.blobs.cassandra.schema import BUCKET_BLOBS
from storage.blobs.cassandra.session import Peer, Reply, Row, wait_all
from storage.blobs.port import MANIFEST_BYTES_MAX, Blob, OpenDeletions, Replica, Returned

CONNECT_AGAIN_S: Final = 2.0
"""Pause after a failed connect, so that uploads do not wait for each attempt."""
NAME: Final = "cassandra"
_CLOSED: Final = "the connection to Cassandra is closed"
_log = logging.getLogger(__name__)


def clock_us() -> int:
    """Return the microseconds since 1970, the unit of Cassandra's timestamps."""
    return time.time_ns() // 1000


class CassandraBlobs:
    """Blobs in a Cassandra cluster; it connects when it is first used, in the caller's thread.

    Args:
        config: The settings.
        clock: For timestamps.
    """

    def __init__(self, config: CassandraConfig, clock: Callable[[], int] = clock_us) -> None:
        self._config = config
        self._clock = clock
        self._marks = Marks()
        self._deleted = Deleted()
        self._lock = threading.Lock()
        self._peer: Peer | None = None
        self._connecting = False
        self._failed: WaysealError | None = None
        self._again_s = 0.0
        self._closed = False

    @property
    def name(self) -> str:
        """See `BlobStore.name`."""
        return NAME

    @property
    def durability(self) -> str:
        """See `BlobStore.durability`."""
        return self._config.write_consistency

    def check(self) -> None:
        """See `BlobStore.check`; the first success creates the schema if it is missing."""
        peer = self._connected()
        peer.rows(peer.ask.manifest, (bytes(HASH_BYTES),), "be read")

    def put(self, recording_id: bytes, blob: Blob) -> None:
        """See `BlobStore.put`: it always overwrites the stored blob, as repairs need.

        If all replicas are up, it waits for each, because a repair surveys them right afterwards.
        """
        self._marks.forget(recording_id)
        try:
            self._put(self._use().ask.put_everywhere, recording_id, [blob])
        except UnavailableError:
            self.put_many(recording_id, [blob])

    def put_many(self, recording_id: bytes, blobs: Sequence[Blob]) -> None:
        """See `BlobStore.put_many`; a bucket is not marked for every put, see `Marks`."""
        self._put(self._use().ask.put, recording_id, blobs)

    def get(self, recording_id: bytes, index: int, *, fresh: bool = False) -> Blob | None:
        """See `BlobStore.get`; a server's caches cannot be bypassed, but `replicas` asks each one.

        The nearest replica alone is asked first, since a blob proves itself by its hash; if it is
        missing or unreadable there, or with `fresh`, as many as the read consistency asks for. If
        one of them cannot read its blob, the whole request fails even though others could answer;
        then each replica is asked.
        """
        peer = self._use()
        values = (recording_id, index // BUCKET_BLOBS, index)
        action = f"get blob {index} of recording {recording_id.hex()}"
        deleted_us = self._deleted_us(peer, recording_id, action)
        if peer.has_copies_here and not fresh:
            with suppress(WaysealError):
                near = _blob(index, peer.rows(peer.ask.get_here, values, action), deleted_us)
                if near is not None:
                    return near
        try:
            return _blob(index, peer.rows(peer.ask.get, values, action), deleted_us)
        except UnavailableError as error:
            if not isinstance(error.__cause__, ReadFailure):
                raise
            for replica in self.replicas(recording_id, index):
                if replica.blob is not None and replica.blob.holds(replica.blob.leaf_hash):
                    return replica.blob
            raise

    def replicas(self, recording_id: bytes, index: int) -> Iterator[Replica]:
        """See `BlobStore.replicas`: each node with a copy is asked on its own."""
        peer = self._use()
        values = (recording_id, index // BUCKET_BLOBS, index)
        action = f"get blob {index} of recording {recording_id.hex()}"
        hosts = peer.replicas(peer.ask.get.bind(values).routing_key)
        if not hosts:
            raise UnavailableError(f"Cassandra cannot {action}: its ring is not known yet")
        try:
            deleted_us = self._deleted_us(peer, recording_id, action)
        except UnavailableError:  # a site that is cut off serves what it has
            deleted_us = 0
        for host in hosts:
            name = f"{NAME} {host.address}"
            try:
                rows = peer.rows_of(host, peer.ask.get_here, values, action)
                yield Replica(name, _blob(index, rows, deleted_us))
            except WaysealError as error:
                yield Replica(name, None, error)

    def leaves(self, recording_id: bytes) -> Mapping[int, bytes]:
        """See `BlobStore.leaves`: servers skip the data, on the medium too."""
        self._marks.forget(recording_id)
        peer = self._use()
        action = f"list recording {recording_id.hex()}"
        deleted_us = _us(peer.rows(peer.ask.deleted, (recording_id,), action))
        replies = []
        for bucket, put_us in self._buckets(peer, recording_id):
            if put_us <= deleted_us:
                continue
            indexes = list(range(bucket * BUCKET_BLOBS, (bucket + 1) * BUCKET_BLOBS))
            replies.append(peer.send(peer.ask.leaves, (recording_id, bucket, indexes), action))
        rows = (row for answer in wait_all(replies) for row in answer)
        return {
            index: leaf
            for index, leaf, put_us in rows
            if isinstance(index, int) and isinstance(leaf, bytes) and len(leaf) == HASH_BYTES
            if isinstance(put_us, int) and put_us > deleted_us
        }

    def put_manifest(self, recording_id: bytes, manifest: bytes) -> None:
        """See `BlobStore.put_manifest`."""
        if not 1 <= len(manifest) <= MANIFEST_BYTES_MAX:
            raise RejectedError(
                f"manifest must have 1..{MANIFEST_BYTES_MAX} bytes, got {len(manifest)}"
            )
        self._set_manifest(recording_id, manifest, f"put manifest of {recording_id.hex()}")

    def delete_manifest(self, recording_id: bytes) -> None:
        """See `BlobStore.delete_manifest`.

        An empty manifest replaces it, since Cassandra would forget a deletion after a while.
        """
        self._set_manifest(recording_id, b"", f"delete manifest of {recording_id.hex()}")

    def manifest(self, recording_id: bytes) -> bytes | None:
        """See `BlobStore.manifest`."""
        peer = self._use()
        rows = peer.rows(peer.ask.manifest, (recording_id,), f"find recording {recording_id.hex()}")
        manifest, put_us, deleted_us = rows[0] if rows else (None, None, None)
        if not isinstance(manifest, bytes) or not isinstance(put_us, int):
            return None
        is_deleted = isinstance(deleted_us, int) and put_us <= deleted_us
        return None if is_deleted else manifest or None

    def recordings(self) -> Iterator[bytes]:
        """See `BlobStore.recordings`."""
        peer = self._use()
        for (recording_id,) in peer.pages(peer.ask.recordings, "list recordings"):
            if isinstance(recording_id, bytes):
                yield recording_id

    def delete(self, recording_id: bytes) -> None:
        """See `BlobStore.delete`; its timestamp stays for later puts and reads."""
        self._marks.forget(recording_id)
        peer = self._use()
        action = f"delete recording {recording_id.hex()}"
        marked = dict(self._buckets(peer, recording_id))
        before = peer.rows(peer.ask.deleted, (recording_id,), action)
        older = buckets_of(before[0][1]) if before else frozenset()
        noted_us = _us([each[2:] for each in before])
        at_us = later_us(self._clock(), _us(before), noted_us, *marked.values())
        delete(peer, Deletion(recording_id, at_us, older | marked.keys(), at_us))
        self._deleted.note(recording_id, at_us)

    def repeat_deletions(self, stop: Callable[[], bool]) -> OpenDeletions:
        """See `BlobStore.repeat_deletions`: at consistency ALL."""
        return repeat(self._use(), stop)

    def returned(self, stop: Callable[[], bool]) -> Iterator[Returned]:
        """See `BlobStore.returned`: each node with a copy is asked on its own."""
        for each in returned(self._use(), self._clock, stop):
            yield replace(each, name=f"{NAME} {each.name}")

    def close(self) -> None:
        """See `BlobStore.close`."""
        with self._lock:
            self._closed = True
            if self._peer is not None:
                self._peer.close()
                self._peer = None

    def _put(
        self, statement: PreparedStatement, recording_id: bytes, blobs: Sequence[Blob]
    ) -> None:
        peer = self._use()
        action = f"put blobs of recording {recording_id.hex()}"
        replies: list[Reply] = []
        try:
            for bucket, several in groupby(
                sorted(blobs, key=lambda blob: blob.index), lambda blob: blob.index // BUCKET_BLOBS
            ):
                group = list(several)
                indexes = [blob.index for blob in group]
                at_us = self._marks.recall(recording_id, bucket, indexes)
                if at_us is None:
                    at_us = self._mark(peer, recording_id, bucket, action)
                    self._marks.note(recording_id, bucket, at_us, indexes)
                for blob in group:
                    # The driver may send a request again after its answer came.
                    data = bytes(blob.data)
                    values = (recording_id, bucket, blob.index, blob.leaf_hash, data, at_us)
                    replies.append(peer.send(statement, values, action))
        finally:
            wait_all(replies)

    def _set_manifest(self, recording_id: bytes, manifest: bytes, action: str) -> None:
        peer = self._use()
        at_us = self._mark(peer, recording_id, 0, action)
        peer.rows(peer.ask.put_manifest, (at_us, manifest, recording_id), action)

    def _mark(self, peer: Peer, recording_id: bytes, bucket: int, action: str) -> int:
        """Mark a bucket as having blobs; return the timestamp for them."""
        deleted = peer.send(peer.ask.deleted, (recording_id,), action)
        marked = peer.send(peer.ask.marked, (recording_id, bucket), action)
        at_us = later_us(self._clock(), *map(_us, wait_all([deleted, marked])))
        peer.rows(peer.ask.mark, (recording_id, bucket, at_us, at_us), action)
        return at_us

    def _deleted_us(self, peer: Peer, recording_id: bytes, action: str) -> int:
        """Return when a recording was deleted last, as known for a moment; 0 for never."""
        at_us = self._deleted.recall(recording_id)
        if at_us is None:
            at_us = _us(peer.rows(peer.ask.deleted, (recording_id,), action))
            self._deleted.note(recording_id, at_us)
        return at_us

    def _buckets(self, peer: Peer, recording_id: bytes) -> list[tuple[int, int]]:
        """Return the buckets that may have blobs, each with its greatest timestamp."""
        rows = peer.rows(peer.ask.buckets, (recording_id,), f"list recording {recording_id.hex()}")
        return [(int(str(bucket)), _us([(put_us,)])) for bucket, put_us in rows]

    def _use(self) -> Peer:
        """Return the connected peer; wrong settings were reported at the start by `check`."""
        try:
            return self._connected()
        except RejectedError as error:
            raise UnavailableError(str(error)) from error

    def _connected(self) -> Peer:
        """Return the peer; the first caller connects, which may take a minute.

        Other callers get an error at once, and `close` does not wait either: until it is connected,
        uploads continue without this copy.
        """
        with self._lock:
            if self._closed:
                raise UnavailableError(_CLOSED)
            if self._peer is not None:
                return self._peer
            if self._connecting:
                raise UnavailableError(f"Cassandra at {self._points} is being connected")
            if self._failed is not None and time.monotonic() < self._again_s:
                raise type(self._failed)(str(self._failed))
            self._connecting, self._failed = True, None
        try:
            return self._kept(Peer(self._config))
        except WaysealError as error:
            self._failed, self._again_s = error, time.monotonic() + CONNECT_AGAIN_S
            raise
        finally:
            self._connecting = False

    def _kept(self, peer: Peer) -> Peer:
        """Keep a new peer for all callers, unless the store was closed."""
        with self._lock:
            if not self._closed:
                self._peer = peer
                _log.info("connected to Cassandra at %s", self._points)
                return peer
        peer.close()
        raise UnavailableError(_CLOSED)

    @property
    def _points(self) -> str:
        return ", ".join(self._config.contact_points)


def _blob(index: int, rows: Sequence[Row], deleted_us: int) -> Blob | None:
    """Return the blob in an answer; None if it is missing, or older than its deletion."""
    if not rows:
        return None
    leaf_hash, data, put_us = rows[0]
    if isinstance(put_us, int) and put_us <= deleted_us:
        return None
    if not isinstance(leaf_hash, bytes) or not isinstance(data, bytes):
        raise RejectedError(f"blob {index}: expected leaf hash and data, one of them is missing")
    return Blob(index, data, leaf_hash)


def _us(rows: Sequence[Row]) -> int:
    """Return the timestamp in an answer of one row and one column, 0 if it is missing."""
    value = rows[0][0] if rows else None
    return value if isinstance(value, int) else 0
