"""Symbols of a system: coordinates, constants, inputs, specified motions, speeds."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from dalembert.algebra.folds import Linear, Rewrite, symbols_of
from dalembert.algebra.scalar import Scalar, exact, on
from dalembert.errors import BadDescription, NotLinear
from dalembert.geometry.frame import Frame
from dalembert.geometry.point import Point
from dalembert.geometry.space import Space
from dalembert.geometry.vector import Vector
from dalembert.model.elements import Constraint, Speed, Symbol
from dalembert.model.names import checked, display_name, split


class Declarations:
    """What can be declared about the variables of a system."""

    def __init__(self) -> None:
        self.space = Space()
        self.symbols: dict[str, Symbol] = {}
        self.speed_list: list[Speed] = []
        self.constraints: list[Constraint] = []
        # rows that turned out to say nothing, by name
        self.dropped: list[str] = []
        self._taken: dict[str, str] = {}
        tape = self.space.tape
        time = tape.symbol("t")
        tape.moving.add(time)
        tape.rates[time] = tape.one
        self.t = Scalar(tape, time)

    # ---- symbols -----------------------------------------------------------------------------

    def _name(self, name: str, kind: str) -> str:
        checked(name, self._taken)
        if self.space.tape.displays:
            self._check_display(name)
        self._taken[name] = kind
        return name

    def _check_display(self, name: str) -> None:
        """Refuse a symbol that would look like another that has a display name."""
        from dalembert.algebra.printing.names import unicode_name

        displays = self.space.tape.displays
        shown = unicode_name(displays.get(name, name))
        like = next((n for n, d in displays.items() if n != name and unicode_name(d) == shown), None)
        if like is not None:
            msg = f"{name!r} would be printed as {shown}, like the {self._taken[like]} {like!r}; give it another display name"
            raise BadDescription(msg)

    def _with_rates(self, x: int, order: int) -> Scalar:
        """A moving symbol whose first rates are made now, so that they stand beside it on the tape."""
        tape = self.space.tape
        rate: int | None = x
        for _ in range(order):
            rate = None if rate is None else tape.rate(rate)
        return Scalar(tape, x)

    def _free(self, names: Iterable[str], kind: str) -> list[str]:
        """The names if every one of them can be used: of several, all are declared or none."""
        taken = dict(self._taken)
        for name in names:
            taken[checked(name, taken)] = kind
        return list(names)

    def _display(self, name: str, display: str | None) -> None:
        """Print the symbol under another name; two symbols that would look the same are refused."""
        if display is None:
            return
        from dalembert.algebra.printing.names import unicode_name

        shown, displays = display_name(display), self.space.tape.displays
        like = next((n for n in self._taken if n != name and unicode_name(displays.get(n, n)) == unicode_name(shown)), None)
        if like is not None:
            msg = f"{name!r} cannot be displayed as {display!r}: the {self._taken[like]} {like!r} is printed like that"
            raise BadDescription(msg)
        displays[name] = shown

    def display(self, **names: str) -> None:
        """What is printed for symbols that are declared already: s.display(alpha="φ₁")."""
        for name, shown in names.items():
            if name not in self.symbols:
                msg = f"display: no symbol {name!r} in this system"
                raise BadDescription(msg)
            self._display(name, shown)

    def coordinate(self, name: str, *, display: str | None = None) -> Scalar:
        """A generalized coordinate q; its rate is q.dot. `display` is what is printed for it, such as "θ₁"."""
        self._display(checked(name, self._taken), display)
        tape = self.space.tape
        q = self._with_rates(tape.moving_symbol(self._name(name, "coordinate")), 2)
        self.symbols[name] = Symbol(name, "coordinate", q)
        return q

    def coordinates(self, names: str) -> tuple[Scalar, ...]:
        """Several coordinates: s.coordinates("x y theta")."""
        return tuple(self.coordinate(n) for n in self._free(split(names), "coordinate"))

    def constant(self, name: str, value: Any = None, *, display: str | None = None) -> Scalar:
        """A constant; `value` is what it stands for in a simulation unless told otherwise."""
        number = None if value is None else exact(value)
        self._display(checked(name, self._taken), display)
        tape = self.space.tape
        c = Scalar(tape, tape.symbol(self._name(name, "constant")))
        self.symbols[name] = Symbol(name, "constant", c, number)
        return c

    def constants(self, names: str | None = None, **values: Any) -> tuple[Scalar, ...]:
        """Several constants: s.constants(m=2, g=9.81), or s.constants("m g") without values."""
        plain = [] if names is None else split(names)
        if not plain and not values:
            msg = 'constants: nothing declared; write s.constants(m=2, g=9.81) or s.constants("m g")'
            raise BadDescription(msg)
        self._free([*plain, *values], "constant")
        numbers = {n: None if v is None else exact(v) for n, v in values.items()}
        return tuple(self.constant(n) for n in plain) + tuple(self.constant(n, v) for n, v in numbers.items())

    def input(self, name: str, *, value: Any = None, display: str | None = None) -> Scalar:
        """A quantity known only at run time, such as a motor force; `value` is what it is where a run says nothing of it."""
        number = None if value is None else exact(value)
        self._display(checked(name, self._taken), display)
        tape = self.space.tape
        i = tape.symbol(self._name(name, "input"))
        tape.inputs.add(i)
        self.symbols[name] = Symbol(name, "input", Scalar(tape, i), number)
        return Scalar(tape, i)

    def inputs(self, names: str) -> tuple[Scalar, ...]:
        """Several inputs."""
        return tuple(self.input(n) for n in self._free(split(names), "input"))

    def specified(self, name: str, motion: Any = None, *, display: str | None = None) -> Scalar:
        """A motion that is prescribed: x, x.dot and x.dot.dot are known functions of time.

        Bound to an expression in s.t here or at run time; in the equations it stays x, ẋ, ẍ.
        """
        tape = self.space.tape
        bound = None if motion is None else Scalar(tape, on(tape, motion))
        if bound is not None:
            inside = symbols_of(tape, (bound.i,))
            strange = [tape.nodes[i][1] for i in inside if i in tape.inputs or (i in tape.moving and i != self.t.i)]
            if strange:
                msg = f"specified {name!r}: its motion contains {', '.join(strange)}; only t and constants may enter"
                raise BadDescription(msg)
        self._display(checked(name, self._taken), display)
        x = self._with_rates(tape.moving_symbol(self._name(name, "specified motion")), 2)
        self.symbols[name] = Symbol(name, "specified", x, motion=bound)
        return x

    # ---- speeds ------------------------------------------------------------------------------

    def speed(self, name: str, definition: Any, *, display: str | None = None) -> Scalar:
        """u = definition, an expression linear in the rates q' (a quasi-velocity)."""
        tape = self.space.tape
        (u,) = self._declare_speeds({name: Scalar(tape, on(tape, definition))})
        self._display(name, display)
        return u

    def speeds(
        self, names: str | None = None, vector: Vector | None = None, along: Frame | None = None, **definitions: Any
    ) -> tuple[Scalar, ...]:
        """Speeds u1=…, u2=…; or s.speeds("u1 u2 u3", B.w, B): the three components of a vector along a frame."""
        if names is None:
            if not definitions:
                msg = 'speeds: nothing declared; write s.speeds(u1=theta.dot) or s.speeds("u1 u2 u3", B.w, B)'
                raise BadDescription(msg)
            tape = self.space.tape
            return self._declare_speeds({n: Scalar(tape, on(tape, e)) for n, e in definitions.items()})
        if vector is None or along is None or definitions:
            msg = 'speeds of a vector: write s.speeds("u1 u2 u3", B.w, B)'
            raise BadDescription(msg)
        return self._vector_speeds(split(names), vector, along)

    def _vector_speeds(self, names: list[str], vector: Vector, along: Frame) -> tuple[Scalar, ...]:
        if len(names) != 3:
            msg = f"speeds of a vector: three names are needed, got {len(names)}"
            raise BadDescription(msg)
        self.space.own(vector, "speeds")
        self.space.same(along.space)
        self._free(names, "speed")
        return self._declare_speeds(dict(zip(names, vector.to(along), strict=True)), self._whose(vector), along)

    def _declare_speeds(
        self, definitions: dict[str, Scalar], of: Frame | Point | None = None, along: Frame | None = None
    ) -> tuple[Scalar, ...]:
        """All of the speeds or, if one is refused, none."""
        self._free(definitions, "speed")
        for name, e in definitions.items():
            self._check_speed(name, e)
        found = []
        for axis, (name, e) in enumerate(definitions.items()):
            u = self._speed_symbol(name)
            self.speed_list.append(Speed(name, u, e, of, along, 0 if along is None else axis))
            found.append(u)
        return tuple(found)

    def _whose(self, vector: Vector) -> Frame | Point | None:
        """The frame whose ω, or the point whose v, this vector is."""
        motion = self.space.motion
        for F in self.space.frames:
            if F.parent is not None and motion.w(F) is vector:
                return F
        for P in self.space.points:
            if P.parent is not None and motion.v(P) is vector:
                return P
        return None

    def _speed_symbol(self, name: str) -> Scalar:
        tape = self.space.tape
        u = self._with_rates(tape.moving_symbol(self._name(name, "speed")), 1)
        self.symbols[name] = Symbol(name, "speed", u)
        return u

    def _check_speed(self, name: str, e: Scalar) -> None:
        tape = self.space.tape
        rates = [tape.rate(s.scalar.i) for s in self.symbols.values() if s.kind == "coordinate"]
        try:
            _, coefficients = Linear(tape, [r for r in rates if r is not None])(self._in_rates(e.i))
        except NotLinear as problem:
            msg = f"speed {name!r}: its definition is {problem}; a speed must be linear in the rates"
            raise BadDescription(msg) from problem
        if not coefficients:
            msg = f"speed {name!r}: its definition contains no rate such as theta.dot"
            raise BadDescription(msg)
        self._refuse_inputs(f"speed {name!r}", e)

    def _refuse_inputs(self, what: str, e: Scalar) -> None:
        """Where a derivative will be needed, something known only at run time cannot stand."""
        tape = self.space.tape
        found = [str(tape.nodes[i][1]) for i in symbols_of(tape, (e.i,)) if i in tape.inputs]
        if found:
            msg = f"{what}: it contains the input {found[0]}, whose rate is unknown; declare it with s.specified(...) instead"
            raise BadDescription(msg)

    def _in_rates(self, i: int) -> int:
        """A node with the speeds declared so far replaced by their definitions."""
        replace = {s.scalar.i: s.definition.i for s in self.speed_list}
        for _ in range(len(replace) + 1):
            rewritten = Rewrite(self.space.tape, replace)(i)
            if rewritten == i:
                break
            i = rewritten
        return i
