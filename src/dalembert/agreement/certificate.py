"""Exact evaluation as a proof that two derivations say the same.

Both sets of equations are brought to residuals along the independent speeds, functions of (q, u, u̇, t), and evaluated at
random points of random prime fields. Where the residuals coincide row by row the equations are the same; where they do
not, u̇ is taken from one and inserted in the other, which also admits forms that differ by a factor or a combination.
By Schwartz–Zippel a false agreement has at most the stated probability; a disagreement is shown at a state, or not claimed.

v = ṙ, a = v̇, [ω]ₓ = Ṙ Rᵀ, α = ω̇: the kinematic audit. All principles share the kinematics, and a wrong ω would make all of them agree. So
positions and rotations, which come from the description alone, are differentiated on the tape and compared, exactly, with what the
recursion gave.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import islice

from dalembert.algebra.columns import Column
from dalembert.algebra.exact.field import StructurallySingular, ZeroTest
from dalembert.algebra.exact.verdict import Clock, Decision, Verdict
from dalembert.algebra.folds import transplant
from dalembert.algebra.tape import Triple
from dalembert.equations.form import Equations
from dalembert.geometry.frame import Frame
from dalembert.geometry.point import Point
from dalembert.geometry.rotation import cross_matrix, departures, dot3
from dalembert.geometry.vector import Vector
from dalembert.kinematics.system_kinematics import Kinematics


@dataclass(frozen=True)
class Difference:
    """Where two derivations part: row, what it leaves there, and modulo which prime."""

    row: int
    residue: object
    prime: int


@dataclass(frozen=True)
class Certificate(Verdict):
    """Whether two sets of equations have the same solutions, how surely, and if not, where they differ."""

    difference: Difference | None = None
    same_rows: bool = True
    points: int = 0
    bits: int = 0


class ReferenceEquations:
    """One set of equations that others are held against, on one tape and at the same points: what they share is evaluated once."""

    def __init__(self, reference: Equations, seed: int | None = None) -> None:
        self.reference = reference
        self.tape = reference.tape.fork()
        self._rows = ZeroTest(self.tape, seed=seed, confirm=False)
        self._inserted = ZeroTest(self.tape, reference.residuals, reference.udot, seed=seed)

    def certificate(self, other: Equations) -> Certificate:
        """Do the two have the same solutions u̇ for every state?"""
        theirs = Column(self.tape, transplant(other.tape, self.tape, other.residuals))
        differences = (Column(self.tape, self.reference.residuals) - theirs).nodes
        self._rows.clock = self._inserted.clock = Clock()
        try:
            same = self._rows.decide(differences)
            if same.all_zero is not False:
                return _verdict(same, same_rows=True)
            return _verdict(self._inserted.decide(theirs.nodes), same_rows=False)
        except StructurallySingular as problem:
            # rows that differ while the mass matrix determines no accelerations to insert: they may still have the same solutions
            return Certificate(holds=None, bound=1.0, why=str(problem), same_rows=False)


def compare(reference: Equations, other: Equations, seed: int | None = None) -> Certificate:
    """Do the two have the same solutions u̇ for every state?"""
    return ReferenceEquations(reference, seed).certificate(other)


def _verdict(found: Decision, *, same_rows: bool) -> Certificate:
    difference = None if found.witness is None else Difference(*found.witness)
    return Certificate(found.all_zero, found.bound, found.why, difference, same_rows, found.points, found.bits)


@dataclass(frozen=True)
class Finding:
    """One identity for one body, and whether it holds; None where that is undecided."""

    what: str
    where: str
    holds: bool | None


@dataclass(frozen=True)
class Identity:
    """Nodes that must vanish."""

    what: str
    where: str
    differences: list[int]


def audit(kin: Kinematics, seed: int | None = None) -> tuple[tuple[Finding, ...], Decision]:
    """Every identity for every body and every loaded point, decided exactly, and how surely."""
    kin = kin.fork()
    places = [(b.name, b.G) for b in kin.system.bodies] + [(load.name, P) for load in kin.system.loads for _, P in load.forces]
    frames = {b.frame: b.name for b in kin.system.bodies if b.frame is not None}
    identities = [i for name, P in places for i in _of_point(kin, name, P)]
    identities += [i for F, name in frames.items() for i in _of_frame(kin, name, F)]
    # one set of points for all, so that every node is evaluated once
    decision = ZeroTest(kin.tape, seed=seed).decide([d for i in identities for d in i.differences])
    zero = iter(decision.zero)
    return tuple(Finding(i.what, i.where, _all(islice(zero, len(i.differences)))) for i in identities), decision


def _all(zero: Iterable[bool | None]) -> bool | None:
    answers = tuple(zero)
    return False if False in answers else None if None in answers else True


def _minus(kin: Kinematics, a: Triple, b: Triple) -> list[int]:
    return list(Column(kin.tape, a) - Column(kin.tape, b))


def _rates(rate: Callable[[int], int], c: Triple) -> Triple:
    return rate(c[0]), rate(c[1]), rate(c[2])


def _in_N(kin: Kinematics, v: Vector) -> Triple:
    return v.on(kin.tape).components(kin.system.N)


def _of_point(kin: Kinematics, name: str, P: Point) -> list[Identity]:
    N = kin.system.N
    r = _in_N(kin, P - kin.system.O)
    v = kin.v(P).components(N)
    a = kin.a(P).components(N)
    return [
        Identity("v = dr/dt", name, _minus(kin, v, _rates(kin.rate, r))),
        Identity("a = dv/dt", name, _minus(kin, a, _rates(kin.rate, v))),
    ]


def _of_frame(kin: Kinematics, name: str, F: Frame) -> list[Identity]:
    t, N = kin.tape, kin.system.N
    R = F.matrix(t)
    Rd = [_rates(kin.rate, row) for row in R]
    w = kin.w(F).components(N)
    alpha = kin.alpha(F).components(N)
    # [ω]ₓ = Ṙ Rᵀ: all nine entries
    w_x = cross_matrix(t, w)
    spin = [t.sub(w_x[i][j], dot3(t, Rd[i], R[j])) for i in range(3) for j in range(3)]
    return [
        Identity("R Rᵀ = 1", name, departures(t, R)),
        Identity("[ω]ₓ = Ṙ Rᵀ", name, spin),
        Identity("α = dω/dt", name, _minus(kin, alpha, _rates(kin.rate, w))),
    ]
