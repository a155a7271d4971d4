"""`wayseal-device check-config`: looks at what the settings name, and changes nothing."""

from argparse import Namespace
from collections.abc import Iterator
from typing import Final

from contracts.errors import WaysealError
from contracts.keys import Signer
from contracts.runtime.checks import Finding, connect, directory, error, files, ok, report, warning
from contracts.runtime.commands import FAILED, WORKED
from device.offload.upload import TusClient
from device.settings import GatewaySettings, Settings

_ANSWER_S: Final = 5.0


def run(arguments: Namespace, settings: Settings) -> int:
    """Print the findings; fail if there is an error among them."""
    well = report(findings(settings, offline=arguments.offline))
    return WORKED if well else FAILED


def findings(settings: Settings, *, offline: bool) -> Iterator[Finding]:
    """Yield what was found, first on this machine, then unless `offline` at the gateway."""
    yield ok("settings", f"device {settings.device_id}, data {settings.data}")
    yield directory("data", settings.data, made=True)
    yield _key(settings)
    if settings.trip is None:
        yield warning("[trip]", "missing: `record` and `run` need it, unless they join a trip")
    if settings.source is not None:
        named = (
            ("source.readings", settings.source.readings),
            ("source.track", settings.source.track),
        )
        yield from files([*named, *(("source.videos", each) for each in settings.source.videos)])
    if settings.gateway is None:
        yield warning("[gateway]", "missing: `offload` and `run` need it")
        return
    yield from _receipts(settings.gateway)
    yield from files([("gateway.mqtt_ca", settings.gateway.mqtt_ca)])
    if not offline:
        yield from _gateway(settings.gateway, settings.device_id)


def _key(settings: Settings) -> Finding:
    if not settings.key_file.exists():
        return error("key", f"{settings.key_file} is missing; `wayseal-device init` makes it")
    try:
        return ok("key", Signer.load(settings.key_file).public_key)
    except WaysealError as problem:
        return error("key", problem)


def _receipts(gateway: GatewaySettings) -> Iterator[Finding]:
    if not gateway.public_keys:
        yield error("gateway.public_keys", "expected at least one key, got none")
    if gateway.genesis_block_id is None:
        yield warning("gateway.genesis_block_id", "missing: no receipt deletes anything here")


def _gateway(gateway: GatewaySettings, device_id: str) -> Iterator[Finding]:
    """Look whether the broker listens, and whether the gateway knows the token.

    No login at the broker: it would end the session of an offload that is under way.
    """
    try:
        connect((gateway.mqtt_host, gateway.mqtt_port), _ANSWER_S)
        yield ok(f"broker {gateway.mqtt}", "accepts connections")
    except WaysealError as problem:
        yield error(f"broker {gateway.mqtt}", problem)
    try:
        with TusClient(gateway, device_id) as client:
            client.check_token()
        yield ok(f"gateway {gateway.rest}", "knows the token")
    except WaysealError as problem:
        yield error(f"gateway {gateway.rest}", problem)
