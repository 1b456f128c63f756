"""The native search for starts against the one in Python, which explains what the native one
refuses.
"""

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
from dalembert.runtime.states import initial_conditions as starts
from dalembert.runtime.states.initial_conditions import solve_initial_conditions
from dalembert.runtime.states.initial_form import InitialForm
from dalembert.runtime.states.run_values import run_values


def both(monkeypatch, system, given, guess=None, inputs=None):
    """The start by native code, and the one by Python."""
    kin, _ = select_equations(system, "native")
    chosen = run_values(kin, {}, inputs or {})
    arguments = (chosen.kin, given, chosen.symbol_values_at(0.0), 0.0, guess)
    with monkeypatch.context() as m:
        # Python must not be asked
        m.setattr(starts, "_assemble_positions", None)
        native = solve_initial_conditions(*arguments)
    with monkeypatch.context() as m:
        m.setattr(InitialForm, "is_native", False)
        return native, solve_initial_conditions(*arguments)


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
def test_the_native_start_is_that_of_python(monkeypatch, build, given, guess):
    native, python = both(monkeypatch, build(), given, guess)
    size = 1.0 + np.abs(python.y).max()
    assert np.abs(native.y - python.y).max() <= 1e-12 * size
    assert np.abs(native.qdot - python.qdot).max() <= 1e-11 * (1.0 + np.abs(python.qdot).max())
    assert (native.rank, native.n_rows) == (python.rank, python.n_rows)
    # the last steps may be of rounding: for the windows |r| = 5e-10, 3.0e-16, 2.6e-16, 2.4e-16
    assert abs(native.iterations - python.iterations) <= 2
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
