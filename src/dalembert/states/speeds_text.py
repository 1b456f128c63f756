"""C u = d of least norm, q̇ = W u + X: the search of `velocities` as native text, which decides as it does there."""

from __future__ import annotations

from dalembert.numerics.llvm_types import POINTER, REAL, TRUTH, WHOLE
from dalembert.numerics.llvm_writer import NumberArray
from dalembert.ode.least_norm import row
from dalembert.ode.row_rank import ZERO
from dalembert.states import assembly, velocities
from dalembert.states.start_problem import RATES, SINGULAR, UNDEFINED, VELOCITIES, StartFunction


def speeds_text() -> str:
    """`speeds(problem)`, `rates(problem)` and `row_rank(problem)`, and what they need."""
    parts = (_defined(), _tolerated(), _change(), _solved(), _independent(), _sparing(), _speeds(), _rates(), _row_rank())
    return "\n\n".join(parts)


def _defined() -> str:
    """d = value − c; whether it and C are finite."""
    native = StartFunction("defined", result=TRUTH)
    f, given = native.f, native.given
    d, c, values, source = native.numbers("d"), native.numbers("c"), native.numbers("given"), native.wholes("value_from")
    with f.loop(given.k) as i:
        d[i] = 0.0 - c[i]
        with f.when(i < given.n_given):
            d[i] = values[source[i]] - c[i]
    return native.done(f.call("finite", TRUTH, given.d, given.k) & f.call("finite", TRUTH, given.C, given.k * given.n_u))


def _tolerated() -> str:
    """|C u − d| ≤ a part of what the terms are, and rounding of what they could be, in all conditions."""
    native = StartFunction("tolerated", POINTER, result=TRUTH)
    f, given, (u,) = native.f, native.given, native.arguments
    d, terms, n = native.numbers("d"), native.numbers("terms"), given.n_u
    fastest = f.call("size", REAL, u, n)
    with f.loop(given.k) as i:
        C, E = NumberArray(row(f, given.C, i, n)), NumberArray(row(f, given.entries, i, n))
        left, terms_now, could = (f.variable(f.value(0.0, REAL)) for _ in range(3))
        with f.loop(n) as j:
            term = C[j] * NumberArray(u)[j]
            left.value = left.value + term
            terms_now.value = terms_now.value + native.fabs(term)
            could.value = could.value + E[j]
        dust = f.intrinsic("minnum", could.value * velocities.DUST, f.value(velocities.MOST_DUST, REAL))
        tolerance = (terms_now.value + native.fabs(d[i])) * assembly.ACCEPTED + terms[i] * velocities.DUST + fastest * dust
        with f.when(~(native.fabs(left.value - d[i]) <= tolerance)):
            f.give(0)
    return native.done(1)


def _change() -> str:
    """u ← u + δu, C δu = d − C u, by the least change of what is free."""
    native = StartFunction("change", POINTER)
    f, given, (u,) = native.f, native.given, native.arguments
    M, d, x, n = native.numbers("M"), native.numbers("d"), native.numbers("found"), given.n_u
    place, width = f.variable(f.value(0, WHOLE)), f.variable(f.value(0, WHOLE))
    with f.loop(n) as j, f.when(native.is_set("free", j)):
        width.value = width.value + 1
    with f.loop(given.k) as i:
        C = row(f, given.C, i, n)
        with f.loop(n) as j, f.when(native.is_set("free", j)):
            M[place.value] = NumberArray(C)[j]
            place.value = place.value + 1
        M[place.value] = d[i] - f.call("product", REAL, C, u, n)
        place.value = place.value + 1
    f.call("least", REAL, given.M, given.B, given.k, width.value, f.value(velocities.RANK, REAL), f.value(-1.0, REAL), given.found)
    at = f.variable(f.value(0, WHOLE))
    with f.loop(n) as j, f.when(native.is_set("free", j)):
        NumberArray(u)[j] = NumberArray(u)[j] + x[at.value]
        at.value = at.value + 1
    return native.done()


def _solved() -> str:
    """C u = d by the least change of what is free; dust is swept away where nothing depends on it."""
    native = StartFunction("solved", POINTER)
    f, given, (u,) = native.f, native.given, native.arguments
    clean = native.numbers("clean")
    # the second time removes rounding
    native.call("change", u)
    native.call("change", u)
    largest = f.call("size", REAL, u, given.n_u)
    with f.loop(given.n_u) as j:
        x = NumberArray(u)[j]
        clean[j] = f.choose(native.is_set("free", j) & (native.fabs(x) <= largest * velocities.DUST), 0.0, x)
    with f.when(native.call("tolerated", given.clean, result=TRUTH)), f.loop(given.n_u) as j:
        NumberArray(u)[j] = clean[j]
    return native.done()


def _independent() -> str:
    """Whether C determines everything that is free."""
    native = StartFunction("determined", result=TRUTH)
    f, given = native.f, native.given
    M, n = native.numbers("M"), given.n_u
    place, width = f.variable(f.value(0, WHOLE)), f.variable(f.value(0, WHOLE))
    with f.loop(n) as j, f.when(native.is_set("free", j)):
        width.value = width.value + 1
    with f.loop(given.k) as i:
        with f.loop(n) as j, f.when(native.is_set("free", j)):
            M[place.value] = NumberArray(given.C)[i * n + j]
            place.value = place.value + 1
        M[place.value] = 0.0
        place.value = place.value + 1
    larger = f.choose(given.k > width.value, given.k, width.value)
    rank = f.call("rank", WHOLE, given.M, given.B, given.k, width.value, f.value(larger, REAL) * 2.0**-52)
    return native.done(~rank.differs(width.value))


def _sparing() -> str:
    """The same with rates at zero that rows beside the equations allow to be so, first declared first, if the others stay moderate."""
    native = StartFunction("sparing")
    f, given = native.f, native.given
    n, free, u, trial = given.n_u, native.wholes("free"), native.numbers("u"), native.numbers("trial")
    with f.loop(n) as k:
        with f.when(native.call("determined", result=TRUTH)):
            f.give(0)
        with f.when(native.is_set("free", k)):
            free[k] = f.value(0, WHOLE)
            native.copy("u", "trial", n)
            trial[k] = 0.0
            with f.when(u[k].differs(0.0)):
                native.call("solved", given.trial)
            length = f.call("product", REAL, given.trial, given.trial, n)
            allowed = length <= f.call("product", REAL, given.u, given.u, n) * velocities.MODERATE**2
            good = native.call("tolerated", given.trial, result=TRUTH) & allowed
            with f.when(good):
                native.copy("trial", "u", n)
            with f.when(~good):
                free[k] = f.value(1, WHOLE)
    return native.done()


def _speeds() -> str:
    """u of least norm with C u = d; what is given directly stays as it is. 0, or what it fails for."""
    native = StartFunction("speeds")
    f, given = native.f, native.given
    u, free, values, some = native.numbers("u"), native.wholes("free"), native.numbers("given"), f.variable(f.value(0, WHOLE))
    with f.when(~native.call("defined", result=TRUTH)):
        f.give(UNDEFINED)
    with f.loop(given.n_u) as j:
        u[j], free[j] = f.value(0.0, REAL), native.wholes("reached")[j]
    with f.loop(given.n_direct) as i:
        j = native.wholes("direct_to")[i]
        u[j], free[j] = values[native.wholes("direct_from")[i]], f.value(0, WHOLE)
    with f.loop(given.n_u) as j:
        some.value = some.value + free[j]
    with f.when(some.value.differs(0)):
        native.call("solved", given.u)
        with f.when(given.beside.differs(0)):
            native.call("sparing")
    return native.done(f.choose(native.call("tolerated", given.u, result=TRUTH), f.value(0, WHOLE), f.value(VELOCITIES, WHOLE)))


def _rates() -> str:
    """q̇ = W u + X, and the largest of |A q̇ + b| and |C u − d|. 0, or what it fails for."""
    native = StartFunction("rates")
    f, given = native.f, native.given
    qdot, u, n, n_u = native.numbers("qdot"), native.numbers("u"), given.n, given.n_u
    native.copy("X", "qdot", n)
    with f.loop(given.n_W) as i:
        k, r = native.wholes("W_row")[i], native.wholes("W_column")[i]
        qdot[k] = qdot[k] + native.numbers("W")[i] * u[r]
    with f.when(~f.call("finite", TRUTH, given.qdot, n)):
        f.give(RATES)
    most = f.variable(f.value(0.0, REAL))
    with f.loop(given.n_A) as i:
        left = f.call("product", REAL, row(f, given.A, i, n), given.qdot, n) + native.numbers("b")[i]
        most.value = f.intrinsic("maxnum", most.value, native.fabs(left))
    with f.loop(given.k) as i:
        left = f.call("product", REAL, row(f, given.C, i, n_u), given.u, n_u) - native.numbers("d")[i]
        most.value = f.intrinsic("maxnum", most.value, native.fabs(left))
    given.velocity_residual = most.value
    return native.done()


def _row_rank() -> str:
    """rank A of rows of length one. 0, or what it fails for."""
    native = StartFunction("row_rank")
    f, given = native.f, native.given
    n, M, largest = given.n, native.numbers("M"), f.variable(f.value(0.0, REAL))
    with f.when(~f.call("finite", TRUTH, given.A, given.n_A * n)):
        f.give(SINGULAR)
    with f.loop(given.n_A) as i:
        a = row(f, given.A, i, n)
        largest.value = f.intrinsic("maxnum", largest.value, f.intrinsic("sqrt", f.call("product", REAL, a, a, n)))
    with f.loop(given.n_A) as i:
        a = row(f, given.A, i, n)
        length = f.intrinsic("sqrt", f.call("product", REAL, a, a, n))
        unit = f.choose(length > largest.value * ZERO, length, f.choose(largest.value > 0.0, largest.value, 1.0))
        with f.loop(n) as j:
            M[i * (n + 1) + j] = NumberArray(a)[j] / unit
        M[i * (n + 1) + n] = 0.0
    given.rank = f.call("rank", WHOLE, given.M, given.B, given.n_A, n, f.value(-ZERO, REAL))
    short = (given.rank < given.n_A) & ~given.beside.differs(0)
    return native.done(f.choose(short, f.value(SINGULAR, WHOLE), f.value(0, WHOLE)))
