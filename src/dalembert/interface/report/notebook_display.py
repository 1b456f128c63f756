"""What a notebook shows of each result: the blocks of a report, in the format that the notebook
asks for.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from dalembert.analysis.integrals.energy_integrals import EnergyIntegrals
from dalembert.foundation.display import Explanation
from dalembert.interface.report import derivation_steps, result_blocks, system_tables
from dalembert.interface.report.derivation_steps import SystemSymbols
from dalembert.interface.report.document_blocks import (
    Block,
    Code,
    Display,
    Heading,
    Line,
    Paragraph,
)
from dalembert.interface.report.energy_steps import energy_derivation, energy_steps
from dalembert.interface.report.formula_writer import FormulaWriter, matrix
from dalembert.interface.report.renderers import HTML, LATEX, MARKDOWN
from dalembert.interface.report.system_report import ReportSubject, derivation_report
from dalembert.interface.report.terminal_renderer import render_text
from dalembert.mechanics.agreement.agreement_table import Agreement
from dalembert.mechanics.equations.equations_of_motion import Equations
from dalembert.mechanics.geometry.vector import Dyadic, Vector
from dalembert.mechanics.kinematics.jacobian import Jacobian
from dalembert.mechanics.model.system import System
from dalembert.mechanics.principles.derivation import Derivation, Step
from dalembert.symbolic.algebra.scalar import as_nodes
from dalembert.symbolic.algebra.tape import Tape


def html(result: object) -> str:
    """As HTML, with formulas as MathML."""
    return f'<div class="dalembert">\n{HTML.text(blocks(result))}\n</div>'


def markdown(shown: object) -> str:
    """As Markdown, with formulas between dollar signs."""
    return MARKDOWN.text(blocks(shown))


def latex(shown: object) -> str:
    """As LaTeX, as it stands inside a document."""
    return LATEX.text(blocks(shown))


def text(shown: object) -> str:
    """As text for a prompt."""
    return render_text(blocks(shown))


def blocks(shown: object) -> Iterable[Block]:
    """What there is to show."""
    writing = FormulaWriter()
    match shown:
        case System():
            return _system(shown)
        case Derivation():
            return [
                *derivation_steps.derivation(shown, writing),
                *derivation_steps.rates(shown, writing.on(shown.tape)),
            ]
        case Explanation():
            return _explanation(shown)
        case Step():
            return _step(shown, writing)
        case Equations():
            return [
                writing.on(shown.tape).equations(shown.tape, shown.residuals, shown.udot, shown.u)
            ]
        case Agreement():
            return [Heading(3, shown.system), *result_blocks.agreement(shown)]
        case EnergyIntegrals():
            return result_blocks.energy_integrals(shown, writing)
        case Vector():
            return [Display((Line(writing.on(shown.tape).vector(shown)),))]
        case Dyadic():
            return _matrix_block(writing, shown.tape, shown.rows, f"along {shown.frame.name}") or [
                Code(str(shown))
            ]
        case Jacobian():
            return _jacobian(shown, writing)
    return _run(shown)


def steps(shown: EnergyIntegrals) -> tuple[Step, ...]:
    """The steps of a result that is no derivation of equations."""
    return energy_steps(shown.energies, shown.verdicts)


def _explanation(shown: Explanation) -> Iterator[Block]:
    if isinstance(shown.of, EnergyIntegrals):
        yield from energy_derivation(shown.of, shown.level, shown.frame)  # type: ignore[arg-type]
        return
    if not isinstance(shown.of, Derivation):
        yield Code(str(shown.of))
        return
    system = shown.of.kinematics.system
    yield from derivation_report(
        ReportSubject(system, system.name, system.source),
        [shown.of],
        FormulaWriter(frame=shown.frame),
        level=shown.level,  # type: ignore[arg-type]
    )


def _step(step: Step, writing: FormulaWriter) -> Iterator[Block]:
    """A step by itself: its title, its formula and what it is for this system."""
    if step.kinematics is None:
        yield Code(str(step))
        return
    yield Heading(3, step.title)
    of = SystemSymbols(step.kinematics)
    yield from derivation_steps.quantities(step, of, writing.on(of.tape))


def _jacobian(J: Jacobian, writing: FormulaWriter) -> Iterator[Block]:
    """Its rows between brackets, its columns named, and the part without speeds."""
    tape = J.bias.tape
    yield Paragraph(
        (
            f"Jacobian of {J.of} along {J.along.name}, for ",
            *writing.on(tape).symbol_list(str(u.name) for u in J.speeds),
        )
    )
    yield from _matrix_block(writing, tape, [as_nodes(tape, row) for row in J.rows], "") or [
        Code(str(J))
    ]
    if J.bias.parts:
        yield Paragraph(("and without speeds ", writing.on(tape).vector(J.bias)))


def _matrix_block(
    writing: FormulaWriter, tape: Tape, rows: Sequence[Sequence[int]], caption: str
) -> list[Block]:
    """Entries between brackets; nothing where they are too long for that."""
    written, definitions = writing.on(tape).scalars(tape, [i for row in rows for i in row])
    width = len(rows[0])
    formula = (
        matrix([written[k : k + width] for k in range(0, len(written), width)])
        if width and not definitions
        else None
    )
    return (
        []
        if formula is None
        else [Display((Line(formula),)), *([Paragraph((caption,))] if caption else [])]
    )


def _system(system: System) -> Iterator[Block]:
    """The description as it is so far; a system that is not complete yet can be looked at too."""
    writing = FormulaWriter().on(system.space.tape)
    yield Heading(3, system.name)
    if system.symbols:
        yield system_tables.symbol_table(system, writing)
    if len(system.space.frames) > 1:
        yield system_tables.frame_table(system, writing)
    if system.bodies:
        yield system_tables.body_table(system, writing)
    yield from system_tables.declared_constraint_table(system, writing)


def _run(shown: object) -> Iterator[Block]:
    from dalembert.runtime.simulation.trajectory import Trajectory

    if not isinstance(shown, Trajectory):
        yield Code(str(shown))
        return
    yield Heading(3, shown.system.name)
    yield from result_blocks.run_summary(shown)
