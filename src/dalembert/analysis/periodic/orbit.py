"""x(t + T) = x(t): a periodic motion, its period, multipliers, stability and error estimates."""

from __future__ import annotations

from dataclasses import field, replace
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from dalembert.analysis.periodic.multipliers import (
    FloquetMultipliers,
    KnownVectors,
    deflate,
    join_vectors,
    keep_invariant,
)
from dalembert.analysis.periodic.structure import symmetry_name
from dalembert.foundation.array_types import FloatArray
from dalembert.foundation.deferred_dataclass import dataclass
from dalembert.foundation.display import Displayable

if TYPE_CHECKING:
    import os
    from pathlib import Path

    from dalembert.analysis.periodic.flow import Flow
    from dalembert.analysis.periodic.return_map import EventShooting
    from dalembert.analysis.periodic.shooting import Shooting
    from dalembert.runtime.simulation.trajectory import Trajectory

# multipliers of a conservative system lie on the unit circle to this, times their condition
_ON_CIRCLE: Final = 1e-6
_INDEPENDENT: Final = 1e-7


def known_vectors(
    flow: Flow, structure: Any, x: FloatArray, M: FloatArray
) -> tuple[FloatArray, KnownVectors, KnownVectors]:
    """The tangent basis, directions with M ξ = ξ and gradients with ∇Iᵀ M = ∇Iᵀ."""
    t0 = flow.given.t0
    B = structure.tangent_basis(x, t0)
    names: list[str] = []
    columns: list[FloatArray] = []
    if flow.autonomous:
        names.append("time shift")
        columns.append(flow.rate(x, t0))
    xi = structure.symmetries(x, t0, B)
    for k in range(xi.shape[1]):
        if k != structure.energy:
            names.append(symmetry_name(structure.names[k]))
            columns.append(xi[:, k])
    gradients = structure.integrals(x, t0)[1]
    right = KnownVectors(tuple(names), np.array(columns).reshape(-1, flow.n).T)
    left = KnownVectors(tuple(structure.names), gradients.T)
    projected = B @ B.T
    left = KnownVectors(left.names, projected @ left.columns)
    M_B = projected @ M @ projected
    # M maps the span of the shifts to itself, though a heading may take positions along
    shifts = KnownVectors(
        tuple(f"shift of {flow.names[j]}" for j in structure.shifts),
        np.eye(flow.n)[:, list(structure.shifts)],
    )
    right = _drop_dependent(join_vectors(shifts, keep_invariant(M_B, right, shifts.columns)))
    none = np.zeros((flow.n, 0))
    return B, right, _drop_dependent(keep_invariant(M_B, left, none, left=True))


def _drop_dependent(known: KnownVectors) -> KnownVectors:
    """Those that are no combination of the ones before."""
    kept: list[int] = []
    basis = np.zeros((len(known.columns), 0))
    for k, v in enumerate(known.columns.T):
        unit = v / np.linalg.norm(v)
        left = unit - basis @ (basis.T @ unit)
        if (length := np.linalg.norm(left)) > _INDEPENDENT:
            basis = np.column_stack([basis, left / length])
            kept.append(k)
    return KnownVectors(tuple(known.names[k] for k in kept), known.columns[:, kept])


def multipliers_at(flow: Flow, structure: Any, x: FloatArray, M: FloatArray) -> FloquetMultipliers:
    """The multipliers of M at x, those that must be one named and taken out."""
    B, right, left = known_vectors(flow, structure, x, M)
    symplectic = structure.is_symplectic(M, x, flow.given.t0, B)
    return replace(deflate(M, B, right, left), symplectic=symplectic)


def multipliers_of_map(
    flow: Flow, structure: Any, x: FloatArray, P: FloatArray
) -> FloquetMultipliers:
    """The multipliers of a return map; ∂P/∂x f = 0 is taken out by f."""
    B, right, left = known_vectors(flow, structure, x, P)
    f = B.T @ flow.rate(x, flow.given.t0)
    across = B @ np.linalg.svd(f[None])[2][1:].T
    result = deflate(P, across, right, left)
    return replace(result, zero=("time shift",))


def stability(values: FloatArray, error: float, *, conservative: bool) -> str:
    """Stable, unstable, linearly stable (all on the unit circle), or undecided."""
    moduli = np.abs(values)
    if not len(values):
        return "linearly stable" if conservative else "stable"
    if conservative:
        tolerance = max(error, _ON_CIRCLE)
        outside = (np.abs(moduli - 1.0) > tolerance).any()
        double = any(abs(abs(a.real) - 1.0) < tolerance for a in values)
        return "unstable" if outside else "undecided" if double else "linearly stable"
    if (moduli > 1.0 + error).any():
        return "unstable"
    return "stable" if (moduli < 1.0 - error).all() else "undecided"


@dataclass(frozen=True, eq=False, repr=False)
class PeriodicOrbit(Displayable):
    """A periodic motion; `unit_multipliers` names multipliers that are one."""

    system: Any = field(repr=False)
    period: float
    start: dict[str, float]
    multipliers: FloatArray
    unit_multipliers: tuple[str, ...]
    stability: str
    # how far off a run with smaller steps is: period, state, largest multiplier
    period_error: float
    state_error: float
    multiplier_error: float
    closing_error: float
    energy: float | None
    constants: dict[str, float]
    # by how much coordinates advance in a period
    advance: dict[str, float]
    iterations: int
    notes: tuple[str, ...] = ()
    # of an orbit that was read from a file: what da.periodic was given
    options: dict[str, Any] = field(default_factory=dict, repr=False)
    eigenvectors: FloatArray = field(default_factory=lambda: np.zeros((0, 0)), repr=False)
    monodromy: FloatArray = field(default_factory=lambda: np.zeros((0, 0)), repr=False)
    shooting: Shooting | EventShooting | None = field(default=None, repr=False)
    z: FloatArray = field(default_factory=lambda: np.zeros(0), repr=False)

    @property
    def x0(self) -> FloatArray:
        """The initial state as an array."""
        return np.array(list(self.start.values()))

    @property
    def frequency(self) -> float:
        """2π/T"""
        return float(2 * np.pi / self.period)

    @property
    def stable(self) -> bool | None:
        """Whether the motion is stable (linearly stable if conservative); None within the error."""
        return (
            None
            if self.stability == "undecided"
            else self.stability in ("stable", "linearly stable")
        )

    def run(self, periods: float = 1.0) -> Trajectory:
        """The motion as a run, for plots, animations and any expression along it."""
        from dalembert.analysis.periodic.orbit_run import run_of_orbit

        return run_of_orbit(self, periods)

    def plot(self, *expressions: Any, path: Any = None) -> Any:
        """Expressions over a period, or the orbit in the plane of two of them."""
        from dalembert.analysis.periodic.plotting import orbit_plot

        return orbit_plot(self, expressions, path)

    def plot_multipliers(self, path: Any = None) -> Any:
        """The multipliers and the unit circle."""
        from dalembert.analysis.periodic.plotting import multiplier_plot

        return multiplier_plot(self, path)

    def page(self, path: str | os.PathLike[str] | None = None) -> Path:
        """Write one HTML file: the motion animated in a loop, and the multipliers."""
        from dalembert.analysis.periodic.plotting import write_page

        return write_page(self, path)

    def save(self, path: Any) -> None:
        """Write the orbit as .csv, .json or .zarr; da.open_orbit reads it."""
        from dalembert.analysis.periodic.storage import save_orbit

        save_orbit(self, path)

    def __str__(self) -> str:
        # orbits of a family have no second run
        error = f" ± {self.period_error:.1g}" if np.isfinite(self.period_error) else ""
        lines = [f"periodic motion of {self.system.name!r}: T = {self.period:.12g}{error}"]
        lines.append(f"  start: {', '.join(f'{k} = {v:.9g}' for k, v in self.start.items())}")
        if self.energy is not None:
            lines.append(f"  energy {self.energy:.12g}")
        moved = {k: v for k, v in self.advance.items() if v}
        if moved:
            lines.append(
                f"  advances in a period: {', '.join(f'{k} by {v:.9g}' for k, v in moved.items())}"
            )
        shown = ", ".join(complex_text(m) for m in self.multipliers)
        lines.append(f"  multipliers: {shown or 'none apart from those that are one'}")
        if self.unit_multipliers:
            listed = ", ".join(self.unit_multipliers)
            lines.append(f"  {len(self.unit_multipliers)} multipliers are exactly one: {listed}")
        lines.append(f"  {self.stability} (multipliers to {self.multiplier_error:.1g})")
        lines += [f"  note: {note}" for note in self.notes]
        return "\n".join(lines)

    __repr__ = __str__


def complex_text(m: complex) -> str:
    """-0.297597 ± … written as a+bi, real ones without i."""
    m = complex(m)
    if abs(m.imag) < 1e-14 * max(1.0, abs(m)):
        return f"{m.real:.9g}"
    return f"{m.real:.9g}{m.imag:+.9g}i"
