"""Σ_j D_ij x_kj − T Δ_k f(z_ki) = 0: phases on meshes become one sparse nonlinear program.

Unknowns of a phase: the first state x_00, then z = (x, y, w) at every point of every interval; the
last point of an interval is the first node of the next, so there are no continuity rows. Parameters
and free durations follow.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import field, replace
from functools import cached_property, partial

import numpy as np

from dalembert.analysis.optimal.link_functions import LinkFunctions
from dalembert.analysis.optimal.phase import Range
from dalembert.analysis.optimal.phase_functions import NodeCondition, PhaseFunctions
from dalembert.analysis.optimal.point_function import Indices, PointFunction
from dalembert.analysis.optimal.program import (
    NOWHERE,
    OBJECTIVE,
    LinearPart,
    NonlinearProgram,
    PointTerm,
    Sizes,
)
from dalembert.analysis.optimal.scheme import Scheme, bernstein
from dalembert.foundation.array_types import FloatArray
from dalembert.foundation.deferred_dataclass import dataclass
from dalembert.symbolic.algebra.expression_graph import symbols_of

# rows of a boundary that may follow from other conditions: (phase, "start" or "end", number of the
# constraint)
ConstraintKey = tuple[int, str, int]


@dataclass(frozen=True, eq=False)
class Problem:
    """Phases, links, and what all phases share."""

    phases: tuple[PhaseFunctions, ...]
    links: tuple[LinkFunctions, ...]
    parameters: tuple[str, ...]
    parameter_ranges: tuple[Range, ...]


@dataclass(frozen=True, eq=False)
class PhaseLayout:
    """Where the unknowns of a phase lie in v."""

    mesh: FloatArray
    scheme: Scheme
    # the first state, and (x, y, w) at every point
    first: Indices
    points: Indices
    # the states at the ends of the intervals
    ends: Indices
    common: Indices

    @property
    def n_intervals(self) -> int:
        """N"""
        return len(self.mesh) - 1

    @property
    def widths(self) -> FloatArray:
        """Δ_k, as parts of the duration."""
        return np.diff(self.mesh)

    @cached_property
    def states(self) -> Indices:
        """(interval, node 0 … K, state)"""
        n_x, K = len(self.first), self.scheme.order
        x = self.points[:, :n_x].reshape(-1, K, n_x)
        begin = np.concatenate([self.first[None], self.ends[:-1]])
        return np.concatenate([begin[:, None], x], axis=1)

    @property
    def last(self) -> Indices:
        """The last state."""
        places: Indices = self.ends[-1]
        return places

    @cached_property
    def fractions(self) -> FloatArray:
        """τ of every point."""
        tau: FloatArray = self.mesh[:-1, None] + self.widths[:, None] * self.scheme.points
        return tau.ravel()


@dataclass(eq=False)
class _Rows:
    """Rows as they are collected."""

    lower: list[FloatArray] = field(default_factory=list)
    upper: list[FloatArray] = field(default_factory=list)
    scale: list[FloatArray] = field(default_factory=list)
    names: list[tuple[int, int, Callable[[int], str]]] = field(default_factory=list)
    count: int = 0

    def add(
        self,
        shape: tuple[int, ...],
        limits: Sequence[Range] | None,
        name: Callable[[int], str],
        scale: FloatArray | None = None,
    ) -> Indices:
        """FloatArray of new rows; the last axis counts the outputs, with their limits (0 where
        None).
        """
        size = int(np.prod(shape))
        rows = self.count + np.arange(size).reshape(shape)
        low, high = (
            (np.zeros(shape[-1]), np.zeros(shape[-1]))
            if limits is None
            else map(np.array, zip(*limits, strict=True))
        )
        repeat = size // max(shape[-1], 1)
        self.lower.append(np.tile(low, repeat))
        self.upper.append(np.tile(high, repeat))
        self.scale.append(np.tile(np.ones(shape[-1]) if scale is None else scale, repeat))
        self.names.append((self.count, size, name))
        self.count += size
        return rows

    def name(self, row: int) -> str:
        """What a row is called."""
        first, _, name = next(s for s in reversed(self.names) if s[0] <= row and s[1])
        return name(row - first)


def _always(text: str, _row: int) -> str:
    return text


class Transcription:
    """The program of a problem on meshes, and how to read its solution."""

    def __init__(
        self,
        problem: Problem,
        meshes: Sequence[FloatArray],
        scheme: Scheme,
        dropped: frozenset[ConstraintKey] = frozenset(),
        hulls: Sequence[frozenset[int]] | None = None,
    ) -> None:
        self.problem, self.scheme, self.dropped = problem, scheme, dropped
        self.n_variables = 0
        self.layouts = tuple(
            self._layout(p, mesh) for p, mesh in zip(problem.phases, meshes, strict=True)
        )
        self.theta = self._new(len(problem.parameters))
        self.layouts = tuple(
            self._with_common(p, layout)
            for p, layout in zip(problem.phases, self.layouts, strict=True)
        )
        self.link_unknowns = tuple(
            self._new(len(k.speeds) + len(k.impulses)) for k in problem.links
        )
        self.terms: list[PointTerm] = []
        self.linear: list[tuple[Indices, Indices, FloatArray]] = []
        self.rows = _Rows()
        # rows that make conditions at boundaries, and constraint rows there that may follow from
        # them
        self.condition_rows: list[Indices] = []
        self.constraint_rows: dict[ConstraintKey, int] = {}
        # dropped rows have no function and no limits
        self.rows_left_out: list[int] = []
        # rows of the motion of each phase: (interval, point, state)
        self.motion_rows: list[Indices] = []
        self.integral_rows: list[Indices] = []
        # rows of the ends of the intervals, where no point is there: (interval, state)
        self.end_rows: list[Indices] = []
        # (point, row) of motion, equations and path
        self.point_rows: list[Indices] = []
        self.upper = np.full(self.n_variables, math.inf)
        self.lower = -self.upper
        self._add_rows(hulls or ())

    def _add_rows(self, hulls: Sequence[frozenset[int]]) -> None:
        """The rows of all phases and links, and the limits of the constants that are found."""
        for k in range(len(self.problem.phases)):
            self._add_phase(k)
        for k in range(len(self.problem.links)):
            self._add_link(k)
        self._limit(self.theta, self.problem.parameter_ranges)
        for k, chosen in enumerate(hulls):
            self._add_hulls(k, sorted(chosen))

    # ---- variables ------------------------------------------------------------------------------

    def _new(self, count: int) -> Indices:
        places = self.n_variables + np.arange(count)
        self.n_variables += count
        return places

    def _layout(self, phase: PhaseFunctions, mesh: FloatArray) -> PhaseLayout:
        n_z, K, n_x = len(phase.equations.unknowns), self.scheme.order, phase.n_states
        first, count = self._new(n_x), (len(mesh) - 1) * K
        own = [j for j in range(n_z) if j not in phase.held]
        points = np.zeros((count, n_z), dtype=np.int64)
        points[:, own] = self._new(count * len(own)).reshape(count, len(own))
        if self.scheme.has_end:
            ends = points[K - 1 :: K, :n_x]
        else:
            ends = self._new((len(mesh) - 1) * n_x).reshape(-1, n_x)
        common = np.zeros(0, dtype=np.int64)
        layout = PhaseLayout(mesh, self.scheme, first, points, ends, common)
        for j, times in phase.held.items():
            samples = self._new(len(times) - 1)
            middle = np.repeat((mesh[:-1] + mesh[1:]) / 2.0, K)
            points[:, j] = samples[np.searchsorted(times, middle, side="right") - 1]
        return layout

    def _with_common(self, phase: PhaseFunctions, layout: PhaseLayout) -> PhaseLayout:
        theta = [self.theta[self.problem.parameters.index(n)] for n in phase.theta_names]
        duration = () if phase.span.is_point else self._new(1)
        common = np.array([*theta, *duration], dtype=np.int64)
        return replace(layout, common=common)

    def _limit(self, places: Indices, ranges: Sequence[Range]) -> None:
        for i, limits in zip(places.tolist(), ranges, strict=True):
            self.lower[i], self.upper[i] = (
                max(self.lower[i], limits.low),
                min(self.upper[i], limits.high),
            )

    # ---- a phase --------------------------------------------------------------------------------

    def _add_phase(self, k: int) -> None:
        phase, layout = self.problem.phases[k], self.layouts[k]
        n_x = phase.n_states
        for place, (low, high) in enumerate(zip(phase.lower, phase.upper, strict=True)):
            self.lower[layout.points[:, place]], self.upper[layout.points[:, place]] = low, high
        self.lower[layout.first], self.upper[layout.first] = phase.lower[:n_x], phase.upper[:n_x]
        if not phase.span.is_point:
            self._limit(layout.common[-1:], [phase.span])
        self._add_points(k)
        self._add_ends(k)
        self._add_node(k, "start", phase.start, layout.first, 0.0)
        self._add_node(k, "end", phase.end, layout.last, 1.0)
        for w in phase.way_points:
            at = int(np.argmin(np.abs(layout.mesh - w.fraction)))
            self._add_node(k, "way point", w.conditions, layout.ends[at - 1], w.fraction)
        self._add_first_constraints(k)
        self._add_periodic(k)
        if phase.end_cost != phase.tape.zero:
            function = phase.at_node([phase.end_cost], 1.0)
            self._add_term(
                phase,
                function,
                np.append(layout.last, layout.common)[None],
                np.full((1, 1), OBJECTIVE),
            )

    def _add_points(self, k: int) -> None:
        """(T f, equations, path, T c, T L) at every point: rows, integrals and cost."""
        phase, layout, K = self.problem.phases[k], self.layouts[k], self.scheme.order
        n_x, n_points = phase.n_states, len(layout.points)
        motion, equations, path, total = self._new_point_rows(phase, layout)
        self.motion_rows.append(motion.reshape(-1, K, n_x))
        self._add_derivatives(layout, motion.reshape(-1, K, n_x))
        first = equations.shape[1] - len(phase.equations.constraints)
        for j in range(len(phase.equations.constraints)):
            self._may_drop((k, "end", j), equations, (n_points - 1, first + j))
        self.integral_rows.append(total[0])
        own = np.column_stack([motion, equations, path])
        self.point_rows.append(own)
        n_costs = phase.point.n_outs - own.shape[1] - total.shape[1]
        cost = np.full((n_points, n_costs), OBJECTIVE)
        rows = np.column_stack([own, np.tile(total, (n_points, 1)), cost])
        h = np.repeat(layout.widths, K)[:, None]
        factors = np.ones(rows.shape)
        factors[:, :n_x] = -h
        factors[:, own.shape[1] :] = h * np.tile(self.scheme.weights, layout.n_intervals)[:, None]
        arguments = np.column_stack([layout.points, np.tile(layout.common, (n_points, 1))])
        p, at = phase.parameters_for(phase.point), layout.fractions[:, None]
        self.terms.append(PointTerm(phase.point, arguments, at, rows, factors, p))

    def _new_point_rows(
        self, phase: PhaseFunctions, layout: PhaseLayout
    ) -> tuple[Indices, Indices, Indices, Indices]:
        """Rows of motion, equations and path at every point, and of the integrals."""
        eq, n_points = phase.equations, len(layout.points)
        n_motion = len(eq.equations) - len(eq.constraints)
        texts = ["equations of motion"] * n_motion
        texts += [f"constraint {name!r}" for name in eq.constraint_names]

        def add(names: Sequence[str], limits: Sequence[Range] | None) -> Indices:
            n = max(len(names), 1)

            def name(j: int) -> str:
                return f"{names[j % n]} at {100.0 * layout.fractions[j // n]:.3g} % of the duration"

            return self.rows.add((n_points, len(names)), limits, name)

        motion = add([f"rate of {name}" for name in phase.names[: phase.n_states]], None)
        equations = add(texts, None)
        path = add([c.text for c in phase.path], [c.range for c in phase.path] or None)
        total = self.rows.add(
            (1, len(phase.integrals)),
            [c.range for c in phase.integrals] or None,
            lambda j: f"integral of {phase.integrals[j].text}",
        )
        return motion, equations, path, total

    def _may_drop(self, key: ConstraintKey, rows: Indices, place: tuple[int, int]) -> None:
        if key in self.dropped:
            self.rows_left_out.append(int(rows[place]))
            rows[place] = NOWHERE
        else:
            self.constraint_rows[key] = int(rows[place])

    def _add_derivatives(self, layout: PhaseLayout, rows: Indices) -> None:
        """Σ_j D_ij x_kj"""
        shape = (layout.n_intervals, self.scheme.order, self.scheme.order + 1, rows.shape[-1])
        r = np.broadcast_to(rows[:, :, None, :], shape)
        c = np.broadcast_to(layout.states[:, None], shape)
        D = np.broadcast_to(self.scheme.D[None, :, :, None], shape)
        self.linear.append((r.ravel(), c.ravel(), D.ravel()))

    def _add_ends(self, k: int) -> None:
        """x_{k+1} − Σ_j l_j(1) x_kj = 0 where the points do not include the end."""
        phase, layout, K = self.problem.phases[k], self.layouts[k], self.scheme.order
        n_x = phase.n_states
        if self.scheme.has_end:
            self.end_rows.append(np.zeros((0, n_x), dtype=np.int64))
            return
        self.lower[layout.ends], self.upper[layout.ends] = phase.lower[:n_x], phase.upper[:n_x]
        names = phase.names
        rows = self.rows.add(
            (layout.n_intervals, n_x), None, lambda j: f"end of an interval: {names[j % n_x]}"
        )
        self.end_rows.append(rows)
        self.linear.append((rows.ravel(), layout.ends.ravel(), np.ones(rows.size)))
        shape = (layout.n_intervals, K + 1, n_x)
        r = np.broadcast_to(rows[:, None, :], shape)
        weights = np.broadcast_to(-self.scheme.end_weights[None, :, None], shape)
        self.linear.append((r.ravel(), layout.states.ravel(), weights.ravel()))

    def _add_term(
        self, phase: PhaseFunctions, function: PointFunction, arguments: Indices, rows: Indices
    ) -> None:
        p = phase.parameters_for(function)
        self.terms.append(
            PointTerm(
                function, arguments, np.zeros((len(arguments), 0)), rows, np.ones(rows.shape), p
            )
        )

    def _add_node(
        self,
        k: int,
        what: str,
        conditions: Sequence[NodeCondition],
        states: Indices,
        fraction: float,
    ) -> None:
        """Conditions at a node: limits of a state, or rows."""
        phase = self.problem.phases[k]
        for c in conditions:
            if c.place is not None:
                self._limit(states[c.place : c.place + 1], [c.range])
        others = [c for c in conditions if c.place is None]
        if others:
            function = phase.at_node([c.node for c in others], fraction)
            rows = self.rows.add(
                (1, len(others)),
                [c.range for c in others],
                lambda j: f"{what}: {others[j].text} {others[j].range}",
            )
            self.condition_rows.append(rows[0, [c.range.is_point for c in others]])
            self._add_term(phase, function, np.append(states, self.layouts[k].common)[None], rows)

    def _add_first_constraints(self, k: int) -> None:
        """φ = 0 and A u + b = 0 at the first node, and path conditions of states alone."""
        phase, layout = self.problem.phases[k], self.layouts[k]
        eq = phase.equations
        unknown = {*eq.inputs, *eq.algebraic}

        def is_of_states(e: int) -> bool:
            return unknown.isdisjoint(symbols_of(phase.tape, (e,)))

        own = [j for j, e in enumerate(eq.constraints) if is_of_states(e)]
        path = [c for c in phase.path if is_of_states(c.node)]
        arguments = np.append(layout.first, layout.common)[None]
        if own:
            rows = self.rows.add(
                (1, len(own)), None, lambda j: f"start: constraint {eq.constraint_names[own[j]]!r}"
            )
            for place, j in enumerate(own):
                self._may_drop((k, "start", j), rows, (0, place))
            self._add_term(
                phase, phase.at_node([eq.constraints[j] for j in own], 0.0), arguments, rows
            )
        if path:
            rows = self.rows.add(
                (1, len(path)),
                [c.range for c in path],
                lambda j: f"start: {path[j].text} {path[j].range}",
            )
            self._add_term(phase, phase.at_node([c.node for c in path], 0.0), arguments, rows)

    def _add_periodic(self, k: int) -> None:
        """x(T) − x(0) = shift"""
        phase, layout = self.problem.phases[k], self.layouts[k]
        if not phase.periodic:
            return
        places = np.array([place for place, _ in phase.periodic])
        limits = [Range(shift, shift) for _, shift in phase.periodic]
        rows = self.rows.add(
            (1, len(places)), limits, lambda j: f"periodic: {phase.names[places[j]]}"
        )[0]
        self.condition_rows.append(rows)
        ones = np.ones(len(places))
        self.linear += [(rows, layout.last[places], ones), (rows, layout.first[places], -ones)]

    def _add_hulls(self, k: int, intervals: Sequence[int]) -> None:
        """Bounds of inputs between points, in some intervals: of the Bernstein coefficients of
        their polynomials.
        """
        phase, layout, K = self.problem.phases[k], self.layouts[k], self.scheme.order
        B = bernstein(self.scheme.points)
        first = phase.n_states + len(phase.equations.algebraic)
        for j in range(first, len(phase.names)):
            low, high = float(phase.lower[j]), float(phase.upper[j])
            if j in phase.held or not intervals or (math.isinf(low) and math.isinf(high)):
                continue
            text = f"{phase.names[j]} between points"
            rows = self.rows.add(
                (len(intervals), K), [Range(low, high)] * K, partial(_always, text)
            )
            columns = layout.points[:, j].reshape(-1, K)[list(intervals)]
            shape = (len(intervals), K, K)
            r = np.broadcast_to(rows[:, :, None], shape)
            c = np.broadcast_to(columns[:, None, :], shape)
            self.linear.append((r.ravel(), c.ravel(), np.broadcast_to(B, shape).ravel()))

    # ---- links ----------------------------------------------------------------------------------

    def _add_link(self, k: int) -> None:
        link, unknowns = self.problem.links[k], self.link_unknowns[k]
        before, layout = link.before, self.layouts[k]
        following = self.layouts[(k + 1) % len(self.layouts)]
        arguments = np.concatenate([layout.last, layout.common, unknowns])[None]
        names = [link.after.names[j] for j in link.targets]
        rows = self.rows.add((1, len(names)), None, lambda j: f"link {k + 1}: {names[j]}")
        self.condition_rows.append(rows[0])
        self._add_term(before, link.map, arguments, rows)
        self.linear.append((rows[0], following.first[list(link.targets)], np.ones(len(names))))
        if link.impact is None:
            return
        rows = self.rows.add((1, link.impact.n_outs), None, lambda _: f"link {k + 1}: impact")
        self.condition_rows.append(rows[0])
        self._add_term(before, link.impact, arguments, rows)
        pushes = [Range(0.0 if one_sided else -math.inf, math.inf) for one_sided in link.unilateral]
        self._limit(unknowns[len(link.speeds) :], pushes)

    # ---- the program ----------------------------------------------------------------------------

    def program(self, scale: FloatArray) -> NonlinearProgram:
        """The sparse program in variables of the size `scale`."""
        parts = [np.concatenate(column) for column in zip(*self.linear, strict=True)]
        linear = LinearPart(*parts)
        lower, upper, row_scale = (
            np.concatenate(x) for x in (self.rows.lower, self.rows.upper, self.rows.scale)
        )
        for row in self.rows_left_out:
            lower[row], upper[row] = -math.inf, math.inf
        for rows, layout in zip(self.motion_rows, self.layouts, strict=True):
            row_scale[rows] = 1.0 / scale[layout.first]
        for rows, layout in zip(self.end_rows, self.layouts, strict=True):
            row_scale[rows] = 1.0 / scale[layout.first]
        return NonlinearProgram(
            self.terms, linear, Sizes(self.lower, self.upper, scale, lower, upper, row_scale)
        )
