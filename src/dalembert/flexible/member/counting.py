"""How many eigenvalues lie below λ, and brackets that hold one each: Wittrick and Williams' count.

A member is cut into pieces so short that none of them, held at its ends, can vibrate below λ. Then the number of eigenvalues below λ is
the number of negative ones of the dynamic stiffness of all pieces put together.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from dalembert.algebra.arithmetic import Floats
from dalembert.errors import NotApplicable
from dalembert.flexible.member.boundary_problem import Problem

if TYPE_CHECKING:
    import numpy as np

LONGEST_PIECE: Final = 1.5
MOST_PIECES: Final = 4000
# members whose properties vary are cut at least so often
VARYING_PIECES: Final = 64


def count_below(problem: Problem, lam: float) -> int:
    """How many eigenvalues lie below λ: negative pivots of the dynamic stiffness, eliminated section by section."""
    import numpy as np

    pieces = _pieces(problem, lam)
    m = len(problem.conjugate)
    edges = np.linspace(0.0, problem.length, pieces + 1)
    whole = _piece(problem, lam, 0.0, edges[1]) if problem.motion.is_uniform else None
    own, held = zip(*(problem.end_stiffness(side, lam) for side in (0, 1)), strict=True)
    below = 0
    here = own[0]
    free = [i for i in range(m) if i not in held[0]]
    for k in range(pieces):
        K = _piece(problem, lam, edges[k], edges[k + 1]) if whole is None else whole
        K = (K + K.T) / 2
        pivot = (here + K[:m, :m])[np.ix_(free, free)]
        coupling = K[:m, m:][free]
        below += _negative(pivot)
        here = K[m:, m:] - coupling.T @ np.linalg.solve(pivot, coupling) if free else K[m:, m:]
        free = list(range(m))
    last = [i for i in range(m) if i not in held[1]]
    return below + _negative((here + own[1])[np.ix_(last, last)])


def _negative(K: np.ndarray) -> int:
    """The number of negative eigenvalues; rows are brought to one size, which changes no sign."""
    import numpy as np

    if not len(K):
        return 0
    size = np.sqrt(np.maximum(np.abs(np.diag(K)), 1e-300))
    return int(np.sum(np.linalg.eigvalsh((K + K.T) / 2 / np.outer(size, size)) < 0))


def _pieces(problem: Problem, lam: float) -> int:
    """So many that no piece, held at both ends, can vibrate below λ."""
    import numpy as np

    places = (0.0,) if problem.motion.is_uniform else np.linspace(0.0, problem.length, 9)[1:-1]
    wave = max(float(np.max(np.abs(np.linalg.eigvals(problem.state_matrix(lam, x))))) for x in places)
    n = 1 + int(wave * problem.length / LONGEST_PIECE)
    if n > MOST_PIECES:
        msg = f"{n} pieces are needed to count modes up to {lam:.3g}: ask for fewer modes"
        raise NotApplicable(msg)
    return n if problem.motion.is_uniform else max(n, VARYING_PIECES)


def _piece(problem: Problem, lam: float, a: float, b: float) -> np.ndarray:
    """The dynamic stiffness of a piece: end forces from end displacements."""
    import numpy as np

    Phi = _transfer(problem, lam, a, b)
    (D_a, F_a), (D_b, F_b) = problem.section(lam, a), problem.section(lam, b)
    displacements = np.vstack([D_a, D_b @ Phi])
    # the coefficient of δv in T − V: the force on the left end is +, on the right end −
    forces = np.vstack([F_a, -F_b @ Phi])
    return np.linalg.solve(displacements.T, forces.T).T


def _transfer(problem: Problem, lam: float, a: float, b: float) -> np.ndarray:
    """y(b) = Φ y(a): the exponential, by Magnus' series of fourth order where coefficients vary."""
    h = b - a
    if problem.motion.is_uniform:
        return _exponential(problem.state_matrix(lam) * h)
    middle, apart = (a + b) / 2, h * 3**0.5 / 6
    A, B = problem.state_matrix(lam, middle - apart), problem.state_matrix(lam, middle + apart)
    return _exponential(h / 2 * (A + B) - h * h * 3**0.5 / 12 * (A @ B - B @ A))


def _exponential(A: np.ndarray) -> np.ndarray:
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


class Count:
    """Brackets that hold one eigenvalue each, found by counting."""

    def __init__(self, problem: Problem, zeros: int) -> None:
        self.problem, self.zeros = problem, zeros
        self._known: dict[float, int] = {}

    def __call__(self, lam: float) -> int:
        if lam not in self._known:
            self._known[lam] = count_below(self.problem, lam) - self.zeros
        return self._known[lam]

    def brackets(self, wanted: int) -> list[tuple[float, float, int]]:
        """(low, high, how many) in order; more than one only where eigenvalues coincide."""
        if wanted <= 0:
            return []
        low = high = self._scale()
        while self(low) > 0:
            low /= 16.0
            if low < 1e-30 * high:
                msg = "the member is not stable in its straight state: it has buckled, or a frame turns too fast"
                raise NotApplicable(msg)
        while self(high) < wanted:
            high *= 2.0
        found: list[tuple[float, float, int]] = []
        stack = [(low, high)]
        while stack:
            a, b = stack.pop()
            inside = self(b) - self(a)
            if inside <= 0 or self(a) >= wanted:
                continue
            narrow = b - a < 1e-3 * b if inside == 1 else b - a < 1e-9 * b
            if narrow:
                found.append((a, b, inside))
                continue
            middle = (a * b) ** 0.5 if b > 2 * a else (a + b) / 2
            stack += [(middle, b), (a, middle)]
        return found

    def _scale(self) -> float:
        """A size of λ to begin with: what resists against what λ multiplies, over the length of the member."""
        p = self.problem
        x = p.length / 2
        ratios = []
        for form in p.motion.equations.values():
            c0, c1 = p.row(form, x, Floats())
            orders = [i for _, i in p.places] + [p.order[f] for f in p.motion.fields]
            above, below = (sum(abs(c) / p.length**i for c, i in zip(row, orders, strict=True)) for row in (c0, c1))
            if below:
                ratios.append(above / below)
        return max(ratios, default=1.0)
