"""ż, λ and the way back onto the rows in a straight line that leaves out zeros, where that is safe: native text.

A straight line exchanges nothing. It is not safe where what is left of a row, s_j, is small against the largest length of it seen at the
ends of steps; there the orthogonal solver takes over, and first chooses rows at the ends of steps that it has not seen.
"""

from __future__ import annotations

import math
from typing import Final

from dalembert.runtime.numerics.ir_builder import NumberArray, Value
from dalembert.runtime.numerics.llvm_types import POINTER, REAL, WHOLE
from dalembert.runtime.ode.constrained.householder_qr import WEAK
from dalembert.runtime.ode.constrained.workspace_fields import ProblemFunction

# M_kk/d_k = 1e7 is not safe either
_MASS_WEIGHT: Final = 1e-14
# the sine of the angle between a row and those before it: that which is safe at rtol = 1, no smaller one, and one that is at any rtol
_SINES: Final = (10.0 * 2.0**-26, 0.01, WEAK)
# of so few unknowns the orthogonal solver takes little time and is asked early, so that rounding hardly reaches the steps; two windows
# drift at 1e-12 by more than 1e-10 in 6 of 100 starts with 0.3, in 4 with 0.7, in 4 with that solver alone; from 1e-10 on in none
_FEW: Final = 20
_EARLY: Final = (3e-6, 0.3, 0.7)

# what `straight_look` finds
SAFE, UNSAFE = 0, 2


def straight_text() -> str:
    """The functions `unsafe`, `catch_up`, `remember` and `straight_look`."""
    return f"{_unsafe()}\n\n{_catch_up()}\n\n{_remember()}\n\n{_look()}"


def safe_sines(unknowns: int) -> tuple[float, float, float]:
    """What `least_sine` takes for so many rates and rows."""
    return _EARLY if unknowns < _FEW else _SINES


def least_sine(sines: tuple[float, float, float], rtol: float) -> float:
    """d with ε/d² a hundredth of a tolerance: what a row with this sine loses in a straight line, which squares it."""
    first, least, most = sines
    return max(first / math.sqrt(rtol), least) if rtol > (first / most) ** 2 else most


def _unsafe() -> str:
    """1 where a row has a smaller sine than is safe, s_j < d² |b_j|², or too much of the mass is lost; otherwise 0."""
    native = ProblemFunction("unsafe", POINTER, REAL)
    f, given, (pivots, lost) = native.function, native.given, native.arguments
    over, lengths = NumberArray(pivots), native.column("lengths")
    least = f.choose(given.least_sine > 0.0, given.least_sine, WEAK)
    worst = f.variable(lost * _MASS_WEIGHT / (least * least))
    with f.loop(given.m) as j:
        left = f.choose((lengths[j] > 0.0) & (over[j] > 0.0), lengths[j] * lengths[j] * over[j], float("inf"))
        # a NaN is the largest of all
        worst.value = f.choose(left <= worst.value, worst.value, left)
    f.give(f.choose(worst.value * (least * least) <= 1.0, f.value(0, WHOLE), f.value(1, WHOLE)))
    return f.text()


def straight_rates(native: ProblemFunction, x: Value, y: Value) -> None:
    """(q̇, ż, λ) at x in a straight line and away, where there is one and it is safe."""
    f, given = native.function, native.given
    with f.when(given.straight_count.differs(0)):
        native.compute("straight", x, given.straight_outs)
        outs, size = native.column("straight_outs"), given.n_q + given.n
        pivots = native.numbers_from(given.straight_outs, size + given.m).pointer
        with f.when(~native.call("unsafe", pivots, outs[given.straight_count - 1]).differs(0)):
            native.copy(size, outs, NumberArray(y))
            native.copy(given.m, native.numbers_from(given.straight_outs, size), native.column("multipliers"))
            f.leave()
        given.straight_refused = given.straight_refused + 1
        native.call("catch_up")


def _catch_up() -> str:
    """Look at the end of the last step, as far as that was left out, and at the one before: how fast rows turn, and which go first."""
    native = ProblemFunction("catch_up")
    f, given = native.function, native.given
    with f.when(given.unseen > 1):
        native.call("look", given.ends, 1)
    with f.when(given.unseen > 0):
        native.call("prepare", last_end(native), 1)
    given.unseen = 0
    return native.done()


def last_end(native: ProblemFunction) -> Value:
    """x = (q, z, t) where the last step ended."""
    return native.numbers_from(native.given.ends, native.given.n_q + native.given.n + 1).pointer


def _remember() -> str:
    """An end of a step, x = (q, z, t), at which no rows were chosen."""
    native = ProblemFunction("remember", POINTER)
    given, (x,) = native.given, native.arguments
    width, last = given.n_q + given.n + 1, NumberArray(last_end(native))
    native.copy(width, last, native.column("ends"))
    native.copy(width, NumberArray(x), last)
    given.unseen = given.unseen + 1
    return native.done()


def back_parts(native: ProblemFunction) -> tuple[NumberArray, NumberArray, NumberArray]:
    """φ and what takes it away, and what takes e away, of the state that was looked at last."""
    given, base = native.given, native.given.back_outs
    return NumberArray(base), native.numbers_from(base, given.m), native.numbers_from(base, given.m + given.n)


def _look() -> str:
    """(φ, −A⁺φ, −A⁺e) at x = (q, z, t), and whether that is safe; the lengths and sizes of rows grow with what is seen."""
    native = ProblemFunction("straight_look", POINTER)
    f, given, (x,) = native.function, native.given, native.arguments
    native.compute("back", x, given.back_outs)
    m, first = given.m, given.m + given.n * 2
    squares, own = (native.numbers_from(given.back_outs, k) for k in (first, first + m))
    lengths, sizes = native.column("lengths"), native.column("sizes")
    with f.loop(m) as j:
        lengths[j] = f.intrinsic("maxnum", f.intrinsic("sqrt", squares[j]), lengths[j])
        sizes[j] = f.intrinsic("maxnum", own[j], sizes[j])
    pivots, lost = native.numbers_from(given.back_outs, first + m * 2).pointer, native.column("back_outs")[given.back_count - 1]
    f.give(native.call("unsafe", pivots, lost) * UNSAFE)
    return f.text()
