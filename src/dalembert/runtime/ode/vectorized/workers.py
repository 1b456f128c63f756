"""All members of a table: workers in threads that stay in native code, and what they found."""

from __future__ import annotations

import ctypes
import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Final

import numpy as np

from dalembert.foundation.deferred_dataclass import dataclass
from dalembert.runtime.numerics import jit
from dalembert.runtime.numerics.llvm_types import ctypes_structure
from dalembert.runtime.ode.vectorized import loop
from dalembert.runtime.ode.vectorized.layout import FIELDS, LaneFunctions, LaneLayout

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Numbers = NDArray[np.float64]

Progress = Callable[[int], object]
_Fields: Final = ctypes_structure(FIELDS)
_ALIGNMENT: Final = 64
_ADVANCE: Final = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p)
# a worker comes back to Python about so often, in seconds, beginning with few attempts
_SLICE: Final = 0.02
_FIRST_BUDGET: Final = 64
_TOLERANCE: Final = 1e-13
_SHORT: Final = 24


class VectorizedCode:
    """The native code that runs members of one kind, a fixed number at a time."""

    def __init__(self, functions: LaneFunctions, lanes: int) -> None:
        target = jit.host(lanes)
        self.functions = functions
        parts = [
            name.encode() + function.cache_key(target)
            for name, function in functions.all_functions.items()
        ]
        identity = (
            jit.source_hashes("runtime/numerics", "runtime/ode")
            + b"".join(parts)
            + repr((functions.functionals, functions.dense_form)).encode()
        )
        sizes = {name: f"{name}.size" for name in functions.all_functions}
        # written without waste, but in small functions that a compiler can put together; where the
        # rates are long that takes too long
        level: jit.Level = 1 if functions.n <= _SHORT else 0
        self._library = jit.load(
            lambda: loop.module_ir(functions, target),
            (*loop.EXPORTS, *sizes.values()),
            identity=identity,
            optimize=level,
        )
        work = {
            name: ctypes.c_int64.from_address(self._library.address(size)).value
            for name, size in sizes.items()
        }
        self.layout = LaneLayout(functions, lanes, work)
        self.advance = _ADVANCE(self._library.address("advance"))


@dataclass(frozen=True, eq=False)
class LaneProblem:
    """What all members have in common besides their equations."""

    t0: float
    t1: float
    rtol: float
    # one number for each component
    atol: Numbers
    max_step: float
    # the times at which states are wanted, in order
    at: Numbers


class Worker:
    """One thread's lanes."""

    def __init__(
        self, program: VectorizedCode, problem: LaneProblem, tables: EnsembleTables
    ) -> None:
        self.program = program
        lanes = program.layout.lanes
        space = np.zeros(program.layout.size * lanes + _ALIGNMENT // 8)
        offset = -space.ctypes.data % _ALIGNMENT // 8
        self._alive = space, problem, tables
        self.job = _Fields(
            next=tables.next.ctypes.data,
            count=len(tables.starts),
            vacant=1,
            space=space[offset:].ctypes.data,
            parameters=tables.parameters.ctypes.data,
            starts=tables.starts.ctypes.data,
            results=tables.results.ctypes.data,
            samples=tables.samples.ctypes.data,
            times=problem.at.ctypes.data,
            n_times=len(problem.at),
            atol=problem.atol.ctypes.data,
            t_start=problem.t0,
            t_end=problem.t1,
            h_max=min(problem.max_step, problem.t1 - problem.t0),
            rtol=problem.rtol,
            tolerance=_TOLERANCE,
        )

    def run(self, stop: threading.Event, show: Callable[[], object] | None = None) -> None:
        """Until no member is left, or `stop` is set."""
        attempts = _FIRST_BUDGET
        while not stop.is_set():
            self.job.budget = attempts
            begin = time.perf_counter()
            if not self.program.advance(ctypes.addressof(self.job)):
                return
            if time.perf_counter() - begin < _SLICE:
                attempts *= 2
            if show is not None:
                show()


class EnsembleTables:
    """Parameters and starts of the members in rows, and room for what becomes of them."""

    def __init__(
        self, functions: LaneFunctions, parameters: Numbers, starts: Numbers, n_times: int
    ) -> None:
        self.next = np.zeros(1, dtype=np.int64)
        self.parameters, self.starts = (
            np.ascontiguousarray(parameters),
            np.ascontiguousarray(starts),
        )
        self.results = np.full((len(starts), functions.columns[""]), np.nan)
        self.samples = np.full((len(starts), n_times, functions.n), np.nan)
        self._columns = functions.columns

    def column(self, name: str, count: int = 1) -> Numbers:
        """A result of every member, or a row of results."""
        first = self._columns[name]
        return self.results[:, first] if count == 1 else self.results[:, first : first + count]


def run_ensemble(
    program: VectorizedCode,
    problem: LaneProblem,
    parameters: Numbers,
    starts: Numbers,
    threads: int = 1,
    on_progress: Progress | None = None,
) -> EnsembleTables:
    """Every member of the tables from t₀ to t₁; a bit of it depends on neither the number of
    threads nor that of lanes.
    """
    tables = EnsembleTables(program.functions, parameters, starts, len(problem.at))
    if not len(starts):
        return tables
    workers = [
        Worker(program, problem, tables)
        for _ in range(max(1, min(threads, -(-len(starts) // program.layout.lanes))))
    ]
    stop, shown = (
        threading.Event(),
        (lambda: on_progress(sum(w.job.done for w in workers))) if on_progress else None,
    )
    helpers = [
        threading.Thread(target=worker.run, args=(stop,), daemon=True) for worker in workers[1:]
    ]
    try:
        for helper in helpers:
            helper.start()
        workers[0].run(stop, shown)
        for helper in helpers:
            helper.join()
    except BaseException:
        # no thread may write into tables that are given up
        stop.set()
        for helper in helpers:
            helper.join()
        raise
    if shown is not None:
        shown()
    return tables
