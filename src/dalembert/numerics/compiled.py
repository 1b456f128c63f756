"""y = f(x, p): expressions of a tape as native code, for one state or many."""

from __future__ import annotations

import ctypes
import functools
import hashlib
import marshal
import threading
from collections.abc import Callable, Sequence
from operator import itemgetter
from pathlib import Path
from typing import Any, Final

import numpy

from dalembert.algebra.tape import Node, Tape
from dalembert.numerics import door, emit, entry, jit, kernels, lowering
from dalembert.numerics.door import Array, BadArguments

_NAME: Final = "f"
_BATCH: Final = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * 3, ctypes.c_int64, ctypes.c_int64, ctypes.c_void_p)
_ALIGNMENT: Final = 64


class CompiledFunction:
    """Expressions `outs` as functions of the symbols `state` and `parameters`.

    `call(x, p)` gives the values at one state x with parameters p. The state may be taken in `parts`,
    such as q, u and t, and then it is `call(q, u, t, p)`; a part of length 1 may be a float.
    Native code runs the function at `address`,

        void f(const double *x, const double *p, double *y, double *work)

    after `prologue_address`, void prologue(const double *p, double *work), has filled the head of
    `work`, which holds `work_size` numbers; the arrays must not overlap, and the addresses are valid
    as long as this object lives. It may be called from any number of threads.
    """

    def __init__(
        self, tape: Tape, outs: Sequence[int], state: Sequence[int], parameters: Sequence[int], parts: Sequence[int] | None = None
    ) -> None:
        self._start(tape.nodes[: 1 + max((*outs, *state, *parameters), default=-1)], tuple(outs), tuple(state), tuple(parameters), parts)

    def _start(
        self, nodes: list[Node], outs: tuple[int, ...], state: tuple[int, ...], parameters: tuple[int, ...], parts: Sequence[int] | None
    ) -> None:
        self._nodes, self._outs, self._state, self._parameters = nodes, outs, state, parameters
        self.parts = (len(state),) if parts is None else tuple(parts)
        if sum(self.parts) != len(state):
            msg = f"parts of {' + '.join(map(str, self.parts))} numbers do not make up a state of {len(state)}"
            raise BadArguments(msg)
        self.n_in, self.n_parameters, self.n_out = len(state), len(parameters), len(outs)
        self._identity = _identity(nodes, outs, state, parameters, self.parts)
        self._lanes: _Lanes | None = None
        self._lock = threading.Lock()
        self._load()

    def _load(self) -> None:
        exports = (_NAME, f"{_NAME}.prologue", f"{_NAME}.size", *door.exports(_NAME))
        library = jit.load(self._text, exports, identity=self._identity + b"1", optimize=0)
        self.address = library.address(_NAME)
        self.prologue_address = library.address(f"{_NAME}.prologue")
        self.work_size: int = ctypes.c_int64.from_address(library.address(f"{_NAME}.size")).value
        self._door = door.Door(library, _NAME, (*self.parts, self.n_parameters), self.n_out)
        self.call: Callable[..., Array] = self._door.function()

    def _text(self) -> str:
        text = emit.emit(self._nodes, self._outs, self._state, self._parameters, name=_NAME)
        size = f"@{_NAME}.size = constant i64 {text.work_size}"
        return "\n".join([text.ir, size, entry.once(_NAME, text.work_size), door.text(_NAME, (*self.parts, self.n_parameters))])

    # ---- many states -------------------------------------------------------------------------

    def batch(self, *arguments: Any) -> Array:
        """y for states in rows: batch(X, p), or in parts; parameters p for all states, or a row for each.

        Every row of the result has the bits that `call` gives for that state.
        """
        rows = [numpy.asarray(a, dtype=numpy.float64) for a in arguments]
        self._door.check_count(rows)
        X, P = self._table(rows[:-1]), rows[-1]
        n = len(X)
        if P.shape not in ((self.n_parameters,), (n, self.n_parameters)):
            msg = f"expected {self.n_parameters} parameters, or a row of them for each of {n} states; got an array of shape {P.shape}"
            raise BadArguments(msg)
        P = numpy.ascontiguousarray(P)
        Y = numpy.empty((n, self.n_out))
        if n:
            self._in_lanes().run(X, P, Y)
        return Y

    def _table(self, parts: list[Array]) -> Array:
        """The parts of the states side by side; a part that is one row, or one number, holds for all states."""
        n = max((len(a) for a in parts if a.ndim == 2), default=1)
        if len(parts) == 1 and parts[0].shape == (n, self.n_in):
            return numpy.ascontiguousarray(parts[0])
        X = numpy.empty((n, self.n_in))
        column = 0
        for k, (a, size) in enumerate(zip(parts, self.parts, strict=True)):
            if a.ndim > 2 or (a.ndim == 2 and a.shape != (n, size)) or (a.ndim == 1 and len(a) != size):
                msg = f"expected rows of {size} numbers for {self._door.called(k)}; got an array of shape {a.shape}"
                raise BadArguments(msg)
            X[:, column : column + size] = a
            column += size
        return X

    def _in_lanes(self) -> _Lanes:
        """The code for several states at a time, compiled when first asked for."""
        with self._lock:
            if self._lanes is None:
                self._lanes = _Lanes(self)
            return self._lanes

    # ---- pickle ------------------------------------------------------------------------------

    def __reduce__(self) -> tuple[Any, ...]:
        return _restored, (self._nodes, self._outs, self._state, self._parameters, self.parts)


class _Lanes:
    """The batch function of a compiled function."""

    def __init__(self, owner: CompiledFunction) -> None:
        self.lanes = lanes = kernels.native_lanes()
        sizes = owner.n_in, owner.n_parameters, owner.n_out

        def text() -> str:
            body = emit.emit(owner._nodes, owner._outs, owner._state, owner._parameters, name=_NAME, lanes=lanes)
            return "\n".join([body.ir, f"@{_NAME}.size = constant i64 {body.work_size}", entry.batch(_NAME, lanes, *sizes)])

        identity = owner._identity + str(lanes).encode()
        self._library = jit.load(text, (f"{_NAME}.batch", f"{_NAME}.size"), identity=identity, optimize=0)
        work_size = ctypes.c_int64.from_address(self._library.address(f"{_NAME}.size")).value
        self._room = entry.room(lanes, *sizes, work_size)
        self._function = _BATCH(self._library.address(f"{_NAME}.batch"))

    def run(self, X: Array, P: Array, Y: Array) -> None:
        room = numpy.empty(8 * self._room + _ALIGNMENT, dtype=numpy.uint8)
        start = -room.ctypes.data % _ALIGNMENT + room.ctypes.data
        step = P.shape[1] if P.ndim == 2 else 0
        self._function(X.ctypes.data, P.ctypes.data, Y.ctypes.data, len(X), step, start)


def _restored(
    nodes: list[Node], outs: tuple[int, ...], state: tuple[int, ...], parameters: tuple[int, ...], parts: tuple[int, ...]
) -> CompiledFunction:
    new = CompiledFunction.__new__(CompiledFunction)
    new._start(nodes, outs, state, parameters, parts)
    return new


def _identity(nodes: list[Node], *lists: tuple[int, ...]) -> bytes:
    """A hash of all that determines the text written for a tape."""
    digest = hashlib.sha256(_writers())
    # by columns, which is the fastest way through the nodes
    ops, first, second = (list(map(itemgetter(k), nodes)) for k in range(3))
    i = -1
    for _ in range(ops.count("const")):
        i = ops.index("const", i + 1)
        first[i] = (first[i].numerator, first[i].denominator)
    digest.update(" ".join(ops).encode())
    for column in (first, second, lists):
        digest.update(marshal.dumps(column, 2))
    return digest.digest()


@functools.cache
def _writers() -> bytes:
    """A hash of the modules that write the text: code kept by another version is not found."""
    digest = hashlib.sha256()
    for module in (lowering, emit, entry, door, kernels):
        digest.update(Path(str(module.__file__)).read_bytes())
    return digest.digest()
