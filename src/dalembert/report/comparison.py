"""What the derived equations are held against: one another, the audit of what they share, and results printed in a source."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from dalembert.agreement.agreement_table import Agreement, AgreementRow
from dalembert.algebra.columns import contracted
from dalembert.algebra.exact import verdict
from dalembert.algebra.exact.field import decide_zero
from dalembert.algebra.folds import Rewrite
from dalembert.algebra.printing.tree import ZERO, Sides
from dalembert.algebra.scalar import Scalar, on
from dalembert.principles.base import Derivation
from dalembert.report.blocks import Block, Display, FormulaSpan, Heading, Line, Span, TableBlock, VerdictSpan, words
from dalembert.report.writing import Writing

HEADINGS = ("principle", "route", "in", "unknowns", "operations", "verdict")


def agreement(a: Agreement, *, times: bool = False) -> Iterator[Block]:
    """The table of principles, the exactness statement, the audit."""
    rows = tuple((*_row(r), *([f"{1e3 * r.seconds:.1f} ms" if r.applicable else ""] if times else [])) for r in a.rows)
    yield TableBlock((*HEADINGS, *(["CPU time"] if times else [])), rows)
    yield words(VerdictSpan(f"{a.statement[:1].upper()}{a.statement[1:]}.", a.holds))
    if a.read_as_pi:
        yield words(f"Typed numbers: {'; '.join(a.read_as_pi)}.")
    yield from audit(a)
    for check in (a.compiled, *a.witnesses):
        if check is not None:
            yield words(VerdictSpan(f"{str(check)[:1].upper()}{str(check)[1:]}.", check.agrees))


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
    yield words("Kinematic audit: ", VerdictSpan(count, holds=wrong), f" ({kinds}).")
    if failed:
        yield TableBlock(("identity that fails or is undecided", "where"), tuple((VerdictSpan(f.what, f.holds), f.where) for f in failed))


@dataclass(frozen=True)
class PrintedResult:
    """residual = 0 as a source prints it: Σ k E over the derived equations E, which are numbered from 1."""

    label: str
    residual: Scalar
    combination: tuple[tuple[int, Scalar], ...] = ()
    # printed in the source, or derived on paper by ourselves
    by_hand: bool = False


def reproduced(results: Sequence[PrintedResult], d: Derivation) -> tuple[verdict.Verdict, ...]:
    """residual(q̇ = W u + X, q̈ = W u̇ + c) − Σ k E = 0: shown to hold, shown not to, or undecided."""
    kin = d.kinematics
    known = dict(zip(kin.qddot, kin.qddot_of_u, strict=True)) | dict(zip(kin.qdot, kin.qdot_of_u, strict=True))
    residuals = d.equations.residuals
    t = d.tape.fork()
    in_u = Rewrite(t, known)
    differences = []
    for result in results:
        combined = contracted(t, ((in_u(on(t, k)), residuals[number - 1]) for number, k in result.combination))
        differences.append(t.sub(in_u(on(t, result.residual)), combined))
    return decide_zero(t, differences).verdicts


def printed(results: Sequence[PrintedResult], source: str, d: Derivation, writing: Writing) -> Iterator[Block]:
    """Each result as the source prints it, and the verdict."""
    if not results:
        return
    yield Heading(2, "Results by hand" if all(r.by_hand for r in results) else "Printed results")
    found = reproduced(results, d)
    tape = results[0].residual.tape
    written, definitions = writing.scalars(tape, [r.residual.i for r in results])
    key = source.partition(" ")[0]
    notes = [f"{'by hand,' if r.by_hand else key} {r.label}{_note(v)}" for r, v in zip(results, found, strict=True)]
    yield Display(tuple(Line(FormulaSpan(Sides(w, ZERO)), note=(note,)) for w, note in zip(written, notes, strict=True)), definitions)
    yield words(_verdict(found))


def _note(v: verdict.Verdict) -> str:
    return {True: "", False: ": NOT reproduced", None: ": undecided"}[v.holds]


def _verdict(found: Sequence[verdict.Verdict]) -> VerdictSpan:
    wrong, undecided = [v for v in found if v.holds is False], [v for v in found if v.holds is None]
    if wrong:
        return VerdictSpan(f"{len(wrong)} of {len(found)} do NOT follow from the derived equations.", holds=False)
    if undecided:
        return VerdictSpan(f"UNDECIDED for {len(undecided)} of {len(found)}: {undecided[0].why}.", holds=None)
    who = {1: "It follows", 2: "Both follow"}.get(len(found), f"All {len(found)} follow")
    return VerdictSpan(f"{who} exactly from the derived equations.", holds=True)
