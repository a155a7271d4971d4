"""The table of a delivery's life as docs/contract.md prints it."""

from collections.abc import Iterator

from contracts.proto.payload_pb2 import Payment
from contracts.proto.state_pb2 import Delivery
from contracts.rules.life import LIFE, Step


def rows() -> Iterator[str]:
    """Yield the rows of the table, in Markdown."""
    for status, steps in LIFE.items():
        state = _quoted(status) if status else ""
        yield from (f"| {state} | {_cells(step)} |" for step in steps.values())
        if not steps:
            yield f"| {state} | nothing: an end | | | |"


def _cells(step: Step) -> str:
    follows = _quoted(step.to) if step.to else "from the facts"
    paid = " or ".join(f"`{Payment.Name(each)}`" for each in step.payments)
    return f"`{step.word.value}` | {step.by.value} | {follows} | {paid}".rstrip()


def _quoted(status: Delivery.Status) -> str:
    return f"`{Delivery.Status.Name(status)}`"
