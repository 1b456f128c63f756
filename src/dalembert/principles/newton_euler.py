"""m a = F + f, Ḣ = M + μ for every body: the Newton–Euler equations with all bodies free.

The reactions f, μ on each body are unknowns beside u̇. That ideal reactions do no work on any motion the constraints allow,
Σ f·v_r + μ·ω_r = 0, closes the system: 6N + p equations for as many unknowns. A load on a point that no body carries acts on a
massless body of its own.

Source: Bar00 (14), Mei85 (7.24), (7.18); Mar (1).
"""

from __future__ import annotations

from dataclasses import dataclass

from dalembert.algebra.folds import Linear, Rewrite, gradient
from dalembert.algebra.tape import Triple
from dalembert.geometry.frame import Frame
from dalembert.geometry.point import Point
from dalembert.geometry.vector import Vector
from dalembert.kinematics.system_kinematics import Kinematics
from dalembert.kinetics.free_bodies import FreeBody, free_bodies
from dalembert.kinetics.loads import dissipation, potential
from dalembert.model.system import System
from dalembert.principles.base import Derivation, NativeForm, Principle, Step, items, on_fork

PRINCIPLE = Principle(
    "newton-euler",
    "Newton–Euler equations",
    "m a = F + f, Ḣ = M + μ",
    "Bar00 (14), Mei85 (7.24)",
    "free bodies",
    "vector",
    "u",
    "Every body is cut free; what its neighbours do to it becomes an unknown reaction beside the applied loads.",
)


@dataclass
class Cut:
    """A free body with the symbols of its reactions along its axes."""

    body: FreeBody
    f: Triple
    mu: Triple | None


def newton_euler(system: System | Kinematics) -> Derivation:
    """m a − F − f = 0, Ḣ − M − μ = 0 for every body, and Σ f·v_r + μ·ω_r = power of the potential loads      (r = 1, …, p)"""
    kin = on_fork(system)
    t = kin.tape
    cuts = _cut(kin)
    reactions: dict[int, int] = {}
    balances: list[int] = []
    for cut in cuts:
        balances += _balance(kin, reactions, cut.f, cut.body.axes, cut.body.force)
        if cut.mu is not None:
            balances += _balance(kin, reactions, cut.mu, cut.body.axes, cut.body.moment)
    ideal = _powerless(kin, cuts)
    # what the balances say about the reactions, put into the last p equations
    eliminate = Rewrite(t, reactions)
    residuals = tuple(eliminate(e) for e in ideal)
    steps = (
        Step(
            "Bodies cut free",
            "m a − F − f = 0, Ḣ − M − μ = 0",
            items(_labels(cuts), balances),
            "Bar00 (14)",
            "Force and moment balance of each body along its axes, with the reactions f and μ on it.",
        ),
        Step(
            "Ideal reactions",
            "Σ f·v_r + μ·ω_r = 0",
            items(map(kin.name, kin.u), ideal),
            "Mei85 (7.18)",
            "Reactions of ideal constraints do no work on a motion that the constraints allow. These p equations close the system.",
        ),
        Step(
            "Reactions",
            "f = m a − F, μ = Ḣ − M",
            items(map(kin.name, reactions), reactions.values()),
            "Mei85 (7.24)",
            "The balances give every reaction; put into the p equations they leave the equations of motion.",
        ),
    )
    native = NativeForm("u", residuals, kin.udot, tuple(reactions), printed=(*balances, *ideal))
    return Derivation(PRINCIPLE, kin, steps, native)


def _cut(kin: Kinematics) -> list[Cut]:
    cuts = []
    for k, body in enumerate(free_bodies(kin), 1):
        moment = None if body.frame is None else _symbols(kin, f"mu_{k}")
        cuts.append(Cut(body, _symbols(kin, f"f_{k}"), moment))
    return cuts


def _symbols(kin: Kinematics, name: str) -> Triple:
    t = kin.tape
    return t.private_symbol(f"{name}x"), t.private_symbol(f"{name}y"), t.private_symbol(f"{name}z")


def _balance(kin: Kinematics, reactions: dict[int, int], symbols: Triple, axes: Frame, needed: Vector) -> list[int]:
    """needed − reaction = 0 along the axes; remembers what each reaction must be."""
    components = needed.components(axes)
    reactions |= dict(zip(symbols, components, strict=True))
    return [kin.tape.sub(c, s) for c, s in zip(components, symbols, strict=True)]


def _powerless(kin: Kinematics, cuts: list[Cut]) -> list[int]:
    """Σ f·v_r + μ·ω_r + V_q·W_r + ∂D/∂u_r = 0: reactions together with the potential loads do no virtual work."""
    t = kin.tape
    rows = [t.zero] * kin.n_u
    for r, k in Linear(t, kin.u)(kin.along_q(potential(kin)))[1].items():
        rows[r] = t.add(rows[r], k)
    for r, k in enumerate(gradient(t, {kin.in_speeds(dissipation(kin)): t.one}, kin.u)):
        rows[r] = t.add(rows[r], k)
    for cut in cuts:
        body = cut.body
        wrenches: list[tuple[Triple, Point | Frame]] = [(cut.f, body.point)]
        if cut.mu is not None and body.frame is not None:
            wrenches.append((cut.mu, body.frame))
        for symbols, place in wrenches:
            reaction = Vector(t, {body.axes: symbols})
            for r, partial in kin.partials(place)[0].items():
                rows[r] = t.add(rows[r], partial.dot_index(reaction))
    return rows


def _labels(cuts: list[Cut]) -> list[str]:
    """What each balance is: force or moment, of which body, along which of its axes."""
    found = []
    for cut in cuts:
        found += [f"force on {cut.body.name} along {axis}" for axis in "xyz"]
        if cut.mu is not None:
            found += [f"moment on {cut.body.name} along {axis}" for axis in "xyz"]
    return found
