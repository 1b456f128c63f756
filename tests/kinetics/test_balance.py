"""Reactions, multipliers and row forces balance every body and any part of a system, with m a
and Ḣ from differences of r and R.
"""

import random

import mpmath
import numpy as np
import pytest

import dalembert as da
from dalembert import gallery
from dalembert.errors import BadDescription
from dalembert.mechanics.kinetics.balance import BalanceEquations
from dalembert.mechanics.kinetics.constraint_actions import multipliers, reaction_rows
from dalembert.runtime.simulation.reactions.run_reactions import evaluate_with_multipliers
from dalembert.symbolic.algebra.arithmetic import FloatArithmetic
from dalembert.symbolic.algebra.expression_graph import evaluate, symbols_of

# no wrenches: a row that is not linear in the velocities; two wheels that share the friction of one
# row
REFUSED = {"appell-hamel", "two-wheeled-robot"}
RIGID = [
    name for name in gallery.names() if name not in REFUSED and not gallery.build(name).members
]
H = mpmath.mpf(10) ** -15


class Digits(FloatArithmetic):
    """Sixty of them."""

    def const(self, value):
        return mpmath.mpf(value.numerator) / value.denominator

    def pi(self):
        return +mpmath.pi

    def call(self, function, a, node):
        return (
            abs(a)
            if function == "abs"
            else mpmath.sign(a)
            if function == "sign"
            else getattr(mpmath, function)(a)
        )


def second_difference(run, nodes):
    """d²/dt² of nodes in q, t and prescribed motions at the last time, and their values there."""
    t, system = run.kinematics.tape, run.system
    names = {i: str(t.nodes[i][1]) for i in symbols_of(t, nodes)}
    moving = {
        i: [run[f"{n}{rate}"][-1] for rate in ("", ".dot", ".dot.dot")]
        for i, n in names.items()
        if i in t.moving and n != "t"
    }

    def at(h):
        def symbol(i):
            if i in moving:
                x, v, a = map(mpmath.mpf, moving[i])
                return x + v * h + a * h**2 / 2
            if names[i] == "t":
                return mpmath.mpf(float(run.t[-1])) + h
            return Digits().const(system.symbols[names[i]].value)

        return evaluate(t, nodes, symbol, Digits())

    with mpmath.workdps(60):
        before, now, after = at(-H), at(mpmath.mpf(0)), at(H)
        return [
            float((x - 2 * y + z) / H**2) for x, y, z in zip(before, now, after, strict=True)
        ], [float(y) for y in now]


def inertia(run, body):
    """r_G, m r̈ and Ḣ = Σ J_ij e_i × ë_j, J = ½ tr I − I, in numbers along N."""
    t, s = run.kinematics.tape, run.system
    place = list((body.G - s.O).on(t).components(s.N))
    axes = (
        []
        if body.frame is None
        else [c for axis in zip(*body.frame.dcm_nodes(t), strict=True) for c in axis]
    )
    entries = [] if body.frame is None else list(body.inertia.to(body.frame).entries())
    second, now = second_difference(run, [*place, *axes, *entries, body.mass.i])
    r, a, m = np.array(now[:3]), np.array(second[:3]), now[-1]
    if body.frame is None:
        return r, m * a, np.zeros(3)
    e, acc = np.array(now[3:12]).reshape(3, 3), np.array(second[3:12]).reshape(3, 3)
    xx, yy, zz, xy, yz, xz = now[12:18]
    I = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    J = np.trace(I) / 2 * np.eye(3) - I
    return r, m * a, sum(J[i, j] * np.cross(e[i], acc[j]) for i in range(3) for j in range(3))


def whole_groups(groups, bodies):
    """The bodies, and whatever is fixed to them."""
    return [
        b for b in groups.of_body if any(groups.of_body[b] is groups.of_body[x] for x in bodies)
    ]


@pytest.mark.each_time(12)
@pytest.mark.parametrize("name", RIGID)
def test_every_body_and_three_parts_are_balanced(name):
    entry = gallery.entry(name)
    run = da.simulate(
        entry.build(), 0.05, start=dict(entry.start), inputs=dict(entry.inputs), progress=False
    )
    kin = run.kinematics.fork()
    balances = BalanceEquations(kin)
    found = run.reactions.rows
    lam = np.array(
        [
            np.zeros(len(run)) if row.is_norm else found[row.name].multiplier
            for row in reaction_rows(kin)
        ]
    ).reshape(-1, len(run))
    measured = {b: inertia(run, b) for b in kin.system.bodies}
    draw = random.Random(name)
    moving = [
        b for b in kin.system.bodies if balances.groups.of_body[b] is not balances.groups.ground
    ]
    parts = [[b] for b in moving] + [
        draw.sample(moving, draw.randint(1, len(moving))) for _ in range(3)
    ]
    for part in parts:
        bodies, P = whole_groups(balances.groups, part), draw.choice(kin.system.bodies).G
        r_P = measured[next(b for b in kin.system.bodies if b.G is P)][0]
        balance = balances.for_bodies(bodies, P)
        needed = np.concatenate(
            [
                sum(measured[b][1] for b in bodies),
                sum(
                    measured[b][2] + np.cross(measured[b][0] - r_P, measured[b][1]) for b in bodies
                ),
            ]
        )
        got = [
            (balance.loads.force, balance.loads.moment),
            (balance.reactions.force, balance.reactions.moment),
        ]
        nodes = [c for pair in got for v in pair for c in v.components(kin.system.N)]
        symbols = dict(zip(multipliers(kin), lam, strict=True))
        loads, reactions = np.array(evaluate_with_multipliers(run, kin.tape, nodes, symbols))[
            :, -1
        ].reshape(2, 6)
        scale = max(np.abs(needed).max(), np.abs(loads).max(), np.abs(reactions).max())
        assert loads + reactions == pytest.approx(needed, abs=1e-9 * scale)


def test_any_part_about_any_point_and_what_is_none():
    s = gallery.build("double-pendulum")
    P = s.bodies[1].tip
    whole = da.balance(s, s.bodies, about=P)
    assert ("upper rod", "lower rod") == whole.bodies
    with pytest.raises(BadDescription, match="'third' is no body of this system"):
        da.balance(s, ["third"], about=P)
    with pytest.raises(BadDescription, match="no body is named"):
        da.balance(s, [], about=P)


def test_moments_about_any_point_give_the_same_motion():
    s = gallery.build("double-pendulum")
    plain = da.newton_euler(s)
    other = da.newton_euler(s, about={"upper rod": s.O, s.bodies[1]: s.bodies[0].tip})
    assert plain.steps[1].items[2].value != other.steps[1].items[2].value
    for d in (plain, other):
        assert "μ" not in str(d.equations)
    assert str(plain.equations) == str(other.equations)
    with pytest.raises(BadDescription, match="names no body of this system"):
        da.newton_euler(s, about={"third": s.O})
