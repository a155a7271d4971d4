"""What the node writes into CometBFT's settings."""

import tomllib
from pathlib import Path

import pytest

from contracts.ledger.cometbft.home import Pace, Peers, news_ms, write_settings

LOOKS_PER_S_MAX = 4_000


@pytest.mark.parametrize(("peers", "pause"), [(0, "2ms"), (3, "2ms"), (6, "3ms"), (15, "7ms")])
def test_the_pause_between_looks_for_news_grows_with_the_peers(
    tmp_path: Path, peers: int, pause: str
) -> None:
    others = [f"{number:040x}@127.0.0.1:26656" for number in range(peers)]
    write_settings(tmp_path, "one", Peers("127.0.0.1:26656", others), Pace())
    settings = tomllib.loads((tmp_path / "config/config.toml").read_text())
    assert settings["consensus"]["peer_gossip_sleep_duration"] == pause


def test_many_peers_are_not_looked_at_more_often_than_few() -> None:
    per_s = [2 * peers * 1_000 / news_ms(peers) for peers in range(100)]
    assert max(per_s) <= 1.25 * LOOKS_PER_S_MAX
