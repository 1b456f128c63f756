"""A System as tables: what was declared, in order, in the words of the file."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, Final

from dalembert.errors import Unwritable
from dalembert.exchange.modelfile.element_schema import KINDS, MEMBERS
from dalembert.exchange.modelfile.expression_writer import as_read, decimal, definitions, nodes_in, number_text
from dalembert.exchange.modelfile.run_settings import Settings, settings_tables
from dalembert.exchange.modelfile.value_writer import Table, ValueText
from dalembert.mechanics.geometry.declaration_log import Declared
from dalembert.mechanics.geometry.frame import Frame
from dalembert.mechanics.model.elements import Body
from dalembert.mechanics.model.flexible_member import Member
from dalembert.mechanics.model.name_rules import split
from dalembert.mechanics.model.system import System
from dalembert.symbolic.algebra.scalar import Scalar
from dalembert.symbolic.units.quantities import ascii_unit

_ROW: Final = re.compile(r" (?:[xyz]|(?:about|along) [xyz]|axis [12]|across [12]|right angle)$")
_STOP: Final = re.compile(r", (?:lower|upper)$")
_VISCOUS: Final = re.compile(r", viscous$")
_SYMBOLS: Final = ("constant", "constants", "input", "inputs", "specified", "state", "rate", "display", "units")
# digits of a double, which no rule takes for a multiple of π where it is a value
_DOUBLE: Final = 17
_MADE_BY: Final = ("pin", "slide", "universal", "ball", "free", "discretise", "coordinate")


class Writer(ValueText):
    """The tables of one system: `head`, then `elements` in the order in which they were declared, then `tail`."""

    def __init__(self, s: System, settings: Settings | None = None) -> None:
        super().__init__(s)
        self.settings = settings if settings is not None else s.settings if isinstance(s.settings, Settings) else None
        # the forces of contacts come with them
        self.found = {str(x.name) for c in s.contacts for x in (c.N, c.T) if x is not None}
        self.head: Table = {"name": s.name} | ({"source": s.source} if s.source else {})
        self.elements: list[tuple[str, str, Table]] = []
        self.tail: Table = {}
        # operations that exist on the tape when the reader has come here, and definitions that wait for an element
        self.existing: set[int] = set()
        self.typed = 0
        self.where: Table = {}
        self._write()

    def _write(self) -> None:
        if self.settings is not None:
            self.head |= {k: v for k, v in (("title", self.settings.title), ("description", self.settings.description)) if v}
        if self.s.field is not None:
            self.head["gravity"] = self.vector(self.s.field.g)
        self._symbols()
        for d in self.s.space.journal.declared:
            if d.verb not in _SYMBOLS and d.verb != "gravity":
                self._declared(d)
            else:
                self.typed = d.nodes[1]
        if self.text.named:
            self.tail["expressions"] = dict(self.text.named)
        if self.settings is not None:
            self.tail |= settings_tables(self.settings, self.scalar)

    # ---- symbols -----------------------------------------------------------------------------

    def _symbols(self) -> None:
        s = self.s
        leading = self._leading()
        if leading:
            self.head["coordinates"] = leading
        of = {kind: [x for x in s.symbols.values() if x.kind == kind] for kind in ("constant", "input", "specified")}
        self.head |= {
            "constants": {x.name: self._value(x.name, x.value) for x in of["constant"]},
            "inputs": {x.name: self._value(x.name, x.value) for x in of["input"] if x.name not in self.found},
            "specified": {x.name: "" if x.motion is None else self.scalar(x.motion) for x in of["specified"]},
            "states": {n: self._state(n, rate) for n, rate in s.state_rates.items()},
            "displays": dict(s.space.tape.displays),
            "units": {n: ascii_unit(d) for n, d in s.dimensions.items() if s.symbols[n].value is None},
        }
        self.head = {key: value for key, value in self.head.items() if value != {}}

    def _state(self, name: str, rate: Scalar) -> Any:
        value = self.s.symbols[name].value
        return self.scalar(rate) if value is None else {"rate": self.scalar(rate), "value": self._value(name, value)}

    def _leading(self) -> list[str]:
        """The coordinates that were declared before anything else made one."""
        names: list[str] = []
        for d in self.s.space.journal.declared:
            if d.verb == "coordinates":
                names += split(d.arguments["names"])
            elif d.verb == "coordinate":
                names.append(d.arguments["name"])
            elif d.verb in _MADE_BY:
                break
        return names

    def _value(self, name: str, value: Any) -> Any:
        if value is None:
            return ""
        if name in self.s.dimensions:
            return f"{number_text(value)} {ascii_unit(self.s.dimensions[name]) or 'rad'}"
        short = decimal(value, _DOUBLE)
        return str(value) if short is None else int(value) if value.denominator == 1 else short

    # ---- declarations ------------------------------------------------------------------------

    def _declared(self, d: Declared) -> None:
        if isinstance(axis := d.arguments.get("axis"), str):
            # "z" is an axis of the body's frame, of the frame that a joint rides on, or of the one that is turned
            at = d.arguments.get("at")
            frame = d.arguments.get("frame") or (d.owner if at is None else at.frame)
            d = replace(d, arguments={**d.arguments, "axis": frame.named_axis(axis)})
        roots = [i for value in d.arguments.values() for i in nodes_in(value)]
        if d.verb not in ("speed", "speeds", "discretise"):
            self.where = definitions(self.text, roots, self.existing, range(self.typed, d.nodes[0]))
        self._written(d)
        self.existing.update(as_read(self.s.space.tape, roots, self.existing), range(*d.nodes))
        self.typed = d.nodes[1]

    def _written(self, d: Declared) -> None:
        write: Callable[[Declared], Any] | None = getattr(self, f"_{d.verb}", None)
        if write is not None:
            write(d)
        elif d.verb in MEMBERS:
            self._member(d.made)
        elif d.verb not in KINDS:
            msg = f"save: a file has no word for {d.verb}(…) so far; describe it by other elements to write it down"
            raise Unwritable(msg)
        else:
            self._element(d.verb, self._label(d), self._arguments(d.verb, d.arguments))
            if isinstance(d.made, Body):
                self.handles.body(d.made)

    def _element(self, kind: str, handle: str, table: Table) -> None:
        self.elements.append((kind, handle, {"where": self.where} | table if self.where else table))
        self.where = {}

    def _arguments(self, verb: str, given: Mapping[str, Any]) -> Table:
        keys = [k for k in KINDS[verb].keys if given.get(k.name) is not None]
        return {k.name: self.value(k.type, given[k.name]) for k in keys if given[k.name] is not False and given[k.name] != ()}

    def _label(self, d: Declared) -> str:
        """What an element is called, also where nobody said so: its rows and loads are called after it."""
        if d.arguments.get("name") is not None:
            return str(d.arguments["name"])
        name: str = d.added[0].name
        ending = {"stop": _STOP, "friction": _VISCOUS}.get(d.verb, _ROW if d.verb in ("coincide", "align", "close") else None)
        return name if ending is None else ending.sub("", name)

    def _coordinate(self, d: Declared) -> None:
        self._late([d.arguments["name"]])

    def _coordinates(self, d: Declared) -> None:
        self._late(split(d.arguments["names"]))

    def _late(self, names: list[str]) -> None:
        for name in names:
            if name not in self.head.get("coordinates", ()):
                self._element("coordinate", name, {})

    def _generalized_force(self, d: Declared) -> None:
        (load,) = d.added
        ((F, _),), (q,) = load.forces, load.along
        (components,) = F.parts.values()
        self._element("generalized_force", load.name, {"q": str(q.name), "Q": self.scalar(Scalar(self.s.space.tape, components[0]))})

    def _kinetic_energy(self, _: Declared) -> None:
        self._element("kinetic_energy", "T", {"T": self.scalar(self.s.kinetic[-1])})

    def _speed(self, d: Declared) -> None:
        self._speeds(d)

    def _speeds(self, d: Declared) -> None:
        table = next((t for kind, _, t in self.elements if kind == "speeds"), None)
        if table is None:
            table = {}
            self._element("speeds", "", table)
        made = d.made if isinstance(d.made, tuple) else (d.made,)
        speeds = [next(x for x in self.s.speed_list if x.scalar == u) for u in made]
        first = speeds[0]
        if first.along is not None:
            of = None
            if first.of is not None:
                of = f"{self.handles.frame(first.of)}.w" if isinstance(first.of, Frame) else f"{self.handles.point(first.of)}.v"
            table[" ".join(x.name for x in speeds)] = {
                "of": of or self.vector(d.arguments["vector"]),
                "along": self.handles.frame(first.along),
            }
            return
        for x in speeds:
            table[x.name] = self.scalar(x.definition)

    def _rotated(self, d: Declared) -> None:
        self._frame(d, d.made, {"angle": self.scalar(d.arguments["angle"]), "axis": self.vector(d.arguments["axis"])})

    def _rotations(self, d: Declared) -> None:
        angles = [self.scalar(a) for a in d.arguments["angles"]]
        through = [self.handles.new_frame(F) for F in d.made[:-1]]
        if through != [F.name for F in d.made[:-1]]:
            # frames whose names cannot stand in an expression are written one by one
            self._one_by_one(d, angles)
            return
        table = {"axes": d.arguments["axes"], "angles": angles} | ({"through": through} if through else {})
        self._frame(d, d.made[-1], table)

    def _one_by_one(self, d: Declared, angles: list[Any]) -> None:
        parent = d.owner
        for k, (F, angle) in enumerate(zip(d.made, angles, strict=True)):
            handle = self.handles.frames.get(id(F)) or self.handles.new_frame(F)
            table = {"of": self.handles.frame(parent), "angle": angle, "axis": f"{self.handles.frame(parent)}.{d.arguments['axes'][k]}"}
            self._element("frame", handle, table | ({"name": F.name} if handle != F.name else {}))
            parent = F

    def _oriented(self, d: Declared) -> None:
        self._frame(d, d.made, {"cosines": [[self.scalar(e) for e in row] for row in d.arguments["cosines"]]})

    def _quaternion(self, d: Declared) -> None:
        self._frame(d, d.made, {"quaternion": [self.scalar(d.arguments[f"e{k}"]) for k in range(4)]})

    def _frame(self, d: Declared, F: Frame, table: Table) -> None:
        of = {} if d.owner is self.s.N else {"of": self.handles.frame(d.owner)}
        handle = self.handles.new_frame(F)
        self._element("frame", handle, of | table | ({"name": F.name} if handle != F.name else {}))

    def _offset(self, d: Declared) -> None:
        of = {} if d.owner is self.s.O else {"of": self.handles.point(d.owner)}
        r, P = d.arguments["r"], d.made
        natural = max(r.parts, key=lambda f: (f.depth, f.number), default=d.owner.frame)
        frame = {} if P.frame is natural else {"frame": self.handles.frame(P.frame)}
        handle = self.handles.new_point(P)
        self._element("point", handle, of | {"offset": self.vector(r)} | frame | ({"name": P.name} if handle != P.name else {}))

    def _pin(self, d: Declared) -> None:
        q = d.arguments["name"]
        handle = self.handles.joint(d.made, q)
        self._element(d.verb, handle, self._arguments(d.verb, d.arguments) | ({"coordinate": q} if handle != q else {}))

    _slide = _pin

    def _ball(self, d: Declared) -> None:
        names = split(d.arguments["names"])
        handle = self.handles.joint(d.made, f"{d.verb}_{names[0]}")
        self._element(d.verb, handle, {"coordinates": " ".join(names)} | self._arguments(d.verb, d.arguments))

    _universal = _free = _ball

    def _weld(self, d: Declared) -> None:
        self._element("weld", self.handles.joint(d.made, "weld"), self._arguments("weld", d.arguments))

    def _roll(self, d: Declared) -> None:
        body: Body = d.arguments["body"]
        used = [handle for kind, handle, _ in self.elements if kind == "roll"]
        handle = body.name if body.name not in used else f"{body.name} {len(used) + 1}"
        table = self._arguments("roll", {k: v for k, v in d.arguments.items() if k != "body" or handle != body.name})
        self._element("roll", handle, table)

    def _discretise(self, d: Declared) -> None:
        functions = d.arguments.get("functions", 3)
        each = functions.values() if isinstance(functions, Mapping) else (functions,)
        if any(not isinstance(f, int) for f in each):
            msg = f"save: the functions of member {d.arguments['member'].name!r} are a program; a file can say how many, not which"
            raise Unwritable(msg)
        table = {"functions": dict(functions) if isinstance(functions, Mapping) else functions}
        table |= {k: v for k in ("family", "names") if (v := d.arguments.get(k)) is not None}
        if d.arguments.get("exact") is False:
            table["exact"] = False
        self._element("discretise", d.arguments["member"].name, table)

    def _member(self, m: Member) -> None:
        stiffness = {"bar": m.axial, "shaft": m.torsion}.get(m.kind, m.stiffness or None)
        own = {"stiffness": stiffness} | {k.name: getattr(m, k.name) for k in KINDS[m.kind].keys if k.name != "stiffness"}
        own["bending"] = m.bending
        table = {}
        for key in KINDS[m.kind].keys:
            given = own[key.name]
            if given is not None and given is not False and given != ():
                table[key.name] = self.value(key.type, given)
        self._element(m.kind, m.name, table)
