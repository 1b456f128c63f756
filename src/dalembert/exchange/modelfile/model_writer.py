"""A System as tables: what was declared, in order, in the words of the file."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, Final

from dalembert.errors import Unwritable
from dalembert.exchange.modelfile.element_schema import ELEMENT_TYPES, MEMBERS
from dalembert.exchange.modelfile.expression_writer import (
    creation_order,
    decimal,
    expression_nodes,
    number_text,
    subexpression_definitions,
)
from dalembert.exchange.modelfile.run_settings import Settings, settings_tables
from dalembert.exchange.modelfile.value_writer import Table, ValueWriter
from dalembert.mechanics.geometry.declaration_log import Declaration
from dalembert.mechanics.geometry.frame import Frame
from dalembert.mechanics.model.elements import Body
from dalembert.mechanics.model.flexible_member import Member
from dalembert.mechanics.model.name_rules import split_names
from dalembert.mechanics.model.system import System
from dalembert.symbolic.algebra.scalar import Scalar
from dalembert.symbolic.units.quantities import ascii_unit

_ROW: Final = re.compile(r" (?:[xyz]|(?:about|along) [xyz]|axis [12]|across [12]|right angle)$")
_STOP: Final = re.compile(r", (?:lower|upper)$")
_VISCOUS: Final = re.compile(r", viscous$")
_SYMBOLS: Final = (
    "constant",
    "constants",
    "input",
    "inputs",
    "specified",
    "state",
    "rate",
    "display",
    "units",
)
# digits of a double, which no rule takes for a multiple of π where it is a value
_DOUBLE_DIGITS: Final = 17
_COORDINATE_MAKERS: Final = (
    "pin",
    "slide",
    "universal",
    "ball",
    "free",
    "discretise",
    "coordinate",
)


class ModelWriter(ValueWriter):
    """The tables of one system: `head`, then `elements` in the order in which they were
    declared, then `tail`.
    """

    def __init__(self, s: System, settings: Settings | None = None) -> None:
        super().__init__(s)
        self.settings = (
            settings
            if settings is not None
            else s.settings
            if isinstance(s.settings, Settings)
            else None
        )
        # the forces of contacts come with them
        self.contact_forces = {str(x.name) for c in s.contacts for x in c.forces}
        self.head: Table = {"name": s.name} | ({"source": s.source} if s.source else {})
        self.elements: list[tuple[str, str, Table]] = []
        self.tail: Table = {}
        # operations that exist on the tape when the reader has come here, and definitions that wait
        # for an element
        self.known_nodes: set[int] = set()
        self.last_node = 0
        self.where: Table = {}
        self._write_tables()

    def _write_tables(self) -> None:
        if self.settings is not None:
            self.head |= {
                k: v
                for k, v in (
                    ("title", self.settings.title),
                    ("description", self.settings.description),
                )
                if v
            }
        if self.s.gravity_field is not None:
            self.head["gravity"] = self.vector(self.s.gravity_field.g)
        self._symbols()
        for d in self.s.space.journal.declarations:
            if d.verb not in _SYMBOLS and d.verb != "gravity":
                self._write_declaration(d)
            else:
                self.last_node = d.nodes[1]
        if self.text.named:
            self.tail["expressions"] = dict(self.text.named)
        if self.settings is not None:
            self.tail |= settings_tables(self.settings, self.scalar)

    # ---- symbols -----------------------------------------------------------------------------

    def _symbols(self) -> None:
        s = self.s
        leading = self._leading_coordinates()
        if leading:
            self.head["coordinates"] = leading
        of = {
            kind: [x for x in s.symbols.values() if x.kind == kind]
            for kind in ("constant", "input", "specified")
        }
        self.head |= {
            "constants": {x.name: self._value(x.name, x.value) for x in of["constant"]},
            "inputs": {
                x.name: self._value(x.name, x.value)
                for x in of["input"]
                if x.name not in self.contact_forces
            },
            "specified": {
                x.name: {x.driven_rate: x.driver.name}
                if x.driver is not None
                else ""
                if x.motion is None
                else self.scalar(x.motion)
                for x in of["specified"]
            },
            "states": {n: self._state(n, rate) for n, rate in s.state_rates.items()},
            "displays": dict(s.space.tape.displays),
            "units": {
                n: ascii_unit(d) for n, d in s.dimensions.items() if s.symbols[n].value is None
            },
        }
        self.head = {key: value for key, value in self.head.items() if value != {}}

    def _state(self, name: str, rate: Scalar) -> Any:
        value = self.s.symbols[name].value
        return (
            self.scalar(rate)
            if value is None
            else {"rate": self.scalar(rate), "value": self._value(name, value)}
        )

    def _leading_coordinates(self) -> list[str]:
        """The coordinates that were declared before anything else made one."""
        names: list[str] = []
        for d in self.s.space.journal.declarations:
            if d.verb == "coordinates":
                names += split_names(d.arguments["names"])
            elif d.verb == "coordinate":
                names.append(d.arguments["name"])
            elif d.verb in _COORDINATE_MAKERS:
                break
        return names

    def _value(self, name: str, value: Any) -> Any:
        if value is None:
            return ""
        if name in self.s.dimensions:
            return f"{number_text(value)} {ascii_unit(self.s.dimensions[name]) or 'rad'}"
        short = decimal(value, _DOUBLE_DIGITS)
        return str(value) if short is None else int(value) if value.denominator == 1 else short

    # ---- declarations ------------------------------------------------------------------------

    def _write_declaration(self, d: Declaration) -> None:
        if isinstance(axis := d.arguments.get("axis"), str):
            # "z" is an axis of the body's frame, of the frame of a joint, or of the one that is
            # rotated
            at = d.arguments.get("at")
            frame = d.arguments.get("frame") or (d.owner if at is None else at.frame)
            d = replace(d, arguments={**d.arguments, "axis": frame.named_axis(axis)})
        roots = [i for value in d.arguments.values() for i in expression_nodes(value)]
        if d.verb not in ("speed", "speeds", "discretise"):
            self.where = subexpression_definitions(
                self.text, roots, self.known_nodes, range(self.last_node, d.nodes[0])
            )
        self._write_element(d)
        self.known_nodes.update(
            creation_order(self.s.space.tape, roots, self.known_nodes), range(*d.nodes)
        )
        self.last_node = d.nodes[1]

    def _write_element(self, d: Declaration) -> None:
        write: Callable[[Declaration], Any] | None = getattr(self, f"_{d.verb}", None)
        if write is not None:
            write(d)
        elif d.verb in MEMBERS:
            self._member(d.result)
        elif d.verb not in ELEMENT_TYPES:
            msg = (
                f"save: model files do not support {d.verb}(…) so far; describe it by other "
                f"elements "
                f"to write it down"
            )
            raise Unwritable(msg)
        else:
            self._append_element(d.verb, self._label(d), self._arguments(d.verb, d.arguments))
            if isinstance(d.result, Body):
                self.handles.body(d.result)

    def _append_element(self, kind: str, handle: str, table: Table) -> None:
        self.elements.append((kind, handle, {"where": self.where} | table if self.where else table))
        self.where = {}

    def _arguments(self, verb: str, given: Mapping[str, Any]) -> Table:
        keys = [k for k in ELEMENT_TYPES[verb].keys if given.get(k.name) is not None]
        return {
            k.name: self.value(k.type, given[k.name])
            for k in keys
            if (given[k.name] is not False or k.type == "scalar or flag") and given[k.name] != ()
        }

    def _label(self, d: Declaration) -> str:
        """The name of an element, given or generated: its rows and loads are called after it."""
        if d.arguments.get("name") is not None:
            return str(d.arguments["name"])
        name: str = d.added[0].name
        ending = {"stop": _STOP, "friction": _VISCOUS}.get(
            d.verb, _ROW if d.verb in ("coincide", "align", "close") else None
        )
        return name if ending is None else ending.sub("", name)

    def _coordinate(self, d: Declaration) -> None:
        self._write_coordinates([d.arguments["name"]])

    def _coordinates(self, d: Declaration) -> None:
        self._write_coordinates(split_names(d.arguments["names"]))

    def _write_coordinates(self, names: list[str]) -> None:
        for name in names:
            if name not in self.head.get("coordinates", ()):
                self._append_element("coordinate", name, {})

    def _generalized_force(self, d: Declaration) -> None:
        (load,) = d.added
        ((F, _),), (q,) = load.forces, load.coordinates
        (components,) = F.parts.values()
        self._append_element(
            "generalized_force",
            load.name,
            {"q": str(q.name), "Q": self.scalar(Scalar(self.s.space.tape, components[0]))},
        )

    def _kinetic_energy(self, _: Declaration) -> None:
        self._append_element(
            "kinetic_energy", "T", {"T": self.scalar(self.s.given_kinetic_energies[-1])}
        )

    def _speed(self, d: Declaration) -> None:
        self._speeds(d)

    def _speeds(self, d: Declaration) -> None:
        table = next((t for kind, _, t in self.elements if kind == "speeds"), None)
        if table is None:
            table = {}
            self._append_element("speeds", "", table)
        made = d.result if isinstance(d.result, tuple) else (d.result,)
        speeds = [next(x for x in self.s.speed_list if x.scalar == u) for u in made]
        first = speeds[0]
        if first.along is not None:
            of = None
            if first.of is not None:
                of = (
                    f"{self.handles.frame(first.of)}.w"
                    if isinstance(first.of, Frame)
                    else f"{self.handles.point(first.of)}.v"
                )
            table[" ".join(x.name for x in speeds)] = {
                "of": of or self.vector(d.arguments["vector"]),
                "along": self.handles.frame(first.along),
            }
            return
        for x in speeds:
            table[x.name] = self.scalar(x.definition)

    def _rotated(self, d: Declaration) -> None:
        self._frame(
            d,
            d.result,
            {"angle": self.scalar(d.arguments["angle"]), "axis": self.vector(d.arguments["axis"])},
        )

    def _rotations(self, d: Declaration) -> None:
        angles = [self.scalar(a) for a in d.arguments["angles"]]
        through = [self.handles.new_frame(F) for F in d.result[:-1]]
        if through != [F.name for F in d.result[:-1]]:
            # frames whose names cannot be used in an expression are written separately
            self._write_rotations(d, angles)
            return
        table = {"axes": d.arguments["axes"], "angles": angles} | (
            {"through": through} if through else {}
        )
        self._frame(d, d.result[-1], table)

    def _write_rotations(self, d: Declaration, angles: list[Any]) -> None:
        parent = d.owner
        for k, (F, angle) in enumerate(zip(d.result, angles, strict=True)):
            handle = self.handles.frames.get(id(F)) or self.handles.new_frame(F)
            table = {
                "of": self.handles.frame(parent),
                "angle": angle,
                "axis": f"{self.handles.frame(parent)}.{d.arguments['axes'][k]}",
            }
            self._append_element(
                "frame", handle, table | ({"name": F.name} if handle != F.name else {})
            )
            parent = F

    def _oriented(self, d: Declaration) -> None:
        self._frame(
            d,
            d.result,
            {"cosines": [[self.scalar(e) for e in row] for row in d.arguments["cosines"]]},
        )

    def _quaternion(self, d: Declaration) -> None:
        self._frame(
            d, d.result, {"quaternion": [self.scalar(d.arguments[f"e{k}"]) for k in range(4)]}
        )

    def _frame(self, d: Declaration, F: Frame, table: Table) -> None:
        of = {} if d.owner is self.s.N else {"of": self.handles.frame(d.owner)}
        handle = self.handles.new_frame(F)
        self._append_element(
            "frame", handle, of | table | ({"name": F.name} if handle != F.name else {})
        )

    def _offset(self, d: Declaration) -> None:
        of = {} if d.owner is self.s.O else {"of": self.handles.point(d.owner)}
        r, P = d.arguments["r"], d.result
        natural = max(r.parts, key=lambda f: (f.depth, f.number), default=d.owner.frame)
        frame = {} if P.frame is natural else {"frame": self.handles.frame(P.frame)}
        handle = self.handles.new_point(P)
        self._append_element(
            "point",
            handle,
            of
            | {"offset": self.vector(r)}
            | frame
            | ({"name": P.name} if handle != P.name else {}),
        )

    def _pin(self, d: Declaration) -> None:
        q = d.arguments["name"]
        handle = self.handles.joint(d.result, q)
        self._append_element(
            d.verb,
            handle,
            self._arguments(d.verb, d.arguments) | ({"coordinate": q} if handle != q else {}),
        )

    _slide = _pin

    def _ball(self, d: Declaration) -> None:
        names = split_names(d.arguments["names"])
        handle = self.handles.joint(d.result, f"{d.verb}_{names[0]}")
        self._append_element(
            d.verb, handle, {"coordinates": " ".join(names)} | self._arguments(d.verb, d.arguments)
        )

    _universal = _free = _ball

    def _weld(self, d: Declaration) -> None:
        self._append_element(
            "weld", self.handles.joint(d.result, "weld"), self._arguments("weld", d.arguments)
        )

    def _roll(self, d: Declaration) -> None:
        body: Body = d.arguments["body"]
        used = [handle for kind, handle, _ in self.elements if kind == "roll"]
        handle = body.name if body.name not in used else f"{body.name} {len(used) + 1}"
        table = self._arguments(
            "roll", {k: v for k, v in d.arguments.items() if k != "body" or handle != body.name}
        )
        self._append_element("roll", handle, table)

    def _discretise(self, d: Declaration) -> None:
        functions = d.arguments.get("functions", 3)
        each = functions.values() if isinstance(functions, Mapping) else (functions,)
        if any(not isinstance(f, int) for f in each):
            msg = (
                f"save: the functions of member {d.arguments['member'].name!r} are Python "
                "functions; a file can give their number, not the functions"
            )
            raise Unwritable(msg)
        table = {"functions": dict(functions) if isinstance(functions, Mapping) else functions}
        table |= {k: v for k in ("family", "names") if (v := d.arguments.get(k)) is not None}
        if d.arguments.get("exact") is False:
            table["exact"] = False
        self._append_element("discretise", d.arguments["member"].name, table)

    def _member(self, m: Member) -> None:
        stiffness = {"bar": m.axial, "shaft": m.torsion}.get(m.kind, m.stiffness or None)
        own = {"stiffness": stiffness} | {
            k.name: getattr(m, k.name) for k in ELEMENT_TYPES[m.kind].keys if k.name != "stiffness"
        }
        own["bending"] = m.bending
        table = {}
        for key in ELEMENT_TYPES[m.kind].keys:
            given = own[key.name]
            if given is not None and given is not False and given != ():
                table[key.name] = self.value(key.type, given)
        self._append_element(m.kind, m.name, table)
