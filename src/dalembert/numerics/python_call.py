"""The way from Python into compiled code: a built-in function made at run time.

    PyObject *name.call(PyObject *self, PyObject **arguments, Py_ssize_t count)

It reads the numbers where Python and numpy keep them, so that a call costs no conversion. Whatever is
not an array of exactly so many doubles in a row, or a float for one of them, goes to `FastCall.convert`,
which converts it or says what is wrong.
"""

from __future__ import annotations

import ctypes
import functools
import itertools
import sys
from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy
from numpy.typing import NDArray

from dalembert.errors import DalembertError
from dalembert.numerics.jit import Library

Array = NDArray[numpy.float64]

# without letting go of the interpreter: a call is shorter than that takes
_ONCE: Final = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p)
HEADER: Final = object.__basicsize__
_DOUBLE: Final = numpy.dtype(numpy.float64)
# the fields of a numpy array, after the header of every object
FIELDS: Final = {"data": 0, "dimensions": 8, "lengths": 16, "dtype": 40, "flags": 48}
IN_A_ROW_AND_ALIGNED: Final = 0x101
# what the native side must know about this process
_OBJECTS: Final = ("ndarray", "float64", "float", "convert", "new_array")
_FUNCTIONS: Final = {
    "vectorcall": "PyObject_Vectorcall",
    "release": "Py_DecRef",
    "save_thread": "PyEval_SaveThread",
    "restore_thread": "PyEval_RestoreThread",
}
_TABLE: Final = (*_OBJECTS, *_FUNCTIONS)
_FASTCALL: Final = 0x80
# where numpy's table has PyArray_New, and what numpy calls a double
_NEW_ARRAY: Final = 93
_A_DOUBLE: Final = 12


class BadArguments(DalembertError):
    """Numbers for a compiled function that are not as many as it has symbols."""


def exports(name: str) -> tuple[str, ...]:
    """The names that a `FastCall` looks for in a library."""
    return f"{name}.once", f"{name}.call", "python"


class FastCall:
    """One compiled function of `sizes` numbers, for Python; it keeps the code alive."""

    def __init__(self, library: Library, name: str, sizes: Sequence[int], n_out: int) -> None:
        self.library, self.sizes, self.n_out = library, tuple(sizes), n_out
        self._once = _ONCE(library.address(f"{name}.once"))
        # of calls that are through, for those to come
        self._spare: list[_Memory] = []
        if LAYOUT_IS_KNOWN:
            fill_table(library.address("python"), FastCall.convert)
        self._definition = definition(library.address(f"{name}.call"), b"Values of the compiled expressions at one state.")

    def function(self) -> Callable[..., Array]:
        """The function for Python; it keeps this object, and so the code, alive."""
        return function(self, self._definition, functools.partial(FastCall.convert, self))

    def convert(self, *arguments: Any) -> Array:
        """The values at one state, for arguments of any kind that means so many numbers."""
        self.check_count(arguments)
        try:
            memory = self._spare.pop()
        except IndexError:
            memory = _Memory(self.sizes, self.n_out)
        for k, (row, a) in enumerate(zip(memory.rows, arguments, strict=True)):
            row[:] = a if type(a) is numpy.ndarray and a.dtype is _DOUBLE and a.shape == row.shape else self._row(k, a)
        if self._once(*memory.addresses):
            raise MemoryError
        y = memory.y.copy()
        self._spare.append(memory)
        return y

    def check_count(self, arguments: Sequence[Any]) -> None:
        """Refuse too many or too few arguments."""
        if len(arguments) != len(self.sizes):
            msg = f"expected {len(self.sizes)} arguments, the last of them the parameters; got {len(arguments)}"
            raise BadArguments(msg)

    def called(self, k: int) -> str:
        """How messages call argument k."""
        if k == len(self.sizes) - 1:
            return "the parameters"
        return "the state" if len(self.sizes) == 2 else f"part {k + 1} of the state"

    def _row(self, k: int, a: Any) -> Array:
        """Argument k as an array of its size."""
        row, size = numbers(a, k, self.called), self.sizes[k]
        if row.shape != (size,) and not (size == 1 and row.shape == ()):
            msg = f"expected {size} number{'' if size == 1 else 's'} for {self.called(k)}; got an array of shape {row.shape}"
            raise BadArguments(msg)
        return row.reshape(size)


class _Memory:
    """State, parameters and result of one call at addresses that stay: to ask an array for its address takes longer than to copy it."""

    def __init__(self, sizes: Sequence[int], n_out: int) -> None:
        *parts, n_p = sizes
        x, p, self.y = numpy.empty(sum(parts)), numpy.empty(n_p), numpy.empty(n_out)
        ends = list(itertools.accumulate(parts))
        self.rows = (*(x[end - size : end] for end, size in zip(ends, parts, strict=True)), p)
        self.addresses = tuple(row.ctypes.data for row in (x, p, self.y))


def numbers(a: Any, k: int, called: Callable[[int], str]) -> Array:
    """Argument k as an array of doubles in a row; `called` says how a message calls it."""
    if type(a) is numpy.ndarray and a.dtype is _DOUBLE and a.flags.num & IN_A_ROW_AND_ALIGNED == IN_A_ROW_AND_ALIGNED:
        return a
    try:
        # asked first: numpy warns of the parts it drops and goes on
        is_complex = numpy.iscomplexobj(a)
        found = None if is_complex else numpy.require(a, numpy.float64, ("C", "A"))
    except (TypeError, ValueError) as error:
        msg = f"{called(k)} must be numbers; got {a!r}"
        raise BadArguments(msg) from error
    if found is None:
        msg = f"{called(k)} must be real numbers; got {a!r}"
        raise BadArguments(msg)
    return found


def address(a: Array) -> int:
    """Where the numbers of an array are; to ask numpy takes ten times as long as to look where it keeps that."""
    if not LAYOUT_IS_KNOWN:
        return a.ctypes.data
    return ctypes.c_void_p.from_address(id(a) + HEADER + FIELDS["data"]).value or 0


# ---- what Python must know about the native side, and the native side about Python -------------------


class _MethodDef(ctypes.Structure):
    """PyMethodDef of Python's C interface."""

    _fields_ = (("name", ctypes.c_char_p), ("function", ctypes.c_void_p), ("flags", ctypes.c_int), ("doc", ctypes.c_char_p))


@functools.cache
def _new_function() -> Any:
    new = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.c_void_p, ctypes.py_object, ctypes.c_void_p)
    return new(("PyCFunction_NewEx", ctypes.pythonapi))


def definition(address: int, doc: bytes) -> _MethodDef:
    """How Python is told of the native function at an address; it must live as long as the function."""
    return _MethodDef(b"call", address, _FASTCALL, doc)


def function(owner: object, definition: _MethodDef, converting: Callable[..., Array]) -> Callable[..., Array]:
    """The function for Python, which keeps its owner alive; `converting` where objects lie otherwise than the native side believes."""
    if not LAYOUT_IS_KNOWN:
        return converting
    return _new_function()(ctypes.byref(definition), owner, None)  # type: ignore[no-any-return]


def fill_table(address: int, convert: Callable[..., Array]) -> None:
    """Objects and functions of this process, in the order of _TABLE; all of them are always there."""
    objects = [id(o) for o in (numpy.ndarray, numpy.dtype(numpy.float64), float, convert)]
    (ctypes.c_void_p * len(_TABLE)).from_address(address)[:] = [*objects, _new_array(), *_functions()]


@functools.cache
def _new_array() -> int:
    """PyArray_New of numpy's C interface, whose functions keep their places from version to version."""
    pointer = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_void_p)(("PyCapsule_GetPointer", ctypes.pythonapi))
    core = numpy._core if hasattr(numpy, "_core") else numpy.core  # noqa: SLF001 - its name up to numpy 1 was without the underscore
    return int((ctypes.c_size_t * (_NEW_ARRAY + 1)).from_address(pointer(core.multiarray._ARRAY_API, None))[_NEW_ARRAY])  # noqa: SLF001


@functools.cache
def _functions() -> tuple[int | None, ...]:
    return tuple(ctypes.cast(getattr(ctypes.pythonapi, name), ctypes.c_void_p).value for name in _FUNCTIONS.values())


def _layout_is_known() -> bool:
    """Whether objects lie in memory as the native side believes; otherwise every call is converted."""
    if sys.implementation.name != "cpython" or ctypes.sizeof(ctypes.c_void_p) != 8:
        return False
    x, start = numpy.arange(3.0), HEADER

    def word(o: object, offset: int, kind: Any = ctypes.c_void_p) -> Any:
        return kind.from_address(id(o) + offset).value

    return bool(
        word(x, start - 8) == id(numpy.ndarray)
        and word(x, start + FIELDS["data"]) == x.ctypes.data
        and word(x, start + FIELDS["dimensions"], ctypes.c_int) == 1
        and ctypes.c_int64.from_address(word(x, start + FIELDS["lengths"])).value == 3
        and word(x, start + FIELDS["dtype"]) == id(numpy.dtype(numpy.float64))
        and word(x, start + FIELDS["flags"], ctypes.c_int) == x.flags.num
        and word(1.5, start, ctypes.c_double) == 1.5
    )


# decided where this is imported, by what numpy and Python are there
LAYOUT_IS_KNOWN: Final = _layout_is_known()


# ---- the native side ---------------------------------------------------------------------------------


def text(name: str, sizes: Sequence[int], n_out: int) -> str:
    """The built-in function, in LLVM text, for parts of the state and parameters of these sizes, and so many results."""
    *parts, _ = sizes
    arguments = [f"%d{k}" for k in range(len(sizes))]
    lines = [f"define ptr @{name}.call(ptr %self, ptr %arguments, i64 %count) nounwind {{"]
    if len(parts) > 1:
        lines.append(f"  %x = alloca double, i64 {max(1, sum(parts))}, align 8")
    lines += [f"  %right = icmp eq i64 %count, {len(sizes)}", "  br i1 %right, label %take0, label %slow"]
    for k, size in enumerate(sizes):
        lines += [f"take{k}:", f"  %a{k} = getelementptr ptr, ptr %arguments, i64 {k}", f"  %o{k} = load ptr, ptr %a{k}, align 8"]
        lines += [f"  %d{k} = call ptr @numbers(ptr %o{k}, i64 {size})", f"  %bad{k} = icmp eq ptr %d{k}, null"]
        lines.append(f"  br i1 %bad{k}, label %slow, label %take{k + 1}")
    lines.append(f"take{len(sizes)}:")
    lines += _joined(parts) if len(parts) > 1 else []
    state = "%x" if len(parts) > 1 else arguments[0]
    body = _CALL.replace("<once>", f"@{name}.once(ptr {state}, ptr {arguments[-1]}, ptr %numbers)")
    lines += [f"  %shape = alloca i64, i64 1, align 8\n  store i64 {n_out}, ptr %shape, align 8"]
    return "\n".join([NATIVE_TABLE, NUMBERS, *lines, body, SLOW])


def _joined(parts: Sequence[int]) -> list[str]:
    """The parts of the state copied into one row."""
    lines, offset = [], 0
    for k, size in enumerate(parts):
        lines.append(f"  %x{k} = getelementptr double, ptr %x, i64 {offset}")
        lines.append(f"  call void @llvm.memcpy.p0.p0.i64(ptr align 8 %x{k}, ptr align 8 %d{k}, i64 {8 * size}, i1 false)")
        offset += size
    return lines


NATIVE_TABLE: Final = f"""@python = global [{len(_TABLE)} x ptr] zeroinitializer, align 8
declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)"""


def known(name: str) -> str:
    """%name from the table."""
    return f"  %{name} = load ptr, ptr getelementptr (ptr, ptr @python, i64 {_TABLE.index(name)}), align 8"


def field(name: str, kind: str, of: str = "%o") -> str:
    """%name, a field of an array."""
    return f"""  %{name}.at = getelementptr i8, ptr {of}, i64 {HEADER + FIELDS[name]}
  %{name} = load {kind}, ptr %{name}.at, align 4"""


def new_array(dimensions: int) -> str:
    """%y, an array of doubles whose %shape has so many dimensions."""
    return f"""{known("new_array")}
{known("ndarray")}
  %y = call ptr %new_array(ptr %ndarray, i32 {dimensions}, ptr %shape, i32 {_A_DOUBLE}, ptr null, ptr null, i32 0, i32 0, ptr null)"""


# a new array for the result, filled
_CALL: Final = f"""
{new_array(1)}
  %failed = icmp eq ptr %y, null
  br i1 %failed, label %give, label %fill
fill:
  %numbers.at = getelementptr i8, ptr %y, i64 {HEADER + FIELDS["data"]}
  %numbers = load ptr, ptr %numbers.at, align 8
  %status = call i32 <once>
  %done = icmp eq i32 %status, 0
  br i1 %done, label %give, label %drop
drop:
{known("release")}
  call void %release(ptr %y)
  br label %slow
give:
  ret ptr %y
slow:"""

# the own method `convert` with this object and all arguments
SLOW: Final = f"""
{known("convert")}
  %vectorcall.again = load ptr, ptr getelementptr (ptr, ptr @python, i64 {_TABLE.index("vectorcall")}), align 8
  %all = add i64 %count, 1
  %again = alloca ptr, i64 %all, align 8
  store ptr %self, ptr %again, align 8
  %rest = getelementptr ptr, ptr %again, i64 1
  %bytes = mul i64 %count, 8
  call void @llvm.memcpy.p0.p0.i64(ptr align 8 %rest, ptr align 8 %arguments, i64 %bytes, i1 false)
  %converted = call ptr %vectorcall.again(ptr %convert, ptr %again, i64 %all, ptr null)
  ret ptr %converted
}}"""

# the numbers of an array of n doubles, or of a float where n is 1; null for any other object
NUMBERS: Final = f"""define internal ptr @numbers(ptr %o, i64 %n) noinline nounwind {{
{known("ndarray")}
{known("float64")}
{known("float")}
  %type.at = getelementptr i8, ptr %o, i64 {HEADER - 8}
  %type = load ptr, ptr %type.at, align 8
  %is.array = icmp eq ptr %type, %ndarray
  br i1 %is.array, label %shape, label %scalar
scalar:
  %is.float = icmp eq ptr %type, %float
  %is.one = icmp eq i64 %n, 1
  %alone = and i1 %is.float, %is.one
  %at = getelementptr i8, ptr %o, i64 {HEADER}
  %value = select i1 %alone, ptr %at, ptr null
  ret ptr %value
shape:
{field("dimensions", "i32")}
{field("dtype", "ptr")}
{field("flags", "i32")}
  %kept = and i32 %flags, {IN_A_ROW_AND_ALIGNED}
  %is.row = icmp eq i32 %dimensions, 1
  %is.double = icmp eq ptr %dtype, %float64
  %is.dense = icmp eq i32 %kept, {IN_A_ROW_AND_ALIGNED}
  %a = and i1 %is.row, %is.double
  %b = and i1 %a, %is.dense
  br i1 %b, label %length, label %refuse
length:
{field("lengths", "ptr")}
  %size = load i64, ptr %lengths, align 8
  %fits = icmp eq i64 %size, %n
{field("data", "ptr")}
  %numbers = select i1 %fits, ptr %data, ptr null
  ret ptr %numbers
refuse:
  ret ptr null
}}"""
