"""A q̇ + b = 0, row by row as declared: what is analysed, whether the rows are independent or
not.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from dalembert.foundation.deferred_dataclass import dataclass
from dalembert.mechanics.kinematics.constraint_rows import ConstraintRow, declared_rows
from dalembert.mechanics.kinematics.generalized_speeds import definitions_in_rates
from dalembert.mechanics.model.system import System
from dalembert.symbolic.algebra.exact.finite_field import Element
from dalembert.symbolic.algebra.exact.zero_test import SamplePoint
from dalembert.symbolic.algebra.expression_graph import Substitution, symbols_of
from dalembert.symbolic.algebra.tape import Tape


@dataclass(frozen=True)
class DeclaredRows:
    """Every row of a system on a tape of its own; those nonlinear in the rates stand apart."""

    system: System
    tape: Tape
    q: tuple[int, ...]
    qdot: tuple[int, ...]
    linear: tuple[ConstraintRow, ...]
    nonlinear: tuple[ConstraintRow, ...]

    @property
    def n(self) -> int:
        """The number of coordinates."""
        return len(self.q)

    def names(self, which: Iterable[int]) -> tuple[str, ...]:
        """The names of some of the rows."""
        return tuple(self.linear[k].name for k in which)

    def one_form(self, k: int, width: int) -> tuple[int, ...]:
        """θ = A dq + b dt of one row: its coefficients, with that of dt where time counts as a
        direction.
        """
        row = self.linear[k]
        A = tuple(row.A.get(j, self.tape.zero) for j in range(self.n))
        return (*A, row.b) if width > self.n else A

    def matrix(self, point: SamplePoint) -> list[list[Element]]:
        """[A b] at a point of a prime field."""
        n = self.n
        return [
            [*(point(r.A[k]) if k in r.A else 0 for k in range(n)), point(r.b)] for r in self.linear
        ]

    @property
    def is_rheonomic(self) -> bool:
        """Whether time enters a row, by itself or through a prescribed motion."""
        t, still = self.tape, {*self.q, *self.qdot}
        nodes = [i for r in self.linear for i in (r.b, *r.A.values())]
        return any(r.b != t.zero for r in self.linear) or any(
            i in t.moving and i not in still for i in symbols_of(t, nodes)
        )


def collect_rows(system: System) -> DeclaredRows:
    """The rows as they are declared: position rows first, since velocity rows repeat them and
    not the other way round.
    """
    tape = system.space.tape.fork()
    in_rates = Substitution(tape, definitions_in_rates(system, tape))
    q, qdot = tuple(x.i for x in system.q), tuple(x.dot.i for x in system.q)
    declared = sorted(declared_rows(system, tape, list(qdot), in_rates), key=_sort_key)
    linear = tuple(r for r in declared if r.nonlinear is None)
    return DeclaredRows(
        system, tape, q, qdot, linear, tuple(r for r in declared if r.nonlinear is not None)
    )


def bind_motions(rows: DeclaredRows, bindings: Mapping[int, int]) -> DeclaredRows:
    """The rows with prescribed motions replaced by what they are bound to."""
    insert = Substitution(rows.tape, bindings)

    def bind_row(row: ConstraintRow) -> ConstraintRow:
        phi = None if row.phi is None else insert(row.phi)
        return replace(row, A={k: insert(a) for k, a in row.A.items()}, b=insert(row.b), phi=phi)

    return replace(rows, linear=tuple(map(bind_row, rows.linear)))


def drop_rows(rows: DeclaredRows, names: set[str]) -> DeclaredRows:
    """The rows that are not named."""
    return replace(rows, linear=tuple(r for r in rows.linear if r.name not in names))


def _sort_key(row: ConstraintRow) -> tuple[bool, int]:
    """Norms of quaternions, then positions, then velocities; what is marked redundant last."""
    return row.redundant, 0 if row.is_norm else 1 if row.holonomic else 2
