"""Deletions that hold at every replica, however long it was away.

Cassandra forgets a tombstone after `gc_grace_seconds`. A replica that was away until then, and got
no hint, brings back what was deleted. So `deleted_us` of a recording is a value, not a tombstone,
and stays for good: whatever was written before it is never read again. Each deletion is also noted
in table `deletion` until every replica has confirmed it, and the scrub asks each replica whether it
has anything of any recording that was ever deleted. All of it is in the cluster: a gateway that
loses its own files forgets nothing, and several gateways may do the same at once.

A note is removed by a delete with the note's own timestamp, which hides no later note. The next
note needs a greater timestamp. So the recording's `buckets` have the timestamp of the last note: it
can be read when the note is gone, and no gateway's clock matters.
"""

import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Final

from cassandra.pool import Host

from contracts.errors import UnavailableError, WaysealError
from storage.blobs.cassandra.marks import later_us
from storage.blobs.cassandra.session import Deleting, Peer, Row, wait_all
from storage.blobs.port import OpenDeletions, Returned

KNOWN_S: Final = 5.0
"""How long the answer is believed that a recording was not deleted. A replica that has missed a
deletion may serve it for so long."""
KNOWN_MAX: Final = 256
IN_VAIN_MAX: Final = 3
"""After so many failures in a row, a node or the whole cluster is left alone until later."""
SETTLING_US: Final = 60_000_000
"""A replica may hear of a deletion a moment after the others."""


@dataclass(frozen=True, slots=True)
class Deletion:
    """One deletion of a recording.

    Attributes:
        recording_id: 32 bytes.
        at_us: Its timestamp, microseconds since 1970.
        buckets: That may have had blobs, of this deletion and all earlier ones.
        noted_us: Timestamp of its last note; `at_us`, or later if it was repeated after it closed.
    """

    recording_id: bytes
    at_us: int
    buckets: frozenset[int]
    noted_us: int

    @property
    def action(self) -> str:
        """For errors."""
        return f"delete recording {self.recording_id.hex()}"


class Deleted:
    """Remembers for `KNOWN_S` when recordings were deleted; safe to use from many threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._known: dict[bytes, tuple[int, float]] = {}

    def recall(self, recording_id: bytes) -> int | None:
        """Return the timestamp of the last deletion, 0 for never; None if it must be asked."""
        with self._lock:
            at_us, until_s = self._known.get(recording_id, (0, 0.0))
            return at_us if time.monotonic() < until_s else None

    def note(self, recording_id: bytes, at_us: int) -> None:
        """Remember what the cluster answered; the oldest answer is dropped for it."""
        with self._lock:
            self._known.pop(recording_id, None)
            while len(self._known) >= KNOWN_MAX:
                del self._known[next(iter(self._known))]
            self._known[recording_id] = (at_us, time.monotonic() + KNOWN_S)


def delete(peer: Peer, deletion: Deletion) -> None:
    """Delete a recording at the write consistency, and note that not all may have heard of it.

    The manifest is deleted first, by the write that decides the deletion; the rows of the buckets
    are deleted last, so that the deletion can be repeated until then.

    Raises:
        UnavailableError: It is not deleted, or not completely.
    """
    _bury(peer, peer.ask.delete, deletion)
    _open(peer, deletion)
    _clear(peer, peer.ask.delete, deletion)


def repeat(peer: Peer, stop: Callable[[], bool]) -> OpenDeletions:
    """See `BlobStore.repeat_deletions`.

    Raises:
        UnavailableError: The open deletions cannot be listed.
    """
    noted = _deletions(peer.pages(peer.ask.open_deletions, "list open deletions"))
    left, in_vain, reason = [], 0, ""
    for each in sorted(noted, key=lambda each: each.at_us):
        if in_vain < IN_VAIN_MAX and not stop():
            try:
                _settle(peer, each)
            except UnavailableError as error:
                in_vain, reason = in_vain + 1, str(error)
            else:
                in_vain = 0
                continue
        left.append(each)
    return OpenDeletions(len(left), left[0].at_us // 1000 if left else None, reason)


def returned(peer: Peer, now_us: Callable[[], int], stop: Callable[[], bool]) -> Iterator[Returned]:
    """See `BlobStore.returned`.

    Raises:
        UnavailableError: The deleted recordings cannot be listed.
    """
    silent: Counter[str] = Counter()
    for each in _deletions(peer.pages(peer.ask.deleted_recordings, "list deleted recordings")):
        if stop():
            return
        if 0 <= now_us() - each.at_us < SETTLING_US:
            continue
        found: dict[str, _Remains] = {}
        for host in peer.replicas(peer.ask.deleted.bind((each.recording_id,)).routing_key):
            name = str(host.address)
            if silent[name] >= IN_VAIN_MAX:
                continue
            try:
                found[name] = _remains(peer, host, each)
            except WaysealError as error:
                silent[name] += 1
                if silent[name] == 1:
                    yield Returned(b"", name, str(error))
            else:
                silent[name] = 0
        yield from _deleted_again(peer, each, {n: has for n, has in found.items() if has.what})


@dataclass(frozen=True, slots=True)
class _Remains:
    """What one node has of a deleted recording: in words, or empty; and all buckets it knows."""

    what: str
    buckets: frozenset[int]


def _deleted_again(peer: Peer, found: Deletion, nodes: dict[str, _Remains]) -> Iterator[Returned]:
    if not nodes:
        return
    problem = ""
    deletion = _noted_again(peer, found, *(each.buckets for each in nodes.values()))
    try:
        _settle(peer, deletion)
    except UnavailableError as error:
        problem = f"; {error}"
    for name, has in nodes.items():
        yield Returned(deletion.recording_id, name, has.what + problem, repaired=not problem)


def _noted_again(peer: Peer, found: Deletion, *buckets: frozenset[int]) -> Deletion:
    """Note a deletion again, with more buckets; return it as it is now.

    It is read again first: it may have been repeated, or the recording deleted again, since it was
    listed.
    """
    rows = peer.rows(peer.ask.deleted, (found.recording_id,), found.action)
    listed = _deletions([(found.recording_id, *row) for row in rows])
    now = max([found, *listed], key=lambda each: each.noted_us)
    noted_us = later_us(0, now.noted_us)
    again = replace(now, buckets=now.buckets.union(*buckets), noted_us=noted_us)
    values = (noted_us, again.buckets, again.recording_id)
    peer.rows(peer.ask.put_buckets, values, again.action)
    _open(peer, again)
    return again


def _remains(peer: Peer, host: Host, deletion: Deletion) -> _Remains:
    """Ask one node for its own rows of a deleted recording."""
    key, action = (deletion.recording_id,), f"tell of deleted {deletion.recording_id.hex()}"
    rows = peer.rows_of(host, peer.ask.recording_here, key, action)
    deleted_us, manifest_us = (_int(value) for value in rows[0]) if rows else (0, 0)
    marks = peer.rows_of(host, peer.ask.buckets_here, key, action)
    buckets = sum(_int(put_us) <= deletion.at_us for _, put_us in marks)
    remains = []
    if 0 < manifest_us <= deletion.at_us:
        remains.append("its manifest")
    if buckets:
        remains.append(f"{buckets} buckets of its blobs")
    if not remains and deleted_us < deletion.at_us:
        remains.append("no record of its deletion")
    what = f"deleted, but has {' and '.join(remains)}" if remains else ""
    return _Remains(what, frozenset(_int(bucket) for bucket, _ in marks))


def _open(peer: Peer, deletion: Deletion) -> None:
    values = (deletion.recording_id, deletion.at_us, deletion.buckets, deletion.noted_us)
    peer.rows(peer.ask.open_deletion, values, deletion.action)


def _settle(peer: Peer, deletion: Deletion) -> None:
    """Repeat a deletion at every replica; once all have confirmed it, it is no longer open."""
    _bury(peer, peer.ask.delete_everywhere, deletion)
    _clear(peer, peer.ask.delete_everywhere, deletion)
    peer.rows(peer.ask.close_deletion, (deletion.noted_us, deletion.recording_id), deletion.action)


def _bury(peer: Peer, statements: Deleting, deletion: Deletion) -> None:
    values = (deletion.at_us, deletion.at_us, deletion.buckets, deletion.recording_id)
    peer.rows(statements.recording, values, deletion.action)


def _clear(peer: Peer, statements: Deleting, deletion: Deletion) -> None:
    replies = []
    try:
        for bucket in sorted(deletion.buckets):
            values = (deletion.at_us, deletion.recording_id, bucket)
            replies.append(peer.send(statements.blobs, values, deletion.action))
    finally:
        wait_all(replies)
    peer.rows(statements.buckets, (deletion.at_us, deletion.recording_id), deletion.action)


def _deletions(rows: Iterable[Row]) -> Iterator[Deletion]:
    for recording_id, at_us, buckets, noted_us in rows:
        if isinstance(recording_id, bytes) and isinstance(at_us, int):
            yield Deletion(recording_id, at_us, buckets_of(buckets), max(at_us, _int(noted_us)))


def buckets_of(value: object) -> frozenset[int]:
    """Return the buckets in a column, which is null in rows of schema step 1."""
    return frozenset(int(each) for each in value) if isinstance(value, Iterable) else frozenset()


def _int(value: object) -> int:
    return value if isinstance(value, int) else 0
