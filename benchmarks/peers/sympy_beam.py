"""SymPy: Lagrange's equations of the spin-up beam in the same admissible functions, lambdified."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import numpy
import sympy
from numpy.typing import NDArray

EI, MU, LENGTH = 14000, sympy.Rational(6, 5), 10


def spin_up(functions: Sequence[Sequence[Fraction]]) -> Callable[[float, Any], NDArray[Any]]:
    """ẏ(t, y): T = ½μ∫(ṡ + vΩ)² + (v̇ + (x − s)Ω)² dx, s = ½∫₀ˣv′² dx, V = ½EI∫v″² dx; M and f
    lambdified, solved by numpy.

    `functions` are the coefficients of the polynomials φ_i(ξ), ξ = x/L.

    Source: KRB87.
    """
    n, xi = len(functions), sympy.Symbol("xi")
    q, w = sympy.symbols(f"q1:{n + 1}"), sympy.symbols(f"w1:{n + 1}")
    Omega, pace = sympy.symbols("Omega pace")
    phi = [
        sum(sympy.Rational(c.numerator, c.denominator) * xi**k for k, c in enumerate(f))
        for f in functions
    ]
    v, v_dot = (sum(a * f for a, f in zip(x, phi, strict=True)) for x in (q, w))
    s = sympy.integrate(sympy.expand(sympy.diff(v, xi) ** 2), xi) / (2 * LENGTH)
    s_dot = sum(sympy.diff(s, a) * b for a, b in zip(q, w, strict=True))
    speed2 = (s_dot + v * Omega) ** 2 + (v_dot + (LENGTH * xi - s) * Omega) ** 2
    T = MU * LENGTH / 2 * _integral(speed2, xi)
    V = sympy.Rational(EI, 2 * LENGTH**3) * _integral(sympy.diff(v, xi, 2) ** 2, xi)
    p = [sympy.diff(T, a) for a in w]
    M = sympy.Matrix([[sympy.diff(e, b) for b in w] for e in p])
    f = sympy.Matrix(
        [
            sympy.diff(T - V, a)
            - sum(sympy.diff(e, b) * c for b, c in zip(q, w, strict=True))
            - sympy.diff(e, Omega) * pace
            for a, e in zip(q, p, strict=True)
        ]
    )
    function = sympy.lambdify([*q, *w, Omega, pace], (M, f), cse=True)

    def rates(t: float, y: Any) -> NDArray[Any]:
        M, f = function(*y, *_hub(t))
        return numpy.concatenate([y[n:], numpy.linalg.solve(M, f[:, 0])])

    return rates


def _integral(e: Any, xi: Any) -> Any:
    """∫₀¹ e dξ of a polynomial."""
    return sum(c / (k + 1) for (k,), c in sympy.Poly(sympy.expand(e), xi).terms())


def _hub(t: float) -> tuple[float, float]:
    """Ω and Ω̇ of the hub."""
    if t > 15:
        return 6.0, 0.0
    angle = numpy.pi * t / 7.5
    return 0.4 * (t - 7.5 / numpy.pi * numpy.sin(angle)), 0.4 * (1 - numpy.cos(angle))
