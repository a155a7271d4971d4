"""`wayseal-bench io` with little to do, on volumes alone."""

from pathlib import Path
from typing import Final

from storage.bench.run.document import Document
from storage.bench.run.savedrun import opened
from storage.bench.wayseal_bench import main

VOLUMES_ALONE: Final = ("--video-gb", "0", "--gateway-video-gb", "0")
"""Without Cassandra and gateway, which have tests of their own."""


def io(directory: Path, *words: str) -> Document:
    """Run the command; return its result."""
    sizes = ("--direct-gb", "0.03", "--working-set-gb", "0.03", "--sweep-reads", "50")
    points = ("--sweep-patterns", "random", "--sweep-blocks", "4k", "--sweep-depths", "4")
    shape = ("--quick", "--repetitions", "1", *VOLUMES_ALONE)
    main(["io", *shape, "--out", str(directory), *sizes, *points, *words])
    (run,) = directory.iterdir()
    return opened(run).result
