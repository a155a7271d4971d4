"""What a reading measures and a delivery may limit: names, fields, units.

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
        field: Of a reading, and of its record; a whole number.
        places: Decimal places that the field is shifted by from the unit people use.
        symbol: That unit.
        unit_code: Its UN/ECE code.
    """

    name: str
    field: str
    places: int
    symbol: str
    unit_code: str

    @property
    def scale(self) -> int:
        """Return how many of the field's units make one that people use."""
        return int(10**self.places)


QUANTITIES: Final[Mapping[int, Quantity]] = {
    Limit.TEMPERATURE_MCEL: Quantity("temperature", "temperature_mcel", 3, "Cel", "CEL"),
    Limit.HUMIDITY_MPCT: Quantity("humidity", "humidity_mpct", 3, "%", "P1"),
    Limit.PRESSURE_PA: Quantity("pressure", "pressure_pa", 2, "hPa", "A97"),
}
"""By the number that a limit names them with."""
