"""What is found about a system, to read: whether the principles agree, what a source prints,
what each route costs, energies, a run.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final

from dalembert.errors import NotApplicable
from dalembert.foundation.deferred_dataclass import dataclass
from dalembert.interface.report.document_blocks import (
    Block,
    Code,
    Display,
    FormulaSpan,
    Heading,
    Line,
    Span,
    TableBlock,
    VerdictSpan,
    paragraph,
)
from dalembert.interface.report.formula_writer import FormulaWriter
from dalembert.mechanics.principles.derivation import Derivation
from dalembert.symbolic.algebra.exact import verdict
from dalembert.symbolic.algebra.exact.zero_test import decide_zero, provably_zero
from dalembert.symbolic.algebra.expression_graph import (
    Derivative,
    Substitution,
    gradient,
    symbols_of,
)
from dalembert.symbolic.algebra.formula import Rate, Symbol
from dalembert.symbolic.algebra.printing.formula_layout import formula_text
from dalembert.symbolic.algebra.printing.print_tree import ZERO, Equality
from dalembert.symbolic.algebra.scalar import Scalar, as_node
from dalembert.symbolic.algebra.sparse_matrix import sum_of_products
from dalembert.symbolic.algebra.tape import Tape

if TYPE_CHECKING:
    from dalembert.analysis.integrals.energy_integrals import EnergyIntegral, EnergyIntegrals
    from dalembert.mechanics.agreement.agreement_table import Agreement, AgreementRow
    from dalembert.mechanics.agreement.comparison import Comparison, Route
    from dalembert.mechanics.kinematics.system_kinematics import Kinematics
    from dalembert.runtime.simulation.trajectory import Trajectory

HEADINGS = ("principle", "route", "in", "unknowns", "operations", "verdict")


def agreement(a: Agreement, *, times: bool = False) -> Iterator[Block]:
    """The table of principles, the exactness statement, the audit."""
    rows = tuple(
        (*_row(r), *([f"{1e3 * r.seconds:.1f} ms" if r.applicable else ""] if times else []))
        for r in a.rows
    )
    yield TableBlock((*HEADINGS, *(["CPU time"] if times else [])), rows)
    yield paragraph(VerdictSpan(f"{a.statement[:1].upper()}{a.statement[1:]}.", a.holds))
    if a.read_as_pi:
        yield paragraph(f"Typed numbers: {'; '.join(a.read_as_pi)}.")
    yield from audit(a)
    for check in (a.compiled, *a.external_checks):
        if check is not None:
            yield paragraph(VerdictSpan(f"{str(check)[:1].upper()}{str(check)[1:]}.", check.agrees))


def _row(r: AgreementRow) -> tuple[Span, ...]:
    if not r.applicable:
        return (r.principle.title, r.principle.family, "", "", "", f"not applicable: {r.why_not}")
    return (
        r.principle.title,
        r.principle.family,
        r.principle.variables,
        str(r.unknowns),
        str(r.operations),
        VerdictSpan(r.verdict, r.agrees),
    )


def audit(a: Agreement) -> Iterator[Block]:
    """Which identities of the kinematics were checked, and which fail."""
    failed = [f for f in a.audit if not f.holds]
    wrong = None if failed and all(f.holds is None for f in failed) else not failed
    kinds = ", ".join(dict.fromkeys(f.what for f in a.audit))
    count = f"{len(a.audit) - len(failed)} of {len(a.audit)} identities hold"
    yield paragraph("Kinematic audit: ", VerdictSpan(count, holds=wrong), f" ({kinds}).")
    if failed:
        yield TableBlock(
            ("identity that fails or is undecided", "where"),
            tuple((VerdictSpan(f.what, f.holds), f.where) for f in failed),
        )


@dataclass(frozen=True)
class PublishedResult:
    """residual = 0 as a source prints it: Σ k E over the derived equations E, which are numbered
    from 1.
    """

    label: str
    residual: Scalar
    combination: tuple[tuple[int, Scalar], ...] = ()
    # printed in the source, or derived on paper by ourselves
    derived_by_hand: bool = False


def check_published(
    results: Sequence[PublishedResult], d: Derivation
) -> tuple[verdict.Verdict, ...]:
    """residual(q̇ = W u + X, q̈ = W u̇ + c) − Σ k E = 0: shown to hold, shown not to, or
    undecided.
    """
    kin = d.kinematics
    known = dict(zip(kin.qddot, kin.qddot_of_u, strict=True)) | dict(
        zip(kin.qdot, kin.qdot_of_u, strict=True)
    )
    residuals = d.equations.residuals
    t = d.tape.fork()
    in_u = Substitution(t, known)
    differences = []
    for result in results:
        combined = sum_of_products(
            t, ((in_u(as_node(t, k)), residuals[number - 1]) for number, k in result.combination)
        )
        differences.append(t.sub(in_u(as_node(t, result.residual)), combined))
    return decide_zero(t, differences).verdicts


def published_results(
    results: Sequence[PublishedResult], source: str, d: Derivation, writing: FormulaWriter
) -> Iterator[Block]:
    """Each result as the source prints it, and the verdict."""
    if not results:
        return
    yield Heading(
        2, "Results by hand" if all(r.derived_by_hand for r in results) else "Printed results"
    )
    verdicts = check_published(results, d)
    tape = results[0].residual.tape
    written, definitions = writing.scalars(tape, [r.residual.i for r in results])
    key = source.partition(" ")[0]
    notes = [
        f"{'by hand,' if r.derived_by_hand else key} {r.label}{_note(v)}"
        for r, v in zip(results, verdicts, strict=True)
    ]
    yield Display(
        tuple(
            Line(FormulaSpan(Equality(w, ZERO)), note=(note,))
            for w, note in zip(written, notes, strict=True)
        ),
        definitions,
    )
    yield paragraph(_overall_verdict(verdicts))


def _note(v: verdict.Verdict) -> str:
    return {True: "", False: ": NOT reproduced", None: ": undecided"}[v.holds]


def _overall_verdict(verdicts: Sequence[verdict.Verdict]) -> VerdictSpan:
    wrong, undecided = (
        [v for v in verdicts if v.holds is False],
        [v for v in verdicts if v.holds is None],
    )
    if wrong:
        return VerdictSpan(
            f"{len(wrong)} of {len(verdicts)} do NOT follow from the derived equations.",
            holds=False,
        )
    if undecided:
        return VerdictSpan(
            f"UNDECIDED for {len(undecided)} of {len(verdicts)}: {undecided[0].why}.", holds=None
        )
    who = {1: "It follows", 2: "Both follow"}.get(len(verdicts), f"All {len(verdicts)} follow")
    return VerdictSpan(f"{who} exactly from the derived equations.", holds=True)


def _doubtful_symbols(t: Tape, residuals: Sequence[int], symbols: Sequence[int]) -> set[int]:
    """Those of the symbols on which one combination of the equations does not depend: nearly all
    that are there show in it, and for the others every equation is checked.
    """
    combined = gradient(t, {r: t.const(k) for k, r in enumerate(residuals, 1)}, symbols)
    return {x for x, none in zip(symbols, provably_zero(t, combined), strict=True) if none}


def absent_parameters(d: Derivation, writing: FormulaWriter) -> Iterator[Block]:
    """Constants, inputs and prescribed motions that no equation of motion depends on."""
    t = d.tape.fork()
    known = [
        s
        for s in d.kinematics.system.symbols.values()
        if s.kind in ("constant", "input", "specified")
    ]
    jets = {s.name: [i for name, i in t.names.items() if name.rstrip("'") == s.name] for s in known}
    residuals = d.equations.residuals
    theirs = {i for found in jets.values() for i in found}
    there = [i for i in symbols_of(t, residuals) if i in theirs]
    doubtful = _doubtful_symbols(t, residuals, there)
    inside = {name: [i for i in found if i in there] for name, found in jets.items()}
    slopes = {
        name: [_slope(t, r, i) for i in found for r in residuals]
        for name, found in inside.items()
        if doubtful.issuperset(found)
    }
    flat = [slope for each in slopes.values() for slope in each]
    zero = dict(zip(flat, provably_zero(t, flat), strict=True))
    absent = [name for name, each in slopes.items() if all(zero[slope] for slope in each)]
    if absent:
        yield paragraph("No equation of motion depends on ", *writing.symbol_list(absent), ".")


def _slope(t: Tape, e: int, x: int) -> int:
    """∂e/∂x"""
    return Derivative(t, lambda i: t.one if i == x else None)(e)


# ---- what each route costs -------------------------------------------------------------------


MEASURES = ("equations", "unknowns", "operations", "reduced", "evaluation", "CPU time")


def cost_table(c: Comparison) -> Iterator[Block]:
    """Bar00 Table 1: the table of approaches and velocity variables, then who is best and who
    does not apply.
    """
    from dalembert.mechanics.agreement.comparison import APPROACHES, COLUMNS

    rows = [
        ("" if number else approach, _route_title(left), _route_title(right))
        for approach in APPROACHES
        for number, (left, right) in enumerate(c.table_rows(approach))
    ]
    yield TableBlock(("approach", *COLUMNS.values()), tuple(rows))
    yield TableBlock(("principle", *MEASURES), tuple(map(_measures, c.routes)))
    yield paragraph(f"{c.statement[:1].upper()}{c.statement[1:]}.")
    for r in c.routes:
        if not r.applicable:
            yield paragraph(f"{r.principle.title} does not apply: {r.why_not}.")
    yield paragraph(
        "Operations are those of the equations as each principle prints them; reduced, those of "
        "the equations in the independent speeds, without multipliers; evaluation, those of one "
        "call of compiled code. Gauss's principle belongs to both rows.",
        quiet=True,
    )
    yield from _integration_table(c)


INTEGRATION = ("integrated", "steps", "evaluations", "violation", "projected", "violation")


def _integration_table(c: Comparison) -> Iterator[Block]:
    """How easily the equations are integrated, for each form that the principles give."""
    efforts = c.integration_efforts
    if not efforts:
        return
    yield Heading(2, "Ease of integration")
    rows = []
    for e, _ in efforts:
        bounds = (
            ("—", "—")
            if e.projected_steps is None
            else (str(e.projected_steps), f"{e.projected_violation:.0e}")
        )
        rows.append((e.state, e.steps_text, str(e.evaluations), f"{e.violation:.0e}", *bounds))
    yield TableBlock(INTEGRATION, tuple(rows))
    for e, titles in efforts:
        yield paragraph(f"In {e.state}: {', '.join(titles)}.")
    yield paragraph(
        "Steps of one run to the same tolerance. With λ, the multipliers are solved for in every "
        "evaluation, and the constraint equations hold only to the error of the integration; "
        "projected, the state is moved onto them after each step. The violation is the "
        "largest at the end of the run.",
        quiet=True,
    )


def _route_title(r: Route | None) -> str:
    return "" if r is None else r.principle.title


def _measures(r: Route) -> tuple[Span, ...]:
    if not r.applicable:
        return (r.principle.title, *("—",) * (len(MEASURES) - 1), "not applicable")
    counts = (r.equations, r.unknowns, r.operations, r.reduced_operations, r.evaluation)
    return (r.principle.title, *map(str, counts), f"{1e3 * r.seconds:.1f} ms")


def premature_constraint_blocks(kin: Kinematics) -> Iterator[Block]:
    """What is missing where the constraint rows are inserted into T too early; nothing where there
    are no rows or the energy method does not apply.
    """
    from dalembert.mechanics.agreement.premature_constraints import premature_constraints

    try:
        early = premature_constraints(kin)
    except NotApplicable:
        return
    if not early.harmless:
        title, *lines = str(early).splitlines()
        yield Heading(2, "Constraint rows inserted too early")
        yield paragraph(f"{title}.")
        yield Code("\n".join(lines))


# ---- energies --------------------------------------------------------------------------------


_WHY = (
    "𝒰 is minus the generalized work of the loads with a potential, Mit22 (19); Z "
    "collects what is neither in K₂ nor in 𝒰, "
    "Ż = σ_R − 𝒫_nonconservative, Mit22 (3). The table's conditions (Mit22 34.1) are sufficient; "
    "the verdict is decided by the derivative "
    "along every motion, so that an integral may be constant where the table's condition fails."
)
ENERGY_HEADINGS = ("integral", "", "what", "verdict", "table's condition")


def energy_integrals(integrals: EnergyIntegrals, writing: FormulaWriter) -> Iterator[Block]:
    """Every quantity of the chapter, the table of verdicts, what else is constant."""
    writing = writing.on(integrals.K2.tape)
    yield Heading(2, "Energies and powers")
    yield paragraph(
        f"In the speeds {', '.join(integrals.speeds)}, on which K₂, K₁, K₀ and the verdicts depend "
        f"where a velocity has a part without them."
        + " Energies are in J, powers in W."
        * integrals.has_units
    )
    yield from _quantities(integrals, writing)
    yield Heading(2, "Energy integrals")
    yield paragraph(_WHY)
    yield TableBlock(ENERGY_HEADINGS, tuple(_integral(v, writing) for v in integrals.verdicts))
    if integrals.potential_exists is False:
        yield paragraph(f"There is no potential energy U: {integrals.why_no_potential}.")
    if integrals.why_no_hamiltonian:
        yield paragraph(f"The Hamiltonian H is not defined: {integrals.why_no_hamiltonian}.")
    if integrals.generalized_potential_exists is False:
        yield paragraph(
            f"There is no generalized potential energy 𝒰: {integrals.why_no_generalized_potential}."
        )
    for load in (*integrals.loads, *integrals.split_terms):
        yield paragraph(f"{load}.")
    yield from _identities(integrals, writing)
    yield from _first_integrals(integrals, writing)


def _integral(v: EnergyIntegral, writing: FormulaWriter) -> tuple[Span, ...]:
    verdict = v.statement if v.constant is False else VerdictSpan(v.statement, holds=v.constant)
    sufficient = {True: "holds", False: "does not hold", None: "undecided"}[v.sufficient]
    return (
        writing.general_formula(v.left),
        writing.general_formula(v.formula),
        v.name,
        verdict,
        sufficient,
    )


def _quantities(integrals: EnergyIntegrals, writing: FormulaWriter) -> Iterator[Block]:
    rows = (
        (Symbol("K", ("2",)), integrals.K2),
        (Symbol("K", ("1",)), integrals.K1),
        (Symbol("K", ("0",)), integrals.K0),
        (Symbol("𝒰"), integrals.generalized_potential),
        *((Symbol(name), U) for name, _, U in integrals.potential_rows()),
        (Symbol("σ", ("R",)), integrals.sigma_R),
        (Symbol("σ"), integrals.sigma),
        (Symbol("𝒫", ("nonconservative",)), integrals.nonconservative_power),
        (Rate(Symbol("Z")), integrals.Z_dot),
    )
    written, definitions = writing.scalars(integrals.K2.tape, [e.i for _, e in rows])
    yield Display(
        tuple(
            Line(w, left=(writing.general_formula(name),))
            for (name, _), w in zip(rows, map(FormulaSpan, written), strict=True)
        ),
        definitions,
    )


def _identities(integrals: EnergyIntegrals, writing: FormulaWriter) -> Iterator[Block]:
    failed = [formula_text(identity) for identity, holds in integrals.identities if holds is False]
    names = [
        span
        for identity, holds in integrals.identities
        if holds is not None
        for span in ("; ", writing.general_formula(identity))
    ][1:]
    yield paragraph(
        VerdictSpan(
            f"FAILED: {'; '.join(failed)}" if failed else "On every motion, exactly:",
            holds=not failed,
        ),
        " ",
        *names,
        ".",
    )
    if integrals.undecided:
        yield paragraph(VerdictSpan(f"Undecided in part: {integrals.undecided}.", holds=None))
    elif integrals.bound:
        yield paragraph(
            f"The probability that a reported constant is wrong is below {integrals.bound:.0e}."
        )


def _first_integrals(integrals: EnergyIntegrals, writing: FormulaWriter) -> Iterator[Block]:
    new = [f for f in integrals.first if not f.is_H]
    if new:
        yield Heading(2, "First integrals")
        written, definitions = writing.scalars(
            new[0].expression.tape, [f.expression.i for f in new]
        )
        lines = (
            Line(FormulaSpan(w), left=(f.name,), note=(f.why,))
            for f, w in zip(new, written, strict=True)
        )
        yield Display(tuple(lines), definitions)


# ---- a run -----------------------------------------------------------------------------------


# a residual or a drift that a reader need not worry about, at the tolerances of a report
ACCEPTABLE_DRIFT: Final = 1e-6


def run_summary(run: Trajectory) -> Iterator[Block]:
    """The start, the effort, the energy, the residual of every row."""
    yield Heading(2, "Motion")
    given = run.start.given_text()
    steps = f"{run.solution.steps} steps of the integrator"
    yield paragraph(f"From {given or 'zero'}: {run.t[-1] - run.t[0]:.6g} s in {steps}.")
    yield paragraph(*_energy_sentence(run))
    sizes = {name: float(abs(r).max(initial=0.0)) for name, r in run.residuals.items()}
    if sizes:
        rows = tuple(
            (name, VerdictSpan(f"{size:.1e}", size <= ACCEPTABLE_DRIFT))
            for name, size in sizes.items()
        )
        yield TableBlock(("constraint", "largest violation"), rows)


def missing_run(reason: str) -> Iterator[Block]:
    """Why there is no motion to show."""
    yield Heading(2, "Motion")
    yield paragraph(f"Not run: {reason}", quiet=True)


def _energy_sentence(run: Trajectory) -> tuple[str | VerdictSpan, ...]:
    if not run.conserves_energy:
        J = " J" if run.system.has_units else ""
        return (
            (
                f"T + V goes from {run.energy[0]:.6g}{J} to {run.energy[-1]:.6g}{J}: loads or "
                f"moving "
                f"constraints do work."
            ),
        )
    drift = run.energy_drift
    return (
        "T + V drifts by ",
        VerdictSpan(f"{drift:.1e}", drift <= ACCEPTABLE_DRIFT),
        " of the largest kinetic energy.",
    )
