"""Σ_g Σ_i c_i(x, λ) φ_g⁽ⁱ⁾(x_j) = 0 at Chebyshev's points, with the rows of both ends: members
whose coefficients vary along them.

The shapes are polynomials of degree n. The matrix problem is solved in floats first; each
eigenvalue wanted is then improved with many digits, so that only the error of the degree remains.
It is measured: the degree grows until the eigenvalues converge.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Any, Final

from dalembert.analysis.flexible.linear_vibration.boundary_value_problem import BoundaryValueProblem
from dalembert.analysis.flexible.linear_vibration.eigenvalue_count import (
    Eigenvalue,
    count_eigenvalues_below,
    digits_of,
)
from dalembert.analysis.flexible.linear_vibration.linearization import LinearForm
from dalembert.analysis.flexible.linear_vibration.mode_shapes import (
    ChebyshevShape,
    chebyshev_points,
)
from dalembert.errors import NotApplicable
from dalembert.symbolic.algebra.arithmetic import BallArithmetic, FloatArithmetic

DEGREES: Final = (12, 18, 26, 36, 48)
CONVERGED: Final = 1e-14
DIGITS: Final = 60


# an eigenvalue, and the shape of each field
Eigenpair = tuple[Eigenvalue, dict[str, ChebyshevShape]]


def _compare_degrees(
    now: Sequence[tuple[Any, dict[str, ChebyshevShape]]],
    before: Sequence[tuple[Any, dict[str, ChebyshevShape]]],
) -> tuple[list[Eigenpair], float]:
    """Eigenvalues with their relative change since the degree before, and the largest change."""
    errors = [abs(float(((a - b) / a).mid())) for (a, _), (b, _) in zip(now, before, strict=True)]
    pairs = [
        (Eigenvalue(float(a.mid()), e + 1e-16, digits_of(a, DIGITS)), c)
        for (a, c), e in zip(now, errors, strict=True)
    ]
    return pairs, max(errors, default=0.0)


def eigenpairs(problem: BoundaryValueProblem, wanted: int) -> tuple[list[Eigenpair], int]:
    """The lowest eigenvalues with their shapes, and the degree they were found with."""
    before: list[tuple[Any, dict[str, ChebyshevShape]]] = []
    converged: list[Eigenpair] = []
    zeros: int | None = None if supports_counting(problem) else 0
    for degree in DEGREES:
        if degree < wanted + 6:
            continue
        now = Collocation(problem, degree).lowest_eigenpairs(wanted - (zeros or 0))
        if zeros is None and now:
            zeros = min(wanted, _count_zero_modes(problem, 1e-6 * float(now[0][0].mid())))
            now = now[: wanted - zeros]
        if zeros == wanted:
            break
        if len(now) < wanted - (zeros or 0):
            continue
        if before:
            converged, worst = _compare_degrees(now, before)
            if worst < CONVERGED:
                break
        before = now
    rigid = zeros or 0
    if not converged and rigid < wanted:
        msg = (
            f"{wanted} modes of {problem.motion.member.name!r} are too many for polynomials of "
            f"degree {DEGREES[-1]}: ask for fewer"
        )
        raise NotApplicable(msg)
    _check_count(problem, converged, rigid)
    return [(Eigenvalue(0.0, 0.0, "0"), dict[str, ChebyshevShape]())] * rigid + converged, degree


def supports_counting(problem: BoundaryValueProblem) -> bool:
    """Pieces can be put together unless one of them hangs slack at an end."""
    return all(e.kind != "regular" for e in problem.motion.ends)


def _count_zero_modes(problem: BoundaryValueProblem, shift: float) -> int:
    """How often zero is an eigenvalue; refused where one is negative."""
    if count_eigenvalues_below(problem, -shift):
        msg = (
            f"{problem.motion.member.name!r} is not stable in its straight state: it has "
            "buckled, or its frame rotates too fast"
        )
        raise NotApplicable(msg)
    return count_eigenvalues_below(problem, shift)


def _check_count(problem: BoundaryValueProblem, pairs: list[Eigenpair], zeros: int) -> None:
    """None was missed: as many lie below as were found."""
    if not pairs or not supports_counting(problem):
        return
    last = pairs[-1][0]
    below = count_eigenvalues_below(problem, last.value * (1 + max(1e-4, 10 * last.error)))
    if below != len(pairs) + zeros:
        name = problem.motion.member.name
        msg = (
            f"{len(pairs) + zeros} modes of {name!r} were found where {below} are counted; ask "
            f"for one more or one less"
        )
        raise NotApplicable(msg)


class Collocation:
    """The matrix problem (A₀ + λ A₁) c = 0 of one degree."""

    def __init__(self, problem: BoundaryValueProblem, degree: int) -> None:
        self.problem, self.degree = problem, degree
        self.fields = problem.motion.fields

    def matrices(self, arithmetic: Any) -> tuple[list[list[Any]], list[list[Any]]]:
        """A₀ and A₁ row by row: the equations at the points, then the conditions."""
        L = self.problem.length_as(arithmetic)
        A0, A1 = zip(
            *(self._row(form, z, L, arithmetic) for form, z in self.rows(arithmetic)), strict=True
        )
        return list(A0), list(A1)

    def rows(self, arithmetic: Any) -> Iterator[tuple[LinearForm, Any]]:
        """(form, z): the collocation conditions and their −1 ≤ z ≤ 1; points are rounded, and the
        same in every arithmetic.
        """
        motion, one = self.problem.motion, arithmetic.const(1)
        for name, form in motion.equations.items():
            points = chebyshev_points(self.degree + 1 - self.problem.order[name])
            yield from ((form, arithmetic.const(Fraction(z))) for z in points)
        yield from ((e.form, one if e.side else -one) for e in motion.ends)

    def _row(
        self, form: LinearForm, z: Any, L: Any, arithmetic: Any
    ) -> tuple[list[Any], list[Any]]:
        p, n = self.problem, self.degree
        zero, one, two = (arithmetic.const(k) for k in (0, 1, 2))
        values = chebyshev(z, n, 4, arithmetic)
        rows = [zero] * (len(self.fields) * (n + 1)), [zero] * (len(self.fields) * (n + 1))
        for name, along, a, b in p.terms(form, L * (one + z) / two, arithmetic):
            first = self.fields.index(name) * (n + 1)
            scale = one
            for _ in range(along):
                scale = scale * two / L
            for k in range(n + 1):
                rows[0][first + k] = rows[0][first + k] + a * scale * values[along][k]
                rows[1][first + k] = rows[1][first + k] + b * scale * values[along][k]
        return rows

    def lowest_eigenpairs(self, wanted: int) -> list[tuple[Any, dict[str, ChebyshevShape]]]:
        """(λ, shapes), lowest first; fewer where this degree has fewer."""
        import flint
        import numpy as np
        from scipy.linalg import eigvals

        A0, A1 = (np.array(m) for m in self.matrices(FloatArithmetic()))
        size = np.max(np.abs(A0), axis=1, keepdims=True)
        lam = eigvals(A0 / size, -A1 / size)
        lam = lam[np.isfinite(lam)]
        real = np.sort(lam[np.abs(lam.imag) < 1e-3 * np.abs(lam)].real)
        # negative ones belong to the matrices only, unless the member is unstable, which counting
        # would show
        positive = real[real > 0]
        guesses = (
            positive[positive > 1e-9 * positive[min(5, len(positive) - 1)]][:wanted]
            if len(positive)
            else []
        )
        with flint.ctx.workdps(DIGITS):
            B0, B1 = (
                flint.arb_mat([[x.mid() for x in row] for row in m])
                for m in self.matrices(BallArithmetic())
            )
            return [self._inverse_iteration(B0, B1, float(g)) for g in guesses]

    def _inverse_iteration(
        self, A0: Any, A1: Any, guess: float
    ) -> tuple[Any, dict[str, ChebyshevShape]]:
        """(A₀ + σ A₁)⁻¹ A₁ c = c/(σ − λ), by iteration."""
        import flint

        sigma = flint.arb(guess)
        inverse = (A0 + sigma * A1).inv()
        step = flint.arb_mat([[x.mid() for x in row] for row in (inverse * A1).tolist()])
        n = A0.nrows()
        c = flint.arb_mat(n, 1, [flint.arb(1) / (k + 1) for k in range(n)])
        lam = sigma
        for _ in range(60):
            z = step * c
            entries = [x.mid() for x in z.entries()]
            k = max(range(n), key=lambda i: abs(float(entries[i])))
            if float(entries[k]) == 0.0:
                break
            mu = entries[k] / c[k, 0]
            before, lam = lam, (sigma - 1 / mu).mid()
            c = flint.arb_mat(n, 1, [(x / entries[k]).mid() for x in entries])
            if abs(lam - before) < abs(lam) * flint.arb(10) ** -40:
                break
        return lam, self.shapes_by_field(c)

    def shapes_by_field(self, c: Any) -> dict[str, ChebyshevShape]:
        """The shape of each field in a solution."""
        width, values = self.degree + 1, tuple(float(x.mid()) for x in c.entries())
        return {
            name: ChebyshevShape(values[g * width : (g + 1) * width], self.problem.length)
            for g, name in enumerate(self.fields)
        }


def chebyshev(z: Any, degree: int, orders: int, arithmetic: Any) -> list[list[Any]]:
    """T_k⁽ⁱ⁾(z) for i ≤ orders, k ≤ degree: T_{k+1}⁽ⁱ⁾ = 2 z T_k⁽ⁱ⁾ + 2 i T_k⁽ⁱ⁻¹⁾ − T_{k−1}⁽ⁱ⁾"""
    zero, one, two = (arithmetic.const(k) for k in (0, 1, 2))
    table: list[list[Any]] = []
    for i in range(orders + 1):
        row = [one if i == 0 else zero, z if i == 0 else one if i == 1 else zero]
        for k in range(1, degree):
            new = two * z * row[k] - row[k - 1]
            if i:
                new = new + arithmetic.const(2 * i) * table[i - 1][k]
            row.append(new)
        table.append(row)
    return table
