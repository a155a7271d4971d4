"""The price of little memory for a ledger, in a sentence for each target."""

from collections.abc import Iterator, Sequence
from typing import Final

from storage.bench.report.numbers import digits, scale, text, unit_of
from storage.bench.run.document import Document
from storage.bench.run.savedrun import these

_RATES: Final = ("roomy-committed-rate", "limited-committed-rate")
_READ: Final = "limited-read-per-transaction"
_NEEDED: Final = (*_RATES, _READ, "committed-rate-ratio", "memory-limit", "state")


def sentences(figures: Sequence[Document]) -> Iterator[str]:
    """Yield the sentences of a workload, if it has such figures.

    Args:
        figures: Of the workload, of all targets.
    """
    for (target,), some in these(figures, "target").items():
        found = {each["metric"]: each for each in some}
        if set(_NEEDED) <= found.keys():
            yield f"{target}: {_sentence(found)}"


def _sentence(found: dict[str, Document]) -> str:
    medians = {name: each["median"] for name, each in found.items()}
    suits = scale([medians[name] for name in _RATES], unit_of(found[_RATES[0]]))
    roomy, limited = (suits.text(medians[name]) for name in _RATES)
    return (
        f"with {text(medians['memory-limit'], 'B')} of memory for a state of "
        f"{text(medians['state'], 'B')}, the node commits {limited} instead of {roomy}, "
        f"{digits(medians['committed-rate-ratio'])} of it, and reads {text(medians[_READ], 'B')} "
        "from the disk for each transaction."
    )
