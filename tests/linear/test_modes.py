import math

import numpy as np
import pytest

import dalembert as da
from dalembert.analysis.linear.equation_jacobians import BadLinearPoint
from dalembert.analysis.linear.linear_model import modes, strong_components
from dalembert.analysis.linear.linearize import linearize
from dalembert.analysis.linear.root_locus import ParametricLinearization, root_locus
from dalembert.gallery import double_pendulum, pendulum_absolute, rolling_disk

G = 9.81


def test_double_pendulum_of_equal_masses():
    # ω² = (2 ± √2) g/l
    found = linearize(pendulum_absolute.build(2), equilibrium=True).modes()
    expected = [math.sqrt((2 + k * math.sqrt(2)) * G) for k in (-1, -1, 1, 1)]
    assert pytest.approx(expected, rel=1e-13) == sorted(found.frequencies)
    assert np.abs(found.damping).max() <= 1e-14
    slow = next(m for m in found.modes if m.eigenvalue.imag > 0)
    # in the slow mode the angles are as 1 : √2
    assert pytest.approx(math.sqrt(2)) == abs(slow.shape[1] / slow.shape[0])


def test_damping_and_frequency():
    s = da.System("Oscillator")
    (x,) = s.coordinates("x")
    s.particle("mass", 2, s.O.offset(x * s.N.x))
    s.potential(18 * x**2 / 2)
    s.dissipation(1.2 * x.dot**2 / 2)
    found = linearize(s).modes()
    assert pytest.approx([3, 3]) == found.frequencies
    assert pytest.approx([0.1, 0.1]) == found.damping
    assert "-0.3 ± 2.98496231 i" in str(found)


def test_blocks_keep_jordan_chains_exact():
    A = np.diag([1.0, 1.0], 1)
    assert [[0], [1], [2]] == strong_components(A)
    assert [0, 0, 0] == list(modes(A, ("a", "b", "c")).eigenvalues)
    assert [[0, 1], [2]] == strong_components(np.array([[0, 1, 5], [-4, 0, 1e-3], [1e-17, 0, 0]]))


def test_every_shape_is_an_eigenvector():
    m = linearize(double_pendulum.build(), {"alpha": 0.3, "beta.dot": 1})
    for mode in m.modes().modes:
        assert np.abs(m.A @ mode.shape - mode.eigenvalue * mode.shape).max() <= 1e-12


# ---- limits of stability in closed form ----------------------------------------------------------


@pytest.mark.parametrize("r", [0.5, 1.3])
def test_straight_rolling_is_stable_above_its_limit(r):
    limit = ParametricLinearization(
        rolling_disk.build(r=r), "psi.dot", {"theta": math.pi / 2}
    ).stability_limit(0.5, 6)
    assert abs(limit**2 / (G / (3 * r)) - 1) <= 1e-9


@pytest.mark.parametrize("r", [0.5, 1.3])
def test_spinning_upright_is_stable_above_its_limit(r):
    limit = ParametricLinearization(
        rolling_disk.build(r=r), "phi.dot", {"theta": math.pi / 2}
    ).stability_limit(0.5, 8)
    assert abs(limit**2 / (4 * G / (5 * r)) - 1) <= 1e-9


def top(*, spinning=False):
    """A symmetric top on its tip, with A and C about the tip, in angles that are regular where
    it sleeps upright.
    """
    s = da.System("Sleeping top", gravity=G, up="z")
    m, l, A, C = s.constants(m=0.5, l=0.1, A=0.006, C=0.001)
    _, E, B = s.N.rotations("xyz", *s.coordinates("a b c"))
    if spinning:
        s.speeds("w_1 w_2 w_3", B.w, B)
    s.body("top", m, s.O.offset(l * E.z), B, da.inertia(E, A, A, C), about=s.O)
    return s


def test_sleeping_top():
    limit = ParametricLinearization(top(), "c.dot").stability_limit(40, 200)
    # C² ω₃² = 4 A m g l
    assert abs((0.001 * limit) ** 2 / (4 * 0.006 * 0.5 * G * 0.1) - 1) <= 1e-9


def test_frozen_moments_are_not_taken_for_steady_motions():
    assert linearize(top(), {"c.dot": 100}).steady
    # seen from the spinning body, a and b change with c
    turning = linearize(top(spinning=True), {"w_3": 100})
    assert not turning.steady
    assert "its eigenvalues are those of one moment" in str(turning)
    assert linearize(
        rolling_disk.build(), {"theta": 1.4, "phi.dot": 0.5, "psi.dot": -4.58281079063498715560881}
    ).steady
    assert not linearize(rolling_disk.build(), {"theta": 1.4, "phi.dot": 0.5}).steady


def test_limit_in_a_constant():
    # a pendulum that stands on a torsion spring: k = m g l
    s = da.System("Inverted pendulum", gravity=G)
    rod = s.rod("rod", s.pin("theta", s.O), mass=1, length=2)
    assert rod.tip
    theta = s["theta"]
    k = s.constant("k", 5)
    s.potential(k * (theta - math.pi) ** 2 / 2)
    limit = ParametricLinearization(s, "k", {"theta": math.pi}).stability_limit(2, 30)
    assert abs(limit / G - 1) <= 1e-9


def test_a_range_without_a_limit_is_refused():
    with pytest.raises(BadLinearPoint, match=r"psi\.dot = 5 and 6 are both stable"):
        ParametricLinearization(
            rolling_disk.build(), "psi.dot", {"theta": math.pi / 2}
        ).stability_limit(5, 6)


def test_nutation_of_steady_rolling():
    # truth/rolling_disk: θ = 1.4, φ̇ = ½
    m = linearize(
        rolling_disk.build(),
        {"theta": 1.4, "phi.dot": 0.5, "psi.dot": -4.58281079063498715560881},
        equilibrium=True,
    )
    assert (
        pytest.approx(34.09705426157499936127317, rel=1e-12) == np.max(np.abs(m.eigenvalues)) ** 2
    )


def test_locus_follows_each_eigenvalue():
    locus = root_locus(
        rolling_disk.build(), "psi.dot", np.linspace(3, 6, 31), {"theta": math.pi / 2}
    )
    assert np.abs(np.diff(locus.eigenvalues, axis=0)).max() < 0.5
    assert () == locus.stability_changes
    assert "psi.dot" in str(locus)


def test_modes_of_one_frequency_have_shapes_of_their_own():
    A = np.zeros((4, 4))
    A[0, 2] = A[1, 3] = 1.0
    # mixed, so that the two motions are one block
    A[2:, :2] = -4.0 * np.eye(2)
    turn = np.array([[0.8, -0.6], [0.6, 0.8]])
    whole = np.kron(np.eye(2), turn)
    found = modes(whole @ A @ whole.T, ("a", "b", "a.dot", "b.dot"))
    shapes = np.array([m.shape for m in found.modes if m.eigenvalue.imag > 0])
    assert (2, 4) == shapes.shape
    assert 2 == np.linalg.matrix_rank(shapes, tol=1e-6)


def test_no_damping_is_printed_as_zero():
    A = np.array([[0.0, 1.0], [-4.0, 0.0]])
    assert "-0 " not in str(modes(A, ("a", "a.dot")))
