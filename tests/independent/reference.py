"""Σ m (r̈ − g)·∂r/∂q = Q + Aᵀλ, A q̈ + γ = 0: accelerations, energies, multipliers and drive loads
of particles, in 60 digits.

d'Alembert's principle for the particles of every cloud, with nothing but their positions; the
saddle system is solved by mpmath.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from independent.description import Description
from independent.motion import Motion
from independent.places import Configuration, Real, Three, at, dot, minus, mp, real, three, times
from independent.rows import ScalarRow
from independent.state import Rejected, consistent

_WORST_CONDITION = 1e5
_LARGEST = 1e4
_NOTHING = mp.mpf(10) ** -18


@dataclass(frozen=True)
class Solution:
    """A consistent state and everything the equations of motion say about it."""

    d: Description
    motion: Motion
    rows: list[ScalarRow]
    A: list[list[Real]]
    # forces at sites and torques on links, without weights
    forces: list[tuple[int, Three]]
    torques: list[tuple[int, Three]]
    qdd: dict[str, Real]
    multipliers: list[Real]
    accelerations: Configuration
    T: Real
    V: Real
    drives: dict[str, Real]
    # λ without the rows that say nothing: directions in which they may change while Aᵀλ does not
    free: np.ndarray


def solve(d: Description) -> Solution:
    """The reference of one system; Rejected where it makes no good example."""
    motion, rows = consistent(d)
    names = list(d.coordinates)
    forces, torques = loads(motion)
    A = [[motion.row_partial(row, x) for x in names] for row in rows]
    _check_sense(motion, rows, A)
    masses = [real(m) for body in d.masses for m, _ in body.cloud]
    columns = [motion.partials[x].particles for x in names]
    M = [
        [
            sum((m * dot(a, b) for m, a, b in zip(masses, x, y, strict=True)), mp.zero)
            for y in columns
        ]
        for x in columns
    ]
    right = [-_needed(motion, x, forces, torques, motion.bias) for x in names]
    gamma = [motion.row_bias(row) for row in rows]
    qdd, lam = _saddle(M, A, right, gamma, rows)
    total = motion.bias
    for x, value in zip(names, qdd, strict=True):
        total = total.combined(1, motion.partials[x], value)
    T = (
        sum(
            (m * dot(v, v) for m, v in zip(masses, motion.velocity.particles, strict=True)), mp.zero
        )
        / 2
    )
    drives = {x: _drive(motion, x, forces, torques, total, rows, lam) for x in d.specified}
    values = dict(zip(names, qdd, strict=True))
    return Solution(
        d,
        motion,
        rows,
        A,
        forces,
        torques,
        values,
        lam,
        total,
        T,
        potential_energy(motion),
        drives,
        _free(A),
    )


def _check_sense(motion: Motion, rows: list[ScalarRow], A: list[list[Real]]) -> None:
    """Refuse draws that nobody would declare, and attitudes that only look equal."""
    d, c = motion.d, motion.here
    kinds = {row.name: row for row in d.rows}
    for row, a in zip(rows, A, strict=True):
        if (
            not row.is_norm
            and kinds[row.label].kind not in ("coincide", "close", "roll")
            and max(map(abs, a)) < _NOTHING
        ):
            msg = "a row that says nothing"
            raise Rejected(msg)
    for name in {row.label for row in rows if not row.is_norm}:
        # rows of a plane loop across its plane say nothing, but not all of them
        if all(
            max(map(abs, a)) < _NOTHING for row, a in zip(rows, A, strict=True) if row.label == name
        ):
            msg = "a loop that is closed for every position"
            raise Rejected(msg)
    for load in d.loads:
        if load.kind == "damper":
            P, Q = load.at or 0, load.against or 0
            r = minus(c.site(P), c.site(Q))
            if all(
                abs(dot(r, minus(J.site(P), J.site(Q)))) < _NOTHING
                for J in motion.partials.values()
            ):
                msg = "a damper between points that keep their distance"
                raise Rejected(msg)
    for closing in [row for row in d.rows if row.joint in ("weld", "slide")]:
        B, C = (c.R(d.sites[end or 0].link) for end in (closing.P, closing.Q))
        if sum((dot(b, e) for b, e in zip(B, C, strict=True)), mp.zero) < 2.99:
            msg = "frames that are not equal"
            raise Rejected(msg)


# ---- loads ---------------------------------------------------------------------------------------


def loads(motion: Motion) -> tuple[list[tuple[int, Three]], list[tuple[int, Three]]]:
    """Forces at sites (springs and dampers too) and torques on links."""
    d, c, v = motion.d, motion.here, motion.velocity
    forces, torques = [], []
    for load in d.loads:
        if load.kind in ("force", "torque"):
            x, y, z = (motion.text(text) for text in load.texts)
            F = at(c.R(load.along), (x, y, z))
        elif load.kind in ("spring", "damper"):
            assert load.at is not None
            assert load.against is not None
            r, dr = (minus(k.site(load.at), k.site(load.against)) for k in (c, v))
            length = mp.sqrt(dot(r, r))
            if length < 0.1:
                msg = "a spring without length"
                raise Rejected(msg)
            numbers = [motion.text(text) for text in load.texts]
            pull = (
                numbers[0] * (length - numbers[1])
                if load.kind == "spring"
                else numbers[0] * dot(r, dr) / length
            )
            F = times(-pull / length, r)
        else:
            continue
        ends = [(load.at, F), (load.against, times(-1, F))]
        if load.kind == "torque":
            torques += [(d.masses[body].link, T) for body, T in ends if body is not None]
        else:
            forces += [(site, f) for site, f in ends if site is not None]
    return forces, torques


def potential_energy(motion: Motion) -> Real:
    """Σ ½ k (l − l₀)² + Σ V − Σ m g·r"""
    d, c, total = motion.d, motion.here, mp.zero
    for load in d.loads:
        if load.kind == "spring":
            assert load.at is not None
            assert load.against is not None
            r = minus(c.site(load.at), c.site(load.against))
            total += (
                motion.text(load.texts[0])
                * (mp.sqrt(dot(r, r)) - motion.text(load.texts[1])) ** 2
                / 2
            )
        elif load.kind == "potential":
            total += motion.text(load.texts[0])
    masses = [real(m) for body in d.masses for m, _ in body.cloud]
    for m, r in zip(masses, c.particles, strict=True):
        total -= m * dot(three(d.gravity), r)
    return total


def _needed(
    motion: Motion,
    x: str,
    forces: list[tuple[int, Three]],
    torques: list[tuple[int, Three]],
    a: Configuration,
) -> Real:
    """Σ m (a − g)·∂r/∂x − Σ F·∂r/∂x − Σ T·∂θ/∂x + ∂V/∂x + ∂D/∂ẋ"""
    d, J, g = motion.d, motion.partials[x], three(motion.d.gravity)
    masses = [real(m) for body in d.masses for m, _ in body.cloud]
    total = sum(
        (m * dot(minus(b, g), j) for m, b, j in zip(masses, a.particles, J.particles, strict=True)),
        mp.zero,
    )
    total -= sum((dot(F, J.site(site)) for site, F in forces), mp.zero)
    total -= sum((dot(T, motion.here.spin(J, link)) for link, T in torques), mp.zero)
    for load in d.loads:
        if load.kind == "potential":
            total += motion.text_partial(load.texts[0], x)
        elif load.kind == "dissipation":
            total += motion.text_partial(load.texts[0], f"{x}_dot")
    return total


def _drive(
    motion: Motion,
    x: str,
    forces: list[tuple[int, Three]],
    torques: list[tuple[int, Three]],
    a: Configuration,
    rows: list[ScalarRow],
    lam: list[Real],
) -> Real:
    """What must be exerted along x for it to move as it does."""
    held = sum(
        (k * motion.row_partial(row, x) for k, row in zip(lam, rows, strict=True) if k), mp.zero
    )
    return _needed(motion, x, forces, torques, a) - held


# ---- the saddle system ---------------------------------------------------------------------------


def _saddle(
    M: list[list[Real]],
    A: list[list[Real]],
    right: list[Real],
    gamma: list[Real],
    rows: list[ScalarRow],
) -> tuple[list[Real], list[Real]]:
    """M q̈ − Aᵀλ = right, A q̈ = −γ; then λ of least norm over all rows that say something."""
    n = len(M)
    own = [j for j, row in enumerate(rows) if not row.redundant and max(map(abs, A[j])) > _NOTHING]
    size = n + len(own)
    if len(own) >= n:
        msg = "nothing is free to move"
        raise Rejected(msg)
    K = mp.matrix(size, size)
    for i in range(n):
        for j in range(n):
            K[i, j] = M[i][j]
        for j, row in enumerate(own):
            K[i, n + j], K[n + j, i] = -A[row][i], A[row][i]
    _check_condition(K)
    x = mp.lu_solve(K, mp.matrix([*right, *(-gamma[j] for j in own)]))
    lam = [mp.zero] * len(rows)
    for k, j in enumerate(own):
        lam[j] = x[n + k]
    if any(row.redundant for row in rows):
        lam = _least_norm(A, lam)
    found = [x[i] for i in range(n)]
    if max(map(abs, [*found, *lam])) > _LARGEST:
        msg = "numbers too large for a comparison in doubles"
        raise Rejected(msg)
    return found, lam


def _least_norm(A: list[list[Real]], lam: list[Real]) -> list[Real]:
    """The shortest λ with the same Aᵀλ."""
    own = [j for j, row in enumerate(A) if max(map(abs, row)) > _NOTHING]
    U, S, _ = mp.svd_r(mp.matrix([A[j] for j in own]))
    kept = [k for k in range(len(S)) if S[k] > mp.mpf(10) ** -12 * S[0]]
    found = [mp.zero] * len(lam)
    for k in kept:
        share = sum((U[i, k] * lam[j] for i, j in enumerate(own)), mp.zero)
        for i, j in enumerate(own):
            found[j] += share * U[i, k]
    return found


def _check_condition(K: Real) -> None:
    """Far from singular once rows and columns are scaled alike."""
    matrix = np.array(K.tolist(), dtype=float)
    scale = np.sqrt(np.abs(matrix).max(axis=0))
    if not np.all(scale > 0) or np.linalg.cond(matrix / np.outer(scale, scale)) > _WORST_CONDITION:
        msg = "nearly singular"
        raise Rejected(msg)


def independent_rates(s: Solution) -> list[str]:
    """Coordinates whose rates determine all others: those that elimination with the largest
    pivots leaves over.
    """
    names, rest = list(s.qdd), [[float(a) for a in row] for row in s.A]
    left, matrix = list(range(len(names))), np.array(rest).reshape(len(rest), len(names))
    for _ in range(int(np.linalg.matrix_rank(matrix, tol=1e-10)) if matrix.size else 0):
        i, j = np.unravel_index(np.argmax(np.abs(matrix)), matrix.shape)
        left.remove(int(j))
        matrix = matrix - np.outer(matrix[:, j] / matrix[i, j], matrix[i])
        matrix[i] = 0
    return [names[k] for k in left]


def _free(A: list[list[Real]]) -> np.ndarray:
    """Columns: changes of λ, the rows that say nothing included, that leave Aᵀλ as it is."""
    if not A:
        return np.zeros((0, 0))
    matrix = np.array([[float(a) for a in row] for row in A])
    U, S, _ = np.linalg.svd(matrix)
    rank = int(np.sum(np.max(S, initial=0.0) * 1e-10 < S)) if S.size else 0
    return U[:, rank:]
