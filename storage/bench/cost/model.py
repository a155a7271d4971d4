"""The cost of owning a cluster: acquisition, energy, manpower. Source: papers/000, equation 2."""

from dataclasses import dataclass
from typing import Final

SECONDS_PER_H: Final = 3600
_W_PER_KW: Final = 1000


@dataclass(frozen=True, slots=True)
class Cluster:
    """What holds of all nodes alike; money is in one currency throughout.

    Attributes:
        lifetime_h: From purchase to disposal.
        nodes: That one technician looks after.
        electricity_per_kwh: Price.
        manpower_per_h: Price of the technician, for each hour of the lifetime.
    """

    lifetime_h: float
    nodes: int
    electricity_per_kwh: float
    manpower_per_h: float


@dataclass(frozen=True, slots=True)
class NodeHour:
    """What one node costs for one hour.

    Attributes:
        hardware: Its price over its lifetime; of a rented node, the rent.
        energy: 0 for a rented node, whose rent has it.
        manpower: Its share of the technician; 0 for a rented node, for the paper charges it to
            those who keep hardware.
    """

    hardware: float
    energy: float
    manpower: float

    @property
    def machine(self) -> float:
        """Return the cost without manpower."""
        return self.hardware + self.energy

    @property
    def all_in(self) -> float:
        """Return the cost with manpower."""
        return self.machine + self.manpower


def owned_node_hour(cluster: Cluster, acquisition: float, power_w: float) -> NodeHour:
    """Return Cs / T, Pa Cph and Cmh / N of a node that was bought.

    Args:
        cluster: What holds of all nodes.
        acquisition: Price of the node.
        power_w: On average over its lifetime.
    """
    return NodeHour(
        acquisition / cluster.lifetime_h,
        power_w / _W_PER_KW * cluster.electricity_per_kwh,
        cluster.manpower_per_h / cluster.nodes,
    )


def ownership(cluster: Cluster, node: NodeHour) -> float:
    """Return what the cluster costs in its lifetime: N Cs + N T Pa Cph + T Cmh."""
    return node.all_in * cluster.nodes * cluster.lifetime_h


def cost_of(amount: float, rate_per_s: float, per_h: float) -> float:
    """Return what it costs to do an amount of work.

    Args:
        amount: As in a million transactions.
        rate_per_s: In the same unit, above 0.
        per_h: What the machines that reach this rate cost.
    """
    return amount / rate_per_s / SECONDS_PER_H * per_h
