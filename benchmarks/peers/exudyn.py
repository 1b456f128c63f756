"""Exudyn on plane mechanisms: rigid bodies in redundant coordinates, revolute joints, its
trapezoidal rule for index 2.

The models are written from the gallery's numbers. Its implicit solvers take steps of one size, so
steps stand for tolerances.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import exudyn as exu
import numpy
from exudyn.itemInterface import (
    CoordinateConstraint,
    LoadCoordinate,
    LoadMassProportional,
    MarkerBodyMass,
    MarkerBodyPosition,
    MarkerNodeCoordinate,
    NodePointGround,
    NodeRigidBody2D,
    ObjectConnectorSpringDamper,
    ObjectGround,
    ObjectJointRevolute2D,
    ObjectRigidBody2D,
)
from numpy.typing import NDArray

from dalembert.gallery import andrews_squeezer

State = NDArray[Any]
Place = Sequence[float] | State
GROUND = -1


class Plane:
    """A plane mechanism: bodies by number, points by where they are at the start."""

    def __init__(self) -> None:
        # a container keeps its systems alive
        self._container = exu.SystemContainer()
        self.mbs = self._container.AddSystem()
        self._ground = self.mbs.AddObject(ObjectGround())
        self._origin = self.mbs.AddMarker(
            MarkerNodeCoordinate(nodeNumber=self.mbs.AddNode(NodePointGround()), coordinate=0)
        )
        self._bodies: list[tuple[int, int, State, float]] = []
        # q as sums of the angles of bodies
        self.angles: list[dict[int, float]] = []

    def body(
        self,
        mass: float,
        inertia: float,
        centre: Place,
        angle: float,
        velocity: Place = (0.0, 0.0),
        spin: float = 0.0,
    ) -> int:
        """A rigid body with its mass centre, its angle from x, and their rates."""
        place = numpy.array(centre, dtype=float)
        node = self.mbs.AddNode(
            NodeRigidBody2D(
                referenceCoordinates=[*place, angle], initialVelocities=[*velocity, spin]
            )
        )
        item = self.mbs.AddObject(
            ObjectRigidBody2D(nodeNumber=node, physicsMass=mass, physicsInertia=inertia)
        )
        self._bodies.append((node, item, place, angle))
        return len(self._bodies) - 1

    def _marker(self, body: int, point: Place) -> int:
        if body == GROUND:
            return int(
                self.mbs.AddMarker(
                    MarkerBodyPosition(bodyNumber=self._ground, localPosition=[*point, 0.0])
                )
            )
        _, item, centre, angle = self._bodies[body]
        x, y = numpy.asarray(point) - centre
        c, s = math.cos(angle), math.sin(angle)
        return int(
            self.mbs.AddMarker(
                MarkerBodyPosition(
                    bodyNumber=item, localPosition=[c * x + s * y, c * y - s * x, 0.0]
                )
            )
        )

    def pin(self, a: int, b: int, point: Place) -> None:
        """A revolute joint."""
        self.mbs.AddObject(
            ObjectJointRevolute2D(markerNumbers=[self._marker(a, point), self._marker(b, point)])
        )

    def spring(
        self, ends: tuple[int, int], places: tuple[Place, Place], stiffness: float, rest: float
    ) -> None:
        """A linear spring between points of two bodies."""
        markers = [self._marker(body, place) for body, place in zip(ends, places, strict=True)]
        self.mbs.AddObject(
            ObjectConnectorSpringDamper(
                markerNumbers=markers, stiffness=stiffness, referenceLength=rest
            )
        )

    def gravity(self, g: float) -> None:
        """−g along y on every body."""
        for _, item, _, _ in self._bodies:
            self.mbs.AddLoad(
                LoadMassProportional(
                    markerNumber=self.mbs.AddMarker(MarkerBodyMass(bodyNumber=item)),
                    loadVector=[0, -g, 0],
                )
            )

    def coordinate(self, body: int, k: int) -> int:
        """A marker at x, y or the angle of a body."""
        return int(
            self.mbs.AddMarker(MarkerNodeCoordinate(nodeNumber=self._bodies[body][0], coordinate=k))
        )

    def torque(self, body: int, value: float, of_time: Any = 0) -> None:
        """A torque on a body."""
        self.mbs.AddLoad(
            LoadCoordinate(
                markerNumber=self.coordinate(body, 2), load=value, loadUserFunction=of_time
            )
        )

    def on_line(self, body: int) -> None:
        """The mass centre stays at its height, and the body does not turn."""
        for k in (1, 2):
            self.mbs.AddObject(
                CoordinateConstraint(markerNumbers=[self._origin, self.coordinate(body, k)])
            )

    def run(self, duration: float, steps: int) -> Callable[[], tuple[State, int, bool]]:
        """So many steps to (q, q̇) at the end."""
        self.mbs.Assemble()
        settings = exu.SimulationSettings()
        integration = settings.timeIntegration
        integration.endTime, integration.numberOfSteps = duration, steps
        integration.verboseMode = 0
        integration.newton.useModifiedNewton = True
        integration.newton.relativeTolerance, integration.newton.absoluteTolerance = 1e-10, 1e-12
        settings.solutionSettings.writeSolutionToFile = False
        settings.solutionSettings.sensorsWritePeriod = duration
        settings.linearSolverType = (
            exu.LinearSolverType.EigenSparse
            if len(self._bodies) > 10
            else exu.LinearSolverType.EXUdense
        )

        def work() -> tuple[State, int, bool]:
            done = self.mbs.SolveDynamic(
                settings, solverType=exu.DynamicSolverType.TrapezoidalIndex2
            )
            return self._motion(), steps, bool(done)

        return work

    def _motion(self) -> State:
        kinds = exu.OutputVariableType
        values = [
            [self.mbs.GetNodeOutput(node, kind)[2] for node, *_ in self._bodies]
            for kind in (kinds.Coordinates, kinds.Coordinates_t)
        ]
        found = numpy.array(values)
        found[0] += [angle for *_, angle in self._bodies]
        return numpy.array(
            [
                sum(factor * row[k] for k, factor in parts.items())
                for row in found
                for parts in self.angles
            ]
        )


def slider_crank() -> Plane:
    """The gallery's slider-crank from θ = φ = 0 with θ̇ = 30."""
    I, m_1, m_2, m_3, l_1, l_2, omega = 0.02, 2.0, 0.6, 0.5, 0.05, 0.15, 30.0
    p = Plane()
    crank = p.body(m_1, I, (0, 0), 0.0, spin=omega)
    rod = p.body(
        m_2, m_2 * l_2**2 / 12, (l_1 + l_2 / 2, 0), 0.0, (0, l_1 * omega / 2), -l_1 * omega / l_2
    )
    slider = p.body(m_3, 1.0, (l_1 + l_2, 0), 0.0)
    p.pin(GROUND, crank, (0, 0))
    p.pin(crank, rod, (l_1, 0))
    p.pin(rod, slider, (l_1 + l_2, 0))
    p.on_line(slider)
    # the arguments Exudyn gives
    p.torque(crank, 0.0, lambda mbs, t, load: 2 * math.sin(10 * t))  # noqa: ARG005
    p.angles = [{crank: 1.0}, {rod: -1.0}]
    return p


def four_bars(windows: int) -> Plane:
    """The gallery's windows from upright with φ̇ = 1 of all posts; φ is measured clockwise."""
    p, J = Plane(), 1 / 12
    posts = [p.body(1.0, J, (k, 0.5), 0.0, (0.5, 0), -1.0) for k in range(windows + 1)]
    bars = [p.body(1.0, J, (k + 0.5, 1), 0.0, (1, 0)) for k in range(windows)]
    for k, post in enumerate(posts):
        p.pin(GROUND, post, (k, 0))
    for k, bar in enumerate(bars):
        p.pin(posts[k], bar, (k, 1))
        p.pin(bar, posts[k + 1], (k + 1, 1))
    p.gravity(9.81)
    p.angles = [{k: -1.0} for k in posts] + [{k: 1.0} for k in bars]
    return p


def ring(links: int) -> Plane:
    """Rods of length and mass 1 in a closed regular polygon at rest, held at its first corner."""
    p, angles = Plane(), [2 * math.pi * k / links for k in range(links)]
    corner = numpy.zeros(2)
    rods = []
    for angle in angles:
        along = numpy.array([math.cos(angle), math.sin(angle)])
        rods.append(p.body(1.0, 1 / 12, corner + along / 2, angle))
        p.pin(rods[-2] if len(rods) > 1 else GROUND, rods[-1], corner)
        corner = corner + along
    p.pin(rods[-1], GROUND, corner)
    p.gravity(9.81)
    p.angles = [{k: 1.0} for k in rods]
    return p


def andrews() -> Plane:
    """The gallery's squeezer at its start, at rest."""
    d, start = andrews_squeezer.DATA, andrews_squeezer.ENTRY.start
    beta, theta, gamma, phi, delta, omega, epsilon = map(float, start.values())
    at = (beta, beta + theta, gamma, delta + phi, delta, epsilon + omega, epsilon)

    def along(k: int, x: float, y: float) -> State:
        c, s = math.cos(at[k - 1]), math.sin(at[k - 1])
        return numpy.array([c * x - s * y, s * x + c * y])

    O = numpy.zeros(2)
    A, B, C = (numpy.array([d[f"x_{k}"], d[f"y_{k}"]]) for k in "abc")
    crank_pin, pin_5, pin_7 = (
        along(1, d["rr"], 0),
        A + along(5, d["z_t"], 0),
        A + along(7, 0, -d["u"]),
    )
    centres = (
        along(1, d["r_a"], 0),
        crank_pin + along(2, -d["d_a"], 0),
        B + along(3, d["s_b"], -d["s_a"]),
        pin_5 + along(4, 0, d["e_a"] - d["e"]),
        A + along(5, d["t_a"], -d["t_b"]),
        pin_7 + along(6, d["z_f"] - d["f_a"], 0),
        A + along(7, -d["u_b"], -d["u_a"]),
    )
    p = Plane()
    K1, K2, K3, K4, K5, K6, K7 = (
        p.body(d[f"m_{k}"], d[f"I_{k}"], centre, at[k - 1]) for k, centre in enumerate(centres, 1)
    )
    joint = crank_pin + along(2, -d["d"], 0)
    pins = (
        (GROUND, K1, O),
        (K1, K2, crank_pin),
        (GROUND, K3, B),
        (GROUND, K5, A),
        (GROUND, K7, A),
        (K5, K4, pin_5),
        (K7, K6, pin_7),
    )
    for a, b, point in (*pins, (K2, K3, joint), (K2, K4, joint), (K2, K6, joint)):
        p.pin(a, b, point)
    p.spring((K3, GROUND), (B + along(3, d["s_d"], -d["s_c"]), C), d["c_0"], d["l_0"])
    p.torque(K1, d["mom"])
    p.angles = [
        {K1: 1.0},
        {K2: 1.0, K1: -1.0},
        {K3: 1.0},
        {K4: 1.0, K5: -1.0},
        {K5: 1.0},
        {K6: 1.0, K7: -1.0},
        {K7: 1.0},
    ]
    return p
