"""∂u̇/∂(q, u, …) of a large tree: its tables as compiled code, pairs and columns by the generic
kernel.

The code of a system grows with its number of joints, not with its square.
"""

from __future__ import annotations

import contextlib
import ctypes
import functools
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dalembert.foundation.caching import cached_call
from dalembert.runtime.derivatives.column_kernel import HEAD, LISTS, SIZES, kernel_text
from dalembert.runtime.derivatives.tree_columns import TreeColumns
from dalembert.runtime.derivatives.tree_tables import TreeTables
from dalembert.runtime.numerics import jit
from dalembert.runtime.numerics.compiled_function import NativeSource
from dalembert.runtime.numerics.jit import Library, host, simd_width
from dalembert.runtime.numerics.llvm_types import GROUP_SIZE
from dalembert.runtime.numerics.python_binding import Array, data_address

_ALIGNMENT: Final = 64
# speeds from which on tables are compiled without scheduling: a third of the compilation, and a
# sixth more time for a state at 20 joints, nothing at 50 (measured)
_MANY_SPEEDS: Final = 16
# numbers that stay in the cache until they are transposed
_CACHE: Final = 65536
_ONE: Final = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * 8, *[ctypes.c_int64] * 2)
_MANY: Final = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * 8, *[ctypes.c_int64] * 3)
_PROLOGUE: Final = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)

Entries = dict[tuple[int, int], int]


class _Kernel(NamedTuple):
    """The generic native functions; the library keeps them alive."""

    library: Library
    one: Callable[..., None]
    many: Callable[..., None]


@cached_call
def _kernel() -> _Kernel:
    library = jit.load(kernel_text, ("one", "many"), optimize=2)
    return _Kernel(library, _ONE(library.address("one")), _MANY(library.address("many")))


class _Layout:
    """Which freedom has which slot, columns and partners; `shape` is what the kernel reads."""

    def __init__(self, tables: TreeTables, extra: int) -> None:
        kin, dofs = tables.kinematics, tables.dofs
        n, n_q = len(dofs), kin.n_q
        self.n, self.columns = n, n_q + n + extra
        # columns along the spins of ball joints come last
        spins = [i for i, f in enumerate(dofs) if f.link.ball is not None]
        places = {i: self.columns + k for k, i in enumerate(spins)}
        width = -(-(self.columns + len(spins)) // GROUP_SIZE) * GROUP_SIZE
        lists = self._slots(tables) | self._partners(tables)
        lists["q_column"] = [
            places[i] if i in places else kin.q.index(kin.q[kin.qdot.index(f.speed)])
            for i, f in enumerate(dofs)
        ]
        lists["u_column"] = [n_q + kin.u.index(f.speed) for f in dofs]
        self.lists, self.spin_column, self.width = lists, places, width

    def _slots(self, tables: TreeTables) -> dict[str, list[int]]:
        """A freedom shares the slot of the one before it, unless that carries several; slot 0 is
        the ground's.
        """
        dofs = tables.dofs
        children = [0] * len(dofs)
        for f in dofs:
            if f.parent >= 0:
                children[f.parent] += 1
        slots, up, self.slots = list[int](), list[int](), 1
        for f in dofs:
            before = slots[f.parent] if f.parent >= 0 else 0
            shares = f.parent >= 0 and children[f.parent] == 1
            slots.append(before if shares else self.slots)
            up.append(before)
            self.slots += 0 if shares else 1
        return {"slot": slots, "parent_slot": up}

    def _partners(self, tables: TreeTables) -> dict[str, list[int]]:
        """Pairs (i, j) with j on the way to i or in its joint, and those with j nearer to
        the root.
        """
        dofs = tables.dofs
        inner, outer = list[tuple[int, int]](), list[tuple[int, int]]()
        for i, f in enumerate(dofs):
            j = i
            while j >= 0:
                inner.append((i, j))
                if j < i:
                    same = dofs[j].link is f.link
                    (inner if same else outer).append((j, i) if same else (i, j))
                j = dofs[j].parent
        results = {"inner": inner, "outer": outer}
        return {
            f"{name}_{'ij'[k]}": [p[k] for p in pairs]
            for name, pairs in results.items()
            for k in (0, 1)
        }

    def shape(
        self, loads: Sequence[tuple[int, int]], spins: Sequence[tuple[int, int]]
    ) -> NDArray[np.int64]:
        """Sizes, where the lists begin, and the lists."""
        lists = self.lists | {
            "load_row": [i for i, _ in loads],
            "load_column": [j for _, j in loads],
            "spin_target": [i for i, _ in spins],
            "spin_source": [j for _, j in spins],
        }
        sizes = {"dofs": self.n, "columns": self.width, "slots": self.slots}
        sizes |= {"inner": len(lists["inner_i"]), "outer": len(lists["outer_i"])}
        sizes |= {"loads": len(loads), "spins": len(spins)}
        numbers, body = [sizes[name] for name in SIZES], list[int]()
        for name in LISTS:
            numbers.append(HEAD + len(body))
            body += lists[name]
        return np.array([*numbers, *body], dtype=np.int64)


class ColumnFunction:
    """∂u̇/∂(q, u, extra) of a tree, row by row: `call(x, p)` at one state, `batch(X, p)` at states
    in rows.

    `extra` are columns {row: ∂ID_row/∂y} of further variables y, rows being those of the tables'
    degrees of freedom.
    """

    def __init__(
        self,
        tables: TreeTables,
        state: Sequence[int],
        parameters: Sequence[int],
        extra: Sequence[Mapping[int, int]] = (),
    ) -> None:
        kin, t = tables.kinematics, tables.tape
        columns, layout = TreeColumns(tables), _Layout(tables, len(extra))
        loads = _entries(columns.of_loads((*kin.q, *kin.u)), 0)
        loads |= _entries(extra, kin.n_q + kin.n_u)
        spins = _quaternion_entries(tables, layout)
        rows = [node for f in tables.dofs for node in f.row]
        outs = (*rows, *loads.values(), *spins.values())
        self.layout, self._shape = layout, layout.shape([*loads], [*spins])
        self._shape_address = self._shape.ctypes.data
        self.n_out, self.n_in = len(kin.u) * layout.columns, len(state)
        order = [tables.speeds.index(u) for u in kin.u]
        # a copy by numbers of rows takes as long as the kernel
        self._order = slice(None) if order == [*range(layout.n)] else order
        self.source = NativeSource.from_tape(t, outs, tuple(state), tuple(parameters))

    def call(self, x: Array, p: Array) -> Array:
        """The derivatives at one state."""
        return np.asarray(self.rows(np.asarray(x)[None], p)[0])

    def rows(self, X: Array, p: Array) -> Array:
        """The derivatives at states in rows, one state after the other in a native loop."""
        X, layout = np.ascontiguousarray(X, dtype=float), self.layout
        J = np.empty((len(X), layout.n, layout.width))
        with self._one.memory(np.asarray(p, dtype=float)) as memory:
            given = (memory.p, memory.work, self._shape_address, memory.table)
            addresses = (self._one.address, data_address(X), *given, data_address(J), memory.room)
            _kernel().one(*addresses, self.n_in, len(X))
        return J[:, self._order, : layout.columns].reshape(len(X), -1)

    def batch(self, X: Array, p: Array) -> Array:
        """The derivatives at states in rows, each bit-identical to a single call."""
        X, p, layout = np.asarray(X, dtype=float), np.asarray(p, dtype=float), self.layout
        results = np.empty((len(X), self.n_out))
        if p.ndim == 2:
            for x, own, result in zip(X, p, results, strict=True):
                result[:] = self.call(x, own)
            return results
        with self._many.memory(p) as memory:
            lanes = simd_width()
            many = lanes * max(1, _CACHE // (lanes * layout.n * layout.width))
            for first in range(0, len(X), many):
                part = slice(first, first + many)
                results[part] = self._vectorized(X[part], memory)
        return results

    def _vectorized(self, X: Array, memory: _Memory) -> Array:
        """The derivatives at states in rows, as many at a time as a register holds."""
        lanes, layout, count = simd_width(), self.layout, len(X)
        groups = -(-count // lanes)
        stride = groups * lanes
        columns = np.empty((self.n_in, stride))
        columns[:, :count] = X.T
        columns[:, count:] = columns[:, count - 1 : count]
        Y = np.empty((layout.n, layout.width, stride))
        given = (memory.p, memory.work, self._shape_address, memory.table)
        addresses = (data_address(columns), *given, data_address(Y), memory.room)
        _kernel().many(self._many.address, *addresses, self.n_in, stride, groups)
        return Y[self._order, : layout.columns].reshape(-1, stride).T[:count]

    @property
    def _codegen(self) -> jit.Level:
        """The level of code generation; with many speeds the kernel takes most of the time."""
        return 0 if self.layout.n >= _MANY_SPEEDS else 2

    @functools.cached_property
    def _one(self) -> _Tables:
        room = 6 * self.layout.width * self.layout.slots
        return _Tables(self.source, 1, self._codegen, room)

    @functools.cached_property
    def _many(self) -> _Tables:
        layout = self.layout
        room = self.n_in + layout.width * (layout.n + 6 * layout.slots)
        return _Tables(self.source, simd_width(), self._codegen, room)


def _quaternion_entries(tables: TreeTables, layout: _Layout) -> Entries:
    """∂π/∂e of the spins of ball joints: their columns are combined to those along quaternions."""
    t, q = tables.tape, tables.kinematics.q
    spins: Entries = {}
    for i, f in enumerate(tables.dofs):
        if (ball := f.link.ball) is not None:
            own = next(r for r, (s, _, _) in enumerate(f.link.joint_axes) if s == f.speed)
            twice = t.div(t.const(2), ball.squared_norm(t))
            for e, x in zip(ball.e, ball.rows(t)[own], strict=True):
                spins[q.index(e), layout.spin_column[i]] = t.mul(twice, x)
    return spins


def _entries(columns: Sequence[Mapping[int, int]], first: int) -> Entries:
    """{(row, column): node}"""
    return {(i, first + j): e for j, column in enumerate(columns) for i, e in column.items()}


class _Memory:
    """Addresses of what a call writes; the head of `work` depends on the parameters."""

    def __init__(self, tables: _Tables, p: Array) -> None:
        lanes, source = tables.lanes, tables.source
        sizes = (lanes * max(1, len(p)), tables.work_size, lanes * source.n_out, tables.room_size)
        self._arrays = [_aligned(size) for size in sizes]
        self._arrays[0][: lanes * len(p)] = np.repeat(p, lanes)
        self.p, self.work, self.table, self.room = map(data_address, self._arrays)
        tables.prologue(self.p, self.work)


class _Tables:
    """The compiled tables for a number of states at a time, with room for the columns."""

    def __init__(self, source: NativeSource, lanes: int, codegen: jit.Level, room: int) -> None:
        self.source, self.lanes, self.room_size = source, lanes, lanes * room
        text = functools.partial(_text, source, lanes)
        exports = ("f", "f.prologue", "f.size")
        identity = source.cache_key(host(lanes)) + b" tables"
        self._library = jit.load(text, exports, identity=identity, codegen=codegen)
        self.address = self._library.address("f")
        self.prologue = _PROLOGUE(self._library.address("f.prologue"))
        size = ctypes.c_int64.from_address(self._library.address("f.size")).value
        self.work_size = lanes * (size + 8)
        # {parameters: memory of calls that are through}
        self._spare: dict[bytes, list[_Memory]] = {}

    @contextlib.contextmanager
    def memory(self, p: Array) -> Iterator[_Memory]:
        """Memory for these parameters that no other call uses."""
        key = p.tobytes()
        spare = self._spare.get(key)
        if spare is None:
            # those of other parameters are not kept
            spare = list[_Memory]()
            self._spare = {key: spare}
        try:
            memory = spare.pop()
        except IndexError:
            memory = _Memory(self, p)
        yield memory
        spare.append(memory)


def _text(source: NativeSource, lanes: int) -> str:
    return source.ir_for(host(lanes), "f")[0]


def _aligned(count: int) -> Array:
    """Room for `count` numbers, aligned to 64 bytes."""
    room = np.empty(count + _ALIGNMENT // 8)
    skipped = -room.ctypes.data % _ALIGNMENT // 8
    return room[skipped : skipped + count]
