"""Virtual velocities lie in every constraint plane (Gre03 (4.13)); u = Ψ q̇ + ψ and q̇ = W u + X
are inverse to each other (Bar00 (22)–(25), (37)); two choices of Ψ give the same motion (Gre03
after (4.19)).
"""

from dataclasses import replace
from fractions import Fraction

import pytest

import dalembert as da
from dalembert.symbolic.algebra.exact.zero_test import SamplePoint, provably_zero, solve_mod
from dalembert.symbolic.algebra.expression_graph import Substitution
from laws.cases import NAMES, build

pytestmark = pytest.mark.parametrize("name", NAMES)


def test_virtual_velocities_lie_in_every_constraint_plane(name):
    # A W = 0
    kin = da.kinematics(build(name)).fork()
    t = kin.tape
    products = []
    for row in kin.rows:
        for r in range(kin.n_u):
            total = t.zero
            for k, a in row.A.items():
                total = t.add(total, t.mul(a, kin.WX[k][1].get(r, t.zero)))
            products.append(total)
    assert all(provably_zero(t, products))


def test_velocities_satisfy_every_constraint_row(name):
    # A X + b = 0
    kin = da.kinematics(build(name)).fork()
    t = kin.tape
    totals = []
    for row in kin.rows:
        total = row.b
        for k, a in row.A.items():
            total = t.add(total, t.mul(a, kin.WX[k][0]))
        totals.append(total)
    assert all(provably_zero(t, totals))


def test_accelerations_satisfy_the_differentiated_rows(name):
    # A q̈ + Ȧ q̇ + ḃ = 0 for every u̇
    kin = da.kinematics(build(name)).fork()
    t = kin.tape
    rows = []
    for row in kin.rows:
        total = row.b
        for k, a in row.A.items():
            total = t.add(total, t.mul(a, kin.qdot_of_u[k]))
        rows.append(kin.rate(total))
    assert all(provably_zero(t, rows))


def test_definitions_give_back_the_speeds(name):
    # Ψ (W u + X) + ψ = u
    kin = da.kinematics(build(name)).fork()
    t = kin.tape
    in_u = Substitution(t, dict(zip(kin.qdot, kin.qdot_of_u, strict=True)))
    assert all(
        provably_zero(t, [t.sub(in_u(e), u) for e, u in zip(kin.definitions, kin.u, strict=True)])
    )


def test_partial_velocities_add_up_to_the_velocity(name):
    # v = Σ v_r u_r + v_t, ω alike (Bar00 (27))
    kin = da.kinematics(build(name)).fork()
    t, N = kin.tape, kin.system.N
    different = []
    for b in kin.system.bodies:
        for place, whole in (
            (b.G, kin.v(b.G)),
            (b.frame, None if b.frame is None else kin.w(b.frame)),
        ):
            if whole is not None:
                parts, total = kin.partial_velocities(place)
                for r, v_r in parts.items():
                    total = total + v_r.scale(kin.u[r])
                different += (whole - total).components(N)
    assert all(provably_zero(t, different))


def with_other_speeds(s):
    """The same system with each independent speed replaced by a combination of all of them,
    shifted by a function of q and t.
    """
    kin = da.kinematics(s)
    definitions = [
        da.Scalar(s.space.tape, e) if e < len(s.space.tape) else kin.scalar(e)
        for e in kin.definitions
    ]
    mixed = []
    for r, e in enumerate(definitions):
        shift = s.q[0] * s.t / 7 + s.t**2 * (r + 1)
        others = sum((Fraction(1, 2 + r + k) * x for k, x in enumerate(definitions)), shift)
        mixed.append((r + 2) * e + others)
    if not s.speed_list:
        s.speeds(**{f"w_{r + 1}": e for r, e in enumerate(mixed)})
        return s
    independent = {kin.name(u): r for r, u in enumerate(kin.u)}
    for k, speed in enumerate(s.speed_list):
        if speed.name in independent:
            new = da.Scalar(s.space.tape, s.space.tape.zero) + mixed[independent[speed.name]]
            s.speed_list[k] = replace(speed, definition=new, of=None, along=None)
    s.cached = None
    return s


def accelerations(d, point):
    """q̈ from M u̇ = f at a point of the field, where u has been fixed."""
    kin, equations = d.kinematics, d.equations
    M = [[point(row[k]) if k in row else 0 for k in range(kin.n_u)] for row in equations.mass_nodes]
    udot = solve_mod(M, point.values(equations.forcing_nodes), point.prime)
    here = point.on(d.tape, given=dict(point._given) | dict(zip(kin.udot, udot, strict=True)))
    return here.values(kin.qddot_of_u)


@pytest.mark.each_time(18)
def test_two_choices_of_speeds_give_the_same_motion(name):
    s = build(name)
    first = da.kane(s)
    second = da.kane(with_other_speeds(s))
    start = SamplePoint(first.tape, 77)
    qdot = start.values(first.kinematics.qdot_of_u)
    # the second speeds at the same q and q̇, from their definitions
    kin = second.kinematics
    speeds = start.on(second.tape, given=dict(zip(kin.qdot, qdot, strict=True))).values(
        kin.definitions
    )
    other = start.on(second.tape, given=dict(zip(kin.u, speeds, strict=True)))
    assert qdot == other.values(kin.qdot_of_u)
    assert speeds != start.values(first.kinematics.u)
    assert accelerations(first, start) == accelerations(second, other)
