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
    # code that is wider than the page is scrolled with the keyboard
    (re.compile(r"<pre>"), '<pre tabindex="0">'),
)


def accessible(html: str) -> str:
    """The page with levels of headings, names of regions and code that can be focused."""
    for pattern, replacement in _REPAIRS:
        html = pattern.sub(replacement, html)
    return html


def repair(folder: Path) -> None:
    """Repair every page of the theme; live scenes and reports are not touched."""
    for path in folder.rglob("*.html"):
        if {"scenes", "gallery"}.isdisjoint(path.relative_to(folder).parts[:-1]):
            path.write_text(accessible(path.read_text(encoding="utf-8")), encoding="utf-8")
