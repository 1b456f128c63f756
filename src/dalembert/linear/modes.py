"""λ v = A v: eigenvalues, frequencies, damping and mode shapes.

States that drive others without being driven back split A into blocks. Each block has eigenvalues of its own, so that the
zeros of ignorable coordinates are exactly zero and do not blur the others (a heading that drives a path is a Jordan block).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from dalembert.notebook import Shown
from dalembert.units.dimension import labelled

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Numbers = NDArray[np.float64]
    Complex = NDArray[np.complex128]

# entries below this part of both their row's and their column's largest, or of all entries, are rounding
_ROUNDING: Final = 1e-14
_DUST: Final = 1e-13
_UNIT: Final = 2.0**-53
# eigenvalues that differ by less are one, seen several times
_COINCIDE: Final = 1e-10


class Mode(NamedTuple):
    """One eigenvalue λ = −ζ ω₀ ± i ω with its shape, the largest component of which is one."""

    eigenvalue: complex
    shape: Complex
    # part of the linear model that is zero for every value of the state: an ignorable coordinate
    structural: bool

    @property
    def frequency(self) -> float:
        """ω₀ = |λ|, in radians per unit of time."""
        return abs(self.eigenvalue)

    @property
    def damping(self) -> float:
        """ζ = −Re λ/|λ|; NaN for λ = 0."""
        return 0.0 - self.eigenvalue.real / abs(self.eigenvalue) if self.eigenvalue else math.nan


@dataclass(frozen=True, eq=False)
class Modes(Shown):
    """The modes of a linear model; those that oscillate fastest last, structural zeros first."""

    states: tuple[str, ...]
    modes: tuple[Mode, ...]
    # whether time is in seconds, because units were given
    seconds: bool = False

    @property
    def eigenvalues(self) -> Complex:
        """All of them, each as often as it occurs."""
        return np.array([m.eigenvalue for m in self.modes], dtype=complex)

    @property
    def proper(self) -> Complex:
        """Those that are not zero by structure."""
        return np.array([m.eigenvalue for m in self.modes if not m.structural], dtype=complex)

    @property
    def growth(self) -> float:
        """max Re λ over the eigenvalues that are not zero by structure; −∞ if there are none."""
        return float(np.max(self.proper.real, initial=-math.inf))

    @property
    def frequencies(self) -> Numbers:
        """|λ|"""
        return np.abs(self.eigenvalues)

    @property
    def damping(self) -> Numbers:
        """ζ = −Re λ/|λ|"""
        return np.array([m.damping for m in self.modes])

    def __str__(self) -> str:
        zeros = sum(m.structural for m in self.modes)
        heads = (labelled("eigenvalue", "1/s"), labelled("frequency", "rad/s")) if self.seconds else ("eigenvalue", "frequency")
        wide = max(12, len(heads[1]) + 1)
        lines = [f"  {heads[0]:<28}{heads[1]:>{wide}}{'damping':>12}  shape"]
        for m in self.modes:
            if m.structural or m.eigenvalue.imag < 0:
                continue
            z = _shown(m.eigenvalue)
            value = f"{z.real:.9g} ± {z.imag:.9g} i" if z.imag else f"{z.real:.9g}"
            lines.append(f"  {value:<28}{m.frequency:>{wide}.6g}{0.0 - z.real / abs(z) if z else math.nan:>12.4g}  {self._shape(m)}")
        return "\n".join([*lines, *([f"  0, {zeros} times: ignorable coordinates and free speeds"] if zeros else [])])

    def _shape(self, m: Mode) -> str:
        """The components above a hundredth, by size, with their phases."""
        order = np.argsort(-np.abs(m.shape), kind="stable")[:4]
        parts = []
        for k in order:
            z = complex(m.shape[k])
            if abs(z) >= 0.01:
                turned = f"∠{math.degrees(math.atan2(z.imag, z.real)):.0f}°" if abs(z.imag) > 1e-9 else ""
                parts.append(f"{self.states[k]} {abs(z) if turned else z.real:.3g}{turned}")
        return ", ".join(parts)


def _shown(z: complex) -> complex:
    """An eigenvalue without the rounding errors of a part that is zero."""
    return complex(z.real if abs(z.real) > _DUST * abs(z) else 0.0, z.imag if abs(z.imag) > _DUST * abs(z) else 0.0)


def modes(A: Numbers, states: tuple[str, ...], *, seconds: bool = False) -> Modes:
    """The eigenvalues of the blocks of A, and the eigenvectors of A for each."""
    found = []
    for block in blocks(A):
        part = A[np.ix_(block, block)]
        if len(block) == 1:
            structural = abs(part[0, 0]) <= _ROUNDING * np.abs(A).max(initial=0.0)
            found += [Mode(0j if structural else complex(part[0, 0]), _shape(A, part[0, 0]), bool(structural))]
            continue
        found += [Mode(complex(z), _shape(A, z), structural=False) for z in np.linalg.eigvals(part)]
    found.sort(key=lambda m: (not m.structural, abs(m.eigenvalue.imag), m.eigenvalue.real, m.eigenvalue.imag))
    return Modes(states, _told_apart(A, found), seconds)


def _told_apart(A: Numbers, found: list[Mode]) -> tuple[Mode, ...]:
    """Modes of one eigenvalue with directions of their own, where A has them: a ball in a bowl swings both ways."""
    apart: list[Mode] = []
    for m in found:
        before = sum(abs(m.eigenvalue - other.eigenvalue) <= _COINCIDE * abs(m.eigenvalue) for other in apart if m.eigenvalue)
        apart.append(m._replace(shape=_shape(A, m.eigenvalue, before)) if before else m)
    return tuple(apart)


def blocks(A: Numbers) -> list[list[int]]:
    """The strongly connected parts of x_i ← x_j where A_ij is not zero."""
    size = np.abs(A)
    least = np.minimum(size.max(axis=1, initial=0.0)[:, None], size.max(axis=0, initial=0.0)[None, :])
    reach = (size > np.maximum(_ROUNDING * least, _UNIT * size.max(initial=0.0))) | np.eye(len(A), dtype=bool)
    for k in range(len(A)):
        reach |= np.outer(reach[:, k], reach[k])
    mutual = reach & reach.T
    return [np.flatnonzero(mutual[k]).tolist() for k in range(len(A)) if not mutual[k, :k].any()]


def _shape(A: Numbers, eigenvalue: complex, number: int = 0) -> Complex:
    """The direction that A − λ 1 shortens most: an eigenvector also where others nearly coincide; or the next such direction."""
    _, shortened, directions = np.linalg.svd(A - eigenvalue * np.eye(len(A)))
    chosen = -1 - number if shortened[-1 - number] <= _COINCIDE * shortened[0] else -1
    shape = directions[chosen].conj()
    return np.asarray(shape / shape[np.argmax(np.abs(shape))], dtype=complex)
