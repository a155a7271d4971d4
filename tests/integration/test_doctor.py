"""`wayseal-gateway doctor` finds each planted fault, and its remedy, followed, mends it."""

import json
import os
import secrets
import socket
import subprocess
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import pytest

from contracts.errors import UnavailableError
from contracts.keys import Signer
from contracts.proto.payload_pb2 import RegisterSite
from contracts.runtime.checks import Finding
from demo.processes import run
from gateway.access import Role, Tokens
from gateway.commands.doctor import findings
from gateway.doctor.machine import clock_is_synchronised
from gateway.intake.inbox import Inbox
from gateway.wayseal_gateway import main as gateway
from storage.drives.tools import Said
from storage.scrub.report import FindingOutcome, ReportEntry, ScrubReport
from support.evidence.chain import digest_of
from support.gateways.ailing import DAY_MS, Ailing
from support.machine.ports import free_port
from support.machine.sysfs import Machine as Disks
from support.network.world import Trip, key, one, reading
from support.trucks.rogue import Site, nonce, running_site, until
from support.trucks.uploads import offer_of, send

pytestmark = pytest.mark.integration

CONTENT: Final = b"film" * 1000
ROTTEN: Final = ReportEntry(bytes(32), 0, "blobs", "rotten", "expected one hash, got another")
YEAR_DAYS: Final = "400"


@dataclass(frozen=True)
class Fault:
    """A fault.

    Attributes:
        plant: Makes it.
        expected: Severity, subject, and a part of the words.
        remedy: What the remedy must say; it is typed, unless `mend` follows it.
        mend: Follows a remedy that is not a command.
        online: Whether peers are asked.
    """

    plant: Callable[[Ailing], object]
    expected: tuple[str, str, str]
    remedy: str
    mend: Callable[[Ailing], object] | None = None
    online: bool = False


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


def openssl(folder: Path, name: str, days: str) -> None:
    words = ["-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"]
    words += ["-subj", f"/CN={name}", "-days", days]
    words += ["-keyout", f"{folder}/{name}.key", "-out", f"{folder}/{name}.crt"]
    subprocess.run(["openssl", "req", *words], check=True, capture_output=True)  # noqa: S603, S607


def with_certificate(ailing: Ailing, days: str = YEAR_DAYS) -> None:
    """Name a certificate for mosquitto."""
    openssl(ailing.folder, "site", days)
    ailing.set("mqtt", embedded=False, password="secret")  # noqa: S106 - a test's
    ailing.set(
        "mosquitto",
        folder=str(ailing.folder / "m"),
        certificate=f"{ailing.folder}/site.crt",
        key=f"{ailing.folder}/site.key",
        plugin="/bin/sh",
    )


def expires(ailing: Ailing, at_ms: int) -> None:
    tokens = Tokens(ailing.data / "tokens.json")
    tokens.add("inspector", Role.AUDITOR, at_ms)


def other_certificate_key(ailing: Ailing) -> None:
    with_certificate(ailing)
    openssl(ailing.folder, "other", YEAR_DAYS)
    ailing.set("mosquitto", key=f"{ailing.folder}/other.key")


def later(ailing: Ailing, days: int) -> None:
    now_ms = ailing.machine.now_ms() + days * DAY_MS
    ailing.told(now_ms=lambda: now_ms)


def scrubbed(ailing: Ailing, *found: ReportEntry) -> None:
    """End a round that found this, and could not mend it."""
    report = ScrubReport(ailing.data / "scrub.db")
    try:
        now_ms = ailing.machine.now_ms()
        under_way = report.begin(now_ms)
        report.find(under_way, found, now_ms, FindingOutcome.NOT_MENDED)
        report.end(under_way, now_ms)
    finally:
        report.close()


def damaged_inbox(ailing: Ailing) -> None:
    path = ailing.data / "inbox.db"
    wire = bytearray(path.read_bytes())
    wire[200:300] = bytes(100)
    path.write_bytes(wire)


def opened_inbox(ailing: Ailing) -> None:
    """Open the inbox as a start of the gateway does."""
    limits = ailing.settings().limits
    with closing(
        Inbox(
            ailing.data / "inbox.db",
            bytes_max=limits.inbox_bytes,
            quarantine_bytes_max=limits.quarantine_bytes,
            of_device=limits.of_device,
        )
    ):
        pass


def another_key(ailing: Ailing) -> None:
    (ailing.data / "gateway.key").unlink()
    Signer.generate().save(ailing.data / "gateway.key")


def moved(name: str) -> Callable[[Ailing], object]:
    return lambda ailing: (ailing.data / name).rename(ailing.folder / name)


def restored(name: str) -> Callable[[Ailing], object]:
    return lambda ailing: (ailing.folder / name).rename(ailing.data / name)


def listen(ailing: Ailing) -> None:
    port = ailing.tables["mqtt"]["port"]
    ailing.held.append(socket.create_server(("127.0.0.1", port)))


def volume(name: str) -> Callable[[Ailing], Path]:
    return lambda ailing: ailing.data / "volume" / name


def steps(*each: Callable[[Ailing], object]) -> Callable[[Ailing], object]:
    return lambda ailing: [step(ailing) for step in each]


def put(table: str, **values: object) -> Callable[[Ailing], object]:
    """Change the settings."""
    return lambda ailing: ailing.set(table, **values)


FAULTS: Final = {
    "key that others may read": Fault(
        lambda a: (a.data / "gateway.key").chmod(0o644),
        ("error", "key", "got mode 0644"),
        "chmod 600 {data}/gateway.key",
    ),
    "key missing": Fault(
        moved("gateway.key"),
        ("error", "key", "this gateway has worked before"),
        "restore it from the backup",
        restored("gateway.key"),
    ),
    "another key": Fault(
        another_key,
        ("error", "key", "trucks accept no receipt by another key"),
        "wayseal-gateway key --accept",
    ),
    "tokens that others may read": Fault(
        lambda a: (a.data / "tokens.json").chmod(0o640),
        ("error", "tokens", "got mode 0640"),
        "chmod 600 {data}/tokens.json",
    ),
    "tokens damaged": Fault(
        lambda a: (a.data / "tokens.json").write_text("{"),
        ("error", "tokens", "token file"),
        "rm {data}/tokens.json",
    ),
    "token expired": Fault(
        lambda a: expires(a, 1_000),
        ("warning", "token inspector", "it admits nobody"),
        "wayseal-gateway token inspector --revoke",
    ),
    "token expires soon": Fault(
        lambda a: expires(a, a.machine.now_ms() + 10 * DAY_MS),
        ("warning", "token inspector", "expires in 9 days"),
        "wayseal-gateway token inspector --expires-days 365",
    ),
    "data of another user": Fault(
        lambda a: os.chown(a.data / "tokens.json", 12_345, -1),
        ("error", "tokens.json", "belongs to user 12345"),
        "chown -R 0 {data}/tokens.json",
    ),
    "volume of another user": Fault(
        lambda a: os.chown(a.data / "volume", 12_345, -1),
        ("error", "volume volume", "belongs to user 12345"),
        "chown -R 0 {data}/volume",
    ),
    "another volume in its place": Fault(
        lambda a: volume(".wayseal-volume")(a).write_text(secrets.token_hex(16)),
        ("error", "volume volume", "another volume is in its place"),
        "rm {data}/volume-ids/volume",
    ),
    "volume of another gateway": Fault(
        lambda a: volume(".wayseal-owner")(a).write_text(secrets.token_hex(16)),
        ("error", "volume volume", "belongs to gateway"),
        "rm {data}/volume/.wayseal-owner",
    ),
    "volume gone": Fault(
        moved("volume"),
        ("error", "volume volume", "No such file"),
        "mount {data}/volume again",
        restored("volume"),
    ),
    "blobs gone": Fault(
        moved("blobs"),
        ("error", "blobs", "this gateway has worked before"),
        "or restore it, before you start",
        restored("blobs"),
    ),
    "volume not mounted": Fault(
        lambda a: a.set("volumes.main", path=str(a.data / "volume"), mount=True),
        ("error", "volume main", "nothing is mounted at"),
        "mount {data}/volume",
        lambda a: a.set("volumes.main", path="/proc"),
    ),
    "blobs are a file": Fault(
        steps(lambda a: (a.folder / "b").touch(), lambda a: a.set("", blobs=str(a.folder / "b"))),
        ("error", "blobs", "expected a directory"),
        "move {folder}/b away, or change the setting",
        lambda a: a.unset("", "blobs"),
    ),
    "ledger out": Fault(
        lambda a: a.set("ledger", url="http://127.0.0.1:1"),
        ("error", "ledger http://127.0.0.1:1", ""),
        "change ledger.url",
        lambda a: a.unset("ledger", "url"),
        online=True,
    ),
    "broker out": Fault(
        lambda a: a.set("mqtt", embedded=False, port=free_port()),
        ("error", "broker 127.0.0.1:{port}", "no connection"),
        "systemctl start mosquitto",
        listen,
        online=True,
    ),
    "cassandra out": Fault(
        steps(put("storage", blob_store="both"), lambda a: a.set("cassandra", port=free_port())),
        ("error", "cassandra", "cannot connect"),
        "compare [cassandra] with it",
        lambda a: a.unset("storage", "blob_store"),
        online=True,
    ),
    "certificate expired": Fault(
        steps(lambda a: with_certificate(a, "2"), lambda a: later(a, 3)),
        ("error", "mosquitto.certificate", "expired at"),
        "renewed, put the new file there",
        with_certificate,
    ),
    "certificate expires soon": Fault(
        lambda a: with_certificate(a, "10"),
        ("warning", "mosquitto.certificate", "expires in 9 days"),
        "renewed, put the new file there",
        with_certificate,
    ),
    "certificate of the future": Fault(
        steps(with_certificate, lambda a: a.told(now_ms=lambda: DAY_MS)),
        ("error", "mosquitto.certificate", "is not valid before"),
        "set this machine's clock",
        lambda a: a.told(now_ms=Ailing(a.folder, "").machine.now_ms),
    ),
    "certificate without its key": Fault(
        other_certificate_key,
        ("error", "mosquitto.certificate", "does not go with"),
        "put the key of {folder}/site.crt there",
        lambda a: a.set("mosquitto", key=f"{a.folder}/site.key"),
    ),
    "certificate is no certificate": Fault(
        steps(with_certificate, lambda a: (a.folder / "site.crt").write_text("-----BEGIN")),
        ("error", "mosquitto.certificate", "expected a certificate in PEM form"),
        "put a PEM file",
        with_certificate,
    ),
    "certificate key for everybody": Fault(
        steps(with_certificate, lambda a: (a.folder / "site.key").chmod(0o644)),
        ("error", "mosquitto.key", "everybody on this machine may use"),
        "chmod o= {folder}/site.key",
    ),
    "certificate missing": Fault(
        steps(with_certificate, lambda a: (a.folder / "site.crt").unlink()),
        ("error", "mosquitto.certificate", "is missing"),
        "put the file there",
        with_certificate,
    ),
    "clock that nobody keeps": Fault(
        lambda a: a.told(clock_is_synchronised=lambda: False),
        ("warning", "clock", "it is not synchronised"),
        "apt install chrony",
        lambda a: a.told(clock_is_synchronised=lambda: True),
    ),
    "clock behind the ledger": Fault(
        lambda a: later(a, -1),
        ("error", "clock", "behind the ledger's last block"),
        "apt install chrony",
        lambda a: later(a, 1),
        online=True,
    ),
    "little room for the inbox": Fault(
        put("limits", inbox_bytes=1 << 60),
        ("warning", "data", "limits.inbox_bytes lets the inbox grow to"),
        "lower limits.inbox_bytes",
        put("limits", inbox_bytes=1 << 20),
    ),
    "little room for recordings": Fault(
        put("limits", upload_bytes=1 << 60),
        ("warning", "volume volume", "limits.upload_bytes allows recordings of"),
        "lower limits.upload_bytes",
        put("limits", upload_bytes=1 << 20),
    ),
    "policy that this site never meets": Fault(
        put("receipts", requires=["volume", "blobs:QUORUM"]),
        ("warning", "receipts.requires", "blobs:QUORUM is no copy that this site makes"),
        "change receipts.requires",
        lambda a: a.unset("receipts", "requires"),
    ),
    "too few open files": Fault(
        put("rest", connections=10_000_000),
        ("warning", "open files", "rest.connections and limits.uploads may take 10"),
        "lower rest.connections",
        put("rest", connections=100),
    ),
    "no scrub": Fault(
        put("scrub", every_days=0),
        ("warning", "scrub", "nothing looks for rot by itself"),
        "set scrub.every_days = 7",
        put("scrub", every_days=7),
    ),
    "scrub overdue": Fault(
        lambda a: later(a, 20),
        ("warning", "scrub", "and none since"),
        "POST /v1/scrub begins a round",
        scrubbed,
    ),
    "damage that no copy mends": Fault(
        lambda a: scrubbed(a, ROTTEN),
        ("error", "scrub", "outcome not-mended"),
        "GET /v1/scrub/findings?outcome=not-mended",
        scrubbed,
    ),
    "quarantine": Fault(
        lambda a: a.change(
            "inbox.db", "UPDATE batches SET state = 'quarantined' WHERE arrival = 1"
        ),
        ("warning", "quarantine", "1 batches"),
        "GET /v1/quarantine tells why",
        lambda a: a.change("inbox.db", "UPDATE batches SET state = 'held' WHERE arrival = 1"),
    ),
    "inbox damaged": Fault(
        damaged_inbox,
        ("error", "inbox", ""),
        "a start of the gateway keeps the rows",
        opened_inbox,
    ),
    "inbox damaged before": Fault(
        steps(damaged_inbox, opened_inbox),
        ("warning", "inbox.db", "the database was damaged once"),
        "then move {data}/inbox.db.damaged away",
        moved("inbox.db.damaged"),
    ),
    "a database is lost": Fault(
        moved("deletions.db"),
        ("warning", "data", "deletions.db missing"),
        "restore them from the backup",
        restored("deletions.db"),
    ),
    "list of uploads is something else": Fault(
        steps(
            lambda a: (a.data / "uploads.db").rename(a.folder / "uploads.db"),
            lambda a: (a.data / "uploads.db").write_text("something else " * 1000),
        ),
        ("error", "uploads.db", "list of uploads"),
        "a start of the gateway keeps the rows",
        restored("uploads.db"),
    ),
    "deletion not finished": Fault(
        lambda a: a.change(
            "deletions.db",
            "INSERT INTO deletions (recording, wire, state) VALUES (x'00', x'00', 'begun')",
        ),
        ("warning", "deletions", "1 were begun and are not done"),
        "systemctl start wayseal-gateway",
        lambda a: a.change("deletions.db", "UPDATE deletions SET state = 'done'"),
    ),
}


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
        (tmp_path / "site-b" / "gateway").rename(ailing.data)
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
