"""r(ξ, t) = r_P + (L ξ + u − Δ) e_x + v e_y + w e_z: a flexible member as one curve, from its root to its end."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Final

import numpy as np

from dalembert.algebra.folds import symbols_of
from dalembert.flexible.expansion.discretised import Discretised
from dalembert.geometry.point import Point
from dalembert.geometry.vector import Vector
from dalembert.model.elements import Body
from dalembert.model.system import System

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from dalembert.page.geometry import Poses

    Numbers = NDArray[np.float64]

# pieces of a curve, each of which turns by little
PIECES: Final = 16
# how thick members are, as parts of the thickness of a link
_THICK: Final = {"string": 1.3, "bar": 2.6, "shaft": 2.6, "beam": 2.2}


@dataclass(frozen=True, eq=False)
class MemberCurve:
    """A member along a motion: its places r (k × n × 3) in order, the first is its root."""

    name: str
    r: Numbers = field(repr=False)
    # against a link
    thick: float
    # the point it hangs on, and the vectors from there to its places
    root: Point = field(repr=False)
    along: tuple[Vector, ...] = field(repr=False)


class CurveMembers:
    """The members of a system that were expanded, and what of it belongs to them."""

    def __init__(self, system: System) -> None:
        self.bent = [e for e in system.expansions.values() if isinstance(e, Discretised)]
        self._positions = [[e.position(Fraction(k, PIECES)) for k in range(PIECES + 1)] for e in self.bent]
        self._amplitudes = {q.i for e in self.bent for each in e.amplitudes.values() for q in each}
        self._slices = {b.G for b in system.bodies if self.has(b)}

    @property
    def vectors(self) -> list[Vector]:
        """From the points the members hang on to the places of their curves."""
        return [v for each in self._positions for v in each]

    def has(self, body: Body) -> bool:
        """Whether a body is a slice of a member; what sits on its ends is none."""
        stem = body.name.rpartition(" ")[0]
        return any(stem == e.member.name and body.G.parent is e.member.at for e in self.bent)

    def carry(self, P: Point) -> bool:
        """Whether a point is a place on a member, so that the curve leads to it."""
        if P in self._slices:
            return True
        if not any(P.parent is e.member.at for e in self.bent):
            return False
        tape = P.r.tape
        return not self._amplitudes.isdisjoint(symbols_of(tape, [c for triple in P.r.parts.values() for c in triple]))

    def curves(self, poses: Poses) -> list[MemberCurve]:
        """Every member, in the order of their expansion."""
        found = []
        for e, positions in zip(self.bent, self._positions, strict=True):
            root = poses.point(e.member.at)
            r = np.stack([root + poses.vector(v) for v in positions])
            found.append(MemberCurve(e.member.name, r, _THICK[e.member.kind], e.member.at, tuple(positions)))
        return found
