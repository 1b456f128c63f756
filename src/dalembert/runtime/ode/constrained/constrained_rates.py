"""(q̇, ż, λ) of a system in augmented form: straight-line code for the entries, one native solve
for all systems.
Keywords: saddle-point form.

`ConstrainedRates` can be called as any compiled function; `Workspace` is the memory of one run,
which also remembers which rows are kept.
"""

from __future__ import annotations

import ctypes
import functools
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from dalembert.foundation.caching import cached_call
from dalembert.foundation.deferred_dataclass import dataclass
from dalembert.mechanics.equations.sparse_saddle_point import SaddleSolution
from dalembert.runtime.numerics.compiled_function import CompiledFunction, run_prologue
from dalembert.runtime.numerics.jit import Library, load
from dalembert.runtime.numerics.llvm_types import GROUP_SIZE, ctypes_structure
from dalembert.runtime.numerics.python_binding import data_address
from dalembert.runtime.ode.constrained.block_layout import BlockLayout, Entries, MemoryLayout
from dalembert.runtime.ode.constrained.sparse_factorization import (
    is_unsafe,
    min_row_sine,
    sine_thresholds,
)
from dalembert.runtime.ode.constrained.workspace_fields import WORKSPACE_FIELDS
from dalembert.symbolic.algebra.scalar import Scalar
from dalembert.symbolic.algebra.sparse_matrix import sum_scalars
from dalembert.symbolic.algebra.tape import Tape

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Numbers = NDArray[np.float64]

# up to this number of rates all entries are compiled with the rates
_MAX_EAGER_RATES: Final = 30
_RATES: Final = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * 4)
_BATCH: Final = ctypes.CFUNCTYPE(
    ctypes.c_int64, *[ctypes.c_void_p] * 3, ctypes.c_int64, ctypes.c_void_p
)
_CHOOSE: Final = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p, ctypes.c_void_p)
_ALL: Final = ctypes.CFUNCTYPE(
    ctypes.c_int64, *[ctypes.c_void_p] * 2, ctypes.c_int64, ctypes.c_void_p
)
_PROJECT: Final = ctypes.CFUNCTYPE(
    ctypes.c_int32, ctypes.c_double, ctypes.c_void_p, ctypes.c_void_p
)


_Fields: Final = ctypes_structure(WORKSPACE_FIELDS)


@cached_call
def _library() -> Library:
    from dalembert.runtime.ode.constrained.saddle_solver_ir import EXPORTS, module_ir

    return load(module_ir, EXPORTS)


@dataclass(frozen=True)
class RatesKind:
    """What sets one system apart from another, besides its numbers."""

    massless: bool = False
    quaternions: bool = False
    nonlinear_velocities: bool = False


@dataclass(frozen=True)
class VariationalEquations:
    """What varied equations are made of, for the given number of columns of S = ∂(q, z)/∂p, each a
    function of (q, z, S, t).

    `equations` takes ż and λ after t and gives, column by column, dq̇, d(f − M ż + Aᵀλ) and d(γ + A
    ż) with ż and λ held; `rows` gives dφ and de of each column. `shift` is E δz as a function of
    (q, δz, t).
    """

    directions: int
    equations: CompiledFunction
    rows: CompiledFunction
    shift: CompiledFunction

    @property
    def functions(self) -> dict[str, CompiledFunction]:
        """By the names that native code has for them."""
        return {"tangents": self.equations, "row_tangents": self.rows, "shift": self.shift}


class CompiledEntries:
    """The numbers of the block that do not vanish, with their places in it; compiled where they are
    first needed.
    """

    def __init__(
        self,
        tape: Tape,
        indexed: tuple[list[int], list[int]],
        state: Sequence[int],
        parameters: Sequence[int],
        layout: BlockLayout,
    ) -> None:
        self._source, self._indexed = (tape, state, parameters), indexed
        # where M is in the block
        self._mass = range(layout.parts["U"], layout.parts["B"])
        self.n_in = len(state)

    def compile_all(self, *, rarely: bool) -> None:
        """All of them; `rarely` where another solution is taken as a rule."""
        tape, state, parameters = self._source
        self.__dict__["all"] = CompiledFunction(
            tape, self._indexed[0], state, parameters, rarely=rarely
        )

    @functools.cached_property
    def all(self) -> CompiledFunction:
        """With M."""
        self.compile_all(rarely=True)
        function: CompiledFunction = self.__dict__["all"]
        return function

    @functools.cached_property
    def _without_mass(self) -> tuple[CompiledFunction, Numbers]:
        tape, state, parameters = self._source
        pairs = [(i, k) for i, k in zip(*self._indexed, strict=True) if k not in self._mass]
        function = CompiledFunction(tape, [i for i, _ in pairs], state, parameters, rarely=True)
        return function, np.array([k for _, k in pairs], dtype=np.int64)

    def for_rows(self, *, mass: bool) -> tuple[CompiledFunction, Numbers]:
        """What gives the numbers, and their places; M on request."""
        if mass:
            return self.all, np.array(self._indexed[1], dtype=np.int64)
        return self._without_mass

    def __getstate__(self) -> dict[str, Any]:
        # code travels, expressions do not
        return {
            "all": self.all,
            "_without_mass": self._without_mass,
            "_indexed": self._indexed,
            "_mass": self._mass,
            "n_in": self.n_in,
        }


class ConstrainedRates:
    """(q̇, ż) at (q, z, t), with at most `max_rank` rows kept (all by default); λ goes along."""

    closed_form = False

    def __init__(
        self,
        tape: Tape,
        entries: Entries,
        state: Sequence[int],
        parameters: Sequence[int],
        kind: RatesKind,
        solution: SaddleSolution | None,
    ) -> None:
        self.layout = BlockLayout(len(entries.qdot), len(entries.f), len(entries.A))
        straight = _sparse_solvers(tape, entries, state, parameters, solution)
        indexed = self.layout.entry_indices(entries, tape.zero)
        self.index = np.array(indexed[1], dtype=np.int64)
        self.kind = kind
        self.max_rank, self.alpha = min(self.layout.m, self.layout.n), 0.0
        self.tangents: VariationalEquations | None = None
        self.sparse_rates: CompiledFunction | None = straight[0] if straight else None
        self.sparse_projection: CompiledFunction | None = straight[1] if straight else None
        self._entries = CompiledEntries(tape, indexed, state, parameters, self.layout)
        # of many rates M alone is long code, and with a sparse solution it is hardly ever needed
        self.is_deferred = straight is not None and self.layout.n > _MAX_EAGER_RATES
        if not self.is_deferred:
            self._entries.compile_all(rarely=straight is not None)
        self.retraction = CompiledFunction(tape, entries.retraction, state, parameters)
        self._pool: list[tuple[bytes, Workspace]] = []

    @property
    def n_in(self) -> int:
        """The numbers of the state, of S where it is carried along, and the time."""
        return self._entries.n_in if self.tangents is None else self.tangents.rows.n_in

    @property
    def fill(self) -> CompiledFunction:
        """q̇, f, γ, φ, e, A and the upper half of M, as far as they do not vanish."""
        return self._entries.all

    def with_sensitivities(self, tangents: VariationalEquations) -> ConstrainedRates:
        """The same with S carried along."""
        new = self.with_rank_limit(self.max_rank, self.alpha)
        new.tangents = tangents
        new.__dict__.pop("memory_layout", None)
        return new

    @functools.cached_property
    def memory_layout(self) -> MemoryLayout:
        """The memory of a run."""
        layout, m, tangents = self.layout, max(self.layout.m, 1), self.tangents
        functions = {"move": self.retraction} | ({} if tangents is None else tangents.functions)
        sizes = {
            "outs": len(self.index),
            "x": layout.n_q + layout.n + GROUP_SIZE,
            "seen": m * layout.width,
        }
        sizes |= dict.fromkeys(("h", "inverse"), layout.width) | dict.fromkeys(
            ("order", "keep", "multipliers"), m
        )
        sizes |= dict.fromkeys(
            ("w", "c", "diagonal", "tau", "scale", "lengths", "sizes", "slopes", "rho"),
            max(layout.row_width, GROUP_SIZE),
        )
        if tangents is not None:
            sizes["tangents_x"] = tangents.equations.n_in + GROUP_SIZE
            sizes["tangents_outs"] = max(f.n_out for f in tangents.functions.values()) + GROUP_SIZE
        elif self.sparse_rates is not None and self.sparse_projection is not None:
            functions |= {"straight": self.sparse_rates, "back": self.sparse_projection}
            sizes |= {
                "straight_outs": self.sparse_rates.n_out + GROUP_SIZE,
                "back_outs": self.sparse_projection.n_out + GROUP_SIZE,
            }
            sizes |= {"ends": 2 * self._entries.n_in, "came": layout.n_q}
        sizes |= {f"{name}_work": function.work_size + 8 for name, function in functions.items()}
        return layout.memory_layout(sizes)

    def with_rank_limit(self, cap: int, alpha: float = 0.0) -> ConstrainedRates:
        """The same with at most the given number of rows kept, and Baumgarte's α."""
        new = ConstrainedRates.__new__(ConstrainedRates)
        new.__dict__.update(self.__dict__, max_rank=cap, alpha=alpha, _pool=[])
        return new

    def with_baumgarte(self, alpha: float, /) -> ConstrainedRates:
        """The same with Baumgarte's stabilization at the rate α."""
        return self.with_rank_limit(self.max_rank, alpha)

    def evaluator(
        self, p: Numbers, at: Numbers, /, *, projecting: bool, alpha: float, rtol: float
    ) -> Workspace:
        """The memory of one run, with the rows that are kept at the state `at`."""
        space = Workspace(self, p, projecting=projecting, alpha=alpha, rtol=rtol)
        space.select_rows(at)
        return space

    def functions(self, rank: int, /) -> dict[str, CompiledFunction]:
        """The entries and the retraction; with all rows kept also the sparse solution."""
        functions = {"fill": self.fill, "move": self.retraction}
        if (
            self.sparse_rates is not None
            and self.sparse_projection is not None
            and rank == self.layout.m
        ):
            functions |= {"straight": self.sparse_rates, "back": self.sparse_projection}
        return functions

    def solver_data(self, rank: int, /) -> dict[str, Any]:
        """The sizes of the memory of a run, and what sets the system apart."""
        layout, kind = self.layout, self.kind
        return {
            "sines": list(sine_thresholds(layout.n + layout.m)),
            "n_q": layout.n_q,
            "n": layout.n,
            "m": layout.m,
            "cap": rank,
            "width": layout.width,
            "row_width": layout.row_width,
            "parts": layout.parts,
            "index": [int(k) for k in self.index],
            "massless": int(kind.massless),
            "quaternions": int(kind.quaternions),
            "curved": int(kind.nonlinear_velocities),
        }

    # ---- as a function -----------------------------------------------------------------------

    def call(self, x: Numbers, p: Numbers) -> Numbers:
        """(q̇, ż) at one state."""
        rates: Numbers = self.with_multipliers(np.asarray(x, dtype=np.float64)[np.newaxis], p)[
            0, : self.layout.n_q + self.layout.n
        ]
        return rates

    def batch(self, X: Numbers, p: Numbers) -> Numbers:
        """(q̇, ż) of states in rows; with S carried along (q̇, ż, Ṡ) of states (q, z, S, t)."""
        if self.tangents is not None:
            space, n = Workspace(self, p), self._entries.n_in - 1
            return np.array(
                [
                    space.evaluate(x)
                    for x in np.ascontiguousarray(X)
                    if space.select_rows(np.append(x[:n], x[-1])) >= 0
                ]
            )
        return self.with_multipliers(X, p)[:, : self.layout.n_q + self.layout.n]

    def with_multipliers(self, X: Numbers, p: Numbers) -> Numbers:
        """(q̇, ż, λ) of states in rows; of rows that are not kept λ is zero."""
        X = np.ascontiguousarray(X, dtype=np.float64)
        p = np.ascontiguousarray(p, dtype=np.float64)
        if not self.is_deferred or self.alpha or self.max_rank < self.layout.m:
            return self._orthogonal_batch(X, p)
        Y, unsafe = self._sparse_batch(X, p)
        if unsafe.any():
            Y[unsafe] = self._orthogonal_batch(X[unsafe], p)
        return Y

    def _sparse_batch(self, X: Numbers, p: Numbers) -> tuple[Numbers, NDArray[np.bool_]]:
        """(q̇, ż, λ) by the sparse solution, and in which states that is not safe."""
        assert self.sparse_rates is not None
        assert self.sparse_projection is not None
        m, width = self.layout.m, self.layout.n_q + self.layout.n
        found, steps = (f.at_states(X, p) for f in (self.sparse_rates, self.sparse_projection))
        first = m + 2 * self.layout.n
        over, squares = found[:, width + m : width + 2 * m], steps[:, first : first + m]
        unsafe = is_unsafe(squares * over, found[:, -1])
        return np.ascontiguousarray(found[:, : width + m]), unsafe

    def _orthogonal_batch(self, X: Numbers, p: Numbers) -> Numbers:
        """The same by the orthogonal solver."""
        key = p.tobytes()
        # a workspace is used by one caller at a time
        try:
            cached_key, space = self._pool.pop()
        except IndexError:
            cached_key, space = b"", None
        if space is None or cached_key != key:
            space = Workspace(self, p.copy(), pivoting=True, alpha=self.alpha)
        # rows are chosen in the order they were chosen before: earlier calls must not change the
        # last bits
        space.order[:] = range(len(space.order))
        Y = np.empty((len(X), self.layout.n_q + self.layout.n + self.layout.m))
        _BATCH(_library().address("batch"))(
            X.ctypes.data, space.p.ctypes.data, Y.ctypes.data, len(X), space.address
        )
        self._pool.append((key, space))
        return Y

    def minimum_norm_multipliers(self, X: Numbers, p: Numbers) -> Numbers:
        """λ of states in rows; where rows depend on one another the λ of least Σ λ_j², each in the
        unit of its row.

        What differs from it by a λ₀ with Aᵀλ₀ = 0 moves the system alike.
        """
        lam = self.with_multipliers(X, p)[:, self.layout.n_q + self.layout.n :]
        if self.max_rank == self.layout.m:
            return lam
        A = self.rows(X, p)["A"]
        V = np.linalg.svd(A.transpose(0, 2, 1))[2][:, : self.max_rank]
        multipliers: Numbers = np.einsum("irj,irk,ik->ij", V, V, lam)
        return multipliers

    def project_states(self, X: Numbers, p: Numbers) -> Numbers:
        """(q, z) of states (q, z, t) in rows, brought onto the rows; one for which that fails
        stays as it was.
        """
        states, times = np.ascontiguousarray(X[:, :-1]), np.ascontiguousarray(X[:, -1])
        if not len(X) or not self.layout.m:
            return states
        space, moved = Workspace(self, p, projecting=True), states.copy()
        space.select_rows(np.ascontiguousarray(X[0]))
        if _ALL(_library().address("project_all"))(
            times.ctypes.data, moved.ctypes.data, len(X), space.address
        ):
            one_by_one = [
                space.project_state(t, y) for t, y in zip(times.tolist(), states, strict=True)
            ]
            moved = np.array(
                [y if found is None else found for y, found in zip(states, one_by_one, strict=True)]
            )
        return moved

    def constraint_matrix(self, x: Numbers, p: Numbers) -> Numbers:
        """A at one state."""
        A: Numbers = self.rows(np.asarray(x, dtype=np.float64)[np.newaxis], p)["A"][0]
        return A

    def rows(self, X: Numbers, p: Numbers, *, mass: bool = False) -> dict[str, Numbers]:
        """A, γ, e, φ, f and q̇ of states in rows, on request M, as tables with one more index for
        the state.
        """
        layout, parts = self.layout, self.layout.parts
        function, index = self._entries.for_rows(mass=mass or not self.is_deferred)
        blocks = np.zeros((len(X), parts["end"]))
        blocks[:, index] = function.at_states(X, p)
        n, m, width = layout.n, layout.m, layout.width
        vectors = {name: blocks[:, parts[name] : parts[name] + m] for name in ("gamma", "e", "phi")}
        A = blocks[:, parts["B"] : parts["B"] + m * width].reshape(len(X), m, width)[:, :, :n]
        tables = vectors | {
            "A": A,
            "f": blocks[:, parts["f"] : parts["f"] + n],
            "qdot": blocks[:, : layout.n_q],
        }
        if mass:
            U = blocks[:, parts["U"] : parts["U"] + n * width].reshape(len(X), n, width)[:, :, :n]
            tables["M"] = U + np.triu(U, 1).transpose(0, 2, 1)
        return tables

    def __getstate__(self) -> dict[str, Any]:
        # another processor's code takes other room
        return {name: value for name, value in self.__dict__.items() if name != "memory_layout"} | {
            "_pool": []
        }


def _sparse_solvers(
    tape: Tape,
    entries: Entries,
    state: Sequence[int],
    parameters: Sequence[int],
    solution: SaddleSolution | None,
) -> tuple[CompiledFunction, CompiledFunction] | None:
    """(q̇, ż, λ, …) and (φ, −A⁺φ, −A⁺e, …) with the zeros of M and A left out."""
    if solution is None:
        return None
    s = solution
    rates = (*entries.qdot, *s.zdot, *s.multipliers, *s.safety)
    sizes = (sum_scalars(tape, (abs(Scalar(tape, a)) for a in row.values())).i for row in entries.A)
    steps = (*entries.phi, *s.position_step, *s.velocity_step, *s.row_norms_squared)
    # these once or twice in a step, in which there are a dozen rates
    return (
        CompiledFunction(tape, rates, state, parameters),
        CompiledFunction(tape, (*steps, *sizes, *s.safety), state, parameters, rarely=True),
    )


def _workspace_fields(
    rates: ConstrainedRates, p: Numbers, *, pivoting: bool, projecting: bool, alpha: float
) -> Any:
    """The structure of native code: sizes and switches of the rates."""
    layout, kind = rates.layout, rates.kind
    fields = _Fields(
        n_q=layout.n_q,
        n=layout.n,
        m=layout.m,
        cap=rates.max_rank,
        alpha=alpha,
        p=data_address(p),
    )
    fields.groups = layout.width // GROUP_SIZE
    fields.row_groups = layout.row_width // GROUP_SIZE
    fields.choosing, fields.holding = int(pivoting), int(projecting)
    fields.massless, fields.quaternions, fields.curved = (
        int(kind.massless),
        int(kind.quaternions),
        int(kind.nonlinear_velocities),
    )
    # whole numbers have an address as others have
    fields.index = data_address(rates.index)  # type: ignore[arg-type]
    fields.count, fields.block_groups = len(rates.index), layout.parts["end"] // GROUP_SIZE
    return fields


class Workspace:
    """One run's own memory: the numbers of the parameters, the block, the rows kept."""

    def __init__(
        self,
        rates: ConstrainedRates,
        p: Numbers,
        *,
        pivoting: bool = False,
        projecting: bool = False,
        alpha: float = 0.0,
        rtol: float = 0.0,
    ) -> None:
        self.rates, self.p = rates, p
        fields = self._fields = _workspace_fields(
            rates, p, pivoting=pivoting, projecting=projecting, alpha=alpha
        )
        self.address = ctypes.addressof(fields)
        self._allocate(rates.memory_layout)
        self._first_fill = _RATES(self._compile_fill)
        if rates.is_deferred:
            fields.fill = ctypes.cast(self._first_fill, ctypes.c_void_p).value
        else:
            self._attach_fill()
        self._compute("move", rates.retraction)
        if rates.tangents is not None:
            fields.directions = rates.tangents.directions
            for name, function in rates.tangents.functions.items():
                self._compute(name, function)
        # what follows with the factors of the other solver, or without all rows, has no straight
        # line
        elif rates.max_rank == rates.layout.m and not (pivoting or alpha):
            self._attach_sparse_solution(rtol, projecting=projecting)
        varied = "varied_" if rates.tangents else ""
        self.rhs: int = _library().address(f"{varied}rates")
        self.project: int = _library().address(f"{varied}project")

    def _attach_sparse_solution(self, rtol: float, *, projecting: bool) -> None:
        """The rates and projection by unrolled sparse elimination, where there are such."""
        rates, fields = self.rates, self._fields
        if rates.sparse_rates is None:
            return
        fields.straight_count, fields.least_sine = (
            rates.sparse_rates.n_out,
            min_row_sine(sine_thresholds(rates.layout.n + rates.layout.m), rtol),
        )
        self._compute("straight", rates.sparse_rates)
        if projecting and rates.sparse_projection is not None:
            fields.back_count = rates.sparse_projection.n_out
            self._compute("back", rates.sparse_projection)

    def _allocate(self, room: MemoryLayout) -> None:
        """All that it needs in one piece of memory."""
        numbers = self._numbers = np.zeros(room.size)
        fields, begin, m = self._fields, data_address(numbers), max(self.rates.layout.m, 1)
        for name, place in room.places.items():
            setattr(fields, name, begin + 8 * place)
        order, multipliers = room.places["order"], room.places["multipliers"]
        self.order, self.multipliers = (
            numbers[order : order + m].view(np.int64),
            numbers[multipliers : multipliers + m],
        )
        self.order[:] = range(m)

    def _attach_fill(self) -> None:
        """Let native code fill the block with all entries."""
        function = self.rates.fill
        self._fill_work = np.zeros(function.work_size + 8)
        self._fields.fill_work = data_address(self._fill_work)
        self._compute("fill", function)

    def _compile_fill(self, x: int, p: int, outs: int, _work: int) -> None:
        """What native code calls in place of a function that is not compiled yet."""
        self._attach_fill()
        _RATES(self._fields.fill)(x, p, outs, self._fields.fill_work)

    def _compute(self, name: str, function: CompiledFunction) -> None:
        """Let native code call a function, whose scratch space begins with what follows from the
        parameters alone.
        """
        setattr(self._fields, name, function.address)
        run_prologue(function, self._fields.p, getattr(self._fields, f"{name}_work"))

    @property
    def sparse_fallbacks(self) -> int:
        """How often the straight line was not safe, and the other solver was taken."""
        return int(self._fields.straight_refused)

    @property
    def longest_violation(self) -> tuple[float, int]:
        """For how long at a time a row was left though its slope is not zero there, and which."""
        return float(self._fields.left_longest), int(self._fields.left_row)

    @property
    def n_in(self) -> int:
        """The numbers of the state and the time."""
        return self.rates.n_in

    @property
    def needs_projection(self) -> bool:
        """Whether rows are projected or chosen again at the ends of steps."""
        something = self.rates.layout.m > 0 or self.rates.kind.quaternions
        return (
            bool(self._fields.holding) and something
        ) or self.rates.max_rank < self.rates.layout.m

    def select_rows(self, x: Numbers) -> int:
        """Choose the rows to be kept at a state (q, z, t); the rank."""
        return int(_CHOOSE(_library().address("choose_rows"))(data_address(x), self.address))

    def set_multiplier_buffer(self, where: int) -> None:
        """Write λ there from now on."""
        self._fields.multipliers = where

    def evaluate(self, x: Numbers) -> Numbers:
        """(q̇, ż) at (q, z, t) with the rows as they are; λ is then in the multipliers."""
        y = np.empty(self.n_in - 1)
        _RATES(self.rhs)(x.ctypes.data, self.p.ctypes.data, y.ctypes.data, self.address)
        return y

    def project_state(self, t: float, y: Numbers) -> Numbers | None:
        """The state on the rows nearest to y; None where none was found."""
        new = np.array(y, dtype=np.float64)
        return None if _PROJECT(self.project)(t, new.ctypes.data, self.address) else new
