"""CPU time of the whole machine by kind. Source: proc_stat(5)."""

import os
from dataclasses import astuple, dataclass
from typing import Self

from storage.drives.kernel import Kernel


@dataclass(frozen=True, slots=True)
class CpuTimes:
    """Seconds of all cores together, since the machine started or between two moments.

    Attributes:
        user_s: In programs, niced ones and guests included.
        system_s: In the kernel on their behalf.
        irq_s: In interrupts.
        softirq_s: In deferred work of interrupts: most of the work for network and drives.
        iowait_s: Idle while a process waited for a drive.
        steal_s: Wanted by this virtual machine but given to other ones.
        idle_s: Idle.
    """

    user_s: float
    system_s: float
    irq_s: float
    softirq_s: float
    iowait_s: float
    steal_s: float
    idle_s: float

    @property
    def busy_s(self) -> float:
        """Return the time spent on work of any kind."""
        return self.user_s + self.system_s + self.irq_s + self.softirq_s

    @property
    def stolen(self) -> float:
        """Return the share of the wanted time that other machines got, 0 to 1."""
        wanted_s = self.busy_s + self.steal_s
        return self.steal_s / wanted_s if wanted_s else 0.0

    def since(self, before: Self) -> "CpuTimes":
        """Return the times since an earlier moment."""
        # The kernel's idle and iowait may go back by a tick. Source: proc_stat(5).
        pairs = zip(astuple(self), astuple(before), strict=True)
        return CpuTimes(*(max(0.0, now - then) for now, then in pairs))


def cpu_times(kernel: Kernel) -> CpuTimes:
    """Return the times since the machine started."""
    first = (kernel.proc / "stat").read_text("ascii").partition("\n")[0].split()
    tick_s = 1 / os.sysconf("SC_CLK_TCK")
    user, nice, system, idle, iowait, irq, softirq, steal = (int(each) for each in first[1:9])
    ticks = (user + nice, system, irq, softirq, iowait, steal, idle)
    return CpuTimes(*(each * tick_s for each in ticks))
