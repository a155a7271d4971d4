"""Runs a command of Wayseal under cProfile, all threads, and reports their CPU time.

Usage: python -m storage.bench.servers.profiled FILE COMMAND [ARGUMENT]...

The clock is each thread's own CPU time, so waiting does not count, for the
interpreter's lock either. Profiling makes function calls slower: compare shares,
not seconds.
"""

import cProfile
import pstats
import sys
import threading
import time
from contextlib import suppress
from importlib.metadata import entry_points
from pathlib import Path
from types import FrameType
from typing import Final, TextIO

SHOWN_MAX: Final = 40


def main() -> None:
    """Run the command under the profiler."""
    out, name, *arguments = sys.argv[1:]
    (command,) = entry_points(group="console_scripts", name=name)
    sys.argv = [name, *arguments]
    profiles: list[cProfile.Profile] = []

    def begin(*_: FrameType | str | object) -> None:
        """Give the calling thread its own profiler; it takes the place of this function."""
        profile = cProfile.Profile(time.thread_time)
        with suppress(ValueError):  # from Python 3.12 on the first one sees all threads
            profile.enable()
            profiles.append(profile)

    threading.setprofile(begin)
    run = command.load()
    begin()
    try:
        run()
    finally:
        with Path(out).open("w", encoding="utf-8") as file:
            _report(profiles, file)


def _report(profiles: list[cProfile.Profile], file: TextIO) -> None:
    stats = pstats.Stats(profiles[0], stream=file)
    for profile in profiles[1:]:
        if profile.getstats():
            stats.add(profile)
    stats.sort_stats("tottime").print_stats(SHOWN_MAX)


if __name__ == "__main__":
    main()
