"""min_π ‖(τ − known − Y π)/σ‖²: inertial parameters of bodies from measured motions and loads.
Keywords: inertial parameter identification, base parameters, friction identification.

Least squares determine the base parameters K π and the friction, with their covariance. The
standard parameters π are those of physical bodies: with log-Cholesky parameters θ of every body,

    min_θ ‖(τ − known − Y π(θ))/σ‖² + ‖θ/s‖²,

where θ = 0 is the description as it was. s says how far it may be off (s = 1: by a factor of e),
and decides only what the motion leaves open. Only the triangular factor of Y_b is needed, not Y.

Source: C. Atkeson, C. An, J. Hollerbach, Int. J. Robotics Research 5(3), 1986; pseudo_inertia.py.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np

from dalembert.analysis.inverse.regressor import Regressor, regressor
from dalembert.analysis.studies.fit import BadFit
from dalembert.analysis.studies.identification_result import BodyInertia, Identification
from dalembert.analysis.studies.motion_data import MotionData, read_motion
from dalembert.analysis.studies.pseudo_inertia import LogCholesky
from dalembert.errors import Unknown, warn
from dalembert.foundation.array_types import FloatArray
from dalembert.foundation.deferred_dataclass import dataclass
from dalembert.foundation.suggestions import check_options
from dalembert.mechanics.kinematics.system_kinematics import Kinematics, kinematics
from dalembert.mechanics.model.system import System
from dalembert.runtime.numerics.symbol_values import finite_number

FRICTION: Final = ("viscous", "coulomb", "offset")
_MAX_REWEIGHTINGS: Final = 8
_SETTLED: Final = 1e-3
# singular values below this part of the largest: directions that the motion does not excite
_UNEXCITED: Final = 1e-8
# samples whose regressor is in memory at once
_CHUNK: Final = 4096
# relative changes of the cost and of θ at which the search ends
_TIGHT: Final = 1e-9
_MAX_EVALUATIONS: Final = 300


@check_options
def identify(
    system: System,
    data: Any,
    *,
    bodies: Sequence[str] | None = None,
    friction: Sequence[str] = (),
    noise: float | Mapping[str, float] | None = None,
    cutoff: float | None = None,
    deviation: float = 1.0,
    values: Mapping[str, float] | None = None,
) -> Identification:
    """Masses, mass centres and inertias of a robot from measured motions and loads:
    da.identify(robot, "excitation.csv").

    data       columns "t", "joint1", "joint1.dot", "joint1.dot.dot" and "tau_joint1" for every
               joint, as da.fit takes them; a list of such tables is used together
    bodies     which bodies to identify; by default all with mass
    friction   further unknowns of every joint: "viscous" (c q̇), "coulomb" (c sign q̇), "offset"
    noise      the standard deviation of the loads, one or {"tau_joint1": σ}; without it each
               is estimated
    cutoff     where there are positions alone: they are filtered below this frequency, in Hz, and
               differentiated
    deviation  how far the description may be off, in logarithms: 1 is a factor of e
    values     constants that have no declared value
    """
    kin = kinematics(system)
    Y = regressor(system, bodies)
    if np.isnan(Y.pi).any():
        name = next(p.body for p in Y.parameters if np.isnan(p.value))
        msg = f"identify: {name!r} has constants without a value; declare them, m = 2"
        raise Unknown(msg)
    motion = read_motion(kin, data, cutoff)
    problem = _Regression(Y, kin, motion, _friction_kinds(friction), dict(values or {}))
    s = finite_number("deviation", deviation)
    if s <= 0.0:
        msg = f"deviation = {s:g}: it must be positive"
        raise BadFit(msg)
    return problem.solve(_load_deviations(problem.loads, noise), s)


def _friction_kinds(given: Sequence[str]) -> tuple[str, ...]:
    kinds = (given,) if isinstance(given, str) else tuple(given)
    strange = next((k for k in kinds if k not in FRICTION), None)
    if strange is not None:
        msg = f"friction: {strange!r} is none of {', '.join(FRICTION)}"
        raise Unknown(msg)
    return tuple(k for k in FRICTION if k in kinds)


def _load_deviations(names: Sequence[str], noise: Any) -> FloatArray | None:
    if noise is None:
        return None
    given = noise if isinstance(noise, Mapping) else dict.fromkeys(names, noise)
    wrong = next((n for n in (*names, *given) if n not in given or n not in names), None)
    if wrong is not None:
        msg = f"noise: {wrong!r}; give one number, or one for each of {', '.join(names)}"
        raise Unknown(msg)
    sigma = np.array([finite_number(f"noise of {n}", given[n]) for n in names])
    if (sigma <= 0.0).any():
        msg = "noise: a standard deviation must be positive"
        raise Unknown(msg)
    return sigma


@dataclass(eq=False)
class _Regression:
    """Weighted rows of Y_b and friction columns, reduced to a triangle chunk by chunk."""

    regressor: Regressor
    kin: Kinematics
    motion: MotionData
    friction: tuple[str, ...]
    values: dict[str, float]

    @property
    def loads(self) -> tuple[str, ...]:
        """The names of the loads, one for each speed."""
        return tuple(f"tau_{self.kin.name(i)}" for i in self.kin.q)

    @property
    def names(self) -> tuple[str, ...]:
        """The unknowns: base parameters, then friction of every joint."""
        base = self.regressor.base
        more = [f"{kind} of {self.kin.name(i)}" for kind in self.friction for i in self.kin.q]
        return (*(base.names[i] for i in base.leading), *more)

    def rows(self, k: slice) -> tuple[FloatArray, FloatArray]:
        """(Y_b, friction columns) and τ − known of some samples: samples × speeds × unknowns."""
        m = self.motion
        state = m.q[k], m.u[k], m.udot[k], m.t[k]
        values = self.values | self._motors_off()
        Y = self.regressor(*state, **values)[:, :, list(self.regressor.base.leading)]
        rest = m.loads[k] - self.regressor.known_loads(*state, **values)
        columns = {
            "viscous": m.u[k],
            "coulomb": np.sign(m.u[k]),
            "offset": np.ones_like(m.u[k]),
        }
        more = [columns[kind][:, :, None] * np.eye(len(self.loads)) for kind in self.friction]
        return np.concatenate([Y, *more], axis=2), rest

    def _motors_off(self) -> dict[str, float]:
        """Inputs named as the loads are measured, not known."""
        symbols = self.kin.system.symbols
        return {n: 0.0 for n in self.loads if n in symbols and symbols[n].kind == "input"}

    def triangle(self, sigma: FloatArray) -> tuple[FloatArray, FloatArray, float]:
        """R, z and ‖rest‖² with ‖(τ − Y x)/σ‖² = ‖z − R x‖² + ‖rest‖²."""
        stacked = np.zeros((0, len(self.names) + 1))
        for begin in range(0, len(self.motion.t), _CHUNK):
            Y, y = self.rows(slice(begin, begin + _CHUNK))
            block = np.concatenate([Y, y[:, :, None]], axis=2) / sigma[:, None]
            stacked = np.vstack([stacked, block.reshape(-1, block.shape[-1])])
            stacked = np.asarray(np.linalg.qr(stacked, mode="r"))
        n = len(self.names)
        return stacked[:n, :n], stacked[:n, n], float(np.sum(stacked[n:, n] ** 2))

    def residuals(self, x: FloatArray) -> FloatArray:
        """Model less measurement, samples × speeds."""
        parts = []
        for begin in range(0, len(self.motion.t), _CHUNK):
            Y, y = self.rows(slice(begin, begin + _CHUNK))
            parts.append(Y @ x - y)
        return np.concatenate(parts)

    def solve(self, given: FloatArray | None, s: float) -> Identification:
        """Least squares, with σ of every load from its residuals, then physical bodies."""
        count = self.motion.loads.size
        if count <= len(self.names):
            msg = f"identify: {count} measured loads for {len(self.names)} unknowns; measure longer"
            raise BadFit(msg)
        sigma = np.ones(len(self.loads)) if given is None else given
        for _ in range(_MAX_REWEIGHTINGS):
            R, z, rest = self.triangle(sigma)
            x, covariance, unexcited = _least_squares(R, z)
            if given is not None:
                break
            share = 1.0 - len(x) / count
            spread = np.sqrt(np.mean(self.residuals(x) ** 2, axis=0) / share)
            settled = np.abs(spread - sigma).max() <= _SETTLED * sigma.max()
            sigma = np.maximum(spread, 1e-300)
            if settled:
                break
        names = [self.names[k] for k in unexcited]
        if names:
            warn(
                f"identify: this motion does not excite {', '.join(names)}; their values are as "
                f"in the description, change the motion to find them"
            )
        return self._result(sigma, (R, z, rest), (x, covariance), s, known=given is not None)

    def _result(
        self, sigma: FloatArray, triangle: Any, solution: Any, s: float, *, known: bool
    ) -> Identification:
        R, z, rest = triangle
        x, covariance = solution
        base = self.regressor.base
        K, reference = base.matrix, self.regressor.pi
        pi, friction, spread = _physical_bodies(self._bodies(), K, R, z, s)
        freedom = self.motion.loads.size - len(x)
        consistent = np.concatenate([K @ pi, friction])
        return Identification(
            system=self.kin.system,
            regressor=self.regressor,
            names=self.names,
            theta=x,
            covariance=covariance,
            consistent_theta=consistent,
            pi=pi,
            pi_errors=spread,
            least_squares_pi=reference + np.linalg.pinv(K) @ (x[: base.count] - K @ reference),
            bodies=_body_inertias(self.regressor, pi),
            noise=dict(zip(self.loads, sigma.tolist(), strict=True)),
            noise_known=known,
            chi_square=(float(np.sum((z - R @ x) ** 2)) + rest) / freedom,
            consistent_chi_square=(float(np.sum((z - R @ consistent) ** 2)) + rest) / freedom,
            t=self.motion.t,
            loads=self.motion.loads,
            residuals=self.residuals(consistent),
        )

    def _bodies(self) -> list[LogCholesky]:
        parameters, pi = self.regressor.parameters, self.regressor.pi
        names = dict.fromkeys(p.body for p in parameters)
        return [
            LogCholesky.around(pi[[k for k, p in enumerate(parameters) if p.body == n]])
            for n in names
        ]


def _least_squares(R: FloatArray, z: FloatArray) -> tuple[FloatArray, FloatArray, list[int]]:
    """x of least change, its covariance, and the unknowns that the rows do not determine."""
    scale = np.linalg.norm(R, axis=0)
    scale[scale == 0.0] = 1.0
    U, sizes, Vt = np.linalg.svd(R / scale)
    kept = sizes > _UNEXCITED * sizes[0]
    x = (Vt[kept].T @ ((U.T @ z)[kept] / sizes[kept])) / scale
    covariance = (Vt[kept].T / sizes[kept] ** 2) @ Vt[kept] / np.outer(scale, scale)
    share = np.sum(Vt[~kept] ** 2, axis=0)
    unexcited = np.flatnonzero(share > _UNEXCITED).tolist()
    covariance[unexcited] = covariance[:, unexcited] = np.nan
    covariance[unexcited, unexcited] = np.inf
    return x, covariance, unexcited


@dataclass(eq=False)
class _PhysicalFit:
    """Residuals of R (K π(θ), friction) − z and of the prior θ/s, and their slopes."""

    bodies: Sequence[LogCholesky]
    K: FloatArray
    R: FloatArray
    z: FloatArray
    s: float

    @property
    def count(self) -> int:
        """The number of inertial parameters."""
        return sum(b.count for b in self.bodies)

    def point(self, theta: FloatArray) -> tuple[FloatArray, FloatArray]:
        """π and its slopes, block by block."""
        pi, slopes = np.empty(self.count), np.zeros((self.count, self.count))
        end = 0
        for b in self.bodies:
            where = slice(end, end + b.count)
            pi[where], slopes[where, where] = b(theta[where])
            end += b.count
        return pi, slopes

    def residuals(self, theta: FloatArray) -> FloatArray:
        """Loads, then the prior."""
        n = self.count
        x = np.concatenate([self.K @ self.point(theta)[0], theta[n:]])
        return np.concatenate([self.R @ x - self.z, theta[:n] / self.s])

    def jacobian(self, theta: FloatArray) -> FloatArray:
        """∂ residuals/∂θ"""
        n, k = self.count, len(self.K)
        prior = np.hstack([np.eye(n) / self.s, np.zeros((n, len(theta) - n))])
        loads = [self.R[:, :k] @ self.K @ self.point(theta)[1], self.R[:, k:]]
        return np.vstack([np.hstack(loads), prior])


def _physical_bodies(
    bodies: Sequence[LogCholesky], K: FloatArray, R: FloatArray, z: FloatArray, s: float
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """π of physical bodies, friction, and the standard deviations of π."""
    from scipy.optimize import least_squares

    fit = _PhysicalFit(bodies, K, R, z, s)
    n = fit.count
    solution = least_squares(
        fit.residuals,
        np.zeros(n + R.shape[1] - len(K)),
        fit.jacobian,
        x_scale="jac",
        ftol=_TIGHT,
        xtol=_TIGHT,
        max_nfev=_MAX_EVALUATIONS,
    )
    if not solution.status:
        warn(
            f"identify: the search for physical bodies stopped after {_MAX_EVALUATIONS} steps, at "
            f"the boundary of physical inertias; compare consistent_chi_square with chi_square"
        )
    (pi, D), J = fit.point(solution.x), fit.jacobian(solution.x)
    inverse = np.linalg.pinv(J.T @ J, hermitian=True)[:n, :n]
    spread = np.sqrt(np.maximum(np.einsum("ij,jk,ik->i", D, inverse, D), 0.0))
    return pi, solution.x[n:], spread


def _body_inertias(regressor: Regressor, pi: FloatArray) -> dict[str, BodyInertia]:
    """m, mass centre and central inertia of every identified body, in its own frame."""
    bodies: dict[str, list[float]] = {}
    for p, x in zip(regressor.parameters, pi.tolist(), strict=True):
        bodies.setdefault(p.body, []).append(x)
    return {name: BodyInertia.of(np.array(x)) for name, x in bodies.items()}
