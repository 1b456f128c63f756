"""The agreement of the principles and the audit of what they share, to read."""

from __future__ import annotations

from collections.abc import Iterator

from dalembert.agreement.agreement_table import Agreement, AgreementRow
from dalembert.report.blocks import Block, Span, TableBlock, VerdictSpan, words

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
