"""Beams that turn: published frequencies, the spin-up manoeuvre, the pendulum that tends to the
rigid one, the chain.
"""

import warnings

import numpy as np
import pytest

import dalembert as da
from dalembert.errors import DalembertWarning
from dalembert.gallery import (
    beam_on_ball_joint,
    flexible_pendulum,
    flexible_slider_crank,
    hanging_chain,
    rotating_beam,
    slider_crank,
    spin_up_beam,
)
from dalembert.runtime.ode.failures import NotFinite

# ω √(μL⁴/EI) of the flapping beam clamped at the axis, by Ω √(μL⁴/EI); after Wri82
FLAPPING = {
    0: 3.51601527,
    1: 3.68164681,
    2: 4.13731957,
    5: 6.44954475,
    10: 11.20232776,
    12: 13.17015049,
}


def frequencies(s, **values):
    return np.sort(np.abs(da.linearize(s, values=values).eigenvalues.imag))[::2]


def tip(run, n):
    """φ_1 and φ_2 are 1 at the tip, the others 0."""
    return sum(run[f"v_{i}"] for i in range(1, min(n, 2) + 1))


@pytest.mark.slow
def test_a_rotating_beam_flaps_with_the_published_frequencies():
    s = rotating_beam.build(10)
    for Omega, omega in FLAPPING.items():
        found = frequencies(s, Omega=Omega)
        assert pytest.approx(omega, abs=6e-9) == found[0]
        if Omega == 10:
            assert pytest.approx(33.64036585, abs=2e-8) == found[1]


@pytest.mark.parametrize("Omega", [0, 2, 5])
def test_a_rotating_beam_flaps_with_the_published_frequencies_in_six_functions(Omega):
    assert (
        pytest.approx(FLAPPING[Omega], rel=1e-7)
        == frequencies(rotating_beam.build(6), Omega=Omega)[0]
    )


def test_in_the_plane_of_rotation_the_square_is_less_by_that_of_the_speed():
    flap, lag = (
        frequencies(rotating_beam.build(5, bending=b), Omega=5)[0] for b in ("flapwise", "lagwise")
    )
    assert pytest.approx(flap**2 - 25, rel=1e-9) == lag**2


def test_spin_up_lags_behind_and_comes_back():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        run = da.simulate(spin_up_beam.build(4), 20, rtol=1e-9, at=np.linspace(0, 20, 401))
    found = tip(run, 4)
    assert pytest.approx(-0.5758, abs=1e-4) == found.min()
    assert 6 < run.t[found.argmin()] < 8
    assert np.abs(found[run.t > 15]).max() < 0.01


def test_without_shortening_it_diverges_and_this_is_said_beforehand():
    s = spin_up_beam.build(2, shortening=False)
    with pytest.warns(
        DalembertWarning,
        match=r"rotates at up to 6 rad/s .* lowest frequency 3\.\d+ rad/s .* declare it with "
        r"shortening=True",
    ):
        run = da.simulate(s, 20, at=[5.0, 12.0, 20.0])
    assert np.abs(tip(run, 2))[0] < 1
    assert np.abs(tip(run, 2))[-1] > 1e6


def test_the_warning_names_the_frequency_of_the_beam():
    with pytest.warns(
        DalembertWarning, match=r"lowest frequency 3\.798 rad/s \(from t = 8\.\d+ on\)"
    ):
        da.simulate(spin_up_beam.build(4, shortening=False), 20)


@pytest.mark.parametrize(("Omega", "warned"), [(3.0, False), (4.0, True)])
def test_a_free_hinge_is_judged_by_its_start(Omega, warned):
    s = da.System("hinge")
    B = s.N.rotated(s.coordinate("theta"), s.N.z)
    da.discretise(s, s.beam("beam", s.O, B.x, B.y, 1, 1, 1), 2)
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        da.simulate(s, 0.01, start={"theta.dot": Omega})
    assert warned == any("shortening is not modelled" in str(w.message) for w in found)


def test_a_hinge_that_is_driven_too_fast_is_judged_by_its_run():
    s = da.System("hinge")
    B = s.N.rotated(s.coordinate("theta"), s.N.z)
    s.body("hub", 1, s.O, B, da.inertia(B, 0, 0, 1))
    s.torque(10 * s.N.z, on=B)
    da.discretise(s, s.beam("beam", s.O, B.x, B.y, 1, 1, 1), 2)
    with pytest.warns(
        DalembertWarning,
        match=r"faster than its lowest frequency 3\.533 rad/s \(from t = 0\.\d+ on\), and its "
        r"shortening is not modelled",
    ):
        da.simulate(s, 1)


def test_a_beam_that_flaps_is_not_softened():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        da.simulate(rotating_beam.build(2, shortening=False), 0.1, start={"v_1": 0.01})


def test_steady_stretch():
    s = spin_up_beam.build(3, EA=2.8e7)
    point = da.equilibrium(s, inputs={"theta": 6 * s.t}).point
    bent = s.expansions["beam"]
    found = sum(
        point[q.name] * float(f.at(1))
        for q, f in zip(bent.amplitudes["u"], bent.functions["u"], strict=True)
    )
    kappa = np.sqrt(1.2 * 36 * 100 / 2.8e7)
    assert pytest.approx(5.143e-4, abs=5e-8) == found
    assert pytest.approx(10 * (np.tan(kappa) / kappa - 1), rel=1e-7) == found


@pytest.mark.slow
def test_the_stretched_beam_spins_up_to_its_steady_stretch():
    run = da.simulate(spin_up_beam.build(2, EA=2.8e7), 20, at=np.linspace(16, 20, 200))
    assert pytest.approx(5.143e-4, rel=2e-3) == run["u_1"].mean()


def test_the_flexible_pendulum_tends_to_the_rigid_one_at_first_order():
    times = np.linspace(0, 2, 101)
    rigid = da.System("rigid", gravity=9.81)
    rigid.rod("rod", rigid.pin("theta", rigid.O), mass=1, length=1)
    expected = da.simulate(rigid, 2, start={"theta": 0.5}, rtol=1e-12, atol=1e-12, at=times)[
        "theta"
    ]
    errors = []
    for EI in (1e2, 1e3, 1e4):
        shape = da.equilibrium(flexible_pendulum.build(EI=EI, fixed_angle=0.5)).point
        start = {"theta": 0.5, "v_1": shape["v_1"], "v_2": shape["v_2"]}
        run = da.simulate(
            flexible_pendulum.build(EI=EI), 2, start=start, rtol=1e-10, atol=1e-13, at=times
        )
        errors.append(np.abs(run["theta"] - expected).max())
    assert errors[0] < 0.02
    assert [10, 10] == pytest.approx([errors[0] / errors[1], errors[1] / errors[2]], rel=0.1)


def test_the_flexible_slider_crank_tends_to_the_rigid_one_at_first_order():
    times = np.linspace(0, 0.3, 61)
    rigid = slider_crank.build(m_1=1, m_2=2 * 0.3, l_2=0.3)
    expected = da.simulate(
        rigid, 0.3, start={"omega": 30}, inputs={"M": 0}, rtol=1e-12, atol=1e-12, at=times
    )["theta"]
    errors = []
    for EI in (4e2, 4e3):
        run = da.simulate(
            flexible_slider_crank.build(EI=EI),
            0.3,
            start={"theta'": 30},
            rtol=1e-11,
            atol=1e-12,
            at=times,
        )
        errors.append(np.abs(run["theta"] - expected).max())
    assert errors[0] < 1e-4
    assert pytest.approx(10, rel=0.01) == errors[0] / errors[1]


def test_a_boom_on_a_spacecraft_keeps_momentum_and_moment_of_momentum():
    s = da.System("Spacecraft")
    P = s.free("x y z e0 e1 e2 e3")
    B = P.frame
    s.body("hub", 10, P, B, da.inertia(B, 2, 3, 4))
    boom = s.beam("boom", P, B.x, (B.y, B.z), 3, 5, 0.4, polar=0.01, shortening=True)
    da.discretise(s, boom, 1)
    run = da.simulate(s, 2, start={"v_1": 0.1, "w_1.dot": 0.2, "x.dot": 1}, rtol=1e-11, atol=1e-11)
    p = h = 0 * s.N.x
    for b in s.bodies:
        p += b.mass * b.G.v
        h += b.mass * (b.G - s.O).cross(b.G.v)
        if b.inertia is not None:
            h += b.inertia @ b.frame.w
    for axis in (s.N.x, s.N.y, s.N.z):
        assert np.ptp(run[p @ axis]) <= 1e-11
        assert np.ptp(run[h @ axis]) <= 1e-11
    # ∫ μ v ẇ dx about the boom
    assert pytest.approx(0.4 * 3 * 0.1 * 0.2 / 5) == run[h @ s.N.x][0]


def test_bernoullis_chain():
    from scipy.special import jn_zeros

    assert jn_zeros(0, 2) / 2 == pytest.approx(
        frequencies(hanging_chain.build(6), L=1, g=1)[:2], rel=1e-6
    )


def test_a_straight_line_has_no_inertia_about_itself():
    with pytest.raises(
        NotFinite,
        match=r"nothing resists the speed omega_x \(beam 'beam' is a line: .* give it polar=",
    ):
        da.simulate(beam_on_ball_joint.build(polar=False), 1, start={"omega_x": 1.0})
    # bent, it has
    assert da.simulate(
        beam_on_ball_joint.build(polar=False), 0.01, start={"omega_x": 1.0, "v_1": 0.1}
    ).finished
