"""Bad input gets a clear error at the line that makes it (what, where, how to mend it), and
nothing is lost.
"""

import math
import re
import warnings
from fractions import Fraction

import numpy as np
import pytest

import dalembert as da
from dalembert.errors import (
    BadDescription,
    BadExpression,
    DalembertError,
    DalembertWarning,
    IllPosed,
)

OTHER = "can only be used in the system that made it"


class Plane:
    """A rigid body moving in a plane, complete and ready to be used."""

    def __init__(self, name="plane"):
        self.s = s = da.System(name)
        self.x, self.y, self.theta = s.coordinates("x y theta")
        self.m = s.constant("m", 2)
        self.F = s.input("F")
        self.B = s.N.rotated(self.theta, s.N.z, "B")
        self.P = s.O.offset(self.x * s.N.x + self.y * s.N.y, "P")
        self.body = s.body("body", self.m, self.P, self.B, da.inertia(self.B, 1, 1, 1))
        s.force(self.F * self.B.x, at=self.P)

    def state(self):
        """Everything that declarations add to, and the equations that follow from it."""
        s = self.s
        lists = (
            s.bodies,
            s.loads,
            s.potentials,
            s.dissipations,
            s.constraints,
            s.speed_list,
            s.trivial_constraints,
            s.space.frames,
        )
        return list(s.symbols), dict(s.used_names), [list(x) for x in lists], s.gravity_field


@pytest.fixture
def p():
    return Plane()


@pytest.fixture
def q():
    return Plane("another plane")


def refused(p, declare, message, error=BadDescription):
    """The declaration is refused with the message, the system is what it was, and it still
    works.
    """
    before = p.state()
    with pytest.raises(error, match=f"^{message}$"):
        declare()
    assert before == p.state()
    assert "m ẍ = F cos θ" in str(da.kane(p.s).equations)


# ---- names -------------------------------------------------------------------------------------

DUPLICATE = [
    (
        lambda p: p.s.coordinate("x"),
        "'x' is declared already, as a coordinate; names are used once in a system",
    ),
    (
        lambda p: p.s.constant("x", 1),
        "'x' is declared already, as a coordinate; names are used once in a system",
    ),
    (
        lambda p: p.s.coordinate("m"),
        "'m' is declared already, as a constant; names are used once in a system",
    ),
    (
        lambda p: p.s.input("F"),
        "'F' is declared already, as an input; names are used once in a system",
    ),
    (
        lambda p: p.s.specified("theta", 1),
        "'theta' is declared already, as a coordinate; names are used once in a system",
    ),
    (
        lambda p: p.s.speed("m", p.x.dot),
        "'m' is declared already, as a constant; names are used once in a system",
    ),
    (
        lambda p: p.s.pin("x", p.P),
        "'x' is declared already, as a coordinate; names are used once in a system",
    ),
    (lambda p: p.s.particle("body", 1, p.P), "a body named 'body' is declared already"),
    (
        lambda p: p.s.force(p.F * p.B.y, at=p.P, name="force 1"),
        "'force 1' is declared already, as a load",
    ),
    # of several names, all are declared or none
    (
        lambda p: p.s.coordinates("a b x"),
        "'x' is declared already, as a coordinate; names are used once in a system",
    ),
    (
        lambda p: p.s.coordinates("a b a"),
        "'a' is declared already, as a coordinate; names are used once in a system",
    ),
    (
        lambda p: p.s.constants(a=1, x=2),
        "'x' is declared already, as a coordinate; names are used once in a system",
    ),
    (
        lambda p: p.s.constants("a a"),
        "'a' is declared already, as a constant; names are used once in a system",
    ),
    (
        lambda p: p.s.inputs("a m"),
        "'m' is declared already, as a constant; names are used once in a system",
    ),
    (
        lambda p: p.s.speeds(a=p.x.dot, m=p.y.dot),
        "'m' is declared already, as a constant; names are used once in a system",
    ),
    (
        lambda p: p.s.speeds("a b a", p.P.v, p.B),
        "'a' is declared already, as a speed; names are used once in a system",
    ),
    (
        lambda p: p.s.ball("a b x", p.P),
        "'x' is declared already, as a coordinate; names are used once in a system",
    ),
    (
        lambda p: p.s.free("a b c d e x"),
        "'x' is declared already, as a coordinate; names are used once in a system",
    ),
]


@pytest.mark.parametrize(("declare", "message"), DUPLICATE)
def test_duplicate_names(p, declare, message):
    refused(p, lambda: declare(p), re.escape(message))


def test_duplicate_constraint_name(p):
    p.s.constrain(p.y, "floor")
    with pytest.raises(BadDescription, match=r"^'floor' is declared already, as a constraint$"):
        p.s.constrain(p.x, "floor")
    assert ["floor"] == [c.name for c in p.s.constraints]


EMPTY = [
    (lambda p: p.s.coordinate(""), "a name is missing: got ''"),
    (lambda p: p.s.coordinate(None), "a name is missing: got None"),
    (lambda p: p.s.coordinates(" , "), "expected names such as \"x y theta\", got ' , '"),
    (
        lambda p: p.s.constants(),
        'constants: nothing declared; write s.constants(m=2, g=9.81) or s.constants("m g")',
    ),
    (
        lambda p: p.s.speeds(),
        'speeds: nothing declared; write s.speeds(u1=theta.dot) or s.speeds("u1 u2 u3", B.w, B)',
    ),
    (lambda p: p.s.particle("", 1, p.P), "a body needs a name, got ''"),
    (lambda _: da.System("  "), "a system needs a name"),
    (
        lambda p: p.s.constant("2nd mass", 1),
        (
            "'2nd mass' cannot be a name: use letters, digits and _, beginning with a letter "
            "(theta_1 "
            "prints as θ₁)"
        ),
    ),
    (
        lambda p: p.s.coordinate("x'"),
        (
            '"x\'" cannot be a name: use letters, digits and _, beginning with a letter (theta_1 '
            "prints as θ₁)"
        ),
    ),
]


@pytest.mark.parametrize(("declare", "message"), EMPTY)
def test_empty_or_impossible_names(p, declare, message):
    refused(p, lambda: declare(p), re.escape(message))


@pytest.mark.parametrize(
    "name", ["t", "pi", "sin", "cos", "tan", "atan2", "sqrt", "dot", "lambda", "for"]
)
@pytest.mark.parametrize("kind", ["coordinate", "constant", "input", "specified"])
def test_reserved_names(p, name, kind):
    refused(p, lambda: getattr(p.s, kind)(name), f"'{name}' is reserved; choose another name")


def test_names_that_derivations_use_for_themselves_may_be_the_users(p):
    # λ₁ of a row, δx of a virtual displacement, ω_Bx of a default speed
    s = da.System("names")
    e = s.coordinates("e0 e1 e2 e3")
    lam, omega, delta = s.constants(lambda_1=2, omega_Bx=3, delta_e0=5)
    B = s.N.quaternion(*e, name="B")
    C = s.N.quaternion(*s.coordinates("f0 f1 f2 f3"), name="B")
    s.body("first", lam, s.O.offset(1 * B.x), B, da.inertia(B, omega, 3, 3))
    s.body("second", delta, s.O.offset(1 * C.y), C, da.inertia(C, omega, 3, 3))
    assert 6 == len(set(da.kinematics(s).u))
    assert all(row.agrees for row in da.agreement(s).rows)


# ---- other systems -----------------------------------------------------------------------------

MIXED_OPERATORS = {
    "x + y": lambda p, q: p.x + q.x,
    "x - y": lambda p, q: p.x - q.x,
    "x * y": lambda p, q: p.x * q.x,
    "x / y": lambda p, q: p.x / q.x,
    "x ** y": lambda p, q: p.x**q.x,
    "atan2": lambda p, q: da.atan2(p.x, q.x),
    "v + w": lambda p, q: p.B.x + q.B.x,
    "v - w": lambda p, q: p.B.x - q.B.x,
    "v @ w": lambda p, q: p.B.x @ q.B.x,
    "cross": lambda p, q: p.B.x.cross(q.B.x),
    "x * v": lambda p, q: p.x * q.B.x,
    "v / x": lambda p, q: p.B.x / q.x,
    "to": lambda p, q: p.B.x.to(q.B),
    "P - Q": lambda p, q: p.P - q.P,
    "I @ w": lambda p, q: da.inertia(p.B, 1, 1, 1) @ q.B.w,
    "I + J": lambda p, q: da.inertia(p.B, 1, 1, 1) + da.inertia(q.B, 1, 1, 1),
    "inertia": lambda p, q: da.inertia(p.B, q.m, 1, 1),
    "rod_inertia": lambda p, q: da.rod_inertia(p.B.x, q.m, 1),
}


@pytest.mark.parametrize("operator", MIXED_OPERATORS)
def test_mixing_systems_fails_at_the_operator(p, q, operator):
    refused(p, lambda: MIXED_OPERATORS[operator](p, q), f".*{OTHER}", DalembertError)


MIXED_DECLARATIONS = {
    "angle": lambda p, q: p.s.N.rotated(q.theta, p.s.N.z),
    "axis": lambda p, q: p.s.N.rotated(p.theta, q.s.N.z),
    "rotations": lambda p, q: p.s.N.rotations("xy", p.theta, q.theta),
    "cosines": lambda p, q: p.s.N.oriented([[da.cos(q.theta), 0, 0], [0, 1, 0], [0, 0, 1]]),
    "quaternion": lambda p, q: p.s.N.quaternion(p.x, p.y, p.theta, q.x),
    "offset": lambda p, q: p.P.offset(q.B.x),
    "particle": lambda p, q: p.s.particle("b", 1, q.P),
    "mass": lambda p, q: p.s.particle("b", q.m, p.P),
    "body at": lambda p, q: p.s.body("b", 1, q.P, p.B, da.inertia(p.B, 1, 1, 1)),
    "body frame": lambda p, q: p.s.body("b", 1, p.P, q.B, da.inertia(p.B, 1, 1, 1)),
    "body inertia": lambda p, q: p.s.body("b", 1, p.P, p.B, da.inertia(q.B, 1, 1, 1)),
    "body about": lambda p, q: p.s.body("b", 1, p.P, p.B, da.inertia(p.B, 1, 1, 1), about=q.P),
    "disk": lambda p, q: p.s.disk("b", p.P, p.B, 1, 1, q.B.z),
    "force": lambda p, q: p.s.force(q.B.x, at=p.P),
    "force at": lambda p, q: p.s.force(p.B.x, at=q.P),
    "reaction": lambda p, q: p.s.force(p.B.x, at=p.P, reaction=q.P),
    "torque": lambda p, q: p.s.torque(q.B.x, on=p.B),
    "torque on": lambda p, q: p.s.torque(p.B.x, on=q.B),
    "torque reaction": lambda p, q: p.s.torque(p.B.x, on=p.B, reaction=q.body),
    "gravity": lambda p, q: p.s.gravity(-9.81 * q.s.N.y),
    "potential": lambda p, q: p.s.potential(q.x**2),
    "dissipation": lambda p, q: p.s.dissipation(q.x.dot**2),
    "spring": lambda p, q: p.s.spring(1, p.P, q.P),
    "stiffness": lambda p, q: p.s.spring(q.m, p.P, p.s.O),
    "damper": lambda p, q: p.s.damper(1, p.P, q.P),
    "constraint": lambda p, q: p.s.constrain(q.x),
    "speed": lambda p, q: p.s.speed("u", q.x.dot),
    "vector of speeds": lambda p, q: p.s.speeds("u1 u2 u3", q.P.v, p.B),
    "speeds along": lambda p, q: p.s.speeds("u1 u2 u3", p.P.v, q.B),
    "specified": lambda p, q: p.s.specified("z", q.s.t),
    "pin": lambda p, q: p.s.pin("alpha", q.P),
    "pin axis": lambda p, q: p.s.pin("alpha", p.P, q.B.x),
    "slide": lambda p, q: p.s.slide("alpha", p.P, q.B.x),
    "ball": lambda p, q: p.s.ball("a b c", q.P),
    "universal": lambda p, q: p.s.universal("a b", q.P),
    "free": lambda p, q: p.s.free("a b c d e f", q.P),
    "weld": lambda p, q: p.s.weld(q.P),
    "rod": lambda p, q: p.s.rod("rod", q.P, 1, 1),
    "roll": lambda p, q: p.s.roll(p.body, q.P),
}


@pytest.mark.parametrize("declaration", MIXED_DECLARATIONS)
def test_elements_of_another_system_are_refused_at_that_line(p, q, declaration):
    refused(p, lambda: MIXED_DECLARATIONS[declaration](p, q), f".*{OTHER}", DalembertError)


def test_a_frame_is_no_point(p):
    refused(
        p,
        lambda: p.s.particle("b", 1, p.B),
        re.escape("particle 'b': expected a point, got Frame('B')"),
    )
    refused(
        p, lambda: p.s.force(p.B.x, at=p.B), re.escape("force: expected a point, got Frame('B')")
    )
    refused(
        p,
        lambda: p.s.body("b", 1, p.P, p.P, da.inertia(p.B, 1, 1, 1)),
        re.escape("body 'b': expected a frame, got Point('P')"),
    )


# ---- masses and inertias -----------------------------------------------------------------------


@pytest.mark.parametrize(("mass", "value"), [(0, "0"), (-1.5, "-1.5"), (Fraction(-1, 2), "-0.5")])
def test_nonpositive_mass(p, mass, value):
    refused(
        p,
        lambda: p.s.particle("b", mass, p.P),
        f"body 'b': its mass is {value}; a mass must be positive",
    )


def test_nonpositive_default_value_of_a_mass(p):
    k = p.s.constant("k", -3)
    for mass, value in ((k, "-3"), (2 * k, "-6"), (p.m + k, "-1")):
        with pytest.raises(
            BadDescription, match=f"^body 'b': its mass is {value}; a mass must be positive$"
        ):
            p.s.particle("b", mass, p.P)
    assert ["body"] == [b.name for b in p.s.bodies]


def test_mass_that_is_not_constant(p):
    refused(
        p,
        lambda: p.s.particle("b", p.x, p.P),
        "body 'b': its mass depends on x; a mass must be constant",
    )
    refused(
        p,
        lambda: p.s.particle("b", p.F, p.P),
        "body 'b': its mass depends on F; a mass must be constant",
    )


def spatial():
    s = da.System("spatial")
    F = s.N.rotations("zx", *s.coordinates("a b"))[-1]
    return s, F


def test_triangle_inequality_of_a_body_that_turns_in_space():
    _, F = spatial()
    message = (
        r"^inertia: no body has the moments 1, 1, 3: none exceeds the sum of the other two "
        r"\(a thin disk has 1, 1, 2\)$"
    )
    with pytest.raises(BadDescription, match=message):
        da.inertia(F, 1, 1, 3)
    da.inertia(F, 1, 1, 2)


def test_triangle_inequality_counts_principal_moments():
    s, F = spatial()
    with pytest.warns(DalembertWarning, match="triangle inequality"):
        s.body("b", 1, s.O, F, da.inertia(F, 2, 2, 1, xy=1.9))


def test_no_warning_where_the_other_moments_do_not_matter(p):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        p.s.body("flat", 1, p.P, p.B, da.inertia(p.B, 0, 0, 3))
        skew = p.s.N.rotated(p.theta, (3 * p.s.N.x + 4 * p.s.N.y) / 5)
        p.s.body("skew", 1, p.P, skew, da.inertia(skew, 2, 2, 3, xy=1.9))
        s, F = spatial()
        s.body("rod", 1, s.O, F, da.rod_inertia(F.x, 1, 1))
        s.body("disk", 1, s.O, F, da.disk_inertia(F.z, 1, 1))


def test_products_of_inertia_that_are_too_large():
    s, F = spatial()
    with pytest.raises(
        BadDescription,
        match=r"^body 'b': its inertia has a negative principal moment \(-1\); its products of "
        r"inertia are too",
    ):
        s.body("b", 1, s.O, F, da.inertia(F, 2, 2, 2, xy=3))
    B = s.N.rotated(s["a"], s.N.z, "B1")
    with pytest.raises(
        BadDescription, match=r"^body 'c': its moment of inertia about B1\.z is -2$"
    ):
        s.body("c", 1, s.O, B, da.inertia(B, 0, 0, -2))


def test_an_inertia_whose_numbers_come_later():
    s, F = spatial()
    J, p = s.constants("J p")
    s.body("b", 1, s.O, F, da.inertia(F, J, J, J, xy=p))
    start = {"a": 0.1, "b": 0.5}
    da.simulate(s, 0.01, start=start, values={"J": 2, "p": 1}, progress=False)
    with pytest.raises(
        DalembertError,
        match=r"^J = 2, p = 3: body 'b': its inertia has a negative principal moment \(-1\)",
    ):
        da.simulate(s, 0.01, start=start, values={"J": 2, "p": 3}, progress=False)
    with pytest.raises(
        DalembertError,
        match=r"^J = -2, p = 1: body 'b': its inertia has a negative principal moment",
    ):
        da.simulate(s, 0.01, start=start, values={"J": -2, "p": 1}, progress=False)


def test_negative_principal_moment():
    s, F = spatial()
    with pytest.raises(
        BadDescription, match=r"^body 'b': its inertia has a negative principal moment \(-1\)$"
    ):
        s.body("b", 1, s.O, F, da.inertia(F, 1, 1, -1))
    assert [] == s.bodies


def test_inertia_that_is_not_constant_names_the_angle(p):
    message = (
        "body 'b': its inertia is not constant in the body, it changes with theta; give it "
        "in the body's own frame B"
    )
    refused(p, lambda: p.s.body("b", 1, p.P, p.B, da.inertia(p.s.N, 1, 2, 3)), message)


def test_inertia_that_is_not_constant_names_the_right_angle():
    s = da.System("disk")
    phi, theta, psi = s.coordinates("phi theta psi")
    A, B, D = s.N.rotations("zxz", phi, theta, psi)
    with pytest.raises(BadDescription, match="it changes with psi;"):
        s.body("disk", 1, s.O, D, da.inertia(B, 1, 2, 3))
    with pytest.raises(BadDescription, match="it changes with theta;"):
        s.body("disk", 1, s.O, D, da.disk_inertia(A.z, 1, 1))
    # about its axis of symmetry it may spin
    s.body("disk", 1, s.O, D, da.disk_inertia(B.z, 1, 1))


# ---- frames ------------------------------------------------------------------------------------


def test_rotation_axis_without_a_direction(p):
    N = p.s.N
    message = "rotation axis: it is the zero vector, which has no direction"
    refused(p, lambda: N.rotated(p.theta, 0 * N.x), message)
    refused(p, lambda: p.s.pin("alpha", p.P, N.x - N.x), message)


def test_an_axis_of_any_length_will_do(p):
    N, theta = p.s.N, p.theta
    for axis, unit in (
        (2 * N.x, N.x),
        (3 * N.x + 4 * N.y, (3 * N.x + 4 * N.y) / 5),
        (N.x + N.y, (N.x + N.y) / da.sqrt(theta - theta + 2)),
    ):
        assert N.rotated(theta, unit).w.to(N) == N.rotated(theta, axis).w.to(N)


def test_rotation_axis_that_moves(p):
    message = (
        "rotation axis: it depends on theta in frame N; an axis must be fixed in the parent frame"
    )
    refused(p, lambda: p.s.N.rotated(p.x, p.B.x), message)


def test_axes_of_joints_are_letters(p):
    message = re.escape(
        "rotations('zqx', …): give one angle for each of the letters x, y, z; got 3 angles"
    )
    refused(p, lambda: p.s.ball("a b c", p.P, "zqx"), message)
    refused(p, lambda: p.s.free("a b c d e f", p.P, "zqx"), message)


# ---- speeds ------------------------------------------------------------------------------------

REMEDY = "change a speed's definition so that every rate follows"


def test_speeds_that_do_not_determine_the_rates_name_the_combination(p):
    p.s.speeds(u1=p.x.dot + p.y.dot, u2=2 * p.x.dot + 2 * p.y.dot, u3=p.theta.dot)
    message = (
        f"the speeds and constraints leave the combination of rates −ẋ + ẏ undetermined: {REMEDY}"
    )
    for _ in range(2):
        with pytest.raises(IllPosed, match=f"^{re.escape(message)}$"):
            da.kane(p.s)
    assert 3 == len(p.s.speed_list)


def test_speeds_that_do_not_determine_one_rate_name_it(p):
    p.s.speeds(u1=p.x.dot, u2=2 * p.x.dot, u3=p.theta.dot)
    with pytest.raises(
        IllPosed, match=f"^the speeds and constraints leave the rate ẏ undetermined: {REMEDY}$"
    ):
        da.lagrange(p.s)


def test_too_few_speeds(p):
    p.s.speeds(u1=p.x.dot, u2=p.y.dot)
    with pytest.raises(
        IllPosed,
        match=r"^3 coordinates, 2 speeds and no constraint rows: add 1 speed or constraint \(Gre03 "
        r"§4\.1\)$",
    ):
        da.kane(p.s)
    # mended, the system works
    p.s.constrain(p.theta)
    assert 2 == len(da.kane(p.s).equations.residuals)


def test_too_many_speeds(p):
    p.s.speeds(u1=p.x.dot, u2=p.y.dot, u3=p.theta.dot, u4=p.x.dot - p.y.dot)
    with pytest.raises(
        IllPosed,
        match=r"^3 coordinates, 4 speeds and no constraint rows: 1 speed too many; declare 3$",
    ):
        da.kane(p.s)
    p.s.constrain(p.theta)
    message = (
        "3 coordinates, 4 speeds and 1 constraint row: 2 speeds too many; declare 2, or 3 "
        "of "
        "which 1 are constrained"
    )
    with pytest.raises(IllPosed, match=f"^{message}$"):
        da.kane(p.s)


def test_speed_that_is_not_linear_in_the_rates(p):
    message = "speed 'u': its definition is not linear in x'; a speed must be linear in the rates"
    refused(p, lambda: p.s.speed("u", p.x.dot**2), message)
    refused(p, lambda: p.s.speeds(v=p.y.dot, u=da.sin(p.x.dot)), message)
    # no half-declared name is left: both can still be used
    p.s.speeds(u=p.x.dot, v=p.y.dot, w=p.theta.dot)


def test_speed_without_a_rate(p):
    refused(
        p,
        lambda: p.s.speed("u", p.x),
        "speed 'u': its definition contains no rate such as theta.dot",
    )
    # ω has one component in the plane: the other two cannot be speeds
    refused(
        p,
        lambda: p.s.speeds("u1 u2 u3", p.B.w, p.B),
        "speed 'u1': its definition contains no rate such as theta.dot",
    )


def test_vector_of_speeds_needs_three_names(p):
    others = "; of expressions: s.speeds(u1=theta.dot, u2=…)"
    refused(
        p,
        lambda: p.s.speeds("u1 u2", p.P.v, p.B),
        re.escape(f"speeds of a vector: three names are needed, got 2{others}"),
    )
    refused(
        p,
        lambda: p.s.speeds("u1 u2 u3"),
        re.escape(f'speeds of a vector: write s.speeds("u1 u2 u3", B.w, B){others}'),
    )


# ---- constraints -------------------------------------------------------------------------------


def test_constraint_nonlinear_in_the_speeds_is_told_from_a_linear_one(p):
    p.s.constrain(p.x.dot**2 + p.y.dot**2 - 1, "appell")
    p.s.constrain(p.x.dot * p.y, "linear")
    assert [True, False] == [c.nonlinear for c in p.s.constraints]


def test_constraint_nonlinear_in_a_declared_speed(p):
    u = p.s.speed("u", p.x.dot)
    p.s.constrain(u**2 - 1)
    assert [True] == [c.nonlinear for c in p.s.constraints]


def test_constraint_on_accelerations(p):
    message = "constraint 1: it contains accelerations; constraints are on positions or velocities"
    refused(p, lambda: p.s.constrain(p.x.dot.dot), message)


def test_redundant_rows_are_named(p):
    p.s.constrain(p.x - p.y, "diagonal")
    p.s.constrain(2 * p.x.dot - 2 * p.y.dot, "again")
    message = (
        "'again' repeats what 'diagonal' already imposes; remove one of them, or declare it "
        "with redundant=True"
    )
    with pytest.raises(IllPosed, match=f"^{re.escape(message)} to keep it with the others$"):
        da.kane(p.s)
    assert ["diagonal", "again"] == [c.name for c in p.s.constraints]


def test_row_that_follows_from_two_others_names_both(p):
    p.s.constrain(p.x.dot - p.y.dot, "a")
    p.s.constrain(p.y.dot - p.theta.dot, "b")
    p.s.constrain(p.x.dot - p.theta.dot, "c")
    with pytest.raises(
        IllPosed, match=r"^'c' repeats what 'a' and 'b' already impose; remove one of them"
    ):
        da.lagrange(p.s)


def test_contradictory_rows_are_named(p):
    p.s.constrain(p.x.dot - 1, "one")
    p.s.constrain(p.x.dot - 2, "two")
    with pytest.raises(
        IllPosed,
        match=r"^'two' contradicts what 'one' already imposes \(where that holds, it is off by "
        r"-1\); remove one of them$",
    ):
        da.kane(p.s)


def test_contradictory_positions_are_named(p):
    p.s.constrain(p.x - 1, "one")
    p.s.constrain(p.x - 2, "two")
    with pytest.raises(
        IllPosed,
        match=r"^'two' contradicts what 'one' already imposes \(where that holds, it is off by "
        r"-1\); remove one of them$",
    ):
        da.kane(p.s)


def test_positions_that_may_or_may_not_agree_are_not_called_contradictory(p):
    p.s.constrain(p.x - 1, "one")
    p.s.constrain(p.x**2 - 1, "two")
    with pytest.raises(
        IllPosed,
        match=r"^'two' repeats or contradicts what 'one' already imposes; remove one of them, or "
        r"declare it",
    ):
        da.kane(p.s)


def test_a_declared_redundant_row_is_left_out_and_held(p):
    p.s.constrain(p.x - 1, "one")
    p.s.constrain(p.x**2 - 1, "two", redundant=True)
    kin = da.kinematics(p.s)
    assert (["one"], ["two"]) == ([r.name for r in kin.rows], [r.name for r in kin.redundant])
    assert ["one", "two"] == [r.name for r in kin.linear_rows]


def test_constraint_that_does_not_depend_on_the_motion(p):
    message = re.escape(
        "constraint 1: it does not depend on the motion (no coordinate and no rate enters)"
    )
    refused(p, lambda: p.s.constrain(p.s.t - 1), message)
    refused(p, lambda: p.s.constrain(p.m - 2), message)


def test_constraint_that_holds_identically(p):
    message = "constraint 1: it holds identically, so it constrains nothing"
    refused(p, lambda: p.s.constrain(da.sin(p.x) ** 2 + da.cos(p.x) ** 2 - 1), message)
    refused(p, lambda: p.s.constrain((p.B.x @ p.B.x).dot), message)


def test_rolling_of_a_body_that_rests_already(p):
    fixed = p.s.body("ground", 1, p.s.O, p.s.N, da.inertia(p.s.N, 1, 1, 1))
    with pytest.raises(
        BadDescription,
        match=r"^rolling of ground: the contact point is always at rest, so rolling constrains "
        r"nothing$",
    ):
        p.s.roll(fixed, p.s.O)
    with pytest.raises(
        BadDescription,
        match=re.escape("roll: give a rigid body and the point of contact, s.roll(disk, C)"),
    ):
        p.s.roll(p.s.particle("dot", 1, p.P), p.P)
    assert [] == p.s.constraints


# ---- loads -------------------------------------------------------------------------------------


def test_gravity_declared_twice(p):
    p.s.gravity(-9.81 * p.s.N.y)
    field = p.s.gravity_field
    with pytest.raises(
        BadDescription, match=r"^gravity is declared already; a system has one gravity field$"
    ):
        p.s.gravity(-1.62 * p.s.N.z)
    assert field is p.s.gravity_field
    s = da.System("falling", gravity=9.81)
    with pytest.raises(BadDescription, match=r"^gravity is declared already"):
        s.gravity(-9.81 * s.N.y)


def test_gravity_that_is_no_uniform_field(p):
    message = "gravity: the field depends on theta; it must be fixed in the inertial frame"
    message += r" \(declare any other as s\.force on each body\)"
    refused(p, lambda: p.s.gravity(-9.81 * p.B.y), message)
    refused(
        p,
        lambda: p.s.gravity(9.81),
        re.escape("gravity: expected a vector such as a*N.x, got 9.81")
        + "; downward gravity is .*",
    )
    with pytest.raises(BadDescription, match=r"^up='w': give 'x', 'y' or 'z'$"):
        da.System("falling", gravity=9.81, up="w")


def test_potential_of_velocities(p):
    message = "potential: it contains x'; V depends on positions and time only"
    refused(p, lambda: p.s.potential(p.x.dot**2), message)
    u = p.s.speed("u", p.x.dot)
    with pytest.raises(
        BadDescription, match=r"^potential: it contains u; V depends on positions and time only$"
    ):
        p.s.potential(u * p.x)
    assert [] == p.s.potentials


def test_loads_of_accelerations(p):
    why = "loads depend on positions, velocities and time"
    refused(p, lambda: p.s.force(p.x.dot.dot * p.B.x, at=p.P), f"force: it contains x''; {why}")
    refused(
        p,
        lambda: p.s.torque(p.theta.dot.dot * p.B.z, on=p.B),
        f"torque: it contains theta''; {why}",
    )
    refused(p, lambda: p.s.dissipation(p.x.dot.dot**2), f"dissipation: it contains x''; {why}")


# ---- numbers -----------------------------------------------------------------------------------

BAD_NUMBERS = [
    (math.nan, "nan is not a finite number"),
    (math.inf, "inf is not a finite number"),
    (-math.inf, "-inf is not a finite number"),
    (np.float64("nan"), "nan is not a finite number"),
    (1 + 2j, "(1+2j) is complex: dalembert computes with real numbers"),
    (np.complex128(1j), "1j is complex: dalembert computes with real numbers"),
    (True, "expected a number or an expression, got True"),
]
PLACES = {
    "constant": lambda p, v: p.s.constant("a", v),
    "constants": lambda p, v: p.s.constants(a=1, b=v),
    "mass": lambda p, v: p.s.particle("b", v, p.P),
    "operator": lambda p, v: p.x + v,
    "operator on the right": lambda p, v: v * p.x,
    "vector": lambda p, v: v * p.B.x,
    "inertia": lambda p, v: da.inertia(p.B, v, 1, 1),
    "stiffness": lambda p, v: p.s.spring(v, p.P, p.s.O),
    "angle": lambda p, v: p.s.N.rotated(v, p.s.N.z),
    "specified": lambda p, v: p.s.specified("a", v),
    "gravity": lambda _, v: da.System("falling", gravity=v),
}


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize(("value", "message"), BAD_NUMBERS)
def test_nan_infinity_and_complex_numbers(p, value, message, place):
    refused(p, lambda: PLACES[place](p, value), re.escape(message), BadExpression)


# ---- expressions -------------------------------------------------------------------------------

BAD_TEXT = {
    "foo(x)": "unknown function 'foo' at column 1",
    "2*sinn(x)": "unknown function 'sinn' at column 3: did you mean 'sin'?",
    "gamma(x) + 1": "unknown function 'gamma' at column 1",
    "x + thet": "unknown name 'thet' at column 5: did you mean 'theta'?",
    "x*nan": "unknown name 'nan' at column 3",
    "x*1j": "complex number '1j' at column 3: dalembert computes with real numbers",
    "x*1e999": "too large a number at column 3: at most 100 digits, and powers of ten up to 400",
    "x(2)": "'x' is not a function at column 1: a * is missing before the parenthesis",
    "F'": "the rate of the input F is unknown: declare it with s.specified(...) instead (at column "
    "1)",
}


@pytest.mark.parametrize("text", BAD_TEXT)
def test_unknown_functions_and_names_in_a_parsed_expression(p, text):
    refused(p, lambda: p.s.expression(text), re.escape(BAD_TEXT[text]), BadExpression)


def test_rate_of_an_input(p):
    message = re.escape(
        "the rate of the input F is unknown: declare it with s.specified(...) instead"
    )
    refused(p, lambda: p.F.dot, message, BadExpression)
    refused(p, lambda: (p.F * p.x).dot, message, BadExpression)


def test_input_where_its_rate_would_be_needed(p):
    why = "it contains the input F, whose rate is unknown; declare it with s.specified(...) instead"
    refused(p, lambda: p.s.constrain(p.x.dot - p.F, "driven"), re.escape(f"driven: {why}"))
    refused(p, lambda: p.s.constrain(p.x - p.F, "driven"), re.escape(f"driven: {why}"))
    refused(p, lambda: p.s.speed("u", p.x.dot + p.F), re.escape(f"speed 'u': {why}"))
    refused(
        p,
        lambda: p.s.specified("z", p.F),
        "specified 'z': its motion contains F; only t and constants may enter",
    )


def test_specified_motion_of_coordinates(p):
    refused(
        p,
        lambda: p.s.specified("z", p.x),
        "specified 'z': its motion contains x; only t and constants may enter",
    )


def test_truth_of_an_expression(p):
    with pytest.raises(TypeError, match="an expression is neither true nor false"):
        bool(p.x)


# ---- symbols and masses ------------------------------------------------------------------------


def test_symbol_used_nowhere(p):
    p.s.constants(k=1, l=2)
    for _ in range(2):
        with pytest.raises(
            IllPosed,
            match=r"^constant 'k', constant 'l': declared but used nowhere; remove it or use it$",
        ):
            da.kane(p.s)
    # using them mends it
    p.s.potential(p.s["k"] * p.x**2 + p.s["l"] * p.y)
    da.kane(p.s)


@pytest.mark.parametrize("kind", ["coordinate", "input", "specified"])
def test_every_kind_of_symbol_must_be_used(p, kind):
    getattr(p.s, kind)("idle")
    with pytest.raises(
        IllPosed, match=f"^{kind} 'idle': declared but used nowhere; remove it or use it$"
    ):
        da.kane(p.s)


def test_system_without_coordinates_or_masses():
    s = da.System("empty")
    with pytest.raises(
        IllPosed,
        match=r"^system 'empty' has no coordinates: declare them with s\.coordinates\(\.\.\.\)$",
    ):
        da.kane(s)
    x = s.coordinate("x")
    with pytest.raises(
        IllPosed, match=r"^system 'empty' has no masses: declare a particle or a body$"
    ):
        da.kane(s)
    s.particle("p", 1, s.O.offset(x * s.N.x))
    assert "ẍ = 0" == str(da.kane(s).equations)


def test_verbs_take_every_name_that_a_symbol_may_have():
    s = da.System()
    (c,) = s.constants(s=2)
    (q,) = s.coordinates("q")
    s.speeds(self=q.dot)
    s.display(s="σ")
    assert (str(c), s.symbols["s"].value) == ("σ", 2)
    assert s["self"] is not None
