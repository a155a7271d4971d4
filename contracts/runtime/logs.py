"""Log lines as text for people, or as JSON for programs; both go to standard error.

In JSON each line is one object, so that journald, a container's log driver and `jq` take it as it
is. A line about a trip, a recording, a batch or a device names it in its own member: the code
passes `extra={"trip_id": …}`.
"""

import json
import logging
import sys
import threading
from argparse import ArgumentParser
from enum import StrEnum
from types import TracebackType
from typing import Final

from contracts.records.clock import rfc3339

FIELDS: Final = ("trip_id", "device_id", "batch_id", "recording_id")
"""Members that a line has if it is about one."""
LINE_BYTES_MAX: Final = 40_000
"""journald cuts lines after 48 KiB (LineMax=, journald.conf(5)), which would break the JSON."""
_CUT: Final = "… (cut)"


class LogFormat(StrEnum):
    """How log lines are written."""

    TEXT = "text"
    JSON = "json"


class JsonLines(logging.Formatter):
    """Writes each record as one line with a JSON object, ASCII, at most `LINE_BYTES_MAX` long."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line; see `logging.Formatter.format`."""
        entry: dict[str, object] = {
            "time": rfc3339(int(record.created * 1000)),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
        }
        entry |= {name: getattr(record, name) for name in FIELDS if hasattr(record, name)}
        if record.exc_info:
            entry["exception"] = self.formatException(record.exc_info)
        line = json.dumps(entry, default=str)
        room = LINE_BYTES_MAX
        while len(line) > LINE_BYTES_MAX:  # a character may take 12 bytes
            room //= 2
            line = json.dumps({key: _cut(value, room) for key, value in entry.items()}, default=str)
        return line


def add_log_format(parser: ArgumentParser) -> None:
    """Let a command line say how log lines are written."""
    parser.add_argument(
        "--log-format",
        type=LogFormat,
        choices=list(LogFormat),
        default=LogFormat.TEXT,
        help="json: each log line is an object, for programs; default text",
    )


def write_as(form: LogFormat) -> None:
    """Let all log lines of this process have a form; call it after `logging.basicConfig`.

    In JSON, errors that nothing catches are log lines too.
    """
    if form is LogFormat.TEXT:
        return
    for handler in logging.getLogger().handlers:
        handler.setFormatter(JsonLines())
    sys.excepthook = _log_uncaught
    threading.excepthook = lambda args: _log_uncaught(
        args.exc_type, args.exc_value, args.exc_traceback
    )


def writes_json() -> bool:
    """Return whether this process writes its log as JSON."""
    return any(isinstance(each.formatter, JsonLines) for each in logging.getLogger().handlers)


def _log_uncaught(
    kind: type[BaseException], error: BaseException | None, trace: TracebackType | None
) -> None:
    logging.getLogger("uncaught").critical("%s", error, exc_info=(kind, error or kind(), trace))


def _cut(value: object, room: int) -> object:
    return value[:room] + _CUT if isinstance(value, str) and len(value) > room else value
