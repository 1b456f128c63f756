"""C u = d: speeds from given velocities, of least norm where these leave a choice; then q̇ = W u +
X.

Every row A q̇ + b = 0 that was eliminated holds by construction; those in augmented form are
conditions like the given velocities, and one that is not linear in the rates is satisfied by
Newton's method. What a singular position makes undetermined is found from the rank of A.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Final

import numpy as np

from dalembert.foundation.array_types import BoolArray, FloatArray
from dalembert.runtime.ode.failures import BadStart
from dalembert.runtime.states.assembly import ACCEPT_TOLERANCE
from dalembert.runtime.states.constraint_rank import rank_of_rows
from dalembert.runtime.states.evaluator import Level, label
from dalembert.runtime.states.initial_form import InitialForm
from dalembert.runtime.states.initial_values import InitialCondition

if TYPE_CHECKING:
    Tables = Mapping[str, FloatArray]

# singular values below this part of the largest are zero
RANK_TOLERANCE: Final = 1e-10
ROUNDOFF: Final = 1e-14
_EPSILON: Final = float(np.finfo(float).eps)
MAX_ROUNDOFF: Final = 1e-6
# for rows that are not linear in the rates
_NEWTON_STEPS: Final = 30
_NUDGE: Final = 0.1
# how much larger the rates may become if one of them is to be zero
MAX_GROWTH: Final = 10.0


class InitialVelocities:
    """The given velocities c(q, t) + C(q, t) u = value, and the rows A q̇ + b = 0, at the start
    positions.
    """

    def __init__(
        self,
        form: InitialForm,
        asked: Sequence[InitialCondition],
        at: Tables,
        curved: Callable[[FloatArray], Tables],
        guess: Sequence[InitialCondition] = (),
    ) -> None:
        self._form, self._asked, self._curved = (
            form,
            [*(asked[k] for k in form.velocities), *form.constraint_rows],
            curved,
        )
        # all velocities that were given, the speeds themselves among them
        self._given = [c for c in asked if c.level is Level.VELOCITY]
        self._guess = {c.symbol: c.value for c in guess}
        # the user's own, which come first
        self._n_given = len(form.velocities)
        self._reached, self._direct = (
            form.affected,
            {r: asked[k].value for k, r in form.given_speeds},
        )
        self._at, self.C, self.A, self.b = at, at["C"].copy(), at["A"], at["b"]
        self._check_defined()
        self.d = np.array([c.value for c in self._asked]) - at["c"]
        # how large d and C could be if nothing cancelled in them
        self._terms, self._entries = (
            np.nan_to_num(at[name], nan=np.inf) for name in ("terms", "entries")
        )
        self.rank, notes = _rank(self.A, [row.name for row in form.kin.rows])
        # rows in augmented form may depend on one another
        self.notes = () if form.kin.multipliers else notes

    def _check_defined(self) -> None:
        """Refuse velocities that are not linear, or have no value at these positions."""
        finite = np.isfinite(self._at["c"]) & np.isfinite(self.C).all(axis=1)
        for k, c in enumerate(self._asked):
            if k in self._form.nonlinear_conditions:
                msg = (
                    f"{c.name} is {self._form.nonlinear_conditions[k]}; a given velocity must "
                    f"be "
                    f"linear in the rates and speeds"
                )
                raise BadStart(msg, "start")
            if not finite[k]:
                msg = (
                    f"{c.name} is not defined at the start positions: declare other speeds or "
                    f"start elsewhere"
                )
                raise BadStart(msg, "start")

    # ---- u -----------------------------------------------------------------------------------

    def speeds(self) -> FloatArray:
        """Values given directly stay as they are; the others are the solution of least norm, with
        rates at zero that may be zero.
        """
        u, free = self._initial_guess(), self._reached.copy()
        for k, x in self._direct.items():
            u[k], free[k] = x, False
        if free.any():
            u = self._prefer_zero_rates(self._least_squares(u, free), free)
        self._linearize(u, free)
        self._check_residuals(u)
        self._check_nonzero_gradients(u)
        return u

    def _least_squares(self, u: FloatArray, free: BoolArray) -> FloatArray:
        """C u = d by the least change of what is free."""
        u = u.copy()
        # the second time removes rounding
        for _ in range(_NEWTON_STEPS if self._form.nonlinear_rows else 2):
            C, d = self._linearize(u, free)
            u[free] += np.linalg.lstsq(C[:, free], d - C @ u, rcond=RANK_TOLERANCE)[0]
        C, d = self._linearize(u, free)
        clean = np.where(free & (np.abs(u) <= ROUNDOFF * np.abs(u).max()), 0.0, u)
        return clean if self._is_satisfied(clean) else u

    def _prefer_zero_rates(self, u: FloatArray, free: BoolArray) -> FloatArray:
        """The same with rates at zero that rows in augmented form allow to be so, first declared
        first, if the others stay moderate.
        """
        kin, free = self._form.kin, free.copy()
        for k, symbol in enumerate(kin.u if kin.multipliers else ()):
            if np.linalg.matrix_rank(self.C[:, free]) == np.count_nonzero(free):
                break
            if not free[k] or symbol in self._guess:
                continue
            free[k] = False
            trial = (
                u
                if u[k] == 0.0
                else self._least_squares(np.where(np.arange(len(u)) == k, 0.0, u), free)
            )
            if self._is_satisfied(trial) and np.linalg.norm(trial) <= MAX_GROWTH * np.linalg.norm(
                u
            ):
                u = trial
            else:
                free[k] = True
                self._linearize(u, free)
        return u

    def _is_satisfied(self, u: FloatArray) -> bool:
        return bool((np.abs(self.C @ u - self.d) <= self._tolerance(u)).all())

    def _initial_guess(self) -> FloatArray:
        """Zero, or the guess for a speed that a curved row determines."""
        kin = self._form.kin
        bent = {kin.u[r] for r in self._form.nonlinear_speeds}
        for symbol in self._guess:
            if symbol not in bent or symbol in (c.symbol for c in self._given):
                name = "it" if symbol is None else label(kin.name(symbol))
                msg = (
                    f"{name} is not a speed that a row nonlinear in the rates determines; give "
                    f"it in the start"
                )
                raise BadStart(msg, "guess")
        return np.array([self._guess.get(x, 0.0) for x in kin.u])

    def _check_nonzero_gradients(self, u: FloatArray) -> None:
        """A row that is not linear in the rates does not determine the accelerations where ∂φ/∂q̇ =
        0.
        """
        for k, slopes in zip(
            self._form.nonlinear_rows,
            self._curved(u)["slopes"] if self._form.nonlinear_rows else (),
            strict=True,
        ):
            if not np.any(slopes):
                why = (
                    "its slope in the velocities vanishes here, so that it does not determine "
                    "how the motion continues"
                )
                msg = (
                    f"{self._asked[k].name!r} cannot be satisfied from this state: {why}; give "
                    f"velocities that differ from zero"
                )
                raise BadStart(msg, "start")

    def _linearize(self, u: FloatArray, free: BoolArray) -> tuple[FloatArray, FloatArray]:
        """C u = d with every curved row replaced by its tangent at u; where the tangent shows
        nothing free, by one nearby.
        """
        for j, k in enumerate(self._form.nonlinear_rows):
            for nudge in (0.0, _NUDGE * (float(np.abs(u).max()) or 1.0)):
                at = np.where(free & self._reached, u + nudge, u)
                row = self._curved(at)
                value, slope = row["e"][j], row["slopes"][j]
                if not value or np.any(slope[free]):
                    break
            self.C[k], self.d[k] = slope, np.dot(slope, at) - value
        return self.C, self.d

    def _tolerance(self, u: FloatArray) -> FloatArray:
        """A part of what the terms are, and rounding of what they could be."""
        tolerance: FloatArray = ACCEPT_TOLERANCE * (np.abs(self.C) @ np.abs(u) + np.abs(self.d))
        # least squares leave rounding of the largest speed in all of them
        fastest = float(np.max(np.abs(u), initial=0.0))
        # near a singular orientation the coefficients could be anything: what is as large as the
        # speeds themselves is no dust
        tolerance += ROUNDOFF * self._terms + fastest * np.minimum(
            ROUNDOFF * np.sum(self._entries, axis=1), MAX_ROUNDOFF
        )
        # where all speeds are zero, rounding of a speed of size one is none
        tolerance += np.minimum(_EPSILON * np.sum(self._entries, axis=1), MAX_ROUNDOFF)
        return tolerance

    def _check_residuals(self, u: FloatArray) -> None:
        if not self._asked:
            return
        residuals = self.C @ u - self.d
        excess = np.abs(residuals) - self._tolerance(u)
        if not (excess > 0.0).any():
            return
        k = int(np.argmax(excess))
        worst = self._asked[k]
        if k >= self._n_given:
            raise BadStart(self._contradiction_message(k, float(residuals[k])), "start")
        others = [str(c) for c in self._given if c is not worst]
        with_these = f" with {', '.join(others)}" if others else ""
        row = self._worst_violation()
        against = f"contradicts {row}" if row else "is not possible at this position"
        msg = f"{worst}{with_these} {against}: least-squares residual {residuals[k]:.6g}"
        raise BadStart(msg + "; leave a value out or change it", "start")

    def _contradiction_message(self, k: int, residual: float) -> str:
        """A row in augmented form that nothing satisfies together with the rest."""
        given = self._given
        size = f"least-squares residual {residual:.6g}"
        if not given:
            return (
                f"the constraints contradict one another: no velocities satisfy "
                f"{self._asked[k].name!r} with the others, {size}"
            )
        names = ", ".join(map(str, given))
        return (
            f"{names} contradict{'s' * (len(given) == 1)} {self._asked[k].name!r}: {size}; "
            f"leave a value out or change it"
        )

    def _worst_violation(self) -> str:
        """The constraint that the rates as they were given violate most, with its residual."""
        kin = self._form.kin
        given = {c.symbol: c.value for c in self._given if c.symbol is not None}
        u = np.zeros(kin.n_u)
        for k, x in self._direct.items():
            u[k] = x
        qdot = np.array(
            [given.get(i, x) for i, x in zip(kin.qdot, self._coordinate_rates(u), strict=True)]
        )
        residuals = self.A @ qdot + self.b
        names = [row.name for row in kin.rows]
        if not names or not np.isfinite(residuals).all() or not residuals.any():
            return ""
        worst = int(np.argmax(np.abs(residuals)))
        return f"{names[worst]!r} (residual {residuals[worst]:.6g})"

    # ---- q̇ -----------------------------------------------------------------------------------

    def _coordinate_rates(self, u: FloatArray) -> FloatArray:
        rows, columns = self._form.W
        qdot = self._at["X"].copy()
        np.add.at(qdot, rows, self._at["W"] * u[columns])
        return qdot

    def rates(self, u: FloatArray) -> FloatArray:
        """q̇ = W u + X"""
        qdot = self._coordinate_rates(u)
        if not np.isfinite(qdot).all():
            kin = self._form.kin
            bad = ", ".join(
                label(kin.name(kin.qdot[k])) for k in np.flatnonzero(~np.isfinite(qdot))
            )
            names = ", ".join(label(kin.name(x)) for x in kin.u)
            why = f" ({self.notes[0]})" if self.notes else ""
            # without declared speeds other integrators keep all rates
            chosen = not kin.system.speed_list and not kin.system.contacts
            msg = (
                f"{bad} cannot be computed from {names} at these positions (division by zero): "
                "change the start, declare other speeds (s.speeds)"
            ) + (", or choose integrator='native', which does without" if chosen else "")
            raise BadStart(msg + why, "start")
        return qdot

    def residual(self, u: FloatArray, qdot: FloatArray) -> float:
        """The largest of |A q̇ + b| and of what remains of the given velocities."""
        return float(
            np.max(np.abs([*(self.A @ qdot + self.b), *(self.C @ u - self.d)]), initial=0.0)
        )

    def rank_at(self, u: FloatArray) -> tuple[int, int]:
        """How many of the rows are independent here, those that are not linear in the rates by
        their slopes, and how many there are.
        """
        kin = self._form.kin
        if not kin.nonlinear:
            return self.rank, len(kin.rows)
        return rank_of_rows(np.vstack([self.A, self._curved(u)["A"]])).rank, len(kin.rows) + len(
            kin.nonlinear
        )


def _rank(A: FloatArray, names: Sequence[str]) -> tuple[int, tuple[str, ...]]:
    """rank A, and a note that names the rows that are not independent."""
    rank, rows = rank_of_rows(A)
    if rank == len(names) or not np.isfinite(A).all():
        return rank, ()
    return rank, (singular_position_note([names[j] for j in rows], f"rank {rank} of {len(names)}"),)


def singular_position_note(rows: Sequence[str], ranks: str) -> str:
    """The message about rows that depend on one another where a run begins."""
    what = (
        f"{' and '.join(map(repr, rows))} "
        f"{'vanishes' if len(rows) == 1 else 'are not independent'} at this start"
    )
    return (
        f"a singular position: {what} ({ranks}), so that speeds and reactions may be undetermined"
    )
