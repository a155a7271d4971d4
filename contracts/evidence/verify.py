"""The verdict on an evidence file, from the file and the keys one trusts alone."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

from contracts.errors import RejectedError
from contracts.evidence.container import (
    VERSION,
    NotEvidenceError,
    Part,
    parse_part,
    read_frames,
)
from contracts.evidence.ledgerparts import Batches, BlockHeads
from contracts.evidence.recordings import Recordings, Video
from contracts.evidence.replay import Replay
from contracts.evidence.story import TripStory
from contracts.evidence.trust import Trust
from contracts.proto.evidence_pb2 import Header
from contracts.proto.state_pb2 import Transformation


@dataclass(slots=True)
class Verdict:
    """What was checked and what does not hold.

    Attributes:
        problems: What does not hold, in words; empty when all does.
        anchored: Every chain of signatures ends in a key that was trusted beforehand.
        genesis_id: Id of the ledger's first block, as found.
        blocks: How many blocks of the ledger were seen, from the first on.
        last_block_id: Id of the last of them; two honest files never differ at equal height.
        block_signers: Keys that signed blocks, as found.
        admin_keys: Keys that registered parties, as found.
        trips: What the evidence says, by trip id.
        transformations: Those that the evidence holds, in the ledger's order.
        videos: What is known of each recording.
    """

    problems: list[str] = field(default_factory=list)
    anchored: bool = False
    genesis_id: str = ""
    blocks: int = 0
    last_block_id: str = ""
    block_signers: frozenset[str] = frozenset()
    admin_keys: frozenset[str] = frozenset()
    trips: dict[str, TripStory] = field(default_factory=dict)
    transformations: list[Transformation] = field(default_factory=list)
    videos: list[Video] = field(default_factory=list)

    @property
    def holds(self) -> bool:
        """Say whether all that the file claims was proved from trusted keys."""
        return self.anchored and not self.problems


def verify_evidence(file: BinaryIO, trust: Trust | None, video_files: list[Path]) -> Verdict:
    """Check an evidence file from its first byte to its last.

    Memory is bounded by the ledger's part; blobs of video pass through.

    Args:
        file: The evidence, open for reading in binary mode.
        trust: The keys to believe; None finds out only whether the file is consistent.
        video_files: Files that must be recordings of the evidence.

    Raises:
        NotEvidenceError: This is no evidence file at all.
    """
    check = _Check(trust)
    try:
        for part, payload in read_frames(file):
            check.take(part, payload)
        check.finish(video_files)
    except NotEvidenceError:
        raise
    except RejectedError as error:
        check.verdict.problems.append(str(error))
    return check.conclude()


class _Check:
    """One pass over the frames."""

    def __init__(self, trust: Trust | None) -> None:
        self.verdict = Verdict()
        self._trust = trust
        self._header: Header | None = None
        self._heads = BlockHeads()
        self._batches = Batches(self._heads)
        self._recordings = Recordings()
        self._replay = Replay(self._recordings, trust.admin_keys if trust else None)

    def take(self, part: Part, payload: bytes) -> None:
        match part:
            case Part.HEADER:
                self._open(parse_part(Header, payload))
            case Part.BLOCK_HEAD:
                self._heads.add(payload)
            case Part.BATCH:
                for taken in self._batches.add(payload):
                    self._replay.apply(taken)
            case Part.LEAF_HASHES:
                self._recordings.add_leaves(payload)
            case Part.BLOB:
                self._recordings.add_blob(payload)
            case Part.END:
                pass

    def finish(self, video_files: list[Path]) -> None:
        """Ask what only the whole file can answer."""
        if self._header is None:
            raise RejectedError("the header frame is missing")
        if self._header.genesis_id != self._heads.genesis_id:
            raise RejectedError(
                f"the header names ledger {self._header.genesis_id[:16]!r}, "
                f"the blocks begin with {self._heads.genesis_id[:16]!r}"
            )
        self._recordings.check_whole()
        problems = self.verdict.problems
        for trip_id in self._header.trip_ids:
            problems += self._replay.missing(trip_id)
        for path in video_files:
            self._recordings.check_file(path)

    def conclude(self) -> Verdict:
        verdict = self.verdict
        verdict.genesis_id = self._heads.genesis_id
        verdict.blocks, verdict.last_block_id = self._heads.count, self._heads.last_id
        verdict.block_signers = frozenset(self._heads.signers)
        verdict.admin_keys = frozenset(self._replay.admin_keys)
        verdict.trips = self._replay.stories()
        verdict.transformations = self._replay.transformations
        verdict.videos = self._recordings.videos()
        if self._trust is not None:
            foreign = self._foreign(self._trust)
            verdict.problems += foreign
            verdict.anchored = not foreign
        return verdict

    def _foreign(self, trust: Trust) -> list[str]:
        """Return, in words, where a chain of signatures ends in a key that is not trusted."""
        found = []
        if self._heads.genesis_id != trust.genesis_block_id:
            found.append(
                f"genesis block {self._heads.genesis_id[:16]}… is not the trusted "
                f"{trust.genesis_block_id[:16]}…"
            )
        strangers = sorted(self._heads.signers - trust.block_signers)
        found += [f"blocks are signed by {key}, which is not trusted" for key in strangers]
        strangers = sorted(self._replay.admin_keys - trust.admin_keys)
        found += [f"parties are registered by {key}, which is not trusted" for key in strangers]
        return found

    def _open(self, header: Header) -> None:
        if self._header is not None:
            raise RejectedError("a second header frame")
        if header.version != VERSION:
            raise RejectedError(f"the header says version {header.version}, expected {VERSION}")
        named = frozenset(header.trip_ids)
        if not named or len(named) != len(header.trip_ids):
            raise RejectedError("the header must name at least one trip, and none twice")
        self._header = header
        self._replay.named = named
