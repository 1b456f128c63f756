"""n − m_hol and n − m: what a system's constraint rows leave free, which of them repeat others,
which are positions in disguise.

Source: Mei85 (7.8), which counts holonomic rows only; Gre03 §4.1 counts velocities.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field
from typing import Any, NamedTuple

import numpy as np

from dalembert.analysis.constraint_analysis.declared_rows import (
    DeclaredRows,
    bind_motions,
    collect_rows,
    drop_rows,
)
from dalembert.analysis.constraint_analysis.integrability import (
    Field,
    InvolutiveClosure,
    LocalClosure,
    RowClass,
    independent_position_rows,
    involutive_closure,
    row_classes,
)
from dalembert.analysis.constraint_analysis.pfaffian_integrals import (
    HiddenPosition,
    integrate_velocity_rows,
)
from dalembert.analysis.constraint_analysis.redundant_constraints import (
    Dependence,
    EvaluationContext,
    assemble_configuration,
    evaluation_context,
    generic_dependences,
    motion_bindings,
    numeric_dependences,
    quoted_list,
    refuse_contradictions,
    refuse_generic_contradictions,
    refuse_velocity_contradiction,
    sample_configurations,
    undecided_rank_reason,
)
from dalembert.errors import DalembertError, NotASystem
from dalembert.foundation.array_types import FloatArray
from dalembert.foundation.deferred_dataclass import dataclass
from dalembert.foundation.display import Displayable, NotebookDisplay
from dalembert.mechanics.model.system import System
from dalembert.runtime.numerics.symbol_values import finite_number
from dalembert.runtime.states.constraint_rank import rank_of_rows


@dataclass(frozen=True)
class RedundantRow(Displayable):
    """A redundant constraint row and the rows it repeats: always, or only where all of them
    hold.
    """

    row: str
    repeats: tuple[str, ...]
    everywhere: bool

    def __str__(self) -> str:
        if not self.repeats:
            return f"`{self.row}` always holds" + (
                "" if self.everywhere else " where the constraints hold"
            )
        impose = "imposes" if len(self.repeats) == 1 else "impose"
        where = "" if self.everywhere else ", wherever the constraints hold"
        return f"`{self.row}` repeats what {quoted_list(self.repeats)} already {impose}{where}"


@dataclass(frozen=True, repr=False)
class ConstraintAnalysis(NotebookDisplay):
    """Rank, redundancy and integrability of all constraint rows; print it for a summary."""

    system: str
    coordinates: int
    # name and kind of every row, in order of declaration
    rows: tuple[tuple[str, str], ...]
    dropped: tuple[str, ...]
    redundant: tuple[RedundantRow, ...]
    # independent rows on positions, and all independent rows
    position_rank: int
    velocity_rank: int
    # velocity rows that are integrable together with all others, as a number, and written out where
    # that was possible
    integrable: int
    hidden: tuple[HiddenPosition, ...]
    growth_vector: tuple[int, ...]
    # holonomic, holonomic after integration or not, decided for all rows together
    classes: tuple[RowClass, ...]
    # the position at which the rows were compared in numbers; None if they were not, and why
    position: dict[str, float] | None = field(default=None, repr=False)
    notes: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        msg = (
            "a constraint analysis has no single truth value; use .holonomic, .redundant or "
            ".velocity_freedoms"
        )
        raise TypeError(msg)

    @property
    def configuration_freedoms(self) -> int:
        """n − m_hol, with the positions that velocity rows hold in disguise not counted off."""
        return self.coordinates - self.position_rank

    @property
    def holonomic(self) -> bool | None:
        """Whether every row is holonomic, as it stands or after integration; None where that is
        undecided.
        """
        each = [c.holonomic for c in self.classes]
        return False if False in each else None if None in each else True

    @property
    def velocity_freedoms(self) -> int:
        """n − m"""
        return self.coordinates - self.velocity_rank

    def __str__(self) -> str:
        heading = (
            f"{self.system}: {_plural(self.coordinates, 'coordinate')}, "
            f"{_plural(len(self.rows), 'constraint row')}"
        )
        return "\n".join(
            [
                heading,
                *_row_lines(self),
                *_freedom_lines(self),
                *_redundancy_lines(self),
                *_integrability_lines(self),
                *self.notes,
            ]
        )

    __repr__ = __str__


def constraints(
    system: System,
    *,
    start: Mapping[Any, Any] | None = None,
    guess: Mapping[Any, Any] | None = None,
    values: Mapping[Any, Any] | None = None,
    inputs: Mapping[Any, Any] | None = None,
    t0: float = 0.0,
) -> ConstraintAnalysis:
    """Degrees of freedom, redundant constraints by name, and the largest integrable part of all
    rows.

    start, guess    coordinates at (or near) which the rows are compared; zero otherwise
    values, inputs  constants and prescribed motions that differ from their declared values

    Rows that contradict each other are refused with the residual.
    """
    if not isinstance(system, System):
        msg = f"constraints: give a System, not {type(system).__name__}"
        raise NotASystem(msg)
    rows = collect_rows(system)
    bindings = motion_bindings(rows, inputs or {})
    everywhere = generic_dependences(rows)
    with_motions = bind_motions(rows, bindings)
    place = (values or {}, bindings, finite_number("t0", t0))
    where = _analyse_assembled(with_motions, everywhere, place, start or {}, guess or {})
    redundant = _redundant_rows(rows, {d.row: d.others for d in everywhere}, everywhere=True)
    redundant += where.redundant
    gone = {r.row for r in redundant}
    # what repeats others takes no part in the rest
    kept = drop_rows(rows, gone)
    positions = _integrability(rows, with_motions, gone, where, uncertain=bool(everywhere))
    notes = [*where.notes, *filter(None, [positions.undecided_reason])]
    notes += _false_redundancy_notes(rows, gone, known=where.position is not None)
    return ConstraintAnalysis(
        system.name, rows.n, _row_kinds(rows), tuple(system.trivial_constraints),
        redundant, positions.m_hol, len(kept.linear) + len(kept.nonlinear),
        positions.integrable, positions.hidden, positions.growth,
        positions.classes, where.position, tuple(notes),
    )  # fmt: skip


# ---- where the rows hold -----------------------------------------------------------------------


@dataclass(frozen=True)
class _AssembledResult:
    """What was found at assembled positions, or why none was."""

    redundant: tuple[RedundantRow, ...] = ()
    position: dict[str, float] | None = None
    notes: tuple[str, ...] = ()
    place: EvaluationContext | None = None
    positions: tuple[FloatArray, ...] = ()


def _not_assembled_note(assembly: Any, position_rows: Sequence[Any]) -> str:
    """The row that is violated most where no position closes all of them."""
    residuals = np.nan_to_num(np.abs(assembly.residuals), nan=np.inf)
    worst = int(np.argmax(np.where(assembly.satisfied, -1.0, residuals)))
    return (
        f"not assembled, so not checked where the constraints hold: "
        f"`{position_rows[worst].name}` leaves {assembly.residuals[worst]:.6g} after "
        f"{assembly.iterations} iterations; give a start or a guess near a position that closes "
        f"it, or change the dimensions"
    )


def _analyse_assembled(
    rows: DeclaredRows,
    everywhere: Sequence[Dependence],
    given: tuple[Mapping[Any, Any], dict[int, int], float],
    start: Mapping[Any, Any],
    guess: Mapping[Any, Any],
) -> _AssembledResult:
    """The rows compared in numbers, where they hold; contradictions are refused. `given` are the
    values of constants, the prescribed motions and the time.
    """
    if not rows.linear:
        return _AssembledResult()
    try:
        place = evaluation_context(rows, *given)
    except DalembertError as problem:
        if given[0] or start or guess:
            raise
        refuse_generic_contradictions(rows, everywhere)
        return _AssembledResult(notes=(f"not checked where the constraints hold: {problem}",))
    gone = {d.row for d in everywhere}
    kept = [r for i, r in enumerate(rows.linear) if i not in gone]
    assembly, position_rows = assemble_configuration(place, kept, start, guess)
    if not assembly.satisfied.all():
        refuse_generic_contradictions(rows, everywhere)
        return _AssembledResult(notes=(_not_assembled_note(assembly, position_rows),))
    refuse_contradictions(place, everywhere, assembly.q)
    positions = sample_configurations(place, kept, assembly.q)
    return _compare_at_positions(rows, gone, place, positions, assembly.q)


def _compare_at_positions(
    rows: DeclaredRows,
    gone: set[int],
    place: EvaluationContext,
    positions: Sequence[FloatArray],
    q: FloatArray,
) -> _AssembledResult:
    """Redundant rows and singular positions by the rank of A at positions where the rows hold."""
    matrices = [place.A_and_b(at)[0] for at in positions]
    usable = [A for A in matrices if np.isfinite(A).all()]
    if not usable:
        note = "not checked where the constraints hold: a constraint equation has no value there"
        return _AssembledResult(notes=(note,))
    dependent = {i: others for i, others in numeric_dependences(usable).items() if i not in gone}
    redundant = _redundant_rows(rows, dependent, everywhere=False)
    for i, others in dependent.items():
        refuse_velocity_contradiction(place, i, others, q)
    coordinates = [str(rows.tape.nodes[i][1]) for i in rows.q]
    notes = _singularity_notes(usable, len(rows.linear) - len(gone) - len(dependent))
    position = dict(zip(coordinates, q.tolist(), strict=True))
    return _AssembledResult(redundant, position, notes, place, tuple(positions))


def _redundant_rows(
    rows: DeclaredRows, dependent: Mapping[int, Sequence[int]], *, everywhere: bool
) -> tuple[RedundantRow, ...]:
    """The rows that others imply, by name."""
    return tuple(
        RedundantRow(rows.linear[i].name, rows.names(others), everywhere=everywhere)
        for i, others in dependent.items()
    )


def _false_redundancy_notes(rows: DeclaredRows, gone: set[str], *, known: bool) -> list[str]:
    """Rows declared redundant that say something of their own: the principles leave them out,
    and a run does not.
    """
    marked = [r.name for r in rows.linear if r.redundant and r.name not in gone]
    return (
        [
            f"`{name}` is declared redundant but follows from no other constraint; remove "
            "redundant="
            for name in marked
        ]
        if known
        else []
    )


def _singularity_notes(matrices: Sequence[FloatArray], usual: int) -> tuple[str, ...]:
    here = rank_of_rows(matrices[0]).rank
    if here >= usual:
        return ()
    return (
        (
            f"a singular position: {here} of the rows {'is' if here == 1 else 'are'} "
            f"independent here, "
            f"{usual} nearby"
        ),
    )


# ---- integrability -----------------------------------------------------------------------------


class _Integrability(NamedTuple):
    """The number of rows on positions, of velocity rows that are integrable, and what they are."""

    m_hol: int
    integrable: int
    hidden: tuple[HiddenPosition, ...]
    growth: tuple[int, ...]
    classes: tuple[RowClass, ...]
    # why a rank could not be decided; nothing where it was
    undecided_reason: str


def _integrability(
    rows: DeclaredRows,
    with_motions: DeclaredRows,
    gone: set[str],
    where: _AssembledResult,
    *,
    uncertain: bool,
) -> _Integrability:
    """Which rows are positions in disguise; those that repeat others take no part."""
    kept, kept_with_motions = drop_rows(rows, gone), drop_rows(with_motions, gone)
    m_hol = sum(r.holonomic for r in kept.linear)
    reached, reached_here = _closures(kept, kept_with_motions, where)
    hidden = _find_integrals(kept, kept_with_motions, reached)
    # chance can only lose a rank: nothing was lost where every row is independent and every
    # direction is reached
    uncertain = uncertain or reached.n_integrals > m_hol
    undecided_reason = undecided_rank_reason(rows, reached.fields) if uncertain else ""
    integrable = max(reached_here.n_integrals, reached.n_integrals) - m_hol
    local_closure = None
    if reached_here is not reached and where.place is not None:
        local_closure = LocalClosure(with_motions, reached_here, where.place, where.positions)
    classes = row_classes(rows, reached, local_closure, hidden, is_uncertain=bool(undecided_reason))
    return _Integrability(m_hol, integrable, hidden, reached_here.growth, classes, undecided_reason)


def _closures(
    rows: DeclaredRows, with_motions: DeclaredRows, where: _AssembledResult
) -> tuple[InvolutiveClosure, InvolutiveClosure]:
    """What can be reached from a position anywhere, and from one at which the rows hold."""
    if all(r.holonomic for r in rows.linear):
        held = len(independent_position_rows(rows))
        width = rows.n + rows.is_rheonomic
        none = InvolutiveClosure(tuple(() for _ in range(width - held)), width, (width - held,))
        return none, none
    anywhere = involutive_closure(rows)
    if where.place is None or not any(r.holonomic and not r.is_norm for r in rows.linear):
        return anywhere, anywhere
    return anywhere, involutive_closure(with_motions, _numeric_basis(where.place, where.positions))


def _numeric_basis(place: EvaluationContext, positions: Sequence[FloatArray]) -> Any:
    """Independence of fields in numbers, at positions where the rows hold."""

    def choose(fields: Sequence[Field]) -> list[int]:
        if not fields:
            return []
        nodes = [x for X in fields for x in X]
        tables = [place.at(nodes, q).reshape(len(fields), -1) for q in positions]
        usable = [F for F in tables if np.isfinite(F).all()]
        return (
            [k for k in range(len(fields)) if k not in numeric_dependences(usable)]
            if usable
            else list(range(len(fields)))
        )

    return choose


def _find_integrals(
    rows: DeclaredRows, with_motions: DeclaredRows, reached: InvolutiveClosure
) -> tuple[HiddenPosition, ...]:
    """Found for any motions of what is specified, or else for the motions it is bound to."""
    wanted = reached.n_integrals - len(independent_position_rows(rows))
    if not wanted:
        return ()
    integrals = integrate_velocity_rows(rows, reached)
    if len(integrals) < wanted and any(
        r.b != s.b or r.A != s.A for r, s in zip(rows.linear, with_motions.linear, strict=True)
    ):
        again = integrate_velocity_rows(with_motions, involutive_closure(with_motions))
        integrals = again if len(again) > len(integrals) else integrals
    return integrals


# ---- names -------------------------------------------------------------------------------------


def _row_kinds(rows: DeclaredRows) -> tuple[tuple[str, str], ...]:
    kinds = {
        r.name: "norm" if r.is_norm else "position" if r.holonomic else "velocity"
        for r in rows.linear
    }
    kinds |= {r.name: "nonlinear in the velocities" for r in rows.nonlinear}
    order = [c.name for c in rows.system.constraints]
    return tuple(
        (name, kinds[name])
        for name in [*order, *(k for k in kinds if k not in order)]
        if name in kinds
    )


# ---- in words ----------------------------------------------------------------------------------

_KINDS = {
    "norm": "keeps a quaternion's norm",
    "position": "position constraint",
    "velocity": "velocity constraint",
}


def _row_lines(analysis: ConstraintAnalysis) -> Iterator[str]:
    width = max((len(name) for name, _ in analysis.rows), default=0)
    classes = {c.name: str(c) for c in analysis.classes}
    for name, kind in analysis.rows:
        word = classes.get(name, "")
        yield f"  {name:<{width}}  {_KINDS.get(kind, kind)}" + (
            f": {word}" if word and word != "holonomic" else ""
        )
    for name in analysis.dropped:
        yield f"  {name}: omitted, because it always holds in these coordinates"


def _freedom_lines(analysis: ConstraintAnalysis) -> Iterator[str]:
    n, m_hol, m = analysis.coordinates, analysis.position_rank, analysis.velocity_rank
    counted = (
        f"{n} − {_plural(m_hol, 'independent position constraint')}"
        if m_hol
        else f"{n}, since there is no position constraint"
    )
    yield (f"configuration: {_degrees_of_freedom(analysis.configuration_freedoms)} ({counted})")
    fixed = _plural(m, "independent constraint")
    freely = f"{n} − {fixed}" if m else f"{n}, since there are no constraints"
    yield (f"velocity: {_degrees_of_freedom(analysis.velocity_freedoms)} ({freely})")
    if analysis.velocity_freedoms == 0:
        yield "nothing can move: the constraints determine every rate"


def _redundancy_lines(analysis: ConstraintAnalysis) -> Iterator[str]:
    if not analysis.rows:
        return
    if analysis.redundant:
        for row in analysis.redundant:
            yield f"redundant: {row}"
        yield (
            "a redundant constraint does not change the motion; only the sum of its reactions "
            "and those of the constraints it repeats is determined"
        )
    else:
        where = "everywhere" if analysis.position is None else "everywhere and where they hold"
        yield f"redundant: none (compared {where})"


def _integrability_lines(analysis: ConstraintAnalysis) -> Iterator[str]:
    gone = {row.row for row in analysis.redundant}
    velocity = sum(kind == "velocity" and name not in gone for name, kind in analysis.rows)
    if not velocity:
        if (
            any(kind == "velocity" or kind.startswith("nonlinear") for _, kind in analysis.rows)
            or not analysis.rows
        ):
            return
        yield "integrable: every constraint is a position constraint"
        return
    together = f"{analysis.integrable} of {_plural(velocity, 'velocity constraint')}"
    if not analysis.integrable:
        yield f"integrable: {together}; every position can be reached (the system is nonholonomic)"
        return
    yield (
        f"integrable: {together}: position constraints whose constants follow from the "
        f"initial state"
    )
    for position in analysis.hidden:
        yield f"  {position}, from {quoted_list(position.rows)}"
    missing = analysis.integrable - len(analysis.hidden)
    if missing:
        yield f"  {missing} of them {'is' if missing == 1 else 'are'} not written out here"
    left = analysis.configuration_freedoms - analysis.integrable
    free = _degrees_of_freedom(left)
    yield f"  from a given initial state {free} (configuration level) can be reached"


def _degrees_of_freedom(n: int) -> str:
    return f"{n or 'no'} degree{'s' * (n != 1)} of freedom"


def _plural(n: int, what: str) -> str:
    return f"{n or 'no'} {what}{'s' * (n != 1)}"
