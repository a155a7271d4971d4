"""Measures what a trip page's verdict costs a gateway: reached at each load, and kept.

`PYTHONPATH=tests .venv/bin/python -m support.gateways.verdict_cost` prints a line for each way;
its last line is JSON. The trip has 10,800 readings in runs of 120.
"""

import json
import statistics
import time
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from storage.bench.servers.usage import cpu_s
from support.network.world import Trip, reading
from support.trucks.rogue import Site, nonce, running_site, until

READINGS: Final = 10_800
RUN: Final = 120
LOADS: Final = 9


def driven(site: Site, trip: Trip, count: int) -> None:
    """Put a trip on the ledger, and return once the index has it."""
    runs = [
        trip.run([reading(at) for at in range(begin, begin + RUN)])
        for begin in range(0, count, RUN)
    ]
    for batch in trip.batches([trip.sign(trip.start), *runs, trip.seal()], 10):
        site.commit([batch])
    path = f"/v1/trips/{trip.trip_id}"
    until(
        "the seal",
        lambda: bool((found := site.operator.get(path)).is_success and found.json()["seals"]),
    )


def main() -> None:
    """Measure and print."""
    with TemporaryDirectory() as directory, running_site(Path(directory)) as site:
        trip = Trip(nonce=nonce(1))
        driven(site, trip, READINGS)
        path, others = f"/v1/trips/{trip.trip_id}/verify", iter(range(2, 100))
        gateway, node = site.appliance.gateway, site.appliance.node
        assert gateway is not None
        assert node is not None

        def load(query: str) -> tuple[float, float, float]:
            before = time.perf_counter(), cpu_s(gateway.pid), cpu_s(node.pid)
            answer = site.operator.post(f"{path}{query}")
            assert answer.json()["verdict"] == "holds", answer.text
            after = time.perf_counter(), cpu_s(gateway.pid), cpu_s(node.pid)
            wall_s, gateway_s, node_s = (b - a for a, b in zip(before, after, strict=True))
            return wall_s, gateway_s, node_s

        def news() -> None:
            driven(site, Trip(nonce=nonce(next(others)), deliveries=[]), RUN)

        def quiet() -> None:
            """Nothing happens between two loads."""

        ways = {
            "reached at each load": ("", quiet),
            "kept": ("?kept=true", quiet),
            "kept, and a block came since": ("?kept=true", news),
        }
        found: dict[str, dict[str, float]] = {}
        for name, (query, before_each) in ways.items():
            loads = []
            for _ in range(LOADS):
                before_each()
                loads.append(load(query))
            medians = [statistics.median(each) for each in zip(*loads, strict=True)]
            keys = ("answer_s", "gateway_cpu_s", "node_cpu_s")
            found[name] = {key: round(value, 3) for key, value in zip(keys, medians, strict=True)}
            print(name, found[name], flush=True)  # noqa: T201 - its output
        print(json.dumps(found))  # noqa: T201 - its output


if __name__ == "__main__":
    main()
