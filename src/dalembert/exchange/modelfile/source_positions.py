"""model.toml:12:9: what is wrong, with the line and a caret under the place.

The readers of TOML and JSON do not report where a key or a value is. The scanner comes after them:
it walks over a text that is known to be well formed and notes places, never values.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import field
from typing import Any, Final, NamedTuple, NoReturn

from dalembert.errors import BadDescription
from dalembert.foundation.deferred_dataclass import dataclass

Path = tuple[str | int, ...]

_BLANK: Final = re.compile(r"(?:[ \t\r\n]|#[^\n]*)*")
_BARE: Final = re.compile(r"[A-Za-z0-9_-]+")
_OTHER: Final = re.compile(r"[^,\]}\n#]*")
_STRINGS: Final = (
    re.compile(r'"""(?:[^\\]|\\.)*?"{3,5}', re.DOTALL),
    re.compile(r"'''.*?'{3,5}", re.DOTALL),
    re.compile(r'"(?:[^"\\]|\\.)*"'),
    re.compile(r"'[^']*'"),
)
_MAX_EXCERPT_WIDTH: Final = 160


class Span(NamedTuple):
    """Offsets of a key and of its value in the text (of a header: the name inside it, twice)."""

    key: int
    value: int


class BadModel(BadDescription):
    """A file that describes no system: `file`, `line` and `column` say where, `sentence` what is
    wrong.
    """

    def __init__(
        self, sentence: str, file: str = "", line: int = 0, column: int = 0, excerpt: str = ""
    ) -> None:
        where = ":".join(str(x) for x in (file, line, column) if x)
        super().__init__((f"{where}: " if where else "") + sentence + excerpt)
        self.message, self.file, self.line, self.column = sentence, file, line, column
        self.excerpt = excerpt

    def __reduce__(self) -> tuple[Any, ...]:
        return BadModel, (self.message, self.file, self.line, self.column, self.excerpt)


@dataclass(frozen=True)
class ModelSource:
    """A text, its name, and where the keys and values of its tables stand."""

    file: str
    text: str
    positions: Mapping[Path, Span] = field(default_factory=dict)

    def span(self, path: Path) -> Span | None:
        """The place of a path, or of the nearest table around it."""
        for length in range(len(path), 0, -1):
            if path[:length] in self.positions:
                return self.positions[path[:length]]
        return None

    def raise_error(
        self, sentence: str, path: Path = (), *, key: bool = False, column: int | None = None
    ) -> NoReturn:
        """BadModel at the value of a path (or at its key); `column` counts inside a text in
        quotes, from 1.
        """
        span = self.span(path)
        if span is None:
            raise BadModel(sentence, self.file)
        offset = span.key if key else span.value
        if column is not None and self.text[offset : offset + 1] in ("'", '"'):
            quotes = 3 if self.text[offset : offset + 3] in ("'''", '"""') else 1
            offset += quotes + column - 1
        self.raise_error_at(sentence, offset)

    def offset(self, line: int, column: int) -> int:
        """The character at a line and column, which count from 1."""
        lines = self.text.split("\n")[: max(line - 1, 0)]
        return sum(len(each) + 1 for each in lines) + max(column - 1, 0)

    def raise_error_at(self, sentence: str, offset: int) -> NoReturn:
        """BadModel at a character of the text."""
        offset = min(offset, len(self.text))
        before = self.text[:offset]
        line, start = before.count("\n") + 1, before.rfind("\n") + 1
        raise BadModel(
            sentence,
            self.file,
            line,
            offset - start + 1,
            self._excerpt(line, start, offset - start),
        ) from None

    def _excerpt(self, line: int, start: int, column: int) -> str:
        shown = self.text[start:].partition("\n")[0].rstrip("\r").replace("\t", " ")
        if len(shown) > _MAX_EXCERPT_WIDTH:
            cut = max(0, column - _MAX_EXCERPT_WIDTH // 2)
            shown, column = shown[cut : cut + _MAX_EXCERPT_WIDTH], column - cut
        number = str(line)
        return f"\n  {number} | {shown}\n  {' ' * len(number)} | {' ' * column}^"


# ---- the scanner
# -----------------------------------------------------------------------------------


@dataclass(slots=True)
class PositionScanner:
    """One pass over the text."""

    text: str
    at: int = 0
    places: dict[Path, Span] = field(default_factory=dict)
    # how many tables each array of tables has had so far
    counts: dict[Path, int] = field(default_factory=dict)

    def toml(self) -> dict[Path, Span]:
        """{path: place} of a document in TOML."""
        here: Path = ()
        while self._skip_blanks() < len(self.text):
            if self.text[self.at] == "[":
                here = self._header()
            else:
                self._scan_pair(here, "=")
        return self.places

    def json(self) -> dict[Path, Span]:
        """{path: place} of a document in JSON."""
        self._skip_blanks()
        self._value((), ":")
        return self.places

    def _skip_blanks(self) -> int:
        match = _BLANK.match(self.text, self.at)
        assert match is not None
        self.at = match.end()
        return self.at

    def _header(self) -> Path:
        array = self.text.startswith("[[", self.at)
        self.at += 2 if array else 1
        self._skip_blanks()
        start = self.at
        path = self._resolve_array_path(self._key())
        self._skip_blanks()
        self.at += 2 if array else 1
        if array:
            number = self.counts.get(path, 0)
            self.counts[path] = number + 1
            self.places.setdefault(path, Span(start, start))
            path = (*path, number)
        self._record(path, Span(start, start))
        return path

    def _resolve_array_path(self, keys: list[str]) -> Path:
        """A name in a header that is an array of tables means the last table of it."""
        path: Path = ()
        for k, key in enumerate(keys):
            path = (*path, key)
            if path in self.counts and k < len(keys) - 1:
                path = (*path, self.counts[path] - 1)
        return path

    def _record(self, path: Path, span: Span) -> None:
        """The place of a path, and of the tables around it that have none of their own."""
        for k in range(1, len(path)):
            self.places.setdefault(path[:k], span)
        self.places[path] = span

    def _key(self) -> list[str]:
        parts = []
        while True:
            bare = _BARE.match(self.text, self.at)
            if bare is not None:
                parts.append(bare[0])
                self.at = bare.end()
            else:
                parts.append(self._scan_string())
            self._skip_blanks()
            if not self.text.startswith(".", self.at):
                return parts
            self.at += 1
            self._skip_blanks()

    def _scan_string(self) -> str:
        for pattern in _STRINGS:
            match = pattern.match(self.text, self.at)
            if match is not None:
                self.at = match.end()
                return _unquote(match[0])
        # not well formed after all: go on behind it
        self.at += 1
        return ""

    def _scan_pair(self, here: Path, sign: str) -> None:
        start = self.at
        path = (*here, *self._key())
        self._skip_blanks()
        self.at += len(sign)
        self._skip_blanks()
        self._record(path, Span(start, self.at))
        self._value(path, sign)

    def _value(self, path: Path, sign: str) -> None:
        first = self.text[self.at : self.at + 1]
        if first in ("'", '"'):
            self._scan_string()
        elif first == "[":
            self._scan_collection(path, "]", sign)
        elif first == "{":
            self._scan_collection(path, "}", sign)
        else:
            match = _OTHER.match(self.text, self.at)
            assert match is not None
            self.at = match.end()

    def _scan_collection(self, path: Path, end: str, sign: str) -> None:
        self.at += 1
        number = 0
        while self._skip_blanks() < len(self.text) and self.text[self.at] != end:
            before = self.at
            if end == "]":
                self._record((*path, number), Span(self.at, self.at))
                self._value((*path, number), sign)
                number += 1
            else:
                self._scan_pair(path, sign)
            self._skip_blanks()
            if self.text.startswith(",", self.at) or self.at == before:
                self.at += 1
        self.at += 1


def _unquote(quoted: str) -> str:
    """A quoted key without its quotes and escapes."""
    inside = quoted[1:-1]
    if quoted[0] == "'" or "\\" not in inside:
        return inside
    try:
        return str(json.loads(quoted))
    except ValueError:
        return inside
