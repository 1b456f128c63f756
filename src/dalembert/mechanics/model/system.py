"""The description of a mechanical system: the only object that grows."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final, Self

from dalembert.errors import BadDescription
from dalembert.foundation.display import Displayable
from dalembert.foundation.late_imports import late_module
from dalembert.foundation.renamed_names import renamed_attribute
from dalembert.foundation.suggestions import attribute_error
from dalembert.mechanics.geometry.declaration_log import record_declaration
from dalembert.mechanics.geometry.frame import Frame
from dalembert.mechanics.geometry.point import Point
from dalembert.mechanics.model import (
    bodies,
    constraints,
    contacts,
    dry_friction,
    joints,
    likely_errors,
    loads,
    loop_constraints,
    member_verbs,
    symbols,
)
from dalembert.mechanics.model import from_energies as energies
from dalembert.mechanics.model.registry import Registry, symbols_by_name
from dalembert.symbolic.algebra.scalar import Scalar
from dalembert.symbolic.units.quantities import Dimension

if TYPE_CHECKING:
    from dalembert.mechanics.model.attach import Attachment


class System(Registry, Displayable):
    """A mechanical system described once: frames, points, bodies, loads, constraints, speeds.

    s.N is the inertial frame, s.O a point fixed in it, s.t the time. `gravity=9.81` adds a uniform
    field along −N.y, or along minus the axis that `up` names.
    """

    def __init__(
        self, name: str = "System", gravity: Any = None, up: str = "y", *, source: str = ""
    ) -> None:
        super().__init__()
        if not isinstance(name, str) or not name.strip():
            msg = "a system needs a name"
            raise BadDescription(msg)
        self.name, self.source = name, source
        # the file it was read from, for comparison with other readers of the same file
        self.origin: object | None = None
        # the settings in the file: its run, an equilibrium, a linear point
        self.settings: Any = None
        if gravity is not None:
            if not isinstance(up, str) or up not in ("x", "y", "z"):
                msg = f"up={up!r}: give 'x', 'y' or 'z'"
                raise BadDescription(msg)
            self.gravity(-loads.parse_gravity(gravity) * getattr(self.N, up))

    @classmethod
    def from_energies(
        cls,
        name: str = "System",
        *,
        T: str,
        V: str | float | None = None,
        D: str | float | None = None,
        q: str,
        constants: Mapping[str, Any] | None = None,
        inputs: str = "",
        specified: str = "",
    ) -> Self:
        """A system given by T(q, q̇, t), V(q, t) and D(q, q̇):
        da.System.from_energies(T="m*x.dot**2/2", V="k*x**2/2", q="x").

        T is of degree two in the rates at most; V = 0 is a system without potential. Names that are
        not coordinates, inputs or prescribed motions are constants; rows, speeds and generalized
        forces may be declared afterwards. Only Lagrange, Maggi, Boltzmann–Hamel and Hamilton apply.

        Source: Mei85 (7.44)–(7.47).
        """
        s, values = cls(name), constants or {}
        texts = energies.check_energy_texts(T=T, V=V, D=D)
        s.coordinates(q)
        if inputs:
            s.inputs(inputs)
        for motion in specified.split():
            s.specified(motion)
        for other in energies.undeclared_names(s, texts.values(), values):
            s.constant(other, values.get(other))
        s.kinetic_energy(T)
        if "V" in texts:
            s.potential(s.expression(texts["V"]), "V")
        if "D" in texts:
            s.dissipation(s.expression(texts["D"]), "D")
        return s

    # the verbs: functions of the registry, each in the file of its kind, noted in the journal
    display = record_declaration(symbols.display)
    coordinate = record_declaration(symbols.coordinate)
    coordinates = record_declaration(symbols.coordinates)
    constant = record_declaration(symbols.constant)
    constants = record_declaration(symbols.constants)
    length = record_declaration(symbols.length)
    input = record_declaration(symbols.input)
    inputs = record_declaration(symbols.inputs)
    units = record_declaration(symbols.units)
    specified = record_declaration(symbols.specified)
    state = record_declaration(symbols.state)
    rate = record_declaration(symbols.rate)
    speed = record_declaration(symbols.speed)
    speeds = record_declaration(symbols.speeds)

    particle = record_declaration(bodies.particle)
    body = record_declaration(bodies.body)
    rod = record_declaration(bodies.rod)
    disk = record_declaration(bodies.disk)
    sphere = record_declaration(bodies.sphere)
    cylinder = record_declaration(bodies.cylinder)
    box = record_declaration(bodies.box)

    pin = record_declaration(joints.pin)
    slide = record_declaration(joints.slide)
    universal = record_declaration(joints.universal)
    ball = record_declaration(joints.ball)
    free = record_declaration(joints.free)
    weld = record_declaration(joints.weld)

    force = record_declaration(loads.force)
    torque = record_declaration(loads.torque)
    potential = record_declaration(loads.potential)
    dissipation = record_declaration(loads.dissipation)
    spring = record_declaration(loads.spring)
    damper = record_declaration(loads.damper)
    gravity = record_declaration(loads.gravity)
    generalized_force = record_declaration(energies.generalized_force)
    virtual_work = record_declaration(energies.virtual_work)
    kinetic_energy = record_declaration(energies.kinetic_energy)

    constrain = record_declaration(constraints.constrain)
    roll = record_declaration(constraints.roll)
    coincide = record_declaration(loop_constraints.coincide)
    align = record_declaration(loop_constraints.align)
    close = record_declaration(loop_constraints.close)
    distance = record_declaration(loop_constraints.distance)
    gear = record_declaration(loop_constraints.gear)
    screw = record_declaration(loop_constraints.screw)

    contact = record_declaration(contacts.contact)
    stop = record_declaration(contacts.stop)
    rope = record_declaration(contacts.rope)
    friction = record_declaration(dry_friction.friction)

    beam = record_declaration(member_verbs.beam)
    string = record_declaration(member_verbs.string)
    bar = record_declaration(member_verbs.bar)
    shaft = record_declaration(member_verbs.shaft)
    end = member_verbs.end
    expand = member_verbs.expand
    accept = likely_errors.accept

    def attach(
        self,
        other: System,
        at: Point,
        *,
        frame: Frame | None = None,
        prefix: str = "",
        shared: str | list[str] | None = None,
    ) -> Attachment:
        """The other system on this one: its fixed point becomes `at`, its frame N becomes `frame`,
        by default the one of `at`.

        `prefix` goes before all its names, so that two of a kind can be attached; `shared` names
        constants and inputs that are the same in both. Loads without a reaction stay loads from
        outside; what reacts on its N or O reacts on what carries it. Gravity is that of this
        system. The other system is not changed.
        """
        # opened when it is first used: a command that derives needs none of it
        from dalembert.mechanics.model.attach import attach

        return attach(self, other, at, frame=frame, prefix=prefix, shared=shared)

    def view(self, duration: float = 10.0, **options: Any) -> Any:
        """Simulate the system and show it in a notebook as an interactive animation; options are
        those of `simulate`.
        """
        # the page is in a later chapter and is imported by name
        return late_module("viewer").view_system(self, duration, **options)

    def expression(self, text: str) -> Scalar:
        """An expression from a string, such as "m*g*sin(theta)"; parsed, never executed."""
        from dalembert.symbolic.algebra.parser import parse

        return parse(text, symbols_by_name(self, text), self.space.tape)

    def known_dimensions(self) -> dict[str, Dimension]:
        """The dimensions of symbols that follow from the units given, as exponents of kg, m and
        s; nothing where none are given.
        """
        return (
            {}
            if self.space.journal.dimensions is None
            else dict(self.space.journal.dimensions.known_dimensions())
        )

    def unit(self, what: Scalar | str) -> str:
        """The unit of an expression, such as "m/s", where the units that were given determine
        it; "" otherwise.
        """
        node, check = self._unit_node(what), self.space.journal.dimensions
        return "" if node is None else str(check.unit(node))

    def conjugate_unit(self, name: str) -> str:
        """The unit of the multiplier of a row, or of the load behind a prescribed motion; ""
        where it is not known.
        """
        check = self.space.journal.dimensions
        return "" if check is None else str(check.conjugate_unit(name))

    @property
    def has_units(self) -> bool:
        """Whether a unit was given, so that results say theirs."""
        return self.space.journal.dimensions is not None

    def dimension(self, what: Scalar | str) -> Dimension | None:
        """The exponents of kg, m and s of an expression, where the units that were given
        determine them.
        """
        node, check = self._unit_node(what), self.space.journal.dimensions
        return None if node is None else check.dimension(node)

    def _unit_node(self, what: Scalar | str) -> int | None:
        """The node of an expression on the tape whose dimensions are known; None where no units
        are given.
        """
        tape = self.space.tape
        if self.space.journal.dimensions is None:
            return None
        e = self.expression(what) if isinstance(what, str) else what
        return e.i if e.tape is tape or e.i < tape.shared_length(e.tape) else None

    def link(self, name: str) -> Any:
        """A link of a loaded robot by its name, massless ones too: its frame, origin, pose and
        Jacobian.
        """
        return late_module("robot links").link(self, name)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the description to a file of TOML or JSON, which `da.load` reads back."""
        # the writer reads every chapter that can be declared, so this one cannot import it
        late_module("model file").save(self, path)

    def __getattr__(self, name: str) -> Any:
        """Only for what is not there: a symbol is s["theta"]."""
        known = self.__dict__.get("symbols", {})
        new = renamed_attribute(self, name) if name not in known else None
        if new is not None:
            return getattr(self, new)
        raise attribute_error(
            self, name, f"the symbol is s[{name!r}]" if name in known else _suggest_verb(name)
        )

    def __getitem__(self, name: str) -> Scalar:
        """The symbol with that name."""
        return self.expression(name)

    def __str__(self) -> str:
        symbols: dict[str, list[str]] = {}
        for x in self.symbols.values():
            value = "" if x.value is None else f" = {float(x.value):g}"
            driver = "" if x.driver is None else f" ({x.driven_rate} {x.driver.name})"
            symbols.setdefault(x.kind, []).append(f"{x.name}{value}{driver}")
        parts = {
            **{
                f"{kind}s" if kind != "specified" else "prescribed motions": names
                for kind, names in symbols.items()
            },
            "bodies": [b.name for b in self.bodies],
            "members": list(self.members),
            "loads": [
                *(x.name for x in self.loads),
                *(x.name for x in self.potentials),
                *(x.name for x in self.dissipations),
            ],
            "gravity": [] if self.gravity_field is None else [str(self.gravity_field.g)],
            "constraint rows": [c.name for c in self.constraints],
            "contacts": [c.name for c in self.contacts],
        }
        return "\n".join(
            [
                self.name,
                *(f"  {what}: {', '.join(names)}" for what, names in parts.items() if names),
            ]
        )

    def __repr__(self) -> str:
        return (
            f"System({self.name!r}: {len(self.q)} coordinates, {len(self.bodies)} bodies, "
            f"{len(self.constraints)} constraint rows)"
        )


# what other programs call our verbs
_ELSEWHERE: Final = {
    **dict.fromkeys(
        ("hinge", "revolute", "revolute_joint", "rotate", "joint"), "a hinge is s.pin(name, at)"
    ),
    **dict.fromkeys(
        ("prismatic", "slider", "translational", "prismatic_joint"),
        "a slider is s.slide(name, at, axis)",
    ),
    **dict.fromkeys(("spherical", "ball_joint"), "a ball joint is s.ball(names, at)"),
    **dict.fromkeys(
        ("join", "loop", "connect", "closure"),
        "a loop is closed by s.coincide(P, Q), or s.close(P, Q, joint)",
    ),
    **dict.fromkeys(
        ("fixed", "fix"),
        "fixed points and frames are defined relative to s.O and s.N; s.weld closes a loop rigidly",
    ),
    **dict.fromkeys(
        ("cable", "string_length", "rod_length"),
        "a rope that may go slack is s.rope(P, Q, l), a rod s.distance(P, Q, l)",
    ),
    **dict.fromkeys(
        ("torsion_spring", "torsional_spring", "rotational_spring"),
        "a spring on an angle is s.potential(k*theta**2/2)",
    ),
    **dict.fromkeys(
        ("torsional_damper", "rotational_damper", "damping"),
        "a damper on an angle is s.dissipation(c*theta.dot**2/2)",
    ),
    **dict.fromkeys(("moment", "add_torque"), "it is s.torque(vector, on=body)"),
    **dict.fromkeys(
        ("parameter", "parameters", "param", "params"), "they are s.constants(m=1, l=2)"
    ),
    **dict.fromkeys(
        ("point", "add_point"), "points are defined relative to points: s.O.offset(vector)"
    ),
    **dict.fromkeys(
        ("frame", "add_frame"), "frames are defined relative to frames: s.N.rotated(angle, s.N.z)"
    ),
    **dict.fromkeys(
        ("equations", "eom", "equations_of_motion", "derive", "form_eoms"),
        "da.kane(s), da.lagrange(s), … derive them",
    ),
    **dict.fromkeys(
        ("solve", "run", "integrate", "simulate"), "it is da.simulate(s, 10, start={…})"
    ),
    **dict.fromkeys(
        ("plot", "animate", "show"),
        "a run is plotted, da.simulate(s, 10).plot(); s.view() shows the system",
    ),
    "report": "it is da.write_report(s, path)",
}


def _suggest_verb(name: str) -> str:
    """What `da` has that takes a system, or what another program calls a verb of ours."""
    public = import_module("dalembert").__all__
    return _ELSEWHERE.get(name) or (f"it is da.{name}(s, …)" if name in public else "")


def units_by_name(system: System, names: Iterable[str]) -> dict[str, str]:
    """{name: unit} of those symbols and rates whose unit is known; empty where no units are
    given.
    """
    return {name: unit for name in names if (unit := system.unit(name))} if system.has_units else {}
