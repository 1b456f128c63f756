"""Contacts with many rows: rates, projection and quantities as native code that solves K λ = r by
loops over the rows that act.

What unrolled code of all rows computes, without its length: the entries of J, H and b are
expressions, and everything else is `active_rows_ir`.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from dalembert.foundation.array_types import FloatArray
from dalembert.foundation.deferred_dataclass import dataclass
from dalembert.runtime.contact.active_rows_ir import BLOCKS, PATTERNS, module_ir, room_size
from dalembert.runtime.numerics import jit
from dalembert.runtime.numerics.compiled_function import NativeSource
from dalembert.runtime.ode.rates import ExplicitRates
from dalembert.runtime.simulation.model import NativeModel
from dalembert.symbolic.algebra.expression_graph import symbols_of
from dalembert.symbolic.algebra.sparse_matrix import sum_of_products
from dalembert.symbolic.algebra.tape import Tape

if TYPE_CHECKING:
    from dalembert.runtime.contact.contact_equations import ContactEquations, ModeSystem
    from dalembert.runtime.numerics.emit import EmittedFunction
    from dalembert.runtime.numerics.jit import Target


class RowPattern(NamedTuple):
    """Where J, H, E and W have entries: the speeds of each row, and rows and columns of E and W.

    `n_q` counts coordinates, or contacts where quantities of these come out; `n_first` are the
    numbers before the speeds in the state.
    """

    n_u: int
    J: tuple[tuple[int, ...], ...]
    H: tuple[tuple[int, ...], ...]
    E: tuple[tuple[int, int], ...]
    W: tuple[tuple[int, int], ...]
    n_q: int
    n_first: int

    @property
    def m(self) -> int:
        """The number of rows."""
        return len(self.J)

    def table(self) -> list[int]:
        """The patterns as native code reads them."""
        near: list[set[int]] = [set() for _ in range(self.n_u)]
        for i, speeds in enumerate(self.J):
            for k in speeds:
                near[k].add(i)
        linked = [sorted({i for k in speeds for i in near[k]}) for speeds in self.H]
        arrays = [*_rows(self.J), *_rows(self.H), *_pairs(self.E), *_rows(linked), *_pairs(self.W)]
        counts = [self.m, self.n_u, len(self.E), self.n_q, self.n_first, len(self.W)]
        first = len(counts) + len(PATTERNS)
        places = itertools.accumulate(map(len, arrays[:-1]), initial=first)
        return [*counts, *places, *itertools.chain(*arrays)]


def _rows(lists: Sequence[Sequence[int]]) -> list[list[int]]:
    ends = itertools.accumulate(map(len, lists), initial=0)
    return [list(ends), list(itertools.chain(*lists))]


def _pairs(pairs: Sequence[tuple[int, int]]) -> list[list[int]]:
    return [[i for i, _ in pairs], [j for _, j in pairs]]


@dataclass(frozen=True)
class RowSource(NativeSource):
    """Entries as expressions, and the loops that make results of them."""

    kind: str = ""
    pattern: RowPattern | None = None
    n_results: int = 0

    @property
    def n_out(self) -> int:
        """How many come out."""
        return self.n_results

    def cache_key(self, target: Target) -> bytes:
        """What the object code is found by."""
        own = repr((self.kind, self.pattern, self.n_results)).encode()
        return jit.source_hashes("runtime/contact") + super().cache_key(target) + own

    def emit_ir(self, target: Target, name: str = "f") -> EmittedFunction:
        """The entries, the loops, and the function that calls both."""
        from dalembert.runtime.numerics.emit import EmittedFunction, emit

        assert self.pattern is not None
        own = f"{name}.entries"
        entries = emit(self.nodes, self.outs, self.state, self.parameters, name=own, target=target)
        table, room = self.pattern.table(), entries.work_size + len(self.outs)
        numbers = ", ".join(f"i64 {x}" for x in table)
        whole = f"""
@{name}.table = internal constant [{len(table)} x i64] [{numbers}], align 8

define void @{name}.prologue(ptr %p, ptr %w) nounwind {{
  call void @{own}.prologue(ptr %p, ptr %w)
  ret void
}}

define void @{name}(ptr %x, ptr %p, ptr %y, ptr %w) nounwind {{
  %entries = getelementptr double, ptr %w, i64 {entries.work_size}
  %room = getelementptr double, ptr %w, i64 {room}
  call void @{own}(ptr %x, ptr %p, ptr %entries, ptr %w)
  call i64 @{name}.apply(ptr @{name}.table, ptr %entries, ptr %y, ptr %room)
  ret void
}}"""
        size = room + room_size(self.pattern.m, self.pattern.n_u)
        text = "\n".join((entries.ir, module_ir(name, self.kind), whole))
        return EmittedFunction(text, name, size)


class RowFunction(ExplicitRates):
    """y = f(x, p) by loops over rows that act: rates, the projection or the quantities."""

    def __init__(
        self,
        kind: str,
        tape: Tape,
        blocks: Mapping[str, Sequence[int]],
        inputs: tuple[tuple[int, ...], tuple[int, ...]],
        pattern: RowPattern,
        n_results: int,
    ) -> None:
        outs = tuple(i for name in BLOCKS[kind] for i in blocks[name])
        plain = NativeSource.from_tape(tape, outs, *inputs)
        fields = (plain.nodes, outs, *inputs, plain.parts, plain.content)
        self._load(RowSource(*fields, kind=kind, pattern=pattern, n_results=n_results))

    @property
    def batch(self) -> Callable[..., FloatArray]:
        """y for states in rows, one after the other."""
        return self.at_states

    def at_states(self, X: FloatArray, p: FloatArray) -> FloatArray:
        """y for states in rows, one after the other."""
        P = np.broadcast_to(p, (len(X), self.n_parameters))
        rows = [self.call(x, of_row) for x, of_row in zip(X, P, strict=True)]
        return np.array(rows).reshape(len(X), self.n_out)


@dataclass(frozen=True)
class RowLoops:
    """The functions of one system of contacts on a tape; `here` inserts the bindings of a run."""

    e: ContactEquations
    system: ModeSystem
    tape: Tape
    here: Callable[[Sequence[int]], list[int]]

    @property
    def _state(self) -> tuple[int, ...]:
        return (*self.e.kin.state, self.e.kin.system.t.i)

    @cached_property
    def _H(self) -> list[dict[int, int]]:
        """H by rows of contacts: {speed: coefficient}."""
        H: list[dict[int, int]] = [{} for _ in self.e.rows]
        for k, row in enumerate(self.e.H):
            for j, x in row.items():
                H[j][k] = x
        return H

    @cached_property
    def _matrices(self) -> dict[str, list[int]]:
        J = [x for row in self.e.rows for x in row.J.values()]
        H = [x for line in self._H for x in line.values()]
        return {"J": self.here(J), "H": self.here(H)}

    def _pattern(self, n_q: int, n_first: int) -> RowPattern:
        J = tuple(tuple(row.J) for row in self.e.rows)
        E = tuple((i, j) for i, line in enumerate(self.system.pulls) for j in line)
        W = tuple((i, k) for i, (_, line) in enumerate(self.e.kin.WX) for k in line)
        return RowPattern(len(self.e.c), J, tuple(map(tuple, self._H)), E, W, n_q, n_first)

    def native_model(self, between: Sequence[int], back: Sequence[int]) -> NativeModel:
        """Rates, forces and pivots, and the projection. `between` are the rates of other states;
        `back` is what constraint rows add to δq and to the residual.
        """
        rates, projection = self._rate_blocks(between), self._projection_blocks(between, back)
        nodes = [i for blocks in (rates, projection) for x in blocks.values() for i in x]
        inside = symbols_of(self.tape, nodes)
        parameters = tuple(i for i in inside if i not in self._state)
        inputs, n = (self._state, parameters), len(self._state) - 1
        pattern = self._pattern(self.e.kin.n_q, len(rates["first"]))
        forces = (*(row.lam for row in self.e.rows), *self.here(self.e.pivots))
        return NativeModel(
            RowFunction("rates", self.tape, rates, inputs, pattern, n + len(forces)),
            RowFunction("projection", self.tape, projection, inputs, pattern, n + 1),
            parameters,
            self.tape,
            (),
            self._state,
            self._state[-1] not in inside,
            forces=forces,
        )

    def _rate_blocks(self, between: Sequence[int]) -> dict[str, list[int]]:
        e, system = self.e, self.system
        pulls = [x for line in system.pulls for x in line.values()]
        first = [*self.here(e.explicit_equations("").qdot), *between]
        named = {"hold": system.holds, "right": system.right, "E": pulls, "c": e.c}
        return self._matrices | {k: self.here(x) for k, x in named.items()} | {"first": first}

    def _projection_blocks(
        self, between: Sequence[int], back: Sequence[int]
    ) -> dict[str, list[int]]:
        e, t, m = self.e, self.e.tape, len(self.e.rows)
        gaps = [e.contacts[row.contact].gap if row.normal else None for row in e.rows]
        pairs = [(row.active, row.v) for row in e.rows]
        pairs += [
            (t.zero, t.zero) if g is None else (row.active, g.i)
            for g, row in zip(gaps, e.rows, strict=True)
        ]
        right = [t.neg(t.mul(h, x)) for h, x in pairs]
        left = sum_of_products(t, ((h, t.call("abs", x)) for h, x in pairs))
        named = {
            "hold": [h for h, _ in pairs[:m]],
            "right": right[:m],
            "closed": [h for h, _ in pairs[m:]],
            "gap": right[m:],
            "W": [x for _, line in e.kin.WX for x in line.values()],
            "residual": [left],
        }
        blocks = self._matrices | {k: self.here(x) for k, x in named.items()}
        zero = self.tape.zero
        first = list(back[:-1]) if back else [zero] * e.kin.n_q
        if back:
            blocks["residual"] = [self.tape.add(blocks["residual"][0], back[-1])]
        return blocks | {"first": [*first, *[zero] * len(between)]}

    def quantities(self, contacts: Sequence[int]) -> tuple[RowFunction, tuple[int, ...]]:
        """A, b, H, v and the data of contacts; the symbols of its parameters."""
        e, m = self.e, len(self.e.rows)
        named = {"b": e.b, "v": [row.v for row in e.rows], "contacts": contacts}
        blocks = self._matrices | {k: self.here(x) for k, x in named.items()}
        nodes = [i for x in blocks.values() for i in x]
        parameters = tuple(i for i in symbols_of(self.tape, nodes) if i not in self._state)
        k, inputs = len(e.contacts), (self._state, parameters)
        size = m * m + 2 * m + len(e.c) * m + len(contacts) + k * m
        pattern = self._pattern(k, 0)
        return RowFunction("quantities", self.tape, blocks, inputs, pattern, size), parameters
