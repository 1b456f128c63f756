"""da.optimize: the motion of a system that costs least, by direct collocation, and its audit."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, Final

import numpy as np

from dalembert.analysis.optimal.guess import (
    PhaseGuess,
    linear_frequencies,
    phase_guess,
    random_waves,
    swing,
)
from dalembert.analysis.optimal.link_functions import LinkFunctions
from dalembert.analysis.optimal.optimum import Optimum
from dalembert.analysis.optimal.phase import BadOptimization, Link, Phase, Range, phase, range_of
from dalembert.analysis.optimal.phase_functions import PhaseFunctions
from dalembert.analysis.optimal.random_motion import random_motion
from dalembert.analysis.optimal.scheme import MOST_POINTS, RULES, radau
from dalembert.analysis.optimal.search import Answer, SearchOptions, search
from dalembert.analysis.optimal.transcription import Problem
from dalembert.errors import NotASystem, warn
from dalembert.foundation.array_types import FloatArray
from dalembert.foundation.suggestions import check_options, suggest_name
from dalembert.mechanics.model.system import System
from dalembert.runtime.numerics.symbol_values import symbol_name

# costs that differ by less, relatively, belong to one solution
_SAME: Final = 1e-5
_MOST_STARTS: Final = 200
_ORDER: Final = 4


@check_options
def optimize(
    system: System | Phase | Sequence[Phase],
    duration: Any = None,
    *,
    minimize: Any = None,
    minimize_at_end: Any = None,
    start: Mapping[Any, Any] | None = None,
    end: Mapping[Any, Any] | None = None,
    bounds: Mapping[Any, Any] | None = None,
    path: Mapping[Any, Any] | None = None,
    integrals: Mapping[Any, Any] | None = None,
    way_points: Mapping[Any, Any] | None = None,
    periodic: Any = (),
    held: Mapping[Any, Any] | None = None,
    parameters: Any = None,
    values: Mapping[Any, Any] | None = None,
    inputs: Mapping[Any, Any] | None = None,
    guess: Any = None,
    starts: Any = None,
    links: Sequence[Link] = (),
    intervals: int = 20,
    order: int | None = None,
    rule: str = "radau",
    tolerance: float = 1e-8,
    refine: bool = True,
    most_intervals: int = 2000,
    most_iterations: int = 1000,
    form: str | None = None,
    solver: str = "pounce",
    solver_tolerance: float = 1e-10,
    solver_options: Mapping[str, Any] | None = None,
    audit: bool = True,
    progress: bool | None = None,
    seed: int = 0,
) -> Optimum:
    """The motion of least cost: inputs, constants and duration are found by direct collocation.

    duration   a number, a pair (shortest, longest), or "free"
    minimize   the integrand of the cost, an expression or a text: "F**2"; "duration" for the
               shortest time
    minimize_at_end   a cost at the end, an expression of the states
    start, end   {name or expression: number or (low, high)}; what is not named is free
    bounds     {name: (low, high)} of states and inputs, b for (−b, b), None for no limit;
               "F.dot" bounds the rate of an input
    path       {expression: (low, high)} along the whole motion
    integrals  {expression: (low, high)}: limits of ∫ … dt
    way_points {time or "40 %": {name: value}}
    periodic   names of states that end where they began, True for all, or {name: end − start}
    held       {input: number of samples or their interval}: an input constant over samples
    parameters {constant: (low, high)}: constants that are found too
    values, inputs   constants, and inputs that are given: as in da.simulate
    guess      {name: number, table, or expression of t}, a run, or an earlier answer; by
               default a straight line
    starts     a number of starts, or a list of guesses: best.solutions has the different ones
    intervals, order   the first mesh, and the number of points of an interval (4)
    rule       where the points are: "radau", "gauss", or the rules of one point "midpoint" and
               "backward Euler"
    tolerance  the largest relative error of an interval; the mesh is refined until it is
               reached (refine=False: not at all)
    form       "explicit" (u̇ written out) or "implicit" (inverse dynamics); by default the
               number of speeds decides
    solver     "pounce", or "ipopt" (needs casadi)
    """
    options = SearchOptions(
        rule=_rule(rule),
        order=_order(rule, order),
        intervals=_count("intervals", intervals, most_intervals),
        tolerance=_positive("tolerance", tolerance),
        most_intervals=most_intervals,
        solver=solver,
        solver_tolerance=_positive("solver_tolerance", solver_tolerance),
        most_iterations=_count("most_iterations", most_iterations, 10**9),
        solver_options=None if solver_options is None else dict(solver_options),
        show=_progress(progress),
    )
    one = {"minimize": minimize, "minimize_at_end": minimize_at_end, "start": start}
    one |= {"end": end, "bounds": bounds, "path": path, "integrals": integrals}
    one |= {"way_points": way_points, "periodic": periodic, "held": held}
    one |= {"values": values, "inputs": inputs, "guess": guess}
    phases = _phases(system, duration, one)
    problem, theta = _problem(phases, links, parameters, _explicit(form))
    _check_rule(problem, options.rule)
    with _cleared_progress(options):
        return _solutions(
            problem, theta, options, starts, seed, guess, refines=refine, audits=audit
        )


@contextmanager
def _cleared_progress(options: SearchOptions) -> Iterator[None]:
    """The progress line is cleared at the end, also after an error."""
    try:
        yield
    finally:
        if options.show is not None:
            options.show("")


def _phases(system: Any, duration: Any, one: dict[str, Any]) -> tuple[Phase, ...]:
    """The phases, of which a system by itself is one."""
    if isinstance(system, System):
        if one["minimize"] is None and one["minimize_at_end"] is None:
            msg = (
                "optimize: nothing to minimize; give minimize='F**2', minimize='duration', or "
                "minimize_at_end=…"
            )
            raise BadOptimization(msg)
        if duration is None and one["minimize"] != "duration":
            msg = (
                "optimize: give the duration: da.optimize(s, 2.0, …), a pair (shortest, longest), "
                "or 'free'"
            )
            raise BadOptimization(msg)
        return (phase(system, "free" if duration is None else duration, **one),)
    listed = (
        (system,)
        if isinstance(system, Phase)
        else tuple(system)
        if isinstance(system, list | tuple)
        else ()
    )
    if not listed or not all(isinstance(p, Phase) for p in listed):
        msg = (
            f"optimize: give a System, or a list of phases [da.phase(s, …), …], not "
            f"{type(system).__name__}"
        )
        raise NotASystem(msg)
    given = [name for name, value in one.items() if value not in (None, ()) and name != "guess"]
    if duration is not None or given:
        what = "duration" if duration is not None else given[0]
        msg = f"optimize: {what} belongs to a phase; give it in da.phase(s, …, {what}=…)"
        raise BadOptimization(msg)
    return listed


def _problem(
    phases: Sequence[Phase], links: Sequence[Link], parameters: Any, explicit: bool | None
) -> tuple[Problem, FloatArray]:
    ranges, theta = _parameters(phases, parameters)
    functions, begin = list[PhaseFunctions](), 0.0
    for p in phases:
        f = PhaseFunctions(p, tuple(ranges), begin, explicit=explicit)
        functions.append(f)
        known = begin is not None and f.span.is_point
        begin = begin + f.span.low if known else None  # type: ignore[assignment]
    count = len(functions)
    if links and len(links) not in (count - 1, count):
        msg = (
            f"optimize: {len(links)} links and {count} phases; give {count - 1}, or {count} "
            f"with "
            f"the last one back to the first phase"
        )
        raise BadOptimization(msg)
    chosen = tuple(links) or tuple(Link() for _ in range(count - 1))
    pairs = [
        LinkFunctions(k, functions[j], functions[(j + 1) % count]) for j, k in enumerate(chosen)
    ]
    return Problem(tuple(functions), tuple(pairs), tuple(ranges), tuple(ranges.values())), theta


def _parameters(phases: Sequence[Phase], given: Any) -> tuple[dict[str, Range], FloatArray]:
    """Limits and first values of constants that are found."""
    if given is None:
        return {}, np.zeros(0)
    named = (
        given
        if isinstance(given, Mapping)
        else dict.fromkeys([given] if isinstance(given, str) else given)
    )
    system = phases[0].system
    ranges, first = dict[str, Range](), list[float]()
    for key, limits in named.items():
        name = symbol_name(system, key, ("constant",))
        r = (
            Range(-np.inf, np.inf)
            if limits is None
            else range_of(system, "parameters", name, limits)
        )
        value = system.symbols[name].value
        finite = [x for x in r if np.isfinite(x)]
        middle = float(value) if value is not None else sum(finite) / len(finite) if finite else 1.0
        ranges[name] = r
        first.append(float(np.clip(middle, *r)))
    return ranges, np.array(first)


def _explicit(form: str | None) -> bool | None:
    if form not in (None, "explicit", "implicit"):
        msg = f"optimize: form={form!r:.40}; give 'explicit' or 'implicit'"
        raise BadOptimization(msg)
    return None if form is None else form == "explicit"


def _rule(rule: Any) -> str:
    if rule not in RULES:
        hint = suggest_name(str(rule), list(RULES)) or f"choose {', '.join(map(repr, RULES))}"
        msg = f"optimize: rule={rule!r:.40}; {hint}"
        raise BadOptimization(msg)
    return str(rule)


def _order(rule: str, order: Any) -> int:
    """The number of points of an interval, which some rules fix."""
    fixed = RULES[rule][1]
    if order is None:
        return fixed or _ORDER
    if fixed is not None and order != fixed:
        msg = f"optimize: rule={rule!r} has {fixed} point in an interval; leave order={order!r} out"
        raise BadOptimization(msg)
    return _count("order", order, MOST_POINTS)


def _check_rule(problem: Problem, rule: str) -> None:
    """Constraint equations must hold at the ends of intervals, which Gauss's points leave out."""
    if RULES[rule][0] is radau:
        return
    for p in problem.phases:
        if p.equations.constraints:
            msg = (
                f"optimize: rule={rule!r} does not keep the constraint equations of "
                f"{p.phase.system.name!r} at the nodes; use rule='radau'"
            )
            raise BadOptimization(msg)


def _solutions(
    problem: Problem,
    theta: FloatArray,
    options: SearchOptions,
    starts: Any,
    seed: int,
    guess: Any,
    *,
    refines: bool,
    audits: bool,
) -> Optimum:
    """One answer, or the different ones of several starts."""
    if starts is None:
        guesses = _guesses(problem, guess)
        _warn_outside(problem, guesses)
        answer = search(problem, guesses, _theta(problem, guess, theta), options, refines=refines)
        _warn_unsolved(answer)
        return Optimum(answer, audits=audits)
    answers = _different(_all_starts(problem, theta, options, starts, seed))
    if not answers:
        msg = (
            "optimize: no start led to a solution; loosen bounds or give a guess nearer to a "
            "feasible motion"
        )
        raise BadOptimization(msg)
    if refines:
        fine = [
            search(
                problem,
                [phase_guess(p.functions, p) for p in a.phases],
                a.solution.v[a.transcription.theta],
                options,
            )
            for a in answers
            if not a.solution.interrupted
        ]
        answers = _different(fine) or answers
    optima = tuple(Optimum(a, audits=audits) for a in answers)
    return replace(optima[0], solutions=optima)


def _guesses(problem: Problem, given: Any) -> list[PhaseGuess]:
    """A guess for each phase: its own, or the one of an earlier answer."""
    if isinstance(given, Optimum):
        if len(given.answer.phases) != len(problem.phases):
            msg = f"guess: an answer of {len(given.answer.phases)} phases for {len(problem.phases)}"
            raise BadOptimization(msg)
        return [phase_guess(p, a) for p, a in zip(problem.phases, given.answer.phases, strict=True)]
    own = (
        [given] * len(problem.phases)
        if given is not None
        else [p.phase.guess for p in problem.phases]
    )
    return [phase_guess(p, g) for p, g in zip(problem.phases, own, strict=True)]


def _theta(problem: Problem, given: Any, theta: FloatArray) -> FloatArray:
    earlier = given.parameters if isinstance(given, Optimum) else {}
    return np.array(
        [earlier.get(name, x) for name, x in zip(problem.parameters, theta.tolist(), strict=True)]
    )


def _warn_outside(problem: Problem, guesses: Sequence[PhaseGuess]) -> None:
    """A guess outside the bounds is moved onto them."""
    for p, g in zip(problem.phases, guesses, strict=True):
        z = g.curve(np.linspace(0.0, 1.0, 101))
        slack = 1e-9 * (1.0 + np.abs(z).max(axis=0))
        outside = np.flatnonzero(((z < p.lower - slack) | (z > p.upper + slack)).any(axis=0))
        if len(outside):
            warn(
                f"guess: {', '.join(p.names[j] for j in outside)} lies outside its bounds and is "
                f"moved onto them"
            )


def _warn_unsolved(answer: Answer) -> None:
    s = answer.solution
    if s.interrupted:
        warn(
            f"optimize: interrupted after {s.iterations} iterations; the best point so far is kept "
            f"(violation {s.violation:.1e})"
        )
    elif not s.converged:
        warn(f"optimize: no solution: {s.status}; largest violation: {answer.largest_violation}")


def _all_starts(
    problem: Problem, theta: FloatArray, options: SearchOptions, starts: Any, seed: int
) -> list[Answer]:
    """Solutions on the first mesh from every start; the interrupted search ends with what it
    has.
    """
    answers = list[Answer]()
    for guesses in _start_list(problem, starts, seed):
        answer = search(problem, guesses, theta, options, refines=False)
        if answer.solution.converged:
            answers.append(answer)
        if answer.solution.interrupted:
            answers.append(answer)
            break
    return answers


def _start_list(problem: Problem, starts: Any, seed: int) -> list[list[PhaseGuess]]:
    """A line, swings at the linear frequencies, then random motions and waves; or the guesses
    that were given.
    """
    if isinstance(starts, list | tuple):
        return [_guesses(problem, g) for g in starts]
    count = _count("starts", starts, _MOST_STARTS)
    line = [phase_guess(p, p.phase.guess) for p in problem.phases]
    durations = [g.duration for g in line]
    listed = [line]
    pairs = list(zip(problem.phases, durations, strict=True))
    frequencies = linear_frequencies(problem.phases[0], durations[0])
    listed += [[PhaseGuess(swing(p, w, T), T) for p, T in pairs] for w in frequencies]
    for k in range(count - len(listed)):
        listed.append(
            [_random_start(p, T, seed + 1000 * k + j, k) for j, (p, T) in enumerate(pairs)]
        )
    return listed[:count]


def _random_start(phase: PhaseFunctions, duration: float, seed: int, k: int) -> PhaseGuess:
    """Motions under random inputs and random waves in turn."""
    motion = random_motion(phase, duration, seed) if k % 2 == 0 else None
    return PhaseGuess(random_waves(phase, duration, seed), duration) if motion is None else motion


def _different(answers: Sequence[Answer]) -> list[Answer]:
    """Answers of different cost, the cheapest first."""
    kept = list[Answer]()
    for a in sorted(answers, key=lambda a: a.solution.cost):
        if not kept or a.solution.cost - kept[-1].solution.cost > _SAME * max(
            abs(a.solution.cost), 1e-9
        ):
            kept.append(a)
    return kept


def _progress(asked: bool | None) -> Any:
    """One line on stderr that is written over, where a person is looking."""
    if not (sys.stderr.isatty() if asked is None else asked):
        return None

    def show(text: str) -> None:
        end = "\r" if text else ""
        sys.stderr.write(f"\r\x1b[2K{text}{end}")
        sys.stderr.flush()

    return show


def _count(what: str, given: Any, most: int) -> int:
    if not isinstance(given, int | np.integer) or isinstance(given, bool) or not 1 <= given <= most:
        msg = f"optimize: {what}={given!r:.40}; give a whole number from 1 to {most}"
        raise BadOptimization(msg)
    return int(given)


def _positive(what: str, given: Any) -> float:
    try:
        x = float(given)
    except (TypeError, ValueError):
        x = -1.0
    if not 0.0 < x < 1.0:
        msg = f"optimize: {what}={given!r:.40}; give a number between 0 and 1"
        raise BadOptimization(msg)
    return x
