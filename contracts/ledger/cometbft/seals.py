"""A block's seal: the engine's header that names the block, and the validators' commit.

The block of height H is named by the header of the next height. That one exists a moment after the
block: each block makes the engine go on by one height more.
"""

import base64
import re
import threading
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any, Final

from google.protobuf.timestamp_pb2 import Timestamp

from contracts.commits import ABSENT, FOR_THE_BLOCK
from contracts.errors import RejectedError, UnavailableError
from contracts.ledger.cometbft.history import History
from contracts.ledger.cometbft.rpc import PAGE, Rpc
from contracts.ledger.engine.ports import BlockReader
from contracts.proto.cometbft_pb2 import (
    BlockID,
    Commit,
    CommitSig,
    Consensus,
    Header,
    PartSetHeader,
    PublicKey,
    SealedHeader,
    SimpleValidator,
)
from contracts.sawtooth.blocks import network_height

HEIGHTS_AT_ONCE: Final = 64
"""Heights about which the engine is asked with one request."""
_TIME: Final = re.compile(r"(.{19})(?:\.(\d{1,9}))?Z")
_SECP256K1: Final = "tendermint/PubKeySecp256k1"
_DIGESTS: Final = (
    "last_commit_hash",
    "data_hash",
    "validators_hash",
    "next_validators_hash",
    "consensus_hash",
    "app_hash",
    "last_results_hash",
    "evidence_hash",
    "proposer_address",
)


class EngineSeals:
    """Asks the engine beside this node; implements `Sealer` and, for one thread, `Signed`.

    Args:
        blocks: The chain.
        rpc: The engine.
        data: Data directory, where what was signed before the engine's heights is kept if this
            validator began with a snapshot.
    """

    def __init__(self, blocks: BlockReader, rpc: Rpc, data: Path) -> None:
        self._blocks = blocks
        self._rpc = rpc
        self._data = data
        self._history: History | None = None
        self._lock = threading.Lock()

    def seals(self, block_num: int) -> list[SealedHeader]:
        """See `Sealer.seals`."""
        stored = self._blocks.by_num(block_num)
        height = None if stored is None else network_height(stored.header)
        if height is None or height + 1 > self.latest():
            return []
        with self._lock:
            last = self._one(height + 1)
            changes = self._changes_before(last)
        return [*changes, last]

    def latest(self) -> int:
        """Return the engine's newest height.

        Raises:
            UnavailableError: The engine does not answer.
        """
        return int(self._rpc.ask("status")["sync_info"]["latest_block_height"])

    def of_heights(self, heights: Iterable[int]) -> list[SealedHeader]:
        """Return headers, commits and validators of some heights, in their order.

        Raises:
            UnavailableError: The engine does not answer, or does not have one of them.
        """
        wanted = list(heights)
        found = {height: kept for height in wanted if (kept := self._kept(height)) is not None}
        asked = [height for height in wanted if height not in found]
        for place in range(0, len(asked), HEIGHTS_AT_ONCE):
            some = asked[place : place + HEIGHTS_AT_ONCE]
            found |= zip(some, self._of_engine(some), strict=True)
        return [found[height] for height in wanted]

    def close(self) -> None:
        """Hang up."""
        self._rpc.close()
        if self._history is not None:
            self._history.close()

    def _before(self) -> History | None:
        """Return what is kept of the heights before the engine's; it appears with the snapshot."""
        if self._history is None:
            self._history = History.open(self._data)
        return self._history

    def _changes_before(self, last: SealedHeader) -> list[SealedHeader]:
        """Return headers that lead from the network's first validators to those of a header."""
        history = self._before()
        if history is None:
            return self._changes(self._one(1), last)
        height, newest = last.header.height, history.newest
        changes = [self._one(each) for each in history.changes if each < height]
        if height > newest:
            later = self._changes(self._one(newest), last)
            changes += [each for each in later if each.header.height > newest]
        return changes

    def _changes(self, low: SealedHeader, high: SealedHeader) -> list[SealedHeader]:
        """Return headers that lead from the validators of one to those of a later one.

        Each is signed by its own validators and names the next ones. Where the validators of two
        headers are the same, those between do not matter.
        """
        if low.header.validators_hash == high.header.validators_hash:
            return []
        if high.header.height == low.header.height + 1:
            return [low]
        middle = self._one((low.header.height + high.header.height) // 2)
        return [*self._changes(low, middle), *self._changes(middle, high)]

    def _one(self, height: int) -> SealedHeader:
        return self.of_heights([height])[0]

    def _kept(self, height: int) -> SealedHeader | None:
        history = self._before()
        return None if history is None else history.at(height)

    def _of_engine(self, heights: Sequence[int]) -> list[SealedHeader]:
        questions = [
            question
            for height in heights
            for question in (
                ("commit", {"height": str(height)}),
                ("validators", {"height": str(height), "per_page": str(PAGE)}),
            )
        ]
        try:
            answers = self._rpc.ask_each(questions)
        except RejectedError as error:
            raise UnavailableError(f"{error}: ask another validator") from error
        return [
            sealed_header(signed["signed_header"], found["validators"])
            for signed, found in zip(answers[::2], answers[1::2], strict=True)
        ]


def sealed_header(signed: Mapping[str, Any], validators: list[Mapping[str, Any]]) -> SealedHeader:
    """Return what the engine answers as JSON as the message of an evidence file.

    Args:
        signed: `signed_header` of the method `commit`.
        validators: Of the method `validators`, in its order, which is that of the signatures.
    """
    header, commit = signed["header"], signed["commit"]
    version = header["version"]
    fields: dict[str, Any] = {name: bytes.fromhex(header[name]) for name in _DIGESTS}
    return SealedHeader(
        header=Header(
            version=Consensus(block=int(version["block"]), app=int(version.get("app", 0))),
            chain_id=header["chain_id"],
            height=int(header["height"]),
            time=_time(header["time"]),
            last_block_id=_block_id(header["last_block_id"]),
            **fields,
        ),
        commit=Commit(
            height=int(commit["height"]),
            round=commit["round"],
            block_id=_block_id(commit["block_id"]),
            signatures=[_signature(each) for each in commit["signatures"]],
        ),
        validators=[_validator(each) for each in validators],
    )


def _signature(document: Mapping[str, Any]) -> CommitSig:
    """Return a validator's signature; a vote for no block is of no use to a reader."""
    if document["block_id_flag"] != FOR_THE_BLOCK:
        return CommitSig(block_id_flag=ABSENT)
    return CommitSig(
        block_id_flag=FOR_THE_BLOCK,
        timestamp=_time(document["timestamp"]),
        signature=base64.b64decode(document["signature"] or ""),
    )


def _validator(document: Mapping[str, Any]) -> SimpleValidator:
    key = document["pub_key"]
    wire = base64.b64decode(key["value"])
    public = PublicKey(secp256k1=wire) if key["type"] == _SECP256K1 else PublicKey(ed25519=wire)
    return SimpleValidator(pub_key=public, voting_power=int(document["voting_power"]))


def _block_id(document: Mapping[str, Any]) -> BlockID:
    parts = document["parts"]
    return BlockID(
        hash=bytes.fromhex(document["hash"]),
        part_set_header=PartSetHeader(total=parts["total"], hash=bytes.fromhex(parts["hash"])),
    )


def _time(text: str) -> Timestamp:
    """Return a time in RFC 3339 with up to nine decimals."""
    found = _TIME.fullmatch(text)
    if found is None:
        raise RejectedError(f"CometBFT: expected a time in RFC 3339, UTC, got {text[:40]!r}")
    seconds = int(datetime.fromisoformat(found[1] + "+00:00").timestamp())
    return Timestamp(seconds=seconds, nanos=int((found[2] or "0").ljust(9, "0")))
