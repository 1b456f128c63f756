"""y = f(x, p): expressions of a tape as native code, for one state or many, and the scratch
space that native callers give it.
"""

from __future__ import annotations

import ctypes
import functools
import itertools
import marshal
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Final

import numpy as np

from dalembert.foundation.caching import COMPUTE_LOCK
from dalembert.foundation.deferred_dataclass import dataclass
from dalembert.runtime.numerics import jit
from dalembert.runtime.numerics.jit import Target, host, simd_width
from dalembert.runtime.numerics.object_cache import tape_digest
from dalembert.runtime.numerics.python_binding import (
    Array,
    BadArguments,
    BatchCall,
    SingleCall,
    data_address,
)
from dalembert.symbolic.algebra.expression_graph import (
    dependencies_by_sweep,
    gradient,
    graph_depth,
)
from dalembert.symbolic.algebra.tape import Node, Tape

if TYPE_CHECKING:
    from dalembert.runtime.numerics.emit import EmittedFunction

_NAME: Final = "f"
_LONG: Final = 10_000
# up to this number of nodes, calls and gaps between rows take noticeable time
_MAX_INLINED_NODES: Final = 500
# operations beyond which LLVM's own scheduling is no gain (3 % of the time at 13 000)
_MAX_SCHEDULED_NODES: Final = 2500
# operations beyond which registers are allocated quickly: at 39 000 it takes 0.7 s in place of
# 1.4 s, and a call 12.4 µs in place of 9.9 µs (19.5 µs at level 0); at 209 000 (500 joints) 3.7 s
# in place of 5.9 s, and a call 47 µs in place of 32 µs (73 µs at level 0, compiled no faster)
_MAX_ALLOCATED_NODES: Final = 30_000
# nodes beyond which tables of operands replace instructions, where a path through the operations is
# shorter than this part of their number
_MIN_TABULATED_NODES: Final = 60_000
_MIN_WIDTH: Final = 64
# the level for all functions of this process, where one was chosen
_PROCESS_LEVEL: Final[list[jit.Level]] = []
# states up to which single calls take less time than compiling vectorized code, and states for
# each node of long code: 10 000 nodes take 2 s to compile, and a call 4 µs
_FEW_STATES: Final = 4000
_FEW_STATES_PER_NODE: Final = 10
# how many times this number of states is evaluated by single calls
_REPETITIONS: Final = 5
# without letting go of the interpreter: it is shorter than that takes
_PROLOGUE: Final = ctypes.PYFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)


class CompiledFunction:
    """Expressions `outs` as functions of the symbols `state` and `parameters`.

    `call(x, p)` gives the values at one state x with parameters p. The state may be taken in
    `parts`, such as q, u and t, and then it is `call(q, u, t, p)`; a part of length 1 may be a
    float. Native code runs the function at `address`,

        void f(const double *x, const double *p, double *y, double *work)

    after `prologue_address`, void prologue(const double *p, double *work), has filled the head of
    `work`, which holds `work_size` numbers; the arrays must not overlap, and the addresses are
    valid as long as this object lives. It may be called from any number of threads.

    Long code that is evaluated `rarely` is compiled in a third of the time and takes up to 1.7
    times as long to run, with the same bits.
    """

    def __init__(
        self,
        tape: Tape,
        outs: Sequence[int],
        state: Sequence[int],
        parameters: Sequence[int],
        parts: Sequence[int] | None = None,
        *,
        rarely: bool = False,
    ) -> None:
        parts = (len(state),) if parts is None else tuple(parts)
        if sum(parts) != len(state):
            msg = (
                f"parts of {' + '.join(map(str, parts))} numbers do not make up a state of "
                f"{len(state)}"
            )
            raise BadArguments(msg)
        self._load(
            NativeSource.from_tape(
                tape, tuple(outs), tuple(state), tuple(parameters), parts, rarely=rarely
            )
        )

    def _load(self, source: NativeSource) -> None:
        self._source = source
        # evaluated by single calls for `at_states`
        self._single_states = 0
        self.parts, self.n_in, self.n_parameters, self.n_out = (
            source.parts,
            source.n_in,
            source.n_parameters,
            source.n_out,
        )
        exports = (
            _NAME,
            f"{_NAME}.prologue",
            f"{_NAME}.size",
            f"{_NAME}.once",
            f"{_NAME}.call",
            "python",
        )
        library = jit.load(
            source.text,
            exports,
            identity=source.cache_key(host()),
            codegen=source.codegen,
        )
        self.address = library.address(_NAME)
        self.prologue_address = library.address(f"{_NAME}.prologue")
        self.work_size: int = ctypes.c_int64.from_address(library.address(f"{_NAME}.size")).value
        self._fast_call = SingleCall(library, _NAME, (*self.parts, self.n_parameters), self.n_out)
        self.call: Callable[..., Array] = self._fast_call.function()

    @functools.cached_property
    def batch(self) -> Callable[..., Array]:
        """y for states in rows: batch(X, p), or in parts; parameters p for all states, or a row for
        each.

        Every row of the result has the bits that `call` gives for that state. The code is made when
        it is first asked for.
        """
        with COMPUTE_LOCK:
            function: Callable[..., Array] | None = self.__dict__.get("batch")
            if function is None:
                target = host(simd_width())
                text = functools.partial(self._source.batch_ir, target)
                level: jit.Level = 1 if self._source.is_inlined else 0
                exports = f"{_NAME}.batch", f"{_NAME}.call", "python"
                library = jit.load(
                    text,
                    exports,
                    identity=self._source.cache_key(target),
                    optimize=level,
                    codegen=self._source.codegen,
                )
                # another thread that waits here finds it
                function = self.__dict__["batch"] = BatchCall(
                    library, _NAME, self._fast_call
                ).function()
            return function

    def at_states(self, X: Array, p: Array) -> Array:
        """batch(X, p); for a few states single calls, so that nothing is compiled, until these
        have taken longer than that.
        """
        few = max(_FEW_STATES, _FEW_STATES_PER_NODE * len(self._source.live_nodes))
        repeated = self._single_states > _REPETITIONS * few
        if "batch" in self.__dict__ or repeated or not 0 < len(X) <= few:
            return self.batch(X, p)
        self._single_states += len(X)
        P = np.broadcast_to(p, (len(X), self.n_parameters))
        return np.array([self.call(x, of_row) for x, of_row in zip(X, P, strict=True)])

    def ir_for(self, target: Target, name: str = _NAME) -> tuple[str, int]:
        """The functions `name` and `name.prologue` in LLVM text for another processor, and how
        many numbers their work takes.
        """
        return self._source.ir_for(target, name)

    def cache_key(self, target: Target) -> bytes:
        """What determines that text."""
        return self._source.cache_key(target)

    def __getstate__(self) -> NativeSource:
        return self._source.without_dead_nodes()

    def __setstate__(self, source: NativeSource) -> None:
        self._load(source)


@dataclass(frozen=True)
class NativeSource:
    """y = f(x, p) to be written for any processor: all that determines the code, and a hash of
    it.
    """

    nodes: list[Node]
    outs: tuple[int, ...]
    state: tuple[int, ...]
    parameters: tuple[int, ...]
    parts: tuple[int, ...]
    content: bytes
    rarely: bool = False

    @classmethod
    def from_tape(
        cls,
        tape: Tape,
        outs: tuple[int, ...],
        state: tuple[int, ...],
        parameters: tuple[int, ...],
        parts: tuple[int, ...] | None = None,
        *,
        rarely: bool = False,
    ) -> NativeSource:
        """The nodes `outs` of a tape as functions of two kinds of symbols; the state may be
        taken in parts.
        """
        parts = (len(state),) if parts is None else parts
        length = 1 + max((*outs, *state, *parameters), default=-1)
        content = tape_digest(tape, length)
        content.update(marshal.dumps((outs, state, parameters, parts), 2))
        content.update(b"rarely" if rarely else b"")
        return cls(tape.nodes[:length], outs, state, parameters, parts, content.digest(), rarely)

    @property
    def n_in(self) -> int:
        """How many numbers are the state."""
        return len(self.state)

    @property
    def n_parameters(self) -> int:
        """How many are parameters."""
        return len(self.parameters)

    @property
    def n_out(self) -> int:
        """How many come out."""
        return len(self.outs)

    def cache_key(self, target: Target) -> bytes:
        """What the object code is found by."""
        return codegen_version() + self.content + target.identity

    def emit_ir(self, target: Target, name: str = _NAME) -> EmittedFunction:
        """The text of the functions."""
        from dalembert.runtime.numerics.emit import emit

        return emit(
            self.nodes,
            self.outs,
            self.state,
            self.parameters,
            name=name,
            target=target,
            tables=self.is_wide,
        )

    def ir_for(self, target: Target, name: str) -> tuple[str, int]:
        """The functions `name` and `name.prologue` in LLVM text, with the size of their work,
        and that size.
        """
        text = self.emit_ir(target, name)
        return text.ir_with_size, text.work_size

    def text(self) -> str:
        """The code for one state, with the call from Python."""
        from dalembert.runtime.numerics import batch_evaluation, python_binding_ir

        body, work_size = self.ir_for(host(), _NAME)
        call = python_binding_ir.single_call_ir(_NAME, (*self.parts, self.n_parameters), self.n_out)
        return "\n".join((body, batch_evaluation.single_ir(_NAME, work_size), call))

    def batch_ir(self, target: Target) -> str:
        """The code for several states at a time, for registers of as many numbers as `target`
        has lanes, with the call from Python.
        """
        from dalembert.runtime.numerics import batch_evaluation, python_binding_ir

        kept = self.live_nodes
        text = self.emit_ir(
            target := target.with_lanes(batch_evaluation.batch_width(target.lanes, len(kept)))
        )
        ends = list(itertools.accumulate(self.parts))
        used = [
            [i in kept for i in self.state[end - size : end]]
            for end, size in zip(ends, self.parts, strict=True)
        ]
        run = batch_evaluation.batch_ir(
            text, target.lanes, used, self.n_parameters, self.n_out, inlined=self.is_inlined
        )
        # what is inlined into the loops is not exported as well
        functions = (
            text.ir.replace("define void @", "define internal void @")
            if self.is_inlined
            else text.ir
        )
        return "\n".join(
            (
                functions,
                run,
                python_binding_ir.batch_call_ir(
                    _NAME, (*self.parts, self.n_parameters), self.n_out
                ),
            )
        )

    @functools.cached_property
    def live_nodes(self) -> frozenset[int]:
        """The nodes that are needed."""
        return frozenset(dependencies_by_sweep(self.nodes, self.outs))

    @property
    def is_inlined(self) -> bool:
        """Whether the expressions are written into the loops over states in rows, for LLVM's
        passes to work on.
        """
        # of long tapes the nodes are not even counted
        return len(self.nodes) <= _LONG and len(self.live_nodes) <= _MAX_INLINED_NODES

    @functools.cached_property
    def is_wide(self) -> bool:
        """Whether the code is long, and many of its operations do not depend on each other: it is
        compiled as loops over tables of operands.
        """
        if len(self.nodes) <= _MIN_TABULATED_NODES or len(self.live_nodes) <= _MIN_TABULATED_NODES:
            return False
        return graph_depth(self.nodes, self.outs) * _MIN_WIDTH <= len(self.live_nodes)

    @property
    def codegen(self) -> jit.Codegen | Callable[[], jit.Codegen]:
        """The level of this process, or the function that chooses one."""
        return _PROCESS_LEVEL[0] if _PROCESS_LEVEL else self.code_generation_level

    def code_generation_level(self) -> jit.Codegen:
        """LLVM's level 1 for long code: it takes half the time to compile, and runs as fast; no
        scheduling for very long code, and level 0 for long code that is evaluated rarely.
        """
        size = len(self.live_nodes)
        if size <= _MAX_SCHEDULED_NODES or self.is_wide:
            return 2
        if self.rarely:
            return 0
        return "unscheduled" if size > _MAX_ALLOCATED_NODES else 1

    def without_dead_nodes(self) -> NativeSource:
        """The same without the nodes that are not needed, but with the same numbers for the
        others.
        """
        kept, nothing = self.live_nodes, ("pi", None, None)
        nodes = [node if i in kept else nothing for i, node in enumerate(self.nodes)]
        return replace(self, nodes=nodes)


def compile_quickly() -> None:
    """Use LLVM's level 0 for all functions of this process: a third of the time to compile, up to
    1.7 times as long to run, the same bits. For a process that runs each model once.
    """
    _PROCESS_LEVEL[:] = [0]


def codegen_version() -> bytes:
    """What distinguishes the text of this version from that of another."""
    return jit.source_hashes("runtime/numerics")


def jacobian(
    tape: Tape, outs: Sequence[int], state: Sequence[int], parameters: Sequence[int]
) -> CompiledFunction:
    """∂outs/∂state, row by row."""
    here = tape.fork()
    slopes = [i for out in outs for i in gradient(here, {out: here.one}, state)]
    return CompiledFunction(here, slopes, state, parameters)


def allocate_workspace(function: CompiledFunction, p: Array) -> Array:
    """Room for native callers of a function, whose head the prologue has filled."""
    work = np.zeros(function.work_size + 8)
    run_prologue(function, data_address(p), data_address(work))
    return work


def run_prologue(function: CompiledFunction, p: int, work: int) -> None:
    """Fill the head of the scratch space at an address from the parameters at another."""
    _PROLOGUE(function.prologue_address)(p, work)


def prologue_call(function: CompiledFunction, p: Array, work: Array) -> Callable[[], None]:
    """What fills the head of the scratch space from the parameters; the owner keeps the three
    alive.
    """
    return functools.partial(
        _PROLOGUE(function.prologue_address), data_address(p), data_address(work)
    )
