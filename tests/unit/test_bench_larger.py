"""The comparison with a state larger than memory: its filling, its plan and its figures."""

from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

import pytest

from contracts.errors import UnavailableError
from contracts.ledger.execution.executor import Execution, TransactionContext, execute
from contracts.ledger.execution.verify import verify_batch
from contracts.proto.sawtooth_pb2 import TransactionHeader
from contracts.rules.context import InvalidTransactionError
from storage.bench.commands.ledger import LEDGER
from storage.bench.ledger import larger
from storage.bench.ledger.family import (
    FAMILY,
    FILL,
    NAMESPACE,
    VALUE_BYTES,
    Call,
    address_of,
    apply,
    filled,
)
from storage.bench.ledger.larger import LARGER, Half, LargeState
from storage.bench.ledger.largersteps import NOTE
from storage.bench.ledger.loader import Fate
from storage.bench.ledger.modes import Choices
from storage.bench.ledger.papers import FILL_AT_ONCE, PaperLoad
from storage.bench.ledger.timeline import Timeline
from storage.bench.report.memories import sentences
from storage.bench.run.flags import Flag, Raised
from storage.bench.run.part import Prepared, Setup
from storage.bench.run.plan import Place
from storage.bench.run.volumetarget import VolumeTarget, volume_targets
from support.bench.stages import flags, parsed, setup_on, values

MB = 1_000_000


class Many(TransactionContext):
    """A context beyond a socket."""

    def __init__(self) -> None:
        header = TransactionHeader(family_name=FAMILY.name, outputs=[NAMESPACE])
        super().__init__(header, lambda _: None)
        self.messages = 0

    def set_all(self, values: Mapping[str, bytes]) -> None:
        self.messages += 1
        for place, value in values.items():
            self.set(place, value)


def test_a_large_state_has_the_records_that_the_load_touches() -> None:
    made = PaperLoad("k", 1, 300, 10, 50, 0.5, pays=False, seed=1)
    state: dict[str, bytes | None] = {}
    for batch in [*made.filling_at_once(), *made.batches(0)]:
        result = execute(verify_batch(batch), {FAMILY: apply}, state.get)
        assert isinstance(result, Execution), result
        state |= result.changes
    assert set(state) == {call.addresses[0] for call in made.filling_calls()}
    assert {len(value or b"") for value in state.values()} == {VALUE_BYTES}


def test_it_is_filled_by_few_transactions_in_the_order_of_addresses() -> None:
    made = replace(PaperLoad("k", 1, 1, 1, 1, 0.5, pays=False, seed=1), records=FILL_AT_ONCE + 3)
    batches = list(made.filling_at_once())
    calls = [Call.parse(item.payload) for batch in batches for item in batch.transactions]
    places = [place for call in calls for place in call.addresses]
    assert [len(call.addresses) for call in calls] == [FILL_AT_ONCE, 3]
    assert places == sorted(places)
    assert len(set(places)) == made.records


def test_many_values_go_in_one_message_where_a_context_takes_that() -> None:
    places = tuple(map(address_of, "abc"))
    context = Many()
    apply(TransactionHeader(), Call(FILL, places).payload, "", context)
    assert context.changes == {place: filled(place) for place in places}
    assert context.messages == 1


@pytest.mark.parametrize("payload", [FILL, FILL + bytes(34), FILL + bytes(71)])
def test_a_filling_without_whole_addresses_is_refused(payload: bytes) -> None:
    with pytest.raises(InvalidTransactionError, match="expected a call of family"):
        Call.parse(payload)


@pytest.fixture
def volume(tmp_path: Path) -> Iterator[VolumeTarget]:
    (tmp_path / "v").mkdir()
    with volume_targets([("v", tmp_path / "v")]) as (made,):
        yield made


def choices(directory: Path) -> Choices:
    return Choices(
        rate_per_s=10,
        open_s=1,
        scale=1,
        latency_s=1,
        latency_percent=95,
        probes=1,
        probe_s=1,
        writes=0.5,
        sample_s=1,
        seed=3,
        signed=directory / "signed",
    )


def half(*, rate: float, response_s: float, read: int) -> Half:
    """Return the half of 100 batches of 10."""
    flat = [Fate(str(n), 0, 0.0, 0.0, 0.1, n * 10 / rate, "") for n in range(1, 101)]
    slow = [Fate(str(n), 0, n, n, n, n + response_s, "") for n in range(100)]
    return Half(Timeline(flat, 10), Timeline(slow, 10, scheduled=True), [], [], read, 90 * MB)


ROOMY = half(rate=500, response_s=0.01, read=0)
TIGHT = half(rate=200, response_s=0.03, read=8 * MB)


def test_figures_are_those_of_both_halves_and_their_ratios(
    tmp_path: Path, volume: VolumeTarget
) -> None:
    outcome = LargeState(volume, choices(tmp_path)).compared(ROOMY, TIGHT, 140 * MB, 460 * MB)
    found = values(outcome)
    assert found == pytest.approx(
        {
            "roomy-committed-rate": 500,
            "limited-committed-rate": 200,
            "committed-rate-ratio": 0.4,
            **{f"roomy-response-{each}": 0.01 for each in ("p50", "p95", "max")},
            **{f"limited-response-{each}": 0.03 for each in ("p50", "p95", "max")},
            **{f"response-{each}-ratio": 3.0 for each in ("p50", "p95")},
            "roomy-read-per-transaction": 0,
            "limited-read-per-transaction": 8_000,
            "state": 250 * MB,
            "state-files": 460 * MB,
            "memory-limit": 140 * MB,
            "node-memory": 90 * MB,
        }
    )
    assert {each for raised in flags(outcome).values() for each in raised} == {Flag.FEW_SAMPLES}
    told = [
        {"target": "v", "metric": each.metric.name, "unit": each.metric.unit, "median": each.value}
        for each in outcome.observations
    ]
    assert list(sentences(told)) == [
        (
            "v: with 140 MB of memory for a state of 250 MB, the node commits 200 tx/s instead of "
            "500 tx/s, 0.400 of it, and reads 8.00 kB from the disk for each transaction."
        )
    ]
    assert list(sentences(told[1:])) == []


@pytest.mark.parametrize(
    ("roomy", "tight", "limit", "flag"),
    [
        (ROOMY, TIGHT, 250 * MB, Flag.CACHED),
        (ROOMY, replace(TIGHT, read_bytes=0), 140 * MB, Flag.CACHED),
        (replace(ROOMY, read_bytes=5 * MB), TIGHT, 140 * MB, Flag.INVALID),
    ],
    ids=["the state fits", "nothing was read", "memory was not to spare"],
)
def test_a_comparison_of_something_else_is_flagged(
    tmp_path: Path, volume: VolumeTarget, roomy: Half, tight: Half, limit: int, flag: Flag
) -> None:
    state = LargeState(volume, choices(tmp_path))
    raised = flags(state.compared(roomy, tight, limit, 460 * MB))
    which = "roomy" if flag is Flag.INVALID else "limited"
    assert flag in raised[f"{which}-committed-rate"]
    assert flag in raised["committed-rate-ratio"]


def test_a_half_that_is_behind_its_schedule_has_a_rate_all_the_same(
    tmp_path: Path, volume: VolumeTarget
) -> None:
    tight = replace(TIGHT, late=[Raised(Flag.BEHIND_SCHEDULE, "expected 10/s, got 5/s")])
    outcome = LargeState(volume, choices(tmp_path)).compared(ROOMY, tight, 140 * MB, 460 * MB)
    late = {name for name, raised in flags(outcome).items() if Flag.BEHIND_SCHEDULE in raised}
    assert late == {
        *(f"limited-response-{each}" for each in ("p50", "p95", "max")),
        *(f"response-{each}-ratio" for each in ("p50", "p95")),
    }


def test_a_disk_or_a_memory_without_room_is_named(tmp_path: Path, volume: VolumeTarget) -> None:
    huge = replace(LARGER, records=1 << 40)
    state = LargeState(volume, choices(tmp_path), huge)
    assert "GiB free, got" in state.why_not()
    with pytest.raises(UnavailableError, match="memory to spare, got"):
        state.execute(Place(tmp_path, 1))
    assert not state.directory.exists()


def planned(setup: Setup, *names: str) -> Prepared:
    words = [word for name in names for word in ("--ledger-workload", name)]
    with ExitStack() as stack:
        return LEDGER.prepare(parsed(LEDGER.add_options, "--pacing", "none", *words), setup, stack)


def test_where_memory_can_not_be_limited_the_plan_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with setup_on(tmp_path, "a", "b") as setup:
        for why, left in (("no control group here", ["a", "b"]), ("", [])):
            monkeypatch.setattr(larger, "why_unlimited", lambda why=why: why)
            plan = planned(setup, LARGER.name)
            assert [note for note in plan.notes if "left out" in note] == [
                f"{LARGER.name} is left out on {name}: {why}." for name in left
            ]
            assert (NOTE in plan.notes) == (not left)
            names = []
            for group in plan.groups:
                with group.opened() as steps:
                    names += [(step.workload, step.target) for step in steps]
            assert names == [(LARGER.name, name) for name in ("a", "b") if name not in left]
        assert LARGER.name not in planned(setup, "key-value").settings["workloads"]
