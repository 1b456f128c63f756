"""One run in memory, and the native functions that share it: rates, projections, E_Z on the way, and whether a step is accepted.

The right-hand side copies the state and the time side by side and calls f(x, p, y, work); a projection repeats q ← q + δq until the
constraints hold. It moves the state and with it K₂ + 𝒰; the sum of these jumps is kept in a component of the state whose rate is zero. On
request E_Z = K₂ + 𝒰 + Z itself is brought back to its level, and what was taken out is kept in another.

A budget for the change of E_Z is granted per unit of time. A step is accepted if E_Z changes over it, at its end and at its quarters, by
no more than its share or a tenth of what earlier steps have left over, whichever is more; the ratio raises the error estimate, which
steers the step size. So |E_Z − E_Z(t₀)| never exceeds what has been granted, but for rounding.

Source: Mit22 (2), summary of chapter 34.
"""

from __future__ import annotations

from typing import Final

from dalembert.runtime.numerics.ir_builder import Array, NativeFunction, NumberArray, Operand, Record, Value
from dalembert.runtime.numerics.llvm_types import CODE, INTRINSICS, POINTER, REAL, WHOLE
from dalembert.runtime.ode.initial_value_problem import DENSE_ROWS

NOTHING: Final = "void"
EXPORTS: Final = ("rhs", "rhs_without_time", "project", "accept")
_MOST_ROUNDS: Final = 8
# how far from the tolerance rounding may keep a residual
_LOOSE: Final = 1e3
# a part of the energies: eight units of rounding
_ROUNDING: Final = 2.0**-49

# name and kind of each field, in the order of the structure
FIELDS: Final[tuple[tuple[str, str], ...]] = (
    # f(x, p, y, work) for the rates, and the size of the state without what rides along
    ("f", POINTER),
    ("x", POINTER),
    ("p", POINTER),
    ("work", POINTER),
    ("n_state", WHOLE),
    # δq(x, p, result, work), or a projection of the whole state where n_coordinates < 0
    ("projection", POINTER),
    ("projection_work", POINTER),
    ("result", POINTER),
    ("n_coordinates", WHOLE),
    ("tolerance", REAL),
    # what rides along: its rates, and K₂ and 𝒰
    ("audit", POINTER),
    ("audit_p", POINTER),
    ("audit_work", POINTER),
    ("energy", POINTER),
    ("energy_work", POINTER),
    ("energy_result", POINTER),
    # places in the state, below zero if there are none: the sum of the jumps at projections, and Z
    ("jump", WHOLE),
    ("Z", WHOLE),
    # the budget for the change of E_Z, and what it is measured by
    ("per_time", REAL),
    ("relative_per_time", REAL),
    ("V0", REAL),
    ("scale", REAL),
    # a state between the ends of a step, and its length in memory
    ("middle", POINTER),
    ("width", WHOLE),
    # where the budget begins
    ("E_start", REAL),
    ("t_start", REAL),
    ("length", REAL),
    # E_Z brought back to its level: the place of the sum of what was taken out, and of the first speed
    ("defect", WHOLE),
    ("first_speed", WHOLE),
    # rows of the dense output; Taylor coefficients of the motion and of what rides along
    ("rows", WHOLE),
    ("jets", POINTER),
    ("jets_audit", POINTER),
    # ∂f/∂(q, u, t) of the motion and of what rides along
    ("jacobian", POINTER),
    ("jacobian_work", POINTER),
    ("jacobian_audit", POINTER),
    ("jacobian_audit_work", POINTER),
)


class ContextFunction(NativeFunction):
    """A native function of a run, whose memory is its last argument."""

    def __init__(self, name: str, result: str, *parameters: str, exported: bool = False) -> None:
        super().__init__(name, result, *parameters, POINTER, exported=exported)
        *arguments, self._memory = self.parameters
        self.arguments = tuple(arguments)
        self.c = Record(self._memory, FIELDS)

    def own(self, name: str, result: str, *arguments: Value) -> Value:
        """What another function of the run gives."""
        return self.call(name, result, *arguments, self._memory)

    def do(self, function: str | Value, *arguments: Value) -> None:
        """Call what gives nothing: another function of the run, by name, or one behind an address."""
        given = [*arguments, self._memory] if isinstance(function, str) else arguments
        name = f"@{function}" if isinstance(function, str) else function.name
        self.line(f"call {NOTHING} {name}({', '.join(map(str, given))})")

    def beside(self, t: Value, y: Value) -> Value:
        """x = (y, t)"""
        self.do("copy", t, y)
        return self.c.x

    def behind(self, y: Value, n: Value) -> Value:
        """The address of the n-th number."""
        return self.emit(POINTER, f"getelementptr {REAL}, {y}, {n}")

    def size(self, x: Value) -> Value:
        return self.intrinsic("fabs", x)

    def code(self, condition: Value, a: int, b: int) -> Value:
        """One of two codes."""
        return self.choose(condition, self.value(a, CODE), b)

    def done(self, value: Operand | None = None) -> str:
        """The finished function, which ends with this result or with none."""
        if value is None:
            self.leave()
        else:
            self.give(value)
        return self.text()


def context_text() -> str:
    """`rhs`, `rhs_without_time`, `project` and `accept`."""
    on_the_way = (audit_rates(), _energy_at(), _Z_of(), _level(), _project_plainly(), _project_watched(), _project())
    held = (_state_between(), _change_between(), _scale_with(), _allowed(), _accept())
    return "\n\n".join((INTRINSICS, copy(), _rhs(), _rhs_without_time(), *on_the_way, *held)) + "\n"


def copy() -> str:
    """x ← (y, t), four numbers at a time, as the integrator wrote them: rows are padded to a multiple of four, and so is x."""
    f = ContextFunction("copy", NOTHING, REAL, POINTER)
    t, y = f.arguments
    x, n = f.c.x, f.c.n_state
    with f.loop(f.emit(WHOLE, f"lshr {n + 3}, 2")) as i:
        Array(x)[i] = Array(y)[i]
    NumberArray(x)[n] = t
    return f.done()


def _rhs() -> str:
    f = ContextFunction("rhs", CODE, REAL, POINTER, POINTER, exported=True)
    t, y, dy = f.arguments
    x = f.beside(t, y)
    f.do(f.c.f, x, f.c.p, dy, f.c.work)
    f.do("audit_rates", x, dy)
    return f.done(0)


def _rhs_without_time() -> str:
    """Where the time enters nowhere the state is read where it stands."""
    f = ContextFunction("rhs_without_time", CODE, REAL, POINTER, POINTER, exported=True)
    _, y, dy = f.arguments
    f.do(f.c.f, y, f.c.p, dy, f.c.work)
    f.do("audit_rates", y, dy)
    return f.done(0)


def audit_rates() -> str:
    """The rates of what rides along, behind those of the motion."""
    f = ContextFunction("audit_rates", NOTHING, POINTER, POINTER)
    x, dy = f.arguments
    audit = f.c.audit
    with f.when(audit.differs(0)):
        f.do(audit, x, f.c.audit_p, f.behind(dy, f.c.n_state), f.c.audit_work)
    return f.done()


# ---- projections -------------------------------------------------------------------------------


def _project_plainly() -> str:
    """q ← q + δq until the largest residual, which stands behind δq, is small. 0, or 1 where it does not become so."""
    f = ContextFunction("project_plainly", CODE, REAL, POINTER)
    t, y = f.arguments
    c, n, tolerance, result, q = f.c, f.c.n_coordinates, f.c.tolerance, NumberArray(f.c.result), NumberArray(y)
    # rows beside the equations have a projection of their own
    with f.when(n < 0):
        f.give(f.call(c.projection, CODE, t, y, c.projection_work))
    rounds = f.variable(f.value(0, WHOLE))
    with f.forever():
        f.do(c.projection, f.beside(t, y), c.p, c.result, c.projection_work)
        e = result[n]
        with f.when(e <= tolerance):
            f.give(0)
        with f.when(rounds.value >= _MOST_ROUNDS):
            f.give(f.code(e <= tolerance * _LOOSE, 0, 1))
        with f.loop(n) as i:
            q[i] = q[i] + result[i]
        rounds.value = rounds.value + 1
    return f.text()


def _project_watched() -> str:
    """The same with the sum of the jumps of K₂ + 𝒰, where it is kept."""
    f = ContextFunction("project_watched", CODE, REAL, POINTER)
    t, y = f.arguments
    jump = f.c.jump
    with f.when(jump < 0):
        f.give(f.own("project_plainly", CODE, t, y))
    before = f.own("energy_at", REAL, t, y)
    code = f.own("project_plainly", CODE, t, y)
    NumberArray(y)[jump] = NumberArray(y)[jump] + (f.own("energy_at", REAL, t, y) - before)
    return f.done(code)


def _project() -> str:
    """Onto the rows, and then onto the level of E_Z, where these are asked for."""
    f = ContextFunction("project", CODE, REAL, POINTER, exported=True)
    t, y = f.arguments
    with f.when(f.c.projection.differs(0)):
        code = f.own("project_watched", CODE, t, y)
        with f.when(code.differs(0)):
            f.give(code)
    with f.when(f.c.defect >= 0):
        f.do("level", t, y)
    return f.done(0)


def _level() -> str:
    """u ← u √((E_Z(t₀) − 𝒰 − Z)/K₂): the shortest way back to the level of E_Z in the mass metric, unless K₂ is too small for it."""
    f = ContextFunction("level", NOTHING, REAL, POINTER)
    t, y = f.arguments
    state, defect, first = NumberArray(y), f.c.defect, f.c.first_speed
    error = f.own("energy_at", REAL, t, y) + f.own("Z_of", REAL, y) - f.c.E_start
    K2 = NumberArray(f.c.energy_result)[0]
    ratio = (K2 - error) / K2
    with f.when((ratio > 0.5) & (ratio < 2.0)):
        state[defect] = state[defect] + error
        factor = f.intrinsic("sqrt", ratio)
        with f.loop(f.c.n_state - first) as i:
            state[first + i] = state[first + i] * factor
    return f.done()


# ---- E_Z ---------------------------------------------------------------------------------------


def _energy_at() -> str:
    """K₂ + 𝒰 at a state; both are left in the result."""
    f = ContextFunction("energy_at", REAL, REAL, POINTER)
    t, y = f.arguments
    f.do(f.c.energy, f.beside(t, y), f.c.audit_p, f.c.energy_result, f.c.energy_work)
    result = NumberArray(f.c.energy_result)
    return f.done(result[0] + result[1])


def _Z_of() -> str:
    f = ContextFunction("Z_of", REAL, POINTER)
    (y,), Z = f.arguments, f.c.Z
    with f.when(Z < 0):
        f.give(0.0)
    return f.done(NumberArray(y)[Z])


def _state_between() -> str:
    """The polynomial of the dense output at t₀ + θh: from the last row on, times θ and 1 − θ by turns, or times θ by Taylor's method."""
    f = ContextFunction("state_between", NOTHING, REAL, POINTER)
    theta, dense = f.arguments
    middle, width, rows = f.c.middle, f.c.width, f.c.rows
    rest = f.choose(rows.differs(DENSE_ROWS), theta, 1.0 - theta)
    with f.loop(width) as i:
        value = f.variable(f.value(0.0, REAL))
        with f.loop(rows) as k:
            row = rows - 1 - k
            is_odd = (row & f.value(1, WHOLE)).differs(0)
            value.value = NumberArray(dense)[row * width + i] + value.value * f.choose(is_odd, rest, theta)
        NumberArray(middle)[i] = value.value
    return f.done()


def _change_between() -> str:
    """How far E_Z at t₀ + θh is from a value."""
    f = ContextFunction("change_between", REAL, REAL, REAL, REAL, REAL, POINTER)
    theta, t, h, EZ0, dense = f.arguments
    f.do("state_between", theta, dense)
    E = f.own("energy_at", REAL, t + theta * h, f.c.middle)
    return f.done(f.size(E + f.own("Z_of", REAL, f.c.middle) - EZ0))


def _scale_with() -> str:
    """The largest K₂ + |𝒰 − 𝒰₀| + |Z| so far, after an evaluation of the energy."""
    f = ContextFunction("scale_with", REAL, REAL)
    (z,), result = f.arguments, NumberArray(f.c.energy_result)
    scale = f.intrinsic("maxnum", f.c.scale, result[0] + f.size(result[1] - f.c.V0) + f.size(z))
    f.c.scale = scale
    return f.done(scale)


def _allowed() -> str:
    """What a step may change: max(share, a tenth of what is left over, rounding)."""
    f = ContextFunction("allowed", REAL, REAL, REAL, REAL, REAL, REAL)
    rate, t, h, EZ, rounding = f.arguments
    left = rate * (t - f.c.t_start) - f.size(EZ - f.c.E_start)
    return f.done(f.intrinsic("maxnum", f.intrinsic("maxnum", rate * h, left * 0.1), rounding))


def _accept() -> str:
    """0, the error estimate raised; 1 for a smaller step beyond the whole tolerance; −1 for none where rounding alone has used that up."""
    f = ContextFunction("accept", CODE, REAL, REAL, POINTER, POINTER, POINTER, POINTER, exported=True)
    t, t_new, y, y_new, dense, error = f.arguments
    EZ0 = f.own("energy_at", REAL, t, y) + f.own("Z_of", REAL, y)
    E1, Z1 = f.own("energy_at", REAL, t_new, y_new), f.own("Z_of", REAL, y_new)
    EZ1, h = E1 + Z1, t_new - t
    scale = f.own("scale_with", REAL, Z1)
    rate = f.c.per_time + f.c.relative_per_time * scale
    rounding = (f.size(EZ0) + scale) * _ROUNDING
    allowed = f.own("allowed", REAL, rate, t, h, EZ0, rounding)
    worst = f.variable(f.size(EZ1 - EZ0))
    with f.when(dense.differs(0)):
        for theta in (0.25, 0.5, 0.75):
            change = f.own("change_between", REAL, f.value(theta, REAL), t, h, EZ0, dense)
            worst.value = f.intrinsic("maxnum", worst.value, change)
    with f.when(f.size(EZ1 - f.c.E_start) > rate * f.c.length):
        f.give(f.code(worst.value <= rounding, -1, 1))
    NumberArray(error)[0] = f.intrinsic("maxnum", NumberArray(error)[0], worst.value / allowed)
    return f.done(0)
