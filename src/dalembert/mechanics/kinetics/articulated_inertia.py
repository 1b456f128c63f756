"""n = A α + B a, f = Bᵀ α + M a: the inertia of a link, its masses and all that it carries.
Keywords: spatial inertia, articulated body.

Source: R. Featherstone, Rigid Body Dynamics Algorithms (2008), chapter 7, at the link's point and
in the link's axes.
"""

from __future__ import annotations

from dalembert.foundation.deferred_dataclass import dataclass
from dalembert.mechanics.geometry.frame import Frame
from dalembert.mechanics.geometry.rotation import (
    Matrix3,
    add3,
    cross_matrix,
    matrix_product,
    matrix_sum,
    matrix_vector,
    negate3,
    negate_matrix,
    outer,
    parallel_axis_term,
    scale3,
    symmetrize,
    transpose,
)
from dalembert.mechanics.kinematics.kinematic_tree import TreeLink
from dalembert.mechanics.model.elements import Body
from dalembert.symbolic.algebra.tape import Tape, Triple


@dataclass
class InertiaBlocks:
    """A, B and M, symmetric but for B."""

    A: Matrix3
    B: Matrix3
    M: Matrix3

    def add(self, t: Tape, A: Matrix3, B: Matrix3, M: Matrix3) -> None:
        """Another inertia about the same point."""
        self.A, self.B, self.M = (
            matrix_sum(t, self.A, A),
            matrix_sum(t, self.B, B),
            matrix_sum(t, self.M, M),
        )

    def add_body(self, t: Tape, body: Body, rho: Triple, frame: Frame) -> Matrix3:
        """A rigid body with its mass centre at ρ; returns its A."""
        m = body.mass.i
        m_rho = scale3(t, m, rho)
        A = parallel_axis_term(t, m_rho, rho)
        if body.frame is not None and body.inertia is not None:
            A = matrix_sum(t, A, body.inertia.on(t).to(frame).rows)
        M = ((m, t.zero, t.zero), (t.zero, m, t.zero), (t.zero, t.zero, m))
        self.add(t, A, cross_matrix(t, m_rho), M)
        return A

    def wrench(self, t: Tape, w: Triple, v: Triple) -> tuple[Triple, Triple]:
        """(A w + B v, Bᵀ w + M v)"""
        return add3(t, matrix_vector(t, self.A, w), matrix_vector(t, self.B, v)), add3(
            t, matrix_vector(t, transpose(self.B), w), matrix_vector(t, self.M, v)
        )

    def eliminate(self, t: Tape, U_n: Triple, U_f: Triple, over_D: int) -> tuple[Triple, Triple]:
        """I − U Uᵀ/D for a joint rate; returns −U/D."""
        V_n, V_f = negate3(t, scale3(t, over_D, U_n)), negate3(t, scale3(t, over_D, U_f))
        self.A = symmetrize(matrix_sum(t, self.A, outer(t, V_n, U_n)))
        self.B = matrix_sum(t, self.B, outer(t, V_n, U_f))
        self.M = symmetrize(matrix_sum(t, self.M, outer(t, V_f, U_f)))
        return V_n, V_f

    def clear_axis(self, t: Tape, s_w: Triple, s_v: Triple) -> None:
        """S·I vanishes after S was eliminated: along a coordinate axis that is a row of exact
        zeros.
        """
        turns, slides = _axis_index(t, s_w, s_v), _axis_index(t, s_v, s_w)
        self.A = _zero_row_and_column(t, self.A, turns, turns)
        self.B = _zero_row_and_column(t, self.B, turns, slides)
        self.M = _zero_row_and_column(t, self.M, slides, slides)


def add_to_parent(t: Tape, total: InertiaBlocks, I: InertiaBlocks, link: TreeLink) -> None:
    """Rotate into the parent's axes, move to the parent's point, add; only M of a link that keeps
    its orientation.
    """
    assert link.parent is not None
    F, r_x = link.parent.frame, cross_matrix(t, link.r)
    zero = (t.zero, t.zero, t.zero)
    A, B, M = ((zero,) * 3, (zero,) * 3, I.M) if link.keeps_orientation else (I.A, I.B, I.M)
    if link.frame is not F:
        A, B, M = (
            symmetrize(_rotate(t, link, F, A)),
            _rotate(t, link, F, B),
            symmetrize(_rotate(t, link, F, M)),
        )
    moved_B = matrix_sum(t, B, matrix_product(t, r_x, M))
    # A' = A + [r]ₓ Bᵀ − B' [r]ₓ with B' = B + [r]ₓ M
    gain = matrix_sum(
        t, matrix_product(t, r_x, transpose(B)), negate_matrix(t, matrix_product(t, moved_B, r_x))
    )
    total.add(t, symmetrize(matrix_sum(t, A, gain)), moved_B, M)


def _rotate(t: Tape, link: TreeLink, F: Frame, X: Matrix3) -> Matrix3:
    """R X Rᵀ from the axes of a link to those of F."""
    x, y, z = (F.express(t, c, link.frame) for c in transpose(X))
    x, y, z = (F.express(t, c, link.frame) for c in transpose((x, y, z)))
    return x, y, z


def _axis_index(t: Tape, s: Triple, other: Triple) -> int | None:
    """Which coordinate axis S lies along, if it is one of them and nothing else."""
    if any(x != t.zero for x in other) or sum(x != t.zero for x in s) != 1:
        return None
    return next(k for k in range(3) if s[k] != t.zero)


def _zero_row_and_column(t: Tape, X: Matrix3, row: int | None, column: int | None) -> Matrix3:
    """X with a row and a column that are known to vanish."""
    return tuple(
        tuple(t.zero if i == row or j == column else x for j, x in enumerate(r))
        for i, r in enumerate(X)
    )  # type: ignore[return-value]
