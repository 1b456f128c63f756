"""√(3 + 2√2) = 1 + √2: numbers without symbols, whose signs balls decide and whose roots may be simpler than they look.

In a prime field a root of a square s² comes out as s or −s by chance. So a root of a number is first sought among sums of
products of roots of primes, by lattice reduction of its decimal expansion; the expansion also tells its sign.
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from itertools import combinations
from math import prod
from typing import TYPE_CHECKING, Any, Final

from dalembert.algebra.exact.balls import evaluate_balls
from dalembert.algebra.exact.modular import BadPoint
from dalembert.algebra.exact.structure import square_part
from dalembert.algebra.folds import needed
from dalembert.algebra.tape import Node, Tape

if TYPE_CHECKING:
    from flint import arb

# s = Σ x_q √q: {q: x_q} with whole q without square factors
Sum = dict[int, Fraction]

_DIGITS: Final = (50, 200, 800)
_MOST_PRIMES: Final = 4
_BITS: Final = 1200
# coefficients that are found by chance have about 70 bits with sixteen roots
_LARGEST: Final = 1 << 30


def sign_of_constant(tape: Tape, i: int) -> int:
    """1 or −1 for a number that is certainly not zero; BadPoint if 800 digits do not tell."""
    return _sign(_written(tape, i))


def simpler_root(tape: Tape, a: int) -> Sum | None:
    """√a as a sum of roots of whole numbers, or None where there is no such sum of small coefficients."""
    return _simpler(_written(tape, a))


def _written(tape: Tape, i: int) -> tuple[Node, ...]:
    """The nodes of a number, renumbered: the same for the same number on every tape."""
    order = needed(tape, (i,))
    place = {j: k for k, j in enumerate(order)}
    nodes = (tape.nodes[j] for j in order)
    return tuple((op, a, b) if op in ("const", "pi") else (op, place[a], place.get(b)) for op, a, b in nodes)


def _value(written: tuple[Node, ...], digits: int) -> arb:
    tape = Tape()
    tape.nodes = list(written)
    return evaluate_balls(tape, [len(written) - 1], {}, digits)[0]


@lru_cache(maxsize=1024)
def _sign(written: tuple[Node, ...]) -> int:
    for digits in _DIGITS:
        ball = _value(written, digits)
        if not ball.contains(0):
            return 1 if ball > 0 else -1
    msg = "a number that is zero or too small to have a sign"
    raise BadPoint(msg)


@lru_cache(maxsize=1024)
def _simpler(written: tuple[Node, ...]) -> Sum | None:
    import flint

    inside = {q for op, a, _ in written if op == "sqrt" and written[a][0] == "const" for q in _primes(square_part(written[a][1])[1])}
    primes = sorted(inside | {2, 3})
    if len(primes) > _MOST_PRIMES:
        return None
    products = [prod(chosen) for k in range(len(primes) + 1) for chosen in combinations(primes, k)]
    digits = int(_BITS * 0.302) + 10
    with flint.ctx.workdps(digits):
        numbers: list[Any] = [_value(written, digits).sqrt(), *(flint.arb(q).sqrt() for q in products)]
        if not all(x.is_finite() for x in numbers):
            return None
        column = [int((x * flint.arb(2) ** _BITS).mid().floor().unique_fmpz()) for x in numbers]
    n = len(numbers)
    rows = flint.fmpz_mat([[int(j == k) for j in range(n)] + [column[k]] for k in range(n)]).lll().tolist()
    best = min(rows, key=lambda row: sum(abs(int(x)) for x in row))
    c = [int(x) for x in best]
    if not c[0] or max(map(abs, c)) > _LARGEST:
        return None
    return {q: Fraction(-x, c[0]) for q, x in zip(products, c[1:-1], strict=True) if x}


def _primes(q: int) -> list[int]:
    from flint import fmpz

    return [int(prime) for prime, _ in fmpz(q).factor()]
