"""The brackets, roots and sums of a mathematical font, which every page carries so that they grow with what they hold.

A browser stretches a bracket only by the MATH table of a font, and not every computer has such a font. DejaVu Serif has one and comes with
matplotlib; a page takes these few glyphs of it, a few kilobytes, with its licence inside. Fonts of the reader's computer go first.
"""

from __future__ import annotations

import base64
import hashlib
import io
import logging
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

from dalembert.numerics.cache import ObjectCache

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
_INSTALLED: Final = ("STIX Two Math", "Cambria Math", "Latin Modern Math", "Libertinus Math", "STIX Math", "Asana Math", "XITS Math")


@cache
def bracket_style() -> str:
    """Rules for a page, with the font in them; nothing where the font is not at hand, and the browser does what it can."""
    font = _kept()
    if font is None:
        return ""
    source = f"url(data:font/woff;base64,{base64.b64encode(font).decode('ascii')}) format('woff')"
    families = ", ".join(f'"{name}"' for name in (*_INSTALLED, FAMILY))
    return (
        "/* brackets, roots and sums of DejaVu Serif, (c) Bitstream and others; the licence is in the font */\n"
        f'@font-face {{ font-family: "{FAMILY}"; src: {source}; }}\n'
        f"math mo, math msqrt {{ font-family: {families}, math; }}"
    )


def _kept() -> bytes | None:
    """The subset from the cache, or made now and kept."""
    package = find_spec("matplotlib")
    folders = package.submodule_search_locations if package is not None else None
    path = Path(next(iter(folders)), *_FILE) if folders else None
    if path is None or not path.is_file():
        return None
    whole = path.read_bytes()
    kept, key = ObjectCache.of_environment(), hashlib.sha256(f"{_WAY} {GLYPHS} ".encode() + whole).hexdigest()
    found = kept.read(key)
    if found is None:
        found = _subset(whole)
        if found is not None:
            kept.write(key, found)
    return found


def _grow(font: Any) -> None:
    """Brackets in heights between that of one line and that of pieces put together, drawn from the bracket itself."""
    from fontTools.pens.transformPen import TransformPen
    from fontTools.pens.ttGlyphPen import TTGlyphPen
    from fontTools.ttLib.tables.otTables import MathGlyphVariantRecord

    names, glyphs, outlines = font.getBestCmap(), font["glyf"], font.getGlyphSet()
    variants = font["MATH"].table.MathVariants
    made = dict(zip(variants.VertGlyphCoverage.glyphs, variants.VertGlyphConstruction, strict=True))
    for name in (names[ord(c)] for c in _GROWING):
        low, high = glyphs[name].yMin, glyphs[name].yMax
        records = []
        for k, times in enumerate((1.0, *_HEIGHTS)):
            record = MathGlyphVariantRecord()
            record.VariantGlyph, record.AdvanceMeasurement = f"{name}.{k}" if k else name, round(times * (high - low))
            records.append(record)
            if k:
                pen = TTGlyphPen(None)
                # the middle stays where it is
                outlines[name].draw(TransformPen(pen, (1, 0, 0, times, 0, (1 - times) * (low + high) / 2)))
                glyphs[record.VariantGlyph], font["hmtx"][record.VariantGlyph] = pen.glyph(), font["hmtx"][name]
        made[name].MathGlyphVariantRecord, made[name].VariantCount = records, len(records)
    # a bar grows by more of itself, joined at both of its ends
    for part in made[names[ord("|")]].GlyphAssembly.PartRecords:
        part.StartConnectorLength = part.EndConnectorLength = variants.MinConnectorOverlap


def _subset(whole: bytes) -> bytes | None:
    """The glyphs with their taller forms and the MATH table, as WOFF; fontTools comes with matplotlib."""
    try:
        from fontTools import subset
        from fontTools.ttLib import TTFont
    except ImportError:
        return None
    logging.getLogger("fontTools").setLevel(logging.ERROR)
    options = subset.Options(hinting=False, notdef_outline=True, glyph_names=False, layout_features=["*"], name_IDs=list(_NAMES))
    font = TTFont(io.BytesIO(whole), lazy=True, recalcTimestamp=False)
    chosen = subset.Subsetter(options)
    chosen.populate(text=GLYPHS)
    chosen.subset(font)
    _grow(font)
    font.flavor = "woff"
    made = io.BytesIO()
    font.save(made)
    return made.getvalue()
