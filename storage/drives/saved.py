"""Files for the next start: NVMe-oF connections, their systemd unit, /etc/fstab, the host's NQN.

Each file is replaced as a whole, and only if its content changes.
"""

import json
import re
import uuid
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Final

from contracts.errors import RejectedError
from contracts.runtime.files import disk_errors, make_directory, sync_directory, write_file
from storage.disk import read_file
from storage.drives.mounts import unescaped
from storage.drives.targets import ConnectOptions, Reconnect, Target, WantedConnection

CONNECTIONS: Final = Path("etc/wayseal/nvmeof.json")
UNIT: Final = Path("etc/systemd/system/wayseal-volumes.service")
ENABLED: Final = Path("etc/systemd/system/multi-user.target.wants/wayseal-volumes.service")
FSTAB: Final = Path("etc/fstab")
HOST_NQN: Final = Path("etc/nvme/hostnqn")
HOST_ID: Final = Path("etc/nvme/hostid")
"""All below the root of the machine."""
DEVICE_TIMEOUT_S: Final = 30
"""How long systemd waits for a drive at boot."""
_FSTAB_OPTIONS: Final = 3
_FIELD: Final = re.compile(r"[0-9A-Za-z._-]+")
"""Kinds and UUIDs of file systems; both are read from the device."""
_READABLE: Final = 0o644
_NO_HOST: Final = "00000000-0000-0000-0000-000000000000"
_OURS: Final = "x-wayseal"
"""Option of our lines in fstab; mount(8) ignores options that begin with x-."""
_UNIT_TEXT: Final = """\
# Written by wayseal-gateway: keeps the volumes of /etc/fstab that have the option {ours}, and
# the NVMe-oF connections of /{connections}.
[Unit]
Description=Volumes of Wayseal
Documentation=man:nvme-connect(1)
Wants=network-online.target
After=network-online.target

[Service]
ExecStartPre=-/sbin/modprobe nvme-fabrics
ExecStart={command}
Restart=always
RestartSec=10

[Install]
WantedBy=multi-user.target
"""


def saved(root: Path) -> tuple[WantedConnection, ...]:
    """Return the connections that are made at every start.

    Raises:
        RejectedError: The file is invalid.
        UnavailableError: It cannot be read.
    """
    path = root / CONNECTIONS
    document = read_file(path)
    if document is None:
        return ()
    try:
        return tuple(
            WantedConnection(
                Target(**each["target"]),
                Reconnect(**each["settings"]),
                # Files of an older version have no options.
                ConnectOptions(**each.get("options", {})),
            )
            for each in json.loads(document)["connections"]
        )
    except (ValueError, KeyError, TypeError, AttributeError, RejectedError) as error:
        raise RejectedError(f"{path} names no NVMe-oF connections: {error!r}") from error


def remember(root: Path, connection: WantedConnection) -> None:
    """Make a connection at every start.

    Args:
        root: Of the machine, `/`.
        connection: Replaces the saved one to the same target.

    Raises:
        RejectedError: The existing file is invalid.
        UnavailableError: It cannot be written.
    """
    others = [each for each in saved(root) if each.target != connection.target]
    _save(root, [*others, connection])


def enable(root: Path, command: Sequence[str]) -> bool:
    """Let systemd run the volume keeper from the next start; return whether that is new.

    Args:
        root: Of the machine, `/`.
        command: Absolute path and arguments of the keeper.

    Raises:
        UnavailableError: A file cannot be written.
    """
    enabled = root / ENABLED
    new = not enabled.is_symlink()
    unit = _UNIT_TEXT.format(ours=_OURS, connections=CONNECTIONS, command=" ".join(command))
    _replace(root / UNIT, unit)
    make_directory(enabled.parent)
    with disk_errors("enable", enabled):
        if new:
            enabled.symlink_to(f"/{UNIT}")
            sync_directory(enabled.parent)
    return new


def forget(root: Path, nqn: str) -> int:
    """Forget the connections to a subsystem; return how many were saved.

    Raises:
        RejectedError: The file is invalid.
        UnavailableError: It cannot be written.
    """
    known = saved(root)
    left = [each for each in known if each.target.nqn != nqn]
    if len(left) < len(known):
        _save(root, left)
    return len(known) - len(left)


def fstab_line(file_system: str, file_system_uuid: str, point: Path, *, network: bool) -> str:
    """Return the line of /etc/fstab that mounts a volume by the UUID of its file system.

    `nofail`: a missing drive must not keep the machine from starting. `_netdev`: mount after the
    network and our connections. `errors=remount-ro`: ext4 alone would go on writing after an error
    in its own blocks. `x-wayseal`: our keeper mounts it again.

    Raises:
        RejectedError: The mount point is not an absolute path, or the device reports a kind or UUID
            that would break the line.
    """
    for said in (file_system, file_system_uuid):
        if not _FIELD.fullmatch(said):
            raise RejectedError(f"would break a line of /etc/fstab: {said[:80]!r}")
    if not point.is_absolute():
        raise RejectedError(f"expected an absolute path to mount at, got {point}")
    options = [_OURS, "nofail", "noatime", f"x-systemd.device-timeout={DEVICE_TIMEOUT_S}s"]
    options += ["_netdev"] if network else []
    options += ["errors=remount-ro"] if file_system.startswith("ext") else []
    escaped = re.sub(r"[\s\\#]", lambda found: f"\\{ord(found[0]):03o}", str(point))
    check = 2 if file_system.startswith("ext") else 0
    return f"UUID={file_system_uuid} {escaped} {file_system} {','.join(options)} 0 {check}"


def add_to_fstab(root: Path, line: str) -> bool:
    """Add a line to /etc/fstab; return whether it was missing.

    Raises:
        RejectedError: Another line has the same mount point.
        UnavailableError: The file cannot be read or written.
    """
    path = root / FSTAB
    text = _text(path)
    point = line.split()[1]
    for known in text.splitlines():
        if known.split() == line.split():
            return False
        if not known.lstrip().startswith("#") and known.split()[1:2] == [point]:
            raise RejectedError(f"{path} has {point} already: {known}")
    whole = text if text.endswith("\n") or not text else f"{text}\n"
    _replace(path, f"{whole}{line}\n")
    return True


def kept_points(root: Path) -> tuple[Path, ...]:
    """Return the mount points in /etc/fstab that our keeper mounts again.

    Raises:
        UnavailableError: The file cannot be read.
    """
    lines = _text(root / FSTAB).splitlines()
    entries = (line.split() for line in lines if not line.lstrip().startswith("#"))
    return tuple(
        Path(unescaped(fields[1]))
        for fields in entries
        if len(fields) > _FSTAB_OPTIONS and _OURS in fields[_FSTAB_OPTIONS].split(",")
    )


def name_host(root: Path) -> str:
    """Return the NQN of this host; create one if it has only the default that many hosts share.

    Raises:
        UnavailableError: A file cannot be read or written.
    """
    path = root / HOST_NQN
    with disk_errors("read", path):
        known = path.read_text("ascii", "replace").strip() if path.exists() else ""
    if known and not known.endswith(_NO_HOST):
        return known
    host = str(uuid.uuid4())
    made = f"nqn.2014-08.org.nvmexpress:uuid:{host}"
    _replace(root / HOST_ID, f"{host}\n")
    _replace(path, f"{made}\n")
    return made


def _text(path: Path) -> str:
    """Return the text of a file in any encoding; empty if it is missing."""
    return (read_file(path) or b"").decode("utf-8", "surrogateescape")


def _save(root: Path, connections: Iterable[WantedConnection]) -> None:
    _replace(
        root / CONNECTIONS,
        json.dumps({"connections": [asdict(each) for each in connections]}, indent=2) + "\n",
    )


def _replace(path: Path, text: str) -> None:
    data = text.encode("utf-8", "surrogateescape")
    with disk_errors("read", path):
        if path.exists() and path.read_bytes() == data:
            return
        mode = path.stat().st_mode & 0o777 if path.exists() else _READABLE
    write_file(path, data, temporary=path.with_name(f"{path.name}.new"), mode=mode)
