"""Ledgers whose drivers need an extra, which an installation may lack."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from typing import Final

from contracts.errors import RejectedError
from contracts.runtime.entries import not_installed

_ROLE: Final = "bench-ledgers"
"""Of `scripts/install`; it has the extras of all ledgers."""


@contextmanager
def needing(extra: str, ledger: str) -> Iterator[None]:
    """Import modules that need an extra.

    Args:
        extra: Its name.
        ledger: The ledger's name, for the error.

    Raises:
        RejectedError: A library is missing.
    """
    try:
        yield
    except ModuleNotFoundError as error:
        library = error.name or str(error)
        raise RejectedError(not_installed(library, ledger, extra, _ROLE)) from error


def need_processor(workloads: Sequence[str]) -> None:
    """Check that the processor of family `wayseal_bench` can run.

    Args:
        workloads: Names of those that are to be measured and belong to the family.

    Raises:
        RejectedError: There are some, and Sawtooth's SDK is missing.
    """
    if workloads and find_spec("sawtooth_sdk") is None:
        raise RejectedError(
            f"sawtooth-sdk is not installed: the workloads {', '.join(workloads)} run in a "
            "transaction processor, which needs the extra processor; in a checkout on x86-64, "
            "scripts/install bench installs it. Workloads without a processor: "
            "--ledger-workload readings, reading-runs and single-readings"
        )
