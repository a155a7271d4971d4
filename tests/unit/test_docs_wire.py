"""docs/architecture.md names every REST route and every topic, and no other."""

import re
from pathlib import Path

from contracts.wire import Topic, topic
from gateway.api.app import build_app
from gateway.services import Services
from gateway.settings import Settings
from support.project.pages import ROOT

PAGE = (ROOT / "docs" / "architecture.md").read_text("utf-8").split("\n## On the wire\n", 1)[1]
ROUTE = re.compile(
    r"`(GET|HEAD|OPTIONS|PATCH|POST|DELETE) "
    r"(/(?:v1/[^`]+|metrics|successions|(?:ready|health)[^`]*))`"
)


def test_routes(tmp_path: Path) -> None:
    services = Services(Settings(data=tmp_path, site_id="site"))
    try:
        paths = build_app(services).openapi()["paths"]
    finally:
        services.close()
    served = {(method.upper(), path) for path, methods in paths.items() for method in methods}
    assert set(ROUTE.findall(PAGE)) - {("GET", "/v1/openapi.json")} == served


def test_topics() -> None:
    named = set(re.findall(r"^\| `(wayseal/v1/[^`]+)` \|", PAGE, re.MULTILINE))
    assert named == {topic("{device}", kind) for kind in Topic}
