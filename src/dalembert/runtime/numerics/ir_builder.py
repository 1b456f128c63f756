"""LLVM text for loops: numbers with operators, arrays with [], structures with dots, `with
function.loop(n) as i`.

No operation carries a fast-math flag and every sum of products is written as fused multiply-adds
over fixed lanes, so that what happens to one component never depends on how many others there are.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from dalembert.runtime.numerics.llvm_types import (
    BOOL,
    CONVERSIONS,
    DOUBLE,
    DOUBLE4,
    GROUP_SIZE,
    INT32,
    INT64,
    POINTER,
    constant,
    intrinsic_suffix,
    vector_type,
    vector_width,
)


class Value:
    """A number, a vector of four numbers, a whole number, a truth or an address in the function
    being written.
    """

    __slots__ = ("function", "kind", "name")

    def __init__(self, function: FunctionBuilder, kind: str, name: str) -> None:
        self.function, self.kind, self.name = function, kind, name

    def __str__(self) -> str:
        return f"{self.kind} {self.name}"

    def __add__(self, other: Operand) -> Value:
        return self.function.arithmetic("add", self, other)

    def __radd__(self, other: Operand) -> Value:
        return self.function.arithmetic("add", other, self)

    def __sub__(self, other: Operand) -> Value:
        return self.function.arithmetic("sub", self, other)

    def __rsub__(self, other: Operand) -> Value:
        return self.function.arithmetic("sub", other, self)

    def __mul__(self, other: Operand) -> Value:
        return self.function.arithmetic("mul", self, other)

    def __rmul__(self, other: Operand) -> Value:
        return self.function.arithmetic("mul", other, self)

    def __truediv__(self, other: Operand) -> Value:
        return self.function.arithmetic("div", self, other)

    def __rtruediv__(self, other: Operand) -> Value:
        return self.function.arithmetic("div", other, self)

    def __lt__(self, other: Operand) -> Value:
        return self.function.compare("lt", self, other)

    def __le__(self, other: Operand) -> Value:
        return self.function.compare("le", self, other)

    def __gt__(self, other: Operand) -> Value:
        return self.function.compare("gt", self, other)

    def __ge__(self, other: Operand) -> Value:
        return self.function.compare("ge", self, other)

    def not_equal(self, other: Operand) -> Value:
        """Whether the two are unequal; a NaN differs from everything."""
        return self.function.compare("ne", self, other)

    def __invert__(self) -> Value:
        every = "true" if self.kind == BOOL else f"splat ({BOOL} true)"
        return self.function.emit(self.kind, f"xor {self}, {every}")

    def __and__(self, other: Value) -> Value:
        return self.function.emit(self.kind, f"and {self}, {other.name}")

    def __or__(self, other: Value) -> Value:
        return self.function.emit(self.kind, f"or {self}, {other.name}")


Operand = Value | float


class VectorArray:
    """a[i]: the i-th group of numbers behind an address, four unless another kind is given."""

    __slots__ = ("kind", "pointer")

    def __init__(self, pointer: Value, kind: str = DOUBLE4) -> None:
        self.pointer, self.kind = pointer, kind

    def _at(self, i: Operand) -> Value:
        function = self.pointer.function
        return function.emit(
            POINTER, f"getelementptr {self.kind}, {self.pointer}, {function.value(i, INT64)}"
        )

    def __getitem__(self, i: Operand) -> Value:
        return self.pointer.function.emit(self.kind, f"load {self.kind}, {self._at(i)}, align 8")

    def load_scalars(self, i: Operand) -> Value:
        """a[i] where four single numbers were written a moment ago: a processor passes them on
        to single loads without delay.
        """
        function, group = self.pointer.function, Value(self.pointer.function, DOUBLE4, "poison")
        where = self._at(i)
        for lane in range(GROUP_SIZE):
            place = function.emit(POINTER, f"getelementptr {DOUBLE}, {where}, i64 {lane}")
            # otherwise the compiler would make one load of the four
            x = function.emit(DOUBLE, f"load volatile {DOUBLE}, {place}, align 8")
            group = function.emit(DOUBLE4, f"insertelement {group}, {x}, i32 {lane}")
        return group

    def __setitem__(self, i: Operand, value: Operand) -> None:
        function = self.pointer.function
        function.line(f"store {function.value(value, self.kind)}, {self._at(i)}, align 8")


class ScalarArray(VectorArray):
    """a[i]: the i-th number behind an address."""

    __slots__ = ()

    def __init__(self, pointer: Value) -> None:
        super().__init__(pointer, DOUBLE)


class StackVariable:
    """x.value: a value that changes, such as a sum."""

    __slots__ = ("_kind", "_pointer")

    def __init__(self, pointer: Value, start: Value) -> None:
        self._pointer, self._kind = pointer, start.kind
        self.value = start

    @property
    def value(self) -> Value:
        return self._pointer.function.emit(
            self._kind, f"load {self._kind}, {self._pointer}, align 8"
        )

    @value.setter
    def value(self, value: Value) -> None:
        self._pointer.function.line(f"store {value}, {self._pointer}, align 8")


class StructView:
    """r.name: a field of the structure behind an address, all fields eight bytes wide."""

    __slots__ = ("_fields", "_pointer")
    _pointer: Value
    _fields: dict[str, tuple[int, str]]

    def __init__(self, pointer: Value, fields: tuple[tuple[str, str], ...]) -> None:
        object.__setattr__(self, "_pointer", pointer)
        object.__setattr__(
            self, "_fields", {name: (place, kind) for place, (name, kind) in enumerate(fields)}
        )

    def __getattr__(self, name: str) -> Value:
        kind, where = self._fields[name][1], self.address(name)
        return where.function.emit(kind, f"load {kind}, {where}, align 8")

    def __setattr__(self, name: str, value: Operand) -> None:
        where = self.address(name)
        where.function.line(
            f"store {where.function.value(value, self._fields[name][1])}, {where}, align 8"
        )

    def address(self, name: str) -> Value:
        """Where the field is."""
        return self._pointer.function.emit(
            POINTER, f"getelementptr i64, {self._pointer}, i64 {self._fields[name][0]}"
        )


class FunctionBuilder:
    """One native function while it is being written."""

    def __init__(
        self,
        name: str,
        result: str,
        *parameters: str,
        exported: bool = False,
        attributes: str = "nounwind",
    ) -> None:
        self.result = result
        self.parameters = tuple(
            Value(self, kind, f"%p{place}") for place, kind in enumerate(parameters)
        )
        linkage = "" if exported else "internal "
        self._lines = [
            (
                f"define {linkage}{result} @{name}({', '.join(map(str, self.parameters))}) "
                f"{attributes} {{"
            ),
            "l0:",
        ]
        self._count = 0
        self._label, self._open = "l0", True

    def text(self) -> str:
        """The finished function."""
        return "\n".join([*self._lines, "}"])

    def line(self, text: str) -> None:
        """One instruction; nothing after a return, where it could not be reached."""
        if self._open:
            self._lines.append("  " + text)

    def emit(self, kind: str, instruction: str) -> Value:
        """One instruction and its result."""
        name = f"%v{self._next_id()}"
        self.line(f"{name} = {instruction}")
        return Value(self, kind, name)

    def value(self, x: Operand, kind: str) -> Value:
        """x as a value of this kind: constants are written out, numbers spread over the lanes."""
        if not isinstance(x, Value):
            return Value(self, kind, constant(x, kind))
        if x.kind == kind:
            return x
        if x.kind == DOUBLE and kind.startswith("<"):
            first = self.emit(kind, f"insertelement {kind} poison, {x}, i32 0")
            return self.emit(
                kind,
                f"shufflevector {first}, {kind} poison, <{vector_width(kind)} x i32> "
                f"zeroinitializer",
            )
        return self.emit(kind, f"{CONVERSIONS[x.kind, kind]} {x} to {kind}")

    def arithmetic(self, operation: str, a: Operand, b: Operand) -> Value:
        """a + b, a − b, a b or a / b."""
        kind = _common_type(a, b)
        opcode = operation if kind == INT64 else "f" + operation
        return self.emit(kind, f"{opcode} {self.value(a, kind)}, {self.value(b, kind).name}")

    def compare(self, relation: str, a: Operand, b: Operand) -> Value:
        """A comparison, false whenever a NaN takes part (but "differs" is then true)."""
        kind = _common_type(a, b)
        sign = "" if relation == "ne" else "s"
        opcode = (
            f"icmp {sign}{relation}"
            if kind in (INT64, INT32, POINTER)
            else f"fcmp {'u' if relation == 'ne' else 'o'}{relation}"
        )
        return self.emit(
            vector_type(vector_width(kind), BOOL),
            f"{opcode} {self.value(a, kind)}, {self.value(b, kind).name}",
        )

    def select(self, condition: Value, a: Operand, b: Operand) -> Value:
        """a where the condition holds, elsewhere b."""
        kind = _common_type(a, b)
        return self.emit(kind, f"select {condition}, {self.value(a, kind)}, {self.value(b, kind)}")

    def intrinsic(self, name: str, *arguments: Operand) -> Value:
        """An elementary operation of the processor: fabs, sqrt, minnum, maxnum, fmuladd."""
        kind = max((x.kind for x in arguments if isinstance(x, Value)), key=vector_width)
        given = ", ".join(str(self.value(x, kind)) for x in arguments)
        return self.emit(kind, f"call {kind} @llvm.{name}.{intrinsic_suffix(kind)}({given})")

    def sum_lanes(self, x: Value) -> Value:
        """x₀ + x₁ + x₂ + x₃, in this order."""
        return self.emit(
            DOUBLE, f"call {DOUBLE} @llvm.vector.reduce.fadd.v{GROUP_SIZE}f64({DOUBLE} 0.0, {x})"
        )

    def call(self, target: str | Value, result: str, *arguments: Value) -> Value:
        """The result of a function of this module, by name, or of one behind an address."""
        name = f"@{target}" if isinstance(target, str) else target.name
        return self.emit(result, f"call {result} {name}({', '.join(map(str, arguments))})")

    def variable(self, start: Value) -> StackVariable:
        """A variable that has this value now."""
        name = f"%v{self._next_id()}"
        # space for it is taken once, where the function begins
        self._lines.insert(2, f"  {name} = alloca {start.kind}, align 8")
        return StackVariable(Value(self, POINTER, name), start)

    def emit_at_entry(self, kind: str, *instructions: str) -> Value:
        """Instructions where the function begins, each of which may use the result of the one
        before as {}; the last result.
        """
        names = [f"%v{self._next_id()}" for _ in instructions]
        before = ("", *names)
        self._lines[2:2] = [
            f"  {name} = {text.format(last)}"
            for name, text, last in zip(names, instructions, before, strict=False)
        ]
        return Value(self, kind, names[-1])

    def any_lane(self, mask: Value) -> Value:
        """Whether a condition holds for at least one number of the vector."""
        lanes = vector_width(mask.kind)
        if lanes == 1:
            return mask
        bits = self.emit(f"i{lanes}", f"bitcast {mask} to i{lanes}")
        return self.emit(BOOL, f"icmp ne {bits}, 0")

    def ret(self, value: Operand) -> None:
        """Return."""
        self.line(f"ret {self.value(value, self.result)}")
        self._open = False

    def ret_void(self) -> None:
        """Return nothing."""
        self.line("ret void")
        self._open = False

    @contextmanager
    def if_then(self, condition: Value) -> Iterator[None]:
        """What follows happens only if the condition holds."""
        then, after = self._labels("then", "after")
        self.line(f"br {condition}, label %{then}, label %{after}")
        self.start_block(then)
        yield
        self.line(f"br label %{after}")
        self.start_block(after)

    @contextmanager
    def loop(self, count: Value) -> Iterator[Value]:
        """i = 0, …, count − 1."""
        head, body, tail, after = self._labels("head", "body", "tail", "after")
        before = self._label
        self.line(f"br label %{head}")
        self.start_block(head)
        i = self.emit(INT64, f"phi i64 [0, %{before}], [%{tail}i, %{tail}]")
        self.line(f"br {i < count}, label %{body}, label %{after}")
        self.start_block(body)
        yield i
        self.line(f"br label %{tail}")
        self.start_block(tail)
        self.line(f"%{tail}i = add nuw nsw {i}, 1")
        self.line(f"br label %{head}")
        self.start_block(after)

    @contextmanager
    def loop_forever(self) -> Iterator[None]:
        """Again and again until a return."""
        (head,) = self._labels("head")
        self.line(f"br label %{head}")
        self.start_block(head)
        yield
        self.line(f"br label %{head}")
        self._open = False

    def start_block(self, label: str) -> None:
        """What follows stands behind a label."""
        self._lines.append(f"{label}:")
        self._label, self._open = label, True

    def _next_id(self) -> int:
        self._count += 1
        return self._count

    def _labels(self, *names: str) -> tuple[str, ...]:
        number = self._next_id()
        return tuple(f"{name}{number}" for name in names)


def _common_type(a: Operand, b: Operand) -> str:
    """The wider kind of the two: lanes before numbers, numbers before whole numbers."""
    kinds = {x.kind for x in (a, b) if isinstance(x, Value)}
    widest = max(kinds, key=vector_width)
    return (
        widest
        if vector_width(widest) > 1
        else next(kind for kind in (DOUBLE, POINTER, INT64, INT32) if kind in kinds)
    )
