"""r_P = r_parent + Σ_F R_F ρ_F, R_F = R_parent R_local: every point and frame of a system along a motion, as arrays.

Only the local turns and the offsets are evaluated on the tape; the products are taken with numbers, frame by frame and point
by point, so that a long chain costs no more than its links.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np

from dalembert.algebra.scalar import Scalar
from dalembert.algebra.tape import Tape
from dalembert.geometry.frame import Frame
from dalembert.geometry.point import Point
from dalembert.geometry.vector import Vector

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from dalembert.simulation.trajectory import Trajectory

    Numbers = NDArray[np.float64]


class Poses:
    """Points (n × 3), frames (n × 3 × 3) and vectors (n × 3) along N, over the n times of a run."""

    def __init__(self, run: Trajectory, points: Iterable[Point], vectors: Iterable[Vector] = ()) -> None:
        self.run = run
        self._tape = tape = run.system.space.tape.fork()
        self._vectors = [v.on(tape) for v in vectors]
        chains = [Q for P in points for Q in ancestors(P)]
        self._offsets = {P: P.r.on(tape) for P in dict.fromkeys(chains)}
        written = [*self._offsets.values(), *self._vectors]
        self._frames = _with_parents([F for v in written for F in v.parts] + list(run.system.space.frames))
        self._numbers = self._evaluated([*self._turns(tape), *(c for v in written for triple in v.parts.values() for c in triple)])
        self._R: dict[Frame, Numbers] = {}
        self._r: dict[Point, Numbers] = {}

    def _turns(self, tape: Tape) -> Iterable[int]:
        """The nine cosines of every frame against its parent."""
        units = ((tape.one, tape.zero, tape.zero), (tape.zero, tape.one, tape.zero), (tape.zero, tape.zero, tape.one))
        self._cosines = {F: [F.turn(tape, unit, back=True) for unit in units] for F in self._frames if F.parent is not None}
        return [c for columns in self._cosines.values() for column in columns for c in column]

    def _evaluated(self, nodes: Iterable[int]) -> dict[int, Numbers]:
        wanted = list(dict.fromkeys(nodes))
        if not wanted:
            return {}
        return dict(zip(wanted, self.run.rows([Scalar(self._tape, i) for i in wanted]), strict=True))

    def _triple(self, triple: tuple[int, ...]) -> Numbers:
        return np.stack([self._numbers[i] for i in triple], axis=1)

    def frame(self, F: Frame) -> Numbers:
        """R: the axes of a frame as columns along N."""
        if F not in self._R:
            if F.parent is None:
                self._R[F] = np.broadcast_to(np.eye(3), (len(self.run), 3, 3))
            else:
                local = np.stack([self._triple(column) for column in self._cosines[F]], axis=2)
                self._R[F] = self.frame(F.parent) @ local
        return self._R[F]

    def point(self, P: Point) -> Numbers:
        """r from O."""
        if P not in self._r:
            here = np.zeros((len(self.run), 3)) if P.parent is None else self.point(P.parent) + self.vector(self._offsets[P])
            self._r[P] = here
        return self._r[P]

    def vector(self, v: Vector) -> Numbers:
        """The components of a vector along N; it must be among those that were asked for."""
        total = np.zeros((len(self.run), 3))
        for F, triple in v.on(self._tape).parts.items():
            total = total + np.einsum("nij,nj->ni", self.frame(F), self._triple(triple))
        return total

    def offset(self, P: Point) -> Numbers:
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
    found: dict[Frame, None] = {}
    for frame in frames:
        F: Frame | None = frame
        while F is not None and F not in found:
            found[F] = None
            F = F.parent
    return sorted(found, key=lambda F: F.depth)


def quaternions(R: Numbers) -> Numbers:
    """(x, y, z, w) of rotation matrices in order, signs chosen so that neighbours are near one another."""
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


def _products(R: Numbers, squares: Numbers) -> Numbers:
    """4 q qᵀ from the entries of R."""
    out = np.empty((len(R), 4, 4))
    for k in range(4):
        out[:, k, k] = squares[:, k]
    for i, j, k in ((0, 1, 2), (1, 2, 0), (2, 0, 1)):
        out[:, i, j] = out[:, j, i] = R[:, i, j] + R[:, j, i]
        out[:, k, 3] = out[:, 3, k] = R[:, j, i] - R[:, i, j]
    return out
