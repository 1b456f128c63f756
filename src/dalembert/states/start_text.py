"""q(t₀), u(t₀) from rows and conditions, as native text; what fails here is found again in Python, and explained."""

from __future__ import annotations

from dalembert.numerics.llvm_types import INTRINSICS, POINTER, REAL, WHOLE
from dalembert.numerics.llvm_writer import Array, NumberArray
from dalembert.ode.least_norm import least_norm_text, row
from dalembert.states.assembly_text import assembly_text
from dalembert.states.speeds_text import speeds_text
from dalembert.states.start_problem import StartFunction


def start_text() -> str:
    """`solve_start(problem)` and `solve_starts(P, n_p, V, n_v, Y, codes, count, problem)`."""
    parts = (INTRINSICS, least_norm_text(), assembly_text(), speeds_text(), _place(), _solve(), _solve_many())
    return "\n\n".join(parts)


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


def _solve() -> str:
    """q, u and q̇ from what is given; 0, or what it fails for."""
    native = StartFunction("solve_start", exported=True)
    f, given = native.f, native.given
    native.call("place")
    for part in ("assemble", "speeds", "rates", "row_rank"):
        code = native.call(part)
        with f.when(code.differs(0)):
            f.give(code)
    given.position_residual = f.call("size", REAL, given.residuals, given.m)
    return native.done()


def _solve_many() -> str:
    """The same for rows of parameters P and given values V: (q, u) into the rows of Y, and what each fails for."""
    native = StartFunction("solve_starts", POINTER, WHOLE, POINTER, WHOLE, POINTER, POINTER, WHOLE, exported=True)
    f, given, (P, n_p, V, n_v, Y, codes, count) = native.f, native.given, native.arguments
    width = given.n + given.n_u
    with f.loop(count) as i:
        given.p, given.given = row(f, P, i, n_p), row(f, V, i, n_v)
        with f.when(given.n_out.differs(0)):
            f.line(f"call void {given.f_prologue.name}({given.p}, {given.f_work})")
        Array(codes, WHOLE)[i] = native.call("solve_start")
        y = NumberArray(row(f, Y, i, width))
        with f.loop(given.n) as j:
            y[j] = native.numbers("q")[j]
        with f.loop(given.n_u) as j:
            y[given.n + j] = native.numbers("u")[j]
    return native.done()
