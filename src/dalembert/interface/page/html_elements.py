"""What all pages are written with: the document around them, sections, tabs, tables, numbers, and
brackets that grow.

A browser stretches a bracket only by the MATH table of a font, and not every computer has such a
font. DejaVu Serif has one and comes with matplotlib; a page takes its brackets, roots and sums, a
few kilobytes, with the licence inside. Fonts of the reader's computer go first.
"""

from __future__ import annotations

import base64
import hashlib
import io
import logging
import re
from collections.abc import Sequence
from functools import cache
from html import escape
from importlib import resources
from importlib.util import find_spec
from pathlib import Path
from shlex import quote
from typing import Any, Final

from dalembert.interface.page.public_path import public_path
from dalembert.mechanics.model.system import System
from dalembert.runtime.numerics.object_cache import ObjectCache
from dalembert.symbolic.algebra.printing.mathml import NAMESPACE
from dalembert.symbolic.algebra.printing.symbol_names import display_name, superscript, unicode_name

SCRIPTS: Final = (
    "renderer.js",
    "vector_renderer.js",
    "charts.js",
    "energy_bars.js",
    "mode_bands.js",
    "pinned_runs.js",
    "number_text.js",
    "judgement.js",
    "drag.js",
    "interactive_panel.js",
    "page.js",
)
# before the first paint: light or dark, as chosen last time or as the computer is set
_THEME_SCRIPT: Final = (
    "{const d=document.documentElement;let "
    't=null;try{t=localStorage.getItem("dalembert-theme")}catch{}'
    'd.dataset.theme=t||(matchMedia("(prefers-color-scheme: dark)").matches?"dark":"light")}'
)


@cache
def asset(name: str) -> str:
    """A file for every page, without its indentation and the lines that are comments."""
    file = resources.files("dalembert.interface.page").joinpath("assets", name)
    lines = (line.strip() for line in file.read_text(encoding="utf-8").splitlines())
    return "\n".join(line for line in lines if line and not line.startswith("//"))


def html_document(title: str, *body: str, scripts: bool = True) -> str:
    """A document that holds all it needs; nothing may be fetched.

    The pieces of a long body are joined here, once.
    """
    own = "script-src 'unsafe-inline' 'wasm-unsafe-eval'; worker-src blob:"
    policy = (
        f"default-src 'none'; style-src 'unsafe-inline'; {own}; img-src data: blob:; font-src data:"
    )
    code = f"<script>{chr(10).join(map(asset, SCRIPTS))}</script>" if scripts else ""
    # in HTML the element alone names the namespace
    pieces = (piece.replace(f'<math xmlns="{NAMESPACE}"', "<math") for piece in body)
    head = (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n<link rel="icon" '
        f'href="data:,">\n'
        f"<title>{escape(title)}</title>\n"
        f"<style>{asset('page.css')}{bracket_style()}</style>\n"
        f"<script>{_THEME_SCRIPT}</script>\n"
        "<noscript><style>.panel[hidden],.group[hidden]{display:block}"
        ".controls,.tabs{display:none}</style></noscript>\n"
        "</head>\n<body>\n"
    )
    return "".join([head, *pieces, f"\n{code}\n</body>\n</html>\n"])


def page_header(title: str, links: str = "") -> str:
    """The bar that stays: title, links to the parts, light or dark."""
    theme = (
        '<button class="theme" type="button" aria-label="Light or dark" title="Light or '
        'dark">◐</button>'
    )
    return (
        f'<header class="bar"><div><b>{escape(title)}</b><nav '
        f'aria-label="Parts">{links}</nav>{theme}</div></header>'
    )


# ---- sections, tabs, tables and numbers --------------------------------------------------------

# the letters of the energies, set as mathematics
_LETTERS: Final = re.compile(r"E_Z|σ_R|K̇₂|K[₀₁₂]|\b[KETVZC]\b(?! is)")
# as programs write rates, and as names carry them
_DOTS: Final = {"": "", "dot": "'", "ddot": "''"}
_LOWERED: Final = {"E_Z": "<i>E<sub>Z</sub></i>", "σ_R": "<i>σ<sub>R</sub></i>"}


def section(identity: str, title: str, *inside: str) -> str:
    """A part with its heading."""
    head = f'<h2 id="{identity}-title">{escape(title)}</h2>'
    return (
        f'<section id="{identity}" '
        f'aria-labelledby="{identity}-title">{head}{"".join(inside)}</section>'
    )


def inline_svg(figure: Any, identity: str) -> str:
    """A figure of matplotlib as part of a page; shapes get names of their own by `identity`."""
    text = io.StringIO()
    figure.savefig(text, format="svg", metadata={"Date": None})
    svg = text.getvalue()
    svg = svg[svg.index("<svg") :].replace("<svg ", '<svg style="max-width:100%;height:auto" ', 1)
    # names of shapes must not meet those of other figures of the page
    own = re.sub(r"\W", "_", identity)
    return re.sub(r'(id="|href="#|url\(#)', rf"\1{own}-", svg)


def typeset(text: str) -> str:
    """Plain words with the energies in italics and their indices lowered."""
    return _LETTERS.sub(lambda found: _LOWERED.get(found[0], f"<i>{found[0]}</i>"), escape(text))


def shown_name(system: System, name: str) -> str:
    """psi.dot → ψ̇: a symbol or its rate as a book prints it; expressions as they are."""
    stem, _, rate = name.partition(".")
    return (
        unicode_name(display_name(stem + _DOTS[rate], system.space.tape.displays))
        if stem.isidentifier() and rate in _DOTS
        else name
    )


def scientific(x: float) -> str:
    """1.9 × 10⁻¹⁰"""
    if x == 0:
        return "0"
    digits, _, exponent = f"{x:.1e}".partition("e")
    return (
        f"{x:.3g}"
        if -3 <= int(exponent) < 4
        else f"{digits.removesuffix('.0')} × 10{superscript(int(exponent))}"
    )


def table(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Rows of HTML under headings."""
    head = "".join(f'<th scope="col">{escape(h)}</th>' if h else "<td></td>" for h in headings)
    body = "".join("<tr>" + "".join(f"<td>{cell}</td>" for cell in row) + "</tr>" for row in rows)
    above = f"<thead><tr>{head}</tr></thead>" if head else ""
    return f"<table>{above}<tbody>{body}</tbody></table>"


def tab_bar(label: str, family: str, titles: Sequence[tuple[str, str]], chosen: int = 0) -> str:
    """Buttons of which one is chosen: (identity of the panel, title) each."""
    buttons = "".join(
        f'<button role="tab" type="button" aria-controls="{family}-{name}" '
        f'aria-selected="{str(k == chosen).lower()}" '
        f'tabindex="{0 if k == chosen else -1}">{escape(title)}</button>'
        for k, (name, title) in enumerate(titles)
    )
    return f'<div class="tabs" role="tablist" aria-label="{escape(label)}">{buttons}</div>'


def tab_panel(kind: str, family: str, name: str, title: str, inside: str, *, first: bool) -> str:
    """What a button of a switch shows."""
    hidden = "" if first else " hidden"
    return (
        f'<div class="{kind}" role="tabpanel" id="{family}-{name}" '
        f'aria-label="{escape(title)}"{hidden}>{inside}</div>'
    )


def demote_headings(html: str) -> str:
    """A fragment whose headings stand one level deeper."""
    return html.replace("<h2>", "<h3>").replace("</h2>", "</h3>")


def shell_argument(name: str) -> str:
    """A system as the command line takes it."""
    return quote(public_path(name)) if name else "SYSTEM"


# ---- brackets --------------------------------------------------------------------------------

GLYPHS: Final = "()[]{}|⌊⌋⌈⌉√∑∏∫"
FAMILY: Final = "dalembert brackets"
_FILE: Final = ("mpl-data", "fonts", "ttf", "DejaVuSerif.ttf")
# in the file: copyright, family, style, licence and where it stands
_NAMES: Final = (0, 1, 2, 13, 14)
# changes whenever the same font would give other bytes
_WAY: Final = "brackets 2"
# how many times as high, between one line and the least that pieces put together give
_HEIGHTS: Final = (1.25, 1.6, 2.0)
_GROWING: Final = "()[]{}|"
# mathematical fonts that computers bring along
_INSTALLED: Final = (
    "STIX Two Math",
    "Cambria Math",
    "Latin Modern Math",
    "Libertinus Math",
    "STIX Math",
    "Asana Math",
    "XITS Math",
)


@cache
def bracket_style() -> str:
    """Rules for a page, with the font in them; nothing where the font is not available, and the
    browser chooses one.
    """
    font = _cached_font()
    if font is None:
        return ""
    source = f"url(data:font/woff;base64,{base64.b64encode(font).decode('ascii')}) format('woff')"
    families = ", ".join(f'"{name}"' for name in (*_INSTALLED, FAMILY))
    return (
        "/* brackets, roots and sums of DejaVu Serif, (c) Bitstream and others; the licence is in "
        "the font */\n"
        f'@font-face {{ font-family: "{FAMILY}"; src: {source}; }}\n'
        f"math mo, math msqrt {{ font-family: {families}, math; }}"
    )


def _cached_font() -> bytes | None:
    """The subset from the cache, or made now and kept."""
    package = find_spec("matplotlib")
    folders = package.submodule_search_locations if package is not None else None
    path = Path(next(iter(folders)), *_FILE) if folders else None
    if path is None or not path.is_file():
        return None
    whole = path.read_bytes()
    kept, key = (
        ObjectCache.from_environment(),
        hashlib.sha256(f"{_WAY} {GLYPHS} ".encode() + whole).hexdigest(),
    )
    subset = kept.read(key)
    if subset is None:
        subset = _subset(whole)
        if subset is not None:
            kept.write(key, subset)
    return subset


def _add_bracket_sizes(font: Any) -> None:
    """Brackets in heights between that of one line and that of pieces put together, drawn from
    the bracket itself.
    """
    names, variants = font.getBestCmap(), font["MATH"].table.MathVariants
    built = dict(
        zip(variants.VertGlyphCoverage.glyphs, variants.VertGlyphConstruction, strict=True)
    )
    for name in (names[ord(c)] for c in _GROWING):
        records = _taller_glyphs(font, name)
        built[name].MathGlyphVariantRecord, built[name].VariantCount = records, len(records)
    # a bar grows by further pieces, joined at both of its ends
    for part in built[names[ord("|")]].GlyphAssembly.PartRecords:
        part.StartConnectorLength = part.EndConnectorLength = variants.MinConnectorOverlap


def _taller_glyphs(font: Any, name: str) -> list[Any]:
    """A glyph and its taller forms, added to the font, as records of the MATH table."""
    from fontTools.pens.transformPen import TransformPen
    from fontTools.pens.ttGlyphPen import TTGlyphPen
    from fontTools.ttLib.tables.otTables import MathGlyphVariantRecord

    glyphs, outlines = font["glyf"], font.getGlyphSet()
    low, high = glyphs[name].yMin, glyphs[name].yMax
    records = []
    for k, times in enumerate((1.0, *_HEIGHTS)):
        record = MathGlyphVariantRecord()
        record.VariantGlyph = f"{name}.{k}" if k else name
        record.AdvanceMeasurement = round(times * (high - low))
        records.append(record)
        if k:
            pen = TTGlyphPen(None)
            # the middle stays where it is
            scaled = (1, 0, 0, times, 0, (1 - times) * (low + high) / 2)
            outlines[name].draw(TransformPen(pen, scaled))
            glyphs[record.VariantGlyph] = pen.glyph()
            font["hmtx"][record.VariantGlyph] = font["hmtx"][name]
    return records


def _subset(whole: bytes) -> bytes | None:
    """The glyphs with their taller forms and the MATH table, as WOFF; fontTools comes with
    matplotlib.
    """
    try:
        from fontTools import subset
        from fontTools.ttLib import TTFont
    except ImportError:
        return None
    logging.getLogger("fontTools").setLevel(logging.ERROR)
    options = subset.Options(
        hinting=False,
        notdef_outline=True,
        glyph_names=False,
        layout_features=["*"],
        name_IDs=list(_NAMES),
    )
    font = TTFont(io.BytesIO(whole), lazy=True, recalcTimestamp=False)
    chosen = subset.Subsetter(options)
    chosen.populate(text=GLYPHS)
    chosen.subset(font)
    _add_bracket_sizes(font)
    font.flavor = "woff"
    made = io.BytesIO()
    font.save(made)
    return made.getvalue()
