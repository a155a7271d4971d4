"""The look of all charts: narrow enough for a phone, in colours that the page can change."""

import io
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from math import inf, log10
from typing import Any, Final, TypeVar

import matplotlib as mpl
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure
from matplotlib.font_manager import findfont, get_font
from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullLocator

from storage.bench.report.numbers import Scale, digits_short, scale

_Item = TypeVar("_Item")

WIDTH_IN: Final = 4.0
"""288 points: on a phone, a point is 1.2 pixels."""
LABEL_CHARS_MAX: Final = 28
CHART_ROWS_MAX: Final = 36
"""Bars in one chart; further ones go into another."""
_PNG_DPI: Final = 200
_STEPS: Final[Mapping[float, Sequence[float]]] = {
    0.4: (1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 8),
    0.9: (1, 2, 3, 5, 7),
    1.5: (1, 2, 5),
    2.5: (1, 3),
    inf: (1,),
}
"""Numbered steps of a logarithmic axis, by the powers of ten that it spans at most."""
_INK: Final = "#1f2328"
_FAINT: Final = "#59636e"
_RULE: Final = "#d1d9e0"
COLOURS: Final = ("#0969da", "#bc4c00", "#1a7f37", "#8250df", "#9a6700", "#bf3989")
LINES: Final = ("-", "--", "-.", ":", (0, (5, 1, 1, 1, 1, 1)), (0, (1, 1)))
_VARIABLES: Final[Mapping[str, str]] = {
    _INK: "--ink",
    _FAINT: "--faint",
    _RULE: "--rule",
    **{colour: f"--series-{place}" for place, colour in enumerate(COLOURS)},
}
"""By colour: the page's variable that stands for it, so that the page can be dark."""
_RC: Final[dict[Any, Any]] = {
    "axes.facecolor": "none",
    "axes.edgecolor": _RULE,
    "axes.grid": True,
    "axes.labelcolor": _FAINT,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.titlecolor": _INK,
    "axes.titlelocation": "left",
    "axes.titlesize": 9.5,
    "axes.labelsize": 9.5,
    "font.family": "DejaVu Sans",
    "font.size": 9.5,
    "grid.color": _RULE,
    "grid.linewidth": 0.6,
    "legend.fontsize": 9.5,
    "legend.frameon": False,
    "legend.labelcolor": _INK,
    "lines.linewidth": 1.4,
    "svg.fonttype": "none",
    "text.color": _INK,
    "text.parse_math": False,
    "xtick.color": _RULE,
    "xtick.labelcolor": _FAINT,
    "ytick.color": _RULE,
    "ytick.labelcolor": _FAINT,
}
FLAGGED: Final = "\N{BLACK FLAG}"


@dataclass(frozen=True, slots=True)
class Chart:
    """One picture.

    Attributes:
        title: What it shows, in words.
        caption: How to read it, in sentences.
        svg: A document of its own.
    """

    title: str
    caption: str
    svg: str
    png: bytes

    @property
    def inline(self) -> str:
        """Return the SVG as part of a page, in the page's own colours."""
        picture = self.svg[self.svg.index("<svg") :]
        used = set(re.findall(r"(?:url\(#|href=\"#)([^)\"]+)", picture))
        picture = re.sub(
            r' id="([^"]*)"', lambda found: found[0] if found[1] in used else "", picture
        )
        picture = re.sub(r"<metadata>.*?</metadata>", "", picture, count=1, flags=re.DOTALL)
        picture = re.sub(r' (?:width|height)="[\d.]+pt"', "", picture, count=2)
        for colour, variable in _VARIABLES.items():
            picture = picture.replace(colour, f"var({variable})")
        return picture


@contextmanager
def looks() -> Iterator[None]:
    """Draw in our style inside."""
    with mpl.rc_context(_RC):
        yield


def figure(height_in: float) -> Figure:
    """Return an empty picture as wide as all are."""
    return Figure(figsize=(WIDTH_IN, height_in), layout="constrained")


def chart(name: str, title: str, caption: str, drawn: Figure) -> Chart:
    """Return a picture as it is kept.

    Args:
        name: Makes its clip paths unique on a page.
        title: What it shows.
        caption: How to read it.
        drawn: The picture.
    """
    svg, png = io.StringIO(), io.BytesIO()
    _lay_out(drawn)
    # Straight to its canvas: `savefig` draws twice for each format.
    drawn.set_facecolor("none")
    with mpl.rc_context({"svg.hashsalt": name}):
        FigureCanvasSVG(drawn).print_svg(svg, metadata={"Date": None})  # type: ignore[no-untyped-call]  # matplotlib's
    drawn.set_facecolor("white")
    drawn.set_dpi(_PNG_DPI)
    FigureCanvasAgg(drawn).print_png(png)  # type: ignore[no-untyped-call]  # matplotlib's
    return Chart(title, caption, svg.getvalue(), png.getvalue())


def _lay_out(drawn: Figure) -> None:
    """Give each part its place, once for all formats."""
    engine = drawn.get_layout_engine()
    if engine is not None:
        engine.execute(drawn)
        drawn.set_layout_engine("none")


def label(text: str) -> str:
    """Return a name that can be drawn: short, with characters of the font."""
    font = get_font(findfont("DejaVu Sans"))
    drawn = "".join(each if font.get_char_index(ord(each)) else "?" for each in text)
    return drawn if len(drawn) <= LABEL_CHARS_MAX else f"{drawn[: LABEL_CHARS_MAX - 1]}…"


def in_parts(items: Sequence[_Item], most: int) -> list[Sequence[_Item]]:
    """Return items in parts of at most so many, in order."""
    return [items[first : first + most] for first in range(0, len(items), most)]


def colours(names: Sequence[str]) -> dict[str, int]:
    """Return for each target the place of its colour and line, the same in all charts."""
    return {name: place % len(COLOURS) for place, name in enumerate(names)}


def in_unit(axis: Axes, which: str, suits: Scale) -> None:
    """Number the x or y axis in a unit."""
    chosen = axis.xaxis if which == "x" else axis.yaxis
    chosen.set_major_locator(MaxNLocator(4, steps=[1, 2, 5, 10]))
    chosen.set_major_formatter(FuncFormatter(lambda value, _: digits_short(value / suits.factor)))


def in_time(axis: Axes, which: str, low_s: float, high_s: float) -> None:
    """Number the x or y axis, a logarithmic one, in times: 1, 2, 5, 10 or, if long, in tens.

    Args:
        axis: Whose.
        which: `x` or `y`.
        low_s: Where it begins; above 0.
        high_s: Where it ends.
    """
    chosen = axis.xaxis if which == "x" else axis.yaxis
    tens = log10(high_s / low_s)
    steps = next(steps for most, steps in _STEPS.items() if tens <= most)
    chosen.set_major_locator(LogLocator(subs=steps, numticks=20))
    chosen.set_major_formatter(FuncFormatter(_time))
    chosen.set_minor_locator(NullLocator())
    room = 10 ** max(0.04 * tens, 0.03)
    (axis.set_xlim if which == "x" else axis.set_ylim)(low_s / room, high_s * room)


def _time(value: float, _: object) -> str:
    suits = scale([value], "s")
    return f"{digits_short(value / suits.factor)} {suits.label}"


def legend(drawn: Figure, handles: Sequence[Artist], names: Sequence[str]) -> None:
    """Put the legend above the picture, as many in a row as fit."""
    shown = [label(name) for name in names]
    longest = max(map(len, shown), default=1)
    drawn.legend(
        handles, shown, loc="outside upper left", ncols=max(1, min(4, 38 // (longest + 6)))
    )
