"""The mode that follows, group by group: round cones by Newton's method, guides and friction under
constraint forces by all their modes, all other contacts by native code.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from dalembert.foundation.array_types import FloatArray
from dalembert.runtime.contact.contact_groups import contact_groups
from dalembert.runtime.contact.mode_enumeration import (
    OPEN,
    ContactCandidate,
    ContactMode,
    FeasibleMode,
    ModeSearch,
    NextMode,
    select_mode,
)
from dalembert.runtime.contact.native_solver import solve_natively
from dalembert.runtime.contact.round_cone import solve_round

_CLOSED: Final = ContactMode()


class NextModeSolver:
    """The modes after a change, requested again and again; one run's own."""

    def __init__(self) -> None:
        self._searches: dict[int, ModeSearch] = {}

    def solve(
        self,
        A: FloatArray,
        b: FloatArray,
        candidates: Sequence[ContactCandidate],
        *,
        impact: bool = False,
    ) -> NextMode:
        """What all candidates do next; rows of no candidate carry no force."""
        if len(candidates) == 1 and (alone := _without_friction(A, b, candidates[0])) is not None:
            return NextMode(alone)
        modes: list[ContactMode] = [OPEN] * len(candidates)
        lam, several = np.zeros(len(b)), []
        for group in contact_groups(A, [c.rows for c in candidates]):
            own = [candidates[i] for i in group]
            rows = sorted({k for c in own for k in c.own_rows})
            local = A[np.ix_(rows, rows)], b[rows], [c.with_rows(rows) for c in own]
            verdict = self._solve_group(*local, impact=impact)
            if verdict.chosen is None:
                return verdict
            lam[rows] = verdict.chosen.lam
            for i, mode in zip(group, verdict.chosen.modes, strict=True):
                modes[i] = mode
            several += [(group, way) for way in verdict.alternatives]
        chosen = FeasibleMode(tuple(modes), lam, A @ lam + b)
        return NextMode(chosen, tuple(_alternative(chosen, *each) for each in several))

    def _solve_group(
        self,
        A: FloatArray,
        b: FloatArray,
        candidates: Sequence[ContactCandidate],
        *,
        impact: bool,
    ) -> NextMode:
        if any(c.t2 is not None for c in candidates):
            return solve_round(A, b, candidates)
        if any(c.two_sided or c.pressed is not None for c in candidates):
            return self._enumerate(A, b, candidates)
        verdict = solve_natively(A, b, candidates, impact=impact)
        if verdict.chosen is None and not verdict.alternatives:
            # rows that nearly depend on one another
            return solve_round(A, b, candidates)
        return verdict

    def _enumerate(
        self,
        A: FloatArray,
        b: FloatArray,
        candidates: Sequence[ContactCandidate],
    ) -> NextMode:
        search = self._searches.get(len(b))
        if search is None:
            search = self._searches[len(b)] = ModeSearch(len(b))
        size = max(map(abs, b.tolist()), default=0.0)
        return select_mode(search.feasible_modes(A, b, candidates), size)


def _without_friction(A: FloatArray, b: FloatArray, c: ContactCandidate) -> FeasibleMode | None:
    """N = −b/A or 0: one contact that may open and has no friction; None for any other."""
    if c.n is None or c.t is not None or c.two_sided or c.ended or c.given:
        return None
    stiffness, load = float(A[c.n, c.n]), float(b[c.n])
    if not stiffness > 0.0:
        return None
    lam = np.zeros(len(b))
    if load > 0.0:
        return FeasibleMode((OPEN,), lam, b)
    lam[c.n] = -load / stiffness
    return FeasibleMode((_CLOSED,), lam, b + A[:, c.n] * lam[c.n])


def _alternative(chosen: FeasibleMode, group: Sequence[int], way: FeasibleMode) -> FeasibleMode:
    """The chosen mode with another motion of one group."""
    modes = list(chosen.modes)
    for i, mode in zip(group, way.modes, strict=True):
        modes[i] = mode
    return chosen._replace(modes=tuple(modes))
