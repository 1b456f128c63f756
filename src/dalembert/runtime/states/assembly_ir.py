"""φ(q, t) = 0 by damped Gauss–Newton, and the memory of that search: native text, for this machine
and for a page.
"""

from __future__ import annotations

import math
from typing import Final

from dalembert.runtime.numerics.ir_builder import (
    FunctionBuilder,
    Operand,
    ScalarArray,
    StackVariable,
    StructView,
    Value,
    VectorArray,
)
from dalembert.runtime.numerics.llvm_types import BOOL, DOUBLE, INT64, POINTER
from dalembert.runtime.ode.constrained.householder_qr import max_abs_ir
from dalembert.runtime.ode.minimum_norm import row
from dalembert.runtime.states import assembly

# everything that native functions of a start share: functions, tables that belong to the names,
# numbers of one start, scratch
_FIELDS: Final = (
    (POINTER, "f f_prologue f_work outs places D r J A b c C terms entries X W W_row W_column"),
    (POINTER, "at_rest structure fixed guessed nudges reached every"),
    (
        POINTER,
        "coordinate_from coordinate_to target_from own_target value_from direct_from direct_to",
    ),
    (INT64, "n_out n m n_A k n_given n_u n_W n_coordinates n_direct n_nudges n_multipliers"),
    (POINTER, "p given x targets q u qdot d free residuals"),
    (POINTER, "rows columns now first step found left r_now J_now M B trial clean before"),
    # rows that are not linear in the speeds: e(q, u, t) and its slopes, the places of these rows,
    # the speeds that a guess is given for
    (POINTER, "g g_p g_work g_outs g_places g_x e slopes curved first_u guessed_u near_u"),
    (DOUBLE, "t position_residual velocity_residual"),
    # the row or condition that is violated most where the search fails
    (INT64, "n_curved n_g_out iterations rank worst"),
)
PROBLEM_FIELDS: Final = tuple((name, kind) for kind, names in _FIELDS for name in names.split())

# what a start fails for; Python and the page say it in words
POSITIONS, FAILED_UNDEFINED, VELOCITIES, RATES, SINGULAR, FLAT = range(1, 7)


class InitialFunction:
    """A function of the problem, which is its last argument."""

    def __init__(
        self, name: str, *parameters: str, result: str = INT64, exported: bool = False
    ) -> None:
        self.f = FunctionBuilder(name, result, *parameters, POINTER, exported=exported)
        *arguments, self.pointer = self.f.parameters
        self.arguments: tuple[Value, ...] = tuple(arguments)
        self.given = StructView(self.pointer, PROBLEM_FIELDS)

    def scalar_field(self, name: str) -> ScalarArray:
        return ScalarArray(getattr(self.given, name))

    def int_field(self, name: str) -> VectorArray:
        return VectorArray(getattr(self.given, name), INT64)

    def variable(self, start: float) -> StackVariable:
        """A whole number or a number that changes."""
        return self.f.variable(self.f.value(start, INT64 if isinstance(start, int) else DOUBLE))

    def is_set(self, name: str, i: Value) -> Value:
        """Whether a mark is not zero."""
        return self.int_field(name)[i].not_equal(0)

    def call(self, name: str, *arguments: Value, result: str = INT64) -> Value:
        return self.f.call(name, result, *arguments, self.pointer)

    def copy(self, source: str, target: str, count: Operand) -> None:
        a, b = self.scalar_field(source), self.scalar_field(target)
        with self.f.loop(self.f.value(count, INT64)) as i:
            b[i] = a[i]

    def fabs(self, x: Value) -> Value:
        return self.f.intrinsic("fabs", x)

    def select_int(self, condition: Value, a: int, b: int) -> Value:
        return self.f.select(condition, self.f.value(a, INT64), b)

    def finish(self, value: Operand = 0) -> str:
        self.f.ret(value)
        return self.f.text()


def assembly_ir() -> str:
    """`place(problem)` and `assemble(problem)`, and what they need."""
    own = (
        _evaluate(),
        _is_satisfied(),
        _are_all_satisfied(),
        _extend_connected_block(),
        _damped_step(),
        _gauss_newton(),
        _find_violated(),
        _assemble(),
    )
    tools = (_finite(), max_abs_ir(), _count_set(), _gather(), _scatter())
    return "\n\n".join((_load_targets(), _load_given_values(), *tools, *own))


def _load_given_values() -> str:
    """Copies the given values to their coordinates and targets."""
    native = InitialFunction("place")
    f, given = native.f, native.given
    values, q = native.scalar_field("given"), native.scalar_field("q")
    native.copy("at_rest", "q", given.n)
    with f.loop(given.n_coordinates) as i:
        q[native.int_field("coordinate_to")[i]] = values[native.int_field("coordinate_from")[i]]
    native.call("place_targets")
    return native.finish()


def _load_targets() -> str:
    """The value that each row must have, its own or a given one."""
    native = InitialFunction("place_targets", exported=True)
    f, given = native.f, native.given
    targets = native.scalar_field("targets")
    with f.loop(given.m) as i:
        source = native.int_field("target_from")[i]
        targets[i] = native.scalar_field("own_target")[i]
        with f.if_then(source >= 0):
            targets[i] = native.scalar_field("given")[source]
    return native.finish()


def _finite() -> str:
    """Whether all of the numbers are finite."""
    f = FunctionBuilder("finite", BOOL, POINTER, INT64)
    x, n = f.parameters
    total = f.variable(f.value(0.0, DOUBLE))
    with f.loop(n) as i:
        # zero times what is not finite is not zero
        total.value = total.value + ScalarArray(x)[i] * 0.0
    f.ret(~total.value.not_equal(0.0))
    return f.text()


def _count_set() -> str:
    """How many of the marks are set."""
    f = FunctionBuilder("marked", INT64, POINTER, INT64)
    marks, n = f.parameters
    count = f.variable(f.value(0, INT64))
    with f.loop(n) as i, f.if_then(VectorArray(marks, INT64)[i].not_equal(0)):
        count.value = count.value + 1
    f.ret(count.value)
    return f.text()


def _gather() -> str:
    """(A, b) into M: of m rows those that are marked, of their n numbers those in marked
    columns, and b behind them.
    """
    native = InitialFunction("gather", POINTER, POINTER, POINTER, POINTER, INT64, INT64)
    f, (A, b, rows, columns, m, n) = native.f, native.arguments
    M, place = native.scalar_field("M"), native.variable(0)
    with f.loop(m) as i, f.if_then(VectorArray(rows, INT64)[i].not_equal(0)):
        with f.loop(n) as j, f.if_then(VectorArray(columns, INT64)[j].not_equal(0)):
            M[place.value] = ScalarArray(A)[i * n + j]
            place.value = place.value + 1
        M[place.value] = ScalarArray(b)[i]
        place.value = place.value + 1
    return native.finish()


def _scatter() -> str:
    """x ← x + factor · found at the marked places, one after the other."""
    native = InitialFunction("scatter", POINTER, POINTER, INT64, DOUBLE)
    f, (x, marks, n, factor) = native.f, native.arguments
    place = native.variable(0)
    with f.loop(n) as j, f.if_then(VectorArray(marks, INT64)[j].not_equal(0)):
        ScalarArray(x)[j] = ScalarArray(x)[j] + factor * native.scalar_field("found")[place.value]
        place.value = place.value + 1
    return native.finish()


def _evaluate() -> str:
    """Every table at positions q; what is not finite is not a number."""
    native = InitialFunction("evaluate", POINTER, exported=True)
    f, given, (q,) = native.f, native.given, native.arguments
    x, D, outs, places = (
        native.scalar_field("x"),
        native.scalar_field("D"),
        native.scalar_field("outs"),
        native.int_field("places"),
    )
    with f.loop(given.n) as i:
        x[i] = ScalarArray(q)[i]
    x[given.n] = given.t
    with f.if_then(given.n_out.not_equal(0)):
        f.line(f"call void {given.f.name}({given.x}, {given.p}, {given.outs}, {given.f_work})")
        with f.loop(given.n_out) as i:
            y = outs[i]
            D[places[i]] = y - (y - y)
    r, targets, residuals = (
        native.scalar_field("r"),
        native.scalar_field("targets"),
        native.scalar_field("residuals"),
    )
    with f.loop(given.m) as i:
        residuals[i] = r[i] - targets[i]
    return native.finish()


def _is_satisfied() -> str:
    """|r_i| ≤ distance · |∇φ_i| · max |q|, or as small as rounding, of row i at the positions
    that were evaluated last.
    """
    native = InitialFunction("satisfied", INT64, DOUBLE, result=BOOL)
    f, given, (i, distance) = native.f, native.given, native.arguments
    largest = f.call("size", DOUBLE, given.x, given.n)
    slope = row(f, given.J, i, given.n)
    length = f.intrinsic("sqrt", f.call("product", DOUBLE, slope, slope, given.n))
    size = f.select(largest > 0.0, largest, 1.0)
    return native.finish(
        native.fabs(native.scalar_field("residuals")[i])
        <= distance * size * length + assembly.ROUNDING
    )


def _are_all_satisfied() -> str:
    """Whether all rows are satisfied, or where `reached` is set those that were reached."""
    native = InitialFunction("all_satisfied", DOUBLE, INT64, result=BOOL)
    f, given, (distance, reached) = native.f, native.given, native.arguments
    with f.loop(given.m) as i:
        counts = native.is_set("rows", i) | ~reached.not_equal(0)
        with f.if_then(counts & ~native.call("satisfied", i, distance, result=BOOL)):
            f.ret(0)
    return native.finish(1)


def _extend_connected_block() -> str:
    """Add the rows and free coordinates that are connected with those marked so far."""
    native = InitialFunction("spread")
    f, given = native.f, native.given
    with f.loop(given.m) as i, f.loop(given.n) as j:
        joined = native.is_set("structure", i * given.n + j) & ~native.is_set("fixed", j)
        with f.if_then(joined & native.is_set("rows", i) & ~native.is_set("columns", j)):
            native.int_field("columns")[j] = 1
        with f.if_then(joined & native.is_set("columns", j) & ~native.is_set("rows", i)):
            native.int_field("rows")[i] = 1
    return native.finish()


def _damped_step() -> str:
    """step = −Jᵀ (J Jᵀ + μ 1)⁻¹ r within a radius, in the rows and columns that were reached;
    its length.
    """
    native = InitialFunction("direction", DOUBLE, result=DOUBLE)
    f, given, (radius,) = native.f, native.given, native.arguments
    native.call("gather", given.J_now, given.r_now, given.rows, given.columns, given.m, given.n)
    count, width = (
        f.call("marked", INT64, given.rows, given.m),
        f.call("marked", INT64, given.columns, given.n),
    )
    length = f.call(
        "least",
        DOUBLE,
        given.M,
        given.B,
        count,
        width,
        f.value(assembly.SINGULAR_VALUE_CUTOFF, DOUBLE),
        radius,
        given.found,
    )
    with f.loop(given.n) as j:
        native.scalar_field("step")[j] = 0.0
    native.call("scatter", given.step, given.columns, given.n, f.value(-1.0, DOUBLE))
    return native.finish(length)


def _gauss_newton() -> str:
    """From `now` by steps within a trust region until the residual no longer falls; the number
    of steps.
    """
    native = InitialFunction("gauss_newton")
    f, given = native.f, native.given
    m, n = given.m, given.n
    now, first, step, r = (native.scalar_field(name) for name in ("now", "first", "step", "r_now"))
    steps, radius = native.variable(0), native.variable(assembly.RADIUS)
    native.call("evaluate", given.now)
    native.copy("residuals", "r_now", m)
    native.copy("J", "J_now", m * n)
    with f.loop_forever():
        _stop_if_solved(native, r, steps, m, n)
        length = native.call("direction", radius.value, result=DOUBLE)
        size = f.call("size", DOUBLE, given.now, n)
        with f.if_then(length <= size * assembly.MIN_STEP):
            f.ret(steps.value)
        with f.loop(n) as j:
            first[j] = now[j] + step[j]
        native.call("evaluate", given.first)
        steps.value = steps.value + 1
        before, linear = _linear_prediction(native, r, m, n)
        after = f.call("product", DOUBLE, given.residuals, given.residuals, m)
        # NaN is not less
        better = after < before
        with f.if_then(better):
            good = (before - after) > (before - linear.value) * assembly.GOOD_REDUCTION
            radius.value = f.select(
                good, f.intrinsic("maxnum", radius.value, length * assembly.GROWTH), radius.value
            )
            _accept_step(native, m, n)
        with f.if_then(~better):
            with f.if_then(length <= size * assembly.ROUNDING):
                f.ret(steps.value)
            radius.value = length / assembly.GROWTH
    return f.text()


def _stop_if_solved(
    native: InitialFunction, r: ScalarArray, steps: StackVariable, m: Value, n: Value
) -> None:
    """The search ends where no row is left to solve, nothing is finite, or after too many steps."""
    f, given, rest = native.f, native.given, native.variable(0.0)
    with f.loop(m) as i, f.if_then(native.is_set("rows", i)):
        rest.value = f.intrinsic("maxnum", rest.value, native.fabs(r[i]))
    finite = f.call("finite", BOOL, given.r_now, m) & f.call("finite", BOOL, given.J_now, m * n)
    with f.if_then(~(finite & (rest.value > 0.0) & (steps.value < assembly.MAX_ITERATIONS))):
        f.ret(steps.value)


def _linear_prediction(
    native: InitialFunction, r: ScalarArray, m: Value, n: Value
) -> tuple[Value, StackVariable]:
    """|r|² before a step, and what the linear model makes of it."""
    f, given = native.f, native.given
    before, linear = f.call("product", DOUBLE, given.r_now, given.r_now, m), native.variable(0.0)
    with f.loop(m) as i:
        left = r[i] + f.call("product", DOUBLE, row(f, given.J_now, i, n), given.step, n)
        linear.value = linear.value + left * left
    return before, linear


def _accept_step(native: InitialFunction, m: Value, n: Value) -> None:
    native.copy("first", "now", n)
    native.copy("residuals", "r_now", m)
    native.copy("J", "J_now", m * n)


def _find_violated() -> str:
    """Marks the violated rows at the positions that were evaluated last, and finds the worst of
    them.
    """
    native = InitialFunction("find_violated")
    f, given = native.f, native.given
    accepted, most = f.value(assembly.ACCEPT_TOLERANCE, DOUBLE), native.variable(-1.0)
    with f.loop(given.m) as i:
        good = native.call("satisfied", i, accepted, result=BOOL)
        native.int_field("rows")[i] = native.select_int(good, 0, 1)
        size = native.fabs(native.scalar_field("residuals")[i])
        # what is not a number is worst
        with f.if_then(~good & ~(size <= most.value)):
            most.value = f.select(size >= 0.0, size, math.inf)
            given.worst = i
    return native.finish(POSITIONS)


def _choose_rows(native: InitialFunction, exact: Value, m: Value, n: Value) -> None:
    """Rows that are violated or contain a guess, and the coordinates that may move with them."""
    f = native.f
    with f.loop(n) as j:
        native.int_field("columns")[j] = 0
    with f.loop(m) as i:
        native.int_field("rows")[i] = native.select_int(
            native.call("satisfied", i, exact, result=BOOL), 0, 1
        )
        with (
            f.loop(n) as j,
            f.if_then(native.is_set("structure", i * n + j) & native.is_set("guessed", j)),
        ):
            native.int_field("rows")[i] = 1
    with f.loop(m + n):
        native.call("spread")


def _assemble() -> str:
    """q moved as little as the rows demand; 0, or what it fails for."""
    native = InitialFunction("assemble", exported=True)
    f, given = native.f, native.given
    n, m = given.n, given.m
    exact, accepted = (
        f.value(x, DOUBLE) for x in (assembly.UNCHANGED_TOLERANCE, assembly.ACCEPT_TOLERANCE)
    )
    all_rows, some = f.value(0, INT64), f.value(1, INT64)
    now, before, nudges = (native.scalar_field(name) for name in ("now", "before", "nudges"))
    given.iterations = 0
    native.call("evaluate", given.q)
    with f.if_then(native.call("all_satisfied", exact, all_rows, result=BOOL)):
        f.ret(0)
    _choose_rows(native, exact, m, n)
    native.copy("q", "before", n)
    error = native.variable(math.inf)
    with f.loop(given.n_nudges + 1) as k:
        with f.loop(n) as j:
            now[j] = before[j]
            with f.if_then((k > 0) & native.is_set("columns", j)):
                now[j] = now[j] + nudges[(k - 1) * n + j]
        given.iterations = given.iterations + native.call("gauss_newton")
        native.call("evaluate", given.now)
        rest = f.call("product", DOUBLE, given.residuals, given.residuals, m)
        with f.if_then(rest < error.value):
            error.value = rest
            native.copy("now", "q", n)
        native.call("evaluate", given.q)
        with f.if_then(native.call("all_satisfied", accepted, some, result=BOOL)):
            with f.if_then(native.call("all_satisfied", accepted, all_rows, result=BOOL)):
                f.ret(0)
            f.ret(native.call("find_violated"))
    return native.finish(native.call("find_violated"))
