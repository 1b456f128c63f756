"""F(x, T, λ) = 0 along its arc: families of periodic motions and their special points.

Each step goes along the tangent τ and returns to the family at right angles to it (pseudo-
arclength). Special points are zeros of test functions of τ and of the multipliers μ that are
not known beforehand:

    fold             τ_λ = 0
    branch point     Π (μ − 1) = 0, no fold
    period doubling  Π (μ + 1) = 0
    torus            Π (μ_i μ_j − 1) = 0 with a complex pair on the unit circle
    collision        two pairs of a conservative system meet on the unit circle

The test functions are those of the textbooks on numerical bifurcation analysis.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import field
from functools import partial
from itertools import combinations
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from dalembert.analysis.periodic.grazing import explain_failure
from dalembert.analysis.periodic.multipliers import FloquetMultipliers
from dalembert.analysis.periodic.orbit import PeriodicOrbit
from dalembert.analysis.periodic.periodic import orbit_of, shooting_multipliers
from dalembert.analysis.periodic.return_map import EventShooting
from dalembert.analysis.periodic.shooting import NoPeriodicMotion, Shooting, newton_solve
from dalembert.errors import NotApplicable
from dalembert.foundation.array_types import FloatArray
from dalembert.foundation.deferred_dataclass import dataclass
from dalembert.foundation.display import Displayable
from dalembert.runtime.ode.failures import RunStopped

if TYPE_CHECKING:
    import os
    from collections.abc import Iterator
    from pathlib import Path

FOLD: Final = "fold"
BRANCH: Final = "branch point"
DOUBLING: Final = "period doubling"
TORUS: Final = "torus"
COLLISION: Final = "collision"
LETTERS: Final = {FOLD: "F", BRANCH: "B", DOUBLING: "D", TORUS: "T", COLLISION: "C"}

_SHORTEST: Final = 1e-7
_FEW_ITERATIONS: Final = 4
_MOST_ITERATIONS: Final = 8
_ALIGNED: Final = 0.8
_LOCATIONS: Final = 60
_SAME: Final = 1e-9
_AT_REST: Final = 1e-5
# how near to a branch point Newton's method is not used, and how many points are needed
_CLEAR: Final = 0.08
_FEWEST: Final = 6
# distances at which another family is searched, in units of the state
_LEAVING_SIZES: Final = (3e-3, 1e-2, 3e-2, 1e-3, 0.1, 3e-4, 1e-4, 3e-5, 1e-5)
# how far the parameter may move with it
_NEAR: Final = 0.05


class FamilyMark(NamedTuple):
    """A special point of a family: its kind, the value of the parameter and the orbit there."""

    kind: str
    value: float
    orbit: PeriodicOrbit
    # where it lies between the orbits of the family, and the tangent there
    position: float
    tangent: FloatArray

    @property
    def letter(self) -> str:
        """The letter in a diagram."""
        return LETTERS[self.kind]

    def __str__(self) -> str:
        return f"{self.kind} at {self.value:.12g}, T = {self.orbit.period:.9g}"


@dataclass(eq=False, repr=False)
class Family(Displayable):
    """Periodic motions along a parameter: orbits, special points, and why it ends."""

    parameter: str
    over: tuple[float, float]
    orbits: list[PeriodicOrbit]
    marks: list[FamilyMark]
    ends: tuple[str, str] = ("", "")
    step: float = field(default=0.02, repr=False)

    @property
    def values(self) -> FloatArray:
        """The parameter along the family."""
        return np.array([parameter_of(o, self.parameter) for o in self.orbits])

    @property
    def periods(self) -> FloatArray:
        """The periods along the family."""
        return np.array([o.period for o in self.orbits])

    @property
    def stable(self) -> tuple[bool | None, ...]:
        """Whether each orbit is stable."""
        return tuple(o.stable for o in self.orbits)

    def __len__(self) -> int:
        return len(self.orbits)

    def __getitem__(self, name: str) -> FloatArray:
        """A quantity along the family: "period", "energy", a constant or an initial value."""
        return np.array([quantity_of(o, name) for o in self.orbits])

    def maxima(self, expression: Any) -> FloatArray:
        """The largest |expression| over a period of each orbit."""
        return np.array([float(np.abs(o.run()[expression]).max()) for o in self.orbits])

    def at(self, value: float) -> list[PeriodicOrbit]:
        """The orbits at a value of the parameter, one for each time the family passes it."""
        values, orbits = self.values, self.orbits
        result = [
            _solve_at(orbits[k], orbits[k + 1], value)
            for k in range(len(values) - 1)
            if (values[k] - value) * (values[k + 1] - value) < 0.0 or values[k] == value
        ]
        if len(values) and values[-1] == value:
            result.append(self.orbits[-1])
        if not result:
            low, high = values.min(), values.max()
            msg = (
                f"the family has no orbit at {self.parameter} = {value:g}; it covers {low:.9g} to "
                f"{high:.9g}"
            )
            raise NotApplicable(msg)
        return result

    def switch(
        self,
        mark: FamilyMark,
        *,
        side: int = 1,
        over: tuple[float, float] | None = None,
        points: int = 100,
        step: float | None = None,
    ) -> Family:
        """The family that branches off at a period doubling or a branch point."""
        return switch_branch(self, mark, side, over or self.over, points, step or self.step)

    def plot(self, quantity: Any = "period", path: Any = None) -> Any:
        """The bifurcation diagram: stable and unstable orbits, special points with letters."""
        from dalembert.analysis.periodic.plotting import family_plot

        return family_plot([self], quantity, path)

    def page(
        self,
        path: str | os.PathLike[str] | None = None,
        *,
        at: float | None = None,
        quantity: Any = "period",
    ) -> Path:
        """Write one HTML file: the diagram with letters, and one orbit in motion.

        The orbit is the last one, or the first one at the value `at` of the parameter.
        """
        from dalembert.analysis.periodic.plotting import write_page

        orbit = self.orbits[-1] if at is None else self.at(at)[0]
        return write_page(orbit, path, self, quantity)

    def save(self, path: Any) -> None:
        """Write the family as .csv, .json or .zarr; da.open_family reads it."""
        from dalembert.analysis.periodic.storage import save_family

        save_family(self, path)

    def __str__(self) -> str:
        values = self.values
        head = f"{len(self.orbits)} periodic motions"
        head += f", {self.parameter} = {values[0]:.9g} … {values[-1]:.9g}"
        lines = [f"{head}, T = {self.periods[0]:.9g} … {self.periods[-1]:.9g}"]
        count = sum(s is True for s in self.stable)
        lines.append(
            f"  {count} stable, {sum(s is False for s in self.stable)} unstable, "
            f"{sum(s is None for s in self.stable)} undecided"
        )
        lines += [
            f"  {m.kind} at {self.parameter} = {m.value:.12g} (T = {m.orbit.period:.9g})"
            for m in self.marks
        ]
        lines += [f"  ends: {why}" for why in dict.fromkeys(self.ends) if why]
        return "\n".join(lines)

    __repr__ = __str__


def parameter_of(orbit: PeriodicOrbit, parameter: str) -> float:
    """The value of the energy, the period or a constant."""
    if parameter == "energy":
        assert orbit.energy is not None
        return orbit.energy
    return orbit.period if parameter == "period" else orbit.constants[parameter]


def quantity_of(orbit: PeriodicOrbit, name: str) -> float:
    """A number of an orbit by name."""
    if name == "frequency":
        return orbit.frequency
    if name == "energy" and orbit.energy is not None:
        return orbit.energy
    if name == "period":
        return orbit.period
    known = {**orbit.constants, **orbit.start}
    if name not in known:
        msg = (
            f"{name!r} is no quantity of the family; known are period, frequency, energy, "
            f"{', '.join(known)}"
        )
        raise NotApplicable(msg)
    return known[name]


class _Point(NamedTuple):
    """A solution with its tangent and multipliers."""

    shooting: Shooting | EventShooting
    z: FloatArray
    tau: FloatArray
    multipliers: FloquetMultipliers
    error: float
    iterations: int
    # the events that change the state in a period
    events: tuple[str, ...] = ()

    @property
    def orbit(self) -> PeriodicOrbit:
        """The orbit, without a second run for its errors."""
        return orbit_of(self.shooting, self.z, self.iterations, self.error, known=self.multipliers)


def _point(
    shooting: Shooting | EventShooting,
    z: FloatArray,
    like: FloatArray,
    error: float,
    iterations: int,
) -> _Point:
    """The tangent at a solution that was evaluated last, on the side of `like`."""
    tau = shooting.tangent()
    tau = np.asarray(tau if tau @ like >= 0.0 else -tau)
    multipliers, events = shooting_multipliers(shooting, z), shooting.passed_events
    return _Point(shooting, z, tau, multipliers, error, iterations, events)


def _step_along(point: _Point, s: float) -> _Point | None:
    """The solution that lies s along the tangent; None if it is not reached."""
    shooting, z = point.shooting, point.z
    shooting.restore(point.z)
    ahead = z + shooting.expand(s * point.tau)
    border = (point.tau, float(point.tau @ shooting.short(z)) + s)
    try:
        result = newton_solve(shooting, ahead, border, most=_MOST_ITERATIONS)
    except (RunStopped, NoPeriodicMotion):
        return None
    moved = np.linalg.norm(shooting.short(result.z) - shooting.short(ahead))
    if (
        not result.converged
        or moved > max(0.5 * abs(s), 1e-6)
        or shooting.unpack(result.z)[1] <= 0.0
    ):
        return None
    return _point(shooting, result.z, point.tau, result.error, result.iterations)


def _test(kind: str, point: _Point) -> float:
    """One of the test functions."""
    mu = point.multipliers.values
    if kind == FOLD:
        return float(point.tau[-1])
    if kind == COLLISION:
        return _discriminant(mu)
    if kind == TORUS:
        return float(np.prod([a * b - 1.0 for a, b in combinations(mu, 2)]).real)
    return float(np.prod(mu + 1.0 if kind == DOUBLING else mu - 1.0).real)


def _tests(point: _Point) -> dict[str, float]:
    """The test functions that say something at a point."""
    kinds = [FOLD, DOUBLING, BRANCH]
    if point.multipliers.conservative:
        kinds.append(COLLISION)
    elif len(point.multipliers.values) > 1:
        kinds.append(TORUS)
    return {kind: _test(kind, point) for kind in kinds}


def _discriminant(mu: FloatArray) -> float:
    """Π (a_i − a_j)² of the traces a = μ + 1/μ of the pairs; one for fewer than two pairs."""
    m = len(mu) // 2
    if m < 2 or len(mu) % 2:
        return 1.0
    a = mu + 1.0 / mu
    sums = [(a**k).sum() / 2 for k in range(1, m + 1)]
    e = [1.0 + 0.0j]
    for k in range(1, m + 1):
        e.append(sum((-1) ** (i - 1) * e[k - i] * sums[i - 1] for i in range(1, k + 1)) / k)
    traces = np.roots([(-1) ** k * e[k] for k in range(m + 1)])
    return float(np.prod([(p - q) ** 2 for p, q in combinations(traces, 2)]).real)


def _between(a: _Point, b: _Point, length: float, position: int) -> Iterator[FamilyMark]:
    """The special points between two neighbours, each located."""
    first, second = _tests(a), _tests(b)
    changed = [k for k in first if k in second and first[k] * second[k] < 0.0]
    if FOLD in changed and BRANCH in changed:
        changed.remove(BRANCH)
    for kind in changed:
        search = _interpolate_zero if kind == BRANCH else _locate
        result = search(a, b, length, partial(_test, kind))
        if result is None or (kind in (TORUS, COLLISION) and not _on_circle(result[0], kind)):
            continue
        point, s = result
        value = float(point.shooting.unpack(point.z)[2])
        orbit = point.orbit
        yield FamilyMark(kind, value, orbit, position + s / length, point.tau)


def _on_circle(point: _Point, kind: str) -> bool:
    """Whether critical multipliers are complex and of modulus one, no real pair μ, 1/μ."""
    mu = point.multipliers.values
    complex_ = mu[np.abs(mu.imag) > 1e-6]
    near = 1e-3 if kind == TORUS else 1e-2
    return bool(len(complex_)) and bool((np.abs(np.abs(complex_) - 1.0) < near).any())


def _locate(
    a: _Point, b: _Point, length: float, of: Callable[[_Point], float]
) -> tuple[_Point, float] | None:
    """Where along the arc from a the test vanishes, by false position and bisection in turn."""
    low, f_low, high, f_high = 0.0, of(a), length, of(b)
    best: tuple[_Point, float] | None = None
    side = 0
    for k in range(_LOCATIONS):
        s = (low + high) / 2 if k % 4 == 3 else high - f_high * (high - low) / (f_high - f_low)
        point = _step_along(a, s)
        if point is None:
            return best
        f = of(point)
        best = (point, s)
        if f == 0.0 or high - low <= 1e-13 * length or abs(f) < 1e-14 * max(abs(of(a)), abs(of(b))):
            break
        if f * f_low > 0.0:
            low, f_low = s, f
            f_high, side = (f_high / 2, -1) if side == -1 else (f_high, -1)
        else:
            high, f_high = s, f
            f_low, side = (f_low / 2, 1) if side == 1 else (f_low, 1)
    return best


def _interpolate_zero(
    a: _Point, b: _Point, length: float, of: Callable[[_Point], float]
) -> tuple[_Point, float] | None:
    """The same at a branch point, where Newton's equations are singular: by interpolation.

    The test vanishes linearly along the family and is smooth there.
    """
    rough = length * of(a) / (of(a) - of(b))
    grid = (np.linspace(-0.25, 1.25, 13) * length).tolist()
    parts = [u for u in grid if abs(u - rough) > _CLEAR * length]
    points = [(u, p) for u in parts if (p := a if u == 0.0 else _step_along(a, u)) is not None]
    if len(points) < _FEWEST:
        return _locate(a, b, length, of)
    u = np.array([each for each, _ in points]) / length
    root = _nearest_root(u, [of(p) for _, p in points], rough / length)
    if root is None:
        return _locate(a, b, length, of)
    states = np.array([p.z for _, p in points])
    fits = [np.polynomial.Polynomial.fit(u, column, min(8, len(u) - 2)) for column in states.T]
    z, slope = (np.array([f(root) for f in each]) for each in (fits, [f.deriv() for f in fits]))
    error = a.shooting(z).error
    # two directions satisfy the equations here: that of this family follows from its neighbours
    tau = a.shooting.short(slope)
    point = _point(a.shooting, z, a.tau, error, 0)
    return point._replace(tau=tau / np.linalg.norm(tau)), root * length


def _nearest_root(u: FloatArray, tests: list[float], near: float) -> float | None:
    """The root of the polynomial through the tests that lies nearest, within the points."""
    fitted = np.polynomial.Polynomial.fit(u, tests, min(8, len(u) - 2))
    complex_roots = np.asarray(fitted.roots(), dtype=complex)
    roots = [float(r.real) for r in complex_roots if abs(r.imag) < 1e-6 and -0.25 <= r.real <= 1.25]
    return min(roots, key=lambda r: abs(r - near), default=None)


@dataclass
class _Walk:
    """Steps along a family from a point until λ leaves its range."""

    begin: _Point
    over: tuple[float, float]
    step: float
    most: int
    longest_period: float
    on_progress: Callable[[int, float], object] | None = None
    orbits: list[PeriodicOrbit] = field(default_factory=list)
    marks: list[FamilyMark] = field(default_factory=list)
    why: str = ""

    def run(self) -> _Walk:
        """Point after point."""
        point, length = self.begin, self.step
        low, high = sorted(self.over)
        while len(self.orbits) < self.most:
            new = _step_along(point, length)
            # a motion that gains or loses an event has grazed it in between
            if new is None or float(new.tau @ point.tau) < _ALIGNED or new.events != point.events:
                length /= 2
                if length < _SHORTEST:
                    cause = explain_failure(point.shooting, point.z)
                    self.why = f"no further orbit is reached at {self._value(point):.9g}{cause}"
                    return self
                continue
            value = self._value(new)
            if not low <= value <= high:
                self._finish(point, new, length, low if value < low else high)
                return self
            if _passes_equilibrium(point, new):
                self.why = (
                    f"the orbits shrink to an equilibrium near {value:.9g}, T = "
                    f"{new.shooting.unpack(new.z)[1]:.9g}"
                )
                return self
            self.marks += _between(point, new, length, len(self.orbits))
            # the search has moved the flow
            new.shooting.restore(new.z)
            if new.iterations <= _FEW_ITERATIONS:
                length = min(1.3 * length, self.step)
            point = self._accept(new)
            if self._has_ended(point):
                return self
        self.why = f"{self.most} orbits were requested"
        return self

    def _value(self, point: _Point) -> float:
        return float(point.shooting.unpack(point.z)[2])

    def _accept(self, new: _Point) -> _Point:
        """Keep the orbit, and go on with it as the reference."""
        self.orbits.append(new.orbit)
        if self.on_progress is not None:
            self.on_progress(len(self.orbits), self._value(new))
        shooting, z = new.shooting.rescale(new.z)
        # the tangent in the new units
        tau = new.tau * new.shooting.short_sizes / shooting.short_sizes
        return new._replace(shooting=shooting, z=z, tau=tau / np.linalg.norm(tau))

    def _has_ended(self, point: _Point) -> bool:
        x, T, _ = point.shooting.unpack(point.z)
        flow = point.shooting.flow
        if self.longest_period < T:
            self.why = f"the period has grown beyond {self.longest_period:.6g}"
        elif flow.autonomous and _is_at_rest(point, x, T):
            self.why = (
                f"the orbits shrink to an equilibrium at {self._value(point):.9g}, T = {T:.9g}"
            )
        return bool(self.why)

    def _finish(self, a: _Point, b: _Point, length: float, end: float) -> None:
        """The orbit at the end of the range."""
        last = _locate(a, b, length, lambda p: self._value(p) - end)
        if last is not None:
            self.marks += [
                m for m in _between(a, last[0], last[1], len(self.orbits)) if m.value != end
            ]
            last[0].shooting.restore(last[0].z)
            self.orbits.append(last[0].orbit)
        self.why = ""


def _passes_equilibrium(a: _Point, b: _Point) -> bool:
    """Whether the amplitude has passed through zero: f at the start has changed its sign."""
    flow = b.shooting.flow
    if not flow.autonomous or isinstance(b.shooting, EventShooting):
        return False
    t0 = flow.given.t0
    f, g = (flow.rate(p.shooting.unpack(p.z)[0][0], t0) / b.shooting.scale for p in (a, b))
    return bool(f @ g < 0.0)


def _is_at_rest(point: _Point, x: FloatArray, T: float) -> bool:
    flow, structure = point.shooting.flow, point.shooting.structure
    outside = [j for j in range(flow.n) if j not in structure.shifts]
    rates = np.array([flow.rate(y, flow.given.t0) for y in x])
    return bool(np.abs(rates[:, outside]).max() * T <= _AT_REST)


def follow(
    orbit: PeriodicOrbit,
    parameter: str,
    over: tuple[float, float],
    *,
    step: float,
    points: int,
    longest_period: float,
    on_progress: Callable[[int, float], object] | None = None,
) -> Family:
    """The family through an orbit over a range of the parameter, in both directions."""
    shooting, z = free_parameter(orbit, parameter, over)
    shooting(z)
    here = float(shooting.unpack(z)[2])
    low, high = sorted(over)
    if not low - _SAME * (high - low) <= here <= high + _SAME * (high - low):
        msg = (
            f"continuation: the orbit has {parameter} = {here:.9g}, outside of {low:.9g} … "
            f"{high:.9g}"
        )
        raise NotApplicable(msg)
    if not shooting.last_J[:, -1].any():
        msg = (
            f"continuation: the motion does not change with {parameter}: its derivative is exactly "
            f"zero; {parameter} is not in the equations, or only in conditions that switch them"
        )
        raise NotApplicable(msg)
    up = np.zeros(shooting.n + 2)
    up[-1] = 1.0 if over[1] >= over[0] else -1.0
    begin = _point(shooting, z, up, orbit.closing_error, orbit.iterations)
    return _both_ways(begin, parameter, over, here, step, points, longest_period, on_progress)


def _both_ways(
    begin: _Point,
    parameter: str,
    over: tuple[float, float],
    here: float,
    step: float,
    points: int,
    longest_period: float,
    on_progress: Callable[[int, float], object] | None,
) -> Family:
    walks = []
    for sign in (1.0, -1.0):
        directed = begin._replace(tau=sign * begin.tau)
        end = over[1] if sign > 0 else over[0]
        if sign < 0 and abs(here - end) <= _SAME * abs(over[1] - over[0]):
            continue
        begin.shooting.restore(begin.z)
        walks.append(_Walk(directed, over, step, points, longest_period, on_progress).run())
    begin.shooting.restore(begin.z)
    forward = walks[0]
    backward = walks[1] if len(walks) > 1 else _Walk(begin, over, step, 0, longest_period)
    orbits = [*reversed(backward.orbits), begin.orbit, *forward.orbits]
    n = len(backward.orbits)
    marks = [m._replace(position=n - 1 - m.position) for m in reversed(backward.marks)]
    marks += [m._replace(position=n + m.position) for m in forward.marks]
    return Family(parameter, over, orbits, marks, (backward.why, forward.why), step)


def free_parameter(
    orbit: PeriodicOrbit, parameter: str, over: tuple[float, float]
) -> tuple[Shooting | EventShooting, FloatArray]:
    """The equations of an orbit with the parameter as an unknown, and its z."""
    shooting = orbit.shooting
    if shooting is None:
        msg = (
            "continuation: this orbit was read from a file without its equations; find it again "
            "with da.periodic"
        )
        raise NotApplicable(msg)
    size = abs(over[1] - over[0])
    x, T, _ = shooting.unpack(orbit.z)
    if parameter == "energy":
        if orbit.energy is None or "energy" not in orbit.unit_multipliers:
            msg = (
                "continuation: the energy of this system is not constant; name a constant or the "
                "period"
            )
            raise NotApplicable(msg)
        new, value = shooting.with_free("energy", extra=size), orbit.energy
    elif parameter == "period":
        if not shooting.flow.autonomous or orbit.energy is None:
            msg = (
                "continuation: only families of conservative systems are followed in the period; "
                "name a constant"
            )
            raise NotApplicable(msg)
        new, value = shooting.with_free("period", extra=size), orbit.period
    else:
        shooting.apply(orbit.z)
        value = shooting.flow.value(parameter)
        new = shooting.with_free("constant", parameter, extra=size)
    return new, new.pack(x, T, value)


def _solve_at(a: PeriodicOrbit, b: PeriodicOrbit, value: float) -> PeriodicOrbit:
    """The orbit between two neighbours at a value of the parameter."""
    shooting = a.shooting
    assert shooting is not None
    assert b.shooting is not None
    x, T, va = shooting.unpack(a.z)
    y, U, vb = b.shooting.unpack(b.z)
    part = (value - va) / (vb - va)
    guess = x + part * (y - x) if x.shape == y.shape else x
    z = shooting.pack(guess, T + part * (U - T), value)
    e = np.zeros(shooting.n + 2)
    e[-1] = 1.0
    result = newton_solve(shooting, z, (e, float(shooting.short(z)[-1])))
    if not result.converged:
        msg = f"continuation: no orbit at {value:g} was reached from its neighbours"
        raise NoPeriodicMotion(msg, result.error)
    return orbit_of(shooting, result.z, result.iterations, result.error)


class _Leaving(NamedTuple):
    """A guess on another family: equations, unknowns, direction away from the first family."""

    shooting: Shooting | EventShooting
    z: FloatArray
    direction: FloatArray


def switch_branch(
    family: Family, mark: FamilyMark, side: int, over: tuple[float, float], points: int, step: float
) -> Family:
    """The family that leaves at a special point, from a first orbit off it."""
    for size in _LEAVING_SIZES:
        begin = _first_orbit(mark, side, size)
        if begin is None:
            continue
        walk = _Walk(begin, over, step, points, np.inf).run()
        begin.shooting.restore(begin.z)
        orbits = [begin.orbit, *walk.orbits]
        marks = [m._replace(position=m.position + 1) for m in walk.marks]
        return Family(
            family.parameter,
            over,
            orbits,
            marks,
            (f"{mark.kind} at {mark.value:.9g}", walk.why),
            step,
        )
    msg = f"continuation: no second family was reached at {family.parameter} = {mark.value:.9g}"
    raise NoPeriodicMotion(msg)


def _first_orbit(mark: FamilyMark, side: int, size: float) -> _Point | None:
    """The orbit of the other family at a distance from the special point, if reached."""
    leaving = (
        _leave_by_doubling(mark, side, size)
        if mark.kind == DOUBLING
        else _leave_across(mark, side, size)
    )
    shooting, tau = leaving.shooting, leaving.direction
    try:
        result = newton_solve(shooting, leaving.z, (tau, float(tau @ shooting.short(leaving.z))))
    except (RunStopped, NoPeriodicMotion):
        return None
    if not result.converged or shooting.unpack(result.z)[1] <= 0.0:
        return None
    moved = shooting.short(result.z) - shooting.short(leaving.z)
    along = float(moved @ mark.tangent) / float(np.linalg.norm(mark.tangent))
    if (
        np.linalg.norm(moved - along * mark.tangent / np.linalg.norm(mark.tangent)) > size
        or abs(along) > _NEAR
    ):
        # another orbit, farther away
        return None
    if mark.kind == DOUBLING and shooting.half_gap(result.z) < 0.2 * size:
        return None
    return _point(shooting, result.z, tau, result.error, result.iterations)


def _leave_by_doubling(mark: FamilyMark, side: int, size: float) -> _Leaving:
    """Along the eigenvector of −1, with twice the period."""
    shooting, z = mark.orbit.shooting, mark.orbit.z
    assert shooting is not None
    shooting.restore(z)
    mu = mark.orbit.multipliers
    v = mark.orbit.eigenvectors[:, int(np.argmin(np.abs(mu + 1.0)))].real
    v = side * v / np.linalg.norm(v / shooting.scale)
    new, guess = shooting.double_period(z, v, size)
    return _Leaving(
        new, guess, _orthogonal_to(np.concatenate([v / shooting.scale, [0.0, 0.0]]), mark.tangent)
    )


def _leave_across(mark: FamilyMark, side: int, size: float) -> _Leaving:
    """Along the second direction in which the equations stay satisfied at a branch point."""
    if mark.kind != BRANCH:
        msg = (
            f"continuation: no family of periodic motions leaves at a {mark.kind}; choose a "
            "branch point or a period doubling"
        )
        raise NotApplicable(msg)
    shooting, z = mark.orbit.shooting, mark.orbit.z
    assert shooting is not None
    shooting.restore(z)
    kernel = np.linalg.svd(shooting.last_J)[2][-2:]
    across = side * _orthogonal_to(
        kernel[0] if abs(kernel[0] @ mark.tangent) < abs(kernel[1] @ mark.tangent) else kernel[1],
        mark.tangent,
    )
    return _Leaving(shooting, z + shooting.expand(size * across), across)


def _orthogonal_to(v: FloatArray, tangent: FloatArray) -> FloatArray:
    """v at right angles to the tangent, of length one."""
    rest = v - (v @ tangent) / (tangent @ tangent) * tangent
    return np.asarray(rest / np.linalg.norm(rest))
