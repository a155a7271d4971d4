"""The cost of owning a cluster: acquisition, energy, manpower. Source: papers/000, equation 2."""

from dataclasses import dataclass
from typing import Final

SECONDS_PER_H: Final = 3600
_W_PER_KW: Final = 1000


@dataclass(frozen=True, slots=True)
class ClusterPrices:
    """Prices shared by all nodes; all money is in one currency.

    Attributes:
        lifetime_h: From purchase to disposal.
        nodes: Number that one technician looks after.
        electricity_per_kwh: Price.
        manpower_per_h: Price of the technician, for each hour of the lifetime.
    """

    lifetime_h: float
    nodes: int
    electricity_per_kwh: float
    manpower_per_h: float


@dataclass(frozen=True, slots=True)
class NodeHour:
    """The cost of one node for one hour.

    Attributes:
        hardware: Price over lifetime; for a rented node, the rent.
        energy: 0 for a rented node: the rent includes it.
        manpower: Share of the technician; 0 for a rented node: the paper charges manpower only
            to owners of hardware.
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


def owned_node_hour(cluster: ClusterPrices, acquisition: float, power_w: float) -> NodeHour:
    """Return Cs / T, Pa Cph and Cmh / N of a node that was bought.

    Args:
        cluster: Shared prices.
        acquisition: Price of the node.
        power_w: On average over its lifetime.
    """
    return NodeHour(
        acquisition / cluster.lifetime_h,
        power_w / _W_PER_KW * cluster.electricity_per_kwh,
        cluster.manpower_per_h / cluster.nodes,
    )


def ownership(cluster: ClusterPrices, node: NodeHour) -> float:
    """Return the cost of the cluster over its lifetime: N Cs + N T Pa Cph + T Cmh."""
    return node.all_in * cluster.nodes * cluster.lifetime_h


def cost_of(amount: float, rate_per_s: float, per_h: float) -> float:
    """Return the cost of an amount of work.

    Args:
        amount: As in a million transactions.
        rate_per_s: In the same unit, above 0.
        per_h: Cost of the machines that reach this rate.
    """
    return amount / rate_per_s / SECONDS_PER_H * per_h
