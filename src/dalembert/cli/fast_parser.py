"""derive rolling-disk --by lagrange: a line that says plainly what is wanted, read without typer.

Help, completion, abbreviations and every line that is not plain are left to typer (`commands.py`),
which takes a quarter of a second to open; both read the same declarations.
"""

from __future__ import annotations

import inspect
import os
import re
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Annotated, Any, get_args, get_origin, get_type_hints

from dalembert.cli.command_registry import COMMANDS, Argument, Option, load_command
from dalembert.foundation.deferred_dataclass import dataclass

NUMBER = re.compile(r"[-+]?[0-9]+(\.[0-9]*)?([eE][-+]?[0-9]+)?")
# what the shell sets when it asks for completions
COMPLETION_VARIABLE = "_DALEMBERT_COMPLETE"


class _NeedsTyper(Exception):
    """The line is typer's to read, or to refuse."""


@dataclass(frozen=True)
class _Parameter:
    """A parameter of a command: its name, what is made of a text, and whether it may be given
    again.
    """

    name: str
    kind: type
    repeatable: bool
    declared: Argument | Option
    required: bool

    def value(self, text: str) -> Any:
        if self.kind in (float, int) and not NUMBER.fullmatch(text):
            raise _NeedsTyper
        try:
            return self.kind(text)
        except ValueError:
            raise _NeedsTyper from None


def parse_fast(line: Sequence[str]) -> Callable[[], None] | None:
    """The command with its arguments; None where the line is not plain."""
    if not line or line[0] not in COMMANDS or COMPLETION_VARIABLE in os.environ:
        return None
    command, *rest = line
    # before anything is opened
    if "--help" in rest:
        return None
    function = load_command(command)
    try:
        return partial(function, **_parse_arguments(list(_parameters(function)), rest))
    except _NeedsTyper:
        return None


def _parameters(function: Callable[..., None]) -> Iterator[_Parameter]:
    hints = get_type_hints(function, include_extras=True)
    for parameter in inspect.signature(function).parameters.values():
        hint = hints[parameter.name]
        if get_origin(hint) is not Annotated:
            raise _NeedsTyper
        wanted, declared = get_args(hint)[:2]
        kinds = [kind for kind in get_args(wanted) or (wanted,) if kind is not type(None)]
        several = get_origin(kinds[0]) is list or get_origin(wanted) is list
        kind = str if several else kinds[0]
        yield _Parameter(
            parameter.name, kind, several, declared, parameter.default is parameter.empty
        )


def _parse_arguments(places: Sequence[_Parameter], line: Sequence[str]) -> dict[str, Any]:
    """{parameter: value} of the given arguments."""
    arguments = iter([place for place in places if isinstance(place.declared, Argument)])
    options = {
        name: place
        for place in places
        if isinstance(place.declared, Option)
        for name in _names(place)
    }
    values: dict[str, Any] = {}
    words = iter(line)
    for word in words:
        place, text = (
            _parse_option(options, word, words)
            if word.startswith("-")
            else (next(arguments, None), word)
        )
        if place is None or (place.name in values and not place.repeatable):
            raise _NeedsTyper
        value = True if place.kind is bool else place.value(text)
        if place.repeatable:
            values.setdefault(place.name, []).append(value)
        else:
            values[place.name] = value
    if any(place.required and place.name not in values for place in places):
        raise _NeedsTyper
    return values


def _names(place: _Parameter) -> tuple[str, ...]:
    names = place.declared.names if isinstance(place.declared, Option) else ()
    return names or ("--" + place.name.replace("_", "-"),)


def _parse_option(
    options: dict[str, _Parameter], word: str, words: Iterator[str]
) -> tuple[_Parameter, str]:
    """--name text, --name=text, -n text, --flag."""
    name, equals, text = word.partition("=")
    place = options.get(name)
    if place is None or (equals and (place.kind is bool or not name.startswith("--"))):
        raise _NeedsTyper
    if not equals and place.kind is not bool:
        text = next(words, "-")
        if text.startswith("-") and not NUMBER.fullmatch(text):
            raise _NeedsTyper
    return place, text
