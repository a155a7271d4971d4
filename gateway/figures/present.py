"""Figures that are at hand: they are read at each scrape, and ask no disk and no peer."""

from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, version

from gateway.gauges import Family, by_label, gauge
from gateway.services import Services


def families(services: Services) -> Iterator[Family]:
    """Yield what the gateway knows of itself at this moment."""
    standings = services.dependencies.standings()
    yield Family(
        "wayseal_gateway_info",
        "1; the labels say which gateway this is.",
        ("site_id", "version"),
        {(services.settings.site_id, _version()): 1},
    )
    yield gauge(
        "wayseal_ready",
        "1 if a truck that comes now can leave with a final receipt, else 0.",
        services.dependencies.ready(),
    )
    yield by_label(
        "wayseal_dependency_up",
        "1 while the dependency works, 0 while it is out.",
        "dependency",
        {name: not standing.reason for name, standing in standings.items()},
    )
    yield by_label(
        "wayseal_dependency_since_timestamp_seconds",
        "Since when the dependency works or is out.",
        "dependency",
        {name: standing.since_ms / 1000 for name, standing in standings.items()},
    )
    yield by_label(
        "wayseal_drive_link_up",
        "1 while the link to a drive on the network works, else 0.",
        "device",
        services.drives.links(),
    )
    yield gauge(
        "wayseal_damage_notes",
        "What was found damaged or missing since the start of the gateway.",
        len(services.damage.told()),
    )
    yield by_label(
        "wayseal_jobs", "Jobs of readers that wait or run now.", "state", services.jobs.counts()
    )
    yield gauge("wayseal_uploads_open", "Uploads that are open now.", len(services.uploads.lanes))


def _version() -> str:
    try:
        return version("wayseal")
    except PackageNotFoundError:  # a checkout that is not installed
        return "of a checkout"
