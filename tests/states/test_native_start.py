"""The native search for initial conditions against NumPy; Python explains what it refuses."""

import numpy as np
import pytest

import dalembert as da
from dalembert.gallery import (
    andrews_squeezer,
    bricard,
    four_bar,
    free_body_quaternion,
    n_four_bar,
    pendulum_absolute,
    slider_crank,
)
from dalembert.runtime.dynamics.compile import select_equations
from dalembert.runtime.ode.failures import BadStart
from dalembert.runtime.states.assembly import Assembler
from dalembert.runtime.states.constraint_rank import rank_of_rows
from dalembert.runtime.states.evaluator import Evaluator
from dalembert.runtime.states.initial_conditions import solve_initial_conditions
from dalembert.runtime.states.initial_form import initial_form
from dalembert.runtime.states.initial_values import read_conditions
from dalembert.runtime.states.run_values import run_values


def native_and_python(system, given, guess=None):
    """The initial state by native code; positions and speeds by Python, from NumPy's singular
    values.
    """
    kin, _ = select_equations(system, "native")
    chosen = run_values(kin, {}, {})
    kin, values = chosen.kin, chosen.symbol_values_at(0.0)
    native = solve_initial_conditions(kin, given, values, 0.0, guess)
    form = initial_form(kin, given, guess or {}, values, 0.0)
    asked = [each.value for each in read_conditions(Evaluator(kin, values), given, 0.0)]
    p = form.at_position.parameters_of(values)
    q, free, guessed = form.default_q.copy(), np.ones(kin.n_q, bool), np.zeros(kin.n_q, bool)
    for k, at in form.coordinates:
        q[at], free[at] = asked[k], False
    for c in read_conditions(Evaluator(kin, values), guess or {}, 0.0, "guess"):
        at = kin.q.index(c.symbol)
        q[at], guessed[at] = c.value, True
    targets = np.array([row.target for row in form.rows])

    def rows_at(q):
        found = form.at_position.at(np.append(q, 0.0), p)
        return found["r"] - targets, found["J"]

    assembly = Assembler(rows_at, form.structure).solve(q, free, guessed)
    return native, assembly, form.at_position.at(np.append(assembly.q, 0.0), p), form, asked


CASES = [
    (slider_crank.build, {"theta": 0.7, "omega": 3.0}, {"phi": 0.2}),
    (four_bar.build, {four_bar.build().q[0].name: 1.0}, None),
    (
        andrews_squeezer.build,
        {"beta": -0.06},
        {
            k: v
            for k, v in andrews_squeezer.ENTRY.start.items()
            if k != "beta" and not k.endswith("'")
        },
    ),
    (lambda: n_four_bar.build(windows=12), {"phi_0": 0.3, "phi_0'": 1.0}, None),
    (pendulum_absolute.build, dict(pendulum_absolute.ENTRY.start), None),
    (bricard.build, dict(bricard.ENTRY.start), None),
    (free_body_quaternion.build, dict(free_body_quaternion.ENTRY.start), None),
]


@pytest.mark.parametrize(
    ("build", "given", "guess"), CASES, ids=lambda x: getattr(x, "__module__", None)
)
def test_the_native_start_is_that_of_python(build, given, guess):
    native, python, at, form, asked = native_and_python(build(), given, guess)
    size = 1.0 + np.abs(native.y).max()
    assert python.satisfied.all()
    assert np.abs(native.q - python.q).max() <= 1e-12 * size
    # the last steps may be of rounding: for the windows |r| = 5e-10, 3.0e-16, 2.6e-16, 2.4e-16
    assert abs(native.iterations - python.iterations) <= 2
    # C u = d of the given velocities and of rows in augmented form, speeds as given
    given_values = [*(asked[k] for k in form.velocities), *[0.0] * len(form.constraint_rows)]
    assert np.abs(at["C"] @ native.u + at["c"] - given_values).max(initial=0.0) <= 1e-12 * size
    assert all(native.u[r] == asked[k] for k, r in form.given_speeds)
    # what the conditions leave open is not moved: u is orthogonal to it where nothing is given
    if not form.given_speeds and not form.kin.multipliers and len(at["C"]):
        least = np.linalg.lstsq(at["C"], given_values - at["c"], rcond=1e-10)[0]
        assert np.abs(native.u - least).max() <= 1e-11 * size
    # q̇ = W u + X satisfies A q̇ + b = 0
    qdot = at["X"].copy()
    np.add.at(qdot, form.W[0], at["W"] * native.u[form.W[1]])
    assert np.abs(native.qdot - qdot).max() <= 1e-11 * (1.0 + np.abs(qdot).max())
    assert np.abs(at["A"] @ qdot + at["b"]).max(initial=0.0) <= 1e-11 * size
    assert native.rank == rank_of_rows(at["A"]).rank
    assert max(native.position_residual, native.velocity_residual) <= 1e-12 * size


def test_rows_are_satisfied_by_an_independent_evaluation():
    s = slider_crank.build()
    run = da.simulate(s, 1e-3, start={"theta": 0.7, "omega": 3.0}, inputs={"M": 0})
    assert all(np.abs(r[0]) <= 1e-14 for r in run.residuals.values())


def test_what_native_code_refuses_is_explained():
    s = da.System("Pendulum in x and y", gravity=9.81)
    x, y = s.coordinates("x y")
    s.particle("bob", 1, s.O.offset(x * s.N.x + y * s.N.y))
    s.constrain(x**2 + y**2 - 1, "rod")
    with pytest.raises(BadStart, match=r"x = 10, y = 10 contradict 'rod': residual 199"):
        da.simulate(s, 0.1, start={x: 10.0, y: 10.0})


def test_the_same_start_again_has_the_same_bits():
    kin, _ = select_equations(n_four_bar.build(windows=12), "native")
    chosen = run_values(kin, {}, {})
    given = ({"phi_0": 0.3, "phi_0'": 1.0}, {"phi_0": 0.5, "phi_0'": -1.0})
    first, _, again = (
        solve_initial_conditions(chosen.kin, given[k], chosen.symbol_values_at(0.0)).y
        for k in (0, 1, 0)
    )
    assert first.tobytes() == again.tobytes()
