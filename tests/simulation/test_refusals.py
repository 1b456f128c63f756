"""What a run, an equilibrium or a linear model cannot be made of is refused in the user's terms."""

import math

import numpy as np
import pytest

import dalembert as da
from dalembert.errors import NotASystem

STRANGE = (None, "abc", 1 + 2j, [1], object(), b"x", 10**400, np.array([1.0, 2.0]), int)


def pendulum():
    s = da.System("Pendulum", gravity=9.81)
    B = s.N.rotated(s.coordinate("theta"), s.N.z)
    s.particle("bob", 1, s.O.offset(-s.constant("l", 1) * B.y))
    return s


TAKING_A_SYSTEM = (
    da.kane, da.lagrange, da.agreement, da.compile, da.constraints, da.energy_integrals,
    da.equilibrium, da.linearize, da.reactions,
    da.routh, lambda x: da.simulate(x, 1), lambda x: da.symmetry(x, {}), da.virtual_work,
)  # fmt: skip


@pytest.mark.parametrize("function", TAKING_A_SYSTEM)
def test_what_is_no_system(function):
    for x in (None, "rolling-disk", 3):
        with pytest.raises(NotASystem, match=f"not {type(x).__name__}"):
            function(x)


PLACES = {
    "value": lambda x: da.simulate(pendulum(), 1, values={"l": x}),
    "start": lambda x: da.simulate(pendulum(), 1, start={"theta": x}),
    "duration": lambda x: da.simulate(pendulum(), x),
    "given": lambda x: da.equilibrium(pendulum(), {"theta": x}),
    "box": lambda x: da.equilibria(pendulum(), x),
    "range of the box": lambda x: da.equilibria(pendulum(), {"theta": x}),
    "end of the box": lambda x: da.equilibria(pendulum(), {"theta": (0, x)}),
    "starts": lambda x: da.equilibria(pendulum(), {"theta": (0, 4)}, starts=x),
    "range": lambda x: da.continuation(pendulum(), "l", x),
    "end of the range": lambda x: da.continuation(pendulum(), "l", (1, x)),
    "step": lambda x: da.continuation(pendulum(), "l", (1, 2), step=x),
    "direction": lambda x: da.event("theta", direction=x),
    "name of an event": lambda x: da.event("theta", name=3 if isinstance(x, str) else x),
    "name of an impact": lambda x: da.impact("theta", 1, name=3 if isinstance(x, str) else x),
    "reset": lambda x: da.event("theta", reset=x if x is not None else 3),
    "stop": lambda x: da.event("theta", stop=x),
    "symmetry": lambda x: da.symmetry(pendulum(), x),
    "run": da.linearize_along,
    "run to vary": lambda x: da.sensitivity(x, "l"),
}


@pytest.mark.parametrize("where", PLACES)
def test_strange_things_are_refused(where):
    for x in STRANGE:
        with pytest.raises(da.DalembertError):
            PLACES[where](x)


@pytest.mark.parametrize("over", [None, "ab", 3, [], [1, math.nan], [[1], [2]], [1, 10**400]])
def test_a_locus_needs_a_list_of_numbers(over):
    with pytest.raises(da.DalembertError, match="give a list of values for l"):
        da.root_locus(pendulum(), "l", over)


@pytest.mark.parametrize("given", [3, "theta", object()])
def test_linear_models_take_lists(given):
    with pytest.raises(da.DalembertError, match="give a list"):
        da.linearize(pendulum(), outputs=given)
    with pytest.raises(da.DalembertError, match="give a list"):
        da.linearize(pendulum(), coordinates=given)


def test_what_is_asked_of_a_run():
    run = da.simulate(pendulum(), 0.1, start={"theta": 1})
    for x in (3, None, ["theta"], object()):
        with pytest.raises(da.DalembertError, match="by name"):
            run.reaction(x)
    with pytest.raises(da.DalembertError, match="not a time"):
        run.at(10**400)
    for x in (3, None, object()):
        with pytest.raises(da.DalembertError, match="a file is given by its name"):
            run.to_csv(x)


def test_a_point_is_answered_with_what_can_be_asked():
    s = pendulum()
    run = da.simulate(s, 0.1, start={"theta": 1})
    P = s.bodies[0].G
    with pytest.raises(da.BadExpression, match=r"is a point; give a vector"):
        run[P]
    assert (len(run), 3) == run[P - s.O].shape
    with pytest.raises(da.BadExpression, match=r"O\.offset\(vector\)"):
        s.O + s.N.x
