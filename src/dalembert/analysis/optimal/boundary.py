"""Conditions at the ends and constraint equations there: rows that follow from the others are
recognised and dropped.

A cart-pole in Cartesian coordinates whose end positions are all given satisfies its constraint
equation already: one more row would make the program singular. The test is the rank of the rows at
a generic point that satisfies the conditions.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from dalembert.analysis.optimal.phase import BadOptimization
from dalembert.analysis.optimal.program import NonlinearProgram
from dalembert.analysis.optimal.transcription import ConstraintKey, Transcription
from dalembert.foundation.array_types import FloatArray

_STEPS: Final = 25
_DEPENDENT: Final = 1e-7
_CONSISTENT: Final = 1e-6
_SPREAD: Final = 0.05


def dependent_constraints(
    transcription: Transcription, v: FloatArray, scale: FloatArray
) -> frozenset[ConstraintKey]:
    """Constraint rows at the ends that the conditions there imply; contradictions are refused."""
    if not transcription.constraint_rows:
        return frozenset()
    program = transcription.program(scale)
    conditions = np.concatenate([np.zeros(0, dtype=np.int64), *transcription.condition_rows])
    everything = np.append(conditions, [*transcription.constraint_rows.values()])
    v = _onto_conditions(program, everything, _generic(transcription, v, scale))
    g = program.rows(v)
    for key, row in transcription.constraint_rows.items():
        if abs(g[row]) > _CONSISTENT:
            raise BadOptimization(_contradiction(transcription, key, float(g[row])))
    free = np.flatnonzero(program.sizes.lower < program.sizes.upper)
    J = _jacobian(program, v, scale)[:, free]
    basis, dropped = _row_space(J[conditions]), set[ConstraintKey]()
    for key, row in transcription.constraint_rows.items():
        a = J[row] - basis.T @ (basis @ J[row])
        a -= basis.T @ (basis @ a)
        size = np.linalg.norm(J[row])
        if size > 0.0 and np.linalg.norm(a) > _DEPENDENT * size:
            basis = np.vstack([basis, a / np.linalg.norm(a)])
        else:
            dropped.add(key)
    return frozenset(dropped)


def _contradiction(transcription: Transcription, key: ConstraintKey, residual: float) -> str:
    k, where, j = key
    phase = transcription.problem.phases[k]
    given = ", ".join(
        f"{c.text} {c.range}" for c in (phase.start if where == "start" else phase.end)
    )
    name = phase.equations.constraint_names[j]
    return (
        f"{where}: {given} contradict the constraint {name!r} by {residual:.6g}; change a "
        f"value, or leave one out"
    )


def _generic(transcription: Transcription, v: FloatArray, scale: FloatArray) -> FloatArray:
    """The guess, moved a little where it is free."""
    draw = np.random.default_rng(1)
    moved: FloatArray = v + _SPREAD * scale * draw.standard_normal(len(v))
    low, high = transcription.lower, transcription.upper
    fixed = low == high
    moved[fixed] = low[fixed]
    return moved


def _onto_conditions(program: NonlinearProgram, rows: FloatArray, v: FloatArray) -> FloatArray:
    """The nearest point at which the conditions hold, by Gauss and Newton."""
    target, free = program.sizes.row_lower[rows], program.sizes.lower < program.sizes.upper
    for _ in range(_STEPS if len(rows) else 0):
        residual = program.rows(v)[rows] - target
        if np.abs(residual).max() < 1e-12:
            break
        J = _jacobian(program, v, np.ones(len(v)))[rows][:, free]
        step, *_ = np.linalg.lstsq(J, -residual, rcond=None)
        v = v.copy()
        v[free] += step
    return v


def _jacobian(program: NonlinearProgram, v: FloatArray, scale: FloatArray) -> FloatArray:
    from scipy.sparse import csr_array

    _, entries = program.slopes(v)
    places = program.jacobian_rows, program.jacobian_columns
    J: FloatArray = csr_array(
        (entries * scale[places[1]], places), shape=(program.m, program.n)
    ).toarray()
    return J


def _row_space(J: FloatArray) -> FloatArray:
    """An orthonormal basis of the rows."""
    if not J.size:
        return np.zeros((0, J.shape[1]))
    _, s, Vt = np.linalg.svd(J, full_matrices=False)
    return Vt[s > _DEPENDENT * max(float(s[0]), 1e-300)]
