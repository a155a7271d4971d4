"""Which parts of the outlines the map of a certificate has."""

import itertools

import pytest

from gateway.exports.certificate.outline import Box, Point, Projection


@pytest.mark.parametrize(
    "track",
    [
        [(9.99, 53.55), (12.5, 41.9)],
        [(-3.7, 40.4), (21.0, 52.2)],
        [(4.5, 51.9), (23.7, 37.98)],
        [(24.9, 60.2), (-9.1, 38.7)],
    ],
    ids=["Hamburg-Rome", "Madrid-Warsaw", "Rotterdam-Athens", "Helsinki-Lisbon"],
)
def test_the_map_has_land_in_the_east_too(track: list[Point]) -> None:
    box = Box(0, 0, 511, 170)
    projection = Projection(track, box)
    cells = projection.cells()
    for x, y in itertools.product((1, 255, 510), (1, 85, 169)):
        assert any(holds(projection, cell, (x, y)) for cell in cells), (x, y)


def holds(projection: Projection, cell: tuple[int, int], point: Point) -> bool:
    """Say whether a cell is drawn around a point of the box."""
    west, south = projection.place((cell[0], cell[1]))
    east, north = projection.place((cell[0] + 10, cell[1] + 10))
    return west <= point[0] <= east and south <= point[1] <= north


def test_a_map_of_too_much_has_what_is_nearest_to_its_middle() -> None:
    projection = Projection([(0.0, -70.0), (10.0, 70.0)], Box(0, 0, 511, 170))
    cells = projection.cells()
    assert cells[0] in {(0, -10), (0, 0)}
    assert {each for each, _ in cells[:4]} <= {-10, 0, 10}
