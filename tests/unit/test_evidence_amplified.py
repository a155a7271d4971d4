"""A header that names millions of addresses or transactions costs a verifier little memory."""

import tracemalloc
from collections.abc import Callable

import pytest

from contracts.actions.payload import check_scope, encode
from contracts.encoding import canonical
from contracts.errors import RejectedError
from contracts.evidence.ledgerparts import Batches, BlockHeads, Taken
from contracts.proto.payload_pb2 import CloseTrip
from contracts.proto.sawtooth_pb2 import TransactionHeader
from contracts.sawtooth.batches import Family, build_batch, build_transaction
from support.evidence.chain import chain_blocks
from support.network.world import START_MS, Trip, key, reading

MANY = 300_000
NAMES = [f"{number:07}" for number in range(MANY)]
LITTLE_BYTES = MANY * 8
"""Less than a list of so many names takes, without the names."""
FAMILY = Family("wayseal", "1.1")


def peak_of(act: Callable[[], object]) -> int:
    tracemalloc.start()
    try:
        act()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("of", ["inputs", "outputs"])
@pytest.mark.parametrize("on_trip", [False, True])
def test_addresses_beyond_the_expected_ones_are_not_read(of: str, *, on_trip: bool) -> None:
    trip, signer = Trip(), key("truck-1").public_key
    trip.record(reading(0))
    action = trip.records[0] if on_trip else CloseTrip(trip_id=trip.trip_id, at_ms=START_MS)
    header = TransactionHeader(
        family_name=FAMILY.name,
        family_version=FAMILY.version,
        signer_public_key=signer,
        batcher_public_key=signer,
    )
    getattr(header, of).extend(NAMES)

    def check() -> None:
        with pytest.raises(RejectedError, match="declares"):
            check_scope(action, header)

    assert peak_of(check) < LITTLE_BYTES


def test_missing_dependencies_are_not_gathered() -> None:
    signer = key("truck-1")
    transaction = build_transaction(
        signer,
        FAMILY,
        encode(CloseTrip(trip_id=Trip().trip_id, at_ms=START_MS)),
        batcher_public_key=signer.public_key,
        inputs=[],
        outputs=[],
        dependencies=NAMES,
    )
    batch = build_batch(signer, [transaction])
    heads = BlockHeads()
    for head in chain_blocks([[batch]]):
        heads.add(canonical(head))
    wire = canonical(batch)
    taken: list[Taken] = []
    assert peak_of(lambda: taken.extend(Batches(heads).add(wire))) < LITTLE_BYTES + 3 * len(wire)
    assert [each.missing for each in taken] == NAMES[:1]
