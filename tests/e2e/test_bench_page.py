"""The page of a run in a real browser: on a desk, on a phone, light and dark."""

from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from storage.bench.commands.report import written
from support.bench.results import made_run, quick
from support.machine.browser import Page, browser

pytestmark = pytest.mark.e2e

PHONE: Final = 390
DESK: Final = 1280
TABLET: Final = 820
SMALL_TEXT: Final = 4.5
"""Contrast that WCAG 2.2, 1.4.3 (AA) asks of small text."""
CONTRASTS: Final = """(() => {
  const parts = (colour) => (colour.match(/[\\d.]+/g) || []).map(Number);
  const light = (rgb) => rgb.slice(0, 3).map((v) => v / 255)
    .map((v) => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
    .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
  const behind = (element) => {
    for (let at = element; at; at = at.parentElement) {
      const rgb = parts(getComputedStyle(at).backgroundColor);
      if (rgb.length === 3 || rgb[3] > 0) return rgb;
    }
  };
  const worst = {};
  for (const element of document.querySelectorAll('body *')) {
    const own = [...element.childNodes].some((n) => n.nodeType === 3 && n.data.trim());
    if (!own || !element.checkVisibility()) continue;
    const style = getComputedStyle(element);
    const ink = element instanceof SVGElement ? style.fill : style.color;
    const [a, b] = [light(parts(ink)), light(behind(element))];
    const contrast = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    const kind = `${element.tagName} ${element.className.baseVal ?? element.className}`;
    worst[kind] = Math.min(worst[kind] ?? 99, contrast);
  }
  return worst;
})()"""
TOO_WIDE: Final = """[...document.querySelectorAll('body *')]
  .filter((e) => e.checkVisibility() && !e.closest('svg') && !e.closest('.charts figure'))
  .filter((e) => !e.closest('thead') || getComputedStyle(e.closest('thead')).position === 'static')
  .filter((e) => e.getBoundingClientRect().right > document.documentElement.clientWidth + 0.5
    || e.getBoundingClientRect().left < -0.5)
  .map((e) => e.outerHTML.slice(0, 80))"""
SMALLEST_TEXT: Final = """Math.min(...[...document.querySelectorAll('svg text')].map((text) =>
  parseFloat(getComputedStyle(text).fontSize) * Math.hypot(text.getCTM().a, text.getCTM().b)))"""
WIDER_THAN_ITS_STRIP: Final = """[...document.querySelectorAll('.charts figure')]
  .filter((f) => [...f.querySelectorAll(':not(svg *)'), f]
    .some((e) => e.getBoundingClientRect().width > f.closest('.charts').clientWidth)).length"""
UNSEEN: Final = """[...document.querySelectorAll('figure')]
  .filter((f) => { const at = f.querySelector('svg').getBoundingClientRect();
    return at.width < 200 || at.height < 60 || !f.querySelector('path'); }).length"""
CUT_OFF: Final = """[...document.querySelectorAll('figure svg')].flatMap((svg) => {
  const frame = svg.getBoundingClientRect();
  return [...svg.querySelectorAll('text')].map((t) => [t.textContent, t.getBoundingClientRect()])
    .filter(([, at]) => at.right > frame.right + 2 || at.left < frame.left - 2)
    .map(([words]) => words);
})"""


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    run = made_run(tmp_path_factory.mktemp("run"), heading=quick(), repetitions=2, fails=True)
    return Path(written(run)["report"])


@pytest.fixture(scope="module")
def tab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    with browser(tmp_path_factory.mktemp("profile")) as opened:
        yield opened


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("width", [DESK, TABLET, PHONE])
def test_the_page_stands(tab: Page, page: Path, width: int, *, dark: bool) -> None:
    tab.show(page, width=width, dark=dark)
    assert tab.complaints == []
    assert {each for each in tab.asked_for if not each.startswith("data:")} == {page.as_uri()}
    assert tab.value("document.documentElement.scrollWidth <= document.documentElement.clientWidth")
    assert tab.value(TOO_WIDE) == []
    assert tab.value(WIDER_THAN_ITS_STRIP) == 0
    assert tab.value("document.querySelectorAll('figure svg').length") == len(
        list(page.parent.glob("charts/*.svg"))
    )
    assert tab.value(UNSEEN) == 0
    assert tab.value(CUT_OFF) == []
    assert tab.value(SMALLEST_TEXT) > 9.9
    contrasts = tab.value(CONTRASTS)
    assert len(contrasts) > 10
    assert {kind: seen for kind, seen in contrasts.items() if seen < SMALL_TEXT} == {}


@pytest.mark.parametrize(("width", "height"), [(PHONE, 844), (DESK, 900)])
def test_the_first_screen_answers_and_a_phone_scrolls_no_more_than_ten(
    tab: Page, page: Path, width: int, height: int
) -> None:
    tab.show(page, width=width)
    assert tab.value("document.querySelectorAll('.answer > p').length") == 3
    end = tab.value("document.querySelector('.answer').getBoundingClientRect().bottom")
    assert end <= height
    assert tab.value("document.documentElement.scrollHeight") <= 10 * height


def test_a_link_to_a_folded_part_unfolds_it(tab: Page, page: Path) -> None:
    tab.show(page, width=DESK)
    folded = "document.querySelector('#method').closest('details').open"
    assert tab.value(folded) is False
    tab.value("document.querySelector('a[href=\"#method\"]').click()")
    assert tab.value(folded) is True


def test_the_reader_chooses_light_or_dark(tab: Page, page: Path) -> None:
    colours = []
    for dark in (False, True):
        tab.show(page, width=DESK, dark=dark)
        colours.append(tab.value("getComputedStyle(document.body).backgroundColor"))
    assert colours == ["rgb(255, 255, 255)", "rgb(13, 17, 23)"]
