"""`make bench-audit`: how fast a gateway answers auditors, and how that grows with the ledger.

The index is filled without a ledger, in three sizes; the questions are asked of the gateway's REST
application in this process, so the figures have no network in them. Beside each time stands the
CPU time of this process: on a machine that does other work too, that alone says something. Prints
one JSON object as its last line and writes it to build/bench/audit.json. What needs a browser or a
whole appliance is null there, and `missing` names it.
"""

import argparse
import asyncio
import gc
import json
import resource
import statistics
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

import httpx

from contracts.runtime.files import make_directory, write_file
from demo.audit_rows import GTIN, LONG_TRIP, AuditWorld, fill
from demo.ending import failing_in_one_line
from gateway.access import Role
from gateway.api.app import build_app
from gateway.services import Services
from gateway.settings import Settings

RESULT: Final = Path("build/bench/audit.json")
EVERYONE_READS: Final = 0o644
SIZES: Final = {
    10_000: AuditWorld(10, 1000, 20),
    100_000: AuditWorld(100, 1000, 100),
    1_000_000: AuditWorld(1000, 1000, 200),
}
LIMITS_MS: Final = {"provenance_p95_ms": 50, "trip_p95_ms": 100, "downsample_p95_ms": 50}
MISSING: Final = {
    "verify_s": "needs a trip of 10,800 readings on a ledger",
    "export_s": "the same",
    "offline_verify_s": "the same, and wayseal-verify",
    "browser_verify_s": "the verifier in a browser",
    "auditors_p95_ratio": "50 auditors beside an offload",
    "scripts_kb_gz": "the pages",
    "first_page_s": "the pages in a throttled browser",
}
_TRIP_PAGE: Final = (
    "",
    "/readings/buckets?buckets=600",
    "/breaches",
    "/tampers",
    "/findings",
    "/holds",
    "/recordings",
)
"""What a trip's page asks for."""


def main() -> None:
    """Measure, print and write the figures; exit with 1 if a limit is missed."""
    options = _parse()
    with failing_in_one_line("bench-audit"):
        grown = {}
        for readings, world in SIZES.items():
            if readings <= options.readings:
                grown[readings] = _measured(world, options.repeat)
                print(f"{readings:>9} readings: {_words(grown[readings])}", flush=True)
        largest = grown[max(grown)]
        missed = [name for name, limit in LIMITS_MS.items() if largest[name] >= limit]
        figures: dict[str, Any] = {
            **largest,
            **dict.fromkeys(MISSING),
            "readings": max(grown),
            "missed": missed,
            "missing": MISSING,
            "growth": {str(readings): found for readings, found in grown.items()},
        }
        make_directory(RESULT.parent)
        text = json.dumps(figures, indent=2) + "\n"
        temporary = RESULT.with_suffix(".json.new")
        write_file(RESULT, text.encode(), temporary=temporary, mode=EVERYONE_READS)
    print(json.dumps(figures))
    sys.exit(1 if missed and max(grown) == max(SIZES) else 0)


def _measured(world: AuditWorld, repeat: int) -> dict[str, float]:
    with TemporaryDirectory(prefix="wayseal-bench-audit-") as directory:
        settings = Settings(data=Path(directory) / "gateway", site_id="site-b")
        with closing(Services(settings)) as services:
            began_s = time.perf_counter()
            fill(services.index, world)
            filled_s = time.perf_counter() - began_s
            found = asyncio.run(_asked(services, world, repeat))
    peak_mb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return {**found, "filled_s": round(filled_s, 1), "rss_mb": round(peak_mb)}


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
            return {f"{name}_p95_ms": _p95(took), f"{name}_cpu_p95_ms": _p95(worked)}

        def trip(number: int) -> str:
            return f"/v1/trips/{world.trip_id(number * 7919 % world.trips)}"

        def lot(number: int) -> str:
            return f"/v1/lots/{GTIN}/{world.lot(number * 7919 % world.lots)}/trace"

        long = f"/v1/trips/{LONG_TRIP}/readings/buckets?buckets=600"
        return {
            **await asked("provenance", lambda number: [lot(number)]),
            **await asked("trip", lambda number: [trip(number) + each for each in _TRIP_PAGE]),
            **await asked("downsample", lambda _: [long]),
            **await asked("search", lambda number: [f"/v1/search?q=L-000{number % 10}"]),
        }


def _p95(values: Sequence[float]) -> float:
    return round(statistics.quantiles(values, n=20)[-1], 1)


def _words(found: dict[str, float]) -> str:
    return ", ".join(f"{name} {value}" for name, value in found.items())


def _parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="make bench-audit", description=__doc__)
    parser.add_argument("--readings", type=int, default=max(SIZES), help="the largest size")
    parser.add_argument("--repeat", type=int, default=100, help="of each question")
    return parser.parse_args()


if __name__ == "__main__":
    main()
