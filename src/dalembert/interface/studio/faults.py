"""All faults of a model text at once, each with line and column.

The reader stops at the first fault. Here the element with the fault is blanked, character by
character, and the text is read again: all places stay where they are. An element that names a
blanked one cannot be judged and is blanked without a report.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final

from dalembert.errors import DalembertError
from dalembert.exchange.modelfile.reader import MAX_FILE_BYTES, read_model
from dalembert.exchange.modelfile.run_settings import Settings
from dalembert.exchange.modelfile.source_positions import (
    BadModel,
    ModelSource,
    Path,
    PositionScanner,
    Span,
)
from dalembert.foundation.deferred_dataclass import dataclass
from dalembert.mechanics.model.system import System

MOST: Final = 20
_WORD: Final = re.compile(r"[A-Za-z_][\w.']*|\d[\w.]*|.")
_NAME: Final = re.compile(r"[A-Za-z_]\w*")
# keys whose values are names that the element declares
_DECLARED: Final = re.compile(r"\b(?:coordinates?|through)\s*=\s*(\"[^\"]*\"|'[^']*'|\[[^\]]*\])")
# tables of one level that hold one declaration a key; other sections hold settings
_BRACKETS: Final = re.compile(r'"(?:[^"\\\n]|\\.)*"|\'[^\'\n]*\'|[\[\]{}]')
_LISTS: Final = ("constants", "inputs", "specified", "states", "speeds", "expressions", "displays")


@dataclass(frozen=True)
class Fault:
    """What is wrong, and where: line and column count from 1, `length` is that of the word
    there; line 0 is the whole text.
    """

    sentence: str
    line: int = 0
    column: int = 0
    length: int = 0


def read_with_faults(text: str, file: str) -> tuple[System | None, list[Fault]]:
    """The system, or None and everything that is wrong with its text, in the order of the lines."""
    if len(text) > MAX_FILE_BYTES:
        size = f"{len(text) / 2**20:.1f} MB"
        return None, [
            Fault(
                f"{size} are more than any model needs, at most {MAX_FILE_BYTES // 2**20} MB; it "
                f"is not read"
            )
        ]
    text = text.replace("\r\n", "\n")
    faults: list[Fault] = []
    missing: set[str] = set()
    left = text
    for _ in range(4 * MOST):
        try:
            system = read_model(left, file)
        except BadModel as problem:
            fault, before = _fault_in(problem, text), left
            left, names, hidden = _without_element(left, file, problem, missing)
            if not hidden:
                faults.append(fault)
            missing |= names
            if left == before or len(faults) >= MOST:
                break
        except DalembertError as problem:
            faults.append(Fault(str(problem)))
            break
        else:
            return (None if faults else system), sorted(faults, key=lambda f: (f.line, f.column))
    return None, sorted(faults, key=lambda f: (f.line, f.column))


def place_fault(problem: DalembertError, system: System) -> Fault:
    """A fault of the system as a whole, at the first element that it carries by name."""
    source = system.settings.source if isinstance(system.settings, Settings) else None
    if source is None:
        return Fault(str(problem))
    for element in getattr(problem, "elements", ()):
        path = next((p for p in source.positions if len(p) == 2 and p[1] == element), None)
        if path is not None:
            try:
                source.raise_error(str(problem), path, key=True)
            except BadModel as placed:
                return _fault_in(placed, source.text)
    return Fault(str(problem))


def element_lines(source: ModelSource) -> dict[str, tuple[int, int]]:
    """{name of an element: its first and last line}"""
    found: dict[str, tuple[int, int]] = {}
    for prefix in dict.fromkeys(p[:2] for p in source.positions if len(p) >= 2):
        begin, end = _extent(source.text, source.positions, prefix)
        first = source.text.count("\n", 0, begin) + 1
        last = source.text.count("\n", 0, begin + len(source.text[begin:end].rstrip())) + 1
        found.setdefault(str(prefix[1]), (first, last))
    return found


def _fault_in(problem: BadModel, text: str) -> Fault:
    lines = text.split("\n")
    if not 0 < problem.line <= len(lines):
        return Fault(problem.message)
    line, column = lines[problem.line - 1], problem.column
    quote = line[column - 1 : column]
    if quote in ("'", '"') and (end := line.find(quote, column)) > column:
        return Fault(problem.message, problem.line, column + 1, end - column)
    word = _WORD.match(line, column - 1)
    return Fault(problem.message, problem.line, column, len(word[0]) if word else 1)


def _without_element(
    text: str, file: str, problem: BadModel, missing: set[str]
) -> tuple[str, set[str], bool]:
    """The text without the element of a fault, the names that are gone with it, and whether the
    fault follows from `missing`.
    """
    if problem.line <= 0 or file.lower().endswith(".json"):
        return text, set(), False
    lines = text.split("\n")
    offset = sum(len(line) + 1 for line in lines[: problem.line - 1]) + problem.column - 1
    begin, end = _line(text, offset)
    prefix: Path = ()
    try:
        read_syntax(text)
    except ValueError:
        pass
    else:
        places = PositionScanner(text).toml()
        prefix = _prefix(places, offset)
        begin, end = _extent(text, places, prefix)
    inside = text[begin:end]
    names = {str(prefix[-1])} if prefix else set()
    names |= {n for group in _DECLARED.findall(inside) for n in _NAME.findall(group)}
    hidden = bool(missing & set(_NAME.findall(inside)))
    return text[:begin] + re.sub(r"[^\n]", " ", inside) + text[end:], names, hidden


def read_syntax(text: str) -> None:
    """Refuse what is not TOML, by a ValueError."""
    import tomllib

    tomllib.loads(text)


def _line(text: str, offset: int) -> tuple[int, int]:
    end = text.find("\n", offset)
    return text.rfind("\n", 0, offset) + 1, len(text) if end < 0 else end


def _prefix(places: dict[Path, Span], offset: int) -> Path:
    """The element, or the setting, that a place belongs to."""
    before = [(span.key, len(path), path) for path, span in places.items() if span.key <= offset]
    path = max(before, default=(0, 0, ()))[2]
    if path[:1] and path[0] in _LISTS:
        return path[:2]
    return path[:3] if path[:1] == ("run",) else path[:2]


def _extent(text: str, places: Mapping[Path, Span], prefix: Path) -> tuple[int, int]:
    """From where an element begins to where the next one does; in an inline table, to its comma
    or its closing brace.
    """
    mine = [s.key for p, s in places.items() if p[: len(prefix)] == prefix]
    key = min(mine, default=0)
    later = (s.key for p, s in places.items() if p[: len(prefix)] != prefix and s.key > key)
    end = min(later, default=len(text))
    begin = _opening(text, key)
    if text[:begin].endswith("\n") or not begin:
        return begin, _opening(text, end) if end < len(text) else end
    closing = _closing(text, begin, end)
    if closing < end:
        # the comma before the last entry goes with it
        begin = len(text[:begin].rstrip().removesuffix(","))
    return begin, closing


def _opening(text: str, offset: int) -> int:
    """The beginning of the line of a header or key; inside an inline table the key itself."""
    start = text.rfind("\n", 0, offset) + 1
    return start if text[start:offset].strip(" \t[") == "" else offset


def _closing(text: str, begin: int, end: int) -> int:
    """The bracket that closes the table around `begin`, or `end` if it comes later."""
    depth = 0
    for token in _BRACKETS.finditer(text, begin, end):
        depth += {"[": 1, "{": 1, "]": -1, "}": -1}.get(token[0], 0)
        if depth < 0:
            return token.start()
    return end


def declared_names(system: System) -> Iterator[tuple[str, str]]:
    """(name, what it is) of everything that an expression of the model may contain."""
    for symbol in system.symbols.values():
        value = "" if symbol.value is None else f" = {float(symbol.value):.6g}"
        unit = system.unit(symbol.name)
        yield symbol.name, f"{symbol.kind}{value}{f' {unit}' if unit else ''}"
    for body in system.bodies:
        yield body.name, "body"
    for point in system.space.points:
        yield point.name, "point"
    for frame in system.space.frames:
        yield frame.name, "frame"
