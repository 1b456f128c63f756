"""The analysis of a system's rows in words."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from dalembert.constraint_analysis.dependence import listed

if TYPE_CHECKING:
    from dalembert.constraint_analysis.analysis import ConstraintAnalysis

_KINDS = {"norm": "keeps a quaternion's norm", "position": "on positions", "velocity": "on velocities"}


def account(found: ConstraintAnalysis) -> str:
    """Rows, freedoms, redundancy, integrability, each in a line or two."""
    return "\n".join([_heading(found), *_rows(found), *_freedoms(found), *_redundancy(found), *_integrability(found), *found.notes])


def _heading(found: ConstraintAnalysis) -> str:
    return f"{found.system}: {_count(found.coordinates, 'coordinate')}, {_count(len(found.rows), 'constraint row')}"


def _rows(found: ConstraintAnalysis) -> Iterator[str]:
    width = max((len(name) for name, _ in found.rows), default=0)
    classes = {c.name: str(c) for c in found.classes}
    for name, kind in found.rows:
        word = classes.get(name, "")
        yield f"  {name:<{width}}  {_KINDS.get(kind, kind)}" + (f": {word}" if word and word != "holonomic" else "")
    for name in found.dropped:
        yield f"  {name}: dropped, because the coordinates hold it already"


def _freedoms(found: ConstraintAnalysis) -> Iterator[str]:
    n, m_hol, m = found.coordinates, found.position_rank, found.velocity_rank
    counted = f"{n} − {_count(m_hol, 'independent row')} on positions" if m_hol else f"{n}, since no row is on positions alone"
    yield f"configuration: {_count(found.configuration_freedoms, 'freedom')} ({counted}): so many numbers tell where it is"
    freely = f"{n} − {_count(m, 'independent row')}" if m else f"{n}, since there are no rows"
    yield f"velocity: {_count(found.velocity_freedoms, 'freedom')} ({freely}): so many speeds tell how it moves from there"
    if found.velocity_freedoms == 0:
        yield "nothing is free to move: the rows determine every rate"


def _redundancy(found: ConstraintAnalysis) -> Iterator[str]:
    if not found.rows:
        return
    if found.redundant:
        for row in found.redundant:
            yield f"redundant: {row}"
        yield "the motion does not depend on a redundant row, but how it shares the reactions with those it repeats is not determined"
    else:
        where = "everywhere" if found.position is None else "everywhere and where they hold"
        yield f"redundant: none (compared {where})"


def _integrability(found: ConstraintAnalysis) -> Iterator[str]:
    gone = {row.row for row in found.redundant}
    velocity = sum(kind == "velocity" and name not in gone for name, kind in found.rows)
    if not velocity:
        if any(kind == "velocity" or kind.startswith("nonlinear") for _, kind in found.rows) or not found.rows:
            return
        yield "integrable: every row is on positions"
        return
    together = f"{found.integrable} of {_count(velocity, 'row')} on velocities"
    if not found.integrable:
        yield f"integrable: {together}; no position is out of reach (the system is nonholonomic)"
        return
    yield f"integrable: {together}: positions in disguise, whose constants the start decides"
    for position in found.hidden:
        yield f"  {position}, from {listed(position.rows)}"
    missing = found.integrable - len(found.hidden)
    if missing:
        yield f"  {missing} of them {'is' if missing == 1 else 'are'} not written out here"
    left = found.configuration_freedoms - found.integrable
    yield f"  from a given start {_count(left, 'freedom')} of configuration can be reached"


def _count(n: int, what: str) -> str:
    return f"{n or 'no'} {what}{'s' * (n != 1)}"
