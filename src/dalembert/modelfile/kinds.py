"""kind of element → keys → types: the one table behind the reader, the writer, the JSON Schema and the how-to page.

A key is called as the argument of the verb: [spring.S] with k, P, Q, rest is s.spring(k, P, Q, rest=rest, name="S").
In `_keys`, `at:point!` is a key that must be there, `axis:vector` one that may be.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True)
class Key:
    """One key of an element: what kind of value it takes, and whether it must be there."""

    name: str
    type: str
    required: bool = False


@dataclass(frozen=True)
class Kind:
    """A kind of element: [name.X] declares X with these keys; `main` is the key that X = "…" by itself means."""

    name: str
    what: str
    keys: tuple[Key, ...]
    main: str = ""
    # the argument that the name of the element becomes; nothing where it is only a handle in the file
    called: str = "name"

    def key(self, name: str) -> Key | None:
        """The key of that name."""
        return next((k for k in self.keys if k.name == name), None)


# what a value of each type is, in words
TYPES: Final = {
    "scalar": "a number or an expression",
    "scalar or row": "a number, an expression, or the name of a constraint row",
    "number": "a number, or an expression without symbols",
    "vector": "a vector such as 'a*B.x + b*N.y'",
    "point": "the name of a point",
    "frame": "the name of a frame",
    "body": "the name of a body",
    "bodies": "the name of a body, or a list of two",
    "frame or body": "the name of a frame or of a rigid body",
    "axis or frame": "an axis such as 'B.z', or the name of a frame",
    "inertia": "three or six moments along the frame, or an expression such as 'rod_inertia(B.y, m, l)'",
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


def _keys(text: str) -> tuple[Key, ...]:
    keys = []
    for part in text.split():
        name, _, kind = part.partition(":")
        keys.append(Key(name, kind.rstrip("!").replace("_or_", " or "), kind.endswith("!")))
    return tuple(keys)


_MEMBER: Final = "shortening:flag left:end right:end load:vector loose:flag"
_KINDS: Final = (
    Kind("coordinate", "A generalized coordinate that joints and `coordinates` do not make.", _keys("display:text unit:unit"), "display"),
    Kind(
        "frame",
        "A frame turned against another: by an angle about an axis, by successive angles, by direction cosines, by a quaternion.",
        _keys("of:frame angle:scalar axis:vector axes:text angles:scalars through:names cosines:cosines quaternion:scalars name:text"),
    ),
    Kind("point", "A point at an offset from another.", _keys("of:point offset:vector! frame:frame name:text"), "offset"),
    Kind("pin", "A hinge: one angle about an axis.", _keys("at:point! axis:vector coordinate:text display:text"), "at"),
    Kind("slide", "A slider: one distance along an axis.", _keys("at:point! axis:vector coordinate:text display:text"), "at"),
    Kind("universal", "Two angles about successive axes.", _keys("coordinates:names! at:point! axes:text"), called="names"),
    Kind("ball", "Three angles about successive axes, or a quaternion.", _keys("coordinates:names! at:point! axes:text"), called="names"),
    Kind("free", "Six freedoms, three of them angles or a quaternion.", _keys("coordinates:names! at:point axes:text"), called="names"),
    Kind("weld", "The same place and frame, shifted by a fixed offset.", _keys("at:point! offset:vector"), "at", called=""),
    Kind("particle", "A mass at a point.", _keys("mass:scalar! at:point!")),
    Kind("body", "A rigid body.", _keys("mass:scalar! G:point! frame:frame! inertia:inertia! about:point shape:shape")),
    Kind("rod", "A thin uniform rod that hangs from a point along −y of its frame.", _keys("at:point! mass:scalar! length:scalar!")),
    Kind("disk", "A thin uniform disk.", _keys("G:point! frame:frame! mass:scalar! radius:scalar! axis:vector!")),
    Kind("sphere", "A homogeneous sphere.", _keys("G:point! frame:frame! mass:scalar! radius:scalar!")),
    Kind("cylinder", "A solid cylinder.", _keys("G:point! frame:frame! mass:scalar! radius:scalar! length:scalar! axis:vector!")),
    Kind("box", "A solid box with sides along its frame.", _keys("G:point! frame:frame! mass:scalar! a:scalar! b:scalar! c:scalar!")),
    Kind("force", "A force at a point, and its opposite at another.", _keys("F:vector! at:point! reaction:point on:bodies")),
    Kind("torque", "A torque on a body, and its opposite on another.", _keys("T:vector! on:frame_or_body! reaction:frame_or_body")),
    Kind("potential", "A potential energy V(q, t).", _keys("V:scalar!"), "V"),
    Kind("dissipation", "Rayleigh's dissipation function D(q, q').", _keys("D:scalar!"), "D"),
    Kind("generalized_force", "Q along one coordinate, known by its virtual work Q δq.", _keys("q:scalar! Q:scalar!")),
    Kind("virtual_work", "A load by its virtual work, such as 'F*delta(x)'.", _keys("work:text!"), "work"),
    Kind("kinetic_energy", "T(q, q') of a system without bodies.", _keys("T:scalar!"), "T", called=""),
    Kind("spring", "A linear spring between two points.", _keys("k:scalar! P:point! Q:point! rest:scalar on:bodies")),
    Kind("damper", "A linear damper between two points.", _keys("c:scalar! P:point! Q:point! on:bodies")),
    Kind(
        "constrain",
        "expression = 0; with friction, as long as friction holds it.",
        _keys("expression:scalar! redundant:flag on:bodies at:point friction:scalar static:scalar normal:scalar_or_row"),
        "expression",
    ),
    Kind(
        "contact",
        "A point, or a ball about it, on a plane, on a curved ground or on another ball: what touches, slips, sticks and lifts.",
        _keys(
            "at:point! ground:vector through:point ball:point height:text radius:scalars on:body against:body friction:scalar"
            " static:scalar stribeck:scalar along:vector speed:scalar restitution:scalar law:text two_sided:flag"
        ),
        "at",
    ),
    Kind(
        "stop",
        "Bounds of an expression, such as the stops of a joint.",
        _keys("expression:scalar! lower:scalar upper:scalar restitution:scalar law:text"),
    ),
    Kind(
        "friction",
        "Dry friction along a row, under a normal force that is given, or that of a constraint row.",
        _keys("slip:scalar! friction:scalar! normal:scalar_or_row static:scalar stribeck:scalar viscous:scalar"),
    ),
    Kind(
        "roll",
        "A body rolls without slip: its point at `at` is at rest.",
        _keys("body:body at:point! name:text along:text on:body seen:frame friction:scalar static:scalar normal:scalar_or_row"),
        "at",
        called="",
    ),
    Kind("coincide", "Two points coincide.", _keys("P:point! Q:point! seen:frame redundant:rows")),
    Kind("align", "Two axes, or all axes of two frames, stay parallel.", _keys("a:axis_or_frame! b:axis_or_frame! redundant:rows")),
    Kind("close", "A joint that closes a loop.", _keys("P:point! Q:point! joint:text! axis:vector other:vector redundant:rows")),
    Kind("distance", "Two points keep a distance.", _keys("P:point! Q:point! l:scalar! redundant:flag")),
    Kind("gear", "Two coordinates in a fixed ratio.", _keys("driven:scalar! driver:scalar! ratio:scalar! offset:scalar")),
    Kind("screw", "A nut advances by the pitch for every turn.", _keys("distance:scalar! angle:scalar! pitch:scalar! offset:scalar")),
    Kind(
        "beam",
        "A beam that bends; its properties may depend on its place, x_NAME.",
        _keys(
            "at:point! along:vector! bending:vectors! length:scalar! stiffness:scalars! density:scalar! axial:scalar torsion:scalar"
            f" shear:scalars rotary:scalars polar:scalar tension:scalar {_MEMBER}"
        ),
    ),
    Kind(
        "string",
        "A string under tension.",
        _keys(f"at:point! along:vector! bending:vectors! length:scalar! density:scalar! tension:scalar {_MEMBER}"),
    ),
    Kind(
        "bar",
        "A bar that stretches.",
        _keys("at:point! along:vector! length:scalar! stiffness:scalar! density:scalar! left:end right:end load:vector loose:flag"),
    ),
    Kind(
        "shaft",
        "A shaft that twists.",
        _keys("at:point! along:vector! length:scalar! stiffness:scalar! polar:scalar! density:scalar left:end right:end loose:flag"),
    ),
    Kind(
        "discretise",
        "A member of that name in admissible functions, whose amplitudes are coordinates.",
        _keys("functions:functions family:text exact:flag names:table"),
        "functions",
        called="member",
    ),
)
KINDS: Final[dict[str, Kind]] = {kind.name: kind for kind in _KINDS}
JOINTS: Final = ("pin", "slide", "universal", "ball", "free", "weld")
MEMBERS: Final = ("beam", "string", "bar", "shaft")

# tables inside elements
PARTS: Final[dict[str, tuple[Key, ...]]] = {
    "shape": _keys("kind:text! sizes:scalars! axis:vector"),
    "end": _keys(
        "support:text mass:scalar inertia:scalar spring:scalar turning_spring:scalar axial_spring:scalar twisting_spring:scalar"
        " damper:scalar force:vector moment:vector axial:flag twist:flag"
    ),
    "printed": _keys("label:text! residual:text! equals:table by_hand:flag"),
    "event": _keys("expression:text! direction:text stop:flag reset:table impact:scalar name:text"),
}

# what stands beside the elements: {name: (type, what)}
SECTIONS: Final[dict[str, tuple[str, str]]] = {
    "name": ("text", "What the system is called."),
    "source": ("text", "The book it comes from."),
    "title": ("text", "Its title on a page, where that is not its name."),
    "description": ("text", "One sentence about it."),
    "printed": ("results", "What a book prints about it: label, residual = 0, and which derived equations it equals."),
    "gravity": ("scalar or vector", "A number along minus the axis `up`, or a vector."),
    "up": ("text", "The axis that points up: x, y or z; y unless told otherwise."),
    "coordinates": ("symbols", "Generalized coordinates: names in one text, a list, or a table name = unit."),
    "constants": ("values", 'Constants: name = number, or "2 kg", or a table with value and display; "" for one without a value.'),
    "inputs": ("symbols", "Quantities known only at run time: names, or a table name = value."),
    "specified": ("motions", "Prescribed motions: name = an expression in t, or an empty text."),
    "states": (
        "states",
        "First-order states: name = their rate, in which they may stand themselves, or a table with rate, value and display.",
    ),
    "speeds": ("speeds", 'Speeds: name = an expression linear in the rates, or "u v w" = { of = "B.w", along = "B" }.'),
    "expressions": ("expressions", "Names for expressions that are used in others."),
    "displays": ("displays", "What is printed for a symbol: alpha = 'φ_1'."),
    "units": ("units", "The dimensions of symbols that have no value with a unit: x = 'm'."),
    "run": ("settings", "How it is to be set in motion."),
    "equilibrium": ("settings", "Where to look for an equilibrium."),
    "linear": ("settings", "The point about which it is linearized."),
    "repeat": ("repeats", "Elements by counting: n of them, with {i}, {i-1} and {i+1} in their names."),
}
# name = value tables of the sections that say what to do with a system
SETTINGS: Final[dict[str, dict[str, str]]] = {
    "run": {
        "duration": "number",
        "start": "values",
        "guess": "values",
        "values": "values",
        "inputs": "texts",
        "events": "events",
        "t0": "number",
        "rtol": "number",
        "atol": "number",
        "max_step": "number",
        "integrator": "text",
        "stabilize": "text",
        "baumgarte_rate": "number",
        "energy_tolerance": "number",
        "relative_energy_tolerance": "number",
        "keep_energy": "flag",
    },
    "equilibrium": {"at": "values", "near": "values", "box": "ranges", "values": "values", "inputs": "texts"},
    "linear": {"about": "values", "values": "values", "inputs": "texts"},
}
