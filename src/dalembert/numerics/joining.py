"""Several modules of LLVM text as one: what all of them bring along is written once, and what differs keeps apart by a prefix."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final

from dalembert.numerics.jit import CannotCompile

_NAME: Final = re.compile(r"@([-\w.$]+)")


def joined(parts: Iterable[tuple[str, str]]) -> str:
    """One module of (prefix, text): a function f of a part with the prefix a becomes a.f; without a prefix it keeps its name."""
    found: dict[str, str] = {}
    for prefix, text in parts:
        for name, item in _items(_prefixed(prefix, text) if prefix else text):
            if found.setdefault(name, item) != item and not item.startswith("declare"):
                msg = f"internal error, please report it: two modules define {name} differently"
                raise CannotCompile(msg)
    return "\n".join(found.values()) + "\n"


def _items(text: str) -> Iterator[tuple[str, str]]:
    """The functions, declarations and constants of a module by name."""
    lines: list[str] = []
    for line in text.splitlines():
        if not lines and not line.startswith(("define", "declare", "@")):
            continue
        lines.append(line)
        if not lines[0].startswith("define") or line == "}":
            match = _NAME.search(lines[0])
            assert match is not None
            yield match[1], "\n".join(lines)
            lines = []


def _prefixed(prefix: str, text: str) -> str:
    own = {name for name, item in _items(text) if not item.startswith("declare")}
    return _NAME.sub(lambda match: f"@{prefix}.{match[1]}" if match[1] in own else match[0], text)
