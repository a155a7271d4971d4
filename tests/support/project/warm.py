"""Tests start our commands as forks of processes that have imported them.

A gateway takes two seconds of CPU to import, a node one; the suite starts many hundreds of both.
A fork (`support.project.warmhost`) runs the same code with the same words, environment, streams,
folder, umask, session and command line, as a child of the test's process, whose SIGKILL, waiting
and exit status are real. What differs: all forks share the seed of their hashes, and pages of
memory. So tests of memory, of starts and of what is installed are marked `cold`; and whatever is
asked of `subprocess` that a fork could not do is started in the usual way.
"""

import ctypes
import inspect
import json
import os
import resource
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from contracts.runtime.processes import tied
from support.project.warmhost import REQUEST_MAX

_BIN: Final = Path(sys.executable).parent


@dataclass(frozen=True, slots=True)
class Kind:
    """What one host is for.

    Attributes:
        modules: What it imports: what a command needs when it serves, besides what only some
            settings need.
        environment: What its processes have in their environment, besides that of the tests.
    """

    modules: tuple[str, ...]
    environment: Mapping[str, str] = field(default_factory=dict)


ROOT: Final = Path(__file__).parents[3]
_LEDGERS: Final = ROOT / "tests/support/ledgers"
_DEVICE: Final = Kind(
    (
        "device.wayseal_device",
        "device.commands.offload",
        "device.commands.record",
        "device.commands.run",
        "device.commands.status",
    )
)
_NODE: Final = Kind(("contracts.ledger.wayseal_node", "cbor2"))
_PROCESSOR: Final = Kind(
    (*_NODE.modules, "contracts.ledger.processor.wayseal_tp", "contracts.ledger.processor.host"),
    {"PYTHONPATH": str(_LEDGERS.parents[1]), "PROTOCOL_BUFFERS_PYTHON_IMPLEMENTATION": "python"},
)
_VICTIM: Final = Kind(
    (
        "gateway.storagesettings",
        "storage.scrub.report",
        "support.gateways.retention",
        "support.storage.scrubs",
        "support.storage.stores",
    ),
    {"PYTHONPATH": str(ROOT / "tests")},
)
_VERIFY: Final = Kind(("contracts.evidence.wayseal_verify",))
KINDS: Final[Mapping[Path, Kind]] = {
    _BIN / "wayseal-device": _DEVICE,
    _BIN / "wayseal-gateway": Kind(
        ("gateway.wayseal_gateway", "gateway.commands.serve", "gateway.intake.broker")
    ),
    _BIN / "wayseal-node": _NODE,
    _BIN / "wayseal-party": Kind(("contracts.party.wayseal_party",)),
    _BIN / "wayseal-verify": _VERIFY,
    _BIN / "wayseal-bench": Kind(("storage.bench.wayseal_bench",)),
    ROOT / "contracts/ledger/wayseal_node.py": _NODE,
    _LEDGERS / "bare_node.py": _NODE,
    _LEDGERS / "intkey_node.py": _NODE,
    _LEDGERS / "rules_node.py": _NODE,
    _LEDGERS / "intkey_tp.py": _PROCESSOR,
    _LEDGERS / "thief_tp.py": _PROCESSOR,
    ROOT / "contracts/ledger/processor/wayseal_tp.py": _PROCESSOR,
    ROOT / "device/wayseal_device.py": _DEVICE,
    ROOT / "tests/support/storage/victim.py": _VICTIM,
    ROOT / "contracts/evidence/wayseal_verify.py": _VERIFY,
}
"""The host of each command and script; of a module, by its file."""
_READ_AT_START: Final = (
    *("PYTHON", "LANG", "LC_", "LD_", "MALLOC_", "GLIBC_", "OPENSSL_", "TZ", "OTEL_"),
    "PROTOCOL_BUFFERS_",
)
_PADDING: Final = 4_000
_SET_CHILD_SUBREAPER: Final = 36
"""Source: prctl(2)."""
_HOST: Final = Path(__file__).with_name("warmhost.py")
_POPEN: Final = subprocess.Popen
_EXECUTE: Final = inspect.signature(_POPEN._execute_child)  # type: ignore[attr-defined]  # noqa: SLF001 - the place where a process is made
_UNUSUAL: Final = (
    *("executable", "preexec_fn", "pass_fds", "startupinfo", "creationflags", "shell"),
    *("gid", "gids", "uid"),
)


class Host:
    """The process that forks what needs the same modules."""

    def __init__(self, kind: Kind) -> None:
        """Start it; it ends with this process, or when closed."""
        environment = os.environ | kind.environment
        self._environment = _read_at_start(environment)
        self._lock = threading.Lock()
        self._asks, answers = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with answers:
            words = [str(answers.fileno()), ",".join(kind.modules), " " * _PADDING]
            self._process = _POPEN(
                [sys.executable, _HOST, *words],
                env=environment,
                stdin=subprocess.DEVNULL,
                pass_fds=[answers.fileno()],
            )

    def can(self, environment: Mapping[str, str]) -> bool:
        """Say whether a fork would begin as a process with this environment does."""
        return _read_at_start(environment) == self._environment

    def fork(self, request: bytes, streams: list[int]) -> int:
        """Return the process id of a new fork."""
        with self._lock:
            socket.send_fds(self._asks, [request], streams)
            return int(self._asks.recv(20))

    def close(self) -> None:
        """End it; its forks go on."""
        self._asks.close()
        with self._process:
            pass


class Warm:
    """Which commands and scripts have a host.

    Attributes:
        on: Whether forks are wanted.
        tie: The words before a command that tie it to this process.
    """

    def __init__(self) -> None:
        self.on = False
        self.tie: list[str] = []
        self._owner = os.getpid(), _spaces()
        self._hosts: dict[int, Host] = {}
        self._lock = threading.Lock()

    def start(self, asked: Mapping[str, Any], streams: list[int]) -> int | None:
        """Return the process id of a fork, or None if only a new process will do."""
        if not self.on or (os.getpid(), _spaces()) != self._owner or _is_unusual(asked, streams):
            return None
        words, is_tied = self._untied([os.fsdecode(word) for word in asked["args"]])
        folder = Path(os.fsdecode(asked["cwd"] or Path.cwd()))
        program = _program(words, folder)
        if program is None or program not in KINDS:
            return None
        environment = os.environ if asked["env"] is None else asked["env"]
        request = {
            "words": words,
            "script": None if words[0] == str(program) else str(program),
            "tied": is_tied,
            "parent": os.getpid(),
            "session": bool(asked["start_new_session"]),
            "environment": {os.fsdecode(k): os.fsdecode(v) for k, v in environment.items()},
            "folder": str(folder),
            "umask": _umask() if asked["umask"] < 0 else asked["umask"],
        }
        sent = json.dumps(request).encode()
        line = sum(len(os.fsencode(word)) + 1 for word in words)
        if len(sent) > REQUEST_MAX or line > _PADDING or not folder.is_dir():
            return None
        host = self._host(KINDS[program])
        return host.fork(sent, streams) if host.can(environment) else None

    def _host(self, kind: Kind) -> Host:
        with self._lock:
            if id(kind) not in self._hosts:
                ctypes.CDLL(None).prctl(_SET_CHILD_SUBREAPER, 1)
                self._hosts[id(kind)] = Host(kind)
            return self._hosts[id(kind)]

    def _untied(self, words: list[str]) -> tuple[list[str], bool]:
        """Return a command's words without what ties it to this process, and whether it did."""
        count = len(self.tie)
        is_tied = words[:count] == self.tie
        return (words[count:], True) if is_tied else (words, False)

    def close(self) -> None:
        """End the hosts."""
        self.on = False
        while self._hosts:
            self._hosts.popitem()[1].close()


class WarmPopen(subprocess.Popen[Any]):
    """`subprocess.Popen`, whose process is a fork where that is the same."""

    def _execute_child(self, *given: object) -> None:
        asked = _EXECUTE.bind(self, *given).arguments
        ours = [asked[each] for each in ("p2cread", "c2pwrite", "errwrite")]
        streams = [number if stream == -1 else stream for number, stream in enumerate(ours)]
        pid = STARTS.start(asked, streams)
        if pid is None:
            super()._execute_child(*given)  # type: ignore[misc]  # as above
            return
        self.pid = pid
        self._child_created = True
        pipes = ("p2cread", "p2cwrite", "c2pread", "c2pwrite", "errread", "errwrite")
        self._close_pipe_fds(*(asked[each] for each in pipes))  # type: ignore[attr-defined]


@contextmanager
def installed() -> Iterator[None]:
    """Let tests of this process start our commands as forks."""
    STARTS.tie = [os.fsdecode(word) for word in tied([])]  # which itself starts a process
    subprocess.Popen = WarmPopen  # type: ignore[misc]  # for all who start a process
    try:
        yield
    finally:
        subprocess.Popen = _POPEN  # type: ignore[misc]
        STARTS.close()


def _program(words: Sequence[str], folder: Path) -> Path | None:
    """Return the file that a command line runs: of a command, of a script or of a module.

    A folder that has the module runs its own; else ours is installed.
    """
    first, *rest = words
    if first != sys.executable:
        return Path(first)
    match rest:
        case ["-m", module, *_]:
            file = Path(*module.split(".")).with_suffix(".py")
            return (folder if (folder / file).exists() else ROOT) / file
        case [script, *_]:
            return folder / script
    return None


def _read_at_start(environment: Mapping[str, str]) -> tuple[object, ...]:
    """Return the variables that Python or a library reads as it begins, and the limit of files."""
    names = sorted(name for name in environment if name.startswith(_READ_AT_START))
    return *((name, environment[name]) for name in names), resource.getrlimit(
        resource.RLIMIT_NOFILE
    )


def _is_unusual(asked: Mapping[str, Any], streams: list[int]) -> bool:
    """Say whether a start asks for what a fork does not do."""
    return (
        isinstance(asked["args"], str | bytes | os.PathLike)
        or any(asked.get(each) for each in _UNUSUAL)
        or asked.get("process_group", -1) != -1
        or not asked["close_fds"]
        or any(map(os.isatty, streams))
    )


def _spaces() -> tuple[Path, ...]:
    """Return the namespaces of this thread that a test may leave."""
    spaces = Path("/proc/thread-self/ns")
    return tuple((spaces / kind).readlink() for kind in ("mnt", "net"))


def _umask() -> int:
    """Return this process's umask; os.umask() would set it, for other threads, too."""
    status = Path("/proc/self/status").read_text("utf-8")
    return int(status.partition("Umask:")[2].split()[0], 8)


STARTS: Final = Warm()
