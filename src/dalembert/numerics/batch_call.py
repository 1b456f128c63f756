"""From Python into compiled code for states in rows: a built-in function made at run time, like `python_call` for one state.

    PyObject *name.call(PyObject *self, PyObject **arguments, Py_ssize_t count)

Every part of the state is an array of n rows, or one row for all of them; so are the parameters. Arrays of doubles whose rows lie one
after the other are read where they are, and other threads of Python run meanwhile. Whatever else is given goes to `FastBatch.convert`.
"""

from __future__ import annotations

import ctypes
import functools
from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy

from dalembert.numerics import python_call
from dalembert.numerics.jit import Library
from dalembert.numerics.python_call import Array, BadArguments, FastCall, address, known, numbers

_BATCH: Final = ctypes.CFUNCTYPE(ctypes.c_int, *[ctypes.c_void_p] * 3, ctypes.c_int64, ctypes.c_int64)
# what `rows` gives where one row holds for all states, and where it cannot read
_ONE_FOR_ALL: Final = -1
_OTHER: Final = -2


def exports(name: str) -> tuple[str, ...]:
    """The names that a `FastBatch` looks for in a library."""
    return f"{name}.batch", f"{name}.call", "python"


class FastBatch:
    """One compiled function for rows of states; `one` is the same for one state, and says what the arguments are called."""

    def __init__(self, library: Library, name: str, one: FastCall) -> None:
        self.library, self._one = library, one
        self._batch = _BATCH(library.address(f"{name}.batch"))
        self._table = ctypes.c_int64 * (2 * len(one.sizes) - 2)
        if python_call.LAYOUT_IS_KNOWN:
            python_call.fill_table(library.address("python"), FastBatch.convert)
        self._definition = python_call.definition(library.address(f"{name}.call"), b"Values of the compiled expressions at states in rows.")

    def function(self) -> Callable[..., Array]:
        """The function for Python; it keeps this object, and so the code, alive."""
        return python_call.function(self, self._definition, functools.partial(FastBatch.convert, self))

    def convert(self, *arguments: Any) -> Array:
        """The values at states in rows, for arguments of any kind that means such rows."""
        one = self._one
        one.check_count(arguments)
        *parts, P = [numbers(a, k, one.called) for k, a in enumerate(arguments)]
        n = max([len(a) for a in parts if a.ndim == 2], default=1)
        for k, (a, size) in enumerate(zip(parts, one.sizes, strict=False)):
            if a.shape != (n, size) and a.shape != (size,) and not (size == 1 and a.ndim == 0):
                many = f"{n} rows of {size} numbers, as many as of the others," if a.shape[1:] == (size,) else f"rows of {size} numbers"
                msg = f"expected {many} for {one.called(k)}; got an array of shape {a.shape}"
                raise BadArguments(msg)
        n_parameters = one.sizes[-1]
        if P.shape not in ((n_parameters,), (n, n_parameters)):
            msg = f"expected {n_parameters} parameters, or a row of them for each of {n} states; got an array of shape {P.shape}"
            raise BadArguments(msg)
        Y = numpy.empty((n, one.n_out))
        table = self._table(*[x for a in parts for x in (address(a), _step(a))])
        if n and self._batch(ctypes.addressof(table), address(P), address(Y), n, _step(P)):
            raise MemoryError
        return Y


def _step(a: Array) -> int:
    """How far it is from row to row; 0 where one holds for all."""
    return a.strides[0] // a.itemsize if a.ndim == 2 else 0


def text(name: str, sizes: Sequence[int], n_out: int) -> str:
    """The native side, for parts of the state and parameters of these sizes, and so many results."""
    last = len(sizes) - 1
    lines = [
        f"define ptr @{name}.call(ptr %self, ptr %arguments, i64 %count) nounwind {{",
        f"  %parts = alloca {{ptr, i64}}, i64 {len(sizes)}, align 8",
        f"  %right = icmp eq i64 %count, {len(sizes)}",
        "  %shape = alloca i64, i64 2, align 8",
        "  br i1 %right, label %take0, label %slow",
    ]
    for k, size in enumerate(sizes):
        # rows so far: those of this part, if others have one for all or as many
        before = f"%n{k - 1}" if k else str(_ONE_FOR_ALL)
        lines += [
            f"take{k}:",
            f"  %a{k} = getelementptr ptr, ptr %arguments, i64 {k}",
            f"  %o{k} = load ptr, ptr %a{k}, align 8",
            f"  %part{k} = getelementptr {{ptr, i64}}, ptr %parts, i64 {k}",
            f"  %m{k} = call i64 @rows(ptr %o{k}, i64 {size}, ptr %part{k})",
            f"  %same{k} = icmp eq i64 %m{k}, {before}",
            f"  %free{k} = icmp eq i64 {before}, {_ONE_FOR_ALL}",
            f"  %one{k} = icmp eq i64 %m{k}, {_ONE_FOR_ALL}",
            # only states say how many there are
            f"  %first{k} = or i1 %same{k}, {f'%free{k}' if k < last else 'false'}",
            f"  %fits{k} = or i1 %first{k}, %one{k}",
            f"  %known{k} = icmp ne i64 %m{k}, {_OTHER}",
            f"  %good{k} = and i1 %fits{k}, %known{k}",
            f"  %n{k} = select i1 %one{k}, i64 {before}, i64 %m{k}",
            f"  br i1 %good{k}, label %take{k + 1}, label %slow",
        ]
    run = _RUN.replace("<batch>", f"@{name}.batch").replace("<n>", f"%n{last}").replace("<P>", f"%part{last}")
    run = run.replace("<n_out>", str(n_out))
    return "\n".join([python_call.NATIVE_TABLE, python_call.NUMBERS, _ROWS, *lines, f"take{last + 1}:", run, python_call.SLOW])


# how many rows of so many numbers an array has; its numbers and the step from row to row are noted
_ROWS: Final = f"""define internal i64 @rows(ptr %o, i64 %width, ptr %part) noinline nounwind {{
  %step.at = getelementptr {{ptr, i64}}, ptr %part, i64 0, i32 1
{known("ndarray")}
{known("float64")}
  %type.at = getelementptr i8, ptr %o, i64 {python_call.HEADER - 8}
  %type = load ptr, ptr %type.at, align 8
  %is.array = icmp eq ptr %type, %ndarray
  br i1 %is.array, label %shape, label %one
shape:
{python_call.field("dimensions", "i32")}
{python_call.field("dtype", "ptr")}
{python_call.field("flags", "i32")}
{python_call.field("data", "ptr")}
  %kept = and i32 %flags, {python_call.IN_A_ROW_AND_ALIGNED}
  %is.table = icmp eq i32 %dimensions, 2
  %is.double = icmp eq ptr %dtype, %float64
  %is.dense = icmp eq i32 %kept, {python_call.IN_A_ROW_AND_ALIGNED}
  %a = and i1 %is.table, %is.double
  %b = and i1 %a, %is.dense
  br i1 %b, label %table, label %one
table:
{python_call.field("lengths", "ptr")}
  %n = load i64, ptr %lengths, align 8
  %second = getelementptr i64, ptr %lengths, i64 1
  %columns = load i64, ptr %second, align 8
  store ptr %data, ptr %part, align 8
  store i64 %width, ptr %step.at, align 8
  %fits = icmp eq i64 %columns, %width
  %rows = select i1 %fits, i64 %n, i64 {_OTHER}
  ret i64 %rows
one:
  %row = call ptr @numbers(ptr %o, i64 %width)
  store ptr %row, ptr %part, align 8
  store i64 0, ptr %step.at, align 8
  %none = icmp eq ptr %row, null
  %for.all = select i1 %none, i64 {_OTHER}, i64 {_ONE_FOR_ALL}
  ret i64 %for.all
}}"""

# a new array of n rows, filled without holding the interpreter
_RUN: Final = f"""
  %some = icmp sgt i64 <n>, 0
  br i1 %some, label %make, label %slow
make:
{known("release")}
{known("save_thread")}
{known("restore_thread")}
  store i64 <n>, ptr %shape, align 8
  %width.at = getelementptr i64, ptr %shape, i64 1
  store i64 <n_out>, ptr %width.at, align 8
{python_call.new_array(2)}
  %no.room = icmp eq ptr %y, null
  br i1 %no.room, label %failed, label %fill
fill:
  %numbers.at = getelementptr i8, ptr %y, i64 {python_call.HEADER + python_call.FIELDS["data"]}
  %numbers = load ptr, ptr %numbers.at, align 8
  %P = load ptr, ptr <P>, align 8
  %step.at = getelementptr {{ptr, i64}}, ptr <P>, i64 0, i32 1
  %step = load i64, ptr %step.at, align 8
  %thread = call ptr %save_thread()
  %status = call i32 <batch>(ptr %parts, ptr %P, ptr %numbers, i64 <n>, i64 %step)
  call void %restore_thread(ptr %thread)
  %done = icmp eq i32 %status, 0
  br i1 %done, label %give, label %drop
drop:
  call void %release(ptr %y)
  br label %slow
failed:
  ret ptr null
give:
  ret ptr %y
slow:"""
