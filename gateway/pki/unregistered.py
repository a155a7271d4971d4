"""Devices that came with a claim before the ledger had their keys; an operator registers them."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from contracts.records.clock import now_ms, parse_rfc3339, rfc3339
from contracts.runtime.files import OWNER_ONLY, in_turn, make_directory, write_file
from gateway.entryfile import Entry, plain_entries

WAITING_MAX: Final = 1_000


@dataclass(frozen=True, slots=True)
class Unregistered:
    """The devices in one file, each with its key; nobody is admitted by it.

    Attributes:
        path: The file; it need not exist yet.
    """

    path: Path

    def all(self) -> Mapping[str, Mapping[str, str]]:
        """Return key and time of each device, by its id.

        Raises:
            RejectedError: The file is damaged.
        """
        return plain_entries(self.path, "waiting devices", _check, "remove the file")

    def add(self, device_id: str, public_key: str) -> None:
        """Note a device, in place of what was noted of it; the oldest one gives way at the limit.

        Raises:
            RejectedError: The file is damaged.
            UnavailableError: It cannot be written.
        """
        self._change({device_id: {"public_key": public_key, "since": rfc3339(now_ms())}})

    def forget(self, device_id: str) -> None:
        """Drop a device, if it is there.

        Raises:
            RejectedError: The file is damaged.
            UnavailableError: It cannot be written.
        """
        if device_id in self.all():
            self._change({device_id: None})

    def _change(self, changes: Mapping[str, Mapping[str, str] | None]) -> None:
        make_directory(self.path.parent)
        with in_turn(self.path.with_suffix(".lock")):
            kept = [(name, each) for name, each in self.all().items() if name not in changes]
            kept += [(name, each) for name, each in changes.items() if each is not None]
            text = json.dumps(dict(kept[-WAITING_MAX:]), indent=1) + "\n"
            draft = self.path.with_suffix(".new")
            write_file(self.path, text.encode(), temporary=draft, mode=OWNER_ONLY)


def _check(device: Entry) -> None:
    parse_rfc3339(device["since"])
    bytes.fromhex(device["public_key"])
