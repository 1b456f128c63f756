"""y₀ → y₁: the native text of one step with its error estimate, its projected end and its dense output.

Every function returns 0, or the `Cause` for which the step cannot be taken; the code behind it is then in run.code.

Source: HNW1 II.5 (the method), II.4 (step size control), II.6 and II.10 (dense output and DOP853).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from dalembert.numerics.llvm_types import CODE, LANE, POINTER, REAL, WHOLE
from dalembert.numerics.llvm_writer import Array, NativeFunction, Operand, Record, Value
from dalembert.ode.coefficients import E3, E5, END_STAGE, STAGES, STEP_STAGES, A, B, C, D, Numbers
from dalembert.ode.problem import DENSE_ROWS
from dalembert.ode.run import FIELDS, Cause, WorkRow

ERROR_OF_ORDER_3: Final = 0.01


class RunFunction:
    """A native function of a run: the function, the run it is given and the rows of its work space."""

    def __init__(self, name: str, *parameters: str, exported: bool = False) -> None:
        self.function = NativeFunction(name, WHOLE, POINTER, *parameters, exported=exported)
        self.pointer, *self.arguments = self.function.parameters
        self.run = Record(self.pointer, FIELDS)

    def row(self, number: int) -> Array:
        """A row of the work space; k_j is row j."""
        return self.block(self.run.work, self.run.groups * number)

    def block(self, base: Value, groups: Value) -> Array:
        """What begins so many groups of four numbers after an address."""
        return Array(self.function.emit(POINTER, f"getelementptr {LANE}, {base}, {groups}"))

    def call(self, name: str, *arguments: Value) -> Value:
        """What another function of the run returns."""
        return self.function.call(name, WHOLE, self.pointer, *arguments)

    def propagate(self, cause: Value) -> None:
        """Return the cause unless there is none."""
        with self.function.when(cause.differs(0)):
            self.function.give(cause)

    def evaluate(self, t: Value, y: Array, k: Array) -> Value:
        """k = f(t, y)."""
        return self.call("evaluate", t, y.pointer, k.pointer)

    def finite(self, y: Array, k: Array) -> Value:
        """Whether y and k are finite."""
        return self.call("finite", y.pointer, k.pointer)

    def weighted(self, numbers: Numbers, k: dict[int, Array], i: Value, latest: int = -1) -> Value:
        """Σ_j a_j k_j, as fused multiply-adds; k_latest has just been written, component by component."""
        (first, a), *others = numbers.items()
        result = (k[first].one_by_one(i) if first == latest else k[first][i]) * a
        for j, a in others:
            result = self.function.intrinsic("fmuladd", k[j].one_by_one(i) if j == latest else k[j][i], a, result)
        return result

    def combine(self, target: int, numbers: Numbers) -> None:
        """target = y + h Σ_j a_j k_j."""
        y, out, k = self.row(WorkRow.Y), self.row(target), {j: self.row(j) for j in numbers}
        h = self.function.value(self.run.h_try, LANE)
        with self.function.loop(self.run.groups) as i:
            out[i] = self.function.intrinsic("fmuladd", h, self.weighted(numbers, k, i, max(numbers)), y[i])

    def move(self, i: Value, increment: Callable[[Value], Value]) -> None:
        """NEW = Y + d, where d has been given what rounding took from Y; what it takes from NEW is kept for the next step.

        Without this the rounding of every step stays, and thousands of them add up to more than a tight tolerance allows.
        """
        y, new, carry, lost = (self.row(r) for r in (WorkRow.Y, WorkRow.NEW, WorkRow.CARRY, WorkRow.LOST))
        d = increment(carry[i])
        end = y[i] + d
        new[i], lost[i] = end, d - (end - y[i])

    def carry_nothing(self) -> None:
        """At a start."""
        carry = self.row(WorkRow.CARRY)
        with self.function.loop(self.run.groups) as i:
            carry[i] = self.function.value(0.0, LANE)

    def stage(self, s: int) -> None:
        """k_s = f(t + c_s h, y + h Σ_j a_sj k_j)."""
        self.combine(WorkRow.STAGE, A[s])
        t = self.run.t_new if C[s] == 1.0 else self.run.t + self.run.h_try * C[s]
        self.propagate(self.evaluate(t, self.row(WorkRow.STAGE), self.row(s)))

    def in_norm(self, mask: Array, i: Value, x: Value) -> Value:
        """x for the components in the error norm, 0 for the others, whatever they are."""
        return self.function.choose(mask[i] > 0.0, x, 0.0)


def step_text() -> str:
    """The functions of one step; `attempt` is the whole."""
    parts = (evaluation_text(), _stages(), _estimate(), finish_text(), _interpolant(), consent_text())
    return "\n\n".join((*parts, attempt_text("stages", "estimate", "finish", "interpolant", "consent")))


def evaluation_text() -> str:
    """f, and whether what came out is finite."""
    return f"{_evaluate()}\n\n{_finite()}"


def _evaluate() -> str:
    """k = f(t, y), counted."""
    native = RunFunction("evaluate", REAL, POINTER, POINTER)
    f, run, (t, y, k) = native.function, native.run, native.arguments
    run.calls = run.calls + 1
    code = f.call(run.rhs, CODE, t, y, k, run.context)
    with f.when(code.differs(0)):
        run.code = code
        f.give(Cause.RHS)
    f.give(Cause.NONE)
    return f.text()


def _finite() -> str:
    """Whether y and k are finite: 0·y + 0·k = 0."""
    native = RunFunction("finite", POINTER, POINTER)
    f, (y, k), mask = native.function, map(Array, native.arguments), native.row(WorkRow.IN_NORM)
    total = f.variable(f.value(0.0, LANE))
    with f.loop(native.run.norm_groups) as i:
        total.value = total.value + native.in_norm(mask, i, y[i] * 0.0 + k[i] * 0.0)
    with f.when(f.total(total.value).differs(0.0)):
        f.give(Cause.NOT_FINITE)
    f.give(Cause.NONE)
    return f.text()


def _stages() -> str:
    """k₁, …, k₁₁ and y₁ = y₀ + h Σ b_j k_j."""
    native = RunFunction("stages")
    for s in range(1, STEP_STAGES):
        native.stage(s)
    f, k, h = native.function, {j: native.row(j) for j in B}, native.function.value(native.run.h_try, LANE)
    with f.loop(native.run.groups) as i:
        native.move(i, lambda carry: f.intrinsic("fmuladd", h, native.weighted(B, k, i, max(B)), carry))
    f.give(Cause.NONE)
    return native.function.text()


def _estimate() -> str:
    """err = h |e₅|² / √(n (|e₅|² + 0.01 |e₃|²)),  |e|² = Σ (e_i / (atol_i + rtol max(|y₀|, |y₁|)))²

    The sums run over the components in the norm only, in an order that does not depend on how many others there are.

    Source: HNW1 II.10.
    """
    native = RunFunction("estimate")
    f, run = native.function, native.run
    y, new, atol, mask = (native.row(r) for r in (WorkRow.Y, WorkRow.NEW, WorkRow.ATOL, WorkRow.IN_NORM))
    k, rtol = {j: native.row(j) for j in B}, f.value(run.rtol, LANE)
    sums = [(numbers, f.variable(f.value(0.0, LANE))) for numbers in (E5, E3)]
    with f.loop(run.norm_groups) as i:
        largest = f.intrinsic("maxnum", f.intrinsic("fabs", y[i]), f.intrinsic("fabs", new[i]))
        scale = f.intrinsic("fmuladd", rtol, largest, atol[i])
        for numbers, total in sums:
            e = native.weighted(numbers, k, i) / scale
            total.value = total.value + native.in_norm(mask, i, e * e)
    e5, e3 = (f.total(total.value) for _, total in sums)
    below = e5 + e3 * ERROR_OF_ORDER_3
    below = f.choose(below <= 0.0, 1.0, below) * f.value(run.n_norm, REAL)
    run.error = run.h_try * e5 / f.intrinsic("sqrt", below)
    give_verdict(native)
    return f.text()


def give_verdict(native: RunFunction) -> None:
    """Return what the error estimate means."""
    f, error = native.function, native.run.error
    with f.when(~(error < float("inf"))):
        f.give(Cause.NOT_FINITE)
    with f.when(error > 1.0):
        f.give(Cause.ERROR)
    f.give(Cause.NONE)


def finish_text() -> str:
    """The end of the step, projected if there is a projection, and f there.

    Only if the projection moves the state is f evaluated once more; the stages keep the f of the unprojected end.
    """
    native = RunFunction("finish")
    f, run = native.function, native.run
    new, rate, end, end_rate = (native.row(r) for r in (WorkRow.NEW, END_STAGE, WorkRow.END, WorkRow.END_RATE))
    native.propagate(native.evaluate(run.t_new, new, rate))
    native.propagate(native.finite(new, rate))
    with f.loop(run.groups) as i:
        end[i] = new[i]
        end_rate[i] = rate[i]
    moved = f.variable(f.value(0.0, LANE))
    with f.when(run.project.differs(0)):
        code = f.call(run.project, CODE, run.t_new, end.pointer, run.context)
        with f.when(code.differs(0)):
            run.code = code
            f.give(Cause.PROJECT)
        with f.loop(run.groups) as i:
            moved.value = moved.value + f.intrinsic("fabs", end[i] - new[i])
        with f.when(f.total(moved.value).differs(0.0)):
            native.propagate(native.evaluate(run.t_new, end, end_rate))
            native.propagate(native.finite(end, end_rate))
    f.give(Cause.NONE)
    return f.text()


def _interpolant() -> str:
    """y(t₀ + θh) = r₀ + θ(r₁ + θ̄(r₂ + θ(r₃ + θ̄(r₄ + θ(r₅ + θ̄(r₆ + θ r₇)))))),  θ̄ = 1 − θ

    r₀ to r₃ are the cubic with the values and slopes of both ends of the step, the others vanish there with their slopes.
    The end is the projected one and its slope is f there, so that the dense output has no jump and no kink between
    steps; inside the step the correction fades as this cubic does.

    Source: HNW1 II.6 and II.10; the projected end is ours.
    """
    native = RunFunction("interpolant")
    f, run = native.function, native.run
    with f.when(~run.dense.differs(0)):
        f.give(Cause.NONE)
    for s in range(END_STAGE + 1, STAGES):
        native.stage(s)
    y, end, end_rate = (native.row(r) for r in (WorkRow.Y, WorkRow.END, WorkRow.END_RATE))
    k, h = {j: native.row(j) for j in range(STAGES)}, f.value(run.h_try, LANE)
    r = [native.block(run.dense, run.groups * (run.stored * DENSE_ROWS + j)) for j in range(DENSE_ROWS)]
    with f.loop(run.groups) as i:
        difference = end[i] - y[i]
        first = h * k[0][i] - difference
        r[0][i], r[1][i], r[2][i] = y[i], difference, first
        r[3][i] = difference - h * end_rate[i] - first
        for j, numbers in enumerate(D):
            r[4 + j][i] = h * native.weighted(numbers, k, i)
    f.give(Cause.NONE)
    return f.text()


def consent_text(dense_rows: Callable[[Record], Operand] = lambda _: DENSE_ROWS) -> str:
    """Ask the acceptance test, which may raise the error estimate, refuse by a code, or agree by 0."""
    native = RunFunction("consent")
    f, run = native.function, native.run
    with f.when(~run.accept.differs(0)):
        f.give(Cause.NONE)
    here = native.block(run.dense, run.groups * (run.stored * dense_rows(run))).pointer
    dense = f.choose(run.dense.differs(0), here, f.value(0, POINTER))
    y, end = native.row(WorkRow.Y).pointer, native.row(WorkRow.END).pointer
    code = f.call(run.accept, CODE, run.t, run.t_new, y, end, dense, run.address("error"), run.context)
    with f.when(code.differs(0)):
        run.code = code
        f.give(Cause.ACCEPT)
    give_verdict(native)
    return f.text()


def attempt_text(*parts: str) -> str:
    """A whole step from t to t_new, not yet taken."""
    native = RunFunction("attempt")
    native.run.code = 0
    for part in parts:
        native.propagate(native.call(part))
    native.function.give(Cause.NONE)
    return native.function.text()
