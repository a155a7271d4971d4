"""`make measure`: the figures of docs/performance.md, each beside the limit it is held against.

Prints one JSON object as its last line and writes it to build/measure.json.
"""

import argparse
import json
import shutil
from pathlib import Path
from typing import Any, Final

from contracts.files import locked, make_directory, write_file
from demo import pids
from demo.appliance import Appliance
from demo.ending import failing_in_one_line
from demo.measure_readings import measure_readings

DIRECTORY: Final = Path("build/measure")
RESULT: Final = Path("build/measure.json")
EVERYONE_READS: Final = 0o644


def main() -> None:
    """Measure readings."""
    directory = DIRECTORY.absolute()
    with failing_in_one_line("measure"):
        options = _parse()
        make_directory(directory.parent)
        lock = directory.with_name(f"{directory.name}.lock")
        with locked(lock, f"another measurement is at work in {directory}"):
            text = json.dumps(_measured(directory, options), indent=2) + "\n"
            temporary = RESULT.with_suffix(".json.new")
            write_file(RESULT, text.encode(), temporary=temporary, mode=EVERYONE_READS)
    print(json.dumps(json.loads(text)))


def _measured(directory: Path, options: argparse.Namespace) -> dict[str, Any]:
    appliance = Appliance(directory / "site-b")
    pids.stop(appliance.directory)  # what an earlier run left when it was killed
    shutil.rmtree(directory, ignore_errors=True)
    make_directory(directory)
    try:
        appliance.start()
        appliance.register_network()
        return {
            "readings": measure_readings(
                appliance,
                directory,
                options.readings,
                options.runs,
                per_transaction=options.per_transaction,
            ),
        }
    finally:
        appliance.stop()
        shutil.rmtree(directory, ignore_errors=True)


def _parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="make measure", description=__doc__)
    parser.add_argument("--readings", type=int, default=20_000)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--per-transaction", type=int, default=1)
    return parser.parse_args()


if __name__ == "__main__":
    main()
