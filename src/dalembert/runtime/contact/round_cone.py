"""N ≥ 0, w_N ≥ 0, N w_N = 0; |T| ≤ μ N, and T = −μ N w_T/|w_T| where w_T ≠ 0: contacts with
friction in a plane, by a semi-smooth Newton method.
Keywords: second-order cone, Alart–Curnier.

w = A λ + b are accelerations, or velocities after an impact with impulses λ. The laws are zeros of
λ_N − max(0, λ_N − r w_N) and λ_T − P(λ_T − r w_T), P the projection onto the disk of radius μ N.
Friction along one direction is the same in one dimension. A solution is accepted only if its
residual is below 1e-9 of the largest force. Another solution is excluded for a single contact that
slips, not for several.

Source: Alart and Curnier, Computer Methods in Applied Mechanics and Engineering 92 (1991).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from dalembert.foundation.array_types import FloatArray
from dalembert.runtime.contact.mode_enumeration import (
    OPEN,
    PLANE_SLIP,
    ContactCandidate,
    ContactMode,
    FeasibleMode,
    NextMode,
)

_ACCEPTED: Final = 1e-9
_CONVERGED: Final = 1e-14
_NEWTON_STEPS: Final = 60
_HALVINGS: Final = 12
_SWEEPS: Final = 40
_RESTARTS: Final = 6
# least acceleration of slip, relative to the largest
_SLIPS: Final = 1e-9
_RANK: Final = 1e-12


def solve_round(A: FloatArray, b: FloatArray, candidates: Sequence[ContactCandidate]) -> NextMode:
    """What contacts do of which some have friction in a plane."""
    if len(candidates) == 1 and (paradox := _slip_paradox(A, b, candidates[0])) is not None:
        return paradox
    mu = [
        c.mu if c.slip or c.heading is not None or not _may_stick(c) else c.mu_static
        for c in candidates
    ]
    for _ in range(len(candidates) + 1):
        lam = ConeProblem(A, b, candidates, mu).solve()
        if lam is None:
            return NextMode(None)
        w = A @ lam + b
        small = _SLIPS * max(float(np.abs(b).max(initial=0.0)), 1e-300)
        falls = [
            f > c.mu and c.t is not None and float(np.hypot.reduce(w[c.tangents])) > small
            for c, f in zip(candidates, mu, strict=True)
        ]
        if not any(falls):
            force = _ACCEPTED * float(np.abs(lam).max(initial=0.0))
            terms = np.abs(A) @ np.abs(lam) + np.abs(b)
            speed = _ACCEPTED * float(terms.max(initial=0.0))
            modes = tuple(_mode(c, lam, w, force, speed) for c in candidates)
            return NextMode(FeasibleMode(modes, lam, w))
        mu = [c.mu if s else f for c, f, s in zip(candidates, mu, falls, strict=True)]
    return NextMode(None)


def _may_stick(c: ContactCandidate) -> bool:
    return ContactMode(sticks=True) not in c.ended


def _may_close(c: ContactCandidate) -> bool:
    return c.n is None or not any(m.closed and not m.sticks for m in c.ended)


def _slip_paradox(A: FloatArray, b: FloatArray, c: ContactCandidate) -> NextMode | None:
    """A single contact in slip with A_NN − μ A_NT·d ≤ 0: no motion, or two."""
    if c.n is None or c.heading is None or c.t is None:
        return None
    pivot = float(A[c.n, c.n] - c.mu * A[c.n, c.tangents] @ np.array(c.heading))
    if pivot > 0.0:
        return None
    apart = FeasibleMode((OPEN,), np.zeros(len(b)), b)
    if b[c.n] < 0.0:
        return NextMode(None)
    return NextMode(apart, (apart, apart._replace(modes=(PLANE_SLIP,))))


def _mode(
    c: ContactCandidate, lam: FloatArray, w: FloatArray, force: float, speed: float
) -> ContactMode:
    """What a contact does, from its forces and accelerations."""
    if c.n is not None and not c.two_sided:
        apart = lam[c.n] <= force and w[c.n] > speed
        if apart or not _may_close(c):
            return OPEN
    side = 1
    if c.two_sided:
        side = 1 if c.normal_force(lam) >= 0.0 else -1
    if c.t is None:
        return ContactMode(side=side)
    if c.t2 is not None:
        slips = c.heading is not None or not _may_stick(c)
        slips = slips or float(np.hypot.reduce(w[c.tangents])) > speed
        return PLANE_SLIP if slips else ContactMode(sticks=True)
    if c.slip:
        return ContactMode(direction=c.slip, side=side)
    if abs(w[c.t]) > speed:
        return ContactMode(direction=1 if w[c.t] > 0.0 else -1, side=side)
    if not _may_stick(c):
        return ContactMode(direction=1 if lam[c.t] <= 0.0 else -1, side=side)
    return ContactMode(sticks=True, side=side)


def friction_mode(c: ContactCandidate, w: FloatArray) -> ContactMode:
    """What the friction of a contact does in an impact that leaves the velocities w."""
    small = _SLIPS * max(float(np.abs(w).max(initial=0.0)), 1e-300)
    if float(np.hypot.reduce(w[c.tangents])) <= small:
        return ContactMode(sticks=True)
    return PLANE_SLIP if c.t2 is not None else ContactMode(direction=1 if w[c.t] > 0.0 else -1)


class ConeProblem:
    """The laws of contacts as zeros of a function of λ."""

    def __init__(
        self,
        A: FloatArray,
        b: FloatArray,
        candidates: Sequence[ContactCandidate],
        mu: Sequence[float],
    ) -> None:
        self.A, self.b, self.candidates, self.mu = A, b, candidates, mu
        diagonal = np.diag(A)
        self.step = 1.0 / np.where(diagonal > 0.0, diagonal, 1.0)
        for c in candidates:
            if c.t2 is not None:
                self.step[c.tangents] = 2.0 / max(float(diagonal[c.tangents].sum()), 1e-300)

    def solve(self) -> FloatArray | None:
        """λ, from several starts; None where none of them leads to an admissible one."""
        lam = np.zeros(len(self.b))
        for k in range(_RESTARTS):
            solution, residual = self._newton(lam)
            if residual <= _ACCEPTED * max(float(np.abs(solution).max(initial=0.0)), self._scale):
                return solution
            lam = self._gauss_seidel(lam, _SWEEPS * (k + 1))
        return None

    @property
    def _scale(self) -> float:
        """A force below which nothing counts."""
        return 1e-6 * float((np.abs(self.b) * self.step).max(initial=0.0))

    def _newton(self, lam: FloatArray) -> tuple[FloatArray, float]:
        F, J = self._residual(lam)
        size = float(np.abs(F).max(initial=0.0))
        for _ in range(_NEWTON_STEPS):
            if size <= _CONVERGED * float(np.abs(lam).max(initial=0.0)):
                break
            step = np.linalg.lstsq(J, -F, rcond=_RANK)[0]
            for k in range(_HALVINGS):
                trial = lam + step / 2.0**k
                F_new, J_new = self._residual(trial)
                if (new := float(np.abs(F_new).max(initial=0.0))) < size:
                    break
            else:
                break
            lam, F, J, size = trial, F_new, J_new, new
        return lam, size

    def _residual(self, lam: FloatArray) -> tuple[FloatArray, FloatArray]:
        """F(λ) and a generalized Jacobian."""
        A, r, m = self.A, self.step, len(lam)
        w = A @ lam + self.b
        F, J = lam.copy(), np.eye(m)
        for c, mu in zip(self.candidates, self.mu, strict=True):
            n = c.n
            if n is not None and _may_close(c) and (c.two_sided or lam[n] > r[n] * w[n]):
                F[n], J[n] = r[n] * w[n], r[n] * A[n]
            if c.t is not None:
                F[c.tangents], J[c.tangents] = self._friction_residual(c, mu, lam, w)
        return F, J

    def _friction_residual(
        self, c: ContactCandidate, mu: float, lam: FloatArray, w: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """λ_T − P(λ_T − r w_T) of one contact, or λ_T + μ N d in slip, and its lines of J."""
        ts, m = c.tangents, len(lam)
        r, one = self.step[ts], np.eye(m)[ts]
        force, slope = c.normal_force(lam), c.normal_slope(m)
        sign = -1.0 if (c.two_sided and force < 0.0) else 1.0
        radius = max(mu * sign * force, 0.0)
        along = mu * sign * slope if c.two_sided or force > 0.0 else np.zeros(m)
        heading = c.fixed_heading
        if heading is not None:
            return lam[ts] + radius * heading, one + np.outer(heading, along)
        z = lam[ts] - r * w[ts]
        size = float(np.hypot.reduce(z))
        if size <= radius:
            return r * w[ts], r[:, np.newaxis] * self.A[ts]
        unit = z / size
        dz = one - r[:, np.newaxis] * self.A[ts]
        turn = (np.eye(len(ts)) - np.outer(unit, unit)) @ dz * (radius / size)
        return lam[ts] - radius * unit, one - turn - np.outer(unit, along)

    def _gauss_seidel(self, lam: FloatArray, sweeps: int) -> FloatArray:
        """Projections onto the cones, contact by contact."""
        lam = lam.copy()
        for _ in range(sweeps):
            for c in self.candidates:
                rows = [i for i in (c.n, *c.tangents) if i is not None]
                F, _ = self._residual(lam)
                lam[rows] -= F[rows]
        return lam
