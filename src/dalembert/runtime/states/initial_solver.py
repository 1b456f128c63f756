"""The native search for starts, with memory of its own for each form: one start at a time, or the
starts of many members.

Positions by `assembly_ir`; then C u = d of least norm and q̇ = W u + X. Every row A q̇ + b = 0 that
was eliminated holds by construction; those in augmented form are conditions like the given
velocities, and one that is not linear in the rates is satisfied by Newton's method. A search that
fails leaves its last numbers, from which `initial_failures` writes the message. A page runs the
same text.
"""

from __future__ import annotations

import ctypes
import math
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from dalembert.foundation.array_types import FloatArray
from dalembert.foundation.caching import cached_call
from dalembert.runtime.numerics import jit
from dalembert.runtime.numerics.compiled_function import CompiledFunction, prologue_call
from dalembert.runtime.numerics.ir_builder import ScalarArray, StackVariable, Value, VectorArray
from dalembert.runtime.numerics.llvm_types import (
    BOOL,
    DOUBLE,
    INT64,
    INTRINSICS,
    POINTER,
    ctypes_structure,
)
from dalembert.runtime.numerics.python_binding import data_address
from dalembert.runtime.ode.minimum_norm import minimum_norm_ir, row
from dalembert.runtime.states import assembly
from dalembert.runtime.states.assembly_ir import (
    FAILED_UNDEFINED,
    FLAT,
    PROBLEM_FIELDS,
    RATES,
    SINGULAR,
    VELOCITIES,
    InitialFunction,
    assembly_ir,
)
from dalembert.runtime.states.constraint_rank import ZERO
from dalembert.runtime.states.initial_form import CompiledArrays, InitialForm

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    Wholes = NDArray[np.int64]


# singular values below this part of the largest are zero
RANK_TOLERANCE: Final = 1e-10
ROUNDOFF: Final = 1e-14
MAX_ROUNDOFF: Final = 1e-6
EPSILON: Final = 2.0**-52
# for rows that are not linear in the rates
_NEWTON_STEPS: Final = 30
NUDGE: Final = 0.1
# how much larger the rates may become if one of them is to be zero
MAX_GROWTH: Final = 10.0


def initial_solver_ir() -> str:
    """`solve_start(problem)` and `solve_starts(P, n_p, V, n_v, Y, codes, count, problem)`."""
    speeds = (
        _is_defined(),
        _evaluate_nonlinear(),
        _linearize_row(),
        _linearize(),
        _is_satisfied(),
        _free_columns(),
        _min_norm_update(),
        _solve_speeds(),
        _is_determined(),
        _prefer_zero_rates(),
        _is_flat(),
        _speeds(),
        _rates(),
        _row_rank(),
        _is_consistent(),
    )
    return "\n\n".join(
        (INTRINSICS, minimum_norm_ir(), assembly_ir(), *speeds, _solve(), _solve_batch())
    )


def _solve() -> str:
    """q, u and q̇ from the given values; 0, or the code of the failure."""
    native = InitialFunction("solve_start", exported=True)
    f, given = native.f, native.given
    native.call("place")
    for part in ("assemble", "speeds", "rates", "row_rank"):
        code = native.call(part)
        with f.if_then(code.not_equal(0)):
            f.ret(code)
    given.position_residual = f.call("size", DOUBLE, given.residuals, given.m)
    return native.finish()


def _solve_batch() -> str:
    """The same for rows of parameters P and given values V: (q, u) into the rows of Y, and what
    each fails for.
    """
    native = InitialFunction(
        "solve_starts", POINTER, INT64, POINTER, INT64, POINTER, POINTER, INT64, exported=True
    )
    f, given, (P, n_p, V, n_v, Y, codes, count) = native.f, native.given, native.arguments
    width = given.n + given.n_u
    with f.loop(count) as i:
        given.p, given.given = row(f, P, i, n_p), row(f, V, i, n_v)
        with f.if_then(given.n_out.not_equal(0)):
            f.line(f"call void {given.f_prologue.name}({given.p}, {given.f_work})")
        VectorArray(codes, INT64)[i] = native.call("solve_start")
        y = ScalarArray(row(f, Y, i, width))
        with f.loop(given.n) as j:
            y[j] = native.scalar_field("q")[j]
        with f.loop(given.n_u) as j:
            y[given.n + j] = native.scalar_field("u")[j]
    return native.finish()


def _is_defined() -> str:
    """d = value − c; whether it and C are finite."""
    native = InitialFunction("defined", result=BOOL)
    f, given = native.f, native.given
    d, c, values, source = (
        native.scalar_field("d"),
        native.scalar_field("c"),
        native.scalar_field("given"),
        native.int_field("value_from"),
    )
    with f.loop(given.k) as i:
        d[i] = 0.0 - c[i]
        with f.if_then(i < given.n_given):
            d[i] = values[source[i]] - c[i]
    return native.finish(
        f.call("finite", BOOL, given.d, given.k)
        & f.call("finite", BOOL, given.C, given.k * given.n_u)
    )


def _evaluate_nonlinear() -> str:
    """e(q, u, t) and its slopes in u at the positions that were evaluated last; what is not finite
    is not a number.
    """
    native = InitialFunction("evaluate_nonlinear", POINTER)
    f, given, (u,) = native.f, native.given, native.arguments
    x, outs, places = (
        native.scalar_field("g_x"),
        native.scalar_field("g_outs"),
        native.int_field("g_places"),
    )
    with f.loop(given.n) as i:
        x[i] = native.scalar_field("x")[i]
    with f.loop(given.n_u) as i:
        x[given.n + i] = ScalarArray(u)[i]
    x[given.n + given.n_u] = given.t
    with f.if_then(given.n_g_out.not_equal(0)):
        f.line(
            f"call void {given.g.name}({given.g_x}, {given.g_p}, {given.g_outs}, {given.g_work})"
        )
        with f.loop(given.n_g_out) as i:
            y = outs[i]
            native.scalar_field("e")[places[i]] = y - (y - y)
    return native.finish()


def _linearize_row() -> str:
    """Whether row j has a value and no slope in what is free; its tangent at `near_u` becomes
    condition `curved[j]`.
    """
    native = InitialFunction("linearize_row", INT64, result=BOOL)
    f, given, (j,) = native.f, native.given, native.arguments
    native.call("evaluate_nonlinear", given.near_u)
    n, k, moves = given.n_u, native.int_field("curved")[j], native.variable(0)
    slope = row(f, given.slopes, j, n)
    C = ScalarArray(row(f, given.C, k, n))
    with f.loop(n) as r:
        C[r] = ScalarArray(slope)[r]
        with f.if_then(native.is_set("free", r) & ScalarArray(slope)[r].not_equal(0.0)):
            moves.value = f.value(1, INT64)
    value = native.scalar_field("e")[j]
    native.scalar_field("d")[k] = f.call("product", DOUBLE, slope, given.near_u, n) - value
    return native.finish(value.not_equal(0.0) & ~moves.value.not_equal(0))


def _linearize() -> str:
    """C u = d with every nonlinear row replaced by its tangent at u; where the tangent shows
    nothing free, by one nearby.
    """
    native = InitialFunction("linearize", POINTER)
    f, given, (u,) = native.f, native.given, native.arguments
    near = native.scalar_field("near_u")
    largest = f.call("size", DOUBLE, u, given.n_u)
    nudge = f.select(largest > 0.0, largest, 1.0) * NUDGE
    with f.loop(given.n_curved) as j:
        with f.loop(given.n_u) as r:
            near[r] = ScalarArray(u)[r]
        with f.if_then(native.call("linearize_row", j, result=BOOL)):
            with f.loop(given.n_u) as r, f.if_then(native.is_set("free", r)):
                near[r] = ScalarArray(u)[r] + nudge
            native.call("linearize_row", j, result=BOOL)
    return native.finish()


def _condition_sums(
    native: InitialFunction, C: ScalarArray, E: ScalarArray, u: ScalarArray, n: Value
) -> list[StackVariable]:
    """Σ C_j u_j, the sum of the sizes of its terms, and Σ E_j, what these could be."""
    f = native.f
    left, terms_now, could = (native.variable(0.0) for _ in range(3))
    with f.loop(n) as j:
        term = C[j] * u[j]
        left.value = left.value + term
        terms_now.value = terms_now.value + native.fabs(term)
        could.value = could.value + E[j]
    return [left, terms_now, could]


def _is_satisfied() -> str:
    """|C u − d| ≤ a part of what the terms are, and rounding of what they could be, in all
    conditions; `worst` is the one that exceeds that most.
    """
    native = InitialFunction("tolerated", POINTER, result=BOOL)
    f, given, (u,) = native.f, native.given, native.arguments
    d, terms, n = native.scalar_field("d"), native.scalar_field("terms"), given.n_u
    fastest, most = f.call("size", DOUBLE, u, n), native.variable(0.0)
    given.worst = -1
    with f.loop(given.k) as i:
        C, E = ScalarArray(row(f, given.C, i, n)), ScalarArray(row(f, given.entries, i, n))
        left, terms_now, could = _condition_sums(native, C, E, ScalarArray(u), n)
        # near a singular orientation the coefficients could be anything: what is as large as the
        # speeds themselves is no dust
        bound = f.value(MAX_ROUNDOFF, DOUBLE)
        dust = f.intrinsic("minnum", could.value * ROUNDOFF, bound)
        tolerance = (
            (terms_now.value + native.fabs(d[i])) * assembly.ACCEPT_TOLERANCE
            + terms[i] * ROUNDOFF
            # least squares leave rounding of the largest speed in all of them
            + fastest * dust
            # where all speeds are zero, rounding of a speed of size one is none
            + f.intrinsic("minnum", could.value * EPSILON, bound)
        )
        excess = native.fabs(left.value - d[i]) - tolerance
        with f.if_then(~(excess <= most.value)):
            most.value = f.select(excess > 0.0, excess, math.inf)
            given.worst = i
    return native.finish(given.worst < 0)


def _min_norm_update() -> str:
    """u ← u + δu, C δu = d − C u, by the least change of what is free."""
    native = InitialFunction("change", POINTER)
    f, given, (u,) = native.f, native.given, native.arguments
    d, left, n = native.scalar_field("d"), native.scalar_field("left"), given.n_u
    with f.loop(given.k) as i:
        left[i] = d[i] - f.call("product", DOUBLE, row(f, given.C, i, n), u, n)
    width = native.call("free_columns")
    f.call(
        "least",
        DOUBLE,
        given.M,
        given.B,
        given.k,
        width,
        f.value(RANK_TOLERANCE, DOUBLE),
        f.value(-1.0, DOUBLE),
        given.found,
    )
    native.call("scatter", u, given.free, n, f.value(1.0, DOUBLE))
    return native.finish()


def _free_columns() -> str:
    """(C, left) into M, of C the columns of speeds that are free; how many these are."""
    native = InitialFunction("free_columns")
    f, given = native.f, native.given
    native.call("gather", given.C, given.left, given.every, given.free, given.k, given.n_u)
    return native.finish(f.call("marked", INT64, given.free, given.n_u))


def _solve_speeds() -> str:
    """C u = d by the least change of what is free; dust is swept away where nothing depends on
    it.
    """
    native = InitialFunction("solved", POINTER)
    f, given, (u,) = native.f, native.given, native.arguments
    clean = native.scalar_field("clean")
    # the second time removes rounding; rows that are not linear need more
    steps = f.select(given.n_curved > 0, f.value(_NEWTON_STEPS, INT64), 2)
    with f.loop(steps):
        native.call("linearize", u)
        native.call("change", u)
    native.call("linearize", u)
    largest = f.call("size", DOUBLE, u, given.n_u)
    with f.loop(given.n_u) as j:
        x = ScalarArray(u)[j]
        clean[j] = f.select(
            native.is_set("free", j) & (native.fabs(x) <= largest * ROUNDOFF),
            0.0,
            x,
        )
    with f.if_then(native.call("tolerated", given.clean, result=BOOL)), f.loop(given.n_u) as j:
        ScalarArray(u)[j] = clean[j]
    return native.finish()


def _is_determined() -> str:
    """Whether C determines everything that is free."""
    native = InitialFunction("determined", result=BOOL)
    f, given = native.f, native.given
    width = native.call("free_columns")
    larger = f.select(given.k > width, given.k, width)
    rank = f.call(
        "rank", INT64, given.M, given.B, given.k, width, f.value(larger, DOUBLE) * 2.0**-52
    )
    return native.finish(~rank.not_equal(width))


def _prefer_zero_rates() -> str:
    """The same with rates at zero that rows in augmented form allow to be so, first declared first,
    if the others stay moderate.
    """
    native = InitialFunction("sparing")
    f, given = native.f, native.given
    n, u, trial = given.n_u, native.scalar_field("u"), native.scalar_field("trial")
    with f.loop(n) as k:
        with f.if_then(native.call("determined", result=BOOL)):
            f.ret(0)
        with f.if_then(native.is_set("free", k) & ~native.is_set("guessed_u", k)):
            native.int_field("free")[k] = 0
            native.copy("u", "trial", n)
            trial[k] = 0.0
            with f.if_then(u[k].not_equal(0.0)):
                native.call("solved", given.trial)
            length = f.call("product", DOUBLE, given.trial, given.trial, n)
            allowed = length <= f.call("product", DOUBLE, given.u, given.u, n) * MAX_GROWTH**2
            good = native.call("tolerated", given.trial, result=BOOL) & allowed
            with f.if_then(good):
                native.copy("trial", "u", n)
            with f.if_then(~good):
                native.int_field("free")[k] = 1
                native.call("linearize", given.u)
    return native.finish()


def _is_flat() -> str:
    """Whether a row that is not linear in the rates has no slope there: it does not determine
    the accelerations where ∂φ/∂q̇ = 0.
    """
    native = InitialFunction("flat", result=BOOL)
    f, given = native.f, native.given
    native.call("evaluate_nonlinear", given.u)
    with f.loop(given.n_curved) as j:
        slope = row(f, given.slopes, j, given.n_u)
        with f.if_then(~f.call("size", DOUBLE, slope, given.n_u).not_equal(0.0)):
            given.worst = native.int_field("curved")[j]
            f.ret(1)
    return native.finish(0)


def _speeds() -> str:
    """u of least norm with C u = d; values given directly stay as they are. 0, or what it fails
    for.
    """
    native = InitialFunction("speeds")
    f, given = native.f, native.given
    u, values = native.scalar_field("u"), native.scalar_field("given")
    with f.if_then(~native.call("defined", result=BOOL)):
        f.ret(FAILED_UNDEFINED)
    with f.loop(given.n_u) as j:
        u[j] = native.scalar_field("first_u")[j]
        native.int_field("free")[j] = native.int_field("reached")[j]
    with f.loop(given.n_direct) as i:
        j = native.int_field("direct_to")[i]
        u[j] = values[native.int_field("direct_from")[i]]
        native.int_field("free")[j] = 0
    with f.if_then(f.call("marked", INT64, given.free, given.n_u).not_equal(0)):
        native.call("solved", given.u)
        with f.if_then(given.n_multipliers.not_equal(0)):
            native.call("sparing")
    native.call("linearize", given.u)
    with f.if_then(~native.call("tolerated", given.u, result=BOOL)):
        f.ret(VELOCITIES)
    return native.finish(native.select_int(native.call("flat", result=BOOL), FLAT, 0))


def _rates() -> str:
    """q̇ = W u + X, and the largest of |A q̇ + b| and |C u − d|. 0, or what it fails for."""
    native = InitialFunction("rates")
    f, given = native.f, native.given
    qdot, u, n, n_u = native.scalar_field("qdot"), native.scalar_field("u"), given.n, given.n_u
    native.copy("X", "qdot", n)
    with f.loop(given.n_W) as i:
        k, r = native.int_field("W_row")[i], native.int_field("W_column")[i]
        qdot[k] = qdot[k] + native.scalar_field("W")[i] * u[r]
    with f.if_then(~f.call("finite", BOOL, given.qdot, n)):
        f.ret(RATES)
    most = native.variable(0.0)
    with f.loop(given.n_A) as i:
        left = (
            f.call("product", DOUBLE, row(f, given.A, i, n), given.qdot, n)
            + native.scalar_field("b")[i]
        )
        most.value = f.intrinsic("maxnum", most.value, native.fabs(left))
    with f.loop(given.k) as i:
        left = (
            f.call("product", DOUBLE, row(f, given.C, i, n_u), given.u, n_u)
            - native.scalar_field("d")[i]
        )
        most.value = f.intrinsic("maxnum", most.value, native.fabs(left))
    given.velocity_residual = most.value
    return native.finish()


def _row_rank() -> str:
    """rank A of rows of length one. 0, or what it fails for."""
    native = InitialFunction("row_rank")
    f, given = native.f, native.given
    n, M, largest = given.n, native.scalar_field("M"), native.variable(0.0)
    with f.if_then(~f.call("finite", BOOL, given.A, given.n_A * n)):
        f.ret(SINGULAR)
    with f.loop(given.n_A) as i:
        a = row(f, given.A, i, n)
        largest.value = f.intrinsic(
            "maxnum", largest.value, f.intrinsic("sqrt", f.call("product", DOUBLE, a, a, n))
        )
    with f.loop(given.n_A) as i:
        a = row(f, given.A, i, n)
        length = f.intrinsic("sqrt", f.call("product", DOUBLE, a, a, n))
        unit = f.select(
            length > largest.value * ZERO, length, f.select(largest.value > 0.0, largest.value, 1.0)
        )
        with f.loop(n) as j:
            M[i * (n + 1) + j] = ScalarArray(a)[j] / unit
        M[i * (n + 1) + n] = 0.0
    given.rank = f.call("rank", INT64, given.M, given.B, given.n_A, n, f.value(-ZERO, DOUBLE))
    short = (given.rank < given.n_A) & ~given.n_multipliers.not_equal(0)
    return native.finish(native.select_int(short, SINGULAR, 0))


def _is_consistent() -> str:
    """Whether q and u satisfy all rows and conditions as they are."""
    native = InitialFunction("consistent", result=BOOL, exported=True)
    f, given = native.f, native.given
    native.call("place_targets")
    native.call("evaluate", given.q)
    accepted, all_rows = f.value(assembly.ACCEPT_TOLERANCE, DOUBLE), f.value(0, INT64)
    with f.if_then(~native.call("all_satisfied", accepted, all_rows, result=BOOL)):
        f.ret(0)
    with f.if_then(~native.call("defined", result=BOOL)):
        f.ret(0)
    native.call("linearize", given.u)
    return native.finish(native.call("tolerated", given.u, result=BOOL))


_Fields: Final = ctypes_structure(PROBLEM_FIELDS)
_ONE: Final = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p)
_MANY: Final = ctypes.CFUNCTYPE(
    ctypes.c_int64,
    *[ctypes.c_void_p, ctypes.c_int64] * 2,
    *[ctypes.c_void_p] * 2,
    ctypes.c_int64,
    ctypes.c_void_p,
)


class _Native(NamedTuple):
    library: jit.Library
    solve: Callable[..., int]


@cached_call
def _native() -> _Native:
    # one start takes microseconds at any level, and compiling at level 0 a sixth of the time
    library = jit.load(initial_solver_ir, ("solve_start",), codegen=0)
    return _Native(library, _ONE(library.address("solve_start")))


@cached_call
def _native_many() -> _Native:
    library = jit.load(initial_solver_ir, ("solve_starts",))
    return _Native(library, _MANY(library.address("solve_starts")))


@contextmanager
def borrow_solver(form: InitialForm) -> Iterator[InitialSolver]:
    """A native search that no other thread uses meanwhile."""
    try:
        solver = form.solver_pool.pop()
    except IndexError:
        solver = InitialSolver(form)
    yield solver
    form.solver_pool.append(solver)


def problem_sizes(form: InitialForm) -> dict[str, int]:
    """The numbers of coordinates, rows, conditions and entries of a form, by field."""
    kin, m = form.kin, len(form.rows)
    return {
        "n_out": len(form.at_position.places),
        "n_g_out": len(form.at_state.places),
        "n": kin.n_q,
        "m": m,
        "n_A": len(kin.rows),
        "k": len(form.velocities) + len(form.constraint_rows),
        "n_u": kin.n_u,
        "n_nudges": len(_nudges(form)),
        "n_given": len(form.velocities),
        "n_W": len(form.W[0]),
        "n_direct": len(form.given_speeds),
        "n_coordinates": len(form.coordinates),
        "n_multipliers": len(kin.multipliers),
        "n_curved": len(form.nonlinear_rows),
    }


def _nudges(form: InitialForm) -> FloatArray:
    n = form.kin.n_q
    return assembly.perturbations(n) if form.rows else np.zeros((0, n))


def problem_structure(form: InitialForm) -> dict[str, ArrayLike]:
    """Which value is given for which coordinate, row or speed, and where the zeros are, by
    field.
    """
    fixed = np.zeros(form.kin.n_q, dtype=bool)
    fixed[[place for _, place in form.coordinates]] = True
    own = len(form.rows) - len(form.expressions)
    return {
        "nudges": _nudges(form),
        "fixed": fixed,
        "structure": form.structure,
        "W_row": form.W[0],
        "W_column": form.W[1],
        "reached": form.affected,
        "own_target": [row.target for row in form.rows],
        "coordinate_from": [c for c, _ in form.coordinates],
        "coordinate_to": [c for _, c in form.coordinates],
        "target_from": [-1] * own + list(form.expressions),
        "value_from": form.velocities,
        "direct_from": [c for c, _ in form.given_speeds],
        "direct_to": [c for _, c in form.given_speeds],
        "every": [1] * (len(form.velocities) + len(form.constraint_rows)),
        "curved": form.nonlinear_rows,
    }


def scratch_sizes(sizes: Mapping[str, int]) -> dict[str, int]:
    """The numbers of entries of the memory that the search writes to, by field."""
    n, n_u, m, k = (sizes[name] for name in ("n", "n_u", "m", "k"))
    shapes = ((m, n), (k, n_u), (sizes["n_A"], n))
    return {
        "M": max(i * (j + 1) for i, j in shapes),
        "B": max(i * (j + 1 + i) for i, j in shapes),
        "J_now": m * n,
        "outs": sizes["n_out"],
        "g_outs": sizes["n_g_out"],
        "x": n + 1,
        "g_x": n + n_u + 1,
        "found": max(n, n_u),
        **dict.fromkeys(("targets", "residuals", "rows", "r_now"), m),
        **dict.fromkeys(("d", "left"), k),
        **dict.fromkeys(("columns", "now", "first", "step", "before"), n),
        **dict.fromkeys(("free", "trial", "clean", "near_u"), n_u),
    }


# the fields that are arrays inside a larger one
TABLES: Final = {
    "D": ("r", "J", "A", "b", "c", "C", "terms", "entries", "X", "W"),
    "e": ("e", "slopes"),
}


class InitialSolver:
    """One search at a time: q, u and q̇ stay valid until the next."""

    def __init__(self, form: InitialForm) -> None:
        self._native, self._function = _native(), form.at_position.function
        self._nonlinear = form.at_state.function
        self._alive: dict[str, NDArray[Any]] = {}
        self._tables: dict[str, NDArray[Any]] = {}
        self._prologues: list[Callable[[], None]] = []
        arrays, kin = form.at_position, form.kin
        self.fields: Any = _Fields(**problem_sizes(form))
        self.at_rest, self._guessed = form.default_q.copy(), np.zeros(kin.n_q, dtype=np.int64)
        self._at_rest, self._has_guess = form.default_q, False
        self._first_u, self._guessed_u = np.zeros(kin.n_u), np.zeros(kin.n_u, dtype=np.int64)
        self.q, self.u, self.qdot = np.zeros(kin.n_q), np.zeros(kin.n_u), np.zeros(kin.n_q)
        self._p, self._given = np.zeros(len(arrays.parameters)), np.zeros(len(form.conditions))
        self._g_p = np.zeros(len(form.at_state.parameters))
        self._bind_problem(form)
        self._bind_tables(arrays, "places", "D")
        self._bind_tables(form.at_state, "g_places", "e")
        self._bind_function(self._function, "f", self._p)
        self._bind_function(self._nonlinear, "g", self._g_p)

    def _bind_problem(self, form: InitialForm) -> None:
        """Start, guesses, results and parameters, the structure of the problem, and room."""
        self._bind_arrays(
            at_rest=self.at_rest,
            guessed=self._guessed,
            first_u=self._first_u,
            guessed_u=self._guessed_u,
            q=self.q,
            u=self.u,
            qdot=self.qdot,
            p=self._p,
            g_p=self._g_p,
            given=self._given,
            **problem_structure(form),
            **{name: np.zeros(size) for name, size in scratch_sizes(problem_sizes(form)).items()},
        )

    def _bind_tables(self, arrays: CompiledArrays, places: str, memory: str) -> None:
        """The memory of named arrays, and the field of each of them."""
        self._bind_arrays(**{memory: arrays.template.copy(), places: arrays.places})
        first = getattr(self.fields, memory)
        for name, (begin, end, shape) in arrays.shapes.items():
            if name in TABLES[memory]:
                setattr(self.fields, name, first + 8 * begin if first else 0)
                self._tables[name] = self._alive[memory][begin:end].reshape(shape)

    def _bind_function(
        self, function: CompiledFunction | None, name: str, parameters: FloatArray
    ) -> None:
        if function is None:
            return
        work = np.zeros(function.work_size + 8)
        self._bind_arrays(**{f"{name}_work": work})
        self._prologues.append(prologue_call(function, parameters, work))
        setattr(self.fields, name, function.address)
        if name == "f":
            self.fields.f_prologue = function.prologue_address

    def __getitem__(self, name: str) -> NDArray[Any]:
        """An array of the search as it left it, by the name of its field."""
        return self._tables[name] if name in self._tables else self._alive[name]

    def _bind_arrays(self, **arrays: ArrayLike) -> None:
        """Let the fields of these names be arrays, which are kept; empty ones are nowhere."""
        for name, array in arrays.items():
            given = np.asarray(array)
            whole: NDArray[Any] = np.ascontiguousarray(
                given, dtype=np.int64 if given.dtype.kind in "bi" else np.float64
            )
            self._alive[name] = whole
            setattr(self.fields, name, data_address(whole) if whole.size else 0)

    def set_guess(
        self, guesses: Mapping[int, float], speeds: Mapping[int, float] | None = None
    ) -> None:
        """Begin at these values of coordinates and speeds."""
        if self._has_guess:
            self.at_rest[:], self._guessed[:], self._has_guess = self._at_rest, 0, False
            self._first_u[:], self._guessed_u[:] = 0.0, 0
        for place, value in guesses.items():
            self.at_rest[place], self._guessed[place], self._has_guess = value, 1, True
        for place, value in (speeds or {}).items():
            self._first_u[place], self._guessed_u[place], self._has_guess = value, 1, True

    def solve(
        self, given: list[float], p: FloatArray, t: float, g_p: FloatArray | None = None
    ) -> int:
        """0, or what the start fails for; `g_p` are the parameters of rows that are not linear in
        the rates.
        """
        self._given[:], self._p[:], self.fields.t = given, p, t
        if g_p is not None:
            self._g_p[:] = g_p
        for prepare in self._prologues:
            prepare()
        return self._native.solve(ctypes.addressof(self.fields))

    def solve_batch(self, given: FloatArray, P: FloatArray, t: float) -> tuple[FloatArray, Wholes]:
        """(q, u) in rows for rows of given values and parameters, and for each 0 or what it
        fails for.
        """
        given, P = np.ascontiguousarray(given), np.ascontiguousarray(P)
        Y, codes = (
            np.zeros((len(given), len(self.q) + len(self.u))),
            np.zeros(len(given), dtype=np.int64),
        )
        fields, kept = self.fields, (self.fields.p, self.fields.given)
        fields.t = t
        tables = [
            P.ctypes.data,
            P.shape[1],
            given.ctypes.data,
            given.shape[1],
            Y.ctypes.data,
            codes.ctypes.data,
        ]
        _native_many().solve(*tables, len(given), ctypes.addressof(fields))
        fields.p, fields.given = kept
        return Y, codes
