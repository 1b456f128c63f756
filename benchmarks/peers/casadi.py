"""CasADi: the articulated-body algorithm written out by hand in SX, in its own interpreter or as C
code.

Source: Featherstone's algorithm in blocks of 3 × 3; the joint's own axes keep the structural zeros.
"""

from __future__ import annotations

import ctypes
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import casadi
import native_loop
import numpy
from casadi import SX
from numpy.typing import NDArray
from systems import GRAVITY, Link

from peers import c_compiler


def _turn(axis: int, angle: Any) -> Any:
    """E from the parent's to the child's components; the zeros are structural."""
    E, c, s = SX(3, 3), casadi.cos(angle), casadi.sin(angle)
    i, j = (axis + 1) % 3, (axis + 2) % 3
    E[axis, axis] = 1
    E[i, i], E[i, j], E[j, i], E[j, j] = c, s, -s, c
    return E


def _unit(axis: int) -> Any:
    e = SX(3, 1)
    e[axis] = 1
    return e


class _Body:
    """What one link needs on the way out and back: velocity, articulated inertia (A, H, m) and
    bias force (n, f) at its joint.
    """

    w: Any
    v: Any

    def __init__(self, link: Link, before: _Body | None, q: Any, u: Any) -> None:
        cross, skew = casadi.cross, casadi.skew
        self.E, self.s, self.r = _turn(link.axis, q), _unit(link.axis), SX(link.offset)
        w, v = (before.w, before.v) if before is not None else (SX(3, 1), SX(3, 1))
        self.w, self.v = self.E @ w + self.s * u, self.E @ (v + cross(w, self.r))
        self.cw, self.cv = cross(self.w, self.s * u), cross(self.v, self.s * u)
        c, m = skew(link.centre), link.mass
        self.A, self.H, self.M = SX(link.inertia) - m * c @ c, SX(m * c), SX(m * casadi.DM.eye(3))
        h = SX(m * link.centre)
        n, f = self.A @ self.w + cross(h, self.v), m * self.v - cross(h, self.w)
        self.n, self.f = cross(self.w, n) + cross(self.v, f), cross(self.w, f)

    def fold_into(self, before: _Body | None, tau: Any) -> None:
        """Eliminate this joint and hand its inertia and bias force to the body before."""
        cross, skew = casadi.cross, casadi.skew
        self.Un, self.Uf = self.A @ self.s, self.H.T @ self.s
        self.D, self.rest = casadi.dot(self.s, self.Un), tau - casadi.dot(self.s, self.n)
        if before is None:
            return
        Kn, Kf = self.Un / self.D, self.Uf / self.D
        A, H, M = self.A - self.Un @ Kn.T, self.H - self.Un @ Kf.T, self.M - self.Uf @ Kf.T
        n = self.n + A @ self.cw + H @ self.cv + Kn * self.rest
        f = self.f + H.T @ self.cw + M @ self.cv + Kf * self.rest
        Et, r = self.E.T, skew(self.r)
        A, H, M, n, f = Et @ A @ self.E, Et @ H @ self.E, Et @ M @ self.E, Et @ n, Et @ f
        moved = H + r @ M
        before.A += A + r @ H.T - moved @ r
        before.H += moved
        before.M += M
        before.n += n + cross(self.r, f)
        before.f += f

    def accelerate(self, aw: Any, av: Any) -> tuple[Any, Any, Any]:
        """The joint's acceleration, and the body's, from those of the body before."""
        aw, av = self.E @ aw + self.cw, self.E @ (av + casadi.cross(aw, self.r)) + self.cv
        udot = (self.rest - casadi.dot(self.Un, aw) - casadi.dot(self.Uf, av)) / self.D
        return udot, aw + self.s * udot, av


def forward_dynamics(links: list[Link]) -> Any:
    """f(q, u) = u̇ as an expression graph."""
    n = len(links)
    q, u = SX.sym("q", n), SX.sym("u", n)
    return casadi.Function("f", [q, u], [_accelerations(links, q, u, SX(n, 1))])


def derivatives(links: list[Link]) -> Any:
    """f((q, u, τ)) = ∂u̇/∂(q, u, τ), all entries column by column."""
    n = len(links)
    x = SX.sym("x", 3 * n)
    udot = _accelerations(links, x[:n], x[n : 2 * n], x[2 * n :])
    return casadi.Function("f", [x], [casadi.densify(casadi.jacobian(udot, x))])


def _accelerations(links: list[Link], q: Any, u: Any, tau: Any) -> Any:
    n = len(links)
    bodies: list[_Body] = []
    for i, link in enumerate(links):
        bodies.append(_Body(link, bodies[-1] if bodies else None, q[i], u[i]))
    for i in reversed(range(n)):
        bodies[i].fold_into(bodies[i - 1] if i else None, tau[i])
    udot, aw, av = [], SX(3, 1), SX([0, 0, GRAVITY])
    for body in bodies:
        a, aw, av = body.accelerate(aw, av)
        udot.append(a)
    return casadi.vertcat(*udot)


class Compiled:
    """The function as C code, compiled by the machine's compiler."""

    def __init__(self, f: Any) -> None:
        self.n = f.size1_in(0)
        self._folder = tempfile.TemporaryDirectory()
        source, library = (Path(self._folder.name) / name for name in ("f.c", "f.so"))
        generator = casadi.CodeGenerator(source.name)
        generator.add(f)
        generator.generate(f"{source.parent}/")
        subprocess.run(
            [
                c_compiler(),
                "-O3",
                "-march=native",
                "-shared",
                "-fPIC",
                str(source),
                "-o",
                str(library),
            ],
            check=True,
        )
        self._library = ctypes.CDLL(str(library))
        self._w, self._iw = numpy.zeros(f.sz_w() + 8), numpy.zeros(f.sz_iw() + 8, dtype=numpy.int64)

    def loop(self, Q: NDArray[Any], U: NDArray[Any]) -> Callable[[], NDArray[Any]]:
        """The C function from a native loop."""
        f = ctypes.cast(self._library.f, ctypes.c_void_p).value
        run = native_loop.rows(
            "casadi",
            (f or 0, self._iw.ctypes.data, self._w.ctypes.data),
            numpy.hstack([Q, U]),
            self.n,
        )

        def kept(_keep: Compiled = self) -> NDArray[Any]:
            return run()

        return kept


def whole_loop(f: Any, X: NDArray[Any]) -> Callable[[], NDArray[Any]]:
    """The C function of one argument and one result from a native loop."""
    compiled = Compiled(f)
    address = ctypes.cast(compiled._library.f, ctypes.c_void_p).value or 0  # noqa: SLF001 - its own
    work = (address, compiled._iw.ctypes.data, compiled._w.ctypes.data)  # noqa: SLF001 - its own
    run = native_loop.rows("casadi_whole", work, X, f.numel_out(0))

    def kept(_keep: Compiled = compiled) -> NDArray[Any]:
        return run()

    return kept


def one(f: Any, q: NDArray[Any], u: NDArray[Any]) -> Callable[[], object]:
    """One call from Python by CasADi's buffers, the way that costs least; its own interpreter
    evaluates.
    """
    buffer, evaluate = f.buffer()
    y = numpy.zeros(len(q))
    for k, x in enumerate((q, u)):
        buffer.set_arg(k, x.data)
    buffer.set_res(0, y.data)

    def call(_keep: tuple[object, ...] = (buffer, f)) -> NDArray[Any]:
        evaluate()
        return y

    return call
