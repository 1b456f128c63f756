"""A run is one structure: everything the native loop knows between two steps.

Leaving the loop and entering it again changes nothing in it, so the bits of a run do not depend on when it was left.
"""

from __future__ import annotations

import ctypes
from enum import IntEnum
from typing import Final

from dalembert.numerics.llvm_types import POINTER, REAL, WHOLE
from dalembert.ode.coefficients import STAGES
from dalembert.ode.memory import C_TYPES

# name and kind of each field, in the order of the structure
FIELDS: Final[tuple[tuple[str, str], ...]] = (
    ("rhs", POINTER),
    ("project", POINTER),
    ("accept", POINTER),
    ("context", POINTER),
    ("work", POINTER),
    ("times", POINTER),
    ("states", POINTER),
    ("dense", POINTER),
    ("groups", WHOLE),
    ("norm_groups", WHOLE),
    ("n_norm", WHOLE),
    ("capacity", WHOLE),
    ("stored", WHOLE),
    ("budget", WHOLE),
    ("steps", WHOLE),
    ("rejected", WHOLE),
    ("calls", WHOLE),
    ("streak", WHOLE),
    ("cause", WHOLE),
    ("code", WHOLE),
    ("t", REAL),
    ("t_new", REAL),
    ("t_end", REAL),
    ("h", REAL),
    ("h_try", REAL),
    ("h_max", REAL),
    ("rtol", REAL),
    ("error", REAL),
    ("events", POINTER),
    ("watch", POINTER),
    # of Taylor's method alone
    ("expand", POINTER),
    ("jets", POINTER),
    ("order", WHOLE),
    ("scale", REAL),
    ("reach", REAL),
    ("planned", REAL),
    ("learned", REAL),
    # of Rosenbrock's method alone
    ("jacobian", POINTER),
    ("matrices", POINTER),
)


class Run(ctypes.Structure):
    """The same structure seen from Python.

    rhs, project, accept, context   addresses of the functions and of what they are given; 0 for none
    work                            the rows of `Row`, each `groups` times four numbers
    times, states, dense            where points are written, with room for `capacity`, `stored` of them used; dense 0 for none
    n_norm, norm_groups             components in the error norm, and groups of four that hold them
    budget                          attempts left before the loop returns
    streak                          rejections since the last accepted step
    cause, code                     why the last rejected step was rejected, and what the function concerned had returned
    t, h; t_new, h_try              time and next step size; end and size of the step being tried
    error                           its error estimate, 1 being the tolerance
    expand, jets, order             address of the function that fills the rows of Taylor coefficients behind `jets`, 0 … order
    scale, reach, learned           the time that these are in powers of, the step that follows, and what errors add to it (logarithms)
    planned                         that step, before anything cut it short
    jacobian, matrices              address of the function that gives ∂f/∂y and ∂f/∂t, and room for these and for the factors of W
    events, watch                   address of the function that looks for events in a step taken, and of what it is given; 0 for none
    """

    _fields_ = tuple((name, C_TYPES[kind]) for name, kind in FIELDS)
    rhs: int
    project: int
    accept: int
    context: int
    work: int
    times: int
    states: int
    dense: int
    groups: int
    norm_groups: int
    n_norm: int
    capacity: int
    stored: int
    budget: int
    steps: int
    rejected: int
    calls: int
    streak: int
    cause: int
    code: int
    t: float
    t_new: float
    t_end: float
    h: float
    h_try: float
    h_max: float
    rtol: float
    error: float
    events: int
    watch: int
    expand: int
    jets: int
    order: int
    scale: float
    reach: float
    planned: float
    learned: float
    jacobian: int
    matrices: int


class WorkRow(IntEnum):
    """The rows of the work space after the derivatives k₀, …, k₁₅ of the stages."""

    Y = STAGES  # the state at t
    STAGE = STAGES + 1  # the argument of a stage
    NEW = STAGES + 2  # the end of the step before projection
    END = STAGES + 3  # the end of the step
    END_RATE = STAGES + 4  # f at the end of the step
    ATOL = STAGES + 5
    IN_NORM = STAGES + 6  # 1 for a component in the error norm, otherwise 0
    CARRY = STAGES + 7  # what rounding took from the state at t
    LOST = STAGES + 8  # and takes from the end of the step


ROWS: Final = len(WorkRow) + STAGES


class ExitReason(IntEnum):
    """Why the loop returned."""

    AT_END = 0
    BUFFER_FULL = 1
    BUDGET_SPENT = 2
    STOPPED = 3
    AT_EVENT = 4


class Cause(IntEnum):
    """Why a step was not taken."""

    NONE = 0
    ERROR = 1  # the error estimate exceeds the tolerance
    NOT_FINITE = 2  # a derivative, a state or the estimate is infinite or NaN
    RHS = 3  # the right-hand side returned a code
    PROJECT = 4  # the projection returned a code
    ACCEPT = 5  # the acceptance test returned a code
