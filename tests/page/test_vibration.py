import numpy as np
import pytest

import dalembert as da
from dalembert import gallery
from dalembert.interface.page.mode_shapes import linearized_points, mode_trajectory
from dalembert.runtime.simulation.run_options import RunOptions


@pytest.fixture(scope="module")
def bicycle():
    s = gallery.build("whipple-bicycle")
    return s, linearized_points(s, RunOptions(start={"v": 4.6, "u_phi": 0.5}))


def test_the_modes_of_the_bicycle_are_the_published_ones(bicycle):
    # the published eigenvalues at rest, as in tests/truth; at 4.6 every mode decays
    rest, steady, *_ = bicycle[1]
    found = sorted(m.eigenvalue.real for m in rest.modes)
    assert [
        -5.53094371765393,
        -3.13164324790656,
        3.13164324790656,
        5.53094371765393,
    ] == pytest.approx(found, rel=1e-9)
    assert "Steady motion with v = 4.6" == steady.title
    assert all(m.eigenvalue.real < 0 for m in steady.modes)


def test_a_mode_shape_keeps_the_constraints_to_first_order(bicycle):
    s, (rest, *_) = bicycle
    run = da.simulate(s, 0.1, start={"v": 4.6}, progress=False)
    for mode in rest.modes:
        shown = mode_trajectory(run, rest, mode)
        height = np.abs(shown.residuals["front wheel on the ground"]).max()
        largest = np.abs(shown.q).max()
        assert 0.3 == pytest.approx(largest)
        # halving the amplitude quarters what is left of the constraint
        half = run.with_states(shown.t, shown.q / 2, shown.u)
        assert np.abs(half.residuals["front wheel on the ground"]).max() < 0.3 * height + 1e-12


def test_a_pendulum_swings_with_its_own_period():
    s = gallery.build("simple-pendulum")
    (rest,) = linearized_points(s, RunOptions(start={"theta": 1.0}))
    (mode,) = rest.modes
    assert "stable" == rest.equilibrium.stability.verdict
    assert 2 * np.pi / np.sqrt(9.81) == pytest.approx(rest.period(mode))
    q = rest.motion(mode)[:, 0]
    np.testing.assert_allclose(np.abs(q).max(), 0.3)
    np.testing.assert_allclose(q[0], q[-1], atol=1e-12)


def test_too_many_coordinates_are_left_to_the_commands_made_for_it():
    from dalembert.gallery.spatial_chain import build

    with pytest.raises(da.NotApplicable, match="13 coordinates"):
        linearized_points(build(13), RunOptions())
