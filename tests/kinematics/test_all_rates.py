"""u = z: nothing eliminated, every row beside the equations."""

import pytest

import dalembert as da
from dalembert.gallery import build
from dalembert.mechanics.kinematics.system_kinematics import unreduced_kinematics
from dalembert.symbolic.algebra.exact.zero_test import provably_zero
from dalembert.symbolic.algebra.scalar import as_node


def pendulum():
    s = da.System("Pendulum in x and y", gravity=9.81)
    x, y = s.coordinates("x y")
    s.particle("bob", 1, s.O.offset(x * s.N.x + y * s.N.y))
    s.constrain((x**2 + y**2 - 1) / 2, "rod")
    return s, x, y


def test_every_rate_is_a_speed_and_the_row_stays():
    s, x, y = pendulum()
    kin = unreduced_kinematics(da.kinematics(s)).fork()
    assert ("x'", "y'") == tuple(map(kin.name, kin.u))
    (row,) = kin.velocity_rows
    t = kin.tape
    assert {0: x.i, 1: y.i} == row.A
    assert all(provably_zero(t, [t.sub(row.gamma, as_node(t, x.dot**2 + y.dot**2))]))


def test_the_equations_on_it_are_those_without_the_row():
    s, *_ = pendulum()
    found = da.kane(unreduced_kinematics(da.kinematics(s))).equations
    assert "ẍ = 0\nÿ = −9.81" == str(found)


def test_a_pivot_that_can_vanish_is_noted():
    s, *_ = pendulum()
    assert da.kinematics(s).state_dependent_pivots
    assert not da.kinematics(build("rolling-disk")).state_dependent_pivots


def test_a_quaternion_has_three_spins_and_no_norm_row():
    s = da.System("Ball")
    x, y = s.coordinates("x y")
    B = s.N.quaternion(*s.coordinates("e_0 e_1 e_2 e_3"))
    C = s.O.offset(x * s.N.x + y * s.N.y)
    s.roll(s.sphere("ball", C.offset(0.1 * s.N.z), B, 1, 0.1), C)
    kin = unreduced_kinematics(da.kinematics(s))
    assert (6, 5, 2) == (kin.n_q, kin.n_u, len(kin.velocity_rows))
    assert kin.spin_symbols(B) is not None


def test_declared_speeds_follow_from_the_rates():
    s, x, y = pendulum()
    (h,) = s.speeds(h=x * y.dot - y * x.dot)
    kin = unreduced_kinematics(da.kinematics(s)).fork()
    t = kin.tape
    assert all(provably_zero(t, [t.sub(kin.in_speeds(h.i), as_node(t, x * y.dot - y * x.dot))]))


@pytest.mark.parametrize("name", ["four-bar", "rolling-disk", "snakeboard", "moving-knife-edge"])
def test_the_rows_are_the_declared_ones(name):
    kin = unreduced_kinematics(da.kinematics(build(name))).fork()
    t = kin.tape
    for row in kin.velocity_rows:
        assert provably_zero(t, [t.sub(row.e, kin.in_speeds(kin.row_in_rates(row.row)))])[0]
