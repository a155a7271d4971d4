"""Metrics for a Prometheus server, which asks every few seconds."""

from fastapi import APIRouter, Response
from fastapi.responses import PlainTextResponse

from gateway.api.parts import MetricsPart
from gateway.metrics import MEDIA_TYPE

router = APIRouter(tags=["operations"])


@router.get(
    "/metrics",
    response_class=PlainTextResponse,
)
def told(metrics: MetricsPart) -> Response:
    """Return the time that offloads spend in each stage, and the resources of this process."""
    return Response(metrics.text(), media_type=MEDIA_TYPE)
