"""Constraint rows, what each is among all of them, and the freedoms they leave."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from dalembert.algebra.printing.tree import ZERO, Prose, Sides
from dalembert.constraint_analysis.analysis import ConstraintAnalysis
from dalembert.constraint_analysis.analysis import constraints as analysis
from dalembert.constraint_analysis.hidden import HiddenPosition
from dalembert.constraint_analysis.integrability import RowClass
from dalembert.errors import DalembertError
from dalembert.kinematics.system_kinematics import Kinematics
from dalembert.model.elements import Constraint
from dalembert.model.system import System
from dalembert.once import MadeOnce
from dalembert.report.blocks import Block, Display, FormulaSpan, Line, Span, TableBlock, words
from dalembert.report.tables import symbols_listed
from dalembert.report.writing import Writing

_ANALYSES: Final = MadeOnce[ConstraintAnalysis | None]()


def constraints(kin: Kinematics, writing: Writing) -> Iterator[Block]:
    """The rows as described, and those that were dropped because they say nothing."""
    yield from _described(kin.system, _of(kin), writing)
    norms = [row.name for row in kin.rows if row.is_norm]
    if norms:
        yield words("Kept constant: ", ", ".join(norms), ".")
    if kin.system.dropped:
        yield words("Dropped, because it holds identically: ", ", ".join(kin.system.dropped), ".")


def described_constraints(system: System, writing: Writing) -> Iterator[Block]:
    """The rows as described; a system that is not complete yet may have some."""
    yield from _described(system, _analysed(system), writing)


def _of(kin: Kinematics) -> ConstraintAnalysis | None:
    return _ANALYSES(kin, None, lambda: _analysed(kin.system))


def _analysed(system: System) -> ConstraintAnalysis | None:
    """All rows together; None where they contradict each other, which is for a start to say, or are not complete yet."""
    try:
        return analysis(system) if system.constraints else None
    except DalembertError:
        return None


def _described(system: System, found: ConstraintAnalysis | None, writing: Writing) -> Iterator[Block]:
    if not system.constraints:
        return
    classes = {} if found is None else {c.name: c for c in found.classes}
    hidden = () if found is None else found.hidden
    alone = {h.rows[0]: h for h in hidden if len(h.rows) == 1}
    written, definitions = writing.scalars(system.space.tape, [c.expression.i for c in system.constraints])
    lines = []
    for c, w in zip(system.constraints, written, strict=True):
        integral = (": ", _constant(alone[c.name], writing)) if c.name in alone else ()
        lines.append(Line(FormulaSpan(Sides(w, ZERO)), note=(f"{c.name}, {_kind(c, classes.get(c.name))}", *integral)))
    yield Display(tuple(lines), definitions)
    for h in hidden:
        if len(h.rows) > 1:
            yield words("Together the rows ", ", ".join(h.rows), " integrate: ", _constant(h, writing), ".")


def _kind(c: Constraint, kind: RowClass | None) -> str:
    word = "holonomic" if c.holonomic else "whether it integrates is undecided"
    word = word if kind is None else kind.words
    word = "not linear in the rates: by Chetaev's rule" if c.nonlinear else word
    return word + (", redundant: noncontributing where the others hold" if c.redundant else "")


def _constant(h: HiddenPosition, writing: Writing) -> FormulaSpan:
    """φ = constant"""
    phi = writing.scalar(h.phi.tape, h.phi.i)
    return FormulaSpan(Sides(phi.tree, Prose("constant")), phi.definitions)


def freedoms(kin: Kinematics) -> Block:
    """n − m_hol freedoms of configuration, n − m of velocity; rows that integrate together count as holonomic.

    Source: Mei85 (7.8) counts holonomic rows only.
    """
    n, m, found = kin.n_q, len(kin.rows), _of(kin)
    integrated = 0 if found is None else found.integrable
    holonomic = sum(row.holonomic for row in kin.rows) + integrated
    after = f" ({integrated} of them after integration)" if integrated else ""
    rows = f"{holonomic} holonomic{after} and {m - holonomic} nonholonomic constraint rows" if m else "no constraint rows"
    freedom = "freedom" if n - holonomic == 1 else "freedoms"
    start = " from a given start" if integrated else ""
    return words(f"{n} coordinate{'s' * (n > 1)}, {rows}: {n - holonomic} {freedom} of configuration{start}, {n - m} of velocity.")


def counted(kin: Kinematics, writing: Writing) -> TableBlock:
    """Where the freedoms come from: what brings them in, what takes them away."""
    held = [row.name for row in kin.rows if row.holonomic]
    rolling, found = [row.name for row in kin.rows if not row.holonomic], _of(kin)
    integrated = 0 if found is None else found.integrable
    n, left = kin.n_q, len(rolling) - integrated
    rows: list[tuple[Span, ...]] = [("coordinates", str(n), symbols_listed(map(kin.name, kin.q), writing))]
    rows += [("holonomic rows", str(len(held)), ", ".join(held))] if held else []
    if found is not None and integrated:
        names = dict.fromkeys([c.name for c in found.classes if c.integrated] + [name for h in found.hidden for name in h.rows])
        rows.append(("rows that integrate", str(integrated), f"{', '.join(names)}; the start decides the constant"))
        rolling = [c.name for c in found.classes if not c.holonomic]
    rows += [("freedoms of configuration", str(n - len(held) - integrated), "coordinates less holonomic rows (Mei85 (7.8))")]
    rows += [("nonholonomic rows", str(left), ", ".join(rolling))] if left else []
    rows += [("freedoms of velocity", str(kin.n_u), symbols_listed(map(kin.name, kin.u), writing))]
    return TableBlock(("count", "", "which, and why"), tuple(rows))
