"""Makes many remarks few, without hiding anything: what came and went becomes one long span."""

from collections.abc import Iterable, Sequence

from contracts.records.remark import Remark, RemarkKind

Place = tuple[RemarkKind, str]


def still_open(remarks: Iterable[Remark]) -> list[Place]:
    """Return kind and subject of each thing that begins in `remarks` and does not end there."""
    begun: dict[Place, None] = {}
    for each in remarks:
        place = (each.kind, each.subject)
        if each.ended:
            begun.pop(place, None)
        elif not each.kind.happens_once:
            begun[place] = None
    return list(begun)


def folded(remarks: Sequence[Remark]) -> list[Remark]:
    """Return `remarks` with one span in place of all spans of the same kind and subject.

    It lasts from the first beginning to the last end, so a sensor that was lost fifty times counts
    as lost all the time: too much may be claimed, but never too little. What happens once stays.

    Args:
        remarks: In the order in which they happened.
    """
    first: dict[Place, int] = {}
    last: dict[Place, int] = {}
    for at, each in enumerate(remarks):
        if not each.kind.happens_once:
            first.setdefault((each.kind, each.subject), at)
            last[each.kind, each.subject] = at
    kept = {at for at in first.values() if not remarks[at].ended}
    kept |= {at for at in last.values() if remarks[at].ended}
    return [each for at, each in enumerate(remarks) if each.kind.happens_once or at in kept]
