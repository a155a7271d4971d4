"""Which trips are asked for, from the query: by order, lot, site, place and breach."""

from typing import Annotated, Final

from fastapi import Depends, Query

from contracts.errors import RejectedError
from contracts.text import quoted
from gateway.api.parts import RecordsPart
from gateway.records.tracing import LotId
from gateway.records.tripsabout import Near, TripsAbout

WITHIN_KM_MAX: Final = 500
_LATITUDE_MAX: Final = 90.0
_LONGITUDE_MAX: Final = 180.0


def _about(  # noqa: PLR0913 - one for each parameter of the query
    records: RecordsPart,
    order_id: Annotated[str | None, Query(description="only trips with this order")] = None,
    gtin: Annotated[str | None, Query(description="with `lot`: only trips with this lot")] = None,
    lot: Annotated[str | None, Query(description="with `gtin`: only trips with this lot")] = None,
    site_id: Annotated[
        str | None, Query(description="only trips that begin, end or stop at this site")
    ] = None,
    gln: Annotated[str | None, Query(description="the same, by the site's GLN")] = None,
    near: Annotated[
        str | None,
        Query(description="only trips that were there: latitude,longitude such as 47.07,15.43"),
    ] = None,
    within_km: Annotated[
        float, Query(gt=0, le=WITHIN_KM_MAX, description="how far from `near`, kilometres")
    ] = 5.0,
    *,
    breached: Annotated[bool, Query(description="only trips with a breach")] = False,
) -> TripsAbout:
    if (gtin is None) != (lot is None):
        raise RejectedError("query: expected gtin and lot together, got one of them")
    sites = [{site_id}] if site_id is not None else []
    sites += [set(records.search.sites_of(gln))] if gln is not None else []
    return TripsAbout(
        order_id=order_id,
        site_ids=tuple(sorted(set.intersection(*sites))) if sites else None,
        lot=None if gtin is None or lot is None else LotId(gtin, lot),
        near=None if near is None else _near(near, within_km),
        breached=breached,
    )


def _near(text: str, within_km: float) -> Near:
    try:
        latitude, longitude = map(float, text.split(","))
    except ValueError:
        latitude = longitude = float("nan")
    if not (abs(latitude) <= _LATITUDE_MAX and abs(longitude) <= _LONGITUDE_MAX):
        raise RejectedError(f"query.near: expected latitude,longitude, got {quoted(text)}")
    return Near(latitude, longitude, within_km * 1000)


About = Annotated[TripsAbout, Depends(_about)]
