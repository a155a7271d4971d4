"""The tools that characterise a machine: their packages and versions."""

import json
from collections.abc import Sequence
from typing import Any, Final

from contracts.errors import UnavailableError
from storage.bench.machine.fingerprint import tool_version
from storage.drives.tools import Run, Said

SLACK_TIMEOUT_S: Final = 120.0
"""Beyond the measuring time of a tool: a slow machine needs time to prepare its memory."""
PACKAGES: Final = {
    "sysbench": ("sysbench", "--version"),
    "openssl": ("openssl", "version"),
    "iperf3": ("iperf3", "--version"),
    "ping": ("iputils-ping", "-V"),
    "fio": ("fio", "--version"),
}
"""By tool: its Debian package, and its option for the version."""


def versions(run: Run) -> dict[str, str]:
    """Return the version of each tool.

    Raises:
        UnavailableError: Tools are missing; names their packages.
    """
    found = {name: tool_version(run, (name, ask)) for name, (_, ask) in PACKAGES.items()}
    missing = [PACKAGES[name][0] for name, version in found.items() if not version]
    if missing:
        raise UnavailableError(
            f"wayseal-bench system needs the packages {' '.join(missing)}: "
            f"apt-get install {' '.join(missing)}"
        )
    return found


def said(run: Run, command: Sequence[str], measures_s: float) -> Said:
    """Run a tool to its end.

    Args:
        run: Runs it.
        command: Its name and arguments.
        measures_s: Its measuring time.

    Raises:
        UnavailableError: The tool failed or did not end.
    """
    done = run(command, measures_s + SLACK_TIMEOUT_S)
    if done.status:
        raise UnavailableError(f"{' '.join(command)} failed: {done.complaint}")
    return done


def said_json(run: Run, command: Sequence[str], measures_s: float) -> dict[str, Any]:
    """Run a tool that answers in JSON, errors too.

    Raises:
        UnavailableError: The tool failed or did not end.
    """
    done = run(command, measures_s + SLACK_TIMEOUT_S)
    try:
        document: dict[str, Any] = json.loads(done.out)
    except ValueError as error:
        raise UnavailableError(f"{' '.join(command)} failed: {done.complaint}") from error
    if "error" in document:
        raise UnavailableError(f"{' '.join(command)} failed: {document['error']}")
    return document
