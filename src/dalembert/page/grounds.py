"""r_P − g n: where the plane under a contact is, as a floor if it is level, and as a line along it if it is not."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final

import numpy as np

from dalembert.algebra.scalar import Scalar
from dalembert.geometry.point import Point
from dalembert.geometry.vector import Vector
from dalembert.model.elements import FrictionalContact

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from dalembert.page.geometry import Poses
    from dalembert.simulation.trajectory import Trajectory

    Numbers = NDArray[np.float64]

_STILL: Final = 1e-9
# how far a line goes beyond what touches it, as a part of the system's size
_BEYOND: Final = 0.25


class Grounds:
    """The planes under the contacts of a system; those that turn, as between two balls, are no grounds."""

    def __init__(self, contacts: Sequence[FrictionalContact]) -> None:
        self._planes: list[tuple[Point, Vector, Scalar]] = [
            (c.arrow[0], c.arrow[1], c.gap) for c in contacts if c.arrow is not None and c.arrow[1] is not None and c.gap is not None
        ]

    @property
    def points(self) -> list[Point]:
        """Where contacts touch."""
        return [P for P, *_ in self._planes]

    @property
    def normals(self) -> list[Vector]:
        """Of the planes."""
        return [n for _, n, _ in self._planes]

    def _feet(self, run: Trajectory, poses: Poses) -> Iterator[tuple[Numbers, Numbers]]:
        """The feet of the points on planes that keep still, and the normals."""
        gaps = list(run.rows([g for *_, g in self._planes]))
        for (P, n, _), gap in zip(self._planes, gaps, strict=True):
            normal = poses.vector(n)
            feet = poses.point(P) - np.asarray(gap)[:, None] * normal
            height = feet @ normal[0]
            if np.ptp(normal, axis=0).max() <= _STILL and np.ptp(height) <= 1e-6 * (1.0 + np.abs(height).max()):
                yield feet, normal[0]

    def floors(self, run: Trajectory, poses: Poses, up: Numbers | None) -> list[Numbers]:
        """Feet on level planes."""
        return [feet for feet, n in self._feet(run, poses) if up is None or float(n @ up) > 1.0 - _STILL]

    def lines(self, run: Trajectory, poses: Poses, up: Numbers | None, size: float) -> Iterator[Numbers]:
        """The two ends of a line along every plane that is not level, in the plane of N.x and N.y where it can."""
        for feet, n in self._feet(run, poses):
            if up is None or float(n @ up) > 1.0 - _STILL:
                continue
            along = np.cross(n, np.eye(3)[2 if abs(n[2]) < 0.9 else 0])
            along /= np.linalg.norm(along)
            s = (feet - feet[0]) @ along
            yield feet[0] + np.outer([s.min() - _BEYOND * size, s.max() + _BEYOND * size], along)
