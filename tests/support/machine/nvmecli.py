"""nvme-cli, over a recorded tree of sysfs: it connects at once, or refuses."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from storage.drives.nvmeof import Fabric
from storage.drives.targets import Target
from storage.drives.tools import Said
from support.machine.sysfs import Machine


def willing(_: Target) -> None:
    """Answer, as a target that accepts connections."""


@dataclass
class NvmeCli:
    """Plays nvme-cli and the kernel behind it.

    Attributes:
        machine: Whose sysfs it changes.
        refusal: What it complains of instead of connecting.
        log: What it prints when it discovers.
        knows: The options that its help lists.
        attributes: Of the controllers that it makes.
        called: The commands that it got.
        configs: The configurations that it was told to read.
    """

    machine: Machine
    refusal: str = ""
    log: object = None
    knows: str = ""
    attributes: dict[str, object] = field(default_factory=dict)
    called: list[list[str]] = field(default_factory=list)
    configs: list[str] = field(default_factory=list)

    @property
    def fabric(self) -> Fabric:
        """Return what connects with it."""
        return Fabric(self.machine.kernel, self.machine.root, self, willing)

    def __call__(self, command: Sequence[str], limit_s: float) -> Said:
        assert limit_s > 0
        if "--help" in command:
            return Said(0, "", self.knows)
        self.called.append(list(command))
        given = dict(word.removeprefix("--").partition("=")[::2] for word in command)
        if "config" in given:
            self.configs.append(Path(given["config"]).read_text("utf-8"))
        if self.refusal:
            return Said(1, "", self.refusal)
        if command[1] == "disconnect":
            for name in given["device"].split(","):
                (self.machine.kernel.sys / "class/nvme" / name).unlink()
        if command[1] == "connect":
            self._connect(given)
        return Said(0, json.dumps(self.log) if command[1] == "discover" else "")

    def _connect(self, given: dict[str, str]) -> None:
        there = len(list((self.machine.kernel.sys / "class/nvme").iterdir()))
        address = f"traddr={given['traddr']},trsvcid={given['trsvcid']},src_addr=192.168.7.9"
        name = f"nvme{there + 1}"
        told = {"ctrl_loss_tmo": 600, **self.attributes}
        own = self.machine.controller(name, given["nqn"], address, **told)
        if there:
            hidden = f"{own}/nvme1c{there + 1}n1"
            self.machine.disk(hidden, own, hidden=1, ana_state="optimized")
        else:
            self.machine.head(given["nqn"], {name: "optimized"})
