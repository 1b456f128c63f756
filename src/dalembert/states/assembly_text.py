"""φ(q, t) = 0 by damped Gauss–Newton: the search of `assembly` as native text, which decides as it does there."""

from __future__ import annotations

from dalembert.numerics.llvm_types import POINTER, REAL, TRUTH, WHOLE
from dalembert.numerics.llvm_writer import NativeFunction, NumberArray
from dalembert.ode.constrained.orthogonal import size
from dalembert.ode.least_norm import row
from dalembert.states import assembly
from dalembert.states.start_problem import POSITIONS, StartFunction


def assembly_text() -> str:
    """`assemble(problem)`, and what it needs."""
    parts = (_finite(), size(), _evaluate(), _satisfied(), _all_satisfied(), _spread(), _direction(), _gauss_newton(), _assemble())
    return "\n\n".join(parts)


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
    """Add the rows and free coordinates that are connected with those marked so far; how many came new."""
    native = StartFunction("spread")
    f, given = native.f, native.given
    new = f.variable(f.value(0, WHOLE))
    rows, columns = native.wholes("rows"), native.wholes("columns")
    with f.loop(given.m) as i, f.loop(given.n) as j:
        joined = native.is_set("structure", i * given.n + j) & ~native.is_set("fixed", j)
        with f.when(joined & native.is_set("rows", i) & ~native.is_set("columns", j)):
            columns[j] = f.value(1, WHOLE)
            new.value = new.value + 1
        with f.when(joined & native.is_set("columns", j) & ~native.is_set("rows", i)):
            rows[i] = f.value(1, WHOLE)
            new.value = new.value + 1
    return native.done(new.value)


def _direction() -> str:
    """step = −Jᵀ (J Jᵀ + μ 1)⁻¹ r within a radius, in the rows and columns that were reached; its length."""
    native = StartFunction("direction", REAL, result=REAL)
    f, given, (radius,) = native.f, native.given, native.arguments
    M, J, r, step, x = (native.numbers(name) for name in ("M", "J_now", "r_now", "step", "found"))
    place = f.variable(f.value(0, WHOLE))
    count, width = f.variable(f.value(0, WHOLE)), f.variable(f.value(0, WHOLE))
    with f.loop(given.n) as j, f.when(native.is_set("columns", j)):
        width.value = width.value + 1
    with f.loop(given.m) as i, f.when(native.is_set("rows", i)):
        count.value = count.value + 1
        with f.loop(given.n) as j, f.when(native.is_set("columns", j)):
            M[place.value] = J[i * given.n + j]
            place.value = place.value + 1
        M[place.value] = r[i]
        place.value = place.value + 1
    length = f.call("least", REAL, given.M, given.B, count.value, width.value, f.value(assembly.SMALLEST, REAL), radius, given.found)
    at = f.variable(f.value(0, WHOLE))
    with f.loop(given.n) as j:
        step[j] = 0.0
        with f.when(native.is_set("columns", j)):
            step[j] = 0.0 - x[at.value]
            at.value = at.value + 1
    return native.done(length)


def _gauss_newton() -> str:
    """From `now` by steps within a trust region until the residual no longer falls; the number of steps."""
    native = StartFunction("gauss_newton")
    f, given = native.f, native.given
    m, n = given.m, given.n
    now, first, step, r = (native.numbers(name) for name in ("now", "first", "step", "r_now"))
    steps, radius = f.variable(f.value(0, WHOLE)), f.variable(f.value(assembly.RADIUS, REAL))
    native.call("evaluate", given.now)
    native.copy("residuals", "r_now", m)
    native.copy("J", "J_now", m * n)
    with f.forever():
        rest = f.variable(f.value(0.0, REAL))
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
        before, linear = f.call("product", REAL, given.r_now, given.r_now, m), f.variable(f.value(0.0, REAL))
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
    q, now, nudges, rows, columns = (
        native.numbers("q"),
        native.numbers("now"),
        native.numbers("nudges"),
        *map(native.wholes, ("rows", "columns")),
    )
    given.iterations = 0
    native.call("evaluate", given.q)
    with f.when(native.call("all_satisfied", exact, all_rows, result=TRUTH)):
        f.give(0)
    with f.loop(n) as j:
        columns[j] = f.value(0, WHOLE)
    with f.loop(m) as i:
        rows[i] = f.choose(native.call("satisfied", i, exact, result=TRUTH), f.value(0, WHOLE), f.value(1, WHOLE))
        with f.loop(n) as j, f.when(native.is_set("structure", i * n + j) & native.is_set("guessed", j)):
            rows[i] = f.value(1, WHOLE)
    with f.loop(m + n):
        native.call("spread")
    native.copy("q", "before", n)
    error = f.variable(f.value(float("inf"), REAL))
    with f.loop(given.n_nudges + 1) as k:
        with f.loop(n) as j:
            now[j] = native.numbers("before")[j]
            with f.when((k > 0) & native.is_set("columns", j)):
                now[j] = now[j] + nudges[(k - 1) * n + j]
        given.iterations = given.iterations + native.call("gauss_newton")
        native.call("evaluate", given.now)
        rest = f.call("product", REAL, given.residuals, given.residuals, m)
        with f.when(rest < error.value):
            error.value = rest
            with f.loop(n) as j:
                q[j] = now[j]
        native.call("evaluate", given.q)
        with f.when(native.call("all_satisfied", accepted, some, result=TRUTH)):
            f.give(f.choose(native.call("all_satisfied", accepted, all_rows, result=TRUTH), f.value(0, WHOLE), f.value(POSITIONS, WHOLE)))
    return native.done(POSITIONS)
