"""Evidence files: the whole story of trips in one file, and its offline verification.

The file: `container`, `ledgerparts`, `statenodes`, `recordings`, `seals` of validators.
The rules again: `replay` with `memory` and `times`; each trip's `story`, `corrected` times,
`between` trips, `sources` of lots.
Comparison: `endstate` with the proven state, `trust` with keys, `expected` with the question.
The verdict: `verify`; `report` (JSON), `words` and `silences` (text), `wayseal_verify` (command).
The video, once all holds: `savedvideo`.
"""
