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
# bound; states are integrals and leave theirs by much less
_OVERSHOOT: Final = 2e-5
_TOUCH: Final = 1e-7
# intervals in succession in which an input leaves its bounds
_OSCILLATION: Final = 5
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
    phase, layout = answer.functions, answer.layout
    first, wanted = phase.n_states + len(phase.equations.algebraic), list[float]()
    fine = unknowns_at(answer, np.linspace(0.0, 1.0, _SAMPLES)).reshape(
        layout.n_intervals, _SAMPLES, -1
    )
    for j in (*range(phase.n_states), *range(first, len(phase.names))):
        values = answer.point_values[:, :, j]
        spread = float(np.ptp(values)) or 1.0
        for bound, side in ((phase.lower[j], -1.0), (phase.upper[j], 1.0)):
            if np.isfinite(bound) and j not in phase.held:
                above = side * (values - bound) / spread, side * (fine[:, :, j] - bound) / spread
                wanted += _kinks(layout, *above, touches=j < first)
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


def input_oscillates(answer: PhaseAnswer) -> bool:
    """Whether an input leaves its bounds in many intervals in succession.

    A kink concerns one interval or two. On a singular arc, where the cost does not contain the
    input to second order, the values at the points alternate.
    """
    outside, longest, run = overshooting_intervals(answer), 0, 0
    for k in range(answer.layout.n_intervals):
        run = run + 1 if k in outside else 0
        longest = max(longest, run)
    return longest >= _OSCILLATION


def _kinks(
    layout: PhaseLayout, values: FloatArray, fine: FloatArray, *, touches: bool
) -> list[float]:
    """Fractions at which values ≤ 0 reach or leave zero, in intervals whose polynomial exceeds
    zero.
    """
    points, places = layout.scheme.points, list[float]()
    least = _TOUCH if touches else _OVERSHOOT
    active = values > -_ACTIVE
    for k in np.flatnonzero((fine.max(axis=1) > least) & active.any(axis=1) & ~active.all(axis=1)):
        begin, width = layout.mesh[k], layout.widths[k]
        for i in np.flatnonzero(active[k, 1:] != active[k, :-1]):
            low, high = begin + width * points[i], begin + width * points[i + 1]
            free = k - 1 if active[k, i + 1] else k + 1
            root = (
                _continued_root(layout, values, int(free), (low, high), touches=touches)
                if 0 <= free < len(values) and not active[free].any()
                else None
            )
            places.append(0.5 * (low + high) if root is None else root)
    # a free interval whose polynomial crosses zero near its end: the node there is not quite at the
    # kink
    for k in np.flatnonzero((fine.max(axis=1) > least) & ~active.any(axis=1)):
        begin, width = layout.mesh[k], layout.widths[k]
        root = _continued_root(layout, values, int(k), (begin, begin + width), touches=touches)
        places.append(begin + 0.5 * width if root is None else root)
    return places


def _continued_root(
    layout: PhaseLayout, values: FloatArray, k: int, span: tuple[float, float], *, touches: bool
) -> float | None:
    """The zero of the polynomial of interval k between two fractions, inside it or not; of one
    that only touches zero, as a state does with its bound, the place where it is largest.
    """
    at = np.linspace(*span, _SAMPLES)
    own = basis(layout.scheme.points, (at - layout.mesh[k]) / layout.widths[k]) @ values[k]
    change = np.flatnonzero(np.sign(own[1:]) != np.sign(own[:-1]))
    if not len(change):
        j = int(np.argmax(own))
        return float(at[j]) if touches and 0 < j < len(at) - 1 else None
    j = int(change[0])
    return float(at[j] + (at[j + 1] - at[j]) * own[j] / (own[j] - own[j + 1]))


def overshoots(answer: PhaseAnswer) -> list[Overshoot]:
    """By how much states, inputs and path conditions leave their bounds between nodes."""
    layout, s = answer.layout, np.linspace(0.0, 1.0, _SAMPLES)
    fractions = (layout.mesh[:-1, None] + layout.widths[:, None] * s).ravel()
    listed = []
    for place, (name, x, low, high) in enumerate(_limited_curves(answer, s, fractions)):
        if np.isinf(low) and np.isinf(high):
            continue
        excess = np.maximum(low - x, x - high)
        at = int(np.argmax(excess))
        spread = high - low if np.isfinite(high - low) and high > low else float(np.ptp(x)) or 1.0
        time = answer.t0 + answer.duration * fractions[at]
        relative = float(excess[at] / spread)
        listed.append(Overshoot(name, time, float(excess[at]), relative, place))
    return listed


def _limited_curves(
    answer: PhaseAnswer, s: FloatArray, fractions: FloatArray
) -> list[tuple[str, FloatArray, float, float]]:
    """(name, values, low, high) of unknowns and path conditions at parts s of every interval."""
    phase, z = answer.functions, unknowns_at(answer, s)
    curves = [(phase.names[j], z[:, j], phase.lower[j], phase.upper[j]) for j in range(z.shape[1])]
    if phase.path:
        full = np.column_stack([z, np.tile(answer.common, (len(z), 1)), fractions])
        values = phase.point.values(full, phase.parameters_for(phase.point))
        begin = phase.n_states + len(phase.equations.equations)
        curves += [
            (c.text, values[:, begin + k], c.range.low, c.range.high)
            for k, c in enumerate(phase.path)
        ]
    return curves


def unknowns_at(answer: PhaseAnswer, s: FloatArray) -> FloatArray:
    """(x, y, w) at parts s of every interval, by its polynomials: a row for each."""
    layout, n_x = answer.layout, answer.functions.n_states
    scheme = layout.scheme
    x = np.einsum("sj,kjr->ksr", basis(scheme.nodes, s), answer.v[layout.states])
    y = np.einsum("sj,kjr->ksr", basis(scheme.points, s), answer.point_values[:, :, n_x:])
    return np.concatenate([x, y], axis=2).reshape(-1, n_x + y.shape[2])
