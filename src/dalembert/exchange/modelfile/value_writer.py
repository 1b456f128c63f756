"""A value of a System as the file has it: numbers, expressions, vectors, names of things, tables
inside elements.

Frames, points and bodies are called by their own names where these can be used, each once.
"""

from __future__ import annotations

import re
from typing import Any, Final

from dalembert.errors import Unwritable
from dalembert.exchange.modelfile.element_schema import NESTED_TABLES
from dalembert.exchange.modelfile.expression_writer import ExpressionWriter, decimal
from dalembert.mechanics.geometry.declaration_log import PythonFunction
from dalembert.mechanics.geometry.frame import Frame
from dalembert.mechanics.geometry.point import Point
from dalembert.mechanics.geometry.vector import Dyadic, Vector
from dalembert.mechanics.model.elements import Body, Shape
from dalembert.mechanics.model.flexible_member import End
from dalembert.mechanics.model.name_rules import unused_name
from dalembert.mechanics.model.system import System
from dalembert.symbolic.algebra.scalar import Scalar, as_node

Table = dict[str, Any]

_IDENTIFIER: Final = re.compile(r"[^\W\d]\w*")


class ElementNames:
    """What each thing of a system is called in its file."""

    def __init__(self, s: System) -> None:
        self.frames: dict[int, str] = {id(s.N): "N"}
        self.points: dict[int, str] = {id(s.O): "O"}

    def new_frame(self, F: Frame) -> str:
        """A name that can be used in an expression."""
        name = F.name if _IDENTIFIER.fullmatch(F.name) else re.sub(r"\W+", "_", F.name).strip("_")
        if not _IDENTIFIER.fullmatch(name):
            name = f"F_{name}"
        return self._register(self.frames, F, name, "_")

    def new_point(self, P: Point) -> str:
        """Its own name, or with a number."""
        return self._register(self.points, P, P.name.strip() or "P", " ")

    def joint(self, P: Point, wanted: str) -> str:
        """One name for the point of a joint and for the frame that it carries."""
        self.points[id(P)] = name = unused_name(
            wanted, {*self.frames.values(), *self.points.values()}
        )
        self.frames.setdefault(id(P.frame), name)
        return name

    def body(self, b: Body) -> None:
        """The points that come with a body."""
        self.points.setdefault(id(b.G), f"{b.name}.G")
        for corner, P in b.points.items():
            self.points[id(P)] = f"{b.name}.{corner}"

    @staticmethod
    def _register(names: dict[int, str], thing: Any, wanted: str, joint: str) -> str:
        names[id(thing)] = name = unused_name(wanted, names.values(), joint)
        return name

    def frame(self, F: Frame) -> str:
        """The name of a frame."""
        return _lookup_name(self.frames, F, "frame")

    def point(self, P: Point) -> str:
        """The name of a point."""
        return _lookup_name(self.points, P, "point")


def _lookup_name(names: dict[int, str], thing: Any, kind: str) -> str:
    if id(thing) not in names:
        msg = (
            f"save: the {kind} {thing.name} was made inside another declaration; declare it by "
            f"itself, so that a file can name it"
        )
        raise Unwritable(msg)
    return names[id(thing)]


class ValueWriter:
    """The values of one system, by the names that its elements have in the file."""

    def __init__(self, s: System) -> None:
        self.s, self.handles = s, ElementNames(s)
        self.text = ExpressionWriter(
            s.space.tape,
            [*s.used_names, *(f.name for f in s.space.frames), *(p.name for p in s.space.points)],
        )

    def value(self, kind: str, given: Any) -> Any:
        """A value as the file has it, by the type of its key."""
        if isinstance(given, PythonFunction):
            msg = "save: a Python function is given where a file needs an expression"
            raise Unwritable(msg)
        if kind == "scalar" or (
            kind in ("scalar or row", "scalar or flag") and not isinstance(given, str | bool)
        ):
            return self.scalar(given)
        if isinstance(given, Vector):
            return self.vector(given)
        if isinstance(given, Body):
            return given.name
        if isinstance(given, Dyadic):
            return self._dyadic(given)
        if isinstance(given, Frame):
            return self.handles.frame(given)
        if kind == "point":
            return self.handles.point(given)
        if kind in ("scalars", "vectors"):
            several = (
                [self.value(kind[:-1], x) for x in given]
                if isinstance(given, tuple | list)
                else [self.scalar(given)]
            )
            return several[0] if len(set(map(str, several))) == 1 and len(several) == 1 else several
        if kind == "bodies":
            return ["" if b is None else b.name for b in given]
        if isinstance(given, Shape):
            return self._shape(given)
        if isinstance(given, End):
            return self._end(given)
        return list(given) if isinstance(given, tuple) else given

    def _shape(self, shape: Shape) -> Table:
        table: Table = {"kind": shape.kind, "sizes": [self.scalar(x) for x in shape.sizes]}
        return table | ({} if shape.axis is None else {"axis": self.vector(shape.axis)})

    def _end(self, end: End) -> Any:
        keys = [
            k
            for k in NESTED_TABLES["end"]
            if k.name != "support" and getattr(end, k.name) is not None
        ]
        if not keys:
            return end.support
        return {"support": end.support} | {
            k.name: self.value(k.type, getattr(end, k.name)) for k in keys
        }

    def scalar(self, e: Any) -> Any:
        """A number, where it is a short one, or the text of an expression."""
        tape = self.s.space.tape
        i = as_node(tape, e)
        value = tape.value(i)
        short = None if value is None else decimal(value)
        if value is None or short is None:
            return self.text(i)
        return int(value) if value.denominator == 1 else short

    def vector(self, v: Vector) -> str:
        """x*N.x + a*B.y"""
        tape, text = self.s.space.tape, ""
        for F, components in v.on(tape).parts.items():
            for axis, c in zip("xyz", components, strict=True):
                if c == tape.zero:
                    continue
                op, inside, _ = tape.nodes[c]
                minus = op == "neg" or (op == "const" and inside < 0)
                k = tape.neg(c) if minus else c
                term = (
                    f"{self.handles.frame(F)}.{axis}"
                    if k == tape.one
                    else f"{self.text.factor(k)}*{self.handles.frame(F)}.{axis}"
                )
                text += (
                    (" - " if minus else " + ") + term if text else ("-" if minus else "") + term
                )
        return text or "0"

    def _dyadic(self, I: Dyadic) -> str:
        entries = [self.scalar(Scalar(I.tape, i)) for i in I.entries()]
        while len(entries) > 3 and entries[-1] == 0:
            entries.pop()
        return f"inertia({self.handles.frame(I.frame)}, {', '.join(map(str, entries))})"
