"""M u̇ = f, q̇ = W u + X: the common form to which every principle is brought.

Wᵀ E(q̈ = W u̇ + c) = 0 brings equations along q to the independent speeds. Because Wᵀ Aᵀ = 0, the multipliers drop out of the
contraction: no symbolic solution is needed.

Zᵀ E = 0, A u̇ + γ = 0: equations along the speeds, with rows φ(q, u, t) = 0 that are not linear in them. Chetaev's assumption: a virtual
change of the speeds that such a row allows satisfies A δu = 0 with A = ∂φ/∂u, so that its reaction is Aᵀλ. The columns of Z span these
changes; γ is the rest of dφ/dt. Where φ is linear this is the usual rule.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

from dalembert.algebra.columns import Column, Elimination, Rows, contracted
from dalembert.algebra.folds import Linear, Rewrite
from dalembert.algebra.scalar import Scalar
from dalembert.algebra.tape import Tape
from dalembert.errors import IllPosed
from dalembert.kinematics.system_kinematics import Kinematics
from dalembert.notebook import Shown


@dataclass(frozen=True)
class Equations(Shown):
    """The equations of motion of a system in its independent speeds.

    `residuals[r]` = Σ_s M_rs u̇_s − f_r, each a node of `tape`; `qdot[k]` = Σ_r W_kr u_r + X_k.
    """

    _elsewhere: ClassVar[Mapping[str, str]] = {
        **dict.fromkeys(("sympy", "A", "B", "linearize"), "da.kane(s).sympy() has the matrices for SymPy"),
        **dict.fromkeys(("solve", "simulate", "run", "rhs"), "da.compile(s) is u̇ = f(q, u), da.simulate(s, 10) its motion"),
        **dict.fromkeys(("M", "f"), "they are .mass_matrix() and .forcing()"),
    }

    system: str
    tape: Tape
    q: tuple[int, ...]
    u: tuple[int, ...]
    udot: tuple[int, ...]
    qdot: tuple[int, ...]
    residuals: tuple[int, ...]
    # rows that are not linear in the speeds stand below the equations, and M is not symmetric then
    symmetric: bool = True

    @cached_property
    def _split(self) -> list[tuple[int, dict[int, int]]]:
        linear = Linear(self.tape, self.udot)
        return [linear(r) for r in self.residuals]

    @property
    def M(self) -> list[dict[int, int]]:
        """M, sparsely: for each row {column: node}."""
        return [k for _, k in self._split]

    @property
    def f(self) -> list[int]:
        """f, as nodes."""
        return [self.tape.neg(c) for c, _ in self._split]

    def __getitem__(self, row: int) -> Scalar:
        """The left side of the equation number `row`, whose right side is zero."""
        return Scalar(self.tape, self.residuals[row])

    def scalar(self, i: int) -> Scalar:
        """A node as an expression."""
        return Scalar(self.tape, i)

    def mass_matrix(self) -> list[list[Scalar]]:
        """M, as expressions."""
        t = self.tape
        return [[Scalar(t, row.get(s, t.zero)) for s in range(len(self.u))] for row in self.M]

    def forcing(self) -> list[Scalar]:
        """f, as expressions."""
        return [Scalar(self.tape, i) for i in self.f]

    def text(self, *, group: bool = False) -> str:
        """One equation a line, as a book prints it; `group` puts what shares constants under parentheses, m (u̇ − l ω²)."""
        from dalembert.algebra.printing import equation_text

        return "\n".join(equation_text(self.tape, r, self.udot, self.u, group=group) for r in self.residuals)

    def latex(self, *, group: bool = False) -> str:
        """The equations as an aligned LaTeX block."""
        from dalembert.algebra.printing import equation_latex

        lines = [equation_latex(self.tape, r, self.udot, self.u, group=group).replace("=", "&=", 1) for r in self.residuals]
        return "\\begin{aligned}\n" + " \\\\\n".join(lines) + "\n\\end{aligned}"

    def __str__(self) -> str:
        return self.text()

    def _repr_latex_(self) -> str:
        return f"$${self.latex()}$$"


def common_form(kin: Kinematics, residuals: list[int]) -> Equations:
    """The equations whose residuals, linear in u̇, are given."""
    return Equations(kin.system.name, kin.tape, kin.q, kin.u, kin.udot, kin.qdot_of_u, tuple(residuals), not kin.nonlinear_rows)


def virtual_speeds(kin: Kinematics) -> list[dict[int, int]]:
    """Z by columns, A Z = 0: for each free speed j, {r: ∂u_r/∂u_j}."""
    t, rows = kin.tape, kin.nonlinear_rows
    solved, dependent = Elimination(t, [(t.zero, dict(row.A)) for row in rows], lambda k: -k, t.moving).run()
    if dependent:
        name = rows[dependent[0]].row.name
        msg = f"{name!r}: what it says about the velocities follows from the other rows, or contradicts them; remove one of them"
        raise IllPosed(msg)
    free = [j for j in range(kin.n_u) if j not in solved]
    return [{j: t.one} | {r: t.neg(a[j]) for r, (_, a) in sorted(solved.items()) if j in a} for j in free]


def with_nonlinear_rows(kin: Kinematics, along_u: Sequence[int]) -> list[int]:
    """Σ_r Z_rj E_r = 0 for every column of Z, then the rows Σ_r A_r u̇_r + γ = 0; without such rows the equations as they are."""
    t, rows = kin.tape, kin.nonlinear_rows
    if not rows:
        return list(along_u)
    free = Rows(t, virtual_speeds(kin), kin.n_u) @ Column(t, along_u)
    return [*free, *(contracted(t, ((a, kin.udot[r]) for r, a in row.A.items()), row.gamma) for row in rows)]


def contracted_with_W(kin: Kinematics, along_q: Sequence[int], multipliers: Sequence[int]) -> list[int]:
    """Σ_k W_kr E_k in u and u̇, from E_k in q̇, q̈ and λ."""
    t = kin.tape
    replace = dict(zip(kin.qddot, kin.qddot_of_u, strict=True))
    replace |= dict(zip(kin.qdot, kin.qdot_of_u, strict=True))
    replace |= dict.fromkeys(multipliers, t.zero)
    in_u = Rewrite(t, replace)
    W = Rows(t, (row for _, row in kin.WX), kin.n_u)
    return list(W.T @ Column(t, map(in_u, along_q)))
