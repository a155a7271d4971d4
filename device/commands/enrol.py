"""`wayseal-device enrol`: what each site's gateway needs to admit this device, a line each."""

import sys
from argparse import Namespace

from contracts.enrolment import Enrolment
from device.settings import Settings, SettingsError
from device.station import load_signer


def run(_: Namespace, settings: Settings) -> int:
    """Print this device's enrolments for the sites whose settings have no token of their own.

    Raises:
        SettingsError: There is no such site.
        RejectedError: The key is missing or damaged.
    """
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
