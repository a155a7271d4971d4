"""How fast a gateway's REST application answers auditors, from an index without a ledger.

The questions are asked in this process, so the figures have no network in them. Beside each time
stands the CPU time of this process: on a machine that does other work too, that alone says
something.
"""

import asyncio
import gc
import statistics
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

import httpx

from demo.audit_rows import GTIN, LONG_TRIP, AuditWorld, fill
from gateway.access import Role
from gateway.api.app import build_app
from gateway.services import Services
from gateway.settings import Settings

SIZES: Final = {
    10_000: AuditWorld(10, 1000, 20),
    100_000: AuditWorld(100, 1000, 100),
    1_000_000: AuditWorld(1000, 1000, 200),
}
TRIP_PAGE: Final = (
    "",
    "/readings/buckets?buckets=600",
    "/breaches",
    "/tampers",
    "/findings",
    "/holds",
    "/recordings",
)
"""What a trip's page asks for."""


def measured(world: AuditWorld, repeat: int) -> dict[str, float]:
    """Fill an index, ask each question `repeat` times, and return the times, ms."""
    with TemporaryDirectory(prefix="wayseal-bench-audit-") as directory:
        settings = Settings(data=Path(directory) / "gateway", site_id="site-b")
        with closing(Services(settings)) as services:
            began_s = time.perf_counter()
            fill(services.index, world)
            filled_s = time.perf_counter() - began_s
            found = asyncio.run(_asked(services, world, repeat))
    return {**found, "index_filled_s": round(filled_s, 1)}


async def _asked(services: Services, world: AuditWorld, repeat: int) -> dict[str, float]:
    token = services.people.tokens.add("auditor", Role.AUDITOR)
    granted = {"Authorization": f"Bearer {token}", "Accept-Encoding": "gzip"}
    through = httpx.ASGITransport(build_app(services))
    gc.freeze()  # as the gateway does
    async with httpx.AsyncClient(
        transport=through, base_url="http://gateway", headers=granted
    ) as client:

        async def asked(name: str, paths: Callable[[int], Iterable[str]]) -> dict[str, float]:
            took, worked = [], []
            for number in range(repeat):
                began_s, cpu_s = time.perf_counter(), time.process_time()
                for path in paths(number):
                    (await client.get(path)).raise_for_status()
                took.append((time.perf_counter() - began_s) * 1000)
                worked.append((time.process_time() - cpu_s) * 1000)
            return {f"{name}_p95_ms": p95(took), f"{name}_cpu_p95_ms": p95(worked)}

        def trip(number: int) -> str:
            return f"/v1/trips/{world.trip_id(number * 7919 % world.trips)}"

        def lot(number: int) -> str:
            return f"/v1/lots/{GTIN}/{world.lot(number * 7919 % world.lots)}/trace"

        long = f"/v1/trips/{LONG_TRIP}/readings/buckets?buckets=600"
        return {
            **await asked("provenance", lambda number: [lot(number)]),
            **await asked("trip", lambda number: [trip(number) + each for each in TRIP_PAGE]),
            **await asked("downsample", lambda _: [long]),
            **await asked("search", lambda number: [f"/v1/search?q=L-000{number % 10}"]),
        }


def p95(values: Sequence[float]) -> float:
    """Return the 95th percentile, to a tenth."""
    return round(statistics.quantiles(values, n=20)[-1], 1)
