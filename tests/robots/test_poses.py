"""Exact rotations for measured ones."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from dalembert.exchange.robots.transforms import (
    exact_axis,
    exact_rotation,
    pose,
    quaternion,
    rotation,
)

RNG = np.random.default_rng(3)


@pytest.mark.parametrize(
    "e",
    [
        *RNG.normal(size=(5, 4)),
        np.array([0, 1.0, 0, 0]),
        np.array([0, 0, 1.0, 0]),
        np.array([0, 0, 0, 1.0]),
    ],
)
def test_an_exact_rotation_is_orthogonal_exactly_and_near(e):
    R = rotation(tuple(e))
    exact = exact_rotation(R)
    for i in range(3):
        for j in range(3):
            assert Fraction(int(i == j)) == sum(exact[i][k] * exact[j][k] for k in range(3))
    assert R == pytest.approx(np.array(exact, dtype=float), abs=1e-15)
    assert R == pytest.approx(rotation(quaternion(R)), abs=1e-15)


@pytest.mark.parametrize("axis", [(0, 0, 1), (0, -1, 0), (1, 2, 2), (-3, 0.1, 0.2), (1e-3, 0, -1)])
def test_an_exact_axis_has_length_one_exactly(axis):
    n = exact_axis(axis)
    assert 1 == sum(x * x for x in n)
    assert np.array(axis) / np.linalg.norm(axis) == pytest.approx(
        np.array(n, dtype=float), abs=1e-15
    )


def test_right_angles_become_right_angles():
    half = 1.57079632679 / 2
    R = pose((0, 0, 0), (np.cos(half), -np.sin(half), 0, 0)).R
    assert [[1, 0, 0], [0, 0, 1], [0, -1, 0]] == exact_rotation(R)
    off = 1.5708 / 2
    assert exact_rotation(pose((0, 0, 0), (np.cos(off), 0, 0, np.sin(off))).R)[0][0] != 0
