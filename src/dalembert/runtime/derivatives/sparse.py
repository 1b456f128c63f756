"""∂y_i/∂x_j and ∂²(μᵀy)/∂x_i∂x_j on the tape, with exact sparsity: an entry that vanishes
identically is left out.

Jacobians are made in one pass forwards, which carries {j: ∂e/∂x_j} for every node e, or by one
sweep backwards for each output, whichever the shape suggests. The Hessian of μᵀy is forward over
reverse: the gradient with the multipliers μ as symbols, then its own Jacobian, lower triangle only.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from dalembert.foundation.deferred_dataclass import dataclass
from dalembert.symbolic.algebra.expression_graph import (
    function_derivative,
    gradient,
    nodes_depending_on,
)
from dalembert.symbolic.algebra.tape import BINARY, DATA, LEAVES, Tape

# inputs for each output from which on sweeps backwards make the smaller Jacobian
_WIDE: Final = 2

Slopes = dict[int, int]


@dataclass(frozen=True)
class SparseEntries:
    """Expressions `nodes` at the places (rows, columns) of a matrix, row by row; all others are
    zero.
    """

    shape: tuple[int, int]
    rows: tuple[int, ...]
    columns: tuple[int, ...]
    nodes: tuple[int, ...]

    @classmethod
    def of(cls, shape: tuple[int, int], entries: Mapping[tuple[int, int], int]) -> SparseEntries:
        """The matrix with these entries."""
        places = sorted(entries)
        rows, columns = tuple(i for i, _ in places), tuple(j for _, j in places)
        return cls(shape, rows, columns, tuple(entries[place] for place in places))


def sparse_jacobian(tape: Tape, outs: Sequence[int], wrt: Sequence[int]) -> SparseEntries:
    """∂outs/∂wrt, on the same tape."""
    shape = len(outs), len(wrt)
    if len(wrt) > _WIDE * len(outs):
        rows = [gradient(tape, {e: tape.one}, wrt) for e in outs]
        results = {(i, j): d for i, row in enumerate(rows) for j, d in enumerate(row)}
    else:
        slopes = forward_slopes(tape, outs, {x: {j: tape.one} for j, x in enumerate(wrt)})
        results = {(i, j): d for i, row in enumerate(slopes) for j, d in row.items()}
    return SparseEntries.of(shape, {place: d for place, d in results.items() if d != tape.zero})


def forward_slopes(tape: Tape, outs: Sequence[int], seeds: Mapping[int, Slopes]) -> list[Slopes]:
    """{j: Σ_x ∂e/∂x s_xj} for each out e, where `seeds` maps symbols x to their {j: s_xj}."""
    slopes: dict[int, Slopes] = {x: dict(s) for x, s in seeds.items()}
    nodes = tape.nodes
    # the tape grows meanwhile, behind the nodes that are visited
    for i in sorted(nodes_depending_on(tape, outs, seeds)):
        if i not in slopes and nodes[i][0] not in LEAVES:
            slopes[i] = _rule(tape, i, slopes)
    return [slopes.get(e, {}) for e in outs]


def _rule(t: Tape, i: int, slopes: Mapping[int, Slopes]) -> Slopes:
    """The derivatives of node i from those of its operands."""
    op, a, b = t.nodes[i]
    of_a, of_b = slopes.get(a, {}), slopes.get(b, {}) if op in BINARY else {}
    if op == "neg":
        return {j: t.neg(d) for j, d in of_a.items()}
    if op == "mul":
        return _sum(t, _scaled(t, b, of_a), _scaled(t, a, of_b))
    if op == "add":
        return _sum(t, of_a, of_b)
    if op == "sub":
        return _sum(t, of_a, {j: t.neg(d) for j, d in of_b.items()})
    if op == "div":
        inner = _sum(t, of_a, {j: t.neg(t.mul(i, d)) for j, d in of_b.items()})
        return {j: t.div(d, b) for j, d in inner.items()}
    if op in DATA:
        return {}
    if op == "atan2":
        square = t.add(t.mul(a, a), t.mul(b, b))
        inner = _sum(t, _scaled(t, b, of_a), _scaled(t, t.neg(a), of_b))
        return {j: t.div(d, square) for j, d in inner.items()}
    return _scaled(t, function_derivative(t, op, a, i), of_a)


def _scaled(t: Tape, k: int, slopes: Slopes) -> Slopes:
    return {j: t.mul(k, d) for j, d in slopes.items()} if k != t.zero else {}


def _sum(t: Tape, one: Slopes, other: Slopes) -> Slopes:
    if not one or not other:
        return one or other
    total = dict(one)
    for j, d in other.items():
        entry = t.add(total[j], d) if j in total else d
        if entry == t.zero:
            del total[j]
        else:
            total[j] = entry
    return total


def contracted_hessian(
    tape: Tape, outs: Sequence[int], multipliers: Sequence[int], wrt: Sequence[int]
) -> SparseEntries:
    """The lower triangle of ∂²(Σ_k μ_k e_k)/∂x_i∂x_j, on the same tape; the multipliers are
    symbols.
    """
    shape = len(wrt), len(wrt)
    slopes = contracted_gradient(tape, outs, multipliers, wrt)
    results: dict[tuple[int, int], int] = {}
    entries = forward_slopes(tape, slopes, {x: {j: tape.one} for j, x in enumerate(wrt)})
    for i, row in enumerate(entries):
        results |= {(i, j): d for j, d in row.items() if j <= i and d != tape.zero}
    return SparseEntries.of(shape, results)


def hessian_times_vector(
    tape: Tape,
    outs: Sequence[int],
    multipliers: Sequence[int],
    wrt: Sequence[int],
    vector: Sequence[int],
) -> tuple[int, ...]:
    """∇²(μᵀ outs) v on the same tape, in a number of operations that does not grow with
    len(wrt).
    """
    slopes = contracted_gradient(tape, outs, multipliers, wrt)
    seeds = {x: {0: v} for x, v in zip(wrt, vector, strict=True)}
    return tuple(row.get(0, tape.zero) for row in forward_slopes(tape, slopes, seeds))


def contracted_gradient(
    tape: Tape, outs: Sequence[int], multipliers: Sequence[int], wrt: Sequence[int]
) -> list[int]:
    """Σ_k μ_k ∂e_k/∂x for every x, by one sweep backwards; two outputs may be the same
    expression.
    """
    seeds: dict[int, int] = {}
    for e, mu in zip(outs, multipliers, strict=True):
        seeds[e] = tape.add(seeds[e], mu) if e in seeds else mu
    return gradient(tape, seeds, wrt)
