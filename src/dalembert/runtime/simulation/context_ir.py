"""One run in memory, and the native functions that share it: rates, projections, E_Z on the way,
and whether a step is accepted.

The right-hand side copies the state and the time into one array and calls f(x, p, y, work); a
projection repeats q ← q + δq until the constraints hold. It moves the state and with it K₂ + 𝒰; the
sum of these jumps is kept in a component of the state whose rate is zero. On request E_Z = K₂ + 𝒰 +
Z itself is projected to its level, and what was taken out is kept in another.

A budget for the change of E_Z is granted per unit of time. A step is accepted if E_Z changes over
it, at its end and at its quarters, by no more than its share or a tenth of what earlier steps have
left over, whichever is more; the ratio raises the error estimate, which steers the step size. So
|E_Z − E_Z(t₀)| never exceeds what has been granted, but for rounding.

Source: Mit22 (2), summary of chapter 34.
"""

from __future__ import annotations

from typing import Final

from dalembert.runtime.numerics.ir_builder import (
    FunctionBuilder,
    Operand,
    ScalarArray,
    StructView,
    Value,
    VectorArray,
)
from dalembert.runtime.numerics.llvm_types import DOUBLE, INT32, INT64, INTRINSICS, POINTER
from dalembert.runtime.ode.dense_output_ir import interpolate_ir
from dalembert.runtime.simulation.context import FIELDS, FORCE_GUARD_FIELDS

NOTHING: Final = "void"
_MOST_ROUNDS: Final = 8
# how far from the tolerance rounding may keep a residual
_LOOSE: Final = 1e3
# a part of the energies: eight units of rounding
_ROUNDING: Final = 2.0**-49


class ContextFunction(FunctionBuilder):
    """A native function of a run, whose memory is its last argument."""

    def __init__(self, name: str, result: str, *parameters: str, exported: bool = False) -> None:
        super().__init__(name, result, *parameters, POINTER, exported=exported)
        *arguments, self._memory = self.parameters
        self.arguments = tuple(arguments)
        self.c = StructView(self._memory, FIELDS)

    def call_context(self, name: str, result: str, *arguments: Value) -> Value:
        """What another function of the run gives."""
        return self.call(name, result, *arguments, self._memory)

    def call_void(self, function: str | Value, *arguments: Value) -> None:
        """Call what gives nothing: another function of the run, by name, or one behind an
        address.
        """
        given = [*arguments, self._memory] if isinstance(function, str) else arguments
        name = f"@{function}" if isinstance(function, str) else function.name
        self.line(f"call {NOTHING} {name}({', '.join(map(str, given))})")

    def state_and_time(self, t: Value, y: Value) -> Value:
        """x = (y, t)"""
        self.call_void("copy", t, y)
        return self.c.x

    def offset(self, y: Value, n: Value) -> Value:
        """The address of the n-th number."""
        return self.emit(POINTER, f"getelementptr {DOUBLE}, {y}, {n}")

    def absolute(self, x: Value) -> Value:
        return self.intrinsic("fabs", x)

    def select_code(self, condition: Value, a: int, b: int) -> Value:
        """One of two codes."""
        return self.select(condition, self.value(a, INT32), b)

    def finish(self, value: Operand | None = None) -> str:
        """The finished function, which ends with this result or with none."""
        if value is None:
            self.ret_void()
        else:
            self.ret(value)
        return self.text()


def context_ir() -> str:
    """The functions of `context.EXPORTS`, with what they call."""
    on_the_way = (
        audit_rates(),
        _add_forces(),
        _rhs_with_forces(),
        _force_guards(),
        _energy_at(),
        _Z_of(),
        _project_energy(),
        _project_constraints(),
        _project_and_audit(),
        _project(),
    )
    held = (
        interpolate_ir(exported=True),
        _dense_state(),
        _energy_change_at(),
        _update_energy_scale(),
        _energy_allowance(),
        _accept(),
    )
    return (
        "\n\n".join((INTRINSICS, copy_state_ir(), _rhs(), _rhs_without_time(), *on_the_way, *held))
        + "\n"
    )


def copy_state_ir() -> str:
    """x ← (y, t), four numbers at a time, as the integrator wrote them: rows are padded to a
    multiple of four, and so is x.
    """
    f = ContextFunction("copy", NOTHING, DOUBLE, POINTER)
    t, y = f.arguments
    x, n = f.c.x, f.c.n_state
    with f.loop(f.emit(INT64, f"lshr {n + 3}, 2")) as i:
        VectorArray(x)[i] = VectorArray(y)[i]
    ScalarArray(x)[n] = t
    return f.finish()


def _rhs() -> str:
    f = ContextFunction("rhs", INT32, DOUBLE, POINTER, POINTER, exported=True)
    t, y, dy = f.arguments
    x = f.state_and_time(t, y)
    f.call_void(f.c.f, x, f.c.p, dy, f.c.work)
    _call_audit(f, x, dy)
    return f.finish(0)


def _rhs_without_time() -> str:
    """Where the time enters nowhere the state is read where it stands."""
    f = ContextFunction("rhs_without_time", INT32, DOUBLE, POINTER, POINTER, exported=True)
    _, y, dy = f.arguments
    f.call_void(f.c.f, y, f.c.p, dy, f.c.work)
    _call_audit(f, y, dy)
    return f.finish(0)


def audit_rates() -> str:
    """The rates of the quadratures, after those of the motion."""
    f = ContextFunction("audit_rates", NOTHING, POINTER, POINTER)
    _call_audit(f, *f.arguments)
    return f.finish()


def _call_audit(f: ContextFunction, x: Value, dy: Value) -> None:
    audit = f.c.audit
    with f.if_then(audit.not_equal(0)):
        f.call_void(audit, x, f.c.audit_p, f.offset(dy, f.c.n_state), f.c.audit_work)


def _add_forces() -> str:
    """The rates at a state (y, t), and the contact forces behind the time in x."""
    f = ContextFunction("add_forces", NOTHING, POINTER)
    _evaluate_with_forces(f, f.arguments[0])
    return f.finish()


def _evaluate_with_forces(f: ContextFunction, at: Value) -> None:
    c, n, count = f.c, f.c.n_state, f.c.n_forces
    f.call_void(c.f, at, c.p, c.outputs, c.work)
    forces = ScalarArray(f.offset(c.outputs, n))
    behind = ScalarArray(f.offset(c.x, n + 1))
    with f.loop(count) as i:
        behind[i] = forces[i]


def _rhs_with_forces() -> str:
    """As `rhs`; the quadratures depend on the forces, which are solved for once."""
    f = ContextFunction("rhs_with_forces", INT32, DOUBLE, POINTER, POINTER, exported=True)
    t, y, dy = f.arguments
    x, n = f.state_and_time(t, y), f.c.n_state
    # where the time enters nowhere the state is read where it stands
    _evaluate_with_forces(f, f.select(f.c.autonomous.not_equal(0), y, x))
    outputs, rates = ScalarArray(f.c.outputs), ScalarArray(dy)
    # scalar loads: reading four separately written numbers as one vector is slower
    with f.loop(n) as i:
        rates[i] = outputs[i]
    _call_audit(f, x, dy)
    return f.finish(0)


def _force_guards() -> str:
    """g(x, λ) as a function of x = (y, t) alone: guards of a step call it as any other."""
    f = FunctionBuilder("force_guards", NOTHING, *[POINTER] * 4, exported=True)
    x, p, values, pointer = f.parameters
    guards = StructView(pointer, FORCE_GUARD_FIELDS)
    c = StructView(guards.context, FIELDS)
    with f.loop(c.n_state + 1) as i:
        ScalarArray(c.x)[i] = ScalarArray(x)[i]
    f.line(f"call {NOTHING} @add_forces({c.x}, {guards.context})")
    f.line(f"call {NOTHING} {guards.g.name}({c.x}, {p}, {values}, {guards.work})")
    f.ret_void()
    return f.text()


# ---- projections -------------------------------------------------------------------------------


def _project_constraints() -> str:
    """q ← q + δq until the largest residual, which stands behind δq, is small. 0, or 1 where it
    does not become so.
    """
    f = ContextFunction("project_plainly", INT32, DOUBLE, POINTER)
    t, y = f.arguments
    c, n, tolerance, result, q = (
        f.c,
        f.c.n_coordinates,
        f.c.tolerance,
        ScalarArray(f.c.result),
        ScalarArray(y),
    )
    # rows in augmented form have a projection of their own
    with f.if_then(n < 0):
        f.ret(f.call(c.projection, INT32, t, y, c.projection_work))
    rounds = f.variable(f.value(0, INT64))
    with f.loop_forever():
        f.call_void(c.projection, f.state_and_time(t, y), c.p, c.result, c.projection_work)
        e = result[n]
        with f.if_then(e <= tolerance):
            f.ret(0)
        with f.if_then(rounds.value >= _MOST_ROUNDS):
            f.ret(f.select_code(e <= tolerance * _LOOSE, 0, 1))
        with f.loop(n) as i:
            q[i] = q[i] + result[i]
        rounds.value = rounds.value + 1
    return f.text()


def _project_and_audit() -> str:
    """The same with the sum of the jumps of K₂ + 𝒰, where it is kept."""
    f = ContextFunction("project_watched", INT32, DOUBLE, POINTER)
    t, y = f.arguments
    jump = f.c.jump
    with f.if_then(jump < 0):
        f.ret(f.call_context("project_plainly", INT32, t, y))
    before = f.call_context("energy_at", DOUBLE, t, y)
    code = f.call_context("project_plainly", INT32, t, y)
    ScalarArray(y)[jump] = ScalarArray(y)[jump] + (
        f.call_context("energy_at", DOUBLE, t, y) - before
    )
    return f.finish(code)


def _project() -> str:
    """Onto the rows, and then onto the level of E_Z, where these are requested."""
    f = ContextFunction("project", INT32, DOUBLE, POINTER, exported=True)
    t, y = f.arguments
    with f.if_then(f.c.projection.not_equal(0)):
        code = f.call_context("project_watched", INT32, t, y)
        with f.if_then(code.not_equal(0)):
            f.ret(code)
    with f.if_then(f.c.defect >= 0):
        f.call_void("level", t, y)
    return f.finish(0)


def _project_energy() -> str:
    """u ← u √((E_Z(t₀) − 𝒰 − Z)/K₂): the projection to the level of E_Z in the mass metric, unless
    K₂ is too small for it.
    """
    f = ContextFunction("level", NOTHING, DOUBLE, POINTER)
    t, y = f.arguments
    state, defect, first = ScalarArray(y), f.c.defect, f.c.first_speed
    error = (
        f.call_context("energy_at", DOUBLE, t, y) + f.call_context("Z_of", DOUBLE, y) - f.c.E_start
    )
    K2 = ScalarArray(f.c.energy_result)[0]
    ratio = (K2 - error) / K2
    with f.if_then((ratio > 0.5) & (ratio < 2.0)):
        state[defect] = state[defect] + error
        factor = f.intrinsic("sqrt", ratio)
        with f.loop(f.c.n_state - first) as i:
            state[first + i] = state[first + i] * factor
    return f.finish()


# ---- E_Z ---------------------------------------------------------------------------------------


def _energy_at() -> str:
    """K₂ + 𝒰 at a state; both are left in the result."""
    f = ContextFunction("energy_at", DOUBLE, DOUBLE, POINTER)
    t, y = f.arguments
    f.call_void(f.c.energy, f.state_and_time(t, y), f.c.audit_p, f.c.energy_result, f.c.energy_work)
    result = ScalarArray(f.c.energy_result)
    return f.finish(result[0] + result[1])


def _Z_of() -> str:
    f = ContextFunction("Z_of", DOUBLE, POINTER)
    (y,), Z = f.arguments, f.c.Z
    with f.if_then(Z < 0):
        f.ret(0.0)
    return f.finish(ScalarArray(y)[Z])


def _dense_state() -> str:
    """The state at t₀ + θh."""
    f = ContextFunction("state_between", NOTHING, DOUBLE, POINTER)
    (theta, dense), c = f.arguments, f.c
    f.call("interpolate", INT64, dense, c.width, c.rows, c.powers, c.width, theta, c.middle)
    return f.finish()


def _energy_change_at() -> str:
    """How far E_Z at t₀ + θh is from a value."""
    f = ContextFunction("change_between", DOUBLE, DOUBLE, DOUBLE, DOUBLE, DOUBLE, POINTER)
    theta, t, h, EZ0, dense = f.arguments
    f.call_void("state_between", theta, dense)
    E = f.call_context("energy_at", DOUBLE, t + theta * h, f.c.middle)
    return f.finish(f.absolute(E + f.call_context("Z_of", DOUBLE, f.c.middle) - EZ0))


def _update_energy_scale() -> str:
    """The largest K₂ + |𝒰 − 𝒰₀| + |Z| so far, after an evaluation of the energy."""
    f = ContextFunction("scale_with", DOUBLE, DOUBLE)
    (z,), result = f.arguments, ScalarArray(f.c.energy_result)
    scale = f.intrinsic(
        "maxnum", f.c.scale, result[0] + f.absolute(result[1] - f.c.V0) + f.absolute(z)
    )
    f.c.scale = scale
    return f.finish(scale)


def _energy_allowance() -> str:
    """What a step may change: max(share, a tenth of the remaining budget, rounding)."""
    f = ContextFunction("allowed", DOUBLE, DOUBLE, DOUBLE, DOUBLE, DOUBLE, DOUBLE)
    rate, t, h, EZ, rounding = f.arguments
    left = rate * (t - f.c.t_start) - f.absolute(EZ - f.c.E_start)
    return f.finish(f.intrinsic("maxnum", f.intrinsic("maxnum", rate * h, left * 0.1), rounding))


def _accept() -> str:
    """0, the error estimate raised; 1 for a smaller step beyond the whole tolerance; −1 for none
    where rounding alone has used that up.
    """
    f = ContextFunction(
        "accept", INT32, DOUBLE, DOUBLE, POINTER, POINTER, POINTER, POINTER, exported=True
    )
    t, t_new, y, y_new, dense, error = f.arguments
    EZ0 = f.call_context("energy_at", DOUBLE, t, y) + f.call_context("Z_of", DOUBLE, y)
    E1, Z1 = (
        f.call_context("energy_at", DOUBLE, t_new, y_new),
        f.call_context("Z_of", DOUBLE, y_new),
    )
    EZ1, h = E1 + Z1, t_new - t
    scale = f.call_context("scale_with", DOUBLE, Z1)
    rate = f.c.per_time + f.c.relative_per_time * scale
    rounding = (f.absolute(EZ0) + scale) * _ROUNDING
    allowed = f.call_context("allowed", DOUBLE, rate, t, h, EZ0, rounding)
    worst = f.variable(f.absolute(EZ1 - EZ0))
    with f.if_then(dense.not_equal(0)):
        for theta in (0.25, 0.5, 0.75):
            change = f.call_context(
                "change_between", DOUBLE, f.value(theta, DOUBLE), t, h, EZ0, dense
            )
            worst.value = f.intrinsic("maxnum", worst.value, change)
    with f.if_then(f.absolute(EZ1 - f.c.E_start) > rate * f.c.length):
        f.ret(f.select_code(worst.value <= rounding, -1, 1))
    ScalarArray(error)[0] = f.intrinsic("maxnum", ScalarArray(error)[0], worst.value / allowed)
    return f.finish(0)
