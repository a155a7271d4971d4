"""Verifies an evidence file, from nothing but the file and the trusted keys."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from contracts.errors import RejectedError
from contracts.evidence.container import FORMAT_1, EvidenceReader, Part, parse_part
from contracts.evidence.expected import ANYTHING, Expected
from contracts.evidence.ledgerparts import Batches, BlockHeads
from contracts.evidence.recordings import Recordings, TakeBlob, Video, not_taken
from contracts.evidence.replay import Replay
from contracts.evidence.seals import Sealed, SealedHeaders
from contracts.evidence.statenodes import ProvenState
from contracts.evidence.story import TripStory
from contracts.evidence.times import BlockTimesTold
from contracts.evidence.trust import Trust
from contracts.ids import TRIP_ID
from contracts.proto.evidence_pb2 import Header
from contracts.proto.state_pb2 import Transformation
from contracts.records.clock import UTC_MS_MAX
from contracts.records.recording import RecordingDigest
from contracts.sawtooth.block_info import latest_block_info
from contracts.succession import Predecessor, predecessors_in


@dataclass(frozen=True, slots=True)
class Verdict:
    """The result of a verification.

    Attributes:
        version: The format of the file.
        with_lots: Whether the file shows how the sources of the delivered lots were made.
        accepted: Whether the reader accepts what that format can show.
        problems: What does not hold, in words; empty when everything holds.
        anchored: Whether every chain of signatures ends in a trusted key.
        genesis_id: Id of the ledger's first block, as found.
        blocks: How many blocks the file has, from the first on.
        last_block_id: Id of the last one; two honest files of equal height agree on it.
        last_block_ms: When it was begun, by its signer's clock, milliseconds since the Unix epoch;
            None if the ledger records no block times, or the file does not prove them.
        last_signed_ms: The latest time that a transaction in the file states; None without any.
        predecessors: Ledgers that this one goes on from, the oldest first, if the file proves any.
        block_signers: Keys that signed blocks, as found; none if a network made them.
        sealed: What that network's validators signed about the last block, if it is proved.
        admin_keys: Keys that registered parties, as found.
        trips: The stories of the trips, by trip id.
        transformations: The transformations in the evidence, in the ledger's order.
        videos: The recordings, and how much of each was checked.
        block_times: Which blocks of the story have a time.
        claims: By SHA-256 of a recording, the trips in the file that claim it.
        read_to_end: Whether all of the file was read; the first part that is false ends the check.
    """

    version: int
    with_lots: bool
    accepted: bool
    problems: list[str]
    anchored: bool
    genesis_id: str
    blocks: int
    last_block_id: str
    last_block_ms: int | None
    last_signed_ms: int | None
    predecessors: tuple[Predecessor, ...]
    block_signers: frozenset[str]
    sealed: Sealed | None
    admin_keys: frozenset[str]
    trips: dict[str, TripStory]
    transformations: list[Transformation]
    videos: list[Video]
    block_times: BlockTimesTold
    claims: dict[bytes, list[str]]
    read_to_end: bool

    @property
    def holds(self) -> bool:
        """Say whether everything in the file was proved from trusted keys."""
        return self.anchored and self.accepted and not self.problems


def verify_evidence(
    file: BinaryIO,
    trust: Trust | None,
    video_files: list[Path],
    expected: Expected = ANYTHING,
    read: Callable[[int], None] = lambda _: None,
    take: TakeBlob = not_taken,
    replayed: Replay | None = None,
) -> Verdict:
    """Check an evidence file from its first byte to its last.

    Memory grows with the ledger's part only; blobs of video are not kept.

    Args:
        file: The evidence, open for reading in binary mode.
        trust: The trusted keys; None checks only whether the file is consistent.
        video_files: Videos that must be recordings of the evidence.
        expected: What the file must be about.
        read: Told how many bytes of a video were read, again and again.
        take: Given each blob of the evidence that fits its recording. Whether the recording itself
            is proved is known only from the verdict.
        replayed: A finished replay of the file's batches that refused none of them. It is used
            up in place of a second replay; all other checks are done, and `take` is not called.

    Raises:
        NotEvidenceError: This is not an evidence file.
        RejectedError: A video cannot be read, so nothing was checked.
    """
    videos = [(path, RecordingDigest.of_file(path, read)) for path in video_files]
    reader = EvidenceReader(file)
    check = _Check(reader.version, trust, expected, take, replayed)
    try:
        for part, payload in reader.frames():
            check.take(part, payload)
        check.finish(videos)
    except RejectedError as error:
        check.problems.append(str(error))
    return check.conclude()


class _Check:
    """One pass over the frames."""

    def __init__(
        self,
        version: int,
        trust: Trust | None,
        expected: Expected,
        take: TakeBlob,
        replayed: Replay | None,
    ) -> None:
        self.problems: list[str] = []
        self._version = version
        self._trust = trust
        self._expected = expected
        self._header: Header | None = None
        self._heads = BlockHeads()
        self._batches = Batches(self._heads)
        self._is_replayed = replayed is not None
        self._replay = replayed or Replay(Recordings(take), trust.admin_keys if trust else None)
        self._recordings = self._replay.recordings
        self._proven: ProvenState | None = None
        self._seals = SealedHeaders()
        self._sealed: Sealed | None = None
        self._block_signers: frozenset[str] = frozenset()
        self._ended: Predecessor | None = None
        self._read_to_end = False

    def take(self, part: Part, payload: bytes) -> None:
        match part:
            case Part.HEADER:
                self._open(parse_part(Header, payload))
            case Part.BLOCK_HEAD:
                self._heads.add(payload)
                self._check_ledger(self._heads.genesis_id)
                self._check_end()
            case Part.BATCH:
                self._take_batch(payload)
            case Part.LEAF_HASHES:
                self._recordings.add_leaves(payload)
            case Part.BLOB:
                self._recordings.add_blob(payload)
            case Part.STATE_NODE:
                self._state().add(payload)
            case Part.SEALED_HEADER:
                self._seals.add(payload)
            case Part.END:
                pass

    def _take_batch(self, payload: bytes) -> None:
        for taken in self._batches.add(payload):
            if not self._is_replayed:
                self._replay.apply(taken)

    def finish(self, videos: list[tuple[Path, RecordingDigest]]) -> None:
        """Check what needs the whole file."""
        self._read_to_end = True
        if self._header is None:
            raise RejectedError("the header frame is missing")
        if self._header.genesis_id != self._heads.genesis_id:
            raise RejectedError(
                f"the header names ledger {self._header.genesis_id[:16]!r}, "
                f"the blocks begin with {self._heads.genesis_id[:16]!r}"
            )
        self._recordings.check_whole()
        for path, digest in videos:
            self._recordings.check_file(path, digest)
        for trip_id in self._header.trip_ids:
            self.problems += self._replay.missing(trip_id)
        if self._version != FORMAT_1:
            self.problems += self._replay.compare(self._state()).problems
        if self._heads.by_network:
            self._sealed = self._seals.of(self._heads.last_id)
        self.problems += self._expected.unmet(self._replay.stories(), self._heads.count - 1)

    def _state(self) -> ProvenState:
        """Return the state after the last block, as far as the nodes so far prove it."""
        if self._proven is None:
            self._proven = ProvenState(self._heads.state_root)
        return self._proven

    def _block_ms(self) -> int | None:
        """Return when the last block was begun, if the file proves it."""
        if self._proven is None:
            return None
        try:
            latest = latest_block_info(self._proven.value)
        except RejectedError:
            return None
        block_ms = latest.timestamp * 1000 if latest is not None else None
        return block_ms if block_ms is None or block_ms <= UTC_MS_MAX else None

    def _predecessors(self) -> tuple[Predecessor, ...]:
        """Return the ledgers that this one goes on from, as far as the file proves any."""
        if self._proven is None:
            return ()
        try:
            return predecessors_in(self._proven.value)
        except RejectedError:
            return ()

    def _check_ledger(self, genesis_id: str) -> None:
        """Check that the evidence is of the trusted ledger, before anything else is read."""
        if self._trust is not None:
            self._block_signers, self._ended = self._trust.ledger(genesis_id)

    def _check_end(self) -> None:
        """Check that a ledger that has a successor ends where that one says."""
        ended, newest = self._ended, self._heads.count - 1
        if ended is None or newest < ended.block_num:
            return
        if newest > ended.block_num or self._heads.last_id != ended.block_id:
            raise RejectedError(
                f"expected a ledger that ended with block {ended.block_num}, "
                f"{ended.block_id[:16]}…, got block {newest}, {self._heads.last_id[:16]}…: it is "
                "not the one that the trusted ledger goes on from"
            )

    def conclude(self) -> Verdict:
        foreign = self._foreign(self._trust) if self._trust is not None else []
        return Verdict(
            version=self._version,
            with_lots=self._replay.with_lots,
            accepted=self._version != FORMAT_1 or self._expected.format_1,
            problems=self.problems + foreign,
            anchored=self._trust is not None and not foreign,
            genesis_id=self._heads.genesis_id,
            blocks=self._heads.count,
            last_block_id=self._heads.last_id,
            last_block_ms=self._block_ms(),
            last_signed_ms=self._replay.last_signed_ms or None,
            predecessors=self._predecessors(),
            block_signers=frozenset(self._heads.signers),
            sealed=self._sealed,
            admin_keys=frozenset(self._replay.admin_keys),
            trips=self._replay.stories(),
            transformations=self._replay.transformations,
            videos=self._recordings.videos(),
            block_times=self._replay.times,
            claims=self._recordings.claims,
            read_to_end=self._read_to_end,
        )

    def _foreign(self, trust: Trust) -> list[str]:
        """Return, in words, each chain of signatures that ends in a key that is not trusted."""
        if not self._heads.count:
            return ["the file has no block that the trusted keys could have signed"]
        found = []
        strangers = sorted(self._heads.signers - self._block_signers)
        found += [f"blocks are signed by {key}, which is not trusted" for key in strangers]
        if self._heads.by_network:
            found += self._foreign_network(trust)
        strangers = sorted(self._replay.admin_keys - trust.admin_keys)
        found += [f"parties are registered by {key}, which is not trusted" for key in strangers]
        before = self._predecessors()
        if before and self._ended is None and trust.predecessors not in {(), before}:
            found.append(
                f"the ledger goes on from {before[-1].block_id[:16]}… and the ledgers before that, "
                f"which is not what the trust file says: {trust.predecessors[-1].block_id[:16]}…"
            )
        return found

    def _foreign_network(self, trust: Trust) -> list[str]:
        """Return, in words, why a network's blocks do not end in validators that are trusted."""
        trusted, sealed = trust.network, self._sealed
        if trusted is None:
            why = "the trust file names one signer, not the validators: expected its member network"
            return [f"a network of validators made the blocks, and {why}"]
        if sealed is None:  # a problem says why
            return []
        if (sealed.chain_id, sealed.began_with) == (trusted.chain_id, trusted.validators):
            return []
        found = f"{sealed.chain_id!r} with validators {', '.join(sorted(sealed.began_with))}"
        return [f"the network that sealed the blocks began as {found}; that is not the trusted one"]

    def _open(self, header: Header) -> None:
        if self._header is not None:
            raise RejectedError("a second header frame")
        if header.version != self._version:
            raise RejectedError(
                f"the header says version {header.version}, expected {self._version}"
            )
        self._check_ledger(header.genesis_id)
        named = set(header.trip_ids)
        is_each_once = len(named) == len(header.trip_ids)
        if not named or not is_each_once or not all(map(TRIP_ID.fullmatch, named)):
            raise RejectedError(
                "the header must name at least one trip, each once, by 32 lower-case hexadecimal "
                "digits"
            )
        self._header = header
        self._replay.begin(header)
