"""K_r* = −(d/dt ∂T/∂q̇_r − ∂T/∂q_r): Mar (12)–(17), Mei85 (7.35)–(7.37); and the moment balance
about any point, Bar00 after (30).
"""

from fractions import Fraction

import pytest

import dalembert as da
from dalembert.mechanics.geometry.rotation import dot3
from dalembert.mechanics.geometry.solid_inertia import inertia
from dalembert.mechanics.geometry.vector import outer_square
from dalembert.mechanics.kinetics.system_quantities import Quantities
from dalembert.mechanics.principles.kane import generalized_inertia_forces
from dalembert.symbolic.algebra.exact.zero_test import provably_zero
from dalembert.symbolic.algebra.expression_graph import gradient
from laws.along import Along
from laws.cases import NAMES, build

pytestmark = pytest.mark.parametrize("name", NAMES)


def inertia_forces_along_q(along):
    """K_k* = −Σ (m a·r_k + Ḣ·θ_k), with a = r̈ and Ḣ = d(R I Rᵀ ω)/dt from positions and
    rotations.
    """
    t, kin = along.tape, along.kin
    K = [t.zero] * kin.n_q
    for b in kin.system.bodies:
        r = along.r(b.G)
        a = along.each(along.total, along.each(along.total, r))
        for k, q in enumerate(kin.q):
            K[k] = t.sub(K[k], t.mul(b.mass.i, dot3(t, a, along.each(along.partial(q), r))))
        if b.frame is not None:
            H_dot = along.each(
                along.total, along.components(b.inertia @ kin.motion_in_rates.w(b.frame))
            )
            for k, q in enumerate(kin.q):
                K[k] = t.sub(K[k], dot3(t, H_dot, along.theta(b.frame, q)))
    return K


def test_inertia_forces_are_lagranges_operator_on_the_kinetic_energy(name):
    along = Along(da.kinematics(build(name)).fork())
    t, kin = along.tape, along.kin
    T = Quantities(kin).rates.T.value.i
    p, dT_dq = gradient(t, {T: t.one}, kin.qdot), gradient(t, {T: t.one}, kin.q)
    operator = [t.sub(along.total(a), b) for a, b in zip(p, dT_dq, strict=True)]
    assert all(
        provably_zero(
            t, [t.add(K, E) for K, E in zip(inertia_forces_along_q(along), operator, strict=True)]
        )
    )


def body_point(b, i):
    """A point fixed in the body away from its mass centre, and ρ from it to the mass centre."""
    F = b.frame
    rho = Fraction(1, 3 + i) * F.x + Fraction(2, 5) * F.y - Fraction(3, 7) * F.z
    return b.G.offset(-rho, frame=F), rho


def test_moment_balance_about_any_point_of_a_body(name):
    # −F_r* = Σ m a_G·v_P^r + (Ḣ_G + ρ × m a_G)·ω^r = Σ m a_G·v_P^r + (I_P α + ω × I_P ω + ρ × m
    # a_P)·ω^r
    kin = da.kinematics(build(name)).fork()
    t = kin.tape
    with_I_G, with_I_P = (
        list(generalized_inertia_forces(kin)),
        list(generalized_inertia_forces(kin)),
    )
    for i, b in enumerate(kin.system.bodies):
        if b.frame is None:
            P, moments = b.G, None
        else:
            P, rho = body_point(b, i)
            w, alpha = kin.w(b.frame), kin.alpha(b.frame)
            F, square = b.inertia.frame, b.mass * (rho @ rho)
            I_P = (
                b.inertia + inertia(F, square, square, square) + outer_square(rho, F).scale(-b.mass)
            )
            moments = (
                kin.motion.derivative(b.inertia @ w) + rho.cross(b.mass * kin.a(b.G)),
                I_P @ alpha + w.cross(I_P @ w) + rho.cross(b.mass * kin.a(P)),
            )
        force = b.mass * kin.a(b.G)
        for r, v_r in kin.partial_velocities(P)[0].items():
            for total in (with_I_G, with_I_P):
                total[r] = t.add(total[r], (v_r @ force).i)
        for r, w_r in kin.partial_velocities(b.frame)[0].items() if moments is not None else ():
            with_I_G[r] = t.add(with_I_G[r], (w_r @ moments[0]).i)
            with_I_P[r] = t.add(with_I_P[r], (w_r @ moments[1]).i)
    assert all(provably_zero(t, with_I_G + with_I_P))
