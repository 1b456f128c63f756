"""What the theme leaves out for screen readers and keyboards, added to the finished pages."""

from __future__ import annotations

import re
from pathlib import Path

# (pattern in a page of the theme, replacement)
_REPAIRS = (
    (re.compile(r'role="heading">'), 'role="heading" aria-level="2">'),
    (
        re.compile(r'<aside class="sidebar-drawer">'),
        '<aside class="sidebar-drawer" aria-label="Pages">',
    ),
    (
        re.compile(r'<aside class="(toc-drawer[^"]*)">'),
        r'<aside class="\1" aria-label="On this page">',
    ),
    # what is wider than the page is scrolled with the keyboard
    (re.compile(r"<pre>"), '<pre tabindex="0">'),
    (re.compile(r'<div class="formula">'), '<div class="formula" tabindex="0">'),
    (re.compile(r'<div class="(table-wrapper[^"]*)">'), r'<div class="\1" tabindex="0">'),
    # the corner of a table is no heading
    (re.compile(r"<th([^>]*)><p></p></th>"), r"<td\1></td>"),
    # titles of printed results are no sections of the page; the steps of a derivation are
    (re.compile(r"<h([34])>(?!\d+\. )([^<]*)</h\1>"), r"<p><strong>\2</strong></p>"),
)
_MAIN = '<article role="main" id="furo-main-content">'


def accessible(html: str) -> str:
    """The page with headings in order, names of regions, and wide parts that can be focused."""
    for pattern, replacement in _REPAIRS:
        html = pattern.sub(replacement, html)
    # the page of the search has no title of its own
    return html if "<h1" in html else html.replace(_MAIN, f"{_MAIN}<h1>Search</h1>")


def repair(folder: Path) -> None:
    """Repair every page of the theme; live scenes and reports are not touched."""
    for path in folder.rglob("*.html"):
        if {"scenes", "gallery"}.isdisjoint(path.relative_to(folder).parts[:-1]):
            path.write_text(accessible(path.read_text(encoding="utf-8")), encoding="utf-8")
