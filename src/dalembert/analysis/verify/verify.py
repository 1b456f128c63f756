"""da.verify(s, answer): whether an answer is right, and which terms are wrong."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from itertools import combinations
from typing import Any

from dalembert.analysis.verify import numeric
from dalembert.analysis.verify.answer import GivenAnswer, read_answer
from dalembert.analysis.verify.diagnosis import Diagnosis
from dalembert.analysis.verify.locating import Correction, Locator
from dalembert.analysis.verify.marks import MarkScheme, with_marks
from dalembert.analysis.verify.potential_zero import measured_from_zero
from dalembert.analysis.verify.reading import Row
from dalembert.analysis.verify.result import RowReport, Verification
from dalembert.analysis.verify.rounding import round_to
from dalembert.analysis.verify.substitutions import substituted
from dalembert.analysis.verify.terms import terms_of
from dalembert.analysis.verify.truth import Truth, truth_of
from dalembert.analysis.verify.verdict import Judgement, Kind, judge
from dalembert.foundation.suggestions import check_options
from dalembert.mechanics.model.system import System
from dalembert.symbolic.algebra.exact.zero_test import BadPoint
from dalembert.symbolic.algebra.scalar import Scalar

MOST_DECIMALS = 4
_SENTENCES = {
    Kind.EQUAL: "The answer is right.",
    Kind.COMBINED: "The answer is right: its rows are combinations of the equations of motion.",
    Kind.ADMISSIBLE: "The answer is right on the motions that the constraints allow.",
}


@check_options
def verify(
    system: System,
    answer: Any,
    *,
    of: str | None = None,
    let: Mapping[str, str] | None = None,
    marks: float | MarkScheme | None = None,
    about: Mapping[Any, Any] | None = None,
    attribute: bool = True,
) -> Verification:
    """Whether an answer to "derive the equations of motion" is right; where it is not, which term
    is wrong.

    answer     text, LaTeX, SymPy, expressions of the system, a function u̇ = f(q, u, p), or a table
    of         the quantity that the answer is: "T", "L", "p_theta", "W", "dof"; by default its
               left side says it
    let        {name in the answer: name in the system}
    marks      points for a right answer, or a MarkScheme; partial answers get a part of them
    about      the point of a linear model, for of="A" and of="B"
    attribute  whether wrong terms are traced to bodies, loads and steps
    """
    if numeric.is_numeric(answer, of):
        return numeric.verify_numbers(system, answer, of, about)
    truth = truth_of(system)
    given = read_answer(truth, answer, of, dict(let or {}))
    if given.count is not None:
        return _count(truth, given)
    result = _verify_rows(truth, given, attribute=attribute)
    return result if marks is None else with_marks(result, marks)


def _count(truth: Truth, given: GivenAnswer) -> Verification:
    """A number of degrees of freedom."""
    assert given.count is not None
    wanted, count = truth.kin.n_u, given.count
    holds = wanted == count
    sentence = (
        f"{_number(count, 'degree')} of freedom is right."
        if holds
        else f"The system has {_number(wanted, 'degree')} of freedom, not {count}."
    )
    n, m = truth.kin.n_q, len(truth.kin.rows)
    note = f"{_number(n, 'coordinate')} less {_number(m, 'independent constraint equation')}."
    row = RowReport(given.text, holds, "identity", note=note)
    kind = Kind.EQUAL if holds else Kind.DIFFERS
    return Verification(truth.system.name, kind.value, holds, sentence, 0.0, (row,), kind=kind)


def _number(count: int, noun: str) -> str:
    return f"{count} {noun}{'s' * (count != 1)}"


def _verify_rows(truth: Truth, given: GivenAnswer, *, attribute: bool) -> Verification:
    rows = given.rows
    judgement = judge(truth, rows)
    if judgement.kind is Kind.DIFFERS:
        given, judgement = measured_from_zero(truth, given, judgement)
        rows = given.rows
    if judgement.kind is not Kind.DIFFERS:
        result = _right(truth, given, judgement)
        return _with_braces(result, given.lacks) if given.lacks else result
    rounded = _verify_rounded_decimals(truth, given)
    if rounded is not None:
        return rounded
    located = {k: _corrections(truth, rows, k, judgement) for k in judgement.wrong}
    simple = len(located) == 1 and all(
        options and len(options[0]) == 1 for options in located.values()
    )
    other = substituted(truth, rows, judgement.wrong, single=simple)
    if other is not None and not simple:
        candidate, new_judgement, new_rows = other
        result = _right(truth, replace(given, rows=new_rows), new_judgement)
        return _with_substitution(result, candidate.text, rows)
    result = _wrong(truth, given, judgement, located, attribute=attribute)
    if other is None:
        return result
    note = f"With {other[0].text} the answer would be right: check this sign convention first."
    return replace(result, substitution=other[0].text, notes=(*result.notes, note))


def _with_substitution(result: Verification, candidate: str, rows: list[Row]) -> Verification:
    """The verdict on rows that a change of coordinates or signs makes right."""
    sentence = (
        f"Right physics, other coordinates or signs: {candidate} makes the rows equal to the "
        "equations of motion."
    )
    reports = zip(result.rows, rows, strict=True)
    return replace(
        result,
        verdict=Kind.SUBSTITUTED.value,
        kind=Kind.SUBSTITUTED,
        holds=True,
        sentence=sentence,
        substitution=candidate,
        rows=tuple(replace(report, text=row.text) for report, row in reports),
    )


def _with_braces(result: Verification, lacks: str) -> Verification:
    """A sum that is right once its last terms are multiplied by a virtual displacement."""
    sentence = (
        f"The answer differs: terms of the sum lack {lacks}. With braces around the whole "
        f"coefficient of {lacks} it is right."
    )
    rows = tuple(
        replace(
            row, holds=False, note=f"the terms without a virtual displacement belong to {lacks}"
        )
        for row in result.rows
    )
    return replace(
        result,
        verdict=Kind.DIFFERS.value,
        kind=Kind.DIFFERS,
        holds=False,
        sentence=sentence,
        rows=rows,
    )


def _corrections(
    truth: Truth, rows: list[Row], place: int, judgement: Judgement
) -> list[Correction]:
    free = judgement.rows[place].role == "identity"
    right = [k for k, v in enumerate(judgement.rows) if v.holds]
    try:
        return Locator(truth, rows, right=right).corrections(place, free=free)
    except BadPoint:
        return []


# ---- right answers -----------------------------------------------------------------------------


def _right(truth: Truth, given: GivenAnswer, judgement: Judgement) -> Verification:
    reports = tuple(
        RowReport(row.text, v.holds, v.role, note=_note(v.role))
        for row, v in zip(given.rows, judgement.rows, strict=True)
    )
    kind = judgement.kind
    holds = None if kind is Kind.UNDECIDED else kind is not Kind.SUBSET
    missing = tuple(f"the equation along {_along(truth, j, judgement)}" for j in judgement.missing)
    condition = _condition(truth, given.rows, judgement) if kind is Kind.CONDITIONAL else ""
    return Verification(
        truth.system.name,
        kind.value,
        holds,
        _sentence(judgement, missing, condition),
        judgement.bound,
        reports,
        _combination(truth, given.rows, judgement),
        condition,
        missing,
        notes=given.notes,
        rank=judgement.rank,
        wanted=judgement.wanted,
        kind=kind,
    )


def _note(role: str) -> str:
    return {
        "integral": "a first integral: its rate is a combination of the equations of motion"
    }.get(role, "")


def _along(truth: Truth, j: int, judgement: Judgement) -> str:
    uses_q = judgement.wanted > len(truth.udot)
    nodes = truth.kin.q if uses_q else truth.kin.u
    return str(Scalar(truth.tape, nodes[j])) if j < len(nodes) else f"row {j + 1}"


def _sentence(judgement: Judgement, missing: tuple[str, ...], condition: str) -> str:
    kind = judgement.kind
    if kind is Kind.UNDECIDED:
        return f"Undecided: {judgement.why}."
    if kind is Kind.SUBSET:
        which = f"; {' and '.join(missing)} is missing" if missing else ""
        return (
            f"Every row is true, but this is not the whole set: rank {judgement.rank} of "
            f"{judgement.wanted}{which}."
        )
    if kind is Kind.CONDITIONAL:
        return f"The answer is true where {condition or 'a function of the state'} ≠ 0."
    if kind is Kind.EQUAL and judgement.solved:
        return "The answer is right, solved for the accelerations."
    return _SENTENCES[kind]


def _condition(truth: Truth, rows: list[Row], judgement: Judgement) -> str:
    """The factors of det C that vary with the state, where C has one entry in each row."""
    entries = _combination_terms(truth, rows, judgement)
    if entries is None or not all(sum(e is not None for e in row) == 1 for row in entries):
        return ""
    t = truth.tape
    factors = [_moving_part(truth, e) for row in entries for e in row if e is not None]
    return " and ".join(dict.fromkeys(f for f in factors if f)) if t else ""


def _moving_part(truth: Truth, e: Scalar) -> str:
    """The factors of a term that vary with the state."""
    from dalembert.analysis.verify.changes import single_term
    from dalembert.symbolic.algebra.expression_graph import symbols_of
    from dalembert.symbolic.algebra.normal_form.rational_form import RationalForm, Term, to_scalar

    t, term = truth.tape, single_term(truth.tape, e)
    if term is None:
        return ""
    parts = [
        to_scalar(RationalForm((Term(Fraction(1), ((a, 1),)),)), t) for a, k in term.powers if k > 0
    ]
    moving = [p for p in parts if any(x in t.moving for x in symbols_of(t, (p.i,)))]
    return " ".join(map(str, moving))


def _combination_terms(
    truth: Truth, rows: list[Row], judgement: Judgement
) -> list[list[Scalar | None]] | None:
    """C as terms; None where an entry is no term."""
    from dalembert.analysis.verify.verdict import matrices_of

    terms = terms_of(truth, (), free=False)
    matrices = matrices_of(truth, rows, judgement)
    try:
        values = [
            matrices.combination(point) for point in (*terms.samples.points, terms.samples.check)
        ]
    except BadPoint:
        return None
    width = len(judgement.combination[0])
    entries: list[list[Scalar | None]] = []
    for k in range(len(judgement.places)):
        line: list[Scalar | None] = []
        for j in range(width):
            v = [C[k][j] for C in values]
            hits = terms.recognise(v) if any(v) else []
            if any(v) and not hits:
                return None
            line.append(min(hits, key=lambda e: len(str(e))) if hits else None)
        entries.append(line)
    return entries


def _combination(truth: Truth, rows: list[Row], judgement: Judgement) -> tuple[str, ...]:
    """row 2 = cos θ · (equation along x) + …, where that is not the plain equation."""
    plain = {0, 1, judgement.prime - 1}
    if (
        not judgement.combination
        or judgement.solved
        or all(set(row) <= plain and sum(map(bool, row)) == 1 for row in judgement.combination)
    ):
        return ()
    entries = _combination_terms(truth, rows, judgement)
    if entries is None:
        return ("The rows are combined with coefficients that are not single terms.",)
    lines = []
    for place, line in zip(judgement.places, entries, strict=True):
        parts = [
            _multiple(e, _along(truth, j, judgement)) for j, e in enumerate(line) if e is not None
        ]
        lines.append(f"row {place + 1} = " + " + ".join(parts))
    return tuple(lines)


def _multiple(e: Scalar, along: str) -> str:
    equation = f"[equation along {along}]"
    return equation if str(e) == "1" else f"({e})·{equation}"


# ---- wrong answers -----------------------------------------------------------------------------


def _wrong(
    truth: Truth,
    given: GivenAnswer,
    judgement: Judgement,
    located: dict[int, list[Correction]],
    *,
    attribute: bool,
) -> Verification:
    diagnosis = Diagnosis(truth, attribute=attribute)
    reports = []
    for k, (row, v) in enumerate(zip(given.rows, judgement.rows, strict=True)):
        motion = v.role == "motion"
        changes = tuple(diagnosis.report(option, motion=motion) for option in located.get(k, ()))
        reports.append(RowReport(row.text, v.holds, v.role, changes))
    wrong = judgement.wrong
    count = sum(len(located[k][0]) for k in wrong if located[k])
    which = ", ".join(str(k + 1) for k in wrong)
    rows = f"row {which} is" if len(wrong) == 1 else f"rows {which} are"
    unlocated = [k for k in wrong if not located[k]]
    terms = f"; {count} term{'s' * (count != 1)} to change" if count and not unlocated else ""
    sentence = f"The answer differs: {rows} wrong{terms}."
    notes = [*given.notes, *_hypotheses(truth, given.rows, wrong)]
    return Verification(
        truth.system.name,
        Kind.DIFFERS.value,
        False,
        sentence,
        0.0,
        tuple(reports),
        notes=tuple(notes),
        wanted=judgement.wanted,
        kind=Kind.DIFFERS,
    )


def _hypotheses(truth: Truth, rows: list[Row], wrong: list[int]) -> list[str]:
    """Errors of method that explain all wrong rows at once."""
    from dalembert.analysis.verify.early_constraints import explains

    if explains(truth, [rows[k] for k in wrong]):
        note = (
            "These rows follow if the constraint equations are put into T before it is "
            "differentiated; use all velocities until after."
        )
        return [note]
    return []


# ---- roundings ---------------------------------------------------------------------------------


def _verify_rounded_decimals(truth: Truth, given: GivenAnswer) -> Verification | None:
    """Equal with some decimals replaced by the fractions that they round."""
    decimals = {d.value: d for row in given.rows for d in row.decimals}
    if not decimals or given.reread is None:
        return None
    simple = {value: round_to(d) for value, d in decimals.items()}
    changed = [(value, new) for value, new in simple.items() if new != value][:MOST_DECIMALS]
    for size in range(1, len(changed) + 1):
        for group in combinations(changed, size):
            rows = given.reread(dict(group))
            judgement = judge(truth, rows)
            if judgement.kind is not Kind.DIFFERS:
                values = ", ".join(f"{float(value):g} for {new}" for value, new in group)
                result = _right(truth, replace(given, rows=rows), judgement)
                sentence = f"{result.sentence} Numbers are rounded: {values}."
                kind = Kind.ROUNDED if result.holds else judgement.kind
                return replace(result, sentence=sentence, verdict=kind.value, kind=kind)
    return None
