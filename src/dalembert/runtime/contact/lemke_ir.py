"""0 ≤ w ⊥ z ≥ 0, w = M z + q: Lemke's method, and planar contacts with friction in this form:
native text.
Keywords: complementary pivoting.

Every contact has N ≥ 0, T + μ (N + g) ≥ 0 and μ (N + g) − T ≥ 0, g a normal force that is given;
a_T splits into a part to each side. Contacts are too many here for all their modes to be solved one
after another. Rest is tested first: whether some forces in the cones of μ_s leave every row at rest
is a convex question, min ½ λᵀA λ + bᵀλ, whose conditions differ from those of the contacts in the
lines of N alone. Then one solution has μ_s for what rests; what slips in it gets μ, and it is
solved again. Another solution is not excluded then.

Source: Cottle, Pang and Stone, The Linear Complementarity Problem (1992), 4.4; Pfeiffer and Glocker
(1996), 6.3.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from dalembert.runtime.contact.transition_fields import (
    CLOSED,
    HELD_DOWN,
    HELD_UP,
    MODE,
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
from dalembert.runtime.numerics.llvm_types import INT64

_PIVOT: Final = 1e-11
_TIE: Final = 1e-12
_MOST_PIVOTS: Final = 50
# least slip acceleration, relative to the largest acceleration, of a contact that rested
_SLIPS: Final = 1e-7
# friction above this part of the largest is at its limit
_AT_LIMIT: Final = 1.0 - 1e-6
# forces that are rounding, relative to those that stop everything
_ROUNDING: Final = 1e-12


class _GroupRows(NamedTuple):
    """Of each candidate of a group: its number among all, the rows of its N and T."""

    c: VectorArray
    n: VectorArray
    t: VectorArray


class _GroupSystem(NamedTuple):
    """w = A λ + b of r rows."""

    r: Value
    A: ScalarArray
    b: ScalarArray
    lam: ScalarArray
    w: ScalarArray


class _ModeData(NamedTuple):
    """What decides the modes of a group: the directions of slip, what has ended, λ, w, μ and given
    N; forces and accelerations below `force` and `speed` are rounding.
    """

    slip: VectorArray
    ended: VectorArray
    lam: ScalarArray
    w: ScalarArray
    mu: ScalarArray
    given: ScalarArray
    force: Value
    speed: Value


class _Candidate(NamedTuple):
    """A candidate of a group: its place, its rows, and its number among all."""

    i: Value
    n: Value
    t: Value
    c: Value


def lemke_ir() -> str:
    """`pivot_group` and `solve_expansion` with what they call."""
    parts = (
        _exchange(),
        _leaving_line(),
        _complementarity(),
        _scale_group(),
        _place(),
        _write_line(),
        _write_problem(),
        _accelerations(),
        _residual(),
        _solve_cones(),
        _rests(),
        _slips_fall(),
        _read_modes(),
        _held_rows_independent(),
        _exchange_modes(),
        _determine_forces(),
        _pivot_slips(),
        _pivot_group(),
        _expansion(),
    )
    return "\n\n".join(parts)


# ---- Lemke's method ------------------------------------------------------------------------------


def _exchange() -> str:
    """The basic variable of a line and the other variable of a column change places."""
    f = TransitionFunction("exchange", INT64, INT64)
    line, column = f.arguments
    n = f.s.n_z
    wide, (T,), (basis, others) = n + 2, f.numbers("tableau"), f.whole("basis", "nonbasic")
    entering, leaving = others[column], basis[line]
    basis[line], others[column] = entering, leaving
    pivot = T[line * wide + column]
    with f.loop(wide) as j:
        T[line * wide + j] = 0.0 - T[line * wide + j] / pivot
    T[line * wide + column] = f.number(1.0) / pivot
    with f.loop(n) as i, f.if_then(i.not_equal(line)):
        part = T[i * wide + column]
        with f.if_then(part.not_equal(0.0)):
            T[i * wide + column] = 0.0
            with f.loop(wide) as j:
                T[i * wide + j] = T[i * wide + j] + part * T[line * wide + j]
    return f.finish()


def _leaving_line() -> str:
    """The line of least ratio; among equal ones that of the artificial variable, then that of the
    largest pivot. −1 on a ray.
    """
    f = TransitionFunction("leaving_line", INT64)
    n, column = f.s.n_z, f.arguments[0]
    wide, (T,), (basis,) = n + 2, f.numbers("tableau"), f.whole("basis")
    least = f.variable(f.number(float("inf")))
    with f.loop(n) as i:
        fall = 0.0 - T[i * wide + column]
        with f.if_then(fall > _PIVOT):
            least.value = f.intrinsic("minnum", least.value, T[i * wide + n + 1] / fall)
    chosen, largest = f.variable(f.integer(-1)), f.variable(f.number(0.0))
    size = f.intrinsic("maxnum", f.number(1.0), f.absolute(least.value))
    with f.loop(n) as i:
        fall = 0.0 - T[i * wide + column]
        ties = T[i * wide + n + 1] / fall <= least.value + size * _TIE
        with f.if_then((fall > _PIVOT) & ties):
            with f.if_then(~basis[i].not_equal(n * 2)):
                f.ret(i)
            with f.if_then(fall > largest.value):
                chosen.value, largest.value = i, fall
    return f.finish(chosen.value)


def _complementarity() -> str:
    """z of w = M z + q, M and q in the tableau; 1 where the method ends on a ray."""
    f = TransitionFunction("solve_complementarity")
    n = f.s.n_z
    wide, (T, z), (basis, others) = n + 2, f.numbers("tableau", "z"), f.whole("basis", "nonbasic")
    line, least = f.variable(f.integer(-1)), f.variable(f.number(0.0))
    others[n] = n * 2
    with f.loop(n) as i:
        z[i], basis[i], others[i] = f.number(0.0), i, n + i
        T[i * wide + n] = 1.0
        with f.if_then(T[i * wide + n + 1] < least.value):
            line.value, least.value = i, T[i * wide + n + 1]
    with f.if_then(line.value < 0):
        f.ret(0)
    column = f.variable(n)
    with f.loop(n * _MOST_PIVOTS):
        f.own("exchange", line.value, column.value)
        leaving = others[column.value]
        with f.if_then(~leaving.not_equal(n * 2)):
            with f.loop(n) as i, f.if_then((basis[i] >= n) & (basis[i] < n * 2)):
                z[basis[i] - n] = T[i * wide + n + 1]
            f.ret(0)
        entering = f.select(leaving < n, leaving + n, leaving - n)
        with f.loop(n + 1) as j, f.if_then(~others[j].not_equal(entering)):
            column.value = j
        line.value = f.own("leaving_line", column.value)
        with f.if_then(line.value < 0):
            f.ret(1)
    return f.finish(1)


# ---- contacts as such a problem ------------------------------------------------------------------


def _scale_group() -> str:
    """A and b of the group with a diagonal of ones: tolerances of pivots are absolute."""
    f = TransitionFunction("scale_group")
    s, r = f.s, f.s.r
    A, b, room, size, free = f.numbers("g_A", "g_b", "room", "l_size", "l_b")
    largest = f.variable(f.number(1e-300))
    with f.loop(r) as i:
        diagonal = f.intrinsic("maxnum", A[i * r + i], f.number(1e-300))
        size[i] = f.number(1.0) / f.intrinsic("sqrt", diagonal)
        largest.value = f.intrinsic("maxnum", largest.value, f.absolute(size[i] * b[i]))
    s.scale = largest.value
    with f.loop(r) as i:
        free[i] = size[i] * b[i] / s.scale
        with f.loop(r) as j:
            room[i * r + j] = A[i * r + j] * size[i] * size[j]
    return f.finish()


def _place() -> str:
    """Where N and T + μ (N + g) of each candidate stand among the variables, below zero for none;
    its μ and g in the scaled units. The number of variables is set.
    """
    f = TransitionFunction("place_variables")
    s = f.s
    rows = _GroupRows(*f.whole("g_c", "g_n", "g_t"))
    at_n, at_t, slip, ended = f.whole("l_n", "l_t", "c_slip", "c_ended")
    mu, pull, load, size, given = f.numbers("l_mu", "l_pull", "l_given", "l_size", "c_given")
    count = f.variable(f.integer(0))
    with f.loop(s.n_g) as i:
        n, t, c = rows.n[i], rows.t[i], rows.c[i]
        at_n[i], at_t[i] = f.integer(-1), f.integer(-1)
        pull[i], load[i] = f.number(0.0), f.number(0.0)
        with f.if_then((n >= 0) & ended[c].not_equal(NOT_CLOSED)):
            at_n[i] = count.value
            count.value = count.value + 1
        with f.if_then(t >= 0):
            pressing = f.select(n >= 0, n, t)
            load[i] = given[c] / (size[pressing] * s.scale)
            pull[i] = mu[i] * size[pressing] / size[t]
            with f.if_then(slip[c] < 0):
                pull[i] = 0.0 - pull[i]
    normals = count.value
    with f.loop(s.n_g) as i:
        acts = (at_n[i] >= 0) | (rows.n[i] < 0)
        with f.if_then((rows.t[i] >= 0) & ~slip[rows.c[i]].not_equal(0) & acts):
            at_t[i] = count.value
            count.value = count.value + 1
    s.n_tangent = count.value - normals
    s.n_z = count.value + s.n_tangent
    return f.finish()


def _write_line() -> str:
    """A line of the tableau: the acceleration of a row of the group."""
    f = TransitionFunction("write_line", INT64, INT64)
    s, (line, row) = f.s, f.arguments
    T, A, free, pull, load = f.numbers("tableau", "room", "l_b", "l_pull", "l_given")
    g_n, g_t, at_n, at_t = f.whole("g_n", "g_t", "l_n", "l_t")
    first, r = line * (s.n_z + 2), s.r
    q = f.variable(free[row])
    with f.loop(s.n_g) as i:
        n, t = g_n[i], g_t[i]
        with f.if_then(at_n[i] >= 0):
            T[first + at_n[i]] = A[row * r + n]
            with f.if_then(t >= 0):
                T[first + at_n[i]] = A[row * r + n] - pull[i] * A[row * r + t]
        with f.if_then((t >= 0) & ((at_n[i] >= 0) | (n < 0))):
            q.value = q.value - A[row * r + t] * pull[i] * load[i]
        with f.if_then(at_t[i] >= 0):
            T[first + at_t[i]] = A[row * r + t]
    T[first + s.n_z + 1] = q.value
    return f.finish()


def _write_problem() -> str:
    """M and q of the group; of the convex question of rest where `rest` is not zero."""
    f = TransitionFunction("write_problem", INT64)
    s, rest = f.s, f.arguments[0]
    f.own("place_variables")
    n_z = s.n_z
    wide, (T, pull, load) = n_z + 2, f.numbers("tableau", "l_pull", "l_given")
    g_n, g_t, at_n, at_t = f.whole("g_n", "g_t", "l_n", "l_t")
    with f.loop(n_z * wide) as i:
        T[i] = 0.0
    with f.loop(s.n_g) as i:
        with f.if_then(at_n[i] >= 0):
            f.own("write_line", at_n[i], g_n[i])
        with f.if_then(at_t[i] >= 0):
            line, limit, mu = at_t[i], at_t[i] + s.n_tangent, pull[i]
            f.own("write_line", line, g_t[i])
            with f.if_then(rest.not_equal(0) & (at_n[i] >= 0)):
                with f.loop(wide) as j:
                    own = at_n[i] * wide + j
                    T[own] = T[own] - mu * T[line * wide + j]
                T[at_n[i] * wide + limit] = mu * -2.0
            T[line * wide + limit] = 1.0
            T[limit * wide + line] = -1.0
            T[limit * wide + n_z + 1] = mu * load[i] * 2.0
            with f.if_then(at_n[i] >= 0):
                T[limit * wide + at_n[i]] = mu * 2.0
    return f.finish()


def _accelerations() -> str:
    """w = A λ + b of the group."""
    f = TransitionFunction("find_accelerations")
    r = f.s.r
    A, b, lam, w = f.numbers("g_A", "g_b", "g_lam", "g_w")
    with f.loop(r) as i:
        a = f.variable(b[i])
        with f.loop(r) as j:
            a.value = a.value + A[i * r + j] * lam[j]
        w[i] = a.value
    return f.finish()


def _residual() -> str:
    """1 if N = max(0, N − w_N/A_NN) and T = P(T − w_T/A_TT), P the projection onto the cone, hold
    but for 1e-9 of the largest force.
    """
    f = TransitionFunction("laws_hold")
    s, system = f.s, _GroupSystem(f.s.r, *f.numbers("g_A", "g_b", "g_lam", "g_w"))
    r, A, _, lam, w = system
    mu, given = f.numbers("l_mu", "c_given")
    rows = _GroupRows(*f.whole("g_c", "g_n", "g_t"))
    slip, at_n = f.whole("c_slip", "l_n")
    allowed = _allowed_error(f, system)
    with f.loop(s.n_g) as i:
        n, t, c = rows.n[i], rows.t[i], rows.c[i]
        N = f.variable(given[c])
        with f.if_then(n >= 0):
            N.value = N.value + lam[n]
            _demand(
                f,
                lam[n],
                f.intrinsic("maxnum", f.number(0.0), lam[n] - w[n] / A[n * r + n]),
                allowed,
            )
        with f.if_then((t >= 0) & ((at_n[i] >= 0) | (n < 0))):
            limit = mu[i] * f.intrinsic("maxnum", N.value, f.number(0.0))
            _demand_friction(f, system, t, limit, (slip, c), allowed)
    return f.finish(1)


def _demand_friction(
    f: TransitionFunction,
    x: _GroupSystem,
    t: Value,
    limit: Value,
    way: tuple[VectorArray, Value],
    allowed: Value,
) -> None:
    """|T| ≤ limit at rest, |T| = limit against slip, whose direction is an entry of an array."""
    r, A, _, lam, w = x
    slip, c = way
    free = lam[t] - w[t] / A[t * r + t]
    inside = f.intrinsic("maxnum", 0.0 - limit, f.intrinsic("minnum", limit, free))
    along = f.select(slip[c] > 0, 0.0 - limit, limit)
    _demand(f, lam[t], f.select(slip[c].not_equal(0), along, inside), allowed)


def _allowed_error(f: TransitionFunction, x: _GroupSystem) -> Value:
    """A part of the largest force, or of b_k/A_kk where that is more."""
    r, A, b, lam, _ = x
    rounding = f.variable(f.number(0.0))
    with f.loop(r) as i:
        stops = f.absolute(b[i]) / f.intrinsic("maxnum", A[i * r + i], f.number(1e-300))
        rounding.value = f.intrinsic("maxnum", rounding.value, stops * _ROUNDING)
    return f.intrinsic("maxnum", f.largest(lam, r) * SMALL, rounding.value)


def _demand(f: TransitionFunction, x: Value, wanted: Value, allowed: Value) -> None:
    """The laws do not hold where a force is not what it has to be."""
    with f.if_then(~(f.absolute(x - wanted) <= allowed)):
        f.ret(0)


def _solve_cones() -> str:
    """λ and w of the group with the coefficients `l_mu`; 1 where none is found, or its residual is
    too large.
    """
    f = TransitionFunction("solve_cones", INT64)
    s, r = f.s, f.s.r
    f.own("write_problem", f.arguments[0])
    with f.if_then(f.own("solve_complementarity").not_equal(0)):
        f.ret(1)
    lam, z, size, pull, load = f.numbers("g_lam", "z", "l_size", "l_pull", "l_given")
    g_n, g_t, at_n, at_t = f.whole("g_n", "g_t", "l_n", "l_t")
    with f.loop(r) as i:
        lam[i] = 0.0
    with f.loop(s.n_g) as i:
        n, t, N = g_n[i], g_t[i], f.variable(load[i])
        with f.if_then(at_n[i] >= 0):
            N.value = N.value + z[at_n[i]]
            lam[n] = z[at_n[i]] * size[n] * s.scale
        with f.if_then((t >= 0) & ((at_n[i] >= 0) | (n < 0))):
            T = f.variable(0.0 - pull[i] * N.value)
            with f.if_then(at_t[i] >= 0):
                T.value = T.value + z[at_t[i]]
            lam[t] = T.value * size[t] * s.scale
    f.own("find_accelerations")
    return f.finish(f.integer(1) - f.own("laws_hold"))


# ---- what many contacts do -----------------------------------------------------------------------


def _largest_terms(f: TransitionFunction) -> Value:
    """max |A| |λ| + max |b|: accelerations relative to which one is zero."""
    r = f.s.r
    A, b, lam = f.numbers("g_A", "g_b", "g_lam")
    largest = f.variable(f.number(0.0))
    with f.loop(r) as i:
        terms = f.variable(f.number(0.0))
        with f.loop(r) as j:
            terms.value = terms.value + f.absolute(A[i * r + j] * lam[j])
        largest.value = f.intrinsic("maxnum", largest.value, terms.value)
    return largest.value + f.largest(b, r)


def _rests() -> str:
    """1 if forces in the cones of μ_s leave all rows of the group at rest."""
    f = TransitionFunction("forces_hold_all")
    s = f.s
    g_c, slip, ended = f.whole("g_c", "c_slip", "c_ended")
    mu, mu_static = f.numbers("l_mu", "c_mu_static")
    with f.loop(s.n_g) as i:
        c = g_c[i]
        mu[i] = mu_static[c]
        # where rows depend on one another other forces may still hold what has left its cone
        shared = ~ended[c].not_equal(NOT_STICKING) & s.dependent.not_equal(0)
        with f.if_then(slip[c].not_equal(0) | (ended[c].not_equal(0) & ~shared)):
            f.ret(0)
    with f.if_then(f.own("solve_cones", f.integer(1)).not_equal(0)):
        f.ret(0)
    (w,) = f.numbers("g_w")
    rests = f.largest(w, s.r) <= _largest_terms(f) * SMALL
    return f.finish(f.emit(INT64, f"zext {rests} to {INT64}"))


def _slips_fall() -> str:
    """The number of contacts that slip with μ_s, which get μ instead."""
    f = TransitionFunction("lower_friction")
    s = f.s
    (g_c, g_t), (mu, own, w, b) = f.whole("g_c", "g_t"), f.numbers("l_mu", "c_mu", "g_w", "g_b")
    small, count = f.largest(b, s.r) * _SLIPS, f.variable(f.integer(0))
    with (
        f.loop(s.n_g) as i,
        f.if_then((g_t[i] >= 0) & (mu[i] > own[g_c[i]])),
        f.if_then(f.absolute(w[g_t[i]]) > small),
    ):
        mu[i] = own[g_c[i]]
        count.value = count.value + 1
    return f.finish(count.value)


def _read_modes() -> str:
    """What each contact of the group does, from its forces and accelerations; in `held` contacts
    that stick at their limit are held by others.
    """
    f = TransitionFunction("read_modes")
    s = f.s
    g_n, choice, held = f.whole("g_n", "choice", "held")
    g_c, g_t, slip, ended = f.whole("g_c", "g_t", "c_slip", "c_ended")
    lam, w, *laws = f.numbers("g_lam", "g_w", "l_mu", "c_given")
    force, speed = f.largest(lam, s.r) * SMALL, _largest_terms(f) * SMALL
    data = _ModeData(slip, ended, lam, w, laws[0], laws[1], force, speed)
    with f.loop(s.n_g) as i:
        one = _Candidate(i, g_n[i], g_t[i], g_c[i])
        mode, other = f.variable(f.integer(CLOSED)), f.variable(f.integer(CLOSED))
        with f.if_then(one.t >= 0):
            _read_friction(f, data, one, mode, other)
        with f.if_then(one.n >= 0):
            apart = (lam[one.n] <= force) & (w[one.n] > speed)
            with f.if_then(apart | ~ended[one.c].not_equal(NOT_CLOSED)):
                mode.value, other.value = f.integer(OPEN), f.integer(OPEN)
        choice[i], held[i] = mode.value, other.value
    return f.finish()


def _read_friction(
    f: TransitionFunction, x: _ModeData, one: _Candidate, mode: StackVariable, other: StackVariable
) -> None:
    """Whether a closed contact sticks or slips, and `other`, which is held at its limit."""
    i, n, t, c = one

    def sign(up: Value, codes: tuple[int, int]) -> Value:
        return f.select(up, f.integer(codes[0]), f.integer(codes[1]))

    mode.value, other.value = f.integer(STICKS), f.integer(STICKS)
    N = f.variable(x.given[c])
    with f.if_then(n >= 0):
        N.value = N.value + x.lam[n]
    at_limit = f.absolute(x.lam[t]) >= x.mu[i] * N.value * _AT_LIMIT
    gives_way = ~x.ended[c].not_equal(NOT_STICKING) & ~f.s.dependent.not_equal(0)
    with f.if_then(at_limit & gives_way):
        mode.value = sign(x.lam[t] <= 0.0, (SLIPS_UP, SLIPS_DOWN))
    with f.if_then(at_limit & (N.value > x.force)):
        other.value = sign(x.lam[t] <= 0.0, (HELD_UP, HELD_DOWN))
    moves = f.absolute(x.w[t]) > x.speed * 10.0
    with f.if_then(moves):
        mode.value = sign(x.w[t] > 0.0, (SLIPS_UP, SLIPS_DOWN))
    with f.if_then(x.slip[c].not_equal(0)):
        mode.value = sign(x.slip[c] > 0, (SLIPS_UP, SLIPS_DOWN))
    other.value = f.select(mode.value.not_equal(STICKS), mode.value, other.value)


def _held_rows_independent() -> str:
    """1 if the rows that hold in the chosen modes are independent: their forces are determined."""
    f = TransitionFunction("forces_determined")
    s = f.s
    g_n, g_t, choice, rows = f.whole("g_n", "g_t", "choice", "basis")
    g_A, A = f.numbers("g_A", "tableau")
    count = f.variable(f.integer(0))

    def add(row: Value) -> None:
        with f.if_then(row >= 0):
            rows[count.value] = row
            count.value = count.value + 1

    with f.loop(s.n_g) as i:
        with f.if_then(choice[i].not_equal(OPEN)):
            add(g_n[i])
        with f.if_then(~choice[i].not_equal(STICKS)):
            add(g_t[i])
    with f.loop(count.value) as i, f.loop(count.value) as j:
        A[i * count.value + j] = g_A[rows[i] * s.r + rows[j]]
    return f.finish(f.own("independent", s.tableau, count.value))


def _determine_forces() -> str:
    """Where forces of the chosen modes are undetermined, and those of least norm are not in the
    cones or have just left one, contacts at their limit are held by the others. 1 where they are
    determined, and one that has left its cone is at its limit.
    """
    f = TransitionFunction("determine_forces")
    s = f.s
    (g_c, ended, held), (lam, kept) = f.whole("g_c", "c_ended", "held"), f.numbers("g_lam", "f_lam")
    leaves, slips = f.variable(f.integer(0)), f.variable(f.integer(0))
    with f.loop(s.n_g) as i, f.if_then(~ended[g_c[i]].not_equal(NOT_STICKING)):
        leaves.value = f.integer(1)
        slips.value = f.select(held[i] >= HELD_UP, f.integer(1), slips.value)
    with f.if_then(f.own("forces_determined").not_equal(0)):
        f.ret(slips.value)
    with f.loop(s.r) as i:
        kept[i] = lam[i]
    with f.if_then(~leaves.value.not_equal(0)), f.if_then(~f.own("try_mode").not_equal(1)):
        f.ret(0)
    f.own("exchange_modes")
    settled = f.variable(f.integer(0))
    with f.loop(s.n_g + 1), f.if_then(~settled.value.not_equal(0)):
        settled.value = f.integer(1) - f.own("release_unheld")
    with f.if_then(~f.own("try_mode").not_equal(1)):
        f.ret(0)
    # rows that nearly depend: the forces of Lemke's method
    with f.loop(s.r) as i:
        lam[i] = kept[i]
    return f.finish(f.own("find_accelerations"))


def _exchange_modes() -> str:
    """The other choice of modes."""
    f = TransitionFunction("exchange_modes")
    choice, held = f.whole("choice", "held")
    with f.loop(f.s.n_g) as i:
        first, other = choice[i], held[i]
        choice[i], held[i] = other, first
    return f.finish()


def _pivot_group() -> str:
    """Modes and forces of the group in which everything holds; 1 where none is found."""
    f = TransitionFunction("pivot_group", INT64)
    s, purpose = f.s, f.arguments[0]
    s.dependent = f.integer(1) - f.own("independent", s.g_A, s.r)
    f.own("scale_group")
    found = f.variable(f.own("forces_hold_all"))
    with f.if_then(~found.value.not_equal(0)):
        found.value = f.own("pivot_slips")
    with f.if_then(~found.value.not_equal(0)):
        f.ret(1)
    f.own("read_modes")
    with (
        f.if_then(s.dependent.not_equal(0) & ~purpose.not_equal(MODE)),
        f.if_then(f.own("determine_forces").not_equal(0)),
    ):
        # what has left its cone is held by no others: it slips
        s.dependent = 0
        f.own("scale_group")
        with f.if_then(~f.own("pivot_slips").not_equal(0)):
            f.ret(1)
        f.own("read_modes")
    return f.finish()


def _pivot_slips() -> str:
    """1 if forces are found, with μ_s for what rests and μ for what slips."""
    f = TransitionFunction("pivot_slips")
    s = f.s
    g_c, slip, ended = f.whole("g_c", "c_slip", "c_ended")
    mu, own, static = f.numbers("l_mu", "c_mu", "c_mu_static")
    with f.loop(s.n_g) as i:
        c = g_c[i]
        gives_way = ~ended[c].not_equal(NOT_STICKING) & ~s.dependent.not_equal(0)
        mu[i] = f.select(slip[c].not_equal(0) | gives_way, own[c], static[c])
    with f.loop(s.n_g + 1):
        with f.if_then(f.own("solve_cones", f.integer(0)).not_equal(0)):
            f.ret(0)
        with f.if_then(~f.own("lower_friction").not_equal(0)):
            f.ret(1)
    return f.finish()


def _expansion() -> str:
    """Impulses of expansion. Friction acts on contacts that come apart as well, by the impulse that
    they are given.
    """
    f = TransitionFunction("solve_expansion")
    (g_c,), (mu, own) = f.whole("g_c"), f.numbers("l_mu", "c_mu")
    f.own("scale_group")
    with f.loop(f.s.n_g) as i:
        mu[i] = own[g_c[i]]
    return f.finish(f.own("solve_cones", f.integer(0)))
