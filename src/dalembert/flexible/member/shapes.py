"""φ(x): shapes of modes as series of Chebyshev's polynomials, the largest deflection being 1."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from dalembert.errors import BadDescription, Unknown
from dalembert.flexible.member.boundary_problem import Problem
from dalembert.flexible.member.spectrum import Determinant, Eigenvalue


@dataclass(frozen=True)
class ChebyshevShape:
    """φ(x) = Σ c_k T_k(2x/L − 1) for 0 ≤ x ≤ L."""

    coefficients: tuple[float, ...]
    length: float

    def __call__(self, x: Any) -> Any:
        """φ at one place, or at an array of places."""
        import numpy as np
        from numpy.polynomial.chebyshev import chebval

        place = np.asarray(x, dtype=float)
        if not np.all((place >= -1e-9 * self.length) & (place <= (1 + 1e-9) * self.length)):
            msg = f"a place along the member lies between x = 0 and x = {self.length:g}, not at {x}"
            raise BadDescription(msg)
        values = chebval(2 * place / self.length - 1, self.coefficients)
        return float(values) if np.ndim(x) == 0 else values

    def derivative(self, order: int = 1) -> ChebyshevShape:
        """φ′, φ″, …"""
        from numpy.polynomial.chebyshev import chebder

        c = chebder(self.coefficients, order) * (2 / self.length) ** order
        return ChebyshevShape(tuple(map(float, c)), self.length)

    def scaled(self, k: float) -> ChebyshevShape:
        """k φ"""
        return ChebyshevShape(tuple(k * c for c in self.coefficients), self.length)

    def largest(self) -> float:
        """φ where it is largest in size, with its sign."""
        return self.peak()[1]

    def peak(self) -> tuple[float, float]:
        """(x, φ) where φ is largest in size: at an end, or where φ′ = 0."""
        import numpy as np
        from numpy.polynomial.chebyshev import chebroots

        slope = self.derivative().coefficients
        size = max(map(abs, slope), default=0.0)
        trimmed = np.trim_zeros(np.where(np.abs(slope) > 1e-14 * size, slope, 0.0), "b")
        roots = chebroots(trimmed) if len(trimmed) > 1 else np.array([])
        inside = [float(z.real) for z in roots if abs(z.imag) < 1e-9 and abs(z.real) <= 1]
        places = [0.0, self.length, *((1 + z) / 2 * self.length for z in inside)]
        x = max(places, key=lambda p: abs(self(p)))
        return x, self(x)


def chosen(shapes: Mapping[str, ChebyshevShape], name: str | None) -> ChebyshevShape:
    """The shape of one field, by default the first."""
    if not shapes:
        msg = "this motion has no shape of its own: the member stays straight, or moves as a whole"
        raise BadDescription(msg)
    if name is None:
        return next(iter(shapes.values()))
    if name not in shapes:
        msg = f"there is no field {name!r} here; there is {', '.join(shapes)}"
        raise Unknown(msg)
    return shapes[name]


class Shaped:
    """Something that has shapes: a natural mode, a way to buckle."""

    shaped: Callable[[], dict[str, ChebyshevShape]]

    @cached_property
    def shapes(self) -> dict[str, ChebyshevShape]:
        """The shapes of its fields, computed when first asked for; none for a motion without deformation."""
        return self.shaped()

    def shape(self, x: Any, name: str | None = None) -> Any:
        """φ(x) of one of its fields (by default the first); the largest deflection is 1."""
        return chosen(self.shapes, name)(x)


def uniform_shapes(problem: Problem, e: Eigenvalue) -> dict[str, ChebyshevShape]:
    """The shapes of one eigenvalue of a uniform member: e^{Ax} y₀ with M y₀ = 0, in as many digits as cosh βL swallows."""
    import flint

    f = Determinant(problem).sharpened(e.value)
    count = 24 + f.digits // 2
    with flint.ctx.workdps(2 * f.digits):
        M, A = f.matrices(e.ball)
        y0 = flint.arb_mat(A.nrows(), 1, _null_vector([[x.mid() for x in row] for row in M.tolist()]))
        (L,) = problem.numbers([problem.motion.member.length.i], flint.arb(0), _balls())
        samples = []
        for k in range(count):
            z = flint.arb(math.cos(math.pi * (2 * k + 1) / (2 * count)))
            y = (A * (L * (1 + z) / 2)).exp() * y0
            samples.append([float(y[problem.index[name, 0], 0].mid()) for name in problem.motion.fields])
    shapes = {name: fitted([s[g] for s in samples], problem.length) for g, name in enumerate(problem.motion.fields)}
    scale = shapes[problem.motion.fields[0]].largest()
    return {name: shape.scaled(1 / scale) for name, shape in shapes.items()}


def _balls() -> Any:
    from dalembert.algebra.arithmetic import Balls

    return Balls()


def fitted(samples: list[float], length: float) -> ChebyshevShape:
    """c_k = 2/n Σ_j φ(z_j) cos k θ_j at Chebyshev's points, without the tail that is rounding."""
    import numpy as np

    n = len(samples)
    theta = np.pi * (2 * np.arange(n) + 1) / (2 * n)
    c = 2 / n * np.cos(np.outer(np.arange(n), theta)) @ np.array(samples)
    c[0] /= 2
    significant = np.nonzero(np.abs(c) > 1e-17 * np.max(np.abs(c)))[0]
    return ChebyshevShape(tuple(map(float, c[: int(significant[-1]) + 1])), length)


def _null_vector(rows: list[list[Any]]) -> list[Any]:
    """y ≠ 0 with M y = 0 for a matrix that is singular to all its digits: elimination with full pivoting."""
    n = len(rows)
    M = [row[:] for row in rows]
    columns = list(range(n))
    for k in range(n - 1):
        i, j = max(((i, j) for i in range(k, n) for j in range(k, n)), key=lambda p: abs(M[p[0]][p[1]]))
        M[k], M[i] = M[i], M[k]
        for row in M:
            row[k], row[j] = row[j], row[k]
        columns[k], columns[j] = columns[j], columns[k]
        for i in range(k + 1, n):
            factor = (M[i][k] / M[k][k]).mid()
            M[i] = [(a - factor * b).mid() for a, b in zip(M[i], M[k], strict=True)]
    y = [M[0][0] * 0] * n
    y[n - 1] = y[n - 1] + 1
    for k in range(n - 2, -1, -1):
        total = sum((M[k][j] * y[j] for j in range(k + 1, n)), M[0][0] * 0)
        y[k] = (-total / M[k][k]).mid()
    result = y[:]
    for k, column in enumerate(columns):
        result[column] = y[k]
    return result
