"""`wayseal-bench ledger`: its options and its plan."""

import argparse
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, replace
from functools import partial
from typing import TYPE_CHECKING, Final

from contracts.errors import RejectedError
from storage.bench.arguments import above_zero
from storage.bench.ledger import largersteps
from storage.bench.ledger.evm.options import NOTE, ONE_NODE, add_options, evms
from storage.bench.ledger.evm.urls import shown
from storage.bench.ledger.extras import need_processor
from storage.bench.ledger.fabric import options as fabric
from storage.bench.ledger.larger import LARGER, SHARE
from storage.bench.ledger.ledgers import LedgerTarget, NodeOnVolume, Pacing, Sawtooth
from storage.bench.ledger.modes import Choices, Measurement
from storage.bench.ledger.pbft import steps as pbft
from storage.bench.ledger.sawtooths import named_url, sawtooths, takes_readings
from storage.bench.ledger.validators import MOST, Validators
from storage.bench.ledger.workloads import (
    BEP_23,
    POET,
    READINGS,
    WORKLOADS,
    LedgerWorkload,
)
from storage.bench.run.part import Prepared, Setup
from storage.bench.run.plan import Part, Place, Step, StepGroup

if TYPE_CHECKING:
    from storage.bench.run.outcome import Outcome

POET_PACING: Final = Pacing(batches_per_block=30, interval_s=25.0)
"""Source: papers 002, section IV."""
QUICK_PACING: Final = Pacing(batches_per_block=3, interval_s=2.5)
"""The same ceiling, ten times as fast."""
POET_BLOCKS: Final = 4
QUICK_BLOCKS: Final = 3
SCALE: Final = 20
OPEN_S: Final = 60.0
QUICK_OPEN_S: Final = 2.0
PROBES: Final = 6
QUICK_PROBES: Final = 3
PROBE_S: Final = 10.0
QUICK_PROBE_S: Final = 0.5
SAMPLE_S: Final = 1.0
QUICK_SAMPLE_S: Final = 0.25
_QUICK: Final = {
    "flat-out": tuple(workload.name for workload in WORKLOADS),
    "open-loop": (BEP_23.name,),
    "search": (READINGS.name,),
}
"""Workloads of a quick run, by mode; a whole run has every workload in every mode."""
_START_S: Final = 2.0
"""Start of a node with its registrations, about."""
_FLAT_S: Final = 0.5
"""Duration of a flat-out load in a quick run, about."""
_PROCESSOR: Final = (
    "On every ledger that speaks Sawtooth's API a transaction processor of the benchmark, in "
    "Python, executes the transactions of family wayseal_bench: their rate includes it."
)
_VALIDATORS: Final = (
    "All validators of a network run on this machine: each executes every transaction on the same "
    "cores. CPU and writes are those of the first one, application and CometBFT apart. Committed "
    "means: more than two thirds of them have agreed and the first one has it on its disk."
)
_EXECUTED: Final = (
    "wayseal-node does not report how often it executes a reading: executed-rate is known only "
    "for workloads of family wayseal_bench, whose processor counts."
)


class LedgerPart:
    """Implements `PartCommand`."""

    part: Part = Part.LEDGER

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        """See `PartCommand.add_options`."""
        group = parser.add_argument_group("ledger")
        add = group.add_argument
        names = [workload.name for workload in (*WORKLOADS, LARGER)]
        add(
            "--ledger-workload", action="append", choices=names, help="may be repeated; default all"
        )
        add(
            "--ledger-rate", type=above_zero, default=100.0, metavar="TX/S",
            help="transactions a second in open loop; default %(default)g",
        )  # fmt: skip
        add(
            "--ledger-seconds", type=above_zero, metavar="S",
            help="duration of open loop, and longest one of a rate of the search; default 60 and "
            "10, quick 2 and 0.5",
        )  # fmt: skip
        add(
            "--latency-target-s", type=above_zero, default=1.0, metavar="S",
            help="the search meets it with --latency-percentile; default %(default)g",
        )  # fmt: skip
        add("--latency-percentile", type=_percent, default=95.0, metavar="P", help="default 95")
        add(
            "--write-share", type=_share, default=0.5, metavar="SHARE",
            help="of key-value and small-bank, 0 to 1; default %(default)g",
        )  # fmt: skip
        add(
            "--pacing", choices=("poet", "none"), default="poet",
            help="also pace blocks as paper 002's PoET did; default %(default)s",
        )  # fmt: skip
        add(
            "--sawtooth", type=named_url, action="append", default=[], metavar="NAME=URL",
            help="REST API of a network; transactions of the benchmark stay on it",
        )  # fmt: skip
        add(
            "--cometbft", type=int, choices=range(1, MOST + 1), action="append", default=[],
            metavar="N", help="also N validators on each target, all on this machine; repeatable",
        )  # fmt: skip
        add(
            "--component", type=named_url, action="append", default=[], metavar="NAME=URL",
            help="component port of that network, where the benchmark's processor registers",
        )  # fmt: skip
        add_options(group)
        fabric.add_options(group)
        add(
            "--pbft", action="store_true",
            help="also paper 001's comparison: PBFT's messages with MACs and with signatures, "
            "batching on and off",
        )  # fmt: skip

    def prepare(self, options: argparse.Namespace, setup: Setup, stack: ExitStack) -> Prepared:
        """See `PartCommand.prepare`."""
        _check_names(options, setup)
        chosen = [
            workload
            for workload in (*WORKLOADS, LARGER)
            if not options.ledger_workload or workload.name in options.ledger_workload
        ]
        need_processor([workload.name for workload in chosen if not workload.readings])
        # On a target, so that the next run finds a processor that a killed run left.
        noted = setup.volumes[0].work
        networks = list(sawtooths(options.sawtooth, options.component, noted, setup.seed, stack))
        choices = _choices(options, setup)
        validators = [
            Validators(volume, count) for volume in setup.volumes for count in options.cometbft
        ]
        chains = list(evms(options, setup))
        fabrics = list(fabric.fabrics(options.fabric))
        notes = [_PROCESSOR, _EXECUTED, *([_VALIDATORS] if validators else [])]
        notes += [NOTE] * bool(chains) + [ONE_NODE] * bool(options.evm_node)
        notes += [fabric.NOTE] * bool(fabrics)
        known = [workload for workload in chosen if workload is not LARGER]
        own: list[LedgerTarget] = [*map(NodeOnVolume, setup.volumes), *validators, *chains]
        steps: list[Step] = []
        for each in own:
            steps += _steps(each, known, choices, quick=setup.quick)
        # Fabric has no batches.
        alone = [replace(workload, per_batch=1) for workload in known]
        for each in fabrics:
            steps += _steps(each, alone, choices, quick=setup.quick)
        for network in networks:
            steps += _on_network(network, known, choices, notes, quick=setup.quick)
        if options.pbft:
            steps += pbft.steps(quick=setup.quick)
            notes.append(pbft.NOTE)
        groups = [_group("rates", steps, setup.repetitions, _expected_s(steps, choices, setup))]
        if LARGER in chosen:
            groups += largersteps.groups(choices, setup, notes)
        if options.pacing == "poet":
            pacing = QUICK_PACING if setup.quick else POET_PACING
            blocks = QUICK_BLOCKS if setup.quick else POET_BLOCKS
            paced = [
                _paced(NodeOnVolume(volume), choices, pacing, blocks) for volume in setup.volumes
            ]
            each_s = blocks * pacing.interval_s + 2 * _START_S
            expected_s = len(paced) * setup.repetitions * each_s
            groups.append(_group("pacing", paced, setup.repetitions, expected_s))
            if setup.quick:
                notes.append(
                    f"poet-readings: {pacing.batches_per_block} batches in a block every "
                    f"{pacing.interval_s:g} s instead of {POET_PACING.batches_per_block} every "
                    f"{POET_PACING.interval_s:g} s: the same ceiling, in less time."
                )
        settings = {
            **{name: value for name, value in asdict(choices).items() if name != "signed"},
            "workloads": [workload.name for workload in chosen],
            "larger_records": LARGER.records * choices.scale,
            "larger_share": SHARE,
            "pacing": options.pacing,
            "sawtooth": dict(options.sawtooth),
            "cometbft": options.cometbft,
            "evm": {name: shown(url) for name, url in options.evm},
            "evm_node": options.evm_node,
            "fabric": dict(options.fabric),
            "pbft": options.pbft,
        }
        targets = [each.described for each in (*validators, *chains, *fabrics, *networks)]
        targets += [pbft.DESCRIBED] * options.pbft
        measured = (*own, *fabrics, *networks)
        guarantees = [each.guarantee.beside(each.name) for each in measured]
        return Prepared(groups, settings, targets, notes, guarantees)


LEDGER: Final = LedgerPart()


def _check_names(options: argparse.Namespace, setup: Setup) -> None:
    """Check that no two targets have one name."""
    volumes = [volume.name for volume in setup.volumes]
    names = [*volumes, *(name for name, _ in (*options.sawtooth, *options.evm, *options.fabric))]
    names += [f"{volume}-cometbft-{count}" for volume in volumes for count in options.cometbft]
    names += [pbft.TARGET] * options.pbft
    names += ["anvil"] * ("anvil" in options.evm_node)
    names += [f"{volume}-geth" for volume in volumes if "geth" in options.evm_node]
    twice = [name for at, name in enumerate(names) if name in names[:at]]
    if twice:
        raise RejectedError(f"expected targets with a name each, got {twice[0]!r} twice")


def _choices(options: argparse.Namespace, setup: Setup) -> Choices:
    quick = setup.quick
    open_s = options.ledger_seconds or (QUICK_OPEN_S if quick else OPEN_S)
    return Choices(
        rate_per_s=options.ledger_rate,
        open_s=open_s,
        scale=1 if quick else SCALE,
        latency_s=options.latency_target_s,
        latency_percent=options.latency_percentile,
        probes=QUICK_PROBES if quick else PROBES,
        probe_s=min(QUICK_PROBE_S if quick else PROBE_S, open_s),
        writes=options.write_share,
        sample_s=QUICK_SAMPLE_S if quick else SAMPLE_S,
        seed=setup.seed,
        signed=setup.work / "signed",
    )


def _on_network(
    network: Sawtooth,
    chosen: Sequence[LedgerWorkload],
    choices: Choices,
    notes: list[str],
    *,
    quick: bool,
) -> Iterator[Step]:
    """Yield the steps for a network; note the workloads that it refuses, and its ceiling."""
    lacking = {True: takes_readings(network), False: ""}
    if network.executions is None:
        lacking[False] = "without --component no processor there executes family wayseal_bench"
    taken = []
    for workload in chosen:
        why = lacking[bool(workload.readings)]
        if why:
            notes.append(f"{workload.name} is left out on {network.name}: {why}.")
        else:
            taken.append(workload)
    ceiling = network.consensus.ceiling(1)
    pace = "none" if ceiling is None else f"{ceiling.value:.4g}/s, {ceiling.why}"
    notes.append(f"Consensus ceiling of {network.name}, batches of one transaction: {pace}.")
    return _steps(network, taken, choices, quick=quick)


def _steps(
    target: LedgerTarget, chosen: Sequence[LedgerWorkload], choices: Choices, *, quick: bool
) -> Iterator[Step]:
    for workload in chosen:
        bench = Measurement(workload, target, choices)
        modes: dict[str, Callable[[Place], Outcome]] = {
            "flat-out": bench.flat_out,
            "open-loop": bench.open_loop,
            "search": bench.search,
        }
        for mode, execute in modes.items():
            if not quick or workload.name in _QUICK[mode]:
                yield Step(f"{workload.name}-{mode}", target.name, execute)


def _paced(target: LedgerTarget, choices: Choices, pacing: Pacing, blocks: int) -> Step:
    bench = Measurement(POET, target, choices, pacing)
    return Step(POET.name, target.name, partial(bench.paced, blocks=blocks))


def _group(name: str, steps: Sequence[Step], repetitions: int, expected_s: float) -> StepGroup:
    @contextmanager
    def opened() -> Iterator[Sequence[Step]]:
        yield steps  # each begins with a new ledger

    return StepGroup(Part.LEDGER, name, expected_s, opened, repetitions)


def _expected_s(steps: Sequence[Step], choices: Choices, setup: Setup) -> float:
    flat_s = _FLAT_S * choices.scale
    takes_s = {
        "flat-out": flat_s,
        "open-loop": choices.open_s,
        "search": flat_s + choices.probes * choices.probe_s,
    }
    each_s = (
        _START_S + next((s for mode, s in takes_s.items() if step.workload.endswith(mode)), flat_s)
        for step in steps
    )
    return setup.repetitions * sum(each_s)


def _percent(text: str) -> float:
    return _number(text, 0.0, 100.0)


def _share(text: str) -> float:
    return 0.0 if text in {"0", "0.0"} else _number(text, 0.0, 1.0)


def _number(text: str, above: float, most: float) -> float:
    try:
        value = float(text)
    except ValueError:
        value = float("nan")
    if not above < value <= most or value == float("inf"):
        raise argparse.ArgumentTypeError(
            f"expected a number above {above:g}, at most {most:g}, got {text!r}"
        )
    return value
