"""Readings in buckets, as REST shows them: columns, which are short and quick to draw."""

from collections.abc import Callable, Sequence

from pydantic import BaseModel, Field
from pydantic.config import JsonDict

from contracts.records.clock import moment
from contracts.rendered import signs
from gateway.api import words
from gateway.moments import Moment
from gateway.records import buckets

_EXAMPLE: JsonDict = {
    "from": "2027-01-15T08:00:00.000Z",
    "until": "2027-01-15T08:29:59.000Z",
    "readings": 1800,
    "bucket_s": 900.0,
    "times": ["2027-01-15T08:00:00.000Z", "2027-01-15T08:15:00.000Z"],
    "counts": [900, 900],
    "temperature_cel": {"min": [3.9, 4.1], "mean": [4.0, 5.2], "max": [4.2, 9.8]},
    "humidity_pct": {"min": [None, None], "mean": [None, None], "max": [None, None]},
    "pressure_hpa": {"min": [1012.1, 1012.0], "mean": [1012.2, 1012.1], "max": [1012.3, 1012.2]},
    "tamper": [[], ["lid-open"]],
    "positions": [[47.07, 15.43], None],
}


class QuantityColumn(BaseModel):
    """One quantity: a value for each bucket, null where it was not measured."""

    min: list[float | None]
    mean: list[float | None]
    max: list[float | None]


class ReadingColumns(BaseModel):
    """A trip's readings in buckets; every list has one item for each bucket."""

    model_config = {"json_schema_extra": {"examples": [_EXAMPLE]}, "populate_by_name": True}

    begin: Moment | None = Field(alias="from", description="the first reading; null without any")
    until: Moment | None = Field(description="the last reading; null without any")
    readings: int = Field(description="readings within the time that was asked for")
    bucket_s: float = Field(
        description="width of a bucket, seconds; 0: each bucket is one reading, and an empty one "
        "stands within each gap"
    )
    times: list[Moment] = Field(description="when each bucket begins")
    counts: list[int] = Field(description="readings of each bucket; 0: a gap")
    temperature_cel: QuantityColumn
    humidity_pct: QuantityColumn
    pressure_hpa: QuantityColumn
    tamper: list[list[words.TamperSign]] = Field(description="signs on any reading of the bucket")
    positions: list[list[float] | None] = Field(
        description="latitude and longitude of the bucket's first reading that has a position"
    )


def bucketed(found: buckets.BucketedReadings) -> ReadingColumns:
    """Return readings in buckets."""
    those = found.buckets
    return ReadingColumns(
        begin=moment(found.from_ms) if found.readings else None,
        until=moment(found.until_ms) if found.readings else None,
        readings=found.readings,
        bucket_s=found.width_ms / 1000,
        times=[moment(each.since_ms) for each in those],
        counts=[each.readings for each in those],
        temperature_cel=_column(those, lambda each: each.temperature, 1000),
        humidity_pct=_column(those, lambda each: each.humidity, 1000),
        pressure_hpa=_column(those, lambda each: each.pressure, 100),
        tamper=[signs(each.tamper) for each in those],
        positions=[
            None if each.position is None else [each.position[0] / 1e7, each.position[1] / 1e7]
            for each in those
        ],
    )


def _column(
    those: Sequence[buckets.Bucket], of: Callable[[buckets.Bucket], buckets.Summary], scale: int
) -> QuantityColumn:
    def shown(values: Sequence[float | None]) -> list[float | None]:
        return [None if each is None else round(each / scale, 4) for each in values]

    summaries = [of(each) for each in those]
    return QuantityColumn(
        min=shown([each.low for each in summaries]),
        mean=shown([each.mean for each in summaries]),
        max=shown([each.high for each in summaries]),
    )
