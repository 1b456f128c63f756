"""det [B₀; B_L e^{A(λ)L}] = 0: the numbers λ for which a uniform member moves freely, each enclosed, none missed.

The determinant is evaluated in ball arithmetic, whose precision is raised until the sign is certain, so high modes lose nothing to cosh βL.
Every root is bracketed by counting first.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from dalembert.algebra.arithmetic import Balls
from dalembert.flexible.member.boundary_problem import Problem
from dalembert.flexible.member.counting import Count
from dalembert.flexible.member.small_motion import LinearForm

if TYPE_CHECKING:
    from flint import arb

# how close to an eigenvalue the sign of the determinant is asked for, and the digits that takes
CLOSE: Final = 10**-18
DIGITS: Final = 40


@dataclass(frozen=True)
class Eigenvalue:
    """λ, with the largest relative error it can have; `times` is how often it occurs."""

    value: float
    error: float
    # all digits that were found
    decimal: str = field(repr=False)
    times: int = 1

    @property
    def ball(self) -> arb:
        """λ with all its digits, at the precision that flint's context has."""
        import flint

        return flint.arb(self.decimal)


class Determinant:
    """The boundary determinant of a uniform member in balls, with as many digits as its sign needs."""

    def __init__(self, problem: Problem) -> None:
        import flint

        self.problem, self.flint = problem, flint
        self.digits = DIGITS

    def sharpened(self, lam: float) -> Determinant:
        """The same with digits to spare for cosh βL at this λ."""
        import numpy as np

        wave = float(np.max(np.abs(np.linalg.eigvals(self.problem.state_matrix(lam))))) * self.problem.length
        self.digits = DIGITS + int(wave)
        return self

    def matrices(self, lam: Any) -> tuple[Any, Any]:
        """(M, A): the boundary matrix and the state matrix in balls."""
        flint, p = self.flint, self.problem
        balls = Balls()
        lam = balls.ball(lam)
        n = len(p.places)

        def at(form: LinearForm) -> list[Any]:
            c0, c1 = p.row(form, balls.const(0), balls)
            return [a + lam * b for a, b in zip(c0, c1, strict=True)]

        interior = [at(form) for form in p.motion.equations.values()]
        lead = flint.arb_mat([row[n:] for row in interior])
        highest = -lead.solve(flint.arb_mat([row[:n] for row in interior]))
        A = [[balls.const(0)] * n for _ in range(n)]
        for (f, i), k in p.index.items():
            if i + 1 < p.order[f]:
                A[k][p.index[f, i + 1]] = balls.const(1)
            else:
                A[k] = [highest[p.motion.fields.index(f), j] for j in range(n)]
        (L,) = p.numbers([p.motion.member.length.i], balls.const(0), balls)
        state = flint.arb_mat(A)
        Phi = (state * L).exp()
        rows = [(e.side, flint.arb_mat([at(e.form)[:n]])) for e in p.motion.ends]
        M = flint.arb_mat([(row * Phi if side else row).entries() for side, row in rows])
        return M, state

    def __call__(self, lam: Any) -> Any:
        """The determinant as a ball whose sign is certain, or zero to all the digits there are."""
        digits = self.digits
        while True:
            with self.flint.ctx.workdps(digits):
                M, _ = self.matrices(lam)
                value = M.det()
            if not value.contains(0) or digits > 640:
                return value
            digits *= 2
            # a root that was hit exactly has no sign at any precision
            if digits > 160 and value.rad() < self.flint.arb(10) ** (-digits // 2) * self._scale(M):
                return value

    def _scale(self, M: Any) -> Any:
        product = self.flint.arb(1)
        for i in range(M.nrows()):
            product *= max((abs(float(M[i, j].mid())) for j in range(M.ncols())), default=1.0) or 1.0
        return product


def zero_modes(problem: Problem) -> int:
    """How often λ = 0 is an eigenvalue: the dimension of the rigid motions that the ends allow."""
    import flint
    import numpy as np

    f = Determinant(problem).sharpened(0.0)
    with flint.ctx.workdps(f.digits):
        M, _ = f.matrices(0)
        if not M.det().contains(0):
            return 0
        rows = _of_one_size([[x.mid() for x in row] for row in M.tolist()])
        columns = _of_one_size([list(column) for column in zip(*rows, strict=True)])
    numbers = np.array([[float(x) for x in row] for row in columns])
    return max(1, int(len(numbers) - np.linalg.matrix_rank(numbers, tol=1e-11)))


def _of_one_size(rows: list[list[Any]]) -> list[list[Any]]:
    """Each row divided by its largest entry."""
    sizes = [max(abs(x) for x in row) for row in rows]
    return [[(x / size).mid() for x in row] if size > 0 else row for row, size in zip(rows, sizes, strict=True)]


def eigenvalues(problem: Problem, wanted: int) -> list[Eigenvalue]:
    """The lowest eigenvalues of a uniform member, each enclosed."""
    zeros = zero_modes(problem)
    found = [Eigenvalue(0.0, 0.0, "0", zeros)] if zeros else []
    count = Count(problem, zeros)
    f = Determinant(problem)
    for low, high, times in count.brackets(wanted - zeros):
        found.append(_refined(f.sharpened(high), low, high, times))
    return found


def _refined(f: Determinant, low: float, high: float, times: int) -> Eigenvalue:
    """One eigenvalue to all digits: secants in balls, then the sign on both sides of it."""
    import flint

    if times > 1:
        return Eigenvalue((low + high) / 2, (high - low) / low, repr((low + high) / 2), times)
    a, b = flint.arb(low), flint.arb(high)
    fa, fb = f(a), f(b)
    if not (fa > 0) ^ (fb > 0):
        msg = f"the determinant does not change its sign between {low} and {high}: no root there"
        raise ArithmeticError(msg)
    with flint.ctx.workdps(f.digits):
        x = _root(f, a, b, fa, fb)
        width = flint.arb(CLOSE) * x
        lower, upper = (x - width).mid(), (x + width).mid()
    if not (f(lower) > 0) ^ (f(upper) > 0):
        msg = f"the root near {float(x.mid())} could not be enclosed"
        raise ArithmeticError(msg)
    return Eigenvalue(float(x.mid()), CLOSE, digits_of(x, f.digits))


def _root(f: Determinant, a: Any, b: Any, fa: Any, fb: Any) -> Any:
    """Illinois: false position that never keeps one end three times."""
    import flint

    a, b, fa, fb = a.mid(), b.mid(), fa.mid(), fb.mid()
    kept = 0
    near = flint.arb(10) ** (8 - f.digits)
    for _ in range(200):
        x = (b - fb * (b - a) / (fb - fa)).mid()
        fx = f(x).mid()
        if fx == 0 or abs(b - a) < abs(x) * near or abs(x - b) < abs(x) * near:
            return x
        if (fx > 0) ^ (fb > 0):
            a, fa, kept = b, fb, 0
        else:
            kept += 1
            fa = fa / 2 if kept else fa
        b, fb = x, fx
    return b


def digits_of(x: arb, digits: int) -> str:
    """The middle of a ball as a decimal number."""
    return str(x.mid().str(digits, radius=False))
