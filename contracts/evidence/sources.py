"""The lots from which delivered lots were made, as far as the file shows them."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from contracts import address
from contracts.proto.state_pb2 import Transformation


def inputs_by_output(transformations: Iterable[Transformation]) -> Mapping[str, Sequence[str]]:
    """Return, by the address of a lot, the addresses of the lots that it was made from."""
    found: defaultdict[str, list[str]] = defaultdict(list)
    for each in transformations:
        inputs = [address.lot(lot.gtin, lot.lot) for lot in each.terms.inputs]
        for made in each.terms.outputs:
            found[address.lot(made.gtin, made.lot)] += inputs
    return found


def sources_of(lots: Sequence[str], made_from: Mapping[str, Sequence[str]]) -> list[str]:
    """Return the addresses of all lots behind these ones, each once, the nearest first."""
    met, level = set(lots), list(lots)
    found: list[str] = []
    while level:
        inputs = dict.fromkeys(each for made in level for each in made_from.get(made, ()))
        level = [each for each in inputs if each not in met]
        met.update(level)
        found += level
    return found
