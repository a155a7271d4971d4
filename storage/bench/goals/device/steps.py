"""The steps of `make bench-device` on a truck alone: journal, hour, live, camera."""

import json
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, Final

from contracts.errors import UnavailableError
from contracts.keys import Signer
from contracts.runtime.processes import tied
from storage.bench.commands.measuring import HERE
from storage.bench.disk import timed
from storage.bench.goals.device.figures import observations
from storage.bench.goals.device.receiver import receiver
from storage.bench.goals.device.sizes import PI_SHARE, DeviceSizes
from storage.bench.goals.device.truckfiles import TruckFiles
from storage.bench.run.outcome import Outcome
from storage.bench.run.plan import Place, Step
from storage.bench.servers.processes import SAID_CHARS_MAX, ask, environment

WARM_S: Final = 6.0
DAY_S: Final = 86_400
MB: Final = 1_000_000
_SHORTER: Final = 10
_SIGNATURES: Final = 2_000
_MESSAGE: Final = bytes(300)
"""As long as a transaction's header."""


@contextmanager
def truck_steps(sizes: DeviceSizes, film: Path) -> Iterator[Sequence[Step]]:
    """Yield what is measured on a truck alone."""
    yield [
        Step("journal", HERE, partial(_journal, sizes)),
        Step("hour", HERE, partial(_hour, sizes)),
        Step("live", HERE, partial(_live, sizes)),
        Step("small-computer", HERE, partial(_small_computer, sizes)),
        Step("camera", HERE, partial(_camera, film)),
    ]


def _journal(sizes: DeviceSizes, place: Place) -> Outcome:
    """Journal readings as fast as possible; the start of the process is taken off."""
    few, many = sizes.journal // _SHORTER, sizes.journal
    short_s = _recorded_s(place.scratch / "short", few)
    long_s = _recorded_s(place.scratch / "long", many)
    signer = Signer.generate()
    sign_s = timed(lambda: [signer.sign(_MESSAGE) for _ in range(_SIGNATURES)])
    return _outcome(
        journal_readings_per_s=(many - few) / max(long_s - short_s, 1e-9),
        sign_us=sign_s / _SIGNATURES * 1e6,
    )


def _recorded_s(directory: Path, readings: int) -> float:
    files = TruckFiles(directory, directory / "card")
    files.replaying(readings, "max")
    options: list[str | Path] = ["wayseal-device", "--config", files.settings]
    ask([*options, "init"])
    return timed(lambda: ask([*options, "record", "--readings", files.log, "--speed", "max"]))


def _hour(sizes: DeviceSizes, place: Place) -> Outcome:
    """Replay a log with a reading for each second, so many times faster than real time."""
    files = _made(place.scratch / "hour")
    seconds = sizes.hour_s / sizes.speed
    # Longer than it is watched, also if the machine is slow to start it: the trip must not end.
    files.replaying(round((seconds + 20 * WARM_S) * sizes.speed), str(sizes.speed))
    found = watched(files, seconds)
    hour_s = found["wall_s"] * sizes.speed
    kept_pace = found["readings_per_s"] / sizes.speed
    return _outcome(
        hour_cpu_ms_per_reading=found["cpu_s"] / hour_s * 1e3,
        card_mb_per_day=found["card_bytes"] / hour_s * DAY_S / MB,
        hour_kept_pace=kept_pace,
        hour_flushes_per_reading=found["flushes"] / hour_s,
        hour_rss_mb=found["peak_bytes"] / MB,
        hour_rss_first_quarter_mb=found["first_bytes"] / MB,
        hour_rss_last_quarter_mb=found["last_bytes"] / MB,
    )


def _live(sizes: DeviceSizes, place: Place) -> Outcome:
    """Measure at 1 Hz in real time, once for CPU and memory, and once to count calls of fsync."""
    with receiver() as gpsd:
        files = _made(place.scratch / "live")
        files.measuring(gpsd)
        found = watched(files, sizes.live_s)
    with receiver() as gpsd:
        files = _made(place.scratch / "traced")
        files.measuring(gpsd)
        traced = watched(files, sizes.live_s, "--traced")
    return _outcome(
        rss_mb=found["peak_bytes"] / MB,
        cpu_percent_at_1hz=found["cpu_s"] / found["wall_s"] * 100,
        fsyncs_per_s=traced["fsyncs"] / traced["wall_s"],
        live_card_mb_per_day=found["card_bytes"] / found["wall_s"] * DAY_S / MB,
        live_readings_per_s=found["readings_per_s"],
    )


def _small_computer(sizes: DeviceSizes, place: Place) -> Outcome:
    """Do the same with little CPU: all readings are there, and how much of it was used."""
    with receiver() as gpsd:
        files = _made(place.scratch / "small")
        files.measuring(gpsd)
        found = watched(files, sizes.live_s, "--share", str(PI_SHARE))
    return _outcome(
        small_cpu_percent_of_its_own=found["cpu_s"] / found["wall_s"] / PI_SHARE * 100,
        small_readings_per_s=found["readings_per_s"],
        small_rss_mb=found["peak_bytes"] / MB,
    )


def _camera(film: Path, place: Place) -> Outcome:
    """Look for motion on a film in which people walk, and on the same scene without them."""
    place.says(f"motion on {film}")
    said = _carried_out(["-m", "device.camera.wayseal_scene", str(film)])
    return _outcome(**json.loads(said.splitlines()[-1]))


def _made(directory: Path) -> TruckFiles:
    directory.mkdir(parents=True)
    return TruckFiles(directory, directory / "card")


def watched(files: TruckFiles, seconds: float, *more: str) -> Mapping[str, Any]:
    """Run the agent of a truck and return what it used; see `storage.bench.goals.device.watching`.

    Raises:
        UnavailableError: Something failed, or this user may not mount.
    """
    module = ["-m", "storage.bench.goals.device.watching", str(files.directory)]
    times = ["--warm-s", str(WARM_S), "--for-s", str(seconds)]
    found: Mapping[str, Any] = json.loads(
        _carried_out([*module, *times, *more], before=["unshare", "--mount"])
    )
    return found


def _carried_out(arguments: Sequence[str], before: Sequence[str] = ()) -> str:
    done = subprocess.run(  # noqa: S603 - our own module
        tied([*before, sys.executable, *arguments]),
        capture_output=True,
        check=False,
        env=environment(),
        text=True,
    )
    if done.returncode:
        raise UnavailableError(f"{arguments[1]}: {done.stderr.strip()[-SAID_CHARS_MAX:]}")
    return done.stdout


def _outcome(**figures: float) -> Outcome:
    return Outcome(observations(figures))
