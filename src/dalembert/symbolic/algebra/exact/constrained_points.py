"""φ(x) = 0 at a random point: one symbol of each equation is changed to a root of it.

Identities that hold only where constraint equations hold are tested at such points of a prime
field. The equation must be a polynomial in the symbol.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from dalembert.symbolic.algebra.exact.finite_field import NoRoot
from dalembert.symbolic.algebra.exact.sample_point import SamplePoint
from dalembert.symbolic.algebra.expression_graph import nodes_depending_on, symbols_of
from dalembert.symbolic.algebra.tape import Tape

# of an equation in one symbol
_LARGEST_DEGREE: Final = 8


def solve_point(point: SamplePoint, tape: Tape, chosen: Mapping[int, int]) -> SamplePoint:
    """The point with every chosen symbol changed, one after the other, so that its expression
    vanishes: {symbol: expression}.
    """
    given: dict[int, int] = {}
    for x, e in chosen.items():
        given[x] = polynomial_root(point.on(tape, given), e, x)
    return point.on(tape, given) if given else point


def polynomial_root(point: SamplePoint, e: int, u: int) -> int:
    """A value of the symbol u at which e, a polynomial in u, vanishes; NoRoot where this field
    has none.
    """
    from flint import fmpz_mod_ctx, fmpz_mod_poly_ctx

    p = point.prime
    poly = fmpz_mod_poly_ctx(fmpz_mod_ctx(p))
    nodes = range(_LARGEST_DEGREE + 1)
    values = [point.on(point.tape, {u: x}).real_value(e) for x in nodes]
    f = poly([0])
    for k, value in enumerate(values):
        basis = poly([value])
        for j in nodes:
            if j != k:
                basis *= poly([-j % p, 1]) * pow(k - j, -1, p)
        f += basis
    roots = [int(x) for x, _ in f.roots()] if f.degree() > 0 else []
    if not roots or point.on(point.tape, {u: _LARGEST_DEGREE + 7})(e) != int(
        f(_LARGEST_DEGREE + 7)
    ):
        msg = "a row that no speed satisfies at this point"
        raise NoRoot(msg)
    return min(roots)


def solvable_symbols(
    tape: Tape, equations: Sequence[int], *, constants_first: bool
) -> dict[int, int] | None:
    """{symbol that an equation is a polynomial in: the equation}, each symbol in one; None where
    an equation has no such symbol.
    """
    chosen: dict[int, int] = {}
    for k, phi in enumerate(equations):
        earlier = {*chosen, *symbols_of(tape, equations[:k])}
        inside = [x for x in symbols_of(tape, (phi,)) if x not in earlier]
        order = sorted(inside, key=lambda x: (x in tape.moving) is constants_first)
        x = next((x for x in order if _is_polynomial(tape, phi, x)), None)
        if x is None:
            return None
        chosen[x] = phi
    return chosen


def _is_polynomial(tape: Tape, phi: int, x: int) -> bool:
    inside = nodes_depending_on(tape, (phi,), (x,))
    for i in inside:
        op, _, b = tape.nodes[i]
        if op not in ("add", "sub", "mul", "neg", "symbol") and not (
            op == "div" and b not in inside
        ):
            return False
    return True
