"""The whole report of a system, from its description and kinematics, which all principles share,
to the results it reproduces.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from dalembert.foundation.deferred_dataclass import dataclass
from dalembert.interface.report import derivation_steps, large_systems, result_blocks, system_tables
from dalembert.interface.report.derivation_steps import Level, NumberedStep
from dalembert.interface.report.document_blocks import Block, Heading, TableBlock, paragraph
from dalembert.interface.report.formula_writer import FormulaWriter
from dalembert.interface.report.result_blocks import PublishedResult
from dalembert.mechanics.geometry.frame import Frame
from dalembert.mechanics.geometry.point import Point
from dalembert.mechanics.model.system import System
from dalembert.mechanics.principles.derivation import Derivation, Step, StepItem
from dalembert.symbolic.algebra import formula as f

if TYPE_CHECKING:
    from dalembert.mechanics.agreement.agreement_table import Agreement


@dataclass(frozen=True)
class ReportSubject:
    """A system and its texts: its source, its description, its printed results."""

    system: System
    title: str
    source: str = ""
    description: str = ""
    results: tuple[PublishedResult, ...] = ()
    # of a steady motion, by increasing |λ|
    mode_names: tuple[str, ...] = ()


def title_blocks(subject: ReportSubject) -> Iterator[Block]:
    """Title, what it is, where it comes from."""
    yield Heading(1, subject.title)
    if subject.description:
        yield paragraph(subject.description)
    if subject.source:
        yield paragraph("Source: ", subject.source, quiet=True)


def derivation_report(
    subject: ReportSubject,
    derived: Sequence[Derivation],
    writing: FormulaWriter,
    *,
    level: Level = "equations",
    complete: bool = True,
) -> Iterator[Block]:
    """The equations of motion by each principle, as far back as `level` asks for.

    Unless `complete` is set, those of a large system are described instead of written.
    """
    yield from title_blocks(subject)
    writing = writing.on(derived[0].tape)
    if not complete and large_systems.is_large(derived):
        for d in derived:
            yield from large_systems.summary(d, writing)
        return
    shown: derivation_steps.ShownEquations = {}
    first: list[NumberedStep] = []
    if level in ("full", "teach"):
        yield Heading(2, "Description and kinematics")
        first = list(kinematics_steps(derived, writing))
        yield from derivation_steps.numbered_blocks(first, level)
    for d in derived:
        yield from derivation_steps.derivation(
            d, writing, level=level, first=len(first) + 1, shown=shown
        )
    if first:
        yield from sources(
            subject.source,
            "Bar00, Gre03, Mei85",
            *(text for d in derived for text in _cited_sources(d)),
        )
    else:
        yield from derivation_steps.rates(derived[0], writing)


def _cited_sources(d: Derivation) -> Iterator[str]:
    yield d.principle.source
    yield from (step.source for step in d.steps)


def report(
    subject: ReportSubject,
    d: Derivation,
    agreement: Agreement,
    writing: FormulaWriter,
    motion: Iterable[Block] = (),
) -> Iterator[Block]:
    """Description, degrees of freedom, equations of motion, agreement, audit, printed results, and
    a motion if there is one.
    """
    kin = d.kinematics
    writing = writing.on(d.tape)
    yield from title_blocks(subject)
    yield Heading(2, "Symbols")
    yield system_tables.symbol_table(subject.system, writing)
    yield Heading(2, "Bodies")
    yield system_tables.body_table(subject.system, writing)
    yield Heading(2, "Loads")
    yield from system_tables.load_table(kin, writing)
    yield Heading(2, "Constraints and degrees of freedom")
    yield from system_tables.constraints(kin, writing)
    yield system_tables.dof_summary(kin)
    yield Heading(2, "Equations of motion")
    yield writing.equations(d.tape, d.equations.residuals, d.equations.udot, d.equations.u)
    yield from derivation_steps.rates(d, writing)
    yield from result_blocks.absent_parameters(d, writing)
    yield Heading(2, "Agreement of the principles")
    yield from result_blocks.agreement(agreement)
    yield from result_blocks.published_results(subject.results, subject.source, d, writing)
    yield from motion
    yield from sources(subject.source, *(r.principle.source for r in agreement.rows))


def sources(*texts: str) -> Iterator[Block]:
    """The works behind the keys."""
    from dalembert.interface.report.bibliography import cited_references

    works = cited_references(" ".join(texts))
    if works:
        yield Heading(2, "Sources")
        yield TableBlock(("key", "work"), tuple(works.items()))


# ---- what every derivation starts from -------------------------------------------------------

r, v, w, u_r = f.Symbol("r"), f.Symbol("v"), f.Symbol("ω"), f.Symbol("u", ("r",))


def kinematics_steps(
    derived: Sequence[Derivation],
    writing: FormulaWriter,
    transform: Callable[[Step], Step] = lambda step: step,
) -> Iterator[NumberedStep]:
    """Description and kinematics, without what the only derivation shows itself; `transform` may
    shorten a step before it is written.
    """
    d = derived[0]
    own = {step.title for step in d.steps} if len(derived) == 1 else set()
    yield _description(d, writing)
    yield _geometry(d, writing, transform)
    for step in _kinematic_steps(d):
        if step.title not in own and step.items:
            yield NumberedStep(
                step.title,
                tuple(derivation_steps.quantities(transform(step), d, writing)),
                step.why,
            )
    if "Speeds" not in own and "Rates" not in own:
        why = (
            f"{d.kinematics.n_q} coordinates minus {len(d.kinematics.rows)} constraint rows leave "
            f"{d.kinematics.n_u} independent speeds; every rate is a combination of them."
            if d.kinematics.rows
            else "As many speeds as coordinates; every rate is a combination of them."
        )
        yield NumberedStep("Independent speeds", tuple(derivation_steps.rates(d, writing)), why)


def _description(d: Derivation, writing: FormulaWriter) -> NumberedStep:
    kin = d.kinematics
    blocks: list[Block] = [
        system_tables.symbol_table(kin.system, writing),
        system_tables.body_table(kin.system, writing),
        *system_tables.load_table(kin, writing),
        *system_tables.constraints(kin, writing),
        system_tables.dof_summary(kin),
        system_tables.dof_table(kin, writing),
    ]
    why = "The same description serves every principle. It names loads that do no work" + (
        " and constraint rows that are redundant." if kin.rows else "."
    )
    return NumberedStep("Description", tuple(blocks), why)


def _geometry(
    d: Derivation, writing: FormulaWriter, transform: Callable[[Step], Step]
) -> NumberedStep:
    system, title = d.kinematics.system, "Frames, points and positions"
    places = Step(title, r, tuple(StepItem(r, b.G - system.O, b.name) for b in system.bodies))
    frames = (system_tables.frame_table(system, writing),) if len(system.space.frames) > 1 else ()
    _, *positions = derivation_steps.quantities(transform(places), d, writing)
    blocks = (*frames, system_tables.point_table(system, writing), *positions)
    why = (
        "Frames are defined relative to frames, points relative to points. Vectors are written in "
        "the frame in which they are shortest."
    )
    return NumberedStep(title, tuple(blocks), why)


def _kinematic_steps(d: Derivation) -> Iterator[Step]:
    """v and ω in the rates, partial velocities in the independent speeds."""
    kin = d.kinematics
    bodies = kin.system.bodies
    motion = kin.motion_in_rates
    rigid = [(b, b.frame) for b in bodies if b.frame is not None]
    yield Step(
        "Velocities",
        f.Equation(v, f.Rate(r)),
        tuple(StepItem(v, motion.v(b.G), b.name) for b in bodies),
        "Bar00 (27)",
        "The velocity of the parent point plus the rate of the vector from it.",
    )
    yield Step(
        "Angular velocities",
        "ω = Σ ω of frame in frame",
        tuple(StepItem(w, motion.w(F), b.name) for b, F in rigid),
        "Gre03 (4.42)",
        "Angular velocities of nested frames add.",
    )
    yield Step(
        "Partial velocities",
        f.Equation(f.Symbol("v", ("r",)), f.Partial(v, u_r)),
        tuple(_partial_velocities(d, v, [(b.G, b.name) for b in bodies])),
        "Bar00 (26)",
        "The factors of the speeds in the velocities: the directions in which the system can move.",
    )
    yield Step(
        "Partial angular velocities",
        f.Equation(f.Symbol("ω", ("r",)), f.Partial(w, u_r)),
        tuple(_partial_velocities(d, w, [(F, b.name) for b, F in rigid])),
        "Bar00 (26)",
        "The same for the rotations of the bodies.",
    )


def _partial_velocities(
    d: Derivation, velocity: f.Symbol, places: Sequence[tuple[Point | Frame, str]]
) -> Iterator[StepItem]:
    kin = d.kinematics
    for X, body in places:
        for k, part in kin.partial_velocities(X)[0].items():
            yield StepItem(f.Partial(velocity, f.Name(kin.name(kin.u[k]))), part, body)
