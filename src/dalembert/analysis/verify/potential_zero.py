"""V is known up to a constant: an answer may measure it from q = 0."""

from __future__ import annotations

from dataclasses import replace

from dalembert.analysis.verify.answer import GivenAnswer
from dalembert.analysis.verify.locating import Locator, size_of
from dalembert.analysis.verify.reading import Row
from dalembert.analysis.verify.truth import Truth
from dalembert.analysis.verify.verdict import Judgement, judge
from dalembert.errors import BadExpression
from dalembert.symbolic.algebra.expression_graph import Substitution, symbols_of
from dalembert.symbolic.algebra.scalar import Scalar

# how V enters each energy
_SIGNS = {"V": 1, "U": 1, "L": -1, "H": 1, "E": 1}
_FAR = 99


def measured_from_zero(
    truth: Truth, given: GivenAnswer, judgement: Judgement
) -> tuple[GivenAnswer, Judgement]:
    """The answer with V(0) = 0, where that makes it right or leaves fewer terms to change."""
    t = truth.tape
    inside = set(symbols_of(t, [row.value.i for row in given.rows]))
    named = {
        i: _SIGNS[str(name)]
        for i in inside
        if i in truth.opaque and (name := t.nodes[i][1]) in _SIGNS
    }
    if not named:
        return given, judgement
    try:
        V0 = Substitution(t, dict.fromkeys(truth.kin.q, t.zero))(truth.quantities.V.i)
    except BadExpression:
        return given, judgement
    if t.zero == V0:
        return given, judgement
    shift = {i: (Scalar(t, i) - sign * Scalar(t, V0)).i for i, sign in named.items()}
    rewrite = Substitution(t, shift)
    rows = [
        replace(row, value=Scalar(t, rewrite(row.value.i)), marked=Scalar(t, rewrite(row.marked.i)))
        for row in given.rows
    ]
    other = judge(truth, rows)
    if other.wrong and _size(truth, rows, other) >= _size(truth, given.rows, judgement):
        return given, judgement
    note = "The potential energy is measured from the position q = 0."
    return replace(given, rows=rows, notes=(*given.notes, note)), other


def _size(truth: Truth, rows: list[Row], judgement: Judgement) -> int:
    """How many symbols and coefficients must change."""
    locator = Locator(truth, rows)
    options = [
        locator.corrections(k, free=judgement.rows[k].role == "identity", pairs=False)
        for k in judgement.wrong
    ]
    return sum(size_of(option[0]) if option else _FAR for option in options)
