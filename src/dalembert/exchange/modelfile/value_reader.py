"""A value of the file as what a verb takes: by the type that the table of kinds says."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Final

from dalembert.errors import BadExpression, DalembertError
from dalembert.exchange.modelfile.element_schema import NESTED_TABLES, TYPES, ElementKey
from dalembert.exchange.modelfile.expression_reader import parse_expression
from dalembert.exchange.modelfile.source_positions import BadModel, Path
from dalembert.foundation.suggestions import suggest_name
from dalembert.mechanics.geometry.frame import Frame
from dalembert.mechanics.geometry.solid_inertia import inertia
from dalembert.mechanics.geometry.vector import Dyadic, Vector
from dalembert.mechanics.model.elements import Shape
from dalembert.symbolic.algebra.scalar import Scalar
from dalembert.symbolic.units.dimension_inference import BadDimension

if TYPE_CHECKING:
    from dalembert.exchange.modelfile.model_builder import ModelBuilder

_THREE_OR_SIX: Final = (3, 6)


def is_number(value: object) -> bool:
    """Whether a value of the file is a number (true and false are not)."""
    return isinstance(value, int | Decimal | float) and not isinstance(value, bool)


def exact_number(value: float | Decimal) -> int | Fraction:
    """A number as it is written: 9.81 is 981/100."""
    return value if isinstance(value, int) else Fraction(str(value))


class ValueReader:
    """The values of one element, converted at its position in the file."""

    def __init__(self, builder: ModelBuilder, path: Path) -> None:
        self.builder, self.path, self.source = builder, path, builder.source

    def read(self, key: ElementKey, value: Any, path: Path | None = None) -> Any:
        """The value of a key, by the method that is called as its type."""
        return getattr(self, key.type.replace(" ", "_"))(
            value, (*self.path, key.name) if path is None else path
        )

    def raise_type_error(self, wanted: str, value: Any, path: Path) -> Any:
        """Refuse a value of the wrong kind."""
        self.source.raise_error(
            f"{path[-1]}: expected {TYPES.get(wanted, wanted)}, got {_abbreviate(value)}", path
        )

    # ---- expressions -------------------------------------------------------------------------

    def expression(self, text: str, path: Path) -> Any:
        """What a text means, or an error with a caret in it."""
        try:
            return parse_expression(
                text,
                self.builder,
                self.builder.s.space.tape,
                self.builder.columns.setdefault(path, {}),
            )
        except BadExpression as error:
            self.source.raise_error(error.sentence or str(error), path, column=error.column)

    def scalar(self, value: Any, path: Path) -> Any:
        """A number, exactly as written, or an expression."""
        if is_number(value):
            return self._finite(value, path)
        e = self._text_value("scalar", value, path)
        return e if isinstance(e, Scalar) else self.raise_type_error("scalar", value, path)

    def scalar_or_row(self, value: Any, path: Path) -> Any:
        """The name of a constraint row, which is declared first, or an expression."""
        return (
            value
            if isinstance(value, str) and self.builder.has_constraint(value)
            else self.scalar(value, path)
        )

    def scalar_or_flag(self, value: Any, path: Path) -> Any:
        """True, false, or an expression."""
        return value if isinstance(value, bool) else self.scalar(value, path)

    def _finite(self, value: Any, path: Path) -> int | Fraction:
        try:
            return exact_number(value)
        except (ValueError, OverflowError):
            self.source.raise_error(f"{path[-1]}: {value} is not a finite number", path)

    def _text_value(self, wanted: str, value: Any, path: Path) -> Any:
        if not isinstance(value, str):
            self.raise_type_error(wanted, value, path)
        return self.expression(value, path)

    def vector(self, value: Any, path: Path) -> Any:
        """A vector; also 0, which has no direction."""
        e = self._text_value("vector", value, path)
        if isinstance(e, Scalar) and e.value == 0:
            return Vector(self.builder.s.space.tape, {})
        return e if isinstance(e, Vector) else self.raise_type_error("vector", value, path)

    def axis_or_frame(self, value: Any, path: Path) -> Any:
        e = self._text_value("axis or frame", value, path)
        return (
            e
            if isinstance(e, Vector | Frame)
            else self.raise_type_error("axis or frame", value, path)
        )

    def scalars(self, value: Any, path: Path) -> Any:
        """One expression, or a list of them."""
        if isinstance(value, list):
            return [self.scalar(v, (*path, k)) for k, v in enumerate(value)]
        return self.scalar(value, path)

    def vectors(self, value: Any, path: Path) -> Any:
        """One vector, or a list of them."""
        if isinstance(value, list):
            return tuple(self.vector(v, (*path, k)) for k, v in enumerate(value))
        return self.vector(value, path)

    def cosines(self, value: Any, path: Path) -> Any:
        """Three rows of three expressions."""
        if (
            not isinstance(value, list)
            or len(value) != 3
            or not all(isinstance(row, list) and len(row) == 3 for row in value)
        ):
            self.raise_type_error("cosines", value, path)
        return [
            [self.scalar(e, (*path, i, j)) for j, e in enumerate(row)]
            for i, row in enumerate(value)
        ]

    # ---- names of things ---------------------------------------------------------------------

    def point(self, value: Any, path: Path) -> Any:
        return self._named_object("point", value, path)

    def frame(self, value: Any, path: Path) -> Any:
        return self._named_object("frame", value, path)

    def body(self, value: Any, path: Path) -> Any:
        return self._named_object("body", value, path)

    def frame_or_body(self, value: Any, path: Path) -> Any:
        """A body if one has that name, so that what acts on it is known to."""
        if isinstance(value, str) and (body := self.builder.body(value)) is not None:
            return body
        return self._named_object("frame", value, path)

    def bodies(self, value: Any, path: Path) -> Any:
        """One body, or two of which one may be left open by an empty text."""
        if not isinstance(value, list):
            return self.body(value, path)
        if len(value) != 2:
            self.raise_type_error("bodies", value, path)
        return tuple(None if v == "" else self.body(v, (*path, k)) for k, v in enumerate(value))

    def _named_object(self, kind: str, value: Any, path: Path) -> Any:
        if not isinstance(value, str):
            self.raise_type_error(kind, value, path)
        thing = getattr(self.builder, kind)(value)
        if thing is None:
            hint = (
                suggest_name(value, self.builder.names_of(kind))
                or f"there are {', '.join(self.builder.names_of(kind)[:12])}"
            )
            self.source.raise_error(f"{path[-1]}: no {kind} is called {value!r:.60}; {hint}", path)
        return thing

    # ---- the rest ----------------------------------------------------------------------------

    def text(self, value: Any, path: Path) -> str:
        return value if isinstance(value, str) else self.raise_type_error("text", value, path)

    unit = text

    def flag(self, value: Any, path: Path) -> bool:
        return value if isinstance(value, bool) else self.raise_type_error("flag", value, path)

    def names(self, value: Any, path: Path) -> str:
        """Names in one text, whether they were given so or as a list."""
        if isinstance(value, list) and all(isinstance(v, str) for v in value):
            return " ".join(value)
        return self.text(value, path)

    def rows(self, value: Any, path: Path) -> Any:
        """One row or several."""
        return (
            tuple(self.text(v, (*path, k)) for k, v in enumerate(value))
            if isinstance(value, list)
            else self.text(value, path)
        )

    def functions(self, value: Any, path: Path) -> Any:
        """How many functions, for all fields or for each."""
        each = value.values() if isinstance(value, dict) else (value,)
        if not all(isinstance(v, int) and not isinstance(v, bool) for v in each):
            self.raise_type_error("functions", value, path)
        return value

    def table(self, value: Any, path: Path) -> Any:
        return value if isinstance(value, dict) else self.raise_type_error("table", value, path)

    def inertia(self, value: Any, path: Path) -> Dyadic:
        """Three moments, or six entries xx, yy, zz, xy, yz, xz, along the frame of the body; or
        an expression.
        """
        if isinstance(value, list):
            if len(value) not in _THREE_OR_SIX:
                self.raise_type_error("inertia", value, path)
            frame = self._named_object(
                "frame",
                self.builder.table[str(self.path[0])][self.path[1]].get("frame"),
                (*self.path, "frame"),
            )
            return inertia(frame, *(self.scalar(v, (*path, k)) for k, v in enumerate(value)))
        e = self._text_value("inertia", value, path)
        return e if isinstance(e, Dyadic) else self.raise_type_error("inertia", value, path)

    def shape(self, value: Any, path: Path) -> Shape:
        """What a body looks like."""
        given = self.part("shape", value, path)
        sizes = given["sizes"] if isinstance(given["sizes"], list) else [given["sizes"]]
        tape = self.builder.s.space.tape
        known = ("rod", "disk", "sphere", "box", "cylinder")
        if given["kind"] not in known:
            self.source.raise_error(
                f"kind: no shape {given['kind']!r:.40}; there are {', '.join(known)}",
                (*path, "kind"),
            )
        return Shape(
            given["kind"],
            tuple(e if isinstance(e, Scalar) else Scalar(tape, tape.const(e)) for e in sizes),
            given.get("axis"),
        )

    def end(self, value: Any, path: Path) -> Any:
        """How an end of a member is held, and what sits on it."""
        if isinstance(value, str):
            return value
        if not isinstance(value, dict):
            self.raise_type_error("end", value, path)
        return ValueReader(self.builder, path).call_checked(
            lambda: self.builder.s.end(**self.part("end", value, path))
        )

    def part(self, kind: str, value: Any, path: Path) -> dict[str, Any]:
        """A table inside an element, key by key."""
        if not isinstance(value, dict):
            self.raise_type_error(kind, value, path)
        keys = {k.name: k for k in NESTED_TABLES[kind]}
        self.check_keys(value, keys, path, f"a {kind}")
        return {name: self.read(keys[name], v, (*path, name)) for name, v in value.items()}

    def check_keys(
        self, value: dict[str, Any], keys: dict[str, ElementKey], path: Path, what: str
    ) -> None:
        """Refuse a key that is not known, and an element without one that it needs."""
        for name in value:
            if name not in keys:
                hint = suggest_name(name, keys) or f"it takes {', '.join(keys)}"
                self.source.raise_error(
                    f"unknown key {name!r:.60} of {what}; {hint}", (*path, name), key=True
                )
        missing = [k.name for k in keys.values() if k.required and k.name not in value]
        if missing:
            self.source.raise_error(
                f"{what} needs {missing[0]}: {TYPES[keys[missing[0]].type]}", path, key=True
            )

    def call_checked(self, verb: Callable[..., Any], /, *given: Any, **options: Any) -> Any:
        """The result of a verb; its errors report the position of the element."""
        try:
            return verb(*given, **options)
        except BadModel:
            raise
        except DalembertError as problem:
            for node in problem.nodes if isinstance(problem, BadDimension) else ():
                self._raise_at_term(str(problem), node)
            self.source.raise_error(str(problem), self.path, key=True)

    def _raise_at_term(self, sentence: str, node: int) -> None:
        """Refuse at the text that makes a node: of this element first, or of what it uses; or at
        the number that it is.
        """
        path, columns = self.path, self.builder.columns
        for place in sorted(columns, key=lambda p: p[: len(path)] != path):
            if node in columns[place]:
                self.source.raise_error(sentence, place, column=columns[place][node])
        value = self.builder.s.space.tape.value(node)
        table = self.builder.table.get(str(path[0])) if len(path) == 2 else None
        for key, given in (
            table.get(path[1], {}).items()
            if isinstance(table, dict) and isinstance(table.get(path[1]), dict)
            else ()
        ):
            if value is not None and is_number(given) and exact_number(given) == value:
                self.source.raise_error(sentence, (*path, key))


def _abbreviate(value: Any) -> str:
    if isinstance(value, dict):
        return "a table"
    if isinstance(value, list):
        return "a list"
    if isinstance(value, bool):
        return str(value).lower()
    return f"{value!r:.60}" if isinstance(value, str) else f"{value!s:.60}"
