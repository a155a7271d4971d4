"""`/healthz` and `/readyz`: for programs that start, restart and watch the node.

The gateway has the same two. They give no reasons; `POST /batches` does.
"""

from starlette.requests import Request
from starlette.responses import Response

from contracts.ledger.engine.ports import CannotWriteError, QueueFullError, Submitter
from contracts.ledger.rest.envelope import JsonResponse


async def live(_: Request) -> Response:
    """`GET /healthz`: 200 while the node answers at all; restart it if it does not."""
    return JsonResponse({"live": True})


class Ready:
    """`GET /readyz`.

    Args:
        submitter: Says whether it would take a batch now.
    """

    def __init__(self, submitter: Submitter) -> None:
        self._submitter = submitter

    async def get(self, _: Request) -> Response:
        """200 if the node would take a batch now, else 503; a restart does not help."""
        out = self.out()
        return JsonResponse(
            {"live": True, "ready": not out, "out": [out] if out else []}, 503 if out else 200
        )

    def out(self) -> str:
        """Return what does not work; empty if all does."""
        try:
            self._submitter.check(1)
        except CannotWriteError:
            return "blocks"
        except QueueFullError:
            return "queue"
        return ""
