"""What the pages expect of answers is what the description of REST promises."""

import re
from pathlib import Path
from typing import Any, Final

import pytest

from gateway.api.app import build_app
from gateway.services import Services
from gateway.settings import Settings

ROOT: Final = Path(__file__).parents[2]
TYPES: Final = ROOT / "web/src/lib/types.ts"
_OWN: Final = re.compile(r"/\*\* @schema no.*?\*/\nexport interface.*?\n\}", re.DOTALL)
_INTERFACE: Final = re.compile(r"^export interface (\w+) \{\n(.*?)^\}", re.MULTILINE | re.DOTALL)
_MEMBER: Final = re.compile(r"^  (\w+): ([^;]+);$", re.MULTILINE)


def interfaces() -> dict[str, dict[str, str]]:
    """Return the members of each interface of the pages, with their types."""
    text = _OWN.sub("", TYPES.read_text("utf-8"))
    return {name: dict(_MEMBER.findall(body)) for name, body in _INTERFACE.findall(text)}


@pytest.fixture(scope="module")
def schemas(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    services = Services(Settings(data=tmp_path_factory.mktemp("gateway"), site_id="site"))
    try:
        made: dict[str, Any] = build_app(services).openapi()["components"]["schemas"]
    finally:
        services.close()
    return made


@pytest.mark.parametrize("name", sorted(interfaces()))
def test_an_answer_has_what_the_pages_read_of_it(schemas: dict[str, Any], name: str) -> None:
    assert name in schemas
    properties = schemas[name]["properties"]
    for member, type_ in interfaces()[name].items():
        assert member in properties, f"{name}.{member}"
        assert is_nullable(properties[member]) == type_.endswith("| null"), f"{name}.{member}"


def is_nullable(schema: dict[str, Any]) -> bool:
    return {"type": "null"} in schema.get("anyOf", [])
