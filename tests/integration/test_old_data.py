"""What earlier versions left on disks, today's code opens, migrates and serves.

tests/golden/releases has a data set of each; `support.project.old_data` makes them.
"""

import json
import re
import tarfile
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from demo.auditor import Auditor
from demo.processes import run
from demo.truck import Truck
from release.source import unpack
from support.gateways.appliance import QuickAppliance
from support.machine.private import write_private
from support.machine.waiting import wait_until
from support.project.old_data import SETS, lacking, told

pytestmark = pytest.mark.integration


@dataclass
class Old:
    """A data set, unpacked, with today's node and gateway on it."""

    folder: Path
    appliance: QuickAppliance = field(init=False)
    truck: Truck = field(init=False)

    def __post_init__(self) -> None:
        self.appliance = QuickAppliance(self.folder / "site-b")
        self.truck = Truck(self.folder / "truck", "truck-7")

    def json(self, name: str) -> Any:  # noqa: ANN401  # JSON
        return json.loads((self.folder / name).read_text("utf-8"))

    @property
    def trip_id(self) -> str:
        return str(self.json("told.json")["trip"]["trip_id"])

    def move_truck(self) -> None:
        """Let the truck's settings name today's folder and ports; its token stays.

        Early settings do not say which ledger counts; docs/upgrade.md has the operator add it.
        """
        text = self.truck.settings_file.read_text("utf-8")
        for name, value in {
            "data": self.folder / "truck" / "data",
            "mqtt": self.appliance.mqtt,
            "rest": self.appliance.rest,
        }.items():
            text = re.sub(rf'(?m)^{name} = ".*"$', f'{name} = "{value}"', text)
        if "genesis_block_id" not in text:
            named = f'genesis_block_id = "{self.appliance.genesis_block_id()}"'
            text = re.sub(r'(?m)^rest = ".*"$', rf"\g<0>\n{named}", text)
        write_private(self.truck.settings_file, text)  # as `wayseal-device init` makes it

    def judged(self, evidence: Path, *options: str) -> Any:  # noqa: ANN401  # JSON
        words = [str(evidence), "--trust", str(self.folder / "trust.json"), "--json", *options]
        done = run(["wayseal-verify", *words])
        assert done.returncode == 0, done.stdout + done.stderr
        return json.loads(done.stdout)


def said(verdict: Any) -> Any:  # noqa: ANN401  # JSON
    """Return what a verdict comes to; its words may become better."""
    trips = [
        (trip["trip_id"], trip["readings"], len(trip["breaches"]), trip["delivery_ids"])
        for trip in verdict["trips"]
    ]
    recordings = [(each["sha256"], each["blobs_checked"]) for each in verdict["recordings"]]
    return verdict["verdict"], trips, recordings


def version_of(archive: Path) -> str:
    return archive.name.removesuffix(".tar.xz")


@pytest.fixture(scope="module", params=SETS, ids=version_of)
def old(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Old]:
    made = Old(tmp_path_factory.mktemp("old"))
    with tarfile.open(request.param) as archive:
        unpack(archive, made.folder)
    made.appliance.start()
    made.move_truck()
    yield made
    made.appliance.stop()


@pytest.fixture
def auditor(old: Old) -> Iterator[Auditor]:
    with closing(Auditor(old.appliance.rest, old.appliance.token("today", "auditor"))) as made:
        yield made


def test_there_is_a_set() -> None:
    assert SETS


def test_the_gateway_tells_of_the_trip_what_it_told(old: Old, auditor: Auditor) -> None:
    wait_until(lambda: auditor.ask("/v1/status")["ready"])
    assert lacking(old.json("told.json"), told(auditor, old.trip_id)) == []


def test_old_evidence_gets_its_verdict_and_so_does_what_is_exported_today(
    old: Old, auditor: Auditor
) -> None:
    judged = old.judged(old.folder / "trip.evidence", "--format-1")
    assert said(judged) == said(old.json("verdict.json"))
    auditor.export(old.trip_id, old.folder / "today.evidence")
    assert old.judged(old.folder / "today.evidence")["verdict"] == "holds"


def test_the_truck_offloads_the_trip_that_it_had_sealed(old: Old, auditor: Auditor) -> None:
    first, second = old.truck.ask("status")["trips"]
    assert (first["trip"], second["state"]) == (old.trip_id, "sealed")
    old.truck.ask("offload", "--wait-s", "60")
    trip = auditor.ask(f"/v1/trips/{second['trip']}")
    assert trip["trip_id"] == second["trip"]
    assert old.truck.ask("status")["trips"][1]["state"] != "sealed"


@pytest.mark.parametrize("old", SETS[1:], ids=version_of, indirect=True)  # the first has none
def test_a_result_of_the_benchmark_is_read_and_compared(old: Old) -> None:
    folder = str(old.folder / "bench")
    done = run(["wayseal-bench", "compare", folder, folder])
    assert done.returncode == 0, done.stdout + done.stderr
    assert json.loads(done.stdout.splitlines()[-1])["compared"] > 0
