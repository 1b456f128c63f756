"""e(x) ≠ 0 at a real state: the last word on "not zero", in balls of fifty digits.

States are random dyadic numbers, at which unknowns such as u̇ are solved for. Floats suggest a
point; a ball without zero is the proof. Zero in all of the balls proves nothing; then nothing is
claimed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from dalembert.foundation.array_types import FloatArray
from dalembert.symbolic.algebra.arithmetic import ArrayArithmetic, evaluate_balls
from dalembert.symbolic.algebra.expression_graph import evaluate, symbols_of
from dalembert.symbolic.algebra.tape import Tape

if TYPE_CHECKING:
    from flint import arb

# most expressions show at one of the first few; memory for thousands of states at every node is
# what costs
_STATES: Final = (64, 4096)
_DIGITS: Final = 50
_BITS: Final = 30
# (smallest, largest) of the values, taken in turn: of one sign, of both, small, large
_RANGES: Final = (
    (0.5, 1.5),
    (-1.5, 1.5),
    (-0.2, 0.2),
    (0.01, 0.3),
    (-8.0, 8.0),
    (0.9, 1.1),
    (-1.0, 1.0),
    (-3.0, 3.0),
)
# how many of the states are tried in balls for each expression
_CANDIDATES: Final = 3


def sampled_region() -> tuple[float, float]:
    """The smallest and the largest value that a symbol takes."""
    return min(low for low, _ in _RANGES), max(high for _, high in _RANGES)


def random_states(
    tape: Tape, outs: Sequence[int], seed: int, count: int = _STATES[-1]
) -> dict[int, FloatArray]:
    """Random dyadic values of all symbols under `outs`, one for each state."""
    random = np.random.default_rng(seed)
    low, high = np.array([_RANGES[k % len(_RANGES)] for k in range(count)]).T
    return {
        i: np.round(random.uniform(low, high) * 2.0**_BITS) / 2.0**_BITS
        for i in symbols_of(tape, outs)
    }


def find_nonzero(
    tape: Tape,
    outs: Sequence[int],
    seed: int,
    residuals: Sequence[int] = (),
    unknowns: Sequence[int] = (),
) -> list[bool]:
    """For each expression whether a state was found at which it is certainly not zero."""
    known: set[int] = set()
    for count in _STATES:
        left = [e for e in dict.fromkeys(outs) if e not in known]
        if not left:
            break
        drawn = random_states(tape, [*outs, *residuals, *unknowns], seed, count)
        magnitudes = np.abs(_floats(tape, left, drawn, residuals, unknowns, count))
        sizes = np.where(np.isfinite(magnitudes), magnitudes, -1.0)

        def away(
            expressions: list[int], k: int, drawn: Mapping[int, FloatArray] = drawn
        ) -> list[int]:
            state = {i: Fraction(float(x[k])) for i, x in drawn.items()}
            balls = evaluate_at_state(tape, expressions, state, residuals, unknowns)
            return [e for e, ball in zip(expressions, balls, strict=True) if _excludes_zero(ball)]

        # first all at once, where the smallest of them, measured by its largest value, is largest
        shares = sizes / np.maximum(sizes.max(axis=1, keepdims=True), np.finfo(float).tiny)
        known.update(away(left, int(shares.min(axis=0).argmax())))
        for e, size in zip(left, sizes, strict=True):
            best = np.argsort(-size, kind="stable")[:_CANDIDATES].tolist()
            if e not in known and any(away([e], k) for k in best):
                known.add(e)
    return [e in known for e in outs]


def _excludes_zero(ball: arb) -> bool:
    """Whether a ball is a value, and not zero."""
    return bool(ball.is_finite()) and not ball.contains(0)


def _floats(
    tape: Tape,
    outs: Sequence[int],
    state: Mapping[int, Any],
    residuals: Sequence[int],
    unknowns: Sequence[int],
    count: int,
) -> FloatArray:
    """The expressions at all states, in floats: what is not defined there is nan."""
    with np.errstate(all="ignore"):
        values = dict(state)
        if residuals:
            x = _solve_in_floats(tape, values, residuals, unknowns, count)
            values |= dict(zip(unknowns, x, strict=True))
        outputs = evaluate(tape, outs, values.__getitem__, ArrayArithmetic())
    return np.array([np.broadcast_to(v, (count,)) for v in outputs])


def _solve_in_floats(
    tape: Tape,
    state: Mapping[int, Any],
    residuals: Sequence[int],
    unknowns: Sequence[int],
    count: int,
) -> FloatArray:
    n = len(unknowns)

    def at(unit: int | None) -> FloatArray:
        values = {**state, **{u: float(u == unit) for u in unknowns}}
        return np.array(
            [
                np.broadcast_to(v, (count,))
                for v in evaluate(tape, residuals, values.__getitem__, ArrayArithmetic())
            ]
        )

    minus_f = at(None)
    M = np.stack([at(u) - minus_f for u in unknowns], axis=-1).swapaxes(0, 1)
    good: Any = np.isfinite(M).all(axis=(1, 2)) & np.isfinite(minus_f).all(axis=0)
    good[good] = np.abs(np.linalg.det(M[good])) > np.finfo(float).tiny
    x = np.full((count, n), np.nan)
    x[good] = np.linalg.solve(M[good], -minus_f.T[good][:, :, None])[:, :, 0]
    return x.T


def evaluate_at_state(
    tape: Tape,
    outs: Sequence[int],
    state: Mapping[int, Any],
    residuals: Sequence[int],
    unknowns: Sequence[int],
) -> list[arb]:
    """The expressions at one state as balls, the unknowns solved for; all of them nan where that
    is not possible.
    """
    import flint

    if not residuals:
        return evaluate_balls(tape, outs, state, _DIGITS)
    n, zero = len(unknowns), dict.fromkeys(unknowns, 0)
    minus_f = evaluate_balls(tape, residuals, {**state, **zero}, _DIGITS)
    columns = [evaluate_balls(tape, residuals, {**state, **zero, u: 1}, _DIGITS) for u in unknowns]
    with flint.ctx.workdps(_DIGITS + 15):
        M = flint.arb_mat(n, n, [columns[s][r] - minus_f[r] for r in range(n) for s in range(n)])
        try:
            x = M.solve(flint.arb_mat(n, 1, [-c for c in minus_f]))
        except ZeroDivisionError:
            return [flint.arb("nan")] * len(outs)
    return evaluate_balls(
        tape, outs, {**state, **{u: x[k, 0] for k, u in enumerate(unknowns)}}, _DIGITS
    )
