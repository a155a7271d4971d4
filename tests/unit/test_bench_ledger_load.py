"""The loader on every ledger it can drive, and what is made of its timestamps."""

import asyncio
import csv
import io
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest

from contracts.errors import RejectedError
from contracts.ledger.execution.executor import Execution, TransactionContext, execute
from contracts.ledger.execution.verify import verify_batch
from contracts.proto.sawtooth_pb2 import Batch, TransactionHeader
from contracts.rules.context import InvalidTransactionError
from storage.bench.ledger.committing import commit, transactions_in_blocks
from storage.bench.ledger.consensus import near, read_consensus
from storage.bench.ledger.family import CREATE, FAMILY, GET, PUT, Call, address_of, apply, balance
from storage.bench.ledger.ledgers import NODE
from storage.bench.ledger.loader import Fate, LoadOutcome, LoadPlan, Open, load
from storage.bench.ledger.modes import limited
from storage.bench.ledger.papers import PaperLoad
from storage.bench.ledger.reader import SawtoothReader
from storage.bench.ledger.sawtoothrest import SawtoothRest
from storage.bench.ledger.timeline import CSV_COLUMNS, Timeline
from storage.bench.ledger.watch import watching
from storage.bench.ledger.workloads import (
    DEPENDENT,
    DO_NOTHING,
    INDEPENDENT,
    WORKLOADS,
    LedgerWorkload,
)
from storage.bench.run.flags import Flag
from storage.bench.servers.checkpoint import node
from storage.bench.trucks.fleet import Load, departures, network
from storage.bench.trucks.signed import signed

FLEET = Load("load", devices=2, readings=12, per_transaction=1, per_batch=2)


class MemoryLedger:
    """Implements `Driver`: decides what it holds in blocks, when asked."""

    def __init__(self, block: int = 4) -> None:
        self.held: list[str] = []
        self.committed: list[str] = []
        self.most_held = 0
        self._block = block

    async def submit(self, batches: Sequence[bytes]) -> int:
        self.held += [Batch.FromString(wire).header_signature for wire in batches]
        self.most_held = max(self.most_held, len(self.held))
        await asyncio.sleep(0)
        return 0

    async def decided(self, batch_ids: Sequence[str]) -> Mapping[str, str]:
        await asyncio.sleep(0)
        block, self.held = self.held[: self._block], self.held[self._block :]
        self.committed += block
        return {name: "" for name in batch_ids if name in self.committed}

    def close(self) -> None:
        pass


class Refusing(MemoryLedger):
    """Takes nothing of one truck, and commits nothing of the other's second batch."""

    def __init__(self, refused: Sequence[str], invalid: str) -> None:
        super().__init__()
        self._refused, self._invalid = refused, invalid

    async def submit(self, batches: Sequence[bytes]) -> int:
        if Batch.FromString(batches[0]).header_signature in self._refused:
            raise RejectedError("not from you")
        return await super().submit(batches)

    async def decided(self, batch_ids: Sequence[str]) -> Mapping[str, str]:
        found = await super().decided(batch_ids)
        return {name: "INVALID: no" if name == self._invalid else "" for name in found}


@pytest.fixture
def files(tmp_path: Path) -> list[str]:
    return [str(path) for path in signed(FLEET, tmp_path / "signed", lambda _, __: None)]


@pytest.fixture(params=["memory", pytest.param("node", marks=pytest.mark.integration)])
def ledger(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[tuple[str, Open]]:
    """Return URL and driver of a ledger that takes the fleet's readings."""
    if request.param == "memory":
        made = MemoryLedger()

        async def connect(_: str) -> MemoryLedger:
            return made

        yield "", connect
        return
    with node(tmp_path / "chain") as service:
        commit(service.addresses["rest"], [*network(), *departures(FLEET)])
        yield service.addresses["rest"], SawtoothRest.open


def ids(files: Sequence[str]) -> list[str]:
    return [batch.header_signature for lane in range(len(files)) for batch in FLEET.batches(lane)]


@pytest.mark.parametrize("rate_per_s", [0.0, 200.0])
def test_all_is_committed_in_order(
    ledger: tuple[str, Open], files: list[str], rate_per_s: float
) -> None:
    url, connect = ledger
    plan = LoadPlan(url, files, 0, 6, per_list=1 if rate_per_s else 3, rate_per_s=rate_per_s)
    done = asyncio.run(load(plan, connect))
    assert sorted(fate.batch_id for fate in done.fates) == sorted(ids(files))
    for fate in done.fates:
        assert fate.error == ""
        assert fate.sent_s <= fate.accepted_s <= fate.decided_s
    for lane in (0, 1):
        own = [fate.batch_id for fate in done.fates if fate.lane == lane]
        assert own == [batch.header_signature for batch in FLEET.batches(lane)]
    if url:
        assert transactions_in_blocks(url, 1, set(ids(files))) == FLEET.total
    if rate_per_s:
        gaps = [b.intended_s - a.intended_s for a, b in pairwise(done.fates)]
        assert gaps == pytest.approx([1 / rate_per_s] * 11)


def loaded(plan: LoadPlan, made: MemoryLedger) -> LoadOutcome:
    async def connect(_: str) -> MemoryLedger:
        return made

    return asyncio.run(load(plan, connect))


def test_a_slow_answer_delays_what_follows_and_counts_against_it(files: list[str]) -> None:
    """No coordinated omission: what could not be sent in time was still due in time."""

    class Slow(MemoryLedger):
        async def submit(self, batches: Sequence[bytes]) -> int:
            await asyncio.sleep(0.05)
            return await super().submit(batches)

    done = loaded(LoadPlan("", files, 0, 6, rate_per_s=1_000.0), Slow())
    own = [fate for fate in done.fates if fate.lane == 0]
    for before, after in pairwise(own):
        assert after.intended_s == pytest.approx(before.intended_s + 0.002)
        assert after.sent_s >= before.accepted_s > after.intended_s


def test_a_lane_keeps_to_its_window(files: list[str]) -> None:
    made = MemoryLedger(block=1)
    loaded(LoadPlan("", files, 0, 6, window=2), made)
    assert made.most_held <= 4
    assert len(made.committed) == 12


def test_what_is_refused_says_why(files: list[str]) -> None:
    names = ids(files)
    done = loaded(LoadPlan("", files, 0, 6), Refusing(names[:6], names[7]))
    said = {fate.batch_id: fate.error for fate in done.fates}
    assert [said[name] for name in names] == ["not from you"] * 6 + ["", "INVALID: no"] + [""] * 4


def test_a_file_with_too_few_batches_is_refused(files: list[str]) -> None:
    with pytest.raises(RejectedError, match="expected 9 batches"):
        loaded(LoadPlan("", files, 3, 6), MemoryLedger())


def fates(*times: tuple[float, float]) -> list[Fate]:
    return [
        Fate(f"{number:0128x}", 0, due_s, due_s + 0.25, due_s + 0.5, decided_s, "")
        for number, (due_s, decided_s) in enumerate(times)
    ]


def test_rates_are_those_of_the_timestamps() -> None:
    paced = fates(*((0.0, 100.0 + 25 * (number // 30)) for number in range(120)))
    assert Timeline(paced, 1, None, scheduled=True).rate_per_s == pytest.approx(1.2)
    assert Timeline(paced, 1).busiest_per_s(10.0) == 3.0
    whole = Timeline(fates((0, 2.25), (1, 2.25), (2, 4.25)), 10)
    assert whole.rate_per_s == pytest.approx(30 / 4)
    assert whole.executed_per_s is None
    twice = [(fate.batch_id, 1.0) for fate in whole.fates for _ in range(20)]
    assert Timeline(whole.fates, 10, twice).executed_per_s == pytest.approx(2 * 30 / 4)


def test_the_backlog_is_what_was_accepted_and_is_not_committed() -> None:
    series = Timeline(fates((0, 1.5), (0, 2.5), (1, 2.5)), 10).over_time(1.0)
    assert series.columns == [
        "seconds",
        "sent_per_s",
        "accepted_per_s",
        "committed_per_s",
        "backlog",
    ]
    assert [list(row) for row in series.rows] == [
        [0, 20, 20, 0, 20],
        [1, 10, 10, 10, 20],
        [2, 0, 0, 20, 0],
    ]


def test_the_table_is_that_of_bep_23_with_two_columns_more(files: list[str]) -> None:
    done = loaded(LoadPlan("", files, 0, 6), MemoryLedger())
    done.fates[0].error = "INVALID"
    first = next(FLEET.batches(done.fates[0].lane))
    name = first.transactions[1].header_signature
    timeline = Timeline(done.fates, 2, [(name, done.fates[0].accepted_s)])
    rows = list(
        csv.DictReader(
            io.StringIO(
                timeline.table([Path(path) for path in files], SawtoothReader("").parts).decode()
            )
        )
    )
    assert tuple(rows[0]) == CSV_COLUMNS
    assert len(rows) == FLEET.total
    assert (rows[1]["txid"], rows[1]["size"]) == (name, str(first.transactions[1].ByteSize()))
    assert rows[1]["ts_exec"] == rows[1]["ts_accept"] != ""
    assert (rows[1]["ts_commit"], rows[1]["ts_error"] != "") == ("", True)
    assert all(row["ts_commit"] and not row["ts_error"] for row in rows[2:])


@pytest.mark.parametrize(
    ("settings", "interval_s", "ceiling"),
    [
        ({"algorithm.name": "PoET", "target": "25", "max": "30"}, None, 1.2),
        ({"algorithm.name": "pbft", "max": "100"}, None, 100.0),
        ({"algorithm.name": "Devmode", "max": "3"}, 2.5, 1.2),
        ({"algorithm.name": "Devmode", "max": "3"}, None, None),
        ({"algorithm.name": "PoET", "target": "25"}, None, None),
    ],
)
def test_the_ceiling_is_that_of_the_settings(
    settings: dict[str, str], interval_s: float | None, ceiling: float | None
) -> None:
    names = {
        "sawtooth.consensus.algorithm.name": "algorithm.name",
        "sawtooth.poet.target_wait_time": "target",
        "sawtooth.publisher.max_batches_per_block": "max",
    }
    found = read_consensus(lambda name: settings.get(names.get(name, ""), ""), interval_s)
    most = found.ceiling(1)
    assert (None if most is None else most.value) == ceiling
    if most is not None:
        assert [each.flag for each in near(0.96 * most.value, most)] == [Flag.AT_CONSENSUS_CEILING]
        assert near(0.94 * most.value, most) == ()


def test_bep_23_transactions_have_its_size() -> None:
    batches = list(PaperLoad("b", 2, 5, 1, 0, 1.0, pays=False, seed=1).batches(1))
    assert [item.ByteSize() for batch in batches for item in batch.transactions] == [765] * 5


def test_the_same_seed_signs_the_same_and_another_does_not() -> None:
    made = [
        list(PaperLoad("k", 1, 9, 3, 5, 0.5, pays=True, seed=seed).batches(0)) for seed in (1, 1, 2)
    ]
    assert made[0] == made[1]
    assert made[0] != made[2]


PAPERS = [each for each in WORKLOADS if not each.readings]


@pytest.mark.parametrize("workload", PAPERS, ids=lambda each: each.name)
def test_sawtooth_s_batches_hold_the_calls_that_other_ledgers_get(workload: LedgerWorkload) -> None:
    load = replace(workload, records=min(workload.records, 6)).load("", 2, 0.5, 1, 1)
    assert isinstance(load, PaperLoad)
    found, filled = (
        [Call.parse(item.payload) for batch in batches for item in batch.transactions]
        for batches in (load.batches(3), load.filling())
    )
    assert found == list(load.calls(3))
    assert filled == list(load.filling_calls())
    headers = [item.header for batch in load.batches(3) for item in batch.transactions]
    assert len(set(headers)) == len(headers)  # a nonce tells equal calls apart


def calls_of(workload: LedgerWorkload) -> list[list[Call]]:
    load = workload.load("", 2, 0.5, 1, 1)
    assert isinstance(load, PaperLoad)
    return [list(load.calls(lane)) for lane in range(workload.lanes)]


def test_a_client_that_uses_its_core_is_told() -> None:
    fate = Fate("a", 0, 0.0, 0.0, 0.5, 1.8, "")
    busy, idle = (LoadOutcome([fate], 0, cpu_s).cpu_share for cpu_s in (1.9, 0.5))
    assert busy == pytest.approx(0.95)  # of 1.8 s, and of what is before the first
    assert [each.flag for each in limited(Timeline([fate], 1, loader_share=busy))] == [
        Flag.AT_LOADER_LIMIT
    ]
    assert limited(Timeline([fate], 1, loader_share=idle)) == ()


def everyone(workload: LedgerWorkload) -> set[str]:
    load = workload.load("", 2, 0.5, 1, 1)
    assert isinstance(load, PaperLoad)
    return {call.addresses[0] for call in load.filling_calls()}


def test_dependent_payments_share_an_account_and_independent_ones_none() -> None:
    dependent = [call for lane in calls_of(DEPENDENT) for call in lane]
    assert len({call.addresses[0] for call in dependent}) == 1
    touched = [place for lane in calls_of(INDEPENDENT) for call in lane for place in call.addresses]
    assert len(set(touched)) == INDEPENDENT.records == 400  # 400 payments in turn among 200 pairs
    assert {place for call in dependent for place in call.addresses} == everyone(DEPENDENT)
    assert set(touched) == everyone(INDEPENDENT)  # both write each account of as many
    assert INDEPENDENT.records == DEPENDENT.records
    assert INDEPENDENT.flat_out == DEPENDENT.flat_out == 400
    turn = [call for lane in calls_of(INDEPENDENT) for call in lane[:10]]
    places = [place for call in turn for place in call.addresses]
    assert len(set(places)) == len(places)


@pytest.mark.parametrize("workload", [DEPENDENT, INDEPENDENT, DO_NOTHING], ids=lambda w: w.name)
def test_the_rules_take_papers_001_and_003_too(workload: LedgerWorkload) -> None:
    state: dict[str, bytes | None] = {}
    made = replace(workload, lanes=2).load("", 1, 0.5, 1, 1)
    assert isinstance(made, PaperLoad)
    for batch in [*made.filling(), *made.batches(0)]:
        result = execute(verify_batch(batch), {FAMILY: apply}, state.get)
        assert isinstance(result, Execution), result
        state |= result.changes
    assert len(state) == workload.records


@pytest.mark.parametrize("pays", [False, True])
def test_the_rules_take_what_is_signed_for_them(pays: bool) -> None:  # noqa: FBT001
    state: dict[str, bytes | None] = {}
    made = PaperLoad("k", 1, 300, 10, 5, 0.5, pays=pays, seed=1)
    for batch in [*made.filling(), *made.batches(0)]:
        result = execute(verify_batch(batch), {FAMILY: apply}, state.get)
        assert isinstance(result, Execution), result
        state |= result.changes
    calls = [Call.parse(item.payload) for batch in made.batches(0) for item in batch.transactions]
    reads = sum(call.verb == GET for call in calls)
    assert 100 < reads < 200
    assert len({call.addresses for call in calls}) >= 5


def test_the_rules_refuse_what_makes_no_sense() -> None:
    a, b = address_of("a"), address_of("b")
    header = TransactionHeader(inputs=[a, b], outputs=[a, b])
    state = TransactionContext(header, lambda _: None)

    def call(payload: bytes) -> None:
        apply(header, payload, "", state)

    call(Call(CREATE, (a,), balance(5)).payload)
    for wrong in (
        Call(CREATE, (a,), b"again"),
        Call(GET, (b,)),
        Call.pay(a, b, 1),
        Call.pay(a, a, 1),
    ):
        with pytest.raises(InvalidTransactionError):
            call(wrong.payload)
    call(Call(PUT, (b,), balance(0)).payload)
    call(Call.pay(a, b, 4).payload)
    assert (state.get(a), state.get(b)) == (balance(1), balance(4))
    with pytest.raises(InvalidTransactionError, match="holds 1"):
        call(Call.pay(a, b, 2).payload)
    for size in range(71):
        with pytest.raises(InvalidTransactionError):
            call(random.Random(size).randbytes(size))


def test_processes_are_watched_to_the_end(tmp_path: Path) -> None:
    with node(tmp_path / "chain") as service:
        with watching({NODE: service.pid}, 0.01) as watched:
            commit(service.addresses["rest"], network())
        assert watched.written(NODE) > 0
        series = watched.series(NODE)
        assert series.columns == ("seconds", "cpu_cores", "written_bytes_per_s")
        assert sum(row[2] for row in series.rows) > 0
