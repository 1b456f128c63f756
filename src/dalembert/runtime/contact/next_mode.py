"""The mode that follows, group by group: every mode of a few contacts, Lemke's method for more."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from dalembert.foundation.array_types import FloatArray
from dalembert.runtime.contact.contact_groups import contact_groups
from dalembert.runtime.contact.force_shares import ForceShare, best_share, solution_family
from dalembert.runtime.contact.lemke import solve_by_pivoting
from dalembert.runtime.contact.mode_enumeration import (
    OPEN,
    RANK,
    ContactCandidate,
    ContactMode,
    FeasibleMode,
    ModeSearch,
    NextMode,
    mode_count,
    mode_inequalities,
    select_mode,
)
from dalembert.runtime.contact.round_cone import solve_round

# groups with more modes than this are solved by Lemke's method
_ENUMERATED: Final = 1024
_ENUMERATED_DEPENDENT: Final = 64
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
        if len(candidates) < 2 and not any(c.t2 is not None for c in candidates):
            return self._enumerate(A, b, candidates, impact=impact)
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
        if (
            len(candidates) > 2
            and mode_count([c.kind for c in candidates]) > _most_enumerated(A)
            and not any(c.two_sided or c.pressed is not None for c in candidates)
        ):
            found = solve_by_pivoting(A, b, candidates)
            if found is not None:
                return NextMode(found)
        return self._enumerate(A, b, candidates, impact=impact)

    def _enumerate(
        self,
        A: FloatArray,
        b: FloatArray,
        candidates: Sequence[ContactCandidate],
        *,
        impact: bool,
    ) -> NextMode:
        search = self._searches.get(len(b))
        if search is None:
            search = self._searches[len(b)] = ModeSearch(len(b))
        size = max(map(abs, b.tolist()), default=0.0)
        return select_mode(search.feasible_modes(A, b, candidates, impact=impact), size)


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


def _most_enumerated(A: FloatArray) -> int:
    """Modes of rows that depend on one another take much longer to solve."""
    size = np.sqrt(np.maximum(np.abs(np.diag(A)), 1e-300))
    dependent = np.linalg.eigvalsh(A / np.outer(size, size))[0] < RANK
    return _ENUMERATED_DEPENDENT if dependent else _ENUMERATED


def _alternative(chosen: FeasibleMode, group: Sequence[int], way: FeasibleMode) -> FeasibleMode:
    """The chosen mode with another motion of one group."""
    modes = list(chosen.modes)
    for i, mode in zip(group, way.modes, strict=True):
        modes[i] = mode
    return chosen._replace(modes=tuple(modes))


# ---- shares of undetermined forces ---------------------------------------------------------------


def mode_share(
    A: FloatArray,
    b: FloatArray,
    candidates: Sequence[ContactCandidate],
    modes: Sequence[ContactMode],
) -> ForceShare | None:
    """The best share of the forces of a mode; None where the mode's equations contradict."""
    m = len(b)
    hold, K, r = np.zeros(m, dtype=bool), np.zeros((m, m)), np.zeros(m)
    diagonal = np.diag(A)
    size = np.sqrt(np.where(diagonal > 0.0, diagonal, 1.0))
    for c, mode in zip(candidates, modes, strict=True):
        if c.n is not None and mode.closed:
            hold[c.n] = True
        if c.t is None:
            continue
        hold[c.t] = mode.sticks
        if mode.closed and not mode.sticks:
            pull = mode.direction * mode.side * c.mu
            if c.pressed is not None:
                K[c.t] += pull * c.pressed
            elif c.n is not None:
                K[c.t, c.n] += pull
            r[c.t] -= pull * c.given
    K[hold], r[hold] = A[hold], -b[hold]
    free = np.flatnonzero(~hold)
    K[free, free] += 1.0
    K[free] *= (size * size)[free, np.newaxis]
    r[free] *= (size * size)[free]
    family = solution_family(K, r, size)
    if family is None:
        return None
    return best_share(*family, mode_inequalities(candidates, modes, m))
