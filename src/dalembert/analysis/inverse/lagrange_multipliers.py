"""M ż = f + Aᵀλ, A ż + γ = 0: λ of every constraint row at a state, as expressions for few rows and
as native code for any.

With G = M + μ ÂᵀÂ, which adds −μ Âᵀγ̂ to f on the rows and is regular where some rates move no
mass, Â G⁻¹ Âᵀ λ̂ = −γ̂ − Â G⁻¹ (f − μ Âᵀγ̂); Â and γ̂ are A and γ over |A_j|. All rates are in it,
and no pivot is chosen beforehand: singular values decide at each state.

Source: Mei85 (7.44), Gre03 (4.14).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from dalembert.analysis.inverse.compiled_expressions import CompiledStateFunction
from dalembert.errors import BadExpression, NotApplicable
from dalembert.foundation.display import Displayable
from dalembert.mechanics.principles.lagrange import lagrange
from dalembert.symbolic.algebra.elimination import solve_rows
from dalembert.symbolic.algebra.expression_graph import (
    LinearCoefficients,
    Substitution,
    copy_expressions,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from dalembert.mechanics.equations.saddle_point import SaddlePointEquations
    from dalembert.mechanics.kinematics.system_kinematics import Kinematics
    from dalembert.symbolic.algebra.scalar import Scalar

    Numbers = NDArray[np.float64]

# singular values below this part of the largest are zero: states are on their rows to about as much
_RANK_TOLERANCE: Final = 1e-7
# tolerated difference of redundant rows, relative to their largest term
_CONSISTENCY_TOLERANCE: Final = 1e-6
# beyond, the expressions are longer than anyone would read
_MAX_SYMBOLIC_ROWS: Final = 3


class NativeMultipliers(Displayable):
    """lam = f(q, u, t=0, **values): λ of every row, in the order of `rows`, at one state or in rows
    at many.

    u are the speeds of a run: those declared or chosen, all rates where a choice could become
    singular (`speeds` names them). Where rows repeat one another λ is the one of least Σ λ_j², as
    in `run.reactions`; where they contradict one another, or one always holds or has no finite
    value, there is none, and the error names the row.
    """

    def __init__(
        self, kin: Kinematics, unreduced: Kinematics, equations: SaddlePointEquations
    ) -> None:
        own = kin.fork()
        self.speeds = tuple(map(own.name, own.u))
        self.rows = tuple(row.row.name for row in equations.rows)
        self._n, source, z = len(equations.z), equations.tape, range(len(equations.z))
        dense = [
            row.get(k, source.zero)
            for row in (*equations.M, *(r.A for r in equations.rows))
            for k in z
        ]
        nodes = [*equations.f, *(r.gamma for r in equations.rows), *dense]
        here = copy_expressions(source, own.tape, nodes)
        if kin is not unreduced:
            definitions = copy_expressions(unreduced.tape, own.tape, unreduced.definitions)
            rates = Substitution(
                own.tape, {x: d for x, d in zip(unreduced.u, definitions, strict=True) if x != d}
            )
            here = [own.in_speeds(rates(i)) for i in here]
        self._native = CompiledStateFunction(own, here)

    def __str__(self) -> str:
        return f"native f(q, u, t) = λ of {', '.join(self.rows)}\n  u = {', '.join(self.speeds)}"

    def __call__(self, q: Any, u: Any, t: Any = 0.0, **values: Any) -> Numbers:
        """λ at the state (q, u) and time t."""
        matrices = self._native(q, u, np.zeros_like(np.asarray(u, dtype=float)), t, **values)
        return (
            np.array([self._solve_multipliers(y) for y in matrices])
            if matrices.ndim == 2
            else self._solve_multipliers(matrices)
        )

    def _solve_multipliers(self, y: Numbers) -> Numbers:
        """λ from the numbers f, γ, M and A of one state."""
        n, m = self._n, len(self.rows)
        f, gamma = y[:n], y[n : n + m]
        M, A = np.split(y[n + m :].reshape(n + m, n), [n])
        if not m:
            return np.zeros(0)
        size = self._row_norms(A, gamma, y)
        A_1, gamma_1 = A / size[:, np.newaxis], gamma / size
        mu = float(np.trace(M)) / n or 1.0
        L = np.linalg.cholesky(M + mu * A_1.T @ A_1)
        B, h = np.linalg.solve(L, A_1.T), np.linalg.solve(L, f - mu * A_1.T @ gamma_1)
        U, s, Vt = np.linalg.svd(B, full_matrices=False)
        kept = s > _RANK_TOLERANCE * s[0]
        U, s, Vt = U[:, kept], s[kept], Vt[kept]
        lam: Numbers = Vt.T @ (-(Vt @ gamma_1 / s + U.T @ h) / s) / size
        if len(s) == m:
            return lam
        self._check_consistent(gamma_1 - Vt.T @ (Vt @ gamma_1), gamma_1, B.T @ h)
        return np.asarray(np.linalg.lstsq(A.T, A.T @ lam, rcond=_RANK_TOLERANCE)[0])

    def _row_norms(self, A: Numbers, gamma: Numbers, y: Numbers) -> Numbers:
        """|A_j| of every row; an error where one is zero, or where anything has no finite value."""
        size: Numbers = np.linalg.norm(A, axis=1)
        for name, length, rest in zip(self.rows, size.tolist(), gamma.tolist(), strict=True):
            if not np.isfinite([length, rest]).all():
                msg = (
                    f"multipliers: row {name!r} has no finite value at this state; the speeds "
                    f"{', '.join(self.speeds)} may be singular"
                )
                raise BadExpression(msg)
            if length == 0:
                msg = (
                    f"multipliers: row {name!r} constrains no velocity at this state, so its "
                    f"multiplier is not determined"
                )
                raise BadExpression(msg)
        if not np.isfinite(y).all():
            msg = (
                f"multipliers: a mass or a load has no finite value at this state, so that row "
                f"{self.rows[0]!r} has no multiplier"
            )
            raise BadExpression(msg)
        return size

    def _check_consistent(self, off: Numbers, gamma: Numbers, moved: Numbers) -> None:
        """Refuse rows that repeat one another in ż and differ in the conditions on it."""
        worst = int(np.argmax(np.abs(off)))
        if abs(off[worst]) > _CONSISTENCY_TOLERANCE * max(
            float(np.abs(gamma).max()), float(np.abs(moved).max())
        ):
            msg = (
                f"multipliers: row {self.rows[worst]!r} depends on the other rows at this state "
                f"and contradicts them; move off it"
            )
            raise BadExpression(msg)


def symbolic_multipliers(
    kin: Kinematics, residuals: Sequence[int], multipliers: Sequence[int]
) -> dict[str, int]:
    """{row: λ in q, q̇ and t} from equations along the coordinates that are linear in q̈ and λ,
    q̈ eliminated by A q̈ + γ = 0.
    """
    rows = kin.rows_with_multipliers
    if len([row for row in rows if not row.is_norm]) > _MAX_SYMBOLIC_ROWS:
        msg = (
            f"{len(rows)} rows: λ is written out for up to {_MAX_SYMBOLIC_ROWS}; "
            f"da.multipliers(s).compile() gives them as a program"
        )
        raise NotApplicable(msg)
    if kin.nonlinear:
        msg = (
            f"{kin.nonlinear[0].name!r} is not linear in the velocities; "
            f"da.multipliers(s).compile() gives its multiplier as a program"
        )
        raise NotApplicable(msg)
    t = kin.tape
    unknowns = [*kin.qddot, *multipliers]
    linear = LinearCoefficients(t, unknowns)
    rate = kin.motion_in_rates.rate
    equations = (linear(e) for e in (*residuals, *(rate(kin.row_in_rates(row)) for row in rows)))
    # accelerations first, so that multipliers are left for the last
    solved = solve_rows(t, equations, lambda k: k)
    return {row.name: solved[len(kin.qddot) + j] for j, row in enumerate(rows) if not row.is_norm}


class Multipliers(Mapping[str, "Scalar"], Displayable):
    """{row: λ as an expression of q, q̇ and t} for up to three rows, and `compile()` for any
    number of them.
    """

    def __init__(self, kin: Kinematics, compiled: Callable[[], NativeMultipliers]) -> None:
        self._kin, self._compile = kin, compiled

    @cached_property
    def _expressions(self) -> dict[str, Scalar]:
        d = lagrange(self._kin)
        return {
            name: d.scalar(i)
            for name, i in symbolic_multipliers(
                d.kinematics, d.native.residuals, d.native.multipliers
            ).items()
        }

    def __getitem__(self, row: str) -> Scalar:
        return self._expressions[row]

    def __iter__(self) -> Iterator[str]:
        return iter(self._expressions)

    def __len__(self) -> int:
        return len(self._expressions)

    def __str__(self) -> str:
        try:
            return (
                "\n".join(f"{row}: {lam}" for row, lam in self._expressions.items())
                or "no constraint rows"
            )
        except NotApplicable as reason:
            return str(reason)

    def compile(self) -> NativeMultipliers:
        """lam = f(q, u, t=0, **values), native; also where there is no expression, and where a
        divisor of one vanishes.
        """
        return self._compile()
