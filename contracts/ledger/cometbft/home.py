"""The engine's files, below the data directory: its settings, keys and the network's genesis.

CometBFT reads them from `config/` and `data/` of its home. Of its settings, those are written that
differ from its defaults.

Source: CometBFT 0.38, "Configuration" and "Validator keys".
"""

import base64
import json
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from contracts.errors import RejectedError
from contracts.keys import Signer
from contracts.ledger.cometbft.founding import Founding
from contracts.ledger.engine.blocks import BLOCK_BATCH_BYTES_MAX
from contracts.runtime.files import disk_errors, make_directory, write_file
from contracts.validators import Powers

HOME: Final = "cometbft"
GENESIS: Final = "config/genesis.json"
CHUNKS: Final = "data/chunks"
"""Where the engine keeps the chunks of a snapshot until they were taken."""
TRUST_PERIOD: Final = "876000h0m0s"
"""For so long, 100 years, the engine's light client trusts the header with which it begins. A
validator that executes all heights trusts the first validators as long."""
QUIET: Final = "error"
TELLING: Final = "statesync:info,light:info,*:error"
"""Levels of the engine's log: a snapshot that is not taken is no error to it."""
VOTES: Final = "priv_validator_state.json"
"""In `data/`: up to which height and round the validator has voted."""
KEY_MODE: Final = 0o600
MEMPOOL_BATCHES: Final = 20_000
MEMPOOL_BYTES: Final = 256 << 20
"""The application lets no more into the mempool (`admission`). CometBFT has room for twice as much:
it silently drops a batch of a longer request for which it has no room."""
TX_BYTES_MAX: Final = BLOCK_BATCH_BYTES_MAX + (1 << 10)
BLOCK_BYTES_MAX: Final = BLOCK_BATCH_BYTES_MAX + (1 << 20)
"""Bytes of one height: as many batches as a block of ours holds, the time, and the commit."""
RPC_BODY_BYTES_MAX: Final = 32 << 20
RATE_BYTES_S: Final = 51_200_000
EVIDENCE_AGE_HEIGHTS: Final = 100_000
EVIDENCE_AGE_NS: Final = 172_800_000_000_000
"""For so long, 48 hours, a validator that signed two blocks can still be convicted."""
NEWS_MS_MIN: Final = 2
PEERS_PER_NEWS_MS: Final = 2
"""CometBFT pauses between two looks whether a peer needs a part of a block, or a vote. A height
waits for that three times, so a short pause makes a short height. With many peers the pause grows:
there are no more than about 4,000 looks a second."""
_SECP256K1: Final = "secp256k1"
_PUBLIC: Final = "tendermint/PubKeySecp256k1"
_PRIVATE: Final = "tendermint/PrivKeySecp256k1"


@dataclass(frozen=True, slots=True)
class Pace:
    """How a network paces its heights; every validator should have the same.

    Attributes:
        propose_s: How long, seconds, validators wait for the proposer's block.
        vote_s: How long, seconds, they wait for votes once two thirds have come.
        commit_s: Pause, seconds, after a height.
    """

    propose_s: float = 1.0
    vote_s: float = 0.25
    commit_s: float = 0.0


@dataclass(frozen=True, slots=True)
class Peers:
    """Where a validator listens to the others, and where it finds them.

    Attributes:
        listen: `HOST:PORT`.
        others: `ID@HOST:PORT` of each.
        many_on_one_host: Whether several share an address, as on one machine.
    """

    listen: str
    others: Sequence[str] = ()
    many_on_one_host: bool = False


@dataclass(frozen=True, slots=True)
class StateSync:
    """How an engine begins with a snapshot.

    Attributes:
        servers: Light ports, `http://HOST:PORT`.
        height: Of a header that is trusted.
        hash: Its hash, 64 hexadecimal digits.
    """

    servers: Sequence[str]
    height: int
    hash: str


def write_settings(
    home: Path, name: str, peers: Peers, pace: Pace, state_sync: StateSync | None = None
) -> None:
    """Write the engine's settings.

    Args:
        home: The engine's files.
        name: Shown to its peers.
        peers: Where it listens, and finds the others.
        pace: Of the heights.
        state_sync: How it begins with a snapshot; None: without one.

    Raises:
        UnavailableError: The disk refuses.
    """
    strict = str(not peers.many_on_one_host).lower()
    same = str(peers.many_on_one_host).lower()
    text = f"""\
# Written by wayseal-node at each start; docs/network.md says where each value comes from.
moniker = {json.dumps(name)}
log_level = "{QUIET if state_sync is None else TELLING}"
filter_peers = false

[rpc]
laddr = ""
max_body_bytes = {RPC_BODY_BYTES_MAX}
max_request_batch_size = 0
pprof_laddr = ""

[p2p]
laddr = {json.dumps(f"tcp://{peers.listen}")}
persistent_peers = {json.dumps(",".join(peers.others))}
addr_book_strict = {strict}
allow_duplicate_ip = {same}
flush_throttle_timeout = "100us"
send_rate = {RATE_BYTES_S}
recv_rate = {RATE_BYTES_S}
pex = false

[mempool]
recheck = false
size = {2 * MEMPOOL_BATCHES}
max_txs_bytes = {2 * MEMPOOL_BYTES}
cache_size = {4 * MEMPOOL_BATCHES}
max_tx_bytes = {TX_BYTES_MAX}
keep-invalid-txs-in-cache = false

[consensus]
timeout_propose = "{_ms(pace.propose_s)}"
timeout_prevote = "{_ms(pace.vote_s)}"
timeout_precommit = "{_ms(pace.vote_s)}"
timeout_commit = "{_ms(pace.commit_s)}"
create_empty_blocks = false
peer_gossip_sleep_duration = "{news_ms(len(peers.others))}ms"

[tx_index]
indexer = "null"
{_state_sync(home, state_sync)}"""
    _write(home / "config/config.toml", text.encode(), 0o644)


def news_ms(peers: int) -> int:
    """Return the pause between two looks for news that a peer needs, ms."""
    return max(NEWS_MS_MIN, peers // PEERS_PER_NEWS_MS)


def _state_sync(home: Path, wanted: StateSync | None) -> str:
    """Return the settings of state sync; its chunks wait on the chain's disk, not in /tmp."""
    if wanted is None:
        return ""
    chunks = home / CHUNKS
    make_directory(chunks)
    return f"""
[statesync]
enable = true
rpc_servers = {json.dumps(",".join(wanted.servers))}
trust_height = {wanted.height}
trust_hash = {json.dumps(wanted.hash)}
trust_period = "{TRUST_PERIOD}"
discovery_time = "5s"
temp_dir = {json.dumps(str(chunks.absolute()))}
"""


def make_validator_key(home: Path) -> str:
    """Make the key with which a validator votes; return its public half.

    The file beside it says that it has not voted yet.

    Raises:
        RejectedError: There is a key already. A key that votes twice convicts itself.
        UnavailableError: The disk refuses.
    """
    path, state = home / "config/priv_validator_key.json", home / "data" / VOTES
    if path.exists() or state.exists():
        raise RejectedError(f"{path} exists: a validator's key is made once")
    secret = secrets.token_hex(32)
    public = Signer.from_hex(secret).public_key
    document = {
        "address": "",
        "pub_key": {"type": _PUBLIC, "value": _base64(bytes.fromhex(public))},
        "priv_key": {"type": _PRIVATE, "value": _base64(bytes.fromhex(secret))},
    }
    _write(state, json.dumps({"height": "0", "round": 0, "step": 0}).encode(), KEY_MODE)
    _write(path, json.dumps(document, indent=1).encode(), KEY_MODE)
    return public


def validator_key(home: Path) -> str:
    """Return the public key with which this validator votes, 66 hexadecimal digits.

    Raises:
        RejectedError: The key is missing or of another kind.
    """
    path = home / "config/priv_validator_key.json"
    try:
        public = json.loads(path.read_text())["pub_key"]
        if public["type"] != _PUBLIC:
            raise RejectedError(f"{path}: expected a key of {_SECP256K1}, got {public['type']}")
        return base64.b64decode(public["value"], validate=True).hex()
    except OSError as error:
        raise RejectedError(
            f"{path}: {error.strerror}; `wayseal-node validator` makes it"
        ) from error
    except (ValueError, LookupError, TypeError) as error:
        raise RejectedError(f"{path} is not a validator's key: {error}") from error


def genesis(chain_id: str, powers: Powers, founding: Founding, *, at: str) -> dict[str, Any]:
    """Return the engine's genesis, with how our chain begins in it.

    Args:
        chain_id: Name of the network.
        powers: The validators with which it begins.
        founding: How the ledger begins.
        at: When it begins, RFC 3339, UTC.
    """
    return {
        "genesis_time": at,
        "chain_id": chain_id,
        "initial_height": "1",
        "consensus_params": {
            "block": {"max_bytes": str(BLOCK_BYTES_MAX), "max_gas": "-1"},
            "evidence": {
                "max_age_num_blocks": str(EVIDENCE_AGE_HEIGHTS),
                "max_age_duration": str(EVIDENCE_AGE_NS),
                "max_bytes": "1048576",
            },
            "validator": {"pub_key_types": [_SECP256K1]},
            "version": {"app": "0"},
            "abci": {"vote_extensions_enable_height": "0"},
        },
        "validators": [
            {
                "address": "",
                "pub_key": {"type": _PUBLIC, "value": _base64(bytes.fromhex(key))},
                "power": str(power),
                "name": key[:16],
            }
            for key, power in powers.items()
        ],
        "app_hash": "",
        "app_state": founding.document(),
    }


def powers_in(document: Mapping[str, Any]) -> Powers:
    """Return the validators with which an engine begins.

    Raises:
        RejectedError: Its genesis has another form than `genesis` gives it.
    """
    try:
        return {
            base64.b64decode(each["pub_key"]["value"]).hex(): int(each["power"])
            for each in document["validators"]
        }
    except (LookupError, TypeError, ValueError) as error:
        raise RejectedError(
            f"genesis: expected validators with keys and powers: {error}"
        ) from error


def write_genesis(home: Path, document: Mapping[str, Any]) -> None:
    """Write the engine's genesis.

    Raises:
        UnavailableError: The disk refuses.
    """
    _write(home / GENESIS, json.dumps(document, indent=1).encode(), 0o644)


def _write(path: Path, wire: bytes, mode: int) -> None:
    with disk_errors("write", path):
        make_directory(path.parent)
        write_file(path, wire, temporary=path.with_name(path.name + ".new"), mode=mode)


def _ms(seconds: float) -> str:
    return f"{round(seconds * 1000)}ms"


def _base64(wire: bytes) -> str:
    return base64.b64encode(wire).decode()
