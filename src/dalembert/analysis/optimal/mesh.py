"""Where a mesh is refined: intervals whose error is too large, jumps of inputs, and bounds that are
crossed between nodes.

Source: for the number of parts, the order K + 1 of the local error of a collocation polynomial.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from dalembert.analysis.optimal.replay import PhaseAnswer
from dalembert.analysis.optimal.scheme import basis
from dalembert.analysis.optimal.transcription import PhaseLayout
from dalembert.foundation.array_types import FloatArray
from dalembert.foundation.deferred_dataclass import dataclass

_MOST_PARTS: Final = 4
_SAMPLES: Final = 41
# a node that is nearer than this part of the interval is moved to where one is wanted
_NEAR: Final = 0.1
_SAME: Final = 1e-9
# an unknown that leaves its bounds by more than this part of its range, and one that is nearer to a
# bound
_OVERSHOOT: Final = 2e-5
_ACTIVE: Final = 1e-6
_NARROWEST: Final = 1e-5


@dataclass(frozen=True, eq=False)
class Overshoot:
    """An input or a state that leaves its bounds between nodes."""

    name: str
    time: float
    excess: float
    # relative to the distance between the bounds
    relative: float
    # the place of the unknown; behind all unknowns for a path condition
    place: int


def uniform_mesh(intervals: int, kept: Sequence[float]) -> FloatArray:
    """Even intervals, with nodes at the fractions that are kept."""
    mesh = np.unique(np.concatenate([np.linspace(0.0, 1.0, intervals + 1), kept]))
    close = np.flatnonzero(np.diff(mesh) < 1e-9)
    mesh = np.delete(mesh, close)
    mesh[0], mesh[-1] = 0.0, 1.0
    return mesh


def refine(
    answer: PhaseAnswer, errors: FloatArray, tolerance: float, kept: Sequence[float]
) -> FloatArray:
    """A finer mesh; the same one where nothing is to be refined."""
    layout, K = answer.layout, answer.layout.scheme.order
    parts = np.clip(
        np.ceil((errors / (0.5 * tolerance)) ** (1.0 / (K + 1))), 1, _MOST_PARTS
    ).astype(int)
    parts[errors <= tolerance] = 1
    pieces = [
        np.linspace(a, b, m, endpoint=False)
        for a, b, m in zip(layout.mesh[:-1], layout.mesh[1:], parts, strict=True)
    ]
    mesh = np.concatenate([*pieces, [1.0]])
    return _with_nodes(mesh, switching_fractions(answer), kept)


def _with_nodes(mesh: FloatArray, wanted: Sequence[float], kept: Sequence[float]) -> FloatArray:
    """A mesh with a node at each place: one that is near is moved there, unless it is to be
    kept.
    """
    for x in wanted:
        k = int(np.clip(np.searchsorted(mesh, x) - 1, 0, len(mesh) - 2))
        near = k if x - mesh[k] < mesh[k + 1] - x else k + 1
        if abs(x - mesh[near]) > max(_NEAR * (mesh[k + 1] - mesh[k]), _NARROWEST):
            mesh = np.insert(mesh, k + 1, x)
        elif 0 < near < len(mesh) - 1 and not any(abs(mesh[near] - y) < _SAME for y in kept):
            mesh = mesh.copy()
            mesh[near] = x
    return mesh


def is_same(first: FloatArray, second: FloatArray) -> bool:
    """Whether two meshes have the same nodes."""
    return len(first) == len(second) and bool(np.abs(first - second).max() <= _SAME)


def switching_fractions(answer: PhaseAnswer) -> list[float]:
    """Where an input reaches or leaves a bound inside an interval, and where a state or a path
    condition leaves its bounds.

    The input of such an interval has a kink, which its polynomial cannot follow: it leaves the
    bound between points. The polynomial of the neighbour on the free side, continued to the bound,
    says where the kink is.
    """
    eq, layout = answer.functions.equations, answer.layout
    first = len(eq.states) + len(eq.algebraic)
    s = np.linspace(0.0, 1.0, _SAMPLES)
    wanted = list[float]()
    for w in range(len(eq.inputs)):
        if first + w in answer.functions.held:
            continue
        values = answer.point_values[:, :, first + w]
        fine = values @ basis(layout.scheme.points, s).T
        for bound, side in (
            (answer.functions.lower[first + w], -1.0),
            (answer.functions.upper[first + w], 1.0),
        ):
            if np.isfinite(bound):
                spread = float(np.ptp(values)) or 1.0
                wanted += _kinks(
                    layout, side * (values - bound) / spread, side * (fine - bound) / spread
                )
    outside = [
        o for o in overshoots(answer) if o.relative > _OVERSHOOT and o.place < len(eq.states)
    ]
    wanted += [(o.time - answer.t0) / answer.duration for o in outside]
    return sorted(set(wanted))


def overshooting_intervals(answer: PhaseAnswer) -> frozenset[int]:
    """The intervals in which an input leaves its bounds between points."""
    phase, layout = answer.functions, answer.layout
    first = phase.n_states + len(phase.equations.algebraic)
    lower, upper = phase.lower[first:], phase.upper[first:]
    fine = np.einsum(
        "sj,kjw->ksw",
        basis(layout.scheme.points, np.linspace(0.0, 1.0, _SAMPLES)),
        answer.point_values[:, :, first:],
    )
    spread = np.where(np.isfinite(upper - lower), upper - lower, 1.0)
    excess = np.maximum(lower - fine, fine - upper) / np.where(spread > 0.0, spread, 1.0)
    return frozenset(np.flatnonzero((excess > _OVERSHOOT).any(axis=(1, 2))).tolist())


def _kinks(layout: PhaseLayout, values: FloatArray, fine: FloatArray) -> list[float]:
    """Fractions at which values ≤ 0 reach or leave zero, in intervals whose polynomial exceeds
    zero.
    """
    points, places = layout.scheme.points, list[float]()
    active = values > -_ACTIVE
    for k in np.flatnonzero(
        (fine.max(axis=1) > _OVERSHOOT) & active.any(axis=1) & ~active.all(axis=1)
    ):
        begin, width = layout.mesh[k], layout.widths[k]
        for i in np.flatnonzero(active[k, 1:] != active[k, :-1]):
            low, high = begin + width * points[i], begin + width * points[i + 1]
            free = k - 1 if active[k, i + 1] else k + 1
            root = (
                _continued_root(layout, values, int(free), low, high)
                if 0 <= free < len(values) and not active[free].any()
                else None
            )
            places.append(0.5 * (low + high) if root is None else root)
    # a free interval whose polynomial crosses zero near its end: the node there is not quite at the
    # kink
    for k in np.flatnonzero((fine.max(axis=1) > _OVERSHOOT) & ~active.any(axis=1)):
        begin, width = layout.mesh[k], layout.widths[k]
        root = _continued_root(layout, values, int(k), begin, begin + width)
        places.append(begin + 0.5 * width if root is None else root)
    return places


def _continued_root(
    layout: PhaseLayout, values: FloatArray, k: int, low: float, high: float
) -> float | None:
    """The zero of the polynomial of interval k between two fractions, inside it or not."""
    at = np.linspace(low, high, _SAMPLES)
    own = basis(layout.scheme.points, (at - layout.mesh[k]) / layout.widths[k]) @ values[k]
    change = np.flatnonzero(np.sign(own[1:]) != np.sign(own[:-1]))
    if not len(change):
        return None
    j = int(change[0])
    return float(at[j] + (at[j + 1] - at[j]) * own[j] / (own[j] - own[j + 1]))


def overshoots(answer: PhaseAnswer) -> list[Overshoot]:
    """By how much states, inputs and path conditions leave their bounds between nodes."""
    phase, layout = answer.functions, answer.layout
    s = np.linspace(0.0, 1.0, _SAMPLES)
    z = unknowns_at(answer, s)
    fractions = (layout.mesh[:-1, None] + layout.widths[:, None] * s).ravel()
    columns = [(phase.names[j], z[:, j], phase.lower[j], phase.upper[j]) for j in range(z.shape[1])]
    if phase.path:
        full = np.column_stack([z, np.tile(answer.common, (len(z), 1)), fractions])
        values = phase.point.values(full, phase.parameters_for(phase.point))
        begin = phase.n_states + len(phase.equations.equations)
        columns += [
            (c.text, values[:, begin + k], c.range.low, c.range.high)
            for k, c in enumerate(phase.path)
        ]
    listed = []
    for place, (name, x, low, high) in enumerate(columns):
        if np.isinf(low) and np.isinf(high):
            continue
        excess = np.maximum(low - x, x - high)
        at = int(np.argmax(excess))
        spread = (
            high - low if np.isfinite(high - low) and high > low else max(float(np.ptp(x)), 1.0)
        )
        listed.append(
            Overshoot(
                name,
                answer.t0 + answer.duration * fractions[at],
                float(excess[at]),
                float(excess[at] / spread),
                place,
            )
        )
    return listed


def unknowns_at(answer: PhaseAnswer, s: FloatArray) -> FloatArray:
    """(x, y, w) at parts s of every interval, by its polynomials: a row for each."""
    layout, n_x = answer.layout, answer.functions.n_states
    scheme = layout.scheme
    x = np.einsum("sj,kjr->ksr", basis(scheme.nodes, s), answer.v[layout.states])
    y = np.einsum("sj,kjr->ksr", basis(scheme.points, s), answer.point_values[:, :, n_x:])
    return np.concatenate([x, y], axis=2).reshape(-1, n_x + y.shape[2])
