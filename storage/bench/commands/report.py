"""`wayseal-bench report`: the page and the charts of a run, from its folder."""

import argparse
from pathlib import Path
from typing import Final

from storage.bench.report.beside import beside
from storage.bench.report.charts.redrawn import redrawn
from storage.bench.report.charts.style import looks
from storage.bench.report.costing import costing
from storage.bench.report.drawing import workloads
from storage.bench.report.flagged import everywhere, without
from storage.bench.report.gallery import Gallery
from storage.bench.report.page import render
from storage.bench.run.folder import RESULT, Folder
from storage.bench.run.savedrun import SavedRun, opened

PAGE: Final = "report.html"


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of this command."""
    parser.add_argument("folder", type=Path, metavar="RUN", help="folder of a run")


def tell(options: argparse.Namespace) -> dict[str, str]:
    """Write the page of a run again; return where it is.

    Raises:
        RejectedError: The run is missing or invalid.
        UnavailableError: Its folder can't be written.
    """
    return written(opened(options.folder))


def written(run: SavedRun) -> dict[str, str]:
    """Write the page of a run and its charts into the run's folder; return where they are.

    Raises:
        UnavailableError: The folder can't be written.
    """
    gallery = Gallery(run.folder)
    of_all = everywhere(run.result["figures"])
    told = {**run.result, "figures": without(run.result["figures"], of_all)}
    run = SavedRun(run.folder, told)
    with looks():
        shown = list(workloads(run, gallery))
        papers = redrawn(run)
        sections = {
            "of_all": of_all,
            "redrawn": list(map(gallery.keep, papers.charts)),
            "not_redrawn": papers.missing,
            "beside": beside(run),
            "cost": costing(run, gallery),
        }
        page = render(run, shown, sections)
    Folder(run.folder).write(PAGE, page.encode())
    return {"report": str(run.folder / PAGE), "result": str(run.folder / RESULT)}
