import math

import numpy as np
import pytest

import dalembert as da
from dalembert.analysis.statics.continuation import continuation
from dalembert.analysis.statics.equilibrium_equations import NoEquilibrium

G, R = 9.81, 0.5


def hoop():
    """The bead of the gallery with its rate of turning as a constant."""
    s = da.System("Bead on a hoop", gravity=G)
    (theta,) = s.coordinates("theta")
    A = s.N.rotated(s.constant("Omega") * s.t, s.N.y)
    B = A.rotated(theta, A.z)
    s.particle("bead", s.constant("m", 1), s.O.offset(-s.constant("R", R) * B.y))
    return s


def test_the_bead_branches_off_at_its_critical_rate():
    branch = continuation(hoop(), "Omega", (1, 10))
    (mark,) = branch.special_points
    assert "bifurcation" == mark.kind
    assert abs(mark.parameter**2 / (G / R) - 1) <= 1e-9
    assert 0 == np.abs(branch["theta"]).max()
    sides = [branch.switch_branch(mark, side=side) for side in (1, -1)]
    for other in sides:
        # cos θ = g/(R Ω²)
        assert np.abs(np.cos(other["theta"]) - G / (R * other.values**2)).max() <= 1e-12
        assert other.values[-1] >= 10
    assert pytest.approx(sides[0]["theta"][-1]) == -sides[1]["theta"][-1]
    assert "bifurcation at Omega = 4.42944691807" in str(branch)


def arch():
    """A mass between two springs of length l₀ = 1.2 at distance 1, pushed through by P."""
    s = da.System("Shallow arch")
    (x,) = s.coordinates("x")
    P = s.input("P")
    A = s.O.offset(x * s.N.x)
    s.particle("mass", 1, A)
    s.potential((da.sqrt(1 + x**2) - s.constant("l_0", 1.2)) ** 2)
    s.force(-P * s.N.x, at=A)
    return s


def test_an_arch_snaps_through_at_its_fold():
    branch = continuation(arch(), "P", (0, 1), guess={"x": 0.6})
    # V″ = 0 where 1 + x² = l₀^(2/3)
    L = 1.2 ** (1 / 3)
    (mark,) = branch.special_points
    assert "fold" == mark.kind
    assert pytest.approx(-2 * math.sqrt(L * L - 1) * (1 - 1.2 / L), rel=1e-9) == mark.parameter
    assert pytest.approx(math.sqrt(L * L - 1), rel=1e-6) == mark.point["x"]
    # beyond the fold it comes back
    assert branch.values[-1] < 0 < branch.values.max()


def test_no_equilibrium_to_begin_with_is_refused():
    with pytest.raises(NoEquilibrium, match="no equilibrium near the guess at P = 5"):
        continuation(arch(), "P", (5, 6), guess={"x": 0.6})


def test_free_coordinates_must_be_given():
    s = da.System("Free to slide")
    x, y = s.coordinates("x y")
    s.particle("mass", 1, s.O.offset(x * s.N.x + y * s.N.y))
    s.potential(s.constant("k", 1) * y**2)
    assert continuation(s, "k", (1, 2), {"x": 0}).values.size > 1
    with pytest.raises(
        NoEquilibrium,
        match="1 equations for 2 unknowns; give the coordinates that the balance leaves free",
    ):
        continuation(s, "k", (1, 2))
