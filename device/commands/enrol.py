"""`wayseal-device enrol`: how each site's gateway comes to admit this device."""

import sys
from argparse import Namespace

from contracts.enrolment import Enrolment
from contracts.errors import RejectedError
from contracts.keys import Signer
from device.commands.claims import claim_of
from device.settings import Settings, SettingsError
from device.station import load_signer


def run(arguments: Namespace, settings: Settings) -> int:
    """Print this device's enrolments for its sites, or use a claim at one site.

    Raises:
        SettingsError: There is no such site.
        RejectedError: The key is missing or damaged, or the gateway refuses the claim.
        UnavailableError: The gateway does not answer, or a file cannot be written.
    """
    if arguments.claim is not None or arguments.camera is not None:
        return _claim(arguments, settings)
    sites = [each.site_id for each in settings.sites if each.site_id and not each.token]
    if not sites:
        raise SettingsError(
            "expected a table of [[gateways]], or [gateway], with site_id and without token; "
            "got none, so there is nothing to enrol"
        )
    signer = load_signer(settings)
    for site_id in sites:
        sys.stdout.write(Enrolment.sign(signer, settings.device_id, site_id).to_json() + "\n")
    return 0


def _claim(arguments: Namespace, settings: Settings) -> int:
    """Get this device's certificate from the first gateway, or from that of one site."""
    from device.offload.est import enrol  # noqa: PLC0415  # a library that no other run needs

    signer = load_signer(settings)
    gateway = settings.sites_of(arguments.site)[0]
    claim = claim_of(arguments)
    if claim.device_id not in (None, settings.device_id):
        raise RejectedError(
            f"expected a claim of {settings.device_id}, as the settings say, got one of "
            f"{claim.device_id}"
        )
    line = _line(signer, settings, gateway.site_id, gateway.token)
    enrol(gateway, settings.tls_files, claim, settings.device_id, line)
    admitted = "" if line is None else f", and site {gateway.site_id} admits it"
    sys.stdout.write(
        f"device {settings.device_id} has a certificate in {settings.tls_files.folder}{admitted}\n"
    )
    return 0


def _line(signer: Signer, settings: Settings, site_id: str | None, token: str) -> Enrolment | None:
    """Return the enrolment for a site, unless the settings have its own token for it."""
    if site_id is None or token:
        return None
    return Enrolment.sign(signer, settings.device_id, site_id)
