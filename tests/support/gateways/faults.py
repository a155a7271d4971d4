"""Faults of a gateway's data and settings, each with the remedy that mends it."""

import os
import secrets
import socket
import subprocess
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from contracts.keys import Signer
from contracts.runtime.ports import free_port
from gateway.access import Role, Tokens
from gateway.intake.inbox import Inbox
from storage.scrub.report import FindingOutcome, ReportEntry, ScrubReport
from support.gateways.ailing import DAY_MS, Ailing

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


def backed_up(ailing: Ailing, days: int) -> None:
    """Make a backup, and let it be that many days old."""
    ailing.set("backup", directory=f"{ailing.folder}/backups")
    ailing.type("wayseal-gateway backup")
    later(ailing, days)


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
        ("error", "volume volume", "its marker"),
        "mount the right volume at {data}/volume",
        restored("volume"),
    ),
    "blobs gone": Fault(
        moved("blobs"),
        ("error", "blobs", "its marker"),
        "mount the right volume at {data}/blobs",
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
        ("warning", "receipts.requires", "this site does not make the copy blobs:QUORUM"),
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
        ("warning", "quarantine", "the ledger refuses 1 batch,"),
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
        ("warning", "deletions", "1 deletion not finished"),
        "systemctl start wayseal-gateway",
        lambda a: a.change("deletions.db", "UPDATE deletions SET state = 'done'"),
    ),
    "no backup": Fault(
        lambda a: a.set("backup", directory=f"{a.folder}/backups"),
        ("error", "backup", "has no whole backup"),
        "wayseal-gateway backup",
    ),
    "backup overdue": Fault(
        lambda a: backed_up(a, 2),
        ("error", "backup", "the newest is overdue, 48 hours old"),
        "wayseal-gateway backup",
        lambda a: later(a, -2),
    ),
}
