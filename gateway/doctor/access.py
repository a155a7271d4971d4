"""Tokens that admit nobody any more, or soon will not."""

from collections.abc import Iterator
from typing import Final

from contracts.errors import WaysealError
from contracts.records.clock import rfc3339
from contracts.runtime.checks import Finding, warning
from gateway.access import Tokens
from gateway.settings import Settings

SOON_DAYS: Final = 30
_DAY_MS: Final = 86_400_000


def findings(settings: Settings, now_ms: int) -> Iterator[Finding]:
    """Yield a finding for each token that has expired or expires soon."""
    try:
        entries = Tokens(settings.tokens_file).entries()
    except WaysealError:
        return  # `check` tells it
    for each in entries:
        if each.expires_ms is None or each.expires_ms > now_ms + SOON_DAYS * _DAY_MS:
            continue
        at = rfc3339(each.expires_ms)
        subject = f"token {each.name}"
        longer = f"wayseal-gateway token {each.name} --expires-days 365"
        if each.has_expired(now_ms):
            remedy = f"{longer}; if nobody needs it: wayseal-gateway token {each.name} --revoke"
            yield warning(subject, f"expired at {at}: it admits nobody", remedy)
        else:
            left = (each.expires_ms - now_ms) // _DAY_MS
            yield warning(subject, f"expires in {left} days, at {at}", longer)
