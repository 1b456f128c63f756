"""ẋ = f(q, q̇, x, w, t) beside the motion: a motor with its current, a filter behind rows,
against integrations by hand.
"""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import dalembert as da
from dalembert.runtime.numerics.symbol_values import Unknown
from dalembert.runtime.ode.failures import BadStart

M, LENGTH, R, L, K, G = 0.2, 0.3, 1.2, 0.01, 0.05, 9.81
I = M * LENGTH**2 / 3


def motor() -> da.System:
    """A rod on a direct-current motor: L di/dt = V − R i − k θ̇, torque k i."""
    s = da.System("motor", gravity=G)
    m, length, k = s.constants(m=M, l=LENGTH, k=K)
    s.constants(R=R, L=L)
    s.input("V")
    rod = s.rod("rod", s.pin("theta", s.O), m, length)
    i = s.state("i", rate="(V - R*i - k*theta.dot)/L")
    s.torque(k * i * s.N.z, on=rod)
    return s


def by_hand(t, y):
    theta, i, omega = y
    return [
        omega,
        (2 * np.sin(3 * t) - R * i - K * omega) / L,
        (K * i - M * G * LENGTH / 2 * np.sin(theta)) / I,
    ]


@pytest.fixture(scope="module")
def run():
    return da.simulate(motor(), 1.0, start={"theta": 0.5, "i": 0.1}, inputs={"V": "2*sin(3*t)"})


def test_a_motor_with_its_current(run):
    found = solve_ivp(by_hand, (0, 1), [0.5, 0.1, 0], rtol=1e-11, atol=1e-12, method="DOP853").y[
        :, -1
    ]
    assert run.names == ("theta", "i", "theta.dot")
    assert run.y[-1] == pytest.approx(found, abs=1e-8)
    assert run["k*i"][-1] == pytest.approx(K * found[1], abs=1e-9)
    assert run.integrals.relative_drift < 1e-10
    assert run.integrals.is_model_consistent


@pytest.mark.parametrize(
    ("integrator", "package"), [("LSODA", "scipy"), ("IDA", "sksundae"), ("heyoka", "heyoka")]
)
def test_other_integrators_carry_it_too(run, integrator, package):
    pytest.importorskip(package)
    other = da.simulate(
        motor(),
        1.0,
        start={"theta": 0.5, "i": 0.1},
        inputs={"V": "2*sin(3*t)"},
        integrator=integrator,
    )
    assert other["i"][-1] == pytest.approx(run["i"][-1], abs=1e-6)


def test_behind_rows_nothing_moves_it():
    """A bead on a circle by x² + y² = 1, pulled by a filtered velocity: the same as in one
    angle.
    """
    s = da.System("bead", gravity=G)
    x, y = s.coordinates("x y")
    P = s.O.offset(x * s.N.x + y * s.N.y)
    s.particle("bead", 1, P)
    s.constrain("x**2 + y**2 - 1")
    z = s.state("z", rate=lambda z: x.dot - z)
    s.force(-2 * z * s.N.x, at=P)
    run = da.simulate(s, 2.0, start={"x": 0.6, "z": 0.3}, guess={"y": -1})

    def one_angle(_, y):
        return [y[1], -G * np.sin(y[0]) - 2 * y[2] * np.cos(y[0]), np.cos(y[0]) * y[1] - y[2]]

    angle, _, filtered = solve_ivp(
        one_angle, (0, 2), [np.arcsin(0.6), 0, 0.3], rtol=1e-11, atol=1e-12, method="DOP853"
    ).y[:, -1]
    assert (run["x"][-1], run["z"][-1]) == pytest.approx((np.sin(angle), filtered), abs=1e-8)
    assert run.integrals.is_model_consistent
    assert run.integrals.relative_drift < 1e-8
    assert run.at([1.23]).worst_residual < 1e-12


def test_the_principles_agree_and_the_linear_model_is_the_book_s():
    s = motor()
    assert da.agreement(s).agree
    model = da.linearize(s)
    assert model.states == ("theta", "i", "theta.dot")
    assert model.A == pytest.approx(
        np.array([[0, 0, 1], [0, -R / L, -K / L], [-M * G * LENGTH / 2 / I, K / I, 0]])
    )
    assert model.B == pytest.approx(np.array([[0], [1 / L], [0]]))


def test_in_equilibrium_its_rate_vanishes():
    found = da.equilibrium(motor(), inputs={"V": 3})
    assert found["i"] == pytest.approx(3 / R)
    assert np.sin(found["theta"]) == pytest.approx(K * 3 / R / (M * G * LENGTH / 2))


def test_events_see_and_change_it():
    empty = da.event("i - 0.2", reset={"i": 0})
    run = da.simulate(motor(), 1.0, start={"theta": 0.0}, inputs={"V": 1}, events=[empty])
    assert run.events
    assert run.events[0].after["i"] == 0.0
    assert run["i"].max() == pytest.approx(0.2, abs=1e-9)


def test_exports_and_files_carry_it(tmp_path, run):
    s = motor()
    namespace: dict = {}
    exec(str(da.export(s, "numpy")), namespace)
    y = [0.4, 0.2, 1.5]
    assert namespace["rates"](0.5, y, [2 * np.sin(1.5)]) == pytest.approx(by_hand(0.5, y))
    s.save(tmp_path / "motor.toml")
    again = da.simulate(
        da.load(tmp_path / "motor.toml"),
        1.0,
        start={"theta": 0.5, "i": 0.1},
        inputs={"V": "2*sin(3*t)"},
    )
    assert again["i"][-1] == run["i"][-1]


def test_two_states_may_drive_each_other():
    s = da.System("oscillator beside a particle")
    x = s.coordinate("x")
    P = s.O.offset(x * s.N.x)
    s.particle("p", 1, P)
    a, b = s.state("a", value=1), s.state("b")
    s.rate(a, b)
    s.rate(b, -a)
    s.force(a * s.N.x, at=P)
    run = da.simulate(s, 2.0)
    assert (run["a"][-1], run["x"][-1]) == pytest.approx((np.cos(2), 1 - np.cos(2)), abs=1e-8)


REFUSED = {
    "no rate": (lambda s: s.state("z"), r"state 'z' has no rate: give it by s\.rate\(z, …\)"),
    "twice": (lambda s: s.rate("i", 0), "i has a rate already"),
    "of a coordinate": (
        lambda s: s.rate("theta", 0),
        "theta is a coordinate; only a state has a rate of its own",
    ),
    "acceleration": (
        lambda s: s.state("z", rate=s["theta"].dot.dot),
        "rates depend on positions, velocities and time",
    ),
    "in a row": (
        lambda s: s.constrain(s["theta"] - s["i"]),
        "it contains the state i, on which loads may depend, but no position, row or V",
    ),
    "as a place": (
        lambda s: s.particle("p", 1, s.O.offset(s["i"] * s.N.x)),
        "i is a state, on which loads may depend",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refused(case):
    declare, message = REFUSED[case]
    s = motor()

    def derive():
        declare(s)
        da.kane(s)

    with pytest.raises(da.DalembertError, match=message):
        derive()


def test_what_is_refused_leaves_the_name_free():
    s = motor()
    with pytest.raises(da.DalembertError):
        s.state("z", rate="nowhere + 1")
    z = s.coordinate("z")
    assert z.dot.name == "z'"


def test_a_start_names_it_by_itself():
    with pytest.raises(BadStart, match="contains a first-order state; give the state by itself"):
        da.simulate(motor(), 0.1, start={"i + theta": 1}, inputs={"V": 0})
    with pytest.raises(
        Unknown,
        match=r"'i' is not a constant or an input of 'motor' but a state: give it with "
        r"start=\{'i': …\}",
    ):
        da.simulate(motor(), 0.1, values={"i": 1}, inputs={"V": 0})
