"""--set m=2, --set n=20 on a system that is built by a program: values of its constants, parameters of what builds it."""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Callable, Iterable
from typing import Any

from dalembert.algebra.scalar import exact
from dalembert.cli.options import number_of, pairs
from dalembert.errors import Unknown
from dalembert.model.system import System
from dalembert.nearest_name import nearest


def built(build: Callable[..., System], given: Iterable[str] | None) -> tuple[System, bool]:
    """What `build` gives with the values of --set, and whether it is another member of the family than the usual one."""
    asked = dict(pairs("--set", given))
    system = build()
    if not isinstance(system, System):
        return system, False
    named = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    own = {name: p for name, p in inspect.signature(build).parameters.items() if p.kind in named}
    # a parameter that is no symbol decides what there is: the number of links
    family = {name: _parameter(name, text, own[name].default) for name, text in asked.items() if name in own and name not in system.symbols}
    if family:
        system = build(**family)
    set_values(system, {name: text for name, text in asked.items() if name not in family}, [n for n in own if n not in system.symbols])
    return system, bool(family)


def set_values(system: System, asked: dict[str, str], parameters: Iterable[str] = ()) -> None:
    """The constants of a system with other values than it was declared with; a name that it does not have is refused."""
    for name, text in asked.items():
        if name not in system.symbols and (hint := nearest(name.lower(), parameters)):
            msg = f"--set {name}: {hint}"
            raise Unknown(msg)
        from dalembert.numerics.symbol_values import number, symbol_name

        symbol = system.symbols[symbol_name(system, name, ("constant", "input"))]
        system.symbols[name] = dataclasses.replace(symbol, value=exact(number(name, number_of(system, "--set", name, text))))


def _parameter(name: str, text: str, default: Any) -> Any:
    """A text as what the parameter usually is: a whole number, true or false, a number, a word."""
    if isinstance(default, bool):
        if text.lower() in ("true", "false"):
            return text.lower() == "true"
        msg = f"--set {name}={text}: say true or false"
        raise Unknown(msg)
    if isinstance(default, int):
        if text.isdecimal() and int(text) > 0:
            return int(text)
        msg = f"--set {name}={text}: it is a whole number, such as {default}"
        raise Unknown(msg)
    if isinstance(default, str):
        return text
    try:
        return float(text)
    except ValueError:
        msg = f"--set {name}={text}: {text!r:.40} is not a number"
        raise Unknown(msg) from None
