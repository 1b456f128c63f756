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
from typing import Final

from dalembert.numerics.cache import ObjectCache

GLYPHS: Final = "()[]{}⌊⌋⌈⌉√∑∏∫"
FAMILY: Final = "dalembert brackets"
_FILE: Final = ("mpl-data", "fonts", "ttf", "DejaVuSerif.ttf")
# in the file: copyright, family, style, licence and where it stands
_NAMES: Final = (0, 1, 2, 13, 14)
# changes whenever the same font would give other bytes
_WAY: Final = "brackets 1"
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
    font.flavor = "woff"
    made = io.BytesIO()
    font.save(made)
    return made.getvalue()
