"""y = (q, x, inputs, u | ∂y/∂p, … | quadratures): where each quantity is in a state vector.
Keywords: state layout, slices.

q are the coordinates, x the first-order states, then inputs that a run samples, u the independent
speeds. A run with sensitivities integrates a copy of these for each of its numbers p, and the
quadratures of the energy audit behind all of them.
"""

from __future__ import annotations

from dalembert.foundation.deferred_dataclass import dataclass


@dataclass(frozen=True)
class StateLayout:
    """The slices of a state vector, or of the columns of a table of states."""

    n_q: int
    n_x: int
    n_inputs: int
    n_u: int
    # numbers p with sensitivities ∂(q, x, inputs, u)/∂p
    n_sensitivities: int = 0

    @property
    def speed_offset(self) -> int:
        """The index of the first speed."""
        return self.n_q + self.n_x + self.n_inputs

    @property
    def size(self) -> int:
        """The length of (q, x, inputs, u)."""
        return self.speed_offset + self.n_u

    @property
    def q(self) -> slice:
        """Coordinates."""
        return slice(0, self.n_q)

    @property
    def x(self) -> slice:
        """First-order states."""
        return slice(self.n_q, self.n_q + self.n_x)

    @property
    def x_and_inputs(self) -> slice:
        """First-order states, and inputs that a run samples."""
        return slice(self.n_q, self.speed_offset)

    @property
    def u(self) -> slice:
        """Independent speeds."""
        return slice(self.speed_offset, self.size)

    @property
    def state(self) -> slice:
        """(q, x, inputs, u)"""
        return slice(0, self.size)

    @property
    def without_inputs(self) -> list[int]:
        """Indices of (q, x, u)."""
        return [*range(self.n_q + self.n_x), *range(self.speed_offset, self.size)]

    @property
    def sensitivities(self) -> slice:
        """∂y/∂p of all numbers p, one after the other."""
        return slice(self.size, self.size * (1 + self.n_sensitivities))

    def sensitivity(self, j: int) -> slice:
        """∂y/∂p of number j."""
        return slice(self.size * (1 + j), self.size * (2 + j))

    def speed_sensitivity(self, j: int) -> slice:
        """∂u/∂p of number j."""
        return slice(self.size * (1 + j) + self.speed_offset, self.size * (2 + j))

    @property
    def quadratures(self) -> slice:
        """What is integrated along with the motion."""
        return slice(self.size * (1 + self.n_sensitivities), None)
