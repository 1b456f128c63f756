"""A start in memory, and φ(q, t) = 0 by damped Gauss–Newton: the search of `assembly` as native text, which decides as it does there."""

from __future__ import annotations

import math
from typing import Final

from dalembert.runtime.numerics.ir_builder import Array, NativeFunction, NativeVariable, NumberArray, Operand, Record, Value
from dalembert.runtime.numerics.llvm_types import POINTER, REAL, TRUTH, WHOLE
from dalembert.runtime.ode.constrained.householder_qr import size
from dalembert.runtime.ode.minimum_norm import row
from dalembert.runtime.states import assembly

# everything that native functions of a start share: functions, tables that belong to the names, numbers of one start, scratch
_FIELDS: Final = (
    (POINTER, "f f_prologue f_work outs places D r J A b c C terms entries X W W_row W_column"),
    (POINTER, "at_rest structure fixed guessed nudges reached every"),
    (POINTER, "coordinate_from coordinate_to target_from own_target value_from direct_from direct_to"),
    (WHOLE, "n_out n m n_A k n_given n_u n_W n_coordinates n_direct n_nudges beside"),
    (POINTER, "p given x targets q u qdot d free residuals"),
    (POINTER, "rows columns now first step found left r_now J_now M B trial clean before"),
    (REAL, "t position_residual velocity_residual"),
    (WHOLE, "iterations rank"),
)
FIELDS: Final = tuple((name, kind) for kind, names in _FIELDS for name in names.split())

# what a start fails for; Python says it in words
POSITIONS, UNDEFINED, VELOCITIES, RATES, SINGULAR = range(1, 6)


class StartFunction:
    """A function of the problem, which is its last argument."""

    def __init__(self, name: str, *parameters: str, result: str = WHOLE, exported: bool = False) -> None:
        self.f = NativeFunction(name, result, *parameters, POINTER, exported=exported)
        *arguments, self.pointer = self.f.parameters
        self.arguments: tuple[Value, ...] = tuple(arguments)
        self.given = Record(self.pointer, FIELDS)

    def numbers(self, name: str) -> NumberArray:
        return NumberArray(getattr(self.given, name))

    def wholes(self, name: str) -> Array:
        return Array(getattr(self.given, name), WHOLE)

    def variable(self, start: float) -> NativeVariable:
        """A whole number or a number that changes."""
        return self.f.variable(self.f.value(start, WHOLE if isinstance(start, int) else REAL))

    def is_set(self, name: str, i: Value) -> Value:
        """Whether a mark is not zero."""
        return self.wholes(name)[i].differs(0)

    def call(self, name: str, *arguments: Value, result: str = WHOLE) -> Value:
        return self.f.call(name, result, *arguments, self.pointer)

    def copy(self, source: str, target: str, count: Operand) -> None:
        a, b = self.numbers(source), self.numbers(target)
        with self.f.loop(self.f.value(count, WHOLE)) as i:
            b[i] = a[i]

    def fabs(self, x: Value) -> Value:
        return self.f.intrinsic("fabs", x)

    def either(self, condition: Value, a: int, b: int) -> Value:
        return self.f.choose(condition, self.f.value(a, WHOLE), b)

    def done(self, value: Operand = 0) -> str:
        self.f.give(value)
        return self.f.text()


def assembly_text() -> str:
    """`place(problem)` and `assemble(problem)`, and what they need."""
    own = (_evaluate(), _satisfied(), _all_satisfied(), _spread(), _direction(), _gauss_newton(), _assemble())
    return "\n\n".join((_place(), _finite(), size(), _marked(), _gather(), _scatter(), *own))


def _place() -> str:
    """What was given goes to its coordinates and targets."""
    native = StartFunction("place")
    f, given = native.f, native.given
    values, q, targets = native.numbers("given"), native.numbers("q"), native.numbers("targets")
    native.copy("at_rest", "q", given.n)
    with f.loop(given.n_coordinates) as i:
        q[native.wholes("coordinate_to")[i]] = values[native.wholes("coordinate_from")[i]]
    with f.loop(given.m) as i:
        source = native.wholes("target_from")[i]
        targets[i] = native.numbers("own_target")[i]
        with f.when(source >= 0):
            targets[i] = values[source]
    return native.done()


def _finite() -> str:
    """Whether so many numbers are all finite."""
    f = NativeFunction("finite", TRUTH, POINTER, WHOLE)
    x, n = f.parameters
    total = f.variable(f.value(0.0, REAL))
    with f.loop(n) as i:
        # zero times what is not finite is not zero
        total.value = total.value + NumberArray(x)[i] * 0.0
    f.give(~total.value.differs(0.0))
    return f.text()


def _marked() -> str:
    """How many of so many marks are set."""
    f = NativeFunction("marked", WHOLE, POINTER, WHOLE)
    marks, n = f.parameters
    count = f.variable(f.value(0, WHOLE))
    with f.loop(n) as i, f.when(Array(marks, WHOLE)[i].differs(0)):
        count.value = count.value + 1
    f.give(count.value)
    return f.text()


def _gather() -> str:
    """(A, b) into M: of m rows those that are marked, of their n numbers those in marked columns, and b behind them."""
    native = StartFunction("gather", POINTER, POINTER, POINTER, POINTER, WHOLE, WHOLE)
    f, (A, b, rows, columns, m, n) = native.f, native.arguments
    M, place = native.numbers("M"), native.variable(0)
    with f.loop(m) as i, f.when(Array(rows, WHOLE)[i].differs(0)):
        with f.loop(n) as j, f.when(Array(columns, WHOLE)[j].differs(0)):
            M[place.value] = NumberArray(A)[i * n + j]
            place.value = place.value + 1
        M[place.value] = NumberArray(b)[i]
        place.value = place.value + 1
    return native.done()


def _scatter() -> str:
    """x ← x + factor · found at the marked places, one after the other."""
    native = StartFunction("scatter", POINTER, POINTER, WHOLE, REAL)
    f, (x, marks, n, factor) = native.f, native.arguments
    place = native.variable(0)
    with f.loop(n) as j, f.when(Array(marks, WHOLE)[j].differs(0)):
        NumberArray(x)[j] = NumberArray(x)[j] + factor * native.numbers("found")[place.value]
        place.value = place.value + 1
    return native.done()


def _evaluate() -> str:
    """Every table at positions q; what is not finite is not a number."""
    native = StartFunction("evaluate", POINTER)
    f, given, (q,) = native.f, native.given, native.arguments
    x, D, outs, places = native.numbers("x"), native.numbers("D"), native.numbers("outs"), native.wholes("places")
    with f.loop(given.n) as i:
        x[i] = NumberArray(q)[i]
    x[given.n] = given.t
    with f.when(given.n_out.differs(0)):
        f.line(f"call void {given.f.name}({given.x}, {given.p}, {given.outs}, {given.f_work})")
        with f.loop(given.n_out) as i:
            y = outs[i]
            D[places[i]] = y - (y - y)
    r, targets, residuals = native.numbers("r"), native.numbers("targets"), native.numbers("residuals")
    with f.loop(given.m) as i:
        residuals[i] = r[i] - targets[i]
    return native.done()


def _satisfied() -> str:
    """|r_i| ≤ distance · |∇φ_i| · max |q|, or as small as rounding, of row i at the positions that were evaluated last."""
    native = StartFunction("satisfied", WHOLE, REAL, result=TRUTH)
    f, given, (i, distance) = native.f, native.given, native.arguments
    largest = f.call("size", REAL, given.x, given.n)
    slope = row(f, given.J, i, given.n)
    length = f.intrinsic("sqrt", f.call("product", REAL, slope, slope, given.n))
    size = f.choose(largest > 0.0, largest, 1.0)
    return native.done(native.fabs(native.numbers("residuals")[i]) <= distance * size * length + assembly.ROUNDING)


def _all_satisfied() -> str:
    """Whether all rows are satisfied, or where `reached` is set those that were reached."""
    native = StartFunction("all_satisfied", REAL, WHOLE, result=TRUTH)
    f, given, (distance, reached) = native.f, native.given, native.arguments
    with f.loop(given.m) as i:
        counts = native.is_set("rows", i) | ~reached.differs(0)
        with f.when(counts & ~native.call("satisfied", i, distance, result=TRUTH)):
            f.give(0)
    return native.done(1)


def _spread() -> str:
    """Add the rows and free coordinates that are connected with those marked so far."""
    native = StartFunction("spread")
    f, given = native.f, native.given
    with f.loop(given.m) as i, f.loop(given.n) as j:
        joined = native.is_set("structure", i * given.n + j) & ~native.is_set("fixed", j)
        with f.when(joined & native.is_set("rows", i) & ~native.is_set("columns", j)):
            native.wholes("columns")[j] = 1
        with f.when(joined & native.is_set("columns", j) & ~native.is_set("rows", i)):
            native.wholes("rows")[i] = 1
    return native.done()


def _direction() -> str:
    """step = −Jᵀ (J Jᵀ + μ 1)⁻¹ r within a radius, in the rows and columns that were reached; its length."""
    native = StartFunction("direction", REAL, result=REAL)
    f, given, (radius,) = native.f, native.given, native.arguments
    native.call("gather", given.J_now, given.r_now, given.rows, given.columns, given.m, given.n)
    count, width = f.call("marked", WHOLE, given.rows, given.m), f.call("marked", WHOLE, given.columns, given.n)
    length = f.call("least", REAL, given.M, given.B, count, width, f.value(assembly.SMALLEST, REAL), radius, given.found)
    with f.loop(given.n) as j:
        native.numbers("step")[j] = 0.0
    native.call("scatter", given.step, given.columns, given.n, f.value(-1.0, REAL))
    return native.done(length)


def _gauss_newton() -> str:
    """From `now` by steps within a trust region until the residual no longer falls; the number of steps."""
    native = StartFunction("gauss_newton")
    f, given = native.f, native.given
    m, n = given.m, given.n
    now, first, step, r = (native.numbers(name) for name in ("now", "first", "step", "r_now"))
    steps, radius = native.variable(0), native.variable(assembly.RADIUS)
    native.call("evaluate", given.now)
    native.copy("residuals", "r_now", m)
    native.copy("J", "J_now", m * n)
    with f.forever():
        rest = native.variable(0.0)
        with f.loop(m) as i, f.when(native.is_set("rows", i)):
            rest.value = f.intrinsic("maxnum", rest.value, native.fabs(r[i]))
        finite = f.call("finite", TRUTH, given.r_now, m) & f.call("finite", TRUTH, given.J_now, m * n)
        with f.when(~(finite & (rest.value > 0.0) & (steps.value < assembly.MOST_STEPS))):
            f.give(steps.value)
        length = native.call("direction", radius.value, result=REAL)
        size = f.call("size", REAL, given.now, n)
        with f.when(length <= size * assembly.SHORTEST):
            f.give(steps.value)
        with f.loop(n) as j:
            first[j] = now[j] + step[j]
        native.call("evaluate", given.first)
        steps.value = steps.value + 1
        before, linear = f.call("product", REAL, given.r_now, given.r_now, m), native.variable(0.0)
        with f.loop(m) as i:
            left = r[i] + f.call("product", REAL, row(f, given.J_now, i, n), given.step, n)
            linear.value = linear.value + left * left
        after = f.call("product", REAL, given.residuals, given.residuals, m)
        # NaN is not less
        better = after < before
        with f.when(better):
            good = (before - after) > (before - linear.value) * assembly.GOOD
            radius.value = f.choose(good, f.intrinsic("maxnum", radius.value, length * assembly.GROWTH), radius.value)
            native.copy("first", "now", n)
            native.copy("residuals", "r_now", m)
            native.copy("J", "J_now", m * n)
        with f.when(~better):
            with f.when(length <= size * assembly.ROUNDING):
                f.give(steps.value)
            radius.value = length / assembly.GROWTH
    return f.text()


def _assemble() -> str:
    """q moved as little as the rows demand; 0, or what it fails for."""
    native = StartFunction("assemble")
    f, given = native.f, native.given
    n, m = given.n, given.m
    exact, accepted = (f.value(x, REAL) for x in (assembly.EXACT, assembly.ACCEPTED))
    all_rows, some = f.value(0, WHOLE), f.value(1, WHOLE)
    now, before, nudges = (native.numbers(name) for name in ("now", "before", "nudges"))
    given.iterations = 0
    native.call("evaluate", given.q)
    with f.when(native.call("all_satisfied", exact, all_rows, result=TRUTH)):
        f.give(0)
    with f.loop(n) as j:
        native.wholes("columns")[j] = 0
    with f.loop(m) as i:
        native.wholes("rows")[i] = native.either(native.call("satisfied", i, exact, result=TRUTH), 0, 1)
        with f.loop(n) as j, f.when(native.is_set("structure", i * n + j) & native.is_set("guessed", j)):
            native.wholes("rows")[i] = 1
    with f.loop(m + n):
        native.call("spread")
    native.copy("q", "before", n)
    error = native.variable(math.inf)
    with f.loop(given.n_nudges + 1) as k:
        with f.loop(n) as j:
            now[j] = before[j]
            with f.when((k > 0) & native.is_set("columns", j)):
                now[j] = now[j] + nudges[(k - 1) * n + j]
        given.iterations = given.iterations + native.call("gauss_newton")
        native.call("evaluate", given.now)
        rest = f.call("product", REAL, given.residuals, given.residuals, m)
        with f.when(rest < error.value):
            error.value = rest
            native.copy("now", "q", n)
        native.call("evaluate", given.q)
        with f.when(native.call("all_satisfied", accepted, some, result=TRUTH)):
            f.give(native.either(native.call("all_satisfied", accepted, all_rows, result=TRUTH), 0, POSITIONS))
    return native.done(POSITIONS)
