"""Reactions by the balances of free bodies and by multipliers are the same forces."""

import pytest

import dalembert as da
from dalembert.symbolic.algebra.exact.linear_algebra import solve_unknowns
from dalembert.symbolic.algebra.exact.zero_test import RandomPoints
from dalembert.symbolic.algebra.expression_graph import copy_expressions


def on_the_motion(system, nodes, tape):
    """Values of nodes in the field with u̇ from Kane."""
    d = da.kane(system)
    residuals = copy_expressions(d.tape, tape, d.equations.residuals)

    def at(point):
        udot = solve_unknowns(point, residuals, d.equations.udot)
        return point.on(tape, dict(zip(d.equations.udot, udot, strict=True))).values(nodes)

    return RandomPoints(tape, 2).at_all(at)


def pendulum():
    s = da.System("Pendulum")
    m, l, g = s.constants(m=1, l=1, g=9.81)
    s.gravity(-g * s.N.y)
    hinge = s.pin("theta", s.O)
    s.particle("bob", m, hinge.offset(-l * hinge.frame.y))
    return s, hinge.frame


def test_a_hinge_transmits_no_moment_about_its_axis():
    s, B = pendulum()
    (joint,) = da.reactions(s).joints
    moment = joint.moment.components(B)
    assert [[0, 0, 0]] * 2 == on_the_motion(s, list(moment), joint.moment.tape)


def test_the_rod_carries_the_weight_and_the_centripetal_force():
    s, B = pendulum()
    (joint,) = da.reactions(s).joints
    t = joint.force.tape
    theta, m, l, g = s["theta"], s["m"], s["l"], s["g"]
    expected = m * l * theta.dot**2 + m * g * da.cos(theta)
    (index,) = copy_expressions(expected.tape, t, [expected.i])
    along_rod = t.sub(joint.force.components(B)[1], index)
    assert [[0]] * 2 == on_the_motion(s, [along_rod], t)


@pytest.mark.parametrize("k", [1, -3])
def test_at_rest_a_row_carries_the_weight_however_it_is_written(k):
    s = da.System("Pendulum in x and y", gravity=9.81)
    x, y = s.coordinates("x y")
    s.particle("bob", 2, s.O.offset(x * s.N.x + y * s.N.y))
    s.constrain(k * (x**2 + y**2 - 1), "rod")
    (row,) = da.reactions(s).rows
    d = da.lagrange(s)
    # m ÿ = −m g + λ ∂φ/∂y with ÿ = 0, at x = 0, y = −1
    lam = 2 * 9.81 / (k * 2 * -1)
    force_on_y = row.along["y"].sympy().subs({"y": -1, row.multiplier.name: lam})
    assert 2 * 9.81 == pytest.approx(float(force_on_y))
    assert "rod" == row.row
    assert d.native.multipliers


def test_rolling_gives_forces_at_the_contact():
    from dalembert import gallery

    s = gallery.build("rolling-disk")
    found = da.reactions(s)
    # cut at the rows, the disk hangs on its contact point, whose plane carries it
    assert ["x, y", "phi, theta", "psi"] == [j.joint for j in found.joints]
    assert ["rolling of disk along x", "rolling of disk along y"] == [r.row for r in found.rows]
    assert all(r.force is not None and r.at is not None for r in found.rows)


def test_the_norm_of_a_quaternion_is_no_reaction():
    s = da.System("Ball joint", gravity=9.81)
    hinge = s.ball("e0 e1 e2 e3", s.O)
    B = hinge.frame
    s.body("b", 1, hinge.offset(0.3 * B.x), B, da.inertia(B, 1, 2, 2.5))
    found = da.reactions(s)
    assert () == found.rows
    (joint,) = found.joints
    assert [[0, 0, 0]] * 2 == on_the_motion(s, list(joint.moment.components(B)), joint.moment.tape)
