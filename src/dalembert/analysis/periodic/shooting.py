"""x_{i+1} = φ(x_i, t_i, t_{i+1}),  x₀ = C φ(x_{N−1}, t_{N−1}, T): multiple shooting.

The unknowns are N states, the period T and one more number λ: a constant, the energy or the
period itself. Phase conditions, one for the flow and one for each symmetry, choose a motion
among shifted ones. With first integrals there are more equations than unknowns, all of which
hold at a solution; Gauss and Newton's method then converges as Newton's does. This has the same
solutions as ẋ = f + Σ α_i ∇I_i with α = 0, and needs no derivative of ∇I.

Source: HNW1 I.14 (derivatives of the flow).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import field, replace
from itertools import pairwise
from typing import Any, Final, NamedTuple, Protocol

import numpy as np

from dalembert.analysis.periodic.drive import DrivePeriod
from dalembert.analysis.periodic.flow import Flow
from dalembert.analysis.periodic.structure import TWO_PI, Structure
from dalembert.errors import DalembertError, NotApplicable
from dalembert.foundation.array_types import FloatArray
from dalembert.foundation.deferred_dataclass import dataclass
from dalembert.runtime.ode.failures import RunStopped

_MOST_ITERATIONS: Final = 25
_MOST_HALVINGS: Final = 6
_RANK: Final = 1e-11
# a step of Newton's method, in units of the state, after which the next is below rounding
CONVERGED: Final = 1e-9
# the largest closing error of what counts as a periodic motion
CLOSED: Final = 1e-7
# how much a segment may magnify a deviation before more segments are taken
_GROWTH: Final = 30.0
_MOST_SEGMENTS: Final = 24
_SPLIT: Final = 100.0
# growth over a period beyond which all states are solved for at once
_STEEP: Final = 1e7


class NoPeriodicMotion(DalembertError):
    """No periodic motion near the guess; `closest` is the smallest closing error."""

    def __init__(
        self,
        message: str,
        closest: float = np.inf,
        state: dict[str, float] | None = None,
        period: float = np.nan,
    ) -> None:
        super().__init__(message)
        self.closest, self.state, self.period = closest, dict(state or {}), period


@dataclass(frozen=True)
class Closing:
    """x₀ = C(x(T)): rows that close, turns of angles, signs of quaternions, a map of the user."""

    rows: tuple[int, ...]
    turns: FloatArray
    signs: FloatArray
    map: Callable[[FloatArray, float], tuple[FloatArray, FloatArray]] | None = None

    def __call__(self, x: FloatArray, t: float) -> tuple[FloatArray, FloatArray]:
        """C(x) and ∂C/∂x."""
        if self.map is not None:
            y, D = self.map(x, t)
        else:
            y, D = x, np.eye(len(x))
        return self.signs * y - TWO_PI * self.turns, self.signs[:, None] * D


@dataclass(frozen=True)
class Conditions:
    """What λ stands for, and numbers that are held: energy, period, momenta."""

    # "constant", "energy", "period" or "" for none
    free: str = ""
    constant: str = ""
    energy: float | None = None
    period: float | None = None
    # T(p) of a forced system and ∂T/∂λ
    drive: DriveSlope | None = None
    # integrals held at numbers, by their places
    held: tuple[tuple[int, float], ...] = ()
    # a time reversal: signs with which x(0) and x(T/2) are their own images
    reversal: FloatArray | None = None


@dataclass(frozen=True)
class DriveSlope:
    """T(p) of a drive and ∂T/∂λ, `factor` periods of it."""

    period: DrivePeriod
    symbol: int | None = None
    factor: float = 1.0

    def __call__(self) -> tuple[float, float]:
        """T and ∂T/∂λ."""
        T, slope = self.period.slope(self.symbol)
        return self.factor * T, self.factor * slope

    def on(self, flow: Flow, symbol: int) -> DriveSlope:
        """The same for another flow of the same system, along a constant."""
        return replace(self, period=self.period.on(flow), symbol=symbol)

    def times(self, k: int) -> DriveSlope:
        """Of k times as many periods."""
        return replace(self, factor=self.factor * k)


class Legs(NamedTuple):
    """All segments of a motion: their ends and derivatives, and f at their ends and beginnings."""

    ends: FloatArray
    Phi: list[FloatArray]
    S: list[FloatArray]
    rates: FloatArray
    begins: FloatArray
    # the events that changed the state
    events: tuple[str, ...] = ()


class Linearized(NamedTuple):
    """All residuals, and the condensed equations f + J w = 0 with w = (δx₀, δT, δλ)."""

    residuals: FloatArray
    f: FloatArray
    J: FloatArray

    @property
    def error(self) -> float:
        """|F|"""
        return float(np.linalg.norm(self.residuals))


@dataclass
class Shooting:
    """F(z) = 0 with z = (x₀ … x_{N−1}, T, λ), condensed to (x₀, T, λ) in Newton's method."""

    flow: Flow
    structure: Structure
    closing: Closing
    conditions: Conditions
    times: FloatArray
    reference: FloatArray
    scale: FloatArray
    period_scale: float = 1.0
    extra: float = 1.0
    legs: Legs | None = field(default=None, repr=False)
    evaluations: int = 0
    _phases: tuple[FloatArray, FloatArray] | None = field(default=None, repr=False)
    _at: FloatArray | None = field(default=None, repr=False)
    _now: Linearized | None = field(default=None, repr=False)
    _closing_count: int = 0
    _J: FloatArray | None = field(default=None, repr=False)
    _through: list[tuple[FloatArray, FloatArray]] = field(default_factory=list, repr=False)

    @property
    def n(self) -> int:
        """The number of states."""
        return self.flow.n

    @property
    def segments(self) -> int:
        """The number of segments."""
        return len(self.times) - 1

    @property
    def _span(self) -> float:
        """The part of the period that is run: half of it with a time reversal."""
        return 0.5 if self.conditions.reversal is not None else 1.0

    @property
    def sizes(self) -> FloatArray:
        """What counts as one, for every unknown."""
        return np.concatenate([np.tile(self.scale, self.segments), [self.period_scale, self.extra]])

    @property
    def short_sizes(self) -> FloatArray:
        """The same for (x₀, T, λ)."""
        return np.concatenate([self.scale, [self.period_scale, self.extra]])

    def unpack(self, z: FloatArray) -> tuple[FloatArray, float, float]:
        """The states, T and λ."""
        y = z * self.sizes
        return y[:-2].reshape(self.segments, self.n), float(y[-2]), float(y[-1])

    def pack(self, x: FloatArray, T: float, extra: float) -> FloatArray:
        """z of states, T and λ."""
        return np.concatenate([x.ravel(), [T, extra]]) / self.sizes

    def short(self, z: FloatArray) -> FloatArray:
        """(x₀, T, λ) of z."""
        return np.concatenate([z[: self.n], z[-2:]])

    def expand(self, w: FloatArray) -> FloatArray:
        """The step of all unknowns that belongs to a step of (x₀, T, λ), after an evaluation."""
        y = w * self.short_sizes
        nodes = [A @ y + c for A, c in self._through]
        return np.concatenate([*nodes, y[-2:]]) / self.sizes

    @property
    def _is_steep(self) -> bool:
        """Whether deviations grow so much in a period that condensing loses digits."""
        assert self.legs is not None
        return (
            self.segments > 1
            and float(np.prod([np.linalg.norm(Phi) for Phi in self.legs.Phi])) > _STEEP
        )

    def newton_step(self, now: Linearized) -> FloatArray:
        """f + J w = 0 by least squares, condensed, or with all states where deviations grow."""
        if not self._is_steep:
            return self.expand(np.asarray(np.linalg.lstsq(now.J, -now.f, rcond=_RANK)[0]))
        f, J = self._whole(now)
        return np.asarray(np.linalg.lstsq(J, -f, rcond=_RANK)[0])

    def _whole(self, now: Linearized) -> tuple[FloatArray, FloatArray]:
        """The equations in all unknowns: matching, closing, and the conditions on (x₀, T, λ)."""
        n, N, legs = self.n, self.segments, self.legs
        assert legs is not None
        matching = n * (N - 1)
        closing = self._closing_count
        J = np.zeros((matching + len(now.f), n * N + 2))
        for i in range(N - 1):
            rows = slice(n * i, n * (i + 1))
            J[rows, n * i : n * (i + 1)] = legs.Phi[i]
            J[rows, n * (i + 1) : n * (i + 2)] -= np.eye(n)
            J[rows, -2:] = self._by_extras(legs, i)
            J[rows] /= self.scale[:, None]
        J[:, :] *= self.sizes
        # conditions on (x₀, T, λ) as they are; the closing rows in terms of the last state
        short = J[matching:]
        short[:, :n], short[:, -2:] = now.J[:, :n], now.J[:, -2:]
        short[:closing] = self._closing_rows(legs)
        f = np.concatenate([now.residuals[:matching], now.f])
        # the condensed residual of the closing rows contains the gaps, which are unknowns here
        f[matching : matching + closing] = now.residuals[matching : matching + closing]
        return f, J

    def _by_extras(self, legs: Legs, i: int) -> FloatArray:
        """∂φ/∂(T, λ) of a segment."""
        result = np.zeros((self.n, 2))
        result[:, 0] = self._by_period(legs, i)
        if self.conditions.free == "constant":
            result[:, 1] = legs.S[i][:, 0]
        return result

    def _closing_rows(self, legs: Legs) -> FloatArray:
        """The closing rows in all unknowns, scaled."""
        n, N = self.n, self.segments
        J = np.zeros((n, n * N + 2))
        J[:, n * (N - 1) : n * N], J[:, -2:] = legs.Phi[-1], self._by_extras(legs, N - 1)
        if self.conditions.reversal is not None:
            odd = np.flatnonzero(self.conditions.reversal < 0.0)
            begin = np.zeros((n, n * N + 2))
            begin[:, :n] = np.eye(n)
            return (
                np.vstack([begin[odd], J[odd]]) / np.tile(self.scale[odd], 2)[:, None] * self.sizes
            )
        D = self.closing(legs.ends[-1], self.flow.given.t0)[1]
        J = D @ J
        J[:, :n] -= np.eye(n)
        rows = list(self.closing.rows)
        return np.asarray((J / self.scale[:, None])[rows] * self.sizes)

    def tangent(self) -> FloatArray:
        """The direction (δx₀, δT, δλ) in which the equations stay satisfied, of length one."""
        if not self._is_steep:
            return np.asarray(np.linalg.svd(self.last_J)[2][-1])
        assert self._now is not None
        w = self.short(np.linalg.svd(self._whole(self._now)[1])[2][-1])
        return np.asarray(w / np.linalg.norm(w))

    def apply(self, z: FloatArray) -> None:
        """Set the constant that λ stands for."""
        if self.conditions.free == "constant":
            self.flow.set_constant(self.conditions.constant, self.unpack(z)[2])

    def __call__(self, z: FloatArray) -> Linearized:
        """F and Newton's equations."""
        self.apply(z)
        self._at = z.copy()
        x, T, extra = self.unpack(z)
        legs = self.legs = self._run(x, T)
        self.evaluations += 1
        residuals, f, J = self._condense(x, T, legs)
        self._closing_count = len(f)
        t0 = self.flow.given.t0
        others = [self._phase(x), self._constraints(x, t0), self._held_conditions(x, T, extra, t0)]
        f = np.concatenate([f, *(each for each, _ in others)])
        J = self._J = np.vstack([J, *(each for _, each in others)]) * self.short_sizes
        residuals = np.concatenate([residuals, *(each for each, _ in others)])
        self._now = Linearized(residuals, f, J)
        return self._now

    def _run(self, x: FloatArray, T: float) -> Legs:
        flow, t0 = self.flow, self.flow.given.t0
        if not T > 0.0:
            msg = f"periodic: Newton's method has come to the period {T:.6g}"
            raise NoPeriodicMotion(msg)
        times = t0 + T * self._span * self.times
        # f at the beginning of a segment matters only where it depends on the time
        begins = (
            [flow.rate(x[i], times[i]) for i in range(self.segments)] if not flow.autonomous else []
        )
        result = [flow(x[i], float(times[i]), float(times[i + 1])) for i in range(self.segments)]
        ends, Phi, S, rates, events = zip(*result, strict=True)
        return Legs(
            np.array(ends),
            list(Phi),
            list(S),
            np.array(rates),
            np.array(begins),
            tuple(sorted(name for names in events for name in names)),
        )

    def _columns(self, rows: int) -> FloatArray:
        return np.zeros((rows, self.n + 2))

    def _condense(
        self, x: FloatArray, T: float, legs: Legs
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        """δx_{i+1} = Φ_i δx_i + ∂φ/∂T δT + ∂φ/∂λ δλ + (φ_i − x_{i+1}), then the closing rows."""
        n, N = self.n, self.segments
        A, c = self._columns(n), np.zeros(n)
        A[:, :n] = np.eye(n)
        self._through, gaps = [(A, c)], []
        for i in range(N):
            A, c = legs.Phi[i] @ A, legs.Phi[i] @ c
            A[:, -2] += self._by_period(legs, i)
            if self.conditions.free == "constant":
                A[:, -1] += legs.S[i][:, 0]
            if i < N - 1:
                gap = legs.ends[i] - x[i + 1]
                c = c + gap
                gaps.append(gap / self.scale)
                self._through.append((A, c))
        matching = np.concatenate(gaps) if gaps else np.zeros(0)
        close = (
            self._closing_equations
            if self.conditions.reversal is None
            else self._reversal_equations
        )
        f, J = close(x[0], T, legs.ends[-1], A, c)
        now = f if N == 1 else close(x[0], T, legs.ends[-1], A, np.zeros(n))[0]
        return np.concatenate([matching, now]), f, J

    def _closing_equations(
        self, x0: FloatArray, T: float, end: FloatArray, A: FloatArray, c: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """C(φ) − x₀ = 0 in the rows that close."""
        rows = list(self.closing.rows)
        value, D = self.closing(end, self.flow.given.t0 + T)
        J = D @ A
        J[:, : self.n] -= np.eye(self.n)
        f = value + D @ c - x0
        return (f / self.scale)[rows], (J / self.scale[:, None])[rows]

    def _reversal_equations(
        self, x0: FloatArray, _T: float, end: FloatArray, A: FloatArray, c: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """(1 − R) x(0) = 0 and (1 − R) x(T/2) = 0, at whatever T"""
        R = self.conditions.reversal
        assert R is not None
        odd = np.flatnonzero(R < 0.0)
        begin = self._columns(self.n)
        begin[:, : self.n] = np.eye(self.n)
        turned = end + c - TWO_PI * self.closing.turns / 2
        size = np.tile(self.scale[odd], 2)
        return np.concatenate([x0[odd], turned[odd]]) / size, np.vstack(
            [begin[odd], A[odd]]
        ) / size[:, None]

    def _by_period(self, legs: Legs, i: int) -> FloatArray:
        """∂φ/∂T of a segment, whose two ends lie at fixed parts of T."""
        a, b = self.times[i] * self._span, self.times[i + 1] * self._span
        if self.flow.autonomous:
            return np.asarray(legs.rates[i] * (b - a))
        return np.asarray(legs.rates[i] * b - legs.Phi[i] @ legs.begins[i] * a)

    def _phase(self, x: FloatArray) -> tuple[FloatArray, FloatArray]:
        """ξ(x_ref)·(x₀ − x_ref) = 0 for the flow, every symmetry and every shift."""
        if self._phases is None or self._phases[0] is not self.reference:
            self._phases = (self.reference, self._phase_rows())
        rows = self._phases[1]
        J = self._columns(len(rows))
        J[:, : self.n] = rows / self.scale
        return rows @ ((x[0] - self.reference) / self.scale), J

    def _phase_rows(self) -> FloatArray:
        t0, reference, structure = self.flow.given.t0, self.reference, self.structure
        xi = self._without_energy(
            structure.symmetries(reference, t0, structure.tangent_basis(reference, t0))
        )
        columns = [xi, np.eye(self.n)[:, list(structure.shifts)]]
        # a reversal or a drive fixes the phase by itself
        if self.flow.autonomous and self.conditions.reversal is None:
            columns.append(self.flow.rate(reference, t0)[:, None])
        join_vectors = np.hstack(columns) / self.scale[:, None]
        lengths = np.linalg.norm(join_vectors, axis=0)
        return np.asarray((join_vectors[:, lengths > 0] / lengths[lengths > 0]).T)

    def _without_energy(self, xi: FloatArray) -> FloatArray:
        energy = self.structure.energy
        return xi if energy is None or not xi.shape[1] else np.delete(xi, energy, axis=1)

    def _constraints(self, x: FloatArray, t0: float) -> tuple[FloatArray, FloatArray]:
        values, slopes = self.structure.constraint_rows(x[0], t0)
        J = self._columns(len(values))
        J[:, : self.n] = slopes
        return values, J

    def _held_conditions(
        self, x: FloatArray, T: float, extra: float, t0: float
    ) -> tuple[FloatArray, FloatArray]:
        """Energy, period, momenta and the drive's period at their values."""
        c, F, J = self.conditions, [], []
        values, slopes = self.structure.integrals(x[0], t0)
        targets = dict(c.held)
        if c.energy is not None and self.structure.energy is not None:
            targets[self.structure.energy] = c.energy
        by_extra = self.structure.energy if c.free == "energy" else None
        if by_extra is not None:
            targets[by_extra] = extra
        for k, target in targets.items():
            row = self._columns(1)
            row[0, : self.n] = slopes[k]
            row[0, -1] = -1.0 if k == by_extra else 0.0
            size = max(float(np.linalg.norm(slopes[k] * self.scale)), 1e-300)
            F.append((values[k] - target) / size)
            J.append(row / size)
        period, slope = (c.period, 0.0) if c.drive is None else c.drive()
        if c.free == "period":
            period, slope = extra, 1.0
        if period is not None:
            row = self._columns(1)
            row[0, -2], row[0, -1] = 1.0, -slope
            F.append((T - period) / self.period_scale)
            J.append(row / self.period_scale)
        if not c.free:
            row = self._columns(1)
            row[0, -1] = 1.0
            F.append(0.0)
            J.append(row)
        return np.array(F), np.vstack(J) if J else self._columns(0)

    # ---- derived quantities ----------------------------------------------------------------------

    def monodromy(self, z: FloatArray) -> FloatArray:
        """∂C(φ(x₀, T))/∂x₀ by the chain of segments of the last evaluation."""
        assert self.legs is not None
        M = np.eye(self.n)
        for Phi in self.legs.Phi:
            M = Phi @ M
        R = self.conditions.reversal
        if R is not None:
            return np.asarray(R[:, None] * np.linalg.solve(M, R[:, None] * M))
        return np.asarray(
            self.closing(self.legs.ends[-1], self.flow.given.t0 + self.unpack(z)[1])[1] @ M
        )

    @property
    def last_J(self) -> FloatArray:
        """∂F/∂(x₀, T, λ) of the last evaluation, condensed."""
        assert self._J is not None
        return self._J

    def restore(self, z: FloatArray) -> None:
        """Evaluate at z again, if something else was evaluated since."""
        if self._at is None or not np.array_equal(self._at, z):
            self(z)

    @property
    def passed_events(self) -> tuple[str, ...]:
        """The events that changed the state in the last evaluation, sorted."""
        return () if self.legs is None else self.legs.events

    @property
    def end(self) -> FloatArray | None:
        """The state at the end of the last evaluation, before it is closed."""
        if self.legs is None or self.conditions.reversal is not None:
            return None
        return np.asarray(self.legs.ends[-1])

    # ---- the same motion in other equations ----------------------------------------------------

    def with_free(self, free: str, constant: str = "", extra: float = 1.0) -> Shooting:
        """The same with the energy, the period or a constant as λ."""
        c, flow, structure = self.conditions, self.flow, self.structure
        energy, period, drive = c.energy, c.period, c.drive
        if free == "constant":
            flow = flow.with_constants((constant,))
            structure = structure.on(flow)
            if isinstance(drive, DriveSlope):
                drive = drive.on(flow, flow.symbols[0])
        elif free in ("energy", "period"):
            energy = period = None
        conditions = replace(
            c, free=free, constant=constant, energy=energy, period=period, drive=drive
        )
        return self._copy(flow=flow, structure=structure, conditions=conditions, extra=extra)

    def _copy(self, **changes: Any) -> Shooting:
        return replace(
            self, **{"legs": None, "_at": None, "_phases": None, "_through": [], **changes}
        )

    def amplitudes(self, x: FloatArray, T: float) -> FloatArray:
        """How large each component becomes: |x|, and |f| T/2π where it passes through zero."""
        return amplitudes(self.flow, x, T)

    def rescale(self, z: FloatArray) -> tuple[Shooting, FloatArray]:
        """With this motion as reference, a scale grown with it, and segments split if needed."""
        x, T, extra = self.unpack(z)
        assert self.legs is not None
        scale = np.maximum(self.scale, self.amplitudes(x, T))
        new = replace(
            self,
            scale=scale,
            period_scale=max(self.period_scale, T),
            reference=x[0].copy(),
            _phases=None,
        )
        growth = max(float(np.linalg.norm(Phi)) for Phi in self.legs.Phi)
        if growth <= _SPLIT or self.segments >= _MOST_SEGMENTS:
            # the segments are those of the last evaluation
            z = new.pack(x, T, extra)
            return replace(new, _at=z), z
        times = np.sort(np.concatenate([self.times, (self.times[1:] + self.times[:-1]) / 2]))
        t0, span = self.flow.given.t0, T * self._span
        middles = [
            self.flow(x[i], t0 + span * times[2 * i], t0 + span * times[2 * i + 1]).x
            for i in range(len(x))
        ]
        x = np.stack([x, middles], axis=1).reshape(-1, self.n)
        new = replace(new, times=times, legs=None, _through=[], _at=None)
        return new, new.pack(x, T, extra)

    def double_period(
        self, z: FloatArray, v: FloatArray, size: float
    ) -> tuple[Shooting, FloatArray]:
        """Twice the period, the two halves moved apart along v."""
        if self.closing.map is not None or self.conditions.reversal is not None:
            msg = "period doubling: begin with the whole period, without closing= or reversal="
            raise NotApplicable(msg)
        assert self.legs is not None
        x, T, extra = self.unpack(z)
        first, second, w = [], [], v
        jump = self.closing.turns * TWO_PI
        end = self.legs.ends[-1]
        shifts = list(self.structure.shifts)
        jump[shifts] = end[shifts] - x[0][shifts]
        for i in range(self.segments):
            first.append(x[i] + size * w)
            second.append(self.closing.signs * (x[i] - size * w) + jump)
            w = self.legs.Phi[i] @ w
        times = np.concatenate([self.times / 2, 0.5 + self.times[1:] / 2])
        closing = replace(self.closing, turns=2 * self.closing.turns, signs=self.closing.signs**2)
        c = self.conditions
        drive = c.drive.times(2) if isinstance(c.drive, DriveSlope) else c.drive
        conditions = replace(c, drive=drive, period=None if c.period is None else 2 * c.period)
        new = self._copy(
            times=times, closing=closing, conditions=conditions, period_scale=2 * self.period_scale
        )
        return new, new.pack(np.array(first + second), 2 * T, extra)

    def half_gap(self, z: FloatArray) -> float:
        """The distance of the state after half the period from the initial one, scaled."""
        x, half = self.unpack(z)[0], self.segments // 2
        gap = (x[half] - x[0]) / self.scale
        kept = [j for j in self.closing.rows if not self.closing.turns[j]]
        return float(np.linalg.norm(gap[kept]))

    def with_tolerance(self, rtol: float) -> Shooting:
        """The same equations with another tolerance of the integrator."""
        return replace(self, flow=self.flow.with_tolerance(rtol), legs=None, _at=None)


class NewtonResult(NamedTuple):
    """Where Newton's method has ended: z, |F|, whether that is a solution, and iterations."""

    z: FloatArray
    error: float
    converged: bool
    iterations: int


class ShootingEquations(Protocol):
    """What Newton's method needs of the equations of a periodic motion."""

    def __call__(self, z: FloatArray) -> Linearized: ...
    def short(self, z: FloatArray) -> FloatArray:
        """(x₀, T, λ)"""
        ...

    def newton_step(self, now: Linearized) -> FloatArray:
        """The step of all unknowns that solves the linearized equations, borders included."""
        ...


def _add_border(
    F: ShootingEquations, z: FloatArray, border: tuple[FloatArray, float] | None
) -> Linearized:
    """The equations with τ·(x₀, T, λ) = s added, the condition of pseudo-arclength."""
    result = F(z)
    if border is None:
        return result
    more = float(border[0] @ F.short(z) - border[1])
    J = np.vstack([result.J, border[0]])
    return Linearized(np.append(result.residuals, more), np.append(result.f, more), J)


def newton_solve(
    F: ShootingEquations,
    z: FloatArray,
    border: tuple[FloatArray, float] | None = None,
    *,
    most: int = _MOST_ITERATIONS,
) -> NewtonResult:
    """Gauss and Newton's method, damped, from z; F is evaluated last at the z that is returned."""
    now = _add_border(F, z, border)
    for k in range(1, most + 1):
        step = F.newton_step(now)
        length = float(np.linalg.norm(step))
        if not np.isfinite(length):
            return NewtonResult(z, now.error, converged=False, iterations=k)
        last = length < CONVERGED
        trial = _damp_step(F, z, step, border, now.error, last=last)
        if trial is None:
            return NewtonResult(z, now.error, converged=False, iterations=k)
        z, now = trial
        if last or now.error <= 1e-3 * CONVERGED:
            return NewtonResult(z, now.error, now.error <= CLOSED, k)
    return NewtonResult(z, now.error, now.error <= CLOSED, most)


def _damp_step(
    F: ShootingEquations,
    z: FloatArray,
    step: FloatArray,
    border: tuple[FloatArray, float] | None,
    error: float,
    *,
    last: bool,
) -> tuple[FloatArray, Linearized] | None:
    """The longest of the halved steps that lowers |F|; None if none does."""
    part = 1.0
    while part >= 2.0**-_MOST_HALVINGS:
        try:
            new = _add_border(F, z + part * step, border)
        except (RunStopped, NoPeriodicMotion):
            new = None
        goal = np.inf if last else max(error * (1.0 - 0.1 * part), CONVERGED)
        if new is not None and new.error < goal:
            return z + part * step, new
        part /= 2
    return None


def amplitudes(flow: Flow, x: FloatArray, T: float) -> FloatArray:
    """How large each component becomes: |x|, and |f| T/2π where it passes through zero."""
    rates = np.abs([flow.rate(each, flow.given.t0) for each in x]).max(axis=0)
    return np.asarray(np.maximum(np.abs(x).max(axis=0), rates * T / TWO_PI))


def segment_count(growth: float, most: int = _MOST_SEGMENTS) -> int:
    """How many segments keep the growth of a deviation in each below 30."""
    if not np.isfinite(growth) or growth <= _GROWTH:
        return 1
    return int(min(np.ceil(np.log(growth) / np.log(_GROWTH)), most))


def nodes_along(flow: Flow, x: FloatArray, T: float, times: Sequence[float]) -> FloatArray:
    """States at parts of the period, by the run from x."""
    t0, states = flow.given.t0, [x]
    for a, b in pairwise(times[:-1]):
        states.append(flow(states[-1], t0 + T * a, t0 + T * b).x)
    return np.array(states)
