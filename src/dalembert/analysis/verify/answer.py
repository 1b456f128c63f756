"""Text, LaTeX, SymPy, expressions, matrices and counts: the given answer, as rows."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any, Final

from dalembert.analysis.verify.reading import MARK, Row
from dalembert.analysis.verify.roots import unify_roots
from dalembert.analysis.verify.tokens import CannotRead
from dalembert.analysis.verify.truth import Truth
from dalembert.errors import BadExpression, NotLinear
from dalembert.foundation.deferred_dataclass import dataclass
from dalembert.symbolic.algebra.exact.zero_test import decide_zero
from dalembert.symbolic.algebra.expression_graph import (
    LinearCoefficients,
    Substitution,
    copy_expressions,
)
from dalembert.symbolic.algebra.scalar import Scalar, as_node, is_sympy

_COUNT: Final = re.compile(
    r"\s*(?:the\s+)?(?:number\s+of\s+)?(?:(?:degrees\s+of\s+)?freedom(?:s)?|dofs?|n_?dof)"
    r"\s*(?:=|:|is|are)?\s*(\d{1,6})\s*\.?\s*",
    re.IGNORECASE,
)
_COUNT_FIRST: Final = re.compile(
    r"\s*(\d{1,6})\s*(?:(?:degrees?\s+of\s+)?freedom(?:s)?|dofs?)\s*\.?\s*", re.IGNORECASE
)
# in the singular; both numbers are accepted
_COUNTS: Final = ("dof", "freedom", "degrees of freedom")
_MATRIX: Final = re.compile(r"\s*([A-Za-z])\s*=\s*(\[\s*[\[(].*[\])]\s*\])\s*\.?\s*", re.DOTALL)
_LATEX_MATRIX: Final = re.compile(
    r"\s*([A-Za-z])\s*=\s*(?:\\left[\[(]\s*)?"
    r"\\begin\{[pb]?(?:matrix|array)\}(?:\{[lcr]*\})?(.*?)\\end\{[pb]?(?:matrix|array)\}"
    r"(?:\s*\\right[\])])?\s*\.?\s*",
    re.DOTALL,
)
_MATRICES: Final = ("W", "X", "M", "f", "A", "B", "b")
_EMPTY: Final = "the answer is empty: give at least one equation"


@dataclass(frozen=True)
class GivenAnswer:
    """The rows of an answer, and how to read them again with other numbers for its decimals."""

    text: str
    rows: list[Row]
    count: int | None = None
    reread: Callable[[Mapping[Fraction, Fraction]], list[Row]] | None = None
    notes: tuple[str, ...] = ()
    # the virtual displacement that some terms of a sum lack
    lacks: str = ""


def read_answer(truth: Truth, answer: Any, of: str | None, let: dict[str, str]) -> GivenAnswer:
    """The rows of whatever was given."""
    if isinstance(answer, bytes):
        answer = _decode_utf8(answer)
    if of is not None and of.lower().removesuffix("s") in _COUNTS:
        return _count(answer)
    if isinstance(answer, str):
        return _from_text(truth, answer, of, let)
    if isinstance(answer, Mapping):
        text = "\n".join(f"{name} = {value}" for name, value in answer.items())
        return _from_text(truth, text, None, let)
    return _from_objects(truth, answer, of, let)


def _decode_utf8(data: bytes) -> str:
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as problem:
        msg = (
            f"the answer is not UTF-8 text (byte {problem.start + 1} of {len(data)}): save it as "
            "UTF-8"
        )
        raise CannotRead(msg) from None


def _count(answer: Any) -> GivenAnswer:
    text = str(answer).strip()
    match = _COUNT.fullmatch(text) or _COUNT_FIRST.fullmatch(text)
    number = text if text.isdecimal() else (match[1] if match else "")
    if not number:
        msg = f"a number of degrees of freedom is a whole number, not {text[:40]!r}"
        raise CannotRead(msg)
    return GivenAnswer(text, [], int(number))


# ---- text --------------------------------------------------------------------------------------


def _from_text(truth: Truth, text: str, of: str | None, let: dict[str, str]) -> GivenAnswer:
    if not text.strip():
        raise CannotRead(_EMPTY)
    match = _COUNT.fullmatch(text) or _COUNT_FIRST.fullmatch(text)
    if match is not None:
        return GivenAnswer(text, [], int(match[1]))
    if of is not None and "=" in text and not truth.is_quantity(of) and of not in _MATRICES:
        msg = f"of={of!r}: {truth.names().unknown(of)}"
        raise CannotRead(msg)
    whole = text if of is None or "=" in text else f"{of} = {text}"
    whole = matrix_rows(whole) or whole
    _check_let(truth, let)

    def read(instead: Mapping[Fraction, Fraction]) -> list[Row]:
        reader = truth.reader(let)
        reader.instead = instead
        return unify_roots(truth, _without_virtual(truth, reader.rows(whole)))

    rows = read({})
    _check(truth, rows)
    lacks = next((row.lacks for row in rows if row.lacks), "")
    return GivenAnswer(text, rows, reread=read, lacks=lacks)


def _check_let(truth: Truth, let: Mapping[str, str]) -> None:
    known = truth.names()
    for name, meaning in let.items():
        if known.name(meaning) is None and not truth.is_quantity(meaning):
            msg = f"--let {name}={meaning}: {known.unknown(meaning)}"
            raise CannotRead(msg)


def matrix_rows(text: str) -> str:
    """W = [[a, b], [c, d]] as W_1_1 = a, …; empty where the text is no matrix."""
    match = _MATRIX.fullmatch(text)
    if match is not None:
        inner = match[2].strip()[1:-1]
        lines = [_split(row.strip()[1:-1], ",") for row in _split(inner, ",")]
    else:
        match = _LATEX_MATRIX.fullmatch(text)
        if match is None:
            return ""
        lines = [
            [entry.strip() for entry in row.split("&")]
            for row in re.split(r"\\\\", match[2])
            if row.strip()
        ]
    name = match[1]
    entries = [
        f"{name}_{i}_{j} = {entry}"
        for i, row in enumerate(lines, 1)
        for j, entry in enumerate(row, 1)
    ]
    return "\n".join(entries)


def _split(text: str, sign: str) -> list[str]:
    """The parts between signs outside brackets."""
    parts, depth, start = [], 0, 0
    for k, c in enumerate(text):
        depth += (c in "([{") - (c in ")]}")
        if c == sign and depth == 0:
            parts.append(text[start:k])
            start = k + 1
    return [part for part in (*parts, text[start:]) if part.strip()]


def _check(truth: Truth, rows: list[Row]) -> None:
    """Refuse an answer without equations, and rows that always hold."""
    if not rows:
        raise CannotRead(_EMPTY)
    for k, row in enumerate(rows, 1):
        if decide_zero(truth.tape, [row.value.i]).all_zero:
            msg = f"row {k} always holds: both sides are the same\n  {row.text[:72]}"
            raise CannotRead(msg)
        if not row.is_equation:
            msg = f"row {k} is no equation: it has no = and no acceleration\n  {row.text[:72]}"
            raise CannotRead(msg)


def _without_virtual(truth: Truth, rows: list[Row]) -> list[Row]:
    """A sum in virtual displacements as one row for each independent one."""
    t, kin = truth.tape, truth.kin
    deltas = {
        k: d for k, q in enumerate(kin.q) if (d := t.private.get(f"δ{kin.name(q)}")) is not None
    }
    if not deltas:
        return rows
    linear = LinearCoefficients(t, list(deltas.values()))
    new: list[Row] = []
    for row in rows:
        try:
            forms = [linear(e) for e in (row.value.i, row.marked.i)]
        except NotLinear as problem:
            msg = f"a sum in virtual displacements must be linear in them\n  {row.text[:72]}"
            raise CannotRead(msg) from problem
        new += _virtual_rows(truth, row, forms, list(deltas)) if forms[0][1] else [row]
    return new


def _virtual_rows(
    truth: Truth, row: Row, forms: list[tuple[int, dict[int, int]]], places: list[int]
) -> list[Row]:
    """Σ_k c_k W_kr = 0; terms without a virtual displacement belong to that with which the sum is
    right, if there is one.
    """
    t = truth.tape
    if forms[0][0] == t.zero:
        return _along_speeds(truth, row, [form[1] for form in forms], places, "")
    ways = []
    for j, k in enumerate(places):
        braced = [{**form, j: t.add(form.get(j, t.zero), rest)} for rest, form in forms]
        name = f"δ{truth.kin.scalar(truth.kin.q[k])}"
        ways.append(_along_speeds(truth, row, braced, places, name))
    right = (way for way in ways if all(truth.zero([r.value.i for r in way]).zero))
    return next(right, ways[-1])


def _along_speeds(
    truth: Truth, row: Row, forms: list[dict[int, int]], places: list[int], lacks: str
) -> list[Row]:
    t, rows = truth.tape, []
    for r in range(truth.kin.n_u):
        sums = []
        for form in forms:
            total = t.zero
            for j, coefficient in form.items():
                total = t.add(total, t.mul(coefficient, truth.kin.WX[places[j]][1].get(r, t.zero)))
            sums.append(Scalar(t, total))
        if sums[0].i != t.zero:
            rows.append(replace(row, value=sums[0], marked=sums[1], lacks=lacks))
    return rows


# ---- objects -----------------------------------------------------------------------------------


def _from_objects(truth: Truth, answer: Any, of: str | None, let: dict[str, str]) -> GivenAnswer:
    items = _items(answer)
    if (
        of is not None
        and items
        and isinstance(items[0], Sequence)
        and not isinstance(items[0], str)
    ):
        text = "\n".join(
            f"{of}_{i}_{j} = {e}" for i, row in enumerate(items, 1) for j, e in enumerate(row, 1)
        )
        return _from_text(truth, text, None, let)
    if items and all(isinstance(item, str) for item in items):
        return _from_text(truth, "\n".join(items), of, let)
    rows = unify_roots(truth, [_object_row(truth, item, of) for item in items])
    _check(truth, rows)
    return GivenAnswer("", rows)


def _items(answer: Any) -> list[Any]:
    """The parts of an answer: rows of a list, of a SymPy matrix, of a derivation."""
    equations = getattr(answer, "equations", answer)
    if hasattr(equations, "residuals") and hasattr(equations, "tape"):
        return [Scalar(equations.tape, r) for r in equations.residuals]
    if is_sympy(answer) and hasattr(answer, "shape"):
        return list(answer)
    if isinstance(answer, Sequence) and not isinstance(answer, str):
        return list(answer)
    return [answer]


def _object_row(truth: Truth, item: Any, of: str | None) -> Row:
    """SymPy's Eq and expressions, and expressions of the system, each addend with a mark."""
    t = truth.tape
    if is_sympy(item):
        sides = (item.lhs, item.rhs) if hasattr(item, "lhs") else (item, 0)
        parts = [*_sympy_addends(sides[0], 1), *_sympy_addends(sides[1], -1)]
        nodes = [(sign, _on(truth, part)) for sign, part in parts]
        text = str(item) if not hasattr(item, "lhs") else f"{item.lhs} = {item.rhs}"
    elif isinstance(item, Scalar):
        nodes, text = [(1, _on(truth, item))], f"{item} = 0"
    else:
        msg = (
            "an answer is text, SymPy, an expression, a function or a table, not "
            f"{type(item).__name__}"
        )
        raise CannotRead(msg)
    total = Scalar(t, t.zero)
    for k, (sign, node) in enumerate(nodes):
        total = total + sign * Scalar(t, t.symbol(f"{MARK}{k}")) * Scalar(t, node)
    if of is not None:
        quantity = truth.quantity(of)
        if quantity is None:
            msg = f"of={of!r}: no quantity of this name"
            raise CannotRead(msg)
        total = Scalar(t, quantity) - total
    one = Substitution(t, {t.symbol(f"{MARK}{k}"): t.one for k in range(len(nodes))})
    return Row(text, Scalar(t, one(total.i)), total)


def _sympy_addends(e: Any, sign: int) -> list[tuple[int, Any]]:
    parts = e.as_ordered_terms() if hasattr(e, "as_ordered_terms") else [e]
    return [(sign, part) for part in parts if part != 0]


def _on(truth: Truth, e: Any) -> int:
    if isinstance(e, Scalar) and e.tape.root is truth.tape.root:
        return copy_expressions(e.tape, truth.tape, [e.i])[0] if e.tape is not truth.tape else e.i
    try:
        return as_node(truth.tape, e)
    except BadExpression as problem:
        msg = f"the answer cannot be read: {problem}"
        raise CannotRead(msg) from problem
