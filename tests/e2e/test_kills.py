"""kill -9 of gateway, node and agent, at random moments of an offload: nothing lost, none doubled.

WAYSEAL_KILLS sets how often each is killed (default 1), WAYSEAL_SEED which moments.
"""

from collections.abc import Callable
from pathlib import Path

import pytest

from demo.appliance import Appliance
from support.trucks.chaos import KILLS, Chaos, kill_gateway, kill_node

pytestmark = pytest.mark.e2e


@pytest.mark.timeout(1200)
@pytest.mark.parametrize("kill", [kill_gateway, kill_node, None], ids=["gateway", "node", "agent"])
def test_nothing_is_lost_or_doubled(
    kill: Callable[[Appliance], None] | None,
    appliance: Appliance,
    trip_files: Path,
    tmp_path: Path,
) -> None:
    killing = None if kill is None else lambda: kill(appliance)
    chaos = Chaos(appliance, trip_files, tmp_path, killing)
    chaos.kill_during_offloads(KILLS)
    chaos.check_all_is_there_once()
