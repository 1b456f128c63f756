"""Frames with a raked steering axis against particles in NumPy that do not read the model."""

import random
from dataclasses import replace

import numpy as np
import pytest

from independent.comparison import TOLERANCE
from independent.raked_reference import accelerations
from independent.raked_scenes import differences, raked

STATE = np.array([[0.1, 0.05, 0, 0.3, 0.2, -0.1, 0.4, 0.2, 0.1], [1, 0.5, 0, 0.2, 1, 0.3, 2, 3, 1]])


@pytest.mark.parametrize("seed", range(30))
def test_accelerations_energy_and_rows(seed):
    worst = differences(random.Random(50_000 + seed), "native")
    assert worst == {name: pytest.approx(0, abs=TOLERANCE) for name in worst}
    assert "raked particles" in worst


def test_the_reference_depends_on_every_number():
    _, scene = raked(random.Random(1))
    a = accelerations(scene, *STATE)
    changed = [
        replace(scene, rake=scene.rake + 1e-6),
        *(replace(scene, rows=[r for r in scene.rows if r != name]) for name in scene.rows),
    ]
    for field in ("lengths", "masses", "moments"):
        values = getattr(scene, field)
        for k in range(len(values)):
            other = [x * (1 + 1e-6 * (i == k)) for i, x in enumerate(values)]
            changed.append(replace(scene, **{field: other}))
    for other in changed:
        assert np.abs(accelerations(other, *STATE) - a).max() > 1e3 * 1e-13
