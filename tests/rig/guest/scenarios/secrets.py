"""A target that wants a proof: DH-CHAP, with the right secret, a wrong one, and none."""

import base64
import json
import os
import threading
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from rig.guest import fabric
from rig.guest.commands import CommandError
from rig.guest.drives import drive
from rig.guest.product import wayseal
from rig.guest.recordings import Recording, Sender
from rig.guest.scenario import Kernel, Scenario
from rig.guest.scenarios.fabric import shown
from rig.guest.site import kept, site

FOLDER: Final = Path("/run/keys")
WHERE: Final = (fabric.ADDRESS, fabric.NQN)
LOOK_S: Final = 0.005


def _authentication() -> str:
    FOLDER.mkdir(mode=0o700)
    own, theirs, wrong = (_secret(FOLDER / name) for name in ("own", "theirs", "wrong"))
    with fabric.target(), fabric.protected(own.read_text(), theirs.read_text()):
        refused = [
            _refused(),
            _refused("--dhchap-secret-file", wrong),
            _refused("--dhchap-secret-file", own, "--dhchap-ctrl-secret-file", wrong),
        ]
        assert "asks for a DH-CHAP secret" in refused[0], refused
        assert all("have different secrets" in each for each in refused[1:]), refused
        files = ("--dhchap-secret-file", own, "--dhchap-ctrl-secret-file", theirs)
        with _arguments() as seen:
            said = json.loads(wayseal("volumes", "connect", *WHERE, *files, "--persist", "--json"))
        assert any("--config=" in each for each in seen), "nvme connect was not seen"
        assert not any("DHHC" in each for each in seen), "a secret was among the arguments"
        (path,) = shown()["paths"]
        assert path["dhchap"] is True, path
        attribute = Path("/sys/class/nvme") / said["controller"] / "dhchap_secret"
        assert attribute.stat().st_mode & 0o077 == 0, "everybody may read the secret in sysfs"
        _used()
        missing = _removed(own)
    return (
        f"both sides proved their secrets, {path['io_queues']} I/O queues; 8 MiB kept and read "
        f"back; refused: {refused[0][-90:]} / {refused[1][-90:]}; secret removed: {missing[-90:]}"
    )


def _used() -> None:
    recording = Recording(seed=50, pieces=8)
    device = drive(fabric.FABRIC_SERIAL)
    with kept(device, "xfs"), site() as here, Sender(here.store, recording) as sender:
        here.require_sound(sender.until_whole())
        assert not sender.errors, sender.errors


def _removed(own: Path) -> str:
    """Remove the secret: nothing is connected, and it is said why; with the secret it is."""
    secret = own.read_text("ascii")
    own.unlink()
    wayseal("volumes", "disconnect", fabric.NQN)
    said = wayseal("volumes", "keep", "--once").strip()
    assert f"secret {own}: expected a file, it is missing" in said, said
    _secret(own, secret)
    assert "connected to" in wayseal("volumes", "keep", "--once")
    wayseal("volumes", "disconnect", fabric.NQN, "--forget")
    return said


def _refused(*options: object) -> str:
    """Return why a connection was refused."""
    try:
        wayseal("volumes", "connect", *WHERE, *options)
    except CommandError as error:
        said = str(error).strip()
        assert "DHHC" not in said, "an error repeats a secret"
        return said
    raise AssertionError(f"connected with {options}")


def _secret(path: Path, text: str = "") -> Path:
    """Write a secret, by default a new one, into a file for root alone."""
    key = os.urandom(32)
    made = base64.b64encode(key + zlib.crc32(key).to_bytes(4, "little")).decode()
    path.touch(0o600)
    path.write_text(text or f"DHHC-1:00:{made}:", "ascii")
    return path


@contextmanager
def _arguments() -> Iterator[set[str]]:
    """Yield the arguments of all nvme processes that run during the block, as ps shows them."""
    seen: set[str] = set()
    over = threading.Event()

    def look() -> None:
        while not over.wait(LOOK_S):
            for each in Path("/proc").glob("[0-9]*/cmdline"):
                try:
                    line = each.read_bytes().replace(b"\0", b" ").decode("utf-8", "replace")
                except OSError:
                    continue
                if "nvme connect" in line:
                    seen.add(line)

    looker = threading.Thread(target=look, daemon=True)
    looker.start()
    try:
        yield seen
    finally:
        over.set()
        looker.join()


AUTHENTICATION: Final = Scenario("authentication", _authentication, kernel=Kernel.BACKPORTS)
