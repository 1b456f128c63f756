"""M u̇ = f, q̇ = W u + X: the common form to which every principle is brought."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from dalembert.algebra.folds import Linear
from dalembert.algebra.scalar import Scalar
from dalembert.algebra.tape import Tape
from dalembert.kinematics.system_kinematics import Kinematics
from dalembert.notebook import Shown


@dataclass(frozen=True)
class Equations(Shown):
    """The equations of motion of a system in its independent speeds.

    `residuals[r]` = Σ_s M_rs u̇_s − f_r, each a node of `tape`; `qdot[k]` = Σ_r W_kr u_r + X_k.
    """

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
