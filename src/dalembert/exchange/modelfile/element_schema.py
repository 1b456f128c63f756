"""kind of element → keys → types: the one table behind the reader, the writer, the JSON Schema and
the how-to page.

A key is an argument of the verb: [spring.S] with k, P, Q, rest is s.spring(k, P, Q, rest=rest,
name="S"). What it takes, and whether it must be there, is read from the signature; this file says
what differs. In `_parse_keys`, `at:point!` is a key that must be there, `axis:vector` one that may
be.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any, Final

from dalembert.foundation.deferred_dataclass import dataclass
from dalembert.mechanics.model.system import System


@dataclass(frozen=True)
class ElementKey:
    """One key of an element: what kind of value it takes, and whether it must be there."""

    name: str
    type: str
    required: bool = False


@dataclass(frozen=True)
class ElementType:
    """A kind of element: [name.X] declares X with these keys; `main` is the key that X = "…" by
    itself means.
    """

    name: str
    description: str
    keys: tuple[ElementKey, ...]
    main: str = ""
    # the argument that the name of the element becomes; nothing where it is only a handle in the
    # file
    name_argument: str = "name"

    def key(self, name: str) -> ElementKey:
        """The key of that name, one that it has."""
        return next(k for k in self.keys if k.name == name)


# what a value of each type is, in words
TYPES: Final = {
    "scalar": "a number or an expression",
    "scalar or row": "a number, an expression, or the name of a constraint row",
    "scalar or flag": "true, false, or an expression",
    "number": "a number, or an expression without symbols",
    "vector": "a vector such as 'a*B.x + b*N.y'",
    "point": "the name of a point",
    "frame": "the name of a frame",
    "body": "the name of a body",
    "bodies": "the name of a body, or a list of two",
    "frame or body": "the name of a frame or of a rigid body",
    "axis or frame": "an axis such as 'B.z', or the name of a frame",
    "inertia": "three or six moments along the frame, or an expression such as 'rod_inertia(B.y, "
    "m, l)'",
    "shape": "a table with kind, sizes and axis",
    "end": "clamped, pinned, sliding, free, or a table with support, mass, spring, …",
    "text": "a text",
    "names": "names in one text or a list",
    "scalars": "an expression or a list of them",
    "vectors": "a vector or a list of two",
    "cosines": "three rows of three expressions",
    "flag": "true or false",
    "rows": "names of rows in one text or a list",
    "functions": "a number, or a table with one for each field",
    "table": "a table",
    "unit": "a unit such as 'm' or 'rad'",
}


# what a verb says of an argument that may also be None, in its own words
_ANNOTATED: Final = {
    "Scalar | str": "scalar",
    "str | Scalar": "scalar",
    "Vector": "vector",
    "Vector | Sequence[Vector]": "vectors",
    "Vector | tuple[Vector, Vector]": "vectors",
    "Vector | Frame": "axis or frame",
    "Point": "point",
    "Frame": "frame",
    "Frame | str": "frame",
    "Body": "body",
    "Frame | Body": "frame or body",
    "Dyadic": "inertia",
    "Shape": "shape",
    "str | End": "end",
    "str": "text",
    "Callable[[Scalar], Any] | str": "text",
    "bool": "flag",
    "Iterable[str]": "rows",
}
# of one that may be anything: a scalar, except for these
_NAMED: Final = {
    "on": "bodies", "normal": "scalar or row", "load": "vector", "active": "scalar or flag",
}  # fmt: skip


def _parse_keys(text: str) -> tuple[ElementKey, ...]:
    keys = []
    for part in text.split():
        name, _, kind = part.partition(":")
        keys.append(ElementKey(name, kind.rstrip("!").replace("_or_", " or "), kind.endswith("!")))
    return tuple(keys)


def _value_type(p: inspect.Parameter) -> str:
    """What kind of value an argument of a verb takes in a file, by its annotation."""
    written = str(p.annotation).removesuffix(" | None")
    return _NAMED.get(p.name, "scalar") if written == "Any" else _ANNOTATED[written]


def _keys_of_method(
    verb: Callable[..., Any], called: str, types: Mapping[str, str]
) -> tuple[ElementKey, ...]:
    """The arguments of a verb as keys, without the system and without what the name of the
    element becomes.
    """
    _, *given = inspect.signature(verb).parameters.values()
    keys = {
        p.name: (types.get(p.name) or _value_type(p), p.default is p.empty)
        for p in given
        if p.name != called
    }
    return tuple(
        ElementKey(name, kind.rstrip("?"), needed and not kind.endswith("?"))
        for name, (kind, needed) in keys.items()
    )


def _type_of_method(
    name: str, what: str, main: str = "", called: str = "name", more: str = "", **types: str
) -> ElementType:
    """A kind whose keys are the arguments of the verb of that name, and `more` of its own.

    `types` are those that differ from what annotations say; body="body?" need not be there.
    """
    return ElementType(
        name,
        what,
        _keys_of_method(getattr(System, name), called, types) + _parse_keys(more),
        main,
        called,
    )


_KINDS: Final = (
    ElementType(
        "coordinate",
        "A generalized coordinate that joints and `coordinates` do not make.",
        _parse_keys("display:text unit:unit"),
        "display",
    ),
    ElementType(
        "frame",
        "A frame rotated relative to another: by an angle about an axis, by successive angles, by "
        "direction cosines, by a quaternion.",
        _parse_keys(
            "of:frame angle:scalar axis:vector axes:text angles:scalars through:names "
            "cosines:cosines quaternion:scalars name:text"
        ),
    ),
    ElementType(
        "point",
        "A point at an offset from another.",
        _parse_keys("of:point offset:vector! frame:frame name:text"),
        "offset",
    ),
    _type_of_method(
        "pin", "A hinge: one angle about an axis.", "at", more="coordinate:text display:text"
    ),
    _type_of_method(
        "slide", "A slider: one distance along an axis.", "at", more="coordinate:text display:text"
    ),
    ElementType(
        "universal",
        "Two angles about successive axes.",
        _parse_keys("coordinates:names! at:point! axes:text"),
        name_argument="names",
    ),
    ElementType(
        "ball",
        "Three angles about successive axes, or a quaternion.",
        _parse_keys("coordinates:names! at:point! axes:text"),
        name_argument="names",
    ),
    ElementType(
        "free",
        "Six degrees of freedom, three of them angles or a quaternion.",
        _parse_keys("coordinates:names! at:point axes:text"),
        name_argument="names",
    ),
    _type_of_method(
        "weld", "The same position and frame, shifted by a fixed offset.", "at", called=""
    ),
    _type_of_method("particle", "A mass at a point."),
    _type_of_method("body", "A rigid body."),
    _type_of_method("rod", "A thin uniform rod that hangs from a point along −y of its frame."),
    _type_of_method("disk", "A thin uniform disk."),
    _type_of_method("sphere", "A homogeneous sphere."),
    _type_of_method("cylinder", "A solid cylinder."),
    _type_of_method("box", "A solid box with sides along its frame."),
    _type_of_method("force", "A force at a point, and its opposite at another."),
    _type_of_method("torque", "A torque on a body, and its opposite on another."),
    _type_of_method("potential", "A potential energy V(q, t).", "V"),
    _type_of_method("dissipation", "Rayleigh's dissipation function D(q, q').", "D"),
    _type_of_method("generalized_force", "Q along one coordinate, known by its virtual work Q δq."),
    _type_of_method("virtual_work", "A load by its virtual work, such as 'F*delta(x)'.", "work"),
    _type_of_method("kinetic_energy", "T(q, q') of a system without bodies.", "T", called=""),
    _type_of_method("spring", "A linear spring between two points."),
    _type_of_method("damper", "A linear damper between two points."),
    _type_of_method(
        "constrain", "expression = 0; with friction, as long as friction holds it.", "expression"
    ),
    _type_of_method(
        "contact",
        "A point, or a ball about it, on a plane, on a curved ground or on another ball; it may "
        "stick, slip and lift off.",
        "at",
        radius="scalars",
        speed="scalars",
    ),
    _type_of_method("rope", "A rope between two points; it goes slack and taut."),
    _type_of_method("stop", "Bounds of an expression, such as the stops of a joint."),
    _type_of_method(
        "friction",
        "Dry friction along a row, under a normal force that is given, or that of a constraint "
        "row or contact; along two rows in a plane.",
        slip="scalars",
    ),
    # the name of the element may be that of the body
    _type_of_method(
        "roll",
        "A body rolls without slip: its point at `at` is at rest.",
        "at",
        called="",
        body="body?",
    ),
    _type_of_method("coincide", "Two points coincide."),
    _type_of_method("align", "Two axes, or all axes of two frames, stay parallel."),
    _type_of_method("close", "A joint that closes a loop."),
    _type_of_method("distance", "Two points keep a distance."),
    _type_of_method("length", "The distance of two points, printed as a symbol of its own."),
    _type_of_method("gear", "Two coordinates in a fixed ratio."),
    _type_of_method("screw", "A nut advances by the pitch for every turn."),
    _type_of_method(
        "beam",
        "A beam that bends; its properties may depend on the position x_NAME along it.",
        stiffness="scalars",
        shear="scalars",
        rotary="scalars",
    ),
    _type_of_method("string", "A string under tension."),
    _type_of_method("bar", "A bar that stretches."),
    _type_of_method("shaft", "A shaft that twists."),
    ElementType(
        "discretise",
        "Expands the member of that name in admissible functions; their amplitudes are "
        "coordinates.",
        _parse_keys("functions:functions family:text exact:flag names:table"),
        "functions",
        name_argument="member",
    ),
)
ELEMENT_TYPES: Final[dict[str, ElementType]] = {kind.name: kind for kind in _KINDS}
JOINTS: Final = ("pin", "slide", "universal", "ball", "free", "weld")
MEMBERS: Final = ("beam", "string", "bar", "shaft")

# tables inside elements
NESTED_TABLES: Final[dict[str, tuple[ElementKey, ...]]] = {
    "shape": _parse_keys("kind:text! sizes:scalars! axis:vector"),
    "end": _keys_of_method(System.end, "", {}),
    "printed": _parse_keys("label:text! residual:text! equals:table by_hand:flag"),
    "event": _parse_keys(
        "expression:text! direction:text stop:flag reset:table impact:scalar name:text "
        "add:rows drop:rows"
    ),
}

# sections other than elements: {name: (type, what)}
SECTIONS: Final[dict[str, tuple[str, str]]] = {
    "name": ("text", "Name of the system."),
    "source": ("text", "The book it comes from."),
    "title": ("text", "Title on pages, if different from the name."),
    "description": ("text", "One sentence about it."),
    "printed": (
        "results",
        "Equations of the source: label, residual = 0, and the derived equations they equal.",
    ),
    "gravity": ("scalar or vector", "A number along minus the axis `up`, or a vector."),
    "up": ("text", "The axis that points up: x, y or z; by default y."),
    "coordinates": (
        "symbols",
        "Generalized coordinates: names in one text, a list, or a table name = unit.",
    ),
    "constants": (
        "values",
        (
            'Constants: name = number, or "2 kg", or a table with value and display; "" for one '
            "without a value."
        ),
    ),
    "inputs": ("symbols", "Quantities known only at run time: names, or a table name = value."),
    "specified": (
        "motions",
        (
            "Prescribed motions: name = an expression in t, or an empty text, or a table with "
            "motion, or with rate or acceleration, an input, and display."
        ),
    ),
    "states": (
        "states",
        (
            "First-order states: name = their rate, which may contain the state itself, or a table "
            "with rate, value and display."
        ),
    ),
    "speeds": (
        "speeds",
        (
            'Speeds: name = an expression linear in the rates, or "u v w" = { of = "B.w", '
            'along = "B" '
            "}."
        ),
    ),
    "expressions": ("expressions", "Names for expressions that are used in others."),
    "displays": ("displays", "What is printed for a symbol: alpha = 'φ_1'."),
    "units": ("units", "The dimensions of symbols that have no value with a unit: x = 'm'."),
    "run": ("settings", "Duration, initial conditions and options of a run."),
    "equilibrium": ("settings", "Guess or range for an equilibrium."),
    "linear": ("settings", "The point about which it is linearized."),
    "optimize": ("settings", "The motion of least cost between given states."),
    "repeat": (
        "repeats",
        "Repeated elements: n of them, with {i}, {i-1} and {i+1} in their names.",
    ),
}
# name = value tables of the sections that say what to do with a system
SETTINGS: Final[dict[str, dict[str, str]]] = {
    "run": {
        "duration": "time",
        "start": "values",
        "guess": "values",
        "values": "values",
        "inputs": "texts",
        "events": "events",
        "t0": "time",
        "rtol": "ratio",
        "atol": "number",
        "max_step": "time",
        "integrator": "text",
        "stabilize": "text",
        "baumgarte_rate": "rate",
        "energy_tolerance": "energy",
        "relative_energy_tolerance": "ratio",
        "keep_energy": "flag",
    },
    "equilibrium": {
        "at": "values",
        "near": "values",
        "box": "ranges",
        "values": "values",
        "inputs": "texts",
    },
    "linear": {"about": "values", "values": "values", "inputs": "texts"},
    "optimize": {
        "duration": "span",
        "minimize": "text",
        "minimize_at_end": "text",
        "start": "limits",
        "end": "limits",
        "bounds": "limits",
        "path": "limits",
        "integrals": "limits",
        "way_points": "nodes",
        "periodic": "names",
        "held": "limits",
        "parameters": "limits",
        "values": "values",
        "inputs": "texts",
        "guess": "curves",
        "starts": "count",
        "intervals": "count",
        "order": "count",
        "rule": "text",
        "tolerance": "number",
        "refine": "flag",
        "form": "text",
        "solver": "text",
    },
}
