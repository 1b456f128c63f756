"""What a user can reach: every public name, every error, and every class that a public call
returns.
"""

from __future__ import annotations

import functools
import inspect
import pkgutil
import re
from functools import cached_property
from importlib import import_module

import dalembert as da

PUBLIC = {name: getattr(da, name) for name in da.__all__}


@functools.cache
def all_classes() -> dict[str, type]:
    modules = [
        import_module(m.name)
        for m in pkgutil.walk_packages(da.__path__, "dalembert.")
        if not m.name.endswith("__main__")
    ]
    return {
        c.__name__: c
        for m in modules
        for c in vars(m).values()
        if inspect.isclass(c) and c.__module__ == m.__name__
    }


# what Kinematics and a derivation are made of: for principles of one's own, with the tape
INNER = {"ConstraintRow", "Motion", "Number", "StateLayout", "Tape", "VelocityRow"}


def test_dir_lists_every_public_name_and_nothing_else():
    assert sorted(da.__all__) == dir(da)


def test_opening_a_chapter_does_not_hide_the_function_of_its_name():
    import_module("dalembert.mechanics.agreement.agreement_table")
    assert callable(da.agreement)
    assert callable(da.kinematics)


# these steer a search inside the library, or the server of Studio, and never leave it
INTERNAL = {"BadPoint", "ChangedOnDisk", "NeverReal", "NoRoot", "TooLong"}


def test_every_error_is_reachable():
    errors = {
        name
        for name, c in all_classes().items()
        if issubclass(c, da.DalembertError | da.DalembertWarning) and not name.startswith("_")
    }
    assert set() == errors - set(PUBLIC) - INTERNAL


def answers(owner: object) -> list[tuple[str, object]]:
    """The functions of a public name: itself, or what the class offers."""
    if not inspect.isclass(owner):
        return [("", owner)]
    parts = [
        (k, m)
        for c in owner.__mro__
        if c.__module__.startswith("dalembert")
        for k, m in vars(c).items()
        if not k.startswith("_")
    ]
    return [
        (k, m.func if isinstance(m, cached_property) else m.fget if isinstance(m, property) else m)
        for k, m in parts
    ]


def test_every_class_that_a_public_call_returns_is_public():
    hidden = {}
    for name, value in PUBLIC.items():
        for part, function in answers(value):
            written = (
                str(getattr(function, "__annotations__", {}).get("return", ""))
                if inspect.isfunction(function)
                else ""
            )
            for word in re.findall(r"\w+", written):
                if word in all_classes() and word not in PUBLIC and word not in INNER:
                    hidden.setdefault(word, []).append(f"{name}.{part}")
    assert {} == hidden


def test_no_two_classes_share_a_name():
    places: dict[str, list[str]] = {}
    for m in pkgutil.walk_packages(da.__path__, "dalembert."):
        if m.name.endswith("__main__"):
            continue
        for name, c in vars(import_module(m.name)).items():
            if inspect.isclass(c) and c.__module__ == m.name and not name.startswith("_"):
                places.setdefault(name, []).append(m.name)
    assert {} == {name: modules for name, modules in places.items() if len(modules) > 1}
