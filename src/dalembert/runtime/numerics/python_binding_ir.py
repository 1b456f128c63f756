"""The native side of calls from Python, as LLVM text.

    PyObject *name.call(PyObject *self, PyObject **arguments, Py_ssize_t count)

Arguments are the parts of a state, or of states in rows, and the parameters. An array of exactly so many doubles in a row, or a float
for one of them, is read where it is; of states in rows an argument is a table of n rows, or one row for all of them, and other threads
of Python run meanwhile. Whatever else is given goes to the method `convert` of the object that the function belongs to.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from typing import Final

from dalembert.runtime.numerics.ir_builder import Array, NativeFunction, Operand, Record, Value
from dalembert.runtime.numerics.llvm_types import CODE, POINTER, REAL, WHOLE
from dalembert.runtime.numerics.python_binding import FIELDS, HEADER, IN_A_ROW_AND_ALIGNED, TABLE

# what numpy calls a double
_A_DOUBLE: Final = 12
# what `rows` gives where one row holds for all states, and where it cannot read
_ONE_FOR_ALL: Final = -1
_OTHER: Final = -2
# a part of the states, as `rows.batch` takes it
_PART: Final = (("rows", POINTER), ("step", WHOLE))
_SHORT: Final = "noinline nounwind"


def one_state(name: str, sizes: Sequence[int], n_out: int) -> str:
    """The call of `name.once`, for parts of the state and parameters of these sizes, and so many results."""
    *parts, _ = sizes
    f = _CallFunction(f"{name}.call", POINTER, POINTER, POINTER, WHOLE, exported=True)
    joined, given = f.room(REAL, sum(parts)) if len(parts) > 1 else None, []
    with ExitStack() as known:
        known.enter_context(f.when(f.same(f.parameters[2], len(sizes))))
        for k, size in enumerate(sizes):
            given.append(f.call("numbers", POINTER, f.argument(k), f.value(size, WHOLE)))
            known.enter_context(f.when(given[-1].differs(0)))
        if joined is not None:
            for k, size in enumerate(parts):
                f.copy(given[k], f.emit(POINTER, f"getelementptr {REAL}, {joined}, i64 {sum(parts[:k])}"), f.value(8 * size, WHOLE))
        y = f.new_array(f.value(n_out, WHOLE))
        f.give_if_done(y, f.call(f"{name}.once", CODE, given[0] if joined is None else joined, given[-1], f.field(y, "data")))
    return f"{_GLOBALS}\n{_numbers()}\n{f.converted()}"


def states_in_rows(name: str, sizes: Sequence[int], n_out: int) -> str:
    """The call of `name.batch`, likewise."""
    f = _CallFunction(f"{name}.call", POINTER, POINTER, POINTER, WHOLE, exported=True)
    parts, n = f.room(WHOLE, len(_PART) * len(sizes)), f.value(_ONE_FOR_ALL, WHOLE)
    with ExitStack() as known:
        known.enter_context(f.when(f.same(f.parameters[2], len(sizes))))
        for k, size in enumerate(sizes):
            part = f.emit(POINTER, f"getelementptr {WHOLE}, {parts}, i64 {len(_PART) * k}")
            rows = f.call("rows", WHOLE, f.argument(k), f.value(size, WHOLE), part)
            one = f.same(rows, _ONE_FOR_ALL)
            # as many as of those before; only states say how many there are
            fits = f.same(rows, n) | one
            fits = fits | f.same(n, _ONE_FOR_ALL) if k < len(sizes) - 1 else fits
            known.enter_context(f.when(fits & rows.differs(_OTHER)))
            n = f.choose(one, n, rows)
        known.enter_context(f.when(n > 0))
        y, given = f.new_array(n, f.value(n_out, WHOLE)), Record(part, _PART)
        numbers, P, step = f.field(y, "data"), given.rows, given.step
        # filled without holding the interpreter
        thread = f.call(f.known("save_thread"), POINTER)
        status = f.call(f"{name}.batch", CODE, parts, P, numbers, n, step)
        f.line(f"call void {f.known('restore_thread').name}({thread})")
        f.give_if_done(y, status)
    return f"{_GLOBALS}\n{_numbers()}\n{_rows()}\n{f.converted()}"


class _CallFunction(NativeFunction):
    """A native function that knows objects and functions of this process."""

    def known(self, name: str) -> Value:
        """From the table."""
        return self.emit(POINTER, f"load ptr, ptr getelementptr (ptr, ptr @python, i64 {TABLE.index(name)}), align 8")

    def field(self, o: Value, name: str, kind: str = POINTER) -> Value:
        """A field of an array."""
        at = self.emit(POINTER, f"getelementptr i8, {o}, i64 {HEADER + FIELDS[name]}")
        return self.emit(kind, f"load {kind}, {at}, align 4")

    def same(self, a: Value, b: Operand) -> Value:
        """Whether the two are equal."""
        return ~a.differs(b)

    def is_dense(self, o: Value, dimensions: int) -> Value:
        """Whether an array has so many dimensions, and doubles in a row."""
        flags = self.emit(CODE, f"and {self.field(o, 'flags', CODE)}, {IN_A_ROW_AND_ALIGNED}")
        doubles = self.same(self.field(o, "dtype"), self.known("float64"))
        return self.same(self.field(o, "dimensions", CODE), dimensions) & doubles & self.same(flags, IN_A_ROW_AND_ALIGNED)

    def room(self, kind: str, count: int) -> Value:
        """Room on the stack."""
        return self.at_entry(POINTER, f"alloca {kind}, i64 {max(1, count)}, align 8")

    def copy(self, source: Value, target: Value, count: Value) -> None:
        """So many bytes."""
        self.line(f"call void @llvm.memcpy.p0.p0.i64({target}, {source}, {count}, i1 false)")

    def argument(self, k: int) -> Value:
        """The k-th argument of a call."""
        return Array(self.parameters[1], POINTER)[k]

    def new_array(self, *shape: Value) -> Value:
        """An array of doubles of this shape; without memory for it null is returned at once."""
        lengths = self.room(WHOLE, len(shape))
        for k, length in enumerate(shape):
            Array(lengths, WHOLE)[k] = length
        nothing, zero = self.value(0, POINTER), self.value(0, CODE)
        what = self.known("ndarray"), self.value(len(shape), CODE), lengths, self.value(_A_DOUBLE, CODE)
        y = self.call(self.known("new_array"), POINTER, *what, nothing, nothing, zero, zero, nothing)
        with self.when(self.same(y, 0)):
            self.give(0)
        return y

    def give_if_done(self, y: Value, status: Value) -> None:
        """Return the array where it was filled, and drop it elsewhere."""
        with self.when(self.same(status, 0)):
            self.give(y)
        self.line(f"call void {self.known('release').name}({y})")

    def converted(self) -> str:
        """What was not returned so far: the own method `convert` with this object and all arguments."""
        own, arguments, count = self.parameters
        again = self.emit(POINTER, f"alloca ptr, {count + 1}, align 8")
        Array(again, POINTER)[0] = own
        self.copy(arguments, self.emit(POINTER, f"getelementptr ptr, {again}, i64 1"), count * 8)
        self.give(self.call(self.known("vectorcall"), POINTER, self.known("convert"), again, count + 1, self.value(0, POINTER)))
        return self.text()


_GLOBALS: Final = f"""@python = global [{len(TABLE)} x ptr] zeroinitializer, align 8
declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)"""


def _numbers() -> str:
    """The numbers of an array of n doubles, or of a float where n is 1; null for any other object."""
    f = _CallFunction("numbers", POINTER, POINTER, WHOLE, attributes=_SHORT)
    o, n = f.parameters
    kind = f.field(o, "type")
    with f.when(kind.differs(f.known("ndarray"))):
        value = f.emit(POINTER, f"getelementptr i8, {o}, i64 {HEADER}")
        f.give(f.choose(f.same(kind, f.known("float")) & f.same(n, 1), value, 0))
    with f.when(f.is_dense(o, 1)):
        f.give(f.choose(f.same(Array(f.field(o, "lengths"), WHOLE)[0], n), f.field(o, "data"), 0))
    f.give(0)
    return f.text()


def _rows() -> str:
    """How many rows of so many numbers an array has; its numbers and the step from row to row are noted."""
    f = _CallFunction("rows", WHOLE, POINTER, WHOLE, POINTER, attributes=_SHORT)
    o, width, pointer = f.parameters
    part = Record(pointer, _PART)
    with f.when(f.same(f.field(o, "type"), f.known("ndarray"))), f.when(f.is_dense(o, 2)):
        lengths = Array(f.field(o, "lengths"), WHOLE)
        part.rows, part.step = f.field(o, "data"), width
        f.give(f.choose(f.same(lengths[1], width), lengths[0], _OTHER))
    row = f.call("numbers", POINTER, o, width)
    part.rows, part.step = row, 0
    f.give(f.choose(row.differs(0), f.value(_ONE_FOR_ALL, WHOLE), _OTHER))
    return f.text()
