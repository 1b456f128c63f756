"""What every place of a description needs: an offset is a length, a mass is in kg, a force in N,
a potential in J.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from dalembert.mechanics.geometry.frame import Frame
from dalembert.mechanics.geometry.rotation import AxisRotation, BasisRotation, DirectionCosines
from dalembert.mechanics.geometry.vector import Vector
from dalembert.mechanics.model.elements import Body, Load
from dalembert.mechanics.model.flexible_member import End, Member
from dalembert.mechanics.model.registry import Registry
from dalembert.symbolic.algebra.expression_graph import symbols_of
from dalembert.symbolic.units.dimension_inference import BadDimension, DimensionInference
from dalembert.symbolic.units.quantities import (
    DIMENSIONLESS,
    ENERGY,
    FORCE,
    LENGTH,
    MASS,
    Dimension,
    dimension,
    unit_text,
)

_INERTIA: Final = dimension(kg=1, m=2)
_TORQUE: Final = ENERGY
_POWER: Final = dimension(1, 2, -3)
_GRAVITY: Final = dimension(m=1, s=-2)
_PER_LENGTH: Final = dimension(kg=1, s=-2)
_ANGULAR_UNITS: Final = {"": "rad", "1/s": "rad/s", "1/s²": "rad/s²"}
_MEMBER: Final[dict[str, Dimension]] = {
    "length": LENGTH,
    "density": dimension(kg=1, m=-1),
    "stiffness": dimension(1, 3, -2),
    "axial": FORCE,
    "torsion": dimension(1, 3, -2),
    "shear": FORCE,
    "rotary": dimension(1, 1),
    "polar": dimension(1, 1),
    "tension": FORCE,
    "x": LENGTH,
}
_END: Final[dict[str, Dimension]] = {
    "mass": MASS,
    "inertia": _INERTIA,
    "spring": _PER_LENGTH,
    "turning_spring": _TORQUE,
    "axial_spring": _PER_LENGTH,
    "twisting_spring": _TORQUE,
    "force": FORCE,
    "moment": _TORQUE,
}


class DimensionChecker:
    """The dimensions of one system, learnt from its elements as they are declared."""

    def __init__(self, s: Registry) -> None:
        self.s, self.inference = s, DimensionInference(s.space.tape)
        self.checked_counts: dict[str, int] = {}
        self.given: dict[str, Dimension] = {}

    def check_new(self) -> None:
        """Read what was declared since the last time; a contradiction is refused."""
        try:
            self._check_elements()
        except BadDimension as problem:
            constants = (
                x for x in self.s.symbols.values() if x.kind == "constant" and x.value is not None
            )
            plain = [x.name for x in constants if x.name not in self.s.dimensions]
            if plain:
                cure = (
                    f"once one has a unit, plain numbers ({', '.join(plain[:4])}) have none: "
                    f"give each its own, as in m='2 kg'"
                )
                problem.args = (f"{problem}; {cure}",)
            raise

    def _check_elements(self) -> None:
        s, learnt = self.s, self.inference
        self._symbols()
        gravity = [] if s.gravity_field is None else [s.gravity_field]
        readers: tuple[tuple[str, list[Any], Callable[[Any], None]], ...] = (
            ("frames", s.space.frames, self._frame),
            ("points", s.space.points, self._point),
            ("bodies", s.bodies, self._body),
            ("loads", s.loads, self._load),
            ("potentials", s.potentials, lambda p: learnt.require(p.V.i, ENERGY, p.name)),
            ("dissipations", s.dissipations, lambda d: learnt.require(d.D.i, _POWER, d.name)),
            ("constraints", s.constraints, lambda c: learnt.require_homogeneous((c.expression.i,))),
            ("speeds", s.speed_list, self._speed),
            ("members", list(s.members.values()), self._member),
            ("gravity", gravity, lambda field: self._vector(field.g, _GRAVITY, "gravity")),
        )
        for kind, elements, read in readers:
            for x in self._not_yet_checked(kind, elements):
                read(x)

    def _point(self, P: Any) -> None:
        self._vector(P.r, LENGTH, f"point {P.name}: its offset")

    def _speed(self, u: Any) -> None:
        self.inference.require_equal(u.scalar.i, u.definition.i, f"speed {u.name}")

    def known_dimensions(self) -> dict[str, Dimension]:
        """The dimensions that are determined, by the names of the symbols."""
        dimensions = {
            name: self.inference.dimension(x.scalar.i) for name, x in self.s.symbols.items()
        }
        return {name: d for name, d in dimensions.items() if d is not None}

    def dimension(self, node: int) -> Dimension | None:
        """The dimension of an expression, where it is determined."""
        try:
            monomial = self.inference.dimension_of(node)
        except BadDimension:
            return None
        return None if monomial.unknown else monomial.known

    def unit(self, node: int) -> str:
        """The unit of an expression, where it is determined; rad, rad/s for what turns."""
        dimension = self.dimension(node)
        text = "" if dimension is None else unit_text(dimension)
        return (
            _ANGULAR_UNITS.get(text, text)
            if dimension is not None and self._is_angular(node)
            else text
        )

    def conjugate_unit(self, name: str) -> str:
        """J/[φ] or W/[φ]: the unit of a row's multiplier, or of the load behind a prescribed
        motion.
        """
        row = next((c for c in self.s.constraints if c.name == name), None)
        e = (
            row.expression
            if row is not None
            else self.s.symbols[name].scalar
            if name in self.s.symbols
            else None
        )
        dimension = None if e is None else self.dimension(e.i)
        work = ENERGY if row is None or row.holonomic else _POWER
        return (
            ""
            if dimension is None
            else unit_text(
                tuple(a - b for a, b in zip(work, dimension, strict=True))  # type: ignore[arg-type]
            )
        )

    def _is_angular(self, node: int) -> bool:
        """Whether a node is an angle, a rate of one, or a speed that is defined by such rates."""
        tape = self.s.space.tape
        if tape.nodes[node][0] != "symbol":
            return False
        x, angles = self.inference.base(node)[0], self._angles()
        definition = next((u.definition.i for u in self.s.speed_list if u.scalar.i == x), None)
        return x in angles or (
            definition is not None
            and any(self.inference.base(i)[0] in angles for i in symbols_of(tape, (definition,)))
        )

    def _angles(self) -> set[int]:
        """Symbols that frames turn by, or whose sines are taken."""
        tape = self.s.space.tape
        turned = [
            F.rotation.angle
            for F in self.s.space.frames
            if isinstance(F.rotation, BasisRotation | AxisRotation)
        ]
        terms, angles = turned + [a for op, a, _ in tape.nodes if op in ("sin", "cos")], set()
        while terms:
            op, a, b = tape.nodes[i := terms.pop()]
            if op == "symbol":
                angles.add(i)
            elif op in ("add", "sub"):
                terms += [a, b]
            elif op == "neg":
                terms.append(a)
            elif op in ("mul", "div"):
                terms += [x for x, other in ((a, b), (b, a)) if tape.value(other) is not None]
        return angles

    def _not_yet_checked(self, kind: str, several: list[Any]) -> list[Any]:
        start = self.checked_counts.get(kind, 0)
        self.checked_counts[kind] = len(several)
        return several[start:]

    def _symbols(self) -> None:
        for name, x in self.s.symbols.items():
            given = self.s.dimensions.get(name)
            if name in self.given and given in (None, self.given[name]):
                continue
            if given is None and (x.kind != "constant" or x.value is None):
                continue
            # a plain number has no dimension once units are used
            self.given[name] = DIMENSIONLESS if given is None else given
            self.inference.set_dimension(x.scalar.i, self.given[name], name)
        for x in self._not_yet_checked(
            "motions", [x for x in self.s.symbols.values() if x.motion is not None]
        ):
            self.inference.require_equal(x.scalar.i, x.motion.i, f"specified {x.name}")
        for x in self._not_yet_checked(
            "drivers", [x for x in self.s.symbols.values() if x.driver is not None]
        ):
            what = f"specified {x.name}"
            self.inference.require_rate(x.driven_states[-1], x.driver.i, what)

    def _vector(self, v: Vector, wanted: Dimension, what: str) -> None:
        for components in v.on(self.s.space.tape).parts.values():
            for i in components:
                self.inference.require(i, wanted, what)

    def _frame(self, F: Frame) -> None:
        match F.rotation:
            case BasisRotation():
                numbers = [F.rotation.angle]
            case AxisRotation():
                numbers = [F.rotation.angle, *F.rotation.axis]
            case DirectionCosines():
                numbers = [c for row in F.rotation.R for c in row]
            case None:
                numbers = []
            case _:
                numbers = list(F.rotation.variables())
        for i in numbers:
            self.inference.require(i, DIMENSIONLESS, f"frame {F.name}: its orientation")

    def _body(self, body: Body) -> None:
        what = f"body {body.name!r}"
        self.inference.require(body.mass.i, MASS, f"{what}: its mass")
        if body.inertia is not None:
            for i in body.inertia.entries():
                self.inference.require(i, _INERTIA, f"{what}: its inertia")
        for size in body.shape.sizes if body.shape is not None else ():
            self.inference.require(size.i, LENGTH, f"{what}: its size")

    def _load(self, load: Load) -> None:
        for F, _ in load.forces:
            self._vector(F, FORCE, load.name)
        for T, _ in load.torques:
            self._vector(T, _TORQUE, load.name)

    def _member(self, m: Member) -> None:
        what = f"{m.kind} {m.name!r}"
        for key, wanted in _MEMBER.items():
            given = getattr(m, key)
            for e in given if isinstance(given, tuple) else () if given is None else (given,):
                self.inference.require(e.i, wanted, f"{what}: its {key}")
        for end in m.ends:
            self._end(end, what)
        if m.load is not None:
            self._vector(m.load, _PER_LENGTH, f"{what}: its load")

    def _end(self, end: End, what: str) -> None:
        for key, wanted in _END.items():
            given = getattr(end, key)
            if isinstance(given, Vector):
                self._vector(given, wanted, f"{what}: {key} at an end")
            elif given is not None:
                self.inference.require(given.i, wanted, f"{what}: {key} at an end")
