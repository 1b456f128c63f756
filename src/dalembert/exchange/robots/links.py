"""robot.link("tool"): the frame of a link by its name in the file, its pose and its Jacobian.
Keywords: forward kinematics, link frame.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from dalembert.analysis.inverse.compiled_expressions import CompiledStateFunction
from dalembert.errors import BadDescription, Unknown
from dalembert.exchange.robots.robot_record import RobotSource
from dalembert.foundation.array_types import FloatArray
from dalembert.foundation.display import Displayable
from dalembert.foundation.suggestions import suggest_name
from dalembert.mechanics.kinematics.system_kinematics import kinematics
from dalembert.mechanics.model.system import System

if TYPE_CHECKING:
    from dalembert.exchange.robots.transforms import BodyAttachment


class RobotLink(Displayable):
    """A link of a robot, with mass or without: `frame` along its axes, `origin` their origin.

    Both can be used in expressions, loads and constraints as those of a body.
    """

    def __init__(self, system: System, name: str, attachment: BodyAttachment) -> None:
        self.system, self.name = system, name
        self.frame = attachment.body_frame()
        self.origin = attachment.at((0, 0, 0))

    def __str__(self) -> str:
        return f"link {self.name!r} of {self.system.name!r}: frame, origin, pose(q), jacobian(q)"

    def pose(self, q: Any, **values: Any) -> FloatArray:
        """[[R, p], [0, 1]] of the link in the ground, at one q or one for each row of many."""
        return self._values(q, values)[0]

    def jacobian(self, q: Any, **values: Any) -> FloatArray:
        """(v, ω) = J u: six rows along the axes of the ground, v of the link's origin."""
        return self._values(q, values)[1]

    def _values(self, q: Any, values: dict[str, Any]) -> tuple[FloatArray, FloatArray]:
        position = np.asarray(q, dtype=float)
        function, n_q, n_u = self._function
        if position.ndim not in (1, 2) or position.shape[-1] != n_q:
            names = ", ".join(str(x) for x in self.system.q)
            msg = f"link {self.name!r}: give {n_q} positions, {names}, or rows of them"
            raise BadDescription(msg)
        rest = np.zeros((*position.shape[:-1], n_u))
        numbers = function(position, rest, rest, **values)
        many = numbers.shape[:-1]
        pose = np.zeros((*many, 4, 4))
        pose[..., :3, :] = numbers[..., :12].reshape(*many, 3, 4)
        pose[..., 3, 3] = 1.0
        return pose, numbers[..., 12:].reshape(*many, 6, n_u)

    @cached_property
    def _function(self) -> tuple[CompiledStateFunction, int, int]:
        """Pose and Jacobian as native code."""
        kin = kinematics(self.system).fork()
        N, zero = self.system.N, kin.tape.zero
        axes = [e.on(kin.tape).components(N) for e in (self.frame.x, self.frame.y, self.frame.z)]
        p = (self.origin - self.system.O).on(kin.tape).components(N)
        outs = [(axes[k] if k < 3 else p)[i] for i in range(3) for k in range(4)]
        for X in (self.origin, self.frame):
            columns = {r: v.components(N) for r, v in kin.partial_velocities(X)[0].items()}
            outs += [
                columns[r][i] if r in columns else zero for i in range(3) for r in range(kin.n_u)
            ]
        return CompiledStateFunction(kin, outs), kin.n_q, kin.n_u


def link(system: System, name: str) -> RobotLink:
    """A link by its name in the file."""
    source = system.origin
    if not isinstance(source, RobotSource):
        msg = (
            f"link: {system.name!r} was not loaded from a URDF or MJCF file; use the frames and "
            f"points of its description"
        )
        raise BadDescription(msg)
    if name not in source.links:
        known = list(source.links)
        hint = suggest_name(str(name), known) or f"there are {', '.join(known)}"
        msg = f"link: {system.name!r} has no link {name!r}; {hint}"
        raise Unknown(msg)
    return RobotLink(system, name, source.links[name])
