"""A Fabric network as a target of `wayseal-bench ledger`: the stand-in of a peer's Gateway.

test_bench_fabric_real.py has the same on real networks, where Fabric's programs are.
"""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from contracts.errors import RejectedError
from contracts.proto import fabric_pb2 as pb
from storage.bench.ledger.fabric.messages import ID_BYTES
from storage.bench.ledger.fabric.reader import FabricReader
from storage.bench.ledger.fabric.targets import FabricNetwork
from storage.bench.ledger.fabric.wire import name_of
from storage.bench.ledger.modes import Measurement
from storage.bench.ledger.timeline import CSV
from storage.bench.ledger.workloads import (
    BEP_23,
    DEPENDENT,
    DO_NOTHING,
    INDEPENDENT,
    KEY_VALUE,
    READINGS,
    RUNS,
    SMALL_BANK,
    LedgerWorkload,
)
from storage.bench.run.flags import Flag
from storage.bench.run.plan import Place
from support.bench.fabric.peer import Peer, a_network
from support.bench.stages import all_flags, short_choices, values

pytestmark = pytest.mark.integration
CONFLICTS = "refused-mvcc-read-conflict"


@pytest.fixture(scope="module")
def network(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Peer, FabricNetwork]]:
    """Return a peer, and the target that a settings file makes of it."""
    with a_network(tmp_path_factory.mktemp("fabric")) as (peer, settings):
        yield peer, FabricNetwork.found("lab", settings)


def measured(target: FabricNetwork, workload: LedgerWorkload, directory: Path) -> Measurement:
    few = replace(workload, per_batch=1, flat_out=400, lanes=2, records=min(workload.records, 40))
    return Measurement(few, target, short_choices(directory / "signed"))


@pytest.mark.parametrize(
    "workload",
    [
        READINGS,
        INDEPENDENT,
        pytest.param(RUNS, marks=pytest.mark.long),
        pytest.param(DO_NOTHING, marks=pytest.mark.long),
    ],
    ids=lambda each: each.name,
)
def test_a_load_without_conflicts_is_committed_whole(
    tmp_path: Path, network: tuple[Peer, FabricNetwork], workload: LedgerWorkload
) -> None:
    _, target = network
    outcome = measured(target, workload, tmp_path).flat_out(Place(tmp_path, len(workload.name)))
    assert not all_flags(outcome) & {Flag.INVALID, Flag.REFUSED}
    assert outcome.work.transactions == 40  # a network at a URL gets a tenth
    assert values(outcome)[CONFLICTS] == 0
    assert 0 < values(outcome)["loader-cpu-share"] < 1


@pytest.mark.parametrize(
    "workload",
    [
        DEPENDENT,
        pytest.param(KEY_VALUE, marks=pytest.mark.long),
        pytest.param(SMALL_BANK, marks=pytest.mark.long),
    ],
    ids=lambda each: each.name,
)
def test_what_conflicts_in_a_block_counts_as_refused(
    tmp_path: Path, network: tuple[Peer, FabricNetwork], workload: LedgerWorkload
) -> None:
    peer, target = network
    before = len(peer.ledger.blocks)
    outcome = measured(target, workload, tmp_path).flat_out(Place(tmp_path, len(workload.name)))
    refused = values(outcome)[CONFLICTS]
    assert outcome.work.transactions + refused == 40
    assert Flag.INVALID not in all_flags(outcome)  # as many in the blocks as their statuses said
    if workload is DEPENDENT:  # each writes what all others read: one of a block at most
        assert refused > 0
        assert outcome.work.transactions <= len(peer.ledger.blocks) - before
    why = {
        raised.why
        for each in outcome.observations
        for raised in each.flags
        if raised.flag is Flag.REFUSED
    }
    begin = f"{refused:.0f} of 40 batches are not committed: validation code MVCC_READ_CONFLICT in "
    assert [each.startswith(begin) for each in why] == [True] * bool(refused)  # else: luck


def test_a_block_is_read_back_with_its_codes(
    tmp_path: Path, network: tuple[Peer, FabricNetwork], monkeypatch: pytest.MonkeyPatch
) -> None:
    """One transaction is valid, one is not, and the first one is there again as a duplicate."""
    peer, target = network
    wires = [letter * ID_BYTES + b"request" for letter in (b"a", b"b")]
    valid, invalid = (wire[:ID_BYTES].hex() for wire in wires)
    signed = tmp_path / "000.batches"
    signed.write_bytes(
        b"".join(len(wire).to_bytes(4) + name_of(wire).encode() + wire for wire in wires)
    )
    codes = bytes((pb.VALID, pb.MVCC_READ_CONFLICT, pb.DUPLICATE_TXID))
    headers = [pb.ChannelHeader(tx_id=each) for each in (valid, invalid, valid)]
    payloads = [
        pb.Payload(header=pb.Header(channel_header=each.SerializeToString())) for each in headers
    ]
    envelopes = [
        pb.Envelope(payload=each.SerializeToString()).SerializeToString() for each in payloads
    ]
    block = pb.Block(
        data=pb.BlockData(data=envelopes), metadata=pb.BlockMetadata(metadata=[b"", b"", codes])
    )
    monkeypatch.setattr(peer.ledger, "block", lambda _: block.SerializeToString())
    reader = FabricReader(target.place)
    head = reader.head()
    assert reader.committed(head, {name_of(wire) for wire in wires}, [signed]) == 1
    block.metadata.metadata[2] = codes[:2]
    with pytest.raises(RejectedError, match=f"expected block {head}, got .* other octets"):
        reader.committed(head, set(), [signed])


def test_a_rate_that_is_kept_has_its_table(
    tmp_path: Path, network: tuple[Peer, FabricNetwork]
) -> None:
    _, target = network
    outcome = measured(target, BEP_23, tmp_path).open_loop(Place(tmp_path, 1))
    assert Flag.INVALID not in all_flags(outcome)
    assert len(outcome.attachments[CSV].decode().splitlines()) == 21


@pytest.mark.long
def test_the_highest_rate_is_found(tmp_path: Path, network: tuple[Peer, FabricNetwork]) -> None:
    _, target = network
    outcome = measured(target, READINGS, tmp_path).search(Place(tmp_path, 2))
    assert values(outcome)["highest-rate"] > 0
