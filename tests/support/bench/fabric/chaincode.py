"""The benchmark's chaincode, web/chaincode/bench, once more for the stand-in of a peer."""

from collections.abc import Callable
from dataclasses import dataclass, field

ABOUT = b"wayseal_bench 1"
Version = tuple[int, int]
"""Number of a block, and of the transaction in it."""


class Broken(Exception):  # noqa: N818 - what a chaincode says
    """The call breaks a rule of the chaincode."""


@dataclass
class Simulation:
    """What one call read and would write."""

    state: dict[str, tuple[bytes, Version]]
    read: dict[str, Version | None] = field(default_factory=dict)
    written: dict[str, bytes] = field(default_factory=dict)

    def get(self, key: str) -> bytes | None:
        found = self.state.get(key)
        self.read[key] = None if found is None else found[1]
        return None if found is None else found[0]

    def existing(self, key: str) -> bytes:
        found = self.get(key)
        if found is None:
            raise Broken("expected a value, got none")
        return found


def invoke(simulation: Simulation, arguments: list[bytes]) -> bytes:
    """Carry out one call."""
    name, *rest = arguments
    known = _FUNCTIONS.get(name.decode())
    if known is None:
        raise Broken(f"expected a function of {ABOUT.decode()}, got {name.decode()!r}")
    return known(simulation, rest)


def _create(simulation: Simulation, rest: list[bytes]) -> bytes:
    key, value = rest
    if simulation.get(key.decode()) is not None:
        raise Broken("expected a new key, it exists")
    simulation.written[key.decode()] = value
    return b""


def _put(simulation: Simulation, rest: list[bytes]) -> bytes:
    for key, value in zip(rest[::2], rest[1::2], strict=True):
        simulation.written[key.decode()] = value
    return b""


def _record(simulation: Simulation, rest: list[bytes]) -> bytes:
    *fields, digest = rest
    assert len(fields) == 4
    assert len(digest) == 32
    assert int(fields[3]) > 0
    return _create(simulation, [b"record " + digest.hex().encode(), b"|".join(fields)])


def _pay(simulation: Simulation, rest: list[bytes]) -> bytes:
    payer, payee = (each.decode() for each in rest[:2])
    amount = int.from_bytes(rest[2])
    has, had = (int.from_bytes(simulation.existing(each)) for each in (payer, payee))
    if amount > has:
        raise Broken(f"the payer holds less: {has} of {amount}")
    simulation.written[payer] = (has - amount).to_bytes(8)
    simulation.written[payee] = (had + amount).to_bytes(8)
    return b""


_FUNCTIONS: dict[str, Callable[[Simulation, list[bytes]], bytes]] = {
    "about": lambda _, __: ABOUT,
    "record": _record,
    "create": _create,
    "put": _put,
    "get": lambda simulation, rest: simulation.existing(rest[0].decode()),
    "pay": _pay,
    "nothing": lambda _, __: b"",
}
