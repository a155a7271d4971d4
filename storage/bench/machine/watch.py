"""Executes each step, and adds CPU, heat, power and wear of the machine to its outcome."""

import json
import math
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Final

from storage.bench.machine.cpu import CpuTimes, cpu_times
from storage.bench.machine.fingerprint import fingerprint
from storage.bench.machine.heat import Heat, heat, held_back
from storage.bench.machine.power import Meter, Metered, performance_to_power
from storage.bench.run.flags import Flag, Raised
from storage.bench.run.outcome import (
    ENERGY,
    PER_JOULE,
    POWER,
    Better,
    Metric,
    Observation,
    Outcome,
    Series,
    Work,
)
from storage.bench.run.plan import Place, Step
from storage.bench.run.volumetarget import VolumeTarget
from storage.drives.devices import Device
from storage.drives.health import Health, health
from storage.drives.kernel import Kernel
from storage.drives.tools import Run, run_tool

AT_REST: Final = "at-rest"
"""Workload of a step that does nothing. Its power is the wall meter's reading at rest."""
RECORD: Final = "machine.json"
SAMPLES_EVERY_S: Final = 1.0
NOISY_SHARE: Final = 0.02
"""Of the CPU time wanted; if other machines take more, the figure is flagged."""
_NOISY_S: Final = 0.1
"""Less stolen time than this is only a few ticks of the clock."""
_GB: Final = 1_000_000_000
_RATES: Final = {"B/s": "B/J", "1/s": "1/J"}
CPU_BUSY: Final = Metric("cpu-busy", "s", Better.NEITHER)
CPU_PER_GB: Final = Metric("cpu-per-gb", "s/GB", Better.LOWER)
CPU_PER_TRANSACTION: Final = Metric("cpu-per-transaction", "s", Better.LOWER)
DRIVE_WRITTEN: Final = Metric("drive-written", "B", Better.NEITHER)


class Watch:
    """Watches the machine during steps.

    Args:
        kernel: Which machine.
        drives: Drives of each target; each is asked for its wear before and after.
        run: Runs the tools that ask the drives.
        meter: Measures power; None without one.
    """

    def __init__(
        self,
        kernel: Kernel,
        drives: Mapping[str, Sequence[Device]],
        run: Run,
        meter: Meter | None,
    ) -> None:
        self._kernel = kernel
        self._drives = drives
        self._run = run
        self._meter = meter

    def carry(self, step: Step, place: Place) -> Outcome:
        """Execute a step; return its outcome with the machine's observations added."""
        drives_before = self._asked(step.target)
        at_rest = step.workload == AT_REST
        span = _Span(self._kernel, self._meter, at_rest=at_rest)

        @contextmanager
        def counted() -> Iterator[None]:
            nonlocal span
            span.end()
            span = _Span(self._kernel, self._meter, at_rest=at_rest)
            try:
                yield
            finally:
                span.end()

        try:
            outcome = step.execute(replace(place, counted=counted))
        finally:
            seen = span.end()
        return _joined(
            outcome, replace(seen, drives=_pairs(drives_before, self._asked(step.target)))
        )

    def _asked(self, target: str) -> dict[str, Health]:
        return {each.name: health(each, self._run) for each in self._drives.get(target, ())}


class Machine:
    """This machine during a run.

    Args:
        volumes: Their drives are fingerprinted, and asked for their wear.
        power: Its meter.
    """

    def __init__(self, volumes: Sequence[VolumeTarget], power: Metered) -> None:
        drives = {volume.name: volume.bottom for volume in volumes}
        distinct = {drive.name: drive for each in drives.values() for drive in each}
        self.fingerprint: dict[str, Any] = fingerprint(
            Kernel(), distinct.values(), run_tool, power.words
        )
        self._watch = Watch(Kernel(), drives, run_tool, power.meter)

    def carry(self, step: Step, place: Place) -> Outcome:
        """Execute a step; return its outcome with the machine's observations added."""
        return self._watch.carry(step, place)


@dataclass(frozen=True, slots=True)
class MachineSpan:
    """CPU, heat, power and wear of the machine in a span of time.

    Attributes:
        joules: None without a meter.
        source: Of the joules.
        held_back: Reasons that slowed the CPU, in words.
        samples: See `_COLUMNS`.
        drives: By name, before and after.
    """

    elapsed_s: float
    cpu: CpuTimes
    before: Heat
    after: Heat
    held_back: tuple[str, ...]
    joules: float | None
    source: str
    samples: Sequence[Sequence[float]]
    drives: Mapping[str, tuple[Health, Health]] = field(default_factory=dict)


_COLUMNS: Final = (
    *("s", "user_cores", "system_cores", "irq_cores", "softirq_cores", "iowait_cores"),
    *("steal_cores", "idle_cores", "hottest_celsius", "mean_mhz", "watts"),
)
"""Of the table over time: cores on average since the sample before; absent values are nan."""


class _Span:
    """Counts from now until `end`, with a sample each second."""

    def __init__(self, kernel: Kernel, meter: Meter | None, *, at_rest: bool) -> None:
        self._kernel = kernel
        self._stop = threading.Event()
        self._samples: list[tuple[float, ...]] = []
        self._limits: dict[str, None] = {}
        self._seen: MachineSpan | None = None
        self._before = heat(kernel)
        self._source = "" if meter is None else meter.source
        self._cpu, self._start_s = cpu_times(kernel), time.monotonic()
        self._joules = None if meter is None else meter.begin(at_rest=at_rest)
        self._last = (self._start_s, self._cpu, 0.0)
        self._sampler = threading.Thread(target=self._look_on, name="machine", daemon=True)
        self._sampler.start()

    def end(self) -> MachineSpan:
        """Stop counting; return the span, the same at each call."""
        if self._seen is None:
            self._stop.set()
            self._sampler.join()
            joules = None if self._joules is None else self._joules()
            elapsed_s = time.monotonic() - self._start_s
            cpu = cpu_times(self._kernel).since(self._cpu)
            after = heat(self._kernel)
            told = dict.fromkeys(held_back(self._before, after)) | self._limits
            self._seen = MachineSpan(
                elapsed_s,
                cpu,
                self._before,
                after,
                tuple(told),
                joules,
                self._source,
                self._samples,
            )
        return self._seen

    def _look_on(self) -> None:
        while not self._stop.wait(SAMPLES_EVERY_S):
            now_s, cpu, warmth = time.monotonic(), cpu_times(self._kernel), heat(self._kernel)
            counted = None if self._joules is None else self._joules()
            joules = math.nan if counted is None else counted  # arithmetic goes on with it
            before_s, cpu_before, joules_before = self._last
            self._last = (now_s, cpu, joules)
            took_s = now_s - before_s
            cores = [each / took_s for each in asdict(cpu.since(cpu_before)).values()]
            hottest = math.nan if warmth.hottest is None else warmth.hottest
            mhz = math.nan if warmth.mhz is None else warmth.mhz
            watts = (joules - joules_before) / took_s
            self._samples.append((now_s - self._start_s, *cores, hottest, mhz, watts))
            self._limits |= dict.fromkeys(held_back(warmth, warmth))


def _pairs(
    before: Mapping[str, Health], after: Mapping[str, Health]
) -> dict[str, tuple[Health, Health]]:
    return {name: (before[name], after[name]) for name in before}


def _joined(outcome: Outcome, seen: MachineSpan) -> Outcome:
    """Return the outcome with the machine's figures, and the flags of the span on every figure."""
    own = [*_cpu(seen, outcome.work), *_energy(seen, outcome.observations), *_wear(seen)]
    flags = tuple(_flags(seen))
    record = json.dumps(_record(seen), indent=1).encode() + b"\n"
    return replace(
        outcome,
        observations=[
            replace(each, flags=(*each.flags, *flags)) for each in (*outcome.observations, *own)
        ],
        series=[*outcome.series, Series("machine", _COLUMNS, seen.samples)],
        attachments={**outcome.attachments, RECORD: record},
    )


def _cpu(seen: MachineSpan, work: Work) -> Iterator[Observation]:
    busy_s = seen.cpu.busy_s
    yield Observation(CPU_BUSY, busy_s)
    if work.bytes_moved:
        yield Observation(CPU_PER_GB, busy_s / work.bytes_moved * _GB)
    if work.transactions:
        yield Observation(CPU_PER_TRANSACTION, busy_s / work.transactions)


def _energy(seen: MachineSpan, figures: Sequence[Observation]) -> Iterator[Observation]:
    if seen.joules is None:
        return
    watts = seen.joules / seen.elapsed_s
    yield Observation(Metric(f"{ENERGY}{seen.source}", "J", Better.LOWER), seen.joules)
    yield Observation(Metric(f"{POWER}{seen.source}", "W", Better.LOWER), watts)
    for each in figures:
        if each.metric.unit in _RATES and watts > 0:
            name = f"{each.metric.name}{PER_JOULE}{seen.source}"
            metric = Metric(name, _RATES[each.metric.unit])
            yield Observation(metric, performance_to_power(each.value, watts), flags=each.flags)


def _wear(seen: MachineSpan) -> Iterator[Observation]:
    grown = [
        after.written_bytes - before.written_bytes
        for before, after in seen.drives.values()
        if before.written_bytes is not None and after.written_bytes is not None
    ]
    if grown:
        yield Observation(DRIVE_WRITTEN, sum(grown))


def _flags(seen: MachineSpan) -> Iterator[Raised]:
    why = list(seen.held_back)
    for name, (before, after) in seen.drives.items():
        times, had = after.throttled_times, before.throttled_times
        if times is not None and had is not None and times > had:
            why.append(f"drive {name} slowed itself down {times - had} times")
    if why:
        yield Raised(Flag.THROTTLED, f"expected full speed; {'; '.join(why)}")
    if seen.cpu.stolen > NOISY_SHARE and seen.cpu.steal_s >= _NOISY_S:
        yield Raised(
            Flag.NOISY_NEIGHBOURS,
            f"expected at most {NOISY_SHARE:.0%} of the CPU time wanted to go to other machines, "
            f"got {seen.cpu.stolen:.0%}",
        )


def _record(seen: MachineSpan) -> dict[str, Any]:
    return {
        "elapsed_s": seen.elapsed_s,
        "cpu": asdict(seen.cpu),
        "joules": seen.joules,
        "power_source": seen.source or None,
        "held_back": seen.held_back,
        "before": asdict(seen.before),
        "after": asdict(seen.after),
        "drives": {
            name: {"before": asdict(before), "after": asdict(after)}
            for name, (before, after) in seen.drives.items()
        },
    }
