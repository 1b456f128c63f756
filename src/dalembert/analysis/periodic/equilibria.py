"""det(∂f/∂x − λ) = 0 along equilibria: their stability, Hopf points, and where frequencies meet.

    Hopf        a complex pair crosses the imaginary axis: Π (λ_i + λ_j) = 0
    collision   two pairs ±iω of an undamped system meet: the discriminant of det(∂f/∂x − λ) in λ²
                vanishes

At a collision no damping acts and no periodic motion branches off as at a Hopf point.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import field, fields
from itertools import combinations
from typing import Any, Final, NamedTuple

import numpy as np

from dalembert.analysis.periodic.flow import Flow, describe
from dalembert.analysis.periodic.guess import rate_slopes
from dalembert.analysis.periodic.orbit import PeriodicOrbit
from dalembert.analysis.periodic.periodic import orbit_of
from dalembert.analysis.periodic.shooting import (
    Closing,
    Conditions,
    NoPeriodicMotion,
    Shooting,
    newton_solve,
)
from dalembert.analysis.periodic.structure import Structure
from dalembert.analysis.statics.continuation import Branch
from dalembert.analysis.statics.root_finding import find_root
from dalembert.errors import DalembertError, NotApplicable
from dalembert.foundation.array_types import FloatArray
from dalembert.foundation.deferred_dataclass import dataclass

HOPF: Final = "Hopf"
COLLISION: Final = "collision"
_EVEN: Final = 1e-8
_STABLE: Final = 1e-9
_LOCATIONS: Final = 80


class StabilityMark(NamedTuple):
    """A Hopf point or a collision of frequencies: the parameter, the state and ω there."""

    kind: str
    parameter: float
    point: dict[str, float]
    frequency: float


@dataclass(frozen=True, eq=False)
class EquilibriumFamily(Branch):
    """Equilibria along a parameter with the eigenvalues at each, Hopf points and collisions."""

    eigenvalues: tuple[FloatArray, ...] = ()
    changes: tuple[StabilityMark, ...] = ()
    flow: Flow | None = field(default=None, repr=False)
    # why the eigenvalues are unknown
    reason: str = ""

    @property
    def stable(self) -> tuple[bool | None, ...]:
        """Whether each is stable: all λ to the left; None if some lie on the imaginary axis."""
        return tuple(_verdict(values) for values in self.eigenvalues)

    @property
    def marks(self) -> tuple[Any, ...]:
        """The folds and bifurcations."""
        return self.special_points

    def other(self, mark: Any, *, side: int = 1) -> Branch:
        """The branch that crosses this one at a bifurcation."""
        return self.switch_branch(mark, side=side)

    def orbit(self, mark: StabilityMark, amplitude: float = 0.02) -> PeriodicOrbit:
        """The first periodic motion off a Hopf point, at the parameter where it exists."""
        return first_orbit(self, mark, amplitude)

    def plot(self, quantity: Any = None, path: Any = None) -> Any:
        """The diagram: stable and unstable equilibria, special points with letters."""
        from dalembert.analysis.periodic.plotting import equilibrium_plot

        return equilibrium_plot(self, quantity, path)

    def __str__(self) -> str:
        lines = [super().__str__()]
        lines += [
            f"  {m.kind} at {self.parameter} = {m.parameter:.12g} (ω = {m.frequency:.9g})"
            for m in self.changes
        ]
        if self.reason:
            return "\n".join([*lines, f"  stability unknown: {self.reason}"])
        stable = self.stable
        lines.append(
            f"  {sum(s is True for s in stable)} asymptotically stable, "
            f"{sum(s is False for s in stable)} unstable, "
            f"{sum(s is None for s in stable)} with eigenvalues on the imaginary axis"
        )
        return "\n".join(lines)


def _verdict(values: FloatArray) -> bool | None:
    scale = _STABLE * max(1.0, float(np.abs(values).max(initial=0.0)))
    if (values.real > scale**0.5).any() or (values.real > 1e3 * scale).any():
        return False
    return True if (values.real < -scale).all() else None


def with_stability(
    branch: Branch, values: dict[Any, Any], inputs: dict[Any, Any], t: float
) -> EquilibriumFamily:
    """The branch with eigenvalues, Hopf points and collisions, or why there are none."""
    shared = {f.name: getattr(branch, f.name) for f in fields(Branch)}
    try:
        flow = _flow_of_branch(branch, values, inputs, t)
        search = _Search(branch, flow)
        points = zip(branch.values, branch.points, strict=True)
        eigenvalues = tuple(search.eigenvalues(v, p) for v, p in points)
    except DalembertError as problem:
        return EquilibriumFamily(**shared, reason=str(problem))
    changes = tuple(search.changes(eigenvalues))
    return EquilibriumFamily(**shared, eigenvalues=eigenvalues, changes=changes, flow=flow)


def _flow_of_branch(
    branch: Branch, values: dict[Any, Any], inputs: dict[Any, Any], t: float
) -> Flow:
    """The flow of the system at the first point of a branch."""
    system = branch.curve.balance.kin.system
    name, begin = branch.parameter, float(branch.values[0])
    constant = system.symbols[name].kind == "constant"
    symbols = system.symbols.values()
    loads = {s.name: 0.0 for s in symbols if s.is_open}
    loads |= {str(getattr(k, "name", k)): v for k, v in inputs.items()}
    if constant:
        values = {**values, name: begin}
    else:
        loads[name] = begin
    given = describe(system, branch.points[0], None, values, loads, t)
    return Flow(given, (name,) if constant else ())


class _Search:
    """Eigenvalues at points of a branch, and the zeros of test functions between them."""

    def __init__(self, branch: Branch, flow: Flow) -> None:
        self.branch, self.flow = branch, flow
        self.balance = branch.curve.balance

    def state(self, point: dict[str, float]) -> FloatArray:
        """x at a point of the branch."""
        return np.array([point.get(name, 0.0) for name in self.flow.names])

    def eigenvalues(self, value: float, point: dict[str, float]) -> FloatArray:
        """λ of ∂f/∂x."""
        self.flow.set_constant(self.branch.parameter, float(value))
        A = rate_slopes(self.flow, self.state(point), self.flow.given.t0)
        return np.asarray(np.linalg.eigvals(A), dtype=complex)

    def between(self, a: int, part: float) -> tuple[float, dict[str, float]]:
        """The parameter and the equilibrium a part of the way from point a to the next."""
        branch, balance = self.branch, self.balance
        value = float(branch.values[a] + part * (branch.values[a + 1] - branch.values[a]))
        names = [balance.kin.name(i) for i in balance.unknown]
        ends = [np.array([_at(branch.points[k], n) for n in names]) for k in (a, a + 1)]
        extra = {branch.curve.parameter: value}
        root = find_root(
            lambda y: balance.residual_and_jacobian(y, (), extra),
            ends[0] + part * (ends[1] - ends[0]),
        )
        return value, balance.state_at(root.y, extra)[0]

    def changes(self, eigenvalues: tuple[FloatArray, ...]) -> list[StabilityMark]:
        """Hopf points, or in a system without damping collisions, between neighbours."""
        undamped = all(_is_even(values) for values in eigenvalues)
        kind, test = (COLLISION, _discriminant) if undamped else (HOPF, _pair_sums)
        tests = [test(values) for values in eigenvalues]
        result = []
        for a in range(len(tests) - 1):
            if tests[a] * tests[a + 1] < 0.0:
                result.append(self._locate(a, kind, test, tests[a], tests[a + 1]))
            elif tests[a + 1] == 0.0 and a + 2 < len(tests) and tests[a] * tests[a + 2] < 0.0:
                value, point = float(self.branch.values[a + 1]), self.branch.points[a + 1]
                result.append(_mark(kind, value, point, eigenvalues[a + 1]))
        return [mark for mark in result if mark is not None]

    def _locate(
        self, a: int, kind: str, test: Callable[[FloatArray], float], f_low: float, f_high: float
    ) -> StabilityMark | None:
        low, high, side, part = 0.0, 1.0, 0, 0.5
        for k in range(_LOCATIONS):
            part = (
                (low + high) / 2 if k % 4 == 3 else high - f_high * (high - low) / (f_high - f_low)
            )
            value, point = self.between(a, part)
            f = test(self.eigenvalues(value, point))
            if f == 0.0 or high - low < 1e-15:
                break
            if f * f_low > 0.0:
                low, f_low = part, f
                f_high, side = (f_high / 2, -1) if side == -1 else (f_high, -1)
            else:
                high, f_high = part, f
                f_low, side = (f_low / 2, 1) if side == 1 else (f_low, 1)
        value, point = self.between(a, part)
        return _mark(kind, value, point, self.eigenvalues(value, point))


def _at(point: dict[str, float], name: str) -> float:
    from dalembert.runtime.states.evaluator import label

    return point[label(name)]


def _is_even(values: FloatArray) -> bool:
    """Whether det(A − λ) contains even powers of λ alone, as without damping."""
    if len(values) % 2:
        return False
    size = max(1.0, float(np.abs(values).max(initial=0.0)))
    coefficients = np.poly(values).real
    odd = coefficients[1::2] / size ** np.arange(1, len(coefficients), 2)
    return bool(np.abs(odd).max(initial=0.0) < _EVEN)


def _discriminant(values: FloatArray) -> float:
    """Π (λ_i² − λ_j²)² over the pairs ±λ; one for a single pair."""
    squares = np.roots(np.poly(values).real[::2])
    return float(np.prod([(p - q) ** 2 for p, q in combinations(squares, 2)]).real)


def _pair_sums(values: FloatArray) -> float:
    """Π (λ_i + λ_j), which vanishes where a pair is ±iω."""
    return float(np.prod([a + b for a, b in combinations(values, 2)]).real)


def _mark(
    kind: str, value: float, point: dict[str, float], values: FloatArray
) -> StabilityMark | None:
    """The mark with its frequency; real pairs λ, −λ are no Hopf point."""
    turning = values[values.imag > 1e-7 * max(1.0, float(np.abs(values).max()))]
    if not len(turning):
        return None
    if kind == COLLISION:
        pairs = list(combinations(turning, 2))
        if not pairs:
            return None
        nearest = min(pairs, key=lambda ab: abs(ab[0] - ab[1]))
        omega = float(np.mean([x.imag for x in nearest]))
    else:
        critical = turning[int(np.argmin(np.abs(turning.real)))]
        if abs(critical.real) > 1e-5 * abs(critical):
            return None
        omega = float(critical.imag)
    return StabilityMark(kind, value, point, omega)


def first_orbit(family: EquilibriumFamily, mark: StabilityMark, amplitude: float) -> PeriodicOrbit:
    """x = x_e + ε Re v, T = 2π/ω, with the parameter as an unknown."""
    flow = _flow_at(family, mark)
    x = np.array([mark.point.get(name, 0.0) for name in flow.names])
    direction = _critical_direction(flow, x, mark.frequency)
    shooting = _hopf_shooting(family, mark, flow, x + amplitude * direction)
    z = shooting.pack(shooting.reference[None], shooting.period_scale, mark.parameter)
    tau = np.concatenate([direction / shooting.scale, [0.0, 0.0]])
    tau /= np.linalg.norm(tau)
    result = newton_solve(shooting, z, (tau, float(tau @ shooting.short(z))))
    if not result.converged:
        msg = (
            f"continuation: no periodic motion of amplitude {amplitude:g} was reached off the "
            f"Hopf point at {mark.parameter:.9g}; take a smaller one"
        )
        raise NoPeriodicMotion(msg, result.error)
    return orbit_of(shooting, result.z, result.iterations, result.error)


def _flow_at(family: EquilibriumFamily, mark: StabilityMark) -> Flow:
    """The flow with the parameter at a Hopf point."""
    flow = family.flow
    if mark.kind != HOPF:
        msg = f"continuation: no periodic motion branches off at a {mark.kind}; choose a Hopf point"
        raise NotApplicable(msg)
    if flow is None or not flow.constants:
        msg = (
            "continuation: orbits off a Hopf point are followed in a constant; make the input a "
            "constant"
        )
        raise NotApplicable(msg)
    flow.set_constant(family.parameter, mark.parameter)
    return flow


def _critical_direction(flow: Flow, x: FloatArray, frequency: float) -> FloatArray:
    """Re v of the eigenvector of iω, its largest component one."""
    values, vectors = np.linalg.eig(rate_slopes(flow, x, flow.given.t0))
    v = vectors[:, int(np.argmin(np.abs(values - 1j * frequency)))]
    return np.asarray((v / v[int(np.argmax(np.abs(v)))]).real)


def _hopf_shooting(
    family: EquilibriumFamily, mark: StabilityMark, flow: Flow, start: FloatArray
) -> Shooting:
    """The equations of an orbit near a Hopf point, with the parameter as λ."""
    structure = Structure(flow)
    rows = tuple(j for j in range(flow.n) if j not in structure.shifts)
    return Shooting(
        flow,
        structure,
        Closing(rows, np.zeros(flow.n), np.ones(flow.n)),
        Conditions("constant", family.parameter),
        np.linspace(0.0, 1.0, 2),
        start,
        np.full(flow.n, max(1.0, float(np.abs(start).max()))),
        period_scale=2 * np.pi / mark.frequency,
        extra=abs(family.curve.high - family.curve.low),
    )
