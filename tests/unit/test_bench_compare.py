"""What differs between runs, or targets, and whether that is more than noise."""

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from storage.bench.report.terminal import WIDTH
from storage.bench.run.plan import Part
from storage.bench.run.savedrun import SavedRun
from storage.bench.stats.difference import Telling, difference
from storage.bench.wayseal_bench import main
from support.bench.results import HEADING, NVMEOF, SATA, made_run


def test_values_apart_differ_by_more_than_noise() -> None:
    found = difference([1, 2, 3, 4, 5, 6], [7, 8, 9, 10, 11, 12])
    assert found.p == pytest.approx(2 / 924)
    assert found.telling is Telling.MORE_THAN_NOISE
    assert found.medians == (3.5, 9.5)
    assert found.ratio == pytest.approx(9.5 / 3.5)


def test_the_example_of_the_paper_of_mann_and_whitney() -> None:
    """Their table I for samples of 4 and 3: U = 1 has one-sided chance 2/35."""
    found = difference([1, 2, 3, 5], [4, 6, 7])
    assert found.p == pytest.approx(4 / 35)


def test_ties_are_exact_too() -> None:
    """By hand: of the 20 ways to share out 1 1 2 2 3 3, how many are at least as far apart."""
    found = difference([1, 1, 2], [2, 3, 3])
    assert found.p == pytest.approx(4 / 20)
    assert difference([1, 1, 1, 1], [1, 1, 1, 1]).p == 1


def test_a_single_value_beside_tied_ones_tells_nothing() -> None:
    """As of a run that was interrupted, beside errors of 0, 0 and 1."""
    for found in (difference([0, 0, 1], [1]), difference([2], [0, 0, 1, 1, 1, 1])):
        assert 0 < found.p <= 1
        assert found.telling is Telling.TOO_FEW


def test_two_values_each_tell_nothing() -> None:
    found = difference([1, 2], [100, 200])
    assert found.telling is Telling.TOO_FEW
    assert found.least_p == pytest.approx(1 / 3)


def test_many_values_take_the_approximation() -> None:
    first, second = list(range(40)), [each + 15.5 for each in range(40)]
    # Not above: each worker would import it, and one needs it.
    from scipy.stats import mannwhitneyu  # noqa: PLC0415

    expected = mannwhitneyu(first, second, method="asymptotic").pvalue
    assert difference(first, second).telling is Telling.MORE_THAN_NOISE
    assert difference([*first, 3], second).p == pytest.approx(expected, rel=0.9)


@pytest.fixture(scope="module")
def slow(tmp_path_factory: pytest.TempPathFactory) -> SavedRun:
    return made_run(tmp_path_factory.mktemp("slow"), parts=[Part.SYSTEM, Part.OFFLOAD])


@pytest.fixture(scope="module")
def fast(tmp_path_factory: pytest.TempPathFactory) -> SavedRun:
    heading = replace(HEADING, seed=8)
    parts = [Part.SYSTEM, Part.OFFLOAD]
    return made_run(tmp_path_factory.mktemp("fast"), heading=heading, faster=1.5, parts=parts)


def by_figure(lines: list[str]) -> dict[tuple[str, str], str]:
    """Return the lines of figures by what stands above them, and their first word."""
    above, told = "", {}
    for line in lines:
        if line.startswith("  "):
            told[above, line.split()[0]] = line
        else:
            above = line
    return told


def test_two_runs_are_compared_target_by_target(
    slow: SavedRun, fast: SavedRun, capsys: pytest.CaptureFixture[str]
) -> None:
    main(["compare", str(slow.folder), str(fast.folder)])
    *lines, last = capsys.readouterr().out.splitlines()
    assert json.loads(last) == {
        "compared": 12,
        "more_than_noise": 12,
        "within_noise": 0,
        "too_few_values_to_tell": 0,
    }
    told = by_figure(lines)
    assert "higher, better: more than noise" in told[f"offload, trucks on {SATA}", "video"]
    assert "lower, better: more than noise" in told[f"offload, trucks on {NVMEOF}", "offload-p50"]
    assert "p 0.002" in told[f"offload, trucks on {SATA}", "video"]
    assert "Of 12 figures that do not differ at all, about 0.6" in lines[-1]


def test_two_targets_of_one_run_are_compared(
    slow: SavedRun, capsys: pytest.CaptureFixture[str]
) -> None:
    main(["compare", str(slow.folder), "--targets", NVMEOF, SATA])
    told = by_figure(capsys.readouterr().out.splitlines())
    video = told[f"offload, trucks on {NVMEOF} | {SATA}", "video"]
    assert "lower, worse: more than noise" in video
    assert "within noise" in told[f"system, secp256k1 on {NVMEOF} | {SATA}", "sign"]


def test_two_repetitions_tell_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = made_run(tmp_path, repetitions=2, parts=[Part.OFFLOAD])
    main(["compare", str(run.folder), "--targets", NVMEOF, SATA])
    told = capsys.readouterr().out
    assert told.count("too few values to tell: 2 and 2") == 3
    assert told.count("FEW REPETITIONS") == 1
    assert "All figures are flagged FEW REPETITIONS." in told
    assert "Mann-Whitney" not in told


def test_runs_of_different_settings_are_refused_unless_told(
    slow: SavedRun, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    settings = {**HEADING.settings, "io": {"video_bytes": 1, "blob_bytes": 1_000_000}}
    other = replace(HEADING, settings={**settings, "cost": {"currency": "EUR"}})
    run = made_run(tmp_path, heading=other, parts=[Part.OFFLOAD])
    with pytest.raises(SystemExit):
        main(["compare", str(slow.folder), str(run.folder)])
    complaint = capsys.readouterr().err
    assert "io.video_bytes: 5390000000 and 1" in complaint
    assert "blob_bytes" not in complaint
    assert "cost" not in complaint
    main(["compare", str(slow.folder), str(run.folder), "--anyway"])
    assert "Different settings: io.video_bytes is" in capsys.readouterr().out


@pytest.mark.parametrize("command", ["compare", "paper"])
def test_a_terminal_of_100_columns_suffices(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], command: str
) -> None:
    """Names as long as the parts' longest ones, and a flag that not all figures have."""
    run = made_run(tmp_path, parts=[Part.OFFLOAD, Part.IO])
    result = json.loads((tmp_path / "result.json").read_text("utf-8"))
    for each in result["figures"]:
        if each["metric"] == "readings":
            each["metric"] = "processor-cpu-per-transaction"
            each["flags"] = [{"flag": "NOISY NEIGHBOURS", "why": "expected, got"}]
    (tmp_path / "result.json").write_text(json.dumps(result), "utf-8")
    main([command, str(run.folder), *(["--targets", NVMEOF, SATA] * (command == "compare"))])
    *lines, _ = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= WIDTH
    assert ("[NOISY NEIGHBOURS]" in "\n".join(lines)) is (command == "compare")


def test_an_invalid_figure_is_not_compared(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = made_run(tmp_path, parts=[Part.OFFLOAD])
    result = json.loads((tmp_path / "result.json").read_text("utf-8"))
    result["figures"][0]["flags"] = [{"flag": "INVALID", "why": "expected, got"}]
    (tmp_path / "result.json").write_text(json.dumps(result), "utf-8")
    main(["compare", str(run.folder), "--targets", NVMEOF, SATA])
    *lines, last = capsys.readouterr().out.splitlines()
    assert sum("not compared: INVALID" in line for line in lines) == 1
    assert json.loads(last)["compared"] == 2


@pytest.mark.parametrize(
    ("words", "why"),
    [([], "expected two runs"), (["--targets", NVMEOF, "tape"], "got 'tape'")],
)
def test_what_cannot_be_compared_is_refused(
    slow: SavedRun, words: list[str], why: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        main(["compare", str(slow.folder), *words])
    assert why in capsys.readouterr().err


def test_commands_that_do_not_compare_start_without_scipy() -> None:
    look = "import sys, storage.bench.wayseal_bench; sys.exit('scipy' in sys.modules)"
    subprocess.run([sys.executable, "-c", look], check=True)  # noqa: S603 - our own Python
