"""What is not a point, frame, vector, number or name is refused at the line that gives it, in
the terms of mechanics.
"""

import math

import numpy as np
import pytest

import dalembert as da

STRANGE = (
    None,
    "abc",
    "",
    1 + 2j,
    math.inf,
    math.nan,
    [1],
    {},
    object(),
    b"x",
    10**400,
    np.array([1.0, 2.0]),
    int,
)


def system():
    s = da.System("S", gravity=9.81)
    s.coordinate("theta")
    return s


def turned(s):
    B = s.N.rotated(s.q[0], s.N.z)
    return s.body("b", 1, s.O, B, da.inertia(B, 1, 1, 1))


def moved(s):
    return s.O.offset(s.q[0] * s.N.x)


# where each strange thing is put
POINTS = {
    "pin": lambda s, x: s.pin("p", x),
    "slide": lambda s, x: s.slide("p", x),
    "ball": lambda s, x: s.ball("a b c", x),
    "quaternion": lambda s, x: s.ball("a b c d", x),
    "universal": lambda s, x: s.universal("a b", x),
    "weld": lambda s, x: s.weld(x),
    "rod": lambda s, x: s.rod("r", x, 1, 1),
    "spring": lambda s, x: s.spring(1, x, s.O),
    "damper": lambda s, x: s.damper(1, moved(s), x),
    "coincide": lambda s, x: s.coincide(moved(s), x),
    "roll": lambda s, x: s.roll(turned(s), x),
}
FRAMES = {
    "sphere": lambda s, x: s.sphere("p", s.O, x, 1, 1),
    "box": lambda s, x: s.box("p", s.O, x, 1, 1, 1, 1),
    "inertia": lambda s, x: da.inertia(x, 1, 1, 1),
    "ellipsoid": lambda s, x: da.ellipsoid_contact(s.N.z, x, 1, 1, 1),
}
VECTORS = {
    "disk": lambda s, x: s.disk("p", s.O, s.N, 1, 1, x),
    "cross": lambda s, x: s.N.x.cross(x),
    "contact": lambda s, x: da.ring_contact(x, s.N.x, 1),
    "bending": lambda s, x: s.beam("b", s.O, s.N.x, x, 1, 1, 1),
}
OTHERS = {
    "inertia of a body": lambda s, x: s.body("p", 1, s.O, s.N, x),
    "axes": lambda s, x: s.N.rotations(x, s.q[0]),
    "axes of a joint": lambda s, x: s.universal("a b", s.O, x),
    "along": lambda s, x: s.roll(turned(s), s.O.offset(s.N.y), along=x),
    "up": lambda s, x: da.System("x", gravity=9.81, up=x),
    "mass": lambda s, x: s.particle("p", x, s.O),
    "end": lambda s, x: s.end(x),
    "radius": lambda s, x: da.ring_contact(s.N.z, s.N.x, x),
}
PLACES = POINTS | FRAMES | VECTORS | OTHERS


@pytest.mark.parametrize("where", PLACES)
def test_strange_things_are_refused(where):
    for x in STRANGE:
        if x.__class__ is int and where == "radius":
            continue  # a number, however large
        with pytest.raises(da.DalembertError):
            PLACES[where](system(), x)


@pytest.mark.parametrize("where", ["about", "at", "axis of a pin", "axis of a slide"])
def test_what_may_be_left_out_is_refused_when_it_is_strange(where):
    give = {
        "about": lambda s, x: s.body("p", 1, s.O, s.N, da.inertia(s.N, 1, 1, 1), about=x),
        "at": lambda s, x: s.free("x y z a b c", x),
        "axis of a pin": lambda s, x: s.pin("p", s.O, x),
        "axis of a slide": lambda s, x: s.slide("p", s.O, x),
    }[where]
    for x in STRANGE[1:]:
        with pytest.raises(da.DalembertError):
            give(system(), x)
    give(system(), None)


@pytest.mark.parametrize("name", ["", " ", 3, ["a"]])
def test_constraints_are_named_by_strings(name):
    s = system()
    with pytest.raises(da.BadDescription, match="named by a string"):
        s.constrain(s.q[0].dot - 1, name)


def test_a_row_that_is_none_cannot_be_marked():
    s = system()
    with pytest.raises(da.BadDescription, match="redundant=3; name rows of it"):
        s.coincide(moved(s), s.O.offset(s.N.x), redundant=3)


def test_a_spring_needs_two_places():
    s = system()
    with pytest.raises(da.BadDescription, match="at the same position"):
        s.spring(1, s.O, s.O.offset(0 * s.N.x), rest=1)


def test_a_value_that_does_not_exist_is_refused():
    s = system()
    with pytest.raises(da.BadDescription, match="no value for the constants as declared"):
        s.particle("p", 1 / s.constant("k", 0), s.O)


@pytest.mark.parametrize(
    ("function", "x"), [(da.sin, "x"), (da.sqrt, -1), (da.log, 0), (da.cosh, 1e9), (da.exp, None)]
)
def test_functions_of_what_has_no_value(function, x):
    with pytest.raises(da.BadExpression, match="give an expression of a system"):
        function(x)


@pytest.mark.parametrize("tension", [0, -1, lambda x: x - 1])
def test_a_string_is_pulled(tension):
    s = system()
    with pytest.raises(da.BadDescription, match=r"tension is .*must be positive"):
        s.string("s", s.O, s.N.x, s.N.y, 1, 1, tension=tension)
    s.beam("b", s.O, s.N.x, s.N.y, 1, 1, 1, tension=-1)


@pytest.mark.parametrize("missing", ["stiffness", "density"])
def test_a_beam_needs_its_properties(missing):
    s = system()
    given = {"stiffness": 1, "density": 1, missing: None}
    with pytest.raises(da.BadDescription, match=f"its {missing} is missing"):
        s.beam("b", s.O, s.N.x, s.N.y, 1, **given)


def test_a_property_is_a_function_of_the_place_alone():
    s = system()
    with pytest.raises(da.BadDescription, match="not a function of the position"):
        s.beam("b", s.O, s.N.x, s.N.y, 1, lambda x, y: x, 1)
