"""The native search for starts, with memory of its own for each form: one start at a time, or the starts of many members.

Positions by `assembly_text`; then C u = d of least norm and q̇ = W u + X, the search of `velocities` as native text, which decides as it
does there. What fails here is found again in Python, and explained there.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from dalembert.foundation.array_types import Numbers
from dalembert.foundation.caching import made_once
from dalembert.runtime.numerics import jit
from dalembert.runtime.numerics.compiled_function import prologue
from dalembert.runtime.numerics.ir_builder import Array, NumberArray
from dalembert.runtime.numerics.llvm_types import INTRINSICS, POINTER, REAL, TRUTH, WHOLE, structure
from dalembert.runtime.numerics.python_binding import address
from dalembert.runtime.ode.minimum_norm import least_norm_text, row
from dalembert.runtime.states import assembly, initial_velocities
from dalembert.runtime.states.assembly_ir import FIELDS, RATES, SINGULAR, UNDEFINED, VELOCITIES, StartFunction, assembly_text
from dalembert.runtime.states.constraint_rank import ZERO
from dalembert.runtime.states.initial_form import StartForm

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    Wholes = NDArray[np.int64]


def start_text() -> str:
    """`solve_start(problem)` and `solve_starts(P, n_p, V, n_v, Y, codes, count, problem)`."""
    speeds = (_defined(), _tolerated(), _free_columns(), _change(), _solved(), _independent(), _sparing(), _speeds(), _rates(), _row_rank())
    return "\n\n".join((INTRINSICS, least_norm_text(), assembly_text(), *speeds, _solve(), _solve_many()))


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
        left, terms_now, could = (native.variable(0.0) for _ in range(3))
        with f.loop(n) as j:
            term = C[j] * NumberArray(u)[j]
            left.value = left.value + term
            terms_now.value = terms_now.value + native.fabs(term)
            could.value = could.value + E[j]
        dust = f.intrinsic("minnum", could.value * initial_velocities.DUST, f.value(initial_velocities.MOST_DUST, REAL))
        tolerance = (terms_now.value + native.fabs(d[i])) * assembly.ACCEPTED + terms[i] * initial_velocities.DUST + fastest * dust
        with f.when(~(native.fabs(left.value - d[i]) <= tolerance)):
            f.give(0)
    return native.done(1)


def _change() -> str:
    """u ← u + δu, C δu = d − C u, by the least change of what is free."""
    native = StartFunction("change", POINTER)
    f, given, (u,) = native.f, native.given, native.arguments
    d, left, n = native.numbers("d"), native.numbers("left"), given.n_u
    with f.loop(given.k) as i:
        left[i] = d[i] - f.call("product", REAL, row(f, given.C, i, n), u, n)
    width = native.call("free_columns")
    f.call("least", REAL, given.M, given.B, given.k, width, f.value(initial_velocities.RANK, REAL), f.value(-1.0, REAL), given.found)
    native.call("scatter", u, given.free, n, f.value(1.0, REAL))
    return native.done()


def _free_columns() -> str:
    """(C, left) into M, of C the columns of speeds that are free; how many these are."""
    native = StartFunction("free_columns")
    f, given = native.f, native.given
    native.call("gather", given.C, given.left, given.every, given.free, given.k, given.n_u)
    return native.done(f.call("marked", WHOLE, given.free, given.n_u))


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
        clean[j] = f.choose(native.is_set("free", j) & (native.fabs(x) <= largest * initial_velocities.DUST), 0.0, x)
    with f.when(native.call("tolerated", given.clean, result=TRUTH)), f.loop(given.n_u) as j:
        NumberArray(u)[j] = clean[j]
    return native.done()


def _independent() -> str:
    """Whether C determines everything that is free."""
    native = StartFunction("determined", result=TRUTH)
    f, given = native.f, native.given
    width = native.call("free_columns")
    larger = f.choose(given.k > width, given.k, width)
    rank = f.call("rank", WHOLE, given.M, given.B, given.k, width, f.value(larger, REAL) * 2.0**-52)
    return native.done(~rank.differs(width))


def _sparing() -> str:
    """The same with rates at zero that rows beside the equations allow to be so, first declared first, if the others stay moderate."""
    native = StartFunction("sparing")
    f, given = native.f, native.given
    n, u, trial = given.n_u, native.numbers("u"), native.numbers("trial")
    with f.loop(n) as k:
        with f.when(native.call("determined", result=TRUTH)):
            f.give(0)
        with f.when(native.is_set("free", k)):
            native.wholes("free")[k] = 0
            native.copy("u", "trial", n)
            trial[k] = 0.0
            with f.when(u[k].differs(0.0)):
                native.call("solved", given.trial)
            length = f.call("product", REAL, given.trial, given.trial, n)
            allowed = length <= f.call("product", REAL, given.u, given.u, n) * initial_velocities.MODERATE**2
            good = native.call("tolerated", given.trial, result=TRUTH) & allowed
            with f.when(good):
                native.copy("trial", "u", n)
            with f.when(~good):
                native.wholes("free")[k] = 1
    return native.done()


def _speeds() -> str:
    """u of least norm with C u = d; what is given directly stays as it is. 0, or what it fails for."""
    native = StartFunction("speeds")
    f, given = native.f, native.given
    u, values = native.numbers("u"), native.numbers("given")
    with f.when(~native.call("defined", result=TRUTH)):
        f.give(UNDEFINED)
    with f.loop(given.n_u) as j:
        u[j] = 0.0
        native.wholes("free")[j] = native.wholes("reached")[j]
    with f.loop(given.n_direct) as i:
        j = native.wholes("direct_to")[i]
        u[j] = values[native.wholes("direct_from")[i]]
        native.wholes("free")[j] = 0
    with f.when(f.call("marked", WHOLE, given.free, given.n_u).differs(0)):
        native.call("solved", given.u)
        with f.when(given.beside.differs(0)):
            native.call("sparing")
    return native.done(native.either(native.call("tolerated", given.u, result=TRUTH), 0, VELOCITIES))


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
    most = native.variable(0.0)
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
    n, M, largest = given.n, native.numbers("M"), native.variable(0.0)
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
    return native.done(native.either(short, SINGULAR, 0))


_Fields: Final = structure(FIELDS)
_ONE: Final = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p)
_MANY: Final = ctypes.CFUNCTYPE(
    ctypes.c_int64, *[ctypes.c_void_p, ctypes.c_int64] * 2, *[ctypes.c_void_p] * 2, ctypes.c_int64, ctypes.c_void_p
)


class _Native(NamedTuple):
    library: jit.Library
    solve: Callable[..., int]
    solve_many: Callable[..., int]


@made_once
def _native() -> _Native:
    library = jit.load(start_text, ("solve_start", "solve_starts"))
    return _Native(library, _ONE(library.address("solve_start")), _MANY(library.address("solve_starts")))


@contextmanager
def start_solver(form: StartForm) -> Iterator[StartSolver]:
    """A native search that nobody else uses meanwhile."""
    try:
        solver = form.spare.pop()
    except IndexError:
        solver = StartSolver(form)
    yield solver
    form.spare.append(solver)


class StartSolver:
    """One search at a time: q, u and q̇ stay valid until the next."""

    def __init__(self, form: StartForm) -> None:
        self._native, self._function = _native(), form.at_position.function
        self._alive: list[Any] = []
        arrays, kin = form.at_position, form.kin
        n, n_u, m, k, n_A = kin.n_q, kin.n_u, len(form.rows), len(form.velocities) + len(form.beside), len(kin.rows)
        directions = assembly.nudges(n) if m else np.zeros((0, n))
        self.fields: Any = _Fields(n_out=len(arrays.places), n=n, m=m, n_A=n_A, k=k, n_u=n_u, n_nudges=len(directions))
        fields = self.fields
        fields.n_given, fields.n_W, fields.n_direct = len(form.velocities), len(form.W[0]), len(form.direct)
        fields.n_coordinates, fields.beside = len(form.coordinates), len(kin.multipliers)
        self._put(D=arrays.template.copy(), places=arrays.places)
        for name, start in arrays.starts.items():
            setattr(fields, name, fields.D + 8 * start if fields.D else 0)
        self.at_rest, self._guessed, fixed = form.at_rest.copy(), np.zeros(n, dtype=np.int64), np.zeros(n, dtype=bool)
        fixed[[place for _, place in form.coordinates]] = True
        self._at_rest, self._has_guess = form.at_rest, False
        self._put(at_rest=self.at_rest, guessed=self._guessed, fixed=fixed, structure=form.structure, nudges=directions)
        self._put(W_row=form.W[0], W_column=form.W[1], reached=form.reached, own_target=[row.target for row in form.rows])
        self._put(coordinate_from=[c for c, _ in form.coordinates], coordinate_to=[c for _, c in form.coordinates])
        self._put(target_from=[-1] * (m - len(form.expressions)) + list(form.expressions), value_from=form.velocities)
        self._put(direct_from=[c for c, _ in form.direct], direct_to=[c for _, c in form.direct], every=[1] * k)
        self.q, self.u, self.qdot = np.zeros(n), np.zeros(n_u), np.zeros(n)
        self._p, self._given = np.zeros(len(arrays.parameters)), np.zeros(len(form.asked))
        self._put(q=self.q, u=self.u, qdot=self.qdot, p=self._p, given=self._given)
        shapes = ((m, n), (k, n_u), (n_A, n))
        room = {"M": max(i * (j + 1) for i, j in shapes), "B": max(i * (j + 1 + i) for i, j in shapes), "J_now": m * n}
        room |= {"outs": len(arrays.places), "x": n + 1, "found": max(n, n_u)}
        room |= dict.fromkeys(("targets", "residuals", "rows", "r_now"), m) | dict.fromkeys(("d", "left"), k)
        room |= dict.fromkeys(("columns", "now", "first", "step", "before"), n) | dict.fromkeys(("free", "trial", "clean"), n_u)
        self._put(**{name: np.zeros(size) for name, size in room.items()})
        if self._function is not None:
            self._work = np.zeros(self._function.work_size + 8)
            self._put(f_work=self._work)
            self._prepare = prologue(self._function, self._p, self._work)
            fields.f, fields.f_prologue = self._function.address, self._function.prologue_address

    def _put(self, **arrays: ArrayLike) -> None:
        """Let the fields of these names be arrays, which are kept; empty ones are nowhere."""
        for name, array in arrays.items():
            given = np.asarray(array)
            whole: NDArray[Any] = np.ascontiguousarray(given, dtype=np.int64 if given.dtype.kind in "bi" else np.float64)
            self._alive.append(whole)
            setattr(self.fields, name, address(whole) if whole.size else 0)

    def guess(self, guesses: Mapping[int, float]) -> None:
        """Begin at these values of coordinates."""
        if self._has_guess:
            self.at_rest[:], self._guessed[:], self._has_guess = self._at_rest, 0, False
        for place, value in guesses.items():
            self.at_rest[place], self._guessed[place], self._has_guess = value, 1, True

    def solve(self, given: list[float], p: Numbers, t: float) -> int:
        """0, or what the start fails for."""
        self._given[:], self._p[:], self.fields.t = given, p, t
        if self._function is not None:
            self._prepare()
        return self._native.solve(ctypes.addressof(self.fields))

    def solve_many(self, given: Numbers, P: Numbers, t: float) -> tuple[Numbers, Wholes]:
        """(q, u) in rows for rows of given values and parameters, and for each 0 or what it fails for."""
        given, P = np.ascontiguousarray(given), np.ascontiguousarray(P)
        Y, codes = np.zeros((len(given), len(self.q) + len(self.u))), np.zeros(len(given), dtype=np.int64)
        fields, kept = self.fields, (self.fields.p, self.fields.given)
        fields.t = t
        tables = [P.ctypes.data, P.shape[1], given.ctypes.data, given.shape[1], Y.ctypes.data, codes.ctypes.data]
        self._native.solve_many(*tables, len(given), ctypes.addressof(fields))
        fields.p, fields.given = kept
        return Y, codes
