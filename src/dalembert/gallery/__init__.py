"""Solved systems, each citing its book: examples, tests and the demo at once.

A file of this folder is one system; its ENTRY says what is printed about it. A new file joins the
list by being there.
"""

from __future__ import annotations

import pkgutil
from importlib import import_module
from typing import Any

from dalembert.errors import Unknown
from dalembert.foundation.suggestions import suggest_name
from dalembert.gallery.entry import DerivedByHand, Entry, Printed
from dalembert.mechanics.model.system import System

__all__ = ["DerivedByHand", "Entry", "Printed", "build", "entry", "names"]

_NON_SYSTEM_MODULES = frozenset({"entry"})


def names() -> tuple[str, ...]:
    """The names of all systems, sorted, without importing any of them."""
    files = (module.name for module in pkgutil.iter_modules(__path__))
    return tuple(
        sorted(name.replace("_", "-") for name in files if name not in _NON_SYSTEM_MODULES)
    )


def entry(name: str) -> Entry:
    """What the gallery says about one system."""
    known = names()
    if name not in known:
        hint = suggest_name(str(name), known) or f"the gallery has {', '.join(known)}"
        msg = f"no system named {name!r} in the gallery; {hint}"
        raise Unknown(msg)
    gallery_entry: Entry = import_module(f"{__name__}.{name.replace('-', '_')}").ENTRY
    return gallery_entry


def build(name: str, **parameters: Any) -> System:
    """The system of that name; parameters are those of its own `build`, such as the number of
    links.
    """
    return entry(name).build(**parameters)
