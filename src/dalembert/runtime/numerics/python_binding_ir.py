"""The native side of calls from Python, as LLVM text.

    PyObject *name.call(PyObject *self, PyObject **arguments, Py_ssize_t count)

Arguments are the parts of a state, or of states in rows, and the parameters. An array of exactly
the expected number of doubles in a row, or a float for one of them, is read where it is; of states
in rows an argument is a table of n rows, or one row for all of them, and other threads of Python
run meanwhile. Whatever else is given goes to the method `convert` of the object that the function
belongs to.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from typing import Final

from dalembert.runtime.numerics.ir_builder import (
    FunctionBuilder,
    Operand,
    StructView,
    Value,
    VectorArray,
)
from dalembert.runtime.numerics.llvm_types import DOUBLE, INT32, INT64, POINTER
from dalembert.runtime.numerics.python_binding import (
    C_CONTIGUOUS_ALIGNED,
    FIELDS,
    HEADER,
    PROCESS_TABLE,
)

# what numpy calls a double
_NPY_DOUBLE: Final = 12
# what `rows` gives where one row holds for all states, and where it cannot read
_BROADCAST: Final = -1
_UNREADABLE: Final = -2
# a part of the states, as `rows.batch` takes it
_PART: Final = (("rows", POINTER), ("step", INT64))
_HELPER_ATTRIBUTES: Final = "noinline nounwind"


def single_call_ir(name: str, sizes: Sequence[int], n_out: int) -> str:
    """The call of `name.once`, for parts of the state and parameters of these sizes, and the given
    number of results.
    """
    *parts, _ = sizes
    f = _BindingBuilder(f"{name}.call", POINTER, POINTER, POINTER, INT64, exported=True)
    joined, given = f.alloca(DOUBLE, sum(parts)) if len(parts) > 1 else None, []
    with ExitStack() as known:
        known.enter_context(f.if_then(f.equal(f.parameters[2], len(sizes))))
        for k, size in enumerate(sizes):
            given.append(f.call("numbers", POINTER, f.argument(k), f.value(size, INT64)))
            known.enter_context(f.if_then(given[-1].not_equal(0)))
        if joined is not None:
            for k, size in enumerate(parts):
                f.memcpy(
                    given[k],
                    f.emit(POINTER, f"getelementptr {DOUBLE}, {joined}, i64 {sum(parts[:k])}"),
                    f.value(8 * size, INT64),
                )
        y = f.new_array(f.value(n_out, INT64))
        f.return_or_release(
            y,
            f.call(
                f"{name}.once",
                INT32,
                given[0] if joined is None else joined,
                given[-1],
                f.load_field(y, "data"),
            ),
        )
    return f"{_GLOBALS}\n{_data_pointer_ir()}\n{f.fallback_ir()}"


def batch_call_ir(name: str, sizes: Sequence[int], n_out: int) -> str:
    """The call of `name.batch`, likewise."""
    f = _BindingBuilder(f"{name}.call", POINTER, POINTER, POINTER, INT64, exported=True)
    parts, n = f.alloca(INT64, len(_PART) * len(sizes)), f.value(_BROADCAST, INT64)
    with ExitStack() as known:
        known.enter_context(f.if_then(f.equal(f.parameters[2], len(sizes))))
        for k, size in enumerate(sizes):
            part = f.emit(POINTER, f"getelementptr {INT64}, {parts}, i64 {len(_PART) * k}")
            rows = f.call("rows", INT64, f.argument(k), f.value(size, INT64), part)
            one = f.equal(rows, _BROADCAST)
            # as many as of those before; only states say how many there are
            fits = f.equal(rows, n) | one
            fits = fits | f.equal(n, _BROADCAST) if k < len(sizes) - 1 else fits
            known.enter_context(f.if_then(fits & rows.not_equal(_UNREADABLE)))
            n = f.select(one, n, rows)
        known.enter_context(f.if_then(n > 0))
        y, given = f.new_array(n, f.value(n_out, INT64)), StructView(part, _PART)
        numbers, P, step = f.load_field(y, "data"), given.rows, given.step
        # filled without holding the interpreter
        thread = f.call(f.process_pointer("save_thread"), POINTER)
        status = f.call(f"{name}.batch", INT32, parts, P, numbers, n, step)
        f.line(f"call void {f.process_pointer('restore_thread').name}({thread})")
        f.return_or_release(y, status)
    return f"{_GLOBALS}\n{_data_pointer_ir()}\n{_row_count_ir()}\n{f.fallback_ir()}"


class _BindingBuilder(FunctionBuilder):
    """A native function that knows objects and functions of this process."""

    def process_pointer(self, name: str) -> Value:
        """From the table."""
        return self.emit(
            POINTER,
            f"load ptr, ptr getelementptr (ptr, ptr @python, i64 {PROCESS_TABLE.index(name)}), "
            f"align 8",
        )

    def load_field(self, o: Value, name: str, kind: str = POINTER) -> Value:
        """A field of an array."""
        at = self.emit(POINTER, f"getelementptr i8, {o}, i64 {HEADER + FIELDS[name]}")
        return self.emit(kind, f"load {kind}, {at}, align 4")

    def equal(self, a: Value, b: Operand) -> Value:
        """Whether the two are equal."""
        return ~a.not_equal(b)

    def is_dense(self, o: Value, dimensions: int) -> Value:
        """Whether an array has the given number of dimensions, and doubles in a row."""
        flags = self.emit(
            INT32, f"and {self.load_field(o, 'flags', INT32)}, {C_CONTIGUOUS_ALIGNED}"
        )
        doubles = self.equal(self.load_field(o, "dtype"), self.process_pointer("float64"))
        return (
            self.equal(self.load_field(o, "dimensions", INT32), dimensions)
            & doubles
            & self.equal(flags, C_CONTIGUOUS_ALIGNED)
        )

    def alloca(self, kind: str, count: int) -> Value:
        """Room on the stack."""
        return self.emit_at_entry(POINTER, f"alloca {kind}, i64 {max(1, count)}, align 8")

    def memcpy(self, source: Value, target: Value, count: Value) -> None:
        """The given number of bytes."""
        self.line(f"call void @llvm.memcpy.p0.p0.i64({target}, {source}, {count}, i1 false)")

    def argument(self, k: int) -> Value:
        """The k-th argument of a call."""
        return VectorArray(self.parameters[1], POINTER)[k]

    def new_array(self, *shape: Value) -> Value:
        """An array of doubles of this shape; without memory for it null is returned at once."""
        lengths = self.alloca(INT64, len(shape))
        for k, length in enumerate(shape):
            VectorArray(lengths, INT64)[k] = length
        nothing, zero = self.value(0, POINTER), self.value(0, INT32)
        what = (
            self.process_pointer("ndarray"),
            self.value(len(shape), INT32),
            lengths,
            self.value(_NPY_DOUBLE, INT32),
        )
        y = self.call(
            self.process_pointer("new_array"), POINTER, *what, nothing, nothing, zero, zero, nothing
        )
        with self.if_then(self.equal(y, 0)):
            self.ret(0)
        return y

    def return_or_release(self, y: Value, status: Value) -> None:
        """Return the array where it was filled, and drop it elsewhere."""
        with self.if_then(self.equal(status, 0)):
            self.ret(y)
        self.line(f"call void {self.process_pointer('release').name}({y})")

    def fallback_ir(self) -> str:
        """What was not returned so far: the own method `convert` with this object and all
        arguments.
        """
        own, arguments, count = self.parameters
        again = self.emit(POINTER, f"alloca ptr, {count + 1}, align 8")
        VectorArray(again, POINTER)[0] = own
        self.memcpy(arguments, self.emit(POINTER, f"getelementptr ptr, {again}, i64 1"), count * 8)
        self.ret(
            self.call(
                self.process_pointer("vectorcall"),
                POINTER,
                self.process_pointer("convert"),
                again,
                count + 1,
                self.value(0, POINTER),
            )
        )
        return self.text()


_GLOBALS: Final = f"""@python = global [{len(PROCESS_TABLE)} x ptr] zeroinitializer, align 8
declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)"""


def _data_pointer_ir() -> str:
    """The numbers of an array of n doubles, or of a float where n is 1; null for any other
    object.
    """
    f = _BindingBuilder("numbers", POINTER, POINTER, INT64, attributes=_HELPER_ATTRIBUTES)
    o, n = f.parameters
    kind = f.load_field(o, "type")
    with f.if_then(kind.not_equal(f.process_pointer("ndarray"))):
        value = f.emit(POINTER, f"getelementptr i8, {o}, i64 {HEADER}")
        f.ret(f.select(f.equal(kind, f.process_pointer("float")) & f.equal(n, 1), value, 0))
    with f.if_then(f.is_dense(o, 1)):
        f.ret(
            f.select(
                f.equal(VectorArray(f.load_field(o, "lengths"), INT64)[0], n),
                f.load_field(o, "data"),
                0,
            )
        )
    f.ret(0)
    return f.text()


def _row_count_ir() -> str:
    """How many rows of the given width an array has; its numbers and the step from row to row are
    noted.
    """
    f = _BindingBuilder("rows", INT64, POINTER, INT64, POINTER, attributes=_HELPER_ATTRIBUTES)
    o, width, pointer = f.parameters
    part = StructView(pointer, _PART)
    with (
        f.if_then(f.equal(f.load_field(o, "type"), f.process_pointer("ndarray"))),
        f.if_then(f.is_dense(o, 2)),
    ):
        lengths = VectorArray(f.load_field(o, "lengths"), INT64)
        part.rows, part.step = f.load_field(o, "data"), width
        f.ret(f.select(f.equal(lengths[1], width), lengths[0], _UNREADABLE))
    row = f.call("numbers", POINTER, o, width)
    part.rows, part.step = row, 0
    f.ret(f.select(row.not_equal(0), f.value(_BROADCAST, INT64), _UNREADABLE))
    return f.text()
