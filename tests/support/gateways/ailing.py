"""A stopped gateway's data directory and settings, to plant faults in and to look at."""

import json
import shutil
import subprocess
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

import pytest

from contracts.runtime.checks import Finding
from contracts.runtime.commands import WORKED
from gateway.commands.doctor import findings
from gateway.doctor.machine import Machine
from gateway.settings import Settings
from gateway.settings_file import load_settings
from gateway.wayseal_gateway import main as gateway
from storage.checked.connection import open_checked
from support.machine.private import write_private

DAY_MS: Final = 86_400_000


@dataclass
class Ailing:
    """A gateway that worked before.

    Attributes:
        folder: For its settings and data.
        ledger: URL of its ledger.
        tables: What its settings say besides, by table and key; the table "" is the first one.
        machine: What the doctor is told of the machine: the clock is right unless a test says no.
        held: What a test has to close.
    """

    folder: Path
    ledger: str
    tables: dict[str, dict[str, Any]] = field(default_factory=dict)
    machine: Machine = field(default_factory=lambda: Machine(clock_is_synchronised=lambda: True))
    held: list[Any] = field(default_factory=list)

    @classmethod
    def of(cls, data: Path, folder: Path, ledger: str) -> "Ailing":
        """Copy the data of a gateway that was stopped."""
        shutil.copytree(data, folder / "data")
        return cls(folder, ledger)

    @property
    def data(self) -> Path:
        return self.folder / "data"

    @property
    def settings_file(self) -> Path:
        return self.folder / "gateway.toml"

    def settings(self) -> Settings:
        always: dict[str, dict[str, Any]] = {
            "": {"data": str(self.data), "site_id": "site-b"},
            "ledger": {"url": self.ledger},
            "mqtt": {"embedded": True},
            # Any disk that runs the tests has room for these.
            "limits": {"inbox_bytes": 1 << 20, "upload_bytes": 1 << 20},
        }
        tables = {
            name: always.get(name, {}) | self.tables.get(name, {})
            for name in always.keys() | self.tables.keys()
        }
        text = "".join(
            (f"[{name}]\n" if name else "")
            + "".join(f"{key} = {json.dumps(value)}\n" for key, value in values.items())
            for name, values in sorted(tables.items())
        )
        return load_settings(write_private(self.settings_file, text))

    def set(self, table: str, **values: Any) -> None:  # noqa: ANN401 - of any type, as in TOML
        self.tables.setdefault(table, {}).update(values)

    def unset(self, table: str, *keys: str) -> None:
        for each in keys:
            del self.tables[table][each]

    def told(self, **changes: Any) -> None:  # noqa: ANN401 - as of `Machine`
        """Have the machine say something else from now on."""
        self.machine = replace(self.machine, **changes)

    def look(self, *, offline: bool) -> list[Finding]:
        """Return the doctor's findings, each with a remedy unless it is ok."""
        found = list(findings(self.settings(), self.machine, offline=offline))
        for each in found:
            assert each.severity == "ok" or each.remedy, each
            assert "\n" not in each.words + each.remedy
        return found

    def type(self, command: str) -> None:
        """Do what a remedy says to type."""
        if command.startswith("wayseal-gateway "):
            self.settings()
            with pytest.raises(SystemExit) as ended:
                gateway([*command.split()[1:], "--config", str(self.settings_file)])
            assert ended.value.code == WORKED
            return
        subprocess.run(command, shell=True, check=True)  # noqa: S602 - a remedy is for a shell

    def change(self, database: str, sql: str, values: Sequence[object] = ()) -> None:
        """Change a database as the gateway would."""
        with closing(open_checked(self.data / database)) as opened:
            opened.execute(sql, values)

    def files(self) -> dict[str, bytes]:
        """Return every file below the data directory."""
        return {
            str(each.relative_to(self.data)): each.read_bytes()
            for each in sorted(self.data.rglob("*"))
            if each.is_file()
        }
