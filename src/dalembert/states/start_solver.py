"""The native search for starts, with memory of its own for each form: one start at a time, or the starts of many members.

First q(t₀), u(t₀) from rows and conditions, as native text; what fails here is found again in Python, and explained there.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from dalembert.numerics import jit
from dalembert.numerics.llvm_types import INTRINSICS, POINTER, REAL, WHOLE
from dalembert.numerics.llvm_writer import Array, NumberArray
from dalembert.ode.least_norm import least_norm_text, row
from dalembert.ode.memory import prologue, structure
from dalembert.ode.points import address
from dalembert.once import made_once
from dalembert.states.assembly import nudges
from dalembert.states.assembly_text import assembly_text
from dalembert.states.speeds_text import speeds_text
from dalembert.states.start_form import StartForm
from dalembert.states.start_problem import FIELDS, StartFunction


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


if TYPE_CHECKING:
    from numpy.typing import NDArray

    Numbers = NDArray[np.float64]
    Wholes = NDArray[np.int64]

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
        self.fields: Any = _Fields()
        fields, arrays, kin = self.fields, form.at_position, form.kin
        n, n_u, m, k, n_A = kin.n_q, kin.n_u, len(form.rows), len(form.velocities) + len(form.beside), len(kin.rows)
        self._put(D=arrays.template.copy(), places=arrays.places, outs=np.zeros(len(arrays.places)))
        for name, start in arrays.starts.items():
            setattr(fields, name, fields.D + 8 * start if fields.D else 0)
        own = [row.target for row in form.rows]
        source = [-1] * (m - len(form.expressions)) + list(form.expressions)
        directions = nudges(n) if m else np.zeros((0, n))
        self.at_rest, self._guessed, fixed = form.at_rest.copy(), np.zeros(n, dtype=np.int64), np.zeros(n, dtype=np.int64)
        fixed[[place for _, place in form.coordinates]] = 1
        self._at_rest, self._has_guess = form.at_rest, False
        self._put(at_rest=self.at_rest, guessed=self._guessed, fixed=fixed, structure=form.structure.astype(np.int64), nudges=directions)
        self._put(W_row=form.W[0], W_column=form.W[1], reached=form.reached.astype(np.int64), own_target=np.array(own))
        self._index(coordinate_from=(c for c, _ in form.coordinates), coordinate_to=(c for _, c in form.coordinates), target_from=source)
        self._index(value_from=form.velocities, direct_from=(c for c, _ in form.direct), direct_to=(c for _, c in form.direct))
        fields.n_out, fields.n, fields.m, fields.n_A, fields.k, fields.n_u = len(arrays.places), n, m, n_A, k, n_u
        fields.n_given, fields.n_W, fields.n_direct = len(form.velocities), len(form.W[0]), len(form.direct)
        fields.n_coordinates, fields.n_nudges, fields.beside = len(form.coordinates), len(directions), len(kin.multipliers)
        self.q, self.u, self.qdot = np.zeros(n), np.zeros(n_u), np.zeros(n)
        self._p, self._given = np.zeros(len(arrays.parameters)), np.zeros(len(form.asked))
        self._put(
            q=self.q, u=self.u, qdot=self.qdot, p=self._p, given=self._given, targets=np.zeros(m), d=np.zeros(k), residuals=np.zeros(m)
        )
        self._put(free=np.zeros(n_u, dtype=np.int64), rows=np.zeros(m, dtype=np.int64), columns=np.zeros(n, dtype=np.int64))
        self._put(x=np.zeros(n + 1), trial=np.zeros(n_u), clean=np.zeros(n_u), found=np.zeros(max(n, n_u)), r_now=np.zeros(m))
        shapes = ((m, n), (k, n_u), (n_A, n))
        self._put(
            J_now=np.zeros(m * n), M=np.zeros(max(i * (j + 1) for i, j in shapes)), B=np.zeros(max(i * (j + 1 + i) for i, j in shapes))
        )
        self._put(**{name: np.zeros(n) for name in ("now", "first", "step", "before")})
        if self._function is not None:
            self._work = np.zeros(self._function.work_size + 8)
            self._put(f_work=self._work)
            self._prepare = prologue(self._function, self._p, self._work)
            fields.f, fields.f_prologue = self._function.address, self._function.prologue_address

    def _put(self, **arrays: NDArray[Any]) -> None:
        for name, array in arrays.items():
            whole = np.ascontiguousarray(array)
            self._alive.append(whole)
            setattr(self.fields, name, address(whole) if whole.size else 0)

    def _index(self, **places: Iterable[int]) -> None:
        self._put(**{name: np.array(list(those), dtype=np.int64) for name, those in places.items()})

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
