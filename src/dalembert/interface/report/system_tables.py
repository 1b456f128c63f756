"""What a system consists of: symbols, bodies, loads, constraint rows with what each is among all of them, and the freedoms they leave."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Final

from dalembert.errors import DalembertError
from dalembert.foundation.caching import MadeOnce
from dalembert.interface.report.document_blocks import Block, Display, FormulaSpan, Line, Span, TableBlock, VerdictSpan, words
from dalembert.interface.report.formula_writer import Writing, components
from dalembert.mechanics.geometry.frame import Frame
from dalembert.mechanics.geometry.point import Point
from dalembert.mechanics.geometry.rotation import AboutAxis, AboutBasis, Quaternion
from dalembert.mechanics.geometry.vector import Vector
from dalembert.mechanics.kinematics.system_kinematics import Kinematics
from dalembert.mechanics.model.elements import Body, Constraint, DeclaredSymbol, FrictionalContact, Load
from dalembert.mechanics.model.system import System
from dalembert.symbolic.algebra.exact.zero_test import decide_zero
from dalembert.symbolic.algebra.expression_graph import Linear, gradient
from dalembert.symbolic.algebra.printing.print_tree import ZERO, Adjacent, Letter, Listed, Prose, Sides, Tree, UnitVector, total
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
    "specified": "specified motion",
    "speed": "speed",
    "state": "first-order state",
}


def symbols(system: System, writing: Writing) -> TableBlock:
    """Every symbol: how it prints, how programs call it, what it is, where it stands, its value and, where units are given, its unit."""
    meanings, original = _meanings(system), _names_in_file(system)
    rows = [
        (writing.symbol(s.name), original.get(s.name, s.name), KINDS[s.kind], meanings.get(s.scalar.i, ""), _value(system, s, writing))
        for s in system.symbols.values()
    ]
    heads = ("symbol", "name", "what", "meaning", "value or definition")
    if not system.known_dimensions():
        return TableBlock(heads, tuple(rows))
    return TableBlock((*heads, "unit"), tuple((*row, system.unit(name)) for row, name in zip(rows, system.symbols, strict=True)))


def _names_in_file(system: System) -> dict[str, str]:
    """How the file that a system was read from calls its symbols, where expressions cannot."""
    if system.origin is None:
        return {}
    from dalembert.exchange.robots.robot_record import Origin

    names = system.origin.names if isinstance(system.origin, Origin) else {}
    return {legal: f"{legal} ({name} in its file)" for legal, name in names.items()}


def _meanings(system: System) -> dict[int, Span]:
    """What a symbol is that stands alone somewhere: a mass, an angle of a frame, a distance along an axis."""
    found: dict[int, Span] = {}
    for F in system.space.frames:
        for angle in F.rotation.variables() if F.rotation is not None else ():
            found.setdefault(angle, f"attitude of frame {F.name}")
    for P in system.space.points:
        for F, axis, component in components(P.r):
            found.setdefault(component, FormulaSpan(Adjacent((Prose(f"place of {P.name} along "), UnitVector(F.name, axis)))))
    for b in system.bodies:
        found.setdefault(b.mass.i, f"mass of {b.name}")
    return found


def _value(system: System, symbol: DeclaredSymbol, writing: Writing) -> Span:
    if symbol.kind == "speed":
        definition = next(s.definition for s in system.speed_list if s.name == symbol.name)
        return writing.scalar(definition.tape, definition.i)
    if symbol.kind == "state":
        rate = system.state_rates[symbol.name]
        return writing.scalar(rate.tape, rate.i)
    if symbol.kind == "constant":
        return "no value" if symbol.value is None else number(symbol.value)
    if symbol.motion is not None:
        return writing.scalar(symbol.motion.tape, symbol.motion.i)
    if any(x is not None and x.i == symbol.scalar.i for c in system.contacts for x in (c.N, c.T)):
        return "found with the motion"
    return {"input": "given at run time", "specified": "given at run time"}.get(symbol.kind, "")


def number(value: Number) -> str:
    """9.81 for 981/100; a fraction where no decimal means the same."""
    return next((short for short in (f"{float(value):.15g}", repr(float(value))) if Fraction(short) == value), str(value))


def bodies(system: System, writing: Writing) -> TableBlock:
    """Masses, their centres and frames."""
    rows = [(b.name, _kind(b), writing.scalar(b.mass.tape, b.mass.i), b.G.name, b.frame.name if b.frame else "") for b in system.bodies]
    return TableBlock(("body", "what", "mass", "mass centre", "frame"), tuple(rows))


def _kind(body: Body) -> str:
    if body.shape is not None:
        return body.shape.kind
    return "rigid body" if body.is_rigid else "particle"


def frames(system: System, writing: Writing) -> TableBlock:
    """Every frame: on which it hangs and how it is turned against it."""
    rows = [(F.name, F.parent.name, _turned(F, writing)) for F in system.space.frames if F.parent is not None]
    return TableBlock(("frame", "hangs on", "turned"), tuple(rows))


def _turned(F: Frame, writing: Writing) -> Span:
    t, parent = F.space.tape, F.parent
    match F.rotation:
        case AboutBasis(angle, axis, sign) if parent is not None:
            written = writing.scalar(t, angle)
            about = total([(sign < 0, UnitVector(parent.name, "xyz"[axis]))])
            return FormulaSpan(Adjacent((written.tree, Prose(" about "), about)), written.definitions)
        case AboutAxis(angle, axis) if parent is not None:
            written, n = writing.scalar(t, angle), writing.vector(Vector(t, {parent: axis}))
            return FormulaSpan(Adjacent((written.tree, Prose(" about "), n.tree)), (*written.definitions, *n.definitions))
        case Quaternion():
            return "by a quaternion"
        case _:
            return "by direction cosines"


def points(system: System, writing: Writing) -> TableBlock:
    """Every point: from which it is given and where it is."""
    rows = [(P.name, P.parent.name, writing.vector(P.r)) for P in system.space.points if P.parent is not None]
    return TableBlock(("point", "from", "at"), tuple(rows))


# ---- loads -----------------------------------------------------------------------------------


def loads(kin: Kinematics, writing: Writing) -> Iterator[Block]:
    """Every load, and along which speeds it contributes; one that contributes to none is named so."""
    kin = kin.fork()
    found = [*_forces(kin, writing), *_functions(kin, writing)]
    if not found:
        yield words("No loads act on it.")
        return
    rows = tuple((name, formula, _contribution(kin, projections, writing)) for name, formula, projections in found)
    yield TableBlock(("load", "as described", "contributes along"), rows)
    if kin.system.contacts:
        yield contacts(kin.system, writing)


def contacts(system: System, writing: Writing) -> TableBlock:
    """g ≥ 0, N ≥ 0, g N = 0, and |T| ≤ μ_s N at rest, T = −μ N sign(v_T) in slip: what a run finds N and T from."""

    def shown(x: Scalar | None) -> Span:
        return "" if x is None else writing.scalar(x.tape, x.i)

    def pressed(c: FrictionalContact) -> Span:
        if c.row is not None:
            return f"force of the row {c.row}"
        return shown(c.normal if c.N is None else c.N)

    rows = tuple(
        (
            c.name,
            shown(c.gap),
            pressed(c),
            shown(c.slip),
            shown(c.friction),
            shown(c.static),
            shown(c.restitution) if c.gap is not None else "",
        )
        for c in system.contacts
    )
    return TableBlock(("contact", "gap", "normal force", "slip velocity", "μ", "μ at rest", "restitution"), rows)


# name, what it is, and F_r for every r
Contribution = tuple[str, FormulaSpan, dict[int, int]]


def _forces(kin: Kinematics, writing: Writing) -> Iterator[Contribution]:
    field = kin.system.field
    weights = [] if field is None else [Load(f"weight of {b.name}", ((b.mass * field.g, b.G),)) for b in kin.system.bodies]
    for load in (*weights, *kin.system.loads):
        pairs: list[tuple[Vector, Point | Frame]] = [*load.forces, *load.torques]
        F: dict[int, int] = {}
        for vector, place in pairs:
            for r, partial in kin.partials(place)[0].items():
                F[r] = kin.tape.add(F.get(r, kin.tape.zero), partial.dot_index(kin.vector_in_speeds(vector)))
        if load.along:
            yield load.name, _along(load, writing), F
            continue
        shown = [(writing.vector(vector), place.name) for vector, place in pairs]
        yield load.name, _places(shown), F


def _along(load: Load, writing: Writing) -> FormulaSpan:
    """Q_θ = …"""
    lines: list[Tree] = []
    definitions: list[Sides] = []
    for q, (F, _) in zip(load.along, load.forces, strict=True):
        ((Q, _, _),) = F.parts.values()
        written = writing.scalar(F.tape, Q)
        lines.append(Sides(Adjacent((Letter("Q"), Prose(" along "), writing.naming(str(q.name)))), written.tree))
        definitions += written.definitions
    return FormulaSpan(Listed(tuple(lines)), tuple(definitions))


def _places(shown: Sequence[tuple[FormulaSpan, str]]) -> FormulaSpan:
    definitions = tuple(d for formula, _ in shown for d in formula.definitions)
    return FormulaSpan(Listed(tuple(Adjacent((formula.tree, Prose(f" at {place}"))) for formula, place in shown)), definitions)


def _functions(kin: Kinematics, writing: Writing) -> Iterator[Contribution]:
    """Potentials V and dissipation functions D."""
    t = kin.tape
    linear = Linear(t, kin.u)
    for p in kin.system.potentials:
        yield p.name, _named("V", writing.scalar(t, p.V.i)), linear(kin.rate(kin.in_rates(p.V.i)))[1]
    for d in kin.system.dissipations:
        slopes = gradient(t, {kin.in_speeds(kin.in_rates(d.D.i)): t.one}, kin.u)
        yield d.name, _named("D", writing.scalar(t, d.D.i)), dict(enumerate(slopes))


def _named(letter: str, formula: FormulaSpan) -> FormulaSpan:
    return FormulaSpan(Sides(Letter(letter), formula.tree), formula.definitions)


def _contribution(kin: Kinematics, F: dict[int, int], writing: Writing) -> Span:
    found = dict(zip(F, decide_zero(kin.tape, list(F.values())).verdicts, strict=True))
    if open_ones := [v for v in found.values() if v.holds is None]:
        return VerdictSpan(str(open_ones[0]), holds=None)
    along = [kin.name(kin.u[r]) for r, none in sorted(found.items()) if not none]
    if along:
        return symbols_listed(along, writing)
    return f"nothing: noncontributing ({'no allowed motion does work on it' if F else 'no speed moves its place'})"


def symbols_listed(names: Iterable[str], writing: Writing) -> FormulaSpan:
    """x, y, z by their names."""
    return FormulaSpan(Listed(tuple(map(writing.naming, names))))


# ---- constraints and freedoms ----------------------------------------------------------------

_ANALYSES: Final = MadeOnce["ConstraintAnalysis | None"]()


def constraints(kin: Kinematics, writing: Writing) -> Iterator[Block]:
    """The rows as described, and those that were dropped because they say nothing."""
    yield from _described(kin.system, _of(kin), writing)
    norms = [row.name for row in kin.rows if row.is_norm]
    if norms:
        yield words("Kept constant: ", ", ".join(norms), ".")
    if kin.system.dropped:
        yield words("Dropped, because it holds identically: ", ", ".join(kin.system.dropped), ".")


def described_constraints(system: System, writing: Writing) -> Iterator[Block]:
    """The rows as described; a system that is not complete yet may have some."""
    yield from _described(system, _analysed(system), writing)


def _of(kin: Kinematics) -> ConstraintAnalysis | None:
    return _ANALYSES(kin, None, lambda: _analysed(kin.system))


def _analysed(system: System) -> ConstraintAnalysis | None:
    """All rows together; None where they contradict each other, which is for a start to say, or are not complete yet."""
    from dalembert.analysis.constraint_analysis.analysis import constraints as analysis

    try:
        return analysis(system) if system.constraints else None
    except DalembertError:
        return None


def _described(system: System, found: ConstraintAnalysis | None, writing: Writing) -> Iterator[Block]:
    if not system.constraints:
        return
    classes = {} if found is None else {c.name: c for c in found.classes}
    hidden = () if found is None else found.hidden
    alone = {h.rows[0]: h for h in hidden if len(h.rows) == 1}
    written, definitions = writing.scalars(system.space.tape, [c.expression.i for c in system.constraints])
    lines = []
    for c, w in zip(system.constraints, written, strict=True):
        integral = (": ", _constant(alone[c.name], writing)) if c.name in alone else ()
        lines.append(Line(FormulaSpan(Sides(w, ZERO)), note=(f"{c.name}, {_row_kind(c, classes.get(c.name))}", *integral)))
    yield Display(tuple(lines), definitions)
    for h in hidden:
        if len(h.rows) > 1:
            yield words("Together the rows ", ", ".join(h.rows), " integrate: ", _constant(h, writing), ".")


def _row_kind(c: Constraint, kind: RowClass | None) -> str:
    word = "holonomic" if c.holonomic else "whether it integrates is undecided"
    word = word if kind is None else kind.words
    word = "not linear in the rates: by Chetaev's rule" if c.nonlinear else word
    return word + (", redundant: noncontributing where the others hold" if c.redundant else "")


def _constant(h: HiddenPosition, writing: Writing) -> FormulaSpan:
    """φ = constant"""
    phi = writing.scalar(h.phi.tape, h.phi.i)
    return FormulaSpan(Sides(phi.tree, Prose("constant")), phi.definitions)


def freedoms(kin: Kinematics) -> Block:
    """n − m_hol freedoms of configuration, n − m of velocity; rows that integrate together count as holonomic.

    Source: Mei85 (7.8) counts holonomic rows only.
    """
    n, m, found = kin.n_q, len(kin.rows), _of(kin)
    integrated = 0 if found is None else found.integrable
    holonomic = sum(row.holonomic for row in kin.rows) + integrated
    after = f" ({integrated} of them after integration)" if integrated else ""
    rows = f"{holonomic} holonomic{after} and {m - holonomic} nonholonomic constraint rows" if m else "no constraint rows"
    freedom = "freedom" if n - holonomic == 1 else "freedoms"
    start = " from a given start" if integrated else ""
    return words(f"{n} coordinate{'s' * (n > 1)}, {rows}: {n - holonomic} {freedom} of configuration{start}, {n - m} of velocity.")


def counted(kin: Kinematics, writing: Writing) -> TableBlock:
    """Where the freedoms come from: what brings them in, what takes them away."""
    held = [row.name for row in kin.rows if row.holonomic]
    rolling, found = [row.name for row in kin.rows if not row.holonomic], _of(kin)
    integrated = 0 if found is None else found.integrable
    n, left = kin.n_q, len(rolling) - integrated
    rows: list[tuple[Span, ...]] = [("coordinates", str(n), symbols_listed(map(kin.name, kin.q), writing))]
    rows += [("holonomic rows", str(len(held)), ", ".join(held))] if held else []
    if found is not None and integrated:
        names = dict.fromkeys([c.name for c in found.classes if c.integrated] + [name for h in found.hidden for name in h.rows])
        rows.append(("rows that integrate", str(integrated), f"{', '.join(names)}; the start decides the constant"))
        rolling = [c.name for c in found.classes if not c.holonomic]
    rows += [("freedoms of configuration", str(n - len(held) - integrated), "coordinates less holonomic rows (Mei85 (7.8))")]
    rows += [("nonholonomic rows", str(left), ", ".join(rolling))] if left else []
    rows += [("freedoms of velocity", str(kin.n_u), symbols_listed(map(kin.name, kin.u), writing))]
    return TableBlock(("count", "", "which, and why"), tuple(rows))
