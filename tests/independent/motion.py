"""Rates and partial derivatives by central differences in 60 digits: truncation and rounding stay
below 1e-20.

A difference over ±h with h = 1e-20 loses 20 digits of 60 in a first derivative and 40 in a second
one; what is differentiated a second time (rows on velocities) is taken over ±1e-13.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property

from independent.description import Description
from independent.places import Configuration, Real, configuration, evaluated, mp, real
from independent.rows import ScalarRow

H = mp.mpf(10) ** -20
WIDE = mp.mpf(10) ** -13


class Motion:
    """A system at q, q̇, t and in the neighbourhood of it along q(t + τ) = q + q̇ τ."""

    def __init__(self, d: Description, q: Mapping[str, Real], rates: Mapping[str, Real]) -> None:
        self.d, self.q, self.rates, self.t = d, dict(q), dict(rates), real(d.t)
        self._fixed = {name: real(x) for name, x in (d.constants | d.inputs).items()}
        self._values: dict[object, dict[str, Real]] = {}
        self._places: dict[object, Configuration] = {}

    # ---- values ------------------------------------------------------------------------------

    def values(
        self, tau: Real = mp.zero, shift: Mapping[str, Real] | None = None
    ) -> dict[str, Real]:
        """Every name at t + τ, some of them (q, x, or a rate q_dot, x_dot) changed by a shift;
        found once.
        """
        key = tau, *(shift or {}).items()
        if key not in self._values:
            self._values[key] = self._all_values(self.t + tau, tau, shift or {})
        return self._values[key]

    def _all_values(self, t: Real, tau: Real, more: Mapping[str, Real]) -> dict[str, Real]:
        found = {**self._fixed, "t": t}
        for x, text in self.d.specified.items():
            found[x] = evaluated(text, {**self._fixed, "t": t}) + more.get(x, 0)
            ends = [evaluated(text, {**self._fixed, "t": t + k * H}) for k in (1, -1)]
            found[f"{x}_dot"] = (ends[0] - ends[1]) / (2 * H) + more.get(f"{x}_dot", 0)
        for q, value in self.q.items():
            found[q] = value + tau * self.rates[q] + more.get(q, 0)
            found[f"{q}_dot"] = self.rates[q] + more.get(f"{q}_dot", 0)
        for u, text in self.d.speeds.items():
            found[u] = evaluated(text, found)
        return found

    def places(self, tau: Real = mp.zero, shift: Mapping[str, Real] | None = None) -> Configuration:
        key = tau, *(shift or {}).items()
        if key not in self._places:
            self._places[key] = configuration(self.d, self.values(tau, shift))
        return self._places[key]

    def velocities(self, tau: Real = mp.zero) -> Configuration:
        """ṙ along the motion."""
        return self.places(tau + H).combined(1 / (2 * H), self.places(tau - H), -1 / (2 * H))

    @cached_property
    def here(self) -> Configuration:
        return self.places()

    @cached_property
    def velocity(self) -> Configuration:
        return self.velocities()

    @cached_property
    def bias(self) -> Configuration:
        """r̈ with q̈ = 0."""
        ends = self.places(H).combined(1 / H**2, self.places(-H), 1 / H**2)
        return ends.combined(1, self.here, -2 / H**2)

    @cached_property
    def partials(self) -> dict[str, Configuration]:
        """∂r/∂x of every coordinate and prescribed motion."""
        found = {}
        for x in (*self.q, *self.d.specified):
            ahead, behind = self.places(shift={x: H}), self.places(shift={x: -H})
            found[x] = ahead.combined(1 / (2 * H), behind, -1 / (2 * H))
        return found

    # ---- rows --------------------------------------------------------------------------------

    def row_value(self, row: ScalarRow, tau: Real = mp.zero) -> Real:
        return row.value(self.places(tau), self.velocities(tau), self.values(tau))

    def row_partial(self, row: ScalarRow, x: str) -> Real:
        """∂φ/∂x, or ∂ψ/∂ẋ, which is a finite difference because ψ is linear in the rates."""
        if row.holonomic:
            ends = [
                row.value(
                    self.places(shift={x: k * H}), self.velocity, self.values(shift={x: k * H})
                )
                for k in (1, -1)
            ]
            return (ends[0] - ends[1]) / (2 * H)
        faster = self.velocity.combined(1, self.partials[x], 1)
        ahead = row.value(self.here, faster, self.values(shift={f"{x}_dot": mp.one}))
        return ahead - row.value(self.here, self.velocity, self.values())

    def row_rate(self, row: ScalarRow) -> Real:
        """A q̇ + b"""
        if not row.holonomic:
            return row.value(self.here, self.velocity, self.values())
        ends = [row.value(self.places(k * H), self.velocity, self.values(k * H)) for k in (1, -1)]
        return (ends[0] - ends[1]) / (2 * H)

    def row_bias(self, row: ScalarRow) -> Real:
        """γ: the second derivative of φ, or the first of ψ, with q̈ = 0."""
        if row.holonomic:
            ends = [
                row.value(self.places(k * H), self.velocity, self.values(k * H)) for k in (1, 0, -1)
            ]
            return (ends[0] - 2 * ends[1] + ends[2]) / H**2
        ends = [self.row_value(row, k * WIDE) for k in (1, -1)]
        return (ends[0] - ends[1]) / (2 * WIDE)

    # ---- expressions -------------------------------------------------------------------------

    def text(self, text: str) -> Real:
        return evaluated(text, self.values())

    def text_partial(self, text: str, name: str) -> Real:
        """∂/∂x or, by the name x_dot, ∂/∂ẋ of a text."""
        ends = [evaluated(text, self.values(shift={name: k * H})) for k in (1, -1)]
        return (ends[0] - ends[1]) / (2 * H)
