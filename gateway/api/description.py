"""The application's OpenAPI description; a query parameter that it does not name is refused."""

from http import HTTPStatus
from typing import Any

from fastapi import FastAPI, HTTPException, Request
from fastapi.routing import APIRoute

from gateway.api.problems import Problem


class DescribedApp(FastAPI):
    """An application whose description has the problem documents of its answers."""

    def openapi(self) -> dict[str, Any]:
        """Return the description; it is made once."""
        if self.openapi_schema is None:
            made = super().openapi()
            made["components"]["schemas"][Problem.__name__] = Problem.model_json_schema()
        return super().openapi()


async def only_described_parameters(request: Request) -> None:
    """Refuse a query with a parameter that the description of its route does not name.

    If a misspelt filter were ignored, the answer would be one to another question.

    Raises:
        HTTPException: 422, with the unknown name and the known ones.
    """
    if not request.query_params:
        return
    known = _described(request)
    for name in request.query_params:
        if name not in known:
            detail = f"query: unknown parameter {name[:80]!r}, expected {_listed(known)}"
            raise HTTPException(HTTPStatus.UNPROCESSABLE_ENTITY, detail)


def _described(request: Request) -> list[str]:
    """Return the query parameters of the request's route."""
    app, route = request.app, request.scope["route"]
    if not isinstance(app, FastAPI) or not isinstance(route, APIRoute):
        return []
    methods = app.openapi()["paths"].get(route.path_format, {})
    parameters = methods.get(request.method.lower(), {}).get("parameters", [])
    return sorted(each["name"] for each in parameters if each["in"] == "query")


def _listed(names: list[str]) -> str:
    return f"one of {', '.join(names)}" if names else "none on this route"
