"""The benchmark's own parts: what it signs, keeps, and holds to be reached."""

import sys
from contextlib import ExitStack
from pathlib import Path

import pytest

from contracts import address
from contracts.actions.payload import decode
from contracts.errors import RejectedError
from contracts.ledger.engine.genesis import own_genesis
from contracts.ledger.execution.executor import Execution, execute
from contracts.ledger.execution.families import BUILT_IN
from contracts.ledger.execution.verify import parse_batches, verify_batch
from contracts.proto.payload_pb2 import StartTrip
from contracts.proto.sawtooth_pb2 import Batch, BatchList
from contracts.proto.state_pb2 import Chain
from contracts.rules.case import EVENT_BREACH, EVENT_FINDING, EVENT_TAMPER
from storage.bench.commands.ledger import LEDGER, QUICK_OPEN_S, QUICK_PROBE_S
from storage.bench.goals.goals import LEDGER_GOALS, missed, row
from storage.bench.goals.ledger.chains import median_rate
from storage.bench.goals.ledger.figures import FIGURES, figures_of, observations
from storage.bench.goals.ledger.network import Pair, figures_of_pairs, longest_pause_s
from storage.bench.ledger.wire import batch_list
from storage.bench.trucks.fleet import Load, Truck, departures, key, network
from storage.bench.trucks.signed import read_signed, signed
from support.bench.stages import parsed, setup_on

LOAD = Load("test", devices=2, readings=25, per_transaction=1, per_batch=10)
RUNS = Load("runs", devices=2, readings=25, per_transaction=10, per_batch=2)


@pytest.mark.parametrize("load", [LOAD, RUNS], ids=["one by one", "in runs"])
def test_the_rules_take_the_fleet_and_its_readings(load: Load) -> None:
    state: dict[str, bytes | None] = {}
    batches = [own_genesis(key("node"), [key("admin").public_key]), *network(), *departures(load)]
    before: set[str] = set()
    trucks = [Truck(load, number) for number in range(load.devices)]
    for batch in batches + [batch for truck in trucks for batch in truck.batches()]:
        verified = verify_batch(batch)
        for header in verified.headers:
            assert before.issuperset(header.dependencies)
        result = execute(verified, BUILT_IN, state.get)
        assert isinstance(result, Execution), result
        events = [event.event_type for receipt in result.receipts for event in receipt.events]
        assert not {EVENT_FINDING, EVENT_BREACH, EVENT_TAMPER}.intersection(events)
        state |= result.changes
        before |= {transaction.header_signature for transaction in batch.transactions}
    for truck in trucks:
        start = decode(truck.start.payload)
        assert isinstance(start, StartTrip)
        entry = state[address.chain(start.trip_id, truck.device_id)]
        assert Chain.FromString(entry or b"").count == load.readings


def test_what_was_signed_is_kept(tmp_path: Path) -> None:
    seen: list[tuple[int, int]] = []
    paths = signed(LOAD, tmp_path, lambda done, of: seen.append((done, of)))
    assert seen == [(1, 2), (2, 2)]
    expected = [(batch.header_signature, batch) for batch in Truck(LOAD, 1).batches()]
    assert [(name, Batch.FromString(wire)) for name, wire in read_signed(paths[1])] == expected
    for first in range(len(expected) + 2):
        found = [(name, Batch.FromString(wire)) for name, wire in read_signed(paths[1], first)]
        assert found == expected[first:]
    assert signed(LOAD, tmp_path, lambda done, of: seen.append((done, of))) == paths
    assert len(seen) == 2
    paths[0].write_bytes(paths[0].read_bytes()[:-1])
    with pytest.raises(RejectedError, match="cut short"):
        list(read_signed(paths[0]))


def test_a_list_of_serialised_batches_is_a_batch_list() -> None:
    batches = list(Truck(LOAD, 0).batches())
    wire = batch_list([batch.SerializeToString() for batch in batches])
    assert wire == BatchList(batches=batches).SerializeToString()
    assert parse_batches(wire) == batches


def test_a_figure_beyond_its_bound_is_missed() -> None:
    good = {name: goal.bound for name, goal in LEDGER_GOALS.items()}
    assert missed(good, LEDGER_GOALS) == []
    for name, goal in LEDGER_GOALS.items():
        worse = goal.bound + (1 if goal.most else -1)
        assert missed({**good, name: worse}, LEDGER_GOALS) == [name]
        assert "MISSED" in row(name, worse, LEDGER_GOALS)
        assert "ok" in row(name, goal.bound, LEDGER_GOALS)


def test_a_figure_comes_back_from_a_result_as_it_was_measured() -> None:
    figures = dict.fromkeys(FIGURES, 123.456)
    found = [{"metric": each.metric.name, "median": each.value} for each in observations(figures)]
    result = {"figures": [*found, {"metric": "cpu-busy", "median": 1.0}]}
    assert figures_of(result) == pytest.approx(figures)
    assert LEDGER_GOALS.keys() <= FIGURES.keys()


def test_the_search_takes_no_longer_at_a_rate_than_asked(tmp_path: Path) -> None:
    took = []
    for name, words in (("a", ()), ("b", ("--ledger-seconds", "0.2"))):
        with setup_on(tmp_path / name, name) as setup, ExitStack() as stack:
            prepared = LEDGER.prepare(parsed(LEDGER.add_options, *words), setup, stack)
            took.append((prepared.settings["open_s"], prepared.settings["probe_s"]))
    assert took == [(QUICK_OPEN_S, QUICK_PROBE_S), (0.2, 0.2)]


def test_without_what_its_processor_needs_a_workload_is_refused_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "sawtooth_sdk", None)
    chosen = ("--ledger-workload", "key-value", "--ledger-workload", "readings")
    with setup_on(tmp_path, "a") as setup, ExitStack() as stack:
        expected = "sawtooth-sdk is not installed: the workloads key-value run in"
        with pytest.raises(RejectedError, match=expected):
            LEDGER.prepare(parsed(LEDGER.add_options, *chosen), setup, stack)
        assert LEDGER.prepare(parsed(LEDGER.add_options, *chosen[2:]), setup, stack).groups


def test_a_rate_is_the_median_of_equal_shares() -> None:
    steady = [number / 50 for number in range(1_000)]
    assert median_rate(steady) == pytest.approx(50)
    pause = [at_s + 60 * (at_s > 4) for at_s in steady]  # as when a neighbour takes the machine
    assert median_rate(pause) == pytest.approx(50)
    assert median_rate(list(reversed(steady[:11]))) == pytest.approx(50)


def test_the_longest_pause_is_the_one_that_ends_after_the_kill() -> None:
    before = [0.0, 5.0, 5.1]
    after = [7.4, 7.5, 8.0]
    assert longest_pause_s([*after, *before], since_s=5.2) == pytest.approx(7.4 - 5.1)
    assert longest_pause_s([*after, *before], since_s=7.45) == pytest.approx(0.5)
    assert longest_pause_s(before, since_s=6) == 0


def test_a_network_is_compared_with_one_node_pair_by_pair() -> None:
    """The median of the ratios, each of two loads that followed each other."""
    pairs = [Pair(2_000, 5.0, 4.0), Pair(1_000, 8.0, 4.0), Pair(1_500, 9.0, 6.0)]
    assert figures_of_pairs(pairs, 20_000) == {
        "bft_readings_per_s": 1_500,
        "bft_cpu_s_per_1000_readings": 0.4,
        "bft_alone_cpu_s_per_1000_readings": 0.2,
        "bft_cpu_ratio": 1.5,
        "bft_cpu_ratio_most": 2.0,
    }
