"""A derivation to read: the principle in general, each step for this system, the equations it ends
in.

The explanation is the computation: what is shown are the steps the principle recorded, in the
requested notation.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Final, Literal

from dalembert.foundation.deferred_dataclass import dataclass
from dalembert.interface.report import kinematic_coefficients
from dalembert.interface.report.document_blocks import (
    Block,
    Display,
    FormulaSpan,
    Heading,
    Line,
    Span,
    paragraph,
)
from dalembert.interface.report.formula_writer import (
    FormulaWriter,
    along_axes,
    components,
    matrix,
    quantity_label,
    scaled,
)
from dalembert.mechanics.geometry.frame import Frame
from dalembert.mechanics.geometry.vector import Vector
from dalembert.mechanics.kinematics.system_kinematics import Kinematics
from dalembert.mechanics.kinetics.quantity import Quantity
from dalembert.mechanics.kinetics.spatial_fields import SpatialField, VelocityPartials
from dalembert.mechanics.model.system import System
from dalembert.mechanics.principles.derivation import (
    EXPLANATION_LEVELS,
    Derivation,
    Matrix,
    Step,
    StepItem,
)
from dalembert.symbolic.algebra import formula as f
from dalembert.symbolic.algebra.expression_graph import symbols_of
from dalembert.symbolic.algebra.printing.print_tree import ZERO, Equality, Tree, total
from dalembert.symbolic.algebra.tape import Tape

if TYPE_CHECKING:
    from dalembert.analysis.flexible.hybrid.hybrid_equations import HybridEquations

# the equations alone, the steps of the principle, all from the description on, the same with
# reasons
Level = Literal["equations", "brief", "full", "teach"]
LEVELS: Final = EXPLANATION_LEVELS

W, u, X, q_dot = f.Symbol("W"), f.Symbol("u"), f.Symbol("X"), f.Symbol("q", dots=1)
RATES: Final = f.Equation(q_dot, W * u + X)
SPEEDS_ARE_RATES: Final = f.Equation(u, q_dot)
CONSTRAINTS_ELIMINATED: Final = f.Equation(W.T * f.Symbol("A").T, f.ZERO)

ShownEquations = dict[Display, str]


@dataclass(frozen=True)
class SystemSymbols:
    """The kinematics whose symbols a step is written in, and their tape."""

    kinematics: Kinematics

    @property
    def tape(self) -> Tape:
        """The tape of its expressions."""
        return self.kinematics.tape


if TYPE_CHECKING:
    StepOwner = Derivation | HybridEquations | SystemSymbols


@dataclass(frozen=True)
class NumberedStep:
    """A numbered step as it is shown."""

    title: str
    blocks: tuple[Block, ...]
    why: str = ""
    # equations, which are not repeated where another principle has given the same
    is_result: bool = False


def numbered_blocks(parts: Sequence[NumberedStep], level: Level, first: int = 1) -> Iterator[Block]:
    """The parts under numbered headings, with the reasons on request."""
    for number, part in enumerate(parts, first):
        yield Heading(3, f"{number}. {part.title}")
        if level == "teach" and part.why:
            yield paragraph(part.why)
        yield from part.blocks


def derivation(
    d: Derivation,
    writing: FormulaWriter,
    *,
    level: Level = "equations",
    first: int = 1,
    shown: ShownEquations | None = None,
) -> Iterator[Block]:
    """The principle, its steps if asked for, and the equations of motion.

    `shown` remembers equations and by which principle they were shown first, so that they are not
    repeated.
    """
    writing = replace(writing.on(d.tape), vectors=vector_symbols(d.quantities))
    shown = {} if shown is None else shown
    yield Heading(2, d.principle.title)
    parts = [_without_repeats(part, d, shown) for part in _derivation_steps(d, writing, level)]
    if level in ("equations", "brief"):
        yield principle_statement(d, writing)
    if level != "equations":
        yield from numbered_blocks(parts, level, first)
        return
    for part in parts:
        if len(parts) > 1:
            yield Heading(3, part.title)
        yield from part.blocks


def _derivation_steps(
    d: Derivation, writing: FormulaWriter, level: Level
) -> Iterator[NumberedStep]:
    whole = level in ("full", "teach")
    if whole:
        yield NumberedStep(
            "The principle in general", (principle_statement(d, writing),), d.principle.why
        )
    if whole and d.principle.family == "positions":
        table = kinematic_coefficients.coefficient_blocks(d.kinematics, writing)
        yield NumberedStep(kinematic_coefficients.TITLE, tuple(table), kinematic_coefficients.WHY)
    if level != "equations":
        yield from (_step(step, d, writing) for step in d.steps if step.items)
    own = list(_native(d, writing, steps=level != "equations"))
    yield from own
    if whole:
        yield elimination_step(d, writing)
    yield _result(d, writing, reduced=bool(own), quiet=not whole)


def principle_statement(d: Derivation, writing: FormulaWriter) -> Block:
    """The principle in general, and its source."""
    return paragraph(writing.general_formula(d.principle.statement), f"  [{d.principle.source}]")


def _without_repeats(part: NumberedStep, d: Derivation, shown: ShownEquations) -> NumberedStep:
    if not part.is_result:
        return part
    return replace(part, blocks=tuple(_or_reference(block, d, shown) for block in part.blocks))


def _or_reference(block: Block, d: Derivation, shown: ShownEquations) -> Block:
    if not isinstance(block, Display):
        return block
    first = shown.setdefault(block, d.principle.title)
    return block if first == d.principle.title else paragraph(f"The same as by {first}.")


def vector_symbols(shown: Iterable[Step | Quantity]) -> frozenset[f.Formula]:
    """The symbols that stand for vectors in the formulas of a derivation."""
    quantities = [b for a in shown if isinstance(a, Quantity) for b in a.dependencies]
    known = {a.symbol for a in quantities if a.symbol is not None and _is_vector(a.value)}
    return frozenset(s.of if isinstance(s, f.Variation) else s for s in known) | (
        {f.Symbol("r")} if known else frozenset()
    )


def _is_vector(value: object) -> bool:
    if isinstance(value, VelocityPartials):
        return True
    if not isinstance(value, SpatialField):
        return False
    # one place decides for all, whichever were computed so far
    place = next(iter(value.support or ()), None)
    values = value.values.values() if place is None else (value(place),)
    return any(isinstance(x, Vector) for x in values)


# ---- steps -----------------------------------------------------------------------------------


def _step(step: Step, d: Derivation, writing: FormulaWriter) -> NumberedStep:
    return NumberedStep(step.title, tuple(quantities(step, d, writing)), step.why)


def quantities(step: Step, d: StepOwner, writing: FormulaWriter) -> Iterator[Block]:
    """The formula in general and every quantity of the step."""
    yield paragraph(
        writing.general_formula(step.formula), f"  [{step.source}]" * bool(step.source), quiet=True
    )
    tape, step = _with_short_vectors(step, d, writing)
    matrices = [(item, item.value) for item in step.items if isinstance(item.value, Matrix)]
    single = [item for item in step.items if not isinstance(item.value, Matrix)]
    if is_zero(step.formula) and all(isinstance(item.value, int) for item in single):
        yield _equations(single, d, writing)
    elif single:
        lines, definitions = _lines(replace(step, items=tuple(single)), d, writing, tape)
        if lines or not matrices:
            nothing = (
                paragraph("All of them are zero.")
                if step.sparse
                else Display((Line(writing.general_formula(SPEEDS_ARE_RATES)),))
            )
            yield Display(lines, definitions) if lines else nothing
    for item, entries in matrices:
        yield from _matrix(item, entries, d, writing)


def _with_short_vectors(step: Step, d: StepOwner, writing: FormulaWriter) -> tuple[Tape, Step]:
    """The step with each vector along the axes in which it is shortest, and the tape of these."""
    if not any(isinstance(item.value, Vector) for item in step.items):
        return d.tape, step
    tape, homes = d.tape.fork(), _home_frames(d.kinematics.system)
    short: dict[int, Vector] = {}
    for owner in dict.fromkeys(item.of for item in step.items):
        own = {
            k: item.value
            for k, item in enumerate(step.items)
            if item.of == owner and isinstance(item.value, Vector)
        }
        forms = writing.shortest_vectors(list(own.values()), tape, homes.get(owner))
        short |= dict(zip(own, forms, strict=True))
    items = (replace(item, value=short.get(k, item.value)) for k, item in enumerate(step.items))
    return tape, replace(step, items=tuple(items))


def _home_frames(system: System) -> dict[str, Frame]:
    """The frame that belongs to a body, to a frame, or to a point that is fixed in one frame."""
    points = {P.name: F for P in system.space.points for F in list(P.r.parts)[-1:]}
    frames = {F.name: F for F in system.space.frames}
    return points | frames | {b.name: b.frame for b in system.bodies if b.frame is not None}


def is_zero(formula: str | f.Formula) -> bool:
    """Whether a step's formula says that its quantities vanish."""
    return (
        formula.endswith("= 0")
        if isinstance(formula, str)
        else isinstance(formula, f.Equation) and formula.right == f.ZERO
    )


def _lines(
    step: Step, d: StepOwner, writing: FormulaWriter, tape: Tape
) -> tuple[tuple[Line, ...], tuple[Equality, ...]]:
    """Every quantity of a step; what is too long to be read shares its intermediates, zeros
    share a line.
    """
    written, definitions = writing.scalars(tape, [i for item in step.items for i in _nodes(item)])
    following = iter(written)
    lines: list[Line] = []
    for item in step.items:
        right = _right_side(item, [next(following) for _ in _nodes(item)])
        line = _line(step, item, right, d, writing)
        if step.sparse and right == FormulaSpan(ZERO):
            continue
        if (
            lines
            and line.left
            and line.sign == "="
            and line.right == lines[-1].right == FormulaSpan(ZERO)
        ):
            before = lines.pop()
            line = replace(line, equal=(*before.equal, before.left))
        # a speed that is itself a rate needs no line
        if line.left[:1] != (line.right,):
            lines.append(line)
    return tuple(lines), definitions


def _line(
    step: Step,
    item: StepItem,
    right: FormulaSpan | str,
    d: StepOwner,
    writing: FormulaWriter,
) -> Line:
    names = d.tape.names
    if not isinstance(item.label, str) or not isinstance(step.formula, str):
        return Line(right, quantity_label(item.label, writing, names, item.of))
    place, comma, variable = item.label.partition(", ")
    if comma and variable in names:
        slope = f.Partial(
            f.Symbol(step.formula.partition("∂")[2].partition("/")[0]), f.Name(variable)
        )
        return Line(right, quantity_label(slope, writing, names, _owner_text(d, place)))
    if item.label in [d.kinematics.name(q) for q in d.kinematics.q]:
        letter, _, index = step.formula.partition(" = ")[0].partition("_")
        if index not in ("k", "i") or len(letter) > 1:
            return Line(right, ("along ", writing.symbol(item.label)), sign=":")
        return Line(right, quantity_label(f.Symbol(letter, (f.Name(item.label),)), writing, names))
    return Line(right, quantity_label(item.label, writing, names))


def _equations(items: Sequence[StepItem], d: StepOwner, writing: FormulaWriter) -> Display:
    """Each quantity = 0, with what it is about; constraint rows keep the signs of their
    declaration, which are those of λ.
    """
    kin = d.kinematics
    nodes = [item.value for item in items if isinstance(item.value, int)]
    sums = [writing.variation_sum(d.tape, node) for node in nodes]
    if all(collected is not None for collected in sums):
        return Display(
            tuple(
                Line(
                    FormulaSpan(Equality(collected.tree, ZERO), collected.definitions),
                    note=_about(item, d, writing) if isinstance(item.label, str) else (),
                )
                for item, collected in zip(items, sums, strict=True)
                if collected is not None
            )
        )
    rows = {row.name for row in kin.rows}
    if not all(item.label in rows for item in items):
        display = writing.equations(d.tape, nodes, (*kin.qddot, *kin.udot), (*kin.qdot, *kin.u))
    else:
        written, definitions = writing.scalars(d.tape, nodes)
        display = Display(tuple(Line(FormulaSpan(Equality(w, ZERO))) for w in written), definitions)
    lines = (
        Line(line.right, note=_about(item, d, writing))
        for line, item in zip(display.lines, items, strict=True)
    )
    return Display(tuple(lines), display.definitions)


def _about(item: StepItem, d: StepOwner, writing: FormulaWriter) -> tuple[Span, ...]:
    if not isinstance(item.label, str):
        return quantity_label(item.label, writing, d.tape.names, item.of)
    if item.label in d.tape.names:
        return "along ", writing.symbol(item.label)
    return () if item.label.isdigit() else (item.label,)


def _owner_text(d: StepOwner, place: str) -> str:
    """The body that a mass centre or a frame belongs to."""
    owners = [
        b.name
        for b in d.kinematics.system.bodies
        if place == b.G.name or (b.frame is not None and place == b.frame.name)
    ]
    return owners[0] if owners else place


def _nodes(item: StepItem) -> list[int]:
    if isinstance(item.value, Vector):
        return [c for _, _, c in components(item.value)]
    return [item.value] if isinstance(item.value, int) else []


def _right_side(item: StepItem, written: list[Tree]) -> FormulaSpan | str:
    if isinstance(item.value, Vector):
        axes = [(F, axis) for F, axis, _ in components(item.value)]
        return FormulaSpan(
            along_axes((F, axis, w) for (F, axis), w in zip(axes, written, strict=True))
        )
    return FormulaSpan(written[0]) if isinstance(item.value, int) else str(item.value)


# ---- matrices --------------------------------------------------------------------------------


def _matrix(item: StepItem, m: Matrix, d: StepOwner, writing: FormulaWriter) -> Iterator[Block]:
    """The matrix as one, and what its rows and columns belong to; entry by entry where it would
    be too wide.
    """
    written, definitions = writing.scalars(d.tape, [e for row in m.rows for e in row])
    across = len(m.column_labels)
    rows = [written[k : k + across] for k in range(0, len(written), across)]
    whole = None if definitions else matrix(rows)
    (name, *_) = quantity_label(item.label, writing, d.tape.names)
    if whole is not None:
        yield Display((Line(whole, (name,)),))
        yield paragraph(
            "Rows of ",
            name,
            ": ",
            *writing.symbol_list(m.row_labels),
            "; columns: ",
            *writing.symbol_list(m.column_labels),
            ".",
            quiet=True,
        )
        return
    entries = [
        Line(FormulaSpan(entry), (name, " at ", writing.symbol(down), ", ", writing.symbol(place)))
        for down, row in zip(m.row_labels, rows, strict=True)
        for place, entry in zip(m.column_labels, row, strict=True)
        if entry != ZERO
    ]
    yield Display(tuple(entries), definitions)
    yield paragraph(f"{len(written) - len(entries)} entries are zero.", quiet=True)


# ---- equations -------------------------------------------------------------------------------


def _native(d: Derivation, writing: FormulaWriter, *, steps: bool) -> Iterator[NumberedStep]:
    """The equations as the principle itself gives them, where that is not yet the common form."""
    native, kin = d.native, d.kinematics
    if native.printed:
        values = {
            item.value for step in d.steps for item in step.items if isinstance(item.value, int)
        }
        if not steps or not values.issuperset(native.printed):
            display = writing.equations(
                d.tape, native.printed, (*kin.qddot, *kin.udot), (*kin.qdot, *kin.u)
            )
            yield NumberedStep("As the principle gives them", (display,), is_result=True)
    elif native.along == "q" and native.residuals != d.equations.residuals:
        display = writing.equations(d.tape, native.residuals, native.accelerations, kin.qdot)
        title = "Along the coordinates" + ", with a multiplier for each constraint row" * bool(
            native.multipliers
        )
        yield NumberedStep(
            title,
            (display,),
            "The quantities above combined: one equation for each coordinate.",
            is_result=True,
        )


def _result(d: Derivation, writing: FormulaWriter, *, reduced: bool, quiet: bool) -> NumberedStep:
    """M u̇ = f"""
    e, native = d.equations, d.native
    title = "Equations of motion in the independent speeds" if reduced else "Equations of motion"
    remark: tuple[Block, ...] = ()
    if quiet and reduced and native.along == "q":
        gone = (
            (writing.general_formula(CONSTRAINTS_ELIMINATED), " removes the multipliers, ")
            if native.multipliers
            else ()
        )
        remark = (
            paragraph(
                "multiplied by ",
                writing.general_formula(W.T),
                "; ",
                *gone,
                writing.general_formula(RATES),
                quiet=True,
            ),
        )
    why = (
        "One equation for each independent speed. Together with the rates of the coordinates they "
        "determine the motion."
    )
    return NumberedStep(
        title, (*remark, writing.equations(e.tape, e.residuals, e.udot, e.u)), why, is_result=True
    )


def elimination_step(d: Derivation, writing: FormulaWriter) -> NumberedStep:
    """Multipliers, reactions, dependent rates and accelerations: what was there and is gone, and
    how.
    """
    return NumberedStep("What is eliminated, and how", tuple(_elimination_blocks(d, writing)))


def _elimination_blocks(d: Derivation, writing: FormulaWriter) -> Iterator[Block]:
    native, kin = d.native, d.kinematics
    if d.principle.family == "free bodies":
        yield paragraph(
            "The reactions of the joints: the balances give each of them, and they are inserted "
            "into the joint equations."
        )
    names = [kin.name(i) for i in native.multipliers]
    if names and native.along == "q":
        several = len(names) > 1
        yield paragraph(
            f"The multiplier{'s' * several} ",
            *writing.symbol_list(names),
            ": the columns of W are motions that satisfy the rows, so ",
            writing.general_formula(CONSTRAINTS_ELIMINATED),
            ", and the equations multiplied by ",
            writing.general_formula(W.T),
            f" are free of {'them' if several else 'it'}.",
        )
    elif d.principle.family != "free bodies":
        yield paragraph(
            "No reactions and no multipliers: ideal constraints do no work on admissible motions."
        )
    if native.along == "q":
        yield from _combination_blocks(d, writing)
    if native.along == "q" or set(symbols_of(d.tape, native.printed)) & set(kin.qddot):
        yield from _accelerations(d, writing)
    elif kin.rows:
        yield _constraint_elimination(d, writing)


def _combination_blocks(d: Derivation, writing: FormulaWriter) -> Iterator[Block]:
    """Wᵀ, and which equations along the coordinates each of its rows adds up; nothing where the
    speeds are the rates.
    """
    kin, t = d.kinematics, d.tape
    if all(row == {k: t.one} for k, (_, row) in enumerate(kin.WX)):
        return
    speeds, coordinates = [kin.name(u) for u in kin.u], [kin.name(q) for q in kin.q]
    rows = tuple(tuple(column.get(r, t.zero) for _, column in kin.WX) for r in range(kin.n_u))
    yield paragraph(
        "The equation of each speed is the sum of the equations along the coordinates, ",
        writing.general_formula(f.Symbol("E", ("k",))),
        ", with the entries of its row of ",
        writing.general_formula(W.T),
        " as factors:",
    )
    transposed = Matrix(rows, tuple(speeds), tuple(coordinates))
    yield from _matrix(StepItem(W.T, transposed), transposed, d, writing)
    yield _combination_lines(t, transposed, writing)


def _combination_lines(t: Tape, transposed: Matrix, writing: FormulaWriter) -> Display:
    """Σ_k W_kr E_k for every speed."""
    rows, speeds, coordinates = transposed.rows, transposed.row_labels, transposed.column_labels
    written, definitions = writing.scalars(t, [e for row in rows for e in row])
    equations = [f.Symbol("E", (f.Name(q),)) for q in coordinates]
    lines = []
    for r, speed in enumerate(speeds):
        entries = written[r * len(coordinates) : (r + 1) * len(coordinates)]
        terms = [
            scaled(w, writing.general_formula(E).tree)
            for w, E in zip(entries, equations, strict=True)
            if w != ZERO
        ]
        lines.append(Line(FormulaSpan(total(terms)), ("along ", writing.symbol(speed)), sign=":"))
    return Display(tuple(lines), definitions)


def _constraint_elimination(d: Derivation, writing: FormulaWriter) -> Block:
    """Where the constraint rows have gone: with the rates, or with the speeds that stand for
    them.
    """
    rows = ", ".join(row.name for row in d.kinematics.rows)
    held = [str(d.tape.nodes[i][1]) for name, i in d.tape.private.items() if name.startswith("u_D")]
    if held:
        return paragraph(
            f"The constraint rows ({rows}): the speeds that stand for them, ",
            *writing.symbol_list(held),
            ", are zero, and were set to zero after all was differentiated.",
        )
    return paragraph(
        f"The constraint rows ({rows}): the rates in the independent speeds satisfy them."
    )


def _accelerations(d: Derivation, writing: FormulaWriter) -> Iterator[Block]:
    """q̈ = W u̇ + Ẇ u + Ẋ of the coordinates whose rates are no speeds."""
    kin = d.kinematics
    pairs = [(x, e) for x, e in zip(kin.qddot, kin.qddot_of_u, strict=True) if x != e]
    if not pairs:
        return
    yield paragraph(
        "Rates and accelerations that are not independent: ",
        writing.general_formula(RATES),
        " differentiated,",
    )
    yield _definitions(d, pairs, writing)


def _definitions(
    d: Derivation, pairs: Sequence[tuple[int, int]], writing: FormulaWriter
) -> Display:
    """Symbols, each with what it is."""
    written, definitions = writing.scalars(d.tape, [e for _, e in pairs])
    lefts = [writing.symbol(d.kinematics.name(x)) for x, _ in pairs]
    return Display(
        tuple(Line(FormulaSpan(w), (left,)) for left, w in zip(lefts, written, strict=True)),
        definitions,
    )


def rates(d: Derivation, writing: FormulaWriter) -> Iterator[Block]:
    """q̇ = W u + X, where it says more than that each speed is a rate."""
    kin = d.kinematics
    pairs = [(x, e) for x, e in zip(kin.qdot, kin.qdot_of_u, strict=True) if x != e]
    if not pairs:
        yield paragraph(
            "The speeds are the rates of the coordinates, ",
            writing.general_formula(SPEEDS_ARE_RATES),
            ".",
        )
        return
    yield paragraph(
        "Speeds u: ",
        *writing.symbol_list(kin.name(u) for u in kin.u),
        ". Rates ",
        writing.general_formula(RATES),
        ":",
    )
    yield _definitions(d, pairs, writing)
    for u, e in kin.edge_speed_definitions:
        v, along = writing.symbol(kin.name(u)), writing.scalar(d.tape, e)
        yield paragraph(
            v,
            " = ",
            along,
            " is the speed along the edge, chosen because nothing is divided by what vanishes at "
            "some headings.",
        )
