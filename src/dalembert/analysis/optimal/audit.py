"""Whether an answer is true: its inputs replayed by the integrator, its costates, and its bounds
between nodes.

restarted    every interval integrated from its own node: the distance to the next node
replay       the whole motion: it may miss by Σ ‖Z_N … Z_{k+1}‖ e_k, with Z_k = ∂x_{k+1}/∂x_k
cost         Σ p_{k+1}·(integrated − collocated) + Σ (∫L dt − quadrature)
Hamiltonian  L + pᵀf at the nodes: constant in autonomous problems, zero for a free duration

Source: for the costates at nodes, p_k = Σ_i D_i0 λ_ki: the multipliers of the rows that contain
x_k.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import field
from functools import cached_property
from typing import Final

import numpy as np

from dalembert.analysis.optimal.mesh import Overshoot, overshoots, unknowns_at
from dalembert.analysis.optimal.replay import PhaseAnswer, Replay
from dalembert.analysis.optimal.scheme import gauss
from dalembert.errors import DalembertError
from dalembert.foundation.array_types import FloatArray
from dalembert.foundation.deferred_dataclass import dataclass
from dalembert.foundation.display import Displayable
from dalembert.runtime.simulation.trajectory import Trajectory

_GAUSS: Final = 12
# an overshoot below this part of the distance between its bounds is not reported as a failure
_OVERSHOOT: Final = 1e-4
# integrals may be wrong by this multiple of the tolerance of an interval
_INTEGRALS: Final = 1e3
# the replay may miss by what rounding and the integrator's own tolerance amount to
_ROUNDING: Final = 1e-10
# the linear estimate of the replay's error holds within this factor
_SAFETY: Final = 3.0


class IntervalErrors:
    """Errors of the intervals of one phase, all in the same scales of the states."""

    def __init__(
        self,
        answer: PhaseAnswer,
        multipliers: FloatArray,
        prices: FloatArray,
        end_multipliers: FloatArray,
    ) -> None:
        self.answer = answer
        self.replay = Replay(answer)
        self.ends, self.motion = self.replay.restarted()
        size = np.abs(answer.node_states).max(axis=0)
        self.scale: FloatArray = np.where(size > 0.0, size, 1.0)
        # (interval, point, state)
        self.multipliers = multipliers
        # multipliers of the integral conditions, whose integrands belong to the Hamiltonian
        self.prices = prices
        # (interval, state), of the rows of ends that are no points
        self.end_multipliers = end_multipliers

    @cached_property
    def misses(self) -> FloatArray:
        """Integrated less collocated state at the end of every interval, in the order of the
        replay.
        """
        places = self.replay.places
        misses: FloatArray = self.ends - self.answer.node_states[1:, places]
        return misses

    @cached_property
    def errors(self) -> FloatArray:
        """e_k, relative to the largest value of each state."""
        relative = self.misses / self.scale[self.replay.places]
        errors: FloatArray = np.linalg.norm(relative, axis=1)
        return errors

    @cached_property
    def costates(self) -> FloatArray:
        """p at every node: a row for each."""
        scheme = self.answer.layout.scheme
        inner = np.einsum("i,kir->kr", scheme.D[:, 0], self.multipliers)
        if scheme.has_end:
            last = -self.multipliers[-1:, -1] / scheme.weights[-1]
        else:
            inner = inner - scheme.end_weights[0] * self.end_multipliers
            last = -self.end_multipliers[-1:]
        return np.concatenate([inner, last])

    @cached_property
    def transitions(self) -> FloatArray:
        """Z_k = ∂x_{k+1}/∂x_k with the inputs as they are, from the linearized rows of the
        interval.
        """
        phase, layout = self.answer.functions, self.answer.layout
        K, n_x, n_e = layout.scheme.order, phase.n_states, len(phase.equations.equations)
        n = n_x + len(phase.equations.algebraic)
        J = self._point_jacobians()
        f, g = J[:, :, :n_x, :n], J[:, :, n_x : n_x + n_e, :n]
        A = np.zeros((layout.n_intervals, K, n_x + n_e, K, n))
        D = layout.scheme.D
        for i in range(K):
            for j in range(K):
                A[:, i, :n_x, j, :n_x] += D[i, j + 1] * np.eye(n_x)
            A[:, i, :n_x, i, :] -= layout.widths[:, None, None] * f[:, i]
            A[:, i, n_x:, i, :] = g[:, i]
        b = np.zeros((K, n_x + n_e, n_x))
        b[:, :n_x] = -D[:, :1, None] * np.eye(n_x)
        size = K * (n_x + n_e)
        solution = np.linalg.solve(
            A.reshape(layout.n_intervals, size, K * n),
            np.broadcast_to(b.reshape(-1, n_x), (layout.n_intervals, size, n_x)),
        )
        at_points = np.asarray(solution, dtype=np.float64).reshape(layout.n_intervals, K, n, n_x)
        weights = layout.scheme.end_weights
        Z: FloatArray = np.einsum("i,kirs->krs", weights[1:], at_points[:, :, :n_x])
        return np.asarray(Z + weights[0] * np.eye(n_x))

    def _point_jacobians(self) -> FloatArray:
        """The slopes of the rows of every point: (interval, point, row, unknown)."""
        answer, phase, layout = self.answer, self.answer.functions, self.answer.layout
        common = np.tile(answer.common, (len(layout.points), 1))
        z = np.column_stack([answer.v[layout.points], common, layout.fractions])
        slopes = phase.point.jacobian(z, phase.parameters_for(phase.point))
        return slopes.reshape(layout.n_intervals, layout.scheme.order, -1, z.shape[1] - 1)

    @cached_property
    def amplifications(self) -> FloatArray:
        """‖Z_N … Z_{k+1}‖ for every interval k, in scaled states."""
        G, norms = np.eye(len(self.scale)), np.empty(len(self.errors))
        for k in reversed(range(len(norms))):
            norms[k] = np.linalg.norm(G * self.scale[None, :] / self.scale[:, None], 2)
            G = G @ self.transitions[k]
        return norms

    @cached_property
    def total_amplification(self) -> float:
        """The factor by which the whole motion amplifies an error of its first state."""
        G = np.eye(len(self.scale))
        for Z in self.transitions:
            G = Z @ G
        return float(np.linalg.norm(G * self.scale[None, :] / self.scale[:, None], 2))

    @cached_property
    def cost_error(self) -> float:
        """The true cost of the replayed inputs less that of the program, to first order; errors of
        integral conditions count with their multipliers.
        """
        change = float((self.costates[1:, self.replay.places] * self.misses).sum())
        prices = np.append(self.prices, [1.0] * self._has_cost)
        return change + float(self.quadrature_errors.sum(axis=0) @ prices)

    @property
    def _has_cost(self) -> bool:
        return self.answer.functions.cost != self.answer.functions.tape.zero

    @cached_property
    def quadrature_errors(self) -> FloatArray:
        """∫ … dt along the integrated motion less its quadrature, for every interval: those of
        integral conditions, then the cost.
        """
        answer, layout = self.answer, self.answer.layout
        s, weights = gauss(_GAUSS)
        z = unknowns_at(answer, s)
        fractions = (layout.mesh[:-1, None] + layout.widths[:, None] * s).ravel()
        states = self.motion.solution.at(answer.t0 + answer.duration * fractions)
        kin = self.motion.values.kin
        z[:, self.replay.places] = states[:, kin.layout.without_inputs]
        true = np.einsum("s,ksj->kj", weights, self._integrands(z, fractions))
        quadrature = np.einsum("s,ksj->kj", layout.scheme.weights, self._at_points)
        errors: FloatArray = layout.widths[:, None] * (true - quadrature)
        return errors

    @cached_property
    def integral_sizes(self) -> FloatArray:
        """∫ |…| dt of each integral."""
        layout = self.answer.layout
        sizes = np.einsum("k,s,ksj->j", layout.widths, layout.scheme.weights, abs(self._at_points))
        return np.where(sizes > 0.0, sizes, 1.0)

    @cached_property
    def refinement_errors(self) -> FloatArray:
        """Those of the states and of the integrals, the largest of each interval."""
        relative = np.abs(self.quadrature_errors) / self.integral_sizes
        return np.asarray(np.maximum(self.errors, relative.max(axis=1, initial=0.0)))

    @cached_property
    def _at_points(self) -> FloatArray:
        layout = self.answer.layout
        return self._integrands(self.answer.v[layout.points], layout.fractions)

    def _integrands(self, z: FloatArray, fractions: FloatArray) -> FloatArray:
        """T c and T L: (interval, place, integral)."""
        phase = self.answer.functions
        full = np.column_stack([z, np.tile(self.answer.common, (len(z), 1)), fractions])
        values = phase.point.values(full, phase.parameters_for(phase.point))
        first = phase.n_states + len(phase.equations.equations) + len(phase.path)
        n = self.answer.layout.n_intervals
        return values[:, first:].reshape(n, len(z) // n, values.shape[1] - first)

    @cached_property
    def hamiltonian(self) -> FloatArray:
        """L + pᵀf at the beginning of every interval, with accelerations by the integrator's own
        equations.
        """
        answer, phase = self.answer, self.answer.functions
        layout, n_x, eq = answer.layout, phase.n_states, phase.equations
        z = unknowns_at(answer, np.zeros(1))
        first = n_x + len(eq.algebraic)
        z[:, first:] = np.clip(z[:, first:], phase.lower[first:], phase.upper[first:])
        kin = self.motion.values.kin
        if eq.algebraic:
            z[:, n_x:first] = 0.0
            if not eq.accelerations and kin.u:
                z[:, n_x : n_x + kin.n_u] = self._accelerations()
        full = np.column_stack([z, np.tile(answer.common, (len(z), 1)), layout.mesh[:-1]])
        values = phase.point.values(full, phase.parameters_for(phase.point))
        L = values[:, -1] if phase.cost != phase.tape.zero else 0.0
        begin = n_x + len(eq.equations) + len(phase.path)
        L = L + values[:, begin : begin + len(self.prices)] @ self.prices
        H: FloatArray = (L + (self.costates[:-1] * values[:, :n_x]).sum(axis=1)) / answer.duration
        return H

    def _accelerations(self) -> FloatArray:
        """u̇ at the nodes."""
        values, motion = self.motion.values, self.motion
        kin, nodes, times = values.kin, self.answer.node_states[:-1], self.answer.times[:-1]
        rows = np.zeros((len(nodes), len(kin.state)))
        rows[:, kin.layout.without_inputs] = nodes[:, self.replay.places]
        for each in values.callback_inputs:
            places = [kin.state.index(i) for i in each.nodes]
            rows[:, places] = [
                [each.table_values(t)[i] for i in each.nodes] for t in times.tolist()
            ]
        assert motion.accelerations is not None
        return np.asarray(motion.accelerations(rows, times))


@dataclass(frozen=True, eq=False)
class PhaseAudit:
    """What the checks of one phase gave."""

    errors: FloatArray = field(repr=False)
    worst_interval: float
    amplification: float
    # the whole replay: its miss at the end, and what the errors of the intervals amount to
    replay_miss: float
    allowed_miss: float
    energy_error: float | None
    overshoot: Overshoot | None
    # {integral: its error between points, relative to ∫ |…| dt}
    integral_errors: dict[str, float]
    cost_error: float
    hamiltonian: FloatArray = field(repr=False)
    hamiltonian_spread: float | None
    hamiltonian_mean: float | None
    stabilization: float
    replay: Trajectory | None = field(repr=False)
    replay_note: str = ""


def audit_phase(errors: IntervalErrors, pieces: tuple[float, ...], *, applies: bool) -> PhaseAudit:
    """All checks of a phase; `pieces` are the inner times at which the Hamiltonian may jump."""
    answer = errors.answer
    whole, note, miss, energy = _whole(errors)
    outside = max(overshoots(answer), key=lambda o: o.relative, default=None)
    allowed = _SAFETY * float(errors.amplifications @ errors.errors) + _ROUNDING * (
        1.0 + float(errors.amplifications.sum())
    )
    H, spread = errors.hamiltonian, None
    if applies:
        parts = np.searchsorted(np.array(pieces), answer.layout.mesh[:-1] + 1e-12)
        spread = float(max(np.ptp(H[parts == k]) for k in np.unique(parts)))
    gamma = answer.functions.equations.gamma
    first = answer.functions.n_states + len(answer.functions.equations.algebraic) - len(gamma)
    size = float(np.abs(answer.point_values[:, :, first : first + len(gamma)]).max(initial=0.0))
    return PhaseAudit(
        errors.errors,
        float(errors.errors.max()),
        errors.total_amplification,
        miss,
        allowed,
        energy,
        outside,
        _integral_errors(errors),
        errors.cost_error,
        H,
        spread,
        float(H.mean()) if applies else None,
        size,
        whole,
        note,
    )


def _integral_errors(errors: IntervalErrors) -> dict[str, float]:
    """How far each integral differs from the sum over its points."""
    names = [f"the integral of {c.text}" for c in errors.answer.functions.integrals]
    relative = np.abs(errors.quadrature_errors.sum(axis=0)) / errors.integral_sizes
    return dict(zip((*names, "the cost"), relative.tolist(), strict=False))


def _whole(errors: IntervalErrors) -> tuple[Trajectory | None, str, float, float | None]:
    """The whole replay, its miss at the end, and the relative error of its energy integral."""
    try:
        whole = errors.replay.whole()
    except DalembertError as problem:
        return None, f"the replay stopped: {problem}", np.inf, None
    places = errors.replay.places
    end = np.concatenate([whole.q[-1], whole.x[-1][: len(whole.kinematics.x)], whole.u[-1]])
    miss = (end - errors.answer.node_states[-1, places]) / errors.scale[places]
    energy = None
    if whole.energy_audit is not None:
        E, parts = whole.integrals.E_Z, whole.integrals
        size = (
            np.abs(parts.K2).max()
            + np.abs(parts.potential - parts.potential[0]).max()
            + np.abs(parts.Z).max()
        )
        energy = float(np.abs(E - E[0]).max() / size) if size > 0.0 else 0.0
    return whole, "", float(np.linalg.norm(miss)), energy


@dataclass(frozen=True, eq=False)
class OptimumAudit(Displayable):
    """The checks of all phases, and those that failed."""

    phases: tuple[PhaseAudit, ...]
    tolerance: float
    converged: bool
    status: str
    violation: float
    optimality: float
    # the duration of a phase is free, so its Hamiltonian is zero
    free_duration: bool

    @property
    def worst_interval(self) -> float:
        """The largest error of a restarted interval."""
        return max(p.worst_interval for p in self.phases)

    @property
    def cost_error(self) -> float:
        """The estimated error of the cost."""
        return sum(p.cost_error for p in self.phases)

    @cached_property
    def failures(self) -> tuple[str, ...]:
        """What is wrong with the answer, a sentence for each failure."""
        texts = []
        if not self.converged:
            texts.append(
                f"the solver did not converge: {self.status} (largest violation "
                f"{self.violation:.1e})"
            )
        for k, p in enumerate(self.phases):
            where = f" in phase {k + 1}" if len(self.phases) > 1 else ""
            if p.worst_interval > self.tolerance:
                j = int(np.argmax(p.errors))
                texts.append(
                    f"interval {j + 1} of {len(p.errors)}{where} misses the integrator by "
                    f"{p.worst_interval:.1e} "
                    f"(asked: {self.tolerance:.1e}); refine the mesh"
                )
            if p.replay_note:
                texts.append(p.replay_note)
            elif p.replay_miss > p.allowed_miss:
                texts.append(
                    f"the replay{where} misses the end by {p.replay_miss:.1e}; interval errors "
                    f"explain {p.allowed_miss:.1e}"
                )
            if p.overshoot is not None and p.overshoot.relative > _OVERSHOOT:
                o = p.overshoot
                texts.append(
                    f"{o.name} exceeds its bound by {o.excess:.3g} between nodes, at t = "
                    f"{o.time:.6g}{where}; refine the mesh"
                )
            texts += [
                f"{name}{where} differs from the sum over its points by {error:.1e} of its size; "
                f"refine the mesh or give another guess"
                for name, error in p.integral_errors.items()
                if error > _INTEGRALS * self.tolerance
            ]
        return tuple(texts)

    @property
    def passed(self) -> bool:
        """Whether nothing failed."""
        return not self.failures

    def _phase_lines(self, p: PhaseAudit) -> Iterator[str]:
        """What was checked of one phase."""
        yield (
            f"intervals restarted: largest distance to the integrator {p.worst_interval:.1e} "
            f"(asked {self.tolerance:.1e})"
        )
        yield (
            f"whole replay: misses the end by {p.replay_miss:.1e}; allowed {p.allowed_miss:.1e} "
            f"(errors are amplified by {p.amplification:.3g})"
        )
        if p.energy_error is not None:
            yield f"energy error of the replay (drift of E_Z): {p.energy_error:.1e}"
        if (o := p.overshoot) is not None:
            beyond = f"{o.name} exceeds its bound by {o.excess:.2g} at t = {o.time:.4g}"
            yield f"bounds between nodes: {beyond if o.excess > 0.0 else 'satisfied'}"
        if p.hamiltonian_spread is not None:
            mean = (
                f"{p.hamiltonian_mean:.3g} (0 for a free duration)"
                if self.free_duration
                else f"{p.hamiltonian_mean:.6g}"
            )
            yield f"Hamiltonian: spread {p.hamiltonian_spread:.1e}, mean {mean}"
        if p.stabilization:
            yield f"stabilization of the constraint equations: largest γ {p.stabilization:.1e}"

    def __str__(self) -> str:
        several = len(self.phases) > 1
        lines = [
            f"  {f'phase {k}, ' * several}{line}"
            for k, p in enumerate(self.phases, 1)
            for line in self._phase_lines(p)
        ]
        lines.append(
            f"  cost: estimated error {self.cost_error:+.1e}; solver: {self.status}, optimality "
            f"{self.optimality:.1e}"
        )
        lines += [f"  FAILED: {text}" for text in self.failures]
        return "\n".join(lines)
