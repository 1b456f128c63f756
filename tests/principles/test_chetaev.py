"""Rows φ(q, q̇, t) = 0 that are not linear in the velocities, by Chetaev's rule."""

from dataclasses import replace

import numpy as np
import pytest

import dalembert as da
from dalembert import exp, sin, sqrt
from dalembert.analysis.integrals.identity_test import MotionIdentityTest
from dalembert.errors import IllPosed, NotApplicable
from dalembert.gallery import appell_hamel
from dalembert.mechanics.agreement.agreement_table import certify_equal
from dalembert.mechanics.agreement.principle_registry import PRINCIPLES
from dalembert.runtime.ode.failures import BadStart
from dalembert.symbolic.algebra.scalar import Scalar, as_node

TREATING = {"kane", "gauss", "lagrange", "dalembert"}
TIGHT = {"rtol": 1e-12, "atol": 1e-12}


def particle(name="particle"):
    s = da.System(name, gravity=9.81, up="z")
    x, y, z = s.coordinates("x y z")
    s.particle("P", 2, s.O.offset(x * s.N.x + y * s.N.y + z * s.N.z, "P"))
    return s, x, y, z


# ---- Appell–Hamel --------------------------------------------------------------------------------


@pytest.mark.parametrize("k", [0.5, 2.0])
def test_appell_and_hamel(k):
    run = da.simulate(
        appell_hamel.build(k=k),
        2,
        start={"x.dot": 0.6 * k, "y.dot": 0.8 * k, "z.dot": -1.0},
        **TIGHT,
    )
    # z̈ = −g/(1 + k²), a straight path seen from above, and T + V as at the start
    assert np.abs(run["z.dot.dot"] + 9.81 / (1 + k * k)).max() <= 1e-12
    assert np.abs(run["z"] - (-run.t - 9.81 / (1 + k * k) * run.t**2 / 2)).max() <= 1e-10
    assert np.abs(4 * run["x"] - 3 * run["y"]).max() <= 1e-12
    assert run.conserves_energy
    assert np.ptp(run.energy) <= 1e-11
    assert np.abs(run["x.dot**2 + y.dot**2 - k**2*z.dot**2"]).max() <= 1e-10


@pytest.mark.parametrize("name", sorted(TREATING))
def test_the_acceleration_is_that_of_the_book_by_every_principle(name):
    # (ẋ² + ẏ² + k⁴ ż²) z̈ = −g (ẋ² + ẏ²) on any state, which on the row is z̈ = −g/(1 + k²)
    derive = {p.name: d for p, d in PRINCIPLES}[name]
    d = derive(appell_hamel.build())
    s = d.kinematics.system
    tape = d.tape.fork()
    e = as_node(tape, s.expression("(x'**2 + y'**2 + k**4*z'**2)*z'' + g*(x'**2 + y'**2)"))
    wrong = as_node(tape, s.expression("(x'**2 + y'**2 + k**4*z'**2)*z'' + g*(x'**2 - y'**2)"))
    assert [True, False] == MotionIdentityTest(tape, d.equations).are_zero(
        [Scalar(tape, e), Scalar(tape, wrong)]
    )


def test_principles_that_treat_it_agree_and_the_others_say_why_not():
    table = da.agreement(appell_hamel.build())
    assert table.agree
    assert TREATING == {row.principle.name for row in table.rows if row.applicable}
    for row in table.rows:
        assert (
            row.applicable or "'slope of the path' is not linear in the velocities" in row.why_not
        )


def test_the_assumption_is_stated():
    for derive in (da.kane, da.gauss, da.lagrange, da.dalembert):
        steps = {step.title: step for step in derive(appell_hamel.build()).steps}
        assert "An assumption" in steps["Rows nonlinear in the velocities"].why
        assert "Chetaev" in steps["Rows nonlinear in the velocities"].why


# ---- a linear row in disguise, and rows of all kinds together ------------------------------------


def test_a_linear_row_in_disguise_gives_the_same_motion():
    runs = []
    for disguise in (lambda e: e, sin):
        s, x, y, z = particle()
        s.constrain(disguise(y.dot - z * x.dot), "blade")
        runs.append(
            da.simulate(
                s,
                1.5,
                start={"z": 0.2, "x.dot": 1, "y.dot": 0.2, "z.dot": 0.7},
                at=[0.5, 1.5],
                **TIGHT,
            )
        )
    assert [False, True] == [bool(da.kinematics(r.system).nonlinear) for r in runs]
    for q in ("x", "y", "z"):
        assert np.abs(runs[0][q] - runs[1][q]).max() <= 1e-9


def mixed():
    """On a sphere that grows, across a blade, at a speed that is prescribed: holonomic, linear
    and nonlinear rows.
    """
    s, _, _, z = particle("mixed")
    w, c = s.coordinates("w c")
    Q = s.O.offset(w * s.N.x + c * s.N.y, "Q")
    s.particle("Q", 3, Q)
    P = s.bodies[0].G
    s.distance(P, s.O, 1 + s.t / 10)
    s.constrain(c.dot - w * z.dot, "blade")
    s.constrain(P.v @ P.v - 4 - sin(s.t) * w, "speed")
    s.spring(3, P, Q)
    return s


def test_rows_of_all_kinds_agree_and_are_held():
    s = mixed()
    table = da.agreement(s)
    assert table.agree, str(table)
    assert TREATING == {row.principle.name for row in table.rows if row.applicable}
    run = da.simulate(s, 2, start={"x": 1, "w": 0.3}, guess={"y.dot": 2.0}, rtol=1e-11, atol=1e-11)
    assert max(np.abs(r).max() for r in run.residuals.values()) <= 1e-10
    assert not run.conserves_energy
    assert run.integrals.relative_drift <= 1e-9


def test_a_rate_that_is_forgotten_is_noticed():
    good = da.kane(mixed()).equations
    tape = good.tape.fork()
    # γ of the last row holds ∂φ/∂t = −w cos t
    wrong = replace(
        good, tape=tape, residuals=(*good.residuals[:-1], tape.add(good.residuals[-1], good.q[3]))
    )
    assert certify_equal(good, good).holds
    assert not certify_equal(good, wrong).holds


def test_rows_that_say_the_same_are_refused():
    s, x, _, z = particle()
    s.constrain(x.dot**2 - z.dot**2, "first")
    s.constrain(2 * x.dot**2 - 2 * z.dot**2, "second")
    with pytest.raises(
        IllPosed, match="'second': at velocity level it follows from the other constraint rows"
    ):
        da.kane(s)


def test_speeds_are_counted_without_it():
    s, x, y, z = particle()
    s.constrain(x.dot**2 + y.dot**2 - z.dot**2, "slope")
    s.speeds(u=x.dot, v=y.dot)
    with pytest.raises(
        IllPosed,
        match=r"2 speeds and no constraint rows \(without 'slope', which eliminates no speed\): "
        r"add 1 speed",
    ):
        da.kane(s)
    s.speeds(w=z.dot - x)
    assert da.agreement(s).agree


@pytest.mark.parametrize(
    ("row", "start"),
    [
        (lambda s, x, y, z: z.dot + sqrt(x.dot**2 + y.dot**2 + 1) / 3, {"x.dot": 1}),
        (lambda s, x, y, z: z.dot - exp(-x.dot) * (1 + x**2), {"x.dot": 1, "y.dot": 1}),
        (
            lambda s, x, y, z: x.dot**2 + y.dot**2 + z.dot**2 - s.specified("w", 2 + sin(s.t)) ** 2,
            {"x.dot": 1, "y.dot": 1},
        ),
    ],
    ids=["root", "exponential", "specified speed"],
)
def test_any_function_of_the_velocities(row, start):
    s, x, y, z = particle()
    s.constrain(row(s, x, y, z), "row")
    assert da.agreement(s).agree
    run = da.simulate(s, 1, start=start, **TIGHT)
    assert run.worst_residual <= 1e-12
    assert not run.conserves_energy
    assert run.integrals.relative_drift <= 1e-11


def test_elsewhere_it_is_refused_by_name():
    with pytest.raises(
        NotApplicable, match="equilibrium: 'slope of the path' is not linear in the velocities"
    ):
        da.equilibrium(appell_hamel.build())


# ---- start ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(("guess", "expected"), [({}, 0.5), ({"z.dot": -1}, -0.5)])
def test_the_start_solves_the_row_on_the_branch_that_is_guessed(guess, expected):
    run = da.simulate(appell_hamel.build(), 0.1, start={"x.dot": 0.6, "y.dot": 0.8}, guess=guess)
    assert expected == pytest.approx(run["z.dot"][0], abs=1e-14)


@pytest.mark.parametrize(
    ("start", "guess", "message"),
    [
        (
            {"x.dot": 2, "z.dot": -0.5},
            {},
            r"x.dot = 2, z.dot = -0.5 contradict 'slope of the path': least-squares residual",
        ),
        (
            {},
            {},
            (
                r"'slope of the path' cannot be satisfied from this state: its slope in the "
                r"velocities vanishes here"
            ),
        ),
        (
            {"x.dot": 1},
            {"x.dot": 2},
            (
                r"guess: x.dot is not a speed that a row nonlinear in the rates determines; "
                r"give it in "
                r"the start"
            ),
        ),
        ({"x.dot": float("nan")}, {}, r"start: x.dot = nan is not finite"),
    ],
)
def test_impossible_starts(start, guess, message):
    with pytest.raises(BadStart, match=message):
        da.simulate(appell_hamel.build(), 0.1, start=start, guess=guess)
