"""Y π = Y_b (π_b + β π_d): which parameters a motion can tell from one another, and in which combinations.

Columns of Y are dependent if they are so for every q, u, u̇. Y is evaluated at random points of a prime field, with the
constants of the system at their own values, until its rank no longer grows: the rank found is never too large, and too
small only with the probability that a polynomial vanishes at a random point (Schwartz–Zippel). The coefficients β are
fractions of F_p and are read back as fractions where these are small, otherwise solved for in floats.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

import numpy as np
from numpy.typing import NDArray

from dalembert.algebra.exact.matrices import reduced, small_fraction
from dalembert.algebra.exact.modular import inverse
from dalembert.algebra.exact.point import PrimePoint
from dalembert.algebra.folds import symbols_of
from dalembert.inverse.native import NativeExpressions
from dalembert.kinematics.system_kinematics import Kinematics
from dalembert.notebook import Shown

Numbers = NDArray[np.float64]

_SEED: Final = 19
# points beyond those that give as many rows as there are columns
_MORE: Final = 3
# a fraction with numerator and denominator below this is the only one of its residue modulo a prime of 62 bits
_LARGEST: Final = 10**9


@dataclass(frozen=True)
class BaseParameters(Shown):
    """π_b,i = π_i + Σ_j β_ij π_j: the combinations that matter, named by the parameter that leads each."""

    # all parameters; indices of the leading ones, and of those that no motion ever shows
    names: tuple[str, ...]
    leading: tuple[int, ...]
    idle: tuple[int, ...]
    # {parameter: ((leading one, β), …)} of those that only enter combinations; β is a float where it is no small fraction
    grouped: dict[int, tuple[tuple[int, Fraction | float], ...]]
    # rows of Y that were looked at, each at a random point
    rows: int

    @property
    def count(self) -> int:
        """How many combinations can be told apart."""
        return len(self.leading)

    @property
    def matrix(self) -> Numbers:
        """K with π_b = K π."""
        K = np.zeros((self.count, len(self.names)))
        place = {i: k for k, i in enumerate(self.leading)}
        for i, k in place.items():
            K[k, i] = 1.0
        for j, terms in self.grouped.items():
            for i, beta in terms:
                K[place[i], j] = float(beta)
        return K

    def combination(self, i: int) -> str:
        """The combination that a leading parameter stands for."""
        text = self.names[i]
        for j, terms in self.grouped.items():
            for lead, beta in terms:
                if lead == i:
                    sign, size = ("−", -beta) if beta < 0 else ("+", beta)
                    factor = "" if size == 1 else f"{size} " if isinstance(size, Fraction) else f"{size:.12g} "
                    text += f" {sign} {factor}{self.names[j]}"
        return text

    def __str__(self) -> str:
        head = f"{self.count} base parameters of {len(self.names)}; {len(self.idle)} never matter"
        return "\n".join([head, *(f"  {self.combination(i)}" for i in self.leading)])


def base_parameters(kin: Kinematics, Y: Sequence[Sequence[int]], names: Sequence[str]) -> BaseParameters:
    """The rank of Y over all motions, its first independent columns, and how the others depend on them."""
    width = len(names)
    count = -(-width // max(1, len(Y))) + _MORE
    points = _points(kin, Y, count)
    matrix = [[point(e) for e in row] for point in points for row in Y]
    p = points[0].prime
    rref, pivots = reduced(matrix, p)
    others = [j for j in range(width) if j not in set(pivots)]
    grouped: dict[int, tuple[tuple[int, Fraction | float], ...]] = {}
    unread: list[int] = []
    for j in others:
        residues = [(i, row[j]) for i, row in zip(pivots, rref, strict=True) if row[j]]
        read = [(i, small_fraction(x, p, _LARGEST)) for i, x in residues]
        if any(beta is None for _, beta in read):
            unread.append(j)
        grouped[j] = tuple((i, 0.0 if beta is None else beta) for i, beta in read)
    for j in unread:
        grouped[j] = _in_floats(kin, Y, j, [i for i, _ in grouped[j]])
    idle = tuple(j for j in others if not grouped[j])
    return BaseParameters(tuple(names), tuple(pivots), idle, {j: g for j, g in grouped.items() if g}, len(matrix))


def _points(kin: Kinematics, Y: Sequence[Sequence[int]], count: int) -> list[PrimePoint]:
    """Points of one field that differ in the motion and in nothing else; constants have their own values."""
    t = kin.tape
    inside = symbols_of(t, [e for row in Y for e in row])
    moving = {*kin.q, *kin.u, *kin.udot, *kin.qdot, *kin.qddot, kin.system.t.i}
    first = PrimePoint(t, _SEED)
    p = first.prime
    values = {s.scalar.i: Fraction(s.value) for s in kin.system.symbols.values() if s.value is not None}
    given = {i: x.numerator * inverse(x.denominator, p) % p for i, x in values.items() if i in inside}
    found = []
    for k in range(count):
        point = PrimePoint(t, _SEED, given=given)
        point.generators.salts.update({kin.name(i): k + 1 for i in inside if i in moving})
        found.append(point)
    return found


def _in_floats(kin: Kinematics, Y: Sequence[Sequence[int]], j: int, inside: Sequence[int]) -> tuple[tuple[int, Fraction | float], ...]:
    """β of one column by least squares over random states, on the columns that the prime field found it to depend on."""
    columns = [*inside, j]
    native = NativeExpressions(kin, [row[k] for row in Y for k in columns])
    rng = np.random.default_rng(_SEED)
    n = 4 * (1 + len(inside) // max(1, len(Y))) + 4
    states = [rng.uniform(-1.5, 1.5, (n, size)) for size in (kin.n_q, kin.n_u, kin.n_u)]
    table = native(*states).reshape(-1, len(columns))
    beta = np.linalg.lstsq(table[:, :-1], table[:, -1], rcond=None)[0]
    return tuple(zip(inside, beta.tolist(), strict=True))
