"""T = 2π/Ω: the period of the drive of a forced system, as an expression of its constants."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Final

import numpy as np

from dalembert.errors import NotApplicable
from dalembert.symbolic.algebra.dual_numbers import jacobian
from dalembert.symbolic.algebra.expression_graph import Derivative, operands, symbols_of

if TYPE_CHECKING:
    from dalembert.analysis.periodic.flow import Flow
    from dalembert.symbolic.algebra.tape import Tape

_PERIODIC: Final = frozenset({"sin", "cos"})
_TWO_PI: Final = 2.0 * math.pi
_LARGEST: Final = 60
_RATIONAL: Final = 1e-10
_SAME: Final = 1e-7


class DrivePeriod:
    """T(p) = m 2π/|ω| of the drive, or an expression of the user, with its derivative."""

    def __init__(
        self, flow: Flow, tape: Tape, node: int, factor: float, *, of_frequency: bool
    ) -> None:
        self.flow, self.tape, self.node, self.factor = flow, tape, node, factor
        self.of_frequency = of_frequency

    def on(self, flow: Flow) -> DrivePeriod:
        """The same with the constants of another flow of the system."""
        return DrivePeriod(flow, self.tape, self.node, self.factor, of_frequency=self.of_frequency)

    def value(self) -> float:
        """T with the constants as they are."""
        return self.slope(None)[0]

    def slope(self, symbol: int | None) -> tuple[float, float]:
        """T and ∂T/∂p."""
        numbers = self.flow.chosen.numbers
        wrt = [] if symbol is None else [symbol]
        values, slopes = jacobian(self.tape, [self.node], wrt, numbers)
        e = float(values[0][0])
        d = float(slopes[0, 0, 0]) if wrt else 0.0
        if self.of_frequency:
            return self.factor / abs(e), -self.factor / abs(e) / e * d
        return self.factor * e, self.factor * d


def drive_period(flow: Flow, times: int) -> DrivePeriod:
    """The shortest common period of the sines and cosines of the time, `times` over."""
    model = flow.model
    tape, t = model.tape.fork(), model.state[-1]
    entries = model.entries
    nodes = model.nodes if entries is None else (*entries.f, *entries.gamma, *entries.qdot)
    arguments = _arguments(tape, nodes, t)
    rate = Derivative(tape, {t: tape.one}.get)
    slopes = [rate(a) for a in arguments]
    state = set(model.state)
    for e in slopes:
        if not state.isdisjoint(symbols_of(tape, (e,))):
            msg = "periodic: the frequency of the drive changes with time or state; give period="
            raise NotApplicable(msg)
    numbers = flow.chosen.numbers
    omegas = [abs(float(jacobian(tape, [e], [], numbers)[0][0][0])) for e in slopes]
    periods = [Fraction(omegas[0] / w).limit_denominator(_LARGEST) if w else None for w in omegas]
    common = Fraction(1)
    for fraction, w in zip(periods, omegas, strict=True):
        if fraction is None or abs(float(fraction) - omegas[0] / w) > _RATIONAL * float(fraction):
            msg = "periodic: the drive has frequencies without a common period; give period="
            raise NotApplicable(msg)
        common = Fraction(
            np.lcm(
                common.numerator * fraction.denominator, fraction.numerator * common.denominator
            ),
            common.denominator * fraction.denominator,
        )
    return DrivePeriod(flow, tape, slopes[0], _TWO_PI * float(common) * times, of_frequency=True)


def _arguments(tape: Tape, nodes: Sequence[int], t: int) -> list[int]:
    """Arguments of sin and cos that contain the time; the time elsewhere has no period."""
    result: dict[int, None] = {}
    stack, seen = list(nodes), set[int]()
    while stack:
        i = stack.pop()
        if i in seen or t not in symbols_of(tape, (i,)):
            continue
        seen.add(i)
        op, a, b = tape.nodes[i]
        if i == t:
            msg = "periodic: the rates contain the time outside of sines and cosines; give period="
            raise NotApplicable(msg)
        if op in _PERIODIC:
            result[a] = None
            continue
        stack += operands(op, a, b)
    if not result:
        msg = "periodic: no sine or cosine of the time was found in the rates; give period="
        raise NotApplicable(msg)
    return list(result)


def check_period(flow: Flow, T: float) -> None:
    """f(x, t + T) = f(x, t) at a few times; otherwise no motion has this period."""
    t0, x = flow.given.t0, flow.x0
    for part in (0.0, 0.213, 0.617):
        a, b = (flow.rate(x, t0 + part * T + shift) for shift in (0.0, T))
        if not np.allclose(a, b, rtol=_SAME, atol=_SAME * max(1.0, float(np.abs(a).max()))):
            msg = (
                f"periodic: the drive does not repeat after T = {T:.9g}; give a multiple of its "
                "period, or leave period= out"
            )
            raise NotApplicable(msg)
