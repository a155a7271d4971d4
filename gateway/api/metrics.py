"""What a Prometheus server asks for, every few seconds."""

from collections.abc import Callable
from typing import Any

from fastapi import APIRouter, Depends, Response

from gateway.metrics import MEDIA_TYPE, Metrics


def metrics_router(metrics: Metrics, may_operate: Callable[..., Any]) -> APIRouter:
    """Return the route, for callers that `may_operate` lets pass."""
    router = APIRouter(tags=["operations"], dependencies=[Depends(may_operate)])

    @router.get(
        "/metrics",
        response_class=Response,
        responses={200: {"content": {"text/plain": {"schema": {"type": "string"}}}}},
    )
    def told() -> Response:
        """Return where offloads spend their time, by stage, and what this process uses."""
        return Response(metrics.text(), media_type=MEDIA_TYPE)

    return router
