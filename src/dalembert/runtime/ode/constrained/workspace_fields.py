"""A problem with rows in memory: everything its native functions share, and how they are
written.
"""

from __future__ import annotations

from typing import Final

from dalembert.runtime.numerics.ir_builder import (
    FunctionBuilder,
    Operand,
    ScalarArray,
    StructView,
    Value,
    VectorArray,
)
from dalembert.runtime.numerics.llvm_types import DOUBLE, DOUBLE4, GROUP_SIZE, INT64, POINTER

# name and kind of each field, in the order of the structure
WORKSPACE_FIELDS: Final[tuple[tuple[str, str], ...]] = (
    # f(x, p, outs, work), and where each number it gives belongs
    ("fill", POINTER),
    ("fill_work", POINTER),
    ("outs", POINTER),
    ("index", POINTER),
    ("count", INT64),
    # q + E δz as a function of (q, δz, t)
    ("move", POINTER),
    ("move_work", POINTER),
    ("p", POINTER),
    ("n_q", INT64),
    ("n", INT64),
    ("m", INT64),
    # groups of four that hold n and m numbers
    ("groups", INT64),
    ("row_groups", INT64),
    # how many rows may be kept, and how many were
    ("cap", INT64),
    ("rank", INT64),
    # the smallest diagonal entry of R
    ("weakest", DOUBLE),
    # how fast the rows turn, and their columns of B at the end of the last step, with its time
    ("turning", DOUBLE),
    ("seen_at", DOUBLE),
    ("seen", POINTER),
    # whether to choose rows again at every call of `rates`
    ("choosing", INT64),
    ("massless", INT64),
    ("quaternions", INT64),
    ("curved", INT64),
    # whether to move the ends of steps onto the rows
    ("holding", INT64),
    # Baumgarte's α: γ + 2 α e + α² φ
    ("alpha", DOUBLE),
    ("block", POINTER),
    ("block_groups", INT64),
    # parts of the block
    ("qdot", POINTER),
    ("f", POINTER),
    ("gamma", POINTER),
    ("phi", POINTER),
    ("e", POINTER),
    ("U", POINTER),
    ("B", POINTER),
    ("R", POINTER),
    # scratch
    ("x", POINTER),
    ("h", POINTER),
    ("inverse", POINTER),
    ("w", POINTER),
    ("c", POINTER),
    ("diagonal", POINTER),
    ("tau", POINTER),
    ("scale", POINTER),
    ("lengths", POINTER),
    ("sizes", POINTER),
    ("rho", POINTER),
    ("order", POINTER),
    ("keep", POINTER),
    ("multipliers", POINTER),
    # columns of S = ∂(q, z)/∂p after the state: their number, what is differentiated, and E δz
    ("directions", INT64),
    ("tangents", POINTER),
    ("tangents_work", POINTER),
    ("row_tangents", POINTER),
    ("row_tangents_work", POINTER),
    ("shift", POINTER),
    ("shift_work", POINTER),
    # (q, z, S, t, ż, λ), and what the functions give
    ("tangents_x", POINTER),
    ("tangents_outs", POINTER),
    # (q̇, ż, λ, 1/s_j, Σ (M_kk/d_k)²) as a function of x; how many numbers that are, or 0; how
    # often it was not safe
    ("straight", POINTER),
    ("straight_work", POINTER),
    ("straight_outs", POINTER),
    ("straight_count", INT64),
    ("straight_refused", INT64),
    # the least sine between a row and those before it for which it is safe; 0: where the other
    # solver looks at rounding errors
    ("least_sine", DOUBLE),
    # (φ, −A⁺φ, −A⁺e, s_jj, Σ_k |a_jk|, 1/s_j, Σ (M_kk/d_k)²) as a function of x, and how many
    # numbers that are, or 0
    ("back", POINTER),
    ("back_work", POINTER),
    ("back_outs", POINTER),
    ("back_count", INT64),
    # the last two ends of steps, and how many there were since rows were chosen
    ("ends", POINTER),
    ("unseen", INT64),
    # positions before a projection
    ("came", POINTER),
    # Σ_k |a_jk| at the last end of a step
    ("slopes", POINTER),
    # whether a row is left though its slope is not zero, since when, the longest such time, and the
    # row
    ("left", INT64),
    ("left_since", DOUBLE),
    ("left_longest", DOUBLE),
    ("left_row", INT64),
)


# what native code changes; everything else stays as it is while a function runs
_CHANGING: Final = frozenset(
    {"rank", "weakest", "turning", "seen_at", "p", "multipliers", "straight_refused", "unseen"}
) | {name for name, _ in WORKSPACE_FIELDS if name.startswith("left")}


class FrozenFields(StructView):
    """The structure, its unchanging fields loaded once, where the function begins."""

    __slots__ = ("_known",)
    _known: dict[str, Value]

    def __init__(self, pointer: Value) -> None:
        super().__init__(pointer, WORKSPACE_FIELDS)
        object.__setattr__(self, "_known", {})

    def __getattr__(self, name: str) -> Value:
        if name in _CHANGING:
            return super().__getattr__(name)
        value = self._known.get(name)
        if value is None:
            place, kind = self._fields[name]
            where = f"getelementptr i64, {self._pointer}, i64 {place}"
            value = self._known[name] = self._pointer.function.emit_at_entry(
                kind, where, f"load {kind}, ptr {{}}, align 8"
            )
        return value


class WorkspaceFunction:
    """A function of a problem in memory: what it is given, its fields, its rows."""

    def __init__(
        self, name: str, *parameters: str, result: str = INT64, exported: bool = False
    ) -> None:
        self.function = FunctionBuilder(name, result, *parameters, POINTER, exported=exported)
        *self.arguments, self.pointer = self.function.parameters
        self.given = FrozenFields(self.pointer)

    def scalar_field(self, name: str) -> ScalarArray:
        """Numbers, element by element."""
        return ScalarArray(getattr(self.given, name))

    def int_field(self, name: str) -> VectorArray:
        """Whole numbers, element by element."""
        return VectorArray(getattr(self.given, name), INT64)

    def row(self, name: str, i: Value) -> Value:
        """Row i of U or B."""
        return self.lanes(getattr(self.given, name), i * self.given.groups)

    def column_of_R(self, j: Value) -> Value:
        """The column of R that belongs to row j of A."""
        return self.lanes(self.given.R, j * self.given.row_groups)

    def lanes(self, base: Value, groups: Value) -> Value:
        """The address a number of groups of four further on."""
        return self.function.emit(POINTER, f"getelementptr {DOUBLE4}, {base}, {groups}")

    def scalars_from(self, base: Value, k: Operand) -> ScalarArray:
        """Numbers from number k on."""
        return ScalarArray(
            self.function.emit(
                POINTER, f"getelementptr {DOUBLE}, {base}, {self.function.value(k, INT64)}"
            )
        )

    def first_group(self, k: Value) -> Value:
        """The group that holds number k."""
        return self.function.emit(INT64, f"lshr {k}, {GROUP_SIZE.bit_length() - 1}")

    def call(self, name: str, *arguments: Operand) -> Value:
        """Another of these functions."""
        values = [
            a
            if isinstance(a, Value)
            else self.function.value(a, DOUBLE if isinstance(a, float) else INT64)
            for a in arguments
        ]
        return self.function.call(name, INT64, *values, self.pointer)

    def compute(self, name: str, x: Value, outs: Value, p: Value | None = None) -> None:
        """A compiled function f(x, p, outs, work) of the problem."""
        function, work = getattr(self.given, name), getattr(self.given, f"{name}_work")
        self.function.line(
            f"call void {function.name}({x}, {self.given.p if p is None else p}, {outs}, {work})"
        )

    def dot(self, a: Value, b: Value, k: Value, groups: Value) -> Value:
        """Σ a b from the group of number k on."""
        g = self.first_group(k)
        return self.function.call("dot", DOUBLE, self.lanes(a, g), self.lanes(b, g), groups - g)

    def add(self, y: Value, factor: Value, x: Value, k: Value, groups: Value) -> None:
        """y += factor x from the group of number k on."""
        g = self.first_group(k)
        self.function.call("add", INT64, self.lanes(y, g), factor, self.lanes(x, g), groups - g)

    def copy(self, count: Value, source: ScalarArray, target: ScalarArray) -> None:
        """target = source."""
        with self.function.loop(count) as i:
            target[i] = source[i]

    def clear(self, base: Value, groups: Value) -> None:
        """Zeros in the given number of groups of four."""
        lanes = VectorArray(base)
        with self.function.loop(groups) as i:
            lanes[i] = 0.0

    def finish(self) -> str:
        """Return 0; the text."""
        self.function.ret(0)
        return self.function.text()
