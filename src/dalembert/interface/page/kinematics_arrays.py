"""r_P = r_parent + Σ_F R_F ρ_F, R_F = R_parent R_local: every point and frame of a system along a
motion, as arrays, and what acts there.

Only the local turns and the offsets are evaluated on the tape; the products are taken with numbers,
frame by frame and point by point, so that a long chain costs no more than its links.
r(ξ, t) = r_P + (L ξ + u − Δ) e_x + v e_y + w e_z: a flexible member as one curve, from its root to
its end. Weights, declared loads and reactions act at their places; springs and dampers between two.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import field
from fractions import Fraction
from typing import TYPE_CHECKING, Final, Literal

import numpy as np

from dalembert.analysis.flexible.assumed_modes.discretised_member import Discretised
from dalembert.errors import DalembertError
from dalembert.foundation.array_types import FloatArray
from dalembert.foundation.deferred_dataclass import dataclass
from dalembert.mechanics.geometry.frame import Frame
from dalembert.mechanics.geometry.point import Point
from dalembert.mechanics.geometry.vector import Vector
from dalembert.mechanics.model.elements import Body
from dalembert.mechanics.model.system import System
from dalembert.symbolic.algebra.expression_graph import symbols_of
from dalembert.symbolic.algebra.scalar import Scalar
from dalembert.symbolic.algebra.tape import Tape

if TYPE_CHECKING:
    from dalembert.runtime.simulation.trajectory import Trajectory


class Poses:
    """Points (n × 3), frames (n × 3 × 3) and vectors (n × 3) along N, over the n times of a run."""

    def __init__(
        self, run: Trajectory, points: Iterable[Point], vectors: Iterable[Vector] = ()
    ) -> None:
        self.run = run
        self._tape = tape = run.system.space.tape.fork()
        self._vectors = [v.on(tape) for v in vectors]
        chains = [Q for P in points for Q in ancestors(P)]
        self._offsets = {P: P.r.on(tape) for P in dict.fromkeys(chains)}
        written = [*self._offsets.values(), *self._vectors]
        self._frames = _with_parents(
            [F for v in written for F in v.parts] + list(run.system.space.frames)
        )
        self._numbers = self._evaluate(
            [
                *self._rotation_nodes(tape),
                *(c for v in written for triple in v.parts.values() for c in triple),
            ]
        )
        self._R: dict[Frame, FloatArray] = {}
        self._r: dict[Point, FloatArray] = {}

    def _rotation_nodes(self, tape: Tape) -> Iterable[int]:
        """The nine cosines of every frame against its parent."""
        units = (
            (tape.one, tape.zero, tape.zero),
            (tape.zero, tape.one, tape.zero),
            (tape.zero, tape.zero, tape.one),
        )
        self._cosines = {
            F: [F.transform_components(tape, unit, to_parent=True) for unit in units]
            for F in self._frames
            if F.parent is not None
        }
        return [c for columns in self._cosines.values() for column in columns for c in column]

    def _evaluate(self, nodes: Iterable[int]) -> dict[int, FloatArray]:
        wanted = list(dict.fromkeys(nodes))
        if not wanted:
            return {}
        return dict(
            zip(wanted, self.run.rows([Scalar(self._tape, i) for i in wanted]), strict=True)
        )

    def _triple(self, triple: tuple[int, ...]) -> FloatArray:
        return np.stack([self._numbers[i] for i in triple], axis=1)

    def frame(self, F: Frame) -> FloatArray:
        """R: the axes of a frame as columns along N."""
        if F not in self._R:
            if F.parent is None:
                self._R[F] = np.broadcast_to(np.eye(3), (len(self.run), 3, 3))
            else:
                local = np.stack([self._triple(column) for column in self._cosines[F]], axis=2)
                self._R[F] = self.frame(F.parent) @ local
        return self._R[F]

    def point(self, P: Point) -> FloatArray:
        """r from O."""
        if P not in self._r:
            here = (
                np.zeros((len(self.run), 3))
                if P.parent is None
                else self.point(P.parent) + self.vector(self._offsets[P])
            )
            self._r[P] = here
        return self._r[P]

    def vector(self, v: Vector) -> FloatArray:
        """The components of a vector along N; it must be among the requested ones."""
        total = np.zeros((len(self.run), 3))
        for F, triple in v.on(self._tape).parts.items():
            total = total + np.einsum("nij,nj->ni", self.frame(F), self._triple(triple))
        return total

    def offset(self, P: Point) -> FloatArray:
        """From the parent of a point to the point."""
        return self.vector(self._offsets[P])


def ancestors(P: Point) -> list[Point]:
    """The way from O to a point, both ends included."""
    chain = [P]
    while chain[-1].parent is not None:
        chain.append(chain[-1].parent)
    return chain[::-1]


def _with_parents(frames: Iterable[Frame]) -> list[Frame]:
    """Parents before children, each once."""
    ordered: dict[Frame, None] = {}
    for frame in frames:
        F: Frame | None = frame
        while F is not None and F not in ordered:
            ordered[F] = None
            F = F.parent
    return sorted(ordered, key=lambda F: F.depth)


def quaternions(R: FloatArray) -> FloatArray:
    """(x, y, z, w) of rotation matrices in order, signs chosen so that neighbours are near one
    another.
    """
    # of the four ways to take the root, the one with the largest component loses nothing
    t = np.stack([R[:, 0, 0], R[:, 1, 1], R[:, 2, 2]], axis=1)
    trace = t.sum(axis=1)
    squares = np.concatenate([1 + 2 * t - trace[:, None], 1 + trace[:, None]], axis=1)
    best = np.argmax(squares, axis=1)
    outer = _products(R, squares)
    q = outer[np.arange(len(R)), best]
    q = q / np.linalg.norm(q, axis=1, keepdims=True)
    flips = np.sum(q[1:] * q[:-1], axis=1) < 0
    signs = np.concatenate([[1.0], np.where(np.cumsum(flips) % 2, -1.0, 1.0)])
    return np.asarray(q * signs[:, None])


def _products(R: FloatArray, squares: FloatArray) -> FloatArray:
    """4 q qᵀ from the entries of R."""
    out = np.empty((len(R), 4, 4))
    for k in range(4):
        out[:, k, k] = squares[:, k]
    for i, j, k in ((0, 1, 2), (1, 2, 0), (2, 0, 1)):
        out[:, i, j] = out[:, j, i] = R[:, i, j] + R[:, j, i]
        out[:, k, 3] = out[:, 3, k] = R[:, j, i] - R[:, i, j]
    return out


# pieces of a curve, each of which turns by little
PIECES: Final = 16
# how thick members are, as parts of the thickness of a link
_THICK: Final = {"string": 1.3, "bar": 2.6, "shaft": 2.6, "beam": 2.2}


@dataclass(frozen=True, eq=False)
class MemberCurve:
    """A member along a motion: its places r (k × n × 3) in order, the first is its root."""

    name: str
    r: FloatArray = field(repr=False)
    # against a link
    thick: float
    # the point it is attached to, and the vectors from there to its curve
    root: Point = field(repr=False)
    along: tuple[Vector, ...] = field(repr=False)


class FlexibleMembers:
    """The expanded members of a system, and the bodies and loads that belong to them."""

    def __init__(self, system: System) -> None:
        self.bent = [e for e in system.expansions.values() if isinstance(e, Discretised)]
        self._positions = [
            [e.position(Fraction(k, PIECES)) for k in range(PIECES + 1)] for e in self.bent
        ]
        self._amplitudes = {q.i for e in self.bent for each in e.amplitudes.values() for q in each}
        self._slices = {b.G for b in system.bodies if self.is_element(b)}

    @property
    def vectors(self) -> list[Vector]:
        """From the points of attachment of the members to the points of their curves."""
        return [v for each in self._positions for v in each]

    def is_element(self, body: Body) -> bool:
        """Whether a body is a slice of a member; what sits on its ends is none."""
        stem = body.name.rpartition(" ")[0]
        return any(stem == e.member.name and body.G.parent is e.member.at for e in self.bent)

    def is_on_member(self, P: Point) -> bool:
        """Whether a point is a place on a member, so that the curve leads to it."""
        if P in self._slices:
            return True
        if not any(P.parent is e.member.at for e in self.bent):
            return False
        tape = P.r.tape
        return not self._amplitudes.isdisjoint(
            symbols_of(tape, [c for triple in P.r.parts.values() for c in triple])
        )

    def curves(self, poses: Poses) -> list[MemberCurve]:
        """Every member, in the order of their expansion."""
        member_curves = []
        for e, positions in zip(self.bent, self._positions, strict=True):
            root = poses.point(e.member.at)
            r = np.stack([root + poses.vector(v) for v in positions])
            member_curves.append(
                MemberCurve(e.member.name, r, _THICK[e.member.kind], e.member.at, tuple(positions))
            )
        return member_curves


ArrowKind = Literal["weight", "load", "normal", "friction", "reaction", "torque"]
LoadArrow = tuple[str, ArrowKind, Point | Frame, Vector]


def loads(run: Trajectory) -> Iterator[LoadArrow]:
    """Weights and declared loads, but those of contacts that have a place."""
    system = run.system
    if system.gravity_field is not None:
        for b in system.bodies:
            yield f"weight of {b.name}", "weight", b.G, b.mass * system.gravity_field.g
    shown = {c.name for c in system.contacts if c.force_location is not None}
    for load in (x for x in system.loads if not x.coordinates and x.name not in shown):
        yield from ((load.name, "load", P, F) for F, P in load.forces)
        yield from ((load.name, "torque", frame, T) for T, frame in load.torques)


def contact_forces(run: Trajectory) -> Iterator[LoadArrow]:
    """N n and T t at the point of every contact that has one, as a run found them."""
    for c in run.system.contacts if run.contact_modes is not None else ():
        if c.force_location is None:
            continue
        P, n, t = c.force_location
        if c.N is not None and n is not None:
            yield c.name, "normal", P, c.N * n
        if c.T is not None and t is not None:
            friction = c.T * t
            if c.T_across is not None and n is not None:
                friction = friction + c.T_across * n.cross(t)
            yield f"friction of {c.name}", "friction", P, friction


def springs(run: Trajectory) -> Iterator[tuple[Literal["spring", "damper"], tuple[Point, Point]]]:
    """Pairs of points that a spring or a damper joins."""
    for potential in run.system.potentials:
        if potential.between is not None:
            yield "spring", potential.between
    for load in run.system.loads:
        if len(load.forces) == 2 and load.name.startswith("damper"):
            yield "damper", (load.forces[0][1], load.forces[1][1])


def reaction_forces(run: Trajectory) -> Iterator[tuple[str, FloatArray, FloatArray]]:
    """Name, place and force of every joint, and of the rows that hold one point together."""
    try:
        reactions = run.reactions
    except DalembertError:
        return  # a drawing without reactions is still a drawing
    sums: list[tuple[str, FloatArray, FloatArray]] = []
    for joint in reactions.joints.values():
        # joints of massless parts at one place pass the same force on
        if not any(
            np.array_equal(at, joint.at) and np.allclose(force, joint.force)
            for _, at, force in sums
        ):
            sums.append((joint.name, joint.at, joint.force))
    contacts: dict[bytes, tuple[str, FloatArray, FloatArray]] = {}
    for row in reactions.rows.values():
        if row.force is not None and row.at is not None:
            name, at, force = contacts.get(
                row.at.tobytes(), (row.name, row.at, np.zeros_like(row.force))
            )
            contacts[row.at.tobytes()] = (name, at, force + row.force)
    yield from (*sums, *contacts.values())
