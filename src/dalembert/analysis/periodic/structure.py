"""I(x) = const, ξ(x): first integrals, symmetries and shifts, as a periodic motion meets them.

A first integral I of a Hamiltonian system belongs to a symmetry ξ, Ω ξ = ∇I, with Ω = dq ∧ dp
on the states that the constraints allow and p = ∂T/∂q̇. A coordinate shifts freely if no rate
but its own kind depends on it: the position of a wheel that rolls on, the heading of a body
that turns.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from dalembert.analysis.integrals.energies import Energies
from dalembert.analysis.integrals.energy_integrals import known_substitutions
from dalembert.analysis.integrals.first_integrals import (
    FirstIntegral,
    first_integrals,
    kinetic_energy_in_rates,
)
from dalembert.analysis.integrals.identity_test import MotionIdentityTest
from dalembert.analysis.periodic.flow import Flow
from dalembert.errors import DalembertError
from dalembert.foundation.array_types import FloatArray
from dalembert.foundation.caching import PerOwnerCache
from dalembert.foundation.deferred_dataclass import dataclass
from dalembert.mechanics.agreement.principle_registry import derive_equations_of_motion
from dalembert.mechanics.geometry.rotation import Quaternion
from dalembert.mechanics.kinematics.constraint_rows import position_residuals
from dalembert.mechanics.kinematics.system_kinematics import kinematics
from dalembert.mechanics.principles.derivation import cached_derivation
from dalembert.runtime.numerics.compiled_function import CompiledFunction
from dalembert.runtime.states.evaluator import Evaluator
from dalembert.runtime.states.run_values import parameter_vector, run_values
from dalembert.symbolic.algebra.exact.zero_test import provably_zero
from dalembert.symbolic.algebra.expression_graph import Derivative, gradient, symbols_of
from dalembert.symbolic.algebra.sparse_matrix import Column, gradient_column

if TYPE_CHECKING:
    from dalembert.mechanics.kinematics.system_kinematics import Kinematics

TWO_PI: Final = 2.0 * math.pi
_RANK: Final = 1e-9
# how well f(q + 2π) = f(q) holds for an angle
_SAME: Final = 1e-9
_PROBES: Final = 3
_SPREAD: Final = 0.3
_SYMPLECTIC: Final = 1e-8


class Integrals(NamedTuple):
    """First integrals of a description, the momenta ∂T/∂q̇, and why there are none, if so."""

    result: tuple[FirstIntegral, ...]
    momenta: tuple[object, ...]
    reason: str = ""


_INTEGRALS: Final = PerOwnerCache[Integrals]()


def _integrals_of(flow: Flow) -> Integrals:
    """Decided once for a description and the symbols that are zero or bound in it."""
    kin = kinematics(flow.given.system)
    chosen = run_values(kin, flow.given.values, flow.given.inputs)
    key = (chosen.binding_key, tuple(sorted(i for i, x in chosen.numbers.items() if x == 0.0)))

    def decide() -> Integrals:
        try:
            E = Energies(kin)
            equations = cached_derivation(derive_equations_of_motion, kin).equations
            motion = MotionIdentityTest(E.t, equations, E.kin.nonlinear_rows)
            first = first_integrals(E, motion, known_substitutions(E, chosen))
            qdot = Column(E.t, E.kin.qdot)
            p = [E.kin.scalar(i) for i in gradient_column(kinetic_energy_in_rates(E), qdot)]
            return Integrals(first, tuple(p))
        except DalembertError as problem:
            return Integrals((), (), str(problem))

    return _INTEGRALS(kin, key, decide)


@dataclass(frozen=True)
class _Functions:
    """Values and gradients of expressions of the state, compiled."""

    compiled: CompiledFunction | None
    parameters: tuple[int, ...]
    count: int
    n: int

    def at(self, x: FloatArray, t: float, p: FloatArray) -> tuple[FloatArray, FloatArray]:
        """The values, and a row of derivatives for each."""
        if self.compiled is None:
            return np.zeros(0), np.zeros((0, self.n))
        out = np.asarray(self.compiled.call(np.append(x, t), p))
        return out[: self.count], out[self.count :].reshape(self.count, self.n)


def _compile_functions(evaluator: Evaluator, nodes: Sequence[int]) -> _Functions:
    kin, n = evaluator.kin, len(evaluator.kin.state)
    if not nodes:
        return _Functions(None, (), 0, n)
    tape = evaluator.tape
    reduced = [evaluator.in_state(i) for i in nodes]
    slopes_ = [i for e in reduced for i in gradient(tape, {e: tape.one}, kin.state)]
    state = (*kin.state, evaluator.time)
    parameters = tuple(i for i in symbols_of(tape, [*reduced, *slopes_]) if i not in state)
    return _Functions(
        CompiledFunction(tape, [*reduced, *slopes_], state, parameters), parameters, len(nodes), n
    )


_DEPENDS: Final = PerOwnerCache[tuple[frozenset[int], ...]]()


def _dependence(flow: Flow) -> tuple[frozenset[int], ...]:
    """For each coordinate the rates with ∂f/∂q ≢ 0, decided exactly if explicit."""
    model, kin = flow.model, flow.kin
    tape, entries = model.tape.fork(), model.entries
    if entries is None:
        rows = [(k, [e]) for k, e in enumerate(model.nodes)]
    else:
        others = [*entries.f, *entries.gamma, *entries.e, *entries.phi]
        others += [i for row in (*entries.M, *entries.A) for i in row.values()]
        rows = [*((k, [e]) for k, e in enumerate(entries.qdot)), (flow.n - 1, others)]
    result = []
    for q in kin.q:
        along = Derivative(tape, {q: tape.one}.get)
        inside = [(k, nodes) for k, nodes in rows if q in symbols_of(tape, nodes)]
        zero = (
            provably_zero(tape, [along(nodes[0]) for _, nodes in inside])
            if entries is None and inside
            else ()
        )
        kept = (
            [k for (k, _), z in zip(inside, zero, strict=True) if not z]
            if zero
            else [k for k, _ in inside]
        )
        result.append(frozenset(kept))
    return tuple(result)


class Structure:
    """What is known about a flow: integrals, constraints, momenta, shifts, angles, quaternions."""

    def __init__(self, flow: Flow, shift: Sequence[str] | None = None) -> None:
        self.flow, self.n = flow, flow.n
        self.kin: Kinematics = flow.kin
        self._evaluator = Evaluator(flow.kin, flow.chosen.numbers, flow.chosen.bindings)
        known_ = _integrals_of(flow)
        self.reason = known_.reason
        self.names = tuple(integral_name(f) for f in known_.result)
        self.energy = next((k for k, f in enumerate(known_.result) if f.is_H), None)
        if self.energy is None:
            self.energy = next(
                (k for k, name in enumerate(self.names) if "T₂ − T₀ + V" in name), None
            )
        node = self._evaluator.node
        self._integrals = _compile_functions(
            self._evaluator, [node(f.expression) for f in known_.result]
        )
        rows = position_residuals(self._evaluator.tape, self.kin.linear_rows)
        self._rows = _compile_functions(
            self._evaluator, [*rows, *(row.e for row in self.kin.velocity_rows)]
        )
        self._momenta = _compile_functions(self._evaluator, [node(p) for p in known_.momenta])
        self.shifts = self._find_shifts() if shift is None else self._read_shifts(shift)

    def on(self, flow: Flow) -> Structure:
        """The same for another flow of the same system."""
        return Structure(flow, [self.flow.names[j] for j in self.shifts])

    def _numbers(self, functions: _Functions) -> FloatArray:
        return parameter_vector(self.flow.chosen, functions.parameters)

    def integrals(self, x: FloatArray, t: float) -> tuple[FloatArray, FloatArray]:
        """I(x) and ∇I, a row for each."""
        return self._integrals.at(x, t, self._numbers(self._integrals))

    def energy_at(self, x: FloatArray, t: float) -> float | None:
        """The energy integral at x, if there is one."""
        return None if self.energy is None else float(self.integrals(x, t)[0][self.energy])

    def constraint_rows(self, x: FloatArray, t: float) -> tuple[FloatArray, FloatArray]:
        """The constraint equations at x and their derivatives, those of closed contacts too."""
        F, J = self._rows.at(x, t, self._numbers(self._rows))
        held, slopes = self.flow.closed_rows(x, t)
        return np.append(F, held), np.vstack([J, slopes])

    def tangent_basis(self, x: FloatArray, t: float) -> FloatArray:
        """Orthonormal columns that span the states near x which the constraints allow."""
        J = self.constraint_rows(x, t)[1]
        if not len(J):
            return np.eye(self.n)
        _, sizes, V = np.linalg.svd(J)
        rank = int((sizes > _RANK * max(sizes[0], 1.0)).sum())
        return np.asarray(V[rank:].T)

    def symplectic_form(self, x: FloatArray, t: float, B: FloatArray) -> FloatArray | None:
        """Ω = dq ∧ dp in the tangent basis B; None where the momenta do not determine it."""
        if not self._momenta.count or self.kin.x:
            return None
        Omega = np.zeros((self.n, self.n))
        Omega[: self.kin.n_q] = self._momenta.at(x, t, self._numbers(self._momenta))[1]
        Omega = B.T @ (Omega - Omega.T) @ B
        return Omega if Omega.size and np.linalg.cond(Omega, 1) < 1.0 / _RANK else None

    def symmetries(self, x: FloatArray, t: float, B: FloatArray) -> FloatArray:
        """ξ with Ω ξ = ∇I for every integral, a column each; none where Ω is not available."""
        Omega = self.symplectic_form(x, t, B) if self._integrals.count else None
        if Omega is None:
            return np.zeros((self.n, 0))
        return np.asarray(B @ np.linalg.solve(Omega, B.T @ self.integrals(x, t)[1].T))

    def is_symplectic(self, M: FloatArray, x: FloatArray, t: float, B: FloatArray) -> bool:
        """MᵀΩM = Ω, to the accuracy of M."""
        Omega, M_B = self.symplectic_form(x, t, B), B.T @ M @ B
        if Omega is None:
            return False
        growth = max(1.0, float(np.linalg.norm(M_B, 2)))
        return bool(
            np.linalg.norm(M_B.T @ Omega @ M_B - Omega)
            <= _SYMPLECTIC * growth**2 * np.linalg.norm(Omega)
        )

    # ---- shifts, angles, quaternions -----------------------------------------------------------

    @cached_property
    def _depends(self) -> tuple[frozenset[int], ...]:
        """For each coordinate the places of the rates that depend on it."""
        model = self.flow.model
        return _DEPENDS(self.kin, (model.tape, model.nodes), lambda: _dependence(self.flow))

    def _find_shifts(self) -> tuple[int, ...]:
        """The largest set of coordinates on which no rate outside the set depends.

        A constraint between positions joins its coordinates: all of them are in the set, or none.
        """
        quaternions = {j for four in self.quaternions for j in four}
        kept = set(range(self.kin.n_q)) - quaternions - self.flow.guarded_coordinates
        place = {i: j for j, i in enumerate(self.kin.q)}
        tape, rows = self.kin.tape, [r.phi for r in self.kin.linear_rows if r.phi is not None]
        joined = [{place[i] for i in symbols_of(tape, (e,)) if i in place} for e in rows]
        while True:
            wrong = {j for j in kept if self._depends[j] - kept}
            wrong |= {j for names in joined if names - kept for j in names & kept}
            if not wrong:
                return tuple(sorted(kept))
            kept -= wrong

    def _read_shifts(self, names: Sequence[str]) -> tuple[int, ...]:
        return tuple(self.flow.names.index(name) for name in names)

    @cached_property
    def quaternions(self) -> tuple[tuple[int, ...], ...]:
        """The places of the components of each quaternion."""
        place = {i: k for k, i in enumerate(self.kin.q)}
        rotations = (F.rotation for F in self.kin.system.space.frames)
        fours = (
            tuple(place[i] for i in r.e if i in place)
            for r in rotations
            if isinstance(r, Quaternion)
        )
        return tuple(four for four in fours if four)

    @cached_property
    def angles(self) -> tuple[int, ...]:
        """The coordinates after whose increase by 2π the rates are the same."""
        flow, generator = self.flow, np.random.default_rng(0)
        result = [j for j, i in enumerate(self.kin.q) if i in self._evaluator.angles]
        known = {*result, *self.shifts, *self.flow.guarded_coordinates}
        others = [j for j in range(self.kin.n_q) if j not in known]
        probes = [flow.x0]
        if not self._rows.count:
            probes += [flow.x0 + _SPREAD * generator.normal(size=self.n) for _ in range(_PROBES)]
        for j in others:
            step = np.zeros(self.n)
            step[j] = TWO_PI
            pairs = [(flow.rate(x, 0.0), flow.rate(x + step, 0.0)) for x in probes]
            if all(np.allclose(a, b, rtol=_SAME, atol=_SAME) for a, b in pairs):
                result.append(j)
        return tuple(sorted(result))


def integral_name(f: FirstIntegral) -> str:
    """The name of an integral; "energy" for the generalized Hamiltonian."""
    return "energy" if f.is_H or f.name.startswith("Jacobi integral") else f.name


def symmetry_name(integral: str) -> str:
    """The symmetry that belongs to an integral: of the energy the shift in time."""
    pairs = (
        ("energy", "time shift"),
        ("linear momentum along ", "translation along "),
        ("angular momentum about O along ", "rotation about "),
        ("momentum of ", "shift of "),
    )
    for begin, name in pairs:
        if integral.startswith(begin):
            return name + integral.removeprefix(begin)
    return f"symmetry of {integral}"
