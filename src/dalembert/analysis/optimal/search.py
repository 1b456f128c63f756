"""From a guess to an answer: solve on a mesh, estimate the error of every interval, refine,
solve again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from dalembert.analysis.optimal.audit import IntervalErrors, OptimumAudit, audit_phase
from dalembert.analysis.optimal.boundary import dependent_constraints
from dalembert.analysis.optimal.guess import PhaseGuess, answer_curve, straight_line
from dalembert.analysis.optimal.initial_point import (
    initial_point,
    limit_stabilization,
    variable_scales,
)
from dalembert.analysis.optimal.mesh import (
    input_oscillates,
    is_same,
    overshooting_intervals,
    refine,
    uniform_mesh,
)
from dalembert.analysis.optimal.phase import BadOptimization
from dalembert.analysis.optimal.phase_functions import PhaseFunctions
from dalembert.analysis.optimal.program import NonlinearProgram
from dalembert.analysis.optimal.replay import PhaseAnswer
from dalembert.analysis.optimal.scheme import RULES
from dalembert.analysis.optimal.solver import ProgramSolution, solve, violations
from dalembert.analysis.optimal.transcription import ConstraintKey, Problem, Transcription
from dalembert.analysis.optimal.warm_start import carried_multipliers
from dalembert.errors import DalembertError, warn
from dalembert.foundation.array_types import FloatArray
from dalembert.foundation.deferred_dataclass import dataclass


@dataclass(frozen=True, kw_only=True)
class SearchOptions:
    """How a program is made and solved."""

    rule: str = "radau"
    order: int = 4
    intervals: int = 20
    tolerance: float = 1e-8
    most_refinements: int = 10
    most_intervals: int = 2000
    solver: str = "pounce"
    solver_tolerance: float = 1e-10
    most_iterations: int = 1000
    solver_options: dict[str, Any] | None = None
    scaling: bool = True
    # called with a text during the search
    show: Callable[[str], None] | None = None


@dataclass(frozen=True, eq=False)
class MeshPass:
    """One solve on one mesh."""

    intervals: int
    cost: float
    iterations: int
    worst_interval: float
    cost_error: float


@dataclass(frozen=True, eq=False)
class Answer:
    """A solution on its last mesh, and how it was reached."""

    problem: Problem
    transcription: Transcription
    program: NonlinearProgram
    solution: ProgramSolution
    phases: tuple[PhaseAnswer, ...]
    passes: tuple[MeshPass, ...]
    dropped: frozenset[ConstraintKey]
    options: SearchOptions

    def motion_multipliers(self, k: int) -> FloatArray:
        """λ of the rows of motion of a phase: (interval, point, state)."""
        multipliers: FloatArray = self.solution.multipliers[self.transcription.motion_rows[k]]
        return multipliers

    def interval_errors(self) -> list[IntervalErrors]:
        """The errors of all phases, by the integrator."""
        return [self.phase_errors(k) for k in range(len(self.phases))]

    def phase_errors(self, k: int) -> IntervalErrors:
        """The errors of one phase."""
        multipliers = self.solution.multipliers
        prices = multipliers[self.transcription.integral_rows[k]]
        ends = multipliers[self.transcription.end_rows[k]]
        return IntervalErrors(self.phases[k], self.motion_multipliers(k), prices, ends)

    @property
    def largest_violation(self) -> str:
        """The name of the row that is violated most, and by how much."""
        excess = violations(self.program, self.solution.v)
        row = int(np.argmax(excess)) if len(excess) else 0
        return f"{self.transcription.rows.name(row)}, by {excess[row]:.3g}" if len(excess) else ""


def search(
    problem: Problem,
    guesses: Sequence[PhaseGuess],
    theta: FloatArray,
    options: SearchOptions,
    *,
    refines: bool = True,
) -> Answer:
    """Solve and refine until every interval and the cost are as accurate as asked."""
    meshes = [
        uniform_mesh(p.phase.intervals or options.intervals, kept_fractions(p))
        for p in problem.phases
    ]
    answer, passes = solve_on_mesh(problem, meshes, guesses, theta, options), list[MeshPass]()
    contained = False
    while refines and answer.solution.converged and not answer.solution.interrupted:
        answer, errors = _with_errors(answer)
        if errors is None:
            break
        passes.append(_pass(answer, errors))
        finer = _finer_meshes(answer, errors, options)
        layouts = answer.transcription.layouts
        unchanged = all(is_same(m, p.mesh) for m, p in zip(finer, layouts, strict=True))
        many = sum(len(m) - 1 for m in finer) > options.most_intervals
        contained = contained or any(map(input_oscillates, answer.phases))
        if unchanged or many or len(passes) > options.most_refinements:
            answer = _polish(answer, contained=contained)
            break
        answer = solve_again(answer, finer, _all_intervals(finer) if contained else None)
    count = sum(p.layout.n_intervals for p in answer.phases)
    if not passes or passes[-1].intervals != count or not answer.solution.converged:
        passes.append(_pass(answer, None))
    return replace(answer, passes=tuple(passes))


def _with_errors(answer: Answer) -> tuple[Answer, list[IntervalErrors] | None]:
    """The errors of the intervals; None where these cannot be found, and the search ends."""
    try:
        return answer, answer.interval_errors()
    except KeyboardInterrupt:
        # between two solves the answer of the last mesh is the best one
        return replace(answer, solution=replace(answer.solution, interrupted=True)), None
    except DalembertError as failure:
        warn(
            f"optimize: the mesh was not refined, because the answer cannot be replayed: {failure}"
        )
        return answer, None


def _all_intervals(meshes: Sequence[FloatArray]) -> list[frozenset[int]]:
    return [frozenset(range(len(m) - 1)) for m in meshes]


def solve_again(
    answer: Answer, meshes: Sequence[FloatArray], hulls: Sequence[frozenset[int]] | None = None
) -> Answer:
    """Another solve that begins where an answer is."""
    guesses = [
        PhaseGuess(answer_curve(a.functions, a, straight_line(a.functions)), a.duration)
        for a in answer.phases
    ]
    theta = answer.solution.v[answer.transcription.theta]
    return solve_on_mesh(answer.problem, meshes, guesses, theta, answer.options, answer, hulls)


def _polish(answer: Answer, *, contained: bool) -> Answer:
    """A last solve with bounds that are not relaxed, and that hold between points where a
    polynomial left them, or everywhere.
    """
    meshes = [layout.mesh for layout in answer.transcription.layouts]
    outside = [overshooting_intervals(p) for p in answer.phases]
    hulls = _all_intervals(meshes) if contained else outside
    program = answer.program.sizes
    bounded = (np.isfinite(program.lower) | np.isfinite(program.upper)) & (
        program.lower < program.upper
    )
    if not (bounded.any() or (program.row_lower < program.row_upper).any()):
        return answer
    better = solve_again(answer, meshes, hulls)
    return better if better.solution.converged else answer


def _pass(answer: Answer, errors: Sequence[IntervalErrors] | None) -> MeshPass:
    count = sum(p.layout.n_intervals for p in answer.phases)
    worst = np.nan if errors is None else max(float(e.errors.max()) for e in errors)
    cost = np.nan if errors is None else sum(e.cost_error for e in errors)
    return MeshPass(count, answer.solution.cost, answer.solution.iterations, worst, cost)


def kept_fractions(phase: PhaseFunctions) -> list[float]:
    """Nodes that every mesh has: way points, and times at which held inputs change."""
    return [
        *(w.fraction for w in phase.way_points),
        *(float(t) for times in phase.held.values() for t in times),
    ]


def _finer_meshes(
    answer: Answer, errors: Sequence[IntervalErrors], options: SearchOptions
) -> list[FloatArray]:
    """Meshes split where errors are large, and everywhere where only the cost is inaccurate."""
    meshes = [
        refine(e.answer, e.refinement_errors, options.tolerance, kept_fractions(e.answer.functions))
        for e in errors
    ]
    cost_error = abs(sum(e.cost_error for e in errors))
    unchanged = all(is_same(m, e.answer.layout.mesh) for m, e in zip(meshes, errors, strict=True))
    if unchanged and cost_error > options.tolerance * max(abs(answer.solution.cost), 1e-3):
        meshes = [
            refine(
                e.answer,
                e.errors,
                max(float(np.median(e.errors)), 1e-14),
                kept_fractions(e.answer.functions),
            )
            for e in errors
        ]
    return meshes


def solve_on_mesh(
    problem: Problem,
    meshes: Sequence[FloatArray],
    guesses: Sequence[PhaseGuess],
    theta: FloatArray,
    options: SearchOptions,
    earlier: Answer | None = None,
    hulls: Sequence[frozenset[int]] | None = None,
) -> Answer:
    """One solve, from an answer on another mesh if there is one."""
    scheme = RULES[options.rule][0](options.order)
    dropped = frozenset[ConstraintKey]() if earlier is None else earlier.dropped
    transcription = Transcription(problem, meshes, scheme, dropped, hulls)
    v = initial_point(transcription, guesses, theta)
    limit_stabilization(transcription, v)
    scale = variable_scales(transcription, v, guesses) if options.scaling else np.ones(len(v))
    if earlier is None and (dropped := dependent_constraints(transcription, v, scale)):
        transcription = Transcription(problem, meshes, scheme, dropped, hulls)
        limit_stabilization(transcription, v)
    warm = None
    if earlier is not None and scheme.has_end:
        carried = carried_multipliers(earlier.transcription, earlier.solution, transcription)
        warm = carried.rows, carried.lower, carried.upper
    program = transcription.program(scale)
    _check_finite(transcription, program, v)
    solution = _solve_program(program, v, sum(len(m) - 1 for m in meshes), options, warm)
    solution = replace(solution, v=unwrap_angles(transcription, solution.v))
    phases = _phase_answers(transcription, solution.v)
    return Answer(problem, transcription, program, solution, phases, (), dropped, options)


def _phase_answers(transcription: Transcription, v: FloatArray) -> tuple[PhaseAnswer, ...]:
    """The solution phase by phase, each beginning where the one before ends."""
    phases, t0 = list[PhaseAnswer](), 0.0
    for functions, layout in zip(transcription.problem.phases, transcription.layouts, strict=True):
        phases.append(PhaseAnswer(functions, layout, v, t0))
        t0 += phases[-1].duration
    return tuple(phases)


def _solve_program(
    program: NonlinearProgram,
    v: FloatArray,
    count: int,
    options: SearchOptions,
    warm: tuple[FloatArray, FloatArray, FloatArray] | None,
) -> ProgramSolution:
    """The program of a mesh with this number of intervals, solved; the progress is shown."""
    report_progress = options.show

    def show(iteration: int, cost: float, violation: float) -> None:
        if report_progress is not None:
            state = f"iteration {iteration}: cost {cost:.9g}, violation {violation:.1e}"
            report_progress(f"{count} intervals, {state}")

    return solve(
        program,
        v,
        solver=options.solver,
        tolerance=options.solver_tolerance,
        most_iterations=options.most_iterations,
        options=options.solver_options,
        show=show,
        warm=warm,
    )


def _check_finite(transcription: Transcription, program: NonlinearProgram, v: FloatArray) -> None:
    """Refuse a guess at which the cost or a condition is not a number."""
    wrong = np.flatnonzero(~np.isfinite(program.rows(v)))
    what = "" if not len(wrong) else transcription.rows.name(int(wrong[0]))
    if not np.isfinite(program.cost(v)):
        what = "the cost"
    if what:
        msg = (
            f"optimize: {what} is not a finite number at the guess; check the expression, or give "
            f"bounds and a guess at which it is finite"
        )
        raise BadOptimization(msg)


def unwrap_angles(transcription: Transcription, v: FloatArray) -> FloatArray:
    """Unbounded inputs that enter as angles, made continuous: α and α + 2π are the same at a
    point, but not between points.
    """
    v = v.copy()
    for phase, layout in zip(transcription.problem.phases, transcription.layouts, strict=True):
        p = phase.parameters_for(phase.point)
        z = np.column_stack(
            [v[layout.points], np.tile(v[layout.common], (len(layout.points), 1)), layout.fractions]
        )
        first = phase.n_states + len(phase.equations.algebraic)
        for j in range(first, len(phase.names)):
            if j in phase.held or np.isfinite(phase.lower[j]) or np.isfinite(phase.upper[j]):
                continue
            turned = z.copy()
            turned[:, j] += 2.0 * np.pi
            straight = np.unwrap(z[:, j])
            same = np.allclose(
                phase.point.values(turned, p), phase.point.values(z, p), rtol=1e-9, atol=1e-9
            )
            if same and not np.array_equal(straight, z[:, j]):
                v[layout.points[:, j]] = straight
    return v


def audit_answer(answer: Answer) -> OptimumAudit:
    """All checks of an answer."""
    audits, free = [], False
    for phase, errors in zip(answer.phases, answer.interval_errors(), strict=True):
        functions = phase.functions
        applies = functions.autonomous and not functions.held
        low, high = functions.span
        free = free or (low < high and low + 1e-9 < phase.duration < high - 1e-9)
        audits.append(
            audit_phase(errors, tuple(w.fraction for w in functions.way_points), applies=applies)
        )
    s = answer.solution
    status = (
        s.status if s.converged else f"{s.status}; largest violation: {answer.largest_violation}"
    )
    return OptimumAudit(
        tuple(audits),
        answer.options.tolerance,
        s.converged,
        status,
        s.violation,
        s.dual_infeasibility,
        free,
    )
