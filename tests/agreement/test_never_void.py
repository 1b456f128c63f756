"""The certificate is never void: decimal angles, springs with a rest length, gravitating bodies,
a robot's table.
"""

from __future__ import annotations

import random

import pytest

import dalembert as da


def shown(system: da.System) -> None:
    found = da.agreement(system, compiled=False)
    assert found.agree, str(found)
    assert not found.undecided
    assert 0 < found.bound <= 1e-30
    assert f"< {found.bound:.0e}" in found.statement


def net(count: int) -> da.System:
    """Particles in a plane, each tied to each by a spring with a rest length."""
    s = da.System("net")
    points = []
    for i in range(count):
        x, y = s.coordinates(f"x{i} y{i}")
        points.append(s.O.offset(x * s.N.x + y * s.N.y))
        s.particle(f"p{i}", 1 + i, points[-1])
    for i in range(count):
        for j in range(i):
            s.spring(3 + i + j, points[i], points[j], rest=1 + i / 10)
    return s


def tied(count: int) -> da.System:
    """One particle on springs with rest lengths, anchored at typed places."""
    s, rng = da.System("tied"), random.Random(3)
    x, y, z = s.coordinates("x y z")
    P = s.O.offset(x * s.N.x + y * s.N.y + z * s.N.z)
    s.particle("p", s.constant("m"), P)
    for _ in range(count):
        a, b, c, k, l = (round(rng.uniform(0.1, 2), 3) for _ in range(5))
        s.spring(k, P, s.O.offset(a * s.N.x - b * s.N.y + c * s.N.z), rest=l)
    return s


def bodies(count: int) -> da.System:
    """V = −Σ G m_i m_j / r_ij"""
    s = da.System("bodies")
    (G,) = s.constants("G")
    points = []
    for i in range(count):
        x, y, z = s.coordinates(f"x{i} y{i} z{i}")
        m = s.constant(f"m{i}")
        points.append((s.O.offset(x * s.N.x + y * s.N.y + z * s.N.z), m))
        s.particle(f"b{i}", m, points[-1][0])
    V = 0 * G
    for i, (P, m) in enumerate(points):
        for Q, n in points[:i]:
            r = P - Q
            V = V - G * m * n / da.sqrt(r @ r)
    s.potential(V)
    return s


def arm(joints: int, seed: int = 5) -> da.System:
    """Joints typed from a table: twists, offsets and zero angles as decimals, some of them
    rounded quarter turns.
    """
    s, rng = da.System("arm", gravity=9.81), random.Random(seed)
    F, P = s.N, s.O
    for k in range(joints):
        (q,) = s.coordinates(f"q{k}")
        twist = rng.choice(
            [-1.57079632679, 1.5707963267948966, 1.5708, 3.14159, round(rng.uniform(-1, 1), 5)]
        )
        A = F.rotated(twist, F.x, f"A{k}")
        B = A.rotated(q + round(rng.uniform(-1, 1), 4), A.z, f"B{k}")
        P = P.offset(round(rng.uniform(0, 0.4), 3) * F.x + round(rng.uniform(0, 0.4), 4) * A.z)
        G = P.offset(
            round(rng.uniform(-0.1, 0.1), 4) * B.x + round(rng.uniform(-0.1, 0.1), 4) * B.z
        )
        moments = (round(rng.uniform(0.05, 0.09), 4) for _ in range(3))
        s.body(f"l{k}", round(rng.uniform(1, 5), 3), G, B, da.inertia(B, *moments))
        F = B
    return s


def driven(seed: int) -> da.System:
    """A small system with decimal angles, and decimal multiples of coordinates and of time."""
    s, rng = da.System("driven", gravity=9.81), random.Random(seed)
    F, P = s.N, s.O
    for k in range(rng.randint(1, 3)):
        (q,) = s.coordinates(f"q{k}")
        ratio, speed, zero = (round(rng.uniform(0.1, 4), rng.randint(1, 9)) for _ in range(3))
        B = F.rotated(ratio * q + speed * s.t + zero, rng.choice([F.x, F.y, F.z]), f"B{k}")
        B = B.rotated(rng.uniform(-3, 3), rng.choice([B.x, B.y, B.z]), f"C{k}")
        P = P.offset(round(rng.uniform(0.1, 2), 4) * B.x)
        s.body(f"b{k}", round(rng.uniform(1, 5), 3), P, B, da.inertia(B, 0.07, 0.08, 0.09))
        F = B
    return s


def test_twenty_eight_springs_with_a_rest_length():
    shown(net(8))


def test_twenty_springs_on_one_particle():
    shown(tied(20))


def test_an_arm_of_seven_joints_typed_from_a_table():
    shown(arm(7))


def test_eight_gravitating_bodies():
    shown(bodies(8))


@pytest.mark.slow
def test_twenty_gravitating_bodies():
    shown(bodies(20))


def test_random_systems_with_decimal_angles():
    for seed in range(10):
        shown(driven(seed))


@pytest.mark.slow
def test_a_hundred_random_systems_with_decimal_angles():
    for seed in range(100):
        shown(driven(seed))


def test_a_wrong_sign_is_seen_with_decimal_angles():
    from dataclasses import replace

    from dalembert.mechanics.agreement.agreement_table import certify_equal

    right = da.kane(arm(3)).equations
    t = right.tape.fork()
    wrong = replace(
        right,
        tape=t,
        residuals=(
            t.neg(right.residuals[0]),
            t.add(right.residuals[1], right.residuals[0]),
            *right.residuals[2:],
        ),
    )
    assert certify_equal(right, wrong).holds
    u = right.u[0]
    wrong = replace(
        right,
        tape=t,
        residuals=(t.add(right.residuals[0], t.mul(t.const(1), u)), *right.residuals[1:]),
    )
    assert certify_equal(right, wrong).holds is False


def test_a_root_that_a_vanishing_constant_leaves_unreal_does_not_hang():
    s = da.System("slider")
    a, b, m, w, k = s.constants("a b m omega k")
    (y,) = s.coordinates("y")
    x = a * da.cos(w * s.t) + da.sqrt(b**2 - a**2 * da.sin(w * s.t) ** 2)
    s.particle("slider", m, s.O.offset(x * s.N.x + y * s.N.y))
    s.potential(k * y**2 / 2)
    found = da.energy_integrals(s)
    assert not found.undecided
    assert 0 < found.bound <= 1e-30
    assert found["E"].constant
    assert found["𝓗"].condition == "a = 0, or ω = 0"
