"""Inputs that a plant meets in practice: noise by held samples, delays as buffers or as states.
Keywords: white noise, band-limited noise, dead time, Padé approximation.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from math import factorial
from typing import TYPE_CHECKING, Any

import numpy as np

from dalembert.analysis.control.state_model import BadControl
from dalembert.foundation.suggestions import check_options
from dalembert.runtime.numerics.symbol_values import finite_number
from dalembert.runtime.states.inputs import Sampled, sampled
from dalembert.runtime.states.tables import Table, table
from dalembert.symbolic.algebra.scalar import Scalar

if TYPE_CHECKING:
    from dalembert.mechanics.model.system import System


@check_options
def noise(
    duration: float,
    every: float,
    *,
    deviation: float = 1.0,
    band: tuple[float, float] | None = None,
    seed: int = 0,
    t0: float = 0.0,
) -> Table:
    """Normal noise as a table: inputs={F: da.noise(10, 0.01, deviation=2, seed=1)}.

    duration   the length of the run
    every      the time between samples; without a band each is independent and held until the next,
               white up to 1/(2 every), with the two-sided density deviation² every
    deviation  the standard deviation of the samples
    band       (0.5, 8): frequencies in Hz between which the density is constant, and zero outside;
               the table is then cubic
    seed       the same seed gives the same noise
    """
    length, step = finite_number("duration", duration), finite_number("every", every)
    sigma = finite_number("deviation", deviation)
    if not 0.0 < step <= length or sigma < 0.0:
        msg = (
            f"noise: duration={length:g}, every={step:g}, deviation={sigma:g}; give 0 < every ≤ "
            f"duration and a deviation that is not negative"
        )
        raise BadControl(msg)
    count = int(np.ceil(length / step * (1 - 1e-12))) + 1
    samples = np.random.default_rng(seed).normal(size=count)
    kind = "held"
    if band is not None:
        samples, kind = _band_limited(samples, step, band), "cubic"
    times = finite_number("t0", t0) + step * np.arange(count)
    return table(times, sigma * samples, kind)


def _band_limited(samples: Any, step: float, band: tuple[float, float]) -> Any:
    """The part of white noise inside a band, with standard deviation 1."""
    low, high = (finite_number("band", f) for f in band)
    f = np.fft.rfftfreq(len(samples), step)
    inside = (f >= low) & (f <= high)
    if not 0.0 <= low < high <= 0.5 / step or not inside.any():
        msg = (
            f"noise: band={low:g} … {high:g} Hz; between 0 and {0.5 / step:g} Hz, wider than "
            f"{f[1]:g} Hz, is needed"
        )
        raise BadControl(msg)
    share = np.count_nonzero(inside) / len(f)
    return np.fft.irfft(np.fft.rfft(samples) * inside, len(samples)) / np.sqrt(share)


class _DelayLine:
    """f(t − n h) from a buffer of samples; a time before the last one begins a new run."""

    def __init__(self, function: Callable[..., Any], steps: int, every: float, first: Any) -> None:
        self.function, self.steps, self.every, self.first = function, steps, every, first
        self.takes_state = len(inspect.signature(function).parameters) > 1
        self.buffer: dict[int, Any] = {}

    def __call__(self, t: float, now: Any) -> Any:
        k = round(t / self.every)
        if self.buffer and k < max(self.buffer):
            self.buffer.clear()
        self.buffer[k] = self.function(t, now) if self.takes_state else self.function(t)
        self.buffer.pop(k - self.steps - 1, None)
        return self.buffer.get(k - self.steps, self.first)


def delayed(
    function: Callable[..., Any], by: float, *, every: float, initial: Any = 0.0
) -> Sampled:
    """A digital controller whose output is late: inputs={F: da.delayed(law, 0.02, every=0.01)}.

    The function of the time, or of the time and the state, is evaluated at every interval; its
    value acts after the delay, a whole number of intervals, and is held. `initial` acts until then.
    """
    h, wait = finite_number("every", every), finite_number("by", by)
    steps = round(wait / h) if h > 0.0 else -1
    if steps < 0 or abs(steps * h - wait) > 1e-9 * max(h, wait):
        msg = f"delayed: by={wait:g} must be a whole number of intervals, every={h:g}"
        raise BadControl(msg)
    if not callable(function):
        msg = f"delayed: give a function of the time and the state, not {function!r:.60}"
        raise BadControl(msg)
    return sampled(_DelayLine(function, steps, h, initial).__call__, h)


def pade_delay(system: System, name: str, signal: Any, by: float, *, order: int = 2) -> Scalar:
    """y(t) ≈ u(t − by): the delayed signal as an expression of new states name_1, name_2, ….

    exp(−s T) ≈ Σ c_k (−s T)ᵏ / Σ c_k (s T)ᵏ, c_k = (2 n − k)! n! / ((2 n)! k! (n − k)!). The gain
    is one; the phase at ω T = 1 is off by 7 % with order 1 and 0.13 % with order 2. Before the
    start the signal counts as zero.
    """
    T = finite_number("by", by)
    if T <= 0.0 or not isinstance(order, int) or not 1 <= order <= 10:
        msg = f"pade_delay: by={T:g}, order={order}; give a positive time and an order of 1 to 10"
        raise BadControl(msg)
    n = order
    c = [
        factorial(2 * n - k) * factorial(n) / (factorial(2 * n) * factorial(k) * factorial(n - k))
        for k in range(n + 1)
    ]
    a = [x / c[n] for x in c]
    u = system.expression(signal) if isinstance(signal, str) else signal
    x = [system.state(f"{name}_{k}") for k in range(1, n + 1)]
    # controllable form in the time t/T
    for k in range(n - 1):
        system.rate(x[k], x[k + 1] / T)
    system.rate(x[-1], (u - sum((a[k] * x[k] for k in range(n)), 0 * x[0])) / T)
    direct = (-1.0) ** n
    out = [(-1.0) ** k * a[k] - direct * a[k] for k in range(n)]
    return direct * u + sum((b * z for b, z in zip(out, x, strict=True) if b), 0 * x[0])
