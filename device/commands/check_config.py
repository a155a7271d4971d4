"""`wayseal-device check-config`: looks at what the settings name, and changes nothing."""

from argparse import Namespace
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

from msgspec.structs import replace

from contracts.errors import RejectedError, UnavailableError, WaysealError
from contracts.keys import Signer
from contracts.runtime.checks import (
    Finding,
    Severity,
    connect,
    directory,
    error,
    files,
    guarded,
    ok,
    private,
    report,
    warning,
)
from contracts.runtime.commands import FAILED, WORKED
from device.agent import configured_source
from device.commands import check_sensors, check_service
from device.live.remarks import Remarks
from device.offload.ledger import pinned
from device.offload.mqtt import MqttConnection
from device.offload.upload import TusClient, check_site
from device.settings import GatewaySettings, Settings
from device.station import OFFLOAD_LOCK, offload_lock

_ANSWER_S: Final = 5
_NO_BROKER: Final = (
    "at the gateway: wayseal-gateway check, systemctl start mosquitto; or correct mqtt in the "
    "settings here"
)
_NO_GATEWAY: Final = (
    "at the gateway: wayseal-gateway doctor; or correct rest, tls_ca or site_id in the settings "
    "here"
)
_NO_KEY: Final = (
    "restore it; without a copy: move the data directory away, wayseal-device init, and have the "
    "new key registered"
)
_SEE_KEY: Final = "the line about `key` says what to do"
_COMPLETE: Final = "add it: docs/device.md has a complete file"
_LEFT_OUT: Final = "wayseal-device check FILE says why; take it out of [source] if nobody needs it"
_SENSORS: Final = 'driver = "sensors" and tables [[sensors]]: docs/device.md has a complete file'
_NOT_YET: Final = (
    "does not admit this device yet, which asks in by its certificate in its next offload"
)
_NOT_ASKED: Final = (
    "not looked at: whether its broker lets this device in, whether it is the site's and knows the "
    "token, and whether its key and ledger are those of the settings"
)


def run(arguments: Namespace, settings: Settings) -> int:
    """Print the findings; fail if there is an error among them."""
    well = report(findings(settings, offline=arguments.offline, config=arguments.config))
    return WORKED if well else FAILED


def findings(settings: Settings, *, offline: bool, config: Path | None = None) -> Iterator[Finding]:
    """Yield what was found on this machine, then for each gateway.

    Args:
        settings: Of this device.
        offline: Whether the gateways are not to be asked.
        config: The settings' file as `--config` names it; None: as usual.
    """
    yield ok("settings", f"device {settings.device_id}, data {settings.data}")
    yield from guarded(check_service.service(settings, config), "service")
    yield directory("data", settings.data, made=True)
    yield _key(settings)
    if settings.trip is None:
        yield warning(
            "[trip]", "missing: `record` and `run` need it, unless they join a trip", _COMPLETE
        )
    if settings.source is None:
        yield warning("[source]", "missing: `run`, and so the service, does not start", _SENSORS)
    else:
        named = (
            ("source.readings", settings.source.readings),
            ("source.track", settings.source.track),
        )
        found = [*files([*named, *(("source.videos", each) for each in settings.source.videos)])]
        yield from found
        if settings.source.driver == "replay" and all(
            each.severity is Severity.OK for each in found
        ):
            yield from _source(settings)
    yield from check_sensors.sensors(settings)
    yield from check_sensors.time_of_gpsd(settings)
    if not offline:
        yield from check_sensors.presence(settings, _signer(settings))
    if not settings.sites:
        words = "missing, as is [[gateways]]: `offload` and `run` need one"
        yield warning("[gateway]", words, f"wayseal-device enrol --claim CLAIM; or {_COMPLETE}")
    for gateway in settings.sites:
        section = f"{gateway.site_id}: gateways" if settings.gateways else "gateway"
        yield from _on_paper(gateway, section)
        if offline:
            yield warning(f"{gateway}", _NOT_ASKED, "once more without --offline")
        else:
            yield from _asked(gateway, section, settings)


def _source(settings: Settings) -> Iterator[Finding]:
    """Read the files of [source] from end to end, as `run` does before it records."""
    trip = settings.trip
    try:
        found = configured_source(settings, Remarks())
        if trip is not None:
            found.check_gives(trip.must_measure)
    except WaysealError as problem:
        yield error("source", problem, "wayseal-device check FILE... says what each file gives")
        return
    left_out = [each.name for each in found.derived_from if each.role == "left-out"]
    for line in found.lines():
        is_left_out = any(line.startswith(f"{name}: left out") for name in left_out)
        yield warning("source", line, _LEFT_OUT) if is_left_out else ok("source", line)


def _signer(settings: Settings) -> Signer | None:
    try:
        return Signer.load(settings.key_file)
    except WaysealError:  # `_key` tells it
        return None


def _key(settings: Settings) -> Finding:
    if not settings.key_file.exists():
        return error("key", f"{settings.key_file} is missing", "wayseal-device init")
    try:
        return ok("key", Signer.load(settings.key_file).public_key)
    except WaysealError as problem:
        return error("key", problem, private(settings.key_file, _NO_KEY))


def _on_paper(gateway: GatewaySettings, section: str) -> Iterator[Finding]:
    """Look at a gateway's settings, without a network."""
    token = "of the settings" if gateway.token else "given by the device's key"
    yield ok(f"{gateway}", f"token {token}, public keys: {len(gateway.public_keys)}")
    if not gateway.public_keys:
        remedy = "put the public_key there that `wayseal-gateway key` prints at the gateway"
        yield error(f"{section}.public_keys", "expected at least one key, got none", remedy)
    if gateway.genesis_block_id is None:
        remedy = "put the genesis_block_id there that `wayseal-gateway trust` prints"
        words = "missing: no receipt deletes anything here"
        yield warning(f"{section}.genesis_block_id", words, remedy)
    for name in ("mqtt_ca", "tls_ca", "tls_certificate", "tls_key"):
        yield from files([(f"{section}.{name}", getattr(gateway, name))])


def _asked(gateway: GatewaySettings, section: str, settings: Settings) -> Iterator[Finding]:
    """Ask who the gateway is, then whether broker and gateway know this device.

    As in an offload, a gateway of another site than the settings say is sent no token.
    """
    subject = f"gateway {gateway.rest}"
    try:
        told = check_site(gateway)
    except WaysealError as problem:
        if gateway.site_id is not None:
            yield error(subject, problem, _NO_GATEWAY)
            without = "no login: nothing there says that it is the site's gateway"
            yield _listens(gateway, without, _NO_GATEWAY)
            return
        why = f"public_keys and genesis_block_id are not compared: {problem}"
        yield warning(subject, why, "compare them with `wayseal-gateway key` and `trust`")
    else:
        if gateway.site_id is not None:
            yield ok(subject, f"is that of site {gateway.site_id}")
        yield from _trusted(gateway, section, told, settings)
    asks_in = gateway.tls_certificate is not None and not gateway.token
    try:
        if not gateway.token:
            gateway = gateway.with_token(Signer.load(settings.key_file), settings.device_id)
    except WaysealError as problem:
        yield _listens(gateway, "no login: the device's key gives no token", _SEE_KEY)
        yield error(subject, problem, _SEE_KEY)
        return
    yield _login(gateway, settings, asks_in=asks_in)
    try:
        with TusClient(gateway, settings.device_id) as client:
            client.check_token()
        yield ok(subject, "knows the token")
    except RejectedError as problem:
        if asks_in:
            yield _not_yet(subject, settings, problem)
        else:
            yield error(subject, problem, _admit(settings))
    except WaysealError as problem:
        yield error(subject, problem, _NO_GATEWAY)


def _trusted(
    gateway: GatewaySettings, section: str, told: Mapping[str, object], settings: Settings
) -> Iterator[Finding]:
    """Compare what this device trusts with what the gateway says of itself."""
    subject = f"gateway {gateway.rest}"
    key, genesis = told.get("public_key"), told.get("genesis_block_id")
    if key is None:
        why = "does not say its key and ledger: public_keys and genesis_block_id are not compared"
        yield warning(
            subject, why, "update the gateway, or compare with `wayseal-gateway key` and `trust`"
        )
        return
    known, pin = key in gateway.public_keys, pinned(gateway, settings.data)
    if gateway.public_keys and not known:
        yield error(
            f"{section}.public_keys",
            f"expected the key of the gateway at {gateway.rest}, {key!r:.80}, got "
            f"{', '.join(gateway.public_keys)}: none of its receipts counts here",
            "compare it with `wayseal-gateway key` at the gateway; if that is the same, add it",
        )
    if genesis is None:
        why = "has not reached its ledger yet: genesis_block_id is not compared"
        yield warning(subject, why, "wayseal-gateway doctor, at the gateway")
    elif pin is not None and genesis != pin:
        yield error(
            f"{section}.genesis_block_id",
            f"expected the ledger of the gateway at {gateway.rest}, {genesis!r:.140}, got "
            f"{pin}: no receipt of another ledger deletes anything here",
            "compare it with `wayseal-gateway trust`; if that is the same, put it in the settings",
        )
    elif known and pin is not None:
        yield ok(subject, "has the key and the ledger that the settings trust")


def _listens(gateway: GatewaySettings, without: str, remedy: str) -> Finding:
    subject = f"broker {gateway.mqtt}"
    try:
        connect((gateway.mqtt_host, gateway.mqtt_port), _ANSWER_S)
    except WaysealError as problem:
        return error(subject, problem, _NO_BROKER)
    return warning(subject, f"accepts connections; {without}", remedy)


def _not_yet(subject: str, settings: Settings, refusal: WaysealError) -> Finding:
    words = f"{_NOT_YET}; it says now: {_words(subject, refusal)}"
    register = f"wayseal-party register-device {settings.device_id}, if its owner has not"
    return warning(subject, words, f"{register}; then systemctl start wayseal-device")


def _login(gateway: GatewaySettings, settings: Settings, *, asks_in: bool) -> Finding:
    """Log in at the broker, unless that would end the session of an offload."""
    subject = f"broker {gateway.mqtt}"
    try:
        if (settings.data / OFFLOAD_LOCK).exists():
            with offload_lock(settings):
                pass
    except UnavailableError as problem:
        without = f"no login, which would end the session of the offload: {problem}"
        return _listens(gateway, without, "look again when the offload has ended")
    patient = replace(gateway, timeout_s=min(gateway.timeout_s, _ANSWER_S))
    try:
        with MqttConnection(patient, settings.device_id):
            return ok(subject, f"lets {settings.device_id} in with its token")
    except RejectedError as problem:
        if asks_in:
            return _not_yet(subject, settings, problem)
        return error(
            subject,
            _words(subject, problem),
            f"{_admit(settings)}; a mosquitto must have been told: wayseal-gateway mosquitto",
        )
    except UnavailableError as problem:
        return error(subject, _words(subject, problem), _NO_BROKER)


def _admit(settings: Settings) -> str:
    name = settings.device_id
    return f"at the gateway: wayseal-gateway token {name} --role device, or enrol this device"


def _words(subject: str, problem: WaysealError) -> str:
    """Return a problem without its subject, which stands before it."""
    return str(problem).removeprefix(subject).removeprefix(":").strip()
