"""A fork of kinematics shares no attribute that stands on the tape of the original."""

import inspect

import pytest

import dalembert as da
from dalembert import gallery
from dalembert.mechanics.kinematics import system_kinematics
from dalembert.mechanics.kinematics.system_kinematics import Kinematics
from dalembert.mechanics.model.system import System

BOUND = set(system_kinematics._TAPE_BOUND_ATTRIBUTES)


def reaches(thing, target, seen, depth=0):
    """Whether an object refers to another, directly or through what it holds."""
    if thing is target:
        return True
    if id(thing) in seen or depth > 12 or isinstance(thing, (System, str, int, float, type)):
        return False
    seen.add(id(thing))
    if isinstance(thing, dict):
        inner = [*thing.keys(), *thing.values()]
    elif isinstance(thing, (list, tuple, set, frozenset)):
        inner = list(thing)
    elif inspect.ismethod(thing):
        inner = [thing.__self__, thing.__func__]
    elif inspect.isfunction(thing):
        inner = [c.cell_contents for c in (thing.__closure__ or ())]
    else:
        slots = [s for c in type(thing).__mro__ for s in getattr(c, "__slots__", ())]
        inner = [*getattr(thing, "__dict__", {}).values()]
        inner += [getattr(thing, s) for s in slots if hasattr(thing, s)]
    return any(reaches(x, target, seen, depth + 1) for x in inner)


@pytest.mark.parametrize("name", ["rolling-disk", "four-bar", "cart-and-bar"])
def test_what_stands_on_the_tape_is_made_anew_in_a_fork(name):
    kin = da.kinematics(gallery.build(name))
    for attribute in (*dir(Kinematics), *BOUND):
        if not inspect.isfunction(inspect.getattr_static(Kinematics, attribute, None)):
            getattr(kin, attribute, None)
    da.lagrange(kin)
    assert BOUND & set(kin.__dict__)
    # the base tape, which never grows, is what forks are copied from
    fork = kin.fork().__dict__
    assert [] == [
        a for a in fork if a not in {"tape", "_base_tape"} and reaches(fork[a], kin.tape, set())
    ]
