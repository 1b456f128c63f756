"""Pinocchio: the articulated-body algorithm in C++ templates, by `pin.aba` or in its own loop on one thread."""

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
            parent = self.model.addJoint(parent, _JOINTS[link.axis](), pin.SE3(numpy.eye(3), link.offset), f"q{i}")
            self.model.appendBodyToJoint(parent, pin.Inertia(link.mass, link.centre, link.inertia), pin.SE3.Identity())
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
        pool = pin.ModelPool(self.model, 1)
        Q, U = numpy.asfortranarray(Q.T), numpy.asfortranarray(U.T)
        tau, a = numpy.zeros_like(Q), numpy.zeros_like(Q)

        def run() -> NDArray[Any]:
            pin.abaInParallel(1, pool, Q, U, tau, a)
            return a.T

        return run
