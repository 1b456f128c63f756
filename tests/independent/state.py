"""φ(q, t) = 0, A q̇ + b = 0: the state nearest to a drawn one at which every row holds, by
Newton's method in 60 digits.
"""

from __future__ import annotations

from independent.description import Description
from independent.motion import Motion
from independent.places import Real, mp, real
from independent.rows import ScalarRow, scalar_rows

_MOST_STEPS = 40
_SMALL = mp.mpf(10) ** -30
# rows with smaller coefficients than this say nothing
_NOTHING = mp.mpf(10) ** -18


class Rejected(Exception):
    """A draw that makes no good example: rows that do not close, a state near a singularity,
    numbers too large.
    """


def consistent(d: Description) -> tuple[Motion, list[ScalarRow]]:
    """The motion at a consistent state, and all rows."""
    rows = scalar_rows(d)
    q = {x: real(d.guess[x]) for x in d.coordinates}
    rates = {x: real(d.rates[x]) for x in d.coordinates}
    normalise(d, q)
    held = [row for row in rows if row.holonomic]
    for _ in range(_MOST_STEPS):
        motion = Motion(d, q, rates)
        error = [row.value(motion.here, motion.here, motion.values()) for row in held]
        if max(map(abs, error), default=mp.zero) < _SMALL:
            break
        step = least_change(
            [[motion.row_partial(row, x) for x in q] for row in held], error, len(q)
        )
        # far away a whole step may lead astray
        size = max(map(abs, step))
        shorter = min(mp.one, mp.mpf("0.4") / size) if size else mp.one
        for x, change in zip(q, step, strict=True):
            q[x] -= shorter * change
        normalise(d, q)
    else:
        msg = "the rows do not close"
        raise Rejected(msg)
    motion = Motion(d, q, rates)
    error = [motion.row_rate(row) for row in rows]
    step = least_change([[motion.row_partial(row, x) for x in q] for row in rows], error, len(q))
    for x, change in zip(q, step, strict=True):
        rates[x] = rates[x] - change if abs(rates[x] - change) > _SMALL else mp.zero
    return Motion(d, q, rates), rows


def normalise(d: Description, q: dict[str, Real]) -> None:
    """Quaternions to length 1."""
    for link in d.links:
        e = [n for n in link.names if n.startswith("e")]
        if e:
            length = mp.sqrt(sum((q[n] ** 2 for n in e), mp.zero))
            q |= {n: q[n] / length for n in e}


def least_change(A: list[list[Real]], error: list[Real], n: int) -> list[Real]:
    """The shortest x with A x = error, rows without coefficients left out; rows that repeat
    others are combined with these.
    """
    pairs = [
        (row, e)
        for row, e in zip(A, error, strict=True)
        if max(map(abs, row), default=mp.zero) > _NOTHING
    ]
    if not pairs:
        return [mp.zero] * n
    matrix, right = mp.matrix([row for row, _ in pairs]), mp.matrix([e for _, e in pairs])
    U, S, V = mp.svd_r(matrix)
    kept = [k for k in range(len(S)) if S[k] > mp.mpf(10) ** -12 * S[0]]
    if S[kept[-1]] < mp.mpf(10) ** -3 * S[0]:
        msg = "near a singular position"
        raise Rejected(msg)
    along = U.T * right
    return [sum((V[k, j] * along[k] / S[k] for k in kept), mp.zero) for j in range(n)]
