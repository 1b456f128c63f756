"""Lines that fit the terminal: wrapped between words and continued under their last column."""

from __future__ import annotations

import os
import re
import shutil
import textwrap
from typing import Final, TextIO

_COLUMN: Final = re.compile(r"\S {2,}(?=\S)")


def wrap_lines(text: str, stream: TextIO) -> str:
    """The text in lines that fit the terminal; as it is where there is none."""
    width = _width(stream)
    if not width:
        return text
    return "\n".join(part for line in text.split("\n") for part in _wrap(line, width))


def _width(stream: TextIO) -> int:
    """$COLUMNS or the width of the terminal; 0 where there is no limit."""
    columns = os.environ.get("COLUMNS", "")
    if columns.isdigit():
        return int(columns)
    return shutil.get_terminal_size().columns if stream.isatty() else 0


def _wrap(line: str, width: int) -> list[str]:
    if len(line) <= width:
        return [line]
    first = len(line) - len(line.lstrip()) + 2
    columns = [c for c in (m.end() for m in _COLUMN.finditer(line)) if c <= width // 2]
    return textwrap.wrap(
        line,
        width,
        subsequent_indent=" " * max(columns, default=first),
        break_long_words=False,
        break_on_hyphens=False,
    )
