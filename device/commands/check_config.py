"""`wayseal-device check-config`: looks at what the settings name, and changes nothing."""

from argparse import Namespace
from collections.abc import Iterator
from typing import Final

from contracts.errors import WaysealError
from contracts.keys import Signer
from contracts.runtime.checks import Finding, connect, directory, error, files, ok, report, warning
from contracts.runtime.commands import FAILED, WORKED
from device.offload.upload import TusClient, check_site
from device.settings import GatewaySettings, Settings

_ANSWER_S: Final = 5.0


def run(arguments: Namespace, settings: Settings) -> int:
    """Print the findings; fail if there is an error among them."""
    well = report(findings(settings, offline=arguments.offline))
    return WORKED if well else FAILED


def findings(settings: Settings, *, offline: bool) -> Iterator[Finding]:
    """Yield what was found on this machine, then for each gateway, which `offline` does not ask."""
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
    if not settings.sites:
        yield warning("[gateway]", "missing, as is [[gateways]]: `offload` and `run` need one")
    for gateway in settings.sites:
        yield from _on_paper(
            gateway, f"{gateway.site_id}: gateways" if settings.gateways else "gateway"
        )
        if not offline:
            yield from _asked(gateway, settings)


def _key(settings: Settings) -> Finding:
    if not settings.key_file.exists():
        return error("key", f"{settings.key_file} is missing; `wayseal-device init` makes it")
    try:
        return ok("key", Signer.load(settings.key_file).public_key)
    except WaysealError as problem:
        return error("key", problem)


def _on_paper(gateway: GatewaySettings, section: str) -> Iterator[Finding]:
    """Look at a gateway's settings, without a network."""
    token = "of the settings" if gateway.token else "given by the device's key"
    yield ok(f"{gateway}", f"token {token}, public keys: {len(gateway.public_keys)}")
    if not gateway.public_keys:
        yield error(f"{section}.public_keys", "expected at least one key, got none")
    if gateway.genesis_block_id is None:
        yield warning(f"{section}.genesis_block_id", "missing: no receipt deletes anything here")
    yield from files([(f"{section}.mqtt_ca", gateway.mqtt_ca)])


def _asked(gateway: GatewaySettings, settings: Settings) -> Iterator[Finding]:
    """Look whether the broker listens, and whether the gateway is the site's and knows the token.

    No login at the broker: it would end the session of an offload that is under way.
    """
    try:
        connect((gateway.mqtt_host, gateway.mqtt_port), _ANSWER_S)
        yield ok(f"broker {gateway.mqtt}", "accepts connections")
    except WaysealError as problem:
        yield error(f"broker {gateway.mqtt}", problem)
    try:
        if gateway.site_id is not None:
            check_site(gateway)
            yield ok(f"gateway {gateway.rest}", f"is that of site {gateway.site_id}")
        if not gateway.token:
            gateway = gateway.with_token(Signer.load(settings.key_file), settings.device_id)
        with TusClient(gateway, settings.device_id) as client:
            client.check_token()
        yield ok(f"gateway {gateway.rest}", "knows the token")
    except WaysealError as problem:
        yield error(f"gateway {gateway.rest}", problem)
