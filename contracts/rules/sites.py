"""Sites as other rules ask about them: is one registered, does a trip go there."""

from contracts import address
from contracts.proto.payload_pb2 import StartTrip
from contracts.rules.case import Case, invalid
from contracts.rules.ids import Rule


def sites_of(start: StartTrip) -> list[str]:
    """Return the sites of a trip in the order of the drive, each once."""
    names = (start.origin_site_id, *start.via_site_ids, start.destination_site_id)
    return list(dict.fromkeys(names))


def is_registered(case: Case, site_id: str) -> bool:
    """Say whether the ledger knows a site."""
    return case.context.get(address.site(site_id)) is not None


def require_site(case: Case, site_id: str) -> None:
    """Check that a site is registered.

    Raises:
        InvalidTransactionError: It is not.
    """
    if not is_registered(case, site_id):
        raise invalid(Rule.UNKNOWN_SITE, f"site {site_id!r} is not registered")
