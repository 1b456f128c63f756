"""model.toml:12:9: what is wrong, with the line and a caret under the place."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, NoReturn

from dalembert.errors import BadDescription
from dalembert.modelfile.scanner import Path, Span

_WIDEST: Final = 160


class BadModel(BadDescription):
    """A file that describes no system: `file`, `line` and `column` say where, `sentence` what is wrong."""

    def __init__(self, sentence: str, file: str = "", line: int = 0, column: int = 0, excerpt: str = "") -> None:
        where = ":".join(str(x) for x in (file, line, column) if x)
        super().__init__((f"{where}: " if where else "") + sentence + excerpt)
        self.sentence, self.file, self.line, self.column = sentence, file, line, column
        self.excerpt = excerpt

    def __reduce__(self) -> tuple[Any, ...]:
        return BadModel, (self.sentence, self.file, self.line, self.column, self.excerpt)


@dataclass(frozen=True)
class ModelText:
    """A text, its name, and where the keys and values of its tables stand."""

    file: str
    text: str
    places: Mapping[Path, Span] = field(default_factory=dict)

    def span(self, path: Path) -> Span | None:
        """The place of a path, or of the nearest table around it."""
        for length in range(len(path), 0, -1):
            if path[:length] in self.places:
                return self.places[path[:length]]
        return None

    def refuse(self, sentence: str, path: Path = (), *, key: bool = False, column: int | None = None) -> NoReturn:
        """BadModel at the value of a path (or at its key); `column` counts inside a text in quotes, from 1."""
        span = self.span(path)
        if span is None:
            raise BadModel(sentence, self.file)
        offset = span.key if key else span.value
        if column is not None and self.text[offset : offset + 1] in ("'", '"'):
            quotes = 3 if self.text[offset : offset + 3] in ("'''", '"""') else 1
            offset += quotes + column - 1
        self.refuse_at(sentence, offset)

    def refuse_at(self, sentence: str, offset: int) -> NoReturn:
        """BadModel at a character of the text."""
        offset = min(offset, len(self.text))
        before = self.text[:offset]
        line, start = before.count("\n") + 1, before.rfind("\n") + 1
        raise BadModel(sentence, self.file, line, offset - start + 1, self._excerpt(line, start, offset - start)) from None

    def _excerpt(self, line: int, start: int, column: int) -> str:
        shown = self.text[start:].partition("\n")[0].rstrip("\r").replace("\t", " ")
        if len(shown) > _WIDEST:
            cut = max(0, column - _WIDEST // 2)
            shown, column = shown[cut : cut + _WIDEST], column - cut
        number = str(line)
        return f"\n  {number} | {shown}\n  {' ' * len(number)} | {' ' * column}^"
