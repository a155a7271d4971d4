"""A tagged PDF that is written from top to bottom, A4, with a mark of the trip on every page.

Each piece of text and each drawing is an element of the document's structure, so that a screen
reader finds headings, tables and what a drawing shows.

Source: ISO 32000-1, 14.7 (logical structure) and 14.8 (tagged PDF).
"""

import io
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Final, cast

from reportlab.lib.colors import Color, HexColor
from reportlab.lib.pagesizes import A4
from reportlab.pdfbase.pdfdoc import PDFArray, PDFDictionary, PDFName, PDFPage, PDFString
from reportlab.pdfgen.canvas import Canvas

from gateway.exports.certificate import text
from gateway.exports.certificate.text import BOLD, REGULAR

INK: Final = HexColor(0x1B1F24)
SOFT: Final = HexColor(0x4F5963)
LINE: Final = HexColor(0xC9D1D9)
GOOD: Final = HexColor(0x1A6B3A)
BAD: Final = HexColor(0xB3261E)
ACCENT: Final = HexColor(0x0B5CAD)
PAPER: Final = HexColor(0xFFFFFF)
MARGIN: Final = 48.0
WIDE: Final = A4[0] - 2 * MARGIN
"""Of what is written on, points."""
_TOP: Final = A4[1] - MARGIN
_BOTTOM: Final = MARGIN + 14
_LEADING: Final = 1.35
_GAP: Final = 5.0
"""Between the columns of a table, points."""
_CELL_SIZE: Final = 8.0
"""Of the letters in a table, points."""
_NUMBER: Final = 60.0
"""Room at the foot for the page's number, points."""
_LINES_MAX: Final = 50
"""Of a piece of text or a row of a table that is not parted over pages."""


@dataclass(slots=True)
class _Element:
    """An element of the structure; `mark` is its content on a page, None for a group."""

    role: str
    alt: str = ""
    page: int = 0
    mark: int | None = None
    children: list["_Element"] = field(default_factory=list)


class Sheet:
    """Writes one document.

    Args:
        title: Of the document.
        footer: A line at the foot of each page, before its number.
        decorate: Called before the document is closed, with reportlab's document and its first
            page.
    """

    def __init__(
        self, title: str, footer: str, decorate: Callable[[Canvas, Any], None] | None = None
    ) -> None:
        text.width("", 1)  # registers the fonts
        self._buffer = io.BytesIO()
        self.canvas = Canvas(
            self._buffer,
            A4,
            initialFontName=REGULAR,  # type: ignore[arg-type] # the stubs have it for a number
            lang="en",
            pageCompression=1,
        )
        # reportlab has no call for tags: its own parts are used.
        self._inner = cast("Any", self.canvas)
        self._document = self._inner._doc  # noqa: SLF001
        self.canvas.setTitle(text.readable(title))
        for say in (self.canvas.setProducer, self.canvas.setCreator, self.canvas.setAuthor):
            say("Wayseal")
        self.canvas.setSubject(text.readable(footer))
        self.canvas.setViewerPreference("DisplayDocTitle", "true")
        self._footer = footer
        self._decorate = decorate
        self._body = _Element("Document")
        self._groups = [self._body]
        self._pages: list[PDFPage] = []
        self._marks: list[list[_Element]] = [[]]
        self._watch_pages()
        self.y = _TOP

    def heading(self, words: str, level: int, size: float = 12) -> None:
        """Write a heading; what follows it stays on its page."""
        self.room(size * 4 + 30)
        self.y -= size * 0.6
        with self.element(f"H{level}"):
            self._write(text.lines(words, WIDE, size, BOLD), MARGIN, size, BOLD, INK)
        self.y -= 3

    def paragraph(
        self,
        words: str,
        size: float = 9,
        font: str = REGULAR,
        colour: Color = INK,
        *,
        left: float = 0,
        room: float = WIDE,
        role: str = "P",
    ) -> None:
        """Write a paragraph `left` of the margin, `room` points wide."""
        written = text.lines(words, room, size, font)
        for at in range(0, len(written), _LINES_MAX):
            piece = written[at : at + _LINES_MAX]
            self.room(len(piece) * size * _LEADING)
            with self.element(role):
                self._write(piece, MARGIN + left, size, font, colour)

    def tall(self, words: str, size: float, room: float, font: str = REGULAR) -> float:
        """Return how high a paragraph is, points."""
        return len(text.lines(words, room, size, font)) * size * _LEADING

    def table(
        self, header: Sequence[str], widths: Sequence[float], rows: Sequence[Sequence[str]]
    ) -> None:
        """Write a table; its header comes again on each page.

        Args:
            header: Titles of the columns.
            widths: Of the columns, as parts of the whole width.
            rows: A text for each column.
        """
        with self.group("Table"):
            self._row(self._cells(header, widths, BOLD), widths, "TH")
            for row in rows:
                cells = self._cells(row, widths, REGULAR)
                for at in range(0, max(map(len, cells)), _LINES_MAX):
                    piece = [cell[at : at + _LINES_MAX] for cell in cells]
                    if _tall(piece) > self.y - _BOTTOM:
                        self.next_page()
                        self._row(self._cells(header, widths, BOLD), widths, "TH")
                    self._row(piece, widths, "TD")
        self.y -= 4

    def room(self, height: float) -> None:
        """Begin a page if this one has not as much room, points."""
        if self.y - height < _BOTTOM:
            self.next_page()

    def next_page(self) -> None:
        """End the page."""
        self._foot()
        self.canvas.showPage()
        self._marks.append([])
        self.y = _TOP

    @contextmanager
    def group(self, role: str) -> Iterator[None]:
        """Put the elements that follow into one of their own, such as a table's row."""
        made = _Element(role)
        self._groups[-1].children.append(made)
        self._groups.append(made)
        yield
        self._groups.pop()

    @contextmanager
    def element(self, role: str, alt: str = "") -> Iterator[Canvas]:
        """Draw one element of the structure; `alt` says in words what a drawing shows."""
        marks = self._marks[-1]
        made = _Element(role, alt, len(self._marks) - 1, len(marks))
        marks.append(made)
        self._groups[-1].children.append(made)
        self._code(f"/{role} <</MCID {made.mark}>> BDC")
        yield self.canvas
        self._code("EMC")

    @contextmanager
    def artifact(self) -> Iterator[Canvas]:
        """Draw what has no meaning of its own, such as a line."""
        self._code("/Artifact BMC")
        yield self.canvas
        self._code("EMC")

    def finish(self) -> bytes:
        """Return the document."""
        self._foot()
        self.canvas.showPage()
        self._structure()
        if self._decorate is not None:
            self._decorate(self._document, self._pages[0])
        self.canvas.save()
        return self._buffer.getvalue()

    def _cells(self, texts: Sequence[str], widths: Sequence[float], font: str) -> list[list[str]]:
        """Return the lines of each cell of a row."""
        pairs = zip(texts, widths, strict=True)
        return [text.lines(each, part * WIDE - _GAP, _CELL_SIZE, font) for each, part in pairs]

    def _row(self, cells: Sequence[Sequence[str]], widths: Sequence[float], role: str) -> None:
        font = BOLD if role == "TH" else REGULAR
        self.room(_tall(cells))
        top, left = self.y, MARGIN
        with self.group("TR"):
            for cell, part in zip(cells, widths, strict=True):
                self.y = top - 2
                with self.element(role):
                    self._write(cell, left, _CELL_SIZE, font, INK)
                left += part * WIDE
        self.y = top - _tall(cells)
        with self.artifact() as canvas:
            canvas.setStrokeColor(LINE)
            canvas.setLineWidth(0.5)
            canvas.line(MARGIN, self.y, MARGIN + WIDE, self.y)

    def _write(
        self, written: Iterable[str], left: float, size: float, font: str, colour: Color
    ) -> None:
        self.canvas.setFont(font, size)
        self.canvas.setFillColor(colour)
        for line in written:
            self.y -= size * _LEADING
            self.canvas.drawString(left, self.y + size * 0.3, line)

    def _foot(self) -> None:
        with self.artifact() as canvas:
            canvas.setFont(REGULAR, 7)
            canvas.setFillColor(SOFT)
            first, *more = text.lines(self._footer, WIDE - _NUMBER, 7)
            canvas.drawString(MARGIN, MARGIN - 10, f"{first} …" if more else first)
            canvas.drawRightString(MARGIN + WIDE, MARGIN - 10, f"Page {len(self._marks)}")

    def _code(self, operators: str) -> None:
        self._inner._code.append(operators)  # noqa: SLF001

    def _watch_pages(self) -> None:
        """Have each page say where its elements are: reportlab knows no tags."""
        add = self._document.addPage

        def added(page: Any) -> None:  # noqa: ANN401 - untyped
            page.__NoDefault__ = [*page.__NoDefault__, "StructParents", "Tabs"]
            page.StructParents, page.Tabs = len(self._pages), PDFName("S")
            self._pages.append(page)
            add(page)

        self._document.addPage = added

    def _structure(self) -> None:
        document = self._document
        root = PDFDictionary({"Type": PDFName("StructTreeRoot")})
        places: dict[tuple[int, int], Any] = {}
        root["K"] = self._made(self._body, document.Reference(root), places)
        numbers: list[Any] = []
        for page, marks in enumerate(self._marks):
            refs = [places[page, at] for at in range(len(marks))]
            numbers += [page, document.Reference(PDFArray(refs))]
        root["ParentTree"] = document.Reference(PDFDictionary({"Nums": PDFArray(numbers)}))
        root["ParentTreeNextKey"] = len(self._marks)
        document.Catalog.StructTreeRoot = root
        document.Catalog.MarkInfo = PDFDictionary({"Marked": "true"})

    def _made(self, element: _Element, parent: Any, places: dict[tuple[int, int], Any]) -> Any:  # noqa: ANN401 - untyped
        """Return a reference to an element; note which holds which mark of a page."""
        document = self._document
        made = PDFDictionary(
            {"Type": PDFName("StructElem"), "S": PDFName(element.role), "P": parent}
        )
        own = document.Reference(made)
        if element.alt:
            made["Alt"] = PDFString(element.alt)
        if element.mark is None:
            made["K"] = PDFArray([self._made(each, own, places) for each in element.children])
        else:
            made["K"], made["Pg"] = element.mark, document.Reference(self._pages[element.page])
            places[element.page, element.mark] = own
        return own


def _tall(cells: Sequence[Sequence[str]]) -> float:
    """Return how high a row of a table is, points."""
    return max(map(len, cells)) * _CELL_SIZE * _LEADING + 6
