"""Where a run with contacts begins, and where a step of it is taken again in shorter ones: native
text.

`begin` does what `ModeTransition.initialize` does: gaps decide what is closed, impacts come first,
then the accelerations decide. A run without Python, in a page or in a study, begins with it.
"""

from __future__ import annotations

from typing import Final

from dalembert.runtime.contact.mode_transition_ir import TOUCHING
from dalembert.runtime.contact.transition_fields import (
    CLOSED,
    OPEN,
    Exit,
    TransitionFunction,
)
from dalembert.runtime.numerics.ir_builder import ScalarArray, StructView
from dalembert.runtime.numerics.llvm_types import INT64, POINTER
from dalembert.runtime.ode.guard_search import GUARD_FIELDS
from dalembert.runtime.ode.initial_value_problem import DENSE_ROWS
from dalembert.runtime.ode.integrator_state import ExitReason, WorkRow

EXPORTS: Final = ("begin", "apply_modes", "shorten_step")
# a step that is too rough is taken again in parts of this number
_PARTS: Final = 4.0


def initial_mode_ir() -> str:
    """`begin`, `apply_modes` and `shorten_step`."""
    return f"{_first_modes()}\n\n{_begin()}\n\n{_apply_modes()}\n\n{_shorten_step()}"


def _state(f: TransitionFunction) -> ScalarArray:
    return ScalarArray(f.offset(f.run.work, f.s.width * int(WorkRow.Y)))


def _first_modes() -> str:
    """Open where there is a gap, closed elsewhere, at a state; −1 − k where contact k begins inside
    the ground.
    """
    f = TransitionFunction("first_modes", POINTER)
    s, y, gap = f.s, ScalarArray(f.arguments[0]), f.quantity("gap")
    has_gap, modes, earlier = f.whole("has_gap", "modes", "earlier")
    reach = (f.largest(y, s.n_q) + 1.0) * TOUCHING
    with f.loop(s.contacts) as k:
        earlier[k], modes[k] = -1, CLOSED
        with f.if_then(has_gap[k].not_equal(0)):
            with f.if_then(gap[k] < 0.0 - reach):
                f.ret(f.integer(-1) - k)
            with f.if_then(gap[k] > reach):
                modes[k] = OPEN
    return f.finish()


def _begin() -> str:
    """The first mode and the state after impacts at the start, which become those of the
    integrator; its first step size; all guards.

    0, the exit of the integrator, `Exit.DECIDE`, or −1 − k for a contact that begins inside the
    ground.
    """
    f = TransitionFunction("begin", exported=True)
    s, run, y = f.s, f.run, _state(f)
    s.logged, s.hits, s.slack = 0, 0, 0
    s.last_impact, s.latest = f.number(float("-inf")), f.number(float("-inf"))
    f.own("evaluate_quantities", y.pointer, f.own_time())
    inside = f.own("first_modes", y.pointer)
    with f.if_then(inside < 0):
        f.ret(inside)
    with f.if_then(f.own("decide", y.pointer).not_equal(0)):
        f.ret(Exit.DECIDE)
    hit = f.whole("log_hit")[0][s.logged]
    with f.if_then(hit.not_equal(0)):
        f.own("record_energy", y.pointer, s.after)
        s.last_impact = run.t
    f.own("write_record", y.pointer)
    f.own("set_modes", f.integer(0))
    (after,), states = f.numbers("after"), ScalarArray(run.states)
    with f.loop(s.width) as i:
        y[i] = after[i]
        states[i] = after[i]
    with f.if_then(f.call(s.start, INT64, s.run).not_equal(0)):
        f.ret(ExitReason.STOPPED)
    f.own("arm", s.all)
    f.own("arm", s.cheap)
    return f.finish()


def _apply_modes() -> str:
    """The modes of `new_modes` in all compiled functions."""
    f = TransitionFunction("apply_modes", exported=True)
    return f.finish(f.own("set_modes", f.integer(0)))


def _shorten_step() -> str:
    """Back to the begin of the last step, and on from there in steps of a quarter of it."""
    f = TransitionFunction("shorten_step", exported=True)
    s, run, y = f.s, f.run, _state(f)
    last, times, dense = run.stored - 1, ScalarArray(run.times), ScalarArray(run.dense)
    length = (times[last] - times[last - 1]) / _PARTS
    with f.loop(s.width) as i:
        y[i] = dense[last * s.width * DENSE_ROWS + i]
    run.t, run.steps, run.stored = times[last - 1], run.steps - 1, last
    run.streak, run.h_max = 0, length
    StructView(s.watches, GUARD_FIELDS).rough = 0
    with f.if_then(f.call(s.start, INT64, s.run).not_equal(0)):
        f.ret(ExitReason.STOPPED)
    run.h = length
    f.own("arm", s.all)
    f.own("arm", s.cheap)
    return f.finish()
