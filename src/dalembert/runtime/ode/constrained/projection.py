"""Back onto φ(q, t) = 0 and e(q, z, t) = 0 at the end of a step, the shortest way in the mass
metric: native text.
Keywords: constraint projection.

δz = −U⁻¹ Q R⁻ᵀ φ, q ← q + E δz until φ = 0;   z ← z − U⁻¹ Q R⁻ᵀ e
"""

from __future__ import annotations

from typing import Final

from dalembert.runtime.numerics.ir_builder import ScalarArray, Value
from dalembert.runtime.numerics.llvm_types import DOUBLE, INT32, INT64, POINTER
from dalembert.runtime.ode.constrained.householder_qr import WEAK, roundoff_level
from dalembert.runtime.ode.constrained.sparse_factorization import (
    SAFE,
    UNSAFE,
    last_step_end,
    projection_outputs,
)
from dalembert.runtime.ode.constrained.workspace_fields import WorkspaceFunction

# sine of the angle between a row and those before it: too small to correct along
_NEARLY_NOTHING: Final = 1e-5
# residuals of φ in units of ε Σ |a_jk| max |q|: rounding, what a weak row is not moved for, and
# what no smaller step can be blamed for
_SMALL: Final = 4.0
_NOISE: Final = 64.0
_LARGE: Final = 1e9
# of coordinates closer to zero than this, lengths leave more rounding in φ than those have
# themselves: l (1 − cos θ) near θ = 0
_NEAR_ZERO: Final = 1e-6
_EPSILON: Final = 2.0**-52
# a row whose slope has fallen below this part of its largest is left where φ, or e, is so much of
# the slope times positions, or speeds
_WEAK_GRADIENT: Final = 1e-5
_POSITION_VIOLATION: Final = 1e-6
_VELOCITY_VIOLATION: Final = 1e-2
_ROUNDS: Final = 8
_SPEED_ROUNDS: Final = 3
# what `straight_project` gives where there is no such place nearby
_NOT_CONVERGED: Final = 1


def projection_ir() -> str:
    """The functions `residual`, `correction`, `positions`, `speeds`, `straight_project`,
    `project` and `project_all`.
    """
    parts = (
        _residual(),
        _correction(),
        _project_positions(),
        _project_velocities(),
        _sparse_residual(),
        _sparse_project(),
        _project(),
        _project_all(),
    )
    return "\n\n".join(parts)


def _residual() -> str:
    """max |φ_j| over the kept rows, or over all, in units of rounding; what is rounding in a
    weak row becomes zero.
    """
    native = WorkspaceFunction("residual", INT64, result=DOUBLE)
    f, given, (every,) = native.function, native.given, native.arguments
    phi, sizes, most = (
        native.scalar_field("phi"),
        native.scalar_field("sizes"),
        f.variable(f.value(0.0, DOUBLE)),
    )
    reach = f.call("size", DOUBLE, given.x, given.n_q)
    unit = f.select(reach > 0.0, reach, 1.0) * _EPSILON

    def ratio(j: Value, unit: Value = unit) -> Value:
        return f.intrinsic("fabs", phi[j]) / (unit * f.select(sizes[j] > 0.0, sizes[j], 1.0))

    def widen(size: Value) -> None:
        # a NaN is the largest of all
        most.value = f.select(size <= most.value, most.value, size)

    with f.if_then(every.not_equal(0)):
        with f.loop(given.m) as j:
            widen(ratio(j, f.intrinsic("maxnum", unit, f.value(_NEAR_ZERO * _EPSILON, DOUBLE))))
        _track_violated_rows(native, unit * (_POSITION_VIOLATION / _EPSILON))
        f.ret(most.value)
    diagonal = native.scalar_field("diagonal")
    with f.loop(given.rank) as k:
        j, d = native.int_field("keep")[k], f.intrinsic("fabs", diagonal[k])
        with f.if_then(d < WEAK), f.if_then(ratio(j) <= _NOISE):
            phi[j] = 0.0
        with f.if_then(d > _NEARLY_NOTHING):
            widen(ratio(j))
    f.ret(most.value)
    return f.text()


def _track_violated_rows(native: WorkspaceFunction, limit: Value) -> None:
    """Since when a row is left whose slope has fallen, and the longest such time: through a
    singular position it is a moment.
    """
    f, given, which = (
        native.function,
        native.given,
        native.function.variable(native.function.value(-1, INT64)),
    )
    phi, e, slopes, sizes = (native.scalar_field(name) for name in ("phi", "e", "slopes", "sizes"))
    with (
        f.loop(given.m) as j,
        f.if_then((slopes[j] > 0.0) & (slopes[j] < sizes[j] * _WEAK_GRADIENT)),
    ):
        fastest = f.call("size", DOUBLE, native.scalars_from(given.x, given.n_q).pointer, given.n)
        off, skids = (
            f.intrinsic("fabs", a[j]) > slopes[j] * most
            for a, most in ((phi, limit), (e, fastest * _VELOCITY_VIOLATION))
        )
        with f.if_then(off | skids):
            which.value = j
    before, given.left = given.left, f.select(which.value < 0, f.value(0, INT64), f.value(1, INT64))
    t = native.scalar_field("x")[given.n_q + given.n]
    with f.if_then(given.left.not_equal(0)):
        with f.if_then(~before.not_equal(0)):
            given.left_since = t
        passed = f.intrinsic("fabs", t - given.left_since)
        with f.if_then(passed > given.left_longest):
            given.left_longest, given.left_row = passed, which.value


def _correction() -> str:
    """δz = −U⁻¹ Q R⁻ᵀ g into h: the shortest δz with A δz = −g, where the rows are clearly
    independent.
    """
    native = WorkspaceFunction("correction", POINTER, DOUBLE, INT64)
    given, (g, noise, power) = native.given, native.arguments
    native.call("through_R", g, _NEARLY_NOTHING, noise, power)
    h, w = native.scalar_field("h"), native.scalar_field("w")
    native.clear(given.h, given.groups)
    native.copy(given.rank, w, h)
    native.call("reflect_back", given.h)
    native.call("back", given.h)
    return native.finish()


def _load_state(native: WorkspaceFunction, t: Value, y: Value) -> ScalarArray:
    """x = (q, z, t)"""
    given = native.given
    x, width = native.scalar_field("x"), given.n_q + given.n
    native.copy(width, ScalarArray(y), x)
    x[width] = t
    return x


def _apply_retraction(native: WorkspaceFunction, y: Value, *, by_h: bool) -> None:
    """q = q + E δz with the δz in h, or with none, which leaves quaternions of length one."""
    f, given = native.function, native.given
    x, h = native.scalar_field("x"), native.scalar_field("h")
    with f.loop(given.n) as r:
        x[given.n_q + r] = h[r] if by_h else f.value(0.0, DOUBLE)
    native.compute("move", given.x, y)


def _project_positions() -> str:
    """φ(q, t) = 0 by Newton steps; 0, or 1 where there is no such place nearby."""
    native = WorkspaceFunction("positions", DOUBLE, POINTER)
    f, given, (t, y) = native.function, native.given, native.arguments
    before = f.variable(f.value(float("inf"), DOUBLE))
    rounds = f.variable(f.value(0, INT64))
    with f.loop_forever():
        _load_state(native, t, y)
        native.call("prepare", given.x, 1)
        r = f.call("residual", DOUBLE, f.value(0, INT64), native.pointer)
        with f.if_then(_is_converged(r, before.value, rounds.value)):
            every = f.call("residual", DOUBLE, f.value(1, INT64), native.pointer)
            with f.if_then(every <= _LARGE):
                f.ret(0)
            f.ret(1)
        with f.if_then(~(r < float("inf"))):
            f.ret(1)
        before.value = r
        rounds.value = rounds.value + 1
        native.call("correction", given.phi, 0.0, 0)
        _apply_retraction(native, y, by_h=True)
    return f.text()


def _is_converged(r: Value, before: Value, rounds: Value) -> Value:
    """Whether a residual is as small as rounding allows: no Newton step halves it."""
    return (r <= _SMALL) | (r * 2.0 >= before) | (rounds >= _ROUNDS)


def _add_speeds(native: WorkspaceFunction, z: ScalarArray, change: ScalarArray) -> None:
    with native.function.loop(native.given.n) as r:
        z[r] = z[r] + change[r]


def _project_velocities() -> str:
    """z = z + δz so that e(q, z, t) = 0, with the available factors."""
    native = WorkspaceFunction("speeds", DOUBLE, POINTER)
    f, given, (t, y) = native.function, native.given, native.arguments
    z = native.scalars_from(y, given.n_q)
    h = native.scalar_field("h")
    rounding = roundoff_level(native, given.x)
    native.call("correction", given.e, rounding, 0)
    _add_speeds(native, z, h)
    # a row that is curved in z takes more than one step
    with f.if_then(given.curved.not_equal(0)), f.loop(f.value(_SPEED_ROUNDS, INT64)):
        _load_state(native, t, y)
        native.call("prepare", given.x, 0)
        native.call("correction", given.e, rounding, 0)
        _add_speeds(native, z, h)
    return native.finish()


def _sparse_residual() -> str:
    """max |φ_j| of what was looked at last, in units of rounding, which are no smaller than
    `least` times ε Σ |a_jk|.
    """
    native = WorkspaceFunction("straight_residual", DOUBLE, result=DOUBLE)
    f, given, (least,) = native.function, native.given, native.arguments
    phi, sizes, most = (
        projection_outputs(native)[0],
        native.scalar_field("sizes"),
        f.variable(f.value(0.0, DOUBLE)),
    )
    reach = f.call("size", DOUBLE, given.x, given.n_q)
    unit = f.intrinsic("maxnum", f.select(reach > 0.0, reach, 1.0), least) * _EPSILON
    with f.loop(given.m) as j:
        ratio = f.intrinsic("fabs", phi[j]) / (unit * f.select(sizes[j] > 0.0, sizes[j], 1.0))
        # a NaN is the largest of all
        most.value = f.select(ratio <= most.value, most.value, ratio)
    f.ret(most.value)
    return f.text()


def _project_speeds_sparsely(native: WorkspaceFunction, z: ScalarArray, by_e: ScalarArray) -> None:
    """Speeds onto the rows where positions hold, and the end of the projection."""
    f, given, (t, y) = native.function, native.given, native.arguments
    with f.if_then(
        ~(
            f.call("straight_residual", DOUBLE, f.value(_NEAR_ZERO, DOUBLE), native.pointer)
            <= _LARGE
        )
    ):
        f.ret(_NOT_CONVERGED)
    # a row that is curved in z takes more than one step
    more = f.select(given.curved.not_equal(0), f.value(_SPEED_ROUNDS, INT64), f.value(0, INT64))
    _add_speeds(native, z, by_e)
    with f.loop(more):
        _load_state(native, t, y)
        native.call("straight_look", given.x)
        _add_speeds(native, z, by_e)
    native.call("remember", _load_state(native, t, y).pointer)
    f.ret(SAFE)


def _sparse_project() -> str:
    """Positions and speeds onto the rows by unrolled elimination: `SAFE`, `_NOT_CONVERGED`, or
    `UNSAFE` with y as it was.
    """
    native = WorkspaceFunction("straight_project", DOUBLE, POINTER)
    f, given, (t, y) = native.function, native.given, native.arguments
    before, rounds = f.variable(f.value(float("inf"), DOUBLE)), f.variable(f.value(0, INT64))
    _, by_phi, by_e = projection_outputs(native)
    h, came = native.scalar_field("h"), native.scalar_field("came")
    z = native.scalars_from(y, given.n_q)
    native.copy(given.n_q, ScalarArray(y), came)
    with f.loop_forever():
        _load_state(native, t, y)
        with f.if_then(native.call("straight_look", given.x).not_equal(SAFE)):
            native.copy(given.n_q, came, ScalarArray(y))
            f.ret(UNSAFE)
        r = f.call("straight_residual", DOUBLE, f.value(0.0, DOUBLE), native.pointer)
        with f.if_then(_is_converged(r, before.value, rounds.value)):
            _project_speeds_sparsely(native, z, by_e)
        with f.if_then(~(r < float("inf"))):
            f.ret(_NOT_CONVERGED)
        before.value = r
        rounds.value = rounds.value + 1
        native.copy(given.n, by_phi, h)
        _apply_retraction(native, y, by_h=True)
    return f.text()


def _project() -> str:
    """The end of a step: rows are chosen again, and on request positions and speeds projected onto
    them.
    """
    native = WorkspaceFunction("project", DOUBLE, POINTER, result=INT32, exported=True)
    f, given, (t, y) = native.function, native.given, native.arguments
    with f.if_then(~given.holding.not_equal(0)):
        _load_state(native, t, y)
        native.call("prepare", given.x, 1)
        f.ret(0)
    by_loops = f.variable(f.value(1, INT64))
    with f.if_then(given.back_count.not_equal(0)):
        status = native.call("straight_project", t, y)
        with f.if_then(~status.not_equal(_NOT_CONVERGED)):
            f.ret(1)
        by_loops.value = status
        with f.if_then(~status.not_equal(SAFE)):
            given.left = 0
    with f.if_then(by_loops.value.not_equal(SAFE)):
        # rows are chosen below: here only how they stood before
        with f.if_then(given.unseen > 0):
            native.call("look", last_step_end(native), 1)
        given.unseen = 0
        code = native.call("positions", t, y)
        with f.if_then(code.not_equal(0)):
            f.ret(1)
        native.call("speeds", t, y)
    with f.if_then(given.quaternions.not_equal(0)):
        _load_state(native, t, y)
        _apply_retraction(native, y, by_h=False)
    f.ret(0)
    return f.text()


def _project_all() -> str:
    """States in rows, each at its time, brought onto the rows; returns how many could not be."""
    native = WorkspaceFunction("project_all", POINTER, POINTER, INT64, exported=True)
    f, given, (times, Y, count) = native.function, native.given, native.arguments
    failed = f.variable(f.value(0, INT64))
    width = given.n_q + given.n
    with f.loop(count) as i:
        y = native.scalars_from(Y, width * i).pointer
        code = f.call("project", INT32, ScalarArray(times)[i], y, native.pointer)
        failed.value = failed.value + f.value(code, INT64)
    f.ret(failed.value)
    return f.text()
