"""The font of the page: small, the same every time, with its licence; and brackets that grow
with what they hold.
"""

from __future__ import annotations

import io
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
from browsing import Visit

from dalembert.interface.page import html_elements
from dalembert.interface.page.html_elements import html_document

FENCED = (
    '<mrow><mo fence="true" stretchy="true">{}</mo>{}<mo fence="true" '
    'stretchy="true">{}</mo></mrow>'
)
TALL = "<mfrac><mi>a</mi><mfrac><mi>b</mi><mi>c</mi></mfrac></mfrac>"
PAIRS = ("()", "[]", "{}", "||")
LETTER = FENCED.format("(", "<mi>β</mi>", ")")
RATIO = FENCED.format("(", "<mfrac><mi>a</mi><mi>b</mi></mfrac>", ")")
LOW = f"<math>{LETTER}{RATIO}</math>"
BODY = (
    f"<main><math "
    f'display="block">{"".join(FENCED.format(a, TALL, b) for a, b in PAIRS)}</math>{LOW}</main>'
)


@pytest.fixture
def font():
    ttLib = pytest.importorskip("fontTools.ttLib", reason="fontTools comes with matplotlib")
    return ttLib.TTFont(io.BytesIO(html_elements._cached_font()))


def test_it_has_taller_forms_of_every_glyph_and_its_licence(font):
    names = font.getBestCmap()
    assert set(map(ord, html_elements.GLYPHS)) <= set(names)
    variants = font["MATH"].table.MathVariants.VertGlyphCoverage.glyphs
    assert {names[ord(c)] for c in html_elements.GLYPHS} <= set(variants)
    assert "Permission is hereby granted" in font["name"].getDebugName(13)
    # a page may grow by so little
    assert len(html_elements.bracket_style()) < 10_000


def test_it_is_the_same_every_time_and_kept(tmp_path, monkeypatch):
    monkeypatch.setenv("DALEMBERT_CACHE", str(tmp_path / "cache"))
    made = html_elements._cached_font()
    monkeypatch.setattr(html_elements, "_subset", lambda _: pytest.fail("it was kept"))
    assert made == html_elements._cached_font()
    monkeypatch.undo()
    monkeypatch.setenv("DALEMBERT_CACHE", "off")
    assert made == html_elements._cached_font()


def test_without_the_font_a_page_says_nothing(monkeypatch):
    monkeypatch.setattr(html_elements, "find_spec", lambda _: None)
    assert "" == html_elements.bracket_style.__wrapped__()


@pytest.mark.slow
def test_brackets_grow_where_no_mathematical_font_is_installed(browser, tmp_path, monkeypatch):
    # whatever is installed here is not asked for
    monkeypatch.setattr(html_elements, "_INSTALLED", ())
    style = html_elements.bracket_style.__wrapped__()
    (tmp_path / "page.html").write_text(
        html_document("brackets", f"<style>{style}</style>{BODY}"), encoding="utf-8"
    )
    context = browser.new_context(offline=True)
    visit = Visit(context, tmp_path / "page.html")
    high = "e => e.getBoundingClientRect().height"
    brackets = visit.do(
        f"document.fonts.ready.then(() => [...document.querySelectorAll('mo[fence]')].map({high}))"
    )
    fraction = visit.do(f"({high})(document.querySelector('mrow > mfrac'))")
    *tall, letter, _, inline, _ = brackets
    assert 2 * len(PAIRS) == len(tall)
    assert 0.8 * fraction < min(tall) <= max(tall) < 2.2 * fraction, brackets
    # what is lower has lower ones
    assert letter < inline < 0.7 * min(tall), brackets
    assert [] == visit.said
    context.close()
