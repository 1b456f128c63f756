import math

import numpy as np
import pytest

import dalembert as da
from dalembert import gallery
from dalembert.analysis.linear.linearize import linearize
from dalembert.analysis.statics.equilibrium import equilibria, equilibrium
from dalembert.analysis.statics.equilibrium_equations import NoEquilibrium
from dalembert.gallery import (
    bead_on_hoop,
    cart_and_bar,
    double_pendulum,
    lagrange_top,
    mass_on_incline,
    rolling_disk,
)

G = 9.81


def pendulum():
    s = da.System("Pendulum in x and y", gravity=G)
    x, y = s.coordinates("x y")
    s.particle("bob", s.constant("m", 2), s.O.offset(x * s.N.x + y * s.N.y))
    s.constrain(da.sqrt(x**2 + y**2) - s.constant("l", 0.5), "rod")
    return s


def test_mass_on_an_incline():
    found = equilibrium(mass_on_incline.build())
    assert pytest.approx(2 * G * math.sin(math.pi / 6) / 50, rel=1e-14) == found["r"]
    assert found.residual <= 1e-12
    assert found.potential_residual is not None
    assert found.potential_residual <= 1e-12
    assert "stable" == found.stability.verdict


def test_the_rod_of_a_pendulum_at_rest_carries_its_weight():
    low, high = equilibria(pendulum(), {"y": (-1, 1), "x": (-1, 1)})
    assert pytest.approx(-0.5) == low["y"]
    assert pytest.approx(0.5) == high["y"]
    # Q + Aᵀλ = 0 with A = (x, y)/l: the rod pulls with m g
    assert pytest.approx({"rod": -2 * G}) == low.multipliers
    assert pytest.approx({"rod": 2 * G}) == high.multipliers
    assert ("stable", "unstable") == (low.stability.verdict, high.stability.verdict)
    # V − λ φ on the tangent: m g/l
    assert pytest.approx([2 * G / 0.5]) == low.stability.hessian


def test_all_equilibria_of_a_double_pendulum():
    s = double_pendulum.build()
    found = equilibria(s, {q.name: (-0.1, 3.2) for q in s.q})
    angles = {tuple(round(e[q.name] / math.pi) for q in s.q) for e in found}
    assert {(0, 0), (0, 1), (1, 0), (1, 1)} == angles
    assert 4 == len(found)
    assert [(0, 0)] == [tuple(np.round(e.q, 6)) for e in found if e.stability.verdict == "stable"]
    assert max(e.residual for e in found) <= 1e-12


def test_bead_on_a_hoop_is_in_relative_equilibrium():
    # truth/bead_on_hoop
    found = equilibria(bead_on_hoop.build(), {"theta": (-0.1, 3.2)})
    assert pytest.approx([0, 1.259216791241488496170137, math.pi], abs=1e-12) == [
        e["theta"] for e in found
    ]
    assert ["unstable", "stable", "unstable"] == [e.stability.verdict for e in found]
    assert "V − T₀ has a minimum on the constraints" == found[1].stability.reason
    assert max(e.potential_residual for e in found) <= 1e-12
    m = linearize(bead_on_hoop.build(), {"theta": found[1]["theta"]}, equilibrium=True)
    assert pytest.approx(7.614804248961361186593945, rel=1e-12) == abs(m.eigenvalues[0])


@pytest.mark.parametrize(
    ("theta", "phidot", "psidot"),
    [
        (1.047197551196597746154214, 1.0, -7.968408187666971666446333),
        (1.4, 0.5, -4.58281079063498715560881),
        (0.7853981633974483096156608, 3.0, -6.127766952966368811002111),
    ],
)
def test_steady_rolling(theta, phidot, psidot):
    # truth/rolling_disk
    found = equilibrium(
        rolling_disk.build(), {"theta": theta, "phi.dot": phidot}, guess={"psi.dot": -5.0}
    )
    assert pytest.approx(psidot, rel=1e-12) == found["psi.dot"]
    assert "da.linearize gives its eigenvalues" in found.stability.reason
    assert linearize(rolling_disk.build(), found.point, equilibrium=True).steady


def test_slow_and_fast_precession():
    # I₁ φ̇² cos θ − I₃ (ψ̇ + φ̇ cos θ) φ̇ + M g l = 0, I₃ = 0.001, I₁ = 0.006
    theta, psidot = 0.5, 150.0
    a, b, c = (0.006 - 0.001) * math.cos(theta), -0.001 * psidot, 0.5 * G * 0.1
    roots = sorted(np.roots([a, b, c]))
    for guess, expected in zip((2.0, 40.0), roots, strict=True):
        found = equilibrium(
            lagrange_top.build(), {"theta": theta, "psi.dot": psidot}, guess={"phi.dot": guess}
        )
        assert pytest.approx(expected, rel=1e-12) == found["phi.dot"]


def test_a_disk_at_rest_has_no_hessian():
    found = equilibrium(rolling_disk.build(), guess={"theta": 1.5})
    assert pytest.approx(math.pi / 2) == found["theta"]
    assert (
        "no energy test for nonholonomic systems; da.linearize gives the eigenvalues"
        == found.stability.reason
    )


def test_inputs_hold_a_load():
    s = da.System("Loaded", gravity=G)
    rod = s.rod("rod", s.pin("theta", s.O), mass=1, length=2)
    s.force(s.input("F") * s.N.x, at=rod.tip)
    found = equilibrium(s, inputs={"F": 3.0})
    # tan θ = 2F/(m g)
    assert pytest.approx(math.atan2(6.0, G)) == found["theta"]
    assert found.potential_residual is None
    assert "undetermined" == found.stability.verdict
    assert "virtual work applies" in found.stability.reason


def test_an_idle_input_leaves_the_potential():
    found = equilibrium(cart_and_bar.build())
    assert "stable" == found.stability.verdict
    assert 0 == found.potential_residual
    assert equilibrium(cart_and_bar.build(), inputs={"F": 1.0}).potential_residual is None


def test_no_equilibrium_says_how_near_it_came():
    s = da.System("Falling", gravity=G)
    (y,) = s.coordinates("y")
    s.particle("mass", 2, s.O.offset(y * s.N.y))
    with pytest.raises(
        NoEquilibrium,
        match=r"at the best point .* the residual is 19\.62 in balance along y\.dot",
    ):
        equilibrium(s)


@pytest.mark.parametrize("angles", [(math.pi, math.pi), (2 * math.pi, -math.pi), ("180 deg", "pi")])
def test_a_given_point_that_is_one_within_rounding(angles):
    """sin π = 1.2e-16 as a number: every coordinate given, nothing left to search with."""
    found = da.equilibrium(
        double_pendulum.build(), dict(zip(("alpha", "beta"), angles, strict=True))
    )
    assert 0 < found.residual < 1e-13
    assert found.stability.verdict == "unstable"
    with pytest.raises(
        da.DalembertError,
        match=r"the given point is no equilibrium: residual .* pass it as guess=",
    ):
        da.equilibrium(double_pendulum.build(), {"alpha": 3.1415926, "beta": 0})


def test_it_can_be_read():
    text = str(equilibrium(mass_on_incline.build()))
    assert "r = 0.1962" in text
    assert "stable: V has a minimum on the constraints" in text


@pytest.mark.parametrize("phi", [1e13, 1e15, 1e16])
def test_an_angle_so_large_that_rounding_hides_it_is_no_equilibrium(phi):
    with pytest.raises(da.NoEquilibrium):
        da.equilibrium(gallery.build("simple-pendulum"), guess={"phi": phi})


def test_a_large_angle_that_can_still_be_told_is_one():
    found = da.equilibrium(gallery.build("simple-pendulum"), guess={"phi": 1e8})
    assert 0 == pytest.approx(math.sin(found["phi"]), abs=1e-7)
