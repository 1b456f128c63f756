"""Solved systems, each citing its book: examples, tests and the demo at once.

A file of this folder is one system; its ENTRY says what is printed about it. A new file joins the list by being there.
"""

from __future__ import annotations

import pkgutil
from importlib import import_module
from typing import Any

from dalembert.errors import Unknown
from dalembert.foundation.suggestions import nearest
from dalembert.gallery.entry import ByHand, Entry, Printed
from dalembert.mechanics.model.system import System

__all__ = ["ByHand", "Entry", "Printed", "build", "entry", "names"]

_NOT_SYSTEMS = frozenset({"entry"})


def names() -> tuple[str, ...]:
    """The names of all systems, sorted, without importing any of them."""
    files = (module.name for module in pkgutil.iter_modules(__path__))
    return tuple(sorted(name.replace("_", "-") for name in files if name not in _NOT_SYSTEMS))


def entry(name: str) -> Entry:
    """What the gallery says about one system."""
    known = names()
    if name not in known:
        hint = nearest(str(name), known) or f"the gallery has {', '.join(known)}"
        msg = f"no system named {name!r} in the gallery; {hint}"
        raise Unknown(msg)
    found: Entry = import_module(f"{__name__}.{name.replace('-', '_')}").ENTRY
    return found


def build(name: str, **parameters: Any) -> System:
    """The system of that name; parameters are those of its own `build`, such as the number of links."""
    return entry(name).build(**parameters)
