"""Joints and shapes build exactly the frames, points, coordinates and inertias one would write
by hand.
"""

import re
from fractions import Fraction

import pytest

import dalembert as da
from dalembert.errors import BadDescription
from dalembert.mechanics.geometry.rotation import BasisRotation, Quaternion
from dalembert.symbolic.algebra.exact.zero_test import SamplePoint, provably_zero


def same_equations(one, other):
    first, second = da.kane(one), da.kane(other)
    point = SamplePoint(first.tape, 3)
    values = SamplePoint(second.tape, 3, prime=point.prime).values(second.equations.residuals)
    return values == point.values(first.equations.residuals)


def equal(s, actual, expected):
    return all(
        provably_zero(s.space.tape, [(a - b).i for a, b in zip(actual, expected, strict=True)])
    )


@pytest.fixture
def s():
    return da.System("joints", gravity=9.81)


def test_pin(s):
    P = s.pin("alpha", s.O)
    assert isinstance(P.frame.rotation, BasisRotation)
    assert ["alpha"] == [q.name for q in s.q]
    assert equal(s, (P - s.O).to(s.N), (0 * s.t,) * 3)
    assert equal(s, P.frame.w.to(s.N), (0, 0, s["alpha"].dot))


def test_pin_about_another_axis_of_a_moving_frame(s):
    P = s.pin("alpha", s.O)
    Q = s.pin("beta", P.offset(1 * P.frame.x), P.frame.y)
    assert equal(s, Q.frame.w.to(P.frame), (0, s["beta"].dot, s["alpha"].dot))


def test_slide(s):
    P = s.slide("x", s.O, s.N.y)
    assert P.frame is s.N
    assert equal(s, P.v.to(s.N), (0, s["x"].dot, 0))
    assert equal(s, (s.slide("y", s.O) - s.O).to(s.N), (s["y"], 0, 0))


def test_universal(s):
    P = s.universal("alpha beta", s.O)
    alpha, beta = s.q
    assert equal(
        s, P.frame.w.to(P.frame), (alpha.dot * da.cos(beta), beta.dot, alpha.dot * da.sin(beta))
    )


def test_ball_with_three_angles_is_the_3_2_1_sequence(s):
    P = s.ball("psi theta phi", s.O)
    F = s.N.rotations("zyx", *s.q)[-1]
    assert equal(s, P.frame.x.to(s.N), F.x.to(s.N))
    assert equal(s, P.frame.w.to(s.N), F.w.to(s.N))


def test_ball_with_four_names_is_a_quaternion(s):
    P = s.ball("e0 e1 e2 e3", s.O)
    assert isinstance(P.frame.rotation, Quaternion)
    assert 4 == len(s.q)


@pytest.mark.parametrize(("names", "angles"), [("x y z a b c", 6), ("x y z e0 e1 e2 e3", 7)])
def test_free(s, names, angles):
    P = s.free(names)
    assert angles == len(s.q)
    assert equal(s, (P - s.O).to(s.N), s.q[:3])
    s.body("body", 1, P, P.frame, da.inertia(P.frame, 1, 2, 2.5))
    assert 6 == da.kinematics(s).n_u


def test_weld_keeps_the_frame_and_shifts_the_point(s):
    P = s.pin("alpha", s.O)
    Q = s.weld(P, 2 * P.frame.x)
    assert Q.frame is P.frame
    assert equal(s, (Q - P).to(P.frame), (2, 0, 0))
    assert s.weld(P).frame is P.frame


@pytest.mark.parametrize(
    ("declare", "message"),
    [
        (
            lambda s: s.universal("a b c", s.O),
            "this joint takes 2 angles: got the names 'a b c' for the axes 'xy'",
        ),
        (
            lambda s: s.ball("a b", s.O),
            "this joint takes 3 angles: got the names 'a b' for the axes 'zyx'",
        ),
        (
            lambda s: s.free("x y z a b"),
            (
                "free: six names are needed (x y z and three angles) or seven (x y z and a "
                "quaternion), got 5"
            ),
        ),
    ],
)
def test_wrong_number_of_names(s, declare, message):
    with pytest.raises(BadDescription, match=f"^{re.escape(message)}$"):
        declare(s)
    assert () == s.q


def test_showpiece_is_what_one_would_write_by_hand():
    s = da.System("Double pendulum", gravity=9.81)
    upper = s.rod("upper", s.pin("alpha", s.O), mass=1, length=1)
    s.rod("lower", s.pin("beta", upper.tip), mass=1, length=1)
    t = da.System("by hand")
    alpha, beta = t.coordinates("alpha beta")
    A = t.N.rotated(alpha, t.N.z)
    B = A.rotated(beta, A.z)
    I = Fraction(1, 12)
    t.body("upper", 1, t.O.offset(-A.y / 2), A, da.inertia(A, I, 0, I))
    t.body("lower", 1, t.O.offset(-1 * A.y).offset(-B.y / 2), B, da.inertia(B, I, 0, I))
    t.gravity(-9.81 * t.N.y)
    assert same_equations(s, t)
    assert str(da.kane(s).equations) == str(da.kane(t).equations)


SHAPES = {
    "rod": (lambda s, P: s.rod("b", P, 3, 2), lambda F: da.inertia(F, 1, 0, 1)),
    "disk": (
        lambda s, P: s.disk("b", P, P.frame, 4, 2, P.frame.x),
        lambda F: da.inertia(F, 8, 4, 4),
    ),
    "sphere": (lambda s, P: s.sphere("b", P, P.frame, 5, 1), lambda F: da.inertia(F, 2, 2, 2)),
    "cylinder": (
        lambda s, P: s.cylinder("b", P, P.frame, 12, 1, 3, P.frame.z),
        lambda F: da.inertia(F, 12, 12, 6),
    ),
    "box": (lambda s, P: s.box("b", P, P.frame, 12, 1, 2, 3), lambda F: da.inertia(F, 13, 10, 5)),
}


@pytest.mark.parametrize("name", SHAPES)
def test_inertias_of_shapes(s, name):
    make, expected = SHAPES[name]
    P = s.ball("a b c", s.O)
    body = make(s, P)
    t = s.space.tape
    assert all(
        provably_zero(
            t,
            [
                t.sub(x, y)
                for x, y in zip(body.inertia.entries(), expected(P.frame).entries(), strict=True)
            ],
        )
    )
    assert name == body.shape.kind


def test_rod_hangs_from_its_joint_and_knows_its_tip(s):
    P = s.pin("alpha", s.O)
    rod = s.rod("rod", P, 1, 2)
    assert equal(s, (rod.G - P).to(P.frame), (0, -1, 0))
    assert equal(s, (rod.tip - P).to(P.frame), (0, -2, 0))
    assert rod.tip.frame is P.frame


def test_inertia_about_another_point_of_the_body(s):
    # a rod of mass 3 and length 2 about its end: 3·2²/3 = 4
    P = s.pin("alpha", s.O)
    F = P.frame
    given = s.body("about the end", 3, P.offset(-1 * F.y), F, da.inertia(F, 4, 0, 4), about=P)
    expected = da.rod_inertia(F.y, 3, 2)
    t = s.space.tape
    assert all(
        provably_zero(
            t,
            [t.sub(x, y) for x, y in zip(given.inertia.entries(), expected.entries(), strict=True)],
        )
    )
