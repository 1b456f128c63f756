"""Mei07: the bicycle's linear equations in lean and steer, M q̈ + v C₁ q̇ + (g K₀ + v² K₂) q = f.

Our q = (φ, δ), in the order and with the signs of the benchmark; the equations along φ̇ and δ̇ are
its own.
"""

import json
from pathlib import Path

import numpy as np
import pytest

from dalembert.analysis.linear.linearize import linearize
from dalembert.analysis.linear.root_locus import ParametricLinearization, root_locus
from dalembert.analysis.statics.equilibrium import equilibrium
from dalembert.gallery import whipple_bicycle

KNOWN = json.loads(
    (Path(__file__).parent / "data" / "whipple_linear.json").read_text(encoding="utf-8")
)["reference"]
EXACT = {
    name: np.array(rows, dtype=float) for name, rows in KNOWN["exact_matrices_25digit"].items()
}
LIMITS = {name: float(x) for name, x in KNOWN["special_speeds"]["exact"].items()}
G = 9.81


@pytest.fixture(scope="module")
def bicycle():
    return whipple_bicycle.build()


def lateral(bicycle, v):
    return linearize(bicycle, {"v": v}, equilibrium=True).second_order(("phi", "delta"))


def test_matrices(bicycle):
    rest, fast = lateral(bicycle, 0), lateral(bicycle, 10)
    found = {
        "M": rest.M,
        "C1": fast.velocity / 10,
        "K0": rest.position / G,
        "K2": (fast.position - rest.position) / 100,
    }
    assert {"M", "C1", "K0", "K2"} == set(EXACT)
    for name, matrix in EXACT.items():
        # 1e-13 relative, zeros relative to the largest entry
        assert (
            np.max(
                np.abs(found[name] - matrix)
                / np.where(matrix, np.abs(matrix), np.abs(matrix).max())
            )
            <= 1e-13
        ), name


def test_parts_at_rest(bicycle):
    s = lateral(bicycle, 0)
    assert np.abs(s.velocity).max() <= 1e-13
    assert np.abs(s.circulatory).max() <= 1e-13
    assert np.abs(lateral(bicycle, 5).circulatory).max() > 1


def eigenvalues(entry, kind):
    x = entry[kind]
    if kind == "exact_30digit":
        return [complex(float(y)) for y in x]
    w = complex(float(x["weave_re"]), float(x["weave_im"]))
    return [float(x["capsize"]), float(x["castering"]), w, w.conjugate()]


@pytest.mark.parametrize("entry", KNOWN["eigenvalues"], ids=lambda e: f"v = {e['v']}")
def test_eigenvalues(bicycle, entry):
    found = linearize(bicycle, {"v": entry["v"]}).modes().nonstructural
    assert 4 == len(found)
    for z in eigenvalues(entry, "exact" if "exact" in entry else "exact_30digit"):
        assert np.min(np.abs(found - z)) <= 1e-12
    for z in eigenvalues(entry, "published") if "capsize" in entry["published"] else ():
        assert np.min(np.abs(found - z)) <= 1e-12


def test_structural_zeros_are_exact(bicycle):
    found = linearize(bicycle, {"v": 5}).modes()
    # x, y, heading, the two spins, and the speed itself
    assert 6 == sum(m.structural for m in found.modes)
    assert 10 == len(found.eigenvalues)


def test_sweep_finds_the_stable_speeds(bicycle):
    locus = root_locus(bicycle, "v", np.linspace(0, 10, 21))
    assert [(4.0, 4.5), (6.0, 6.5)] == list(locus.stability_changes)
    assert 4 == locus.eigenvalues.shape[1]
    sweep = ParametricLinearization(bicycle, "v")
    assert abs(sweep.stability_limit(4, 5) - LIMITS["v_weave"]) <= 1e-9
    assert abs(sweep.stability_limit(5, 7) - LIMITS["v_capsize"]) <= 1e-9


def test_the_front_wheel_carries_its_share_at_rest(bicycle):
    found = equilibrium(bicycle)
    # Σ m x g/w; the row grows downwards, its force acts upwards
    share = (85 * 0.3 + 4 * 0.9 + 3 * 1.02) * G / 1.02
    assert pytest.approx(-share, rel=1e-12) == found.multipliers["front wheel on the ground"]


@pytest.mark.parametrize("speed", [1.0, 5.0])
def test_offset_of_a_steady_ride(bicycle, speed):
    m = linearize(bicycle, {"v": speed}, outputs=("x.dot", "psi.dot", "chi"), equilibrium=True)
    assert pytest.approx([speed, 0, 0], abs=1e-14) == m.y
    # ψ̇ = (v δ + c δ̇) cos λ/w
    row = dict(zip(m.states, m.C[1], strict=True))
    assert pytest.approx(speed * np.cos(np.pi / 10) / 1.02, rel=1e-13) == row["delta"]
    assert pytest.approx(0.08 * np.cos(np.pi / 10) / 1.02, rel=1e-13) == row["u_delta"]
