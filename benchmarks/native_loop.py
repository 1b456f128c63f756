"""A loop in native code that calls a function at an address for row after row of states, as an
integrator would.

It is made of LLVM text, so that a machine without a C compiler can measure too.
"""

from __future__ import annotations

import ctypes
import functools
from collections.abc import Callable

import numpy
from numpy.typing import NDArray

from dalembert.runtime.numerics.compiled_function import CompiledFunction
from dalembert.runtime.numerics.jit import Library, load

Rows = NDArray[numpy.float64]

# the rows of X and Y, one call for each: what is called, and with what, differs
_LOOP = """
define void @<name>(ptr %f, ptr %a, ptr %b, ptr %X, ptr %Y, i64 %n, i64 %n_in, i64 %n_out) {
entry:
<before>
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  %xi = mul i64 %i, %n_in
  %x = getelementptr double, ptr %X, i64 %xi
  %yi = mul i64 %i, %n_out
  %y = getelementptr double, ptr %Y, i64 %yi
<call>
  %next = add i64 %i, 1
  %more = icmp slt i64 %next, %n
  br i1 %more, label %loop, label %done
done:
  ret void
}
"""
# f(x, p, y, work)
_STRAIGHT = {
    "name": "straight",
    "before": "",
    "call": "  call void %f(ptr %x, ptr %a, ptr %y, ptr %b)",
}
# f(arguments, results, integers, work, 0) with q and u apart, as CasADi writes it; n_out is the
# size of each
_CASADI = {
    "name": "casadi",
    "before": """  %arguments = alloca [16 x ptr]
  %results = alloca [16 x ptr]
  %second = getelementptr ptr, ptr %arguments, i64 1""",
    "call": """  %u = getelementptr double, ptr %x, i64 %n_out
  store ptr %x, ptr %arguments
  store ptr %u, ptr %second
  store ptr %y, ptr %results
  %status = call i32 %f(ptr %arguments, ptr %results, ptr %a, ptr %b, i32 0)""",
}
# f(model, data), whose state lies where the first two pointers of a table say and whose result
# where the third says
_CASADI_WHOLE = {
    "name": "casadi_whole",
    "before": """  %arguments = alloca [16 x ptr]
  %results = alloca [16 x ptr]""",
    "call": """  store ptr %x, ptr %arguments
  store ptr %y, ptr %results
  %status = call i32 %f(ptr %arguments, ptr %results, ptr %a, ptr %b, i32 0)""",
}
_MUJOCO = {
    "name": "mujoco",
    "before": """  %model = load ptr, ptr %a
  %data.at = getelementptr ptr, ptr %a, i64 1
  %data = load ptr, ptr %data.at
  %q.at = load ptr, ptr %b
  %u.in = getelementptr ptr, ptr %b, i64 1
  %u.at = load ptr, ptr %u.in
  %r.in = getelementptr ptr, ptr %b, i64 2
  %r.at = load ptr, ptr %r.in
  %bytes = mul i64 %n_out, 8""",
    "call": """  %u = getelementptr double, ptr %x, i64 %n_out
  call void @llvm.memcpy.p0.p0.i64(ptr %q.at, ptr %x, i64 %bytes, i1 false)
  call void @llvm.memcpy.p0.p0.i64(ptr %u.at, ptr %u, i64 %bytes, i1 false)
  call void %f(ptr %model, ptr %data)
  call void @llvm.memcpy.p0.p0.i64(ptr %y, ptr %r.at, i64 %bytes, i1 false)""",
}
_PROTOTYPE = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * 5, *[ctypes.c_int64] * 3)


@functools.cache
def _library() -> Library:
    texts = []
    for kind in (_STRAIGHT, _CASADI, _CASADI_WHOLE, _MUJOCO):
        text = _LOOP
        for key, value in kind.items():
            text = text.replace(f"<{key}>", value)
        texts.append(text)
    return load(
        "declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)\n" + "\n".join(texts),
        ("straight", "casadi", "casadi_whole", "mujoco"),
    )


def rows(kind: str, addresses: tuple[int, int, int], X: Rows, n_out: int) -> Callable[[], Rows]:
    """A function that fills and gives Y for the states in the rows of X; it keeps the library
    and the arrays alive.
    """
    library, Y = _library(), numpy.empty((len(X), n_out))
    loop = _PROTOTYPE(library.address(kind))
    # asking numpy for an address takes as long as ten states
    given = (*addresses, X.ctypes.data, Y.ctypes.data, len(X), X.shape[1], n_out)

    def run(_keep: tuple[Library, Rows] = (library, X)) -> Rows:
        loop(*given)
        return Y

    return run


def compiled_rows(function: CompiledFunction, X: Rows, p: Rows) -> Callable[[], Rows]:
    """The native loop over a compiled function: prologue once, then row after row."""
    work = numpy.zeros(function.work_size + 8)
    ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)(function.prologue_address)(
        p.ctypes.data, work.ctypes.data
    )
    run = rows("straight", (function.address, p.ctypes.data, work.ctypes.data), X, function.n_out)

    def kept(_keep: tuple[object, ...] = (function, p, work)) -> Rows:
        return run()

    return kept
