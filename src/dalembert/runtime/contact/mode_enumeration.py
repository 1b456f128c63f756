"""N ≥ 0, a_N ≥ 0, N a_N = 0; |T| ≤ μ_s N at rest, T = −s μ N in slip: the modes in which all of it
holds.
Keywords: linear complementarity.

w = A λ + b are accelerations, or velocities after an impact with impulses λ. Contacts are few:
every mode is solved, all at once, and what holds is kept. So it is seen where nothing holds, and
where more than one motion does (Painlevé). Where forces are undetermined, a mode holds if some
share of them satisfies the inequalities.
"""

from __future__ import annotations

import ctypes
import math
import threading
from collections.abc import Sequence
from itertools import product
from typing import Any, Final, NamedTuple

import numpy as np

from dalembert.errors import DalembertError
from dalembert.foundation.array_types import FloatArray
from dalembert.foundation.caching import cached_call
from dalembert.runtime.contact.mode_enumeration_ir import (
    ALONG_SLIP,
    CHECKS,
    EXPORTS,
    FIELDS,
    IN_CONE,
    PRESSES,
    STAYS_OPEN,
    module_ir,
)
from dalembert.runtime.numerics.jit import Library, load
from dalembert.runtime.numerics.llvm_types import ctypes_structure
from dalembert.runtime.numerics.python_binding import data_address

_MOST: Final = 20_000
# tables that are kept for further runs
_MOST_TABLES: Final = 64
RANK: Final = 1e-10
# equations are satisfied up to this part of their terms
_CONSISTENT: Final = 1e-9


class TooManyContacts(DalembertError):
    """Too many interacting contacts to enumerate their modes."""


_SLIP_NAMES: Final = {0: "closed", 1: "slips +", -1: "slips −", 2: "slips"}


class ContactMode(NamedTuple):
    """What one contact does: closed or not, sticking or not, the direction in which it slips,
    the side on which N presses.
    """

    closed: bool = True
    sticks: bool = False
    direction: int = 0
    side: int = 1

    @property
    def text(self) -> str:
        """In a word."""
        if not self.closed:
            return "open" if self.side else "off"
        return "sticks" if self.sticks else _SLIP_NAMES[self.direction]


OPEN: Final = ContactMode(closed=False)
# not there at all: active= or an event has switched it off
OFF: Final = ContactMode(closed=False, side=0)
# slip in a plane: the direction is that of the velocity
PLANE_SLIP: Final = ContactMode(direction=2)


class ContactCandidate(NamedTuple):
    """One contact that may carry a force: the places of its rows, and its data."""

    n: int | None
    t: int | None
    mu: float = 0.0
    mu_static: float = 0.0
    # the normal force that was given; with a row of its own, what is added to it in the cone
    given: float = 0.0
    # what the forces λ add to it, where it is the force of a row
    pressed: FloatArray | None = None
    two_sided: bool = False
    # the sign of the slip velocity, 0 at rest
    slip: int = 0
    # what it does no longer, because it was just seen to end
    ended: tuple[ContactMode, ...] = ()
    # friction in a plane: the row of the second direction, and the direction of slip, None at rest
    t2: int | None = None
    heading: tuple[float, float] | None = None

    @property
    def own_rows(self) -> list[int]:
        """The rows of A along which its forces act."""
        return [k for k in (self.n, self.t, self.t2) if k is not None]

    @property
    def rows(self) -> list[int]:
        """The rows of A that it uses: its own, and those whose forces press it."""
        own = self.own_rows
        return own if self.pressed is None else [*own, *np.flatnonzero(self.pressed).tolist()]

    @property
    def tangents(self) -> list[int]:
        """The rows of its friction."""
        return [k for k in (self.t, self.t2) if k is not None]

    @property
    def fixed_heading(self) -> FloatArray | None:
        """The direction of a slip velocity that is not zero."""
        if self.t2 is None:
            return np.array([float(self.slip)]) if self.slip else None
        return None if self.heading is None else np.array(self.heading)

    def normal_force(self, lam: FloatArray) -> float:
        """N of its cone."""
        own = 0.0 if self.n is None else float(lam[self.n])
        return own + self.given + (0.0 if self.pressed is None else float(self.pressed @ lam))

    def normal_slope(self, m: int) -> FloatArray:
        """∂N/∂λ"""
        slope = np.zeros(m) if self.pressed is None else np.array(self.pressed, dtype=float)
        if self.n is not None:
            slope[self.n] += 1.0
        return slope

    def with_rows(self, rows: Sequence[int]) -> ContactCandidate:
        """The same with its rows numbered by their places in `rows`."""
        place: dict[int | None, int] = {k: i for i, k in enumerate(rows)}
        return self._replace(
            n=place.get(self.n),
            t=place.get(self.t),
            t2=place.get(self.t2),
            pressed=None if self.pressed is None else self.pressed[list(rows)],
        )

    @property
    def kind(self) -> _Kind:
        """What its modes follow from."""
        return self.n, self.t, self.two_sided, self.slip, self.ended


_Kind = tuple[int | None, int | None, bool, int, tuple[ContactMode, ...]]


def _modes_of(kind: _Kind) -> list[ContactMode]:
    """All that a candidate might do."""
    n, t, two_sided, slip, ended = kind
    found = [] if n is None or two_sided else [OPEN]
    for side in (1, -1) if two_sided and t is not None else (1,):
        if t is None:
            found.append(ContactMode(side=side))
        elif slip:
            found.append(ContactMode(direction=slip, side=side))
        else:
            found += [
                ContactMode(sticks=True, side=side),
                *(ContactMode(direction=d, side=side) for d in (1, -1)),
            ]
    return [m for m in found if m not in ended] or found


def mode_count(kinds: Sequence[_Kind]) -> int:
    """The number of modes of all candidates together."""
    return math.prod(len(_modes_of(kind)) for kind in kinds)


class FeasibleMode(NamedTuple):
    """A mode in which everything holds."""

    modes: tuple[ContactMode, ...]
    lam: FloatArray
    w: FloatArray


_Fields: Final = ctypes_structure(FIELDS)
_FUNCTION: Final = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p)


@cached_call
def _library() -> Library:
    return load(module_ir, EXPORTS)


class _ModeColumns(NamedTuple):
    """What each candidate does in each mode: a line for each mode, a column for each candidate."""

    closed: FloatArray
    sticks: FloatArray
    direction: FloatArray
    side: FloatArray

    @property
    def slips(self) -> FloatArray:
        """1 where a candidate is closed and does not stick."""
        return self.closed - self.sticks


def _rows_held(kinds: Sequence[_Kind], x: _ModeColumns, m: int) -> FloatArray:
    """1 for the rows without acceleration in each mode."""
    hold = np.zeros((len(x.closed), m))
    for i, (n, t, *_) in enumerate(kinds):
        if n is not None:
            hold[:, n] = x.closed[:, i]
        if t is not None:
            hold[:, t] = x.sticks[:, i]
    return hold


def _inequalities(kinds: Sequence[_Kind], x: _ModeColumns) -> FloatArray:
    """1 for what has to hold in each mode, by candidates."""
    must, slips = np.zeros((*x.closed.shape, CHECKS)), x.slips
    for i, (n, t, two_sided, slip, _) in enumerate(kinds):
        must[:, i, PRESSES] = x.closed[:, i] if t is not None or not two_sided else 0.0
        if n is not None:
            must[:, i, STAYS_OPEN] = 1.0 - x.closed[:, i]
        if t is not None:
            must[:, i, IN_CONE] = x.sticks[:, i]
            must[:, i, ALONG_SLIP] = 0.0 if slip else slips[:, i]
    return must


def _normal_rows(kinds: Sequence[_Kind], m: int) -> FloatArray:
    """∂N/∂λ of candidates whose N is the force of a row of their own."""
    G = np.zeros((len(kinds), m))
    for i, (n, *_) in enumerate(kinds):
        if n is not None:
            G[i, n] = 1.0
    return G


def _row_numbers(kinds: Sequence[_Kind]) -> dict[str, Any]:
    """The rows of N and T of each candidate, −1 for none."""
    return {
        name: np.array([-1 if kind[i] is None else kind[i] for kind in kinds], dtype=np.int64)
        for i, name in enumerate(("n", "t"))
    }


class _ModeTable:
    """All modes of candidates of certain kinds, a line for each, in memory that native code
    shares.
    """

    def __init__(self, kinds: tuple[_Kind, ...], m: int) -> None:
        count, k = mode_count(kinds), len(kinds)
        if count > _MOST:
            msg = (
                f"{k} contacts that interact have {count} modes; with guides and friction under "
                f"constraint forces at most {_MOST} are solved: describe fewer of them"
            )
            raise TooManyContacts(msg)
        self.all = list(product(*(_modes_of(kind) for kind in kinds)))
        table = np.array(self.all, dtype=np.float64).reshape(count, k, 4)
        columns = _ModeColumns(*(np.ascontiguousarray(table[:, :, i]) for i in range(4)))
        self.K, self.r, self.lam, self.w = (
            np.zeros((count, m, m)),
            *(np.zeros((count, m)) for _ in range(3)),
        )
        self.good, self.numbers = np.zeros(count), np.zeros((4, k))
        self.hold, self.G = _rows_held(kinds, columns, m), _normal_rows(kinds, m)
        arrays = {
            **_row_numbers(kinds),
            **dict(zip(("mu", "mu_static", "given", "own"), self.numbers, strict=True)),
            "hold": self.hold,
            "pull": columns.slips * columns.direction * columns.side,
            "side": columns.side,
            "direction": columns.direction,
            "must": _inequalities(kinds, columns),
            "G": self.G,
            "K": self.K,
            "r": self.r,
            "lam": self.lam,
            "w": self.w,
            "good": self.good,
            "room": np.zeros((m, m + 1)),
        }
        self._alive = arrays
        self.fields = _Fields(
            modes=count, rows=m, candidates=k, **{name: a.ctypes.data for name, a in arrays.items()}
        )
        self.at = ctypes.addressof(self.fields)
        # all rows, where more than one contact is among them
        self.rows = (
            [x for n, t, *_ in kinds for x in (n, t) if x is not None] if len(kinds) > 1 else []
        )

    def feasible(self, good: Sequence[Any]) -> list[FeasibleMode]:
        """The modes that are good, with their forces and accelerations."""
        return [
            FeasibleMode(self.all[k], self.lam[k].copy(), self.w[k].copy())
            for k, holds in enumerate(good)
            if holds
        ]


class _ThreadTables(threading.local):
    """{kinds, rows: table} of one thread; a search copies what it returns."""

    def __init__(self) -> None:
        self.tables: dict[tuple[tuple[_Kind, ...], int], _ModeTable] = {}


_THREAD: Final = _ThreadTables()


class ModeSearch:
    """Which modes hold, asked again and again for the same m rows."""

    def __init__(self, m: int) -> None:
        self._m, self._library = m, _library()
        self._systems, self._solve, self._check = (
            _FUNCTION(self._library.address(name)) for name in EXPORTS
        )

    def feasible_modes(
        self,
        A: FloatArray,
        b: FloatArray,
        candidates: Sequence[ContactCandidate],
    ) -> list[FeasibleMode]:
        """Every mode that satisfies all equations and inequalities; rows of no candidate carry
        no force.

        Forces of rows that depend on one another are those of least norm.
        """
        kinds = tuple([c.kind for c in candidates])
        tables, key = _THREAD.tables, (kinds, self._m)
        table = tables.get(key)
        if table is None:
            if len(tables) >= _MOST_TABLES:
                tables.clear()
            table = tables[key] = _ModeTable(kinds, self._m)
        A, b = np.ascontiguousarray(A), np.ascontiguousarray(b)
        table.fields.A, table.fields.b = data_address(A), data_address(b)
        for i, c in enumerate(candidates):
            table.numbers[:, i] = c.mu, c.mu_static, c.given, 0.0 if c.pressed is None else c.given
            if c.pressed is not None:
                table.G[i] = c.pressed
        self._systems(table.at)
        dependent = _is_singular(A, table.rows)
        if not (dependent or self._solve(table.at)):
            self._check(table.at)
            return table.feasible(table.good.tolist())
        consistent = _solve_families(table, A)
        self._check(table.at)
        good = zip(table.good.tolist(), consistent, strict=True)
        return table.feasible([bool(g) and c for g, c in good])


def _solve_families(table: _ModeTable, A: FloatArray) -> list[bool]:
    """λ of every mode, of least norm; and whether the mode's equations have a solution."""
    diagonal = np.diag(A)
    size = np.sqrt(np.where(diagonal > 0.0, diagonal, 1.0))
    consistent = []
    for k, (K, r) in enumerate(zip(table.K, table.r, strict=True)):
        weight = np.where(table.hold[k] == 0.0, size * size, 1.0)
        lam = _least_norm_solution(K * weight[:, np.newaxis], r * weight, size)
        consistent.append(lam is not None)
        if lam is not None:
            table.lam[k] = lam
    return consistent


def _least_norm_solution(K: FloatArray, r: FloatArray, size: FloatArray) -> FloatArray | None:
    """λ of least norm, measured by A_kk; None where K λ = r has no solution."""
    scaled, right = K / np.outer(size, size), r / size
    x = np.linalg.lstsq(scaled, right, rcond=RANK)[0]
    terms = np.abs(scaled) @ np.abs(x) + np.abs(right)
    if np.abs(scaled @ x - right).max(initial=0.0) > _CONSISTENT * terms.max(initial=0.0):
        return None
    return np.asarray(x / size)


def _is_singular(A: FloatArray, rows: list[int]) -> bool:
    """Whether rows depend on one another."""
    if not rows:
        return False
    size = np.sqrt(np.abs(np.diag(A)[rows]))
    B = A[np.ix_(rows, rows)] / np.outer(size, size)
    return bool(np.linalg.eigvalsh((B + B.T) / 2)[0] < RANK)


class NextMode(NamedTuple):
    """What happens next: the mode, or why there is none."""

    chosen: FeasibleMode | None
    alternatives: tuple[FeasibleMode, ...] = ()


def select_mode(found: Sequence[FeasibleMode], size: float) -> NextMode:
    """The one that sticks most; several where another motion, with other contacts closed or as many
    sticking, is as possible.

    `size` is that of the accelerations, or velocities, relative to which a difference counts.
    """
    if not found:
        return NextMode(None)
    if len(found) == 1:
        return NextMode(found[0])
    best = max(
        found, key=lambda h: (sum(m.sticks for m in h.modes), sum(m.closed for m in h.modes))
    )
    others = [
        h
        for h in found
        if np.abs(h.w - best.w).max(initial=0.0) > 1e-6 * size and _is_ambiguous(h, best)
    ]
    return NextMode(best, (best, *others) if others else ())


def _is_ambiguous(a: FeasibleMode, b: FeasibleMode) -> bool:
    """Static friction alone lets a contact stick or slip; anything else is another motion."""
    closed = [m.closed for m in a.modes] != [m.closed for m in b.modes]
    return closed or sum(m.sticks for m in a.modes) == sum(m.sticks for m in b.modes)
