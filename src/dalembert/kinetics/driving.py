"""τ_x = d/dt ∂T/∂ẋ − ∂T/∂x + ∂V/∂x − Q_x − λᵀA_x: the load that makes a specified motion x(t) happen, and the power it takes.

Whatever moves as prescribed is held by a load that the equations of motion never contain. Lagrange's equation along x, as if x
were one more coordinate, gives it. A row that moves by itself (b ≠ 0) feeds in the power −λ b. Both together, and what time does
where it is written into a position or a potential, are the power fed in, P_in = d(T + V)/dt − P of the loads without potential.
"""

from __future__ import annotations

from dataclasses import dataclass

from dalembert.algebra.columns import Column, Rows, jacobian, slopes
from dalembert.algebra.formula import Symbol
from dalembert.kinematics.system_kinematics import Kinematics
from dalembert.kinetics.quantities import Quantities
from dalembert.kinetics.quantity import total
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
    t, n = kin.tape, kin.n_q
    of = Quantities(kin)
    T, V, given = of.rates.T.value, of.V.value, of.rates
    specified = [s for s in kin.system.symbols.values() if s.kind == "specified"]
    xdot = Column(t, (t.rate(s.scalar.i) or t.zero for s in specified))
    x, rates = Column(t, (*kin.q, *(s.scalar.i for s in specified))), Column(t, (*kin.qdot, *xdot))
    Q = given.without_potential(of.variables(Symbol("x", dots=1), rates, tuple(map(kin.name, rates)))).value
    left = slopes(T, rates).map(given.rate) - slopes(T, x) + slopes(V, x) - Q
    rows = held_rows(kin)
    A = Rows(t, (row.A for row in rows), n)
    A_x = jacobian(Column(t, (row.nonlinear or row.b for row in rows)), xdot)
    drives = tuple(map(Drive, (s.name for s in specified), xdot, left.nodes[n:], A_x.T.dense()))
    moved = A @ Column(t, kin.qdot) + A_x @ xdot
    fed = given.rate((T + V).i)
    power = total(given.forces_without_potential.dot(given.v)).value + total(given.moments.dot(given.w)).value
    D = given.dissipation.value
    return Driving(left.nodes[:n], A.dense(), drives, moved.nodes, (kin.scalar(fed) - (power - rates @ slopes(D, rates))).i)
