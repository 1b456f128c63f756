"""a*B.x + x'*N.y: expressions of scalars, vectors, frames and points from text, without running any
of it.

B.x B.y B.z   the axes of a frame          B.w     its angular velocity
P.v           the velocity of a point      P - Q   the vector from Q to P
a @ b         dot product                  cross(a, b)
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final, Protocol

from dalembert.errors import DalembertError
from dalembert.foundation.deferred_dataclass import dataclass
from dalembert.foundation.suggestions import suggest_name
from dalembert.mechanics.geometry import solid_inertia
from dalembert.mechanics.geometry.contact_points import ellipsoid_contact, ring_contact
from dalembert.mechanics.geometry.frame import Frame
from dalembert.mechanics.geometry.point import Point
from dalembert.mechanics.geometry.vector import Dyadic, Vector
from dalembert.symbolic.algebra import parser
from dalembert.symbolic.algebra.functions import Condition, ValuePair
from dalembert.symbolic.algebra.parser import TermBuilder, is_condition
from dalembert.symbolic.algebra.scalar import Scalar
from dalembert.symbolic.algebra.tokenizer import PRIMES, Scan, refuse, short

AXES: Final = ("x", "y", "z", "w")
_WORDS: Final = {
    Scalar: "a number",
    Vector: "a vector",
    Frame: "a frame",
    Point: "a point",
    Dyadic: "an inertia",
}
# functions in addition to those of numbers: how many arguments they take, at least and at most
FUNCTIONS: Final[dict[str, tuple[int, int, Callable[..., Any]]]] = {
    "cross": (2, 2, lambda a, b: a.cross(b)),
    "inertia": (4, 7, solid_inertia.inertia),
    "rod_inertia": (3, 3, solid_inertia.rod_inertia),
    "disk_inertia": (3, 3, solid_inertia.disk_inertia),
    "sphere_inertia": (3, 3, solid_inertia.sphere_inertia),
    "cylinder_inertia": (4, 4, solid_inertia.cylinder_inertia),
    "box_inertia": (5, 5, solid_inertia.box_inertia),
    "ellipsoid_contact": (5, 5, ellipsoid_contact),
    "ring_contact": (3, 4, ring_contact),
}


_FRAME_FIRST: Final = frozenset({"inertia", "sphere_inertia", "box_inertia"})


class NameResolver(Protocol):
    """What names stand for; None where nothing has that name. Asking may declare what was not
    declared yet.
    """

    def scalar(self, name: str) -> Scalar | None: ...
    def frame(self, name: str) -> Frame | None: ...
    def point(self, name: str) -> Point | None: ...
    def known_names(self) -> list[str]: ...


def parse_expression(
    text: str, names: NameResolver, tape: Any, columns: dict[int, int] | None = None
) -> Any:
    """The scalar, vector, frame, point or inertia that a text means; `columns` learns where scalars
    begin.

    At i is where the scalar of that node begins; at ~i the last term of a sum, or the vector that
    has it as a component.
    """
    reader = _ExpressionReader(
        text, _Scalars(names), tape, parser.FUNCTIONS, names, {} if columns is None else columns
    )
    total: Any = None
    for minus, at, skeleton in Scan(text, vectors=True).terms():
        e = reader.term(at, skeleton)
        total = (
            (-e if minus else e)
            if total is None
            else reader.combine(ast.Sub() if minus else ast.Add(), total, e, at)
        )
    return total


@dataclass(frozen=True)
class _Scalars(Mapping[str, Scalar]):
    """The names of scalars as the reader of terms asks for them."""

    names: NameResolver

    def __getitem__(self, name: str) -> Scalar:
        e = self.names.scalar(name)
        if e is None:
            raise KeyError(name)
        return e

    def __iter__(self) -> Iterator[str]:
        return iter(self.names.known_names())

    def __len__(self) -> int:
        return len(self.names.known_names())


@dataclass(frozen=True)
class _ExpressionReader(TermBuilder):
    """Terms whose operands may be vectors, frames and points."""

    things: NameResolver
    columns: dict[int, int]

    def _value(self, node: ast.expr, args: list[Any], offset: int) -> Any:
        e = self._evaluate_operator(node, args, offset)
        if isinstance(e, Scalar):
            self.columns.setdefault(e.i, node.col_offset + offset + 1)
        elif isinstance(e, Vector) and not (
            isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add | ast.Sub)
        ):
            self._note_column(e, node.col_offset + offset)
        return e

    def _note_column(self, e: Any, at: int) -> None:
        nodes = (
            [e.i]
            if isinstance(e, Scalar)
            else [i for part in e.parts.values() for i in part]
            if isinstance(e, Vector)
            else []
        )
        begin = at + len(self.text[at:]) - len(self.text[at:].lstrip())
        for i in nodes:
            self.columns.setdefault(~i, begin + 1)

    def _evaluate_operator(self, node: ast.expr, args: list[Any], offset: int) -> Any:
        if is_condition(node):
            return super()._value(node, args, offset)
        if isinstance(node, ast.BinOp) and not isinstance(node.op, ast.Pow):
            self._refuse_conditions(args, node.col_offset + offset)
            return self.combine(node.op, args[0], args[1], node.right.col_offset + offset)
        if isinstance(node, ast.UnaryOp) and not isinstance(
            args[0], Scalar | Vector | Condition | ValuePair
        ):
            refuse(f"a sign before {_type_name(args[0])}", node.col_offset + offset)
        if isinstance(node, ast.BinOp):
            for e in args:
                if not isinstance(e, Scalar):
                    refuse(
                        f"a power of {_type_name(e)}",
                        node.right.col_offset + offset,
                        "write a @ a for the square of a vector",
                    )
        return super()._value(node, args, offset)

    def combine(self, operator: ast.operator, a: Any, b: Any, at: int) -> Any:
        """a + b, a − b, a b, a / b, a · b where these have a meaning."""
        if (
            isinstance(a, Scalar)
            and isinstance(b, Scalar)
            and not isinstance(operator, ast.MatMult)
        ):
            return self._apply_operator(operator, a, b, at)
        allowed = _PAIRS.get(type(operator), ())
        if not any(isinstance(a, x) and isinstance(b, y) for x, y in allowed):
            refuse(
                f"{_type_name(a)} {_SIGNS[type(operator)]} {_type_name(b)}",
                at,
                _OPERATOR_HINTS.get(type(operator), "these do not go together"),
            )
        return self._apply_operator(operator, a, b, at)

    def _apply_operator(self, operator: ast.operator, a: Any, b: Any, at: int) -> Any:
        e = self._apply(_OPERATORS[type(operator)], [a, b], at)
        if isinstance(operator, ast.Add | ast.Sub):
            self._note_column(e, at)
        return e

    def _symbol_or_rate(self, word: str, at: int) -> Any:
        base, *attributes = (part.strip() for part in word.split("."))
        if (
            len(attributes) == 1
            and attributes[0] in AXES
            and (frame := self._frame(base, at)) is not None
        ):
            return getattr(frame, attributes[0])
        if attributes and (point := self._point(base, attributes, at)) is not None:
            return point
        if (
            not attributes
            and not base.endswith(tuple(PRIMES))
            and self.things.scalar(base) is None
            and base != "pi"
        ):
            thing = self.things.point(base) or self.things.frame(base)
            if thing is not None:
                return thing
        return super()._symbol_or_rate(word, at)

    def _frame(self, name: str, at: int) -> Frame | None:
        frame = self.things.frame(name)
        if frame is None:
            hint = suggest_name(name, self.things.known_names())
            refuse(f"unknown frame '{short(name)}'", at, hint)
        return frame

    def _point(self, base: str, attributes: list[str], at: int) -> Any:
        """C.v, rod.tip, rod.G, rod.tip.v"""
        velocity = attributes[-1] == "v"
        name = ".".join([base, *(attributes[:-1] if velocity else attributes)])
        if velocity or attributes[-1] in ("G", "tip"):
            point = self.things.point(name)
            if point is None:
                refuse(
                    f"unknown point '{short(name)}'",
                    at,
                    suggest_name(name, self.things.known_names()),
                )
            return point.v if velocity else point
        return None

    def _call(self, name: str, args: list[Any], at: int) -> Any:
        if name in FUNCTIONS:
            least, most, function = FUNCTIONS[name]
            if not least <= len(args) <= most:
                wanted = str(least) if least == most else f"{least} to {most}"
                refuse(f"{name} with {len(args)} arguments", at, f"it takes {wanted}")
            # a joint's name is that of its frame too
            args = [a.frame if isinstance(a, Point) else a for a in args]
            if name in _FRAME_FIRST and isinstance(args[0], Scalar) and args[0].name:
                # a pin's name is that of its coordinate, its point and its frame
                args[0] = self.things.frame(args[0].name) or args[0]
            try:
                return function(*args)
            except (DalembertError, AttributeError, TypeError) as problem:
                what = (
                    problem
                    if isinstance(problem, DalembertError)
                    else f"its arguments are {', '.join(map(_type_name, args))}"
                )
                refuse(f"{name}: {what}", at)
        for e in (part for a in args for part in (a.parts if isinstance(a, ValuePair) else (a,))):
            if not isinstance(e, Scalar | Condition | ValuePair):
                refuse(f"{name} of {_type_name(e)}", at, "it takes a number")
        return super()._call(name, args, at)


def _type_name(e: Any) -> str:
    return next((word for kind, word in _WORDS.items() if isinstance(e, kind)), "something else")


_OPERATORS: Final[dict[type[ast.operator], Callable[[Any, Any], Any]]] = {
    ast.Add: lambda a, b: a + b,
    ast.Sub: lambda a, b: a - b,
    ast.Mult: lambda a, b: a * b,
    ast.Div: lambda a, b: a / b,
    ast.MatMult: lambda a, b: a @ b,
}
_SIGNS: Final = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.MatMult: "@"}
_OPERATOR_HINTS: Final = {
    ast.Mult: "the product of two vectors is a @ b or cross(a, b)",
    ast.MatMult: "a @ b takes two vectors",
}
_PAIRS: Final[dict[type[ast.operator], tuple[tuple[type, type], ...]]] = {
    ast.Add: ((Vector, Vector),),
    ast.Sub: ((Vector, Vector), (Point, Point)),
    ast.Mult: ((Vector, Scalar), (Scalar, Vector)),
    ast.Div: ((Vector, Scalar),),
    ast.MatMult: ((Vector, Vector),),
}
