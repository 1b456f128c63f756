"""∂u̇ = −M⁻¹ ∂ID for an open tree, written out on the tape: pairs of degrees of freedom, then
columns through the articulated bodies.

A column is {row: node}; entries that vanish identically, as those of two branches do, are left out.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from dalembert.mechanics.geometry.rotation import dot3
from dalembert.runtime.derivatives.sparse import Slopes, forward_slopes
from dalembert.runtime.derivatives.spatial_vectors import Six, SpatialVectors
from dalembert.runtime.derivatives.tree_tables import DegreeOfFreedom, TreeTables

Column = dict[int, int]


class TreeColumns:
    """The columns of a tree's derivatives, from its tables."""

    def __init__(self, tables: TreeTables) -> None:
        self.tables, self.t = tables, tables.tape
        self.x, self.dofs = SpatialVectors(tables.tape), tables.dofs
        # U/D
        self._through = [self.x.scaled(f.over_D, f.U) for f in self.dofs]

    def by_displacements(self) -> list[Column]:
        """∂ID/∂π_j: along the degrees of freedom themselves, turns about a body's own axes for a
        ball joint.
        """
        return self._pairs(self._moved, lambda f: f.d)

    def by_speeds(self) -> list[Column]:
        """∂ID/∂u_j"""
        return self._pairs(self._swung, lambda f: f.e)

    def by_coordinates(self) -> list[Column]:
        """∂ID/∂q_k = Σ_j ∂ID/∂π_j ∂π_j/∂q_k; of a quaternion δπ = 2 E δe/(e·e)."""
        t, kin = self.t, self.tables.kinematics
        along = dict(zip(self.tables.speeds, self.by_displacements(), strict=True))
        columns: dict[int, Column] = {}
        for f in self.dofs:
            ball = f.link.ball
            if ball is None:
                columns[kin.q[kin.qdot.index(f.speed)]] = along[f.speed]
            elif ball.e[0] not in columns:
                spins = [along[s] for s, _, _ in f.link.joint_axes]
                twice = t.div(t.const(2), ball.squared_norm(t))
                for k, e in enumerate(ball.e):
                    factors = [t.mul(twice, row[k]) for row in ball.rows(t)]
                    columns[e] = self._combined(factors, spins)
        return [columns.get(q, {}) for q in kin.q]

    def _combined(self, factors: Sequence[int], columns: Sequence[Column]) -> Column:
        t, total = self.t, Column()
        for k, column in zip(factors, columns, strict=True):
            for row, e in column.items():
                total[row] = t.add(total.get(row, t.zero), t.mul(k, e))
        return {row: e for row, e in total.items() if e != t.zero}

    def of_loads(self, wrt: Sequence[int]) -> list[Column]:
        """−∂Q/∂x of the declared loads."""
        t, columns = self.t, [Column() for _ in wrt]
        seeds: dict[int, Slopes] = {x: {j: t.one} for j, x in enumerate(wrt)}
        for row, slopes in enumerate(forward_slopes(t, self.tables.loads, seeds)):
            for j, d in slopes.items():
                columns[j][row] = t.neg(d)
        return columns

    def added(self, one: Column, other: Column) -> Column:
        """The sum of two columns."""
        return self._combined((self.t.one, self.t.one), (one, other))

    def _moved(self, i: DegreeOfFreedom, j: DegreeOfFreedom) -> int:
        """∂ID_i/∂q_j = b_i·Ψ'_j + g_i·Ψ''_j"""
        return self.t.add(dot3(self.t, i.b, j.psi1[0]), self.x.dot(j.psi2, i.g))

    def _swung(self, i: DegreeOfFreedom, j: DegreeOfFreedom) -> int:
        """∂ID_i/∂u_j = b_i·S_j + g_i·Θ_j"""
        return self.t.add(dot3(self.t, i.b, j.S[0]), self.x.dot(j.theta, i.g))

    def _pairs(
        self,
        inner: Callable[[DegreeOfFreedom, DegreeOfFreedom], int],
        column: Callable[[DegreeOfFreedom], Six],
    ) -> list[Column]:
        """inner(i, j) for j on the way to i and in the same joint, S_j·column(i) elsewhere."""
        t, columns = self.t, [Column() for _ in self.dofs]
        for i, f in enumerate(self.dofs):
            j = i
            while j >= 0:
                g = self.dofs[j]
                columns[j][i] = inner(f, g)
                if j < i:
                    columns[i][j] = inner(g, f) if g.link is f.link else self.x.dot(g.S, column(f))
                j = g.parent
        return [{row: e for row, e in c.items() if e != t.zero} for c in columns]

    def solve(self, column: Mapping[int, int], rows: int | None = None) -> Column:
        """−M⁻¹ times a column, or the first `rows` entries of it."""
        t, x6, dofs = self.t, self.x, self.dofs
        force: dict[int, Six] = {}
        left: dict[int, int] = {}
        for i in reversed(range(len(dofs))):
            f, p = dofs[i], force.pop(i, None)
            entry = column.get(i, t.zero)
            total = entry if p is None else t.add(entry, x6.dot(f.S, p))
            if total == t.zero and p is None:
                continue
            left[i] = t.neg(total)
            if f.parent >= 0:
                push = x6.scaled(left[i], self._through[i])
                parts = [a for a in (force.get(f.parent), p, push) if a is not None]
                force[f.parent] = x6.sum(*parts)
        return self._accelerations(left, len(dofs) if rows is None else rows)

    def _accelerations(self, left: Mapping[int, int], rows: int) -> Column:
        """x_i = l_i/D_i − U_i·a_p/D_i, a_i = a_p + S_i x_i"""
        t, x6 = self.t, self.x
        motion: dict[int, Six] = {-1: x6.zero}
        results: Column = {}
        for i, f in enumerate(self.dofs[:rows]):
            a = motion[f.parent]
            own = t.mul(f.over_D, left[i]) if i in left else t.zero
            x = own if a == x6.zero else t.sub(own, x6.dot(a, self._through[i]))
            motion[i] = x6.sum(a, x6.scaled(x, f.S)) if x != t.zero else a
            if x != t.zero:
                results[i] = x
        return results

    def mass_matrix(self) -> list[Column]:
        """M_ji = S_j·g_i for j on the way to i, by symmetry M_ij; flywheels on the diagonal."""
        columns = self._pairs(lambda i, j: self.x.dot(j.S, i.g), lambda f: f.g)
        for i, J in enumerate(self.tables.flywheels):
            columns[i][i] = self.t.add(columns[i][i], J)
        return columns

    def inverse_mass_matrix(self) -> list[Column]:
        """M⁻¹, column by column: the upper half, and the rest by symmetry."""
        minus, n = self.t.const(-1), len(self.dofs)
        upper = [self.solve({j: minus}, j + 1) for j in range(n)]
        columns = [dict(c) for c in upper]
        for j, c in enumerate(upper):
            for i, e in c.items():
                columns[i][j] = e
        return [dict(sorted(c.items())) for c in columns]
