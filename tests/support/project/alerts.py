"""The files of deploy/monitoring: rules with their expressions, and the dashboard's."""

import json
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import promql_parser
import yaml

from support.project.pages import ROOT

FOLDER: Final = ROOT / "deploy" / "monitoring"
OF_PROMETHEUS: Final = re.compile(r"up|ALERTS|prometheus_\w+")


def tool(*words: str | Path, stdin: str = "") -> subprocess.CompletedProcess[str]:
    """Run promtool or amtool."""
    return subprocess.run(  # noqa: S603 - our own files
        words, input=stdin, capture_output=True, text=True, check=False, timeout=120
    )


def alerts() -> Iterator[dict[str, Any]]:
    """Yield each alert as the rules have it."""
    for group in yaml.safe_load((FOLDER / "rules.yml").read_text("utf-8"))["groups"]:
        yield from group["rules"]


def dashboard() -> dict[str, Any]:
    board: dict[str, Any] = json.loads((FOLDER / "grafana.json").read_text("utf-8"))
    return board


def panel_expressions() -> Iterator[str]:
    """Yield each expression of the dashboard, with values for Grafana's variables."""
    for panel in dashboard()["panels"]:
        for target in panel.get("targets", []):
            yield target["expr"].replace("$__rate_interval", "1m").replace("$site", ".*")


def metrics_of(expression: str) -> set[str]:
    """Return the names of the metrics in an expression.

    Raises:
        ValueError: It is not PromQL.
    """
    found: set[str] = set()

    def note(node: promql_parser.Expr) -> bool:
        if isinstance(node, promql_parser.VectorSelector):
            found.add(str(node.name))
        return True

    promql_parser.walk(promql_parser.parse(expression), note)
    return found
