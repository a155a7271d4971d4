"""`make rig`: our code on a real kernel with real drives that fail, inside QEMU.

Ends with 0 if every scenario passed, 1 if one did not, 2 if the machine could not be had.
"""

import argparse
import compileall
import shutil
import signal
import sys
import sysconfig
import time
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Final

from contracts.errors import UnavailableError
from contracts.runtime.files import locked
from rig import image, machine
from rig.events import NAME, Begun, Ended, told
from rig.guest.scenario import Kernel
from rig.guest.scenarios import SCENARIOS
from rig.loaded import load_truck
from rig.machine import CONSOLE
from rig.packages import PackagesError, provide
from rig.report import failed, judged, table, tail

ROOT: Final = Path(__file__).parents[2]
OURS: Final = ("contracts", "device", "gateway", "storage", "tests/rig", "tests/support")
BOOT_LIMIT_S: Final = 150
NO_MACHINE: Final = 2
GRACE_S: Final = 30
"""The machine ends a scenario that takes too long by itself; if it cannot, we do, this later."""


class Watch:
    """Says when the machine takes too long for what it is at."""

    def __init__(self, events: Path) -> None:
        self._events = events
        self._seen = list(told(events))  # of a machine with another kernel, which ran before
        self._since_s = time.monotonic()

    def late(self) -> str:
        """Return what takes too long, or nothing."""
        events, now_s = list(told(self._events)), time.monotonic()
        if len(events) != len(self._seen):
            for event in events[len(self._seen) :]:
                _say(event)
            self._seen, self._since_s = events, now_s
        last = events[-1] if events else None
        name, limit_s = "the machine", float(BOOT_LIMIT_S)
        if isinstance(last, Begun):
            name, limit_s = last.scenario, last.limit_s + GRACE_S
        if now_s - self._since_s > limit_s:
            return f"{name} hangs: nothing was heard for {limit_s:.0f} s"
        return ""


def _say(event: Begun | Ended) -> None:
    if isinstance(event, Ended):
        print(f"rig: {event.scenario} {'passed' if event.passed else 'FAILED'}", flush=True)


def main(words: Sequence[str] | None = None) -> int:
    """Build the machine, run it, say what was seen; one rig at a time in a directory."""
    parser = argparse.ArgumentParser(prog="rig", description=__doc__)
    known = [scenario.name for scenario in SCENARIOS]
    parser.add_argument("scenarios", nargs="*", help=f"of {', '.join(known)}; default all")
    parser.add_argument("--build", type=Path, default=ROOT / "build/rig", help="where to work")
    options = parser.parse_args(words)
    if unknown := set(options.scenarios) - set(known):
        parser.error(
            f"no such scenario: {', '.join(sorted(unknown))}; there are {', '.join(known)}"
        )
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda *_: sys.exit(1))
    build: Path = options.build.resolve()
    try:
        build.mkdir(parents=True, exist_ok=True)
        with locked(build / "lock", "another rig is at work"):
            return _run(build, options.scenarios or known)
    except (PackagesError, UnavailableError, OSError, ValueError) as error:
        print(f"rig: failed: no machine: {error}")
        return NO_MACHINE


def _run(build: Path, names: list[str]) -> int:
    began_s = time.monotonic()
    host = provide(machine.PACKAGES, build / "host")
    guest = provide(image.PACKAGES, build / "guest")
    for name in OURS:
        compileall.compile_dir(ROOT / name, quiet=2)
    results, run = build / "results", build / "run"
    for directory in (results, run):
        shutil.rmtree(directory, ignore_errors=True)
        directory.mkdir(parents=True)
    (results / CONSOLE).touch()
    load_truck(results)
    shares = machine.Shares(ROOT, Path(sysconfig.get_path("purelib")), results)
    wanted = _by_kernel(names)
    images = {kernel: _image(kernel, guest, build) for kernel in wanted}
    print(f"rig: the machine is ready after {time.monotonic() - began_s:.0f} s", flush=True)
    code: int | None = 0
    reason = ""
    for kernel, booted in images.items():
        command = machine.qemu(host) + machine.arguments(booted, shares, run, wanted[kernel])
        with machine.running(command, run) as process:
            ended, reason = machine.wait(process, Watch(results / NAME).late)
        code = code or ended
        if reason:
            break
    return _summary(names, results, code, reason, began_s)


def _image(kernel: Kernel, guest: Path, build: Path) -> image.Image:
    own = provide((image.KERNELS[kernel],), build / f"kernel-{kernel.value}")
    return image.make_image(guest, own, build / f"image-{kernel.value}", kernel)


def _by_kernel(names: Collection[str]) -> dict[Kernel, list[str]]:
    """Return the wanted scenarios in their order, by the kernel that each needs."""
    wanted: dict[Kernel, list[str]] = {}
    for scenario in SCENARIOS:
        if scenario.name in names:
            wanted.setdefault(scenario.kernel, []).append(scenario.name)
    return wanted


def _summary(names: list[str], results: Path, code: int | None, reason: str, began_s: float) -> int:
    events = judged(told(results / NAME), SCENARIOS, results)
    took_s = time.monotonic() - began_s
    missing = failed(names, events)
    console = (results / CONSOLE).read_text("utf-8", "replace")
    if missing or code != 0:
        print(*tail(console), sep="\n")
    print(*table(names, events), sep="\n")
    if reason:
        print(f"rig: failed: {reason}; all of the console is in {results / CONSOLE}")
    elif missing or code != 0:
        print(f"rig: failed: {', '.join(missing) or f'PID 1 ended with {code}'}; {took_s:.0f} s")
    else:
        print(f"rig: ok {len(names)} scenarios; {took_s:.0f} s")
    return 1 if missing or code != 0 else 0


if __name__ == "__main__":
    sys.exit(main())
