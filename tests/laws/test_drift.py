"""Constraints and energy along every run of the gallery that has constraints."""

import numpy as np
import pytest

import dalembert as da
from dalembert import gallery

NAMES = [name for name in gallery.names() if gallery.build(name).constraints]


@pytest.mark.each_time(8)
@pytest.mark.filterwarnings("ignore::dalembert.errors.DalembertWarning")
@pytest.mark.parametrize("name", NAMES)
def test_rows_are_held_and_energy_is_kept(name):
    entry = gallery.entry(name)
    run = da.simulate(
        entry.build(),
        entry.duration,
        start=entry.start,
        inputs=entry.inputs,
        rtol=1e-11,
        atol=1e-11,
    )
    assert run.worst_residual <= 1e-10
    largest = float(np.max(run.kinetic_energy))
    assert run.integrals.drift <= 1e-9 * largest
    if run.conserves_energy:
        assert run.energy_drift <= 1e-9
