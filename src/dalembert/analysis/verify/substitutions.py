"""θ → −θ, θ → π/2 − θ, θ₂ → θ₁ + θ₂, F → −F: coordinates and signs of another choice.

A substitution is applied to a symbol, its rates and its accelerations together; the answer is then
judged again. Most candidates are refused at one random point.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations, pairwise, permutations
from typing import Final

from dalembert.analysis.verify.reading import Row
from dalembert.analysis.verify.terms import terms_of
from dalembert.analysis.verify.truth import Truth
from dalembert.analysis.verify.verdict import Judgement, judge
from dalembert.foundation.deferred_dataclass import dataclass
from dalembert.symbolic.algebra.exact.verdict import TimeLimit
from dalembert.symbolic.algebra.exact.zero_test import BadPoint
from dalembert.symbolic.algebra.expression_graph import (
    Derivative,
    Substitution,
    dependencies,
    symbols_of,
)
from dalembert.symbolic.algebra.scalar import Scalar

MOST_SIGNS: Final = 7
SECONDS: Final = 1.5


@dataclass(frozen=True)
class CoordinateChange:
    """{symbol of the answer: what it is in the system}, with a name."""

    text: str
    nodes: Mapping[int, int]


def substituted(
    truth: Truth, rows: list[Row], wrong: Sequence[int], *, single: bool = False
) -> tuple[CoordinateChange, Judgement, list[Row]] | None:
    """The first substitution of the list that makes every row true; `single` for those of one
    symbol alone.
    """
    t, clock = truth.tape, TimeLimit(SECONDS)
    for candidate in candidates(truth, rows):
        if single and len(candidate.nodes) > 1:
            return None
        if clock.is_exceeded:
            return None
        rewrite = _rewriting(truth, candidate)
        if not _passes_one_point(truth, [rows[k] for k in wrong], rewrite):
            continue
        new = [
            replace(
                row, value=Scalar(t, rewrite(row.value.i)), marked=Scalar(t, rewrite(row.marked.i))
            )
            for row in rows
        ]
        judgement = judge(truth, new)
        if not judgement.wrong and judgement.rows and all(v.holds for v in judgement.rows):
            return candidate, judgement, new
    return None


def _rewriting(truth: Truth, candidate: CoordinateChange) -> Substitution:
    """The symbols of the answer replaced, rates and accelerations included."""
    t = truth.tape
    rate = Derivative(t, t.rate)
    nodes: dict[int, int] = {}
    for x, e in candidate.nodes.items():
        nodes[x] = e
        old, new = x, e
        for _ in range(2):
            derivative = t.rate(old) if old in t.moving and old not in t.inputs else None
            if derivative is None:
                break
            old, new = derivative, rate(new)
            nodes[old] = new
    return Substitution(t, nodes)


def _passes_one_point(truth: Truth, rows: list[Row], rewrite: Substitution) -> bool:
    """Whether the rewritten rows vanish at a random state; the first that does not ends it."""
    point = terms_of(truth, (), free=False).samples.points[0]
    try:
        return not any(point.real_value(truth.in_u(rewrite(row.value.i))) for row in rows)
    except BadPoint:
        return False


def candidates(truth: Truth, rows: list[Row]) -> Iterator[CoordinateChange]:
    """Signs first, then angles from other axes, then relative for absolute angles, then pairs of
    these.
    """
    t = truth.tape
    inside = set(symbols_of(t, [row.value.i for row in rows]))
    present = [q for q in truth.kin.q if _occurs(truth, q, inside)]
    speeds = [u for u in truth.kin.u if u in inside and u not in truth.kin.qdot]
    others = [x for x in (*t.inputs, *truth.multipliers, *_gravity(truth)) if x in inside]
    signs = [_sign(truth, x) for x in (*present, *speeds, *others)]
    angles = [q for q in present if _is_angle(truth, q)]
    shifts = [s for q in angles for s in _shifts(truth, q)]
    relative = [s for a, b in permutations(angles, 2) for s in _sums(truth, a, b)]
    yield from (*signs, *shifts, *relative)
    for size in range(2, min(len(signs), MOST_SIGNS) + 1):
        yield from (_together(*group) for group in combinations(signs[:MOST_SIGNS], size))
    yield from (
        _together(a, b) for a, b in combinations(shifts, 2) if a.nodes.keys().isdisjoint(b.nodes)
    )
    yield from (
        _together(a, b) for a in signs for b in shifts if a.nodes.keys().isdisjoint(b.nodes)
    )
    yield from _all_absolute(truth, angles)


def _occurs(truth: Truth, q: int, inside: set[int]) -> bool:
    t = truth.tape
    rate = t.rates.get(q)
    return q in inside or rate in inside or (rate is not None and t.rates.get(rate) in inside)


def _gravity(truth: Truth) -> list[int]:
    """The symbols of g, for up and down."""
    field = truth.kin.system.gravity_field
    if field is None:
        return []
    g = field.g.on(truth.tape)
    return [
        x
        for x in symbols_of(truth.tape, [e for c in g.parts.values() for e in c])
        if x not in truth.tape.moving
    ]


def _is_angle(truth: Truth, q: int) -> bool:
    """Whether sines or cosines of the coordinate occur in the equations."""
    t, kept = truth.tape, truth.kept
    if "angles" not in kept:
        nodes = [t.nodes[i] for i in dependencies(t, truth.residuals)]
        arguments = [a for op, a, _ in nodes if op in ("sin", "cos")]
        kept["angles"] = frozenset(symbols_of(t, arguments))
    return q in kept["angles"]


def _name(truth: Truth, x: int) -> str:
    return str(Scalar(truth.tape, x))


def _sign(truth: Truth, x: int) -> CoordinateChange:
    name = _name(truth, x)
    return CoordinateChange(f"{name} → −{name}", {x: truth.tape.neg(x)})


def _shifts(truth: Truth, q: int) -> Iterator[CoordinateChange]:
    t, name, x = truth.tape, _name(truth, q), Scalar(truth.tape, q)
    pi = Scalar(t, t.pi)
    for text, e in (
        ("π/2 − {}", pi / 2 - x),
        ("{} + π/2", x + pi / 2),
        ("{} − π/2", x - pi / 2),
        ("π − {}", pi - x),
        ("{} + π", x + pi),
    ):
        yield CoordinateChange(f"{name} → {text.format(name)}", {q: e.i})


def _sums(truth: Truth, a: int, b: int) -> Iterator[CoordinateChange]:
    x, y = Scalar(truth.tape, a), Scalar(truth.tape, b)
    for sign, e in (("+", x + y), ("−", x - y)):
        yield CoordinateChange(f"{x} → {x} {sign} {y}", {a: e.i})


def _all_absolute(truth: Truth, angles: list[int]) -> Iterator[CoordinateChange]:
    """Every angle absolute where the system has relative ones, and the other way round."""
    t = truth.tape
    if len(angles) < 3:
        return
    scalars = [Scalar(t, a) for a in angles]
    total = scalars[0]
    sums: dict[int, int] = {}
    differences: dict[int, int] = {}
    for before, here in pairwise(scalars):
        total = total + here
        sums[here.i] = total.i
        differences[here.i] = (here - before).i
    yield CoordinateChange("absolute → sums of the relative angles", sums)
    yield CoordinateChange("relative → differences of the absolute angles", differences)


def _together(*parts: CoordinateChange) -> CoordinateChange:
    nodes = {x: e for part in parts for x, e in part.nodes.items()}
    return CoordinateChange(", ".join(part.text for part in parts), nodes)
