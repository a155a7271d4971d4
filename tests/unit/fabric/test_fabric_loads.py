"""Loads as signed proposals of a Fabric network."""

import dataclasses
from pathlib import Path

import pytest

from contracts.errors import RejectedError
from contracts.proto import fabric_pb2 as pb
from storage.bench.ledger.fabric.reader import FabricReader
from storage.bench.ledger.fabric.settings import FabricPlace
from storage.bench.ledger.fabric.signing import FabricLoad
from storage.bench.ledger.fabric.wire import taken_apart
from storage.bench.ledger.workloads import (
    BEP_23,
    DEPENDENT,
    DO_NOTHING,
    KEY_VALUE,
    READINGS,
    RUNS,
    SMALL_BANK,
    LedgerWorkload,
)
from storage.bench.trucks.signed import sources_of
from support.bench.fabric.members import Organisation, settings_file


@pytest.fixture(scope="module")
def settings(tmp_path_factory: pytest.TempPathFactory) -> str:
    organisation = Organisation("Org1MSP")
    folder = tmp_path_factory.mktemp("fabric")
    return str(settings_file(folder, "h:1", organisation, organisation.member("bench")))


def arguments(wire: bytes) -> list[bytes]:
    """Return what a transaction calls."""
    asked = pb.EndorseRequest.FromString(taken_apart(wire)[1])
    proposal = pb.Proposal.FromString(asked.proposed_transaction.proposal_bytes)
    payload = pb.ChaincodeProposalPayload.FromString(proposal.payload)
    return list(pb.ChaincodeInvocationSpec.FromString(payload.input).chaincode_spec.input.args)


def loaded(settings: str, workload: LedgerWorkload, batches: int = 2) -> FabricLoad:
    alone = dataclasses.replace(workload, per_batch=1)
    return FabricLoad(alone.load("-x", batches, 0.5, 1, 1), settings, 1_800_000_000)


@pytest.mark.parametrize(
    ("workload", "functions"),
    [
        (READINGS, {b"record"}),
        (RUNS, {b"record"}),
        (KEY_VALUE, {b"put", b"get"}),
        (SMALL_BANK, {b"pay", b"get"}),
        (DEPENDENT, {b"pay"}),
        (DO_NOTHING, {b"nothing"}),
        (BEP_23, {b"create"}),
    ],
)
def test_a_load_is_signed_the_same_each_time(
    settings: str, workload: LedgerWorkload, functions: set[bytes]
) -> None:
    load = loaded(settings, workload, 8)
    wires = list(load.wires(1))
    assert wires == list(load.wires(1))
    assert len(wires) == 8
    assert {arguments(wire)[0] for _, wire in wires} == functions
    others = {name for name, _ in load.wires(0)}
    assert len(others | {name for name, _ in wires}) == 16
    assert {len(name) for name in others} == {128}


def test_a_reading_has_paper_002_s_fields(settings: str) -> None:
    (first, second) = (arguments(wire) for _, wire in loaded(settings, READINGS).wires(0))
    name, order, batch, product, quantity, digest = first
    assert name == b"record"
    assert all((order, batch, product))
    assert int(quantity) > 0
    assert len(digest) == 32
    assert second[1:5] == first[1:5]
    assert second[5] != digest


def test_records_are_filled_twenty_at_once(settings: str) -> None:
    load = loaded(settings, SMALL_BANK)
    found = [arguments(wire) for wire in load.filling()]
    assert [len(each) for each in found] == [41, 41, 21]
    assert found[0][0] == b"put"
    assert list(loaded(settings, READINGS).filling()) == []
    assert list(loaded(settings, BEP_23).filling()) == []


def test_a_transaction_that_is_cut_short_is_refused(settings: str) -> None:
    ((_, wire), *_) = loaded(settings, BEP_23).wires(0)
    for size in (0, 31, 32):
        with pytest.raises(RejectedError, match="cut short"):
            taken_apart(wire[:size])


def test_a_table_has_each_transaction_with_the_size_of_its_proposal(settings: str) -> None:
    ((_, wire), *_) = loaded(settings, BEP_23).wires(0)
    ((name, size),) = FabricReader(FabricPlace.read(Path(settings))).parts(wire)
    assert name == wire[:32].hex()
    assert 765 < size < len(wire)  # a certificate is in it


def test_signed_files_are_made_again_when_a_module_of_their_bytes_changes(settings: str) -> None:
    names = sources_of(loaded(settings, BEP_23))
    own = "storage.bench.ledger."
    assert {f"{own}fabric.wire", f"{own}fabric.messages", f"{own}family", f"{own}papers"} <= names
    assert f"{own}fabric.driver" not in names
