"""θ_i ≡ 0 on all that can be reached: which rows of a set are holonomic, as they stand or after integration, and which are not.

Integrability is a matter of the set: a knife edge alone is nonholonomic, with ψ̇ = 0 beside it both rows integrate. A row is
holonomic after integration where its one-form lies in the largest integrable part of the span of all rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from dalembert.constraint_analysis.configurations import SMALL, Situation
from dalembert.constraint_analysis.hidden import HiddenPosition, inside, one_form
from dalembert.constraint_analysis.integrability import Reach
from dalembert.constraint_analysis.rows import SystemRows
from dalembert.notebook import Shown

if TYPE_CHECKING:
    from numpy.typing import NDArray

HOLONOMIC, INTEGRATED, NONHOLONOMIC, UNDECIDED = "holonomic", "holonomic after integration", "nonholonomic", "undecided"


@dataclass(frozen=True)
class RowClass(Shown):
    """What one row is among all rows of its system; `integral` is φ(q, t) = constant where it was written out."""

    name: str
    word: str
    # whether time enters, by itself or through a specified motion
    rheonomic: bool
    integral: str = ""

    @property
    def holonomic(self) -> bool | None:
        """As it stands or after integration; None where that is undecided."""
        return None if self.word == UNDECIDED else self.word != NONHOLONOMIC

    @property
    def integrated(self) -> bool:
        """On velocities as declared, on positions in truth."""
        return self.word == INTEGRATED

    @property
    def words(self) -> str:
        """The class without the integral."""
        if self.word == UNDECIDED:
            return "whether it integrates is undecided"
        return ("rheonomic, " if self.rheonomic else "") + self.word

    def __str__(self) -> str:
        return self.words + (f": {self.integral}" if self.integral else "")


@dataclass(frozen=True)
class ReachedPlace:
    """What can be reached where the rows hold, compared in numbers at some such positions."""

    rows: SystemRows
    reached: Reach
    situation: Situation
    positions: tuple[NDArray[np.float64], ...]

    def holds(self, k: int) -> bool:
        """Whether θ·X of one row is rounding at every position, for every field X."""
        n = self.reached.width
        theta = one_form(self.rows, k, n)
        for q in self.positions:
            numbers = self.situation.at([*theta, *(x for X in self.reached.fields for x in X)], q).reshape(-1, n)
            size = np.linalg.norm(numbers[0]) * np.linalg.norm(numbers[1:], axis=1)
            # not < rather than >=: what has no value there holds nothing
            if not np.all(np.abs(numbers[1:] @ numbers[0]) <= SMALL * np.maximum(size, np.finfo(float).tiny)):
                return False
        return True


def row_classes(
    rows: SystemRows, reached: Reach, place: ReachedPlace | None, hidden: Sequence[HiddenPosition], *, doubt: bool
) -> tuple[RowClass, ...]:
    """One for every row, the quaternions' norms left out, in order of declaration.

    `doubt`: a rank lost by chance makes the reach too small, and a row look integrable; it cannot make one look as if it were not.
    """
    alone = {h.rows[0]: str(h) for h in hidden if len(h.rows) == 1}
    found = {r.name: RowClass(r.name, UNDECIDED, rheonomic=False) for r in rows.nonlinear}
    for k, row in enumerate(rows.linear):
        word = _word(rows, k, reached, place, doubt=doubt)
        integral = alone.get(row.name, "") if word == INTEGRATED else ""
        found[row.name] = RowClass(row.name, word, replace(rows, linear=(row,)).moves, integral)
    return tuple(found[c.name] for c in rows.system.constraints if c.name in found)


def _word(rows: SystemRows, k: int, reached: Reach, place: ReachedPlace | None, *, doubt: bool) -> str:
    if rows.linear[k].holonomic:
        return HOLONOMIC
    if not any(reached.fields):
        # only rows on positions are independent: this one repeats some of them
        return INTEGRATED
    if inside(rows, reached, one_form(rows, k, reached.width)) or (place is not None and place.holds(k)):
        return UNDECIDED if doubt else INTEGRATED
    # with rows that are not linear in the rates beside it, it might integrate after all
    return UNDECIDED if rows.nonlinear else NONHOLONOMIC
