"""What `check-config` and `doctor` say, typed by root, of the user whom the service runs as.

Root may read and write everything, so what root can use says nothing of the service.
"""

import os
import pwd
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from contracts.runtime.checks import Finding, error, ok
from device.service import DATA, USER
from device.settings import GatewaySettings, Settings
from device.settings_file import USUAL, settings_path


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
    if not settings.data.is_relative_to(DATA):
        yield error(
            "service",
            f"it may write below {DATA} alone, and data is {settings.data}",
            f"data = {str(DATA)!r} in {USUAL}; or ReadWritePaths={settings.data} below [Service] "
            "in systemctl edit wayseal-device",
        )


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
    written += settings.data.rglob("*")
    with _being(user):
        unread = [each for each in read if not _may(each, os.R_OK)]
        unwritten = [each for each in written if not _may(each, os.W_OK)]
        blocked = [_blocked(each) for each in (*unread, *unwritten[:1])]
    for path, folder in zip(unread, blocked, strict=False):
        yield _refused(user.pw_name, f"read {path}", path, folder)
    if unwritten:
        more = f" and {len(unwritten) - 1} more" if unwritten[1:] else ""
        yield _refused(user.pw_name, f"write {unwritten[0]}{more}", settings.data, blocked[-1])
    if not unread and not unwritten:
        yield ok("service", f"its user {user.pw_name} may read its settings and write its data")


def _named(settings: Settings) -> Iterator[Path]:
    """Yield the files that the service only reads."""
    for gateway in settings.sites:
        yield from _certificates(gateway)
    if settings.source is not None:
        files = (settings.source.readings, settings.source.track, *settings.source.videos)
        yield from (each for each in files if each is not None)


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
