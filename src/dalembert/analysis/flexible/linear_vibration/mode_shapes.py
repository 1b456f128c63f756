"""φ(x): shapes of modes as series of Chebyshev's polynomials, the largest deflection being 1."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

from dalembert.analysis.flexible.linear_vibration.boundary_value_problem import BoundaryValueProblem
from dalembert.analysis.flexible.linear_vibration.eigenvalue_count import (
    BoundaryDeterminant,
    Eigenvalue,
)
from dalembert.errors import BadDescription, Unknown
from dalembert.foundation.deferred_dataclass import dataclass
from dalembert.symbolic.algebra.arithmetic import BallArithmetic

if TYPE_CHECKING:
    from os import PathLike

# of a curve in an image
_POINTS: Final = 401


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
            msg = f"the member extends from x = 0 to x = {self.length:g}, which excludes x = {x}"
            raise BadDescription(msg)
        values = chebval(2 * place / self.length - 1, self.coefficients)
        return float(values) if np.ndim(x) == 0 else values

    def derivative(self, order: int = 1) -> ChebyshevShape:
        """φ′, φ″, …"""
        from numpy.polynomial.chebyshev import chebder

        c = chebder(self.coefficients, order) * (2 / self.length) ** order
        return ChebyshevShape(tuple(map(float, c)), self.length)

    def scale(self, k: float) -> ChebyshevShape:
        """k φ"""
        return ChebyshevShape(tuple(k * c for c in self.coefficients), self.length)

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


def save_shapes(
    named: Sequence[tuple[str, ChebyshevShape]], title: str, label: str, path: str | PathLike[str]
) -> None:
    """Shapes over the place along a member, as an image."""
    import numpy as np

    from dalembert.runtime.simulation.plotting.chart import GREY, Chart, Curve, Panel
    from dalembert.runtime.simulation.plotting.plot import save

    places = [np.linspace(0.0, shape.length, _POINTS) for _, shape in named]
    curves = tuple(Curve(name, x, shape(x)) for x, (name, shape) in zip(places, named, strict=True))
    # one curve has no legend: its name is the title
    panel = Panel(f"{label}  {named[0][0]}" if len(named) == 1 else label, curves, zero_line=True)
    length = max((shape.length for _, shape in named), default=1.0)
    save(Chart(title, "", GREY, (0.0, length), (panel,), x_label="x"), path)


def select_shape(shapes: Mapping[str, ChebyshevShape], name: str | None) -> ChebyshevShape:
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


class HasShapes:
    """Something that has shapes: a natural mode, a way to buckle."""

    compute_shapes: Callable[[], dict[str, ChebyshevShape]]

    @cached_property
    def shapes(self) -> dict[str, ChebyshevShape]:
        """The shapes of its fields, computed when first asked for; none for a motion without
        deformation.
        """
        return self.compute_shapes()

    def shape(self, x: Any, name: str | None = None) -> Any:
        """φ(x) of one of its fields (by default the first); the largest deflection is 1."""
        return select_shape(self.shapes, name)(x)


def uniform_shapes(problem: BoundaryValueProblem, e: Eigenvalue) -> dict[str, ChebyshevShape]:
    """The shapes of one eigenvalue of a uniform member: e^{Ax} y₀ with M y₀ = 0, in as many
    digits as cosh βL swallows.
    """
    import flint

    f = BoundaryDeterminant(problem).with_more_digits(e.value)
    with flint.ctx.workdps(2 * f.digits):
        M, A = f.matrices(e.ball)
        y0 = _null_vector(M)
        L = problem.length_as(BallArithmetic())
        samples = [
            (A * (L * (1 + flint.arb(z)) / 2)).exp() * y0
            for z in chebyshev_points(24 + f.digits // 2)
        ]
    places = {name: problem.index[name, 0] for name in problem.motion.fields}
    return normalize_shapes(
        {
            name: chebyshev_fit([float(y[k, 0].mid()) for y in samples], problem.length)
            for name, k in places.items()
        }
    )


def normalize_shapes(shapes: dict[str, ChebyshevShape]) -> dict[str, ChebyshevShape]:
    """The same with a largest deflection of 1."""
    scale = next(iter(shapes.values())).peak()[1] if shapes else 1.0
    return {name: shape.scale(1 / scale) for name, shape in shapes.items()}


def chebyshev_points(count: int) -> list[float]:
    """z_k = cos (2k + 1)π/2n, the roots of T_n."""
    return [math.cos(math.pi * (2 * k + 1) / (2 * count)) for k in range(count)]


def chebyshev_fit(samples: list[float], length: float) -> ChebyshevShape:
    """c_k = 2/n Σ_j φ(z_j) cos k θ_j at Chebyshev's points, without the tail that is rounding."""
    import numpy as np

    n = len(samples)
    theta = np.pi * (2 * np.arange(n) + 1) / (2 * n)
    c = 2 / n * np.cos(np.outer(np.arange(n), theta)) @ np.array(samples)
    c[0] /= 2
    significant = np.nonzero(np.abs(c) > 1e-17 * np.max(np.abs(c)))[0]
    return ChebyshevShape(tuple(map(float, c[: int(significant[-1]) + 1])), length)


def _null_vector(M: Any) -> Any:
    """y ≠ 0 with M y = 0 for a matrix that is singular to all its digits: [M b; bᵀ 0] (y, s) =
    (0, 1), and then s = 0
    """
    import flint

    n = M.nrows()
    b = [flint.arb(1) / (k + 1) for k in range(n)]
    bordered = flint.arb_mat(
        [
            *([*(x.mid() for x in row), x_b] for row, x_b in zip(M.tolist(), b, strict=True)),
            [*b, flint.arb(0)],
        ]
    )
    y = bordered.solve(flint.arb_mat(n + 1, 1, [flint.arb(0)] * n + [flint.arb(1)]))
    return flint.arb_mat(n, 1, [y[k, 0].mid() for k in range(n)])
