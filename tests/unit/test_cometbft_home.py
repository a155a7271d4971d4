"""What the node writes into CometBFT's settings, keys and genesis."""

import json
import tomllib
from pathlib import Path

import pytest

from contracts.errors import RejectedError
from contracts.ledger.cometbft.founding import Founding
from contracts.ledger.cometbft.home import (
    NEWS_MS_MIN,
    Pace,
    Peers,
    genesis,
    make_validator_key,
    news_ms,
    validator_key,
    write_settings,
)
from contracts.ledger.cometbft.process import CORES
from support.ledgers.heights import first_batches
from support.project.pages import ROOT

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


def test_validators_sign_with_secp256k1_alone(tmp_path: Path) -> None:
    """So `wayseal-verify` needs no second library."""
    public = make_validator_key(tmp_path)
    assert validator_key(tmp_path) == public
    founding = Founding(first_batches())
    document = genesis("test", {public: 1}, founding, at="2026-01-01T00:00:00Z")
    assert document["consensus_params"]["validator"] == {"pub_key_types": ["secp256k1"]}
    path = tmp_path / "config/priv_validator_key.json"
    key = json.loads(path.read_text())
    key["pub_key"]["type"] = "tendermint/PubKeyEd25519"
    path.write_text(json.dumps(key))
    with pytest.raises(RejectedError, match="expected a key of secp256k1, got tendermint/PubKeyEd"):
        validator_key(tmp_path)


def test_the_page_has_the_values_that_are_written(tmp_path: Path) -> None:
    write_settings(tmp_path, "one", Peers("127.0.0.1:26656"), Pace())
    settings = tomllib.loads((tmp_path / "config/config.toml").read_text())
    pace, mempool = Pace(), settings["mempool"]
    room_mib = mempool["max_txs_bytes"] >> 20
    waits = f"{pace.propose_s:g} s, {pace.vote_s:g} s, {pace.vote_s:g} s"
    expected = {
        "`timeout_propose`, `timeout_prevote`, `timeout_precommit`": waits,
        "`timeout_commit`": f"{pace.commit_s:g}, or `--block-interval`",
        "`create_empty_blocks`": str(settings["consensus"]["create_empty_blocks"]).lower(),
        "`mempool.size`, `max_txs_bytes`": f"{mempool['size']:,}, {room_mib} MiB",
        f"`{CORES[0]}`, in its environment": CORES[1],
        "`recheck`": str(settings["mempool"]["recheck"]).lower(),
        "`pex`": str(settings["p2p"]["pex"]).lower(),
    }
    lines = (ROOT / "docs" / "network.md").read_text("utf-8").splitlines()
    rows = [line.split(" | ") for line in lines if line.startswith("| `")]
    told = {row[0].removeprefix("| "): row[1] for row in rows}
    assert {name: told.get(name) for name in expected} == expected
    assert told["`peer_gossip_sleep_duration`"].startswith(f"{NEWS_MS_MIN} ms;")
    assert settings["p2p"]["flush_throttle_timeout"] == "100us"
    assert told["`flush_throttle_timeout`"] == "0.1 ms"
