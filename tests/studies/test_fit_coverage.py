"""A hundred noisy runs of each: estimates scatter as their standard errors say, and what cannot
be told apart is named exactly.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

import dalembert as da
from dalembert.gallery import build

REPETITIONS = 100


@dataclass(frozen=True)
class Experiment:
    """A system, its run, what is measured with which noise, and what is unknown."""

    system: da.System
    duration: float
    columns: Mapping[str, float]
    unknown: tuple[str, ...]
    start: Mapping[str, float] = field(default_factory=dict)
    inputs: Mapping[str, Any] = field(default_factory=dict)
    samples: int = 60

    def true(self, name: str) -> float:
        """The value that the data were made with."""
        symbol = self.system.symbols.get(name)
        return (
            float(self.start.get(name, 0.0))
            if symbol is None or symbol.value is None
            else float(symbol.value)
        )


def pendulum() -> Experiment:
    """θ̈ + d θ̇ + w sin θ = 0 with w = m g l/I and d = c/I"""
    s = da.System("pendulum")
    I, w, d = s.constants(I=1.0, w=9.0, d=0.15)
    theta = s.coordinate("theta")
    B = s.N.rotated(theta, s.N.z, "B")
    s.body("bar", 1, s.O, B, da.inertia(B, I, I, I))
    s.potential(-w * I * da.cos(theta))
    s.dissipation(d * I * theta.dot**2 / 2)
    return Experiment(
        s, 4.0, {"theta": 0.02}, ("w", "d", "theta", "theta.dot"), {"theta": 1.0, "theta.dot": 0.5}
    )


def cart_and_bar() -> Experiment:
    """m/M, k/M, a and g from x and θ; without the force M itself does not show."""
    columns = {"x": 0.002, "theta": 0.01}
    return Experiment(
        build("cart-and-bar"),
        4.0,
        columns,
        ("m", "a", "k", "g"),
        {"theta": 1.0, "x": 0.2},
        {"F": 0},
    )


def arm() -> Experiment:
    """Three revolute joints, z y y: I₁, and of each of two slender links its two inertias about
    the joint and its first moment.
    """
    s = da.System("spatial 3R arm", gravity=9.81)
    q = s.coordinates("q1 q2 q3")
    torques = [s.input(f"T{k}") for k in (1, 2, 3)]
    I1, a = s.constant("I1", 0.3), s.constant("a2", 0.6)
    d = s.constant("d", 0.4)
    B1 = s.N.rotated(q[0], s.N.y, "B1")
    B2 = B1.rotated(q[1], B1.z, "B2")
    B3 = B2.rotated(q[2], B2.z, "B3")
    s.body("column", 1, s.O, B1, da.inertia(B1, 0.1, I1, 0.1))
    joint = s.O
    for k, (B, length, m, x, y, z) in enumerate(
        ((B2, a, 2.0, 0.04, 0.12, 0.15), (B3, a, 1.2, 0.03, 0.06, 0.08)), 2
    ):
        c, Ix, Iy, Iz = (
            s.constant(f"{n}{k}", v) for n, v in (("c", 0.3), ("Ix", x), ("Iy", y), ("Iz", z))
        )
        s.body(f"link {k}", m, joint.offset(c * B.x), B, da.inertia(B, Ix, Iy, Iz))
        joint = joint.offset(length * B.x)
    for k, (T, B, outer, axis) in enumerate(
        zip(torques, (B1, B2, B3), (s.N, B1, B2), (s.N.y, B1.z, B2.z), strict=True)
    ):
        s.torque((T - d * q[k].dot) * axis, B, reaction=None if k == 0 else outer)
    inputs = {"T1": "3*sin(2*t)", "T2": "6*cos(3*t)", "T3": "2*sin(5*t)"}
    unknown = ("I1", "c2", "Iy2", "Iz2", "c3", "Iy3", "Iz3")
    return Experiment(
        s, 3.0, {"q1": 1e-3, "q2": 1e-3, "q3": 1e-3}, unknown, {"q2": -1.2, "q3": 0.5}, inputs, 90
    )


def bicycle() -> Experiment:
    """Trail, wheelbase and the lean inertia of frame and rider from lean, steer and yaw."""
    columns = {"phi": 5e-4, "delta": 5e-4, "psi": 1e-3}
    return Experiment(
        build("whipple-bicycle"),
        3.0,
        columns,
        ("c", "w", "IB_xx"),
        {"v": 4.6, "u_phi": 0.5},
        samples=60,
    )


EXPERIMENTS = {
    "pendulum": pendulum,
    "cart and bar": cart_and_bar,
    "spatial 3R arm": arm,
    "bicycle": bicycle,
}


def repeated(e: Experiment, repetitions: int) -> tuple[Any, Any]:
    """Estimates and standard errors, a row for each repetition, from first guesses 3 % off."""
    times = np.linspace(0.0, e.duration, e.samples)
    run = da.simulate(
        e.system,
        e.duration,
        start=e.start,
        inputs=e.inputs,
        at=times,
        rtol=1e-11,
        atol=1e-11,
        audit=False,
    )
    rng = np.random.default_rng(20)
    estimates, errors = [], []
    for _ in range(repetitions):
        data = {
            "t": times,
            **{c: run[c] + sigma * rng.normal(size=len(times)) for c, sigma in e.columns.items()},
        }
        guesses = {n: e.true(n) * 1.03 for n in e.unknown}
        found = da.fit(
            e.system, data, guesses, start=e.start, inputs=e.inputs, rtol=1e-8, atol=1e-8
        )
        assert found.converged
        assert found.inseparable.groups == ()
        estimates.append(list(found.values.values()))
        errors.append(list(found.standard_errors.values()))
    return np.array(estimates), np.array(errors)


@pytest.mark.slow
@pytest.mark.parametrize("name", EXPERIMENTS)
def test_one_sigma_holds_two_thirds(name: str) -> None:
    e = EXPERIMENTS[name]()
    estimates, errors = repeated(e, REPETITIONS)
    true = np.array([e.true(n) for n in e.unknown])
    inside = np.abs(estimates - true) < errors
    scatter = estimates.std(axis=0, ddof=1)
    # 68 % ± two standard deviations of a share of a hundred, of each unknown
    assert (inside.mean(axis=0) >= 0.58).all()
    assert (inside.mean(axis=0) <= 0.78).all()
    assert np.ones(len(scatter)) == pytest.approx(errors.mean(axis=0) / scatter, abs=0.25)


@pytest.mark.slow
def test_what_an_arm_cannot_tell_apart_is_what_its_base_parameters_say() -> None:
    """About the vertical I₁ + Ix₂ sin² q₂ + Iy₂ cos² q₂ shows: of three unknowns I₁ + Ix₂ and
    Iy₂ − Ix₂, and Iz₂ by itself.
    """
    e = arm()
    times = np.linspace(0.0, e.duration, 30)
    run = da.simulate(e.system, e.duration, start=e.start, inputs=e.inputs, at=times, audit=False)
    data = {"t": times, **{c: run[c] for c in e.columns}}
    alone = da.fit(e.system, data, e.unknown, start=e.start, inputs=e.inputs, noise=1e-3)
    assert alone.structure.decided
    assert () == alone.structure.groups
    with pytest.warns(da.DalembertWarning, match="I1, Iy2, Ix2 are not separately identifiable"):
        more = da.fit(
            e.system, data, [*e.unknown, "Ix2"], start=e.start, inputs=e.inputs, noise=1e-3
        )
    assert (("I1", "Iy2", "Ix2"),) == more.structure.groups == more.inseparable.groups
