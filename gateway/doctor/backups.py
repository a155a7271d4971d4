"""Backups of gateway and node: whether there are any, and how old the newest good one is."""

from collections.abc import Iterator
from pathlib import Path
from typing import Final

from contracts.backup.manifest import Manifest
from contracts.backup.shelf import newest
from contracts.errors import WaysealError
from contracts.records.clock import rfc3339
from contracts.runtime.checks import Finding, error, ok, warning
from gateway.ownkey import has_begun
from gateway.settings import Settings

NODE_DATA: Final = Path("/var/lib/wayseal/node")
"""Where the node's unit keeps the chain, on the machine that has the ledger."""
_USUAL: Final = Path("/srv/backup")
"""Where the timers' services may write."""
_HOUR_MS: Final = 3_600_000


def findings(settings: Settings, now_ms: int, node_data: Path = NODE_DATA) -> Iterator[Finding]:
    """Yield what was found; a gateway or node that was never started has nothing to copy."""
    if has_begun(settings):
        yield _of_gateway(settings, now_ms)
    # The directory itself: only the node's user may look into it.
    if settings.backup.node_directory is not None or node_data.is_dir():
        yield _of_node(settings, now_ms, node_data)


def _of_gateway(settings: Settings, now_ms: int) -> Finding:
    directory = settings.backup.directory
    if directory is None:
        why = "backup.directory is not set: if the disk fails, key, tokens and inbox are lost"
        setting = f'set backup.directory = "{_USUAL}/gateway"'
        return warning("backup", why, f"{setting}; {_begin('gateway')}")
    found = _newest(settings, directory, "gateway", now_ms, settings.data)
    if isinstance(found, Finding):
        return found
    path, manifest = found
    if manifest.name != settings.site_id:
        why = f"{directory} has backups of site {manifest.name}"
        return error("backup", why, "give each gateway a directory of its own: backup.directory")
    return _whole("backup", path, manifest, settings.data)


def _of_node(settings: Settings, now_ms: int, node_data: Path) -> Finding:
    directory = settings.backup.node_directory
    if directory is None:
        why = (
            f"{node_data} has a ledger, and backup.node_directory is not set: nobody sees whether "
            f"it is copied"
        )
        usual = _USUAL / "node"
        setting = f'set backup.node_directory = "{usual}"'
        return warning("node's backup", why, f"{setting}; {_begin('node', usual, node_data)}")
    found = _newest(settings, directory, "node", now_ms, node_data)
    if isinstance(found, Finding):
        return found
    return _whole("node's backup", *found, node_data)


def _newest(
    settings: Settings, directory: Path, of: str, now_ms: int, data: Path
) -> tuple[Path, Manifest] | Finding:
    """Return the newest backup, or its fault."""
    subject = "backup" if of == "gateway" else f"{of}'s backup"
    try:
        found = newest(directory, of)
    except (WaysealError, OSError) as problem:
        owner = data.stat().st_uid if data.exists() else f"wayseal-{of}"
        return error(subject, problem, f"chown -R {owner} {directory}, or run this as root")
    if found is None:
        return error(subject, f"{directory} has no whole backup", _begin(of, directory, data))
    path, manifest = found
    age_h = (now_ms - manifest.made_ms) / _HOUR_MS
    if age_h > settings.backup.overdue_hours:
        why = (
            f"the newest is overdue, {age_h:.0f} hours old: {path.name} was made at "
            f"{rfc3339(manifest.made_ms)}"
        )
        log = f"journalctl -u wayseal-{of}-backup tells why"
        return error(subject, why, f"{log}; then {_begin(of, directory, data)}")
    return found


def _whole(subject: str, path: Path, manifest: Manifest, data: Path) -> Finding:
    words = f"{path.name} was made at {rfc3339(manifest.made_ms)}"
    if data.exists() and path.stat().st_dev == data.stat().st_dev:
        return ok(subject, f"{words}, on the disk that has the data: copy it away")
    return ok(subject, words)


def _begin(of: str, directory: Path | None = None, data: Path | None = None) -> str:
    """Return what makes a backup now and then every hour; a node's command needs its places."""
    places = f" {directory} --data {data}" if of == "node" else ""
    return f"wayseal-{of} backup{places}; systemctl enable --now wayseal-{of}-backup.timer"
