"""Writes mosquitto's configuration into its folder, and has a running mosquitto read it."""

import os
import pwd
import signal
import stat
from collections.abc import Collection, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Final

from contracts.errors import RejectedError
from contracts.ids import check_id
from contracts.passwords import mosquitto_hash
from contracts.runtime.files import (
    disk_errors,
    in_turn,
    make_directory,
    remove_file,
    write_file,
)
from gateway.access import Tokens
from gateway.brokersettings import is_loopback
from gateway.mosquitto.text import (
    ACCESS,
    AUTHORITY,
    CONFIGURATION,
    ENDING,
    INCLUDED,
    PASSWORDS,
    REVOKED,
    ROLES,
    access_rules,
    configuration,
    included,
    roles,
)
from gateway.plaintext import refuse as refuse_plain_text
from gateway.settings import Settings

_FOLDER_MODE: Final = 0o2750
_FILE_MODE: Final = 0o640
_PLUGINS: Final = (
    "usr/lib/*/mosquitto_dynamic_security.so",
    "usr/lib/mosquitto_dynamic_security.so",
)
"""Where Debian and the official image have the plugin."""


@dataclass(frozen=True, slots=True)
class Written:
    """What was written.

    Attributes:
        folder: The directory of the files.
        devices: The devices that may connect.
        reloaded: Whether a running mosquitto was told.
        warnings: What the operator has to know or do.
    """

    folder: Path
    devices: list[str]
    reloaded: bool
    warnings: list[str]


def write(settings: Settings, once: Mapping[str, str] = MappingProxyType({})) -> Written:
    """Write mosquitto's configuration, with the passwords of today, and tell a running mosquitto.

    Of two processes the later one reads the tokens only after the earlier one has written, or an
    earlier list could replace a later one.

    Args:
        settings: Of the gateway.
        once: Hashed passwords by name that win over the others, until the next writing.

    Raises:
        RejectedError: Settings are missing or exclude each other, or a device has the gateway's
            user name.
        UnavailableError: A file cannot be written; each file is the old one or the new one.
    """
    folder = _checked(settings)
    make_directory(settings.data)
    with in_turn(settings.data / "mosquitto.lock"):
        return _write_folder(settings, folder, once)


def pending(settings: Settings) -> set[str]:
    """Return the names whose sessions have yet to be ended.

    Raises:
        RejectedError: The file cannot be read.
    """
    folder = settings.mosquitto.folder
    return set(((folder and _text(folder / ENDING)) or "").split())


def keep_pending(settings: Settings, names: Collection[str]) -> None:
    """Note the names whose sessions have yet to be ended.

    Raises:
        UnavailableError: The file cannot be written.
    """
    folder = _checked(settings)
    _make_folder(folder, settings.mosquitto.user)
    if names:
        text = "".join(f"{name}\n" for name in sorted(names))
        _write(folder / ENDING, text, settings.mosquitto.user)
    else:
        remove_file(folder / ENDING)


def _write_folder(settings: Settings, folder: Path, once: Mapping[str, str]) -> Written:
    tokens = Tokens(settings.tokens_file)
    devices = tokens.of_devices()
    # One that an earlier version made has no hash: that operator hears nothing here.
    operators = {name: each for name, each in tokens.of_operators().items() if each is not None}
    operators.pop(settings.mqtt.username, None)
    if settings.mqtt.username in devices:
        raise RejectedError(
            f"device {settings.mqtt.username} has the gateway's own name at the broker: change "
            f"mqtt.username"
        )
    known = {name: password for name, password in devices.items() if password is not None}
    warnings = list(_warnings(settings, sorted(devices.keys() - known.keys())))
    _make_folder(folder, settings.mosquitto.user)
    at_start = {
        CONFIGURATION: configuration(settings, folder, _plugin(settings)),
        ROLES: roles(settings.mqtt.username, sorted(known), sorted(operators)),
    }
    changed = [name for name, text in at_start.items() if _text(folder / name) != text]
    for name, text in (
        *trusted(settings),
        (PASSWORDS, _passwords(settings, operators | known | dict(once))),
        (ACCESS, access_rules()),
        (INCLUDED, included(at_start[CONFIGURATION])),
        *at_start.items(),
    ):
        _write(folder / name, text, settings.mosquitto.user)
    warnings += closed_to(settings.mosquitto.user, folder)
    itself = settings.mosquitto.reloads_itself
    problem = [] if itself else _reload(settings.mosquitto.pid_file)
    if changed and not problem:
        warnings.append(
            f"restart mosquitto when no truck offloads: it reads {' and '.join(changed)} only at "
            f"its start"
        )
    return Written(folder, sorted(known), not problem, [*warnings, *problem])


def trusted(settings: Settings) -> Iterator[tuple[str, str]]:
    """Yield name and text of the authority's files, as mosquitto's user is to read them.

    The originals may lie where only root or the gateway may look.

    Raises:
        RejectedError: One cannot be read.
    """
    ours = settings.mosquitto
    for name, path in ((AUTHORITY, ours.ca), (REVOKED, ours.crl)):
        if path is not None:
            try:
                yield name, path.read_text("ascii")
            except (OSError, ValueError) as error:
                raise RejectedError(f"file {path} for mosquitto: {error}") from error


def is_behind(settings: Settings) -> bool:
    """Say whether mosquitto has other files of the authority than the settings name.

    Raises:
        RejectedError: One cannot be read.
    """
    folder = settings.mosquitto.folder
    return folder is not None and any(
        _text(folder / name) != text for name, text in trusted(settings)
    )


def _checked(settings: Settings) -> Path:
    """Return the folder, once the settings make a broker."""
    mqtt, ours = settings.mqtt, settings.mosquitto
    if ours.folder is None:
        raise RejectedError("setting mosquitto.folder: expected a directory, got none")
    if not mqtt.password:
        raise RejectedError("setting mqtt.password: expected the gateway's password, got none")
    check_id("gateway's user", mqtt.username)
    if mqtt.socket is None and mqtt.port in (0, ours.port):
        raise RejectedError(
            f"setting mqtt.port: expected the port of the gateway's own listener, other than "
            f"{ours.port} of mosquitto.port, got {mqtt.port}"
        )
    refuse_plain_text(settings, only="mosquitto.host")
    return ours.folder.absolute()


def _warnings(settings: Settings, unknown: list[str]) -> Iterator[str]:
    ours, mqtt = settings.mosquitto, settings.mqtt
    if ours.certificate is None and not is_loopback(ours.host):
        yield f"trucks' tokens cross the network unencrypted to {ours.host}:{ours.port}"
    if mqtt.socket is not None:
        pass  # the socket's owner and group say who connects
    elif is_loopback(mqtt.host):
        yield (
            f"any process of this machine can take the places at {mqtt.host}:{mqtt.port}, so that "
            f"the gateway cannot connect again: set mqtt.socket"
        )
    else:
        yield (
            f"the gateway's password crosses the network unencrypted to {mqtt.host}: run mosquitto "
            f"on the gateway's machine"
        )
    for name in unknown:
        yield f"device {name} cannot connect: an earlier version made its token; make another one"


def _passwords(settings: Settings, devices: dict[str, str]) -> str:
    own = {settings.mqtt.username: mosquitto_hash(settings.mqtt.password)}
    return "".join(f"{name}:{password}\n" for name, password in (own | devices).items())


def _plugin(settings: Settings) -> Path:
    if settings.mosquitto.plugin is not None:
        return settings.mosquitto.plugin
    for pattern in _PLUGINS:
        for path in sorted(Path("/").glob(pattern)):
            return path
    raise RejectedError(
        f"setting mosquitto.plugin: no file matches {' or '.join(_PLUGINS)}; install mosquitto"
    )


def missing_directories(settings: Settings) -> Iterator[tuple[str, Path, str]]:
    """Yield directories that mosquitto needs and does not make: setting, path and remedy.

    Nothing where another machine or container has mosquitto, and may have the directories.
    """
    ours, socket = settings.mosquitto, settings.mqtt.socket
    if ours.folder is None or ours.reloads_itself:
        return
    for subject, path in (
        ("mosquitto.data", ours.data),
        ("mosquitto.pid_file", ours.pid_file.parent),
        ("mqtt.socket", socket and socket.parent),
    ):
        if path is not None and not path.is_dir():
            yield subject, path, f"install -d -o {ours.user} -m 755 {path}"


def closed_to(user: str, folder: Path) -> list[str]:
    """Return a warning if mosquitto could read its files as root only, and so not again."""
    closed = [str(path) for path in folder.parents if not path.stat().st_mode & stat.S_IXOTH]
    if not closed or user == "root":
        return []
    return [f"mosquitto cannot read {folder} again: let others pass through {', '.join(closed)}"]


def _make_folder(folder: Path, user: str) -> None:
    if folder.is_dir():
        return
    make_directory(folder)
    _give(folder, user, _FOLDER_MODE)


def _write(path: Path, text: str, user: str) -> None:
    write_file(path, text.encode(), temporary=path.with_suffix(".new"), mode=0o600)
    _give(path, user, _FILE_MODE)


def _give(path: Path, user: str, mode: int) -> None:
    """Let mosquitto read a file; its next versions want to own it as well.

    Without root's rights the folder's group decides, as it is set-group-id.
    """
    with disk_errors("set the owner of", path):
        if os.geteuid() == 0:
            try:
                owner = pwd.getpwnam(user)
            except KeyError as error:
                raise RejectedError(
                    f"setting mosquitto.user: no system user {user!r}; install mosquitto first"
                ) from error
            os.chown(path, owner.pw_uid, owner.pw_gid)
        path.chmod(mode)


def _reload(pid_file: Path) -> list[str]:
    """Tell a running mosquitto to read passwords and rules again; return why it was not told."""
    text = _text(pid_file)
    with suppress(ValueError, OSError):
        pid = int(text or "")
        if Path(f"/proc/{pid}/comm").read_text("utf-8").strip() == "mosquitto":
            try:
                os.kill(pid, signal.SIGHUP)
            except PermissionError:
                return ["mosquitto does not know of it yet: systemctl reload mosquitto"]
            return []
    return [f"no mosquitto runs by {pid_file}: start it; if it runs, reload it"]


def _text(path: Path) -> str | None:
    try:
        return path.read_text("utf-8")
    except FileNotFoundError:
        return None
    except OSError as error:
        raise RejectedError(f"file {path}: {error}") from error
