"""Adapter: what the gateway counts, in Prometheus' words; the only importer of its client.

Source: Prometheus text exposition format 0.0.4, OpenMetrics names and units.
"""

from typing import Final

from prometheus_client import CollectorRegistry, Counter, Histogram, ProcessCollector
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4, generate_latest

from storage.stages import Stage

MEDIA_TYPE: Final = CONTENT_TYPE_PLAIN_0_0_4
BUCKETS_S: Final = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0)
"""From a hash of one blob to a disk that stalls."""


class Metrics:
    """Stages, see `Stages`, and this process as the kernel sees it; one for each gateway."""

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
        self._seconds = {stage: seconds.labels(stage) for stage in Stage}
        self._bytes = {stage: size.labels(stage) for stage in Stage}

    def took(self, stage: Stage, seconds: float, size: int) -> None:
        """See `Stages.took`."""
        self._seconds[stage].observe(seconds)
        if size:
            self._bytes[stage].inc(size)

    def text(self) -> bytes:
        """Return all of it as Prometheus reads it."""
        return generate_latest(self._registry)
