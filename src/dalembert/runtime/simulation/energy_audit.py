"""Ż, the powers of the loads, K₂ and 𝒰 as native code alongside the motion: the quadratures, and
the energy budget.
Keywords: energy audit.

The motion is compiled as without an audit, so that not a bit of it depends on being watched.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from dalembert.foundation.array_types import FloatArray
from dalembert.foundation.caching import PerOwnerCache
from dalembert.foundation.deferred_dataclass import dataclass
from dalembert.runtime.numerics.compiled_function import CompiledFunction, jacobian
from dalembert.runtime.states.run_values import RunValues
from dalembert.symbolic.algebra.expression_graph import Substitution, copy_expressions, symbols_of
from dalembert.symbolic.algebra.tape import Tape

if TYPE_CHECKING:
    from dalembert.runtime.numerics.taylor_code import CompiledTaylor

EVENT_LOSS: Final = "energy removed by events"
# an energy error below the first part of the energies of the motion is relative to them; a change
# within the second part of the terms of the energies is rounding
UNRESOLVED: Final = 1e-3
_ROUNDING: Final = 64 * 2.0**-52
# runs with the same bindings after which compiling K₂ and 𝒰 for rows of states pays
_RUNS_BEFORE_COMPILING: Final = 64


class EnergyScale(NamedTuple):
    """What an energy error is relative to."""

    size: float
    # nothing moves: the error is rounding, and its scale that of the terms of the energies
    at_rest: bool


def energy_scale(drift: float, scale: float, terms: Callable[[], float]) -> EnergyScale:
    """The energies of the motion, or where these are as small as the rounding of their terms, the
    size of the terms.
    """
    if drift == scale == 0.0:
        return EnergyScale(1.0, at_rest=True)
    if not drift <= UNRESOLVED * scale and drift <= _ROUNDING * (largest := terms()):
        return EnergyScale(largest, at_rest=True)
    return EnergyScale(scale or 1.0, at_rest=False)


@dataclass(frozen=True)
class Quadratures:
    """Quantities integrated along with the motion: names, and their rates as nodes of one tape; K₂
    and 𝒰 as well.

    `Z` is the place among them of the quantity that makes K₂ + 𝒰 + Z constant (None if it is zero),
    `jump` that of the sum of the jumps of K₂ + 𝒰 at projections (None without projections),
    `defect` that of the sum of what was taken out of E_Z to bring it back to its level (None if it
    is left alone), `taken` that of the energy that events have taken out.
    """

    tape: Tape
    names: tuple[str, ...]
    rates: tuple[int, ...]
    K2: int
    V: int
    Z: int | None = None
    projection_change: int | None = None
    energy_correction: int | None = None
    event_loss: int | None = None

    def with_event_loss(self) -> Quadratures:
        """The same with room for the energy that events take out of K₂ + 𝒰."""
        names, rates = (*self.names, EVENT_LOSS), (*self.rates, self.tape.zero)
        return replace(self, names=names, rates=rates, event_loss=len(self.names))


@dataclass(frozen=True)
class Budget:
    """By how much E_Z may change per unit of time: in units of energy, and relative to max(K₂ + |𝒰
    − 𝒰₀| + |Z|).
    """

    per_time: float
    relative_per_time: float
    # of the whole run
    length: float


@dataclass(frozen=True)
class Audit:
    """The quadratures, as native code with its own list of parameters."""

    names: tuple[str, ...]
    parameters: tuple[int, ...]
    # the rates as expressions, for integrators that want them so; K₂ and 𝒰; q, u and t
    tape: Tape
    nodes: tuple[int, ...]
    energies: tuple[int, ...]
    state: tuple[int, ...]
    Z: int | None
    jump: int | None
    defect: int | None
    # whether the rates do without the time, and whether they take the multipliers after it
    autonomous: bool
    takes_multipliers: bool = False
    taken: int | None = None
    # how many numbers stand between (q, u) and t
    n_sensitivity_states: int = 0
    # multipliers or contact forces, which stand after the time, and the rates with the latter
    forces: tuple[int, ...] = ()
    nodes_of_forces: tuple[int, ...] = ()

    @property
    def event_loss(self) -> int | None:
        """Where the energy goes that a change of the state takes out: without a place of its own,
        where only rounding is taken out, to Z.
        """
        return self.Z if self.taken is None else self.taken

    @cached_property
    def rates(self) -> CompiledFunction | None:
        """The rates of all quadratures; None where there are none."""
        after = self.forces if self.takes_multipliers else ()
        return self._compile_nodes(self.nodes, after) if self.nodes else None

    @cached_property
    def rates_of_forces(self) -> CompiledFunction | None:
        """The same with the contact forces as arguments."""
        return self._compile_nodes(self.nodes_of_forces, self.forces) if self.nodes else None

    def _compile_nodes(self, nodes: Sequence[int], after: Sequence[int]) -> CompiledFunction:
        return CompiledFunction(self.tape, nodes, (*self.state, *after), self.parameters)

    @cached_property
    def energy(self) -> CompiledFunction:
        """K₂ and 𝒰, compiled only for runs that ask for them on the way: at projections, events,
        or under a budget.
        """
        return CompiledFunction(self.tape, self.energies, self.state, self.parameters, rarely=True)

    @cached_property
    def _run_count(self) -> Iterator[int]:
        return itertools.count()

    def compiled_for_rows(self) -> Callable[..., FloatArray] | None:
        """K₂ and 𝒰 at rows of states, for a system that is run again and again; None for the first
        runs, which do without.
        """
        if self.n_sensitivity_states or next(self._run_count) < _RUNS_BEFORE_COMPILING:
            return None
        return self.energy.batch

    @cached_property
    def energy_terms(self) -> CompiledFunction:
        """The sizes of the terms of K₂ and 𝒰, compiled only where nothing seems to move."""
        from dalembert.runtime.states.magnitude_bounds import magnitude_bounds

        bounds = magnitude_bounds(self.tape, self.energies)
        return CompiledFunction(self.tape, bounds, self.state, self.parameters)

    @cached_property
    def jets(self) -> CompiledTaylor:
        """The rates with their Taylor coefficients, compiled only for runs by that method."""
        from dalembert.runtime.numerics.taylor_code import CompiledTaylor

        return CompiledTaylor(
            self.tape, self.nodes, self.state, self.parameters, column=len(self.state) - 1
        )

    @cached_property
    def jacobian(self) -> CompiledFunction:
        """The derivatives of the rates, row by row, compiled only for runs of stiff systems."""
        return jacobian(self.tape, self.nodes, self.state, self.parameters)


@dataclass(frozen=True)
class BoundAudit:
    """An audit with the numbers of its parameters."""

    audit: Audit
    p: FloatArray

    def energies(self, y: Sequence[float] | FloatArray, t: float) -> FloatArray:
        """K₂ and 𝒰 at y = (q, u)."""
        energies: FloatArray = self.audit.energy.call(
            np.array([*y, *[0.0] * self.audit.n_sensitivity_states, t]), self.p
        )
        return energies

    def largest_errors(self, t: FloatArray, y: FloatArray) -> tuple[float, float] | None:
        """max |E_Z − E_Z(t₀)| and max (|K₂| + |𝒰| + |Z|) over rows of states with quadratures,
        by native code where that pays; otherwise None.
        """
        audit = self.audit
        energies = audit.compiled_for_rows()
        if energies is None:
            return None
        n = len(audit.state) - 1
        X = np.empty((len(t), n + 1))
        X[:, :n], X[:, n] = y[:, :n], t
        K2, V = energies(X, self.p).T
        E_Z, sizes = K2 + V, np.abs(K2) + np.abs(V)
        if audit.Z is not None:
            Z = y[:, n + audit.Z]
            E_Z += Z
            sizes += np.abs(Z)
        if audit.taken is not None:
            E_Z += y[:, n + audit.taken]
        return max(float(E_Z.max() - E_Z[0]), float(E_Z[0] - E_Z.min())), float(sizes.max())


_AUDITS: Final = PerOwnerCache[Audit]()


def native_audit(setting: RunValues, quadratures: Quadratures, room: int = 0) -> Audit:
    """Compile the quadratures and the energies as set; what was compiled for the same bindings is
    used again.

    `room` is how many numbers stand between (q, u) and t in the state.
    """
    kin = setting.kin
    key = (quadratures.names, setting.binding_key, room)
    return _AUDITS(kin, key, lambda: _compile_audit(setting, quadratures, room))


def _compile_audit(setting: RunValues, quadratures: Quadratures, room: int) -> Audit:
    kin = setting.kin
    # on a tape of its own: whether the motion was compiled before must not show in the last bits
    tape = kin.tape.fork()
    insert = Substitution(tape, setting.bindings)

    def here(nodes: Sequence[int]) -> list[int]:
        return [insert(i) for i in copy_expressions(quadratures.tape, tape, nodes)]

    rates, energies = here(quadratures.rates), here((quadratures.K2, quadratures.V))
    between = [tape.symbol(f"∂{k}") for k in range(room)]
    state = (*kin.state, *between, kin.system.t.i)
    parameters = tuple(
        i
        for i in symbols_of(tape, (*rates, *energies))
        if i not in state and i not in kin.multipliers and i not in setting.state_dependent
    )
    # the power of moving rows needs λ, which then stands after the time
    moved_by_rows = not set(kin.multipliers).isdisjoint(symbols_of(tape, rates))
    contact = tuple(i for i in setting.bindings if i in setting.state_dependent)
    nodes = _rates_of_forces(setting, quadratures, tape) if contact else tuple(rates)
    places = quadratures.Z, quadratures.projection_change, quadratures.energy_correction
    autonomous = kin.system.t.i not in symbols_of(tape, rates) and not moved_by_rows
    how = autonomous, moved_by_rows, quadratures.event_loss
    return Audit(
        quadratures.names,
        parameters,
        tape,
        tuple(rates),
        tuple(energies),
        state,
        *places,
        *how,
        n_sensitivity_states=room,
        forces=kin.multipliers if moved_by_rows else contact,
        nodes_of_forces=nodes,
    )


def _rates_of_forces(setting: RunValues, quadratures: Quadratures, tape: Tape) -> tuple[int, ...]:
    """The rates of the quadratures with contact forces as symbols."""
    known = {i: x for i, x in setting.bindings.items() if i not in setting.state_dependent}
    rates = copy_expressions(quadratures.tape, tape, quadratures.rates)
    return tuple(map(Substitution(tape, known), rates))
