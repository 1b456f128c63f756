"""F_r + F_r* = 0: Kane's equations.

Partial velocities project the balances of force and moment onto the directions that the independent speeds affect.

Source: Bar00 (26)–(30), Mar (7)–(11).
"""

from __future__ import annotations

from collections.abc import Iterable

from dalembert.equations.chetaev import with_nonlinear_rows
from dalembert.geometry.frame import Frame
from dalembert.geometry.point import Point
from dalembert.kinematics.system_kinematics import Kinematics
from dalembert.kinetics.generalized_forces import generalized_active_forces, project
from dalembert.model.system import System
from dalembert.principles.base import Derivation, Item, NativeForm, Principle, Step, chetaev_step, items, on_fork

PRINCIPLE = Principle(
    "kane",
    "Kane's equations",
    "F_r + F_r* = 0",
    "Bar00 (29)–(30), Mar (11)",
    "velocities",
    "vector",
    "u",
    "Along every direction that an independent speed opens, the applied loads and the inertia loads balance. Reactions of ideal "
    "constraints have no part along these directions, so they never enter.",
)


def kane(system: System | Kinematics) -> Derivation:
    """F_r + F_r* = 0      (r = 1, …, p)"""
    kin = on_fork(system, nonlinear=True)
    t = kin.tape
    F = generalized_active_forces(kin)
    F_star = generalized_inertia_forces(kin)
    residuals = with_nonlinear_rows(kin, [t.neg(t.add(a, b)) for a, b in zip(F, F_star, strict=True)])
    native = NativeForm("u", tuple(residuals), kin.udot)
    return Derivation(PRINCIPLE, kin, (*_steps(kin, F, F_star), *chetaev_step(kin)), native)


def generalized_inertia_forces(kin: Kinematics) -> list[int]:
    """F_r* = −Σ (m a_G · v_r + Ḣ · ω_r),   Ḣ = d(I·ω)/dt      (r = 1, …, p)

    Source: Bar00 (29), Mar (10).
    """
    t = kin.tape
    F_star = [t.zero] * kin.n_u
    for body in kin.system.bodies:
        R_star = -(body.mass * kin.a(body.G))
        project(kin, F_star, body.G, R_star)
        if body.frame is not None and body.inertia is not None:
            w_NB = kin.w(body.frame)
            T_star = -kin.motion.derivative(body.inertia @ w_NB)
            project(kin, F_star, body.frame, T_star)
    return F_star


def _steps(kin: Kinematics, F: list[int], F_star: list[int]) -> tuple[Step, ...]:
    bodies = kin.system.bodies
    frames = [b.frame for b in bodies if b.frame is not None]
    numbers = range(1, kin.n_u + 1)
    return (
        Step(
            "Speeds",
            "q̇ = W u + X",
            items(map(kin.name, kin.qdot), kin.qdot_of_u),
            "Bar00 (23), Gre03 (4.7)",
            "Every rate is a combination of the p independent speeds; the constraint rows are used up here and need no multipliers.",
        ),
        Step(
            "Velocities",
            "v = Σ v_r u_r + v_t",
            tuple(_velocities(kin)),
            "Bar00 (27)",
            "Every velocity is linear in the speeds: what stands beside a speed is a direction in which the system can move.",
        ),
        Step(
            "Partial velocities",
            "v_r = ∂v/∂u_r",
            tuple(_partials(kin, [b.G for b in bodies])),
            "Bar00 (26)",
            "They are read off as coefficients; nothing is differentiated.",
        ),
        Step(
            "Partial angular velocities",
            "ω_r = ∂ω/∂u_r",
            tuple(_partials(kin, frames)),
            "Bar00 (26)",
            "The same for the turning of each body; moments are projected on them.",
        ),
        Step(
            "Generalized active forces",
            "F_r = Σ v_r·R + Σ ω_r·T",
            items((f"F_{r}" for r in numbers), F),
            "Bar00 (30)",
            "The power of the applied loads for each unit of a speed. A load at right angles to all partial velocities drops out.",
        ),
        Step(
            "Generalized inertia forces",
            "F_r* = −Σ m a·v_r − Σ Ḣ·ω_r",
            items((f"F*_{r}" for r in numbers), F_star),
            "Bar00 (29)",
            "Accelerations are formed once, as vectors, and projected like the loads; no kinetic energy is differentiated.",
        ),
    )


def _velocities(kin: Kinematics) -> Iterable[Item]:
    for body in kin.system.bodies:
        yield Item(f"v of {body.name}", kin.v(body.G))
        if body.frame is not None:
            yield Item(f"ω of {body.name}", kin.w(body.frame))


def _partials(kin: Kinematics, places: Iterable[Point | Frame]) -> Iterable[Item]:
    for X in places:
        for r, v_r in kin.partials(X)[0].items():
            yield Item(f"{X.name}, {kin.name(kin.u[r])}", v_r)
