"""Newton–Euler, as it is shown: accelerations from positions, balances that the shown reactions
fulfil, joints that give the equations.
"""

from dataclasses import replace
from functools import cache

import pytest

import dalembert as da
from dalembert import gallery
from dalembert.errors import NotApplicable
from dalembert.symbolic.algebra.exact.zero_test import provably_zero
from dalembert.symbolic.algebra.expression_graph import Substitution, dependencies
from laws.along import Along

# trees, a loop, rows of rolling, a drive, a plane, a quaternion
FAST = (
    "double-pendulum",
    "flyball-governor",
    "four-bar",
    "free-body-quaternion",
    "gyroscope",
    "rolling-disk",
    "slider-crank",
    "vehicle",
)
SYSTEMS = [
    pytest.param(name, marks=() if name in FAST else pytest.mark.slow) for name in gallery.names()
]


@cache
def derived(name):
    return da.newton_euler(gallery.build(name))


def by_title(steps):
    return {step.title: step.items for step in steps}


def broken(d, steps):
    """The titles of the steps that do not hold."""
    t, shown, along = d.tape, by_title(steps), Along(d.kinematics)
    moving, cut, joints, given = shown.values()
    found = []
    for item in moving:
        letter, _, name = item.label.partition(" of ")
        body = next(
            (b for b in d.kinematics.system.bodies if f"{name} and ".startswith(f"{b.name} and ")),
            None,
        )
        if body is None or (letter == "α" and body.frame is None):
            # a part without masses, or points only
            continue
        want = along.each(
            along.total,
            along.each(along.total, along.r(body.G))
            if letter == "a"
            else along.w_from_rotation(body.frame),
        )
        if not all(
            provably_zero(
                t, [t.sub(x, y) for x, y in zip(along.components(item.value), want, strict=True)]
            )
        ):
            found.append(item.label)
    symbols = {d.kinematics.name(i): i for i in unknowns(d)}
    put_in = Substitution(t, {symbols[item.label]: item.value for item in given})
    found += [item.label for item in cut if not provably_zero(t, [put_in(item.value)])[0]]
    pairs = zip(joints, d.native.residuals, strict=True)
    return found + [
        item.label
        for item, residual in pairs
        if not provably_zero(t, [t.sub(put_in(item.value), residual)])[0]
    ]


def unknowns(d):
    """The symbols f_1x, … of the shown reactions."""
    names = {item.label for item in d.steps[-1].items} if len(d.steps) == 4 else set()
    return [
        i
        for i in dependencies(d.tape, [item.value for step in d.steps[1:3] for item in step.items])
        if d.kinematics.name(i) in names
    ]


def planted(d):
    """(what, steps): the sign of a vector or a reaction turned, or that of one term of an
    equation.
    """
    for n, step in enumerate(d.steps):
        for k, item in enumerate(step.items):
            wrong = turned(d, n, item.value)
            if wrong is not None:
                items = (*step.items[:k], replace(item, value=wrong), *step.items[k + 1 :])
                yield (
                    f"{step.title}: {item.label}",
                    (*d.steps[:n], replace(step, items=items), *d.steps[n + 1 :]),
                )


def turned(d, n, value):
    t = d.tape
    if n == 0:
        return None if all(provably_zero(t, value.components(d.kinematics.system.N))) else -value
    if n == 3:
        return None if provably_zero(t, [value])[0] else t.neg(value)
    inside = dependencies(t, [value])
    x = next(
        (
            i
            for i in unknowns(d)
            if i in inside and not provably_zero(t, [dict(_reactions(d))[i]])[0]
        ),
        None,
    )
    return None if x is None else Substitution(t, {x: t.neg(x)})(value)


def _reactions(d):
    symbols = {d.kinematics.name(i): i for i in unknowns(d)}
    return [
        (symbols[item.label], item.value) for item in d.steps[-1].items if item.label in symbols
    ]


@pytest.mark.parametrize("name", SYSTEMS)
def test_what_is_shown_of_free_bodies_holds(name):
    try:
        d = derived(name)
    except NotApplicable as reason:
        pytest.skip(str(reason))
    assert [] == broken(d, d.steps)


@pytest.mark.parametrize("name", ["double-pendulum", "rolling-disk", "four-bar"])
def test_a_turned_sign_in_anything_that_is_shown_is_found(name):
    d = derived(name)
    wrong = list(planted(d))
    assert {
        "Accelerations from neighbour to neighbour",
        "Bodies cut free",
        "Joints",
        "Reactions",
    } == {w.partition(":")[0] for w, _ in wrong}
    assert [] == [what for what, steps in wrong if not broken(d, steps)]
