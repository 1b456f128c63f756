"""F_r = −V_q W_r against Σ F·v_r (Mit22 (21), (27)), and Q_k from virtual work (Mei85
(7.40)–(7.42)): gravity and springs.
"""

import pytest

import dalembert as da
from dalembert.mechanics.kinetics.spatial_fields import gravity_potential, weights
from dalembert.symbolic.algebra.exact.zero_test import SamplePoint, provably_zero
from dalembert.symbolic.algebra.expression_graph import gradient
from laws.cases import NAMES, build


@pytest.mark.parametrize("name", NAMES)
def test_weights_do_what_their_potential_does(name):
    kin = da.kinematics(build(name)).fork()
    t = kin.tape
    by_forces = [t.zero] * kin.n_u
    for _, R, P in weights(kin):
        for r, v_r in kin.partial_velocities(P)[0].items():
            by_forces[r] = t.add(by_forces[r], (v_r @ R).i)
    by_potential = [t.zero] * kin.n_u
    for slope, (_, W) in zip(
        gradient(t, {gravity_potential(kin).i: t.one}, kin.q), kin.WX, strict=True
    ):
        for r, w in W.items():
            by_potential[r] = t.sub(by_potential[r], t.mul(slope, w))
    assert all(
        provably_zero(t, [t.sub(a, b) for a, b in zip(by_forces, by_potential, strict=True)])
    )


def pendulums(load):
    """Two pendulums in a turning plane, one of them on a speed of its own, joined by a load that
    `load` declares.
    """
    s = da.System("coupled pendulums", gravity=9.81)
    alpha, beta = s.coordinates("alpha beta")
    m, l, k, l0, c = s.constants(m=1, l=1, k=10, l_0=0.5, c=2)
    gamma = s.specified("gamma")
    A = s.N.rotated(gamma, s.N.y)
    B, C = A.rotated(alpha, A.z), A.rotated(beta, A.z)
    P = s.O.offset(-l * B.y)
    Q = s.O.offset(2 * A.x).offset(-l * C.y)
    s.particle("P", m, P)
    s.particle("Q", m, Q)
    s.speeds(u1=alpha.dot + s.t * beta.dot, u2=beta.dot + da.sin(alpha))
    load(s, P, Q, k, l0, c)
    return s


def same_equations(one, other):
    """Two systems with the same symbols have the same equations at a random point."""
    first, second = da.kane(one), da.kane(other)
    point = SamplePoint(first.tape, 5)
    return point.values(first.equations.residuals) == SamplePoint(
        second.tape, 5, prime=point.prime
    ).values(second.equations.residuals)


def as_spring(s, P, Q, k, l0, c):
    s.spring(k, P, Q, rest=l0)
    s.damper(c, P, Q)


def as_forces(s, P, Q, k, l0, c):
    r = P - Q
    length = da.sqrt(r @ r)
    n = r / length
    s.force(-k * (length - l0) * n, at=P, reaction=Q)
    s.force(-c * ((P.v - Q.v) @ n) * n, at=P, reaction=Q)


def as_dissipation(s, P, Q, k, l0, c):
    length = da.sqrt((P - Q) @ (P - Q))
    s.potential(k * (length - l0) ** 2 / 2)
    s.dissipation(c * length.dot**2 / 2)


@pytest.mark.parametrize("other", [as_forces, as_dissipation])
def test_spring_and_damper_are_their_forces_and_their_functions(other):
    assert same_equations(pendulums(as_spring), pendulums(other))


@pytest.mark.parametrize("load", [as_spring, as_forces, as_dissipation])
def test_lagrange_and_kane_see_the_same_loads(load):
    s = pendulums(load)
    first, second = da.kane(s), da.lagrange(s)
    point = SamplePoint(first.tape, 6)
    assert point.values(first.equations.residuals) == point.on(second.tape).values(
        second.equations.residuals
    )


def test_spring_with_zero_rest_length_needs_no_root():
    s = pendulums(
        lambda s, P, Q, k, l0, c: (s.spring(k, P, Q), s.potential(l0 * c * (P - s.O) @ s.N.x))
    )
    other = pendulums(
        lambda s, P, Q, k, l0, c: (
            s.force(-k * (P - Q), at=P, reaction=Q),
            s.force(-l0 * c * s.N.x, at=P),
        )
    )
    assert same_equations(s, other)
