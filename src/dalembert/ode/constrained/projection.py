"""Back onto φ(q, t) = 0 and e(q, z, t) = 0 at the end of a step, the shortest way in the mass metric: native text.

δz = −U⁻¹ Q R⁻ᵀ φ, q ← q + E δz until φ = 0;   z ← z − U⁻¹ Q R⁻ᵀ e
"""

from __future__ import annotations

from typing import Final

from dalembert.numerics.llvm_types import CODE, LANE, POINTER, REAL, WHOLE
from dalembert.numerics.llvm_writer import Array, NumberArray, Value
from dalembert.ode.constrained.fields import ProblemFunction
from dalembert.ode.constrained.orthogonal import WEAK, noise

# sine of the angle between a row and those before it: too small to correct along
_NEARLY_NOTHING: Final = 1e-5
# residuals of φ in units of ε Σ |a_jk| max |q|: rounding, what a weak row is not moved for, and what no smaller step can be blamed for
_SMALL: Final = 4.0
_NOISE: Final = 64.0
_LARGE: Final = 1e9
# of coordinates closer to zero than this, lengths leave more rounding in φ than those have themselves: l (1 − cos θ) beside θ = 0
_NEAR_ZERO: Final = 1e-6
_EPSILON: Final = 2.0**-52
_ROUNDS: Final = 8
_SPEED_ROUNDS: Final = 3


def projection_text() -> str:
    """The functions `residual`, `correction`, `positions`, `speeds`, `project` and `project_all`."""
    parts = (_residual(), _correction(), _positions(), _speeds(), _project(), _project_all())
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


def _correction() -> str:
    """δz = −U⁻¹ Q R⁻ᵀ g into h: the shortest δz with A δz = −g, where the rows are clearly independent."""
    native = ProblemFunction("correction", POINTER, REAL, WHOLE)
    f, given, (g, noise, power) = native.function, native.given, native.arguments
    native.call("through_R", g, _NEARLY_NOTHING, noise, power, kinds=" r")
    lanes, h, w = Array(given.h), native.column("h"), native.column("w")
    with f.loop(given.groups) as i:
        lanes[i] = f.value(0.0, LANE)
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
    f.line(f"call void {given.move.name}({given.x}, {given.p}, {y}, {given.move_work})")


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
        # as small as rounding allows: no Newton step halves it
        settled = native.either(r <= _SMALL, native.either(r * 2.0 >= before.value, rounds.value >= _ROUNDS))
        with f.when(settled):
            every = f.call("residual", REAL, f.value(1, WHOLE), native.pointer)
            with f.when(every <= _LARGE):
                f.give(0)
            f.give(1)
        with f.when(~(r < float("inf"))):
            f.give(1)
        before.value = r
        rounds.value = rounds.value + 1
        native.call("correction", given.phi, 0.0, 0, kinds=" r")
        _shift(native, y, by_h=True)
    return f.text()


def _speeds() -> str:
    """z = z + δz so that e(q, z, t) = 0, with the factors at hand."""
    native = ProblemFunction("speeds", REAL, POINTER)
    f, given, (t, y) = native.function, native.given, native.arguments
    z = NumberArray(f.emit(POINTER, f"getelementptr {REAL}, {y}, {given.n_q}"))
    h = native.column("h")
    rounding = noise(native, given.x)
    native.call("correction", given.e, rounding, 0)
    with f.loop(given.n) as r:
        z[r] = z[r] + h[r]
    # a row that is curved in z takes more than one step
    with f.when(given.curved.differs(0)), f.loop(f.value(_SPEED_ROUNDS, WHOLE)):
        _load_state(native, t, y)
        native.call("prepare", given.x, 0)
        native.call("correction", given.e, rounding, 0)
        with f.loop(given.n) as r:
            z[r] = z[r] + h[r]
    return native.done()


def _project() -> str:
    """The end of a step: rows chosen anew, and if they are to be held, positions and speeds brought back onto them."""
    native = ProblemFunction("project", REAL, POINTER, result=CODE, exported=True)
    f, given, (t, y) = native.function, native.given, native.arguments
    with f.when(~given.holding.differs(0)):
        _load_state(native, t, y)
        native.call("prepare", given.x, 1)
        f.give(0)
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
        y = f.emit(POINTER, f"getelementptr {REAL}, {Y}, {width * i}")
        code = f.call("project", CODE, NumberArray(times)[i], y, native.pointer)
        failed.value = failed.value + f.value(code, WHOLE)
    f.give(failed.value)
    return f.text()
