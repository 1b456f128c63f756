"""S = ∂(q, u)/∂p along a run, against extrapolated differences of runs and against closed forms."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import dalembert as da
from dalembert.errors import NotApplicable, Unknown
from dalembert.gallery import build, entry, spatial_chain
from dalembert.runtime.dynamics.compile import select_equations
from dalembert.runtime.simulation.forward_sensitivity import variational_equations
from dalembert.runtime.simulation.model import native_model
from dalembert.runtime.states.run_values import run_values

if TYPE_CHECKING:
    from pathlib import Path

TIGHT: dict[str, Any] = {"rtol": 1e-12, "atol": 1e-12, "audit": False}


def differences(f: Callable[[float], Any], h: float) -> Any:
    """f'(0) of order six."""
    return sum(w * (f(k * h) - f(-k * h)) for k, w in ((1, 45), (2, -9), (3, 1))) / (60 * h)


def oscillator() -> da.System:
    """m ẍ + k x = 0"""
    s = da.System("oscillator")
    m, k = s.constants(m=2.0, k=8.0)
    (x,) = s.coordinates("x")
    s.particle("P", m, s.O.offset(x * s.N.x))
    s.potential(k * x**2 / 2)
    return s


def test_an_oscillator_varies_as_its_closed_form() -> None:
    """x = x₀ cos ωt + v₀/ω sin ωt with ω = √(k/m): ∂x/∂k, ∂x/∂x₀, ∂x/∂v₀"""
    s = oscillator()
    run = da.simulate(
        s, 5.0, start={"x": 1.0, "x.dot": 0.5}, sensitivities=["k", "x", "x.dot"], **TIGHT
    )
    t, w = run.t, 2.0
    along_w = -t * np.sin(w * t) + 0.5 * (t * np.cos(w * t) / w - np.sin(w * t) / w**2)
    assert along_w * w / 16 == pytest.approx(run.sensitivity("x", "k"), abs=1e-10)
    assert np.cos(w * t) == pytest.approx(run.sensitivity("x", "x"), abs=1e-10)
    assert np.sin(w * t) / w == pytest.approx(run.sensitivity("x", "x.dot"), abs=1e-10)
    # an expression: E = ½ k x² + ½ m v² is constant, ∂E/∂k = ½ x₀²
    energy = "k*x**2/2 + m*x.dot**2/2"
    assert np.full(len(t), 0.5) == pytest.approx(run.sensitivity(energy, "k"), abs=1e-9)
    # and one with an acceleration: m ẍ + k x vanishes whatever k
    assert np.zeros(len(t)) == pytest.approx(run.sensitivity("m*x.dot.dot + k*x", "k"), abs=1e-10)


def test_the_motion_is_within_its_tolerance_with_and_without() -> None:
    s = build("double-pendulum")
    start = {"alpha": 1.0, "beta": 0.5}
    times = np.linspace(0, 2, 9)
    alone = da.simulate(s, 2.0, start=start, at=times)
    beside = da.simulate(s, 2.0, start=start, at=times, sensitivities=["m_1"])
    assert alone.q == pytest.approx(beside.q, abs=1e-7)
    assert alone.integrals.E_Z == pytest.approx(beside.integrals.E_Z, abs=1e-6)


def test_start_values_that_depend_on_constants_vary_with_them() -> None:
    s = build("double-pendulum")
    times = np.linspace(0, 1, 5)

    def q(h: float) -> Any:
        return da.simulate(
            s, 1.0, start={"alpha": "l_1/2"}, values={"l_1": 1.0 + h}, at=times, **TIGHT
        ).q

    run = da.simulate(s, 1.0, start={"alpha": "l_1/2"}, sensitivities=["l_1"], at=times, **TIGHT)
    assert run.sensitivity("alpha", "l_1")[0] == 0.5
    assert differences(q, 1e-3) == pytest.approx(run.sensitivities.columns("l_1")[:, :2], abs=1e-7)


def test_columns_go_to_files_and_frames(tmp_path: Path) -> None:
    run = da.simulate(oscillator(), 1.0, start={"x": 1.0}, sensitivities=["k", "x"])
    run.to_csv(tmp_path / "run.csv")
    head, first = (tmp_path / "run.csv").read_text().splitlines()[:2]
    assert head == "t,x,x.dot,d x/d k,d x.dot/d k,d x/d x(0),d x.dot/d x(0)"
    assert [0, 1, 0, 0, 0, 1, 0] == [float(x) for x in first.split(",")]
    assert "d x/d k" in run.to_pandas().columns
    assert "d/d k" in str(run.sensitivities)
    run.sensitivities.plot(path=tmp_path / "s.svg")
    assert "|p| d x/dp" in (tmp_path / "s.svg").read_text()


def test_what_cannot_be_varied_is_refused() -> None:
    s = oscillator()
    with pytest.raises(Unknown, match="'kk' is no constant and no start value"):
        da.simulate(s, 1.0, sensitivities=["kk"])
    with pytest.raises(Unknown, match="give a list"):
        da.simulate(s, 1.0, sensitivities="k")
    with pytest.raises(Unknown, match="named twice"):
        da.simulate(s, 1.0, sensitivities=["k", "k"])
    with pytest.raises(NotApplicable, match="native integrator"):
        da.simulate(s, 1.0, sensitivities=["k"], integrator="RK45")
    with pytest.raises(NotApplicable, match="keep_energy"):
        da.simulate(s, 1.0, sensitivities=["k"], keep_energy=True)
    with pytest.raises(NotApplicable, match="has no sensitivities"):
        da.simulate(s, 1.0).sensitivity("x", "k")
    with pytest.raises(Unknown, match="has no sensitivity to 'm'"):
        da.simulate(s, 1.0, sensitivities=["k"]).sensitivity("x", "m")


@pytest.mark.parametrize("name", ["lagrange-top", "chaplygin-sleigh", "rolling-disk"])
def test_gallery_systems_vary_as_differences_say(name: str) -> None:
    s, start = build(name), dict(entry(name).start)
    constant = next(n for n, x in s.symbols.items() if x.kind == "constant")
    value, times = s.symbols[constant].value, np.linspace(0.0, 1.0, 5)

    def state(h: float) -> Any:
        run = da.simulate(s, 1.0, start=start, values={constant: value + h}, at=times, **TIGHT)
        return np.column_stack([run.q, run.u])

    run = da.simulate(s, 1.0, start=start, at=times, sensitivities=[constant], **TIGHT)
    expected = differences(state, 1e-3 * abs(value))
    assert expected == pytest.approx(
        run.sensitivities.columns(constant), rel=1e-6, abs=1e-6 * np.abs(expected).max() + 1e-9
    )


def test_loads_that_jump_with_the_state_are_warned_about() -> None:
    s = da.System("block")
    m, F = s.constants(m=1.0, F=2.0)
    x = s.coordinate("x")
    s.particle("block", m, s.O.offset(x * s.N.x))
    s.generalized_force(x, -F * da.sign(x.dot))
    with pytest.warns(da.DalembertWarning, match="a load jumps with the state"):
        da.simulate(s, 0.1, start={"x.dot": 2.0}, sensitivities=["m"])


IMPLIED = {
    "chain of 4": lambda: spatial_chain.build(4),
    "rolling-disk": lambda: build("rolling-disk"),
    "whipple-bicycle": lambda: build("whipple-bicycle"),
    "planar chain with a base that slides": lambda: sliding_chain(4),
}


def sliding_chain(n: int) -> da.System:
    """Rods on a sliding block, each with a damper and the last with an elastic spring to O."""
    s = da.System("Sliding chain", gravity=9.81)
    m, l, c, k = s.constants(m=1.1, l=0.7, c=0.2, k=3.0)
    x = s.coordinate("x")
    tip, F = s.O.offset(x * s.N.x, "block"), s.N
    s.particle("block", 2, tip)
    for i in range(n):
        angle = s.coordinate(f"q_{i}")
        F = F.rotated(angle, F.z if i % 2 else F.y, f"F{i}")
        s.body(f"rod {i}", m, tip.offset(l / 2 * F.x, frame=F), F, da.rod_inertia(F.x, m, l))
        s.dissipation(c * angle.dot**2 / 2)
        tip = tip.offset(l * F.x, f"tip {i}", F)
    s.spring(k, tip, s.O)
    return s


@pytest.mark.parametrize(
    "case",
    [pytest.param(x, marks=pytest.mark.slow) if "bicycle" in x else x for x in IMPLIED],
)
def test_derivatives_of_residuals_are_those_of_the_accelerations(
    case: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    s = IMPLIED[case]()
    kin, equations = select_equations(s, "native")
    model = native_model(run_values(kin, {}, {}), equations)
    constants = [i for i in model.parameters if kin.tape.nodes[i][0] == "symbol"][:1]
    directions = (*constants, None)
    found = []
    for least in (0, 10**9):
        monkeypatch.setattr(variational_equations, "_MIN_OPERATIONS", least)
        varied = variational_equations._explicit_variational(kin, model, directions)
        rng = np.random.default_rng(5)
        x = rng.normal(size=varied.rates.n_in)
        p = rng.uniform(0.5, 1.5, size=len(varied.parameters))
        found.append((varied.rates.call(x, p), varied.operation_counts[0]))
    (implied, fewer), (direct, operations) = found
    assert fewer < operations or case == "rolling-disk"
    assert np.abs(implied - direct).max() <= 1e-10 * np.abs(direct).max()
