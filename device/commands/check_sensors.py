"""What `wayseal-device check-config` says of live sensors, cameras, GPS time, and presence."""

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing
from functools import partial
from typing import Final

from contracts.errors import UnavailableError, WaysealError
from contracts.keys import Signer
from contracts.records.clock import now_ms, rfc3339
from contracts.runtime.checks import Finding, error, ok, warning
from contracts.runtime.files import holder_of
from device.journey.configured import presence_of
from device.live.drivers.cameras import live_camera
from device.live.drivers.table import connection
from device.live.gnss import time_of
from device.live.gpsd import Gpsd
from device.live.health import Health
from device.live.healthfile import known
from device.live.port import Measured
from device.live.source import Connection, LiveCamera, missing
from device.live.watch import plausible
from device.settings import Settings
from device.station import RECORDING_LOCK, recording_lock
from device.stop import Stop

ANSWER_S: Final = 10.0
FIX_S: Final = 3.0
_UNITS: Final = {"temperature_mcel": (1_000, "Cel"), "humidity_mpct": (1_000, "%")}
_HECTOPASCAL: Final = 100
_ON_I2C: Final = (
    "check the four wires, and the dtoverlay in /boot/firmware/config.txt; `i2cdetect -y 1` shows "
    "which addresses answer"
)
_PLUG: Final = "docs/hardware.md says how to check a camera"
_SOON: Final = "look again in a minute; journalctl -u wayseal-device says what keeps it"
_NEAR: Final = "mend that, or have [presence] find out in another way: docs/device.md"
_REMEDIES: Final = {
    "iio": _ON_I2C,
    "hwmon": _ON_I2C,
    "1-wire": "check the wires and the pull-up of 4.7 kOhm; `ls /sys/bus/w1/devices` shows it",
    "gpsd": "systemctl status gpsd; `cgps` shows what the receiver gives, under open sky",
    "gpio": "check the BCM number of the pin, that this user is in the group gpio, and that the "
    "working directory can be written: what drives the pins makes a pipe there",
    "lsm9ds1": "check that it sits on its pins, that `i2cdetect -y 1` shows 6a or 6b, and that "
    "this user is in the group i2c",
    "sense-hat": "check that it sits on its pins, that `i2cdetect -y 1` shows 5c and 5f, and that "
    "this user is in the group i2c",
}


def sensors(settings: Settings) -> Iterator[Finding]:
    """Yield what each live sensor and camera gives now, or what the agent that records knows."""
    if not settings.sensors:
        return
    lock = settings.data / RECORDING_LOCK
    with ExitStack() as stack:
        try:
            if lock.exists():  # else nobody has ever recorded here, and to look makes no file
                stack.enter_context(recording_lock(settings))
        except UnavailableError:
            if holder_of(lock) is not None:  # two at one pin would disturb each other
                yield from _told(settings)
                return
        measured: list[Measured] = []
        for each in settings.sensors:
            quiet = f"no {each.sign} now" if each.sign else ""
            ask = partial(_measure, connection(each), measured, quiet)
            yield _tried(f"sensor {each.name}", _REMEDIES[each.driver], ask)
        for camera in settings.cameras:
            yield _tried(f"camera {camera.name}", _PLUG, partial(_look, live_camera(camera)))
        yield from _missing(settings, measured)


def _told(settings: Settings) -> Iterator[Finding]:
    found = known(settings.data)
    asked = [
        (f"sensor {each.name}", each.name, _REMEDIES[each.driver]) for each in settings.sensors
    ]
    asked += [(f"camera {each.name}", each.name, _PLUG) for each in settings.cameras]
    for subject, name, remedy in asked:
        told = found.get(name)
        if told is None:
            yield warning(subject, "the agent runs, and has not reported it yet", _SOON)
        elif told["health"] == Health.WORKS:
            yield ok(subject, f"works since {told['since']}, says the running agent")
        else:
            why = f"{told['health']} since {told['since']}, says the running agent"
            why += f": {told['detail']}" if told["detail"] else ""
            yield error(subject, why, remedy)


def time_of_gpsd(settings: Settings) -> Iterator[Finding]:
    """Yield what time a receiver gives, if readings are to have it."""
    address = settings.clock.gpsd
    if address is not None:
        yield _tried("clock by gpsd", _REMEDIES["gpsd"], partial(_time, address))


def presence(settings: Settings, signer: Signer | None) -> Iterator[Finding]:
    """Yield whether a site is near, if the settings say how to find out."""
    if settings.presence is None:
        return
    subject = f"presence by {settings.presence.by}"
    if signer is None:
        yield warning(subject, "not checked: the device has no key yet", "wayseal-device init")
        return
    stop = Stop()
    try:
        near = presence_of(settings.presence, settings, signer, stop).look()
        yield ok(subject, "a site is near" if near else "no site is near")
    except WaysealError as problem:
        yield error(subject, problem, _NEAR)
    finally:
        stop.close()


def _missing(settings: Settings, measured: Sequence[Measured]) -> Iterator[Finding]:
    if settings.trip is None or not settings.sensors:
        return
    for name in missing(settings.trip.must_measure, measured):
        words = f"no sensor gives {name}, which the deliveries of [trip] limit"
        yield warning("sensors", words, f"add a sensor of {name} as [[sensors]]")


def _tried(subject: str, remedy: str, ask: Callable[[], str]) -> Finding:
    """Ask something once, in a thread that is left behind if its driver hangs.

    Args:
        subject: Names it.
        remedy: What to look at if it gives nothing.
        ask: Returns what it gives, in words; nothing if it answers without a value.
    """
    answers: list[Finding] = []

    def run() -> None:
        try:
            words = ask()
            nothing = warning(subject, "answers, without a value now", remedy)
            answers.append(ok(subject, words) if words else nothing)
        except WaysealError as problem:
            answers.append(error(subject, problem, remedy))
        except Exception as problem:  # noqa: BLE001 - a driver's defect is a finding
            answers.append(error(subject, f"its driver failed: {problem!r:.200}", remedy))

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    thread.join(ANSWER_S)
    if answers:
        return answers[0]
    return error(subject, f"no answer within {ANSWER_S:.0f} s: it hangs", remedy)


def _measure(sensor: Connection, into: list[Measured], quiet: str) -> str:
    """Measure once; what was measured is added to `into`. `quiet` are the words for no sign."""
    opened = sensor.connect()
    with closing(opened):
        measured = plausible(opened.measure(), sensor.plan.offsets)
    into.append(measured)
    return _words(measured) or quiet


def _time(address: str) -> str:
    """Wait for the time of a fix, for less long than a driver that hangs is waited for."""
    until_s = time.monotonic() + FIX_S
    with closing(Gpsd(address)) as gpsd:
        while (left_s := until_s - time.monotonic()) > 0:
            found = time_of(gpsd.next(left_s))
            if found is not None:
                ahead_s = (now_ms() - found[0]) / 1000
                side = "ahead" if ahead_s >= 0 else "behind"
                words = f"the machine's clock is {abs(ahead_s):.1f} s {side}"
                return f"{rfc3339(found[0])}; {words}"
    return ""


def _look(camera: LiveCamera) -> str:
    """Take one picture."""
    with closing(camera.connect(threading.Event())) as feed:
        kept = "its H.264 is kept as it is" if feed.copied is not None else "it will be encoded"
        for piece in feed.pieces():
            for picture in piece.pictures:
                return f"a picture of {picture.width} x {picture.height}, {kept}"
    raise UnavailableError("it gives no picture")


def _words(measured: Measured) -> str:
    """Return what was measured, for people; nothing if there is neither value nor sign."""
    parts = []
    for quantity, value in measured.quantities.items():
        factor, unit = _UNITS.get(quantity, (_HECTOPASCAL, "hPa"))
        parts.append(f"{quantity.partition('_')[0]} {value / factor:g} {unit}")
    if measured.position:
        north, east = measured.position.latitude_e7, measured.position.longitude_e7
        parts.append(f"position {north / 1e7:.5f} {east / 1e7:.5f}")
    if measured.tamper:
        parts.append(f"{measured.tamper.name} now".lower().replace("_", "-"))
    if measured.note:
        parts.append(measured.note)
    return ", ".join(parts)
