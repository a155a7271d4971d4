"""The application's OpenAPI description; a query parameter that it does not name is refused."""

from http import HTTPStatus
from typing import Any, Final

from fastapi import FastAPI, HTTPException, Request
from fastapi.openapi.utils import get_openapi
from fastapi.routing import APIRoute

from contracts.text import quoted
from gateway.api.examples import add_examples
from gateway.api.problems import Problem

MOST_SHOWN: Final = 4


class DescribedApp(FastAPI):
    """An application whose description has the problem documents of its answers."""

    def __init__(self, **options: Any) -> None:  # noqa: ANN401 - those of FastAPI
        super().__init__(**options)
        self._parameters: dict[int, dict[str, bool]] = {}

    def openapi(self) -> dict[str, Any]:
        """Return the description; it is made once."""
        if self.openapi_schema is None:
            made = super().openapi()
            made["components"]["schemas"][Problem.__name__] = Problem.model_json_schema()
            add_examples(made)
        return super().openapi()

    def parameters_of(self, route: APIRoute) -> dict[str, bool]:
        """Return a route's query parameters, and whether each may be repeated.

        One route is described in milliseconds, all of them in a second, for which the first
        request would wait.
        """
        if id(route) not in self._parameters:
            paths = get_openapi(title=self.title, version=self.version, routes=[route])["paths"]
            self._parameters[id(route)] = {
                each["name"]: each["schema"].get("type") == "array"
                for methods in paths.values()
                for operation in methods.values()
                for each in operation.get("parameters", [])
                if each["in"] == "query"
            }
        return self._parameters[id(route)]


async def only_described_parameters(request: Request) -> None:
    """Refuse a parameter that the description of its route does not name, or names as a single one.

    If a misspelt or repeated filter were ignored, the answer would be one to another question.

    Raises:
        HTTPException: 422, with the unknown name and the known ones, or with the repeated one.
    """
    if not request.query_params:
        return
    known = _described(request)
    for name in request.query_params:
        times = len(request.query_params.getlist(name))
        if name not in known:
            detail = f"query: unknown parameter {quoted(name)}, expected {_listed(sorted(known))}"
            detail += _elsewhere(request, name)
        elif times > 1 and not known[name]:
            detail = f"query: expected {name!r} once, got it {times} times; ask once for each"
        else:
            continue
        raise HTTPException(HTTPStatus.UNPROCESSABLE_ENTITY, detail)


def _described(request: Request) -> dict[str, bool]:
    """Return the query parameters of the request's route, and whether each may be repeated."""
    app, route = request.app, request.scope["route"]
    if not isinstance(app, DescribedApp) or not isinstance(route, APIRoute):
        return {}
    return app.parameters_of(route)


def _elsewhere(request: Request, name: str) -> str:
    """Say which other routes that list something take a parameter."""
    found = [
        path
        for path, methods in request.app.openapi()["paths"].items()
        for each in methods.get("get", {}).get("parameters", [])
        if (each["in"], each["name"]) == ("query", name)
    ]
    shown = ", ".join([*found[:MOST_SHOWN], *(["…"] if len(found) > MOST_SHOWN else [])])
    return f"; {shown} can be asked with it" if found else ""


def _listed(names: list[str]) -> str:
    return f"one of {', '.join(names)}" if names else "none on this route"
