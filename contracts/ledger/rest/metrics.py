"""`/metrics`: how the node stands, for a Prometheus server; needs no token, like all of REST.

The only importer of Prometheus' client on the node.

Source: Prometheus text exposition format 0.0.4.
"""

import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final

from prometheus_client import CollectorRegistry, ProcessCollector
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4, generate_latest
from prometheus_client.registry import Collector
from starlette.requests import Request
from starlette.responses import Response

from contracts.errors import WaysealError
from contracts.ledger.engine.ports import BlockReader
from contracts.ledger.rest.health import Ready
from contracts.sawtooth.block_info import latest_block_info

OUT: Final = ("blocks", "queue")
"""What `Ready.out` may name."""


class Metrics(Collector):
    """`GET /metrics`.

    Args:
        blocks: The chain.
        ready: Names the parts that do not work.
        data: The directory of the chain, whose disk is looked at; None: no disk is.
    """

    def __init__(self, blocks: BlockReader, ready: Ready, data: Path | None) -> None:
        self._blocks = blocks
        self._ready = ready
        self._data = data
        self._registry = CollectorRegistry()
        ProcessCollector(registry=self._registry)
        self._registry.register(self)

    async def get(self, _: Request) -> Response:
        """All metrics, as Prometheus reads them."""
        return Response(generate_latest(self._registry), media_type=CONTENT_TYPE_PLAIN_0_0_4)

    def describe(self) -> Iterator[Metric]:
        """Name no metric before the first scrape: the chain may not be open yet."""
        yield from ()

    def collect(self) -> Iterator[Metric]:
        """Yield the metrics; values that cannot be read are left out."""
        out = self._ready.out()
        yield _gauge("ready", "1 if the node would take a batch now, else 0.", not out)
        works = GaugeMetricFamily(
            "wayseal_node_out",
            "1 for each reason why the node takes no batch now, else 0.",
            labels=["what"],
        )
        for what in OUT:
            works.add_metric([what], what == out)
        yield works
        head = self._blocks.head
        made_s = None
        if head is not None:
            yield _gauge("block_num", "Number of the newest block.", head.num)
            with suppress(WaysealError):  # the state was replaced by a newer one, or is damaged
                entry = latest_block_info(self._blocks.state_after(head.num).get)
                made_s = None if entry is None else entry.timestamp
        yield _gauge("block_timestamp_seconds", "When the newest block was made.", made_s)
        if self._data is not None:
            with suppress(OSError):
                state = os.statvfs(self._data)
                size, free = state.f_blocks * state.f_frsize, state.f_bavail * state.f_frsize
                yield _gauge("disk_size_bytes", "Size of the file system of the chain.", size)
                yield _gauge("disk_free_bytes", "Free bytes of it.", free)


def _gauge(name: str, words: str, value: float | None) -> Metric:
    return GaugeMetricFamily(f"wayseal_node_{name}", words, value=value)
