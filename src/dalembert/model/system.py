"""The description of a mechanical system: the only object that grows."""

from __future__ import annotations

from typing import Any

from dalembert.algebra.parser import parse
from dalembert.algebra.scalar import Scalar, exact
from dalembert.errors import BadDescription
from dalembert.geometry.frame import Frame
from dalembert.geometry.point import Point
from dalembert.model import bodies, closures, constraints, joints, loads, members, symbols
from dalembert.model.registry import Registry
from dalembert.notebook import Shown


class System(Registry, Shown):
    """A mechanical system described once: frames, points, bodies, loads, constraints, speeds.

    s.N is the inertial frame, s.O a point fixed in it, s.t the time. `gravity=9.81` adds a uniform field along
    −N.y, or along minus the axis that `up` names.
    """

    def __init__(self, name: str = "System", gravity: Any = None, up: str = "y", *, source: str = "") -> None:
        super().__init__()
        if not isinstance(name, str) or not name.strip():
            msg = "a system needs a name"
            raise BadDescription(msg)
        self.name, self.source = name, source
        # the file it was read from, for those who hold it against other readers of the same file
        self.origin: object | None = None
        # what was computed from this description, with the signature it was computed for
        self.cached: tuple[object, object] | None = None
        if gravity is not None:
            if not isinstance(up, str) or up not in ("x", "y", "z"):
                msg = f"up={up!r}: give 'x', 'y' or 'z'"
                raise BadDescription(msg)
            self.gravity(-(gravity if isinstance(gravity, Scalar) else exact(gravity)) * getattr(self.N, up))

    @property
    def N(self) -> Frame:
        """The inertial frame."""
        return self.space.N

    @property
    def O(self) -> Point:  # noqa: E743 - the book's name of the fixed point
        """A point fixed in the inertial frame."""
        return self.space.O

    # the verbs: functions of the registry, each in the file of its kind
    display = symbols.display
    coordinate = symbols.coordinate
    coordinates = symbols.coordinates
    constant = symbols.constant
    constants = symbols.constants
    input = symbols.input
    inputs = symbols.inputs
    specified = symbols.specified
    speed = symbols.speed
    speeds = symbols.speeds

    particle = bodies.particle
    body = bodies.body
    rod = bodies.rod
    disk = bodies.disk
    sphere = bodies.sphere
    cylinder = bodies.cylinder
    box = bodies.box

    pin = joints.pin
    slide = joints.slide
    universal = joints.universal
    ball = joints.ball
    free = joints.free
    weld = joints.weld

    force = loads.force
    torque = loads.torque
    potential = loads.potential
    dissipation = loads.dissipation
    spring = loads.spring
    damper = loads.damper
    gravity = loads.gravity

    constrain = constraints.constrain
    roll = constraints.roll
    coincide = closures.coincide
    align = closures.align
    close = closures.close
    distance = closures.distance
    gear = closures.gear
    screw = closures.screw

    beam = members.beam
    string = members.string
    bar = members.bar
    shaft = members.shaft
    end = members.end
    expand = members.expand

    def __getstate__(self) -> dict[str, object]:
        return {**self.__dict__, "cached": None}

    def expression(self, text: str) -> Scalar:
        """An expression from a string, such as "m*g*sin(theta)"; parsed, never executed."""
        names = {name: s.scalar for name, s in self.symbols.items()} | {"t": self.t}
        return parse(text, names, self.space.tape)

    def __getitem__(self, name: str) -> Scalar:
        """The symbol with that name."""
        return self.expression(name)

    def __repr__(self) -> str:
        return f"System({self.name!r}: {len(self.q)} coordinates, {len(self.bodies)} bodies, {len(self.constraints)} constraint rows)"
