"""Backups of the gateway: whether there are any, and how old the newest good one is."""

from collections.abc import Iterator
from typing import Final

from contracts.backup.shelf import newest
from contracts.errors import WaysealError
from contracts.records.clock import rfc3339
from contracts.runtime.checks import Finding, error, ok, warning
from gateway.settings import Settings

_HOUR_MS: Final = 3_600_000
_TIMER: Final = "wayseal-gateway backup; systemctl enable --now wayseal-gateway-backup.timer"
_LOG: Final = "journalctl -u wayseal-gateway-backup tells why"


def findings(settings: Settings, now_ms: int) -> Iterator[Finding]:
    """Yield what was found; a gateway that was never started has nothing to copy."""
    if not settings.key_file.exists():
        return
    directory = settings.backup.directory
    if directory is None:
        why = "backup.directory is not set: if the disk fails, key, tokens and inbox are lost"
        yield warning("backup", why, f"set backup.directory; {_TIMER}")
        return
    try:
        found = newest(directory, "gateway")
    except WaysealError as problem:
        yield error("backup", problem, f"chown -R {settings.data.stat().st_uid} {directory}")
        return
    if found is None:
        yield error("backup", f"{directory} has no whole backup", _TIMER)
        return
    path, manifest = found
    age_h = (now_ms - manifest.made_ms) / _HOUR_MS
    words = f"{path.name} was made at {rfc3339(manifest.made_ms)}"
    if manifest.name != settings.site_id:
        why = f"{directory} has backups of site {manifest.name}"
        yield error("backup", why, "give each gateway a directory of its own: backup.directory")
    elif age_h > settings.backup.overdue_hours:
        why = f"the newest is overdue, {age_h:.0f} hours old: {words}"
        yield error("backup", why, f"{_LOG}; then {_TIMER}")
    elif directory.stat().st_dev == settings.data.stat().st_dev:
        yield ok("backup", f"{words}, on the disk that has the data: copy it away")
    else:
        yield ok("backup", words)
