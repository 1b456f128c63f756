"""Members with contacts by native code alone, in threads: each from its own initial state and with
its own constants, in the memory of one prepared run for each thread.

Where native code does not reach the end (a change of mode that needs the general laws, a member
that stops), the member is run again as `da.simulate` would. Results are bit-identical either way.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import pairwise
from typing import Final, NamedTuple

import numpy as np

from dalembert.analysis.integrals.run_integrals import Z, cached_energies
from dalembert.analysis.studies.ensemble_plan import EnsemblePlan, ParameterRole
from dalembert.analysis.studies.initial_states import InitialStates, PhysicalityCheck
from dalembert.analysis.studies.result import FINISHED, REFUSED, ResultChunk
from dalembert.analysis.studies.sequential_runs import SequentialRunner
from dalembert.errors import BadExpression
from dalembert.foundation.array_types import FloatArray, IndexArray
from dalembert.runtime.contact.native_transition import has_native_transition
from dalembert.runtime.numerics.symbol_values import MissingValue
from dalembert.runtime.ode.vectorized.workers import Progress
from dalembert.runtime.simulation.energy_audit import EVENT_LOSS, energy_scale
from dalembert.runtime.simulation.run_options import NATIVE
from dalembert.runtime.simulation.run_setup import RunSetup
from dalembert.runtime.simulation.simulate import RunBatch, RunMemory
from dalembert.runtime.states.inputs import Sampled
from dalembert.runtime.states.magnitude_bounds import magnitude_bounds
from dalembert.symbolic.algebra.scalar import as_nodes

# members of a thread between two evaluations of their outputs
_BLOCK: Final = 128


def native_contacts_obstacle(plan: EnsemblePlan) -> str:
    """Why the members of a study with contacts need Python; nothing where they do not."""
    o = plan.options
    reasons = (
        ("no contacts", not plan.system.contacts),
        ("contacts that need Python", not has_native_transition(plan.system.contacts)),
        ("Python inputs", any(callable(x) or isinstance(x, Sampled) for x in o.inputs.values())),
        (f"integrator {o.integrator!r}", o.integrator != NATIVE),
        ("events", bool(o.events)),
        ("an energy tolerance", o.budget is not None),
        (
            "inputs that vary",
            not set(plan.roles.values()) <= {ParameterRole.START, ParameterRole.CONSTANT},
        ),
        (
            "outputs over the time",
            any(k.functional is not None or plan.is_time_series(k) for k in plan.outputs),
        ),
    )
    return next((why for why, holds in reasons if holds), "")


class Motions(NamedTuple):
    """Members one after the other: their rows, where each begins, and all their points."""

    rows: IndexArray
    first: IndexArray
    t: FloatArray
    y: FloatArray

    @property
    def last(self) -> IndexArray:
        """The last point of each."""
        return np.append(self.first[1:], len(self.t)) - 1


class ContactRunner:
    """A study with contacts whose members differ in initial conditions and constants."""

    def __init__(self, plan: EnsemblePlan, alone: SequentialRunner, memory: RunMemory) -> None:
        self.plan, self._alone, self._memory = plan, alone, memory
        self._batches = threading.local()
        self._first_constants: dict[int, float] = {}

    def run(
        self, members: IndexArray, threads: int, on_progress: Progress | None = None
    ) -> ResultChunk:
        """What becomes of these members."""
        # the first one prepares this thread
        self._alone.run(members[:1], 1)
        setup = self._memory.setup
        batch = self._memory.batch() if setup is not None else None
        if setup is None or batch is None or not self._can_evaluate(setup):
            return self._alone.run(members, threads, on_progress)
        chunk = ResultChunk.empty(self.plan, len(members), audit=self.plan.audit)
        table = self.plan.grid.table(members)
        initial = InitialStates(self.plan, setup.values, int(members[0]))
        varied = self._varied_constants(setup, table)
        if varied and not (initial.is_direct and batch.set_constants({})):
            return self._alone.run(members, threads, on_progress)
        starts = initial.table(members, table, varied, lambda _: setup.values, chunk.refuse)
        suspect = PhysicalityCheck(setup.values, varied).suspect_rows(varied, len(members))
        begun = np.setdiff1d(np.flatnonzero(chunk.outcome != REFUSED), suspect)
        blocks = [begun[k : k + _BLOCK] for k in range(0, len(begun), _BLOCK)]
        run_block = partial(self._run_block, int(members[0]), starts, varied)
        done = np.zeros(len(members), dtype=bool)
        for motions in _in_threads(run_block, blocks, threads):
            self._record(chunk, motions, setup, varied)
            done[motions.rows] = True
            if on_progress is not None:
                on_progress(int(done.sum()))
        # members that native code did not finish are runs of their own
        left = np.flatnonzero(~done & (chunk.outcome != REFUSED))
        if len(left):
            chunk.replace_rows(left, self._alone.run(members[left], 1))
        return chunk

    def _varied_constants(self, setup: RunSetup, table: FloatArray) -> dict[int, FloatArray]:
        """{symbol: values of all members} of the constants that vary."""
        tape, roles = setup.values.kin.tape, enumerate(self.plan.roles.items())
        places = {tape.names[x]: k for k, (x, role) in roles if role is ParameterRole.CONSTANT}
        varied = {i: table[:, k] for i, k in places.items()}
        self._first_constants = {i: float(x[0]) for i, x in varied.items()}
        return varied

    def _batch(self, member: int) -> RunBatch:
        """The prepared run of this thread."""
        if not hasattr(self._batches, "batch"):
            if self._memory.setup is None:
                self._alone.run(np.array([member]), 1)
            self._batches.batch = self._memory.batch()
        batch: RunBatch = self._batches.batch
        return batch

    def _run_block(
        self, member: int, starts: FloatArray, varied: dict[int, FloatArray], rows: IndexArray
    ) -> Motions:
        """Members of one thread; those that native code does not finish are left out."""
        batch = self._batch(member)
        batch.begin()
        finished, t, y = [], [], []
        for row in rows.tolist():
            if varied:
                batch.set_constants({i: float(x[row]) for i, x in varied.items()})
                if not batch.are_admissible(starts[row]):
                    continue
            if (motion := batch.run(starts[row])) is not None:
                finished.append(row)
                t.append(motion[0])
                y.append(motion[1])
        if varied:
            # the prepared run is that of the first member
            batch.set_constants(self._first_constants)
        first = np.cumsum([0, *map(len, t)])[:-1]
        return Motions(
            np.array(finished, dtype=int),
            first,
            np.concatenate([*t, np.empty(0)]),
            np.concatenate(y) if y else np.empty((0, 0)),
        )

    def _can_evaluate(self, setup: RunSetup) -> bool:
        """Whether outputs depend on the state alone, not on forces or modes."""
        evaluator = setup.values.evaluator
        kin = evaluator.kin
        try:
            self._nodes = [
                evaluator.in_state(evaluator.node(kept.expression)) for kept in self.plan.outputs
            ]
        except (BadExpression, MissingValue):
            return False
        unknown = (*kin.udot, *kin.multipliers, *setup.values.state_dependent)
        flags = [x.i for c in kin.system.contacts for x in (*c.mode_symbols, *c.plane_symbols)]
        return not evaluator.contains(self._nodes, (*unknown, *flags))

    def _record(
        self,
        chunk: ResultChunk,
        motions: Motions,
        setup: RunSetup,
        varied: dict[int, FloatArray],
    ) -> None:
        """What is kept of some members."""
        if not len(motions.rows):
            return
        rows, last = motions.rows, motions.last
        chunk.outcome[rows], chunk.reached[rows] = FINISHED, motions.t[last]
        chunk.steps[rows] = last - motions.first
        own = {i: x[rows] for i, x in varied.items()}
        values = self._evaluate(setup, self._nodes, motions.y[last], motions.t[last], own)
        for kept, row in zip(self.plan.outputs, values, strict=True):
            chunk.outputs[kept.name][rows] = row
        if chunk.drift is not None and setup.watched is not None:
            chunk.drift[rows] = self._relative_drifts(motions, setup, own)

    def _evaluate(
        self,
        setup: RunSetup,
        nodes: list[int],
        y: FloatArray,
        t: FloatArray,
        varied: dict[int, FloatArray],
    ) -> FloatArray:
        """Expressions of states, by the operations that a trajectory evaluates them with."""
        evaluator = setup.values.evaluator
        columns = np.ascontiguousarray(y[:, : len(evaluator.kin.state)].T)
        state = {**dict(zip(evaluator.kin.state, columns, strict=True)), evaluator.time: t}
        return evaluator.values_along(nodes, state | varied, len(t))

    def _relative_drifts(
        self, motions: Motions, setup: RunSetup, varied: dict[int, FloatArray]
    ) -> FloatArray:
        """max |E_Z − E_Z(t₀)| of each member relative to its energies, as `RunIntegrals` has it."""
        counts = np.diff(np.append(motions.first, len(motions.t)))
        along = {i: np.repeat(x, counts) for i, x in varied.items()}
        K2, V, work, E_Z = self._energies(motions, setup, along)

        def change(e: FloatArray) -> FloatArray:
            return np.abs(e - np.repeat(e[motions.first], counts))

        drifts = np.maximum.reduceat(change(E_Z), motions.first)
        sizes = np.maximum.reduceat(K2 + change(V) + np.abs(work), motions.first)
        bounds = self._energy_nodes(setup, bounds=True)
        terms = partial(self._largest_terms, setup, bounds, motions, along)
        own = (slice(*pair) for pair in pairwise((*motions.first, len(motions.t))))
        scales = [
            energy_scale(float(d), float(s), partial(terms, rows)).size
            for d, s, rows in zip(drifts, sizes, own, strict=True)
        ]
        return np.asarray(drifts / np.array(scales))

    def _energies(
        self, motions: Motions, setup: RunSetup, along: dict[int, FloatArray]
    ) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
        """K₂, V, Z and E_Z along all members."""
        assert setup.watched is not None
        K2, V = self._evaluate(setup, self._energy_nodes(setup), motions.y, motions.t, along)
        n, names = len(setup.values.evaluator.kin.state), setup.watched.audit.names

        def quadrature(name: str) -> FloatArray:
            return motions.y[:, n + names.index(name)] if name in names else np.zeros_like(K2)

        return K2, V, quadrature(Z), K2 + V + quadrature(Z) + quadrature(EVENT_LOSS)

    def _energy_nodes(self, setup: RunSetup, *, bounds: bool = False) -> list[int]:
        """K₂ and V in the state, or bounds of their magnitude by their terms."""
        evaluator = setup.values.evaluator
        E = cached_energies(evaluator.kin)
        nodes = as_nodes(evaluator.tape, [E.K2, E.V])
        return list(
            map(evaluator.in_state, magnitude_bounds(evaluator.tape, nodes) if bounds else nodes)
        )

    def _largest_terms(
        self,
        setup: RunSetup,
        bounds: list[int],
        motions: Motions,
        along: dict[int, FloatArray],
        own: slice,
    ) -> float:
        """The largest sum of the terms of the energies, along the rows of one member."""
        constants = {i: x[own] for i, x in along.items()}
        each = self._evaluate(setup, bounds, motions.y[own], motions.t[own], constants)
        return float(np.max(np.sum(each, axis=0), initial=0.0))


def _in_threads(
    run_block: Callable[[IndexArray], Motions], blocks: list[IndexArray], threads: int
) -> Iterator[Motions]:
    """The motions of all blocks, in their order."""
    if threads == 1 or len(blocks) < 2:
        yield from map(run_block, blocks)
        return
    with ThreadPoolExecutor(min(threads, len(blocks))) as pool:
        yield from pool.map(run_block, blocks)
