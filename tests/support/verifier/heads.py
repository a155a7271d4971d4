"""Evidence beside which a gateway committed heads of its record of accesses: rules 1.3."""

from collections.abc import Callable, Iterator
from hashlib import sha256
from typing import Final

from contracts.actions.payload import build, encode, scope
from contracts.proto.payload_pb2 import CommitAccesses
from contracts.proto.sawtooth_pb2 import Batch
from contracts.rules.version import RulesVersion
from contracts.sawtooth.batches import Family, build_batch, build_transaction
from support.evidence.chain import Evidence, evidence_of
from support.network.world import START_MS, Trip, handovers, key, reading, registrations

RECORD: Final = sha256(b"access 1").digest()
SITE: Final = "site-buyer"
GATEWAY: Final = "gateway-buyer"


def head(sequence: int = 1, number: int = 1) -> CommitAccesses:
    """Return a head that obeys the rules."""
    return CommitAccesses(
        site_id=SITE,
        record_sha256=RECORD,
        sequence=sequence,
        number=number,
        sha256=RECORD if number == 1 else sha256(number.to_bytes(8, "big")).digest(),
        at_ms=START_MS + sequence,
    )


def signed(
    *said: CommitAccesses, by: str = GATEWAY, version: RulesVersion = RulesVersion.V1_3
) -> Batch:
    """Return a batch of heads by the key of that name."""
    signer = key(by)
    return build_batch(signer, [build(signer, each, version=version) for each in said])


def heads_told() -> Iterator[tuple[str, Evidence]]:
    """Yield evidence by name; only the first is asked under every kind of trust."""
    yield "accesses", _evidence(signed(head()), signed(head(2, 7), head(3, 5)))
    yield "accesses-left-out", _evidence(signed(head()), signed(head(2, 7)), left_out=1)
    yield "accesses-by-a-stranger", _evidence(signed(head(), by="truck-1"))
    yield "accesses-elsewhere", _evidence(_elsewhere())
    yield "accesses-before-1.3", _evidence(signed(head(), version=RulesVersion.V1_2))
    for name, change in HOSTILE.items():
        said = head()
        change(said)
        yield f"accesses-{name}", _evidence(signed(said))


def _evidence(*heads: Batch, left_out: int = 0) -> Evidence:
    """Return evidence of a trip under rules 1.3, with heads but the first `left_out` of them."""
    trip = Trip(version=RulesVersion.V1_3)
    driven = trip.whole([reading(number) for number in range(4)], (), 4)
    before, after = registrations(), handovers(trip.trip_id)
    made = evidence_of([[each] for each in [*before, *heads, *driven, *after]], [trip.trip_id])
    gone = {each.header_signature for each in heads[:left_out]}
    made.batches = [each for each in made.batches if each.header_signature not in gone]
    made.prove()
    return made


def _elsewhere() -> Batch:
    """Return a head that declares to write at the address of the next one."""
    signer, said, next_one = key(GATEWAY), head(), head(2)
    inputs, outputs = scope(next_one, signer.public_key, version=RulesVersion.V1_3)
    transaction = build_transaction(
        signer,
        Family("wayseal", RulesVersion.V1_3.family_version),
        encode(said),
        batcher_public_key=signer.public_key,
        inputs=inputs,
        outputs=outputs,
    )
    return build_batch(signer, [transaction])


def _changing(**changed: object) -> Callable[[CommitAccesses], None]:
    def change(said: CommitAccesses) -> None:
        for name, value in changed.items():
            setattr(said, name, value)

    return change


HOSTILE: Final[dict[str, Callable[[CommitAccesses], None]]] = {
    "no-sequence": _changing(sequence=0),
    "long-sequence": _changing(sequence=1 << 63),
    "no-number": _changing(number=0),
    "long-number": _changing(number=1 << 63),
    "short-hash": _changing(sha256=bytes(31)),
    "no-record": _changing(record_sha256=b""),
    "another-first": _changing(sha256=bytes(32)),
    "site": _changing(site_id="a b"),
    "no-site": _changing(site_id=""),
    "after-all-time": _changing(at_ms=1 << 60),
}
"""One head each that no ledger takes, and what is wrong with it."""
