"""det [B₀; B_L e^{A(λ)L}] = 0: the numbers λ for which a uniform member moves freely, each
enclosed, none missed.

The number of eigenvalues below λ is counted (Wittrick and Williams): a member is cut into pieces so
short that none of them, held at its ends, can vibrate below λ; then it is the number of negative
ones of the dynamic stiffness of all pieces put together.

The determinant is evaluated in ball arithmetic, whose precision is raised until the sign is
certain, so high modes lose nothing to cosh βL. Every root is bracketed by counting first.
"""

from __future__ import annotations

from dataclasses import field
from functools import cache
from typing import TYPE_CHECKING, Any, Final

from dalembert.analysis.flexible.linear_vibration.boundary_value_problem import BoundaryValueProblem
from dalembert.analysis.flexible.linear_vibration.linearization import LinearForm
from dalembert.errors import NotApplicable
from dalembert.foundation.deferred_dataclass import dataclass
from dalembert.symbolic.algebra.arithmetic import BallArithmetic, FloatArithmetic

if TYPE_CHECKING:
    import numpy as np
    from flint import arb


# ---- counting ------------------------------------------------------------------------------------

MAX_ELEMENT_PHASE: Final = 1.5
MAX_ELEMENTS: Final = 4000
# members whose properties vary are cut at least so often
MIN_ELEMENTS_VARYING: Final = 64


def count_eigenvalues_below(problem: BoundaryValueProblem, lam: float) -> int:
    """How many eigenvalues lie below λ: negative pivots of the dynamic stiffness, eliminated
    section by section.
    """
    import numpy as np

    pieces = _element_count(problem, lam)
    m = len(problem.end_displacements)
    edges = np.linspace(0.0, problem.length, pieces + 1)
    whole = _dynamic_stiffness(problem, lam, 0.0, edges[1]) if problem.motion.is_uniform else None
    own, held = zip(*(problem.end_stiffness(side, lam) for side in (0, 1)), strict=True)
    below = 0
    here = own[0]
    free = [i for i in range(m) if i not in held[0]]
    for k in range(pieces):
        K = _dynamic_stiffness(problem, lam, edges[k], edges[k + 1]) if whole is None else whole
        K = (K + K.T) / 2
        pivot = (here + K[:m, :m])[np.ix_(free, free)]
        coupling = K[:m, m:][free]
        below += _negative_eigenvalue_count(pivot)
        here = K[m:, m:] - coupling.T @ np.linalg.solve(pivot, coupling) if free else K[m:, m:]
        free = list(range(m))
    last = [i for i in range(m) if i not in held[1]]
    return below + _negative_eigenvalue_count((here + own[1])[np.ix_(last, last)])


def _negative_eigenvalue_count(K: np.ndarray) -> int:
    """The number of negative eigenvalues; rows are brought to one size, which changes no sign."""
    import numpy as np

    if not len(K):
        return 0
    size = np.sqrt(np.maximum(np.abs(np.diag(K)), 1e-300))
    return int(np.sum(np.linalg.eigvalsh((K + K.T) / 2 / np.outer(size, size)) < 0))


def _element_count(problem: BoundaryValueProblem, lam: float) -> int:
    """The number of pieces such that no piece, held at both ends, can vibrate below λ."""
    import numpy as np

    places = (0.0,) if problem.motion.is_uniform else np.linspace(0.0, problem.length, 9)[1:-1]
    wave = max(
        float(np.max(np.abs(np.linalg.eigvals(problem.state_matrix(lam, x))))) for x in places
    )
    n = 1 + int(wave * problem.length / MAX_ELEMENT_PHASE)
    if n > MAX_ELEMENTS:
        msg = f"{n} pieces are needed to count modes up to {lam:.3g}: ask for fewer modes"
        raise NotApplicable(msg)
    return n if problem.motion.is_uniform else max(n, MIN_ELEMENTS_VARYING)


def _dynamic_stiffness(problem: BoundaryValueProblem, lam: float, a: float, b: float) -> np.ndarray:
    """The dynamic stiffness of a piece: end forces from end displacements."""
    import numpy as np

    Phi = _transfer_matrix(problem, lam, a, b)
    (D_a, F_a), (D_b, F_b) = problem.section_maps(lam, a), problem.section_maps(lam, b)
    displacements = np.vstack([D_a, D_b @ Phi])
    # the coefficient of δv in T − V: the force on the left end is +, on the right end −
    forces = np.vstack([F_a, -F_b @ Phi])
    return np.linalg.solve(displacements.T, forces.T).T


def _transfer_matrix(problem: BoundaryValueProblem, lam: float, a: float, b: float) -> np.ndarray:
    """y(b) = Φ y(a): the exponential, by Magnus' series of fourth order where coefficients vary."""
    h = b - a
    if problem.motion.is_uniform:
        return _matrix_exponential(problem.state_matrix(lam) * h)
    middle, apart = (a + b) / 2, h * 3**0.5 / 6
    A, B = problem.state_matrix(lam, middle - apart), problem.state_matrix(lam, middle + apart)
    return _matrix_exponential(h / 2 * (A + B) - h * h * 3**0.5 / 12 * (A @ B - B @ A))


def _matrix_exponential(A: np.ndarray) -> np.ndarray:
    """e^A of a small matrix: Taylor's series of A/2ˢ, squared s times."""
    import math

    import numpy as np

    norm = float(np.abs(A).sum(axis=0).max())
    halvings = max(0, 2 + math.ceil(math.log2(norm))) if norm > 0 else 0
    scaled = A / 2.0**halvings
    total = term = np.eye(len(A))
    for k in range(1, 15):
        term = term @ scaled / k
        total = total + term
    for _ in range(halvings):
        total = total @ total
    return total


def bracket_eigenvalues(
    problem: BoundaryValueProblem, zeros: int, wanted: int
) -> list[tuple[float, float, int]]:
    """(low, high, how many) in order; more than one only where eigenvalues coincide."""
    if wanted <= 0:
        return []

    @cache
    def count(lam: float) -> int:
        return count_eigenvalues_below(problem, lam) - zeros

    low = high = _initial_eigenvalue(problem)
    while count(low) > 0:
        low /= 16.0
        if low < 1e-30 * high:
            msg = (
                "the member is not stable in its straight state: it has buckled, or a frame "
                "rotates too fast"
            )
            raise NotApplicable(msg)
    while count(high) < wanted:
        high *= 2.0
    intervals: list[tuple[float, float, int]] = []
    stack = [(low, high)]
    while stack:
        a, b = stack.pop()
        inside = count(b) - count(a)
        if inside <= 0 or count(a) >= wanted:
            continue
        narrow = b - a < 1e-3 * b if inside == 1 else b - a < 1e-9 * b
        if narrow:
            intervals.append((a, b, inside))
            continue
        middle = (a * b) ** 0.5 if b > 2 * a else (a + b) / 2
        stack += [(middle, b), (a, middle)]
    return intervals


def _initial_eigenvalue(p: BoundaryValueProblem) -> float:
    """A size of λ to begin with: what resists against what λ multiplies, over the length of the
    member.
    """
    x = p.length / 2
    ratios = []
    for form in p.motion.equations.values():
        c0, c1 = p.row(form, x, FloatArithmetic())
        orders = [i for _, i in p.places] + [p.order[f] for f in p.motion.fields]
        above, below = (
            sum(abs(c) / p.length**i for c, i in zip(row, orders, strict=True)) for row in (c0, c1)
        )
        if below:
            ratios.append(above / below)
    return max(ratios, default=1.0)


# ---- enclosing -----------------------------------------------------------------------------------

# how close to an eigenvalue the sign of the determinant is evaluated, and the digits that takes
ENCLOSURE_WIDTH: Final = 10**-18
DIGITS: Final = 40


@dataclass(frozen=True)
class Eigenvalue:
    """λ, with the largest relative error it can have; `times` is how often it occurs."""

    value: float
    error: float
    # all digits that were found
    decimal: str = field(repr=False)
    multiplicity: int = 1

    @property
    def ball(self) -> arb:
        """λ with all its digits, at the precision that flint's context has."""
        import flint

        return flint.arb(self.decimal)


class BoundaryDeterminant:
    """The boundary determinant of a uniform member in balls, with as many digits as its sign
    needs.
    """

    def __init__(self, problem: BoundaryValueProblem) -> None:
        import flint

        self.problem, self.flint = problem, flint
        self.digits = DIGITS

    def with_more_digits(self, lam: float) -> BoundaryDeterminant:
        """The same with digits to spare for cosh βL at this λ."""
        import numpy as np

        wave = (
            float(np.max(np.abs(np.linalg.eigvals(self.problem.state_matrix(lam)))))
            * self.problem.length
        )
        self.digits = DIGITS + int(wave)
        return self

    def matrices(self, lam: Any) -> tuple[Any, Any]:
        """(M, A): the boundary matrix and the state matrix in balls."""
        p, balls = self.problem, BallArithmetic()
        lam = balls.ball(lam)
        state = self._state_matrix(lam, balls)
        Phi = (state * p.length_as(balls)).exp()
        n = len(p.places)
        rows = [
            (e.side, self.flint.arb_mat([self._row(e.form, lam, balls)[:n]])) for e in p.motion.ends
        ]
        M = self.flint.arb_mat([(row * Phi if side else row).entries() for side, row in rows])
        return M, state

    def _row(self, form: LinearForm, lam: Any, balls: BallArithmetic) -> list[Any]:
        """c₀ + λ c₁"""
        c0, c1 = self.problem.row(form, balls.const(0), balls)
        return [a + lam * b for a, b in zip(c0, c1, strict=True)]

    def _state_matrix(self, lam: Any, balls: BallArithmetic) -> Any:
        """A of y' = A y, from the equations solved for the highest derivatives."""
        flint, p = self.flint, self.problem
        n = len(p.places)
        interior = [self._row(form, lam, balls) for form in p.motion.equations.values()]
        lead = flint.arb_mat([row[n:] for row in interior])
        highest = -lead.solve(flint.arb_mat([row[:n] for row in interior]))
        last = dict(zip(p.highest_derivative_rows, highest.tolist(), strict=True))
        return flint.arb_mat(
            [last.get(i, [balls.const(int(j == i + 1)) for j in range(n)]) for i in range(n)]
        )

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
            product *= (
                max((abs(float(M[i, j].mid())) for j in range(M.ncols())), default=1.0) or 1.0
            )
        return product


def count_rigid_body_modes(problem: BoundaryValueProblem) -> int:
    """How often λ = 0 is an eigenvalue: the dimension of the rigid motions that the ends allow."""
    import flint
    import numpy as np

    f = BoundaryDeterminant(problem).with_more_digits(0.0)
    with flint.ctx.workdps(f.digits):
        M, _ = f.matrices(0)
        if not M.det().contains(0):
            return 0
        rows = _scale_rows([[x.mid() for x in row] for row in M.tolist()])
        columns = _scale_rows([list(column) for column in zip(*rows, strict=True)])
    numbers = np.array([[float(x) for x in row] for row in columns])
    return max(1, int(len(numbers) - np.linalg.matrix_rank(numbers, tol=1e-11)))


def _scale_rows(rows: list[list[Any]]) -> list[list[Any]]:
    """Each row divided by its largest entry."""
    sizes = [max(abs(x) for x in row) for row in rows]
    return [
        [(x / size).mid() for x in row] if size > 0 else row
        for row, size in zip(rows, sizes, strict=True)
    ]


def eigenvalues(problem: BoundaryValueProblem, wanted: int) -> list[Eigenvalue]:
    """The lowest eigenvalues of a uniform member, each enclosed."""
    zeros = count_rigid_body_modes(problem)
    zero_eigenvalues = [Eigenvalue(0.0, 0.0, "0", zeros)] if zeros else []
    f = BoundaryDeterminant(problem)
    return zero_eigenvalues + [
        _refine_eigenvalue(f.with_more_digits(high), low, high, times)
        for low, high, times in bracket_eigenvalues(problem, zeros, wanted - zeros)
    ]


def _refine_eigenvalue(f: BoundaryDeterminant, low: float, high: float, times: int) -> Eigenvalue:
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
        x = _illinois_root(f, a, b, fa, fb)
        width = flint.arb(ENCLOSURE_WIDTH) * x
        lower, upper = (x - width).mid(), (x + width).mid()
    if not (f(lower) > 0) ^ (f(upper) > 0):
        msg = f"the root near {float(x.mid())} could not be enclosed"
        raise ArithmeticError(msg)
    return Eigenvalue(float(x.mid()), ENCLOSURE_WIDTH, digits_of(x, f.digits))


def _illinois_root(f: BoundaryDeterminant, a: Any, b: Any, fa: Any, fb: Any) -> Any:
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
