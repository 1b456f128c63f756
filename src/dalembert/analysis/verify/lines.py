"""Reports, comments, "where" clauses: the lines of an answer, equations apart from definitions.

A definition gives a name to an intermediate result, `z1 = cos(theta)`. Printed equations restart
the numbers of their intermediates: a name that is defined again belongs to the equations before its
definition.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import field
from typing import Final

from dalembert.analysis.verify.tokens import refuse
from dalembert.foundation.deferred_dataclass import dataclass

_LABEL: Final = re.compile(
    r"\s*(?:\(\d{1,2}[a-z]?\)(?=\s+[^\s*/^+\-=])|\d{1,2}[.)](?=\s)"
    r"|[A-Za-z][A-Za-z .]{0,18}\d{0,2}:(?!=))\s*"
)
_NUMBERED: Final = re.compile(r"(?:\s\s|\\tag\s?|\\quad\s?|\\qquad\s?)[({]\d{1,3}[a-z]?[)}][ .]*$")
_BREAKS: Final = re.compile(r"\n|;|\\\\(?:\[[\w.]*\])?|\r")
# the underlined headings of a printed derivation
_HEADING: Final = re.compile(r"^[ \t]*[═─]{3,}[ \t]*$", re.MULTILINE)
_INTERMEDIATES: Final = re.compile(
    r"(?:,[ \t]{0,9})?(?:\\q?quad[ \t]{0,9})?(?:\\text[ \t]?\{)?with \d{1,6} intermediates?:"
    r"[ \t]{0,9}\}?"
)
# a wrapped formula is broken before or behind a sign
_CONTINUES: Final = re.compile(r"\s+[-+−=*·/]")
_SIGNS: Final = frozenset("-+−=*·/(")
_NEXT_DEFINITION: Final = re.compile(r",[ \t]{0,9}\\;")
_CLAUSE: Final = re.compile(
    r"(?<![\w\\])(?:where|with)\b[ \t]{0,9}:?[ \t]{0,9}\}?[ \t]{0,9}"
    r"(?=[^\W\d][\w{}\\]{0,30}[ \t]{0,9}:?=)"
)
# what stands before such a word and belongs to it
_BEFORE_CLAUSE: Final = re.compile(r"(?:\\q?quad|\\text[ ]?\{|[,.;\s])$")
_EMPTY_CLAUSE: Final = re.compile(r"\s*(?:where|with|and|let)\s*:?\s*")
_PART: Final = re.compile(r",[ \t]{0,9}(?:and[ \t])?|[ \t]and[ \t]")


@dataclass
class Section:
    """Equations, and the definitions {name: line} that hold for them."""

    equations: list[str] = field(default_factory=list)
    definitions: dict[str, str] = field(default_factory=dict)


def answer_lines(text: str) -> list[str]:
    """The lines of an answer without comments, labels, numbers and headings."""
    lines = text.splitlines()
    if _HEADING.search(text):
        # a printed derivation: its formulas are indented
        lines = [line for line in lines if line.startswith("  ")]
    text = "\n".join(_whole_lines(lines))
    text = _NEXT_DEFINITION.sub("\n", _INTERMEDIATES.sub("\n", text))
    lines = [part for line in _BREAKS.split(text) for part in _clauses(_content(line))]
    return [line for line in lines if line.strip(" .,&$") and not _EMPTY_CLAUSE.fullmatch(line)]


def _whole_lines(lines: Sequence[str]) -> list[str]:
    """Lines with their continuations: indented further, and broken at a sign or in a bracket."""
    whole: list[list[str]] = []
    first = depth = 0
    for line in lines:
        indent = len(line) - len(line.lstrip())
        at_sign = whole and (_CONTINUES.match(line) or whole[-1][-1][-1:] in _SIGNS)
        if whole and indent > first and (at_sign or depth > 0):
            whole[-1].append(line.strip())
            depth += line.count("(") - line.count(")")
        else:
            whole.append([line.rstrip()])
            first, depth = indent, line.count("(") - line.count(")")
    return [" ".join(parts) for parts in whole]


def _content(line: str) -> str:
    """A line without its comment, its label and the number of the equation."""
    line = re.sub(r"(?<!\\)[#%].*", "", line)
    line = _NUMBERED.sub("", line) if "=" in line else line
    label = _LABEL.match(line)
    return line[label.end() :] if label is not None and line[label.end() :].strip() else line


def _clauses(line: str) -> list[str]:
    """`a = b c, where b = 2 and c = 3` as three lines."""
    match = _CLAUSE.search(line)
    if match is None:
        return [line]
    before = line[: match.start()].rstrip()
    while (last := _BEFORE_CLAUSE.search(before)) is not None:
        before = before[: last.start()].rstrip()
    parts = _top_level_parts(line[match.end() :])
    return [before, *(f"where {part}" for part in parts)]


def _top_level_parts(text: str) -> list[str]:
    """The definitions of a clause; commas in brackets separate nothing."""
    parts, start, depth, at = [], 0, 0, 0
    last = text.rfind("=")
    for match in _PART.finditer(text):
        between = text[at : match.start()]
        depth += sum(between.count(c) for c in "([{") - sum(between.count(c) for c in ")]}")
        at = match.start()
        if depth == 0 and last >= match.end():
            parts.append(text[start : match.start()])
            start = match.end()
    return [*parts, text[start:]]


def sections(lines: Sequence[str], defined_name: Callable[[str], str]) -> list[Section]:
    """All lines as one section; one for each group of equations where names are defined again."""
    named = [(line, defined_name(line)) for line in lines]
    count = Counter(name for _, name in dict.fromkeys(named) if name)
    repeated = {name for name, times in count.items() if times > 1}
    whole = [Section()]
    for line, name in named:
        section = whole[-1]
        if name:
            _add_definition(section, line, name)
        elif repeated and section.definitions:
            if not section.equations:
                _refuse_repeated(named, repeated)
            whole.append(Section([line]))
        else:
            section.equations.append(line)
    return whole


def _add_definition(section: Section, line: str, name: str) -> None:
    """A definition once; another one of the same name is refused."""
    known = section.definitions.setdefault(name, line)
    if known.strip() != line.strip():
        refuse(line, 0, f"{name} is defined twice; use another name")


def _refuse_repeated(named: Sequence[tuple[str, str]], repeated: set[str]) -> None:
    """Definitions before their equations hold for all: a name has one."""
    line, name = [(line, name) for line, name in named if name in repeated][-1]
    refuse(line, 0, f"{name} is defined twice; use another name")
