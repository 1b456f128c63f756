"""∂u̇ = −M⁻¹ ∂ID from the tables of a tree by loops: one generic native function for trees of any
size, LLVM text.

    void columns(const int64 *shape, const double *table, double *J, double *work)

J has a row for each freedom and a column for each variable. First the dot products of all pairs of
degrees of freedom, then slopes of loads are added at their places, then columns along spins are
combined to those along quaternions, then all columns go through the articulated bodies: to the
root, and back.

`one.columns` takes one state, four columns at a time; `many.columns` as many states as a register
holds. Every number goes through the same operations in both, so the bits are the same.
"""

from __future__ import annotations

from typing import Final

from dalembert.foundation.deferred_dataclass import dataclass
from dalembert.runtime.numerics import math_kernels
from dalembert.runtime.numerics.ir_builder import FunctionBuilder, Value, VectorArray
from dalembert.runtime.numerics.jit import host, simd_width
from dalembert.runtime.numerics.llvm_types import (
    DOUBLE,
    DOUBLE4,
    GROUP_SIZE,
    INT64,
    POINTER,
    vector_type,
    vector_width,
)

# numbers in the row of a freedom, and where its columns begin
ROW: Final = 49
_S, _PSI1, _PSI2, _THETA, _G, _B, _D, _E, _U, _OVER_D = 0, 6, 9, 15, 21, 27, 30, 36, 42, 48
# the head of the shape: sizes, then where each list begins
SIZES: Final = ("dofs", "columns", "inner", "outer", "loads", "spins", "slots")
LISTS: Final = (
    *("slot", "parent_slot", "q_column", "u_column"),
    *("inner_i", "inner_j", "outer_i", "outer_j"),
    *("load_row", "load_column", "spin_target", "spin_source"),
)
HEAD: Final = len(SIZES) + len(LISTS)


def kernel_text() -> str:
    """Both functions, and the loops over states around them."""
    lanes = simd_width()
    declared = math_kernels.declarations(*dict.fromkeys((1, GROUP_SIZE, lanes)))
    one = _Kernel("one.columns", DOUBLE, DOUBLE4)
    many = _Kernel("many.columns", vector_type(lanes), vector_type(lanes))
    return "\n".join((declared, one.whole(), many.whole(), _one_state(), _many_states(lanes)))


@dataclass(frozen=True)
class _Shape:
    """Sizes and lists of whole numbers behind an address."""

    function: FunctionBuilder
    pointer: Value

    def size(self, name: str) -> Value:
        """One of the sizes."""
        return self._at(self.function.value(SIZES.index(name), INT64))

    def entry(self, name: str, k: Value) -> Value:
        """Number k of a list."""
        first = self._at(self.function.value(len(SIZES) + LISTS.index(name), INT64))
        return self._at(first + k)

    def _at(self, k: Value) -> Value:
        w = self.function
        where = w.emit(POINTER, f"getelementptr i64, {self.pointer}, {k}")
        return w.emit(INT64, f"load i64, {where}, align 8")


@dataclass(frozen=True)
class _ArticulatedJoint:
    """A freedom for all columns of a group: S, U/D and 1/D, its slot and that of its parent."""

    S: list[Value]
    U_over_D: list[Value]
    over_D: Value
    slot: Value
    parent_slot: Value


class _Kernel(FunctionBuilder):
    """The columns while they are being written: numbers of tables of one kind, of columns of
    another.
    """

    def __init__(self, name: str, of_table: str, of_columns: str) -> None:
        lanes = max(vector_width(of_table), vector_width(of_columns))
        kinds = (POINTER,) * 4
        super().__init__(name, "void", *kinds, attributes=math_kernels.attributes(lanes))
        shape, table, J, work = self.parameters
        self.shape, self.table = _Shape(self, shape), VectorArray(table, of_table)
        self.entries, self.columns = VectorArray(J, of_table), VectorArray(J, of_columns)
        self.work, self.of_columns = VectorArray(work, of_columns), of_columns
        # columns in a group
        self.group = vector_width(of_columns) // vector_width(of_table)

    def whole(self) -> str:
        """The finished function."""
        n, m = self.shape.size("dofs"), self.shape.size("columns")
        groups = self.emit(INT64, f"sdiv {m}, {self.group}")
        self.clear(self.columns, n * groups)
        self.pairs(m)
        self.loads(m)
        self.spins(n, m)
        slots = self.shape.size("slots") * groups * 6
        self.clear(self.work, slots)
        self.inwards(n, groups)
        self.clear(self.work, slots)
        self.outwards(n, groups)
        self.ret_void()
        return self.text()

    def clear(self, array: VectorArray, count: Value) -> None:
        """Zeros."""
        with self.loop(count) as k:
            array[k] = 0.0

    def fused(self, a: Value, b: Value, c: Value) -> Value:
        """a b + c"""
        return self.intrinsic("fma", a, b, c) if host().fused else a * b + c

    def dot(self, pairs: list[tuple[Value, Value]]) -> Value:
        """Σ a b, from the first to the last."""
        (a, b), *others = pairs
        total = a * b
        for a, b in others:
            total = self.fused(a, b, total)
        return total

    def row(self, i: Value, first: int, count: int) -> list[Value]:
        """Numbers of the row of freedom i."""
        return [self.table[i * ROW + (first + k)] for k in range(count)]

    def product(
        self, i: Value, a: int, j: Value, b: int, count: int = 6
    ) -> list[tuple[Value, Value]]:
        """Pairs of numbers from the rows of two degrees of freedom."""
        return [*zip(self.row(i, a, count), self.row(j, b, count), strict=True)]

    # ---- ∂ID -----------------------------------------------------------------------------------

    def pairs(self, m: Value) -> None:
        """∂ID for every pair of degrees of freedom on one branch."""
        s = self.shape
        with self.loop(s.size("inner")) as k:
            i, j = s.entry("inner_i", k), s.entry("inner_j", k)
            moved = [*self.product(i, _B, j, _PSI1, 3), *self.product(i, _G, j, _PSI2)]
            swung = [*self.product(i, _B, j, _S, 3), *self.product(i, _G, j, _THETA)]
            self.entries[i * m + s.entry("q_column", j)] = self.dot(moved)
            self.entries[i * m + s.entry("u_column", j)] = self.dot(swung)
        with self.loop(s.size("outer")) as k:
            i, j = s.entry("outer_i", k), s.entry("outer_j", k)
            self.entries[j * m + s.entry("q_column", i)] = self.dot(self.product(j, _S, i, _D))
            self.entries[j * m + s.entry("u_column", i)] = self.dot(self.product(j, _S, i, _E))

    def spins(self, n: Value, m: Value) -> None:
        """J_e += (∂π/∂e) J_π: the factors follow those of the loads."""
        s = self.shape
        first = n * ROW + s.size("loads")
        with self.loop(s.size("spins")) as k:
            factor = self.table[first + k]
            with self.loop(n) as i:
                place = i * m + s.entry("spin_target", k)
                source = self.entries[i * m + s.entry("spin_source", k)]
                self.entries[place] = self.fused(factor, source, self.entries[place])

    def loads(self, m: Value) -> None:
        """Slopes of loads, which follow the rows of the degrees of freedom."""
        s = self.shape
        first = s.size("dofs") * ROW
        with self.loop(s.size("loads")) as k:
            place = s.entry("load_row", k) * m + s.entry("load_column", k)
            self.entries[place] = self.entries[place] + self.table[first + k]

    # ---- −M⁻¹ ----------------------------------------------------------------------------------

    def inwards(self, n: Value, groups: Value) -> None:
        """l = −(x + S·p), p_p += p + U l/D; l is left in J."""
        with self.loop(n) as k:
            i = n - 1 - k
            joint = self.articulated_joint(i)
            apart = self.compare("ne", joint.slot, joint.parent_slot)
            with self.loop(groups) as c:
                p = [self.work[joint.slot * groups * 6 + (c * 6 + a)] for a in range(6)]
                place = i * groups + c
                total = self.columns[place]
                for s_k, p_k in zip(joint.S, p, strict=True):
                    total = self.fused(s_k, p_k, total)
                left = self.emit(self.of_columns, f"fneg {total}")
                self.columns[place] = left
                pushed = [self.fused(a, left, b) for a, b in zip(joint.U_over_D, p, strict=True)]
                base = joint.parent_slot * groups * 6 + c * 6
                for a in range(6):
                    before = self.select(
                        apart, self.work[base + a], self.value(0.0, self.of_columns)
                    )
                    self.work[base + a] = before + pushed[a]

    def outwards(self, n: Value, groups: Value) -> None:
        """x = l/D − U·a_p/D, a = a_p + S x"""
        with self.loop(n) as i:
            joint = self.articulated_joint(i)
            with self.loop(groups) as c:
                base = joint.parent_slot * groups * 6 + c * 6
                a_p = [self.work[base + a] for a in range(6)]
                place = i * groups + c
                x = self.columns[place] * joint.over_D
                for v, before in zip(joint.U_over_D, a_p, strict=True):
                    x = self.fused(self.emit(self.of_columns, f"fneg {v}"), before, x)
                self.columns[place] = x
                base = joint.slot * groups * 6 + c * 6
                for k, (s_k, before) in enumerate(zip(joint.S, a_p, strict=True)):
                    self.work[base + k] = self.fused(s_k, x, before)

    def articulated_joint(self, i: Value) -> _ArticulatedJoint:
        """What columns that pass freedom i need of it."""
        S, U, over_D = self.spread(i, _S), self.spread(i, _U), self.spread(i, _OVER_D, 1)[0]
        s, U_over_D = self.shape, [a * over_D for a in U]
        return _ArticulatedJoint(S, U_over_D, over_D, s.entry("slot", i), s.entry("parent_slot", i))

    def spread(self, i: Value, first: int, count: int = 6) -> list[Value]:
        """Numbers of the row of freedom i for all columns of a group."""
        return [self.value(x, self.of_columns) for x in self.row(i, first, count)]


# ---- around them -------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Addresses:
    """The eight addresses that both loops over states are called with: the function of the tables,
    states, parameters and its memory, the shape, the tables, results, and room for columns.
    """

    f: Value
    states: Value
    p: Value
    work: Value
    shape: Value
    table: Value
    results: Value
    room: Value

    def entry_count(self) -> Value:
        """The numbers in J."""
        s = _Shape(self.shape.function, self.shape)
        return s.size("dofs") * s.size("columns")

    def write_columns(self, kernel: str, x: Value, J: Value, room: Value) -> None:
        """Calls for one state, or those of a group: the tables at x, then the columns of J."""
        w = self.shape.function
        w.line(f"call void {self.f.name}({x}, {self.p}, {self.table}, {self.work})")
        w.line(f"call void @{kernel}({self.shape}, {self.table}, {J}, {room})")


def _one_state() -> str:
    """void one(f, X, p, work, shape, table, J, room, n_in, count): tables and columns of states in
    rows of X, one after the other.
    """
    w = FunctionBuilder("one", "void", *(POINTER,) * 8, *(INT64,) * 2, exported=True)
    *pointers, n_in, count = w.parameters
    given = _Addresses(*pointers)
    entries = given.entry_count()
    with w.loop(count) as k:
        x = w.emit(POINTER, f"getelementptr {DOUBLE}, {given.states}, {k * n_in}")
        J = w.emit(POINTER, f"getelementptr {DOUBLE}, {given.results}, {k * entries}")
        given.write_columns("one.columns", x, J, given.room)
    w.ret_void()
    return w.text()


def _many_states(lanes: int) -> str:
    """void many(f, X, p, work, shape, table, Y, room, n_in, stride, groups): states in columns of
    X.

    Results go to columns of Y, one for each entry of J.
    """
    kinds = (*(POINTER,) * 8, *(INT64,) * 3)
    w = FunctionBuilder(
        "many", "void", *kinds, exported=True, attributes=math_kernels.attributes(lanes)
    )
    *pointers, n_in, stride, groups = w.parameters
    given, kind = _Addresses(*pointers), vector_type(lanes)
    entries = given.entry_count()
    # the state, then J, lie before the room of the columns
    x = VectorArray(given.room, kind)
    J = w.emit(POINTER, f"getelementptr {kind}, {given.room}, {n_in}")
    rest = w.emit(POINTER, f"getelementptr {kind}, {J}, {entries}")
    with w.loop(groups) as group:
        first = group * lanes
        with w.loop(n_in) as k:
            place = w.emit(POINTER, f"getelementptr {DOUBLE}, {given.states}, {k * stride + first}")
            x[k] = w.emit(kind, f"load {kind}, {place}, align 8")
        given.write_columns("many.columns", given.room, J, rest)
        with w.loop(entries) as k:
            place = w.emit(
                POINTER, f"getelementptr {DOUBLE}, {given.results}, {k * stride + first}"
            )
            w.line(f"store {VectorArray(J, kind)[k]}, {place}, align 8")
    w.ret_void()
    return w.text()
