"""Mit22 34.2 and 34.3: which energy integrals are constant, symbolically and along simulations."""

import json
from pathlib import Path

import numpy as np
import pytest

import dalembert as da
from comparisons import equal
from dalembert.analysis.integrals.energies import Energies
from dalembert.gallery.hoist import build as hoist
from dalembert.gallery.positioning_device import build as device

# the angles of the rolling sphere pass singular positions
pytestmark = pytest.mark.filterwarnings("ignore::dalembert.errors.DalembertWarning")
TRUTH = Path(__file__).parents[2] / "truth" / "data" / "mitiguy_rolling_sphere.json"


def constant(x):
    return float(np.ptp(x)) <= 1e-8 * max(1.0, float(np.max(np.abs(x))))


# ---- 34.2: the hoist ---------------------------------------------------------------------------


def test_34_2_verdicts():
    found = da.energy_integrals(hoist())
    assert ("E_Z", "E") == found.constant
    # "𝓗 is not constant unless ẍ = 0"; then H and mechanical energy are constant as well
    assert ["ẍ = 0"] * 4 == [found[symbol].condition for symbol in ("𝓗", "H", "K + 𝒰", "K + U")]
    assert ("E_Z", "E", "𝓗", "H", "K + 𝒰", "K + U") == da.energy_integrals(hoist(x="2*t")).constant


def test_34_2_energies_and_the_force_of_the_motor():
    E = Energies(da.kinematics(hoist(x=None)))
    printed = [
        "1/2*(m_B + m_Q)*x'**2",
        "0",
        "1/2*(I + m_B*L**2)*theta'**2",
        "0",
        "(m_B + m_Q)*x'*x''",
        "(m_Q + m_B)*x''*x'",
    ]
    # the power fed in is the motor's force times ẋ
    assert equal(
        E.kin, [e.i for e in (E.K0, E.K1, E.K2, E.sigma_R, E.sigma, E.P_in_by_vectors)], printed
    )


def test_34_2_over_ten_seconds():
    run = da.simulate(hoist(), 10.0, start={"theta": np.pi / 6}, rtol=1e-11, atol=1e-11)
    found = run.integrals
    assert [True, True, False, False] == [
        constant(x) for x in (found.E_Z, found.E, found.H, found.C)
    ]
    # the motor's work is ∫ (m_Q + m_B) ẍ ẋ dt
    x_dot = -3 * np.sin(run.t)
    assert 3.0 * x_dot**2 / 2 == pytest.approx(found.supplied_work, abs=1e-8)


# ---- 34.3: the positioning device --------------------------------------------------------------

CASES = [(Omega, rigid, b) for Omega in ("4", "t/2") for rigid in (False, True) for b in (0, 2)]


def expected(Omega, rigid, b):
    """E_Z always; E iff rigid and b = 0; 𝓗 iff Ω constant and b = 0; C iff rigid, Ω constant and
    b = 0.
    """
    steady = Omega == "4"
    return [True, rigid and b == 0, steady and b == 0, rigid and steady and b == 0]


@pytest.mark.parametrize(("Omega", "rigid", "b"), CASES)
def test_34_3_verdicts(Omega, rigid, b):
    found = da.energy_integrals(device(Omega=Omega, rigid=rigid, b=b))
    assert expected(Omega, rigid, b) == [
        found[symbol].constant for symbol in ("E_Z", "E", "𝓗", "K + 𝒰")
    ]
    # U exists only where nothing needs power
    assert (found["K + U"].constant, found["H"].constant) == (expected(Omega, rigid, b)[3],) * 2


@pytest.mark.parametrize(("Omega", "rigid", "b"), CASES)
def test_34_3_along_simulations(Omega, rigid, b):
    run = da.simulate(device(Omega=Omega, rigid=rigid, b=b), 4.0, rtol=1e-11, atol=1e-11)
    found = run.integrals
    wanted = expected(Omega, rigid, b)
    # from rest with b = 0 a rigid arm leaves E = 0
    assert wanted == [constant(x) for x in (found.E_Z, found.E, found.H, found.C)]


def test_34_3_conditions_with_everything_symbolic():
    found = da.energy_integrals(device(Omega=None, b=None))
    assert "Ω̇ = 0 and b = 0" == found["𝓗"].condition
    assert "Ω = 0 and b = 0" == found["E"].condition == found["K + 𝒰"].condition
    rigid = da.energy_integrals(device(Omega=None, b=None, rigid=True))
    assert "b = 0" == rigid["E"].condition
    assert "Ω̇ = 0 and b = 0" == rigid["𝓗"].condition == rigid["K + 𝒰"].condition


def test_34_3_sigmas_and_generalized_power():
    E = Energies(da.kinematics(device(Omega=None)))
    printed = [
        "-1.4*m*Omega**2*(L + s)*v",
        "1.4*m*Omega*Omega'*(L + s)**2",
        "-(b/r**2)*v**2 + b*omega_y*(Omega - omega_y)",
    ]
    assert equal(E.kin, [e.i for e in (E.sigma_R, E.sigma, E.P_nonconservative)], printed)


@pytest.mark.parametrize("case", ["b=0,Omega=4", "b=0,Omega=0.5t", "b=2,Omega=4", "b=2,Omega=0.5t"])
def test_34_3_histories(case):
    samples = json.loads(TRUTH.read_text(encoding="utf-8"))["reference"][case]
    b, Omega = (part.partition("=")[2] for part in case.split(","))
    run = da.simulate(
        device(Omega=Omega.replace("0.5t", "t/2"), b=float(b)),
        5.0,
        start={"s": 0.05, "omega_y": 1.0},
        rtol=1e-12,
        atol=1e-12,
    ).at([float(row["t"]) for row in samples])
    found = run.integrals
    ours = {
        "s": run["s"],
        "sdot": run["v"],
        "wy": run["omega_y"],
        "K": found.K2 + found.K1 + found.K0,
        "U": found.potential,
    }
    ours |= {"Z": found.Z, "E_Z": found.E_Z, "H": found.H, "C": found.C, "E": found.E}
    for name, values in ours.items():
        known = np.array([float(row[name]) for row in samples])
        # where the angles of the sphere pass singular positions, ω_y suffers most
        allowed = 1e-9 if name == "wy" else 1e-10
        assert np.max(np.abs(values - known)) <= allowed * max(1.0, np.max(np.abs(known))), name


def test_34_7_U_and_generalized_potential_are_told_apart():
    """½ k x² with u = ẋ − ȧ has U and no 𝒰; the hoist has 𝒰 and no U; V(x, t) has neither, and
    no motion is blamed.
    """
    s = da.System("Moving speed")
    (x,) = s.coordinates("x")
    a, k = s.specified("a"), s.constant("k")
    s.particle("particle", s.constant("m"), s.O.offset(x * s.N.x))
    s.potential(k * x**2 / 2)
    s.speeds(u=x.dot - a.dot)
    moving = da.energy_integrals(s)
    assert (True, False) == (moving.potential_exists, moving.generalized_potential_exists)
    assert (True, True) == (moving["K + U"].constant, moving["K + 𝒰"].constant)
    hung = da.energy_integrals(hoist())
    assert (False, True) == (hung.potential_exists, hung.generalized_potential_exists)
    s = da.System("Field that grows")
    (x,) = s.coordinates("x")
    s.particle("particle", 1, s.O.offset(x * s.N.x))
    s.potential(s.t * x**2)
    growing = da.energy_integrals(s)
    assert (False, False) == (growing.potential_exists, growing.generalized_potential_exists)
    assert growing.why_no_potential.startswith("(i) V depends on time")
    assert "(ii" not in growing.why_no_potential


def test_a_force_without_power_does_no_work():
    s = da.System("Charge in a magnetic field")
    x, y = s.coordinates("x y")
    P = s.O.offset(x * s.N.x + y * s.N.y, "P")
    s.particle("charge", 1, P)
    s.force(2 * y.dot * s.N.x - 2 * x.dot * s.N.y, P)
    run = da.simulate(s, 1, start={x.dot: 1})
    assert run.conserves_energy
    assert "do work" not in str(run)
