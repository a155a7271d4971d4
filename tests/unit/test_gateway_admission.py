"""A batch on its way into the inbox: each part of it is parsed once."""

from collections import Counter
from pathlib import Path

import pytest

from contracts.actions.payload import decode
from contracts.sawtooth.batches import build_batch
from gateway.intake.admission import admit_records
from gateway.intake.held import State
from gateway.intake.inbox import Inbox
from support.gateways.parsing import count_parsing
from support.network.world import Trip, reading
from support.trucks.rogue import wire_of


def test_each_header_is_parsed_once(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    _, batch, *_ = Trip().whole([reading(at) for at in range(30)], size=11)
    wire = wire_of(batch)
    inbox = Inbox(tmp_path / "inbox.sqlite", bytes_max=1 << 20, quarantine_bytes_max=1 << 10)
    parsed = count_parsing(monkeypatch)
    inbox.add([admit_records(wire, "truck-1")], [])
    assert parsed == Counter([wire, batch.header, *(each.header for each in batch.transactions)])
    assert inbox.ids_in(State.HELD, 2) == [batch.header_signature]
    inbox.close()


def test_a_batch_that_depends_on_its_own_transaction_is_set_aside() -> None:
    trip = Trip()
    _, batch, *_ = trip.whole([reading(at) for at in range(30)], size=11)
    first, second, *_ = batch.transactions
    again = trip.sign(decode(second.payload), dependencies=[first.header_signature])
    never = build_batch(trip.signer, [first, again])
    held = admit_records(wire_of(never), "truck-1")
    assert held.state is State.QUARANTINED
    assert f"{first.header_signature[:16]}… of the batch itself" in held.reason
