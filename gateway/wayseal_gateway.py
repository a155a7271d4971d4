"""`wayseal-gateway`: the checkpoint's process, and its administrative commands."""

import argparse
import json
import logging
import os
import secrets
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import NoReturn

from contracts.errors import RejectedError, WaysealError
from contracts.ledger.client import LedgerClient
from contracts.runtime.checks import report
from contracts.runtime.commands import (
    FAILED,
    WORKED,
    WRONG_USAGE,
    add_version,
    complain,
    keep_files_private,
    write_for_any_terminal,
)
from contracts.runtime.files import locked, make_directory
from contracts.runtime.serving.server import Server, event_loop, listening
from gateway import tokencommand
from gateway.access import Tokens
from gateway.api import tus
from gateway.api.app import build_app
from gateway.check import findings
from gateway.intake.broker import BrokerAccess, EmbeddedBroker
from gateway.ownkey import accept_key, shown_key
from gateway.records.evidence import trust_of
from gateway.services import Services
from gateway.settings import Settings
from gateway.settings_file import load_settings
from gateway.volumes import cli as volumes

_EPILOG = """\
exit status: 0 it worked, 1 it did not, 2 wrong usage or settings

examples:
  wayseal-gateway serve --config gateway.toml
  wayseal-gateway check --config gateway.toml
  wayseal-gateway token truck-7 --role device --config gateway.toml
  wayseal-gateway token --list --config gateway.toml
  wayseal-gateway key --config gateway.toml
  wayseal-gateway mosquitto --config gateway.toml
  wayseal-gateway volumes --config gateway.toml"""


def main(arguments: list[str] | None = None) -> NoReturn:
    """Run `wayseal-gateway`; exit as its help says."""
    write_for_any_terminal()
    keep_files_private()
    options = _parse(arguments)
    logging.basicConfig(
        level=logging.INFO, format="%(asctime)s %(levelname)s %(name)s: %(message)s"
    )
    logging.getLogger("httpx").setLevel(logging.WARNING)
    settings = None
    try:
        settings = load_settings(options.config)
    except RejectedError as error:
        if options.config is not None or not options.without_settings:
            complain("wayseal-gateway", error)
            sys.exit(WRONG_USAGE)
        options.without_settings = str(error)
    try:
        options.run(options, settings)
    except WaysealError as error:
        complain("wayseal-gateway", error)
        sys.exit(FAILED)
    sys.exit(WORKED)


def serve(_: argparse.Namespace, settings: Settings) -> None:
    """Run the gateway until SIGTERM or SIGINT."""
    make_directory(settings.data)
    lock = locked(
        settings.data / "lock", f"data directory {settings.data} is in use by another gateway"
    )
    with (
        lock,
        listening(settings.rest.host, settings.rest.port) as port,
        _broker(settings) as reachable,
        closing(Services(reachable)) as services,
    ):
        services.start()
        app = build_app(services, Tokens(settings.tokens_file, services.damage))
        server = Server(
            app,
            also=f"mqtt={reachable.broker}",
            lifespan=True,
            bounds=reachable.rest.bounds,
            ended=services.metrics.connection_ended,
            headers=tus.HEADERS,  # it answers so before it knows what is asked for
        )
        services.metrics.watch_connections(lambda: server.doors.count)
        services.metrics.watch_deletions(lambda: services.settling.count)
        with event_loop() as runner:
            runner.run(server.serve(sockets=[port]))


def check(options: argparse.Namespace, settings: Settings) -> None:
    """Look at all that the settings name, and change nothing."""
    if not report(findings(settings, offline=options.offline)):
        raise RejectedError("the lines with `error` say what to mend")


def mosquitto(_: argparse.Namespace, settings: Settings) -> None:
    """Write the configuration of the site's mosquitto, and have a running one read it."""
    written = tokencommand.write_mosquitto(settings)
    print(
        json.dumps(
            {
                "folder": str(written.folder),
                "devices": written.devices,
                "reloaded": written.reloaded,
            }
        )
    )


def key(options: argparse.Namespace, settings: Settings) -> None:
    """Print the public key that signs this gateway's receipts; make the key if it is missing."""
    signer = accept_key(settings) if options.accept else shown_key(settings)
    print(json.dumps({"site_id": settings.site_id, "public_key": signer.public_key}))


def trust(_: argparse.Namespace, settings: Settings) -> None:
    """Print a trust file with the ledger's keys of today; check them by another way."""
    with closing(LedgerClient(settings.ledger.url)) as ledger:
        print(trust_of(ledger).to_json(), end="")


@contextmanager
def _broker(settings: Settings) -> Iterator[Settings]:
    """Run an embedded broker, if set, with a password that only this process knows."""
    mqtt = settings.mqtt
    if not mqtt.embedded:
        yield settings
        return
    password = secrets.token_urlsafe()
    access = BrokerAccess(settings.tokens_file, mqtt.username, password)
    with closing(EmbeddedBroker(mqtt.host, mqtt.port, access)) as broker:
        mqtt = mqtt.model_copy(update={"password": password, "port": broker.port})
        yield settings.model_copy(update={"mqtt": mqtt})


def _parse(arguments: list[str] | None) -> argparse.Namespace:
    default = os.environ.get("WAYSEAL_GATEWAY_CONFIG")
    parser = argparse.ArgumentParser(
        prog="wayseal-gateway",
        parents=[_common(Path(default) if default else None)],
        description="The checkpoint: takes in the records of trucks, and answers auditors.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add_version(parser)
    parser.set_defaults(without_settings=False)
    common = _common(argparse.SUPPRESS)  # or its default would replace a value before the command
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    for run, name in (
        (serve, "serve"),
        (check, "check"),
        (key, "key"),
        (trust, "trust"),
        (mosquitto, "mosquitto"),
    ):
        command = commands.add_parser(name, parents=[common], help=_first_line(run.__doc__))
        command.set_defaults(run=run)
        if run is check:
            command.add_argument(
                "--offline", action="store_true", help="do not ask ledger, broker and Cassandra"
            )
        if run is key:
            command.add_argument(
                "--accept",
                action="store_true",
                help="take a key that is new on purpose; trucks must learn its public half",
            )
    tokencommand.add(commands, common)
    volumes.add(commands, common)
    return parser.parse_args(arguments)


def _common(default: Path | str | None) -> argparse.ArgumentParser:
    common = argparse.ArgumentParser(add_help=False)
    common.add_argument(
        "--config",
        metavar="FILE",
        type=Path,
        default=default,
        help="settings, TOML (default: $WAYSEAL_GATEWAY_CONFIG); WAYSEAL_… variables override it",
    )
    return common


def _first_line(text: str | None) -> str:
    return (text or "").partition("\n")[0]
