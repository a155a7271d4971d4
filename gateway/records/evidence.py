"""Evidence: everything that proves a trip, from the ledger, the index and the recordings."""

import json
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from io import SEEK_END, BufferedReader, RawIOBase
from tempfile import TemporaryFile
from typing import BinaryIO, Final

from contracts.address import ADMIN_KEYS_SETTING, setting
from contracts.chunktree import BLOB_BYTES, blob_size
from contracts.commits import validators_of
from contracts.encoding import parse
from contracts.errors import RejectedError, UnavailableError, WaysealError
from contracts.evidence.container import VERSION, EvidenceWriter
from contracts.evidence.endstate import Scope
from contracts.evidence.replay import Replay
from contracts.evidence.statenodes import message_of
from contracts.evidence.trust import Trust, TrustedNetwork
from contracts.evidence.verify import Verdict, verify_evidence
from contracts.ledger.client import LedgerClient
from contracts.ledger.proofs import StateProofs
from contracts.proto.cometbft_pb2 import SealedHeader
from contracts.proto.evidence_pb2 import Blob, BlockHead, Header, LeafHashes
from contracts.proto.sawtooth_pb2 import BlockHeader
from contracts.records.clock import now_ms
from contracts.sawtooth.block_info import block_info_places
from contracts.sawtooth.blocks import network_height
from contracts.sawtooth.nodes import StateTreeNode
from contracts.sawtooth.settings import PBFT_MEMBERS
from contracts.succession import SETTING as PREDECESSORS
from contracts.succession import predecessors_in
from contracts.text import WHITESPACE
from gateway.index.store import Head, IndexStore
from gateway.records.judged import Films, Footing, Judged, KeptVerdicts, Turns
from gateway.records.rehearsal import Rehearsal
from gateway.records.subjects import Gathering
from gateway.records.watch import UNWATCHED, Unit, Watch
from storage.recordings.store import RecordingStore

SEALED_S: Final = 10.0
"""How long, seconds, an export waits for the validators to sign the newest block."""
SEALED_AGAIN_S: Final = 0.1
_CHECKED_BYTES: Final = 1 << 16
"""Bytes of evidence that are checked between two looks at the watch."""
Blobs = Callable[[bytes, int], Iterable[int]]
"""Says which of a recording's blobs a file carries, ascending, of the number that it has."""


def no_video(_recording: bytes, _count: int) -> range:
    """Carry no blob: see `Blobs`."""
    return range(0)


def all_video(_recording: bytes, count: int) -> range:
    """Carry every blob: see `Blobs`."""
    return range(count)


@dataclass(frozen=True, slots=True)
class _Gathered:
    """What an evidence file is made of, but for the recordings."""

    header: Header
    head: Head
    places: Mapping[tuple[int, int], str]
    scope: Scope
    rehearsal: Rehearsal
    nodes: Sequence[StateTreeNode]
    seals: Sequence[SealedHeader]


class Audit:
    """Writes evidence files, and judges trips by them."""

    def __init__(self, index: IndexStore, ledger: LedgerClient, recordings: RecordingStore) -> None:
        self._index = index
        self._ledger = ledger
        self._recordings = recordings
        self._kept = KeptVerdicts()
        self._turns = Turns()

    def evidence(
        self,
        trip_ids: list[str],
        *,
        video: Blobs,
        with_lots: bool = True,
        watch: Watch = UNWATCHED,
    ) -> Iterator[bytes]:
        """Return the bytes of an evidence file about `trip_ids`, in pieces.

        Args:
            trip_ids: Trips on the ledger.
            video: Which blobs of each recording to include, as far as they are here.
            with_lots: Include how the sources of the delivered lots were made.
            watch: Told how far it is.

        Raises:
            NotOnLedgerError: There is no such trip.
            RejectedError: Too many transformations lead to the delivered lots.
            UnavailableError: The ledger, the index or the recordings did not answer.
            StoppedError: The watch says so.
        """
        gathered = self._gather(trip_ids, with_lots=with_lots, watch=watch)
        return self._write(gathered, video, watch)

    def judge(self, trip_id: str, watch: Watch = UNWATCHED) -> Judged:
        """Return the verdict on a trip's evidence, by the ledger's own keys.

        Args:
            trip_id: A trip on the ledger.
            watch: Told how far it is.

        Raises:
            NotOnLedgerError: There is no such trip.
            UnavailableError: The ledger, the index or the recordings did not answer.
            StoppedError: The watch says so.
        """
        forgotten, films = self._kept.forgotten(), self._films([trip_id])
        gathered = self._gather([trip_id], with_lots=True, watch=watch)
        with TemporaryFile() as file:
            for piece in self._write(gathered, no_video, watch):
                file.write(piece)
            trust, replayed = trust_of(self._ledger), gathered.rehearsal.replayed()
            verdict = _verified(file, trust, watch, replayed)
            if replayed is not None and not verdict.holds:  # then a second replay says why
                verdict = _verified(file, trust, watch, None)
        judged = Judged(verdict, now_ms())
        footing = Footing(gathered.head, gathered.places, gathered.scope, trust, films)
        if verdict.holds and verdict.last_block_id == gathered.head.block_id:
            self._kept.put(trip_id, judged, footing, forgotten)
        else:  # what does not hold is looked at again each time
            self._kept.forget(trip_id)
        return judged

    def judged(self, trip_id: str) -> Judged | None:
        """Return an earlier verdict that holds, if nothing that it depends on has changed.

        The index says whether a later block has anything that belongs to the evidence, the ledger
        which keys count, and the catalogue which films are here. The batches themselves are not
        read again.

        Args:
            trip_id: A trip on the ledger.

        Raises:
            NotOnLedgerError: There is no such trip.
            UnavailableError: The ledger, the index or the recordings did not answer.
        """
        found = self._kept.get(trip_id)
        if found is None:
            return None
        judged, footing = found
        return judged if self._stands(trip_id, footing) else None

    def judged_once(self, trip_id: str, watch: Watch = UNWATCHED) -> Judged:
        """Return an earlier verdict that stands, or judge; several who ask at once judge once.

        A verdict that does not hold is not kept, so each of them reaches its own, in turn.

        Args:
            trip_id: A trip on the ledger.
            watch: Told how far it is, while it judges.

        Raises:
            NotOnLedgerError: There is no such trip.
            UnavailableError: The ledger, the index or the recordings did not answer.
            StoppedError: The watch says so.
        """
        with self._turns.take(trip_id, watch):
            return self.judged(trip_id) or self.judge(trip_id, watch)

    def _stands(self, trip_id: str, footing: Footing) -> bool:
        self._index.require()
        head, before = self._index.head(), footing.head
        if head is None or self._index.block_id(before.block_num) != before.block_id:
            return False
        if self._films([trip_id]) != footing.films or trust_of(self._ledger) != footing.trust:
            return False
        if head == before:
            return True
        gathering = Gathering(self._index, [trip_id], with_lots=True, up_to=head.block_num)
        gathering.complete(footing.scope)
        return gathering.places == footing.batches

    def _films(self, trip_ids: Iterable[str]) -> Films:
        found = ((each, self._recordings.find(each)) for each in self._recorded(trip_ids))
        return tuple(
            (each, None if stored is None else (stored.size, stored.tree_root))
            for each, stored in found
        )

    def _gather(self, trip_ids: Iterable[str], *, with_lots: bool, watch: Watch) -> "_Gathered":
        """Gather all that an evidence file has but the recordings; see `evidence`."""
        self._index.require()
        head = self._index.head()
        genesis_id = self._index.block_id(0)
        if head is None or genesis_id is None:
            raise UnavailableError("the index holds no block yet")
        header = Header(
            version=VERSION,
            genesis_id=genesis_id,
            trip_ids=sorted(set(trip_ids)),
            exported_at_ms=now_ms(),
            without_lots=not with_lots,
        )
        gathering = Gathering(
            self._index, header.trip_ids, with_lots=with_lots, up_to=head.block_num
        )
        rehearsal = Rehearsal(self._ledger, header, watch)
        try:
            rehearsal.run(gathering.places)
            while gathering.complete(rehearsal.scope()):
                rehearsal.run(gathering.places)
            nodes = self._prove(head, rehearsal)
            seals = self._seals(head)
        except WaysealError:
            rehearsal.close()
            raise
        scope = rehearsal.scope()
        return _Gathered(header, head, gathering.places, scope, rehearsal, nodes, seals)

    def _prove(self, head: Head, rehearsal: Rehearsal) -> list[StateTreeNode]:
        """Return the nodes that prove the end of the rehearsal, and when the last block was begun.

        Raises:
            UnavailableError: The ledger did not answer, or has another state by now.
        """
        ((wire,),) = self._index.query(
            "SELECT header FROM blocks WHERE block_num = ?", head.block_num
        )
        root_hash = parse(BlockHeader, wire).state_root_hash
        proofs = StateProofs(self._ledger, head.block_id, root_hash)
        scope = rehearsal.scope()
        try:
            after = partial(self._ledger.value_after, head.block_id)
            times = block_info_places(after)
            before = setting(PREDECESSORS)
            earlier = () if after(before) is None else (before,)
            known = {
                place: value for place, value in rehearsal.known().items() if place not in times
            }
            return proofs.gather((*scope.places(), *times, *earlier), scope.trips, known)
        except RejectedError as error:
            raise UnavailableError(
                f"the ledger no longer tells the state after block {head.block_num}; "
                f"export again: {error}"
            ) from error

    def _seals(self, head: Head) -> list[SealedHeader]:
        """Return what validators signed about the last block; nothing where one signer makes them.

        Raises:
            UnavailableError: The ledger did not answer, or they have not signed it in time.
        """
        until_s = time.monotonic() + SEALED_S
        while True:
            seals = self._ledger.seals(head.block_id)
            if seals is None:
                return []
            # Of blocks before the engine began, the first header is about a later one.
            if seals and seals[-1].header.app_hash.hex() == head.block_id:
                return seals
            if time.monotonic() > until_s:
                raise UnavailableError(
                    f"the validators have not signed block {head.block_num} within {SEALED_S} s; "
                    "export again"
                )
            time.sleep(SEALED_AGAIN_S)

    def _write(self, gathered: "_Gathered", video: Blobs, watch: Watch) -> Iterator[bytes]:
        writer = EvidenceWriter()
        yield writer.start(gathered.header)
        for block_id, wire in self._index.query(
            "SELECT block_id, header FROM blocks WHERE block_num <= ? ORDER BY block_num",
            gathered.head.block_num,
        ):
            yield writer.frame(BlockHead(header=wire, header_signature=block_id))
        with closing(gathered.rehearsal) as rehearsal:
            yield from map(writer.frame, rehearsal.batches())
        recordings = self._recorded(gathered.header.trip_ids)
        for recording in recordings:
            yield from self._leaf_hashes(writer, recording)
        for recording in recordings:
            yield from self._blobs(writer, recording, video, watch)
        for node in gathered.nodes:
            yield writer.frame(message_of(node))
        yield from map(writer.frame, gathered.seals)
        yield writer.end()

    def _recorded(self, trip_ids: Iterable[str]) -> list[bytes]:
        """Return the recordings of trips, each once, in the order of their digests."""
        found = [
            sha256
            for trip_id in trip_ids
            for (sha256,) in self._index.query(
                "SELECT sha256 FROM videos WHERE trip_id = ? ORDER BY rowid", trip_id
            )
        ]
        return list(dict.fromkeys(found))

    def _leaf_hashes(self, writer: EvidenceWriter, recording: bytes) -> Iterator[bytes]:
        stored = self._recordings.find(recording)
        if stored is not None:
            hashes = b"".join(stored.leaves)
            yield writer.frame(LeafHashes(recording_sha256=recording, hashes=hashes))

    def _blobs(
        self, writer: EvidenceWriter, recording: bytes, video: Blobs, watch: Watch
    ) -> Iterator[bytes]:
        stored = self._recordings.find(recording)
        if stored is None:
            return
        chosen = tuple(video(recording, len(stored.leaves)))
        for done, index in enumerate(chosen):
            watch.tell(f"reads recording {recording.hex()}", done, len(chosen), Unit.BLOBS)
            at = index * BLOB_BYTES
            stop = at + blob_size(stored.size, index)
            data = b"".join(self._recordings.read(recording, at, stop))
            yield writer.frame(Blob(recording_sha256=recording, index=index, data=data))


def _verified(file: BinaryIO, trust: Trust, watch: Watch, replayed: Replay | None) -> Verdict:
    """Return the verdict on a file, all of which was written."""
    size = file.seek(0, SEEK_END)
    file.seek(0)
    told = BufferedReader(_Told(file, size, watch), _CHECKED_BYTES)
    return verify_evidence(told, trust, [], replayed=replayed)


class _Told(RawIOBase):
    """A file that is read once, from its beginning, whose reader tells how far it is."""

    def __init__(self, file: BinaryIO, size: int, watch: Watch) -> None:
        self._file = file
        self._size = size
        self._watch = watch

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override] # any buffer there
        piece = self._file.read(len(buffer))
        self._watch.tell("checks the evidence", self._file.tell(), self._size, Unit.BYTES)
        buffer[: len(piece)] = piece
        return len(piece)


def trust_of(ledger: LedgerClient) -> Trust:
    """Return a ledger's present keys, for readers who trust the ledger or can check the keys.

    Blocks are signed by the signer of the first one; where PBFT runs, by each of its members too. A
    network of validators is named as it began.

    Raises:
        UnavailableError: The ledger did not answer, or its list of members is malformed.
    """
    genesis = ledger.genesis()
    header = parse(BlockHeader, genesis.header)
    signer = header.signer_public_key
    admins = ledger.setting(ADMIN_KEYS_SETTING).split(",")
    network = _network(ledger) if network_height(header) is not None else None
    signers = () if network else (signer, *_members(ledger.setting(PBFT_MEMBERS)))
    return Trust(
        genesis.header_signature,
        frozenset(signers),
        frozenset(public_key.strip(WHITESPACE) for public_key in admins),
        predecessors_in(ledger.state),
        network,
    )


def _network(ledger: LedgerClient) -> TrustedNetwork:
    """Return the network that makes a ledger's blocks, as it began."""
    seals = ledger.seals(ledger.genesis().header_signature)
    if not seals:
        raise UnavailableError("the ledger's validators have not signed its first block yet")
    return TrustedNetwork(seals[0].header.chain_id, validators_of(seals[0]))


def _members(setting: str) -> list[str]:
    """Return the public keys of PBFT's validators; none where it does not run."""
    try:
        members = json.loads(setting or "[]")
    except (ValueError, RecursionError):
        members = None
    if not isinstance(members, list) or not all(isinstance(each, str) for each in members):
        raise UnavailableError(
            f"setting {PBFT_MEMBERS}: expected a JSON list of public keys, got {setting:.200}"
        )
    return members
