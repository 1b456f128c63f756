"""det [B₀; B_L e^{A(λ)L}] = 0: the numbers λ for which a uniform member moves freely, each enclosed, none missed.

The linear field equations are y′ = A(λ) y with rows B₀ y(0) = 0 and B_L y(L) = 0. The determinant is evaluated in ball arithmetic,
whose precision is raised until the sign is certain, so high modes lose nothing to cosh βL. Every root is bracketed by
counting first: the number of eigenvalues below λ is the number of negative pivots of the dynamic stiffness of the member cut into
pieces so short that none of them, held at its ends, can vibrate (Wittrick and Williams).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, Literal

from dalembert.algebra.exact.balls import Balls
from dalembert.algebra.folds import evaluate, symbols_of
from dalembert.errors import BadDescription, IllPosed, NotApplicable
from dalembert.flexible.small_motion import Form, SmallMotion

if TYPE_CHECKING:
    import numpy as np
    from flint import arb

Unknown = Literal["frequency", "compression", "rest"]
# how close to an eigenvalue the sign of the determinant is asked for, and the digits that takes
CLOSE: Final = 10**-18
DIGITS: Final = 40
LONGEST_PIECE: Final = 1.5
MOST_PIECES: Final = 4000


@dataclass(frozen=True)
class Eigenvalue:
    """λ, with the largest relative error it can have; `times` is how often it occurs."""

    value: float
    error: float
    ball: arb = field(repr=False)
    times: int = 1


class Problem:
    """The forms of a small motion in numbers: each coefficient is c₀ + λ c₁."""

    def __init__(self, motion: SmallMotion, unknown: Unknown = "frequency") -> None:
        self.motion, self.unknown, self.tape = motion, unknown, motion.tape
        self.order = motion.order
        self.places = [(f, i) for f in motion.fields for i in range(self.order[f])]
        self.index = {place: k for k, place in enumerate(self.places)}
        rows = [e.form for e in motion.ends]
        if len(rows) != len(self.places):
            msg = f"{motion.member.kind} {motion.member.name!r}: {len(rows)} conditions at its ends where {len(self.places)} are needed"
            raise IllPosed(msg)
        if unknown == "frequency" and motion.has_damping:
            msg = (
                f"{motion.member.kind} {motion.member.name!r}: a damper or a turning frame couples its motion with its velocity, so it has"
                " no undamped modes; expand it in functions and use da.linearize"
            )
            raise NotApplicable(msg)
        self._split: dict[int, tuple[int, int]] = {}

    # ---- numbers -----------------------------------------------------------------------------

    def pair(self, node: int, dots: int) -> tuple[int, int]:
        """(c₀, c₁): λ = ω² comes from two dots, λ = P from the compressive force."""
        t = self.tape
        if self.unknown == "frequency":
            return (node, t.zero) if dots == 0 else (t.zero, t.neg(node))
        if dots:
            return t.zero, t.zero
        if self.unknown == "rest":
            return node, t.zero
        if node not in self._split:
            from dalembert.algebra.folds import Linear

            assert self.motion.compression is not None
            c, k = Linear(t, [self.motion.compression])(node)
            self._split[node] = c, k.get(0, t.zero)
        return self._split[node]

    def numbers(self, nodes: Sequence[int], x: Any, arithmetic: Any) -> list[Any]:
        """Nodes as numbers of an arithmetic, at a place x."""
        m = self.motion

        def symbol(i: int) -> Any:
            if i == m.member.x.i:
                return x
            if i not in m.numbers:
                msg = f"{m.member.kind} {m.member.name!r}: the constant {self.tape.nodes[i][1]} has no value; give it one with values={{...}}"
                raise BadDescription(msg)
            return arithmetic.const(m.numbers[i])

        return evaluate(self.tape, list(nodes), symbol, arithmetic)

    def row(self, form: Form, x: Any, arithmetic: Any) -> tuple[list[Any], list[Any]]:
        """c₀ and c₁ of one form over the state (v, v′, …) and, in the last places, the highest derivatives."""
        keys = list(form.coefficients)
        pairs = [self.pair(form.coefficients[k], k[2]) for k in keys]
        flat = self.numbers([n for pair in pairs for n in pair], x, arithmetic)
        zero = arithmetic.const(0)
        width = len(self.places) + len(self.motion.fields)
        rows = [zero] * width, [zero] * width
        for (name, i, _), a, b in zip(keys, flat[::2], flat[1::2], strict=True):
            k = self.index.get((name, i), len(self.places) + self.motion.fields.index(name))
            rows[0][k], rows[1][k] = rows[0][k] + a, rows[1][k] + b
        return rows

    @cached_property
    def length(self) -> float:
        """L as a number."""
        from dalembert.algebra.arithmetic import Floats

        return float(self.numbers([self.motion.member.length.i], 0.0, Floats())[0])

    # ---- floats ------------------------------------------------------------------------------

    def state_matrix(self, lam: float, x: float = 0.0) -> np.ndarray:
        """A(λ) of y′ = A y at a place, in floats."""
        import numpy as np

        from dalembert.algebra.arithmetic import Floats

        key = ("interior", x)
        if key not in self._floats:
            pairs = [self.row(form, x, Floats()) for form in self.motion.equations.values()]
            self._floats[key] = np.array([p[0] for p in pairs]), np.array([p[1] for p in pairs])
        c0, c1 = self._floats[key]
        c, n = c0 + lam * c1, len(self.places)
        highest = -np.linalg.solve(c[:, n:], c[:, :n])
        A = np.zeros((n, n))
        for (f, i), k in self.index.items():
            if i + 1 < self.order[f]:
                A[k, self.index[f, i + 1]] = 1.0
            else:
                A[k] = highest[self.motion.fields.index(f)]
        return A

    @cached_property
    def _floats(self) -> dict[Any, Any]:
        return {}

    @cached_property
    def conjugate(self) -> list[tuple[str, int]]:
        """The displacements v, v′, … whose conjugate forces act at a section."""
        return sorted(self.motion.sections, key=lambda k: (self.motion.fields.index(k[0]), k[1]))

    def section(self, lam: float, x: float) -> tuple[np.ndarray, np.ndarray]:
        """D and F: displacements d = D y and forces f = F y at a section."""
        import numpy as np

        from dalembert.algebra.arithmetic import Floats

        key = ("section", x)
        if key not in self._floats:
            pairs = [self.row(self.motion.sections[k], x, Floats()) for k in self.conjugate]
            self._floats[key] = np.array([p[0] for p in pairs]), np.array([p[1] for p in pairs])
        c0, c1 = self._floats[key]
        n = len(self.places)
        D = np.zeros((len(self.conjugate), n))
        for row, place in enumerate(self.conjugate):
            D[row, self.index[place]] = 1.0
        return D, (c0 + lam * c1)[:, :n]

    def end_stiffness(self, side: int, lam: float) -> tuple[np.ndarray, list[int]]:
        """What sits on an end, as a stiffness over its displacements, and which of these are held."""
        import numpy as np

        from dalembert.algebra.arithmetic import Floats

        n, m = len(self.places), len(self.conjugate)
        x = self.length if side else 0.0
        K, held = np.zeros((m, m)), []
        for e in (e for e in self.motion.ends if e.side == side):
            place = self.conjugate.index((e.field, e.order))
            if e.kind == "geometric":
                held.append(place)
            if e.kind != "natural":
                continue
            c0, c1 = self.row(e.form, x, Floats())
            _, F = self.section(lam, x)
            own = (np.array(c0) + lam * np.array(c1))[:n] - F[place]
            for column, displacement in enumerate(self.conjugate):
                K[place, column] = -own[self.index[displacement]] * (1 if side else -1)
        return K, held


def count_below(problem: Problem, lam: float) -> int:
    """How many eigenvalues lie below λ: negative eigenvalues of the dynamic stiffness of the pieces, put together."""
    import numpy as np

    pieces = _pieces(problem, lam)
    m = len(problem.conjugate)
    edges = np.linspace(0.0, problem.length, pieces + 1)
    K = np.zeros(((pieces + 1) * m,) * 2)
    whole = _piece(problem, lam, 0.0, edges[1]) if problem.motion.is_uniform else None
    for k in range(pieces):
        K[k * m : (k + 2) * m, k * m : (k + 2) * m] += _piece(problem, lam, edges[k], edges[k + 1]) if whole is None else whole
    held: list[int] = []
    for side, first in ((0, 0), (1, pieces * m)):
        own, fixed = problem.end_stiffness(side, lam)
        K[first : first + m, first : first + m] += own
        held += [first + i for i in fixed]
    free = [i for i in range(len(K)) if i not in held]
    K = K[np.ix_(free, free)]
    # rows of one size, so that moments and forces do not drown one another; the signs are what counts
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
    return n if problem.motion.is_uniform else max(n, 64)


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
    from scipy.linalg import expm

    h = b - a
    if problem.motion.is_uniform:
        return expm(problem.state_matrix(lam) * h)  # type: ignore[no-any-return]
    import numpy as np

    middle, apart = (a + b) / 2, h * 3**0.5 / 6
    A, B = problem.state_matrix(lam, middle - apart), problem.state_matrix(lam, middle + apart)
    return expm(h / 2 * (A + B) - h * h * 3**0.5 / 12 * (np.dot(A, B) - np.dot(B, A)))  # type: ignore[no-any-return]


# ---- roots -----------------------------------------------------------------------------------


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

        def at(form: Form) -> list[Any]:
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

    with flint.ctx.workdps(DIGITS):
        M, _ = Determinant(problem).matrices(0)
    rows = np.array([[float(M[i, j].mid()) for j in range(M.ncols())] for i in range(M.nrows())])
    size = np.max(np.abs(rows), axis=1, keepdims=True)
    rows = rows / np.where(size > 0, size, 1.0)
    rows = rows / np.maximum(np.max(np.abs(rows), axis=0, keepdims=True), 1e-300)
    return int(M.nrows() - np.linalg.matrix_rank(rows, tol=1e-11))


def eigenvalues(problem: Problem, wanted: int) -> list[Eigenvalue]:
    """The lowest eigenvalues of a uniform member, each enclosed."""
    zeros = zero_modes(problem)
    found = [Eigenvalue(0.0, 0.0, _ball(0), zeros)] if zeros else []
    count = Count(problem, zeros)
    f = Determinant(problem)
    for low, high, times in count.brackets(wanted - zeros):
        found.append(_refined(f.sharpened(high), low, high, times))
    return found


def _ball(x: float) -> Any:
    import flint

    return flint.arb(x)


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
        """A size of λ to begin with: where the longest wave fits the member once."""
        import numpy as np

        lam = 1.0
        for _ in range(400):
            x = self.problem.length / 2
            wave = float(np.max(np.abs(np.linalg.eigvals(self.problem.state_matrix(lam, x))))) * self.problem.length
            if 0.5 <= wave <= 5.0:
                break
            lam *= 4.0 if wave < 0.5 else 0.25
        return lam


def _refined(f: Determinant, low: float, high: float, times: int) -> Eigenvalue:
    """One eigenvalue to all digits: secants in balls, then the sign on both sides of it."""
    import flint

    if times > 1:
        return Eigenvalue((low + high) / 2, (high - low) / low, flint.arb((low + high) / 2), times)
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
    return Eigenvalue(float(x.mid()), CLOSE, x, 1)


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
