"""N ≥ 0, a_N ≥ 0, N a_N = 0; |T| ≤ μ_s N at rest, T = −s μ N in slip: the modes in which all of it holds.

w = A λ + b are accelerations, or velocities after an impact with impulses λ. Contacts are few: every mode is solved, all at once, and what
holds is kept. So it is seen where nothing holds, and where more than one motion does (Painlevé).
"""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from dalembert.errors import DalembertError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Numbers = NDArray[np.float64]

# inequalities hold but for this part of the largest force or acceleration
_SMALL: Final = 1e-9
_MOST: Final = 20_000
_RANK: Final = 1e-10


class TooManyContacts(DalembertError):
    """More contacts at once than every mode of them can be looked at."""


class ContactMode(NamedTuple):
    """What one contact does: closed or not, sticking or not, the direction in which it slips, the side on which N presses."""

    closed: bool = True
    sticks: bool = False
    direction: int = 0
    side: int = 1

    @property
    def text(self) -> str:
        """In a word."""
        if not self.closed:
            return "open"
        if self.sticks:
            return "sticks"
        return {0: "closed", 1: "slips +", -1: "slips −"}[self.direction]


OPEN: Final = ContactMode(closed=False)


@dataclass(frozen=True)
class Candidate:
    """One contact that may carry a force: the places of its rows, and what is known of it."""

    n: int | None
    t: int | None
    mu: float = 0.0
    mu_static: float = 0.0
    # the normal force that was given; with a row of its own, what is added to it in the cone
    given: float = 0.0
    # what the forces λ add to it, where it is the force of a row
    pressed: Numbers | None = None
    two_sided: bool = False
    # the sign of the slip velocity, 0 at rest
    slip: int = 0
    # what it does no longer, because it was just seen to end
    ended: tuple[ContactMode, ...] = ()

    def modes(self) -> list[ContactMode]:
        """All that it might do."""
        sides = (1, -1) if self.two_sided and self.t is not None else (1,)
        found = [] if self.n is None or self.two_sided else [OPEN]
        for side in sides:
            if self.t is None:
                found.append(ContactMode(side=side))
            elif self.slip:
                found.append(ContactMode(direction=self.slip, side=side))
            else:
                found += [ContactMode(sticks=True, side=side), *(ContactMode(direction=d, side=side) for d in (1, -1))]
        return [m for m in found if m not in self.ended] or found


class Holding(NamedTuple):
    """A mode in which everything holds."""

    modes: tuple[ContactMode, ...]
    lam: Numbers
    w: Numbers


class _Modes(NamedTuple):
    """All modes of some candidates: a row for each, a column for each candidate."""

    all: list[tuple[ContactMode, ...]]
    closed: NDArray[np.bool_]
    sticks: NDArray[np.bool_]
    direction: Numbers
    side: Numbers


@functools.lru_cache(maxsize=256)
def _modes(choices: tuple[tuple[ContactMode, ...], ...]) -> _Modes:
    count = math.prod(map(len, choices))
    if count > _MOST:
        msg = f"{len(choices)} contacts at once have {count} modes; this chapter is for a few contacts, use an engine made for many"
        raise TooManyContacts(msg)
    found = list(product(*choices))
    table = np.array(found, dtype=np.float64).reshape(count, len(choices), 4)
    return _Modes(found, table[:, :, 0] > 0.0, table[:, :, 1] > 0.0, table[:, :, 2], table[:, :, 3])


def holding(A: Numbers, b: Numbers, candidates: Sequence[Candidate]) -> list[Holding]:
    """Every mode that satisfies all equations and inequalities; rows of no candidate carry no force."""
    modes = _modes(tuple(tuple(c.modes()) for c in candidates))
    count, m = len(modes.all), len(b)
    K, r = np.zeros((count, m, m)), np.zeros((count, m))
    K[:, range(m), range(m)] = 1.0
    for i, c in enumerate(candidates):
        holds, sticks = modes.closed[:, i], modes.sticks[:, i]
        if c.n is not None:
            K[holds, c.n], r[holds, c.n] = A[c.n], -b[c.n]
        if c.t is not None:
            K[sticks, c.t], r[sticks, c.t] = A[c.t], -b[c.t]
            pull = np.where(holds & ~sticks, modes.direction[:, i] * modes.side[:, i] * c.mu, 0.0)
            if c.n is not None:
                K[:, c.t, c.n] += pull
            if c.pressed is not None:
                K[:, c.t] += pull[:, np.newaxis] * c.pressed
            r[:, c.t] -= pull * c.given
    dependent = _dependent(A, candidates)
    lam = _solved(K, r, dependent=dependent)
    w = lam @ A.T + b
    size = float(np.abs(b).max(initial=0.0))
    good = np.isfinite(lam).all(axis=1)
    if dependent:
        # not every set of rows that depend on one another can be satisfied
        left = np.abs(np.einsum("kij,kj->ki", K, lam) - r).max(axis=1, initial=0.0)
        good &= left <= _SMALL * (np.abs(r).max(axis=1, initial=0.0) + size)
    force = _SMALL * np.abs(lam).max(axis=1, initial=0.0)
    speed = _SMALL * (size + (np.abs(lam) @ np.abs(A).T).max(axis=1, initial=0.0))
    for i, c in enumerate(candidates):
        good &= _satisfied(c, i, modes, (lam, w), (force, speed))
    return [Holding(modes.all[k], lam[k], w[k]) for k in np.flatnonzero(good)]


def _satisfied(c: Candidate, i: int, modes: _Modes, found: tuple[Numbers, Numbers], small: tuple[Numbers, Numbers]) -> NDArray[np.bool_]:
    """The inequalities of one candidate in every mode."""
    (lam, w), (force, speed), closed, sticks = found, small, modes.closed[:, i], modes.sticks[:, i]
    own = 0.0 if c.n is None else lam[:, c.n] * modes.side[:, i]
    good = np.ones(len(lam), dtype=bool)
    given = c.given
    if c.pressed is not None:
        own, given = (lam @ c.pressed + c.given) * modes.side[:, i], 0.0
        good &= own >= -force
    if c.n is not None:
        if not c.two_sided or c.t is not None:
            good &= ~closed | (own >= -force)
        good &= closed | (w[:, c.n] >= -speed)
    if c.t is not None:
        good &= ~sticks | (np.abs(lam[:, c.t]) <= c.mu_static * (given + own) + force)
        if not c.slip:
            good &= sticks | ~closed | (modes.direction[:, i] * w[:, c.t] >= -speed)
    return good


def _dependent(A: Numbers, candidates: Sequence[Candidate]) -> bool:
    """Whether rows of the candidates depend on one another."""
    rows = [k for c in candidates for k in (c.n, c.t) if k is not None]
    if sum(c.n is not None for c in candidates) < 2:
        return False
    size = np.sqrt(np.abs(np.diag(A)[rows]))
    B = A[np.ix_(rows, rows)] / np.outer(size, size)
    return bool(np.linalg.eigvalsh((B + B.T) / 2)[0] < _RANK)


def _solved(K: Numbers, r: Numbers, *, dependent: bool) -> Numbers:
    """K⁻¹ r of many; where rows depend on one another the shortest solution, if there is one."""
    if dependent:
        return np.array([np.linalg.lstsq(k, x, rcond=_RANK)[0] for k, x in zip(K, r, strict=True)])
    try:
        found: Numbers = np.asarray(np.linalg.solve(K, r[..., np.newaxis])[..., 0], dtype=np.float64)
    except np.linalg.LinAlgError:
        return np.array([np.linalg.lstsq(k, x, rcond=_RANK)[0] for k, x in zip(K, r, strict=True)])
    return found


class NextMode(NamedTuple):
    """What happens next: the mode, or why there is none."""

    chosen: Holding | None
    several: tuple[Holding, ...] = ()


def chosen(found: Sequence[Holding], size: float) -> NextMode:
    """The one that sticks most; several where another motion, with other contacts closed or as many sticking, is as possible.

    `size` is that of the accelerations, or velocities, beside which a difference counts.
    """
    if not found:
        return NextMode(None)
    best = max(found, key=lambda h: (sum(m.sticks for m in h.modes), sum(m.closed for m in h.modes)))
    others = [h for h in found if np.abs(h.w - best.w).max(initial=0.0) > 1e-6 * size and _rivals(h, best)]
    return NextMode(best, (best, *others) if others else ())


def _rivals(a: Holding, b: Holding) -> bool:
    """Static friction alone lets a contact stick or slip; anything else is another motion."""
    closed = [m.closed for m in a.modes] != [m.closed for m in b.modes]
    return closed or sum(m.sticks for m in a.modes) == sum(m.sticks for m in b.modes)
