"""A truck's data on a disk that is encrypted as docs/operator.md says."""

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from rig.guest.commands import CommandError, run
from rig.guest.drives import drive, unmount
from rig.guest.scenario import Scenario

SERIAL: Final = "RIGSPARE0"
MAPPED: Final = Path("/dev/mapper/wayseal")
MOUNTED: Final = Path("/var/lib/wayseal")
FOLDER: Final = Path("/run/truck")
KEY: Final = FOLDER / "truck-7.key"
OTHER: Final = FOLDER / "other.key"
SECRET: Final = b"SQLite format 3"
"""Begins a journal; on the disk it may stand nowhere."""
LOG: Final = "Time,Temperature\n2026-03-02 06:00:00,4.0\n2026-03-02 06:00:05,4.1\n"
SETTINGS: Final = (
    f'device_id = "truck-7"\ndata = "{MOUNTED}/device"\n'
    '[trip]\norigin_site = "dock-a"\ndestination_site = "dock-b"\n'
)
LOOKED_AT_BYTES: Final = 256 << 20
DEVICE_LIMIT_S: Final = 150
"""Emulated, a command's packages take long to import."""


def _encrypted() -> str:
    device = drive(SERIAL)
    FOLDER.mkdir(mode=0o700)
    for path in (KEY, OTHER):
        path.write_bytes(os.urandom(64))
    (FOLDER / "device.toml").write_text(SETTINGS, "utf-8")
    (FOLDER / "log.csv").write_text(LOG, "utf-8")
    # Memory and time of the unlocking are less than on a truck: this machine is emulated.
    cost = ("--pbkdf-memory", 32768, "--pbkdf-force-iterations", 4)
    run("cryptsetup", "luksFormat", "--batch-mode", "--type", "luks2", *cost, device, KEY)
    MOUNTED.mkdir(mode=0o700, parents=True)
    with _open(device):
        run("mkfs.ext4", "-q", "-L", "wayseal", MAPPED)
        with _mounted():
            _device("init")
            made = _device("record", "--readings", FOLDER / "log.csv")
            assert made["readings"] == 2, made
            assert SECRET in (MOUNTED / "device" / "journal.sqlite").read_bytes()
    raw = _raw(device)
    assert raw.startswith(b"LUKS"), raw[:8]
    for known in (SECRET, str(made["trip"]).encode(), b"truck-7"):
        assert known not in raw, known
    assert not (MOUNTED / "device").exists()
    refused = _refused(device)
    with _open(device), _mounted():
        (trip,) = _device("status")["trips"]
        assert (trip["trip"], trip["state"], trip["readings"]) == (made["trip"], "sealed", 2), trip
    return (
        f"a trip recorded on LUKS: nothing of it in {len(raw) >> 20} MiB of the raw drive, another "
        f"key is refused ({refused}), and the trip is there again after unlocking"
    )


@contextmanager
def _open(device: Path) -> Iterator[None]:
    run("cryptsetup", "open", "--key-file", KEY, device, MAPPED.name)
    try:
        yield
    finally:
        run("cryptsetup", "close", MAPPED.name)


@contextmanager
def _mounted() -> Iterator[None]:
    run("mount", MAPPED, MOUNTED)
    try:
        yield
    finally:
        unmount(MOUNTED)


def _device(command: str, *words: object) -> dict[str, Any]:
    """Run `wayseal-device`; return the JSON object that it prints."""
    config = ("--config", FOLDER / "device.toml", "--json")
    said = run("wayseal-device", command, *words, *config, limit_s=DEVICE_LIMIT_S)
    found: dict[str, Any] = json.loads(said.splitlines()[-1])
    return found


def _raw(device: Path) -> bytes:
    run("sync")
    with device.open("rb") as file:
        return file.read(LOOKED_AT_BYTES)


def _refused(device: Path) -> str:
    try:
        run("cryptsetup", "open", "--key-file", OTHER, device, MAPPED.name)
    except CommandError as error:
        return str(error).rpartition(": ")[2].strip()
    raise AssertionError("another key opened the disk")


ENCRYPTED: Final = Scenario("truck-encrypted", _encrypted, limit_s=1200)
