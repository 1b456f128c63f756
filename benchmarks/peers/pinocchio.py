"""Pinocchio: the articulated-body algorithm in C++ templates, by `pin.aba` or in its own loop on
one thread; rnea in its own loop.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy
import pinocchio as pin
from numpy.typing import NDArray
from systems import GRAVITY, Link

_JOINTS = (pin.JointModelRX, pin.JointModelRY, pin.JointModelRZ)


class Chain:
    """The spatial chain as a pin.Model."""

    def __init__(self, links: list[Link]) -> None:
        self.model = pin.Model()
        parent = 0
        for i, link in enumerate(links):
            parent = self.model.addJoint(
                parent, _JOINTS[link.axis](), pin.SE3(numpy.eye(3), link.offset), f"q{i}"
            )
            self.model.appendBodyToJoint(
                parent, pin.Inertia(link.mass, link.centre, link.inertia), pin.SE3.Identity()
            )
        self.model.gravity.linear = numpy.array([0.0, 0.0, -GRAVITY])
        self.data = self.model.createData()
        self.tau = numpy.zeros(len(links))

    def one(self, q: NDArray[Any], u: NDArray[Any]) -> NDArray[Any]:
        """One call from Python."""
        return numpy.asarray(pin.aba(self.model, self.data, q, u, self.tau))

    def rates(self, _t: float, y: NDArray[Any]) -> NDArray[Any]:
        """ẏ for an integrator."""
        n = len(self.tau)
        return numpy.concatenate([y[n:], self.one(y[:n], y[n:])])

    def loop(self, Q: NDArray[Any], U: NDArray[Any]) -> Callable[[], NDArray[Any]]:
        """Its own C++ loop over states, on one thread; results in rows."""
        return self._loop(pin.abaInParallel, Q, U, numpy.zeros_like(Q))

    def inverse_loop(
        self, Q: NDArray[Any], U: NDArray[Any], A: NDArray[Any]
    ) -> Callable[[], NDArray[Any]]:
        """The same for the loads that make the accelerations A, by the recursive Newton–Euler
        algorithm.
        """
        return self._loop(pin.rneaInParallel, Q, U, A)

    def derivatives(self, Q: NDArray[Any], U: NDArray[Any]) -> Callable[[], object]:
        """∂u̇/∂(q, u, τ) of states in rows, called one by one: it has no loop of its own."""
        states, model, data, tau = [*zip(Q, U, strict=True)], self.model, self.data, self.tau

        def run() -> None:
            for q, u in states:
                pin.computeABADerivatives(model, data, q, u, tau)

        return run

    def derivative_values(self, Q: NDArray[Any], U: NDArray[Any]) -> NDArray[Any]:
        """The same as numbers; of M⁻¹ it fills the upper half."""
        found = []
        for q, u in zip(Q, U, strict=True):
            pin.computeABADerivatives(self.model, self.data, q, u, self.tau)
            inverse = numpy.triu(self.data.Minv) + numpy.triu(self.data.Minv, 1).T
            found.append(numpy.hstack([self.data.ddq_dq, self.data.ddq_dv, inverse]))
        return numpy.array(found)

    def _loop(
        self, algorithm: Callable[..., object], *rows: NDArray[Any]
    ) -> Callable[[], NDArray[Any]]:
        pool = pin.ModelPool(self.model, 1)
        columns = [numpy.asfortranarray(x.T) for x in rows]
        found = numpy.zeros_like(columns[0])

        def run() -> NDArray[Any]:
            algorithm(1, pool, *columns, found)
            return found.T

        return run
