"""Masses and inertias of links and rotors, as numbers or as named constants."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from dalembert.errors import BadDescription, warn
from dalembert.exchange.robots.identifiers import IdentifierMap
from dalembert.exchange.robots.robot_record import RobotBody, RobotJoint
from dalembert.exchange.robots.transforms import BodyAttachment, to_fraction, to_fractions
from dalembert.exchange.robots.visuals import relative_to_mass_centre
from dalembert.mechanics.geometry.frame import Frame
from dalembert.mechanics.geometry.solid_inertia import inertia, inertia_tensor
from dalembert.mechanics.model.elements import Body, Primitive
from dalembert.mechanics.model.name_rules import unused_name
from dalembert.mechanics.model.registry import scalar
from dalembert.mechanics.model.system import System
from dalembert.symbolic.algebra.scalar import Scalar

PARAMETERS: Final = ("mass", "com", "inertia", "gravity", "damping", "stiffness", "armature")
_ENTRIES: Final = (
    ("xx", 0, 0),
    ("yy", 1, 1),
    ("zz", 2, 2),
    ("xy", 0, 1),
    ("yz", 1, 2),
    ("xz", 0, 2),
)


class InertialBuilder:
    """Adds bodies to a System; an imported inertia that no real body has is taken as it is, and
    named in one warning.
    """

    def __init__(self, s: System, names: IdentifierMap, symbols: tuple[str, ...]) -> None:
        strange = [x for x in symbols if x not in PARAMETERS]
        if strange:
            msg = (
                f"symbols: {strange[0]!r} is no kind of parameter; there are "
                f"{', '.join(PARAMETERS)}"
            )
            raise BadDescription(msg)
        self.s, self.names, self.symbols = s, names, symbols
        self._taken: set[str] = set()
        self._unphysical: list[str] = []

    def parameter(self, kind: str, name: str, value: float) -> Any:
        """A named constant where its kind is wanted as symbols, otherwise the number."""
        number = to_fraction(value)
        return (
            self.s.constant(self.names.identifier(name, "c"), number)
            if kind in self.symbols
            else number
        )

    def add(self, body: RobotBody, here: BodyAttachment, looks: list[Primitive]) -> None:
        """The mass of a link on its frame, and its appearance."""
        given = body.inertial
        if given is None or (given.mass == 0 and not np.any(given.inertia)):
            return
        self._check(body.name, np.array(given.inertia), given.mass)
        m = self.parameter("mass", f"m_{body.name}", given.mass)
        if "com" in self.symbols:
            c = [
                self.parameter("com", f"c_{body.name}_{axis}", x)
                for axis, x in zip("xyz", given.com, strict=True)
            ]
            L = here.body_frame()
            G = here.at((0, 0, 0)).offset(c[0] * L.x + c[1] * L.y + c[2] * L.z, None, here.frame)
        else:
            G = here.at(given.com)
        seen = relative_to_mass_centre(looks, here, np.array(given.com, dtype=float))
        self._add_unchecked(body.name, m, G, here.frame, self._inertia(body, here), seen)

    def _inertia(self, body: RobotBody, here: BodyAttachment) -> Any:
        assert body.inertial is not None
        I = np.array(body.inertial.inertia)
        if "inertia" in self.symbols:
            entries = [
                self.parameter("inertia", f"I_{body.name}_{e}", float(I[i, j]))
                for e, i, j in _ENTRIES
            ]
            return inertia(here.body_frame(), *entries)
        turned = here.pose.R @ I @ here.pose.R.T
        return inertia_tensor(here.frame, *to_fractions([turned[i, j] for _, i, j in _ENTRIES]))

    def add_rotor(self, joint: RobotJoint, q: tuple[Scalar, ...], after: Frame) -> None:
        """T = ½ J q̇²: a flywheel that stands on the ground and turns with the joint; with a
        free joint, its own inertia.
        """
        if joint.armature == 0 or joint.kind == "ball":
            return
        N, s = self.s.N, self.s
        J = self.parameter("armature", f"J_{joint.name}", joint.armature)
        for x in q[:3] if joint.kind == "free" else q:
            name = f"rotor of {x.name or joint.name}"
            F = N.rotated(x, N.z, name)
            self._add_unchecked(name, 0, s.O, F, inertia(F, 0, 0, J))
        if joint.kind == "free":
            self._add_unchecked(f"rotor of {joint.name}", 0, s.O, after, inertia(after, J, J, J))

    def _add_unchecked(
        self, name: str, mass: Any, G: Any, frame: Frame, I: Any, looks: tuple[Primitive, ...] = ()
    ) -> None:
        """A body as the file has it: massless ones and inertias that a typed description would
        be refused for included.
        """
        label = unused_name(name, self._taken, " ")
        self._taken.add(label)
        self.s.bodies.append(Body(label, scalar(self.s, mass), G, frame, I, visuals=looks))

    def _check(self, name: str, I: Any, mass: float) -> None:
        a, b, c = (float(x) for x in np.linalg.eigvalsh(I))
        if a < -1e-9 * abs(c) or c > (a + b) * (1 + 1e-6) or mass == 0:
            self._unphysical.append(name)

    def warn_unphysical(self) -> None:
        """Name the links whose inertia no real body has."""
        if self._unphysical:
            listed = ", ".join(self._unphysical)
            warn(
                f"{self.s.name}: no real body has the mass and inertia of {listed}; they are taken "
                f"as the file gives them"
            )
