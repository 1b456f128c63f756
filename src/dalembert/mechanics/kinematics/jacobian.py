"""v = J u + v_t: the velocity of a point, or the angular velocity of a frame, in the speeds.
Keywords: Jacobian.
"""

from __future__ import annotations

import unicodedata
from dataclasses import replace
from functools import cached_property
from typing import Any

from dalembert.errors import BadExpression, NotASystem
from dalembert.foundation.deferred_dataclass import dataclass
from dalembert.foundation.display import Displayable
from dalembert.mechanics.geometry.frame import Frame
from dalembert.mechanics.geometry.point import Point
from dalembert.mechanics.geometry.vector import Vector
from dalembert.mechanics.kinematics.system_kinematics import kinematics, split_linear
from dalembert.mechanics.model.system import System
from dalembert.symbolic.algebra.expression_graph import LinearCoefficients
from dalembert.symbolic.algebra.scalar import Scalar


@dataclass(frozen=True, eq=False)
class Jacobian(Displayable):
    """v = J u + v_t of a point, ω = J u + ω_t of a frame: J[i, r], columns the partial velocities,
    rows along the axes of a frame.

    A load R at the point, or a torque on the frame, adds Jᵀ R to f in M u̇ = f.
    """

    of: str
    # what its columns belong to
    speeds: tuple[Scalar, ...]
    # v_r or ω_r, one for each column, and the value where all speeds vanish
    partial_velocities: tuple[Vector, ...]
    bias: Vector
    # along whose axes the rows are
    along: Frame

    @cached_property
    def rows(self) -> tuple[tuple[Scalar, ...], ...]:
        """Three rows of expressions, one column for each speed."""
        columns = [v.to(self.along) for v in self.partial_velocities]
        return tuple(tuple(column[axis] for column in columns) for axis in range(3))

    @property
    def shape(self) -> tuple[int, int]:
        """3 rows, p columns."""
        return 3, len(self.speeds)

    def to(self, frame: Frame) -> Jacobian:
        """The same with its rows along the axes of another frame."""
        return replace(self, along=frame)

    def __getitem__(self, place: Any) -> Any:
        """J[i] is a row, J[i, r] an entry."""
        try:
            return self.rows[place[0]][place[1]] if isinstance(place, tuple) else self.rows[place]
        except (IndexError, TypeError, ValueError):
            msg = (
                f"J[{place}]: J has 3 rows and {len(self.speeds)} columns; write J[i, r], "
                f"counted from 0"
            )
            raise BadExpression(msg) from None

    def __len__(self) -> int:
        return 3

    def __str__(self) -> str:
        axes = [f"{self.along.name}.{axis}" for axis in "xyz"]
        entries = [
            ["", *map(str, self.speeds)],
            *([axis, *map(str, row)] for axis, row in zip(axes, self.rows, strict=True)),
        ]
        widths = [max(map(_display_width, column)) for column in zip(*entries, strict=True)]
        lines = [
            "  ".join(
                x + " " * (w - _display_width(x)) for x, w in zip(row, widths, strict=True)
            ).rstrip()
            for row in entries
        ]
        rest = [f"  and without speeds: {self.bias}"] if self.bias.parts else []
        return "\n".join([f"Jacobian of {self.of}", *(f"  {line}" for line in lines), *rest])


def _display_width(text: str) -> int:
    """How many places a text takes; a dot above a letter takes none."""
    return sum(not unicodedata.combining(c) for c in text)


def jacobian(
    system: System, of: Point | Frame, *, rates: bool = False, along: Frame | None = None
) -> Jacobian:
    """v_P = J u + v_t, ω_B = J u + ω_t: the Jacobian of a point, or of the angular velocity of a
    frame.

    u are the independent speeds, those of M u̇ = f; with rates=True all rates, v = J q̇ + v_t. Rows
    are along N, or along the axes of the frame named.

    Source: Bar00 (26).
    """
    if not isinstance(system, System):
        msg = f"jacobian: the system comes first, da.jacobian(s, P); got {type(system).__name__}"
        raise NotASystem(msg)
    if isinstance(of, Frame):
        system.space.check_same_system(of.space)
    else:
        system.space.check_element(
            of, Point, "jacobian, of a point such as body.G or of a frame such as body.frame"
        )
    if along is not None:
        system.space.check_element(along, Frame, "jacobian: along")
    kin = kinematics(system).fork()
    motion, u = (kin.motion_in_rates, kin.qdot) if rates else (kin.motion, kin.u)
    parts, rest = split_linear(
        LinearCoefficients(kin.tape, u), motion.v(of) if isinstance(of, Point) else motion.w(of)
    )
    columns = tuple(parts.get(r, Vector(kin.tape, {})) for r in range(len(u)))
    return Jacobian(
        of.name if isinstance(of, Point) else f"ω of {of.name}",
        tuple(map(kin.scalar, u)),
        columns,
        rest,
        along or system.N,
    )
