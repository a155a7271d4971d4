"""What `check-config` and `doctor`, run by root, say about the service's user.

Root may read and write everything, so what root can use says nothing of the service.
"""

import os
import pwd
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from contracts.runtime.checks import Finding, error, ok, warning
from device.service import DATA, USER, ServiceUnit, unit
from device.settings import GatewaySettings, Settings
from device.settings_file import USUAL, settings_path

_IN_UNIT: Final = "below [Service] in systemctl edit wayseal-device"


def service(settings: Settings, config: Path | None) -> Iterator[Finding]:
    """Yield whether the service can use what its settings name; nothing unless root asks.

    Args:
        settings: Of the file.
        config: The file as `--config` names it; None: as usual.
    """
    if os.geteuid() != 0 or settings_path(config).absolute() != USUAL:
        return
    try:
        user = pwd.getpwnam(USER)
    except KeyError:
        return
    yield from usable(settings, USUAL, user)
    yield from _allowed(settings, unit())


def _allowed(settings: Settings, of: ServiceUnit) -> Iterator[Finding]:
    """Yield what the unit keeps from the service, whatever its user may do."""
    hidden = False
    for path in dict.fromkeys((settings.data, settings.key_file, *_named(settings))):
        if line := of.hides(path):
            hidden |= path == settings.data
            yield error(
                "service",
                f"its unit hides {path} from it",
                f"move it, such as to /etc/wayseal or below {DATA}; or {line} {_IN_UNIT}",
            )
    if hidden or of.may_write(settings.data):
        return
    words = f"it may write below {DATA} alone, and data is {settings.data}"
    remedy = f"data = {str(DATA)!r} in {USUAL}; or ReadWritePaths={settings.data} {_IN_UNIT}"
    if of.is_known:
        yield error("service", words, remedy)
    else:
        why = f"{words}: so it is unless its unit says otherwise, which systemctl does not tell"
        yield warning("service", why, remedy)


def usable(settings: Settings, config: Path, user: pwd.struct_passwd) -> Iterator[Finding]:
    """Yield what a user may not use of what the settings name, or a line that all is well.

    What is missing is told by others. Root alone may ask.

    Args:
        settings: As root read them.
        config: Their file.
        user: The service's.
    """
    read = [each for each in (config, *_named(settings)) if each.exists()]
    written = [each for each in (settings.data, settings.key_file) if each.exists()]
    written += _below(settings.data)
    with _being(user):
        unread = {each: _blocked(each) for each in read if not _may(each, os.R_OK)}
        unwritten = {each: _blocked(each) for each in written if not _may(each, os.W_OK)}
    # An agent that runs makes and removes files while this looks.
    unread, unwritten = _still(unread), _still(unwritten)
    for path, folder in unread.items():
        yield _refused(user.pw_name, f"read {path}", path, folder)
    if unwritten:
        path, folder = next(iter(unwritten.items()))
        more = f" and {len(unwritten) - 1} more" if len(unwritten) > 1 else ""
        yield _refused(user.pw_name, f"write {path}{more}", settings.data, folder)
    if not unread and not unwritten:
        yield ok("service", f"its user {user.pw_name} may read its settings and write its data")


def _below(folder: Path) -> Iterator[Path]:
    """Yield everything below a folder; one that vanishes has nothing."""
    for parent, folders, names in os.walk(folder):
        yield from (Path(parent, name) for name in (*folders, *names))


def _still(refused: Mapping[Path, Path | None]) -> dict[Path, Path | None]:
    """Return those that are still there, and so is the folder that closes the way to them."""
    return {
        path: folder
        for path, folder in refused.items()
        if os.path.lexists(path) and (folder is None or os.path.lexists(folder))
    }


def _named(settings: Settings) -> Iterator[Path]:
    """Yield the files that the service only reads."""
    for gateway in settings.sites:
        yield from _certificates(gateway)
    if settings.source is not None:
        files = (settings.source.readings, settings.source.track, *settings.source.videos)
        yield from (each for each in files if each is not None)
    presence = settings.presence.file if settings.presence is not None else None
    yield from (each for each in (settings.clock.file, presence) if each is not None)


def _certificates(gateway: GatewaySettings) -> Sequence[Path]:
    files = (gateway.mqtt_ca, gateway.tls_ca, gateway.tls_certificate, gateway.tls_key)
    return [each for each in files if each is not None]


@contextmanager
def _being(user: pwd.struct_passwd) -> Iterator[None]:
    """Let the kernel answer as it would the user, until the block ends."""
    group, groups = os.getegid(), os.getgroups()
    os.setgroups(os.getgrouplist(user.pw_name, user.pw_gid))
    os.setegid(user.pw_gid)
    os.seteuid(user.pw_uid)
    try:
        yield
    finally:
        os.seteuid(0)
        os.setegid(group)
        os.setgroups(groups)


def _may(path: Path, mode: int) -> bool:
    return os.access(path, mode, effective_ids=True, follow_symlinks=True)


def _blocked(path: Path) -> Path | None:
    """Return the folder above a path through which the user may not pass, if there is one."""
    return next((each for each in reversed(path.parents) if not _may(each, os.X_OK)), None)


def _refused(user: str, what: str, path: Path, folder: Path | None) -> Finding:
    if folder is not None:
        why = f"its user {user} may not {what}: it may not pass through {folder}"
        return error("service", why, f"chmod a+x {folder}")
    return error("service", f"its user {user} may not {what}", f"chown -R {user}: {path}")
