"""Tables become declarations: each element when its turn in the file comes, or when another one
first asks for its name.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from dalembert.errors import BadDescription
from dalembert.exchange.modelfile.element_schema import (
    ELEMENT_TYPES,
    JOINTS,
    MEMBERS,
    ElementKey,
    ElementType,
)
from dalembert.exchange.modelfile.expression_reader import FUNCTIONS
from dalembert.exchange.modelfile.frame_reader import read_frames
from dalembert.exchange.modelfile.source_positions import ModelSource, Path
from dalembert.exchange.modelfile.value_reader import ValueReader, is_number
from dalembert.foundation.suggestions import suggest_name
from dalembert.mechanics.geometry.frame import Frame
from dalembert.mechanics.geometry.point import Point
from dalembert.mechanics.geometry.vector import Vector
from dalembert.mechanics.model.elements import Body
from dalembert.mechanics.model.system import System
from dalembert.symbolic.algebra.parser import FUNCTIONS as OF_NUMBERS
from dalembert.symbolic.algebra.scalar import Scalar

# what the name of an element stands for in others
_NAME_CATEGORIES: Final = {
    **dict.fromkeys(("particle", "body", "rod", "disk", "sphere", "cylinder", "box"), ("body",)),
    **dict.fromkeys(JOINTS, ("frame", "point")),
    "coordinate": ("scalar",),
    "frame": ("frame",),
    "point": ("point",),
}
_POINT_SUFFIXES: Final = ("G", "tip")
RESERVED_NAMES: Final = frozenset({"pi", *FUNCTIONS, *OF_NUMBERS})


class ModelBuilder:
    """A system that grows from a table; it knows what is still to be declared, and by which name
    that will be asked for.
    """

    def __init__(self, system: System, table: dict[str, Any], source: ModelSource) -> None:
        self.s, self.table, self.source = system, table, source
        self.frames: dict[str, Frame] = {"N": system.N}
        self.points: dict[str, Point] = {"O": system.O}
        self.bodies: dict[str, Body] = {}
        self.expressions: dict[str, Scalar] = {}
        # where each scalar of an expression begins in its text
        self.columns: dict[Path, dict[int, int]] = {}
        # what a name of each sort will be declared by
        self.definers: dict[str, dict[str, Path]] = {
            "scalar": {},
            "frame": {},
            "point": {},
            "body": {},
        }
        self.pending: dict[Path, Callable[[], None]] = {}
        self.in_progress: list[Path] = []
        # what is to be declared right before something, in order
        self.first: dict[Path, list[Path]] = {}
        # the place along the member that is being declared
        self.member_station: dict[str, Scalar] = {}

    # ---- what there is to declare ------------------------------------------------------------

    def add_pending(self, path: Path, declare: Callable[[], None], **names: list[str]) -> None:
        """Something to declare, and the names it will be asked for by, {sort: names}."""
        self.pending[path] = declare
        for sort, several in names.items():
            for name in several:
                other = self.definers[sort].setdefault(name, path)
                if other != path:
                    self.source.raise_error(
                        f"{name!r:.60} is declared already, as {_path_text(other)}", path, key=True
                    )

    def add_pending_elements(self) -> None:
        """All elements of the kinds in the table."""
        for name, kind in ELEMENT_TYPES.items():
            group = self.table.get(name)
            if group is None:
                continue
            if not isinstance(group, dict):
                self.source.raise_error(f"{name}: give each a name, such as [{name}.A]", (name,))
            for handle, value in group.items():
                self._add_pending_element(kind, handle, value)

    def _add_pending_element(self, kind: ElementType, handle: str, value: Any) -> None:
        path: Path = (kind.name, handle)
        if not handle.strip():
            self.source.raise_error(f"{kind.name}: a name is missing", path, key=True)
        if not isinstance(value, dict):
            if not kind.main:
                self.source.raise_error(
                    f"{kind.name} {handle!r:.40}: expected a table with "
                    f"{', '.join(k.name for k in kind.keys)}",
                    path,
                )
            value = {kind.main: value} if value != "" or kind.main != "display" else {}
            self.table[kind.name][handle] = value
        ValueReader(self, path).check_keys(
            value, {k.name: k for k in kind.keys}, path, f"{kind.name} {handle!r:.40}"
        )
        self.add_pending(
            path,
            lambda: self._declare(kind, handle, value),
            **self._defined_names(kind, handle, value),
        )

    def _defined_names(
        self, kind: ElementType, handle: str, value: dict[str, Any]
    ) -> dict[str, list[str]]:
        """The names by which others will ask for an element, {sort: names}."""
        names = {sort: [handle] for sort in _NAME_CATEGORIES.get(kind.name, ())}
        if kind.name == "frame":
            names["frame"] = [*_name_list(value.get("through", "")), handle]
        elif kind.name in ("pin", "slide"):
            names["scalar"] = _name_list(value.get("coordinate", handle))
        elif kind.name in ("universal", "ball", "free"):
            names["scalar"] = _name_list(value.get("coordinates", ""))
        return names

    def build(self) -> None:
        """Everything, in the order of the file; what another element needs comes before it."""
        order = {path: k for k, path in enumerate(self.pending)}

        def where(path: Path) -> tuple[int, int]:
            span = self.source.span(path)
            return (span.key if span else 0, order[path])

        for path in sorted(self.pending, key=where):
            self.resolve(path)

    def resolve(self, path: Path) -> None:
        """Declare it now, unless that is done."""
        declare = self.pending.get(path)
        if declare is None:
            return
        if path in self.in_progress:
            circle = " → ".join(
                _path_text(p) for p in (*self.in_progress[self.in_progress.index(path) :], path)
            )
            self.source.raise_error(
                f"circular: each of these needs the next one, {circle}", path, key=True
            )
        self.in_progress.append(path)
        for earlier in self.first.get(path, ()):
            self.resolve(earlier)
        declare()
        self.in_progress.pop()
        del self.pending[path]

    # ---- names -------------------------------------------------------------------------------

    def _resolve_name(self, sort: str, name: str) -> None:
        path = self.definers[sort].get(name)
        if path is not None:
            self.resolve(path)

    def scalar(self, name: str) -> Scalar | None:
        """A symbol, a named expression, the time, or the position along the current member."""
        if name == "t":
            return self.s.t
        if name in self.member_station:
            return self.member_station[name]
        self._resolve_name("scalar", name)
        things = {
            *RESERVED_NAMES,
            *self.definers["frame"],
            *self.definers["point"],
            *self.frames,
            *self.points,
        }
        if name not in self.s.symbols and name not in self.expressions and name not in things:
            # the amplitudes of a member are named by its functions
            for path in [
                p for p in self.pending if p[0] == "discretise" and p not in self.in_progress
            ]:
                self.resolve(path)
        symbol = self.s.symbols.get(name)
        return self.expressions.get(name) if symbol is None else symbol.scalar

    def frame(self, name: str) -> Frame | None:
        """A frame, also by the name of the joint or body that carries it."""
        self._resolve_name("frame", name)
        frame = self.frames.get(name)
        body = None if frame is not None else self.body(name)
        return body.frame if body is not None else frame

    def point(self, name: str) -> Point | None:
        """A point, or rod.tip, or body.G."""
        self._resolve_name("point", name)
        if name in self.points:
            return self.points[name]
        owner, _, corner = name.rpartition(".")
        body = self.body(owner) if corner in _POINT_SUFFIXES else None
        if body is None:
            return None
        return body.G if corner == "G" else body.points.get("tip")

    def body(self, name: str) -> Body | None:
        """A body by its name."""
        self._resolve_name("body", name)
        return self.bodies.get(name)

    def names_of(self, sort: str) -> list[str]:
        """All names of one sort, declared or not."""
        groups: dict[str, dict[str, Any]] = {
            "frame": self.frames,
            "point": self.points,
            "body": self.bodies,
        }
        present = groups.get(sort, {})
        corners = (
            [f"{b}.tip" for b, path in self.definers["body"].items() if path[0] == "rod"]
            if sort == "point"
            else []
        )
        return [*dict.fromkeys([*present, *self.definers[sort], *corners])]

    def has_constraint(self, name: str) -> bool:
        """Whether a constraint row has this name; it is declared now."""
        for path in [
            p
            for p in self.pending
            if p[0] in ("constrain", "distance", "gear", "screw")
            and p[1] == name
            and p not in self.in_progress
        ]:
            self.resolve(path)
        return any(c.name == name for c in self.s.constraints)

    def known_names(self) -> list[str]:
        """All names that an expression may contain."""
        return [
            *self.s.symbols,
            *self.expressions,
            *self.definers["scalar"],
            *self.names_of("frame"),
            *self.names_of("point"),
            *self.member_station,
        ]

    # ---- elements ----------------------------------------------------------------------------

    def _declare(self, kind: ElementType, handle: str, value: dict[str, Any]) -> None:
        values = ValueReader(self, (kind.name, handle))
        make = getattr(self, f"_{kind.name}", None)
        if make is not None:
            values.call_checked(make, kind, handle, value, values)
            return
        if kind.name in MEMBERS:
            arguments = {
                k: self._distributed_property(handle, kind.key(k), v, values)
                for k, v in value.items()
            }
        else:
            arguments = _arguments(kind, value, values)
        if kind.name_argument == "name":
            arguments["name"] = handle
        made = values.call_checked(getattr(self.s, kind.name), **arguments)
        if isinstance(made, Body):
            self.bodies[handle] = made

    def _distributed_property(
        self, handle: str, key: ElementKey, value: Any, values: ValueReader
    ) -> Any:
        """A property of a member; one that contains its place x_NAME is a function of it."""
        place = f"x_{handle}"
        given = value if isinstance(value, list) else [value]
        if key.type not in ("scalar", "scalars", "vector") or not any(
            isinstance(v, str) and place in v for v in given
        ):
            return values.read(key, value)

        def at(text: Any, path: Path) -> Callable[[Scalar], Any]:
            def function(x: Scalar) -> Any:
                self.member_station = {place: x}
                try:
                    return values.read(
                        ElementKey(key.name, "vector" if key.type == "vector" else "scalar"),
                        text,
                        path,
                    )
                finally:
                    self.member_station = {}

            return function

        here = (*values.path, key.name)
        if isinstance(value, list):
            return [at(v, (*here, k)) for k, v in enumerate(value)]
        return at(value, here)

    def _point(
        self, kind: ElementType, handle: str, value: dict[str, Any], values: ValueReader
    ) -> None:
        of, r, frame = (
            _optional_value(kind, key, value, values) for key in ("of", "offset", "frame")
        )
        self.points[handle] = (of or self.s.O).offset(r, value.get("name", handle), frame)

    def _frame(
        self, kind: ElementType, handle: str, value: dict[str, Any], values: ValueReader
    ) -> None:
        self.frames |= read_frames(
            _optional_value(kind, "of", value, values) or self.s.N, handle, value, values
        )

    def _coordinate(
        self, _: ElementType, handle: str, value: dict[str, Any], __: ValueReader
    ) -> None:
        # units are read with the symbols
        self.s.coordinate(handle, display=value.get("display"))

    def _joint(self, handle: str, P: Point) -> None:
        self.points[handle], self.frames[handle] = P, P.frame

    def _pin(
        self, kind: ElementType, handle: str, value: dict[str, Any], values: ValueReader
    ) -> None:
        q, axis, at = (
            _optional_value(kind, key, value, values) for key in ("coordinate", "axis", "at")
        )
        name = handle if q is None else q
        self._joint(handle, getattr(self.s, kind.name)(name, at, axis))
        if "display" in value:
            self.s.display(**{name: _optional_value(kind, "display", value, values)})

    _slide = _pin

    def _ball(
        self, kind: ElementType, handle: str, value: dict[str, Any], values: ValueReader
    ) -> None:
        arguments = {
            key: _optional_value(kind, key, value, values)
            for key in ("coordinates", "at", "axes")
            if key in value
        }
        self._joint(handle, getattr(self.s, kind.name)(arguments.pop("coordinates"), **arguments))

    _universal = _free = _ball

    def _weld(
        self, kind: ElementType, handle: str, value: dict[str, Any], values: ValueReader
    ) -> None:
        offset, at = (_optional_value(kind, key, value, values) for key in ("offset", "at"))
        self._joint(handle, self.s.weld(at, offset))

    def _roll(
        self, kind: ElementType, handle: str, value: dict[str, Any], values: ValueReader
    ) -> None:
        arguments = _arguments(kind, value, values)
        if "body" not in value:
            arguments["body"] = values.body(handle, (*values.path, "body"))
        self.s.roll(**arguments)

    def _discretise(
        self, kind: ElementType, handle: str, value: dict[str, Any], values: ValueReader
    ) -> None:
        from dalembert.analysis.flexible.assumed_modes.discretise import discretise
        from dalembert.exchange.modelfile.symbol_sections import declare_speeds

        declare_speeds(self)
        for sort in MEMBERS:
            self.resolve((sort, handle))
        member = self.s.members.get(handle)
        if member is None:
            hint = suggest_name(handle, [*self.s.members]) or "it is called as the member"
            msg = f"discretise: no member is called {handle!r:.60}; {hint}"
            raise BadDescription(msg)
        discretise(self.s, member, **_arguments(kind, value, values))

    def gravity(self, value: Any, up: Any) -> None:
        """A vector, or a number along minus the axis that points up."""
        path: Path = ("gravity",)
        values = ValueReader(self, path)
        if not isinstance(up, str) or up not in ("x", "y", "z"):
            self.source.raise_error(f"up = {up!r:.40}: give 'x', 'y' or 'z'", ("up",))
        g = (
            values.scalar(value, path)
            if is_number(value)
            else values.expression(values.text(value, path), path)
        )
        field = g if isinstance(g, Vector) else -g * getattr(self.s.N, up)
        values.call_checked(self.s.gravity, field)


def _name_list(names: Any) -> list[str]:
    """Names in one text or a list, as far as they are texts."""
    return (
        [x for x in names if isinstance(x, str)] if isinstance(names, list) else str(names).split()
    )


def _arguments(kind: ElementType, value: dict[str, Any], values: ValueReader) -> dict[str, Any]:
    return {key: values.read(kind.key(key), v) for key, v in value.items()}


def _optional_value(kind: ElementType, key: str, value: dict[str, Any], values: ValueReader) -> Any:
    """The value of a key, or None."""
    return values.read(kind.key(key), value[key]) if key in value else None


def _path_text(path: Path) -> str:
    return " ".join(map(str, path))
