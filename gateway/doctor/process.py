"""The gateway's process: whether it runs, what it says of itself, and its open files."""

import resource
import ssl
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import httpx

from contracts.runtime.checks import Finding, error, ok, warning
from contracts.runtime.clienttls import usual_trust
from contracts.runtime.files import holder_of
from gateway.doctor.machine import Machine
from gateway.settings import Settings

FILES_BESIDE: Final = 512
"""Open files besides connections and uploads: databases, blobs, Cassandra, the broker."""
_OF_AN_UPLOAD: Final = 4
_FULL: Final = 0.8
_ANSWER_S: Final = 5.0
_LOG: Final = "journalctl -u wayseal-gateway"
_EVERYWHERE: Final = ("0.0.0.0", "::")  # noqa: S104 - compared, not listened on


@dataclass(frozen=True, slots=True)
class _Answer:
    """What `/health` said, or why it said nothing."""

    url: str
    site_id: str = ""
    out: list[str] = field(default_factory=list)
    problem: str = ""


def holder(settings: Settings, machine: Machine) -> int | None:
    """Return the process that holds the data directory; None if none does, or it is not told."""
    process = holder_of(settings.data / "lock", machine.kernel.proc)
    if process is None or b"serve" not in _read(machine.kernel.proc / str(process) / "cmdline"):
        return None
    return process


def findings(
    settings: Settings, machine: Machine, process: int | None, *, offline: bool
) -> Iterator[Finding]:
    """Yield what was found of the process.

    Args:
        settings: The gateway's.
        machine: Of the gateway.
        process: As `holder` tells.
        offline: Whether it is not asked.
    """
    answer = None if offline or not settings.rest.port else _asked(settings)
    if process is not None:
        yield ok("gateway", f"it runs, process {process}")
    elif answer is None or answer.site_id != settings.site_id:
        yield warning("gateway", "it does not run", "systemctl start wayseal-gateway")
        answer = None
    else:
        yield ok("gateway", "it runs")
    if answer is not None:
        yield _judged(settings, answer)
    yield from _open_files(settings, machine, process)


def answering_as(settings: Settings) -> str:
    """Return the URL at which a gateway of this site answers; empty if none does."""
    if not settings.rest.port:
        return ""
    answer = _asked(settings)
    return answer.url if answer.site_id == settings.site_id else ""


def _asked(settings: Settings) -> _Answer:
    """Ask what listens at the gateway's address."""
    rest = settings.rest
    host = "127.0.0.1" if rest.host in _EVERYWHERE else rest.host
    shown = f"[{host}]" if ":" in host else host
    certificate = settings.tls.certificate
    url = f"{'http' if certificate is None else 'https'}://{shown}:{rest.port}"
    try:
        trust = usual_trust(url) if certificate is None else _trust_alone(certificate)
        told: Any = httpx.get(
            f"{url}/health", timeout=_ANSWER_S, trust_env=False, verify=trust
        ).json()
        return _Answer(url, str(told["site_id"]), list(map(str, told["out"])))
    except (httpx.HTTPError, OSError, ValueError, LookupError, TypeError) as problem:
        return _Answer(url, problem=repr(problem))


def _trust_alone(certificate: Path) -> ssl.SSLContext:
    """Return the TLS of a client that believes one certificate, whatever names that has.

    Raises:
        OSError: It cannot be read, or is malformed.
    """
    trust = ssl.create_default_context(cafile=certificate)
    trust.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN
    trust.check_hostname = False
    return trust


def _judged(settings: Settings, answer: _Answer) -> Finding:
    subject = f"gateway {answer.url}"
    if answer.problem:
        words = f"the process runs, and does not answer as a gateway: {answer.problem}"
        return error(subject, words, f"{_LOG} tells why; then systemctl restart wayseal-gateway")
    if answer.site_id != settings.site_id:
        words = f"expected the gateway of site {settings.site_id}, got that of {answer.site_id}"
        return error(subject, words, "give each gateway of this machine a rest.port of its own")
    if answer.out:
        words = f"a truck that comes now leaves without a final receipt: {', '.join(answer.out)}"
        return error(subject, words, f"{_LOG} | grep 'is out' tells why")
    return ok(subject, "ready")


def _open_files(settings: Settings, machine: Machine, process: int | None) -> Iterator[Finding]:
    most, used = _limit(process), _used(machine, process)
    if most is None:
        most = machine.open_files_max()
    wanted = settings.rest.connections + _OF_AN_UPLOAD * settings.limits.uploads + FILES_BESIDE
    unlimited = most == resource.RLIM_INFINITY
    words = f"limit {'none' if unlimited else most}, in use {'unknown' if used is None else used}"
    remedy = (
        f"systemctl edit wayseal-gateway: LimitNOFILE={wanted} or more, and restart it; or lower "
        "rest.connections"
    )
    if not unlimited and most < wanted:
        why = f"{words}; rest.connections and limits.uploads may take {wanted}"
        yield warning("open files", why, remedy)
    elif not unlimited and used is not None and used > most * _FULL:
        yield warning("open files", words, remedy)
    else:
        yield ok("open files", words)


def _limit(process: int | None) -> int | None:
    if process is None:
        return None
    try:
        return resource.prlimit(process, resource.RLIMIT_NOFILE)[0]
    except OSError:  # another user's
        return None


def _used(machine: Machine, process: int | None) -> int | None:
    if process is None:
        return None
    try:
        return len(list((machine.kernel.proc / str(process) / "fd").iterdir()))
    except OSError:
        return None


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:
        return b""
