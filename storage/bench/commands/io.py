"""`wayseal-bench io`: the gateway's storage on each volume."""

import argparse
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Final

from storage.bench.io.cassandra import add_cassandra_options, prepare_cassandra
from storage.bench.io.gateway import add_gateway_options, prepare_gateway
from storage.bench.io.volumes import add_volume_options, prepare_volumes
from storage.bench.run.part import Prepared, Setup
from storage.bench.run.plan import Part


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of workloads: its options, and its groups; see `PartCommand`."""

    add_options: Callable[[argparse.ArgumentParser], None]
    prepare: Callable[[argparse.Namespace, Setup, ExitStack], Prepared]


KINDS: Final[Sequence[Kind]] = (
    Kind(add_volume_options, prepare_volumes),
    Kind(add_cassandra_options, prepare_cassandra),
    Kind(add_gateway_options, prepare_gateway),
)


class Io:
    """The part."""

    part = Part.IO

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        """See `PartCommand.add_options`."""
        for kind in KINDS:
            kind.add_options(parser)

    def prepare(self, options: argparse.Namespace, setup: Setup, stack: ExitStack) -> Prepared:
        """Prepare all kinds before any of them begins."""
        prepared = [kind.prepare(options, setup, stack) for kind in KINDS]
        return Prepared(
            [group for each in prepared for group in each.groups],
            {name: value for each in prepared for name, value in each.settings.items()},
            [target for each in prepared for target in each.targets],
            [note for each in prepared for note in each.notes],
        )
