"""The life of a truck, day by day: departures, arrivals and faults by a seeded random walk.

    PYTHONPATH=tests python -m support.life.walk --seed 7 --days 200

The agent is the real one: recorder, journal, journey and offload. Time, presence, sensors and the
sites' side are this module's. A seed always makes the same life.
"""

import argparse
import logging
import random
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Final

import device.agent
import device.recorder
import device.station
from contracts.errors import UnavailableError, WaysealError
from device.agent import Agent
from device.journey.file import JourneyFile
from device.journey.watch import JourneyWatch
from device.offload.offloading import offload
from device.offload.sites import Sites
from device.settings import GatewaySettings, Settings
from device.settings_file import load
from device.station import JOURNAL_NAME, load_signer
from device.stop import Stop
from device.tripsource import TripSource, measured_trip
from support.life import drivers, site
from support.life.card import Card, MortalDatabase, PowerCutError
from support.life.checks import Checks
from support.life.drivers import VirtualSource, connections, sources
from support.life.moments import DAY_S, Moments
from support.life.site import GENESIS, Ledger, Line, Site
from support.trucks.truck import Truck

if TYPE_CHECKING:
    from device.live.remarks import Remarks
    from device.live.source import LiveSource

INTERVAL_S: Final = 60
DEBOUNCE_S: Final = 15
LEGS_MAX: Final = 3
LEG_READINGS: Final = (3, 25)
NAMES: Final = ("site-a", "site-b")
_NOWHERE: Final = "127.0.0.1"
SET_BACK_S: Final = (3_600, DAY_S, 365 * DAY_S)
ROAD_FAULTS: Final = ("", "", "cut", "cut", "full", "clock", "presence", *drivers.FAULTS)
SITE_FAULTS: Final = ("", "", "cut", *site.FAULTS)
FAULT_TICKS: Final = 6
REBOOT_S: Final = 30
SENSOR: Final = '[[sensors]]\nname = "cargo"\ndriver = "1-wire"\n'
"""The settings want one; those of this world take its place."""
MESSAGES_MAX: Final = 5
ALL_MESSAGES: Final = 1 << 30


class SaidLog(logging.Handler):
    """Keeps what the agent logs."""

    def __init__(self) -> None:
        super().__init__()
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append(record.getMessage())


@dataclass
class Here:
    """The presence of a site's network; broken: nobody can tell."""

    present: bool = True
    broken: bool = False

    def look(self) -> bool | None:
        """See `Presence.look`."""
        if self.broken:
            raise UnavailableError("the Wi-Fi driver does not answer")
        return self.present


@dataclass(slots=True)
class OneSite(Sites):
    """The site at which the truck stands: the line to it is not a network's."""

    line: Line | None = None

    def reach(self, stop: Stop) -> tuple[GatewaySettings, Line]:  # type: ignore[override] # stands in for a connection
        """See `Sites.reach`."""
        del stop
        assert self.line is not None
        return self.gateways[0], self.line


@dataclass
class Plan:
    """What goes wrong on one leg, and when.

    Attributes:
        fault: One of ROAD_FAULTS.
        at: Ticks from now until it begins.
        left: Ticks from its begin to its end.
    """

    fault: str = ""
    at: int = 0
    left: int = 0


@dataclass
class Life:
    """One truck, from day to day.

    Attributes:
        folder: For its files.
        seed: Of everything that happens.
    """

    folder: Path
    seed: int
    days: int = field(default=0, init=False)
    serial: int = field(default=0, init=False)
    fresh: set[int] = field(default_factory=set, init=False)
    plan: Plan = field(default_factory=Plan, init=False)
    ticks_left: int = field(default=0, init=False)

    def __post_init__(self) -> None:
        self.chance = random.Random(self.seed)
        self.nonces = random.Random(-self.seed - 1)  # ids of trips say where an index puts them
        self.said = SaidLog()
        self.ledger = Ledger()
        self.sites = [Site(name, self.ledger, self.chance) for name in NAMES]
        self.settings = self._settings()
        self.signer = load_signer(self.settings)
        self.moments = Moments(self.chance, self.folder / "boot_id")
        self.card = Card(self.chance, self.settings.data / JOURNAL_NAME)
        self.drivers = sources(self._next)
        self.here = Here()
        self.stop = Stop()
        self.checks = Checks(self.settings, self.signer, self.ledger)

    @contextmanager
    def lived(self) -> Iterator[None]:
        """Let the agent's modules use this world, and start the agent."""
        log = logging.getLogger("device")
        with ExitStack() as stack:
            stack.callback(log.setLevel, log.level)
            stack.callback(setattr, log, "propagate", log.propagate)
            stack.enter_context(self.moments.kept())
            for module, name, value in (
                (device.station, "Database", MortalDatabase),
                (device.recorder, "os", SimpleNamespace(urandom=self.nonces.randbytes)),
                (device.agent, "configured_source", lambda _, remarks: self._source(remarks)),
            ):
                stack.callback(setattr, module, name, getattr(module, name))
                setattr(module, name, value)
            MortalDatabase.card = self.card
            log.addHandler(self.said)
            stack.callback(log.removeHandler, self.said)
            log.setLevel(logging.INFO)
            log.propagate = False
            self._start()
            yield

    def day(self) -> None:
        """Live one day, and check everything at its end."""
        for _ in range(self.chance.randint(1, LEGS_MAX)):
            self._leg()
            self._visit(self.chance.choice(self.sites))
        self.days += 1
        self.moments.true_s = max(self.moments.true_s, float(self.days * DAY_S))
        self.checks.all_is_well()

    def _leg(self) -> None:
        """Leave, drive and arrive, whatever happens; check that its fault was found once."""
        readings = self.chance.randint(*LEG_READINGS)
        plan = Plan(
            self.chance.choice(ROAD_FAULTS),
            self.chance.randint(0, readings),
            self.chance.randint(3, FAULT_TICKS),
        )
        if plan.fault == "cut":
            self.card.cut_in = self.chance.randint(0, 2 * readings)
        self.checks.leaves(plan.fault)
        self.drive(readings, plan)
        self.card.cut_in = None
        self.checks.arrived(plan, self.said.lines)

    def drive(self, ticks: int, plan: Plan | None = None) -> None:
        """Leave, drive for so many intervals, arrive, and seal the trip."""
        self.plan, self.ticks_left = plan or Plan(), ticks
        self.said.lines.clear()
        self.here.present = False
        while not self.here.present or self.journey.records:
            self._alive(self._drive)
        self._alive(self.agent._seal_open)  # noqa: SLF001 - as its thread does before it waits

    def _drive(self) -> None:
        if self.journey.records:
            self.agent._record_next(self.journey)  # noqa: SLF001 - its thread's work, in this one
        else:
            self._tick()

    def _alive(self, work: Callable[[], None]) -> None:
        """Do some of the agent's work as its threads do: what fails is told, and tried again."""
        while True:
            try:
                return work()
            except UnavailableError as error:
                self.said.lines.append(f"recording is paused: {error}")
                self._tick()
            except PowerCutError:
                self._reboot()

    def _visit(self, at: Site) -> None:
        """Stand at a site: offload, perhaps at one that fails, and perhaps leave before the end."""
        at.fault = self.chance.choice(SITE_FAULTS)
        if at.fault == "cut":
            at.fault, self.card.cut_in = "", self.chance.randint(0, FAULT_TICKS)
        before = self.checks.waiting()
        cut_off = at.fault == "cut-off"
        self.meet(at, self.chance.randint(0, MESSAGES_MAX) if cut_off else ALL_MESSAGES)
        self.checks.visited(at.fault, before, self.said.lines)
        at.fault, self.card.cut_in = "", None
        at.settle()
        if self.chance.random() < 2 / 3:  # else it leaves with the rest
            self.meet(at)
            self.checks.nothing_waits()

    def meet(self, at: Site, messages: int = ALL_MESSAGES) -> None:
        """Offload at a site over a connection that is lost after so many messages."""
        self.said.lines.clear()
        gateway = self.settings.need_sites(at.name)
        line = Line(at, self.settings.device_id, self._pass, messages)
        sites = OneSite(gateway, self.settings.device_id, line=line)
        try:
            offload(self.settings, self.signer, sites, patience_s=0, stop=self.stop)
        except WaysealError as error:
            self.said.lines.append(f"offload: {error}")
        except PowerCutError:
            self._reboot()
        self.agent._tell(self.journey)  # noqa: SLF001 - as after each offload
        self._tick()

    def _tick(self) -> None:
        """Let an interval pass: what is planned begins or ends, and the agent looks around."""
        self._pass(INTERVAL_S)
        if not self.here.present:
            self._follow_plan()
            self.ticks_left -= 1
            self.here.present = self.ticks_left <= 0
        self.journey.look()

    def _follow_plan(self) -> None:
        plan, cargo = self.plan, self.drivers[-1]
        plan.at -= 1
        begins, ends = plan.at == -1, plan.at < -plan.left or self.ticks_left <= 1
        match plan.fault:
            case "clock" if begins:
                self.moments.error_s = -self.chance.choice(SET_BACK_S)
            case "clock" if ends:
                self.moments.error_s = 0
            case "full" if begins or ends:
                self.card.is_full = begins and not ends
            case "presence" if begins or ends:
                self.here.broken = begins and not ends
            case fault if fault in drivers.FAULTS and (begins or ends):
                cargo.fault = fault if begins and not ends else ""

    def _pass(self, seconds: float) -> None:
        self.moments.true_s += seconds

    def _next(self) -> int:
        self.serial += 1
        self.fresh.add(self.serial)
        return self.serial

    def _kept(self) -> None:
        self.checks.durable |= self.fresh
        self.fresh.clear()

    def _source(self, remarks: "Remarks") -> TripSource:
        self.fresh.clear()  # what a full card or a cut took is lost, and known to be
        source: LiveSource = VirtualSource(
            connections(self.drivers, INTERVAL_S),
            INTERVAL_S,
            remarks.hear,
            drivers=self.drivers,
            tick=self._tick,
            kept=self._kept,
        )
        return measured_trip(source)

    def _start(self) -> None:
        """Start the agent as systemd does."""
        self.agent = Agent(self.settings, self.signer, self.stop)
        file = JourneyFile(self.settings.data)
        self.journey = JourneyWatch(self.here, file, DEBOUNCE_S, self.moments.monotonic)
        self.agent._journey = self.journey  # noqa: SLF001 - its clock is the world's

    def _reboot(self) -> None:
        self.card.restore()
        self.moments.boot()
        self._pass(REBOOT_S)
        self.checks.rebooted()
        self._start()

    def _settings(self) -> Settings:
        tables = "".join(
            f'[[gateways]]\nsite_id = "{each.name}"\nmqtt = "{_NOWHERE}:{port}"\n'
            f'rest = "http://{_NOWHERE}:{port}"\npublic_keys = ["{each.signer.public_key}"]\n'
            f'genesis_block_id = "{GENESIS}"\n'
            for port, each in enumerate(self.sites, 9)
        )
        batch = "[batch]\nmax_readings = 6\nmax_seconds = 3600\nreadings_per_transaction = "
        per_transaction = self.chance.choice((1, 3))
        sections = f'[source]\ndriver = "sensors"\n{SENSOR}{tables}{batch}{per_transaction}\n'
        truck = Truck(self.folder / "truck", sections)
        settings = load(truck.config, {})
        device.station.make(settings)
        return settings


@contextmanager
def folder_in_memory() -> Iterator[Path]:
    """Yield a folder for a life: power is cut by this world, so no disk has to be waited for."""
    memory = Path("/dev/shm")  # noqa: S108 - the folder in it has a name of its own
    with tempfile.TemporaryDirectory(dir=memory if memory.is_dir() else None) as folder:
        yield Path(folder)


def main() -> int:
    """Let a truck live; say what is needed to live it again if something is wrong."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--days", type=int, default=200)
    options = parser.parse_args()
    with folder_in_memory() as folder:
        life = Life(folder, options.seed)
        try:
            with life.lived():
                for _ in range(options.days):
                    life.day()
        except BaseException:
            again = f"python -m support.life.walk --seed {options.seed} --days {life.days + 1}"
            sys.stderr.write(f"day {life.days + 1} of seed {options.seed}; again: {again}\n")
            raise
    sys.stdout.write(f"life: {life.checks.summary()}, seed {options.seed}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
