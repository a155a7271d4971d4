"""The cost model against the paper's own table, and what a run's rates cost."""

import json
import math
from dataclasses import replace
from pathlib import Path

import pytest

from contracts.errors import RejectedError
from storage.bench.cost.model import NodeHour, ownership
from storage.bench.cost.parameters import DEFAULT, parameters_of, read_parameters
from storage.bench.cost.rates import costs
from storage.bench.run.document import SCHEMA
from storage.bench.wayseal_bench import main
from support.bench.results import HEADING, made_run

PAPER = read_parameters()
MINE = {
    "currency": "EUR",
    "lifetime_h": 50_000,
    "nodes": 1,
    "electricity_per_kwh": 0.3,
    "manpower_per_h": 0,
    "owned": [{"name": "ours", "acquisition": 1000}],
}


def hour(name: str) -> NodeHour:
    found = PAPER.node_hours()[name]
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("name", "machine", "all_in", "cheaper"),
    [
        ("Xeon edge", "0.1994", "0.8844", 1.54),
        ("TX2", "0.03090", "0.7159", 9.97),
        ("RP4", "0.004183", "0.6892", 73.6),
    ],
)
def test_a_node_hour_costs_what_the_paper_says(
    name: str, machine: str, all_in: str, cheaper: float
) -> None:
    """Figure 10 and section 4.5 of papers/000, whose 1.5, 10 and 75 are rounded."""
    cost = hour(name)
    assert f"{cost.machine:#.4g}" == machine
    assert f"{cost.all_in:#.4g}" == all_in
    assert float(f"{hour('Graviton').machine / cost.machine:.3g}") == cheaper


def test_a_rent_has_energy_and_no_manpower_in_the_paper() -> None:
    assert (hour("Xeon cloud").machine, hour("Xeon cloud").all_in) == (0.476, 0.476)


def test_the_cost_of_ownership_is_equation_2() -> None:
    """N Cs + N T Pa Cph + T Cmh."""
    expected = 10 * 5000 + 10 * 26280 * 0.1016 * 0.09 + 26280 * 6.85
    assert ownership(PAPER.cluster, hour("Xeon edge")) == pytest.approx(expected)


def result(*figures: tuple[str, str, str, str, float], **settings: object) -> dict[str, object]:
    keys = ("part", "workload", "metric", "unit", "median")
    return {
        "schema": SCHEMA,
        "run": "a",
        "executions": [],
        "figures": [{**dict(zip(keys, each, strict=True)), "target": "a"} for each in figures],
        "settings": settings,
    }


def test_a_rate_costs_what_its_hours_cost() -> None:
    measured = result(
        ("ledger", "readings", "committed", "1/s", 100.0),
        ("ledger", "readings", "power-wall", "W", 36.0),
        ("ledger", "readings", "written", "B/s", 1.0),
        ("io", "write", "write-mean", "B/s", 1e9),
        ("io", "write", "write-max", "B/s", 2e9),
    )
    tx, byte = costs(measured, parameters_of(MINE, "mine"), machines=3)
    assert (tx.metric, tx.amount, tx.power) == ("committed", "million transactions", "power-wall")
    # 10,000 s on three machines of 1000 EUR / 50,000 h and 36 W at 0.30 EUR/kWh
    assert tx.machine == pytest.approx(3 * 10_000 / 3600 * (0.02 + 0.036 * 0.3))
    assert (byte.metric, byte.amount, byte.power, byte.machine) == (
        *("write-mean", "TB", "unknown"),
        None,
    )


def test_the_command_prints_the_table_and_takes_the_runs_own_parameters(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    main(["cost"])
    out = capsys.readouterr().out
    assert "0.03090" in out
    assert json.loads(out.splitlines()[-1])["node_hours"]["TX2"]["all_in"] == pytest.approx(0.7159)
    settings = {**HEADING.settings, "cost": PAPER.described}
    folder = made_run(tmp_path, heading=replace(HEADING, settings=settings), repetitions=1).folder
    main(["cost", str(folder)])
    assert " USD per TB" in capsys.readouterr().out
    mine = tmp_path / "mine.toml"
    mine.write_text(DEFAULT.read_text("utf-8").replace("USD", "CHF"), "utf-8")
    main(["cost", str(folder), "--parameters", str(mine)])
    assert " CHF per TB" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"nodes": 0}, "expected nodes above 0"),
        ({"nodes": 1.5}, "whole number of nodes"),
        ({"lifetime_h": "long"}, "expected a number from 0 for lifetime_h, got 'long'"),
        ({"lifetime_h": math.inf}, "expected a number from 0 for lifetime_h, got inf"),
        ({"manpower_per_h": math.nan}, "expected a number from 0 for manpower_per_h, got nan"),
        ({"nodes": 10**400}, "expected a number from 0 for nodes, got 1000"),
        ({"lifetime": 1}, r"got \['lifetime'\] too"),
        ({"owned": []}, "expected nodes with a name each"),
        ({"owned": [{"name": "x", "acquisition": -1}]}, "mine: x: expected a number from 0"),
        ({"rented": [{"name": "ours", "per_h": 1}]}, "with a name each"),
        ({"currency": ""}, "expected a word for currency"),
    ],
)
def test_wrong_parameters_are_told(change: dict[str, object], why: str) -> None:
    with pytest.raises(RejectedError, match=why):
        parameters_of({**MINE, **change}, "mine")


def test_a_file_or_a_run_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(RejectedError, match="expected the cost model's parameters in"):
        read_parameters(tmp_path / "no.toml")
    with pytest.raises(SystemExit):
        main(["cost", str(tmp_path)])


@pytest.mark.parametrize("said", ["{}", "[]", '{"figures": []}', '{"schema": "another/1"}', "{"])
def test_what_is_no_result_is_told(
    tmp_path: Path, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "result.json").write_text(said, "utf-8")
    with pytest.raises(SystemExit):
        main(["cost", str(tmp_path)])
    assert "wayseal-bench: expected" in capsys.readouterr().err


def test_parameters_come_back_from_a_result_as_they_went_in() -> None:
    kept = json.loads(json.dumps(PAPER.described))
    assert parameters_of(kept, "a run") == PAPER
    assert parameters_of(parameters_of(MINE, "mine").described, "a run") == parameters_of(
        MINE, "mine"
    )
