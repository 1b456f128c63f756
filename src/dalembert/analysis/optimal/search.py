"""From a guess to an answer: solve on a mesh, estimate the error of every interval, refine, solve again."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from dalembert.analysis.optimal.audit import Audit, IntervalErrors, audit_phase
from dalembert.analysis.optimal.boundary import dependent_constraints
from dalembert.analysis.optimal.guess import PhaseGuess, answer_curve, straight_line
from dalembert.analysis.optimal.mesh import is_same, refine, uniform_mesh
from dalembert.analysis.optimal.phase_functions import PhaseFunctions
from dalembert.analysis.optimal.program import Program
from dalembert.analysis.optimal.replay import PhaseAnswer
from dalembert.analysis.optimal.scheme import radau
from dalembert.analysis.optimal.solver import Solution, solve, violations
from dalembert.analysis.optimal.transcription import ConstraintKey, Problem, Transcription
from dalembert.analysis.optimal.warm_start import carried_multipliers
from dalembert.arrays import Numbers
from dalembert.errors import DalembertError, warn

@dataclass(frozen=True, kw_only=True)
class SearchOptions:
    """How a program is made and solved."""

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
    # called with a text while the search goes on
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
    program: Program
    solution: Solution
    phases: tuple[PhaseAnswer, ...]
    passes: tuple[MeshPass, ...]
    dropped: frozenset[ConstraintKey]
    options: SearchOptions

    def motion_multipliers(self, k: int) -> Numbers:
        """λ of the rows of motion of a phase: (interval, point, state)."""
        multipliers: Numbers = self.solution.multipliers[self.transcription.motion_rows[k]]
        return multipliers

    def interval_errors(self) -> list[IntervalErrors]:
        """The errors of all phases, by the integrator."""
        return [IntervalErrors(phase, self.motion_multipliers(k)) for k, phase in enumerate(self.phases)]

    @property
    def largest_violation(self) -> str:
        """The name of the row that is violated most, and by how much."""
        excess = violations(self.program, self.solution.v)
        row = int(np.argmax(excess)) if len(excess) else 0
        return f"{self.transcription.rows.name(row)}, by {excess[row]:.3g}" if len(excess) else ""


def search(problem: Problem, guesses: Sequence[PhaseGuess], theta: Numbers, options: SearchOptions, *, refines: bool = True) -> Answer:
    """Solve and refine until every interval and the cost are as accurate as asked."""
    meshes = [uniform_mesh(p.phase.intervals or options.intervals, kept_fractions(p)) for p in problem.phases]
    passes, answer = list[MeshPass](), None
    while True:
        answer = solve_on_mesh(problem, meshes, guesses, theta, options, answer)
        solution = answer.solution
        if not (refines and solution.converged) or solution.interrupted:
            passes.append(_pass(answer, None))
            break
        try:
            errors = answer.interval_errors()
        except DalembertError as problem_:
            warn(f"optimize: the mesh was not refined, because the answer cannot be replayed: {problem_}")
            passes.append(_pass(answer, None))
            break
        passes.append(_pass(answer, errors))
        finer = _finer_meshes(answer, errors, options)
        total = sum(len(m) - 1 for m in finer)
        if all(map(is_same, finer, meshes)):
            break
        if len(passes) > options.most_refinements or total > options.most_intervals:
            warn(f"optimize: {sum(len(m) - 1 for m in meshes)} intervals do not reach the tolerance {options.tolerance:.1e}; see the audit")
            break
        meshes = finer
        guesses = [PhaseGuess(answer_curve(a.functions, a, straight_line(a.functions)), a.duration) for a in answer.phases]
        theta = solution.v[answer.transcription.theta]
    return replace(answer, passes=tuple(passes))


def _pass(answer: Answer, errors: Sequence[IntervalErrors] | None) -> MeshPass:
    count = sum(p.layout.n_intervals for p in answer.phases)
    worst = np.nan if errors is None else max(float(e.errors.max()) for e in errors)
    cost = np.nan if errors is None else sum(e.cost_error for e in errors)
    return MeshPass(count, answer.solution.cost, answer.solution.iterations, worst, cost)


def kept_fractions(phase: PhaseFunctions) -> list[float]:
    """Nodes that every mesh has: way points, and times at which held inputs change."""
    return [*(w.fraction for w in phase.way_points), *(float(t) for times in phase.held.values() for t in times)]


def _finer_meshes(answer: Answer, errors: Sequence[IntervalErrors], options: SearchOptions) -> list[Numbers]:
    """Meshes split where errors are large, and everywhere where only the cost is inaccurate."""
    meshes = [refine(e.answer, e.errors, options.tolerance, kept_fractions(e.answer.functions)) for e in errors]
    cost_error = abs(sum(e.cost_error for e in errors))
    unchanged = all(is_same(m, e.answer.layout.mesh) for m, e in zip(meshes, errors, strict=True))
    if unchanged and cost_error > options.tolerance * max(abs(answer.solution.cost), 1e-3):
        meshes = [refine(e.answer, e.errors, max(float(np.median(e.errors)), 1e-14), kept_fractions(e.answer.functions)) for e in errors]
    return meshes


def solve_on_mesh(
    problem: Problem,
    meshes: Sequence[Numbers],
    guesses: Sequence[PhaseGuess],
    theta: Numbers,
    options: SearchOptions,
    earlier: Answer | None = None,
) -> Answer:
    """One solve, from an answer on another mesh if there is one."""
    scheme = radau(options.order)
    transcription = Transcription(problem, meshes, scheme, frozenset() if earlier is None else earlier.dropped)
    v = initial_point(transcription, guesses, theta)
    scale = variable_scales(transcription, v, guesses) if options.scaling else np.ones(len(v))
    warm = None
    if earlier is not None:
        dropped, carried = earlier.dropped, carried_multipliers(earlier.transcription, earlier.solution, transcription)
        warm = carried.rows, carried.lower, carried.upper
    else:
        dropped = dependent_constraints(transcription, v, scale)
        transcription = Transcription(problem, meshes, scheme, dropped) if dropped else transcription
    program = transcription.program(scale)
    count = sum(len(m) - 1 for m in meshes)

    def show(iteration: int, cost: float, violation: float) -> None:
        if options.show is not None:
            options.show(f"{count} intervals, iteration {iteration}: cost {cost:.9g}, violation {violation:.1e}")

    solution = solve(
        program,
        v,
        solver=options.solver,
        tolerance=options.solver_tolerance,
        most_iterations=options.most_iterations,
        options=options.solver_options,
        show=show,
        warm=warm,
    )
    phases, t0 = list[PhaseAnswer](), 0.0
    for functions, layout in zip(problem.phases, transcription.layouts, strict=True):
        phases.append(PhaseAnswer(functions, layout, solution.v, t0))
        t0 += phases[-1].duration
    return Answer(problem, transcription, program, solution, tuple(phases), (), dropped, options)


def initial_point(transcription: Transcription, guesses: Sequence[PhaseGuess], theta: Numbers) -> Numbers:
    """The guess on the mesh; speeds after impacts begin with those before."""
    v = np.zeros(transcription.n_variables)
    for phase, layout, guess in zip(transcription.problem.phases, transcription.layouts, guesses, strict=True):
        v[layout.first] = guess.curve(np.zeros(1))[0, : phase.n_states]
        v[layout.points] = guess.curve(layout.fractions)
        if not phase.span.is_point:
            v[layout.common[-1]] = guess.duration
    v[transcription.theta] = theta
    for k, (link, places) in enumerate(zip(transcription.problem.links, transcription.link_unknowns, strict=True)):
        if link.speeds:
            kin = link.before.equations.evaluator.kin
            at = [link.before.equations.states.index(u) for u in kin.u]
            v[places[: len(at)]] = v[transcription.layouts[k].last[at]]
    return v


def variable_scales(transcription: Transcription, v: Numbers, guesses: Sequence[PhaseGuess]) -> Numbers:
    """Sizes of variables: from their bounds, else from the guess, else from sizes of coordinates over the duration."""
    scale = np.ones(len(v))
    for phase, layout, guess in zip(transcription.problem.phases, transcription.layouts, guesses, strict=True):
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
        scale[layout.first] = size[: phase.n_states]
        if not phase.span.is_point:
            scale[layout.common[-1]] = max(guess.duration, 1e-6)
    theta = np.abs(v[transcription.theta])
    scale[transcription.theta] = np.where(theta > 0.0, theta, 1.0)
    return scale


def audit_answer(answer: Answer) -> Audit:
    """All checks of an answer."""
    audits, free = [], False
    for phase, errors in zip(answer.phases, answer.interval_errors(), strict=True):
        functions = phase.functions
        applies = functions.autonomous and not functions.held
        low, high = functions.span
        free = free or (low < high and low + 1e-9 < phase.duration < high - 1e-9)
        audits.append(audit_phase(errors, tuple(w.fraction for w in functions.way_points), applies=applies))
    s = answer.solution
    status = s.status if s.converged else f"{s.status}; largest violation: {answer.largest_violation}"
    return Audit(tuple(audits), answer.options.tolerance, s.converged, status, s.violation, s.dual_infeasibility, free)

