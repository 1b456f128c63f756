"""q̇ = W u + X: the user's choice of speeds, Greenwood's n speeds, the default, and quaternions."""

import pytest

import dalembert as da
from dalembert.symbolic.algebra.exact.zero_test import SamplePoint, provably_zero
from dalembert.symbolic.algebra.expression_graph import Substitution, symbols_of
from dalembert.symbolic.algebra.scalar import as_node


def planar():
    """A knife edge: three coordinates, one row."""
    s = da.System("knife edge")
    x, y, phi = s.coordinates("x y phi")
    B = s.N.rotated(phi, s.N.z, "B")
    P = s.O.offset(x * s.N.x + y * s.N.y)
    s.body("blade", s.constant("m", 1), P, B, da.inertia(B, 0, 0, s.constant("I", 1)))
    return s, B, P


def names(kin):
    return [kin.name(u) for u in kin.u]


def equal(kin, actual, expected):
    t = kin.tape
    return all(
        provably_zero(
            t,
            [
                t.sub(a, as_node(t, kin.system.expression(e)))
                for a, e in zip(actual, expected, strict=True)
            ],
        )
    )


def rates(kin):
    """q̇ in the speeds, then the definitions of the speeds with that put in, less the speeds:
    all zero.
    """
    t = kin.tape
    put = Substitution(t, dict(zip(kin.qdot, kin.qdot_of_u, strict=True)))
    return [t.sub(put(e), u) for e, u in zip(kin.definitions, kin.u, strict=True)]


def principles_agree(s):
    """Whether Kane's and Lagrange's equations are the same at a random point."""
    first, second = da.kane(s), da.lagrange(s)
    point = SamplePoint(first.tape, 12)
    return point.values(first.equations.residuals) == point.on(second.tape).values(
        second.equations.residuals
    )


# ---- the user's choice -------------------------------------------------------------------------


def test_as_many_speeds_as_there_are_freedoms():
    s, B, P = planar()
    s.constrain(P.v @ B.y)
    s.speeds(u1=P.v @ B.x, u2=s["phi"].dot)
    kin = da.kinematics(s)
    assert ["u1", "u2"] == names(kin)
    assert equal(kin, kin.qdot_of_u, ["u1*cos(phi)", "u1*sin(phi)", "u2"])


def test_all_n_speeds_of_which_one_is_constrained():
    s, B, P = planar()
    _, _, u3 = s.speeds(u1=P.v @ B.x, u2=s["phi"].dot, u3=P.v @ B.y)
    s.constrain(u3)
    kin = da.kinematics(s)
    assert ["u1", "u2"] == names(kin)
    assert equal(kin, kin.qdot_of_u, ["u1*cos(phi)", "u1*sin(phi)", "u2"])


def test_the_constrained_speed_may_be_declared_first():
    s, B, P = planar()
    u3, *_ = s.speeds(u3=P.v @ B.y, u1=P.v @ B.x, u2=s["phi"].dot)
    s.constrain(u3)
    assert ["u1", "u2"] == names(da.kinematics(s))


def test_the_two_styles_give_the_same_equations():
    texts = []
    for n_speeds in (False, True):
        s, B, P = planar()
        if n_speeds:
            s.constrain(s.speeds(u1=P.v @ B.x, u2=s["phi"].dot, u3=P.v @ B.y)[2])
        else:
            s.speeds(u1=P.v @ B.x, u2=s["phi"].dot)
            s.constrain(P.v @ B.y)
        texts.append(str(da.kane(s).equations))
    assert texts[0] == texts[1]


def test_constrained_speeds_with_a_time_dependent_part():
    # X needs all n columns of Φ: the row's b enters q̇ (Gre03 (4.9))
    s, B, P = planar()
    u3 = s.speeds(u1=P.v @ B.x + s.t, u2=s["phi"].dot, u3=P.v @ B.y)[2]
    s.constrain(u3 - da.sin(s.t))
    kin = da.kinematics(s)
    assert equal(
        kin,
        kin.qdot_of_u,
        ["(u1 - t)*cos(phi) - sin(t)*sin(phi)", "(u1 - t)*sin(phi) + sin(t)*cos(phi)", "u2"],
    )
    assert all(provably_zero(kin.tape, rates(kin)))


def test_speeds_defined_by_other_speeds():
    s, B, P = planar()
    u1 = s.speed("u1", P.v @ B.x)
    u2 = s.speed("u2", P.v @ B.y + 2 * u1)
    s.speed("u3", s["phi"].dot + u2)
    kin = da.kinematics(s)
    assert all(provably_zero(kin.tape, rates(kin)))
    assert equal(kin, [kin.qdot_of_u[2]], ["u3 - u2"])


def test_speeds_in_loads_and_constraints_mean_their_definitions():
    first, B, P = planar()
    u1 = first.speed("u1", P.v @ B.x)
    first.speeds(u2=P.v @ B.y, u3=first["phi"].dot)
    first.force(-3 * u1 * B.x, at=P)
    second, B, P = planar()
    second.speeds(u1=P.v @ B.x, u2=P.v @ B.y, u3=second["phi"].dot)
    second.force(-3 * (P.v @ B.x) * B.x, at=P)
    assert str(da.kane(first).equations) == str(da.kane(second).equations)
    assert str(da.lagrange(first).equations) == str(da.kane(first).equations)


def test_angular_velocity_by_definition():
    # ω = u₁ b₁ + u₂ b₂ + u₃ b₃ holds no angle: W serves q̇ only
    s = da.System("body")
    B = s.N.rotations("zyx", *s.coordinates("psi theta phi"))[-1]
    s.speeds("u1 u2 u3", B.w, B)
    s.body("body", 1, s.O, B, da.inertia(B, 1, 2, 2.5))
    kin = da.kinematics(s)
    assert kin.u == kin.w(B).components(B)
    assert {B} == set(kin.w(B).parts)
    assert equal(kin, [kin.qdot_of_u[1]], ["u2*cos(phi) - u3*sin(phi)"])


def test_velocity_by_definition():
    s = da.System("body")
    x, y, z = s.coordinates("x y z")
    B = s.N.rotations("zyx", *s.coordinates("psi theta phi"))[-1]
    P = s.O.offset(x * s.N.x + y * s.N.y + z * s.N.z)
    s.speeds("v1 v2 v3", P.v, B)
    s.speeds("u1 u2 u3", B.w, B)
    s.body("body", 1, P, B, da.inertia(B, 1, 2, 2.5))
    kin = da.kinematics(s)
    assert kin.u[:3] == kin.v(P).components(B)
    angles = [q.i for q in s.q[3:]]
    # the equations of motion of a body in body axes contain no angle at all
    d = da.kane(s)
    assert not set(angles) & set(symbols_of(d.tape, d.equations.residuals))


def test_vector_that_is_no_velocity_can_still_be_speeds():
    s = da.System("body")
    B = s.N.rotations("zyx", *s.coordinates("psi theta phi"))[-1]
    s.speeds("u1 u2 u3", 2 * B.w, s.N)
    s.body("body", 1, s.O, B, da.inertia(B, 1, 2, 2.5))
    kin = da.kinematics(s)
    assert all(provably_zero(kin.tape, rates(kin)))


# ---- the default -------------------------------------------------------------------------------


def test_default_speeds_are_the_rates():
    s, *_ = planar()
    kin = da.kinematics(s)
    assert ["x'", "y'", "phi'"] == names(kin)
    assert kin.qdot == kin.qdot_of_u == kin.definitions
    assert kin.qddot == kin.udot


def test_default_speeds_are_the_rates_that_the_rows_leave():
    # the coefficient of ẏ is a number, so no pivot can vanish
    s, *_ = planar()
    s.constrain(s["y"].dot - da.sin(s["x"]) * s["x"].dot + s.t)
    kin = da.kinematics(s)
    assert ["x'", "phi'"] == names(kin)
    assert equal(kin, kin.qdot_of_u, ["x'", "sin(x)*x' - t", "phi'"])


def test_default_elimination_prefers_pivots_free_of_the_coordinates():
    s, *_ = planar()
    s.constrain(s["m"] * s["x"].dot + da.cos(s["phi"]) * s["y"].dot)
    assert ["y'", "phi'"] == names(da.kinematics(s))


def test_quaternion_default_speeds_are_the_body_components_of_the_spin():
    s = da.System("body")
    e = s.coordinates("e0 e1 e2 e3")
    B = s.N.quaternion(*e, name="B")
    s.body("body", 1, s.O, B, da.inertia(B, 1, 2, 2.5))
    kin = da.kinematics(s)
    assert ["omega_Bx", "omega_By", "omega_Bz"] == names(kin)
    assert kin.u == kin.w(B).components(B)
    assert all(provably_zero(kin.tape, rates(kin)))
    # ė = ½ Eᵀ ω: no denominator, so no attitude is singular
    assert not any(kin.tape.nodes[i][0] == "div" for i in kin.qdot_of_u)


def test_quaternion_on_a_moving_frame_with_declared_speeds():
    s = da.System("gimballed")
    A = s.N.rotated(s.specified("gamma"), s.N.z)
    B = A.quaternion(*s.coordinates("e0 e1 e2 e3"), name="B")
    s.speeds("u1 u2 u3", B.w, B)
    s.body("body", 1, s.O, B, da.inertia(B, 1, 2, 2.5))
    kin = da.kinematics(s)
    assert kin.u == kin.w(B).components(B)
    assert all(provably_zero(kin.tape, rates(kin)))
    # the spin in N does not depend on how A moves, but ė does
    assert any(kin.name(i) == "gamma'" for i in symbols_of(kin.tape, kin.qdot_of_u))
    assert principles_agree(s)


@pytest.mark.parametrize("declared", [False, True])
def test_rolling_ball_with_a_quaternion(declared):
    s = da.System("ball", gravity=9.81, up="z")
    x, y = s.coordinates("x y")
    B = s.N.quaternion(*s.coordinates("e0 e1 e2 e3"), name="B")
    C = s.O.offset(x * s.N.x + y * s.N.y)
    ball = s.sphere("ball", C.offset(0.5 * s.N.z), B, 1, 0.5)
    s.roll(ball, C)
    if declared:
        s.speeds("u1 u2 u3", B.w, s.N)
    kin = da.kinematics(s)
    assert 3 == kin.n_u
    assert all(provably_zero(kin.tape, rates(kin)))
    assert ["rolling of ball along z"] == s.trivial_constraints
    assert principles_agree(s)


# ---- one kinematics for one description --------------------------------------------------------


def test_kinematics_is_computed_once_until_something_is_declared():
    s, _, P = planar()
    kin = da.kinematics(s)
    assert kin is da.kinematics(s)
    s.potential(s["x"] ** 2)
    again = da.kinematics(s)
    assert kin is not again
    s.particle("late", 1, P)
    assert again is not da.kinematics(s)


def test_forks_do_not_see_one_another():
    s, *_ = planar()
    kin = da.kinematics(s)
    length = len(kin.tape)
    one, other = kin.fork(), kin.fork()
    one.tape.symbol("only here")
    assert "only here" not in other.tape.names
    assert length == len(kin.tape) == len(other.tape)


def test_speeds_by_elimination_at_a_point():
    # W and X by Linear are what the elimination solved
    s, B, P = planar()
    s.speeds(u1=2 * P.v @ B.x + s.t, u2=s["phi"].dot - s["x"].dot, u3=P.v @ B.y + da.cos(s["x"]))
    kin = da.kinematics(s)
    point = SamplePoint(kin.tape, 8)
    for (X, W), e in zip(kin.WX, kin.qdot_of_u, strict=True):
        total = point(X) + sum(point(w) * point(kin.u[r]) for r, w in W.items())
        assert point(e) == total % point.prime
