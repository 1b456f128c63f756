"""Independent speeds and all rates with rows saddle_equations them: two routes to one
acceleration, on every system with rows.
"""

import numpy as np
import pytest

import dalembert as da
from dalembert import gallery
from dalembert.mechanics.kinematics.system_kinematics import unreduced_kinematics
from dalembert.runtime.dynamics.compile import forward_dynamics, saddle_equations
from dalembert.runtime.simulation.model import native_model
from dalembert.runtime.states.evaluator import Evaluator
from dalembert.runtime.states.run_values import parameter_vector, run_values


def held(name):
    """Rows that determine the rates everywhere, and no quaternion, whose spins are no rates."""
    kin = da.kinematics(gallery.build(name))
    return (
        any(not row.is_norm for row in kin.rows)
        and not kin.nonlinear
        and not kin.redundant
        and kin.n_q == unreduced_kinematics(kin).n_u
    )


NAMES = [name for name in gallery.names() if held(name)]


def rates_of(kin, equations, inputs):
    chosen = run_values(kin, {}, inputs)
    model = native_model(chosen, equations)
    return chosen, model.rates, np.array(parameter_vector(chosen, model.parameters), dtype=float)


@pytest.mark.each_time(8)
@pytest.mark.parametrize("name", NAMES)
def test_accelerations_by_elimination_and_by_orthogonal_factors(name):
    system, inputs = gallery.build(name), gallery.entry(name).inputs
    kin = da.kinematics(system)
    chosen, rates, p = rates_of(kin, forward_dynamics(system), inputs)
    _, all_kept, p_all = rates_of(*saddle_equations(unreduced_kinematics(kin)), inputs)
    evaluator = Evaluator(chosen.kin, chosen.numbers, chosen.bindings)
    random = np.random.default_rng(4)
    for _ in range(3):
        q, u, t = random.uniform(0.2, 0.9, kin.n_q), random.uniform(-1, 1, kin.n_u), 0.3
        found = rates.call(np.array([*q, *u, t]), p)
        qdot, udot = found[: kin.n_q], found[kin.n_q :]
        state = {
            **dict(zip((*kin.q, *kin.u, *kin.udot), (*q, *u, *udot), strict=True)),
            evaluator.time: t,
        }
        expected = evaluator.values_at([evaluator.in_state(i) for i in evaluator.kin.qddot], state)
        # rates that satisfy the rows, at positions that need not
        actual = all_kept.call(np.array([*q, *qdot, t]), p_all)
        assert np.abs(actual[: kin.n_q] - qdot).max() <= 1e-12 * np.abs(qdot).max(initial=1.0)
        assert np.abs(actual[kin.n_q :] - expected).max() <= 1e-7 * np.abs(expected).max(
            initial=1.0
        )
