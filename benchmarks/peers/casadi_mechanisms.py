"""CasADi with IDAS and CVODES on mechanisms: our functions in SX, its derivatives, its interfaces
to SUNDIALS.

Equations of index 1 with multipliers are 𝓜 ż = f + Aᵀλ, A ż + γ + 2 α e + α² φ = 0 in all rates;
those without, M u̇ = f.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import casadi
import numpy
from casadi import SX
from numpy.typing import NDArray

import dalembert as da
from dalembert.exchange.exports.export_model import ExportRequest, exported_model
from dalembert.mechanics.kinematics.system_kinematics import kinematics, unreduced_kinematics
from dalembert.runtime.dynamics.compile import saddle_equations
from dalembert.runtime.ode.constrained.constrained_rates import ConstrainedRates
from dalembert.runtime.simulation.model import native_model
from dalembert.runtime.states.run_values import parameter_vector, run_values
from dalembert.symbolic.algebra.arithmetic import FloatArithmetic
from dalembert.symbolic.algebra.expression_graph import evaluate

State = NDArray[Any]
# how fast what the rows have drifted fades, as e^(−α t)
FADING = 20.0


class Symbols(FloatArithmetic):
    """Expressions of a tape in SX."""

    def atan2(self, a: Any, b: Any) -> Any:
        return casadi.atan2(a, b)

    # the angle's identity does not matter here
    def call(self, function: str, a: Any, node: int) -> Any:  # noqa: ARG002
        return getattr(casadi, "fabs" if function == "abs" else function)(a)


class WithoutMultipliers:
    """q̇ and M u̇ = f for IDAS, our explicit rates for CVODES; the state is (q, u)."""

    def __init__(
        self, system: da.System, start: Mapping[str, float], inputs: Mapping[str, Any], x0: State
    ) -> None:
        functions = da.to_casadi(system, inputs=inputs, start=start)
        variables = exported_model(
            system, ExportRequest(values={}, inputs=inputs, start=start)
        ).parameters
        t, x = SX.sym("t"), SX.sym("x", len(x0))
        given = (
            t,
            x,
            SX(0, 1),
            SX(casadi.DM([float(p.value) for p in variables if p.value is not None])),
        )
        rates, M, f = (functions[name](*given) for name in ("rates", "mass_matrix", "forcing"))
        n_q = len(x0) - M.shape[0]
        self.x0 = x0
        # M and f of all rates do not know of the rows
        self.independent = (
            "constraints" not in functions
            or functions["constraints"](*given)[2].shape[1] != M.shape[0]
        )
        a = SX.sym("a", M.shape[0])
        self.dae = {"t": t, "x": x, "z": a, "ode": casadi.vertcat(rates[:n_q], a), "alg": M @ a - f}
        self.ode = {"t": t, "x": x, "ode": rates}
        self.z0 = _consistent(self.dae, x0)


class WithMultipliers:
    """The rows beside the equations, in all rates; the state is (q, q̇), there being no
    quaternions.
    """

    def __init__(self, system: da.System, inputs: Mapping[str, Any], x0: State) -> None:
        kin, equations = saddle_equations(unreduced_kinematics(kinematics(system)))
        chosen = run_values(kin, {}, inputs, live=True)
        native = native_model(chosen, equations)
        rates, p = native.rates, parameter_vector(chosen, native.parameters)
        assert isinstance(rates, ConstrainedRates)
        t, x = SX.sym("t"), SX.sym("x", len(x0))
        known = dict(zip(native.state, [*casadi.vertsplit(x), t], strict=True)) | dict(
            zip(native.parameters, map(SX, p), strict=True)
        )
        layout, parts = rates.layout, rates.layout.parts
        # the expressions themselves
        outs, places = rates.fill._source.outs, rates.index  # noqa: SLF001
        block = dict(
            zip(places, evaluate(native.tape, outs, known.__getitem__, Symbols()), strict=True)
        )

        def column(name: str, count: int) -> Any:
            return casadi.vertcat(*(block.get(parts[name] + k, SX(0)) for k in range(count)))

        def matrix(name: str, rows: int, *, symmetric: bool) -> Any:
            full = SX(rows, layout.n)
            for i in range(rows):
                for k in range(layout.n):
                    value = block.get(
                        parts[name]
                        + (min(i, k) if symmetric else i) * layout.width
                        + (max(i, k) if symmetric else k)
                    )
                    if value is not None:
                        full[i, k] = value
            return full

        self.m = layout.m
        M, A = matrix("U", layout.n, symmetric=True), matrix("B", layout.m, symmetric=False)
        a, lam = SX.sym("a", layout.n), SX.sym("lam", layout.m)
        gamma, e, phi = (column(name, layout.m) for name in ("gamma", "e", "phi"))
        rows = A @ a + gamma + 2 * FADING * e + FADING**2 * phi
        self.dae = {
            "t": t,
            "x": x,
            "z": casadi.vertcat(a, lam),
            "ode": casadi.vertcat(column("qdot", layout.n_q), a),
            "alg": casadi.vertcat(M @ a - column("f", layout.n) - A.T @ lam, rows),
        }
        self.x0, self.z0 = x0, _consistent(self.dae, x0)


def _consistent(dae: Mapping[str, Any], x0: State) -> State:
    """What solves the algebraic equations, linear in their unknowns, at the start; the least
    where rows depend on each other.
    """
    unknown = dae["z"]
    at = casadi.Function(
        "start", [dae["t"], dae["x"], unknown], [casadi.jacobian(dae["alg"], unknown), dae["alg"]]
    )
    J, r = (numpy.array(m) for m in at(0.0, x0, numpy.zeros(unknown.shape[0])))
    found: State = numpy.linalg.lstsq(J, -r, rcond=None)[0][:, 0]
    return found


def solver(
    equations: Any, name: str, duration: float, tolerance: float
) -> Callable[[], tuple[State, int, bool]]:
    """A run by IDAS or CVODES to its last state; the solver is built here, before anything is
    timed.
    """
    options = {"reltol": tolerance, "abstol": tolerance, "max_num_steps": 20_000}
    F = casadi.integrator(
        "F", name, equations.dae if name == "idas" else equations.ode, 0.0, duration, options
    )
    given = {"x0": equations.x0} | ({"z0": equations.z0} if name == "idas" else {})

    def work() -> tuple[State, int, bool]:
        return F(**given)["xf"].full()[:, 0], int(F.stats().get("nsteps", 0)), True

    return work
