"""From f(x, p, y, work) to rhs(t, y, dy, context): straight-line code joined to the integrator.

A context holds the addresses of the compiled functions, their parameters and their scratch space;
`context_ir` has the native functions that are called with it.
"""

from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from dalembert.foundation.array_types import FloatArray
from dalembert.foundation.caching import cached_call
from dalembert.runtime.numerics import jit
from dalembert.runtime.numerics.compiled_function import CompiledFunction, run_prologue
from dalembert.runtime.numerics.llvm_types import (
    DOUBLE,
    GROUP_SIZE,
    INT64,
    POINTER,
    ctypes_structure,
    padded_size,
)
from dalembert.runtime.numerics.python_binding import data_address
from dalembert.runtime.ode.initial_value_problem import DENSE_ROWS
from dalembert.runtime.simulation.energy_audit import Audit, Budget

if TYPE_CHECKING:
    from dalembert.runtime.numerics.taylor_code import TaylorWorkspace
    from dalembert.runtime.ode.constrained.constrained_rates import Workspace

EXPORTS: Final = ("rhs", "rhs_without_time", "rhs_with_forces", "force_guards", "project", "accept")

# name and kind of each field, in the order of the structure
FIELDS: Final[tuple[tuple[str, str], ...]] = (
    # f(x, p, y, work) for the rates, and the size of the state without quadratures
    ("f", POINTER),
    ("x", POINTER),
    ("p", POINTER),
    ("work", POINTER),
    ("n_state", INT64),
    # δq(x, p, result, work), or a projection of the whole state where n_coordinates < 0
    ("projection", POINTER),
    ("projection_work", POINTER),
    ("result", POINTER),
    ("n_coordinates", INT64),
    ("tolerance", DOUBLE),
    # quadratures: their rates, and K₂ and 𝒰
    ("audit", POINTER),
    ("audit_p", POINTER),
    ("audit_work", POINTER),
    ("energy", POINTER),
    ("energy_work", POINTER),
    ("energy_result", POINTER),
    # places in the state, below zero if there are none: the sum of the jumps at projections, and Z
    ("jump", INT64),
    ("Z", INT64),
    # the budget for the change of E_Z, and what it is measured by
    ("per_time", DOUBLE),
    ("relative_per_time", DOUBLE),
    ("V0", DOUBLE),
    ("scale", DOUBLE),
    # a state between the ends of a step, and its length in memory
    ("middle", POINTER),
    ("width", INT64),
    # where the budget begins
    ("E_start", DOUBLE),
    ("t_start", DOUBLE),
    ("length", DOUBLE),
    # E_Z projected to its level: the place of the sum of what was taken out, and of the first speed
    ("defect", INT64),
    ("first_speed", INT64),
    # rows of the dense output, and whether they are coefficients of powers of θ; Taylor
    # coefficients of the motion and of the quadratures
    ("rows", INT64),
    ("powers", INT64),
    ("jets", POINTER),
    ("jets_audit", POINTER),
    # ∂f/∂(q, u, t) of the motion and of the quadratures
    ("jacobian", POINTER),
    ("jacobian_work", POINTER),
    ("jacobian_audit", POINTER),
    ("jacobian_audit_work", POINTER),
    # rates that are followed by contact forces: where f writes both, and the number of forces
    ("outputs", POINTER),
    ("n_forces", INT64),
    ("autonomous", INT64),
)
# guards that are functions of contact forces: the run, and the function with its scratch space
FORCE_GUARD_FIELDS: Final[tuple[tuple[str, str], ...]] = (
    ("context", POINTER),
    ("g", POINTER),
    ("work", POINTER),
)

_Fields: Final = ctypes_structure(FIELDS)
_ForceGuards: Final = ctypes_structure(FORCE_GUARD_FIELDS)


_PROJECT: Final = ctypes.CFUNCTYPE(
    ctypes.c_int32, ctypes.c_double, ctypes.c_void_p, ctypes.c_void_p
)


@cached_call
def _library() -> jit.Library:
    return jit.load(jit.TextFunction("dalembert.runtime.simulation.context_ir:context_ir"), EXPORTS)


class Context:
    """One run's own memory: no two runs share a buffer."""

    def __init__(
        self,
        rates: CompiledFunction | Workspace,
        p: FloatArray,
        projection: CompiledFunction | None = None,
        tolerance: float = 1e-13,
        *,
        autonomous: bool = False,
        n_forces: int = 0,
    ) -> None:
        self.rates, self.n_forces = rates, n_forces
        self._alive: list[Any] = [projection, p]
        # functions whose scratch space begins with what follows from parameters alone, and the
        # addresses of both
        self._heads: list[tuple[CompiledFunction, int, int]] = []
        # the state without the quadratures, then the time
        n = rates.n_in - 1
        self._fields = _Fields(
            n_state=n, tolerance=tolerance, jump=-1, Z=-1, defect=-1, rows=DENSE_ROWS
        )
        self._fields.p = self._keep_alive(p)
        projects = projection is not None
        if isinstance(rates, CompiledFunction):
            self._fields.f, self._fields.work = (
                rates.address,
                self._allocate_work(rates, self._fields.p),
            )
            self._fields.x = self._keep_alive(np.zeros(n + GROUP_SIZE + n_forces))
        else:
            projects = rates.needs_projection
            self._use_saddle_rates(rates)
        if projection is not None:
            self._use_projection(projection)
        self.address = ctypes.addressof(self._fields)
        name = "rhs_without_time" if autonomous else "rhs"
        if n_forces:
            name, self._fields.n_forces = "rhs_with_forces", n_forces
            self._fields.autonomous = int(autonomous)
            self._fields.outputs = self._keep_alive(np.zeros(n + GROUP_SIZE + n_forces))
        self.rhs: int = _library().address(name)
        self.project: int = _library().address("project") if projects else 0
        self.accept: int = 0

    def _use_projection(self, projection: CompiledFunction) -> None:
        """The projection step and its largest residual."""
        fields = self._fields
        fields.projection = projection.address
        fields.projection_work = self._allocate_work(projection, fields.p)
        fields.result = self._keep_alive(np.zeros(projection.n_out))
        fields.n_coordinates = projection.n_out - 1

    def _use_saddle_rates(self, space: Workspace) -> None:
        """Rates in augmented form: λ is stored after the state and the time, where the audit finds
        it.
        """
        fields = self._fields
        x = np.zeros(fields.n_state + GROUP_SIZE + space.rates.layout.m)
        fields.f, fields.work, fields.x = space.rhs, space.address, self._keep_alive(x)
        space.set_multiplier_buffer(fields.x + 8 * (fields.n_state + 1))
        if space.needs_projection:
            # a count below zero: the projection moves the whole state by itself
            fields.projection, fields.projection_work, fields.n_coordinates = (
                space.project,
                space.address,
                -1,
            )

    def attach_audit(self, audit: Audit, p: FloatArray) -> None:
        """Add quadratures, and the jumps of the energy at projections."""
        fields, n = self._fields, self._fields.n_state
        self._alive.append(audit)
        fields.audit_p = self._keep_alive(p)
        rates = audit.rates_of_forces if self.n_forces else audit.rates
        if rates is not None:
            if not audit.autonomous and not self.n_forces:
                self.rhs = _library().address("rhs")
            fields.audit, fields.audit_work = (
                rates.address,
                self._allocate_work(rates, fields.audit_p),
            )
        fields.Z = n + audit.Z if audit.Z is not None else -1
        fields.jump = n + audit.jump if audit.jump is not None else -1
        fields.width = padded_size(n + len(audit.names))
        fields.middle = self._keep_alive(np.zeros(fields.width))

    def enable_energy(self, audit: Audit) -> None:
        """Give projections, budgets and levels access to K₂ and 𝒰."""
        fields = self._fields
        fields.energy, fields.energy_work = (
            audit.energy.address,
            self._allocate_work(audit.energy, fields.audit_p),
        )
        fields.energy_result = self._keep_alive(np.zeros(2))

    def project_energy(self, defect: int, n_coordinates: int, E: float) -> None:
        """Project every step to the level E of E_Z; the sum of the defects goes to the component
        `defect` of the quadratures.
        """
        fields = self._fields
        fields.defect, fields.first_speed, fields.E_start = (
            fields.n_state + defect,
            n_coordinates,
            E,
        )
        self.project = _library().address("project")

    def limit_energy_error(self, budget: Budget, E: tuple[float, float], t: float) -> None:
        """Hold E_Z within a budget from a start at time t with E = (K₂, 𝒰)."""
        fields = self._fields
        fields.V0, fields.E_start, fields.t_start = E[1], E[0] + E[1], t
        fields.per_time, fields.relative_per_time, fields.length = (
            budget.per_time,
            budget.relative_per_time,
            budget.length,
        )
        self.accept = _library().address("accept")

    def expand(
        self, rhs: int, order: int, motion: TaylorWorkspace, audit: TaylorWorkspace | None
    ) -> None:
        """Let `rhs` prepare Taylor coefficients up to an order, of the motion and of the
        quadratures.
        """
        self._alive += [motion, audit]
        self._fields.jets, self._fields.jets_audit = motion.address, audit.address if audit else 0
        self._fields.rows, self._fields.powers, self.rhs = order + 1, 1, rhs

    def linearize(self, motion: CompiledFunction, audit: CompiledFunction | None) -> None:
        """Provide the derivatives of the rates, of the motion and of the quadratures."""
        fields = self._fields
        self._alive += [motion, audit]
        fields.jacobian, fields.jacobian_work = (
            motion.address,
            self._allocate_work(motion, fields.p),
        )
        if audit is not None:
            fields.jacobian_audit, fields.jacobian_audit_work = (
                audit.address,
                self._allocate_work(audit, fields.audit_p),
            )

    def force_guards(self, g: CompiledFunction, work: FloatArray) -> tuple[int, int]:
        """What evaluates guards g(x, λ) at x alone, and what it is given as scratch space."""
        guards = _ForceGuards(context=self.address, g=g.address, work=data_address(work))
        self._alive += [guards, g, work]
        return _library().address("force_guards"), ctypes.addressof(guards)

    def shift_energy_reference(self, change: float) -> None:
        """An event has changed K₂ + 𝒰: from now on E_Z is held at another level."""
        self._fields.E_start += change

    def projected(self, t: float, y: FloatArray) -> FloatArray:
        """The state after one projection onto the constraints; y itself where there is none or
        where it fails.
        """
        if not self.project:
            return y
        moved = np.zeros(padded_size(len(y)))
        moved[: len(y)] = y
        code = _PROJECT(self.project)(t, data_address(moved), self.address)
        return y if code else moved[: len(y)]

    @property
    def prologues(self) -> tuple[tuple[int, int, int], ...]:
        """What computes from the parameters alone: function, parameters, scratch space."""
        return tuple((f.prologue_address, p, work) for f, p, work in self._heads)

    @property
    def projects_energy(self) -> bool:
        """Whether steps are projected to the level of E_Z."""
        return bool(self._fields.defect >= 0)

    @property
    def energy_level_address(self) -> int:
        """Where the level of E_Z is kept."""
        return self.address + int(_Fields.E_start.offset)

    def refresh_parameters(self) -> None:
        """The parameters have other values: what was computed from them alone is computed again."""
        for head in self._heads:
            run_prologue(*head)

    def _allocate_work(self, function: CompiledFunction, p: int) -> int:
        """Scratch space for a function of the parameters at an address."""
        work = self._keep_alive(np.zeros(function.work_size + 8))
        run_prologue(function, p, work)
        self._heads.append((function, p, work))
        return work

    def _keep_alive(self, array: FloatArray) -> int:
        self._alive.append(array)
        return data_address(array) if array.size else 0
