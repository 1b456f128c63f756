"""K λ = r of every mode, and which of them satisfy all inequalities: native text.
Keywords: complementarity.

    rows that hold    A λ = −b
    rows that slip    T = −s μ n,  n = G λ + g
    other rows        λ = 0

`systems` writes them, `solve` eliminates with partial pivots (1 where a mode is singular), `check`
finds w = A λ + b and who is good.
"""

from __future__ import annotations

import functools
from typing import Final

from dalembert.runtime.contact.transition_fields import SMALL
from dalembert.runtime.numerics.ir_builder import (
    FunctionBuilder,
    ScalarArray,
    StructView,
    Value,
    VectorArray,
)
from dalembert.runtime.numerics.llvm_types import DOUBLE, INT64, INTRINSICS, POINTER

EXPORTS: Final = ("systems", "solve", "check")

# name and kind of each field, in the order of the structure
FIELDS: Final[tuple[tuple[str, str], ...]] = (
    # modes, rows, candidates
    ("modes", INT64),
    ("rows", INT64),
    ("candidates", INT64),
    ("A", POINTER),
    ("b", POINTER),
    # of each candidate: the places of its rows, below zero for none; μ, μ_s, its normal force G λ +
    # given, and its own part of `given`
    ("n", POINTER),
    ("t", POINTER),
    ("mu", POINTER),
    ("mu_static", POINTER),
    ("G", POINTER),
    ("given", POINTER),
    ("own", POINTER),
    # in each mode: rows that hold; of each candidate ± of its friction in slip, the side and the
    # direction, and what must be checked
    ("hold", POINTER),
    ("pull", POINTER),
    ("side", POINTER),
    ("direction", POINTER),
    ("must", POINTER),
    # what is found
    ("K", POINTER),
    ("r", POINTER),
    ("lam", POINTER),
    ("w", POINTER),
    ("good", POINTER),
    ("room", POINTER),
)
# what `must` says of a candidate in a mode, in this order
PRESSES, STAYS_OPEN, IN_CONE, ALONG_SLIP = range(4)
CHECKS: Final = 4


@functools.cache
def module_ir() -> str:
    """The module."""
    return f"{INTRINSICS}\n\n{_systems()}\n\n{_solve()}\n\n{_check()}\n"


def _native_function(name: str) -> tuple[FunctionBuilder, StructView]:
    f = FunctionBuilder(name, INT64, POINTER, exported=True)
    return f, StructView(f.parameters[0], FIELDS)


def _numbers(s: StructView, *names: str) -> list[ScalarArray]:
    return [ScalarArray(getattr(s, name)) for name in names]


def _systems() -> str:
    f, s = _native_function("systems")
    m = s.rows
    A, b, mu, G, given, hold, pull, K, r = _numbers(
        s, "A", "b", "mu", "G", "given", "hold", "pull", "K", "r"
    )
    t = VectorArray(s.t, INT64)
    with f.loop(s.modes) as k:
        with f.loop(m) as i:
            line, held = k * m + i, hold[k * m + i]
            with f.loop(m) as j:
                K[line * m + j] = held * A[i * m + j]
            K[line * m + i] = K[line * m + i] + (1.0 - held)
            r[line] = 0.0 - held * b[i]
        with f.loop(s.candidates) as c, f.if_then(t[c] >= 0):
            line, part = k * m + t[c], pull[k * s.candidates + c] * mu[c]
            with f.loop(m) as j:
                K[line * m + j] = K[line * m + j] + part * G[c * m + j]
            r[line] = r[line] - part * given[c]
    f.ret(0)
    return f.text()


def _solve() -> str:
    """Elimination of [K r], with the largest pivot of each column."""
    f, s = _native_function("solve")
    m = s.rows
    wide = m + 1
    K, r, lam, W = _numbers(s, "K", "r", "lam", "room")
    with f.loop(s.modes) as k:
        with f.loop(m) as i:
            with f.loop(m) as j:
                W[i * wide + j] = K[(k * m + i) * m + j]
            W[i * wide + m] = r[k * m + i]
        with f.loop(m) as i:
            _pivot(f, W, i, m)
            with f.if_then(~W[i * wide + i].not_equal(0.0)):
                f.ret(1)
            with f.loop(m - i - 1) as below:
                line = i + 1 + below
                part = W[line * wide + i] / W[i * wide + i]
                with f.loop(wide - i) as j:
                    W[line * wide + i + j] = W[line * wide + i + j] - part * W[i * wide + i + j]
        with f.loop(m) as back:
            i = m - 1 - back
            x = f.variable(W[i * wide + m])
            with f.loop(back) as j:
                x.value = x.value - W[i * wide + i + 1 + j] * lam[k * m + i + 1 + j]
            lam[k * m + i] = x.value / W[i * wide + i]
    f.ret(0)
    return f.text()


def _pivot(f: FunctionBuilder, W: ScalarArray, i: Value, m: Value) -> None:
    """The line with the largest number in column i comes to place i."""
    wide = m + 1
    largest, place = f.variable(f.value(0.0, DOUBLE)), f.variable(i)
    with f.loop(m - i) as below:
        size = f.intrinsic("fabs", W[(i + below) * wide + i])
        with f.if_then(size > largest.value):
            largest.value, place.value = size, i + below
    with f.if_then(place.value.not_equal(i)), f.loop(wide) as j:
        upper, lower = W[i * wide + j], W[place.value * wide + j]
        W[i * wide + j] = lower
        W[place.value * wide + j] = upper


def _check() -> str:
    """N ≥ 0 of what is closed, a_N ≥ 0 of what is open, |T| ≤ μ_s N of what sticks, s a_T ≥ 0 of
    what begins to slip.
    """
    f, s = _native_function("check")
    m = s.rows
    A, b, lam, w, good = _numbers(s, "A", "b", "lam", "w", "good")
    size = f.variable(f.value(0.0, DOUBLE))
    with f.loop(m) as i:
        size.value = f.intrinsic("maxnum", size.value, f.intrinsic("fabs", b[i]))
    with f.loop(s.modes) as k:
        force, speed = f.variable(f.value(0.0, DOUBLE)), f.variable(f.value(0.0, DOUBLE))
        finite = f.variable(f.value(0.0, DOUBLE))
        with f.loop(m) as i:
            here = lam[k * m + i]
            force.value = f.intrinsic("maxnum", force.value, f.intrinsic("fabs", here))
            finite.value = finite.value + here * 0.0
            a, sizes = f.variable(b[i]), f.variable(f.value(0.0, DOUBLE))
            with f.loop(m) as j:
                part = A[i * m + j] * lam[k * m + j]
                a.value, sizes.value = a.value + part, sizes.value + f.intrinsic("fabs", part)
            w[k * m + i] = a.value
            speed.value = f.intrinsic("maxnum", speed.value, sizes.value)
        good[k] = f.select(finite.value.not_equal(0.0), f.value(0.0, DOUBLE), 1.0)
        with f.loop(s.candidates) as c:
            _check_candidate(f, s, (k, c), force.value * SMALL, (size.value + speed.value) * SMALL)
    f.ret(0)
    return f.text()


def _check_candidate(
    f: FunctionBuilder, s: StructView, at: tuple[Value, Value], force: Value, speed: Value
) -> None:
    (k, c), m = at, s.rows
    mu_static, G, given, own, side, direction, must, lam, w, good = _numbers(
        s, "mu_static", "G", "given", "own", "side", "direction", "must", "lam", "w", "good"
    )
    n, t = VectorArray(s.n, INT64)[c], VectorArray(s.t, INT64)[c]
    place = k * s.candidates + c
    N = f.variable(own[c])
    with f.loop(m) as j:
        N.value = N.value + G[c * m + j] * lam[k * m + j]
    N.value = N.value * side[place]

    def demand(holds: Value) -> None:
        with f.if_then(~holds):
            good[k] = 0.0

    with f.if_then(must[place * CHECKS + PRESSES] > 0.0):
        demand(N.value >= 0.0 - force)
    with f.if_then(must[place * CHECKS + STAYS_OPEN] > 0.0):
        demand(w[k * m + n] >= 0.0 - speed)
    with f.if_then(must[place * CHECKS + IN_CONE] > 0.0):
        bound = mu_static[c] * (N.value + (given[c] - own[c]))
        demand(f.intrinsic("fabs", lam[k * m + t]) <= bound + force)
    with f.if_then(must[place * CHECKS + ALONG_SLIP] > 0.0):
        demand(direction[place] * w[k * m + t] >= 0.0 - speed)
