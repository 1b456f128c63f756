"""r_k = ∂r/∂q_k = ∂v/∂q̇_k = ∂a/∂q̈_k (Bar00 (4)) and d/dt ∂r/∂q_k = ∂v/∂q_k (Mar (13), Mei85
(7.36)), with the rigid analogues.
"""

import pytest

import dalembert as da
from dalembert.symbolic.algebra.exact.zero_test import provably_zero
from laws.along import Along
from laws.cases import NAMES, build


@pytest.fixture(params=NAMES)
def along(request):
    return Along(da.kinematics(build(request.param)).fork())


def frames(along):
    return list(dict.fromkeys(b.frame for b in along.kin.system.bodies if b.frame is not None))


def points(along):
    s = along.kin.system
    return list(
        dict.fromkeys([b.G for b in s.bodies] + [P for load in s.loads for _, P in load.forces])
    )


def coordinates(along):
    return zip(along.kin.q, along.kin.qdot, along.kin.qddot, strict=True)


def test_kinematic_coefficients_from_r_v_and_a_are_equal(along):
    different = []
    for P in points(along):
        r, v = along.r(P), along.v(P)
        a = along.each(along.total, v)
        for q, qdot, qddot in coordinates(along):
            r_k = along.each(along.partial(q), r)
            different += along.minus(r_k, along.each(along.partial(qdot), v))
            different += along.minus(r_k, along.each(along.partial(qddot), a))
    assert all(provably_zero(along.tape, different))


def test_kinematic_coefficients_from_R_w_and_alpha_are_equal(along):
    different = []
    for F in frames(along):
        w = along.w(F)
        alpha = along.each(along.total, w)
        for q, qdot, qddot in coordinates(along):
            theta_k = along.theta(F, q)
            different += along.minus(theta_k, along.each(along.partial(qdot), w))
            different += along.minus(theta_k, along.each(along.partial(qddot), alpha))
    assert all(provably_zero(along.tape, different))


def test_velocities_are_derivatives_of_positions_and_rotations(along):
    different = [
        d
        for P in points(along)
        for d in along.minus(along.v(P), along.each(along.total, along.r(P)))
    ]
    different += [
        d for F in frames(along) for d in along.minus(along.w(F), along.w_from_rotation(F))
    ]
    assert all(provably_zero(along.tape, different))


def test_derivatives_along_the_motion_and_along_a_coordinate_can_be_exchanged(along):
    different = []
    for P in points(along):
        r, v = along.r(P), along.v(P)
        for q in along.kin.q:
            r_k = along.each(along.partial(q), r)
            different += along.minus(along.each(along.total, r_k), along.each(along.partial(q), v))
    assert all(provably_zero(along.tape, different))


def test_rigid_analogue_of_the_exchange(along):
    # dθ_k/dt = ∂ω/∂q_k + ω × θ_k
    t = along.tape
    different = []
    for F in frames(along):
        w = along.w(F)
        for q in along.kin.q:
            theta_k = along.theta(F, q)
            right = [
                t.add(x, y)
                for x, y in zip(
                    along.each(along.partial(q), w), along.cross(w, theta_k), strict=True
                )
            ]
            different += along.minus(along.each(along.total, theta_k), right)
    assert all(provably_zero(t, different))
