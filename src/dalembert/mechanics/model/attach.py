"""Two descriptions made into one: a tool on an arm.

The declarations of the other description are repeated here, with its ground N, O put on a frame and
a point of this one. So everything in it, positions, velocities, rows, is relative to what carries
it; only inertia and gravity know N.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import field, fields, is_dataclass, replace
from typing import Any, Final

from dalembert.errors import BadDescription, NotASystem, Unknown
from dalembert.foundation.deferred_dataclass import dataclass
from dalembert.foundation.display import Displayable
from dalembert.foundation.late_imports import late_module
from dalembert.mechanics.geometry.declaration_log import Declaration, PythonFunction, Rollback
from dalembert.mechanics.geometry.frame import Frame
from dalembert.mechanics.geometry.point import Point
from dalembert.mechanics.geometry.vector import Dyadic, Vector
from dalembert.mechanics.model.elements import Body
from dalembert.mechanics.model.flexible_member import Member
from dalembert.mechanics.model.name_rules import split_names
from dalembert.mechanics.model.registry import Registry
from dalembert.mechanics.model.subsystem_ground import SubsystemGround
from dalembert.symbolic.algebra.expression_graph import apply_operation, dependencies
from dalembert.symbolic.algebra.scalar import Scalar, as_node, is_sympy
from dalembert.symbolic.algebra.tape import base_name

_WORD: Final = re.compile(r"[^\W\d]\w*")
_ANGLE: Final = re.compile(r"\s*[-+]?[\d.]+\s*(?:deg|degrees?|°)\s*")
# texts that name new things, and texts that are neither names nor expressions
_NAMING: Final = ("name", "names")
_LITERAL_ARGUMENTS: Final = (
    "display",
    "axes",
    "axis",
    "law",
    "joint",
    "family",
    "redundant",
    "value",
    "left",
    "right",
    "seen",
)
# verbs whose keywords are names of symbols
_BY_KEYWORD: Final = ("constants", "units", "speeds", "display")


@dataclass(frozen=True, eq=False)
class Attachment(Displayable):
    """The symbols and points of an attached system: a["theta"] and a(P) are its theta and P in
    this system.
    """

    system: Registry
    other: Registry
    prefix: str
    shared: tuple[str, ...]
    # the name here of each of its symbols, as far as they are declared
    names: dict[str, str] = field(default_factory=dict)
    frames: dict[Frame, Frame] = field(default_factory=dict)
    points: dict[Point, Point] = field(default_factory=dict)
    bodies: dict[Body, Body] = field(default_factory=dict)
    # loads without a reaction, which stay loads from outside
    outside: list[str] = field(default_factory=list)

    def __getitem__(self, name: str) -> Scalar:
        """The symbol that has this name in the other description."""
        if name not in self.names:
            msg = (
                f"{name!r} is no symbol of {getattr(self.other, 'name', 'the other system')}; "
                f"its symbols are {', '.join(self.names)}"
            )
            raise Unknown(msg)
        return self.system.symbols[self.names[name]].scalar

    def __call__(self, x: Any) -> Any:
        """A symbol, expression, vector, point, frame or body of the other description, here."""
        match x:
            case Scalar():
                return Scalar(self.system.space.tape, self._nodes(x, (x.i,))[0])
            case Vector():
                parts = {self(F): tuple(self._nodes(x, c)) for F, c in x.parts.items()}
                return Vector(self.system.space.tape, parts)  # type: ignore[arg-type]
            case Dyadic():
                rows = tuple(tuple(self._nodes(x, row)) for row in x.rows)
                return Dyadic(self.system.space.tape, self(x.frame), rows)  # type: ignore[arg-type]
            case Frame():
                return _counterpart(self.frames, x)
            case Point():
                return _counterpart(self.points, x)
            case Body():
                return _counterpart(self.bodies, x)
            case Member():
                return self.system.members[self.prefix + x.name]
            case str():
                return self.text(x)
            case tuple() | list():
                return tuple(map(self, x))
            case Mapping():
                return {key: self(value) for key, value in x.items()}
        if is_sympy(x):
            return self(Scalar(self.other.space.tape, as_node(self.other.space.tape, x)))
        if is_dataclass(x) and not isinstance(x, type):
            return replace(
                x,
                **{
                    f.name: self(getattr(x, f.name))
                    for f in fields(x)
                    if not isinstance(getattr(x, f.name), str)
                },
            )
        return x

    def text(self, text: str) -> str:
        """An expression typed as text, in the names of this description."""
        return (
            text
            if _ANGLE.fullmatch(text)
            else _WORD.sub(lambda word: self.names.get(word[0], word[0]), text)
        )

    def _nodes(self, x: Any, outs: tuple[int, ...]) -> list[int]:
        """Expressions of the other tape made again on this one."""
        source, target = x.tape, self.system.space.tape
        if source.root is not self.other.space.tape.root:
            msg = f"{x}: it does not belong to the system that was attached"
            raise BadDescription(msg)
        new: dict[int, int] = {}
        for i in dependencies(source, outs):
            op, a, b = source.nodes[i]
            if op == "symbol":
                new[i] = self._symbol(str(a))
            else:
                new[i] = (
                    target.const(a)
                    if op == "const"
                    else target.pi
                    if op == "pi"
                    else apply_operation(target, op, new[a], new.get(b))
                )
        return [new[i] for i in outs]

    def _symbol(self, name: str) -> int:
        plain = base_name(name)
        if plain == "t":
            return self.system.t.i
        if plain not in self.names:
            msg = f"{plain} is not declared in {getattr(self.other, 'name', 'the other system')}"
            raise BadDescription(msg)
        return self.system.space.tape.symbol(self.names[plain] + name[len(plain) :])

    def __str__(self) -> str:
        counted = "1 body" if len(self.bodies) == 1 else f"{len(self.bodies)} bodies"
        renamed = [f"{a} → {b}" for a, b in self.names.items() if a != b]
        lines = [
            (
                f"{getattr(self.other, 'name', 'system')} attached: {counted}, {len(self.names)} "
                f"symbol{'s' * (len(self.names) != 1)}"
            )
        ]
        lines += [f"  renamed: {', '.join(renamed)}"] if renamed else []
        lines += [f"  shared: {', '.join(self.shared)}"] if self.shared else []
        lines += (
            ["  its gravity is left out: that of the whole system acts on all masses"]
            if self.other.gravity_field is not None
            else []
        )
        lines += (
            [f"  act from outside, having no reaction: {', '.join(self.outside)}"]
            if self.outside
            else []
        )
        return "\n".join(lines)


def attach(
    s: Registry,
    other: Registry,
    at: Point,
    *,
    frame: Frame | None = None,
    prefix: str = "",
    shared: str | list[str] | None = None,
) -> Attachment:
    """What `System.attach` says, declaration by declaration; all of it or nothing."""
    place = _check_attachment(s, other, at, frame)
    same = tuple(split_names(shared)) if shared else ()
    _check_names(s, other, prefix, same)
    before = Rollback(s)
    try:
        if place.frame is not (frame or place.frame):
            place = place.offset(Vector(s.space.tape, {}), f"{prefix}O", frame)
        made = Attachment(s, other, prefix, same, {name: name for name in same})
        made.frames[other.space.N], made.points[other.space.O] = place.frame, place
        replay = _DeclarationReplay(made, SubsystemGround(s, other, made, place))
        for declared in other.space.journal.declarations:
            replay.declare(declared)
        _copy_display_names(s, made)
        s.settings = _merge_settings(s, made)  # type: ignore[attr-defined]
    except BaseException:
        before.restore()
        raise
    return made


# ---- what is refused -----------------------------------------------------------------------------


def _check_attachment(s: Registry, other: Registry, at: Point, frame: Frame | None) -> Point:
    if not isinstance(other, Registry):
        msg = (
            f"attach: give a System and where it goes, s.attach(tool, at=hand); got "
            f"{type(other).__name__}"
        )
        raise NotASystem(msg)
    if other is s or other.space is s.space:
        msg = (
            "attach: a system cannot be attached to itself; build it twice, and name the second "
            "with prefix="
        )
        raise BadDescription(msg)
    s.space.check_element(at, Point, "attach: at")
    if frame is not None:
        s.space.check_element(frame, Frame, "attach: frame")
    if other.given_kinetic_energies:
        msg = "attach: a system given by its energies has no bodies, so it cannot be attached"
        raise BadDescription(msg)
    if other.gravity_field is not None and s.gravity_field is None:
        msg = (
            "attach: the other system has gravity and this one has none; declare it here, "
            "s.gravity(…): it acts on all masses alike"
        )
        raise BadDescription(msg)
    return at


def _check_names(s: Registry, other: Registry, prefix: str, shared: tuple[str, ...]) -> None:
    """Refuse names that both have, and shared ones that are not the same."""
    if not isinstance(prefix, str) or (prefix and not _WORD.fullmatch(prefix)):
        msg = f"attach: prefix={prefix!r}; give the beginning of a name, such as 'tool_'"
        raise BadDescription(msg)
    for name in shared:
        _check_shared_name(s, other, name)
    double = [
        name for name in other.symbols if name not in shared and prefix + name in s.used_names
    ]
    double += [b.name for b in other.bodies if prefix + b.name in [x.name for x in s.bodies]]
    if double:
        cure = "another prefix" if prefix else "prefix='tool_', which goes before all its names"
        constants = " ".join(n for n in double if n in other.symbols and _may_be_shared(other, n))
        same = f", or shared={constants!r} where they are the same quantity" if constants else ""
        msg = f"attach: both systems have {', '.join(double)}; give {cure}{same}"
        raise BadDescription(msg)


def _may_be_shared(s: Registry, name: str) -> bool:
    return s.symbols[name].kind in ("constant", "input")


def _check_shared_name(s: Registry, other: Registry, name: str) -> None:
    """A shared name is a constant or an input of both systems, with one value."""
    mine, theirs = s.symbols.get(name), other.symbols.get(name)
    if mine is None or theirs is None or mine.kind != theirs.kind or not _may_be_shared(s, name):
        msg = f"attach: shared={name!r} is not a constant or input of both systems"
        raise BadDescription(msg)
    if None not in (mine.value, theirs.value) and mine.value != theirs.value:
        msg = (
            f"attach: shared {name} is {mine.value} here and {theirs.value} there; make them "
            f"equal, or leave it out of shared="
        )
        raise BadDescription(msg)


def _counterpart(known: Mapping[Any, Any], x: Any) -> Any:
    if x not in known:
        msg = f"{x.name}: it does not belong to the system that was attached"
        raise BadDescription(msg)
    return known[x]


# ---- declaration by declaration ------------------------------------------------------------------


class _DeclarationReplay:
    """The declarations of the other system made again."""

    def __init__(self, made: Attachment, ground: SubsystemGround) -> None:
        self.attachment, self.ground = made, ground
        self.s, self.other = made.system, made.other
        # how much of each list of the other system has its counterpart
        self.starts = {kind: len(getattr(self.s.space, kind)) for kind in ("frames", "points")}
        self.first_body, self.symbols_before = len(self.s.bodies), set(self.s.symbols)

    def declare(self, d: Declaration) -> None:
        """One declaration."""
        if d.verb == "gravity" or (d.verb == "display" and self.attachment.prefix):
            return
        self._reserve_state_name(d)
        given = self._arguments(d)
        if given is None:
            return
        if d.verb in ("force", "torque") and d.arguments.get("reaction") is None:
            self.attachment.outside.append(
                self.attachment.prefix
                + str(d.arguments.get("name") or f"{d.verb} {len(self.s.loads) + 1}")
            )
        owner = self.s if d.owner is self.other else self.attachment(d.owner)
        if d.verb == "discretise":
            late_module("discretisation").discretise(owner, **given)
        else:
            positional = given.pop("angles", ()) if d.verb == "rotations" else ()
            first = (given.pop("axes"),) if d.verb == "rotations" else ()
            getattr(owner, d.verb)(*first, *positional, **given)
        self._map_new_elements()

    def _map_new_elements(self) -> None:
        """Frames, points, bodies and symbols that came, each with its counterpart, in the order
        in which they came.
        """
        for kind, known in (("frames", self.attachment.frames), ("points", self.attachment.points)):
            came = getattr(self.s.space, kind)[self.starts[kind] :]
            known.update(zip(getattr(self.other.space, kind)[1:], came, strict=False))
        self.attachment.bodies.update(
            zip(self.other.bodies, self.s.bodies[self.first_body :], strict=False)
        )
        own = [name for name in self.other.symbols if name not in self.attachment.shared]
        came = [name for name in self.s.symbols if name not in self.symbols_before]
        self.attachment.names.update(zip(own, came, strict=False))

    def _reserve_state_name(self, d: Declaration) -> None:
        """A state may occur in its own rate."""
        if d.verb == "state":
            self.attachment.names.setdefault(
                d.arguments["name"], self.attachment.prefix + d.arguments["name"]
            )

    def _arguments(self, d: Declaration) -> dict[str, Any] | None:
        """The arguments here; None where all that is declared is shared."""
        made, given = self.attachment, {}
        for key, value in d.arguments.items():
            if key in _NAMING and d.verb in (
                "coordinates",
                "constants",
                "inputs",
                "speeds",
                "universal",
                "ball",
                "free",
            ):
                kept = [n for n in split_names(value) if n not in made.shared]
                given[key] = " ".join(made.prefix + n for n in kept) or None
            elif key in _NAMING:
                given[key] = made.prefix + value if isinstance(value, str) else value
            elif d.verb in _BY_KEYWORD and key not in ("vector", "along"):
                if key not in made.shared:
                    given[made.prefix + key] = made(value) if d.verb == "speeds" else value
            elif key == "display":
                given[key] = None if made.prefix else value
            elif key in _LITERAL_ARGUMENTS and isinstance(value, str):
                given[key] = value
            else:
                given[key] = self._value(d, key, value)
        if d.arguments.get("name") in made.shared or (
            d.verb in ("constants", "units", "inputs") and not any(given.values())
        ):
            return None
        return self.ground.redirected_arguments(d, given)

    def _value(self, d: Declaration, key: str, value: Any) -> Any:
        if isinstance(value, PythonFunction):
            if d.verb in ("state", "rate"):
                return self.attachment(
                    self.other.state_rates[
                        str(getattr(d.result, "name", None) or d.arguments["name"])
                    ]
                )
            msg = (
                f"attach: {d.verb}({key}=…) was given as a function of Python, which is not "
                f"kept "
                f"with a description; write it as text"
            )
            raise BadDescription(msg)
        if (
            key == "normal"
            and isinstance(value, str)
            and value in [row.name for row in self.other.constraints]
        ):
            return self.attachment.prefix + value
        return self.attachment(value)


def _copy_display_names(s: Registry, made: Attachment) -> None:
    """θ of the tool is printed θ with its prefix as an index, where it has none yet."""
    index, shown = made.prefix.strip("_"), made.other.space.tape.displays
    new = {
        made.names[n]: shown.get(n, n)
        for n in made.names
        if n not in made.shared and not set("_{₀₁₂₃₄₅₆₇₈₉") & set(shown.get(n, n))
    }
    for name, text in new.items() if index else ():
        # what would look like another symbol keeps its long name
        with suppress(BadDescription):
            s.display(**{name: f"{text}_{index}"})  # type: ignore[attr-defined]


def _merge_settings(s: Registry, made: Attachment) -> Any:
    """The run settings of this system, with the start, the values and the inputs of the other."""
    mine, theirs = getattr(s, "settings", None), getattr(made.other, "settings", None)
    if theirs is None:
        return mine
    sections = {}
    for section in ("run", "equilibrium", "linear"):
        own = dict(getattr(mine, section, None) or {})
        for part, values in getattr(theirs, section).items():
            if isinstance(values, Mapping):
                own[part] = {made(key): made(value) for key, value in values.items()} | dict(
                    own.get(part, {})
                )
        sections[section] = own
    return replace(
        mine or replace(theirs, title="", description="", printed=(), source=None), **sections
    )
