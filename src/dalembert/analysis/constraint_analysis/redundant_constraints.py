"""φ(q, t) = 0: positions at which the rows hold, and what the rows say there in numbers.
Keywords: redundant constraint.

Some rows repeat others only where all of them hold (Bricard's linkage closes although it is counted
as fixed). So positions are assembled, first from the start, then by steps along the directions that
are left free, and the rows are compared there.

Rows that repeat others wherever the system may be, Σ c_i (A_i, b_i) = 0, are found exactly. At a
random point of a prime field every row that depends on earlier ones is a combination of some of
them in one way only; these are the rows it repeats. The first rows in order are kept, so that a
velocity row is found to repeat a position row.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np

from dalembert.analysis.constraint_analysis.declared_rows import DeclaredRows
from dalembert.errors import BadExpression, IllPosed
from dalembert.foundation.array_types import FloatArray
from dalembert.foundation.deferred_dataclass import dataclass
from dalembert.mechanics.equations.equations_of_motion import derivative_bindings
from dalembert.mechanics.kinematics.constraint_rows import ConstraintRow
from dalembert.runtime.numerics.symbol_values import (
    BadValue,
    constant_values,
    finite_number,
    require_mapping,
    require_values,
    strip_unit,
    symbol_name,
)
from dalembert.runtime.ode.failures import BadStart
from dalembert.runtime.states.assembly import Assembler, Assembly
from dalembert.runtime.states.constraint_rank import ZERO, normalize_rows
from dalembert.runtime.states.initial_values import PositionRow, default_coordinates
from dalembert.symbolic.algebra.arithmetic import FloatArithmetic
from dalembert.symbolic.algebra.exact.degree_bound import rank_doubt
from dalembert.symbolic.algebra.exact.finite_field import Element
from dalembert.symbolic.algebra.exact.zero_test import RandomPoints, rank_mod
from dalembert.symbolic.algebra.expression_graph import evaluate, symbols_of
from dalembert.symbolic.algebra.scalar import Scalar, as_node
from dalembert.symbolic.algebra.tape import Tape

# how many positions are compared, and how long the steps between them are
_N_CONFIGURATIONS: Final = 4
_STEP: Final = 0.15
# what is smaller than this part of a row counts as zero
RANK_TOLERANCE: Final = ZERO


@dataclass(frozen=True)
class EvaluationContext:
    """The numbers of an analysis: a value for every constant, an expression for every prescribed
    motion, and the time.
    """

    rows: DeclaredRows
    numbers: dict[int, float]
    bindings: dict[int, int]
    t: float

    @property
    def tape(self) -> Tape:
        return self.rows.tape

    @property
    def q(self) -> tuple[int, ...]:
        return self.rows.q

    @property
    def time(self) -> int:
        return self.rows.system.t.i

    def values_at(self, outs: Sequence[int], state: Mapping[int, float]) -> FloatArray:
        """The values of nodes at one position; all NaN where one of them is not defined."""
        known = {**self.numbers, **state}
        try:
            return np.array(
                evaluate(self.tape, outs, lambda i: float(known[i]), FloatArithmetic()),
                dtype=np.float64,
            )
        except (ArithmeticError, ValueError):
            return np.full(len(outs), np.nan)

    def at(self, outs: Sequence[int], q: FloatArray) -> FloatArray:
        """The values of nodes at a position q."""
        return self.values_at(
            outs, {**dict(zip(self.q, q.tolist(), strict=True)), self.time: self.t}
        )

    def A_and_b(self, q: FloatArray) -> tuple[FloatArray, FloatArray]:
        """A and b of all rows at a position."""
        rows = self.rows.linear
        A = np.zeros((len(rows), self.rows.n))
        for i, row in enumerate(rows):
            A[i, list(row.A)] = self.at(list(row.A.values()), q)
        return A, self.at([row.b for row in rows], q)


def motion_bindings(rows: DeclaredRows, inputs: Mapping[Any, Any]) -> dict[int, int]:
    """{x: x(t), x': dx/dt, …} of the prescribed motions that are bound, in the description or by
    `inputs`.
    """
    system, tape = rows.system, rows.tape
    expressions: dict[int, Scalar] = {
        s.scalar.i: s.motion for s in system.symbols.values() if s.motion is not None
    }
    for key, value in require_mapping("inputs", inputs).items():
        name = symbol_name(system, key, ("input", "specified"))
        try:
            motion = system.expression(value) if isinstance(value, str) else value
            expressions[system.symbols[name].scalar.i] = Scalar(tape, as_node(tape, motion))
        except BadExpression as problem:
            msg = f"{name} = {value!r} cannot be read: {problem}"
            raise BadValue(msg) from problem
    return derivative_bindings(tape, expressions)


def evaluation_context(
    rows: DeclaredRows, values: Mapping[Any, Any], bindings: dict[int, int], t: float
) -> EvaluationContext:
    """Numbers for everything that the rows contain; what has none is named. `rows` are bound
    already.
    """
    system, tape = rows.system, rows.tape
    known = constant_values(system, values)
    nodes = [
        i for r in rows.linear for i in (r.b, *r.A.values(), *([] if r.phi is None else [r.phi]))
    ]
    state = {*rows.q, *rows.qdot, system.t.i}
    needed = [str(tape.nodes[i][1]) for i in symbols_of(tape, nodes) if i not in state]
    require_values(system, needed, known)
    return EvaluationContext(
        rows, {tape.names[name]: x for name, x in known.items() if name in tape.names}, bindings, t
    )


# ---- positions ----------------------------------------------------------------------------------


def assemble_configuration(
    context: EvaluationContext,
    chosen: Sequence[ConstraintRow],
    start: Mapping[Any, Any],
    guess: Mapping[Any, Any],
) -> tuple[Assembly, list[PositionRow]]:
    """The nearest position to the start at which the chosen position rows hold, and their residuals
    there.
    """
    rows = position_rows(chosen)
    q, free, guessed = (
        default_coordinates(context.rows.system),
        np.ones(context.rows.n, dtype=bool),
        np.zeros(context.rows.n, dtype=bool),
    )
    for what, given in (("start", start), ("guess", guess)):
        for key, value in require_mapping(what, given).items():
            k = _coordinate(context.rows, key, what)
            q[k] = finite_number(str(key), strip_unit(context.rows.system, key, value))
            free[k], guessed[k] = (False, guessed[k]) if what == "start" else (free[k], True)
    return Assembler.from_rows(context, rows, context.t).solve(q, free, guessed), rows


def position_rows(chosen: Sequence[ConstraintRow]) -> list[PositionRow]:
    """The position rows among some rows; a quaternion has the norm one."""
    return [
        PositionRow(r.name, r.phi, float(r.is_norm), r.is_norm) for r in chosen if r.phi is not None
    ]


def _coordinate(rows: DeclaredRows, key: object, what: str) -> int:
    name = str(key.name if isinstance(key, Scalar) else key)
    names = [str(rows.tape.nodes[i][1]) for i in rows.q]
    if name not in names:
        msg = (
            f"{name} is not a coordinate; constraints are assembled from coordinates alone "
            f"({', '.join(names)})"
        )
        raise BadStart(msg, what)
    return names.index(name)


def sample_configurations(
    place: EvaluationContext, chosen: Sequence[ConstraintRow], q: FloatArray
) -> list[FloatArray]:
    """Further positions at which the rows hold, each by a random step along the free directions
    and a constraint projection.
    """
    rows = position_rows(chosen)
    assembler = Assembler.from_rows(place, rows, place.t)
    every = np.ones(place.rows.n, dtype=bool)
    random = np.random.default_rng(0)
    configurations = [q]
    for _ in range(_N_CONFIGURATIONS - 1):
        here = configurations[-1]
        step = random.uniform(-1.0, 1.0, place.rows.n)
        if rows:
            _, J = assembler(here)
            _, s, Vt = np.linalg.svd(J)
            constrained = Vt[: int(np.sum(s > RANK_TOLERANCE * max(s.max(initial=0.0), 1e-300)))]
            step = step - constrained.T @ (constrained @ step)
        size = float(np.linalg.norm(step))
        if size < RANK_TOLERANCE:
            break
        reached = assembler.solve(here + _STEP * np.sqrt(place.rows.n) * step / size, every, ~every)
        if reached.satisfied.all():
            configurations.append(reached.q)
    return configurations


# ---- rows compared in numbers -------------------------------------------------------------------


def numeric_dependences(matrices: Sequence[FloatArray]) -> dict[int, tuple[int, ...]]:
    """{row: the earlier rows it is a combination of} for rows that depend on others at every
    position.
    """
    scaled = [normalize_rows(A) for A in matrices]
    kept: list[int] = []
    dependences: dict[int, tuple[int, ...]] = {}
    for i in range(len(scaled[0])):
        involved: set[int] = set()
        for A in scaled:
            c, distance = _fit_row(A[kept], A[i])
            if distance > RANK_TOLERANCE:
                kept.append(i)
                break
            involved.update(kept[k] for k in np.flatnonzero(np.abs(c) > RANK_TOLERANCE))
        else:
            dependences[i] = tuple(sorted(involved))
    return dependences


def _fit_row(rows: FloatArray, row: FloatArray) -> tuple[FloatArray, float]:
    """c with cᵀ rows nearest to row, and how far it remains."""
    if not len(rows):
        return np.zeros(0), float(np.linalg.norm(row))
    c = np.linalg.lstsq(rows.T, row, rcond=RANK_TOLERANCE)[0]
    return np.asarray(c), float(np.linalg.norm(rows.T @ c - row))


def velocity_residual(A: FloatArray, b: FloatArray, i: int, others: Sequence[int]) -> float:
    """b_i − Σ c_k b_k where A_i = Σ c_k A_k: what row i asks for beyond the others."""
    c, _ = _fit_row(A[list(others)], A[i])
    return float(b[i] - c @ b[list(others)])


# ---- rows compared exactly ----------------------------------------------------------------------

_POINTS: Final = 2


@dataclass(frozen=True)
class Dependence:
    """Row `row` is a combination of `others`; `consistent` unless the parts without rates say
    otherwise.
    """

    row: int
    others: tuple[int, ...]
    consistent: bool = True


def generic_dependences(rows: DeclaredRows) -> tuple[Dependence, ...]:
    """The rows that depend on others at every position."""
    if not rows.linear:
        return ()
    trials = RandomPoints(rows.tape, _POINTS).at_all(
        lambda point: _dependences_at_point(rows.matrix(point), point.prime)
    )
    # a random point can only lose rank
    return min(trials, key=len)


def undecided_rank_reason(rows: DeclaredRows, fields: Sequence[Sequence[int]] = ()) -> str:
    """Why the ranks of the rows, or of fields on their tape, are not taken for shown; an empty
    text where they are.
    """
    zero = rows.tape.zero
    entries = [[r.A.get(k, zero) for k in range(rows.n)] for r in rows.linear]
    return rank_doubt(rows.tape, entries, _POINTS) or rank_doubt(rows.tape, fields, 1)


def _dependences_at_point(matrix: Sequence[Sequence[Element]], p: int) -> tuple[Dependence, ...]:
    A = [row[:-1] for row in matrix]
    dependent = rank_mod(A, p).dependent
    dependences = []
    for i, others in dependent.items():
        together = [matrix[k] for k in (*others, i)]
        dependences.append(Dependence(i, tuple(others), rank_mod(together, p).rank == len(others)))
    return tuple(dependences)


# ---- contradictions -----------------------------------------------------------------------------


def refuse_generic_contradictions(rows: DeclaredRows, everywhere: Sequence[Dependence]) -> None:
    """Rows on velocities that contradict each other whatever the numbers."""
    for d in everywhere:
        if not d.consistent:
            raise IllPosed(_contradiction_message(rows, d.row, d.others))


def refuse_contradictions(
    place: EvaluationContext, everywhere: Sequence[Dependence], q: FloatArray
) -> None:
    """Rows that depend on others everywhere, at a position where these hold."""
    rows = place.rows
    for d in everywhere:
        row = rows.linear[d.row]
        if row.phi is not None:
            assembler = Assembler.from_rows(place, position_rows([row]), place.t)
            residual = float(assembler(q)[0][0])
            # x = 1 and x = 2 have the same rates; only their positions contradict each other
            if (
                all(rows.linear[k].phi is not None for k in d.others)
                and not assembler.is_satisfied(q, RANK_TOLERANCE)[0]
            ):
                raise IllPosed(_contradiction_message(rows, d.row, d.others, residual))
        if not d.consistent:
            refuse_velocity_contradiction(place, d.row, d.others, q)


def refuse_velocity_contradiction(
    place: EvaluationContext, i: int, others: Sequence[int], q: FloatArray
) -> None:
    """A row whose rates are a combination of those of others, but not the part without rates."""
    A, b = place.A_and_b(q)
    residual = velocity_residual(A, b, i, others)
    if abs(residual) > RANK_TOLERANCE * max(1.0, float(np.abs(b).max(initial=0.0))):
        raise IllPosed(_contradiction_message(place.rows, i, others, residual))


def _contradiction_message(
    rows: DeclaredRows, i: int, others: Sequence[int], residual: float | None = None
) -> str:
    first, rest = rows.linear[i].name, rows.names(others)
    hold = "this holds" if len(rest) == 1 else "these hold"
    left = (
        "" if residual is None else f": where {hold}, the residual of `{first}` is {residual:.6g}"
    )
    return f"`{first}` contradicts {quoted_list(rest)}{left}; remove one of them or make them agree"


def quoted_list(labels: Sequence[str]) -> str:
    """`a`, `b` and `c`"""
    quoted = [f"`{label}`" for label in labels]
    return " and ".join([", ".join(quoted[:-1]), quoted[-1]] if len(quoted) > 1 else quoted)
