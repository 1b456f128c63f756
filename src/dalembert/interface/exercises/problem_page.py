"""The page of a problem: sketch, numbers and task, with or without its solution and its motion."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from html import escape
from typing import TYPE_CHECKING

from dalembert.errors import DalembertError
from dalembert.interface.exercises.problem import EQUATIONS, ExerciseProblem
from dalembert.interface.report import system_report, system_tables
from dalembert.interface.report.document_blocks import Block, Heading, TableBlock, paragraph
from dalembert.interface.report.formula_writer import FormulaWriter
from dalembert.interface.report.renderers import HTML
from dalembert.mechanics.agreement.principle_registry import derive_equations_of_motion
from dalembert.mechanics.kinematics.system_kinematics import kinematics
from dalembert.mechanics.model.system import System

if TYPE_CHECKING:
    from dalembert.runtime.simulation.trajectory import Trajectory

_INSTANT = 1e-3


def problem_page(
    problem: ExerciseProblem,
    *,
    student: str = "",
    solution: bool = False,
    motion: bool = False,
    duration: float = 5.0,
) -> str:
    """One HTML page of a problem."""
    system = problem.system(student)
    page = HTML.document(_blocks(problem, system, student, solution=solution))
    run = _run(system, duration if motion else _INSTANT)
    if run is None:
        return page
    drawing = _sketch(run) + (_moving(run) if motion else "")
    head, close, rest = page.partition("</h1>")
    return f"{head}{close}\n{drawing}{rest}"


def _blocks(
    problem: ExerciseProblem, system: System, student: str, *, solution: bool
) -> Iterator[Block]:
    settings = system.settings
    yield Heading(1, getattr(settings, "title", "") or system.name)
    description = getattr(settings, "description", "")
    if description:
        yield paragraph(description)
    yield Heading(2, "Task")
    yield paragraph(problem.task or f"Derive the {EQUATIONS} of motion.")
    yield paragraph(f"Points: {problem.scheme.most:g}.", quiet=True)
    if problem.allowed:
        yield paragraph(f"Allowed: {problem.allowed}", quiet=True)
    writing = FormulaWriter()
    yield Heading(2, "Given")
    yield system_tables.symbol_table(system, writing.on(system.space.tape))
    if problem.numbers and student:
        rows = tuple((name, f"{value:g}") for name, value in problem.numbers_for(student).items())
        yield paragraph(f"Numbers for {student}:")
        yield TableBlock(("constant", "value"), rows)
    if problem.hints:
        yield Heading(2, "Hints")
        for hint in problem.hints:
            yield paragraph(hint)
    if solution:
        yield from _solution(system)


def _solution(system: System) -> Iterator[Block]:
    """Every step of the derivation."""
    derivation = derive_equations_of_motion(kinematics(system))
    blocks = system_report.derivation_report(
        system_report.ReportSubject(system, system.name),
        [derivation],
        FormulaWriter(),
        level="full",
    )
    yield Heading(2, "Solution")
    for block in blocks:
        if not (isinstance(block, Heading) and block.level == 1):
            yield block


def _run(system: System, duration: float) -> Trajectory | None:
    """A motion to draw; None where the numbers do not allow one."""
    from dalembert.interface.api.simulate import simulate

    run = getattr(system.settings, "run", {}) or {}
    wish = {key: run[key] for key in ("start", "inputs", "values") if key in run}
    inputs = {s.name: 0.0 for s in system.symbols.values() if s.kind == "input"}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            wish["inputs"] = {**inputs, **wish.get("inputs", {})}
            return simulate(system, duration, progress=False, **wish)
        except DalembertError:
            return None


def _sketch(run: Trajectory) -> str:
    from dalembert.interface.page.scene import build_scene, sample_frames
    from dalembert.interface.page.svg_drawing import draw_scene, svg

    if not run.system.bodies:
        return ""
    drawn = build_scene(sample_frames(run))
    sketch = svg(draw_scene(drawn, letters=True), f"Sketch of {run.system.name}")
    return f'<figure style="max-width:32rem">{sketch}</figure>\n'


def _moving(run: Trajectory) -> str:
    from dalembert.interface.page.run_viewer import Animation

    inside = escape(Animation(run).html)
    style = f'style="width:100%;height:46rem;border:0" title="{escape(run.system.name)}"'
    return f'<iframe srcdoc="{inside}" {style}></iframe>\n'
