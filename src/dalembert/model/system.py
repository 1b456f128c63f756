"""The description of a mechanical system: the only object that grows."""

from __future__ import annotations

import copy
from typing import Any

from dalembert.algebra.parser import parse
from dalembert.algebra.scalar import Scalar, exact
from dalembert.errors import BadDescription
from dalembert.geometry.frame import Frame
from dalembert.geometry.point import Point
from dalembert.model.members import Members
from dalembert.notebook import Shown


class System(Members, Shown):
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

    @property
    def q(self) -> tuple[Scalar, ...]:
        """The coordinates, in order of declaration."""
        return tuple(s.scalar for s in self.symbols.values() if s.kind == "coordinate")

    def signature(self) -> tuple[object, ...]:
        """Changes whenever something is declared."""
        grown = tuple((name, len(value)) for name, value in vars(self).items() if isinstance(value, list | dict))
        return grown, self.field is not None, tuple(self.space.tape.displays.items())

    def frozen(self) -> System:
        """The description as it is now: a copy that does not grow with this one."""
        new = copy.copy(self)
        for name, value in vars(self).items():
            if isinstance(value, list | dict):
                setattr(new, name, value.copy())
        return new

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
