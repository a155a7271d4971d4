"""Process border of the embedded ledger: `wayseal-node`."""

import argparse
import contextlib
import logging
import re
import signal
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from contracts.commands import WRONG_USAGE, complain, write_for_any_terminal
from contracts.errors import WaysealError
from contracts.files import locked, make_directory
from contracts.keys import Signer, is_point
from contracts.node.component.port import Port
from contracts.node.execution.families import BUILT_IN, Families
from contracts.node.genesis import found, own_genesis, read_genesis
from contracts.node.server import serve
from contracts.node.store.chain import Chain
from contracts.serving import listening

_LOG = logging.getLogger("contracts.node")

PORT_MAX: Final = 65_535
BLOCK_INTERVAL_MAX_S: Final = 86_400
_DECIMAL: Final = re.compile(r"[0-9]{1,9}(\.[0-9]{1,9})?", re.ASCII)
_HOST: Final = re.compile(r"\*|[\w.-]+|\[[\w:.%]+\]")  # ZeroMQ gives more characters a meaning

_EPILOG: Final = """\
examples:
  wayseal-node --data /var/lib/wayseal --rest 127.0.0.1:8008
      a network of its own, administered with the key that is made in the data directory
  wayseal-node --data d --rest 127.0.0.1:0 --admin 02466d…
      another key administers it, on a free port, which the ready line names
  wayseal-node --data d --rest :8008 --genesis config-genesis.batch --genesis config.batch
      the genesis block of these files, as `sawset genesis -o` writes them
  wayseal-node --data d --rest 127.0.0.1:8008 --component tcp://127.0.0.1:4004
      open to transaction processors of other families, and to event subscribers

Once the ports accept, one line is printed: ready rest=http://HOST:PORT
With --component, component=tcp://HOST:PORT stands behind it.
SIGTERM or SIGINT ends the node after the block in the making; its exit status is 0 then,
2 when it cannot start, 1 when it cannot go on.
"""


@dataclass(frozen=True, slots=True)
class Options:
    """What the command line says.

    Attributes:
        data: Directory of the chain.
        host: Address to listen on.
        port: TCP port; 0 takes a free one.
        component: Endpoint for transaction processors and event subscribers, if any.
        genesis: Files of the genesis block; empty makes one of our own.
        key: File with the node's private key.
        admins: Public keys that administer a network of our own; empty means the node's.
        block_interval_s: Least time from one block to the next, seconds.
    """

    data: Path
    host: str
    port: int
    component: str | None
    genesis: Sequence[Path]
    key: Path
    admins: Sequence[str]
    block_interval_s: float


def main() -> None:
    """Run the node until told to stop."""
    write_for_any_terminal()
    logging.basicConfig(
        level=logging.INFO, stream=sys.stderr, format="%(asctime)s %(levelname)s %(message)s"
    )
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, _leave)
    raise SystemExit(run(parse_options(sys.argv[1:]), BUILT_IN))


def _leave(_: int, __: object) -> None:
    """End while not serving yet: whatever is open is closed on the way out."""
    raise SystemExit(0)


def parse_options(arguments: Sequence[str]) -> Options:
    """Read the command line; exit with status 2 and one line when it is wrong."""
    parser = argparse.ArgumentParser(
        prog="wayseal-node",
        description="One Sawtooth node in one process: the ledger of a network.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "--data", type=_directory, required=True, metavar="DIR", help="where the chain is kept"
    )
    parser.add_argument(
        "--rest",
        type=_endpoint,
        required=True,
        metavar="HOST:PORT",
        help="where to serve; port 0 takes a free one",
    )
    parser.add_argument(
        "--component",
        type=_component,
        metavar="tcp://HOST:PORT",
        help="where transaction processors and event subscribers connect (ZeroMQ); port 0 takes "
        "a free one; default nowhere. No access control: who reaches it takes part",
    )
    parser.add_argument(
        "--genesis",
        type=Path,
        action="append",
        default=[],
        metavar="FILE",
        help="BatchList of the genesis block; several, in order, make one block; "
        "ignored once there is a chain",
    )
    parser.add_argument(
        "--key",
        type=Path,
        metavar="FILE",
        help="private key, 64 hexadecimal digits; default DIR/node.key, made when missing",
    )
    parser.add_argument(
        "--admin",
        type=_public_key,
        action="append",
        default=[],
        metavar="PUBLIC_KEY",
        help="key that administers a network of its own; may be repeated; default the node's",
    )
    parser.add_argument(
        "--block-interval",
        type=_seconds,
        default=0.0,
        metavar="S",
        help="at most one block every S seconds, as PoET would pace them; default 0, no pause",
    )
    parsed = parser.parse_args(arguments)
    host, port = parsed.rest
    key = parsed.key or parsed.data / "node.key"
    return Options(
        parsed.data,
        host,
        port,
        parsed.component,
        parsed.genesis,
        key,
        parsed.admin,
        parsed.block_interval,
    )


def run(options: Options, families: Families) -> int:
    """Serve until a signal arrives; return the exit status."""
    try:
        with (
            _opened(options, families) as (chain, signer),
            listening(options.host, options.port) as port,
            _component_port(options, families) as component,
        ):
            return serve(chain, signer, families, port, options.block_interval_s, component)
    except WaysealError as error:
        complain("wayseal-node", error)
        return WRONG_USAGE


@contextlib.contextmanager
def _opened(options: Options, families: Families) -> Iterator[tuple[Chain, Signer]]:
    """Hold the data directory, its key and its chain, genesis block included."""
    make_directory(options.data)
    with locked(options.data / "lock", f"data directory {options.data} is in use by another node"):
        default = options.key == options.data / "node.key"
        has_key = options.key.exists()
        signer = Signer.load_or_create(options.key) if default else Signer.load(options.key)
        chain = Chain.open(options.data)
        if chain.head is None and default and has_key:  # so is it after a power cut at the first
            _LOG.warning("%s holds a key and no block: founding a new network", options.data)
        try:
            _ensure_genesis(options, chain, signer, families)
            yield chain, signer
        finally:
            chain.close()


@contextlib.contextmanager
def _component_port(options: Options, families: Families) -> Iterator[Port | None]:
    """Hold the component port, if there is to be one."""
    if options.component is None:
        yield None
        return
    port = Port(options.component, families)
    try:
        yield port
    finally:
        port.stop()


def _ensure_genesis(options: Options, chain: Chain, signer: Signer, families: Families) -> None:
    if chain.head is not None:
        if options.genesis:
            _LOG.info("--genesis is ignored: the chain in %s has a genesis block", options.data)
        return
    batches = read_genesis(options.genesis)
    if not options.genesis:
        batches = [own_genesis(signer, options.admins or [signer.public_key])]
    found(chain, signer, families, batches)


def _endpoint(text: str) -> tuple[str, int]:
    """Parse HOST:PORT; an IPv6 address stands in brackets."""
    host, colon, port = text.rpartition(":")
    if not colon or not (port.isascii() and port.isdigit()) or int(port) > PORT_MAX:
        raise argparse.ArgumentTypeError(f"expected HOST:PORT, got {text!r}")
    return host.removeprefix("[").removesuffix("]"), int(port)


def _directory(text: str) -> Path:
    if not text:
        raise argparse.ArgumentTypeError("expected a directory, got an empty name")
    return Path(text)


def _seconds(text: str) -> float:
    """Parse a number of seconds; decimals are allowed."""
    if not _DECIMAL.fullmatch(text) or float(text) > BLOCK_INTERVAL_MAX_S:
        raise argparse.ArgumentTypeError(
            f"expected a number of seconds from 0 to {BLOCK_INTERVAL_MAX_S}, got {text!r}"
        )
    return float(text)


def _component(text: str) -> str:
    """Check tcp://HOST:PORT."""
    if not text.startswith("tcp://"):
        raise argparse.ArgumentTypeError(f"expected tcp://HOST:PORT, got {text!r}")
    address = text.removeprefix("tcp://")
    _endpoint(address)
    if _HOST.fullmatch(address.rpartition(":")[0]) is None:
        raise argparse.ArgumentTypeError(f"expected a host, or * for all, got {text!r}")
    return text


def _public_key(text: str) -> str:
    if not is_point(text):
        raise argparse.ArgumentTypeError(
            "expected a compressed public key, 66 lower-case hexadecimal digits that are a point "
            f"of secp256k1, got {text!r}"
        )
    return text


if __name__ == "__main__":
    main()
