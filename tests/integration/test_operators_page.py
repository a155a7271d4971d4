"""What docs/operator.md tells to type, typed: from no keys to a delivery that is closed."""

import re
import shutil
from collections.abc import Iterator
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Final

import pytest

from contracts.runtime.ports import free_port
from support.project.pages import ROOT, rows
from support.project.typed import carry_out, put

pytestmark = pytest.mark.integration

PAGE: Final = (ROOT / "docs" / "operator.md").read_text("utf-8")
DEADLINE_S: Final = 300
BEFORE: Final = """
trap 'kill $(jobs -p); wait' EXIT
ready() { until grep -q ready "$1"; do kill -0 $!; sleep 0.1; done; }
"""


def between(start: str, end: str) -> str:
    return PAGE[PAGE.index(start) : PAGE.index(end)]


def typed(text: str) -> Iterator[str]:
    """Yield the lines that are told to type, a long one as a whole."""
    for line in text.splitlines():
        if line.startswith("    "):
            yield line.strip()


def toml(text: str, name: str) -> str:
    """Return the file that stands in a fence behind its name."""
    return text.split(f"`{name}`", 1)[1].split("```toml\n", 1)[1].split("```", 1)[0]


def in_background(line: str) -> str:
    """Return what starts a service and waits for it; other lines as they are."""
    words = line.split()
    if words[0] == "wayseal-node" or words[:2] == ["wayseal-gateway", "serve"]:
        return f"{line} > {words[0]}.out & ready {words[0]}.out"
    return line


def other_hand(line: str) -> str:
    """Return a handover as the party on the other side signs it."""
    giver, taker = (line.split(f"--{side} ")[1].split(maxsplit=1)[0] for side in ("giver", "taker"))
    old, new = (giver, taker) if f"{giver}.key" in line else (taker, giver)
    return line.replace(f"{old}.key", f"{new}.key")


OTHER_ENDS = {"dispute", "cancel-delivery", "announce-settlement", "settle-delivery"}
"""What the page shows besides; this delivery is accepted."""


KEEP: Final = "find . -type f >> kept"
"""Notes the files while all processes run, so that their locks and logs are among them."""


COPIED: Final = ("inbox", "deletions", "retention", "uploads", "scrub")


def script() -> Iterator[str]:
    yield BEFORE
    network = between("## A network from nothing", "**Handovers and the end.**")
    yield from map(in_background, typed(network))
    yield from typed(between("**Truck settings**", "## A truck's day"))
    yield "wayseal-device record --simulate --minutes 20"
    yield KEEP
    yield "wayseal-device offload --wait-s 60"
    (copy,) = typed(between("### Copying a database", "### A ledger that went back"))
    for name in COPIED:
        there = copy.replace("deletions.copy", "../../COPY").replace("deletions", name)
        yield f"(cd lib/gateway; {there})"
        yield "test $(sqlite3 COPY 'PRAGMA integrity_check') = ok; rm COPY"
    for line in typed(between("**Handovers and the end.**", "**Truck settings**")):
        if not set(line.split()) & OTHER_ENDS:
            yield line
        if " hand-over " in line:
            yield other_hand(line)
    yield KEEP


PLACES: Final = {
    "./lib/node/": "NODE/",
    "./lib/gateway/": "GATEWAY/",
    "./lib/device/": "DEVICE/",
    "./srv/video/": "VOLUME/",
    "./srv/blobs/": "BLOBS/",
    "./gateway.toml": "/etc/wayseal/gateway.toml",
    "./device.toml": "/etc/wayseal/device.toml",
    "./": "KEYS/",
}
TYPED: Final = {
    f"KEYS/{name}"
    for name in ("script", "kept", "lots.toml", "wayseal-node.out", "wayseal-gateway.out")
}
ELSEWHERE: Final = {
    "GATEWAY/mosquitto.lock",
    "GATEWAY/mosquitto-sessions.lock",
    "GATEWAY/*.db.damaged*",
    "GATEWAY/jobs/",
    "GATEWAY/cold/",
    "GATEWAY/cold-failed",
    "GATEWAY/cold-now",
    "KEYS/*.key.pub",
    "/etc/wayseal/gateway.env",
    "/etc/wayseal/node.env",
    "/etc/wayseal/tp.env",
    "/etc/wayseal/device.env",
    "/etc/wayseal/nvmeof.json",
    "/etc/wayseal/nvme-*.key",
    "/etc/systemd/system/wayseal-*",
    "GATEWAY/.restoring",
    "GATEWAY/pki/",
    "GATEWAY/documents.lock",
    "GATEWAY/documents.pem",
    "GATEWAY/people.json",
    "GATEWAY/people.lock",
    "GATEWAY/claims.json",
    "GATEWAY/claims.lock",
    "GATEWAY/waiting.json",
    "GATEWAY/waiting.lock",
    "DEVICE/tls/",
    "DEVICE/agent.lock",
    "DEVICE/sensors.json",
    "DEVICE/displays.json",
    "DEVICE/successions.json",
    "DEVICE/journey.json",
    "DEVICE/journey.order",
    "NODE/.restoring",
    "/etc/mosquitto/wayseal/",
    "/run/wayseal/health.json",
    "/opt/wayseal/",
}
"""What a broker, NVMe-oF, systemd, an authority, people, live sensors, a restore or damage make."""


def kept(folder: Path) -> set[str]:
    """Return the files of a run, as the table of backups names their places."""
    found = set()
    for line in (folder / "kept").read_text("utf-8").splitlines():
        old = next(each for each in PLACES if line.startswith(each))
        found.add(re.sub("-(wal|shm|journal)$", "", PLACES[old] + line.removeprefix(old)))
    return found - TYPED


def check_backups(found: set[str]) -> None:
    """Check that the table of backups has a row for each file, and no other row."""
    cells = [row[0] for row in rows(ROOT / "docs" / "operator.md", "## Backups")]
    named = [name for cell in cells for name in re.findall(r"`([^`]+)`", cell)]
    used = {name: [each for each in found if covers(name, each)] for name in named}
    assert found - {each for each in found for name in named if covers(name, each)} == set()
    assert {name for name, files in used.items() if not files} == ELSEWHERE


def covers(name: str, file: str) -> bool:
    return file.startswith(name) if name.endswith("/") else fnmatchcase(file, name)


def test_a_network_from_nothing_comes_about_as_typed(tmp_path: Path) -> None:
    for tool in ("jq", "sqlite3"):
        assert shutil.which(tool), f"scripts/packages {tool}"
    ledger, mqtt, rest = free_port(), free_port(), free_port()
    moved = {
        "/var/lib/wayseal": str(tmp_path / "lib"),
        "/etc/wayseal": str(tmp_path),
        "/srv": str(tmp_path / "srv"),
        "127.0.0.1:8008": f"127.0.0.1:{ledger}",
    }
    files = {name: toml(PAGE, name) for name in ("gateway.toml", "lots.toml", "device.toml")}
    files["script"] = "\n".join(script())
    put(files, moved, tmp_path)
    variables = {
        "WAYSEAL_LEDGER__URL": f"http://127.0.0.1:{ledger}",
        "WAYSEAL_MQTT__EMBEDDED": "true",
        "WAYSEAL_MQTT__PORT": str(mqtt),
        "WAYSEAL_REST__HOST": "127.0.0.1",
        "WAYSEAL_REST__PORT": str(rest),
        "WAYSEAL_GATEWAY__MQTT": f"127.0.0.1:{mqtt}",
        "WAYSEAL_GATEWAY__REST": f"http://127.0.0.1:{rest}",
    }
    printed = carry_out("script", tmp_path, variables, DEADLINE_S)
    assert printed.count('"committed": true') == 27, printed
    check_backups(kept(tmp_path))
