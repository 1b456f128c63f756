"""Back onto φ(q, t) = 0 and e(q, z, t) = 0 at the end of a step, the shortest way in the mass metric: native text.

δz = −U⁻¹ Q R⁻ᵀ φ, q ← q + E δz until φ = 0;   z ← z − U⁻¹ Q R⁻ᵀ e
"""

from __future__ import annotations

from typing import Final

from dalembert.runtime.numerics.ir_builder import NumberArray, Value
from dalembert.runtime.numerics.llvm_types import CODE, POINTER, REAL, WHOLE
from dalembert.runtime.ode.constrained.householder_qr import WEAK, noise
from dalembert.runtime.ode.constrained.sparse_factorization import SAFE, UNSAFE, back_parts, last_end
from dalembert.runtime.ode.constrained.workspace_fields import ProblemFunction

# sine of the angle between a row and those before it: too small to correct along
_NEARLY_NOTHING: Final = 1e-5
# residuals of φ in units of ε Σ |a_jk| max |q|: rounding, what a weak row is not moved for, and what no smaller step can be blamed for
_SMALL: Final = 4.0
_NOISE: Final = 64.0
_LARGE: Final = 1e9
# of coordinates closer to zero than this, lengths leave more rounding in φ than those have themselves: l (1 − cos θ) beside θ = 0
_NEAR_ZERO: Final = 1e-6
_EPSILON: Final = 2.0**-52
# a row whose slope has fallen below this part of its largest is left where φ, or e, is so much of the slope times positions, or speeds
_FALLEN: Final = 1e-5
_LEFT: Final = 1e-6
_LEFT_IN_SPEEDS: Final = 1e-2
_ROUNDS: Final = 8
_SPEED_ROUNDS: Final = 3
# what `straight_project` gives where there is no such place nearby
_NOWHERE: Final = 1


def projection_text() -> str:
    """The functions `residual`, `correction`, `positions`, `speeds`, `straight_project`, `project` and `project_all`."""
    parts = (_residual(), _correction(), _positions(), _speeds(), _straight_residual(), _straight_project(), _project(), _project_all())
    return "\n\n".join(parts)


def _residual() -> str:
    """max |φ_j| over the kept rows, or over all, in units of rounding; what is rounding in a weak row becomes zero."""
    native = ProblemFunction("residual", WHOLE, result=REAL)
    f, given, (every,) = native.function, native.given, native.arguments
    phi, sizes, most = native.column("phi"), native.column("sizes"), f.variable(f.value(0.0, REAL))
    reach = f.call("size", REAL, given.x, given.n_q)
    unit = f.choose(reach > 0.0, reach, 1.0) * _EPSILON

    def ratio(j: Value, unit: Value = unit) -> Value:
        return f.intrinsic("fabs", phi[j]) / (unit * f.choose(sizes[j] > 0.0, sizes[j], 1.0))

    def widen(size: Value) -> None:
        # a NaN is the largest of all
        most.value = f.choose(size <= most.value, most.value, size)

    with f.when(every.differs(0)):
        with f.loop(given.m) as j:
            widen(ratio(j, f.intrinsic("maxnum", unit, f.value(_NEAR_ZERO * _EPSILON, REAL))))
        _look_for_rows_left(native, unit * (_LEFT / _EPSILON))
        f.give(most.value)
    diagonal = native.column("diagonal")
    with f.loop(given.rank) as k:
        j, d = native.whole("keep")[k], f.intrinsic("fabs", diagonal[k])
        with f.when(d < WEAK), f.when(ratio(j) <= _NOISE):
            phi[j] = 0.0
        with f.when(d > _NEARLY_NOTHING):
            widen(ratio(j))
    f.give(most.value)
    return f.text()


def _look_for_rows_left(native: ProblemFunction, limit: Value) -> None:
    """Since when a row is left whose slope has fallen, and the longest such time: through a singular position it is a moment."""
    f, given, which = native.function, native.given, native.function.variable(native.function.value(-1, WHOLE))
    phi, e, slopes, sizes = (native.column(name) for name in ("phi", "e", "slopes", "sizes"))
    with f.loop(given.m) as j, f.when((slopes[j] > 0.0) & (slopes[j] < sizes[j] * _FALLEN)):
        fastest = f.call("size", REAL, native.numbers_from(given.x, given.n_q).pointer, given.n)
        off, skids = (f.intrinsic("fabs", a[j]) > slopes[j] * most for a, most in ((phi, limit), (e, fastest * _LEFT_IN_SPEEDS)))
        with f.when(off | skids):
            which.value = j
    before, given.left = given.left, f.choose(which.value < 0, f.value(0, WHOLE), f.value(1, WHOLE))
    t = native.column("x")[given.n_q + given.n]
    with f.when(given.left.differs(0)):
        with f.when(~before.differs(0)):
            given.left_since = t
        passed = f.intrinsic("fabs", t - given.left_since)
        with f.when(passed > given.left_longest):
            given.left_longest, given.left_row = passed, which.value


def _correction() -> str:
    """δz = −U⁻¹ Q R⁻ᵀ g into h: the shortest δz with A δz = −g, where the rows are clearly independent."""
    native = ProblemFunction("correction", POINTER, REAL, WHOLE)
    given, (g, noise, power) = native.given, native.arguments
    native.call("through_R", g, _NEARLY_NOTHING, noise, power)
    h, w = native.column("h"), native.column("w")
    native.clear(given.h, given.groups)
    native.copy(given.rank, w, h)
    native.call("reflect_back", given.h)
    native.call("back", given.h)
    return native.done()


def _load_state(native: ProblemFunction, t: Value, y: Value) -> NumberArray:
    """x = (q, z, t)"""
    given = native.given
    x, width = native.column("x"), given.n_q + given.n
    native.copy(width, NumberArray(y), x)
    x[width] = t
    return x


def _shift(native: ProblemFunction, y: Value, *, by_h: bool) -> None:
    """q = q + E δz with the δz in h, or with none, which leaves quaternions of length one."""
    f, given = native.function, native.given
    x, h = native.column("x"), native.column("h")
    with f.loop(given.n) as r:
        x[given.n_q + r] = h[r] if by_h else f.value(0.0, REAL)
    native.compute("move", given.x, y)


def _positions() -> str:
    """φ(q, t) = 0 by Newton steps; 0, or 1 where there is no such place nearby."""
    native = ProblemFunction("positions", REAL, POINTER)
    f, given, (t, y) = native.function, native.given, native.arguments
    before = f.variable(f.value(float("inf"), REAL))
    rounds = f.variable(f.value(0, WHOLE))
    with f.forever():
        _load_state(native, t, y)
        native.call("prepare", given.x, 1)
        r = f.call("residual", REAL, f.value(0, WHOLE), native.pointer)
        with f.when(_settled(r, before.value, rounds.value)):
            every = f.call("residual", REAL, f.value(1, WHOLE), native.pointer)
            with f.when(every <= _LARGE):
                f.give(0)
            f.give(1)
        with f.when(~(r < float("inf"))):
            f.give(1)
        before.value = r
        rounds.value = rounds.value + 1
        native.call("correction", given.phi, 0.0, 0)
        _shift(native, y, by_h=True)
    return f.text()


def _settled(r: Value, before: Value, rounds: Value) -> Value:
    """Whether a residual is as small as rounding allows: no Newton step halves it."""
    return (r <= _SMALL) | (r * 2.0 >= before) | (rounds >= _ROUNDS)


def _add_speeds(native: ProblemFunction, z: NumberArray, change: NumberArray) -> None:
    with native.function.loop(native.given.n) as r:
        z[r] = z[r] + change[r]


def _speeds() -> str:
    """z = z + δz so that e(q, z, t) = 0, with the factors at hand."""
    native = ProblemFunction("speeds", REAL, POINTER)
    f, given, (t, y) = native.function, native.given, native.arguments
    z = native.numbers_from(y, given.n_q)
    h = native.column("h")
    rounding = noise(native, given.x)
    native.call("correction", given.e, rounding, 0)
    _add_speeds(native, z, h)
    # a row that is curved in z takes more than one step
    with f.when(given.curved.differs(0)), f.loop(f.value(_SPEED_ROUNDS, WHOLE)):
        _load_state(native, t, y)
        native.call("prepare", given.x, 0)
        native.call("correction", given.e, rounding, 0)
        _add_speeds(native, z, h)
    return native.done()


def _straight_residual() -> str:
    """max |φ_j| of what was looked at last, in units of rounding, which are no smaller than `least` times ε Σ |a_jk|."""
    native = ProblemFunction("straight_residual", REAL, result=REAL)
    f, given, (least,) = native.function, native.given, native.arguments
    phi, sizes, most = back_parts(native)[0], native.column("sizes"), f.variable(f.value(0.0, REAL))
    reach = f.call("size", REAL, given.x, given.n_q)
    unit = f.intrinsic("maxnum", f.choose(reach > 0.0, reach, 1.0), least) * _EPSILON
    with f.loop(given.m) as j:
        ratio = f.intrinsic("fabs", phi[j]) / (unit * f.choose(sizes[j] > 0.0, sizes[j], 1.0))
        # a NaN is the largest of all
        most.value = f.choose(ratio <= most.value, most.value, ratio)
    f.give(most.value)
    return f.text()


def _straight_project() -> str:
    """Positions and speeds onto the rows in a straight line: `SAFE`, `_NOWHERE`, or `UNSAFE` with y as it was."""
    native = ProblemFunction("straight_project", REAL, POINTER)
    f, given, (t, y) = native.function, native.given, native.arguments
    before, rounds = f.variable(f.value(float("inf"), REAL)), f.variable(f.value(0, WHOLE))
    _, by_phi, by_e = back_parts(native)
    h, came = native.column("h"), native.column("came")
    z = native.numbers_from(y, given.n_q)
    native.copy(given.n_q, NumberArray(y), came)
    with f.forever():
        _load_state(native, t, y)
        with f.when(native.call("straight_look", given.x).differs(SAFE)):
            native.copy(given.n_q, came, NumberArray(y))
            f.give(UNSAFE)
        r = f.call("straight_residual", REAL, f.value(0.0, REAL), native.pointer)
        with f.when(_settled(r, before.value, rounds.value)):
            with f.when(~(f.call("straight_residual", REAL, f.value(_NEAR_ZERO, REAL), native.pointer) <= _LARGE)):
                f.give(_NOWHERE)
            # a row that is curved in z takes more than one step
            more = f.choose(given.curved.differs(0), f.value(_SPEED_ROUNDS, WHOLE), f.value(0, WHOLE))
            _add_speeds(native, z, by_e)
            with f.loop(more):
                _load_state(native, t, y)
                native.call("straight_look", given.x)
                _add_speeds(native, z, by_e)
            native.call("remember", _load_state(native, t, y).pointer)
            f.give(SAFE)
        with f.when(~(r < float("inf"))):
            f.give(_NOWHERE)
        before.value = r
        rounds.value = rounds.value + 1
        native.copy(given.n, by_phi, h)
        _shift(native, y, by_h=True)
    return f.text()


def _project() -> str:
    """The end of a step: rows chosen anew, and if they are to be held, positions and speeds brought back onto them."""
    native = ProblemFunction("project", REAL, POINTER, result=CODE, exported=True)
    f, given, (t, y) = native.function, native.given, native.arguments
    with f.when(~given.holding.differs(0)):
        _load_state(native, t, y)
        native.call("prepare", given.x, 1)
        f.give(0)
    by_loops = f.variable(f.value(1, WHOLE))
    with f.when(given.back_count.differs(0)):
        found = native.call("straight_project", t, y)
        with f.when(~found.differs(_NOWHERE)):
            f.give(1)
        by_loops.value = found
        with f.when(~found.differs(SAFE)):
            given.left = 0
    with f.when(by_loops.value.differs(SAFE)):
        # rows are chosen below: here only how they stood before
        with f.when(given.unseen > 0):
            native.call("look", last_end(native), 1)
        given.unseen = 0
        code = native.call("positions", t, y)
        with f.when(code.differs(0)):
            f.give(1)
        native.call("speeds", t, y)
    with f.when(given.quaternions.differs(0)):
        _load_state(native, t, y)
        _shift(native, y, by_h=False)
    f.give(0)
    return f.text()


def _project_all() -> str:
    """States in rows, each at its time, brought onto the rows; returns how many could not be."""
    native = ProblemFunction("project_all", POINTER, POINTER, WHOLE, exported=True)
    f, given, (times, Y, count) = native.function, native.given, native.arguments
    failed = f.variable(f.value(0, WHOLE))
    width = given.n_q + given.n
    with f.loop(count) as i:
        y = native.numbers_from(Y, width * i).pointer
        code = f.call("project", CODE, NumberArray(times)[i], y, native.pointer)
        failed.value = failed.value + f.value(code, WHOLE)
    f.give(failed.value)
    return f.text()
