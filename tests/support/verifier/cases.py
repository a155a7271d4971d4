"""The evidence files on which both verifiers must agree, and how each came about."""

import io
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any, Final

from contracts.evidence.container import NotEvidenceError, Part
from contracts.evidence.expected import ANYTHING
from contracts.evidence.report import as_json
from contracts.evidence.trust import Trust
from contracts.evidence.verify import verify_evidence
from contracts.proto.payload_pb2 import StartTrip
from contracts.proto.sawtooth_pb2 import BlockHeader, Transaction
from contracts.records.reading import Reading
from contracts.sawtooth.batches import build_batch
from contracts.sawtooth.block_info import block_info_batch, block_info_places
from contracts.sawtooth.counts import TRANSACTIONS_MAX
from support.evidence.chain import Evidence, evidence_of, pack, seal, story, trust_in, unseal
from support.evidence.forgers import Forger
from support.evidence.rich import rich
from support.evidence.worlds import World
from support.network.world import START_MS, Trip, key, one, reading, registrations
from support.project.pages import ROOT
from support.verifier.edges import edges
from support.verifier.ends import ends
from support.verifier.heads import heads_told
from support.verifier.lively import lively
from support.verifier.networks import networks
from support.verifier.small import small
from support.verifier.structured import fields
from support.verifier.telling import told_by

PUBLISHED: Final = ROOT / "tests" / "golden" / "verifier"
"""The table `vectors.json`, and the files that it names."""
_WORLD: Final = 0
_FORGERIES: Final = 14
_BEHIND_MS: Final = 7_200_000


@dataclass(frozen=True, slots=True)
class Case:
    """One file, what its reader trusts and asks, and what was done to it.

    Attributes:
        file: Its name in the published directory.
        wire: Its bytes.
        trust: What the reader trusts; None: nothing was given.
        change: What a reader of the table does to the file first: `flip` [place, bits], `cut`
            length, `sealed`: the digest at the end is made again.
        accept_format_1: Whether the reader takes files that show less.
    """

    file: str
    wire: bytes
    trust: Trust | None
    change: dict[str, Any] = field(default_factory=dict)
    accept_format_1: bool = False

    @property
    def changed(self) -> bytes:
        """The bytes that are verified."""
        return changed(self.wire, self.change)


def changed(wire: bytes, change: dict[str, Any]) -> bytes:
    """Return a file with a change."""
    sealed = change.get("sealed", False)
    made = bytearray(unseal(wire) if sealed else wire)
    if "flip" in change:
        place, bits = change["flip"]
        made[place] ^= bits
    if "cut" in change:
        del made[change["cut"] :]
    return seal(bytes(made)) if sealed else bytes(made)


def told(case: Case) -> dict[str, Any]:
    """Return what the first verifier says of a case, by fields."""
    try:
        verdict = verify_evidence(io.BytesIO(case.changed), case.trust, [], ANYTHING)
    except NotEvidenceError:
        return {"exit": 2, "verdict": "no-evidence", "problems": []}
    word = as_json(verdict)["verdict"]
    if word == "format-1" and case.accept_format_1:
        word = "holds"
    problems = [fields(each) for each in verdict.problems]
    return {"exit": 0 if word == "holds" else 1, "verdict": word, "problems": problems}


def cases() -> Iterator[Case]:
    """Yield every case but the altered bytes of the small file."""
    clip = story([b"a short clip" * 60]).evidence
    (_, remarks), *others = told_by()
    (_, heads), *with_heads = heads_told()
    for name, evidence in (
        ("small", small()),
        ("story", clip),
        ("rich", rich()),
        ("times", _times()),
        ("remarks", remarks),
        ("accesses", heads),
    ):
        trust, wire = trust_in(evidence.heads), evidence.wire()
        yield Case(name, wire, trust)
        yield Case(name, wire, None)
        yield Case(name, wire, replace(trust, admin_keys=trust.block_signers))
        yield Case(name, wire, replace(trust, block_signers=trust.admin_keys))
        yield Case(name, wire, replace(trust, genesis_block_id="ab" * 64))
        yield Case(f"{name}-format-1", evidence.wire_of_format_1(), trust)
        yield Case(f"{name}-format-1", evidence.wire_of_format_1(), trust, accept_format_1=True)
    for name, evidence in [*others, *with_heads, *ends(), *edges(), *lively()]:
        yield Case(name, evidence.wire(), trust_in(evidence.heads))
    proved = _times()
    proved.prove(block_info_places(proved.state.get))
    yield Case("times-proved", proved.wire(), trust_in(proved.heads))
    for name, evidence in _late_trips():
        yield Case(f"times-{name}", evidence.wire(), trust_in(evidence.heads))
    yield Case(
        "batch-of-too-many",
        _with_batch(b"\x1a\0" * (TRANSACTIONS_MAX + 1)),
        trust_in(small().heads),
    )
    longer = small().wire()[:-1] + b"\0\0"
    yield Case("altered-and-longer", longer, trust_in(small().heads))
    yield from _successors(clip)
    yield from _old()
    yield from _world()
    for told_case in networks():
        yield Case(f"network-{told_case.name}", told_case.wire, told_case.trust)


def _with_batch(wire: bytes) -> bytes:
    """Return the small file with one more batch, before the others."""
    frames = small().frames()
    at = next(number for number, (kind, _) in enumerate(frames) if kind == Part.BATCH)
    return pack([*frames[:at], (Part.BATCH, wire), *frames[at:]])


def _times() -> Evidence:
    """Return evidence of a trip on a ledger whose blocks have times."""
    trip = Trip()
    return _timed(trip, [trip.run([reading(0), reading(1)])], START_MS)


def _late_trips() -> Iterator[tuple[str, Evidence]]:
    """Yield trips whose clocks are hours behind the block when both sides had signed, by name.

    The last one is replayed from a file, so its start is not compared with the blocks.
    """
    agreed_ms = START_MS + _BEHIND_MS
    right_ms = _BEHIND_MS + 60_000
    for name, values in {
        "behind": [reading(0), reading(1)],
        "behind-then-right": [reading(0), _later(reading(1), right_ms)],
        "right-then-behind": [_later(reading(0), right_ms), reading(1)],
        "behind-and-derived": [reading(0), replace(reading(1), derived=True), reading(2)],
        "all-derived": [replace(reading(0), derived=True)],
        "no-reading": [],
    }.items():
        trip = Trip()
        yield name, _timed(trip, [trip.record(each) for each in values], agreed_ms)
    trip, replayed = Trip(), StartTrip()
    replayed.CopyFrom(trip.start)
    replayed.derived_from.add(role="readings", name="readings.csv", sha256=bytes(32))
    yield "replayed", _timed(trip, [trip.record(reading(0))], agreed_ms, replayed)


def _later(value: Reading, ms: int) -> Reading:
    """Return a reading whose UTC is later by `ms`, as by a clock that was set."""
    return replace(value, clock=replace(value.clock, utc_ms=value.clock.utc_ms + ms))


def _timed(
    trip: Trip, signed: Sequence[Transaction], first_ms: int, start: StartTrip | None = None
) -> Evidence:
    """Return evidence of a trip on a ledger with a block each second, from `first_ms` on."""
    groups = [
        registrations(),
        [one(trip.signer, start or trip.start)],
        [build_batch(trip.signer, signed)] if signed else [],
        [build_batch(trip.signer, [trip.seal()])],
    ]
    groups = [each for each in groups if each]
    begun = [
        block_info_batch(key("node"), BlockHeader(block_num=at), "0" * 128, first_ms // 1000 + at)
        for at in range(len(groups))
    ]
    return evidence_of([[a, *b] for a, b in zip(begun, groups, strict=True)], [trip.trip_id])


def _successors(told_: Evidence) -> Iterator[Case]:
    """Yield a file of a ledger that ended, under trust in its successor."""
    own, wire = trust_in(told_.heads), told_.wire()
    last = {
        "genesis_block_id": own.genesis_block_id,
        "block_num": len(told_.heads) - 1,
        "block_id": told_.heads[-1].header_signature,
        "block_signers": sorted(own.block_signers),
    }
    document = json.loads(own.to_json()) | {"genesis_block_id": "ab" * 64}
    for change in (
        {},
        {"block_num": 1000, "block_id": "cd" * 64},
        {"block_id": "cd" * 64},
        {"block_num": 0},
        {"block_signers": sorted(own.admin_keys)},
        {"genesis_block_id": "cd" * 64},
    ):
        text = json.dumps(document | {"predecessors": [last | change]})
        yield Case("story", wire, trust_of(text))


def trust_of(text: str) -> Trust:
    """Return what a trust file's text says; each process of a test run asks at the same time."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "trust.json"
        path.write_text(text, "utf-8")
        return Trust.load(path)


def _old() -> Iterator[Case]:
    """Yield the files that an earlier release wrote, under version 1.0 of the rules."""
    for path in sorted((ROOT / "tests" / "golden" / "evidence-v1").glob("*.evidence")):
        trust = Trust.load(path.with_suffix(".keys.json"))
        for accepted in (False, True):
            yield Case(
                f"../evidence-v1/{path.stem}", path.read_bytes(), trust, accept_format_1=accepted
            )


def _world() -> Iterator[Case]:
    """Yield honest files of a random world, and forgeries of one."""
    world, other = World(_WORLD), World(_WORLD + 100)
    for number, evidence in enumerate(world.evidence):
        yield Case(f"world-{number}", evidence.wire(), trust_in(evidence.heads))
    honest = world.evidence[0]
    forger = Forger(world, honest, other.evidence[0], Random(_WORLD))
    for number in range(_FORGERIES):
        forged = forger.forge()
        name = f"forged-{number:02}-{forged.kind.replace(' ', '-')}"
        yield Case(name, forged.wire, trust_in(honest.heads))


def flips() -> Iterator[tuple[str, Case]]:
    """Yield the small file with each byte changed or cut at each place; sealed again or not."""
    evidence = small()
    wire, trust = evidence.wire(), trust_in(evidence.heads)
    for sealed in (False, True):
        end = len(unseal(wire)) if sealed else len(wire)
        for place in range(end):
            flip = {"flip": [place, place % 255 + 1], "sealed": sealed}
            yield f"flip{' sealed' * sealed}", Case("small", wire, trust, flip)
        for length in range(end):
            yield (
                f"cut{' sealed' * sealed}",
                Case("small", wire, trust, {"cut": length, "sealed": sealed}),
            )


def path_of(name: str) -> Path:
    """Return where a case's file is published."""
    return PUBLISHED / f"{name}.evidence"
