"""det A_D ≠ 0: independent speeds that are regular at a point.

Where nobody declared speeds, the rows are solved for m of the rates z, A_D z_D = −b − A_I z_I, and z_I are the speeds. The choice
that serves in general may be singular at one position; there another one is made, by the largest pivots.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import numpy as np

from dalembert.arrays import Numbers
from dalembert.kinematics.system_kinematics import Kinematics, all_rates, with_dependent
from dalembert.states.evaluator import Evaluator

# smallest over largest singular value of A_D, rows of unit length, below which another choice is looked for
_SINGULAR: Final = 1e-6


def regular_kinematics(kin: Kinematics, q: Numbers, numbers: Mapping[int, float], t: float, *, other: bool = False) -> Kinematics:
    """The same system with speeds that are regular at q; kin itself where its own are, or where speeds were declared.

    With `other`, a choice that solves for as few as possible of the rates that kin solves for: its own may be singular nearby.
    """
    if not kin.moving_pivots or kin.system.speed_list or kin.redundant or kin.nonlinear:
        return kin
    A, z = _rows(kin, q, numbers, t)
    if not np.isfinite(A).all():
        return kin
    own = {kin.name(u) for u in (*kin.u, *_nearest_rates(kin, q, numbers, t))}
    dependent = [k for k, name in enumerate(z) if name not in own]
    if not other and _quality(A, dependent) > _SINGULAR:
        return kin
    weights = np.where(np.isin(np.arange(len(z)), dependent), _SINGULAR if other else 1.0, 1.0)
    pivots = _largest_pivots(A * weights)
    return kin if _quality(A, pivots) <= _SINGULAR else with_dependent(kin, tuple(z[k] for k in pivots))


def _rows(kin: Kinematics, q: Numbers, numbers: Mapping[int, float], t: float) -> tuple[Numbers, list[str]]:
    """A at q in all rates z, rows of unit length, and the names of z."""
    rates = all_rates(kin)
    evaluator = Evaluator(rates, numbers)
    state: dict[Any, float] = dict(zip(rates.q, q.tolist(), strict=True)) | {evaluator.time: t}
    state |= dict.fromkeys((*rates.u, *rates.x), 0.0)
    A = np.zeros((len(rates.velocity_rows), rates.n_u))
    for j, row in enumerate(evaluator.kin.velocity_rows):
        A[j, list(row.A)] = evaluator.floats([evaluator.reduced(a) for a in row.A.values()], state)
    lengths = np.linalg.norm(A, axis=1, keepdims=True)
    return A / np.where(lengths > 0.0, lengths, 1.0), [rates.name(u) for u in rates.u]


def _nearest_rates(kin: Kinematics, q: Numbers, numbers: Mapping[int, float], t: float) -> list[int]:
    """For each speed v = b ẋ − a ẏ along an edge the one of its two rates that is most like it at q."""
    evaluator = Evaluator(kin, numbers)
    state: dict[Any, float] = dict(zip(kin.q, q.tolist(), strict=True)) | {evaluator.time: t}
    found = []
    for v, parts in kin.along_edges.items():
        sizes = evaluator.floats([evaluator.reduced(a) for a in parts.values()], state)
        found += [list(parts)[int(np.argmax(np.abs(sizes)))]] if v in kin.u else []
    return found


def _quality(A: Numbers, columns: list[int]) -> float:
    """The smallest singular value of A_D as a part of the largest of A."""
    if len(columns) != len(A):
        return 0.0
    sizes = np.linalg.svd(A[:, columns], compute_uv=False)
    return float(sizes.min(initial=np.inf) / max(np.linalg.norm(A, 2), np.finfo(float).tiny)) if len(A) else 1.0


def _largest_pivots(A: Numbers) -> list[int]:
    """Columns by Gauss's elimination with complete pivoting; among equals the rate declared last depends on the others."""
    A, found = A.copy(), []
    for k in range(len(A)):
        size = np.abs(A[k:])
        if not (largest := size.max(initial=0.0)) > 0.0:
            break
        row, column = max(map(tuple, np.argwhere(size >= (1 - 1e-6) * largest)), key=lambda place: (place[1], -place[0]))
        A[[k, k + row]] = A[[k + row, k]]
        A[k + 1 :] -= np.outer(A[k + 1 :, column] / A[k, column], A[k])
        found.append(int(column))
    return sorted(found)
