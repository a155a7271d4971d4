"""Files of workloads: how fio opens them, and how they are written first."""

from storage.bench.io.content import Content
from storage.bench.io.fio import Options, quoted, run, unanswered_s
from storage.bench.io.ground import Ground
from storage.bench.io.measured import Method


def on_file(file: str, ground: Ground, method: Method) -> Options:
    """Return fio's options for a file on a target."""
    return {**method.options(ground), "filename": quoted(ground.file(file))}


def writing(content: Content) -> Options:
    """Return fio's options to write it all, the final fsync counted, nothing allocated before."""
    return {**content.options, "end_fsync": 1, "fallocate": "none"}


def write_whole(file: str, ground: Ground, method: Method, content: Content, passes: int) -> None:
    """Write a file so many times, unmeasured.

    Raises:
        UnavailableError: fio failed.
    """
    options = {**on_file(file, ground, method), **writing(content), "loops": passes}
    run({"layout": options}, unanswered_s([content.size_bytes] * passes))
