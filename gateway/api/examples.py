"""The examples in the API's description, recorded from a real run by `scripts/examples`.

`examples.json` has them by operation; docs/api.md says what is cut in them.
"""

import json
from importlib import resources
from typing import Any, Final

_FILE: Final = "examples.json"
_PROBLEM: Final = "application/problem+json"


def recorded() -> dict[str, Any]:
    """Return the recorded examples: `operations` by method and path, and `problems` by status."""
    text = resources.files("gateway.api").joinpath(_FILE).read_text("utf-8")
    found: dict[str, Any] = json.loads(text)
    return found


def add_examples(document: dict[str, Any]) -> None:
    """Put the recorded examples into an OpenAPI description."""
    found = recorded()
    document["components"]["examples"] = {
        f"problem-{status}": {"value": value} for status, value in found["problems"].items()
    }
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            known = found["operations"].get(f"{method.upper()} {path}", {})
            _add(operation, known, found["problems"])


def _add(operation: dict[str, Any], known: dict[str, Any], problems: dict[str, Any]) -> None:
    for each in operation.get("parameters", []):
        if each["name"] in known.get("parameters", {}):
            each["example"] = known["parameters"][each["name"]]
    for status, answer in operation["responses"].items():
        content = answer.get("content", {})
        for media, value in known.get("answers", {}).get(status, {}).items():
            if media in content:
                content[media] = {**content[media], "example": value}
        if _PROBLEM in content and status in problems:
            shown = {"recorded": {"$ref": f"#/components/examples/problem-{status}"}}
            content[_PROBLEM] = {**content[_PROBLEM], "examples": shown}
