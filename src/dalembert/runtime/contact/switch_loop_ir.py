"""Steps, and what happens between them: guards located inside a step, the step taken again up
to them, the next mode, and the restart: native text.
Keywords: event location, hybrid automaton.

`drive` replaces `advance` of the integrator. It returns where that does, and where a change needs
more than native code decides: before the step is taken again, with everything as the integrator
left it (`Exit.SEARCH`), or at the time of the guards (`Exit.DECIDE`).
"""

from __future__ import annotations

import functools
from typing import Final, NamedTuple

from dalembert.runtime.contact.initial_mode_ir import EXPORTS as INITIAL_EXPORTS
from dalembert.runtime.contact.initial_mode_ir import initial_mode_ir
from dalembert.runtime.contact.mode_solver_ir import EXPORTS as SOLVER_EXPORTS
from dalembert.runtime.contact.mode_solver_ir import solver_ir
from dalembert.runtime.contact.mode_transition_ir import NO_TIME, decision_ir
from dalembert.runtime.contact.transition_fields import (
    HELD_DOWN,
    HELD_UP,
    OPEN,
    SLIPS_DOWN,
    SLIPS_UP,
    Exit,
    TransitionFunction,
)
from dalembert.runtime.numerics.ir_builder import (
    ScalarArray,
    StackVariable,
    StructView,
    Value,
    VectorArray,
)
from dalembert.runtime.numerics.llvm_types import DOUBLE, INT32, INT64, INTRINSICS, POINTER
from dalembert.runtime.ode.event_detection import EVENT_FIELDS, noise_ir
from dalembert.runtime.ode.guard_search import GUARD_FIELDS
from dalembert.runtime.ode.initial_value_problem import DENSE_ROWS
from dalembert.runtime.ode.integrator_state import ExitReason, WorkRow

EXPORTS: Final = ("drive", "change", *INITIAL_EXPORTS, *SOLVER_EXPORTS)
_POLISHES: Final = 4
# two guards closer than this part of a step, or by fewer last bits of the time, fall at once
_AT_ONCE: Final = 1e-12
_LAST_BITS: Final = 64.0
# a part of a step over which a slope is taken
_SLOPE_STEP: Final = 1e-5
# a part of a step by which the time of a guard may be corrected unchecked
_SMALL_MOVE: Final = 1e-6
# points of the buffer that a change may need, and attempts for a step that is taken again
_ROOM: Final = 12
_ATTEMPTS: Final = 8
# last bits of the time by which an event may be displaced
_ROUNDINGS: Final = 8.0
_NOTHING_FELL: Final = 9


@functools.cache
def module_ir() -> str:
    """The module."""
    parts = (
        _save_step(),
        _restore_step(),
        _locate(),
        _retake(),
        _polish(),
        _land(),
        _energy_at(),
        _record_energy(),
        _set_modes(),
        _back_to_constraints(),
        _write_record(),
        _add_point(),
        noise_ir(),
        _arm(),
        _resume(),
        _change(),
        _drive(),
        initial_mode_ir(),
    )
    return "\n\n".join((INTRINSICS, solver_ir(), decision_ir(), *parts)) + "\n"


def _row(f: TransitionFunction, number: int) -> ScalarArray:
    """A row of the integrator's work space."""
    return ScalarArray(f.offset(f.run.work, f.s.width * number))


# ---- when a guard falls ------------------------------------------------------------------------


def _save_step() -> str:
    """A copy of the last step: its dense output, the state and the time at its end."""
    f = TransitionFunction("save_step")
    s, run = f.s, f.run
    step, saved = f.numbers("step", "saved")
    last = run.stored - 1
    dense, states = ScalarArray(run.dense), ScalarArray(run.states)
    with f.loop(s.width * DENSE_ROWS) as i:
        step[i] = dense[last * s.width * DENSE_ROWS + i]
    with f.loop(s.width) as i:
        saved[i] = states[last * s.width + i]
    s.saved_t = ScalarArray(run.times)[last]
    return f.finish()


def _restore_step() -> str:
    """The last step as it was: the point of this number in the buffer, and the number of steps."""
    f = TransitionFunction("restore_step", INT64, INT64)
    (last, steps), s, run = f.arguments, f.s, f.run
    step, saved = f.numbers("step", "saved")
    dense, states, y = ScalarArray(run.dense), ScalarArray(run.states), _row(f, WorkRow.Y)
    with f.loop(s.width * DENSE_ROWS) as i:
        dense[last * s.width * DENSE_ROWS + i] = step[i]
    with f.loop(s.width) as i:
        states[last * s.width + i] = saved[i]
        y[i] = saved[i]
    ScalarArray(run.times)[last] = s.saved_t
    run.t, run.steps, run.stored = s.saved_t, steps, last + 1
    return f.finish()


def _locate() -> str:
    """The guards that fall below zero between the first two samples between which one does, the
    first of them in front; how many.
    """
    f = TransitionFunction("locate", DOUBLE, DOUBLE)
    s, (begin, end) = f.s, f.arguments
    into = (s.table, s.hit_t, s.hit_guard, f.integer(0))
    s.hits = f.call(s.first_falls, INT64, s.all, s.step, begin, end, *into)
    with f.if_then(s.hits > 0):
        _earliest_first(f)
    return f.finish(s.hits)


def _earliest_first(f: TransitionFunction) -> None:
    (t,), (guard,) = f.numbers("hit_t"), f.whole("hit_guard")
    with f.loop(f.s.hits) as i, f.if_then(t[i] < t[0]):
        for array in (t, guard):
            first, here = array[0], array[i]
            array[0] = here
            array[i] = first


def _retake() -> str:
    """Back to the point of this number in the buffer, and from there to a time, without a search
    for guards; 1 where that takes too many attempts.
    """
    f = TransitionFunction("retake", INT64, INT64, DOUBLE)
    point, steps, t_end = f.arguments
    s, run = f.s, f.run
    y, states, begin = _row(f, WorkRow.Y), ScalarArray(run.states), ScalarArray(run.times)[point]
    with f.loop(s.width) as i:
        y[i] = states[point * s.width + i]
    run.t, run.t_end, run.steps, run.stored = (
        begin,
        f.intrinsic("maxnum", begin, t_end),
        steps,
        point + 1,
    )
    run.streak, run.n_breaks, run.events, run.budget = 0, 0, f.value(0, POINTER), _ATTEMPTS
    with f.if_then(f.call(s.start, INT64, s.run).not_equal(0)):
        f.ret(1)
    run.h = t_end - begin
    return f.finish(f.call(s.advance, INT64, s.run))


class _RootSearch(NamedTuple):
    """t and the least |g| until now, t before, and ġ, NaN until it is taken."""

    t: StackVariable
    least: StackVariable
    t_before: StackVariable
    rate: StackVariable


def _polish() -> str:
    """t* ← t* − g/ġ, the step taken again each time; 0, or 1 where it cannot be taken.

    Close to a grazing fall ġ is rounding: a move that is not small and does not lessen |g| is taken
    back.
    """
    f = TransitionFunction("polish", INT64, INT64, DOUBLE, DOUBLE)
    point, steps, begin, end = f.arguments
    all_guards, length = StructView(f.s.all, EVENT_FIELDS), end - begin
    (hit_t,), i, y = f.numbers("hit_t"), f.whole("hit_guard")[0][0], _row(f, WorkRow.Y)
    search = _RootSearch(
        f.variable(hit_t[0]),
        f.variable(f.number(float("inf"))),
        f.variable(hit_t[0]),
        f.variable(f.number(float("nan"))),
    )
    t, h = search.t, length * _SLOPE_STEP
    # a step of a few bits cannot be taken
    shortest = begin + f.ulp(begin) * _LAST_BITS
    x, values = ScalarArray(all_guards.x), ScalarArray(all_guards.values)
    with f.loop(f.integer(_POLISHES)):
        _retake_or_return(f, (point, steps), begin, shortest, t)
        _evaluate_guards(f, all_guards, x, y, t)
        g, rate = values[i], search.rate
        _return_if_no_better(f, search, g, length, (point, steps))
        with f.if_then(rate.value.not_equal(rate.value)):
            rate.value = _slope(f, (values, i), (begin, length), hit_t, h)
        new = f.select(rate.value.not_equal(0.0), t.value - g / rate.value, t.value)
        with f.if_then(~((new > shortest) & (new <= end)) | ~new.not_equal(t.value)):
            f.ret(0)
        search.t_before.value = t.value
        t.value, search.least.value = new, f.absolute(g)
    return f.finish()


def _retake_or_return(
    f: TransitionFunction,
    step: tuple[Value, Value],
    begin: Value,
    shortest: Value,
    t: StackVariable,
) -> None:
    """The step taken again up to t; the end of the search where it cannot be, or is too short."""
    beyond = t.value > shortest
    until = f.select(beyond, t.value, begin)
    with f.if_then(f.own("retake", *step, until).not_equal(0)):
        f.ret(1)
    with f.if_then(~beyond):
        f.ret(0)


def _slope(
    f: TransitionFunction,
    guard: tuple[ScalarArray, Value],
    step: tuple[Value, Value],
    hit_t: ScalarArray,
    h: Value,
) -> Value:
    """ġ ≈ (g(t* + h) − g(t* − h))/(2 h) of one guard, on the polynomials of the step."""
    s, around, (values, i), (begin, length) = f.s, [], guard, step
    for at in (hit_t[0] - h, hit_t[0] + h):
        f.call(s.sample, INT64, s.all, s.step, (at - begin) / length, at)
        around.append(values[i])
    return (around[1] - around[0]) / (h * 2.0)


def _evaluate_guards(
    f: TransitionFunction, guards: StructView, x: ScalarArray, y: ScalarArray, t: StackVariable
) -> None:
    """All guards at the state y and the time t, of which x takes a copy."""
    with f.loop(f.s.n_state) as j:
        x[j] = y[j]
    x[f.s.n_state] = t.value
    f.call_void(guards.g, guards.x, guards.p, guards.values, guards.work)


def _return_if_no_better(
    f: TransitionFunction, search: _RootSearch, g: Value, length: Value, step: tuple[Value, Value]
) -> None:
    """The end of the search where g = 0, or |g| is not less than before."""
    t, t_before, least = search.t, search.t_before, search.least
    with f.if_then(~g.not_equal(0.0) | ~(f.absolute(g) < least.value)):
        far = f.absolute(t.value - t_before.value) > length * _SMALL_MOVE
        with f.if_then(far & (f.absolute(g) > least.value)):
            f.ret(f.own("retake", *step, t_before.value))
        f.ret(0)


def _land() -> str:
    """The state at the first guard; 1 where that is left to Python, the step as it was."""
    f = TransitionFunction("land", DOUBLE, DOUBLE)
    begin, end = f.arguments
    s, run = f.s, f.run
    last, steps = run.stored - 1, run.steps
    kept = [(name, getattr(run, name)) for name in ("t_end", "n_breaks", "events", "budget")]
    failed = f.variable(f.own("polish", last - 1, steps - 1, begin, end))
    for name, value in kept:
        setattr(run, name, value)
    # at the end of the run, or of a part of it, there is no room for a step
    bits = f.ulp(s.t1) * _LAST_BITS
    with f.if_then((s.t1 - run.t <= bits) | (run.t_end - run.t <= bits)):
        failed.value = f.integer(1)
    with f.if_then(failed.value.not_equal(0)):
        f.own("restore_step", last, steps)
        f.ret(1)
    (hit_t,), (guard,) = f.numbers("hit_t"), f.whole("hit_guard")
    near = hit_t[0] + (end - begin) * _AT_ONCE + f.ulp(hit_t[0]) * _LAST_BITS
    count = f.variable(f.integer(0))
    with f.loop(s.hits) as i, f.if_then(hit_t[i] <= near):
        hit_t[count.value], guard[count.value] = hit_t[i], guard[i]
        count.value = count.value + 1
    s.hits = count.value
    return f.finish()


# ---- what follows from the new mode ------------------------------------------------------------


def _energy_at() -> str:
    """K₂ + 𝒰 at a state, left in the result."""
    f = TransitionFunction("energy_at", POINTER)
    y, s = ScalarArray(f.arguments[0]), f.s
    x, result = f.numbers("x", "energy_result")
    with f.loop(s.n_state) as i:
        x[i] = y[i]
    x[s.n_state] = f.own_time()
    f.call_void(s.energy, s.x, s.energy_p, s.energy_result, s.energy_work)
    result[2] = result[0] + result[1]
    return f.finish()


def _record_energy() -> str:
    """What a change of the state takes out of K₂ + 𝒰, in the audit."""
    f = TransitionFunction("record_energy", POINTER, POINTER)
    (before, after), s = f.arguments, f.s
    with f.if_then(s.taken < 0):
        f.ret(0)
    (result,), level = f.numbers("energy_result"), ScalarArray(s.E_start)
    f.own("energy_at", before)
    E = result[2]
    f.own("energy_at", after)
    state = ScalarArray(after)
    state[s.taken] = state[s.taken] + (E - result[2])
    level[0] = level[0] + (result[2] - E)
    return f.finish()


def _set_modes() -> str:
    """The new modes in the parameters of all compiled functions; guards may keep their slack."""
    f = TransitionFunction("set_modes", INT64)
    s, keeps = f.s, f.arguments[0]
    modes, earlier, new, contact, flag = f.whole(
        "modes", "earlier", "new_modes", "set_contact", "set_flag"
    )
    solved, watches = f.whole("solved")[0], StructView(s.watches, GUARD_FIELDS)
    forces = f.variable(f.integer(0))
    with f.loop(s.contacts) as k:
        earlier[k] = modes[k]
        modes[k] = new[k]
        closed = new[k].not_equal(OPEN) & solved[k].not_equal(0)
        with f.if_then(closed | f.sticks(new[k])):
            forces.value = f.integer(1)
    places = VectorArray(s.set_at, POINTER)
    with f.loop(s.settings) as i:
        place, mode = ScalarArray(places[i]), new[contact[i]]
        value = f.number(0.0)
        for code, x in enumerate(_mode_parameters(f, mode, keeps, place)):
            value = f.select(flag[i].not_equal(code), value, x)
        place[0] = value
    watches.costly, watches.may_be_rough = forces.value, 1
    _run_prologues(f)
    return f.finish()


def _mode_parameters(
    f: TransitionFunction, mode: Value, keeps: Value, place: ScalarArray
) -> tuple[Value, ...]:
    """closed, sticks, direction of slip, side and slack of a contact in a mode."""
    one, zero = f.number(1.0), f.number(0.0)
    down = ~mode.not_equal(SLIPS_DOWN) | ~mode.not_equal(HELD_DOWN)
    up = ~mode.not_equal(SLIPS_UP) | ~mode.not_equal(HELD_UP)
    slips = f.select(up, one, f.select(down, f.number(-1.0), zero))
    closed = f.select(mode.not_equal(OPEN), one, zero)
    sticks = f.select(f.sticks(mode), one, zero)
    # a slack, which an impact at the same time leaves as it is
    slack = f.select(keeps.not_equal(0), place[0], zero)
    return closed, sticks, slips, one, slack


def _run_prologues(f: TransitionFunction) -> None:
    """What each compiled function computes once for its parameters."""
    s = f.s
    functions, p, work = (
        VectorArray(x, POINTER) for x in (s.prologue, s.prologue_p, s.prologue_work)
    )
    with f.loop(s.prologues) as i:
        f.call_void(functions[i], p[i], work[i])


def _back_to_constraints() -> str:
    """`after` on the constraints of the new mode, where the rounding of t alone separates it from
    them.
    """
    f = TransitionFunction("back_to_constraints")
    s = f.s
    with f.if_then(~s.project.not_equal(0)):
        f.ret(0)
    after, moved = f.numbers("after", "moved")
    with f.loop(s.width) as i:
        moved[i] = after[i]
    with f.if_then(f.call(s.project, INT32, f.own_time(), s.moved, s.context).not_equal(0)):
        f.ret(0)
    rate = f.largest(_row(f, 0), s.n_state)
    allowed = rate * f.ulp(f.own_time()) + f.ulp(f.largest(after, s.n_state))
    change = f.variable(f.number(0.0))
    with f.loop(s.n_state) as i:
        change.value = f.intrinsic("maxnum", change.value, f.absolute(moved[i] - after[i]))
    with f.if_then((change.value > 0.0) & (change.value <= allowed * _ROUNDINGS)):
        # what the projection itself has recorded stays behind: the whole change is recorded here
        with f.loop(s.width - s.n_state) as i:
            moved[s.n_state + i] = after[s.n_state + i]
        f.own("record_energy", s.after, s.moved)
        with f.loop(s.width) as i:
            after[i] = moved[i]
    return f.finish()


def _write_record() -> str:
    """One more record: the time, the states before and after, the modes."""
    f = TransitionFunction("write_record", POINTER)
    before, s = ScalarArray(f.arguments[0]), f.s
    at, n = s.logged, s.n_state
    log_t, log_before, log_after, after = f.numbers("log_t", "log_before", "log_after", "after")
    log_mode, new = f.whole("log_mode", "new_modes")
    log_t[at] = f.own_time()
    with f.loop(n) as i:
        log_before[at * n + i] = before[i]
        log_after[at * n + i] = after[i]
    with f.loop(s.contacts) as k:
        log_mode[at * s.contacts + k] = new[k]
    s.logged = at + 1
    return f.finish()


def _add_point() -> str:
    """The state `after` as one more point at the same time."""
    f = TransitionFunction("add_point")
    s, run = f.s, f.run
    (after,), y, at = f.numbers("after"), _row(f, WorkRow.Y), run.stored
    states, dense = ScalarArray(run.states), ScalarArray(run.dense)
    with f.loop(s.width * DENSE_ROWS) as i:
        dense[at * s.width * DENSE_ROWS + i] = 0.0
    with f.loop(s.width) as i:
        y[i] = after[i]
        states[at * s.width + i] = after[i]
        dense[at * s.width * DENSE_ROWS + i] = after[i]
    ScalarArray(run.times)[at] = run.t
    run.stored, run.steps = at + 1, run.steps + 1
    return f.finish()


def _arm() -> str:
    """Guards of a monitor start again from the present state, on the positive side."""
    f = TransitionFunction("arm", POINTER)
    s, w, y = f.s, StructView(f.arguments[0], EVENT_FIELDS), _row(f, WorkRow.Y)
    x, last, earlier, side = (ScalarArray(p) for p in (w.x, w.last, w.earlier, w.side))
    with f.loop(s.n_state) as i:
        x[i] = y[i]
    x[s.n_state] = f.own_time()
    f.call_void(w.g, w.x, w.p, w.last, w.work)
    with f.loop(w.count) as i:
        side[i] = 1.0
        last[i] = f.select(last[i] < 0.0, 0.0, last[i])
        earlier[i] = last[i]
    w.t_last, w.t_earlier = f.own_time(), f.own_time()
    f.call("estimate_noise", INT64, f.arguments[0])
    return f.finish()


def _resume() -> str:
    """The new modes and the state after: from there as if the run began; 0, or the reason why it
    cannot.
    """
    f = TransitionFunction("resume", INT64)
    s, run, hit, y = f.s, f.run, f.arguments[0], _row(f, WorkRow.Y)
    with f.if_then(hit.not_equal(0)):
        f.own("record_energy", y.pointer, s.after)
        s.last_impact = run.t
    with f.if_then(~hit.not_equal(0)):
        s.slack = 0
    f.own("write_record", y.pointer)
    at_once = run.t - s.latest <= s.duration * NO_TIME
    f.own("set_modes", f.select(at_once, hit, f.integer(0)))
    f.own("back_to_constraints")
    f.own("add_point")
    s.latest, run.streak, run.events = run.t, 0, s.search
    run.h_max = f.intrinsic("minnum", s.max_step, s.t1 - run.t)
    with f.if_then(f.call(s.start, INT64, s.run).not_equal(0)):
        f.ret(ExitReason.STOPPED)
    f.own("arm", s.all)
    f.own("arm", s.cheap)
    return f.finish()


def _change() -> str:
    """What happened in the last step: 0 after a change of mode, otherwise why there is none."""
    f = TransitionFunction("change", exported=True)
    s, run = f.s, f.run
    last = run.stored - 1
    with f.if_then((last < 1) | (run.capacity - last < _ROOM)):
        f.ret(Exit.SEARCH)
    begin, end = ScalarArray(run.times)[last - 1], ScalarArray(run.times)[last]
    f.own("save_step")
    count = f.own("locate", begin, end)
    with f.if_then(~count.not_equal(0)):
        f.ret(_NOTHING_FELL)
    with f.if_then(f.own("land", begin, end).not_equal(0)):
        f.ret(Exit.SEARCH)
    with f.if_then(f.own("decide", _row(f, WorkRow.Y).pointer).not_equal(0)):
        f.ret(Exit.DECIDE)
    return f.finish(f.own("resume", f.whole("log_hit")[0][s.logged]))


def _advance(f: TransitionFunction) -> Value:
    """Steps of one mode; where no contact is closed or sticks there is nothing to project onto."""
    s, run = f.s, f.run
    costly = StructView(s.watches, GUARD_FIELDS).costly
    projects = costly.not_equal(0) | s.always_projects.not_equal(0)
    run.project = f.select(projects, s.project, f.value(0, POINTER))
    left = f.call(s.advance, INT64, s.run)
    run.project = s.project
    return left


def _drive() -> str:
    f = TransitionFunction("drive", exported=True)
    s = f.s
    with f.loop_forever():
        left = _advance(f)
        with f.if_then(left.not_equal(ExitReason.AT_EVENT)):
            f.ret(left)
        # what the samples of a step do not resolve is searched in shorter ones
        with f.if_then(StructView(s.watches, GUARD_FIELDS).rough.not_equal(0)):
            f.ret(left)
        code = f.variable(f.own("change"))
        with f.if_then(code.value.not_equal(0) & code.value.not_equal(_NOTHING_FELL)):
            f.ret(code.value)
        with f.if_then(s.logged >= s.capacity):
            f.ret(Exit.LOG_FULL)
    return f.text()
