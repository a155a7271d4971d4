"""The command line of `wayseal-node`."""

import argparse
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from contracts.ledger.commands.parser import add_commands, public_key
from contracts.ledger.component.listening import PORT_MAX
from contracts.runtime.commands import WRONG_USAGE, add_version, parse
from contracts.runtime.logs import LogFormat, add_log_format
from contracts.runtime.serving.connections import CONNECTIONS_MAX, PER_ADDRESS_MAX, Bounds
from contracts.runtime.serving.tls import TlsFiles

BLOCK_INTERVAL_MAX_S: Final = 86_400
COUNT_MAX: Final = 1_000_000
SOLO: Final = "solo"
COMETBFT: Final = "cometbft"
UNREAD_TIMEOUT_S: Final = 20.0
"""Time over which a client's reading of its answer is measured, seconds: programs do not pause."""
_DECIMAL: Final = re.compile(r"[0-9]{1,9}(\.[0-9]{1,9})?", re.ASCII)

_EPILOG: Final = """\
examples:
  wayseal-node --data /var/lib/wayseal --rest 127.0.0.1:8008
      a new network, administered with the key that is made in the data directory
  wayseal-node --data d --rest 127.0.0.1:0 --admin 02466d…
      another key administers it; a free port, which the ready line names
  wayseal-node --data d --rest :8008 --tls-certificate node.crt --tls-key node.key --tls-ca ca.crt
      for other machines: REST over TLS, to clients with a certificate of that authority
  wayseal-node --data d --rest [::1]:8008 --genesis config-genesis.batch --genesis config.batch
      the genesis block of these files, as `sawset genesis -o` writes them
  wayseal-node --data d --rest 127.0.0.1:8008 --component tcp://127.0.0.1:4004
      open to transaction processors of other families, and to event subscribers
  wayseal-node --data d --rest 127.0.0.1:8008 --component ipc:///run/wayseal/component
      the same for processes of this user alone
  wayseal-node --data net/node0 --rest 127.0.0.1:8008 --engine cometbft
      one of the validators that `wayseal-node init --chain-id try --out net` laid out

Without a COMMAND it serves, and needs --data and --rest.
Once the ports accept, one line is printed: ready rest=http://HOST:PORT, or https://
With --component, component=ENDPOINT follows it, and with --component-key component-key=CURVE_KEY,
its public key.
SIGTERM or SIGINT ends the node after the current block, with exit status 0. The exit status
is 2 if the node cannot start, and 1 if it cannot go on.
"""


@dataclass(frozen=True, slots=True)
class Options:
    """The parsed command line.

    Attributes:
        data: Directory of the chain.
        host: Address to listen on.
        port: TCP port; 0 takes a free one.
        component: Endpoint for transaction processors and event subscribers, if any.
        component_key: File with its CURVE secret key, if any.
        component_clients: CURVE public keys that may connect to it.
        genesis: Files of the genesis block; without any, a new network is founded.
        key: File with the node's private key.
        admins: Public keys that administer a new network; empty means the node's.
        block_interval_s: Least time from one block to the next, seconds.
        bounds: Limits of REST's connections.
        log_format: Of the lines on standard error.
        tls: Files of REST's TLS; None: plain text.
        plain_text: Whether REST may listen beyond this machine without TLS.
        engine: The engine that makes the blocks: `SOLO` or `COMETBFT`.
        cometbft: The program CometBFT, a path or a name; None: `cometbft`.
        light: Address and TCP port at which validators that join by a snapshot ask what was signed;
            None: closed.
    """

    data: Path
    host: str
    port: int
    component: str | None
    component_key: Path | None
    component_clients: Sequence[str]
    genesis: Sequence[Path]
    key: Path
    admins: Sequence[str]
    block_interval_s: float
    bounds: Bounds
    log_format: LogFormat = LogFormat.TEXT
    tls: TlsFiles | None = None
    plain_text: bool = False
    engine: str = SOLO
    cometbft: str | None = None
    light: tuple[str, int] | None = None


def parse_options(arguments: Sequence[str]) -> Options:
    """Read a command line that serves; exit with status 2 and one line when it is wrong."""
    parsed = parse_command(arguments)
    if not isinstance(parsed, Options):
        raise SystemExit(WRONG_USAGE)
    return parsed


def parse_command(arguments: Sequence[str]) -> Options | argparse.Namespace:
    """Read the command line; exit with status 2 and one line when it is wrong.

    Returns:
        The options for serving; or the options of another command, whose `run` names the function
        to run, as `module:function`.
    """
    parser = argparse.ArgumentParser(
        prog="wayseal-node",
        description="One Sawtooth node in one process: the ledger of a network.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add_version(parser)
    parser.add_argument("--data", type=_directory, metavar="DIR", help="where the chain is kept")
    parser.add_argument(
        "--rest",
        type=_endpoint,
        metavar="HOST:PORT",
        help="where to serve; port 0 takes a free one",
    )
    _add_engine(parser)
    _add_tls(parser)
    _add_component(parser)
    parser.add_argument(
        "--genesis",
        type=Path,
        action="append",
        default=[],
        metavar="FILE",
        help="BatchList of the genesis block; several, in order, make one block; "
        "ignored if a chain exists",
    )
    parser.add_argument(
        "--key",
        type=Path,
        metavar="FILE",
        help="private key, 64 hexadecimal digits; default DIR/node.key, made if missing",
    )
    parser.add_argument(
        "--admin",
        type=public_key,
        action="append",
        default=[],
        metavar="PUBLIC_KEY",
        help="key that administers a new network; may be repeated; default the node's",
    )
    parser.add_argument(
        "--block-interval",
        type=_seconds,
        default=0.0,
        metavar="S",
        help="at most one block every S seconds, as PoET would pace them; default 0, no pause; "
        "the same for all validators of a network",
    )
    parser.add_argument(
        "--connections",
        type=_count,
        default=CONNECTIONS_MAX,
        metavar="N",
        help=f"most connections to REST; default {CONNECTIONS_MAX}",
    )
    parser.add_argument(
        "--connections-per-address",
        type=_count,
        default=PER_ADDRESS_MAX,
        metavar="N",
        help="most connections of one address, an IPv6 network of 64 bits counting as one; as many "
        f"as --connections behind a proxy; default {PER_ADDRESS_MAX}",
    )
    add_log_format(parser)
    add_commands(parser)
    parsed = parse(parser, arguments)
    if parsed.command is not None:
        return parsed
    missing = [name for name in ("data", "rest") if getattr(parsed, name) is None]
    if missing:
        parser.error(f"the following arguments are required: --{', --'.join(missing)}")
    if parsed.engine == COMETBFT and (parsed.genesis or parsed.admin):
        parser.error("--genesis and --admin are of --engine solo; a network's file has both")
    if parsed.engine == SOLO and parsed.light is not None:
        parser.error("--light is of --engine cometbft: a node alone has no validators that join")
    host, port = parsed.rest
    key = parsed.key or parsed.data / "node.key"
    return Options(
        parsed.data,
        host,
        port,
        parsed.component,
        parsed.component_key,
        parsed.component_client,
        parsed.genesis,
        key,
        parsed.admin,
        parsed.block_interval,
        Bounds(parsed.connections, parsed.connections_per_address, unread_s=UNREAD_TIMEOUT_S),
        parsed.log_format,
        _tls(parser, parsed),
        parsed.plain_text,
        parsed.engine,
        parsed.cometbft,
        parsed.light,
    )


def _add_engine(parser: argparse.ArgumentParser) -> None:
    """Add the options that choose who makes the blocks."""
    parser.add_argument(
        "--engine",
        choices=(SOLO, COMETBFT),
        default=SOLO,
        help="solo: this node alone, the default; cometbft: the validators of a network, which "
        "this data directory has joined",
    )
    parser.add_argument(
        "--cometbft", metavar="PROGRAM", help="CometBFT; default `cometbft` of the PATH"
    )
    parser.add_argument(
        "--light",
        type=_endpoint,
        metavar="HOST:PORT",
        help="with --engine cometbft: where validators that `join --snapshot` ask what was signed, "
        "in plain text, since signatures prove it; port 0 takes a free one; default nowhere",
    )


def _add_tls(parser: argparse.ArgumentParser) -> None:
    """Add the options of REST's TLS."""
    files = {
        "certificate": "PEM; with it REST speaks TLS alone. Changed files are read again",
        "key": "PEM, the key of that certificate",
        "ca": "PEM; with it clients need a certificate of this authority, not a device's",
        "crl": "PEM, that authority's revocation list",
    }
    for name, text in files.items():
        parser.add_argument(f"--tls-{name}", type=Path, metavar="FILE", help=text)
    parser.add_argument(
        "--plain-text",
        action="store_true",
        help="listen beyond this machine without TLS: behind a proxy that has it, or in a network "
        "of containers",
    )


def _tls(parser: argparse.ArgumentParser, parsed: argparse.Namespace) -> TlsFiles | None:
    """Return the files of REST's TLS, which belong together."""
    certificate, key, ca, crl = (
        getattr(parsed, f"tls_{name}") for name in ("certificate", "key", "ca", "crl")
    )
    if (certificate is None) != (key is None):
        parser.error("--tls-certificate and --tls-key go together")
    if ca is not None and certificate is None:
        parser.error("--tls-ca needs --tls-certificate and --tls-key")
    if crl is not None and ca is None:
        parser.error("--tls-crl needs --tls-ca")
    if certificate is None or key is None:
        return None
    return TlsFiles(certificate, key, ca, crl, members_only=True)


def _add_component(parser: argparse.ArgumentParser) -> None:
    """Add the options of the component port."""
    parser.add_argument(
        "--component",
        metavar="ENDPOINT",
        help="where transaction processors and event subscribers connect (ZeroMQ): "
        "tcp://HOST:PORT, port 0 takes a free one, or ipc:///PATH, for this user alone; default "
        "nowhere. Without CURVE keys, HOST is a loopback address",
    )
    parser.add_argument(
        "--component-key",
        type=Path,
        metavar="FILE",
        help="CURVE secret key of the component port; made if missing, with FILE.pub beside it",
    )
    parser.add_argument(
        "--component-client",
        action="append",
        default=[],
        metavar="CURVE_KEY",
        help="CURVE public key that may connect to the component port; may be repeated",
    )


def _endpoint(text: str) -> tuple[str, int]:
    """Parse HOST:PORT; an IPv6 address is in brackets."""
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


def _count(text: str) -> int:
    """Parse a number from 1 on."""
    if not (text.isascii() and text.isdigit()) or not 1 <= int(text) <= COUNT_MAX:
        raise argparse.ArgumentTypeError(f"expected a number from 1 to {COUNT_MAX}, got {text!r}")
    return int(text)
