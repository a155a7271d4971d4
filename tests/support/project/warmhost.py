"""A process that has imported what our commands need, and forks them: see `support.project.warm`.

    python warmhost.py SOCKET MODULES PADDING

A fork becomes what a fresh process of a command, or of a script, would be: its own streams,
environment, folder, umask, session, name and command line. It is no child of this process, but of
the one that asks.
"""

import ctypes
import gc
import importlib
import io
import json
import os
import runpy
import signal
import socket
import sys
import tempfile
from pathlib import Path
from typing import Any, Final

REQUEST_MAX: Final = 150_000
STREAMS: Final = 3
_SET_DEATH_SIGNAL, _SET_NAME, _SET_MM = 1, 15, 35
_MM_ARG_END: Final = 9
"""Source: prctl(2)."""
_ARG_START, _ARG_END = 48, 49
"""Source: proc_pid_stat(5), counted from 1."""
_AFTER_NAME: Final = 3
"""The field of /proc/PID/stat that comes after the name, counted from 1."""


def main(number: str, modules: str) -> str | None:
    """Import, then fork for each request; return in a fork, with the script that it is to run."""
    sys.path[0] = str(Path(sys.executable).parent)  # as for a script there
    for each in filter(None, modules.split(",")):
        importlib.import_module(each)
    gc.collect()
    gc.freeze()  # a fork's garbage collection would copy every page
    interrupted = signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the forks
    with socket.socket(fileno=int(number)) as asked:
        while True:
            said, streams, _, _ = socket.recv_fds(asked, REQUEST_MAX, STREAMS)
            if not said:
                os._exit(0)
            request = json.loads(said)
            begin = _fork(asked)
            if begin is not None:
                break
            for stream in streams:
                os.close(stream)
    signal.signal(signal.SIGINT, interrupted)
    os.read(begin, 1)
    os.close(begin)
    _become(request, streams)
    script: str | None = request["script"]
    return script


def _fork(asked: socket.socket) -> int | None:
    """Fork a child and tell its id; return, in the child only, the file that tells it to begin.

    The child's parent ends at once, so the kernel gives the child to the nearest process that takes
    orphans: the one that asked. That is done before the id is told and the child begins.
    """
    begin, may_begin = os.pipe()
    tells, told = os.pipe()
    between = os.fork()
    if not between:
        pid = os.fork()
        if not pid:
            for each in (may_begin, tells, told):
                os.close(each)
            return begin
        os.write(told, str(pid).encode())
        os._exit(0)
    os.waitpid(between, 0)
    pid_told = os.read(tells, 20)
    os.write(may_begin, b"1")
    for each in (begin, may_begin, tells, told):
        os.close(each)
    asked.send(pid_told)
    return None


def _become(request: dict[str, Any], streams: list[int]) -> None:
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
        os.close(stream)
    _open_streams()
    libc = ctypes.CDLL(None)
    if request["tied"]:
        libc.prctl(_SET_DEATH_SIGNAL, signal.SIGKILL)
        if os.getppid() != request["parent"]:
            os._exit(0)
    if request["session"]:
        os.setsid()
    os.environ.clear()
    os.environ.update(request["environment"])
    os.chdir(request["folder"])
    os.umask(request["umask"])
    tempfile.tempdir = None
    words, script = request["words"], request["script"]
    libc.prctl(_SET_NAME, Path(words[0]).name.encode())
    _name_process(libc, words if script else [sys.executable, *words])
    if script:
        is_module = words[1] == "-m"
        sys.path[0] = request["folder"] if is_module else str(Path(script).parent)
        sys.argv = [script, *words[3 if is_module else 2 :]]
    else:
        sys.argv = words


def _open_streams() -> None:
    """Open the standard streams again, which know whether their file can seek."""
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        was = getattr(sys, name)
        stream = io.TextIOWrapper(
            open(number, "wb" if number else "rb", closefd=False),  # noqa: SIM115 - closed at the exit
            encoding=was.encoding,
            errors=was.errors,
            newline="\n" if number else None,
            line_buffering=name == "stderr",
        )
        setattr(sys, name, stream)
        setattr(sys, f"__{name}__", stream)


def _name_process(libc: ctypes.CDLL, words: list[str]) -> None:
    """Show this command line in /proc; the padding of ours makes room for it."""
    fields = Path("/proc/self/stat").read_text("utf-8").rpartition(") ")[2].split()
    start, end = (int(fields[field - _AFTER_NAME]) for field in (_ARG_START, _ARG_END))
    line = b"".join(word.encode() + b"\0" for word in words)
    ctypes.memmove(start, line.ljust(end - start, b"\0"), end - start)
    # Without CAP_SYS_RESOURCE the line ends with empty words.
    libc.prctl(_SET_MM, _MM_ARG_END, ctypes.c_ulong(start + len(line)), 0, 0)


if __name__ == "__main__":
    to_run = main(*sys.argv[1:3])
    if to_run:
        runpy.run_path(to_run, run_name="__main__")
    else:
        from contracts.runtime import entries

        getattr(entries, sys.argv[0].rpartition("wayseal-")[2])()
