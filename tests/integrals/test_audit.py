"""What E_Z says about a run, and who is to blame where it is not constant."""

import pickle
from dataclasses import replace
from fractions import Fraction
from importlib import import_module

import numpy as np
import pytest

import dalembert as da
from dalembert import gallery
from dalembert.analysis.integrals.plotting import plot_integrals
from dalembert.gallery.four_bar import build as four_bar
from dalembert.gallery.positioning_device import build as device
from dalembert.runtime.numerics.symbol_values import MissingValue

# the angles of the rolling sphere pass singular positions
pytestmark = pytest.mark.filterwarnings("ignore::dalembert.errors.DalembertWarning")


def run_of(name, tolerance=1e-9, **more):
    entry = gallery.entry(name)
    return da.simulate(
        entry.build(),
        entry.duration,
        start=entry.start,
        inputs=entry.inputs,
        rtol=tolerance,
        atol=tolerance,
        progress=False,
        **more,
    )


@pytest.mark.each_time(16)
@pytest.mark.parametrize("name", gallery.names())
def test_energy_is_kept_and_the_motion_does_not_depend_on_being_watched(name):
    watched, alone = run_of(name, 1e-12), run_of(name, 1e-12, audit=False)
    assert np.array_equal(alone.t, watched.t)
    assert np.array_equal(alone.q, watched.q)
    assert np.array_equal(alone.u, watched.u)
    found = watched.integrals
    assert found.relative_drift <= 1e-9
    assert found.is_model_consistent
    assert found.model_error == 0.0


def test_four_bar_with_a_moving_pivot_and_a_potential_in_time():
    s = four_bar()
    s.potential((s["theta_1"] - da.sin(2 * s.t)) ** 2 / 2, "moving spring")
    s.torque(-s.constant("c", 0.1) * s["theta_1"].dot * s.N.z, on=s.bodies[0], name="friction")
    start = gallery.entry("four-bar").start
    found = da.simulate(s, 3.0, start=start, rtol=1e-12, atol=1e-12).integrals
    assert found.relative_drift <= 1e-9
    # neither E nor 𝓗 nor C comes near to being constant
    assert min(np.ptp(x) for x in (found.E, found.H, found.C)) > 1e-2 * found.scale


def test_works_and_what_motors_feed_in_add_up():
    run = da.simulate(device(), 4.0, start={"s": 0.05, "omega_y": 1.0}, rtol=1e-11, atol=1e-11)
    found = run.integrals
    damper = found.works["damper"]
    # the reaction acts on the arm, whose motion holds no speed: only the classical work counts it
    assert np.max(np.abs(damper.classical - damper.generalized)) > 1.0
    # C = Σ works + what the motor feeds in
    assert found.C - found.C[0] == pytest.approx(damper.classical + found.supplied_work, abs=1e-9)
    # Ż = σ_R − 𝒫 by hand
    m, r, b = 1.0, 0.1, 2.0
    fine = run.at(np.linspace(0, 4, 40001))
    Omega, v, w, x = fine.t / 2, fine["v"], fine["omega_y"], 1 + fine["s"]
    rate = -1.4 * m * Omega**2 * x * v + b / r**2 * v**2 - b * w * (Omega - w)
    by_hand = np.concatenate([[0.0], np.cumsum((rate[1:] + rate[:-1]) / 2 * np.diff(fine.t))])
    assert fine.integrals.Z == pytest.approx(by_hand, abs=1e-5)


def test_a_tampered_right_hand_side_is_a_model_error(monkeypatch):
    s = gallery.build("double-pendulum")
    good = da.forward_dynamics(s)
    factor = good.tape.const(Fraction(1001, 1000))
    wrong = replace(
        good, udot=(good.tape.mul(factor, good.udot[0]), *good.udot[1:]), route="tampered"
    )
    monkeypatch.setattr(
        import_module("dalembert.runtime.dynamics.compile"), "forward_dynamics_of", lambda _: wrong
    )
    run = da.simulate(s, 5.0, start={"alpha": 1.0, "beta": 0.5}, rtol=1e-11, atol=1e-11)
    found = run.integrals
    assert not found.is_model_consistent
    assert found.model_error > 1e-4 * found.scale
    assert found.integrator_error < 0.1 * found.drift
    assert "these are not the system's equations" in str(run)


def test_jumps_at_projections_are_told_apart():
    found = run_of("four-bar", 1e-4).integrals
    assert found.constraint_drift > 0.0
    assert found.is_model_consistent
    tight = run_of("four-bar", 1e-12).integrals
    assert tight.constraint_drift < 1e-3 * found.constraint_drift


def test_tolerances_are_seen_in_the_drift():
    coarse, fine = (da.simulate(device(), 30.0, rtol=x, atol=x).integrals for x in (1e-2, 1e-5))
    assert coarse.drift >= 1e4 * fine.drift
    assert coarse.is_model_consistent
    assert fine.is_model_consistent


def test_the_summary_speaks_of_energy():
    written = str(run_of("cart-and-bar"))
    for words in (
        "E_Z = K₂ + 𝒰 + Z: largest change",
        "model error none",
        "constraint drift 0",
        "integrator error",
    ):
        assert words in written


def test_without_audit_there_is_nothing_to_read():
    run = run_of("cart-and-bar", audit=False)
    assert run.quadratures.shape[1] == 0
    with pytest.raises(MissingValue, match="run with audit=True"):
        _ = run.integrals


def test_a_constant_that_only_shifts_the_potential_may_stay_unknown():
    s = da.System("Pendulum", gravity=9.81)
    B = s.N.rotated(s.coordinate("theta"), s.N.z, "B")
    s.particle("bob", 1, s.O.offset(-B.y, "P"))
    s.potential(s.constant("V_0"), "level")
    run = da.simulate(s, 1.0, start={"theta": 1.0})
    with pytest.raises(MissingValue):
        _ = run.integrals
    with pytest.raises(MissingValue, match="V_0"):
        da.simulate(s, 1.0, start={"theta": 1.0}, energy_tolerance=1e-6)


def test_a_potential_with_an_input_runs_without_audit():
    s = da.System("Particle")
    q, f = s.coordinate("q"), s.input("f")
    s.particle("P", 1, s.O.offset(q * s.N.x, "P"))
    s.potential(q * f, "pull")
    run = da.simulate(s, 1.0, inputs={"f": 2})
    assert -1.0 == pytest.approx(run["q"][-1])
    assert () == run.quadrature_names


def test_integrals_at_other_times_and_after_a_journey():
    run = run_of("moving-knife-edge", 1e-11)
    there = pickle.loads(pickle.dumps(run.at(np.linspace(0, 10, 50))))
    assert 50 == len(there.integrals.E_Z)
    assert there.integrals.relative_drift < 1e-7
    assert run.quadrature_names == there.quadrature_names


def test_other_integrators_carry_the_quadratures_too():
    run = run_of("moving-knife-edge", 1e-10, integrator="DOP853")
    assert "Z" in run.quadrature_names
    assert run.integrals.relative_drift < 1e-7


def test_plot(tmp_path):
    run = run_of("bead-on-hoop")
    path = tmp_path / "integrals.png"
    assert str(path) == plot_integrals(run, path).path
    assert path.stat().st_size > 1000


def test_runs_of_one_system_share_expressions_and_keep_their_own_numbers():
    def built():
        s = da.System("pushed", gravity=9.81)
        m, F = s.constants(m=1)[0], s.input("F")
        s.rod("rod", s.pin("theta", s.O), mass=m, length=1)
        s.generalized_force(s.symbols["theta"].scalar, F)
        return s

    cases = [
        {"values": {"m": 1.0}, "inputs": {"F": 0.5}},
        {"values": {"m": 3.0}, "inputs": {"F": 0.5}},
        {"values": {"m": 3.0}, "inputs": {"F": "2*sin(t)"}},
        {"values": {"m": 1.0}, "inputs": {"F": "theta"}},
    ]
    shared = built()
    for case in cases * 2:
        together, alone = (
            da.simulate(s, 1.0, start={"theta": 0.4}, **case).integrals for s in (shared, built())
        )
        for name in ("K2", "potential", "E_Z", "K0"):
            assert np.array_equal(getattr(alone, name), getattr(together, name)), (case, name)


@pytest.mark.parametrize("moving", [False, True])
def test_many_speeds_are_split_like_few(moving):
    """Above twelve speeds velocities come from the recursion; those of a moving support do not."""
    s = da.System("long", gravity=9.81)
    at = s.O
    if moving:
        w = s.specified("w")
        at = s.O.offset(w * s.N.x, "support")
    for k in range(13):
        at = s.rod(f"rod{k}", s.pin(f"q{k}", at), mass=1, length=0.1).tip
    motion = {"inputs": {"w": "sin(3*t)/2"}} if moving else {}
    run = da.simulate(s, 0.2, start={"q0": 0.3}, **motion)
    found = run.integrals
    assert found.drift < 1e-7 * found.largest_energies
    total = found.K2 + found.K1 + found.K0
    assert np.allclose(run.kinetic_energy, total, rtol=1e-12, atol=1e-13)
    assert moving == bool(np.abs(found.K0).max() > 1e-3)
