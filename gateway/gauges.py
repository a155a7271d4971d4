"""A metric and its samples, as plain data; `gateway.metrics` writes them for Prometheus."""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Family:
    """One gauge.

    Attributes:
        name: Ends with its base unit, as Prometheus has it: `_bytes`, `_timestamp_seconds`.
        help: In one sentence.
        labels: Names of the labels.
        samples: Values by the values of the labels, in the order of `labels`. What nobody knows is
            left out: a made-up number would look like all is well.
    """

    name: str
    help: str
    labels: tuple[str, ...] = ()
    samples: Mapping[tuple[str, ...], float] = field(default_factory=dict)


def gauge(name: str, words: str, value: float | None) -> Family:
    """Return a gauge without labels; without a sample for None."""
    return Family(name, words, (), {} if value is None else {(): value})


def timestamp(name: str, words: str, at_ms: int | None) -> Family:
    """Return a gauge with a moment, given in ms since the epoch."""
    return gauge(f"{name}_timestamp_seconds", words, None if at_ms is None else at_ms / 1000)


def by_label(name: str, words: str, label: str, samples: Mapping[str, float]) -> Family:
    """Return a gauge with one label."""
    return Family(name, words, (label,), {(key,): value for key, value in samples.items()})
