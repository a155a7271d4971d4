"""Answers of a gateway, compared with its own OpenAPI description."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

import httpx
from jsonschema import Draft202012Validator, FormatChecker

PLACE: Final = re.compile(r"\{(\w+)\}")


@dataclass(frozen=True)
class Route:
    """One method of one path, as described."""

    method: str
    path: str
    operation: dict[str, Any]

    @property
    def places(self) -> list[str]:
        """Return the names in the path that an asker fills."""
        return PLACE.findall(self.path)

    def filled(self, values: dict[str, str]) -> str:
        return PLACE.sub(lambda match: values[match[1]], self.path)


class Description:
    """What a gateway says of itself at /openapi.json."""

    def __init__(self, document: dict[str, Any]) -> None:
        self.document = document

    def routes(self) -> Iterator[Route]:
        for path, methods in self.document["paths"].items():
            for method, operation in methods.items():
                yield Route(method.upper(), path, operation)

    def check(self, route: Route, answer: httpx.Response) -> None:
        """Fail if the answer's status, media type or body is not as described."""
        about = f"{answer.request.method} {answer.url}: {answer.status_code}"
        described = route.operation["responses"].get(str(answer.status_code))
        assert described is not None, f"{about} is not described: {answer.text[:300]}"
        content = described.get("content", {})
        if not content or answer.request.method == "HEAD":
            assert not answer.content, f"{about} has a body that is not described"
            return
        media = answer.headers["content-type"].partition(";")[0]
        kinds = [media, media.partition("/")[0] + "/*"]
        kind = next((each for each in kinds if each in content), None)
        assert kind is not None, f"{about} has {media}, described are {list(content)}"
        if media.endswith("json"):
            schema = content[kind]["schema"] | {"components": self.document["components"]}
            checker = Draft202012Validator(schema, format_checker=FormatChecker())
            errors = [
                f"{each.json_path}: {each.message}" for each in checker.iter_errors(answer.json())
            ]
            assert not errors, f"{about}: {errors[:5]}"
