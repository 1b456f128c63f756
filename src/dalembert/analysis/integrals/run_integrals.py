"""E_Z(t), E(t), 𝓗(t), C(t) and the works of the loads along a run: what an energy integral says
about a simulation.

Z and the works are integrated as quadratures. Where E_Z is not constant, three causes are possible,
and they are separated: the model, if K̇₂ + σ_R = 𝒫 fails at single states; the projections onto the
constraints, by the jumps of K₂ + 𝒰 there; the integrator, by the rest.

|E_Z(t) − E_Z(t₀)| ≤ tolerance: an energy integral in command of the integrator. Past drift cannot
be undone, so the tolerance is granted evenly over time: a step of length h may change E_Z by its
share h/(t₁ − t₀), at its end and at its quarters, or by a tenth of what earlier steps have left
over. A step that changes more is tried again, smaller; where rounding alone uses up the tolerance
the run
stops.

Source: Mit22 (2)–(3), (56), "Checking numerical integration accuracy" and summary of chapter 34.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field, replace
from functools import cached_property, partial
from typing import Final

import numpy as np

from dalembert.analysis.integrals.energies import Energies
from dalembert.foundation.array_types import FloatArray
from dalembert.foundation.caching import COMPUTE_LOCK, PerOwnerCache
from dalembert.foundation.deferred_dataclass import dataclass
from dalembert.foundation.display import Displayable, NotebookDisplay
from dalembert.mechanics.kinematics.system_kinematics import Kinematics
from dalembert.runtime.numerics.symbol_values import finite_number
from dalembert.runtime.ode.failures import BadTolerance, RunStopped, StepCollapsed, StepRefused
from dalembert.runtime.simulation.energy_audit import (
    EVENT_LOSS,
    Budget,
    EnergyScale,
    Quadratures,
    energy_scale,
)
from dalembert.runtime.simulation.run_options import NATIVE, NATIVE_LOOP
from dalembert.runtime.simulation.trajectory import Trajectory
from dalembert.runtime.states.evaluator import Evaluator, ReducedNodes
from dalembert.symbolic.algebra.scalar import Scalar, as_nodes
from dalembert.symbolic.algebra.sparse_matrix import drop_zero_entries

Z: Final = "Z"
PROJECTION_JUMPS: Final = "jumps of K₂ + 𝒰 at projections"
REMOVED_DEFECTS: Final = "errors of E_Z removed by projection"
# K̇₂ + σ_R − 𝒫 beyond this part of the powers is no rounding: at half of all states, or at any
# (near singular angles more is lost)
_ROUNDING: Final = 1e-9
_ROUNDING_ANYWHERE: Final = 1e-4
_ENERGIES: Final = PerOwnerCache[Energies]()
_QUADRATURES: Final = PerOwnerCache[Quadratures]()
_REDUCED: Final = PerOwnerCache[ReducedNodes]()


def cached_energies(kin: Kinematics) -> Energies:
    """The energies of a system; computed once."""
    return _ENERGIES(kin, None, lambda: Energies(kin))


def quadratures(kin: Kinematics) -> Quadratures:
    """Ż and the powers of every load, without those that vanish identically.

    A potential that contains an input has no known rate; BadExpression says so.
    """
    return _QUADRATURES(kin, None, lambda: _quadratures(cached_energies(kin)))


def _quadratures(E: Energies) -> Quadratures:
    t = E.t
    rates = {Z: E.Z_dot}
    for load, (classical, general) in E.powers.items():
        rates[generalized_work_name(load)] = general
        # what v_t adds; nothing in most systems
        rates[transport_work_name(load)] = classical - general
    rates = {
        name: Scalar(t, rate)
        for name, rate in drop_zero_entries(
            t, {name: rate.i for name, rate in rates.items()}
        ).items()
    }
    if E.kin.velocity_rows or any(row.phi is not None for row in E.kin.rows):
        rates[PROJECTION_JUMPS] = Scalar(t, t.zero)
    names = tuple(rates)
    place = {name: k for k, name in enumerate(names)}
    return Quadratures(
        t,
        names,
        tuple(rate.i for rate in rates.values()),
        E.K2.i,
        E.V.i,
        place.get(Z),
        place.get(PROJECTION_JUMPS),
    )


def with_defect_quadrature(given: Quadratures) -> Quadratures:
    """The same with room for what is taken out of E_Z to bring it back to its level after every
    step.
    """
    names, rates = (*given.names, REMOVED_DEFECTS), (*given.rates, given.tape.zero)
    return replace(given, names=names, rates=rates, energy_correction=len(given.names))


def generalized_work_name(load: str) -> str:
    """The name of ∫ F·v_R dt."""
    return f"generalized work of {load}"


def transport_work_name(load: str) -> str:
    """The name of ∫ F·v_t dt, the classical work less the generalized."""
    return f"work of {load} with v_t"


@dataclass(frozen=True)
class Work(Displayable):
    """∫ F·v dt and ∫ F·v_R dt of one load over the times.

    Source: Mit22 34.7, the table.
    """

    classical: FloatArray = field(repr=False)
    generalized: FloatArray = field(repr=False)


class RunIntegrals(NotebookDisplay):
    """The energy integrals of a run over its times, and the causes of their drift."""

    def __init__(self, run: Trajectory) -> None:
        self.t = run.t
        # " J" where units were given
        self.unit = " J" if run.system.has_units else ""
        self._E, self._run = cached_energies(run.kinematics), run
        self._columns = dict(zip(run.quadrature_names, run.quadratures.T, strict=True))
        self.K2, self.potential = self._energies("K2", "V")

    def _energies(self, *names: str) -> FloatArray:
        """Energies of the system over the times, by name; runs with the same bindings share their
        expressions.
        """
        values = self._run.values
        reduced = _REDUCED(
            values.kin, (names, values.binding_key), lambda: self._reduce(values.evaluator, names)
        )
        return self._run.evaluate_reduced(reduced)

    def _reduce(self, evaluator: Evaluator, names: Sequence[str]) -> ReducedNodes:
        energies = [getattr(self._E, name) for name in names]
        return evaluator.reduce(as_nodes(evaluator.tape, energies))

    @cached_property
    def K1(self) -> FloatArray:
        """The part of K that is linear in the speeds."""
        return np.asarray(self._energies("K1")[0])

    @cached_property
    def K0(self) -> FloatArray:
        """The part of K that does not depend on the speeds."""
        return np.asarray(self._energies("K0")[0])

    @cached_property
    def _V_declared(self) -> FloatArray:
        return np.asarray(self._energies("V_declared")[0])

    @cached_property
    def _power_balance(self) -> FloatArray:
        """K̇₂ + σ_R − 𝒫 at single states, and the size of its terms."""
        with COMPUTE_LOCK:
            balance = [*self._E.balance]
        return self._run.rows(balance)

    def _quadrature(self, name: str) -> FloatArray:
        quadrature = self._columns.get(name)
        return np.zeros_like(self.t) if quadrature is None else quadrature

    # ---- the integrals -----------------------------------------------------------------------

    @property
    def Z(self) -> FloatArray:
        """∫ (σ_R − 𝒫_nonconservative) dt"""
        return self._quadrature(Z)

    @property
    def E_Z(self) -> FloatArray:
        """K₂ + 𝒰 + Z with what events have taken out, constant on every motion."""
        return self.E + self.Z + self.taken_by_events

    @property
    def taken_by_events(self) -> FloatArray:
        """What impacts and resets have taken out of K₂ + 𝒰 so far; negative where they have put
        something in.
        """
        return self._quadrature(EVENT_LOSS)

    @property
    def E(self) -> FloatArray:
        """K₂ + 𝒰"""
        total: FloatArray = self.K2 + self.potential
        return total

    @property
    def H(self) -> FloatArray:
        """𝓗 = K₂ − K₀ + 𝒰"""
        total: FloatArray = self.E - self.K0
        return total

    @property
    def C(self) -> FloatArray:
        """K + 𝒰"""
        total: FloatArray = self.E + self.K1 + self.K0
        return total

    @cached_property
    def works(self) -> dict[str, Work]:
        """The work of every load that has no potential."""
        general = {load: self._quadrature(generalized_work_name(load)) for load in self._E.powers}
        return {
            load: Work(work + self._quadrature(transport_work_name(load)), work)
            for load, work in general.items()
        }

    @cached_property
    def supplied_work(self) -> FloatArray:
        """∫ P_in dt = Δ(K + V) − Σ classical works: what prescribed motions and moving rows put
        in.
        """
        total: FloatArray = self.K2 + self.K1 + self.K0 + self._V_declared
        return (
            total
            - total[:1]
            - sum(
                (w.classical - w.classical[:1] for w in self.works.values()), np.zeros_like(total)
            )
        )

    # ---- how well it was kept ----------------------------------------------------------------

    @cached_property
    def _energy_sizes(self) -> FloatArray:
        sizes: FloatArray = self.K2 + np.abs(self.potential - self.potential[:1]) + np.abs(self.Z)
        return sizes

    @cached_property
    def _motion_scale(self) -> float:
        """max (K₂ + |𝒰 − 𝒰₀| + |Z|)"""
        return float(np.max(self._energy_sizes, initial=0.0))

    @cached_property
    def _scale(self) -> EnergyScale:
        with COMPUTE_LOCK:
            energies = [self._E.K2, self._E.V]
        terms = partial(self._run.largest_terms, energies)
        return energy_scale(self.drift, self._motion_scale, terms)

    @property
    def scale(self) -> float:
        """max (K₂ + |𝒰 − 𝒰₀| + |Z|); at rest, where these are rounding, the terms of K₂ and 𝒰."""
        return self._scale.size

    @property
    def is_at_rest(self) -> bool:
        """Whether hardly anything moves: the energies change by the rounding of their terms."""
        return self._scale.at_rest

    @cached_property
    def largest_energies(self) -> float:
        """max (|K₂| + |𝒰| + |Z|)"""
        sizes = np.abs(self.K2) + np.abs(self.potential) + np.abs(self.Z)
        return float(np.max(sizes, initial=0.0))

    @cached_property
    def drift(self) -> float:
        """max |E_Z − E_Z(t₀)|"""
        return _max_abs(self.E_Z - self.E_Z[:1])

    @property
    def relative_drift(self) -> float:
        """The drift relative to the scale."""
        return self.drift / self.scale

    @cached_property
    def relative_loss(self) -> float:
        """The drift relative to the scale, or to that of the later half of the run: a short
        encounter hides a loss in its scale.
        """
        if self.is_at_rest:
            return self.relative_drift
        late = self.t >= (self.t[0] + self.t[-1]) / 2
        later = float(np.max((self._energy_sizes + np.abs(self.taken_by_events))[late]))
        return max(self.relative_drift, float(abs(self.E_Z[-1] - self.E_Z[0])) / (later or 1.0))

    @cached_property
    def _relative_residual(self) -> FloatArray:
        """|K̇₂ + σ_R − 𝒫| at single states, with u̇ from the code that was integrated, relative to
        the largest power.

        No integration enters. The largest power is that of the single terms, or the scale over the
        duration if that is more.
        """
        duration = float(self.t[-1] - self.t[0]) if len(self.t) else 0.0
        slowest = self._motion_scale / duration if duration else 0.0
        residual, power = self._power_balance
        relative: FloatArray = np.abs(residual) / (max(_max_abs(power), slowest) or 1.0)
        return relative

    @property
    def model_residual(self) -> float:
        """max |K̇₂ + σ_R − 𝒫| relative to the largest power."""
        return _max_abs(self._relative_residual)

    @cached_property
    def is_model_consistent(self) -> bool:
        """Whether K̇₂ + σ_R = 𝒫 holds at every state, but for rounding."""
        typical = _median(self._relative_residual.tolist()) if len(self.t) else 0.0
        return typical <= _ROUNDING and self.model_residual <= _ROUNDING_ANYWHERE

    @cached_property
    def _model_drift(self) -> FloatArray:
        if self.is_model_consistent:
            return np.zeros_like(self.t)
        r = self._power_balance[0]
        return np.concatenate([[0.0], np.cumsum((r[1:] + r[:-1]) * np.diff(self.t) / 2)])[: len(r)]

    @property
    def model_error(self) -> float:
        """The drift that K̇₂ + σ_R ≠ 𝒫 explains."""
        return _max_abs(self._model_drift)

    @property
    def constraint_drift(self) -> float:
        """The drift that projections onto the constraints cause."""
        jumps = self._quadrature(PROJECTION_JUMPS)
        return _max_abs(jumps - jumps[:1])

    @property
    def removed_defect(self) -> float:
        """What projections onto the level of E_Z have removed; 0 where there were none."""
        defects = self._quadrature(REMOVED_DEFECTS)
        return _max_abs(defects - defects[:1])

    @property
    def integrator_error(self) -> float:
        """The rest of the drift, with what projections onto the level of E_Z have hidden."""
        hidden = self._quadrature(REMOVED_DEFECTS) - self._quadrature(PROJECTION_JUMPS)
        return _max_abs(self.E_Z - self.E_Z[:1] - self._model_drift + (hidden - hidden[:1]))

    def __str__(self) -> str:
        J, wrong = self.unit, "these are not the system's equations"
        if not np.isfinite(self.drift):
            when = self.t[int(np.argmin(np.isfinite(self.E_Z)))]
            return (
                f"E_Z = K₂ + 𝒰 + Z: no audit from t = {when:.6g} on, where an energy or a power "
                "is not a real number"
            )
        model = f"none: K̇₂ + σ_R = 𝒫 at every state, relative error {self.model_residual:.1g}"
        if not self.is_model_consistent:
            model = (
                f"{self.model_error:.3g}{J}: K̇₂ + σ_R ≠ 𝒫, relative error "
                f"{self.model_residual:.2g}; {wrong}"
            )
        relative = f"{self.relative_drift:.2g} relative to {self.scale:.4g}{J}"
        if self.is_at_rest:
            relative = "which is rounding (at rest, or nearly)"
        lines = (
            f"energy integral E_Z = K₂ + 𝒰 + Z: largest change {self.drift:.2g}{J}, {relative}",
            f"  model error {model}",
            f"  constraint drift {self.constraint_drift:.2g}{J} (jumps at projections)",
            f"  integrator error {self.integrator_error:.2g}{J} (the remainder)",
        )
        out = f"  errors removed {self.removed_defect:.2g}{J} (projection onto the level of E_Z)"
        taken = (
            f"  removed by events {self.taken_by_events[-1] if len(self.t) else 0.0:.6g}{J} "
            f"(counted in E_Z)"
        )
        extra = ((REMOVED_DEFECTS, out), (EVENT_LOSS, taken))
        return "\n".join([*lines, *(line for name, line in extra if name in self._columns)])

    __repr__ = __str__


def _max_abs(x: FloatArray) -> float:
    return float(np.max(np.abs(x), initial=0.0))


def energy_budget(
    absolute: float | None, relative: float | None, duration: float, integrator: str = NATIVE
) -> Budget | None:
    """The tolerances on E_Z, per unit of time; None if there is none."""
    if absolute is None and relative is None:
        return None
    check_native(integrator)
    length = finite_number("duration", duration)
    return Budget(
        _tolerance_rate("energy_tolerance", absolute, length),
        _tolerance_rate("relative_energy_tolerance", relative, length),
        length,
    )


def check_native(integrator: str) -> None:
    """Refuse integrators that take their steps without asking."""
    if integrator not in NATIVE_LOOP:
        msg = (
            f"integrator {integrator!r} has no energy tolerance: only "
            f"{', '.join(NATIVE_LOOP)} test a step before they accept it"
        )
        raise BadTolerance(msg)


def _tolerance_rate(name: str, tolerance: float | None, length: float) -> float:
    if tolerance is None:
        return 0.0
    value = finite_number(name, tolerance)
    if not value > 0.0:
        msg = f"{name} = {value:g}: give a positive number"
        raise BadTolerance(msg)
    return value / length


def explain_energy_failure(failure: RunStopped) -> None:
    """Say what stood in the way where a run under an energy tolerance found no step small
    enough.
    """
    if isinstance(failure, StepRefused | StepCollapsed):
        failure.energy_limited = True


def _median(numbers: list[float]) -> float:
    """The middle one, or the mean of the two in the middle; numpy's opens its masked arrays."""
    ordered, half = sorted(numbers), len(numbers) // 2
    return ordered[half] if len(ordered) % 2 else (ordered[half - 1] + ordered[half]) / 2
