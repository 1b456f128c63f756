"""0 ≤ N ⊥ a_N ≥ 0, |T| ≤ μ_s N at rest, T = −s μ N in slip, group by group: native text.
Keywords: linear complementarity.

Where modes are few, all are solved; where they are many, Lemke's method gives one. Where rows of a
group depend on one another its forces are those of least norm as long as these are in the cones.
Then contacts that others hold stick at their limit, T = ∓μ_s N, so that the forces of the others
are determined. Where no mode or more than one holds it returns 1 and decides nothing.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from dalembert.runtime.contact.active_rows_ir import REGULARIZATION
from dalembert.runtime.contact.lemke_ir import lemke_ir
from dalembert.runtime.contact.transition_fields import (
    CLOSED,
    EXPANSION,
    HELD_DOWN,
    HELD_UP,
    IMPACT,
    MOST_FEASIBLE,
    MOST_OPTIONS,
    NOT_CLOSED,
    NOT_STICKING,
    OPEN,
    SLIPS_DOWN,
    SLIPS_UP,
    SMALL,
    STICKS,
    TransitionFunction,
)
from dalembert.runtime.numerics.ir_builder import ScalarArray, StackVariable, Value, VectorArray
from dalembert.runtime.numerics.llvm_types import DOUBLE, INT64, POINTER

# entries of A below this part of √(A_ii A_jj) are rounding
_ROUNDING: Final = 1e-13
# pivots of rows with unit diagonal, above which they are certainly independent
_INDEPENDENT: Final = 1e-7
# groups with more modes than these are solved by Lemke's method
_MOST_MODES: Final = 1024
_MOST_DEPENDENT: Final = 216
# how often r − K λ is solved where rows depend on one another
_REFINEMENTS: Final = 2
# a difference of motions, relative to the accelerations
_DIFFERENT: Final = 1e-6


EXPORTS: Final = ("solve_group",)


def solver_ir() -> str:
    """`components`, `independent` and `solve` with what they call."""
    parts = (
        _linked_rows(),
        _components(),
        _independent(),
        _first_unheld(),
        _gather(),
        _list_modes(),
        _build(),
        _eliminate(),
        _check(),
        _release_unheld(),
        _refine(),
        _try_mode(),
        _describe_mode(),
        _is_better(),
        _keep(),
        _select(),
        lemke_ir(),
        _take_pivoted(),
        _try_all_modes(),
        _solve_group(),
        _solve(),
    )
    return "\n\n".join(parts)


# ---- groups ------------------------------------------------------------------------------------


def _linked_rows() -> str:
    """1 if a force in row a changes the acceleration of row b."""
    f = TransitionFunction("linked", INT64, INT64)
    a, b = f.arguments
    with f.if_then((a < 0) | (b < 0)):
        f.ret(0)
    A, m, (size,) = f.quantity("A"), f.s.m, f.numbers("size")
    least = size[a] * size[b] * _ROUNDING
    big = (f.absolute(A[a * m + b]) > least) | (f.absolute(A[b * m + a]) > least)
    return f.finish(f.emit(INT64, f"zext {big} to {INT64}"))


def _components() -> str:
    """label_i = the least number in the group of i, of nodes with at most two rows each."""
    f = TransitionFunction("components", INT64, POINTER, POINTER, POINTER)
    count, n_at, t_at, label_at = f.arguments
    A, m, (size,) = f.quantity("A"), f.s.m, f.numbers("size")
    n, t, label = (VectorArray(x, INT64) for x in (n_at, t_at, label_at))
    with f.loop(m) as i:
        size[i] = f.intrinsic("sqrt", f.absolute(A[i * m + i]))
    with f.loop(count) as i:
        label[i] = i
    with f.loop(count) as i, f.loop(i) as j, f.if_then(label[i].not_equal(label[j])):
        link = f.own("linked", n[i], n[j]) + f.own("linked", t[i], t[j])
        link = link + f.own("linked", n[i], t[j]) + f.own("linked", t[i], n[j])
        with f.if_then(link > 0):
            a, b = label[i], label[j]
            low, high = f.select(a < b, a, b), f.select(a < b, b, a)
            with f.loop(count) as k, f.if_then(~label[k].not_equal(high)):
                label[k] = low
    return f.finish()


def _independent() -> str:
    """1 if rows of a matrix, n of them, are certainly independent: a Cholesky factorization of
    the rows and columns scaled to a unit diagonal.
    """
    f = TransitionFunction("independent", POINTER, INT64)
    A, n = ScalarArray(f.arguments[0]), f.arguments[1]
    (L,) = f.numbers("room")
    with f.loop(n) as i, f.loop(i + 1) as j:
        scale = f.intrinsic("sqrt", f.absolute(A[i * n + i] * A[j * n + j]))
        x = f.variable((A[i * n + j] + A[j * n + i]) * 0.5 / scale)
        with f.loop(j) as k:
            x.value = x.value - L[i * n + k] * L[j * n + k]
        with f.if_then(j.not_equal(i)):
            L[i * n + j] = x.value / L[j * n + j]
        with f.if_then(~j.not_equal(i)):
            with f.if_then(~(x.value > _INDEPENDENT)):
                f.ret(0)
            L[i * n + i] = f.intrinsic("sqrt", x.value)
    return f.finish(1)


def _first_unheld() -> str:
    """The number of the first row from `first` on that does not depend on those before it, of a
    matrix of n rows; n where there is none.
    """
    f = TransitionFunction("first_unheld", POINTER, INT64, INT64)
    A, n, first = ScalarArray(f.arguments[0]), *f.arguments[1:]
    (L,) = f.numbers("room")
    with f.loop(n) as i, f.loop(i + 1) as j:
        scale = f.intrinsic("sqrt", f.absolute(A[i * n + i] * A[j * n + j]))
        x = f.variable((A[i * n + j] + A[j * n + i]) * 0.5 / scale)
        with f.loop(j) as k:
            x.value = x.value - L[i * n + k] * L[j * n + k]
        with f.if_then(j.not_equal(i)):
            L[i * n + j] = x.value / L[j * n + j]
        with f.if_then(~j.not_equal(i)):
            grows = x.value > _INDEPENDENT
            with f.if_then(grows & (i >= first)):
                f.ret(i)
            L[i * n + i] = f.select(grows, f.intrinsic("sqrt", x.value), float("inf"))
    return f.finish(n)


# ---- one group ---------------------------------------------------------------------------------


def _gather() -> str:
    """The candidates of group g, their rows, and A and b of these rows."""
    f = TransitionFunction("gather", INT64, POINTER)
    group, b = f.arguments[0], ScalarArray(f.arguments[1])
    s = f.s
    label, c_n, c_t, g_c, g_row, g_n, g_t = f.whole(
        "c_label", "c_n", "c_t", "g_c", "g_row", "g_n", "g_t"
    )
    s.n_g, s.r = 0, 0

    def add_row(place: VectorArray, row: Value) -> None:
        place[s.n_g] = -1
        with f.if_then(row >= 0):
            place[s.n_g] = s.r
            g_row[s.r] = row
            s.r = s.r + 1

    with f.loop(s.n_c) as c, f.if_then(~label[c].not_equal(group)):
        g_c[s.n_g] = c
        add_row(g_n, c_n[c])
        add_row(g_t, c_t[c])
        s.n_g = s.n_g + 1
    A, r = f.quantity("A"), s.r
    g_A, g_b = f.numbers("g_A", "g_b")
    with f.loop(r) as i:
        g_b[i] = b[g_row[i]]
        with f.loop(r) as j:
            g_A[i * r + j] = A[g_row[i] * s.m + g_row[j]]
    return f.finish()


def _list_modes() -> str:
    """What each candidate of the group may do; the number of modes of all, at most one more than
    are solved.
    """
    f = TransitionFunction("list_modes")
    s, depends = f.s, f.s.dependent.not_equal(0)
    g_c, g_n, g_t, slip, ended, options, count = f.whole(
        "g_c", "g_n", "g_t", "c_slip", "c_ended", "options", "n_options"
    )
    total = f.variable(f.integer(1))
    with f.loop(s.n_g) as i:
        c = g_c[i]
        count[i] = 0

        def add(code: Value | int, i: Value = i) -> None:
            options[i * MOST_OPTIONS + count[i]] = f.value(code, INT64)
            count[i] = count[i] + 1

        closes = (ended[c].not_equal(NOT_CLOSED)) | (g_n[i] < 0)
        with f.if_then(g_n[i] >= 0):
            add(OPEN)
        with f.if_then(closes & (g_t[i] < 0)):
            add(CLOSED)
        with f.if_then(closes & (g_t[i] >= 0)):
            slips = slip[c].not_equal(0)
            with f.if_then(slips):
                add(f.select(slip[c] > 0, f.integer(SLIPS_UP), f.integer(SLIPS_DOWN)))
            with f.if_then(~slips):
                with f.if_then(ended[c].not_equal(NOT_STICKING)):
                    add(STICKS)
                with f.if_then(depends):
                    add(HELD_UP)
                    add(HELD_DOWN)
                add(SLIPS_UP)
                add(SLIPS_DOWN)
        more = total.value * count[i]
        total.value = f.select(more > _MOST_MODES, f.integer(_MOST_MODES + 1), more)
    return f.finish(total.value)


class _GroupSystem(NamedTuple):
    """A λ + b of r rows of a group, and [K r] with lines of `wide` numbers."""

    r: Value
    wide: Value
    A: ScalarArray
    b: ScalarArray
    W: ScalarArray


def _set_force_zero(f: TransitionFunction, x: _GroupSystem, row: Value) -> None:
    """λ = 0 of a row."""
    with f.loop(x.wide) as j:
        x.W[row * x.wide + j] = 0.0
    x.W[row * x.wide + row] = 1.0


def _hold(f: TransitionFunction, x: _GroupSystem, row: Value, softness: Value) -> None:
    """A λ = −b of a row, which gives way by a part of A_kk."""
    r, wide, A, b, W = x
    with f.loop(r) as j:
        W[row * wide + j] = A[row * r + j]
    W[row * wide + row] = A[row * r + row] * (softness + 1.0)
    W[row * wide + r] = 0.0 - b[row]


def _build() -> str:
    """[K r] of K λ = r in the chosen modes; rows that hold give way by a part of A_kk."""
    f = TransitionFunction("build", DOUBLE)
    s, r, softness = f.s, f.s.r, f.arguments[0]
    wide = r + 1
    system = _GroupSystem(r, wide, *f.numbers("g_A", "g_b", "room"))
    mu, mu_static, given = f.numbers("c_mu", "c_mu_static", "c_given")
    g_c, g_n, g_t, choice = f.whole("g_c", "g_n", "g_t", "choice")
    with f.loop(s.n_g) as i:
        n, t, mode = g_n[i], g_t[i], choice[i]
        with f.if_then(n >= 0):
            with f.if_then(mode.not_equal(OPEN)):
                _hold(f, system, n, softness)
            with f.if_then(~mode.not_equal(OPEN)):
                _set_force_zero(f, system, n)
        with f.if_then(t >= 0):
            with f.if_then(~mode.not_equal(STICKS)):
                _hold(f, system, t, softness)
            with f.if_then(mode.not_equal(STICKS)):
                _set_force_zero(f, system, t)
            with f.if_then(mode >= SLIPS_UP):
                size = f.select(mode >= HELD_UP, mu_static[g_c[i]], mu[g_c[i]])
                pull = _signed_by_slip(f, mode, size)
                system.W[t * wide + r] = 0.0 - pull * given[g_c[i]]
                with f.if_then(n >= 0):
                    system.W[t * wide + n] = pull
    return f.finish()


def _signed_by_slip(f: TransitionFunction, mode: Value, size: Value) -> Value:
    """−T/N of a contact that slips, or that others hold at its limit, from its coefficient."""
    up = ~mode.not_equal(SLIPS_UP) | ~mode.not_equal(HELD_UP)
    return f.select(up, size, 0.0 - size)


def _eliminate() -> str:
    """λ by elimination with the largest pivot of each column; 1 where the mode is singular."""
    f = TransitionFunction("eliminate")
    m = f.s.r
    wide = m + 1
    W, lam = f.numbers("room", "g_lam")
    with f.loop(m) as i:
        _pivot(f, W, i, m)
        with f.if_then(~W[i * wide + i].not_equal(0.0)):
            f.ret(1)
        with f.loop(m - i - 1) as below:
            line = i + 1 + below
            part = W[line * wide + i] / W[i * wide + i]
            with f.if_then(part.not_equal(0.0)), f.loop(wide - i) as j:
                W[line * wide + i + j] = W[line * wide + i + j] - part * W[i * wide + i + j]
    with f.loop(m) as back:
        i = m - 1 - back
        x = f.variable(W[i * wide + m])
        with f.loop(back) as j:
            x.value = x.value - W[i * wide + i + 1 + j] * lam[i + 1 + j]
        lam[i] = x.value / W[i * wide + i]
    return f.finish()


def _pivot(f: TransitionFunction, W: ScalarArray, i: Value, m: Value) -> None:
    """The line with the largest number in column i comes to place i."""
    wide = m + 1
    largest, place = f.variable(f.number(0.0)), f.variable(i)
    with f.loop(m - i) as below:
        size = f.absolute(W[(i + below) * wide + i])
        with f.if_then(size > largest.value):
            largest.value, place.value = size, i + below
    with f.if_then(place.value.not_equal(i)), f.loop(wide) as j:
        upper, lower = W[i * wide + j], W[place.value * wide + j]
        W[i * wide + j] = lower
        W[place.value * wide + j] = upper


def _check() -> str:
    """w = A λ + b, and 1 if all inequalities hold."""
    f = TransitionFunction("check")
    s, r = f.s, f.s.r
    g_A, g_b, lam, w = f.numbers("g_A", "g_b", "g_lam", "g_w")
    finite, speed = f.variable(f.number(0.0)), f.variable(f.number(0.0))
    with f.loop(r) as i:
        a, sizes = f.variable(g_b[i]), f.variable(f.number(0.0))
        finite.value = finite.value + lam[i] * 0.0
        with f.loop(r) as j:
            part = g_A[i * r + j] * lam[j]
            a.value, sizes.value = a.value + part, sizes.value + f.absolute(part)
        w[i] = a.value
        speed.value = f.intrinsic("maxnum", speed.value, sizes.value)
    with f.if_then(finite.value.not_equal(0.0)):
        f.ret(0)
    force = f.largest(lam, r) * SMALL
    small = (f.largest(g_b, r) + speed.value) * SMALL
    with f.loop(s.n_g) as i:
        _check_candidate(f, i, force, small)
    return f.finish(1)


def _check_candidate(f: TransitionFunction, i: Value, force: Value, speed: Value) -> None:
    lam, w, mu_static, given = f.numbers("g_lam", "g_w", "c_mu_static", "c_given")
    g_c, g_n, g_t, choice, slip = f.whole("g_c", "g_n", "g_t", "choice", "c_slip")
    n, t, c, mode = g_n[i], g_t[i], g_c[i], choice[i]
    N, depends = f.variable(f.number(0.0)), f.s.dependent.not_equal(0)

    def demand_rest(row: Value) -> None:
        with f.if_then(~(f.absolute(w[row]) <= speed)):
            f.ret(0)

    with f.if_then(n >= 0):
        N.value = lam[n]
        with f.if_then(depends & mode.not_equal(OPEN)):
            demand_rest(n)
        with f.if_then(mode.not_equal(OPEN) & ~(lam[n] >= 0.0 - force)):
            f.ret(0)
        with f.if_then(~mode.not_equal(OPEN)), f.if_then(~(w[n] >= 0.0 - speed)):
            f.ret(0)
    with f.if_then(~mode.not_equal(STICKS)):
        bound = mu_static[c] * (N.value + given[c]) + force
        with f.if_then(~(f.absolute(lam[t]) <= bound)):
            f.ret(0)
    with f.if_then(depends & f.sticks(mode)):
        demand_rest(t)
    slips = ~mode.not_equal(SLIPS_UP) | ~mode.not_equal(SLIPS_DOWN)
    with f.if_then(slips & ~slip[c].not_equal(0)):
        a = f.select(mode.not_equal(SLIPS_UP), 0.0 - w[t], w[t])
        with f.if_then(~(a >= 0.0 - speed)):
            f.ret(0)


def _release_unheld() -> str:
    """Of contacts in modes that others hold the first whose row they do not hold slips instead; 1
    where there is one.
    """
    f = TransitionFunction("release_unheld")
    s = f.s
    g_n, g_t, choice, rows = f.whole("g_n", "g_t", "choice", "basis")
    g_A, A = f.numbers("g_A", "tableau")
    count, holding = f.variable(f.integer(0)), f.variable(f.integer(0))

    def add(row: Value) -> None:
        with f.if_then(row >= 0):
            rows[count.value] = row
            count.value = count.value + 1

    with f.if_then(~s.dependent.not_equal(0)):
        f.ret(0)
    with f.loop(s.n_g) as i:
        with f.if_then(choice[i].not_equal(OPEN)):
            add(g_n[i])
        with f.if_then(~choice[i].not_equal(STICKS)):
            add(g_t[i])
    holding.value = count.value
    with f.loop(s.n_g) as i, f.if_then(choice[i] >= HELD_UP):
        add(g_t[i])
    with f.if_then(~count.value.not_equal(holding.value)):
        f.ret(0)
    with f.loop(count.value) as i, f.loop(count.value) as j:
        A[i * count.value + j] = g_A[rows[i] * s.r + rows[j]]
    loose = f.own("first_unheld", s.tableau, count.value, holding.value)
    with f.if_then(~loose.not_equal(count.value)):
        f.ret(0)
    with f.loop(s.n_g) as i, f.if_then(~g_t[i].not_equal(rows[loose]) & (choice[i] >= HELD_UP)):
        choice[i] = f.select(choice[i].not_equal(HELD_UP), f.integer(SLIPS_DOWN), SLIPS_UP)
    return f.finish(1)


def _refine() -> str:
    """λ of rows that depend on one another: what r − K λ leaves is solved again; 1 where the mode
    is singular.
    """
    f = TransitionFunction("refine")
    r = f.s.r
    wide, zero, soft = r + 1, f.number(0.0), f.number(REGULARIZATION)
    W, lam, first, left = f.numbers("room", "g_lam", "g_first", "g_w")
    with f.loop(f.integer(_REFINEMENTS)):
        f.own("build", zero)
        with f.loop(r) as i:
            rest = f.variable(W[i * wide + r])
            with f.loop(r) as j:
                rest.value = rest.value - W[i * wide + j] * lam[j]
            first[i], left[i] = lam[i], rest.value
        f.own("build", soft)
        with f.loop(r) as i:
            W[i * wide + r] = left[i]
        with f.if_then(f.own("eliminate").not_equal(0)):
            f.ret(1)
        with f.loop(r) as i:
            lam[i] = lam[i] + first[i]
    return f.finish()


def _try_mode() -> str:
    """1 if the chosen modes hold, 0 if not, 2 where they are singular."""
    f = TransitionFunction("try_mode")
    depends = f.s.dependent.not_equal(0)
    f.own("build", f.select(depends, f.number(REGULARIZATION), 0.0))
    with f.if_then(f.own("eliminate").not_equal(0)):
        f.ret(2)
    with f.if_then(depends), f.if_then(f.own("refine").not_equal(0)):
        f.ret(2)
    return f.finish(f.own("check"))


def _describe_mode() -> str:
    """The chosen modes, their forces and accelerations as solution number `at`: how many stick,
    how many of them by their own friction, how many are closed.
    """
    f = TransitionFunction("describe_mode", INT64)
    s, at = f.s, f.arguments[0]
    lam, w, f_lam, f_w = f.numbers("g_lam", "g_w", "f_lam", "f_w")
    choice, f_choice, sticks, free, closed = f.whole(
        "choice", "f_choice", "f_sticks", "f_free", "f_closed"
    )
    with f.loop(s.r) as i:
        f_lam[at * s.r + i] = lam[i]
        f_w[at * s.r + i] = w[i]
    sticks[at], free[at], closed[at] = f.integer(0), f.integer(0), f.integer(0)
    with f.loop(s.n_g) as i:
        f_choice[at * s.n_g + i] = choice[i]
        with f.if_then(f.sticks(choice[i])):
            sticks[at] = sticks[at] + 1
        with f.if_then(~choice[i].not_equal(STICKS)):
            free[at] = free[at] + 1
        with f.if_then(choice[i].not_equal(OPEN)):
            closed[at] = closed[at] + 1
    return f.finish()


def _is_better() -> str:
    """1 if solution a sticks more than b, or as much with more friction of its own, or with more
    closed contacts.
    """
    f = TransitionFunction("is_better", INT64, INT64)
    a, b = f.arguments
    for count in f.whole("f_sticks", "f_free", "f_closed"):
        with f.if_then(count[a] > count[b]):
            f.ret(1)
        with f.if_then(count[a] < count[b]):
            f.ret(0)
    return f.finish()


def _keep() -> str:
    """One more feasible mode; 1 where there are too many. Where rows depend on one another only one
    mode of each motion is kept.
    """
    f = TransitionFunction("keep")
    s = f.s
    at = s.feasible
    f.own("describe_mode", at)
    w, f_w, b = f.numbers("g_w", "f_w", "g_b")
    small = f.largest(b, s.r) * _DIFFERENT
    with f.if_then(s.dependent.not_equal(0)), f.loop(at) as k:
        apart = f.variable(f.number(0.0))
        with f.loop(s.r) as i:
            d = f.absolute(f_w[k * s.r + i] - w[i])
            apart.value = f.intrinsic("maxnum", apart.value, d)
        with f.if_then(apart.value <= small):
            with f.if_then(f.own("is_better", at, k).not_equal(0)):
                f.own("describe_mode", k)
            f.ret(0)
    with f.if_then(at >= MOST_FEASIBLE):
        f.ret(1)
    s.feasible = at + 1
    return f.finish()


def _select() -> str:
    """The number of the mode that sticks most; −1 where there is none or another motion is as
    possible, which is not asked of impacts.
    """
    f = TransitionFunction("select", INT64)
    s, purpose = f.s, f.arguments[0]
    with f.if_then(s.feasible < 1):
        f.ret(-1)
    best = f.variable(f.integer(0))
    with f.loop(s.feasible) as k, f.if_then(f.own("is_better", k, best.value).not_equal(0)):
        best.value = k
    with f.if_then(purpose.not_equal(IMPACT) & (s.feasible > 1)), f.loop(s.feasible) as k:
        _return_if_ambiguous(f, k, best)
    return f.finish(best.value)


def _return_if_ambiguous(f: TransitionFunction, k: Value, best: StackVariable) -> None:
    s = f.s
    f_w, g_b = f.numbers("f_w", "g_b")
    choice, sticks = f.whole("f_choice", "f_sticks")
    apart, other = f.variable(f.number(0.0)), f.variable(f.integer(0))
    with f.loop(s.r) as i:
        d = f.absolute(f_w[k * s.r + i] - f_w[best.value * s.r + i])
        apart.value = f.intrinsic("maxnum", apart.value, d)
    with f.loop(s.n_g) as i:
        a, b = choice[k * s.n_g + i], choice[best.value * s.n_g + i]
        with f.if_then(
            (a.not_equal(OPEN) & ~b.not_equal(OPEN)) | (~a.not_equal(OPEN) & b.not_equal(OPEN))
        ):
            other.value = f.integer(1)
    same = ~sticks[k].not_equal(sticks[best.value])
    differs = apart.value > f.largest(g_b, s.r) * _DIFFERENT
    with f.if_then(differs & (other.value.not_equal(0) | same)):
        f.ret(-1)


def _take_pivoted() -> str:
    """The mode and the forces of one group by Lemke's method; 1 where it finds none."""
    f = TransitionFunction("take_pivoted", INT64)
    purpose, failed = f.arguments[0], f.variable(f.integer(1))
    with f.if_then(purpose.not_equal(EXPANSION)):
        failed.value = f.own("pivot_group", purpose)
    with f.if_then(~purpose.not_equal(EXPANSION)):
        failed.value = f.own("solve_expansion")
    with f.if_then(failed.value.not_equal(0)):
        f.ret(1)
    g_c, g_row, choice, c_mode = f.whole("g_c", "g_row", "choice", "c_mode")
    lam, g_lam = f.numbers("lam", "g_lam")
    with f.loop(f.s.n_g) as i:
        c_mode[g_c[i]] = choice[i]
    with f.loop(f.s.r) as i:
        lam[g_row[i]] = g_lam[i]
    return f.finish()


def _try_all_modes() -> str:
    """All modes of the group, of which those that hold are kept; 1 where this is left to the
    general solver.
    """
    f = TransitionFunction("try_all_modes", INT64)
    s, modes = f.s, f.arguments[0]
    options, count, choice = f.whole("options", "n_options", "choice")
    s.feasible = 0
    with f.loop(modes) as number:
        left = f.variable(number)
        with f.loop(s.n_g) as back:
            i = s.n_g - 1 - back
            left.value, digit = f.divide(left.value, count[i])
            choice[i] = options[i * MOST_OPTIONS + digit]
        loose = f.own("release_unheld")
        with f.if_then(~loose.not_equal(0)):
            holds = f.own("try_mode")
            with f.if_then((holds > 1) & ~s.dependent.not_equal(0)):
                f.ret(1)
            with f.if_then(~holds.not_equal(1)), f.if_then(f.own("keep").not_equal(0)):
                f.ret(1)
    return f.finish()


def _solve_group() -> str:
    """The mode and the forces of one group; 1 where this is left to the general solver."""
    f = TransitionFunction("solve_group", INT64, exported=True)
    s, purpose = f.s, f.arguments[0]
    s.dependent, s.feasible = 0, 0
    with f.if_then(~purpose.not_equal(EXPANSION)):
        f.ret(f.own("take_pivoted", purpose))
    modes, most = f.variable(f.own("list_modes")), f.variable(f.integer(_MOST_MODES))
    with (
        f.if_then(modes.value <= _MOST_MODES),
        f.if_then(~f.own("independent", s.g_A, s.r).not_equal(0)),
    ):
        s.dependent = 1
        modes.value, most.value = f.own("list_modes"), f.integer(_MOST_DEPENDENT)
    with f.if_then(modes.value > most.value):
        f.ret(f.own("take_pivoted", purpose))
    with f.if_then(f.own("try_all_modes", modes.value).not_equal(0)):
        f.ret(1)
    with f.if_then(s.dependent.not_equal(0) & ~s.feasible.not_equal(0)):
        f.ret(f.own("take_pivoted", purpose))
    best = f.own("select", purpose)
    with f.if_then(best < 0):
        f.ret(1)
    g_c, g_row, f_choice, c_mode = f.whole("g_c", "g_row", "f_choice", "c_mode")
    lam, f_lam = f.numbers("lam", "f_lam")
    with f.loop(s.n_g) as i:
        c_mode[g_c[i]] = f_choice[best * s.n_g + i]
    with f.loop(s.r) as i:
        lam[g_row[i]] = f_lam[best * s.r + i]
    return f.finish()


def _solve() -> str:
    """λ and the modes of all candidates for w = A λ + b; 1 where this is left to the general
    solver.
    """
    f = TransitionFunction("solve", POINTER, INT64)
    s, (b, purpose) = f.s, f.arguments
    (lam,), (label,) = f.numbers("lam"), f.whole("c_label")
    with f.loop(s.m) as i:
        lam[i] = 0.0
    f.own("components", s.n_c, s.c_n, s.c_t, s.c_label)
    with f.loop(s.n_c) as c, f.if_then(~label[c].not_equal(c)):
        f.own("gather", c, b)
        with f.if_then(f.own("solve_group", purpose).not_equal(0)):
            f.ret(1)
    return f.finish()
