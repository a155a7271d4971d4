"""`wayseal-gateway doctor` finds each planted fault, and its remedy, followed, mends it."""

import json
import os
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

import pytest

from contracts.errors import UnavailableError
from contracts.proto.payload_pb2 import RegisterSite
from contracts.runtime.checks import Finding
from contracts.runtime.kernelclock import clock_is_synchronised
from demo.processes import run
from gateway.commands.doctor import findings
from gateway.wayseal_gateway import main as gateway
from storage.drives.tools import Said
from support.evidence.chain import digest_of
from support.gateways.ailing import Ailing
from support.gateways.faults import FAULTS
from support.machine.sysfs import Machine as Disks
from support.network.world import Trip, key, one, reading
from support.trucks.rogue import Site, nonce, running_site, until
from support.trucks.uploads import offer_of, send

pytestmark = pytest.mark.integration

CONTENT: Final = b"film" * 1000


@pytest.fixture(scope="module")
def stopped(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """Return a site whose gateway worked and was stopped; its ledger runs."""
    with running_site(tmp_path_factory.mktemp("stopped")) as site:
        visit(site, 1)
        assert site.appliance.gateway is not None
        site.appliance.gateway.stop()
        yield site


@pytest.fixture
def ailing(stopped: Site, tmp_path: Path) -> Ailing:
    """Return a copy of its data, which is well so far."""
    return Ailing.of(stopped.appliance.gateway_data, tmp_path, stopped.appliance.ledger)


def visit(site: Site, number: int) -> None:
    """Let a truck leave with a final receipt for a trip with a video."""
    trip = Trip(nonce=nonce(number))
    content = CONTENT + bytes([number])
    *batches, video = trip.whole([reading(0)], [digest_of(content)])
    with site.device() as truck:
        truck.send(*batches)
        truck.ask(recordings=[offer_of(trip, content, video)])
        send(site.client("truck-1", "device"), content)
        until("the receipt", lambda: site.offload(trip.trip_id).get("receipted", False))


def has(found: list[Finding], expected: tuple[str, str, str]) -> list[Finding]:
    severity, subject, words = expected
    return [
        each
        for each in found
        if (each.severity, each.subject) == (severity, subject) and words in each.words
    ]


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_is_found_and_its_remedy_mends_it(ailing: Ailing, name: str) -> None:
    fault = FAULTS[name]
    if os.geteuid() and "another user" in name:
        pytest.skip("giving a file away needs root")
    known = {"data": ailing.data, "folder": ailing.folder}
    before = ailing.look(offline=not fault.online)
    fault.plant(ailing)
    severity, subject, words = fault.expected
    expected = severity, subject.format(port=ailing.tables.get("mqtt", {}).get("port")), words
    assert not has(before, expected)
    found = has(ailing.look(offline=not fault.online), expected)
    assert found, ailing.look(offline=not fault.online)
    remedy = fault.remedy.format(**known)
    assert any(remedy in each.words + each.remedy for each in found), found
    if fault.mend is None:
        ailing.type(remedy)
    else:
        fault.mend(ailing)
    after = ailing.look(offline=not fault.online)
    for each in ailing.held:
        each.close()
    assert not has(after, expected), has(after, expected)


def test_a_gateway_that_is_well_gets_no_error_and_is_not_changed(ailing: Ailing) -> None:
    before = ailing.files()
    found = ailing.look(offline=False)
    assert not [each for each in found if each.severity == "error"]
    assert has(found, ("ok", "clock", "not behind the ledger's last block"))
    assert has(found, ("ok", "scrub", "round 1 began"))
    assert has(found, ("ok", "inbox", "of limits.inbox_bytes"))
    assert ailing.files() == before


def test_a_gateway_that_never_ran_gets_no_error(tmp_path: Path, stopped: Site) -> None:
    found = Ailing(tmp_path, stopped.appliance.ledger).look(offline=False)
    assert not [each for each in found if each.severity == "error"]
    assert not (tmp_path / "data").exists()


@pytest.mark.parametrize(("gone", "subject"), [("volume", "volume volume"), ("blobs", "blobs")])
def test_a_directory_that_is_gone_has_one_line(ailing: Ailing, gone: str, subject: str) -> None:
    shutil.rmtree(ailing.data / gone)
    (line,) = [each for each in ailing.look(offline=True) if each.subject == subject]
    assert line.severity == "error"
    assert f"its marker {ailing.data / gone}/" in line.words


def test_a_site_that_is_registered_is_well(stopped: Site, ailing: Ailing) -> None:
    unregistered = ("warning", "site_id", "is not registered")
    assert has(ailing.look(offline=False), unregistered)
    site = RegisterSite(site_id="site-b", party_id="seller", name="B")
    stopped.commit([one(key("seller"), site)])
    assert not has(ailing.look(offline=False), unregistered)


def test_monitoring_reads_json_and_the_exit_status(
    ailing: Ailing, capsys: pytest.CaptureFixture[str]
) -> None:
    ailing.settings()
    words = ["doctor", "--offline", "--config", str(ailing.settings_file)]
    with pytest.raises(SystemExit) as well:
        gateway([*words, "--json"])
    found = json.loads(capsys.readouterr().out)
    assert well.value.code == 0
    assert all(each.keys() == {"severity", "subject", "words", "remedy"} for each in found)
    stopped = next(each for each in found if each["words"] == "it does not run")
    assert stopped == {
        "severity": "warning",
        "subject": "gateway",
        "words": "it does not run",
        "remedy": "systemctl start wayseal-gateway",
    }
    (ailing.data / "gateway.key").chmod(0o644)
    for more in ([], ["--json"]):
        with pytest.raises(SystemExit) as ill:
            gateway([*words, *more])
        assert ill.value.code == 1
    said = capsys.readouterr().out
    assert f"remedy: chmod 600 {ailing.data}/gateway.key" in said


def test_a_running_gateway_is_not_disturbed(tmp_path: Path) -> None:
    with running_site(tmp_path) as site:
        visit(site, 2)
        data, settings = site.appliance.gateway_data, str(site.appliance.settings_file)
        assert site.appliance.gateway is not None
        log = tmp_path / "site-b" / "gateway.log"
        before, said = sorted(data.rglob("*")), log.read_text()
        found = doctor(settings)
        assert f"it runs, process {site.appliance.gateway.process.pid}" in found["gateway"]
        assert found[f"gateway {site.appliance.rest}"] == "ready"
        assert sorted(data.rglob("*")) == before
        assert log.read_text() == said
        assert site.ask("/v1/status")["broker_connected"]
        visit(site, 3)
        site.appliance.gateway.kill()
        assert doctor(settings)["gateway"] == "it does not run"
        site.appliance.start_gateway()
        visit(site, 4)


@pytest.mark.parametrize(
    ("report", "expected", "remedy"),
    [
        ({"smart_status": {"passed": False}}, ("error", "drive sda", "failing"), "replace it now"),
        (
            {"smart_status": {"passed": True}, "endurance_used": {"current_percent": 95}},
            ("warning", "drive sda", "95% of its endurance used"),
            "order a replacement",
        ),
        ({"smart_status": {"passed": True}}, ("ok", "drive sda", "below volume volume"), ""),
    ],
)
def test_a_volume_s_drive_tells_of_its_health(
    ailing: Ailing, report: object, expected: tuple[str, str, str], remedy: str
) -> None:
    disks = Disks(ailing.folder / "machine")
    major, minor = map(int, disks.sata("sda", 1, rotational=0, model="SSD").split(":"))
    disks.mount(f"{major}:{minor}", str(ailing.data / "volume"), "ext4", "/dev/sda")

    def answer(command: Sequence[str], _: float) -> Said:
        if command[0] == "stat":
            return Said(0, str(os.makedev(major, minor)))
        if command[0] == "smartctl":
            return Said(0, json.dumps(report))
        raise UnavailableError(f"{command[0]} is not installed")

    ailing.told(kernel=disks.kernel, run=answer)
    (found,) = has(ailing.look(offline=True), expected)
    assert remedy in found.remedy


def test_a_place_that_fails_hides_nothing_else(ailing: Ailing) -> None:
    ailing.set("volumes.main", path=f"{ailing.folder}/{'x' * 300}")
    found = ailing.look(offline=True)
    assert has(found, ("error", "volume main", "File name too long"))
    assert has(found, ("error", "volume main", "does not tell its free room"))
    for subject in ("blobs", "inbox", "deletions", "scrub", "open files"):
        assert has(found, ("ok", subject, "")), subject


def test_one_who_may_not_look_is_told(ailing: Ailing) -> None:
    if os.geteuid():
        pytest.skip("becoming another user needs root")
    settings = ailing.settings()
    ailing.data.chmod(0o700)
    os.seteuid(65_534)
    try:
        found = list(findings(settings, ailing.machine, offline=True))
    finally:
        os.seteuid(0)
    assert has(found, ("error", "files", "Permission denied"))
    assert {each.severity for each in found if each.subject == "receipts.requires"} == {"ok"}


def test_a_gateway_that_does_not_answer_or_is_another_s(tmp_path: Path) -> None:
    with running_site(tmp_path) as site:
        ailing = Ailing(site.appliance.directory, site.appliance.ledger)
        # A link: a gateway whose folder moved soon says that it has no place for blobs.
        ailing.data.symlink_to(tmp_path / "site-b" / "gateway")
        port = site.appliance.ports.rest
        for rest, site_id, expected in (
            (port, "site-b", ("ok", f"gateway {site.appliance.rest}", "ready")),
            (port, "site-c", ("error", f"gateway {site.appliance.rest}", "got that of site-b")),
            (1, "site-b", ("error", "gateway http://127.0.0.1:1", "does not answer")),
        ):
            ailing.set("rest", port=rest)
            ailing.set("", site_id=site_id)
            assert has(ailing.look(offline=False), expected)
        assert site.appliance.node is not None
        site.appliance.node.stop()
        ailing.set("rest", port=port)
        until(
            "the gateway misses its ledger",
            lambda: bool(
                has(
                    ailing.look(offline=False),
                    ("error", f"gateway {site.appliance.rest}", "final receipt: ledger"),
                )
            ),
        )


def doctor(settings: str) -> dict[str, str]:
    """Return the words of each subject's last finding; there is no error."""
    done = run(["wayseal-gateway", "doctor", "--json", "--config", settings])
    assert done.returncode == 0, done.stdout + done.stderr
    return {each["subject"]: each["words"] for each in json.loads(done.stdout)}


def test_the_kernel_tells_of_its_clock() -> None:
    assert clock_is_synchronised() in (True, False)
