"""`wayseal-gateway serve`: the gateway's process."""

import argparse
import secrets
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager

from contracts.backup.restoring import check_whole
from contracts.backup.shelf import newest_made_ms
from contracts.runtime.files import locked, make_directory
from contracts.runtime.serving.server import Server, event_loop, listening
from contracts.runtime.serving.tls import Tls
from gateway import plaintext
from gateway.api import tus
from gateway.api.app import build_app
from gateway.figures.watch import figures
from gateway.peoplefirst import Answers, GivingWay
from gateway.pki.revoked import revoked_serials
from gateway.services import Services
from gateway.settings import Settings


def run(_: argparse.Namespace, settings: Settings) -> None:
    """Run the gateway until SIGTERM or SIGINT.

    Raises:
        RejectedError: Tokens would cross a network in plain text, or a file of TLS is invalid.
    """
    plaintext.refuse(settings)
    files = settings.tls.files
    tls = None if files is None else Tls(files, revoked_serials)
    make_directory(settings.data)
    check_whole(settings.data)
    lock = locked(
        settings.data / "lock", f"data directory {settings.data} is in use by another gateway"
    )
    answers = Answers()
    with (
        lock,
        listening(settings.rest.host, settings.rest.port) as port,
        _broker(settings, GivingWay(answers)) as reachable,
        closing(Services(reachable, answers)) as services,
    ):
        services.start()
        app = build_app(services)
        server = Server(
            app,
            also=f"mqtt={reachable.broker}",
            on_exit=services.uploads.lanes.leave,
            lifespan=True,
            bounds=reachable.rest.bounds,
            ended=services.metrics.connection_ended,
            headers=tus.HEADERS,  # it answers so before it knows what is asked for
        )
        server.tls = tls
        services.metrics.watch_connections(lambda: server.doors.count)
        services.metrics.watch_deletions(lambda: services.settling.count)
        if (directory := settings.backup.directory) is not None:
            services.metrics.watch_backups(lambda: newest_made_ms(directory, "gateway"))
        with figures(services), event_loop() as runner:
            runner.run(server.serve(sockets=[port]))


@contextmanager
def _broker(settings: Settings, give_way: Callable[[], None]) -> Iterator[Settings]:
    """Run an embedded broker, if set, with a password that only this process knows."""
    mqtt = settings.mqtt
    if not mqtt.embedded:
        yield settings
        return
    # Imported late: a gateway with its own broker needs no second one in memory.
    from gateway.intake.broker import BrokerAccess, EmbeddedBroker  # noqa: PLC0415

    password = secrets.token_urlsafe()
    access = BrokerAccess(settings.tokens_file, mqtt.username, password)
    with closing(EmbeddedBroker(mqtt.host, mqtt.port, access, give_way)) as broker:
        mqtt = mqtt.model_copy(update={"password": password, "port": broker.port})
        yield settings.model_copy(update={"mqtt": mqtt})
