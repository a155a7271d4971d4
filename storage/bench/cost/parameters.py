"""The parameters of the cost model, from a TOML file or from the result of a run."""

import sys
import tomllib
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

from contracts.errors import RejectedError
from storage.bench.cost.model import ClusterPrices, NodeHour, owned_node_hour

DEFAULT: Final = Path(__file__).with_name("default.toml")
_SHARED: Final = ("lifetime_h", "nodes", "electricity_per_kwh", "manpower_per_h")
_DIVISORS: Final = ("lifetime_h", "nodes")
_MOST: Final = sys.float_info.max
"""TOML allows infinity and integers of any size; prices do not."""


@dataclass(frozen=True, slots=True)
class Owned:
    """A kind of node that is bought.

    Attributes:
        power_w: On average; None takes the power that the run measured.
    """

    name: str
    acquisition: float
    power_w: float | None = None


@dataclass(frozen=True, slots=True)
class Rented:
    """A kind of node that is rented by the hour."""

    name: str
    per_h: float


@dataclass(frozen=True, slots=True)
class Parameters:
    """The input of the cost model.

    Attributes:
        currency: Of every price.
    """

    currency: str
    cluster: ClusterPrices
    owned: tuple[Owned, ...]
    rented: tuple[Rented, ...]

    def node_hours(self, measured_w: float | None = None) -> dict[str, NodeHour | None]:
        """Return the cost of an hour of each kind of node, by name.

        Args:
            measured_w: Used for nodes without a given power; without both, the cost is None.
        """
        costs: dict[str, NodeHour | None] = {}
        for node in self.owned:
            power_w = measured_w if node.power_w is None else node.power_w
            costs[node.name] = (
                None
                if power_w is None
                else owned_node_hour(self.cluster, node.acquisition, power_w)
            )
        return costs | {node.name: NodeHour(node.per_h, 0, 0) for node in self.rented}

    def power_of(self, name: str) -> str:
        """Return the source of a node's power: `given`, `rent`, or empty if unknown."""
        known = {node.name: "" if node.power_w is None else "given" for node in self.owned}
        return known.get(name, "rent")

    @property
    def described(self) -> dict[str, Any]:
        """Return the parameters in the form of a file, for the result of a run."""
        return {
            "currency": self.currency,
            **asdict(self.cluster),
            "owned": [
                {name: value for name, value in asdict(each).items() if value is not None}
                for each in self.owned
            ],
            "rented": [asdict(each) for each in self.rented],
        }


def read_parameters(path: Path = DEFAULT) -> Parameters:
    """Return the parameters of a file.

    Raises:
        RejectedError: The file is missing, is not TOML, or has a wrong parameter.
    """
    try:
        document = tomllib.loads(path.read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise RejectedError(f"expected the cost model's parameters in {path}: {error}") from error
    return parameters_of(document, str(path))


def parameters_of(document: Mapping[str, Any], where: str) -> Parameters:
    """Return the parameters in a document.

    Args:
        document: In the form of a file.
        where: Its origin, for errors.

    Raises:
        RejectedError: A parameter is missing, unknown or of the wrong type.
    """
    _no_others(document, {"currency", *_SHARED, "owned", "rented"}, where)
    currency = _word(document, "currency", where)
    shared = {name: _number(document, name, where) for name in _SHARED}
    for name in _DIVISORS:
        if not shared[name]:
            raise RejectedError(f"{where}: expected {name} above 0, got 0")
    if shared["nodes"] % 1:
        raise RejectedError(f"{where}: expected a whole number of nodes, got {shared['nodes']}")
    cluster = ClusterPrices(
        shared["lifetime_h"],
        int(shared["nodes"]),
        shared["electricity_per_kwh"],
        shared["manpower_per_h"],
    )
    owned = tuple(_owned(each, where) for each in _tables(document, "owned", where))
    rented = tuple(_rented(each, where) for each in _tables(document, "rented", where))
    names = [each.name for each in owned] + [each.name for each in rented]
    if not names or len(set(names)) < len(names):
        raise RejectedError(f"{where}: expected nodes with a name each, got {names}")
    return Parameters(currency, cluster, owned, rented)


def _owned(table: Mapping[str, Any], where: str) -> Owned:
    name = _word(table, "name", where)
    here = f"{where}: {name}"
    _no_others(table, {"name", "acquisition", "power_w"}, here)
    power_w = _number(table, "power_w", here) if "power_w" in table else None
    return Owned(name, _number(table, "acquisition", here), power_w)


def _rented(table: Mapping[str, Any], where: str) -> Rented:
    name = _word(table, "name", where)
    here = f"{where}: {name}"
    _no_others(table, {"name", "per_h"}, here)
    return Rented(name, _number(table, "per_h", here))


def _tables(document: Mapping[str, Any], key: str, where: str) -> list[Mapping[str, Any]]:
    tables = document.get(key, [])
    if not isinstance(tables, list) or not all(isinstance(each, dict) for each in tables):
        raise RejectedError(f"{where}: expected tables [[{key}]], got {tables!r}")
    return tables


def _no_others(table: Mapping[str, Any], known: set[str], where: str) -> None:
    if others := sorted(set(table) - known):
        raise RejectedError(f"{where}: expected only {sorted(known)}, got {others} too")


def _word(table: Mapping[str, Any], key: str, where: str) -> str:
    value = table.get(key)
    if not isinstance(value, str) or not value:
        raise RejectedError(f"{where}: expected a word for {key}, got {value!r}")
    return value


def _number(table: Mapping[str, Any], key: str, where: str) -> float:
    value = table.get(key)
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= _MOST:
        raise RejectedError(f"{where}: expected a number from 0 for {key}, got {value!r}")
    return float(value)
