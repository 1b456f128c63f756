"""ż, λ and the constraint projection by unrolled sparse elimination, where that is safe: native
text.

A straight line exchanges nothing. It is not safe where the reduced row, s_j, is small against the
largest length of it seen at the ends of steps; there the orthogonal solver takes over, and first
chooses rows at the ends of steps that it has not seen.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

import numpy as np

from dalembert.runtime.numerics.ir_builder import ScalarArray, Value
from dalembert.runtime.numerics.llvm_types import DOUBLE, INT64, POINTER
from dalembert.runtime.ode.constrained.householder_qr import WEAK
from dalembert.runtime.ode.constrained.workspace_fields import WorkspaceFunction

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Numbers = NDArray[np.float64]

# M_kk/d_k = 1e7 is not safe either
_MASS_WEIGHT: Final = 1e-14
# the sine of the angle between a row and those before it: that which is safe at rtol = 1, no
# smaller one, and one that is at any rtol
_SINES: Final = (10.0 * 2.0**-26, 0.01, WEAK)
# of so few unknowns the orthogonal solver takes little time and is used early, so that rounding
# hardly reaches the steps; two windows drift at 1e-12 by more than 1e-10 in 6 of 100 starts with
# 0.3, in 4 with 0.7, in 4 with that solver alone; from 1e-10 on in none
_FEW: Final = 20
_EARLY: Final = (3e-6, 0.3, 0.7)

# what `straight_look` finds
SAFE, UNSAFE = 0, 2


def sparse_ir() -> str:
    """The functions `unsafe`, `catch_up`, `remember` and `straight_look`."""
    functions = (_is_ill_conditioned, _refresh_pivots, _defer_step_end, _sparse_evaluate)
    return "\n\n".join(text() for text in functions)


def sine_thresholds(unknowns: int) -> tuple[float, float, float]:
    """The argument of `min_row_sine` for these numbers of rates and rows."""
    return _EARLY if unknowns < _FEW else _SINES


def min_row_sine(sines: tuple[float, float, float], rtol: float) -> float:
    """d with ε/d² a hundredth of a tolerance: what a row with this sine loses by unrolled
    elimination, which squares it.
    """
    first, least, most = sines
    return max(first / math.sqrt(rtol), least) if rtol > (first / most) ** 2 else most


def is_unsafe(inverse_squares: Numbers, lost: Numbers) -> NDArray[np.bool_]:
    """`unsafe` for states in rows, of which s_jj/s_j and Σ (M_kk/d_k)² are given: whether a row has
    a sine below `WEAK`, or too much of the mass is lost.
    """
    worst = np.maximum(inverse_squares.max(axis=1, initial=0.0), lost * (_MASS_WEIGHT / WEAK**2))
    # a NaN is unsafe
    unsafe: NDArray[np.bool_] = ~(worst * WEAK**2 <= 1.0)
    return unsafe


def _is_ill_conditioned() -> str:
    """1 where a row has a smaller sine than is safe, s_j < d² |b_j|², or too much of the mass is
    lost; otherwise 0.
    """
    native = WorkspaceFunction("unsafe", POINTER, DOUBLE)
    f, given, (pivots, lost) = native.function, native.given, native.arguments
    over, lengths = ScalarArray(pivots), native.scalar_field("lengths")
    least = f.select(given.least_sine > 0.0, given.least_sine, WEAK)
    worst = f.variable(lost * _MASS_WEIGHT / (least * least))
    with f.loop(given.m) as j:
        left = f.select(
            (lengths[j] > 0.0) & (over[j] > 0.0), lengths[j] * lengths[j] * over[j], float("inf")
        )
        # a NaN is the largest of all
        worst.value = f.select(left <= worst.value, worst.value, left)
    f.ret(f.select(worst.value * (least * least) <= 1.0, f.value(0, INT64), f.value(1, INT64)))
    return f.text()


def try_sparse_rates(native: WorkspaceFunction, x: Value, y: Value) -> None:
    """(q̇, ż, λ) at x by unrolled elimination, then return, where that exists and is safe."""
    f, given = native.function, native.given
    with f.if_then(given.straight_count.not_equal(0)):
        native.compute("straight", x, given.straight_outs)
        outs, size = native.scalar_field("straight_outs"), given.n_q + given.n
        pivots = native.scalars_from(given.straight_outs, size + given.m).pointer
        with f.if_then(~native.call("unsafe", pivots, outs[given.straight_count - 1]).not_equal(0)):
            native.copy(size, outs, ScalarArray(y))
            native.copy(
                given.m,
                native.scalars_from(given.straight_outs, size),
                native.scalar_field("multipliers"),
            )
            f.ret_void()
        given.straight_refused = given.straight_refused + 1
        native.call("catch_up")


def _refresh_pivots() -> str:
    """Look at the end of the last step, as far as that was left out, and at the one before: how
    fast rows turn, and which go first.
    """
    native = WorkspaceFunction("catch_up")
    f, given = native.function, native.given
    with f.if_then(given.unseen > 1):
        native.call("look", given.ends, 1)
    with f.if_then(given.unseen > 0):
        native.call("prepare", last_step_end(native), 1)
    given.unseen = 0
    return native.finish()


def last_step_end(native: WorkspaceFunction) -> Value:
    """x = (q, z, t) where the last step ended."""
    return native.scalars_from(native.given.ends, native.given.n_q + native.given.n + 1).pointer


def _defer_step_end() -> str:
    """An end of a step, x = (q, z, t), at which no rows were chosen."""
    native = WorkspaceFunction("remember", POINTER)
    given, (x,) = native.given, native.arguments
    width, last = given.n_q + given.n + 1, ScalarArray(last_step_end(native))
    native.copy(width, last, native.scalar_field("ends"))
    native.copy(width, ScalarArray(x), last)
    given.unseen = given.unseen + 1
    return native.finish()


def projection_outputs(native: WorkspaceFunction) -> tuple[ScalarArray, ScalarArray, ScalarArray]:
    """φ and what takes it away, and what takes e away, of the state that was looked at last."""
    given, base = native.given, native.given.back_outs
    return (
        ScalarArray(base),
        native.scalars_from(base, given.m),
        native.scalars_from(base, given.m + given.n),
    )


def _sparse_evaluate() -> str:
    """(φ, −A⁺φ, −A⁺e) at x = (q, z, t), and whether that is safe; the lengths and sizes of rows
    grow with what is seen.
    """
    native = WorkspaceFunction("straight_look", POINTER)
    f, given, (x,) = native.function, native.given, native.arguments
    native.compute("back", x, given.back_outs)
    m, first = given.m, given.m + given.n * 2
    squares, own = (native.scalars_from(given.back_outs, k) for k in (first, first + m))
    lengths, sizes = native.scalar_field("lengths"), native.scalar_field("sizes")
    with f.loop(m) as j:
        lengths[j] = f.intrinsic("maxnum", f.intrinsic("sqrt", squares[j]), lengths[j])
        sizes[j] = f.intrinsic("maxnum", own[j], sizes[j])
    pivots, lost = (
        native.scalars_from(given.back_outs, first + m * 2).pointer,
        native.scalar_field("back_outs")[given.back_count - 1],
    )
    f.ret(native.call("unsafe", pivots, lost) * UNSAFE)
    return f.text()
