"""From one mode to the next at the time of a guard: native text. Keywords: impact law.

It does what `ModeTransition.switch` does for contacts with at most one direction of slip. Whatever
needs more is left to that: `decide` returns 1 and has changed nothing.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from dalembert.runtime.contact.transition_fields import (
    EXPANSION,
    GUARD_KINDS,
    HELD_UP,
    IMPACT,
    MODE,
    NOT_CLOSED,
    NOT_STICKING,
    OPEN,
    TransitionFunction,
)
from dalembert.runtime.numerics.ir_builder import ScalarArray, Value, VectorArray
from dalembert.runtime.numerics.llvm_types import DOUBLE, INT64, POINTER

# as in mode_transition: no time, heights and speeds that are rounding, energy that an impact adds
NO_TIME: Final = 1e-12
LEAST_TIME: Final = 1e-15
TOUCHING: Final = 1e-11
ROUNDING: Final = 1e-13
GRAIN: Final = 1e-14
ENERGY: Final = 1e-9
# impulses that are rounding, relative to those that stop everything, over that part of the energy
IMPULSE_ROUNDING: Final = 1e-6
# impacts of several contacts end where v Δt is below this part of the tolerance
LOW: Final = 0.04


def decision_ir() -> str:
    """`decide` with what it calls."""
    parts = (
        _evaluate(),
        _mark_fired(),
        _find_touching(),
        _find_active(),
        _no_speed(),
        _add_candidate(),
        _impulse(),
        _expand(),
        _rests(),
        _record_impact(),
        _impact(),
        _next_modes(),
        _decide(),
    )
    return "\n\n".join(parts)


def _evaluate() -> str:
    """The quantities at a state and a time."""
    f = TransitionFunction("evaluate_quantities", POINTER, DOUBLE)
    y, t = f.arguments
    s, (x,) = f.s, f.numbers("x")
    with f.loop(s.n_state) as i:
        x[i] = ScalarArray(y)[i]
    x[s.n_state] = t
    f.call_void(s.quantities, s.x, s.quantities_p, s.q, s.quantities_work)
    return f.finish()


def _mark_fired() -> str:
    """Which guards of which contacts have come to zero; 1 for one that stops a motion."""
    f = TransitionFunction("mark_fired")
    s = f.s
    names = ("fired_gap", "fired_slip", "fired_cone")
    kind, contact, guard = f.whole("guard_kind", "guard_contact", "hit_guard")
    arrays = f.whole(*names)
    with f.loop(s.contacts) as k:
        for array in arrays:
            array[k] = 0
    with f.loop(s.hits) as i:
        with f.if_then(~kind[guard[i]].not_equal(GUARD_KINDS["jam"])):
            f.ret(1)
        for code, array in enumerate(arrays):
            with f.if_then(~kind[guard[i]].not_equal(code)):
                array[contact[guard[i]]] = 1
    return f.finish()


def _find_touching() -> str:
    """Contacts that may carry a force."""
    f = TransitionFunction("find_touching")
    s, gap = f.s, f.quantity("gap")
    has_gap, modes, fired, touching = f.whole("has_gap", "modes", "fired_gap", "touching")
    length = f.largest(gap, s.contacts)
    length = f.intrinsic("minnum", f.select(length > 0.0, length, 1.0), 1.0)
    with f.loop(s.contacts) as k:
        touches = (
            ~has_gap[k].not_equal(0)
            | modes[k].not_equal(OPEN)
            | fired[k].not_equal(0)
            | (gap[k] <= length * TOUCHING)
        )
        touching[k] = f.emit(INT64, f"zext {touches} to {INT64}")
    return f.finish()


def _find_active() -> str:
    """Contacts that interact with those of the guards, and all that do not touch; all of them
    where there is no guard.
    """
    f = TransitionFunction("find_active")
    s = f.s
    touching, active, label, node_n, node_t, n_row, t_row = f.whole(
        "touching", "active", "label", "node_n", "node_t", "n_row", "t_row"
    )
    fired = f.whole("fired_gap", "fired_slip", "fired_cone")
    with f.loop(s.contacts) as k:
        touches = touching[k].not_equal(0)
        node_n[k] = f.select(touches, n_row[k], f.integer(-1))
        node_t[k] = f.select(touches, t_row[k], f.integer(-1))
        active[k] = f.select(s.hits.not_equal(0), f.integer(1) - touching[k], f.integer(1))
    f.own("components", s.contacts, s.node_n, s.node_t, s.label)
    with f.loop(s.contacts) as k:
        any_fired = fired[0][k] + fired[1][k] + fired[2][k]
        with (
            f.if_then(any_fired > 0),
            f.loop(s.contacts) as j,
            f.if_then(~label[j].not_equal(label[k])),
        ):
            active[j] = 1
    return f.finish()


def _no_speed() -> str:
    """A velocity that the accelerations here take away in no time."""
    f = TransitionFunction("no_speed")
    s = f.s
    small = s.duration * LEAST_TIME * f.largest(f.quantity("b"), s.m)
    small = small + f.largest(f.quantity("v"), s.m) * ROUNDING
    return f.finish(f.emit(INT64, f"bitcast {small} to {INT64}"))


def _small(f: TransitionFunction) -> Value:
    return f.emit(DOUBLE, f"bitcast {f.own('no_speed')} to {DOUBLE}")


def _add_candidate() -> str:
    """One more contact that may carry a force: its rows, μ, μ_s, N that is given, its slip and
    what ended.
    """
    f = TransitionFunction(
        "add_candidate", INT64, INT64, INT64, DOUBLE, DOUBLE, DOUBLE, INT64, INT64
    )
    contact, n, t, mu, mu_static, given, slip, ended = f.arguments
    s = f.s
    c = s.n_c
    for name, x in (("contact", contact), ("n", n), ("t", t), ("slip", slip), ("ended", ended)):
        f.whole(f"c_{name}")[0][c] = x
    for name, x in (("mu", mu), ("mu_static", mu_static), ("given", given)):
        f.numbers(f"c_{name}")[0][c] = x
    s.n_c = c + 1
    return f.finish()


# ---- impacts -----------------------------------------------------------------------------------


def _collides(f: TransitionFunction, k: Value) -> Value:
    touching, active, n_row = f.whole("touching", "active", "n_row")
    return touching[k].not_equal(0) & active[k].not_equal(0) & (n_row[k] >= 0)


def _impulse() -> str:
    """Λ by Newton's law, or by Poisson's where one contact follows it; 1 where this is left to the
    general laws, or energy is created.
    """
    f = TransitionFunction("find_impulse")
    s = f.s
    n_row, t_row, law = f.whole("n_row", "t_row", "poisson")
    b, impulse, lam, e = f.numbers("b", "impulse", "lam", "restitution")
    (resting,) = f.whole("resting")
    A, v, mu = f.quantity("A"), f.quantity("v"), f.quantity("mu")
    zero, none = f.number(0.0), f.integer(0)
    s.n_c, poisson = 0, f.variable(none)
    with f.loop(s.m) as i:
        b[i] = v[i]
    with f.loop(s.contacts) as k, f.if_then(_collides(f, k)):
        n = n_row[k]
        f.own("add_candidate", k, n, t_row[k], mu[k], mu[k], zero, none, none)
        bounces = (v[n] < 0.0) & ~resting[k].not_equal(0)
        b[n] = f.select(bounces, v[n] * (e[k] + 1.0), v[n])
        poisson.value = poisson.value + law[k]
    with f.if_then(poisson.value.not_equal(0)), f.loop(s.m) as i:
        b[i] = v[i]
    with f.if_then(f.own("solve", s.b, f.integer(IMPACT)).not_equal(0)):
        f.ret(1)
    with f.if_then(poisson.value.not_equal(0)), f.if_then(f.own("expand").not_equal(0)):
        f.ret(1)
    return f.finish(_creates_energy(f, A, v, lam, impulse))


def _creates_energy(
    f: TransitionFunction, A: ScalarArray, v: ScalarArray, lam: ScalarArray, impulse: ScalarArray
) -> Value:
    """1 where ΔK = Λ·(v + A Λ/2) is above rounding; ΔK is recorded, and Λ kept as the impulse."""
    s, zero = f.s, f.number(0.0)
    change, size = f.variable(zero), f.variable(zero)
    with f.loop(s.m) as i:
        impulse[i] = lam[i]
        w = f.variable(v[i])
        with f.loop(s.m) as j:
            w.value = w.value + A[i * s.m + j] * lam[j] * 0.5
        change.value = change.value + lam[i] * w.value
        size.value = size.value + f.absolute(lam[i]) * f.absolute(v[i])
        # what rounding of an impulse may add
        size.value = size.value + v[i] * v[i] / A[i * s.m + i] * IMPULSE_ROUNDING
    (energy,) = f.numbers("log_energy")
    energy[s.logged] = change.value
    created = change.value > size.value * ENERGY
    return f.emit(INT64, f"zext {created} to {INT64}")


def _expand() -> str:
    """Λ = Λ_C + e Λ_C + more: expansion gives back a part of what compression took, and more only
    where a contact would close again; 1 where this is left to the general laws.
    """
    f = TransitionFunction("expand")
    s = f.s
    contact, c_n, c_t, resting = f.whole("c_contact", "c_n", "c_t", "resting")
    lam, impulse, b, e, given = f.numbers("lam", "impulse", "b", "restitution", "c_given")
    A, v, rubs = f.quantity("A"), f.quantity("v"), f.variable(f.integer(IMPACT))
    with f.loop(s.m) as i:
        impulse[i] = lam[i]
    with f.loop(s.n_c) as c:
        k, n = contact[c], c_n[c]
        given[c] = f.select(resting[k].not_equal(0), 0.0, e[k] * lam[n])
        impulse[n] = lam[n] + given[c]
        with f.if_then(c_t[c] >= 0):
            rubs.value = f.integer(EXPANSION)
    with f.loop(s.m) as i:
        w = f.variable(v[i])
        with f.loop(s.m) as j:
            w.value = w.value + A[i * s.m + j] * impulse[j]
        b[i] = w.value
    with f.if_then(f.own("solve", s.b, rubs.value).not_equal(0)):
        f.ret(1)
    with f.loop(s.m) as i:
        lam[i] = lam[i] + impulse[i]
    return f.finish()


class _ImpactLog(NamedTuple):
    """Of each impact and contact: the time at which it comes to rest, its impulse and its speed."""

    rest: ScalarArray
    impulse: ScalarArray
    speed: ScalarArray


def _rests() -> str:
    """Marks contacts whose next flights, all of them together, would be over in no time; 1 where
    there is one, 2 where this is left to the general laws.
    """
    f = TransitionFunction("comes_to_rest", POINTER)
    s = f.s
    n_row, resting = f.whole("n_row", "resting")
    e, lam = f.numbers("restitution", "lam")
    log = _ImpactLog(*f.numbers("log_rest", "log_impulse", "log_speed"))
    A, v, small, first = f.quantity("A"), f.quantity("v"), _small(f), s.logged * s.contacts
    _return_if_none_flies(f, n_row, e, v)
    with f.if_then(f.own("solve", f.quantity("b").pointer, f.integer(IMPACT)).not_equal(0)):
        f.ret(2)
    rests = f.variable(f.integer(0))
    grain = f.largest(ScalarArray(f.arguments[0]), s.n_q) * GRAIN + s.least_height
    with f.loop(s.contacts) as k, f.if_then(_collides(f, k)):
        n = n_row[k]
        back = A[n * s.m + n] * lam[n]
        soon = v[n] * 2.0 <= s.duration * NO_TIME * (back * (1.0 - e[k]))
        low = v[n] * v[n] <= back * 2.0 * grain
        moves = (v[n] > small) | ((log.impulse[first + k] > 0.0) & (log.speed[first + k] > small))
        with f.if_then((e[k] < 1.0) & (e[k] > 0.0) & (v[n] > 0.0) & moves & (soon | low)):
            rests.value, resting[k] = f.integer(1), 1
            # Σ 2 v eⁱ/a
            left = v[n] * 2.0 / (back * (1.0 - e[k]))
            log.rest[first + k] = f.own_time() + left
    return f.finish(rests.value)


def _return_if_none_flies(
    f: TransitionFunction, n_row: VectorArray, e: ScalarArray, v: ScalarArray
) -> None:
    """All that collide are candidates; it is over where none of them bounces, 0 < e < 1, v > 0."""
    zero, none = f.number(0.0), f.integer(0)
    flies = f.variable(none)
    f.s.n_c = 0
    with f.loop(f.s.contacts) as k, f.if_then(_collides(f, k)):
        f.own("add_candidate", k, n_row[k], f.integer(-1), zero, zero, zero, none, none)
        with f.if_then((e[k] < 1.0) & (e[k] > 0.0) & (v[n_row[k]] > 0.0)):
            flies.value = f.integer(1)
    with f.if_then(~flies.value.not_equal(0)):
        f.ret(0)


def _record_impact() -> str:
    """Impulses and speeds of approach of the record; 1 where impacts of a group of several contacts
    may be as good as over.
    """
    f = TransitionFunction("record_impact")
    s = f.s
    impulse, log_impulse, log_speed = f.numbers("impulse", "log_impulse", "log_speed")
    n_row, node_t, label = f.whole("n_row", "node_t", "label")
    v, first = f.quantity("v"), s.logged * s.contacts
    least, small = f.largest(impulse, s.m) * ROUNDING, _small(f)
    with f.loop(s.contacts) as k:
        node_t[k] = -1
        log_impulse[first + k] = float("nan")
        with f.if_then(_collides(f, k)):
            n = n_row[k]
            with f.if_then(impulse[n] > least):
                log_impulse[first + k] = impulse[n]
                log_speed[first + k] = 0.0 - v[n]
    with f.if_then(s.normals < 2):
        f.ret(0)
    f.own("components", s.contacts, s.n_row, s.node_t, s.label)
    (log_label,) = f.whole("log_label")
    with f.loop(s.contacts) as k:
        # −1 for a contact without others in its group
        log_label[first + k] = -1
        with (
            f.loop(s.contacts) as j,
            f.if_then(j.not_equal(k) & ~label[j].not_equal(label[k])),
        ):
            log_label[first + k] = label[k]
        speed = log_speed[first + k]
        soon = ~(speed * (f.own_time() - s.last_impact) > s.tolerance * LOW)
        hit = (log_impulse[first + k] > least) & (log_label[first + k] >= 0)
        with f.if_then(hit & (speed > small) & soon):
            f.ret(1)
    return f.finish()


def _impact() -> str:
    """0 where nothing approaches, 1 after an impact, 2 where it is left to the general laws."""
    f = TransitionFunction("impact", POINTER)
    s, y = f.s, f.arguments[0]
    (n_row,), v, small = f.whole("n_row"), f.quantity("v"), _small(f)
    approaches = f.variable(f.integer(0))
    with (
        f.loop(s.contacts) as k,
        f.if_then(_collides(f, k)),
        f.if_then(v[n_row[k]] < 0.0 - small),
    ):
        approaches.value = f.integer(1)
    with f.if_then(~approaches.value.not_equal(0)):
        f.ret(0)
    (resting,), (rest,) = f.whole("resting"), f.numbers("log_rest")
    with f.loop(s.contacts) as k:
        resting[k] = 0
        rest[s.logged * s.contacts + k] = float("nan")
    _apply_impulse(f)
    rests = f.own("comes_to_rest", s.after)
    with f.if_then(rests > 1):
        f.ret(2)
    with f.if_then(rests.not_equal(0)):
        # the same impact without a rebound of what rests
        f.own("evaluate_quantities", y, f.own_time())
        _apply_impulse(f)
    return f.finish(1)


def _apply_impulse(f: TransitionFunction) -> None:
    """The impulse of an impact and its record, and the state and quantities after it; return 2
    where this is left to the general laws.
    """
    s, y = f.s, ScalarArray(f.arguments[0])
    for name in ("find_impulse", "record_impact"):
        with f.if_then(f.own(name).not_equal(0)):
            f.ret(2)
    H, (after, impulse) = f.quantity("H"), f.numbers("after", "impulse")
    with f.loop(s.n_u) as i:
        change = f.variable(f.number(0.0))
        with f.loop(s.m) as j:
            change.value = change.value + H[i * s.m + j] * impulse[j]
        after[s.speed_offset + i] = y[s.speed_offset + i] + change.value
    f.own("evaluate_quantities", s.after, f.own_time())


# ---- the mode that follows ---------------------------------------------------------------------


class _FiredGuards(NamedTuple):
    """Which guards of each contact fell."""

    gap: VectorArray
    slip: VectorArray
    cone: VectorArray


class _ModeConditions(NamedTuple):
    """What decides the modes of contacts: whether there was an impact, the modes until now, which
    guards fell, the rows of friction, the velocities, μ, μ_s and given N, what is no speed, and
    whether another change was at this time.
    """

    hit: Value
    modes: VectorArray
    fired: _FiredGuards
    t_row: VectorArray
    v: ScalarArray
    laws: tuple[ScalarArray, ...]
    small: Value
    at_once: Value


def _next_modes() -> str:
    """The modes by the accelerations; 1 where this is left to the general laws."""
    f = TransitionFunction("find_next_modes", INT64)
    s, hit = f.s, f.arguments[0]
    touching, active, modes, new, n_row, t_row = f.whole(
        "touching", "active", "modes", "new_modes", "n_row", "t_row"
    )
    fired = _FiredGuards(*f.whole("fired_gap", "fired_slip", "fired_cone"))
    v, *laws = (f.quantity(x) for x in ("v", "mu", "mu_static", "normal"))
    small = _small(f)
    # what has just been held by others, and has let these go at once, is at its limit as well
    at_once = f.own_time() - s.latest <= s.duration * NO_TIME
    conditions = _ModeConditions(hit, modes, fired, t_row, v, tuple(laws), small, at_once)
    s.n_c = 0
    with f.loop(s.contacts) as k:
        new[k] = modes[k]
        with f.if_then(active[k].not_equal(0)):
            new[k] = OPEN
            leaves, n = f.variable(f.integer(1)), n_row[k]
            with f.if_then(touching[k].not_equal(0)):
                leaves.value = f.integer(0)
                with f.if_then(n >= 0), f.if_then(v[n] > small):
                    leaves.value = f.integer(1)
            with f.if_then(~leaves.value.not_equal(0)):
                _add_closed(f, k, n, conditions)
    with f.if_then(f.own("solve", f.quantity("b").pointer, f.integer(MODE)).not_equal(0)):
        f.ret(1)
    _take_chosen_modes(f, new)
    return f.finish()


def _take_chosen_modes(f: TransitionFunction, new: VectorArray) -> None:
    """What the solver chose for the candidates."""
    contact, chosen = f.whole("c_contact", "c_mode")
    with f.loop(f.s.n_c) as c:
        new[contact[c]] = chosen[c]


def _add_closed(f: TransitionFunction, k: Value, n: Value, x: _ModeConditions) -> None:
    """A contact that stays closed becomes a candidate, with the direction of its slip."""
    way, t = f.variable(f.integer(0)), x.t_row[k]
    moves = x.hit.not_equal(0) | ~f.sticks(x.modes[k])
    with f.if_then((t >= 0) & ~x.fired.slip[k].not_equal(0) & moves):
        with f.if_then(x.v[t] > x.small):
            way.value = f.integer(1)
        with f.if_then(x.v[t] < 0.0 - x.small):
            way.value = f.integer(-1)
    ended = _what_ended(f, k, x)
    f.own("add_candidate", k, n, t, *(law[k] for law in x.laws), way.value, ended)


def _what_ended(f: TransitionFunction, k: Value, x: _ModeConditions) -> Value:
    """What a contact does no longer, because its guard fell."""
    opens = x.fired.gap[k].not_equal(0) & x.modes[k].not_equal(OPEN)
    leaves_cone = x.fired.cone[k].not_equal(0) | (x.at_once & (x.modes[k] >= HELD_UP))
    gives_way = f.select(leaves_cone, f.integer(NOT_STICKING), f.integer(0))
    return f.select(opens, f.integer(NOT_CLOSED), gives_way)


def _decide() -> str:
    """The state after impacts, in `after`, and the modes that follow; 1 where this is left to the
    general laws. The record says whether there was an impact.
    """
    f = TransitionFunction("decide", POINTER)
    s, y = f.s, f.arguments[0]
    with f.if_then(f.own("mark_fired").not_equal(0)):
        f.ret(1)
    (after,) = f.numbers("after")
    with f.loop(s.width) as i:
        after[i] = ScalarArray(y)[i]
    f.own("evaluate_quantities", y, f.own_time())
    f.own("find_touching")
    f.own("find_active")
    hit = f.own("impact", y)
    with f.if_then(hit > 1):
        f.ret(1)
    f.whole("log_hit")[0][s.logged] = hit
    with f.if_then(f.own("find_next_modes", hit).not_equal(0)):
        f.ret(1)
    with f.if_then(~hit.not_equal(0)):
        _return_if_back_again(f)
    return f.finish()


def _return_if_back_again(f: TransitionFunction) -> None:
    """Return 1 where a mode comes back at the same time: a guard is zero but for rounding."""
    s = f.s
    modes, new, earlier = f.whole("modes", "new_modes", "earlier")
    changed, differs = f.variable(f.integer(0)), f.variable(f.integer(0))
    with f.loop(s.contacts) as k:
        with f.if_then(new[k].not_equal(modes[k])):
            changed.value = f.integer(1)
        with f.if_then(new[k].not_equal(earlier[k])):
            differs.value = f.integer(1)
    back = ~changed.value.not_equal(0) | ~differs.value.not_equal(0)
    with f.if_then(back & (f.own_time() - s.latest <= s.duration * NO_TIME)):
        f.ret(1)
