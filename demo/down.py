"""`make down`: stops what `make up` started; the data stays."""

import json
import sys

from contracts.errors import UnavailableError
from contracts.runtime.files import locked
from demo import pids
from demo.ending import failing_in_one_line
from demo.up import BUSY, DIRECTORY, STATE, directory_of


def main() -> None:
    """Stop gateway and node, in that order, and wait until they are gone."""
    directory = DIRECTORY.absolute()
    with failing_in_one_line("down"):
        if not directory.is_dir():
            raise UnavailableError("nothing is up")
        with locked(directory / "lock", BUSY):
            was_up = STATE.exists()
            if was_up:
                directory = directory_of(json.loads(STATE.read_text("utf-8")))
            stopped = pids.stop(directory)
            STATE.unlink(missing_ok=True)
            if not stopped and not was_up:
                raise UnavailableError("nothing is up")
    for name in pids.SERVICES:
        if name not in stopped:
            print(f"down: the {name} was dead already", file=sys.stderr)
    print("down: stopped")


if __name__ == "__main__":
    main()
