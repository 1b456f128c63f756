"""M u̇ = f, q̇ = W u + X: the common form to which every principle is brought, and u̇ = g(q, u, t),
solved for evaluation.
Keywords: mass matrix.

Wᵀ E(q̈ = W u̇ + c) = 0 brings equations along q to the independent speeds. Because Wᵀ Aᵀ = 0, the
multipliers drop out of the contraction: no symbolic solution is needed.

Zᵀ E = 0, A u̇ + γ = 0: equations along the speeds, with rows φ(q, u, t) = 0 that are not linear in
them. Chetaev's assumption: a virtual change of the speeds that such a row allows satisfies A δu = 0
with A = ∂φ/∂u, so that its reaction is Aᵀλ. The columns of Z span these changes; γ is the rest of
dφ/dt. Where φ is linear this is the usual rule.

They are solved by M = L D Lᵀ on the tape, without pivoting, where M is symmetric: it is positive
wherever the system is regular, and det WᵀMW ≢ 0, every independent speed resisted by some inertia,
is checked first. x → x(t), ẋ → dx/dt, … puts prescribed motions and
inputs in.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar, NamedTuple

from dalembert.errors import IllPosed
from dalembert.foundation.deferred_dataclass import dataclass
from dalembert.foundation.display import Displayable
from dalembert.mechanics.kinematics.system_kinematics import Kinematics
from dalembert.symbolic.algebra.arithmetic import is_regular_somewhere
from dalembert.symbolic.algebra.elimination import (
    Elimination,
    factor_symmetric,
    solve_rows,
)
from dalembert.symbolic.algebra.exact.zero_test import RandomPoints
from dalembert.symbolic.algebra.expression_graph import (
    Derivative,
    LinearCoefficients,
    Substitution,
    dependencies,
    symbols_of,
)
from dalembert.symbolic.algebra.scalar import Scalar, as_node
from dalembert.symbolic.algebra.sparse_matrix import (
    Column,
    SparseMatrix,
    sum_of_products,
)
from dalembert.symbolic.algebra.tape import LEAVES, Tape

if TYPE_CHECKING:
    from dalembert.symbolic.algebra.exact.finite_field import Element
    from dalembert.symbolic.algebra.exact.sample_point import SamplePoint


@dataclass(frozen=True)
class Equations(Displayable):
    """The equations of motion of a system in its independent speeds.

    `residuals[r]` = Σ_s M_rs u̇_s − f_r, each a node of `tape`; `qdot[k]` = Σ_r W_kr u_r + X_k.
    """

    _foreign_names: ClassVar[Mapping[str, str]] = {
        **dict.fromkeys(
            ("sympy", "A", "B", "linearize"), "da.kane(s).sympy() has the matrices for SymPy"
        ),
        **dict.fromkeys(
            ("solve", "simulate", "run", "rhs"),
            "da.compile(s) is u̇ = f(q, u), da.simulate(s, 10) its motion",
        ),
        **dict.fromkeys(("M", "f"), "they are .mass_matrix() and .forcing()"),
    }

    system: str
    tape: Tape
    q: tuple[int, ...]
    u: tuple[int, ...]
    udot: tuple[int, ...]
    qdot: tuple[int, ...]
    residuals: tuple[int, ...]
    # rows that are not linear in the speeds come after the equations, and M is not symmetric then
    symmetric: bool = True

    @cached_property
    def _linear_forms(self) -> list[tuple[int, dict[int, int]]]:
        linear = LinearCoefficients(self.tape, self.udot)
        return [linear(r) for r in self.residuals]

    @property
    def M(self) -> list[list[Scalar]]:
        """M, row by row, as expressions."""
        return self.mass_matrix()

    @property
    def f(self) -> list[Scalar]:
        """f, as expressions."""
        return self.forcing()

    @property
    def mass_nodes(self) -> list[dict[int, int]]:
        """M, sparsely: for each row {column: node}."""
        return [k for _, k in self._linear_forms]

    @property
    def forcing_nodes(self) -> list[int]:
        """f, as nodes."""
        return [self.tape.neg(c) for c, _ in self._linear_forms]

    def __getitem__(self, row: int) -> Scalar:
        """The left side of the equation number `row`, whose right side is zero."""
        return Scalar(self.tape, self.residuals[row])

    def scalar(self, i: int) -> Scalar:
        """A node as an expression."""
        return Scalar(self.tape, i)

    def mass_matrix(self) -> list[list[Scalar]]:
        """M, as expressions."""
        t = self.tape
        columns = range(len(self.u))
        return [[Scalar(t, row.get(s, t.zero)) for s in columns] for row in self.mass_nodes]

    def forcing(self) -> list[Scalar]:
        """f, as expressions."""
        return [Scalar(self.tape, i) for i in self.forcing_nodes]

    def text(self, *, group: bool = False) -> str:
        """One equation a line, as a book prints it; `group` puts what shares constants under
        parentheses, m (u̇ − l ω²).
        """
        from dalembert.symbolic.algebra.printing import equation_text, length_text

        rows = [equation_text(self.tape, r, self.udot, self.u, group=group) for r in self.residuals]
        return "\n".join([*rows, *length_text(self.tape, self.residuals)])

    def latex(self, *, group: bool = False) -> str:
        """The equations as an aligned LaTeX block."""
        from dalembert.symbolic.algebra.printing import equation_latex, length_latex

        rows = [
            *(equation_latex(self.tape, r, self.udot, self.u, group=group) for r in self.residuals),
            *length_latex(self.tape, self.residuals),
        ]
        lines = [row.replace("=", "&=", 1) for row in rows]
        return "\\begin{aligned}\n" + " \\\\\n".join(lines) + "\n\\end{aligned}"

    def __str__(self) -> str:
        return self.text()

    def _repr_latex_(self) -> str:
        return f"$${self.latex()}$$"


def common_form(kin: Kinematics, residuals: list[int]) -> Equations:
    """The equations whose residuals, linear in u̇, are given."""
    return Equations(
        kin.system.name,
        kin.tape,
        kin.q,
        kin.u,
        kin.udot,
        kin.qdot_of_u,
        tuple(residuals),
        not kin.nonlinear_rows,
    )


def admissible_speed_basis(kin: Kinematics) -> list[dict[int, int]]:
    """Z by columns, A Z = 0: for each free speed j, {r: ∂u_r/∂u_j}."""
    t, rows = kin.tape, kin.nonlinear_rows
    solved, dependent = Elimination(
        t, [(t.zero, dict(row.A)) for row in rows], lambda k: -k, t.moving
    ).run()
    if dependent:
        name = rows[dependent[0]].row.name
        msg = (
            f"{name!r}: at velocity level it follows from the other constraint rows, or "
            "contradicts them; remove one of them"
        )
        raise IllPosed(msg)
    free = [j for j in range(kin.n_u) if j not in solved]
    return [
        {j: t.one} | {r: t.neg(a[j]) for r, (_, a) in sorted(solved.items()) if j in a}
        for j in free
    ]


def append_nonlinear_rows(kin: Kinematics, along_u: Sequence[int]) -> list[int]:
    """Σ_r Z_rj E_r = 0 for every column of Z, then the rows Σ_r A_r u̇_r + γ = 0; without such
    rows the equations as they are.
    """
    t, rows = kin.tape, kin.nonlinear_rows
    if not rows:
        return list(along_u)
    free = SparseMatrix(t, admissible_speed_basis(kin), kin.n_u) @ Column(t, along_u)
    return [
        *free,
        *(
            sum_of_products(t, ((a, kin.udot[r]) for r, a in row.A.items()), row.gamma)
            for row in rows
        ),
    ]


def project_onto_speeds(
    kin: Kinematics, along_q: Sequence[int], multipliers: Sequence[int]
) -> list[int]:
    """Σ_k W_kr E_k in u and u̇, from E_k in q̇, q̈ and λ."""
    t = kin.tape
    in_u = Substitution(
        t,
        dict(zip((*kin.qddot, *kin.qdot), (*kin.qddot_of_u, *kin.qdot_of_u), strict=True))
        | dict.fromkeys(multipliers, t.zero),
    )
    W = SparseMatrix(t, (row for _, row in kin.WX), kin.n_u)
    return list(W.T @ Column(t, map(in_u, along_q)))


# ---- solved for the accelerations --------------------------------------------------------------


class RowProjection(NamedTuple):
    """Constraint rows that were not eliminated: δz of the positions, δz of the velocities, Σ|φ| +
    Σ|e| and the multipliers, as nodes.
    """

    position_step: tuple[int, ...]
    velocity_step: tuple[int, ...]
    residual: int
    multipliers: tuple[int, ...]


@dataclass(frozen=True)
class ExplicitEquations(Displayable):
    """q̇ and u̇ as nodes of one tape, and the route by which u̇ was found."""

    system: str
    tape: Tape
    q: tuple[int, ...]
    u: tuple[int, ...]
    qdot: tuple[int, ...]
    udot: tuple[int, ...]
    route: str
    # M u̇ = f with a symmetric M, where u̇ was found by solving these
    source: Equations | None = None
    # of constraint rows that were not eliminated
    projection: RowProjection | None = None

    def __str__(self) -> str:
        count = sum(
            self.tape.nodes[i][0] not in LEAVES
            for i in dependencies(self.tape, (*self.qdot, *self.udot))
        )
        return (
            f"{self.system}: q̇ and u̇ for {len(self.q)} coordinates and {len(self.u)} speeds "
            f"by {self.route}, {count} operations"
        )

    @cached_property
    def symbols(self) -> tuple[int, ...]:
        """The symbols that q̇ and u̇ contain, in order of creation."""
        return tuple(symbols_of(self.tape, (*self.qdot, *self.udot)))


def solve_accelerations(equations: Equations) -> ExplicitEquations:
    """u̇ = M⁻¹ f by M = L D Lᵀ on the tape; by elimination where M is not symmetric."""
    rows, f = equations.mass_nodes, equations.forcing_nodes
    t = equations.tape.fork()
    n = len(equations.u)
    if not equations.symmetric:
        accelerations = solve_rows(t, ((t.neg(b), row) for row, b in zip(rows, f, strict=True)))
        eliminated = tuple(accelerations[k] for k in range(n))
        return ExplicitEquations(
            equations.system, t, equations.q, equations.u, equations.qdot, eliminated, "elimination"
        )
    M = [[row.get(s, t.zero) for s in range(n)] for row in rows]
    udot = factor_symmetric(t, M).solve(f)
    return ExplicitEquations(
        equations.system,
        t,
        equations.q,
        equations.u,
        equations.qdot,
        tuple(udot),
        "M = L D Lᵀ",
        equations,
    )


def check_regular(equations: Equations) -> None:
    """Refuse equations whose mass matrix is singular in every state, naming the speeds that
    nothing resists.
    """
    t, n, rows = equations.tape, len(equations.u), equations.mass_nodes
    if is_regular_somewhere(t, rows):
        return
    from dalembert.symbolic.algebra.exact.linear_algebra import nullspace_mod

    def free_motion(point: SamplePoint) -> list[list[Element]]:
        return nullspace_mod(
            [[point(row[s]) if s in row else 0 for s in range(n)] for row in rows], point.prime
        )

    free = RandomPoints(t, 1).at(0, free_motion)
    if free:
        names = [str(t.nodes[u][1]) for u, x in zip(equations.u, free[0], strict=True) if x]
        what = (
            f"the speed {names[0]}"
            if len(names) == 1
            else f"a combination of the speeds {', '.join(names)}"
        )
        remedy = "give the part it moves a mass, or remove the coordinate"
        msg = f"the mass matrix is singular in every state: no inertia resists {what}; {remedy}"
        raise IllPosed(msg)


def derivative_bindings(tape: Tape, bindings: Mapping[int, Scalar]) -> dict[int, int]:
    """{x: x(t), x': dx/dt, …} for every rate of a bound symbol that the tape knows."""
    rate = Derivative(tape, tape.rate)
    substitutions: dict[int, int] = {}
    for x, motion in bindings.items():
        symbol: int | None = x
        value = as_node(tape, motion)
        while symbol is not None:
            substitutions[symbol] = value
            symbol = tape.rates.get(symbol)
            value = rate(value) if symbol is not None else value
    return substitutions


def bind_motions(equations: ExplicitEquations, bindings: Mapping[int, Scalar]) -> ExplicitEquations:
    """The equations with prescribed motions and inputs given as expressions."""
    if not bindings:
        return equations
    t = equations.tape.fork()
    insert = Substitution(t, derivative_bindings(t, bindings))
    return replace(
        equations,
        tape=t,
        qdot=tuple(insert(e) for e in equations.qdot),
        udot=tuple(insert(e) for e in equations.udot),
    )
