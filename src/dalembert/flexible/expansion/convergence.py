"""|ω_n − ω_(n−1)|/ω_n: what the last admissible function still changed, as an estimate of how far the expansion is from the continuum."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from dalembert.errors import DalembertError
from dalembert.flexible.expansion.discretised import Discretised
from dalembert.flexible.expansion.ritz import ritz

_SHOWN: Final = 3


@dataclass(frozen=True)
class Convergence:
    """The lowest frequencies of a member held in its frame, with n functions in each field and with n − 1."""

    functions: int
    frequencies: tuple[float, ...]
    before: tuple[float, ...]
    # why there is no estimate
    reason: str = ""

    @property
    def changes(self) -> tuple[float, ...]:
        """What the last function changed, as a part of each frequency."""
        return tuple(abs(b - a) / a if a else 0.0 for a, b in zip(self.frequencies, self.before, strict=False))

    def __str__(self) -> str:
        if self.reason:
            return f"  convergence: no estimate, {self.reason}"
        lines = []
        for k, a in enumerate(self.frequencies):
            change = f"changed by {self.changes[k]:.1e} with the last function" if k < len(self.before) else "found with all functions only"
            lines.append(f"  ω_{k + 1} = {a:.10g} held in its frame, {change}")
        return "\n".join(lines)


def convergence(bent: Discretised, values: Mapping[Any, Any] | None = None) -> Convergence:
    """The estimate, or the reason why there is none."""
    n = min(map(len, bent.functions.values()))
    try:
        whole = ritz(bent, values)
    except DalembertError as problem:
        return Convergence(n, (), (), str(problem))
    if not whole.K.any():
        return Convergence(n, (), (), "its stiffness comes from its loads alone: compare runs with more functions")
    if not whole.stable:
        return Convergence(n, (), (), "it is pressed beyond its buckling load, so that its straight shape is unstable")
    less = whole.without_last()
    before = () if less is None else tuple(map(float, less.frequencies()[:_SHOWN]))
    return Convergence(n, tuple(map(float, whole.frequencies()[:_SHOWN])), before)
