"""144 pairs of equations, twelve errors planted in each of twelve systems: none agree."""

from __future__ import annotations

from dataclasses import replace

import pytest

import dalembert as da
from dalembert.gallery import build
from dalembert.mechanics.agreement.agreement_table import certify_equal
from dalembert.symbolic.algebra.expression_graph import Substitution

SYSTEMS = (
    "simple-pendulum",
    "double-pendulum",
    "spherical-pendulum",
    "cart-and-bar",
    "bead-on-hoop",
    "lagrange-top",
    "chaplygin-sleigh",
    "knife-edge-rod",
    "rolling-disk",
    "snakeboard",
    "atwood-machine",
    "suslov",
)
SMALL = 10**9


# each gives the rows with one thing wrong, from the rows r, coordinates q, speeds u, rates a
ERRORS = {
    "an entry of the mass matrix": lambda r, q, u, a: [r[0] + a[-1] / SMALL, *r[1:]],
    "a lost gyroscopic term": lambda r, q, u, a: [*r[:-1], r[-1] + u[0] * u[-1] / SMALL],
    "a constant load": lambda r, q, u, a: [r[0] + da.sqrt(2) / SMALL**2, *r[1:]],
    "sin x for x": lambda r, q, u, a: [*r[:-1], r[-1] + (da.sin(q[0]) - q[0]) / SMALL],
    "x for |x|": lambda r, q, u, a: [r[0] + abs(u[0]) - u[0], *r[1:]],
    "the branch of a root": lambda r, q, u, a: [r[0] + da.sqrt(u[0] ** 2) + u[0], *r[1:]],
    "a damper": lambda r, q, u, a: [*r[:-1], r[-1] + u[-1] / SMALL],
    "a dropped row": lambda r, q, u, a: [0 * r[0], *r[1:]],
    "an acceleration for a speed": lambda r, q, u, a: [r[0] + (a[0] - u[0]) / SMALL, *r[1:]],
    "an error far away": lambda r, q, u, a: [
        r[0] + abs(q[0] - 100) + (q[0] - 100),
        *r[1:],
    ],
    "a wave in time": None,
    "a factor of all loads": None,
}


def planted(system, eq, error):
    """The equations with one error."""
    t = eq.tape.fork()
    r, q, u, a = ([da.Scalar(t, i) for i in nodes] for nodes in (eq.residuals, eq.q, eq.u, eq.udot))
    if error == "a wave in time":
        rows = [r[0] + da.sin(da.Scalar(t, system.t.i)) / SMALL, *r[1:]]
    elif error == "a factor of all loads":
        still = Substitution(t, dict.fromkeys(eq.udot, t.zero))
        rows = [row + da.Scalar(t, still(row.i)) / SMALL for row in r]
    else:
        rows = ERRORS[error](r, q, u, a)
    return replace(eq, tape=t, residuals=tuple(row.i for row in rows))


@pytest.mark.parametrize("name", SYSTEMS)
def test_no_pair_with_an_error_agrees(name):
    system = build(name)
    eq = da.kane(system).equations
    verdicts = {
        error: certify_equal(eq, planted(system, eq, error), seed=k).holds
        for k, error in enumerate(ERRORS)
    }
    assert 12 == len(verdicts)
    # an error beyond the region of the samples is left undecided
    assert {"an error far away": None} == {
        e: holds for e, holds in verdicts.items() if holds is not False
    }
    # twice the same equations, written in another way, do agree
    t = eq.tape.fork()
    doubled = tuple(t.mul(t.const(2), t.neg(r)) for r in eq.residuals)
    assert certify_equal(eq, replace(eq, tape=t, residuals=doubled)).holds
