"""K z + c = 0, ẋ = f(t, x): the equations of a principle, solved and integrated as it gives them.

The state x is (q, u) where a principle gives one equation for each independent speed, (q, q̇) where
it gives one for each coordinate, with multipliers, and (q, p) for Hamilton's equations. Multipliers
are solved for together with the accelerations, by the constraint rows differentiated once more. The
rows then hold only as far as the integration is exact, and a projection may bring the state back
onto them after each step.

Source: Bar00, "Ease of integration" in the comparison after (50).
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Mapping
from dataclasses import field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, Literal

import numpy as np

from dalembert.errors import DalembertError, NotApplicable
from dalembert.foundation.deferred_dataclass import dataclass
from dalembert.mechanics.agreement.comparison import IntegrationEffort
from dalembert.mechanics.equations.equations_of_motion import derivative_bindings
from dalembert.mechanics.kinematics.system_kinematics import kinematics
from dalembert.mechanics.kinetics.system_quantities import Quantities
from dalembert.mechanics.model.system import System
from dalembert.mechanics.principles.derivation import Derivation
from dalembert.runtime.numerics.compiled_function import CompiledFunction
from dalembert.runtime.ode.initial_value_problem import InitialValueProblem
from dalembert.runtime.ode.integration import Integrator
from dalembert.runtime.ode.keyboard_interrupt import defer_keyboard_interrupt
from dalembert.runtime.states.initial_conditions import solve_initial_conditions
from dalembert.runtime.states.run_values import RunValues, parameter_vector, run_values
from dalembert.symbolic.algebra.expression_graph import (
    LinearCoefficients,
    Substitution,
    copy_expressions,
    symbols_of,
)
from dalembert.symbolic.algebra.scalar import Scalar
from dalembert.symbolic.algebra.sparse_matrix import (
    Column,
    gradient_column,
    jacobian,
    sum_of_products,
)

if TYPE_CHECKING:
    from dalembert.foundation.array_types import FloatArray

# a run that needs more is not finished
MAX_STEPS: Final = 1000
# the equations are solved by dense elimination in every evaluation
MAX_COORDINATES: Final = 24
_NEWTON_STEPS: Final = 3
# attempted steps between two looks at Ctrl-C
_SLICE: Final = 50

_RHS = ctypes.CFUNCTYPE(
    ctypes.c_int32, ctypes.c_double, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p
)
_PROJECT = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_double, ctypes.c_void_p, ctypes.c_void_p)


@dataclass(frozen=True)
class MeasuredRun:
    """One motion by which all principles are measured: values, initial state and tolerance."""

    values: RunValues = field(repr=False)
    q: FloatArray
    u: FloatArray
    qdot: FloatArray
    duration: float
    rtol: float


def prepare_measured_run(
    system: System,
    duration: float,
    start: Mapping[Any, Any],
    values: Mapping[Any, Any],
    inputs: Mapping[Any, Any],
    rtol: float,
) -> MeasuredRun:
    """The run by which principles are compared; systems whose equations change during a run are
    refused.
    """
    kin = kinematics(system)
    obstacles = {
        "contacts": system.contacts,
        "first-order states": kin.x,
        "rows that are not linear in the velocities": kin.nonlinear,
    }
    if what := [name for name, present in obstacles.items() if present]:
        msg = f"ease of integration is not measured with {what[0]}"
        raise NotApplicable(msg)
    if kin.n_q > MAX_COORDINATES:
        msg = f"ease of integration is measured up to {MAX_COORDINATES} coordinates, not {kin.n_q}"
        raise NotApplicable(msg)
    chosen = run_values(kin, values, inputs)
    known = chosen.symbol_values_at(0.0)
    initial = solve_initial_conditions(kin, start, known)
    return MeasuredRun(chosen, initial.q, initial.u, initial.qdot, float(duration), rtol)


def integrated_state(d: Derivation) -> str:
    """The variables in which the equations of a principle are integrated, λ where it has
    multipliers.
    """
    if d.native.along == "u":
        return "q, u"
    state = "q, p" if d.principle.variables == "q, p" else "q, q̇"
    return f"{state}, λ" if d.kinematics.rows else state


def integration_effort(d: Derivation, run: MeasuredRun) -> IntegrationEffort:
    """Steps of the library's own integrator on the equations of one principle, without and with
    projection onto the constraint rows.
    """
    # what is compiled is written on a tape of its own
    form = _IntegratedForm(replace(d, kinematics=d.kinematics.fork(d.tape)), run)
    free = form.integrate(project=False)
    if not form.has_projection:
        return free
    projected = form.integrate(project=True)
    return replace(free, projected_steps=projected.steps, projected_violation=projected.violation)


class _IntegratedForm:
    """ẋ = f(t, x) of one principle: its matrices compiled, its unknowns by elimination in every
    evaluation.
    """

    def __init__(self, d: Derivation, run: MeasuredRun) -> None:
        self.run, self.d, self.kin = run, d, d.kinematics
        self.along: Literal["u", "q"] = d.native.along
        # p = M q̇ + p₀ in place of q̇
        self.in_momenta = d.principle.variables == "q, p"
        self.n = self.kin.n_q
        self._compile()
        self.has_projection = bool(self._phi or (self.along == "q" and self.kin.rows))

    # ---- what is compiled ----------------------------------------------------------------------

    def _compile(self) -> None:
        kin, t = self.kin, self.kin.tape
        nodes = self._equation_nodes() | self._row_nodes() | self._momentum_nodes()
        in_state = Substitution(
            t,
            dict(zip(kin.qdot, kin.qdot_of_u, strict=True))
            if self.along == "u"
            else dict(zip(kin.u, kin.definitions, strict=True)),
        )
        insert = Substitution(t, self._bindings())
        # W u + X and u(q̇) may contain prescribed motions in turn
        outs = [insert(in_state(insert(e))) for part in nodes.values() for e in part]
        ends = np.cumsum([len(part) for part in nodes.values()]).tolist()
        begins = [0, *ends[:-1]]
        self._slices = {name: slice(*ab) for name, *ab in zip(nodes, begins, ends, strict=True)}
        state = (*kin.q, *(kin.u if self.along == "u" else kin.qdot), kin.system.t.i)
        parameters = tuple(i for i in symbols_of(t, outs) if i not in state)
        self._function = CompiledFunction(t, outs, state, parameters)
        self._parameters = parameter_vector(self.run.values, parameters)

    def _bindings(self) -> dict[int, int]:
        """Prescribed motions, inputs and their rates as expressions on the tape of the principle.

        Rates are differentiated here: a principle may contain higher ones than the run knows.
        """
        values, t = self.run.values, self.kin.tape
        declared = {s.scalar.i for s in self.kin.system.symbols.values()}
        bound = {x: e for x, e in values.bindings.items() if x in declared}
        copies = copy_expressions(values.kin.tape, t, list(bound.values()))
        motions = {x: Scalar(t, e) for x, e in zip(bound, copies, strict=True)}
        return derivative_bindings(t, motions)

    def _equation_nodes(self) -> dict[str, list[int]]:
        """K and c, row after row, of the equations and, with multipliers, of the rows' rates."""
        native, t = self.d.native, self.kin.tape
        rates = map(self._rate, self._rows) if self.along == "q" else ()
        linear = LinearCoefficients(t, self._unknown)
        forms = [linear(e) for e in (*native.residuals, *rates)]
        columns = range(len(self._unknown))
        K = [row.get(k, t.zero) for _, row in forms for k in columns]
        return {"K": K, "c": [free for free, _ in forms], "qdot": list(self.kin.qdot)}

    def _row_nodes(self) -> dict[str, list[int]]:
        """A q̇ + b, A, φ and ∂φ/∂q of the constraint rows."""
        kin, t = self.kin, self.kin.tape
        slopes = jacobian(Column(t, self._phi), Column(t, kin.q)).dense() if self._phi else ()
        return {
            "rows": self._rows,
            "A": [row.A.get(k, t.zero) for row in kin.rows for k in range(self.n)],
            "phi": self._phi,
            "slopes": [a for row in slopes for a in row],
        }

    def _momentum_nodes(self) -> dict[str, list[int]]:
        """M and p₀ of p = M q̇ + p₀, and ṗ without its part in q̈, for Hamilton's equations."""
        kin, t = self.kin, self.kin.tape
        if not self.in_momenta:
            return {"M": [], "p_0": [], "p_rate": []}
        p = gradient_column(Quantities(kin).rates.T.value, Column(t, kin.qdot)).nodes
        in_qdot, in_qddot = LinearCoefficients(t, kin.qdot), LinearCoefficients(t, kin.qddot)
        return {
            "M": [in_qdot(e)[1].get(k, t.zero) for e in p for k in range(self.n)],
            "p_0": [in_qdot(e)[0] for e in p],
            "p_rate": [in_qddot(self._rate(e))[0] for e in p],
        }

    @cached_property
    def _rate(self) -> Callable[[int], int]:
        return Quantities(self.kin).rates.rate

    @cached_property
    def _unknown(self) -> tuple[int, ...]:
        native = self.d.native
        return (*native.accelerations, *(native.multipliers if self.along == "q" else ()))

    @cached_property
    def _rows(self) -> list[int]:
        kin = self.kin
        return [
            sum_of_products(kin.tape, ((a, kin.qdot[k]) for k, a in row.A.items()), row.b)
            for row in kin.rows
        ]

    @cached_property
    def _phi(self) -> list[int]:
        return [row.phi for row in self.kin.rows if row.phi is not None]

    def _at(self, t: float, q: FloatArray, fast: FloatArray) -> Callable[[str], FloatArray]:
        """Reads what was compiled, by name, at one state."""
        y = self._function.call(np.concatenate([q, fast, [t]]), self._parameters)
        widths = {"K": len(self._unknown), "A": self.n, "slopes": self.n, "M": self.n}

        def part(name: str) -> FloatArray:
            numbers = y[self._slices[name]]
            return numbers.reshape(-1, widths[name]) if name in widths else numbers

        return part

    # ---- the state -----------------------------------------------------------------------------

    @cached_property
    def start(self) -> FloatArray:
        """x at the start."""
        run = self.run
        if self.along == "u":
            return np.concatenate([run.q, run.u])
        if not self.in_momenta:
            return np.concatenate([run.q, run.qdot])
        at = self._at(0.0, run.q, run.qdot)
        return np.concatenate([run.q, at("M") @ run.qdot + at("p_0")])

    def _fast_variables(self, t: float, x: FloatArray) -> FloatArray:
        """u, or q̇, which Hamilton's equations find from p."""
        q, fast = x[: self.n], x[self.n :]
        if not self.in_momenta:
            return fast
        at = self._at(t, q, np.zeros(self.n))
        solved: FloatArray = np.linalg.solve(at("M"), fast - at("p_0")).astype(np.float64)
        return solved

    def rates(self, t: float, x: FloatArray) -> FloatArray:
        """ẋ"""
        fast = self._fast_variables(t, x)
        at = self._at(t, x[: self.n], fast)
        K = at("K")
        square = K.shape[0] == K.shape[1]
        z = np.linalg.solve(K, -at("c")) if square else np.linalg.lstsq(K, -at("c"))[0]
        accelerations = z[: len(self.d.native.accelerations)]
        if self.in_momenta:
            accelerations = at("M") @ accelerations + at("p_rate")
        return np.concatenate([at("qdot"), accelerations])

    def violation(self, t: float, x: FloatArray) -> float:
        """The largest |φ| or |A q̇ + b|."""
        at = self._at(t, x[: self.n], self._fast_variables(t, x))
        return float(np.max(np.abs(np.concatenate([at("rows"), at("phi")])), initial=0.0))

    def project(self, t: float, x: FloatArray) -> None:
        """The shortest change of q with φ = 0, then that of q̇ with A q̇ + b = 0, in place."""
        q, fast = x[: self.n], self._fast_variables(t, x)
        for _ in range(_NEWTON_STEPS if self._phi else 0):
            at = self._at(t, q, fast)
            q -= np.linalg.lstsq(at("slopes"), at("phi"))[0]
        if self.along == "u":
            return
        at = self._at(t, q, fast)
        fast = fast - np.linalg.lstsq(at("A"), at("rows"))[0]
        x[self.n :] = at("M") @ fast + at("p_0") if self.in_momenta else fast

    # ---- the run -------------------------------------------------------------------------------

    def integrate(self, *, project: bool) -> IntegrationEffort:
        """The steps and evaluations of a run to its end."""
        views: dict[int, FloatArray] = {}
        size = self.start.size

        def view(address: int) -> FloatArray:
            if address not in views:
                array = (ctypes.c_double * size).from_address(address)
                views[address] = np.ctypeslib.as_array(array)
            return views[address]

        def rhs(t: float, x: int, dx: int, _: int) -> int:
            return _without_error(lambda: np.copyto(view(dx), self.rates(t, view(x))))

        def back(t: float, x: int, _: int) -> int:
            return _without_error(lambda: self.project(t, view(x)))

        native = _RHS(rhs), _PROJECT(back)
        problem = InitialValueProblem(
            rhs=ctypes.cast(native[0], ctypes.c_void_p).value or 0,
            project=(ctypes.cast(native[1], ctypes.c_void_p).value or 0) if project else 0,
            y0=self.start,
            t0=0.0,
            t1=self.run.duration,
            rtol=self.run.rtol,
            atol=self.run.rtol,
            dense=False,
        )
        integration = Integrator(problem)
        with defer_keyboard_interrupt() as interruption:
            while not integration.advance(_SLICE) and integration.steps < MAX_STEPS:
                if interruption.should_stop():
                    raise KeyboardInterrupt
        end = integration.solution()
        return IntegrationEffort(
            integrated_state(self.d),
            integration.steps,
            end.calls,
            self.violation(integration.t, end.y[-1]),
            complete=integration.is_finished,
        )


def _without_error(act: Callable[[], None]) -> int:
    """0, or 1 where the equations cannot be solved: a smaller step may help."""
    try:
        act()
    except (np.linalg.LinAlgError, DalembertError):
        return 1
    return 0
