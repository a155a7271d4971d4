"""How fast the index of a gateway follows `/blocks`, from nothing to the ledger's head."""

import shutil
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any, Final

import httpx

from contracts.errors import UnavailableError
from contracts.ledger.client import LedgerClient
from storage.bench.goals.ledger.figures import Figures
from storage.bench.servers.checkpoint import GatewayFiles
from storage.bench.servers.processes import Service
from storage.bench.servers.usage import cpu_s, peak_mb

POLL_S: Final = 0.1
STALLED_S: Final = 60.0
"""An index that does not move for so long has failed."""


def catch_up(
    node: Service,
    directory: Path,
    readings: int,
    say: Callable[[str], None],
    profile: Path | None = None,
) -> Figures:
    """Start a gateway on a node with `readings` on its chain; time its index to the head.

    Args:
        node: The node.
        directory: For the gateway; removed before and after.
        readings: How many are on the chain.
        say: Tells people how far the index is.
        profile: File for the gateway's profile; None runs it without.

    Raises:
        UnavailableError: The index stopped before the head.
    """
    shutil.rmtree(directory, ignore_errors=True)
    files = GatewayFiles.made(directory, node.addresses["rest"])
    token = files.token("bench", "operator")
    with closing(LedgerClient(node.addresses["rest"])) as ledger:
        head = ledger.head_num()
    node_cpu_s, start_s = cpu_s(node.pid), time.monotonic()
    with files.serving(profile) as gateway:
        _wait(gateway, token, head, say)
        took_s = time.monotonic() - start_s
        figures = {
            "catchup_per_s": readings / took_s,
            "catchup_s": took_s,
            "catchup_gateway_cpu_s": cpu_s(gateway.pid),
            "catchup_node_cpu_s": cpu_s(node.pid) - node_cpu_s,
            "catchup_gateway_peak_mb": peak_mb(gateway.pid),
        }
    # SQLite puts its log into the file when the last connection closes.
    size = (files.data / "index.db").stat().st_size
    shutil.rmtree(directory)
    return figures | {"index_bytes_per_reading_gateway": size / readings}


def _wait(gateway: Service, token: str, head: int, say: Callable[[str], None]) -> None:
    headers = {"Authorization": f"Bearer {token}"}
    with httpx.Client(
        base_url=gateway.addresses["rest"], headers=headers, trust_env=False
    ) as client:
        height, moved_s, said_s = -1, time.monotonic(), 0.0
        while height < head:
            now_s, before = time.monotonic(), height
            status: dict[str, Any] = client.get("/v1/status").raise_for_status().json()
            height = -1 if status["index_block_num"] is None else status["index_block_num"]
            moved_s = now_s if height != before else moved_s
            if now_s - moved_s > STALLED_S:
                raise UnavailableError(
                    f"expected the index at block {head}, it stays at {height} for {STALLED_S:g} s"
                )
            if now_s - said_s > 5:  # noqa: PLR2004 - a line now and then
                say(f"index at block {height} of {head}")
                said_s = now_s
            time.sleep(POLL_S)
