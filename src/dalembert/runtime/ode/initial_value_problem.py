"""y' = f(t, y), y(t₀) = y₀: the problem of a run, checked before it begins. Keywords: initial value
problem.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import field
from numbers import Real
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from dalembert.foundation.deferred_dataclass import dataclass
from dalembert.runtime.ode.failures import BadDuration, BadRun, BadStart, BadTolerance

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

# ten units of rounding: below, the error estimate is rounding error
SMALLEST_RTOL: Final = 10 * 2.0**-52
# rows of the dense output of a step by Runge and Kutta's method
DENSE_ROWS: Final = 8
# Taylor's method below takes more work than Runge and Kutta's
SMALLEST_ORDER: Final = 8


class DenseForm(NamedTuple):
    """How the dense output of a step is written: its rows, and whether they are the coefficients of
    powers of θ, as by Taylor's method.
    """

    rows: int
    powers: bool


RUNGE_KUTTA_FORM: Final = DenseForm(DENSE_ROWS, powers=False)


@dataclass(frozen=True)
class TaylorSeries:
    """y(t + h τ) = Σ y_k τ^k: the native function that fills rows 1 … order, after `rhs` at (t, y),
    and the order.

    int32 expand(double h, int64 order, double *rows, int64 width, void *context)
    """

    expand: int
    order: int

    def __post_init__(self) -> None:
        from dalembert.runtime.numerics.taylor_code import LARGEST_ORDER

        if not SMALLEST_ORDER <= self.order <= LARGEST_ORDER:
            msg = (
                f"Taylor's method of order {self.order}: give one from {SMALLEST_ORDER} to "
                f"{LARGEST_ORDER}"
            )
            raise BadRun(msg)


@dataclass(frozen=True, kw_only=True)
class InitialValueProblem:
    """y' = f(t, y) from t₀ to t₁ with error ≤ atol + rtol |y| per step in the first `n_norm`
    components (all by default).

    Components beyond are quadratures: integrated along, but without influence on the motion, to the
    last bit.

    Functions are native addresses, 0 for none. They return 0, or a code: positive if a smaller step
    may help (the run stops with the code only if no step is small enough), negative to stop at
    once.

        int32 rhs(double t, const double *y, double *dy, void *context)
        int32 project(double t, double *y, void *context)
        int32 accept(double t, double t_new, const double *y, const double *y_new, const double
        *dense, double *error, void *context) int32 events(double t, double t_new, const double
        *dense, void *watch)

    `project` moves the end of a step onto the constraints. `accept` sees the step before it is
    taken, after projection: a positive code halves it; `error`, in which 1 means the tolerance, may
    instead be raised, and steers the step size as the estimate itself does. `dense` holds the rows
    of the dense output, each the number of components rounded up to a multiple of four; it is null
    unless dense output is kept. `events` sees every step that was taken, needs dense output, and
    returns 1 if something may have happened in it: the run then pauses for somebody to look. The
    owner of the functions must keep them alive while the run lasts.
    """

    rhs: int
    y0: ArrayLike
    t0: float
    t1: float
    context: int = 0
    project: int = 0
    accept: int = 0
    rtol: float = 1e-9
    atol: ArrayLike = 1e-9
    n_norm: int | None = None
    max_step: float = math.inf
    dense: bool = True
    events: int = 0
    event_data: int = 0
    # times of discontinuities and kinks of f: a step ends just before each, and the next begins
    # just behind it
    discontinuities: tuple[float, ...] = ()
    # what may change the state there in place, called with the time and the state
    on_discontinuity: Callable[[float, NDArray[np.float64]], None] | None = None
    # Taylor's method instead of Runge and Kutta's
    taylor: TaylorSeries | None = None
    # or Rosenbrock's, with the native function of ∂f/∂(y, t): rows of all components, columns of
    # those in the norm and of the time
    #     int32 jacobian(double t, const double *y, double *J, void *context)
    jacobian: int = 0
    # the times the motion is wanted at, in order: of a long run no more is kept; None for all
    at: NDArray[np.float64] | None = None
    start: NDArray[np.float64] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "start", np.array(self.y0, dtype=np.float64))
        if not (
            math.isfinite(self.t0) and math.isfinite(self.t1) and math.isfinite(self.t1 - self.t0)
        ):
            msg = f"a run needs finite times, not {self.t0} to {self.t1}"
            raise BadDuration(msg)
        if self.t1 <= self.t0:
            msg = f"a run needs a positive duration: {self.t0} to {self.t1} is empty"
            raise BadDuration(msg)
        if self.events and not self.dense:
            msg = "events are searched on the dense output: keep it, or leave out the events"
            raise BadRun(msg)
        self._check_start()
        self._check_accuracy()

    @property
    def size(self) -> int:
        """The number of components."""
        return self.start.size

    @property
    def dense_form(self) -> DenseForm:
        """How the dense output of a step is written."""
        return (
            RUNGE_KUTTA_FORM
            if self.taylor is None
            else DenseForm(self.taylor.order + 1, powers=True)
        )

    @property
    def n_in_norm(self) -> int:
        """The number of components that the error norm sees."""
        return self.size if self.n_norm is None else self.n_norm

    def from_state(self, y0: NDArray[np.float64]) -> InitialValueProblem:
        """The same from another initial state."""
        new = object.__new__(InitialValueProblem)
        new.__dict__.update(self.__dict__, y0=y0, start=np.array(y0, dtype=np.float64))
        new._check_start()
        return new

    def _check_start(self) -> None:
        y0 = self.start
        if y0.ndim != 1 or not 1 <= self.n_in_norm <= y0.size:
            msg = (
                f"start values of shape {y0.shape} with {self.n_in_norm} components in the "
                f"error "
                f"norm: need one row with at least these"
            )
            raise BadStart(msg)
        # the sum is finite unless a component is not, or is huge
        if not (math.isfinite(sum(y0.tolist())) or np.isfinite(y0).all()):
            wrong = np.flatnonzero(~np.isfinite(y0))[0]
            msg = f"the start value of component {wrong} is {y0[wrong]}: all must be finite"
            raise BadStart(msg)

    def _check_accuracy(self) -> None:
        if not SMALLEST_RTOL <= self.rtol < 1.0:
            msg = (
                f"rtol = {self.rtol} is out of range: it must lie between {SMALLEST_RTOL:.1e} "
                f"and 1, which is excluded"
            )
            raise BadTolerance(msg)
        if not (type(self.atol) is float and 0.0 < self.atol < math.inf):
            self._check_atol()
        if not (isinstance(self.max_step, Real) and self.max_step > 0.0):
            msg = f"max_step = {self.max_step} must be positive"
            raise BadTolerance(msg)

    def _check_atol(self) -> None:
        try:
            atol = np.asarray(self.atol, dtype=np.float64)
        except (TypeError, ValueError, OverflowError) as problem:
            msg = f"atol = {self.atol!r:.60} is not a number"
            raise BadTolerance(msg) from problem
        if atol.shape not in ((), (self.n_in_norm,), (self.size,)):
            msg = (
                f"atol has shape {atol.shape}: give one number, or one for each of the "
                f"{self.n_in_norm} components"
            )
            raise BadTolerance(msg)
        if not (np.isfinite(atol) & (atol > 0.0)).all():
            msg = (
                "atol must be positive and finite: where a component crosses zero, its relative "
                "error is meaningless"
            )
            raise BadTolerance(msg)
