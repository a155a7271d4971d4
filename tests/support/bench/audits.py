"""`make bench-audit`: how fast auditors are answered, and how that grows with the ledger.

First an index is filled without a ledger, in three sizes, and asked in this process. Then a whole
appliance (gateway and node as processes) takes as many readings, signed in runs, and at each size
the rest is measured on it: verdict, export, both verifiers on the evidence of a trip of 10,800
readings, 50 auditors with and without a truck's offload beside them, and the board on a throttled
phone. Prints one JSON object as its last line and writes it to build/bench/audit.json.
"""

import argparse
import os
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

from contracts.runtime.files import make_directory
from demo.audit_index import SIZES, measured
from demo.ending import failing_in_one_line
from storage.bench.goals.goals import written
from support.bench.audit_site import site
from support.machine.first_page import scripts_bytes

RESULT: Final = Path("build/bench/audit.json")
LIMITS: Final = {
    "provenance_p95_ms": 50,
    "trip_p95_ms": 100,
    "downsample_p95_ms": 50,
    "verify_s": 3,
    "export_s": 3,
    "offline_verify_s": 5,
    "browser_verify_s": 5,
    "auditors_p95_ratio": 2,
    "rss_mb": 500,
    "scripts_kb_gz": 300,
    "first_page_s": 1,
}


def main() -> None:
    """Measure, print and write the figures; exit with 1 if a limit is missed."""
    options = _parse()
    with failing_in_one_line("bench-audit"):
        sizes = [each for each in SIZES if each <= options.readings]
        grown: dict[int, dict[str, float]] = {}
        for readings in sizes:
            grown[readings] = measured(SIZES[readings], options.repeat)
            _say(readings, grown[readings])
        work = Path("build/bench/audit-work")
        make_directory(work)
        with (
            TemporaryDirectory(dir=work) as directory,
            site(Path(directory), options.trip, options.offload) as audited,
        ):
            for readings in sizes:
                audited.grow(readings)
                found = audited.measured(options.seconds)
                grown[readings] |= {**found, "load": round(os.getloadavg()[0], 1)}
                _say(readings, found)
        largest = {
            **grown[sizes[-1]],
            "scripts_kb_gz": round(scripts_bytes() / 1000, 1),
        }
        missed = [name for name, limit in LIMITS.items() if largest[name] >= limit]
        figures: dict[str, Any] = {
            **largest,
            "readings": sizes[-1],
            "missed": missed,
            "growth": {str(readings): found for readings, found in grown.items()},
        }
        make_directory(RESULT.parent)
        line = written(figures, RESULT)
    print(line)  # noqa: T201 - its output
    sys.exit(1 if missed and sizes[-1] == max(SIZES) else 0)


def _say(readings: int, found: dict[str, float]) -> None:
    words = ", ".join(f"{name} {value}" for name, value in found.items())
    print(f"{readings:>9} readings: {words}", flush=True)  # noqa: T201 - its output


def _parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="make bench-audit", description=__doc__)
    parser.add_argument("--readings", type=int, default=max(SIZES), help="the largest size")
    parser.add_argument("--repeat", type=int, default=100, help="of each question to the index")
    parser.add_argument(
        "--seconds", type=float, default=60, help="for which auditors ask without an offload"
    )
    parser.add_argument(
        "--trip", type=int, default=10_800, help="readings of the trip that is verified"
    )
    parser.add_argument(
        "--offload", type=int, default=45_000, help="readings of a truck beside the auditors"
    )
    options = parser.parse_args()
    if options.readings < min(SIZES):
        parser.error(f"--readings: expected {min(SIZES)} or more, got {options.readings}")
    return options


if __name__ == "__main__":
    main()
