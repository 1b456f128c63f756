"""v = B u + …: the velocities that MuJoCo counts, in the speeds of a System, with their rates."""

from __future__ import annotations

from typing import Any

import numpy as np

from dalembert.analysis.inverse.state_values import StateValues
from dalembert.exchange.robots.robot_record import VELOCITIES, RobotSource
from dalembert.exchange.robots.transforms import Numbers, quaternion, rotation_zyx
from dalembert.mechanics.geometry.frame import Frame
from dalembert.mechanics.kinematics.system_kinematics import Kinematics
from dalembert.symbolic.algebra.arithmetic import ArrayArithmetic, FloatArithmetic
from dalembert.symbolic.algebra.expression_graph import evaluate
from dalembert.symbolic.algebra.scalar import Scalar


class JointVelocities:
    """Positions and velocities of every joint as MuJoCo stores them, at a state of the System."""

    def __init__(self, kin: Kinematics, origin: RobotSource) -> None:
        self.kin, self.origin = kin.fork(), origin
        self.free: list[int] = []
        self.names: list[str] = []
        nodes: list[int] = []
        at = 0
        for joint, coordinates in zip(origin.robot.joints, origin.coordinates, strict=True):
            size = VELOCITIES[joint.kind]
            if coordinates:
                self.free += range(at, at + size)
                self.names += [joint.name] * size
                nodes += self._velocity(joint.kind, coordinates)
            at += size
        self.n_v = at
        self.rates = [self.kin.rate(i) for i in nodes]
        self.nodes = nodes

    def _velocity(self, kind: str, coordinates: tuple[Scalar, ...]) -> list[int]:
        """q̇; v along N and the spin along the body for a free joint; the spin for a ball."""
        kin = self.kin
        places = {"ball": 0, "free": 3}.get(kind, 1)
        rates = [kin.rate(x.i) for x in coordinates[:places]]
        if kind in ("hinge", "slide"):
            return rates
        F, before = self._frame_of(coordinates[-1].i), self._frame_of(coordinates[places].i).parent
        assert before is not None
        return [*rates, *(kin.w(F) - kin.w(before)).components(F)]

    def _frame_of(self, variable: int) -> Frame:
        frames = self.kin.system.space.frames
        return next(
            f for f in frames if f.rotation is not None and variable in f.rotation.variables()
        )

    def at(self, state: StateValues) -> tuple[Numbers, Numbers, Numbers, Numbers]:
        """qpos, qvel, B and the part of v̇ that is there at u̇ = 0."""
        kin = self.kin
        p = kin.n_u
        known: dict[int, Any] = {i: np.float64(x) for i, x in state.numbers.items()}
        known |= dict(zip((*kin.q, kin.system.t.i), (*state.q, np.float64(0.0)), strict=True))
        known |= dict(zip(kin.u, (np.float64(x) for x in state.u), strict=True))
        known |= dict(zip(kin.udot, np.hstack([np.zeros((p, 1)), np.eye(p)]), strict=True))
        rows = np.array(
            [
                np.broadcast_to(x, p + 1)
                for x in evaluate(
                    kin.tape, [*self.nodes, *self.rates], known.__getitem__, ArrayArithmetic()
                )
            ]
        )
        n = len(self.nodes)
        qvel = np.zeros(self.n_v)
        qvel[self.free] = rows[:n, 0]
        B = rows[n:, 1:] - rows[n:, :1]
        return self._positions(state), qvel, B, rows[n:, 0]

    def _positions(self, state: StateValues) -> Numbers:
        values = dict(zip(self.kin.q, state.q.tolist(), strict=True))
        qpos: list[float] = []
        for joint, coordinates in zip(
            self.origin.robot.joints, self.origin.coordinates, strict=True
        ):
            x = evaluate(
                self.kin.tape, [c.i for c in coordinates], values.__getitem__, FloatArithmetic()
            )
            if not coordinates:
                qpos += [self.origin.locked[joint.name]]
            elif joint.kind in ("hinge", "slide"):
                qpos += x
            else:
                places = x[:3] if joint.kind == "free" else []
                qpos += [*places, *_unit_quaternion(x[len(places) :])]
        return np.array(qpos)


def _unit_quaternion(x: list[float]) -> list[float]:
    """Four entries normalised, or the quaternion of three angles about z, y, x."""
    if len(x) == 4:
        e = np.array(x) / np.linalg.norm(x)
        return [float(v) for v in e]
    return list(quaternion(rotation_zyx(*x)))
