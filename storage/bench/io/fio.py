"""fio, the engine of all volume workloads: its call, its time limit, its JSON. Source: fio(1)."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from contracts.errors import UnavailableError
from storage.drives.tools import Said, run_tool

FIO_TIMEOUT_S: Final = 120
"""Beyond the time that its jobs take."""
SLOWEST_BYTES_PER_S: Final = 5_000_000
"""A slower volume counts as not answering."""
PERCENTILES: Final = (50.0, 68.0, 90.0, 95.0, 99.0, 99.7, 99.9)
ENGINES: Final = ("io_uring", "libaio")
"""Engines that really keep many requests under way; the first that works is used."""
_VERSION_TIMEOUT_S: Final = 10
_BEGIN: Final = re.compile(r"^\{", re.MULTILINE)
_NS_PER_S: Final = 1e9
_MS_PER_S: Final = 1e3

Options = Mapping[str, str | int]
"""Of one job, by fio's own names."""


@dataclass(frozen=True, slots=True)
class Timings:
    """How long operations of one kind took.

    Attributes:
        count: Operations.
        bins: How many operations, by seconds: fio's bins are 1/64 of that wide at most.
        percentiles_s: By per cent; seconds.
    """

    count: int
    bins: Mapping[float, int]
    percentiles_s: Mapping[float, float]


@dataclass(frozen=True, slots=True)
class Transfer:
    """The transfer of one job in one direction.

    Attributes:
        elapsed_s: From the first request to the last answer, the final fsync included.
    """

    moved_bytes: int
    elapsed_s: float
    timings: Timings

    @property
    def rate(self) -> float:
        """Return bytes per second."""
        return self.moved_bytes / self.elapsed_s if self.elapsed_s else 0.0

    @property
    def operations_per_s(self) -> float:
        """Return operations per second."""
        return self.timings.count / self.elapsed_s if self.elapsed_s else 0.0


@dataclass(frozen=True, slots=True)
class Job:
    """The result of one job.

    Attributes:
        sync: Its fsyncs or fdatasyncs, without the final one.
    """

    read: Transfer
    write: Transfer
    sync: Timings


@dataclass(frozen=True, slots=True)
class Report:
    """The output of fio.

    Attributes:
        jobs: By name.
        raw: The whole output.
    """

    jobs: Mapping[str, Job]
    raw: bytes


def version() -> str:
    """Return the version of the installed fio, as in `fio-3.33`.

    Raises:
        UnavailableError: fio is missing or does not run.
    """
    try:
        said = run_tool(("fio", "--version"), _VERSION_TIMEOUT_S)
    except UnavailableError as error:
        raise UnavailableError(
            f"{error}: apt install fio, or the package of your distribution"
        ) from error
    if said.status or not said.out.startswith("fio-"):
        raise UnavailableError(f"expected fio to say its version, got {said.complaint}")
    return said.out.strip()


def quoted(path: Path) -> str:
    """Return a path as a file name for fio: an unquoted colon would separate two."""
    return str(path).replace("\\", "\\\\").replace(":", "\\:")


def run(jobs: Mapping[str, Options], expected_s: float) -> Report:
    """Run jobs at the same time to their end.

    They are threads of one process, so they end with it.

    Args:
        jobs: Options by name.
        expected_s: Longest duration of the jobs themselves.

    Raises:
        UnavailableError: fio is missing, failed, did not end, or answers in an unknown form.
    """
    listed = ":".join(f"{each:g}" for each in PERCENTILES)
    common = {"thread": 1, "lat_percentiles": 1, "clat_percentiles": 0, "percentile_list": listed}
    command = ["fio", "--output-format=json+"]
    for name, options in jobs.items():
        command.append(f"--name={name}")
        command += (f"--{key}={value}" for key, value in {**common, **options}.items())
    return report(run_tool(command, expected_s + FIO_TIMEOUT_S))


def report(said: Said) -> Report:
    """Parse the output of fio; error messages may stand before the JSON.

    Raises:
        UnavailableError: fio or one of its jobs failed.
    """
    begin = _BEGIN.search(said.out)
    before = said.out[: begin.start()] if begin else said.out
    complaint = Said(said.status, before, said.errors).complaint
    if begin is None:
        raise UnavailableError(f"fio failed: {complaint}")
    try:
        document = json.JSONDecoder().raw_decode(said.out, begin.start())[0]
        failed = [each for each in document["jobs"] if each["error"]]
        jobs = {each["jobname"]: _job(each) for each in document["jobs"]}
    except (ValueError, KeyError, TypeError) as error:
        raise UnavailableError(f"fio's JSON is not as expected: {error!r}") from error
    if said.status or failed:
        raise UnavailableError(f"fio failed: {complaint}")
    return Report(jobs, said.out.encode())


def _job(told: Mapping[str, Any]) -> Job:
    return Job(
        _transfer(told["read"]), _transfer(told["write"]), _timings(told["sync"].get("lat_ns", {}))
    )


def _transfer(told: Mapping[str, Any]) -> Transfer:
    elapsed_s = int(told["runtime"]) / _MS_PER_S
    return Transfer(int(told["io_bytes"]), elapsed_s, _timings(told["lat_ns"]))


def _timings(told: Mapping[str, Any]) -> Timings:
    return Timings(
        int(told.get("N", 0)),
        {int(ns) / _NS_PER_S: int(count) for ns, count in told.get("bins", {}).items()},
        {float(at): ns / _NS_PER_S for at, ns in told.get("percentile", {}).items()},
    )


def unanswered_s(moved_bytes: Sequence[int]) -> float:
    """Return the seconds after which moving so many bytes counts as failed."""
    return sum(moved_bytes) / SLOWEST_BYTES_PER_S
