"""n = (BᵀB)⁻¹Bᵀ e: the force of a constraint row, in q, u, t and the forces of contacts, for
friction that it presses.

e + B λ = 0 are Lagrange's equations along all coordinates, B = −Aᵀ; with u̇ = c + H Λ inserted, λ
is linear in the forces Λ of contacts.

Source: Gre03 (4.14).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from dalembert.mechanics.kinematics.system_kinematics import Kinematics
from dalembert.mechanics.kinetics.reactions import reactions
from dalembert.mechanics.principles.lagrange import lagrange
from dalembert.symbolic.algebra.elimination import Factorization
from dalembert.symbolic.algebra.expression_graph import (
    LinearCoefficients,
    Substitution,
    copy_expressions,
)
from dalembert.symbolic.algebra.sparse_matrix import Column, SparseMatrix


class AffineForce(NamedTuple):
    """n = n_0 + Σ_k n_k Λ_k, which presses from either side."""

    free: int
    coefficients: dict[int, int]


def joint_normal_forces(
    kin: Kinematics, c: Sequence[int], H: Sequence[Mapping[int, int]], forces: Sequence[int]
) -> dict[int, AffineForce]:
    """The force of the row or contact that presses, for every contact that names one."""
    t, contacts = kin.tape, kin.system.contacts
    normals = {c.name: c.N for c in contacts if c.N is not None}
    rows = {r.name for r in kin.rows_with_multipliers}
    by_contact, named = {}, {}
    for k, contact in enumerate(contacts):
        if contact.row is None:
            continue
        N = normals.get(contact.row)
        if contact.row in rows or N is None:
            named[k] = contact.row
        else:
            by_contact[k] = AffineForce(t.zero, {forces.index(N.i): t.one})
    if not named:
        return by_contact
    lam = _row_multipliers(kin)
    udot = Column(t, c) + SparseMatrix(t, H, len(forces)) @ Column(t, forces)
    on_motion = Substitution(t, dict(zip(kin.udot, udot, strict=True)))
    in_forces, sizes = LinearCoefficients(t, forces), _force_per_multiplier(kin)
    for k, row in named.items():
        j = next(j for j, r in enumerate(kin.rows_with_multipliers) if r.name == row)
        free, along = in_forces(t.mul(sizes[row], on_motion(lam[j])))
        by_contact[k] = AffineForce(free, along)
    return by_contact


def _row_multipliers(kin: Kinematics) -> list[int]:
    """λ of all rows in q, u, u̇ and t: BᵀB λ = −Bᵀe, whose pivots vanish only where rows depend
    on one another.
    """
    t, d = kin.tape, lagrange(kin)
    source = d.kinematics.tape
    linear = LinearCoefficients(source, d.native.multipliers)
    parts = [linear(r) for r in d.native.residuals]
    in_speeds = Substitution(t, dict(zip(kin.qddot, kin.qddot_of_u, strict=True)))

    def here(i: int) -> int:
        return kin.in_speeds(in_speeds(copy_expressions(source, t, (i,))[0]))

    e = [here(p[0]) for p in parts]
    m = len(d.native.multipliers)
    B = SparseMatrix(t, ({j: here(i) for j, i in p[1].items()} for p in parts), m)
    return Factorization(t, (B.T @ B).rows).solve((-(B.T @ Column(t, e))).nodes)


def _force_per_multiplier(kin: Kinematics) -> dict[str, int]:
    """|force|/λ of every row whose force is known; 1 where a row is known by its multiplier
    alone.
    """
    t, symbolic_reactions = kin.tape, reactions(kin)
    ones = Substitution(
        symbolic_reactions.tape,
        {row.multiplier.i: symbolic_reactions.tape.one for row in symbolic_reactions.rows},
    )
    sizes = {}
    for row in symbolic_reactions.rows:
        size = t.one
        if row.force is not None:
            size = kin.in_speeds(
                copy_expressions(
                    symbolic_reactions.tape,
                    t,
                    (symbolic_reactions.tape.call("sqrt", ones((row.force @ row.force).i)),),
                )[0]
            )
        sizes[row.row] = size
    return sizes
