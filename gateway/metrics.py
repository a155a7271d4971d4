"""Adapter: the gateway's metrics for Prometheus; the only importer of its client.

Source: Prometheus text exposition format 0.0.4, OpenMetrics names and units.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import Final, Protocol

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, ProcessCollector
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4, generate_latest
from prometheus_client.registry import Collector

from contracts.runtime.serving.connections import Ending
from gateway.gauges import Family
from gateway.intake.refused import Refused
from gateway.jobs.job import JobState
from storage.drives.devices import Device
from storage.drives.health import ENDURANCE, Condition, Health
from storage.stages import Stage, StageMeter

MEDIA_TYPE: Final = CONTENT_TYPE_PLAIN_0_0_4
BUCKETS_S: Final = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0)
"""From the hash of one blob up to a stalled disk."""


class Watched(Protocol):
    """What is shown of the index."""

    @property
    def rebuild(self) -> object | None:
        """None unless the index is being made again."""
        ...

    @property
    def rebuilds(self) -> int:
        """How often it was dropped."""
        ...


class Metrics:
    """One gateway's metrics: stages (see `Stages`), connections, drives, deletions, process."""

    def __init__(self) -> None:
        self._registry = CollectorRegistry()
        ProcessCollector(registry=self._registry)
        seconds = Histogram(
            "wayseal_stage_seconds",
            "How long each piece of work of an offload took.",
            ["stage"],
            buckets=BUCKETS_S,
            registry=self._registry,
        )
        size = Counter(
            "wayseal_stage_bytes",
            "Bytes that went through a stage of an offload.",
            ["stage"],
            registry=self._registry,
        )
        ended = Counter(
            "wayseal_connections_ended",
            "REST connections that the gateway ended because of their clients.",
            ["why"],
            registry=self._registry,
        )
        refused = Counter(
            "wayseal_refused",
            "Batches, recordings and messages of trucks that were refused, by who refused them.",
            ["by"],
            registry=self._registry,
        )
        jobs = Counter(
            "wayseal_jobs_ended",
            "Jobs of readers that ended since the start of the gateway, by outcome.",
            ["outcome"],
            registry=self._registry,
        )
        self._jobs_ended = {each: jobs.labels(each) for each in JobState if not each.is_under_way}
        self._refused = {by: refused.labels(by) for by in Refused}
        self._open = Gauge("wayseal_connections", "Open REST connections.", registry=self._registry)
        self._ended = {why: ended.labels(why) for why in Ending}
        self._seconds = {stage: seconds.labels(stage) for stage in Stage}
        self._bytes = {stage: size.labels(stage) for stage in Stage}

    def took(self, stage: Stage, seconds: float, size: int) -> None:
        """See `Stages.took`."""
        self._seconds[stage].observe(seconds)
        if size:
            self._bytes[stage].inc(size)

    def meter(self, stage: Stage) -> StageMeter:
        """Return what records the work of one stage; its parts are Prometheus' own."""
        return StageMeter(self._seconds[stage].time, self._bytes[stage].inc)

    def connection_ended(self, why: Ending) -> None:
        """Count a REST connection that was ended."""
        self._ended[why].inc()

    def refused(self, by: Refused) -> None:
        """Count something of a truck's that was refused."""
        self._refused[by].inc()

    def job_ended(self, outcome: JobState) -> None:
        """Count a job of a reader that ended."""
        self._jobs_ended[outcome].inc()

    def watch(self, families: Callable[[], Iterable[Family]]) -> None:
        """Show the metrics that `families` returns each time that metrics are read.

        Args:
            families: Returns at once.
        """
        self._registry.register(_Families(families))

    def watch_connections(self, count: Callable[[], int]) -> None:
        """Show what `count` returns as the number of open REST connections."""
        self._open.set_function(count)

    def watch_drives(self, known: Callable[[], Iterable[tuple[Device, Health]]]) -> None:
        """Show the health of the drives that `known` returns; what a drive leaves out is left out.

        Args:
            known: Returns at once: it is called each time that metrics are read.
        """
        self._registry.register(_Drives(known))

    def watch_index(self, index: Watched) -> None:
        """Show whether the index is being made again, and how often it was dropped."""
        Gauge(
            "wayseal_index_rebuilding",
            "1 while the index is made again from the ledger, else 0.",
            registry=self._registry,
        ).set_function(lambda: index.rebuild is not None)
        Gauge(
            "wayseal_index_rebuilds",
            "How often the index was dropped since the start of the gateway.",
            registry=self._registry,
        ).set_function(lambda: index.rebuilds)

    def watch_deletions(self, count: Callable[[], int | None]) -> None:
        """Show what `count` returns as the number of open deletions; nothing for None."""
        self._registry.register(_Deletions(count))

    def watch_backups(self, made_ms: Callable[[], int | None]) -> None:
        """Show the time that `made_ms` returns as that of the newest backup; nothing for None."""
        self._registry.register(_Backups(made_ms))

    def text(self) -> bytes:
        """Return all metrics as Prometheus reads them."""
        return generate_latest(self._registry)


class _Families(Collector):
    """Turns plain families into metrics."""

    def __init__(self, families: Callable[[], Iterable[Family]]) -> None:
        self._families = families

    def describe(self) -> Iterator[Metric]:
        """Name no metric before the first scrape: parts that are asked may not have started."""
        yield from ()

    def collect(self) -> Iterator[Metric]:
        """Yield the metrics."""
        for each in self._families():
            shown = GaugeMetricFamily(each.name, each.help, labels=each.labels)
            for labels, value in each.samples.items():
                shown.add_metric(labels, value)
            yield shown


class _Deletions(Collector):
    """Shows the number of open deletions once it is known."""

    def __init__(self, count: Callable[[], int | None]) -> None:
        self._count = count

    def collect(self) -> Iterator[Metric]:
        """Yield the metric, without a value while nobody knows it."""
        shown = GaugeMetricFamily(
            "wayseal_open_deletions",
            "Deletions that not every replica of the blob store has confirmed.",
        )
        count = self._count()
        if count is not None:
            shown.add_metric([], count)
        yield shown


class _Backups(Collector):
    """Shows when the newest backup was made once there is one."""

    def __init__(self, made_ms: Callable[[], int | None]) -> None:
        self._made_ms = made_ms

    def collect(self) -> Iterator[Metric]:
        """Yield the metric, without a value while there is no backup."""
        shown = GaugeMetricFamily(
            "wayseal_backup_timestamp_seconds",
            "When the newest backup of this gateway was begun, seconds since 1970, UTC.",
        )
        made_ms = self._made_ms()
        if made_ms is not None:
            shown.add_metric([], made_ms / 1000)
        yield shown


class _Drives(Collector):
    """Turns the health of drives into metrics each time they are read: drives come and go."""

    def __init__(self, known: Callable[[], Iterable[tuple[Device, Health]]]) -> None:
        self._known = known

    def describe(self) -> Iterator[Metric]:
        """Name the metrics without asking what is known, which may not exist yet."""
        yield from self._families([])

    def collect(self) -> Iterator[Metric]:
        """Yield the metrics."""
        yield from self._families(self._known())

    def _families(self, known: Iterable[tuple[Device, Health]]) -> Iterator[Metric]:
        names = ("device", "serial")
        powered = GaugeMetricFamily(
            "wayseal_drive_powered_seconds",
            "For how long the drive was powered, in whole hours.",
            labels=names,
        )
        used = GaugeMetricFamily(
            "wayseal_drive_endurance_used_ratio",
            "Part of the endurance that its maker promises which is used; may be above 1.",
            labels=names,
        )
        warm = GaugeMetricFamily(
            "wayseal_drive_temperature_celsius", "Temperature of the drive.", labels=names
        )
        written = CounterMetricFamily(
            "wayseal_drive_written_bytes", "Written to the drive since its making.", labels=names
        )
        shutdowns = CounterMetricFamily(
            "wayseal_drive_unsafe_shutdowns",
            "How often the drive lost power without being told before.",
            labels=names,
        )
        warnings = GaugeMetricFamily(
            "wayseal_drive_endurance_group_warning",
            "Whether an endurance group of the drive has this critical warning.",
            labels=(*names, "warning"),
        )
        condition = GaugeMetricFamily(
            "wayseal_drive_condition",
            "The drive's condition by its own health report: 1 for the present one.",
            labels=(*names, "condition"),
        )
        for device, told in known:
            own = (device.name, device.serial)
            for shown, value in (
                (powered, _times(told.power_on_hours, 3600)),
                (used, _times(told.used_percent, 0.01)),
                (warm, told.temperature_c),
                (written, told.written_bytes),
                (shutdowns, told.unsafe_shutdowns),
            ):
                if value is not None:
                    shown.add_metric(own, value)
            if told.endurance_warnings is not None:
                for words in ENDURANCE.values():
                    warnings.add_metric((*own, words), words in told.endurance_warnings)
            for each in Condition:
                condition.add_metric((*own, each), told.verdict is each)
        yield from (powered, used, warm, written, shutdowns, warnings, condition)


def _times(value: int | None, factor: float) -> float | None:
    return None if value is None else value * factor
