"""Options that name one file. Argparse alone would keep the second of two and drop the first."""

import argparse
from pathlib import Path


class _Once(argparse.Action):
    def __call__(
        self,
        parser: argparse.ArgumentParser,  # noqa: ARG002 - argparse's signature
        namespace: argparse.Namespace,
        values: object,
        option_string: str | None = None,  # noqa: ARG002
    ) -> None:
        earlier = getattr(namespace, self.dest)
        if earlier is not None:
            raise argparse.ArgumentError(self, f"expected once, got {earlier} and {values}")
        setattr(namespace, self.dest, values)


def add_file(
    parser: "argparse._ActionsContainer", option: str, metavar: str, explanation: str
) -> None:
    """Add `option` to `parser`: one path, at most once."""
    parser.add_argument(option, action=_Once, type=Path, metavar=metavar, help=explanation)
