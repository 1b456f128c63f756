"""m a = F + f, Ḣ = M + μ for every body: the Newton–Euler equations with all bodies free.

The reactions f, μ on each body are unknowns beside u̇. That ideal reactions do no work on any motion the constraints allow,
Σ f·v_r + μ·ω_r = 0, closes the system: 6N + p equations for as many unknowns. A load on a point that no body carries acts on a
massless body of its own.

Source: Bar00 (14), Mei85 (7.24), (7.18); Mar (1).
"""

from __future__ import annotations

from dataclasses import dataclass, field

from dalembert.algebra.field import Trials
from dalembert.algebra.folds import Linear, Rewrite, gradient
from dalembert.algebra.tape import Triple
from dalembert.geometry.frame import Frame
from dalembert.geometry.point import Point
from dalembert.geometry.vector import Vector
from dalembert.kinematics.kinematics import Kinematics
from dalembert.kinetics.loads import applied_forces, applied_torques, dissipation, potential, weights
from dalembert.model.system import System
from dalembert.principles.base import Derivation, NativeForm, Principle, Step, items, on_fork

PRINCIPLE = Principle(
    "newton-euler", "Newton–Euler equations", "m a = F + f, Ḣ = M + μ", "Bar00 (14), Mei85 (7.24)", "free bodies", "vector", "u"
)


@dataclass
class FreeBody:
    """A body cut free: inertia, loads reduced to its point, and the symbols of its reactions along its axes."""

    name: str
    point: Point
    frame: Frame | None
    axes: Frame
    inertia_force: Vector
    inertia_torque: Vector
    F: Vector
    M: Vector
    f: Triple = field(default=(0, 0, 0))
    mu: Triple | None = None


def newton_euler(system: System | Kinematics) -> Derivation:
    """m a − F − f = 0, Ḣ − M − μ = 0 for every body, and Σ f·v_r + μ·ω_r = power of the potential loads      (r = 1, …, p)"""
    kin = on_fork(system)
    t = kin.tape
    bodies = _free_bodies(kin)
    reactions: dict[int, int] = {}
    balances: list[int] = []
    for body in bodies:
        balances += _balance(kin, reactions, body.f, body.axes, body.inertia_force - body.F)
        if body.mu is not None:
            balances += _balance(kin, reactions, body.mu, body.axes, body.inertia_torque - body.M)
    ideal = _powerless(kin, bodies)
    # what the balances say about the reactions, put into the last p equations
    eliminate = Rewrite(t, reactions)
    residuals = tuple(eliminate(e) for e in ideal)
    steps = (
        Step("Bodies cut free", "m a − F − f = 0, Ḣ − M − μ = 0", items(_labels(bodies), balances), "Bar00 (14)"),
        Step("Ideal reactions", "Σ f·v_r + μ·ω_r = 0", items(map(kin.name, kin.u), ideal), "Mei85 (7.18)"),
        Step("Reactions", "f = m a − F, μ = Ḣ − M", items(map(kin.name, reactions), reactions.values()), "Mei85 (7.24)"),
    )
    native = NativeForm("u", residuals, kin.udot, tuple(reactions), printed=(*balances, *ideal))
    return Derivation(PRINCIPLE, kin, steps, native)


def _free_bodies(kin: Kinematics) -> list[FreeBody]:
    t, N = kin.tape, kin.system.N
    none = Vector(t, {})
    bodies = []
    for b in kin.system.bodies:
        torque = none if b.frame is None or b.inertia is None else kin.motion.derivative(b.inertia @ kin.w(b.frame))
        bodies.append(FreeBody(b.name, b.G, b.frame, b.frame or N, b.mass * kin.a(b.G), torque, none, none))
    for name, F, P in (*weights(kin), *applied_forces(kin)):
        force = kin.vector_in_speeds(F)
        body = _carrier(kin, bodies, P)
        if body is None:
            body = FreeBody(name, P, None, N, none, none, none, none)
            bodies.append(body)
        body.F = body.F + force
        if body.frame is not None:
            body.M = body.M + (P - body.point).on(t).cross(force)
    for name, T, B in applied_torques(kin):
        body = next((b for b in bodies if b.frame is B), None)
        if body is None:
            body = FreeBody(name, kin.system.O, B, B, none, none, none, none)
            bodies.append(body)
        body.M = body.M + kin.vector_in_speeds(T)
    for k, body in enumerate(bodies, 1):
        body.f = _symbols(kin, f"f_{k}")
        body.mu = None if body.frame is None else _symbols(kin, f"mu_{k}")
    return bodies


def _symbols(kin: Kinematics, name: str) -> Triple:
    t = kin.tape
    return t.private_symbol(f"{name}x"), t.private_symbol(f"{name}y"), t.private_symbol(f"{name}z")


def _carrier(kin: Kinematics, bodies: list[FreeBody], P: Point) -> FreeBody | None:
    """The body that P is fixed to: v_P = v_G + ω × (P − G), decided exactly."""
    t = kin.tape
    trials = Trials(t)
    for body in bodies:
        v = kin.v(body.point)
        if P is body.point:
            return body
        if body.frame is not None:
            gap = kin.v(P) - v - kin.w(body.frame).cross((P - body.point).on(t))
            if all(trials.is_zero(list(gap.components(kin.system.N)))):
                return body
    return None


def _balance(kin: Kinematics, reactions: dict[int, int], symbols: Triple, axes: Frame, needed: Vector) -> list[int]:
    """needed − reaction = 0 along the axes; remembers what each reaction must be."""
    components = needed.components(axes)
    reactions |= dict(zip(symbols, components, strict=True))
    return [kin.tape.sub(c, s) for c, s in zip(components, symbols, strict=True)]


def _powerless(kin: Kinematics, bodies: list[FreeBody]) -> list[int]:
    """Σ f·v_r + μ·ω_r + V_q·W_r + ∂D/∂u_r = 0: reactions together with the potential loads do no virtual work."""
    t = kin.tape
    rows = [t.zero] * kin.n_u
    for r, k in Linear(t, kin.u)(kin.along_q(potential(kin)))[1].items():
        rows[r] = t.add(rows[r], k)
    for r, k in enumerate(gradient(t, {kin.in_speeds(dissipation(kin)): t.one}, kin.u)):
        rows[r] = t.add(rows[r], k)
    for body in bodies:
        wrenches = [(body.f, body.point)] if body.mu is None else [(body.f, body.point), (body.mu, body.frame)]
        for symbols, place in wrenches:
            reaction = Vector(t, {body.axes: symbols})
            for r, partial in kin.partials(place)[0].items():  # type: ignore[arg-type]
                rows[r] = t.add(rows[r], partial.dot_index(reaction))
    return rows


def _labels(bodies: list[FreeBody]) -> list[str]:
    """What each balance is: force or moment, of which body, along which of its axes."""
    found = []
    for body in bodies:
        found += [f"force on {body.name} along {axis}" for axis in "xyz"]
        if body.mu is not None:
            found += [f"moment on {body.name} along {axis}" for axis in "xyz"]
    return found
