"""Ensembles by other tools: heyoka's batches, MuJoCo's rollouts, SciPy member by member."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy
from measure import timed
from numpy.typing import NDArray
from systems import Link

from peers import scipy as peer_scipy

Numbers = NDArray[numpy.float64]


class Pendulums:
    """Double pendulums in batches of heyoka, at the loosest tolerance whose middle error is not
    larger than a given one.
    """

    def __init__(self, angles: Numbers, duration: float, error: float, exact: Numbers) -> None:
        import heyoka

        from peers.heyoka import pendulum

        heyoka.set_nthreads(1)
        self._heyoka, self._system, self._duration = heyoka, pendulum(2), duration
        self._width = heyoka.recommended_simd_size()
        self._starts = numpy.hstack([angles, numpy.zeros_like(angles)])
        few = len(exact)
        for self.tolerance in (1e-5, 3e-6, 1e-6, 3e-7, 1e-7, 3e-8, 1e-8, 1e-9, 1e-10, 1e-11, 1e-12):
            self._make()
            self.error = float(numpy.median(numpy.abs(self._looped(few) - exact).max(axis=1)))
            if self.error <= error:
                break
        count = 40 * self._width
        times = {
            way: min(timed(lambda way=way: way(count))[0] for _ in range(3))
            for way in (self._looped, self._by_ensemble)
        }  # type: ignore[misc]
        self._way = min(times, key=times.__getitem__)
        self.how = (
            "a loop over batches" if self._way == self._looped else "ensemble_propagate_until_batch"
        )

    def _make(self) -> None:
        start = numpy.zeros((4, self._width))
        self._integrator = self._heyoka.taylor_adaptive_batch(
            self._system, start, tol=self.tolerance
        )

    def _looped(self, count: int) -> Numbers:
        ta, width = self._integrator, self._width
        ends = numpy.empty((count, 4))
        for first in range(0, count, width):
            some = min(width, count - first)
            ta.set_time(0.0)
            ta.state[:, :some] = self._starts[first : first + some].T
            ta.propagate_until(self._duration)
            ends[first : first + some] = ta.state[:, :some].T
        return ends

    def _by_ensemble(self, count: int) -> Numbers:
        width = self._width

        def member(ta: Any, k: int) -> Any:
            ta.set_time(0.0)
            ta.state[:] = self._starts[k * width : (k + 1) * width].T
            return ta

        found = self._heyoka.ensemble_propagate_until_batch(
            self._integrator, self._duration, count // width, member, max_workers=1
        )
        return numpy.vstack([ta.state.T for ta, *_ in found])

    def run(self) -> Numbers:
        """The ends of all members."""
        return self._way(len(self._starts))


class Rollouts:
    """Chains by mujoco.rollout with RK4, at the longest of a few steps whose middle error is not
    larger than a given one.
    """

    def __init__(
        self, bodies: list[Link], q: Numbers, u: Numbers, error: float, exact: Numbers
    ) -> None:
        import mujoco

        from peers.mujoco import Chain

        self._model = Chain(bodies).model
        self._model.opt.integrator = mujoco.mjtIntegrator.mjINT_RK4
        self._data = mujoco.MjData(self._model)
        size = mujoco.mj_stateSize(self._model, mujoco.mjtState.mjSTATE_FULLPHYSICS)
        self._starts = numpy.zeros((len(q), size))
        # the time stands first
        (
            self._starts[:, 1 : 1 + q.shape[1]],
            self._starts[:, 1 + q.shape[1] : 1 + 2 * q.shape[1]],
        ) = q, u
        self._n = q.shape[1]
        for self._steps in (500, 1000, 2000, 4000, 8000, 16000):
            self.step = self._model.opt.timestep = 1.0 / self._steps
            few = min(16, len(q))
            self.error = float(numpy.median(numpy.abs(self._ends(few) - exact[:few]).max(axis=1)))
            if self.error <= error:
                return

    def _ends(self, count: int) -> Numbers:
        from mujoco import rollout

        found, _ = rollout.rollout(self._model, self._data, self._starts[:count], nstep=self._steps)
        return numpy.asarray(found[:, -1, 1 : 1 + 2 * self._n])

    def run(self) -> Numbers:
        """The ends of all members, some at a time, so that their paths fit into memory."""
        some = max(1, 4_000_000 // (self._steps * self._starts.shape[1]))
        starts, ends = self._starts, []
        for first in range(0, len(starts), some):
            self._starts = starts[first : first + some]
            ends.append(self._ends(len(self._starts)))
        self._starts = starts
        return numpy.vstack(ends)


def lambdified(angles: Numbers, duration: float, tolerance: float) -> Callable[[], Numbers]:
    """DOP853 on SymPy's equations by lambdify, solved by NumPy at each call; angles from rod to
    rod.
    """
    from peers.sympy_mechanics import rates_by_solve

    rates = rates_by_solve(2)
    starts = [[a, b - a, 0.0, 0.0] for a, b in angles.tolist()]
    return lambda: numpy.array(
        [peer_scipy.run(rates, start, duration, tolerance) for start in starts]
    )
