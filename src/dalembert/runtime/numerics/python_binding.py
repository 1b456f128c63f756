"""The way from Python into compiled code, for one state or for states in rows: built-in functions
made at run time.

They read the numbers where Python and numpy keep them (`python_binding_ir` is their native side),
so that a call costs no conversion. Whatever they cannot read so goes to `convert`, which converts
it or says what is wrong.
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
from dalembert.runtime.numerics.jit import Library

Array = NDArray[numpy.float64]

# without letting go of the interpreter: a call is shorter than that takes
_ONCE: Final = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p)
_BATCH: Final = ctypes.CFUNCTYPE(
    ctypes.c_int, *[ctypes.c_void_p] * 3, ctypes.c_int64, ctypes.c_int64
)
HEADER: Final = object.__basicsize__
_DOUBLE: Final = numpy.dtype(numpy.float64)
# the type of any object, and the fields of a numpy array, from the end of the header of every
# object on
FIELDS: Final = {"type": -8, "data": 0, "dimensions": 8, "lengths": 16, "dtype": 40, "flags": 48}
C_CONTIGUOUS_ALIGNED: Final = 0x101
# what the native side must know about this process
_OBJECTS: Final = ("ndarray", "float64", "float", "convert", "new_array")
_FUNCTIONS: Final = {
    "vectorcall": "PyObject_Vectorcall",
    "release": "Py_DecRef",
    "save_thread": "PyEval_SaveThread",
    "restore_thread": "PyEval_RestoreThread",
}
PROCESS_TABLE: Final = (*_OBJECTS, *_FUNCTIONS)
_FASTCALL: Final = 0x80
# where numpy's table has PyArray_New
_NEW_ARRAY: Final = 93


class BadArguments(DalembertError):
    """Arguments of a compiled function in the wrong number or shape."""


class NativeCall:
    """One compiled function for Python."""

    def __init__(self, library: Library, name: str, doc: bytes) -> None:
        self.library = library
        if OBJECT_LAYOUT_IS_KNOWN:
            _fill_table(library.address("python"), type(self).convert_and_call)
        # it must live as long as the function
        self._definition = _MethodDef(b"call", library.address(f"{name}.call"), _FASTCALL, doc)

    def function(self) -> Callable[..., Array]:
        """The function for Python; it keeps this object, and so the code, alive."""
        # where objects lie otherwise than the native side believes every call is converted
        return (
            _new_function()(ctypes.byref(self._definition), self, None)
            if OBJECT_LAYOUT_IS_KNOWN
            else self.convert_and_call
        )

    def convert_and_call(self, *arguments: Any) -> Array:
        """The values for arguments of any kind that means such numbers."""
        raise NotImplementedError


class SingleCall(NativeCall):
    """One compiled function of `sizes` numbers, at one state."""

    def __init__(self, library: Library, name: str, sizes: Sequence[int], n_out: int) -> None:
        super().__init__(library, name, b"Values of the compiled expressions at one state.")
        self.sizes, self.n_out = tuple(sizes), n_out
        self._once = _ONCE(library.address(f"{name}.once"))
        # of calls that are through, for those to come
        self._free_buffers: list[_CallBuffers] = []

    def convert_and_call(self, *arguments: Any) -> Array:
        self.check_count(arguments)
        try:
            memory = self._free_buffers.pop()
        except IndexError:
            memory = _CallBuffers(self.sizes, self.n_out)
        for k, (row, a) in enumerate(zip(memory.rows, arguments, strict=True)):
            row[:] = (
                a
                if type(a) is numpy.ndarray and a.dtype is _DOUBLE and a.shape == row.shape
                else self._argument_array(k, a)
            )
        if self._once(*memory.addresses):
            raise MemoryError
        y = memory.y.copy()
        self._free_buffers.append(memory)
        return y

    def check_count(self, arguments: Sequence[Any]) -> None:
        """Refuse too many or too few arguments."""
        if len(arguments) != len(self.sizes):
            msg = (
                f"expected {len(self.sizes)} arguments, the last of them the parameters; got "
                f"{len(arguments)}"
            )
            raise BadArguments(msg)

    def argument_name(self, k: int) -> str:
        """How messages call argument k."""
        if k == len(self.sizes) - 1:
            return "the parameters"
        return "the state" if len(self.sizes) == 2 else f"part {k + 1} of the state"

    def _argument_array(self, k: int, a: Any) -> Array:
        """Argument k as an array of its size."""
        row, size = as_doubles(a, k, self.argument_name), self.sizes[k]
        if row.shape != (size,) and not (size == 1 and row.shape == ()):
            msg = (
                f"expected {size} number{'' if size == 1 else 's'} for {self.argument_name(k)}; "
                f"got an array of shape {row.shape}"
            )
            raise BadArguments(msg)
        return row.reshape(size)


class BatchCall(NativeCall):
    """One compiled function for rows of states; `one` is the same for one state, and says what
    the arguments are called.
    """

    def __init__(self, library: Library, name: str, one: SingleCall) -> None:
        super().__init__(library, name, b"Values of the compiled expressions at states in rows.")
        self._one, self._batch = one, _BATCH(library.address(f"{name}.batch"))
        self._table = ctypes.c_int64 * (2 * len(one.sizes) - 2)

    def convert_and_call(self, *arguments: Any) -> Array:
        one = self._one
        one.check_count(arguments)
        *parts, P = [as_doubles(a, k, one.argument_name) for k, a in enumerate(arguments)]
        n = max([len(a) for a in parts if a.ndim == 2], default=1)
        for k, (a, size) in enumerate(zip(parts, one.sizes, strict=False)):
            if a.shape != (n, size) and a.shape != (size,) and not (size == 1 and a.ndim == 0):
                many = (
                    f"{n} rows of {size} numbers, as many as of the others,"
                    if a.shape[1:] == (size,)
                    else f"rows of {size} numbers"
                )
                msg = f"expected {many} for {one.argument_name(k)}; got an array of shape {a.shape}"
                raise BadArguments(msg)
        n_parameters = one.sizes[-1]
        if P.shape not in ((n_parameters,), (n, n_parameters)):
            msg = (
                f"expected {n_parameters} parameters, or a row of them for each of {n} states; "
                f"got an array of shape {P.shape}"
            )
            raise BadArguments(msg)
        Y = numpy.empty((n, one.n_out))
        table = self._table(*[x for a in parts for x in (data_address(a), _row_stride(a))])
        if n and self._batch(
            ctypes.addressof(table), data_address(P), data_address(Y), n, _row_stride(P)
        ):
            raise MemoryError
        return Y


def _row_stride(a: Array) -> int:
    """How far it is from row to row; 0 where one holds for all."""
    return a.strides[0] // a.itemsize if a.ndim == 2 else 0


class _CallBuffers:
    """State, parameters and result of one call at addresses that stay: to ask an array for its
    address takes longer than to copy it.
    """

    def __init__(self, sizes: Sequence[int], n_out: int) -> None:
        *parts, n_p = sizes
        x, p, self.y = numpy.empty(sum(parts)), numpy.empty(n_p), numpy.empty(n_out)
        ends = list(itertools.accumulate(parts))
        self.rows = (*(x[end - size : end] for end, size in zip(ends, parts, strict=True)), p)
        self.addresses = tuple(row.ctypes.data for row in (x, p, self.y))


def as_doubles(a: Any, k: int, called: Callable[[int], str]) -> Array:
    """Argument k as an array of doubles in a row; `called` says how a message calls it."""
    if (
        type(a) is numpy.ndarray
        and a.dtype is _DOUBLE
        and a.flags.num & C_CONTIGUOUS_ALIGNED == C_CONTIGUOUS_ALIGNED
    ):
        return a
    try:
        # checked first: numpy only warns of the parts it drops
        is_complex = numpy.iscomplexobj(a)
        array = None if is_complex else numpy.require(a, numpy.float64, ("C", "A"))
    except (TypeError, ValueError) as error:
        msg = f"{called(k)} must be numbers; got {a!r}"
        raise BadArguments(msg) from error
    if array is None:
        msg = f"{called(k)} must be real numbers; got {a!r}"
        raise BadArguments(msg)
    return array


def data_address(a: Array) -> int:
    """Where the numbers of an array are; to ask numpy takes ten times as long as to look where
    it keeps that.
    """
    if not OBJECT_LAYOUT_IS_KNOWN:
        return a.ctypes.data
    return ctypes.c_void_p.from_address(id(a) + HEADER + FIELDS["data"]).value or 0


# ---- what Python must know about the native side, and the native side about Python
# -------------------


class _MethodDef(ctypes.Structure):
    """PyMethodDef of Python's C interface."""

    _fields_ = (
        ("name", ctypes.c_char_p),
        ("function", ctypes.c_void_p),
        ("flags", ctypes.c_int),
        ("doc", ctypes.c_char_p),
    )


@functools.cache
def _new_function() -> Any:
    new = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.c_void_p, ctypes.py_object, ctypes.c_void_p)
    return new(("PyCFunction_NewEx", ctypes.pythonapi))


def _fill_table(address: int, convert: Callable[..., Array]) -> None:
    """Objects and functions of this process, in the order of TABLE; all of them are always
    there.
    """
    objects = [id(o) for o in (numpy.ndarray, numpy.dtype(numpy.float64), float, convert)]
    (ctypes.c_void_p * len(PROCESS_TABLE)).from_address(address)[:] = [
        *objects,
        _new_array(),
        *_functions(),
    ]


@functools.cache
def _new_array() -> int:
    """PyArray_New of numpy's C interface, whose functions keep their places from version to
    version.
    """
    pointer = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_void_p)(
        ("PyCapsule_GetPointer", ctypes.pythonapi)
    )
    # its name up to numpy 1 was without the underscore
    core = numpy._core if hasattr(numpy, "_core") else numpy.core  # noqa: SLF001
    return int(
        (ctypes.c_size_t * (_NEW_ARRAY + 1)).from_address(
            pointer(core.multiarray._ARRAY_API, None)  # noqa: SLF001
        )[_NEW_ARRAY]
    )


@functools.cache
def _functions() -> tuple[int | None, ...]:
    return tuple(
        ctypes.cast(getattr(ctypes.pythonapi, name), ctypes.c_void_p).value
        for name in _FUNCTIONS.values()
    )


def _check_object_layout() -> bool:
    """Whether objects lie in memory as the native side believes; otherwise every call is
    converted.
    """
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
        and _makes_arrays()
    )


def _makes_arrays() -> bool:
    """Whether the place of PyArray_New in numpy's table has a function that makes an array."""
    make = ctypes.PYFUNCTYPE(
        ctypes.py_object,
        *(ctypes.py_object, ctypes.c_int, ctypes.POINTER(ctypes.c_ssize_t), ctypes.c_int),
        *(ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int, ctypes.c_int, ctypes.c_void_p),
    )(_new_array())
    lengths = (ctypes.c_ssize_t * 2)(2, 3)
    made = make(numpy.ndarray, 2, lengths, _DOUBLE.num, None, None, 0, 0, None)
    return type(made) is numpy.ndarray and made.shape == (2, 3) and made.dtype == _DOUBLE


# decided where this is imported, by what numpy and Python are there
OBJECT_LAYOUT_IS_KNOWN: Final = _check_object_layout()
