"""√(c A) → √c √A: roots of an answer in terms of those in the true equations.

A prime field knows two square roots of each number. Where the radicand of an answer is a rational
multiple of a true one, both roots are written with the same function, so that their signs agree.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from dalembert.analysis.verify.reading import Row
from dalembert.analysis.verify.truth import Truth
from dalembert.symbolic.algebra.exact.linear_algebra import rational_reconstruction
from dalembert.symbolic.algebra.exact.sample_point import SamplePoint
from dalembert.symbolic.algebra.exact.zero_test import BadPoint, decide_zero
from dalembert.symbolic.algebra.expression_graph import Substitution, functions_in
from dalembert.symbolic.algebra.scalar import Scalar

LARGEST = 2**52


def unify_roots(truth: Truth, rows: list[Row]) -> list[Row]:
    """The rows with roots that are multiples of true roots written as such."""
    t = truth.tape
    own = _roots(truth, tuple(truth.in_u(row.value.i) for row in rows))
    true = _roots(truth, truth.residuals)
    new = {
        root: e
        for root in own
        if root not in true and (e := _multiple(truth, root, true)) is not None
    }
    if not new:
        return rows
    rewrite = Substitution(t, new)
    return [
        replace(row, value=Scalar(t, rewrite(row.value.i)), marked=Scalar(t, rewrite(row.marked.i)))
        for row in rows
    ]


def _roots(truth: Truth, outs: tuple[int, ...]) -> list[int]:
    return [i for i in functions_in(truth.tape, outs) if truth.tape.nodes[i][0] == "sqrt"]


def _multiple(truth: Truth, root: int, true: list[int]) -> int | None:
    """√c √A of the true root whose radicand A is proportional, shown exactly."""
    t = truth.tape
    inside = t.nodes[root][1]
    for other in true:
        A = t.nodes[other][1]
        c = _ratio(truth, inside, A)
        if c is not None and decide_zero(t, [t.sub(inside, t.mul(t.const(c), A))]).all_zero:
            return t.mul(t.call("sqrt", t.const(c)), other)
    return None


def _ratio(truth: Truth, a: int, b: int) -> Fraction | None:
    point = SamplePoint(truth.tape, 5, outs=(a, b))
    try:
        x, y = point.real_value(a), point.real_value(b)
    except BadPoint:
        return None
    return rational_reconstruction(x * pow(y, -1, point.prime), point.prime, LARGEST) if y else None
