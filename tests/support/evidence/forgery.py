"""Honest evidence, and ways to change it: a forger's bench."""

import io
from collections.abc import Callable
from pathlib import Path

from contracts.chunktree import BLOB_BYTES
from contracts.encoding import canonical
from contracts.evidence.expected import ANYTHING, Expected
from contracts.evidence.trust import Trust
from contracts.evidence.verify import Verdict, verify_evidence
from contracts.proto.evidence_pb2 import Header, LeafHashes
from contracts.proto.sawtooth_pb2 import Batch, Transaction
from support.evidence.chain import (
    Evidence,
    evidence_of,
    story,
    trust_in,
)
from support.network.world import Trip, registrations

LONG = bytes(range(256)) * (BLOB_BYTES // 256) + b"more."
SHORT = b"a short clip" * 60
STORY = story([LONG, SHORT])
TRUST = trust_in(STORY.evidence.heads)
FIRST = len(registrations())
"""Place of the trip's first batch; then come two with readings, one with the seal."""
SEALED = FIRST + 2


def verdict_on(
    wire: bytes,
    trust: Trust | None = TRUST,
    videos: list[Path] | None = None,
    expected: Expected = ANYTHING,
) -> Verdict:
    return verify_evidence(io.BytesIO(wire), trust, videos or [], expected)


def problems(evidence: Evidence, trust: Trust | None = TRUST) -> str:
    """Return why `evidence` does not hold; fail if it holds."""
    verdict = verdict_on(evidence.wire(), trust)
    assert not verdict.holds
    return "\n".join(verdict.problems)


def honest() -> Evidence:
    """Return a copy of the honest evidence, to be changed."""
    told = STORY.evidence
    header = Header.FromString(canonical(told.header))
    leaves = [LeafHashes.FromString(canonical(each)) for each in told.leaves]
    return Evidence(
        header,
        list(told.heads),
        list(told.batches),
        leaves,
        list(told.blobs),
        list(told.nodes),
        told.state,
    )


def rebuilt(change: Callable[[list[list[Batch]]], object]) -> Evidence:
    """Return evidence of a ledger whose own signer took other batches: `change` says which."""
    groups = [list(registrations()), list(STORY.batches)]
    change(groups)
    return evidence_of(groups, [STORY.trip.trip_id])


def again(batch: Batch, transactions: list[Transaction] | None = None) -> Batch:
    """Return a copy of `batch` with other transactions under the old signature."""
    copy = Batch.FromString(canonical(batch))
    if transactions is not None:
        del copy.transactions[:]
        copy.transactions.extend(transactions)
    return copy


class SpyTrip(Trip):
    """A device that takes part in a trip that another one started."""

    @property
    def trip_id(self) -> str:
        return Trip().trip_id
