"""The slices of a state vector cover it once, and runs read their quantities by them."""

import numpy as np
import pytest

import dalembert as da
from dalembert.mechanics.kinematics.state_layout import StateLayout


@pytest.mark.parametrize("k", [0, 3])
@pytest.mark.parametrize("sizes", [(2, 0, 0, 1), (3, 2, 4, 2), (0, 1, 0, 0)])
def test_every_number_belongs_to_one_slice(sizes, k):
    layout = StateLayout(*sizes, n_sensitivities=k)
    y = np.arange(layout.size * (1 + k) + 5)
    inputs = y[layout.x_and_inputs][layout.n_x :]
    parts = [y[layout.q], y[layout.x], inputs, y[layout.u]]
    parts += [*(y[layout.sensitivity(j)] for j in range(k)), y[layout.quadratures]]
    assert list(y) == list(np.concatenate(parts))
    assert list(y[layout.sensitivities]) == list(np.concatenate([[], *parts[4:-1]]))
    assert sum(sizes) - sizes[2] == len(layout.without_inputs)
    for j in range(k):
        assert list(y[layout.sensitivity(j)][layout.u]) == list(y[layout.speed_sensitivity(j)])


def test_a_run_with_states_inputs_and_quadratures_reads_each():
    s = da.System("Cart")
    (x,) = s.coordinates("x")
    (c,) = s.constants(c=2.0)
    F = s.input("F")
    z = s.state("z")
    s.rate(z, x.dot - z)
    s.particle("cart", 1, s.O.offset(x * s.N.x))
    s.force(F * s.N.x - c * x.dot * s.N.x, at=s.O.offset(x * s.N.x))
    law = da.sampled(lambda _, state: -4.0 * state["x"], 0.01)
    start = {"x": 1.0, "z": 0.5}
    run = da.simulate(s, 1.0, start=start, inputs={"F": law})
    layout = run.layout
    assert (1, 1, 1, 1) == (layout.n_q, layout.n_x, layout.n_inputs, layout.n_u)
    assert np.array_equal(run.y, np.column_stack([run.q, run.x, run.u]))
    assert np.array_equal(run.state_rows[:, layout.u], run.u)
    assert len(run.quadrature_names) == run.quadratures.shape[1] > 0
    # ż = ẋ − z and ẍ = F − c ẋ, by differences of the dense output
    fine = da.simulate(s, 1.0, start=start, inputs={"F": law}, at=np.linspace(0.405, 0.4099, 50))
    z_rate = np.gradient(fine["z"], fine.t)[1:-1]
    assert fine["x.dot"][1:-1] - fine["z"][1:-1] == pytest.approx(z_rate, abs=1e-6)
