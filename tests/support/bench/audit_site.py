"""A whole appliance whose ledger grows, and what auditors wait for on it."""

import base64
import json
import os
import random
import statistics
import subprocess
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Final

import httpx

from contracts.ledger.client import LedgerClient
from contracts.proto.payload_pb2 import OpenDelivery, RegisterDevice, RegisterSite
from demo.audit_index import TRIP_PAGE, p95
from demo.truck import Truck, simulate
from storage.bench.ledger.committing import commit_flat_out
from storage.bench.servers.processes import executable
from storage.bench.servers.usage import peak_mb
from support.gateways.appliance import QuickAppliance
from support.machine.browser import browser
from support.machine.first_page import TIMES, board_s
from support.machine.pages import chromium
from support.network.world import GTIN, TERMS, Trip, key, one, reading
from support.trucks.rogue import Site, nonce, running_site, until
from support.verifier.page import shown

TRIP_READINGS: Final = 1_000
RUN: Final = 100
PER_BATCH: Final = 100
AUDITORS: Final = 50
TURNS: Final = 3
"""Of auditors alone and then beside an offload: in one, twenty seconds of questions say little."""
PAUSE_S: Final = 10.0
"""Between two questions of one auditor, on average: people read what they asked for."""
PER_MINUTE: Final = 12
"""Readings of a simulated trip."""
_DELIVERY: Final = "delivery-2"
"""What the trucks carry that offload while auditors ask."""
_ELSEWHERE: Final = 19
"""Niceness of the truck's agent, which in life has a machine of its own."""
_OF_NODE: Final = 10
"""Niceness of the node: a tenth of the gateway's share of the cores, as the gateway's unit says."""
_INDEXED_S: Final = 900.0
_REPEAT: Final = 3
_BROWSER: Final = """((wire, trust) => {
  const file = new Blob([Uint8Array.from(atob(wire), (c) => c.charCodeAt(0))]);
  const began = performance.now();
  window.seen = undefined;
  waysealVerify({ file, trust: new Blob([trust]) }).then((told) => {
    window.seen = [(performance.now() - began) / 1000, told.verdict];
  });
})"""
_BROWSER_S: Final = 600.0


class WorldAppliance(QuickAppliance):
    """An appliance of the tests' network, whose carrier registers further trucks."""

    def register_device(self, device_id: str, public_key: str) -> None:
        """Register a truck's recorder as the carrier's."""
        action = RegisterDevice(device_id=device_id, party_id="carrier", public_keys=[public_key])
        self.sign("carrier", action)


@dataclass
class AuditSite:
    """The appliance, its ledger's trips, and the operator's and the auditors' clients.

    Attributes:
        site: Gateway and node.
        directory: For trucks and files.
        auditors: A client with a token for each.
        readings: Of the trip whose verdict and evidence are measured.
        offloaded: At least so many the truck offloads while auditors ask.
    """

    site: Site
    directory: Path
    auditors: list[httpx.Client]
    readings: int
    offloaded: int
    _trips: list[Trip] = field(default_factory=list)
    _trucks: int = 0

    def begin(self) -> None:
        """Register what the truck's trip names, and record the two long trips."""
        for number, name in enumerate(("site-a", "site-b")):
            place = RegisterSite(site_id=name, party_id="buyer", name=f"Dock {number}")
            self.site.commit([one(key("buyer"), place)])
        # Evidence of a trip has all other trips of its delivery: that of the trucks is another.
        terms = OpenDelivery()
        terms.CopyFrom(TERMS)
        terms.delivery_id = _DELIVERY
        self.site.commit([one(key(party), terms) for party in ("seller", "buyer")])
        minutes = self.offloaded // PER_MINUTE + 1
        simulate(self.directory / "drive", "--minutes", str(minutes))
        self.alone, self.runs = Trip(nonce=nonce(1)), Trip(nonce=nonce(2), deliveries=[])
        values = [reading(number) for number in range(self.readings)]
        self._commit(self.alone, [self.alone.record(each) for each in values])
        self._commit(self.runs, _in_runs(self.runs, self.readings))

    def grow(self, readings: int) -> None:
        """Put trips on the ledger until it has as many readings besides, and wait for the index."""
        while len(self._trips) * TRIP_READINGS < readings:
            trip = Trip(nonce=nonce(1000 + len(self._trips)), deliveries=[])
            self._commit(trip, _in_runs(trip, TRIP_READINGS))
            trip.records.clear()
            self._trips.append(trip)
        for trip in (self._trips[-1], self.alone):
            until("the index", partial(self._is_sealed, trip), _INDEXED_S)

    def measured(self, seconds: float) -> dict[str, float]:
        """Return the figures at this size of the ledger.

        Args:
            seconds: For which auditors ask without an offload.
        """
        found: dict[str, float] = {}
        for trip, name in ((self.alone, ""), (self.runs, "runs_")):
            found |= self._of_trip(trip, name)
        found |= self._of_auditors(seconds / TURNS)
        found["first_page_s"] = self._first_page_s()
        gateway = self.site.appliance.gateway
        assert gateway is not None
        found["rss_mb"] = peak_mb(gateway.pid)
        return found

    def _commit(self, trip: Trip, signed: Sequence[Any]) -> None:
        transactions = [trip.sign(trip.start), *signed, trip.seal()]
        with closing(LedgerClient(self.site.appliance.ledger)) as ledger:
            commit_flat_out(ledger, trip.batches(transactions, PER_BATCH))

    def _is_sealed(self, trip: Trip) -> bool:
        answer = self.site.operator.get(f"/v1/trips/{trip.trip_id}")
        return answer.is_success and bool(answer.json()["seals"])

    def _of_trip(self, trip: Trip, name: str) -> dict[str, float]:
        """Return what verdict and evidence of a trip cost, and its file in both verifiers."""
        operator = self.site.operator
        file, trust = self.directory / "trip.evidence", self.site.appliance.trust_file()

        def verify() -> None:
            answer = operator.post(f"/v1/trips/{trip.trip_id}/verify", timeout=120)
            assert answer.json()["verdict"] == "holds", answer.text

        def export() -> None:
            answer = operator.get(f"/v1/evidence?trip={trip.trip_id}", timeout=120)
            file.write_bytes(answer.raise_for_status().content)

        def offline() -> None:
            command = [str(executable("wayseal-verify")), str(file), "--trust", str(trust)]
            subprocess.run(command, check=True, capture_output=True)  # noqa: S603 - our own

        return {
            f"{name}verify_s": _median_s(verify),
            f"{name}export_s": _median_s(export),
            f"{name}evidence_mb": round(file.stat().st_size / 1e6, 2),
            f"{name}offline_verify_s": _median_s(offline),
            f"{name}browser_verify_s": self._in_browser(file, trust),
        }

    def _in_browser(self, file: Path, trust: Path) -> float:
        wire = json.dumps(base64.b64encode(file.read_bytes()).decode())
        call = f"{_BROWSER}({wire}, {json.dumps(trust.read_text('utf-8'))})"
        took = []
        with browser(self.directory / f"profile-{time.monotonic_ns()}", _BROWSER_S) as tab:
            page = shown(tab)
            for _ in range(_REPEAT):
                page.value(call)
                until("the verdict", lambda: page.value("window.seen !== undefined"), _BROWSER_S)
                seconds, verdict = page.value("window.seen")
                assert verdict == "holds", verdict
                took.append(seconds)
        return float(round(statistics.median(took), 2))

    def _of_auditors(self, seconds: float) -> dict[str, float]:
        """Let auditors ask, first alone, then while a truck offloads, in turn."""
        one_by_one = [self._asked(self.auditors[each], each) for each in range(AUDITORS)]
        idle: list[float] = []
        beside: list[float] = []
        offloads_s = 0.0
        for _ in range(TURNS):
            truck = self._recorded()
            idle += self._crowd(lambda began_s: time.monotonic() - began_s < seconds)
            began_s = time.monotonic()
            beside += self._beside_offload(truck)
            offloads_s += time.monotonic() - began_s
        return {
            "auditor_alone_p95_ms": p95(one_by_one),
            "auditors_idle_p95_ms": p95(idle),
            "auditors_offload_p95_ms": p95(beside),
            "auditors_p95_ratio": round(p95(beside) / p95(idle), 2),
            "auditors_questions": len(idle) + len(beside),
            "offload_readings_per_s": round(TURNS * self.offloaded / offloads_s),
        }

    def _beside_offload(self, truck: Truck) -> list[float]:
        """Return how long each question took while a truck offloaded, ms."""
        offload = truck.begin("offload", apart=True)
        _give_way(offload.pid, _ELSEWHERE)
        took = self._crowd(lambda _: offload.poll() is None)
        said, _ = offload.communicate()
        assert offload.returncode == 0, said
        return took

    def _crowd(self, goes_on: Callable[[float], bool]) -> list[float]:
        """Return how long each question of all auditors took, ms, until it goes on no longer."""
        took: list[float] = []
        lock, began_s, ended = threading.Lock(), time.monotonic(), threading.Event()

        def audit(number: int) -> None:
            chance = random.Random(number)
            pause_s = chance.uniform(0, PAUSE_S)
            while not ended.wait(pause_s):
                ms = self._asked(self.auditors[number], chance.randrange(1 << 30))
                with lock:
                    took.append(ms)
                pause_s = chance.expovariate(1 / PAUSE_S)

        auditors = [threading.Thread(target=audit, args=(each,)) for each in range(AUDITORS)]
        for each in auditors:
            each.start()
        while goes_on(began_s):
            time.sleep(0.2)
        ended.set()
        for each in auditors:
            each.join()
        return took

    def _asked(self, auditor: httpx.Client, number: int) -> float:
        """Ask one question of several kinds; return how long it took, ms."""
        trip = self._trips[number % len(self._trips)].trip_id
        paths = (
            [f"/v1/lots/{GTIN}/L42/trace"],
            [f"/v1/trips/{self.runs.trip_id}/readings/buckets?buckets=600"],
            [f"/v1/trips/{trip}{each}" for each in TRIP_PAGE],
        )[number % 3]
        began_s = time.perf_counter()
        for path in paths:
            auditor.get(path).raise_for_status()
        return (time.perf_counter() - began_s) * 1000

    def _recorded(self) -> Truck:
        """Return a new truck with a recorded trip."""
        self._trucks += 1
        name = f"truck-{100 + self._trucks}"
        truck = Truck(self.directory / name, name, delivery_id=_DELIVERY)
        truck.join(self.site.appliance)
        readings = self.directory / "drive" / "readings.csv"
        found = truck.ask("record", "--readings", str(readings), "--speed", "max")
        assert found["readings"] >= self.offloaded, found
        return truck

    def _first_page_s(self) -> float:
        token = self.site.appliance.token("board", "operator")
        with chromium() as shell:
            boards = [board_s(shell, self.site.appliance.rest, token) for _ in range(TIMES)]
        return round(statistics.median(boards), 2)


@contextmanager
def site(directory: Path, readings: int, offloaded: int) -> Iterator[AuditSite]:
    """Run the appliance; return with both long trips on its ledger; see `AuditSite`."""
    with running_site(directory, WorldAppliance(directory / "site-b")) as running:
        auditors = [running.client(f"auditor-{each}", "auditor") for each in range(AUDITORS)]
        node = running.appliance.node
        assert node is not None
        _give_way(node.pid, _OF_NODE)
        made = AuditSite(running, directory, auditors, readings, offloaded)
        made.begin()
        yield made


def _give_way(pid: int, niceness: int) -> None:
    """Let a session have less of the cores where others want them too.

    Linux shares the cores among sessions first; niceness counts within a session (sched(7),
    autogroup).
    """
    for thread in Path(f"/proc/{pid}/task").iterdir():
        os.setpriority(os.PRIO_PROCESS, int(thread.name), niceness)
    group = Path(f"/proc/{pid}/autogroup")
    if group.exists():
        group.write_text(str(niceness))


def _in_runs(trip: Trip, count: int) -> list[Any]:
    return [
        trip.run([reading(number) for number in range(first, first + RUN)])
        for first in range(0, count, RUN)
    ]


def _median_s(work: Callable[[], None]) -> float:
    took = []
    for _ in range(_REPEAT):
        began_s = time.perf_counter()
        work()
        took.append(time.perf_counter() - began_s)
    return round(statistics.median(took), 2)
