"""Process border of the embedded ledger: `wayseal-node`."""

import argparse
import contextlib
import logging
import signal
import socket
import sys
from collections.abc import Iterator
from pkgutil import resolve_name

from contracts.backup.restoring import check_whole
from contracts.errors import RejectedError, WaysealError
from contracts.keys import Signer
from contracts.ledger.blocks.chain import Chain
from contracts.ledger.cometbft.engine import CometBft, Program
from contracts.ledger.cometbft.home import HOME, Pace
from contracts.ledger.cometbft.network import begin_again, prepare
from contracts.ledger.cometbft.process import find_program
from contracts.ledger.component.connections import new_curve_key
from contracts.ledger.component.listening import Listening
from contracts.ledger.component.port import Port
from contracts.ledger.curvekeys import load_or_create
from contracts.ledger.engine.blocks import StoredBlock
from contracts.ledger.engine.genesis import own_genesis, read_genesis
from contracts.ledger.execution.families import BUILT_IN, Families
from contracts.ledger.execution.obeyed import obeyed_after
from contracts.ledger.options import COMETBFT, SOLO, Options, parse_command
from contracts.ledger.server import MakeEngine, Rest, serve
from contracts.ledger.solo.publisher import Publisher, found
from contracts.runtime.commands import (
    FAILED,
    WORKED,
    WRONG_USAGE,
    complain,
    keep_files_private,
    write_for_any_terminal,
)
from contracts.runtime.files import locked, make_directory
from contracts.runtime.logs import write_as
from contracts.runtime.ports import is_loopback
from contracts.runtime.serving.server import event_loop, listening
from contracts.runtime.serving.tls import Tls
from contracts.sawtooth.blocks import network_height

_LOG = logging.getLogger("wayseal-node")


def main() -> None:
    """Run `wayseal-node` until a signal arrives."""
    write_for_any_terminal()
    keep_files_private()
    logging.basicConfig(
        level=logging.INFO, stream=sys.stderr, format="%(asctime)s %(levelname)s %(message)s"
    )
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, _leave)
    parsed = parse_command(sys.argv[1:])
    if isinstance(parsed, Options):
        write_as(parsed.log_format)
        raise SystemExit(run(parsed, BUILT_IN))
    raise SystemExit(run_command(parsed))


def run_command(options: argparse.Namespace) -> int:
    """Do what a command besides serving says; return the exit status."""
    try:
        resolve_name(options.run)(options)
    except WaysealError as error:
        complain("wayseal-node", error)
        return FAILED
    return WORKED


def _leave(_: int, __: object) -> None:
    """Exit before the node serves; everything open is closed on the way out."""
    raise SystemExit(0)


def run(options: Options, families: Families) -> int:
    """Serve until a signal arrives; return the exit status."""
    logging.getLogger("httpx").setLevel(logging.WARNING)  # else a line for each of its requests
    try:
        listening_at = _component(options)
        tls = _tls(options)
        with (
            _opened(options, families) as (chain, signer),
            listening(options.host, options.port) as port,
            _light_port(options) as light,
            _component_port(listening_at, families) as component,
            event_loop() as runner,
        ):
            make_engine = _engine(options, families, chain, signer, component)
            rest = Rest(port, options.bounds, tls, light)
            return runner.run(serve(chain, make_engine, rest, component, options.data))
    except WaysealError as error:
        complain("wayseal-node", error)
        return WRONG_USAGE


def _engine(
    options: Options, families: Families, chain: Chain, signer: Signer, component: Port | None
) -> MakeEngine:
    """Return what makes the engine.

    Raises:
        RejectedError: CometBFT is missing, or the data directory has joined no network.
    """
    if options.engine == SOLO:
        return lambda report, failed: Publisher(
            chain, signer, families, report, failed, options.block_interval_s, component
        )
    path = find_program(options.cometbft)
    beginning = prepare(options.data, Pace(commit_s=options.block_interval_s))
    program = Program(path, options.data / HOME, beginning)
    return lambda report, failed: CometBft(
        chain, signer, families, program, report, failed, component
    )


def _tls(options: Options) -> Tls | None:
    """Return the TLS of REST; None: plain text.

    Raises:
        RejectedError: A file is invalid, or other machines would reach REST in plain text.
    """
    if options.tls is not None:
        return Tls(options.tls)
    if not (options.plain_text or is_loopback(options.host)):
        raise RejectedError(
            f"--rest {options.host}:{options.port} is open to other machines without TLS: expected "
            f"--tls-certificate and --tls-key, a loopback address, or --plain-text behind a proxy "
            f"with TLS"
        )
    return None


def _component(options: Options) -> Listening | None:
    """Return how the component port is opened; None if it stays closed.

    Raises:
        RejectedError: The options do not fit each other, or would open it to strangers.
        UnavailableError: The file of the key cannot be read or made.
    """
    file, clients = options.component_key, frozenset(options.component_clients)
    if options.component is None:
        if file is not None or clients:
            raise RejectedError("--component-key and --component-client need --component")
        return None
    secret = None if file is None else load_or_create(file, new_curve_key)
    return Listening(options.component, secret, clients)


@contextlib.contextmanager
def _opened(options: Options, families: Families) -> Iterator[tuple[Chain, Signer]]:
    """Open the data directory, its key and its chain; make the genesis block if missing."""
    make_directory(options.data)
    check_whole(options.data)
    with locked(options.data / "lock", f"data directory {options.data} is in use by another node"):
        if options.engine == COMETBFT:
            begin_again(options.data)
        default = options.key == options.data / "node.key"
        has_key = options.key.exists()
        signer = Signer.load_or_create(options.key) if default else Signer.load(options.key)
        chain = Chain.open(options.data)
        founds = options.engine == SOLO and chain.head is None
        if founds and default and has_key:  # also after a power cut at the first start
            _LOG.warning("%s holds a key and no block: founding a new network", options.data)
        try:
            _ensure_genesis(options, chain, signer, families)
            _check_settings(chain)
            yield chain, signer
        finally:
            chain.close()


@contextlib.contextmanager
def _component_port(at: Listening | None, families: Families) -> Iterator[Port | None]:
    """Open the component port, if requested."""
    if at is None:
        yield None
        return
    port = Port(at, families)
    try:
        yield port
    finally:
        port.stop()


@contextlib.contextmanager
def _light_port(options: Options) -> Iterator[socket.socket | None]:
    """Open the light port, if requested."""
    if options.light is None:
        yield None
        return
    with listening(*options.light) as port:
        yield port


def _ensure_genesis(options: Options, chain: Chain, signer: Signer, families: Families) -> None:
    if chain.head is not None:
        _check_engine(options, chain.head)
        if options.genesis:
            _LOG.info("--genesis is ignored: the chain in %s has a genesis block", options.data)
        return
    if options.engine == COMETBFT:
        return  # the engine brings its genesis
    batches = read_genesis(options.genesis)
    if not options.genesis:
        batches = [own_genesis(signer, options.admins or [signer.public_key])]
    found(chain, signer, families, batches)


def _check_engine(options: Options, head: StoredBlock) -> None:
    """Check that the engine is that which made the chain.

    Raises:
        RejectedError: It is another one.
    """
    made_by = SOLO if network_height(head.header) is None else COMETBFT
    if made_by != options.engine:
        raise RejectedError(
            f"the chain in {options.data} was made with --engine {made_by}, got --engine "
            f"{options.engine}; `wayseal-node export` and `replay` take a chain to another engine"
        )


def _check_settings(chain: Chain) -> None:
    """Check that this node can honour what the chain demands of it.

    Raises:
        RejectedError: It cannot. Only a node that ignored such settings can have committed them.
    """
    head = chain.head
    if head is None:
        return
    try:
        obeyed_after(chain.state_after(head.num))
    except RejectedError as error:
        raise RejectedError(
            f"block {head.num} demands what this node cannot honour: {error}; change the setting "
            "with the version of the node that committed it"
        ) from error


if __name__ == "__main__":
    main()
