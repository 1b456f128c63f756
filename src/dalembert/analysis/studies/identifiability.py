"""rank ∂y/∂θ < number of θ: unknowns that measurements cannot identify separately.
Keywords: identifiability.

On the data by the singular values of the Jacobian; by the structure of the equations by the rank,
in a prime field, of

    ∂(y, ẏ, ÿ, …)/∂θ   along the motion from a random point,

the coefficients of the power series of ∂y/∂θ. A rank found there is never too large, and too small
only where a polynomial happens to vanish at a random point: what is reported identifiable is so,
with certainty, at almost all values.

Source: Sed02.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any, Final

import numpy as np

from dalembert.foundation.array_types import FloatArray
from dalembert.foundation.deferred_dataclass import dataclass
from dalembert.foundation.display import Displayable
from dalembert.runtime.simulation.forward_sensitivity.variational_equations import total_derivative
from dalembert.runtime.simulation.trajectory import Trajectory
from dalembert.runtime.states.evaluator import Key
from dalembert.symbolic.algebra.exact.finite_field import BadPoint
from dalembert.symbolic.algebra.exact.linear_algebra import nullspace_mod, rank_mod
from dalembert.symbolic.algebra.exact.power_series import PowerSeries, has_series
from dalembert.symbolic.algebra.expression_graph import Substitution, copy_expressions, dependencies

# singular values below this part of the largest, and parts of a vector, that count as zero
_RANK: Final = 1e-7
_PART: Final = 1e-4
_SEEDS: Final = (20, 21)
# with more operations the power series is not computed
_MOST: Final = 20_000_000


@dataclass(frozen=True)
class Inseparable(Displayable):
    """Groups of unknowns that are not separately identifiable, and how this was determined."""

    groups: tuple[tuple[str, ...], ...]
    decided: bool
    why: str = ""

    @property
    def names(self) -> frozenset[str]:
        """All of them."""
        return frozenset(name for group in self.groups for name in group)

    def __str__(self) -> str:
        if not self.decided:
            return f"not decided: {self.why}"
        return "; ".join(", ".join(group) for group in self.groups) or "all are identifiable"

    __repr__ = __str__


def group_unknowns(
    names: Sequence[str], null: Sequence[Sequence[bool]]
) -> tuple[tuple[str, ...], ...]:
    """Unknowns of one null vector belong together, and those joined by others."""
    groups: list[set[int]] = []
    for row in null:
        inside = {k for k, there in enumerate(row) if there}
        for group in [g for g in groups if g & inside]:
            groups.remove(group)
            inside |= group
        groups.append(inside)
    return tuple(tuple(names[k] for k in sorted(group)) for group in sorted(groups, key=min))


def practical_identifiability(J: FloatArray, names: Sequence[str]) -> Inseparable:
    """By the singular values of J, a column for each unknown, in units that are all alike."""
    lengths = np.linalg.norm(J, axis=0)
    # U is not used: only with fewer samples than unknowns does the null space need all of V
    few = len(J) < J.shape[1]
    _, s, Vt = np.linalg.svd(J / np.where(lengths > 0.0, lengths, 1.0), full_matrices=few)
    null = Vt[np.count_nonzero(s > _RANK * s.max(initial=0.0)) :]
    # in echelon form each vector has as few unknowns in it as there can be
    return Inseparable(
        group_unknowns(names, (np.abs(_row_echelon(null)) > _PART).tolist()), decided=True
    )


def _row_echelon(rows: FloatArray) -> FloatArray:
    """Reduced rows, by the largest pivots."""
    m = np.array(rows, dtype=np.float64)
    for r in range(len(m)):
        i, j = divmod(int(np.argmax(np.abs(m[r:]))), m.shape[1])
        m[[r, r + i]] = m[[r + i, r]]
        m[r] /= m[r, j]
        for k in range(len(m)):
            if k != r:
                m[k] -= m[k, j] * m[r]
    return m


def structural_identifiability(run: Trajectory, keys: Sequence[Key]) -> Inseparable:
    """By the power series of ∂y/∂θ in a prime field; constants and starts that are zero stay
    zero, all others are random.
    """
    variation = run.variation
    assert variation is not None
    model, names = variation.model, variation.names
    if not model.rates.closed_form or model.steps:
        return Inseparable((), decided=False, why="its constraints couple the initial values")
    problem = _OutputSeries(run, keys)
    if not has_series(problem.tape, problem.all_nodes):
        return Inseparable(
            (),
            decided=False,
            why="sign, |·| and inverse functions have no power series in a prime field",
        )
    if len(dependencies(problem.tape, problem.all_nodes)) * problem.orders**2 > _MOST:
        return Inseparable((), decided=False, why="the equations are too large for it")
    null_spaces = [x for seed in _SEEDS if (x := problem.null_space(seed)) is not None]
    if not null_spaces:
        return Inseparable(
            (), decided=False, why="the equations have no power series at this start"
        )
    # a rank is never too large
    null = min(null_spaces, key=len)
    return Inseparable(
        group_unknowns(names, [[bool(x) for x in row] for row in null]), decided=True
    )


def combine_tables(tables: Sequence[Inseparable]) -> Inseparable:
    """Of several tables together: what one table identifies by itself, all do; what one does not,
    the others may.
    """
    if len(tables) == 1:
        return tables[0]
    if (open_ := next((x for x in tables if not x.decided), None)) is not None:
        return open_
    if (tied := next((x for x in tables if x.groups), None)) is not None:
        return Inseparable(
            (),
            decided=False,
            why=f"one table alone does not separate {', '.join(tied.groups[0])}, several may",
        )
    return Inseparable((), decided=True)


class _OutputSeries:
    """x' = f, S' = ∂f/∂x S + ∂f/∂θ and ∂y/∂θ on one tape, with the start."""

    def __init__(self, run: Trajectory, keys: Sequence[Key]) -> None:
        variation = run.variation
        assert variation is not None
        model = variation.model
        self.tape = tape = model.tape.fork()
        *state, self._t = model.state
        layout = run.layout
        x, self._count = state[layout.state], len(variation.numbers)
        self._rates = {**dict(zip(state, model.nodes, strict=True)), self._t: tape.one}
        outs = self._output_nodes(run, keys, model.nodes[layout.u])
        columns = [state[layout.sensitivity(j)] for j in range(self._count)]
        directions = [
            total_derivative(tape, x, column, p.constant)
            for column, p in zip(columns, variation.numbers, strict=True)
        ]
        self._slopes = [[d(e) for d in directions] for e in outs]
        sensitivities = zip(state[layout.sensitivities], variation.start.ravel(), strict=True)
        self._start = {s: tape.const(Fraction(float(v))) for s, v in sensitivities}
        varied = {p.name if p.constant is None else p.constant for p in variation.numbers}
        self._start |= {
            i: tape.zero
            for i, name, v in zip(x, run.names, run.start.y, strict=True)
            if v == 0.0 and name not in varied
        }
        self._start |= {
            i: tape.zero
            for i, v in {**run.values.numbers, self._t: run.start.t}.items()
            if v == 0.0 and i not in varied
        }
        self.orders = layout.size + self._count + 3

    def _output_nodes(
        self, run: Trajectory, keys: Sequence[Key], accelerations: Sequence[int]
    ) -> list[int]:
        """The outputs as expressions of the state on this tape."""
        evaluator = run.values.evaluator
        nodes = [evaluator.in_state(evaluator.node(key)) for key in keys]
        udot = dict(zip(evaluator.kin.udot, accelerations, strict=True))
        insert = Substitution(self.tape, udot)
        return [insert(i) for i in copy_expressions(evaluator.tape, self.tape, nodes)]

    @property
    def all_nodes(self) -> list[int]:
        """Everything that must have a series."""
        return [*self._rates.values(), *(e for row in self._slopes for e in row)]

    def null_space(self, seed: int) -> list[list[Any]] | None:
        """{δθ : ∂y/∂θ δθ = 0} at one random point; None where something has no value there."""
        try:
            series = PowerSeries(self.tape, self._rates, self._start, self.all_nodes, seed)
            rows: list[list[int]] = []
            for k in range(self.orders):
                rows += [[series.coefficient(e, k) for e in row] for row in self._slopes]
                if rank_mod(rows, series.prime).rank == self._count:
                    return []
            return nullspace_mod(rows, series.prime)
        except (BadPoint, ZeroDivisionError):
            return None
