"""u̇ = f(q, u, t): the forward dynamics of a system as native code, for one state or many, checked
against exact values.

Elimination on the tape doubles formal degrees joint by joint, so it is not certified in a prime
field. Instead random states and constants are dyadic numbers, which floats and balls both hold
exactly; native u̇ is inserted in Kane's residuals and these are evaluated in balls of thirty
digits, relative to the sum of the sizes of their terms. What floats of the same tape would hide
shows: 10¹⁷ + x − 10¹⁷ y for y = 1.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar, Final

import numpy as np

from dalembert.errors import DalembertWarning, warn
from dalembert.foundation.deferred_dataclass import dataclass
from dalembert.foundation.display import Displayable
from dalembert.mechanics.equations.equations_of_motion import Equations, ExplicitEquations
from dalembert.mechanics.model.system import System
from dalembert.runtime.numerics.compiled_function import CompiledFunction
from dalembert.runtime.numerics.object_cache import cached_symbols
from dalembert.runtime.numerics.symbol_values import (
    BadValue,
    MissingValue,
    finite_number,
    require_values,
    symbol_name,
)
from dalembert.symbolic.algebra.arithmetic import (
    ArrayArithmetic,
    FloatArithmetic,
    evaluate_balls,
)
from dalembert.symbolic.algebra.expression_graph import evaluate, symbols_of
from dalembert.symbolic.algebra.scalar import Scalar

if TYPE_CHECKING:
    from numpy.typing import NDArray

    # for one state, the constants, and for states in rows after the first such call
    _Direct = tuple[Callable[..., NDArray[Any]], NDArray[Any], Callable[..., NDArray[Any]] | None]

# a divisor below this is zero
_VANISHING: Final = 1e-12
STATES: Final = 20
TOLERANCE: Final = 1e-8
# more digits lost than this are worth a warning
MOST_DIGITS_LOST: Final = 6.0
_DIGITS: Final = 30
# how far from zero states are drawn, one after the other until enough of them are such that the
# equations have values
SAMPLE_RADII: Final = (1.0, 1.0, 1.0, 1.0, 0.3, 0.3, 0.3, 0.3, 0.1, 0.1, 0.1, 0.1)
# random numbers keep this number of bits after the point
_BITS: Final = 30
# states times columns of M that are evaluated at once
_MAX_COLUMN_STATES: Final = 256


def _join_mappings(values: dict[str, Any]) -> dict[str, Any]:
    """Values by name, with those given as inputs={…} or values={…} among them."""
    for many in ("inputs", "values"):
        if isinstance(values.get(many), Mapping):
            values |= {
                str(getattr(name, "name", None) or name): x for name, x in values.pop(many).items()
            }
    return values


class NativeDynamics(Displayable):
    """f(q, u, t=0, **values): u̇ of one state, or of many states in rows (bit for bit the same).

    Constants have their declared values unless given; inputs and the jets of unbound prescribed
    motions must be given, the rate of x as x_dot, its second rate as x_ddot.
    """

    def __init__(
        self, system: System, equations: ExplicitEquations, pivots: tuple[Scalar, ...] = ()
    ) -> None:
        self.system, self.equations = system, equations
        # divisors that may vanish
        self.pivots = pivots
        t = equations.tape
        time = system.t.i
        self.state: tuple[int, ...] = (*equations.q, *equations.u, time)
        self.parameters: tuple[int, ...] = self._symbols()
        self.parameter_names: tuple[str, ...] = tuple(str(t.nodes[i][1]) for i in self.parameters)
        self._n_q, self._n_u = len(equations.q), len(equations.u)
        self._udot = self._function()
        self._call = self._udot.call
        defaults = {s.name: float(s.value) for s in system.symbols.values() if s.value is not None}
        self._defaults = np.array([defaults.get(n, np.nan) for n in self.parameter_names])
        self._complete = not np.isnan(self._defaults).any()
        # where arrays can go to the code as they are, and come back: found in one look-up, which
        # takes as long as a state
        self._fast_path: _Direct | None = (
            (self._call, self._defaults, None) if self._complete and not pivots else None
        )

    # around speeds that are singular
    _advice: ClassVar = (
        "da.compile(s, start={…}) chooses others, da.compile(s, speeds='all') keeps all rates"
    )

    def _symbols(self) -> tuple[int, ...]:
        """The symbols that are neither state nor time."""
        state = {*self.state}
        return tuple(
            i
            for i in cached_symbols(
                self.equations.tape, (*self.equations.qdot, *self.equations.udot)
            )
            if i not in state
        )

    def _function(self) -> CompiledFunction:
        """What computes u̇: call(q, u, t, p), and batch for states in rows."""
        return CompiledFunction(
            self.equations.tape,
            self.equations.udot,
            self.state,
            self.parameters,
            (self._n_q, self._n_u, 1),
        )

    def __str__(self) -> str:
        names = [str(self.equations.tape.nodes[i][1]) for i in self.state]
        q, u = names[: self._n_q], names[self._n_q : -1]
        missing = [
            n for n, x in zip(self.parameter_names, self._defaults, strict=True) if math.isnan(x)
        ]
        needs = f"\n  to be given by name: {', '.join(missing)}" if missing else ""
        return (
            f"{self.system.name}: native f(q, u, t) = u̇\n  q = {', '.join(q)}\n  u = "
            f"{', '.join(u)}{needs}"
        )

    def __call__(self, q: Any, u: Any, t: Any = 0.0, *more: Any, **values: Any) -> NDArray[Any]:
        """u̇ at the state (q, u) and time t; f(q, u, F=1) and f(q, u, inputs={"F": 1}) are the
        same.
        """
        if more:
            raise BadValue(self._too_many_arguments(len(more)))
        direct = self._fast_path
        if direct is not None and not values:
            # what integrators and loops over states ask for, without the questions below
            try:
                dimensions = q.ndim
            except AttributeError:
                dimensions = 0
            if dimensions == 1:
                return direct[0](q, u, t, direct[1])
            if dimensions == 2 and type(t) is float:
                return (direct[2] or self._fast_batch())(q, u, t, direct[1])
        values = _join_mappings(values) if values else values
        p = self._defaults if self._complete and not values else self._parameter_vector(values)
        if type(q) is np.ndarray and q.ndim == 2:
            return self._evaluate_batch(q, u, t, p)
        self._check_sequences(q, u)
        if getattr(q, "ndim", 1) == 2 or (
            not hasattr(q, "ndim") and len(q) and hasattr(q[0], "__len__")
        ):
            return self._evaluate_batch(q, u, t, p)
        udot = self._call(q, u, t, p)
        if self.pivots and not np.isfinite(udot).all():
            message = self._singularity_message("this state", [*q, *u, t], p)
            if message:
                raise BadValue(message)
        return udot

    def _too_many_arguments(self, count: int) -> str:
        names = ", ".join(f"{n}=…" for n in self.parameter_names[:2]) or "F=…"
        return (
            f"f(q, u, t): {3 + count} arguments; constants and inputs are given by name, "
            f"f(q, u, t, {names})"
        )

    def _check_sequences(self, q: Any, u: Any) -> None:
        if (
            not (hasattr(q, "__len__") and hasattr(u, "__len__"))
            or isinstance(q, Mapping | set)
            or isinstance(u, Mapping | set)
        ):
            msg = (
                f"f(q, u): give {self._n_q} coordinates and {self._n_u} speeds as lists or "
                f"arrays, f([…], […])"
            )
            raise BadValue(msg)

    def _fast_batch(self) -> Callable[..., NDArray[Any]]:
        """What takes states in rows as they are, made where it is first asked for and found at
        once from then on.
        """
        self._fast_path = (self._call, self._defaults, self._udot.batch)
        return self._udot.batch

    def _evaluate_batch(self, Q: Any, U: Any, t: Any, p: NDArray[Any]) -> NDArray[Any]:
        """u̇ of states in rows; those in which the speeds are singular are no numbers, and a
        warning says so: the others are kept.
        """
        udot = self.batch(Q, U, t, p)
        if not self.pivots or np.isfinite(udot).all():
            return udot
        rows = np.flatnonzero(~np.isfinite(udot).all(axis=1)).tolist()
        times = np.broadcast_to(np.ravel(t), len(udot))
        message = next(
            (
                text
                for k in rows
                if (text := self._singularity_message(f"row {k}", [*Q[k], *U[k], times[k]], p))
            ),
            "",
        )
        if message:
            warn(f"{len(rows)} of {len(udot)} rows are not finite; {message}")
        return udot

    def _singularity_message(self, where: str, state: Sequence[float], p: NDArray[Any]) -> str:
        """Which divisor vanishes in a state, and the ways around it; nothing where none does."""
        known = dict(zip((*self.state, *self.parameters), map(float, (*state, *p)), strict=True))
        for pivot in self.pivots:
            value = evaluate(pivot.tape, [pivot.i], known.__getitem__, FloatArithmetic())[0]
            if abs(value) <= _VANISHING:
                u = ", ".join(str(Scalar(self.equations.tape, i)) for i in self.equations.u)
                return (
                    f"the speeds {u} are singular in {where}, where {pivot} = {value:.2g}: "
                    f"{self._advice}"
                )
        return ""

    def batch(self, Q: Any, U: Any, t: Any, p: Any) -> NDArray[Any]:
        """u̇ of many states in rows; t one number or one for each state."""
        if type(t) is not float:
            t = np.asarray(t, dtype=float)
            t = t.reshape(-1, 1) if t.ndim == 1 and len(t) == len(Q) else t
        return self._udot.batch(Q, U, t, p)

    def evaluate_each(self, states: NDArray[Any], parameters: NDArray[Any]) -> NDArray[Any]:
        """u̇ of states (q, u, t) in rows, each with its own row of parameters: for few states,
        code for many need not be compiled.
        """
        n_q, n = self._n_q, self._n_q + self._n_u
        rows = np.broadcast_to(parameters, (len(states), len(self.parameters)))
        return np.array(
            [
                self._call(x[:n_q], x[n_q:n], float(x[n]), p)
                for x, p in zip(states, rows, strict=True)
            ]
        )

    def _parameter_vector(self, values: dict[str, Any]) -> NDArray[Any]:
        p = self._defaults.copy()
        names = {n: k for k, n in enumerate(self.parameter_names)}
        for key, value in values.items():
            name = (
                key
                if key in self.system.symbols
                else key.replace("_ddot", "''").replace("_dot", "'").replace(".dot", "'")
            )
            if name not in names:
                if name in self.system.symbols and self.system.symbols[name].kind in (
                    "constant",
                    "input",
                    "specified",
                    "state",
                ):
                    continue  # declared, but it drops out of the equations
                symbol_name(self.system, key, ("constant", "input", "specified", "state"))
            p[names[name]] = finite_number(key, value)
        self._set_zero_rates(values, names, p)
        if np.isnan(p).any():
            have = {
                n: x
                for n, x in zip(self.parameter_names, p.tolist(), strict=True)
                if not math.isnan(x)
            }
            require_values(self.system, self.parameter_names, have)
            raise MissingValue
        return p

    def _set_zero_rates(
        self, values: dict[str, Any], names: dict[str, int], p: NDArray[Any]
    ) -> None:
        """A prescribed motion that is given as a number stands still, as inputs={a: 0} of a run
        says: ȧ = ä = 0 unless given.
        """
        rates = [
            names[f"{key}{dots}"]
            for key in values
            if key in self.system.symbols
            for dots in ("'", "''")
            if f"{key}{dots}" in names
        ]
        for k in rates:
            if math.isnan(p[k]):
                p[k] = 0.0

    def __reduce__(self) -> tuple[Any, ...]:
        return NativeDynamics, (self.system, self.equations, self.pivots)


@dataclass(frozen=True)
class CompiledCheck:
    """The route compiled, at how many states it was checked against exact values, and the largest
    relative residual.
    """

    route: str
    states: int
    max_residual: float

    @property
    def agrees(self) -> bool:
        """Whether rounding alone explains the residual."""
        return bool(self.max_residual <= TOLERANCE)

    @property
    def digits_lost(self) -> float:
        """How many of the sixteen digits of a double do not count any more at the worst state."""
        unit = 2.0**-53
        return (
            math.log10(min(max(self.max_residual, unit), 1.0) / unit)
            if not math.isnan(self.max_residual)
            else math.log10(1 / unit)
        )

    def __str__(self) -> str:
        if not self.states:
            return (
                f"native code, {self.route}: not compared: at no random state do the equations "
                "have real values"
            )
        verdict = "agrees" if self.agrees else "DIFFERS"
        lost = f"{self.digits_lost:.1f} of 16 digits lost"
        return (
            f"native code, {self.route}: {verdict}, relative residual {self.max_residual:.1e} "
            f"at {self.states} random states, {lost}"
        )


def check_compiled(dynamics: NativeDynamics, equations: Equations) -> CompiledCheck:
    """u̇ by native code inserted in the residuals of the equations, which are evaluated exactly."""
    if not equations.u:
        return CompiledCheck(dynamics.equations.route, STATES, 0.0)  # nothing is free to accelerate
    random = np.random.default_rng(1)
    kept: list[float] = []
    for reach in SAMPLE_RADII:
        kept += _residuals(dynamics, equations, STATES - len(kept), random, reach)
        if len(kept) == STATES:
            break
    worst = max(kept, default=0.0)
    check = CompiledCheck(
        dynamics.equations.route, len(kept), worst if math.isfinite(worst) else math.inf
    )
    if check.agrees and check.digits_lost > MOST_DIGITS_LOST:
        lost = (
            f"native code of {equations.system!r} loses {check.digits_lost:.0f} of 16 digits "
            f"at "
            f"a random state"
        )
        warnings.warn(
            f"{lost}: large terms nearly cancel; scale the units or rewrite the load",
            DalembertWarning,
            stacklevel=2,
        )
    return check


def _random_dyadics(random: np.random.Generator, reach: float, states: int) -> Any:
    return np.round(reach * random.uniform(0.5, 1.5, states) * 2.0**_BITS) / 2.0**_BITS


def _residuals(
    dynamics: NativeDynamics,
    equations: Equations,
    states: int,
    random: np.random.Generator,
    reach: float,
) -> list[float]:
    """The relative residual at those random states at which the equations have values: √(l² − x²)
    may have none.
    """
    values = {i: _random_dyadics(random, reach, states) for i in dynamics.state}
    values |= {i: _random_dyadics(random, 1.0, states) for i in dynamics.parameters}
    X = np.column_stack([values[i] for i in dynamics.state])
    P = (
        np.column_stack([values[i] for i in dynamics.parameters])
        if dynamics.parameters
        else np.zeros(0)
    )
    udot = dynamics.evaluate_each(X, P)
    for i in symbols_of(equations.tape, equations.residuals):
        values.setdefault(i, _random_dyadics(random, 1.0, states))
    scales = _residual_scales(equations, values, udot)
    residuals = (
        _relative_residual(
            equations, {i: Fraction(float(x[k])) for i, x in values.items()}, udot[k], scales[k]
        )
        for k in range(states)
    )
    return [x for x in residuals if x is not None]


def _residual_scales(equations: Equations, values: Mapping[int, Any], udot: Any) -> Any:
    """max over rows of Σ_s |M_rs u̇_s| + |f_r| and over |M|, at each state; nan where M or f has
    no value.

    Sizes need no more than double precision: columns of M are differences of residuals, for all
    states and many columns at once.
    """
    n, states = len(equations.udot), len(udot)
    with np.errstate(all="ignore"):
        f, has_value = _residual_columns(equations, values, range(-1, 0), states)
        rows, largest = np.abs(f[0]), np.full(states, np.finfo(float).tiny)
        width = max(1, _MAX_COLUMN_STATES // states)
        for first in range(0, n, width):
            chosen = range(first, min(first + width, n))
            columns, finite = _residual_columns(equations, values, chosen, states)
            M, has_value = np.abs(columns - f), has_value & finite
            # what native code has no number for is judged later
            sizes = np.nan_to_num(np.abs(udot[:, chosen.start : chosen.stop]), nan=0.0, posinf=0.0)
            rows = rows + np.einsum("srk,ks->rk", M, sizes)
            largest = np.maximum(largest, M.max(axis=(0, 1)))
        # against the largest row, and what an acceleration of one would take: a row of zeros has
        # no size of its own
        largest = np.maximum(largest, rows.max(axis=0))
    return np.where(has_value, largest, np.nan)


def _residual_columns(
    equations: Equations, values: Mapping[int, Any], columns: Iterable[int], states: int
) -> tuple[Any, Any]:
    """The residuals with u̇ = e_s for each s of `columns` (0 for −1), and where all have values."""
    chosen = np.array(list(columns))
    lookup = {i: np.tile(x, len(chosen)) for i, x in values.items()}
    for s, i in enumerate(equations.udot):
        lookup[i] = np.repeat((chosen == s).astype(float), states)
    result = evaluate(equations.tape, equations.residuals, lookup.__getitem__, ArrayArithmetic())
    residuals = np.array([np.broadcast_to(x, len(chosen) * states) for x in result])
    shaped = residuals.reshape(len(result), len(chosen), states).swapaxes(0, 1)
    return shaped, np.isfinite(shaped).all(axis=(0, 1))


def _relative_residual(
    equations: Equations, state: dict[int, Any], udot: Any, scale: float
) -> float | None:
    """max |M u̇ − f| over the scale; None where the equations have no value, infinity where only
    native code has none.
    """
    if math.isnan(scale):
        return None
    if not np.isfinite(udot).all():
        return math.inf
    exact = {
        **state,
        **{i: Fraction(float(x)) for i, x in zip(equations.udot, udot, strict=True)},
    }
    balls = evaluate_balls(equations.tape, equations.residuals, exact, _DIGITS)
    if not all(x.is_finite() for x in balls):
        return None
    return max((float(x.abs_upper()) for x in balls), default=0.0) / scale
