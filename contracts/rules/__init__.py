"""The rule book: what a transaction of family `wayseal` must obey, and what it changes.

Every rule: `ids` (names), `version`, `case` (one transaction), `context` (the port to the state).
Parties, sites and devices: `parties`, `certificates`; 1.3: `accesses` (heads of a site's record).
A delivery: `life` (its states), `deliveries` (1.0), `agreements` and `settling` (1.1).
Goods: `lots`, `units`, `consignment` (what terms name), `handovers` and `custody` (who has them).
A trip: `trips` (its start), `seals`, `tripend`, `series` (trips in a row), `holds`.
Readings: `readings`, `excursions`, `marks` (on deliveries); 1.1: `attention`, 1.2: `telling`.
What readings are compared with: `watched`, `silence`, `passed`, `clocks`, `blocktimes`, `places`.
"""
