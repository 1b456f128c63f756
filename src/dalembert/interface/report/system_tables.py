"""What a system consists of: symbols, bodies, loads, constraint rows with what each is among all
of them, and the degrees of freedom.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Final

from dalembert.errors import DalembertError
from dalembert.foundation.caching import PerOwnerCache
from dalembert.interface.report.document_blocks import (
    Block,
    Display,
    FormulaSpan,
    Line,
    Span,
    TableBlock,
    VerdictSpan,
    paragraph,
)
from dalembert.interface.report.formula_writer import FormulaWriter, components
from dalembert.mechanics.geometry.frame import Frame
from dalembert.mechanics.geometry.point import Point
from dalembert.mechanics.geometry.rotation import AxisRotation, BasisRotation, Quaternion
from dalembert.mechanics.geometry.vector import Vector
from dalembert.mechanics.kinematics.system_kinematics import Kinematics
from dalembert.mechanics.model.elements import (
    Body,
    Constraint,
    DeclaredSymbol,
    Load,
    UnilateralContact,
)
from dalembert.mechanics.model.system import System
from dalembert.symbolic.algebra.exact.verdict import Verdict
from dalembert.symbolic.algebra.exact.zero_test import decide_zero
from dalembert.symbolic.algebra.expression_graph import LinearCoefficients, gradient
from dalembert.symbolic.algebra.printing import length_trees
from dalembert.symbolic.algebra.printing.named_lengths import length_definitions
from dalembert.symbolic.algebra.printing.print_tree import (
    ZERO,
    Adjacent,
    CommaList,
    Equality,
    Letter,
    Prose,
    Tree,
    UnitVector,
    total,
)
from dalembert.symbolic.algebra.scalar import Scalar
from dalembert.symbolic.algebra.tape import Number

if TYPE_CHECKING:
    from dalembert.analysis.constraint_analysis.analysis import ConstraintAnalysis
    from dalembert.analysis.constraint_analysis.integrability import RowClass
    from dalembert.analysis.constraint_analysis.pfaffian_integrals import HiddenPosition

KINDS = {
    "coordinate": "coordinate",
    "constant": "constant",
    "input": "input",
    "specified": "prescribed motion",
    "speed": "speed",
    "state": "first-order state",
}


def symbol_table(system: System, writing: FormulaWriter) -> TableBlock:
    """Every symbol: how it prints, how programs call it, what it is, where it stands, its value
    and, where units are given, its unit.
    """
    meanings, original = _meanings(system), _names_in_file(system)
    rows = [
        (
            writing.symbol(s.name),
            original.get(s.name, s.name),
            KINDS[s.kind],
            meanings.get(s.scalar.i, ""),
            _value(system, s, writing),
        )
        for s in system.symbols.values()
    ]
    tape = system.space.tape
    lengths = length_definitions(tape, tape.lengths)
    trees = length_trees(tape, tuple(tape.lengths))
    rows += [
        (writing.symbol(name), name, "length", "", FormulaSpan(tree.right))
        for name, tree in zip(lengths, trees, strict=True)
    ]
    heads = ("symbol", "name", "what", "meaning", "value or definition")
    if not system.known_dimensions():
        return TableBlock(heads, tuple(rows))
    units = [system.unit(name) for name in system.symbols]
    units += [system.unit(Scalar(tape, i)) for i in lengths.values()]
    return TableBlock(
        (*heads, "unit"),
        tuple((*row, unit) for row, unit in zip(rows, units, strict=True)),
    )


def _names_in_file(system: System) -> dict[str, str]:
    """How the file that a system was read from calls its symbols, where expressions cannot."""
    if system.origin is None:
        return {}
    from dalembert.exchange.robots.robot_record import RobotSource

    names = system.origin.names if isinstance(system.origin, RobotSource) else {}
    return {legal: f"{legal} ({name} in its file)" for legal, name in names.items()}


def _meanings(system: System) -> dict[int, Span]:
    """What a symbol is that stands alone somewhere: a mass, an angle of a frame, a distance
    along an axis.
    """
    meanings: dict[int, Span] = {}
    for F in system.space.frames:
        for angle in F.rotation.variables() if F.rotation is not None else ():
            meanings.setdefault(angle, f"orientation of frame {F.name}")
    for P in system.space.points:
        for F, axis, component in components(P.r):
            meanings.setdefault(
                component,
                FormulaSpan(
                    Adjacent((Prose(f"position of {P.name} along "), UnitVector(F.name, axis)))
                ),
            )
    for b in system.bodies:
        meanings.setdefault(b.mass.i, f"mass of {b.name}")
    return meanings


def _value(system: System, symbol: DeclaredSymbol, writing: FormulaWriter) -> Span:
    if symbol.kind == "speed":
        definition = next(s.definition for s in system.speed_list if s.name == symbol.name)
        return writing.scalar(definition.tape, definition.i)
    if symbol.kind == "state":
        rate = system.state_rates[symbol.name]
        return writing.scalar(rate.tape, rate.i)
    if symbol.kind == "constant":
        return "no value" if symbol.value is None else number(symbol.value)
    if symbol.driver is not None:
        return f"its {symbol.driven_rate} is the input {symbol.driver.name}"
    if symbol.motion is not None:
        return writing.scalar(symbol.motion.tape, symbol.motion.i)
    if any(x.i == symbol.scalar.i for c in system.contacts for x in c.forces):
        return "solved for during the simulation"
    return {"input": "given at run time", "specified": "given at run time"}.get(symbol.kind, "")


def number(value: Number) -> str:
    """9.81 for 981/100; a fraction where no decimal means the same."""
    return next(
        (
            short
            for short in (f"{float(value):.15g}", repr(float(value)))
            if Fraction(short) == value
        ),
        str(value),
    )


def body_table(system: System, writing: FormulaWriter) -> TableBlock:
    """Masses, their centres and frames."""
    rows = [
        (
            b.name,
            _kind(b),
            writing.scalar(b.mass.tape, b.mass.i),
            b.G.name,
            b.frame.name if b.frame else "",
        )
        for b in system.bodies
    ]
    return TableBlock(("body", "what", "mass", "mass centre", "frame"), tuple(rows))


def _kind(body: Body) -> str:
    if body.shape is not None:
        return body.shape.kind
    return "rigid body" if body.is_rigid else "particle"


def frame_table(system: System, writing: FormulaWriter) -> TableBlock:
    """Every frame: its parent and how it is rotated relative to it."""
    rows = [
        (F.name, F.parent.name, _rotation_text(F, writing))
        for F in system.space.frames
        if F.parent is not None
    ]
    return TableBlock(("frame", "parent", "rotation"), tuple(rows))


def _rotation_text(F: Frame, writing: FormulaWriter) -> Span:
    t, parent = F.space.tape, F.parent
    match F.rotation:
        case BasisRotation(angle, axis, sign) if parent is not None:
            written = writing.scalar(t, angle)
            about = total([(sign < 0, UnitVector(parent.name, "xyz"[axis]))])
            return FormulaSpan(
                Adjacent((written.tree, Prose(" about "), about)), written.definitions
            )
        case AxisRotation(angle, axis) if parent is not None:
            written, n = writing.scalar(t, angle), writing.vector(Vector(t, {parent: axis}))
            return FormulaSpan(
                Adjacent((written.tree, Prose(" about "), n.tree)),
                (*written.definitions, *n.definitions),
            )
        case Quaternion():
            return "by a quaternion"
        case _:
            return "by direction cosines"


def point_table(system: System, writing: FormulaWriter) -> TableBlock:
    """Every point: from which it is given and where it is."""
    rows = [
        (P.name, P.parent.name, writing.vector(P.r))
        for P in system.space.points
        if P.parent is not None
    ]
    return TableBlock(("point", "from", "at"), tuple(rows))


# ---- loads -----------------------------------------------------------------------------------


def load_table(kin: Kinematics, writing: FormulaWriter) -> Iterator[Block]:
    """Every load, and along which speeds it contributes; one that contributes to none is named
    so.
    """
    kin = kin.fork()
    contributions = [*_forces(kin, writing), *_energy_functions(kin, writing)]
    if not contributions:
        yield paragraph("No loads act on it.")
        return
    nodes = [node for _, _, F in contributions for node in F.values()]
    # all at once: loads share most of their expressions
    verdicts = iter(decide_zero(kin.tape, nodes).verdicts)
    rows = tuple(
        (name, formula, _active_speeds(kin, {r: next(verdicts) for r in F}, writing))
        for name, formula, F in contributions
    )
    yield TableBlock(("load", "as described", "contributes along"), rows)
    if kin.system.contacts:
        yield contact_table(kin.system, writing)


def _scalar_or_blank(x: Scalar | None, writing: FormulaWriter) -> Span:
    return "" if x is None else writing.scalar(x.tape, x.i)


def _contact_cells(c: UnilateralContact, writing: FormulaWriter) -> tuple[Span, ...]:
    """Name, g, N, v_T, μ, μ_s and e of one contact."""
    normal = c.normal if c.N is None else c.N
    gap = _scalar_or_blank(c.gap, writing)
    force = _scalar_or_blank(normal, writing) if c.row is None else f"force of the row {c.row}"
    friction = [_scalar_or_blank(x, writing) for x in (c.slip, c.friction, c.static)]
    restitution = _scalar_or_blank(c.restitution, writing) if c.gap is not None else ""
    return (c.name, gap, force, *friction, restitution)


def _activity(c: UnilateralContact, writing: FormulaWriter) -> Span:
    """When a contact is there."""
    if isinstance(c.active, Scalar):
        return writing.scalar(c.active.tape, c.active.i)
    return "always" if c.active is None else "at the start" if c.active else "if added"


def contact_table(system: System, writing: FormulaWriter) -> TableBlock:
    """g ≥ 0, N ≥ 0, g N = 0, and |T| ≤ μ_s N at rest, T = −μ N sign(v_T) in slip: what a run
    finds N and T from.
    """
    switched = any(c.active is not None for c in system.contacts)
    rows: list[tuple[Span, ...]] = []
    for c in system.contacts:
        rows.append((*_contact_cells(c, writing), *[_activity(c, writing)] * switched))
        if c.slip_across is not None:
            across = _scalar_or_blank(c.slip_across, writing)
            rows.append(("", "", "", across, "", "", "", *[""] * switched))
    heads = "contact", "gap", "normal force", "slip velocity", "μ", "μ at rest", "restitution"
    return TableBlock((*heads, *["active while positive"] * switched), tuple(rows))


# name, what it is, and F_r for every r
Contribution = tuple[str, FormulaSpan, dict[int, int]]


def _forces(kin: Kinematics, writing: FormulaWriter) -> Iterator[Contribution]:
    field = kin.system.gravity_field
    weights = (
        []
        if field is None
        else [Load(f"weight of {b.name}", ((b.mass * field.g, b.G),)) for b in kin.system.bodies]
    )
    for load in (*weights, *kin.system.loads):
        pairs: list[tuple[Vector, Point | Frame]] = [*load.forces, *load.torques]
        F: dict[int, int] = {}
        for vector, place in pairs:
            for r, partial in kin.partial_velocities(place)[0].items():
                F[r] = kin.tape.add(
                    F.get(r, kin.tape.zero), partial.dot_node(kin.vector_in_speeds(vector))
                )
        if load.coordinates:
            yield load.name, _along(load, writing), F
            continue
        shown = [(writing.vector(vector), place.name) for vector, place in pairs]
        yield load.name, _action_points(shown), F


def _along(load: Load, writing: FormulaWriter) -> FormulaSpan:
    """Q_θ = …"""
    lines: list[Tree] = []
    definitions: list[Equality] = []
    for q, (F, _) in zip(load.coordinates, load.forces, strict=True):
        ((Q, _, _),) = F.parts.values()
        written = writing.scalar(F.tape, Q)
        lines.append(
            Equality(
                Adjacent((Letter("Q"), Prose(" along "), writing.naming(str(q.name)))), written.tree
            )
        )
        definitions += written.definitions
    return FormulaSpan(CommaList(tuple(lines)), tuple(definitions))


def _action_points(shown: Sequence[tuple[FormulaSpan, str]]) -> FormulaSpan:
    definitions = tuple(d for formula, _ in shown for d in formula.definitions)
    return FormulaSpan(
        CommaList(
            tuple(Adjacent((formula.tree, Prose(f" at {place}"))) for formula, place in shown)
        ),
        definitions,
    )


def _energy_functions(kin: Kinematics, writing: FormulaWriter) -> Iterator[Contribution]:
    """Potentials V and dissipation functions D."""
    t = kin.tape
    linear = LinearCoefficients(t, kin.u)
    for p in kin.system.potentials:
        yield (
            p.name,
            _with_symbol("V", writing.scalar(t, p.V.i)),
            linear(kin.rate(kin.in_rates(p.V.i)))[1],
        )
    for d in kin.system.dissipations:
        slopes = gradient(t, {kin.in_speeds(kin.in_rates(d.D.i)): t.one}, kin.u)
        yield d.name, _with_symbol("D", writing.scalar(t, d.D.i)), dict(enumerate(slopes))


def _with_symbol(letter: str, formula: FormulaSpan) -> FormulaSpan:
    return FormulaSpan(Equality(Letter(letter), formula.tree), formula.definitions)


_NO_WORK = "does no work in any admissible motion"
_NO_MOTION = "no speed moves its point of application"


def _active_speeds(kin: Kinematics, verdicts: dict[int, Verdict], writing: FormulaWriter) -> Span:
    """The speeds along which a load contributes, by whether F_r vanishes."""
    if open_ones := [v for v in verdicts.values() if v.holds is None]:
        return VerdictSpan(str(open_ones[0]), holds=None)
    along = [kin.name(kin.u[r]) for r, none in sorted(verdicts.items()) if not none]
    if along:
        return symbol_list(along, writing)
    return f"none: noncontributing ({_NO_WORK if verdicts else _NO_MOTION})"


def symbol_list(names: Iterable[str], writing: FormulaWriter) -> FormulaSpan:
    """x, y, z by their names."""
    return FormulaSpan(CommaList(tuple(map(writing.naming, names))))


# ---- constraints and degrees of freedom ------------------------------------------------------

_ANALYSES: Final = PerOwnerCache["ConstraintAnalysis | None"]()


def constraints(kin: Kinematics, writing: FormulaWriter) -> Iterator[Block]:
    """The rows as described, and those that were dropped because they always hold."""
    yield from _constraint_rows(kin.system, _constraint_analysis(kin), writing)
    norms = [row.name for row in kin.rows if row.is_norm]
    if norms:
        yield paragraph("Kept constant: ", ", ".join(norms), ".")
    if kin.system.trivial_constraints:
        yield paragraph(
            "Always satisfied, and omitted: ",
            ", ".join(kin.system.trivial_constraints),
            ".",
        )


def declared_constraint_table(system: System, writing: FormulaWriter) -> Iterator[Block]:
    """The rows as described; a system that is not complete yet may have some."""
    yield from _constraint_rows(system, _analyse_constraints(system), writing)


def _constraint_analysis(kin: Kinematics) -> ConstraintAnalysis | None:
    return _ANALYSES(kin, None, lambda: _analyse_constraints(kin.system))


def _analyse_constraints(system: System) -> ConstraintAnalysis | None:
    """All rows together; None where they contradict each other, which is for a start to say, or
    are not complete yet.
    """
    from dalembert.analysis.constraint_analysis.analysis import constraints as analysis

    try:
        return analysis(system) if system.constraints else None
    except DalembertError:
        return None


def _constraint_rows(
    system: System, analysis: ConstraintAnalysis | None, writing: FormulaWriter
) -> Iterator[Block]:
    if not system.constraints:
        return
    classes = {} if analysis is None else {c.name: c for c in analysis.classes}
    hidden = () if analysis is None else analysis.hidden
    alone = {h.rows[0]: h for h in hidden if len(h.rows) == 1}
    written, definitions = writing.scalars(
        system.space.tape, [c.expression.i for c in system.constraints]
    )
    lines = []
    for c, w in zip(system.constraints, written, strict=True):
        integral = (": ", _constant(alone[c.name], writing)) if c.name in alone else ()
        lines.append(
            Line(
                FormulaSpan(Equality(w, ZERO)),
                note=(f"{c.name}, {_constraint_type(c, classes.get(c.name))}", *integral),
            )
        )
    yield Display(tuple(lines), definitions)
    for h in hidden:
        if len(h.rows) > 1:
            yield paragraph(
                "Together the rows ", ", ".join(h.rows), " integrate: ", _constant(h, writing), "."
            )


def _constraint_type(c: Constraint, kind: RowClass | None) -> str:
    word = "holonomic" if c.holonomic else "whether it integrates is undecided"
    word = word if kind is None else kind.description
    word = "not linear in the rates: by Chetaev's rule" if c.nonlinear else word
    return word + (", redundant: noncontributing where the others hold" if c.redundant else "")


def _constant(h: HiddenPosition, writing: FormulaWriter) -> FormulaSpan:
    """φ = constant"""
    phi = writing.scalar(h.phi.tape, h.phi.i)
    return FormulaSpan(Equality(phi.tree, Prose("constant")), phi.definitions)


def dof_summary(kin: Kinematics) -> Block:
    """n − m_hol degrees of freedom at configuration level, n − m at velocity level; rows that
    integrate together count as holonomic.

    Source: Mei85 (7.8) counts holonomic rows only.
    """
    n, m, analysis = kin.n_q, len(kin.rows), _constraint_analysis(kin)
    integrated = 0 if analysis is None else analysis.integrable
    holonomic = sum(row.holonomic for row in kin.rows) + integrated
    after = f" ({integrated} of them after integration)" if integrated else ""
    rows = (
        f"{holonomic} holonomic{after} and {m - holonomic} nonholonomic constraint rows"
        if m
        else "no constraint rows"
    )
    freedom = "degree of freedom" if n - holonomic == 1 else "degrees of freedom"
    start = " from a given start" if integrated else ""
    return paragraph(
        f"{n} coordinate{'s' * (n > 1)}, {rows}: {n - holonomic} {freedom} in "
        f"configuration{start}, {n - m} in velocity."
    )


def dof_table(kin: Kinematics, writing: FormulaWriter) -> TableBlock:
    """The count of degrees of freedom: coordinates less constraints."""
    held = [row.name for row in kin.rows if row.holonomic]
    rolling = [row.name for row in kin.rows if not row.holonomic]
    analysis = _constraint_analysis(kin)
    integrated = 0 if analysis is None else analysis.integrable
    n, left = kin.n_q, len(rolling) - integrated
    rows: list[tuple[Span, ...]] = [
        ("coordinates", str(n), symbol_list(map(kin.name, kin.q), writing))
    ]
    rows += [("holonomic rows", str(len(held)), ", ".join(held))] if held else []
    if analysis is not None and integrated:
        names = dict.fromkeys(
            [c.name for c in analysis.classes if c.is_integrated]
            + [name for h in analysis.hidden for name in h.rows]
        )
        rows.append(
            (
                "rows that integrate",
                str(integrated),
                f"{', '.join(names)}; the initial state determines the constant",
            )
        )
        rolling = [c.name for c in analysis.classes if not c.holonomic]
    why = "coordinates minus holonomic rows (Mei85 (7.8))"
    rows += [("degrees of freedom (configuration)", str(n - len(held) - integrated), why)]
    rows += [("nonholonomic rows", str(left), ", ".join(rolling))] if left else []
    rows += [
        ("degrees of freedom (velocity)", str(kin.n_u), symbol_list(map(kin.name, kin.u), writing))
    ]
    return TableBlock(("count", "", "which, and why"), tuple(rows))
