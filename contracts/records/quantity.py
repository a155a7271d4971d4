"""The quantities that a reading measures and a delivery may limit.

Source: UN/ECE Recommendation 20 (unit codes).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from contracts.proto.payload_pb2 import Limit


@dataclass(frozen=True, slots=True)
class Quantity:
    """One quantity.

    Attributes:
        name: In words.
        field: Field of a reading and of its record; a whole number.
        places: Decimal places between the field and the unit for people.
        symbol: The unit for people.
        unit_code: UN/ECE code of that unit.
    """

    name: str
    field: str
    places: int
    symbol: str
    unit_code: str

    @property
    def scale(self) -> int:
        """Return how many of the field's units make one unit for people."""
        return int(10**self.places)


QUANTITIES: Final[Mapping[int, Quantity]] = {
    Limit.TEMPERATURE_MCEL: Quantity("temperature", "temperature_mcel", 3, "Cel", "CEL"),
    Limit.HUMIDITY_MPCT: Quantity("humidity", "humidity_mpct", 3, "%", "P1"),
    Limit.PRESSURE_PA: Quantity("pressure", "pressure_pa", 2, "hPa", "A97"),
}
"""By the number that a limit uses."""
