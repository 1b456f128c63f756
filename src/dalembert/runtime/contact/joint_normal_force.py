"""n = (BᵀB)⁻¹Bᵀ e: the force of a constraint row, in q, u, t and the forces of contacts, for friction that it presses.

e + B λ = 0 are Lagrange's equations along all coordinates, B = −Aᵀ; with u̇ = c + H Λ inserted, λ is linear in the forces Λ of contacts.

Source: Gre03 (4.14).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from dalembert.mechanics.kinematics.system_kinematics import Kinematics
from dalembert.mechanics.kinetics.reactions import reactions
from dalembert.mechanics.principles.lagrange import lagrange
from dalembert.runtime.contact.symbolic_solve import eliminated
from dalembert.symbolic.algebra.expression_graph import Linear, Rewrite, transplant
from dalembert.symbolic.algebra.sparse_matrix import Column, Rows


class RowForce(NamedTuple):
    """n = n_0 + Σ_k n_k Λ_k, which presses from either side."""

    free: int
    along: dict[int, int]


def row_forces(kin: Kinematics, c: Sequence[int], H: Sequence[Mapping[int, int]], forces: Sequence[int]) -> dict[int, RowForce]:
    """The force of the row that presses, for every contact that names one."""
    named = {k: contact.row for k, contact in enumerate(kin.system.contacts) if contact.row is not None}
    if not named:
        return {}
    t = kin.tape
    lam = _multipliers(kin)
    udot = Column(t, c) + Rows(t, H, len(forces)) @ Column(t, forces)
    on_motion = Rewrite(t, dict(zip(kin.udot, udot, strict=True)))
    in_forces, sizes = Linear(t, forces), _sizes(kin)
    found = {}
    for k, row in named.items():
        j = next(j for j, r in enumerate(kin.acting_rows) if r.name == row)
        free, along = in_forces(t.mul(sizes[row], on_motion(lam[j])))
        found[k] = RowForce(free, along)
    return found


def _multipliers(kin: Kinematics) -> list[int]:
    """λ of all rows in q, u, u̇ and t: BᵀB λ = −Bᵀe, whose pivots vanish only where rows depend on one another."""
    t, d = kin.tape, lagrange(kin)
    source = d.kinematics.tape
    linear = Linear(source, d.native.multipliers)
    parts = [linear(r) for r in d.native.residuals]
    in_speeds = Rewrite(t, dict(zip(kin.qddot, kin.qddot_of_u, strict=True)))

    def here(i: int) -> int:
        return kin.in_speeds(in_speeds(transplant(source, t, (i,))[0]))

    e = [here(p[0]) for p in parts]
    m = len(d.native.multipliers)
    B = Rows(t, ({j: here(i) for j, i in p[1].items()} for p in parts), m)
    K = [list(line) for line in (B.T @ B).dense()]
    right = list(-(B.T @ Column(t, e)))
    return eliminated(t, K, right, [])[0]


def _sizes(kin: Kinematics) -> dict[str, int]:
    """|force|/λ of every row whose force is known; 1 where a row is known by its multiplier alone."""
    t, found = kin.tape, reactions(kin)
    ones = Rewrite(found.tape, {row.multiplier.i: found.tape.one for row in found.rows})
    sizes = {}
    for row in found.rows:
        size = t.one
        if row.force is not None:
            size = kin.in_speeds(transplant(found.tape, t, (found.tape.call("sqrt", ones((row.force @ row.force).i)),))[0])
        sizes[row.row] = size
    return sizes
