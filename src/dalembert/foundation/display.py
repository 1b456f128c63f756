"""How a prompt and a notebook show our results: the first lines of their text, and as the report
would.

The report reads every chapter, so no chapter can import it. It is looked up by name when a notebook
asks.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Final

from dalembert.foundation.late_imports import late_module
from dalembert.foundation.renamed_names import renamed_attribute
from dalembert.foundation.suggestions import attribute_error

MAX_LINES: Final = 16
MAX_WIDTH: Final = 160
# the longest array that is written out
MAX_ARRAY_ENTRIES: Final = 16


class NotebookDisplay:
    """What a notebook shows with formulas typeset."""

    __slots__ = ()

    # a checker of types must go on refusing what is not there
    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            """Only for what is not there: a name of the previous release."""
            new = renamed_attribute(self, name)
            if new is not None:
                return getattr(self, new)
            return object.__getattribute__(self, name)

    def _repr_html_(self) -> str:
        return str(late_module("report").html(self))

    def _repr_markdown_(self) -> str:
        return str(late_module("report").markdown(self))

    def _repr_latex_(self) -> str:
        return str(late_module("report").latex(self))


class Displayable(NotebookDisplay):
    """What a prompt shows in a few lines, and a notebook as a page of a report with formulas
    typeset.

    `str` is the full text. A class that writes none gets one line for each of its fields.
    """

    # {name that one may try here: where it is}
    _foreign_names: ClassVar[Mapping[str, str]] = {}

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        # set on the class itself; otherwise a dataclass would put its own there
        if "__repr__" not in cls.__dict__:
            cls.__repr__ = Displayable.__repr__  # type: ignore[method-assign]

    # a checker of types must go on refusing what is not there
    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            """Only for what is not there."""
            new = renamed_attribute(self, name)
            if new is not None:
                return getattr(self, new)
            if hasattr(type(self), name):
                # it is there, and what it asked for is not: once more, for its own words
                return object.__getattribute__(self, name)
            raise attribute_error(self, name, self._foreign_names.get(name, ""))

    def __str__(self) -> str:
        return "\n".join([_title(type(self).__name__), *_field_lines(self)])

    def __repr__(self) -> str:
        return shorten(str(self))


class Explanation(NotebookDisplay):
    """A derivation to read: `print` writes all of it, a notebook shows it with formulas typeset."""

    def __init__(self, of: object, level: str, frame: str) -> None:
        self.of, self.level, self.frame = of, level, frame

    def __str__(self) -> str:
        return report_text(self)

    __repr__ = __str__


def report_text(shown: object) -> str:
    """What a report writes about a result, as text."""
    return str(late_module("report").text(shown))


def shorten(text: str) -> str:
    """The first lines of a text, each cut where it would run off the screen, and how to see the
    rest.
    """
    lines = text.splitlines()
    shown = [
        line if len(line) <= MAX_WIDTH else f"{line[: MAX_WIDTH - 2]} …"
        for line in lines[:MAX_LINES]
    ]
    more = len(lines) - MAX_LINES
    if more > 0:
        shown.append(f"… {more} more line{'s' * (more > 1)}: print it to see all")
    elif any(line.endswith(" …") for line in shown):
        shown.append("… cut to fit: print it to see all")
    return "\n".join(shown)


def _title(name: str) -> str:
    """RunReactions → Run reactions"""
    return name[0] + "".join(f" {c.lower()}" if c.isupper() else c for c in name[1:])


def _field_lines(shown: object) -> list[str]:
    if not is_dataclass(shown):
        return []
    values = {f.name: getattr(shown, f.name) for f in fields(shown) if not f.name.startswith("_")}
    texts = {name: _value_text(x) for name, x in values.items()}
    width = max(map(len, texts), default=0)
    return [f"  {name:<{width}}  {text}" for name, text in texts.items() if text]


def _value_text(x: Any) -> str:
    """A value on one line; nothing where there is none, or where it would not inform a reader."""
    if x is None or object.__repr__(x) == repr(x):
        return ""
    if hasattr(x, "shape") and hasattr(x, "dtype"):
        return _array_text(x)
    if isinstance(x, dict):
        return ", ".join(f"{k} {_value_text(v)}" for k, v in x.items())
    if isinstance(x, (tuple, list)):
        return ", ".join(filter(None, map(_value_text, x)))
    return str(x).split("\n", 1)[0]


def _array_text(x: Any) -> str:
    if x.size <= MAX_ARRAY_ENTRIES:
        return str(x.tolist())
    size = " × ".join(map(str, x.shape))
    return (
        f"{size} numbers"
        if x.dtype.kind == "c"
        else f"{size} numbers, {x.min():.6g} … {x.max():.6g}"
    )
