"""τ_x = d/dt ∂T/∂ẋ − ∂T/∂x + ∂V/∂x − Q_x − λᵀA_x: the load that makes a specified motion x(t) happen, and the power it takes.

Whatever moves as prescribed is held by a load that the equations of motion never contain. Lagrange's equation along x, as if x
were one more coordinate, gives it. A row that moves by itself (b ≠ 0) feeds in the power −λ b. Both together, and what time does
where it is written into a position or a potential, are the power fed in, P_in = d(T + V)/dt − P of the loads without potential.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dalembert.algebra.folds import Derivative, gradient
from dalembert.geometry.vector import Vector
from dalembert.kinematics.system_kinematics import Kinematics
from dalembert.kinetics.energies import kinetic_energy
from dalembert.kinetics.loads import applied_forces, applied_torques, dissipation, gravity_potential, potential
from dalembert.kinetics.row_actions import held_rows


@dataclass(frozen=True)
class Drive:
    """A specified motion: its rate ẋ, the load without the rows, and A_x of every row, so that τ = load − λᵀA_x."""

    name: str
    rate: int
    load: int
    rows: tuple[int, ...]


@dataclass(frozen=True)
class Driving:
    """Nodes in q, q̇, q̈ and t: Aᵀλ along q, the drives, A q̇ + Σ A_x ẋ of every row, and P_in."""

    # d/dt ∂T/∂q̇ − ∂T/∂q + ∂V/∂q − Q, which the rows balance
    along_q: tuple[int, ...]
    # A, row by row
    A: tuple[tuple[int, ...], ...]
    drives: tuple[Drive, ...]
    row_rates: tuple[int, ...]
    power: int


def driving(kin: Kinematics) -> Driving:
    """What the rows and the specified motions have to exert along a motion; `kin` is a fork of its own."""
    t = kin.tape
    rate = Derivative(t, t.rate)
    T = kinetic_energy(kin, kin.motion_in_rates.v, kin.motion_in_rates.w)
    V = t.add(potential(kin), gravity_potential(kin))
    specified = [s for s in kin.system.symbols.values() if s.kind == "specified"]
    x, xdot = [s.scalar.i for s in specified], [t.rate(s.scalar.i) or t.zero for s in specified]
    variables, rates = [*kin.q, *x], [*kin.qdot, *xdot]
    momenta = gradient(t, {T: t.one}, rates)
    slopes = gradient(t, {T: t.neg(t.one), V: t.one}, variables)
    Q = _loads(kin, rates)
    left = [t.sub(t.add(rate(p), g), f) for p, g, f in zip(momenta, slopes, Q, strict=True)]
    n = kin.n_q
    rows = held_rows(kin)
    A_x = [gradient(t, {row.nonlinear or row.b: t.one}, xdot) for row in rows]
    drives = tuple(Drive(s.name, r, e, tuple(a[k] for a in A_x)) for k, (s, r, e) in enumerate(zip(specified, xdot, left[n:], strict=True)))
    moved = [_product(kin, row.A, kin.qdot, a, xdot) for row, a in zip(rows, A_x, strict=True)]
    A = tuple(tuple(row.A.get(k, t.zero) for k in range(n)) for row in rows)
    fed = t.sub(rate(t.add(T, V)), _power(kin))
    return Driving(tuple(left[:n]), A, drives, tuple(moved), fed)


def _product(kin: Kinematics, A: dict[int, int], qdot: Sequence[int], A_x: Sequence[int], xdot: Sequence[int]) -> int:
    """A q̇ + Σ A_x ẋ"""
    t = kin.tape
    total = t.zero
    for a, v in [*((a, qdot[k]) for k, a in A.items()), *zip(A_x, xdot, strict=True)]:
        total = t.add(total, t.mul(a, v))
    return total


def _contracted(kin: Kinematics) -> list[tuple[Vector, Vector]]:
    """Every load without potential, and the velocity it acts on, in q̇."""
    motion = kin.motion_in_rates
    pairs = [(F, motion.v(P)) for _, F, P in applied_forces(kin)] + [(M, motion.w(B)) for _, M, B in applied_torques(kin)]
    return [(kin.vector_in_rates(load), velocity) for load, velocity in pairs]


def _loads(kin: Kinematics, rates: Sequence[int]) -> list[int]:
    """Q = Σ F·∂v/∂q̇ + Σ M·∂ω/∂q̇ − ∂D/∂q̇ along all rates, specified ones too."""
    t = kin.tape
    Q = [t.neg(d) for d in gradient(t, {dissipation(kin): t.one}, rates)]
    for load, velocity in _contracted(kin):
        seeds: dict[int, int] = {}
        for F, c in velocity.parts.items():
            for e, f in zip(c, load.components(F), strict=True):
                seeds[e] = t.add(seeds.get(e, t.zero), f)
        Q = [t.add(a, b) for a, b in zip(Q, gradient(t, seeds, rates), strict=True)]
    return Q


def _power(kin: Kinematics) -> int:
    """Σ F·v + Σ M·ω − Σ q̇ ∂D/∂q̇, with the whole velocities."""
    t = kin.tape
    total = t.zero
    for load, velocity in _contracted(kin):
        total = t.add(total, load.dot_index(velocity))
    moving = [*kin.qdot, *(t.rate(s.scalar.i) or t.zero for s in kin.system.symbols.values() if s.kind == "specified")]
    for v, d in zip(moving, gradient(t, {dissipation(kin): t.one}, moving), strict=True):
        total = t.sub(total, t.mul(v, d))
    return total
