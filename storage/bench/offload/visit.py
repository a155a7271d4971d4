"""One visit: a fleet offloads at a new checkpoint on a volume, which is watched until the end."""

import json
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import httpx
from prometheus_client.parser import text_string_to_metric_families

from contracts.errors import UnavailableError
from contracts.runtime.commands import FAILED, WORKED
from contracts.runtime.files import OWNER_ONLY, make_directory
from contracts.runtime.processes import tied
from storage.bench.offload.sizes import MB, Trucks
from storage.bench.servers.checkpoint import GatewayFiles, node
from storage.bench.servers.processes import SAID_CHARS_MAX, Service, environment, executable
from storage.bench.servers.usage import cpu_s, peak_bytes, resident_bytes
from storage.bench.trucks.fleet import key
from storage.stages import Stage

SAMPLE_S: Final = 1.0
PATIENCE_S: Final = 120
"""Without any progress of a truck: long, since slow disks are to be measured."""
END_TIMEOUT_S: Final = 60
_STAGE_SECONDS: Final = "wayseal_stage_seconds_sum"
COLUMNS: Final = (
    "s",
    "gateway_cpu_s_per_s",
    "gateway_memory_bytes",
    "node_cpu_s_per_s",
    "node_memory_bytes",
)


@dataclass(frozen=True, slots=True)
class Visit:
    """The measurements of a visit.

    Attributes:
        fleet: The JSON object of `wayseal-device fleet`.
        stages_s: Seconds of the gateway's threads at each stage.
        gateway_cpu_s: From before the trucks were made until they ended.
        node_cpu_s: The same for the node.
        gateway_peak_bytes: The most memory that the gateway had resident.
        samples: Rows of COLUMNS.
    """

    fleet: Mapping[str, Any]
    stages_s: Mapping[Stage, float]
    gateway_cpu_s: float
    node_cpu_s: float
    gateway_peak_bytes: int
    samples: Sequence[Sequence[float]]


def visit(directory: Path, trucks: Trucks, scratch: Path, seed: int) -> Visit:
    """Start node and gateway with their data in a directory, send a fleet, and stop them.

    Args:
        directory: New; on the measured volume.
        trucks: The fleet.
        scratch: On no target; for the trucks' own files.
        seed: Of readings and video.

    Raises:
        UnavailableError: One of the processes failed. A truck without its receipt does not fail
            the visit: the fleet's object reports it.
    """
    make_directory(directory)
    with node(directory / "node") as ledger:
        files = GatewayFiles.made(directory / "gateway", ledger.addresses["rest"])
        operator = files.token("operator", "operator")
        command = _command(files, trucks, scratch, seed)
        with files.serving() as gateway:
            places = ("--mqtt", gateway.addresses["mqtt"], "--rest", gateway.addresses["rest"])
            watch = _Watch(gateway, ledger)
            said = _carry_out(
                [*command, *places, "--ledger", ledger.addresses["rest"]],
                scratch / "fleet.log",
                watch.sample,
            )
            return Visit(
                said,
                _stage_seconds(gateway.addresses["rest"], operator),
                cpu_s(gateway.pid) - watch.gateway_cpu_s,
                cpu_s(ledger.pid) - watch.node_cpu_s,
                peak_bytes(gateway.pid),
                watch.rows,
            )


def _command(files: GatewayFiles, trucks: Trucks, scratch: Path, seed: int) -> list[str | Path]:
    # These files are on the volume, so its directory is in the command: after a kill the next run
    # finds the process by it.
    tokens, admin = files.directory / "fleet.tokens", files.directory / "admin.key"
    names = [f"fleet-{number}" for number in range(trucks.count)]
    tokens.touch(OWNER_ONLY)
    tokens.write_text(files.tokens(names, "device"), "utf-8")
    key("admin").save(admin)
    return [
        executable("wayseal-device"),
        *("fleet", "--json"),
        *("--trucks", str(trucks.count)),
        *("--readings", str(trucks.readings)),
        *("--video-mb", f"{trucks.video_bytes / MB:.6f}"),
        *("--seed", str(seed)),
        *("--gateway-key", files.public_key()),
        *("--tokens", tokens),
        *("--admin", admin),
        *("--work", scratch / "trucks"),
        *("--wait-s", str(PATIENCE_S)),
    ]


class _Watch:
    """CPU and memory of both servers over time."""

    def __init__(self, gateway: Service, ledger: Service) -> None:
        self._pids = (gateway.pid, ledger.pid)
        self._start_s = self._at_s = time.monotonic()
        self.gateway_cpu_s, self.node_cpu_s = self._cpu_s = [cpu_s(pid) for pid in self._pids]
        self.rows: list[list[float]] = []

    def sample(self) -> None:
        at_s, used_s = time.monotonic(), [cpu_s(pid) for pid in self._pids]
        row = [round(at_s - self._start_s, 3)]
        for pid, before_s, now_s in zip(self._pids, self._cpu_s, used_s, strict=True):
            row += [round((now_s - before_s) / (at_s - self._at_s), 3), resident_bytes(pid)]
        self.rows.append(row)
        self._at_s, self._cpu_s = at_s, used_s


def _carry_out(
    command: Sequence[str | Path], log: Path, sample: Callable[[], None]
) -> dict[str, Any]:
    """Run a fleet to its end, taking a sample each SAMPLE_S; return its JSON object."""
    with (
        log.open("wb") as errors,
        subprocess.Popen(  # noqa: S603 - our own command
            tied(command), stdout=subprocess.PIPE, stderr=errors, env=environment(), text=True
        ) as process,
    ):
        try:
            said = _listen(process, sample)
        except BaseException:
            process.terminate()  # the fleet removes its files and ends
            try:
                process.wait(END_TIMEOUT_S)
            finally:
                process.kill()
            raise
    lines = said.splitlines()
    if process.returncode not in (WORKED, FAILED) or not lines:
        why = log.read_text("utf-8", "replace")[-SAID_CHARS_MAX:]
        raise UnavailableError(f"wayseal-device fleet: status {process.returncode}: {why}")
    found: dict[str, Any] = json.loads(lines[-1])
    return found


def _listen(process: "subprocess.Popen[str]", sample: Callable[[], None]) -> str:
    while True:
        try:
            said, _ = process.communicate(timeout=SAMPLE_S)
        except subprocess.TimeoutExpired:
            sample()
        else:
            return said


def _stage_seconds(rest: str, token: str) -> Mapping[Stage, float]:
    """Return the seconds of a gateway's threads at each stage since its start.

    Raises:
        UnavailableError: The gateway does not answer, or lacks a stage.
    """
    return _by_stage(_metrics(rest, token))


def _metrics(rest: str, token: str) -> str:
    try:
        answer = httpx.get(
            f"{rest}/metrics", headers={"Authorization": f"Bearer {token}"}, trust_env=False
        ).raise_for_status()
    except httpx.HTTPError as error:
        raise UnavailableError(f"{rest}/metrics: {error}") from error
    return answer.text


def _by_stage(text: str) -> Mapping[Stage, float]:
    found = {
        sample.labels["stage"]: sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
        if sample.name == _STAGE_SECONDS
    }
    if found.keys() != set(Stage):
        raise UnavailableError(f"/metrics: expected stages {', '.join(Stage)}, got {set(found)}")
    return {stage: found[stage] for stage in Stage}
