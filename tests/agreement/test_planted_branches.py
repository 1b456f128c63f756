"""A principle that loses |·|, a sign, the branch of a root or the sign of a term is caught,
whatever the coordinates are called.
"""

from __future__ import annotations

import random
import string
from dataclasses import replace

import pytest

import dalembert as da
from dalembert.mechanics.agreement.agreement_table import certify_equal
from dalembert.mechanics.equations.equations_of_motion import Equations
from dalembert.symbolic.algebra.expression_graph import Substitution, dependencies

RESERVED = {"t", "N", "O"}


def name(rng: random.Random) -> str:
    while True:
        word = "".join(rng.choices(string.ascii_lowercase, k=rng.randint(1, 5))) + rng.choice(
            ["", "1", "_2"]
        )
        if word not in RESERVED and word not in ("m", "k", "c", "mu", "l", "pi", "e"):
            return word


def damped(rng: random.Random) -> da.System:
    """A particle with friction, drag |v| v and a spring with a rest length; a coupling that
    depends on the side.
    """
    s = da.System("damped")
    m, k, c, mu, l = s.constants("m k c mu l")
    first = name(rng)
    second = first + "b"
    x, y = s.coordinates(f"{first} {second}")
    P = s.O.offset(x * s.N.x + y * s.N.y)
    s.particle("P", m, P)
    s.spring(k, P, s.O, rest=l)
    s.force(-(mu * da.sign(x.dot) + c * abs(y.dot) * x.dot) * s.N.x + k * abs(x * y) * s.N.y, P)
    return s


def lost(equations: Equations, kind: str) -> Equations:
    """The equations with one thing wrong."""
    t = equations.tape.fork()
    nodes = {
        op: [i for i in dependencies(t, equations.residuals) if t.nodes[i][0] == op]
        for op in ("abs", "sign", "sqrt")
    }
    if kind == "term":
        row = equations.residuals[1]
        wrong = (equations.residuals[0], t.add(row, t.mul(t.const(2), nodes["abs"][0])))
        return replace(equations, tape=t, residuals=wrong)
    if kind == "two signs":
        a, b = (t.sub(t.call("abs", u), u) for u in equations.u)
        return replace(
            equations,
            tape=t,
            residuals=(t.add(equations.residuals[0], t.mul(a, b)), equations.residuals[1]),
        )
    i = nodes[kind][0]
    instead = {"abs": t.nodes[i][1], "sign": t.one, "sqrt": t.neg(i)}[kind]
    insert = Substitution(t, {i: instead})
    return replace(equations, tape=t, residuals=tuple(insert(r) for r in equations.residuals))


KINDS = ("abs", "sign", "sqrt", "term")


def missed(names: int, seed: int) -> list[tuple[str, str]]:
    rng = random.Random(seed)
    found = []
    for _ in range(names):
        s = damped(rng)
        right = da.kane(s).equations
        found += [
            (str(s.q[0]), kind)
            for kind in KINDS
            if certify_equal(right, lost(right, kind), seed=rng.getrandbits(40)).holds is not False
        ]
    return found


def test_planted_errors_are_caught():
    assert [] == missed(8, 1)


@pytest.mark.slow
def test_eight_hundred_planted_errors_are_caught():
    assert [] == missed(200, 2)


def test_an_error_that_only_shows_where_two_signs_coincide():
    rng = random.Random(3)
    for _ in range(4):
        right = da.kane(damped(rng)).equations
        assert (
            certify_equal(right, lost(right, "two signs"), seed=rng.getrandbits(40)).holds is False
        )


def test_without_an_error_all_principles_agree_with_a_bound():
    found = da.agreement(damped(random.Random(4)), compiled=False)
    assert found.agree, str(found)
    assert 0 < found.bound <= 1e-30
    assert f"seed {found.seed}" in found.statement


def test_the_seed_draws_the_same_points_again():
    right = da.kane(damped(random.Random(5))).equations
    wrong = lost(right, "abs")
    assert (
        certify_equal(right, wrong, seed=11).difference
        == certify_equal(right, wrong, seed=11).difference
    )
    assert (
        certify_equal(right, wrong, seed=11).difference
        != certify_equal(right, wrong, seed=12).difference
    )
