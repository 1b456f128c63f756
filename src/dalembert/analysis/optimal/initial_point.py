"""The point at which the solver begins: the guess on the mesh, and the sizes of its variables.

Accelerations and multipliers that a guess leaves at zero follow from it: a = u̇ of the polynomial
through the speeds, and λ as the least-squares solution of ID(q, u, a) − Aᵀλ − w = 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from dalembert.analysis.optimal.guess import PhaseGuess, onto_constraints
from dalembert.analysis.optimal.phase_functions import PhaseFunctions
from dalembert.analysis.optimal.transcription import PhaseLayout, Transcription
from dalembert.foundation.array_types import FloatArray

_STABILIZATION: Final = 0.1
# singular values of Aᵀ below this part of the largest carry no multiplier
_SINGULAR: Final = 1e-2


def initial_point(
    transcription: Transcription, guesses: Sequence[PhaseGuess], theta: FloatArray
) -> FloatArray:
    """The guess on the mesh; speeds after impacts begin with those before."""
    v = np.zeros(transcription.n_variables)
    v[transcription.theta] = theta
    for phase, layout, guess in zip(
        transcription.problem.phases, transcription.layouts, guesses, strict=True
    ):
        if not phase.span.is_point:
            v[layout.common[-1]] = guess.duration
        fractions = np.append(0.0, layout.fractions)
        z = onto_constraints(phase, guess.curve(fractions), v[layout.common], fractions)
        v[layout.first], v[layout.points] = z[0, : phase.n_states], z[1:]
        if not layout.scheme.has_end:
            v[layout.ends] = guess.curve(layout.mesh[1:])[:, : phase.n_states]
        if phase.equations.multipliers:
            _set_accelerations(phase, layout, v)
            _set_multipliers(phase, layout, v)
    for k, (link, places) in enumerate(
        zip(transcription.problem.links, transcription.link_unknowns, strict=True)
    ):
        if link.speeds:
            kin = link.before.equations.evaluator.kin
            at = [link.before.equations.states.index(u) for u in kin.u]
            v[places[: len(at)]] = v[transcription.layouts[k].last[at]]
    return v


def _set_accelerations(phase: PhaseFunctions, layout: PhaseLayout, v: FloatArray) -> None:
    """a = Σ_j D_ij u_kj / (T Δ_k), where the guess has no accelerations."""
    eq = phase.equations
    speeds = [eq.states.index(u) for u in eq.evaluator.kin.u]
    places = layout.points[:, phase.n_states : phase.n_states + len(speeds)]
    if v[places].any():
        return
    duration = phase.span.low if phase.span.is_point else float(v[layout.common[-1]])
    slopes = np.einsum("ij,kjr->kir", layout.scheme.D, v[layout.states][:, :, speeds])
    a = slopes / (layout.widths[:, None, None] * duration)
    v[places] = a.reshape(-1, len(speeds))


def _set_multipliers(phase: PhaseFunctions, layout: PhaseLayout, v: FloatArray) -> None:
    """λ of least squares in the equations of motion, where the guess has none."""
    n_x, n_u = phase.n_states, len(phase.equations.evaluator.kin.u)
    columns = slice(n_x + n_u, n_x + n_u + len(phase.equations.multipliers))
    if v[layout.points[:, columns]].any():
        return
    common = np.tile(v[layout.common], (len(layout.points), 1))
    z = np.column_stack([v[layout.points], common, layout.fractions])
    p, motion = phase.parameters_for(phase.point), slice(n_x, n_x + n_u)
    residual = phase.point.values(z, p)[:, motion, None]
    A_T = phase.point.jacobian(z, p)[:, motion, columns]
    lam = -np.linalg.pinv(A_T, rcond=_SINGULAR) @ residual
    if np.isfinite(lam).all():
        v[layout.points[:, columns]] = lam[:, :, 0]


def limit_stabilization(transcription: Transcription, v: FloatArray) -> None:
    """|Gᵀγ| ≤ a tenth of the size of the coordinates over the duration: a solver must not jump
    to another branch of φ = 0.
    """
    for phase, layout in zip(transcription.problem.phases, transcription.layouts, strict=True):
        eq = phase.equations
        count, z = len(eq.gamma), v[layout.points]
        if not count:
            continue
        q = [eq.states.index(i) for i in eq.evaluator.kin.q]
        J = phase.constraint_values(z, v[layout.common], layout.fractions)[1][:, :count][:, :, q]
        size = max(float(np.abs(z[:, q]).max()), 1e-3) / (
            phase.span.low if phase.span.is_point else float(v[layout.common[-1]])
        )
        limit = _STABILIZATION * size / np.maximum(np.abs(J).max(axis=(0, 2)), 1e-6)
        places = layout.points[
            :, phase.n_states + len(eq.algebraic) - count : phase.n_states + len(eq.algebraic)
        ]
        transcription.lower[places], transcription.upper[places] = -limit, limit


def variable_scales(
    transcription: Transcription, v: FloatArray, guesses: Sequence[PhaseGuess]
) -> FloatArray:
    """Sizes of variables: from their bounds, else from the guess, else from sizes of coordinates
    over the duration.
    """
    scale = np.ones(len(v))
    for phase, layout, guess in zip(
        transcription.problem.phases, transcription.layouts, guesses, strict=True
    ):
        values = np.abs(v[layout.points]).max(axis=0)
        bound = np.maximum(np.abs(phase.lower), np.abs(phase.upper))
        size = np.where(np.isfinite(bound) & (bound > 0.0), bound, values)
        for level in (1, 2):
            # speeds, then accelerations
            for j, name in enumerate(phase.names):
                base = name.removesuffix(".dot")
                if name.count(".dot") == level and size[j] == 0.0 and base in phase.names:
                    size[j] = size[phase.names.index(base)] / max(guess.duration, 1e-6)
        size = np.where(size > 0.0, size, 1.0)
        scale[layout.points] = size
        scale[layout.first] = scale[layout.ends] = size[: phase.n_states]
        if not phase.span.is_point:
            scale[layout.common[-1]] = max(guess.duration, 1e-6)
    theta = np.abs(v[transcription.theta])
    scale[transcription.theta] = np.where(theta > 0.0, theta, 1.0)
    return scale
