"""Changes of mode in native code: the memory that they share with Python, and their records.

One run has one such memory. Contacts with friction in a plane, guides with two sides, contacts that
are switched on and off, friction pressed by constraint forces, sensitivities and a user's events
need the general transition.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from dalembert.foundation.array_types import FloatArray, IndexArray
from dalembert.foundation.caching import cached_call
from dalembert.runtime.contact.mode_enumeration import ContactMode
from dalembert.runtime.contact.switch_loop_ir import EXPORTS, module_ir
from dalembert.runtime.contact.transition_fields import (
    FIELDS,
    FLAGS,
    GUARD_KINDS,
    MOST_FEASIBLE,
    MOST_OPTIONS,
    Exit,
)
from dalembert.runtime.contact.transition_records import MODES, TransitionLog, codes_of
from dalembert.runtime.numerics.compiled_function import (
    CompiledFunction,
    allocate_workspace,
    run_prologue,
)
from dalembert.runtime.numerics.jit import Library, load
from dalembert.runtime.numerics.llvm_types import ctypes_structure, padded_size
from dalembert.runtime.numerics.python_binding import data_address
from dalembert.runtime.ode.guard_search import N_EVENT_POINTS
from dalembert.runtime.ode.initial_value_problem import DENSE_ROWS
from dalembert.runtime.ode.integrator_state import ExitReason
from dalembert.runtime.simulation.events.root_finding import Crossing, search_library

if TYPE_CHECKING:
    from dalembert.mechanics.model.elements import UnilateralContact
    from dalembert.runtime.contact.contact_model import ContactModel
    from dalembert.runtime.contact.guards import GuardMonitor
    from dalembert.runtime.contact.mode_transition import ModeTransition
    from dalembert.runtime.ode.integration import Integrator
    from dalembert.runtime.simulation.context import Context
    from dalembert.runtime.simulation.energy_audit import BoundAudit

TransitionMemory: Final = ctypes_structure(FIELDS)
_DRIVE: Final = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p)
# records between two visits of Python
_CAPACITY: Final = 128
# steps that a run without Python may try, and times that its records may be full
_ATTEMPTS: Final = 20_000
_LOGS: Final = 3
# closed, sticks, direction, side and slack of each
_FLAGS: Final = np.array([[m.closed, m.sticks, m.direction, m.side, 0.0] for m in MODES])


@cached_call
def transition_library() -> Library:
    """The native loop, compiled once."""
    return load(module_ir, EXPORTS)


def has_native_transition(contacts: Sequence[UnilateralContact]) -> bool:
    """Whether native code knows all these contacts."""
    return not any(
        c.two_sided or c.row is not None or c.T_across is not None or c.active is not None
        for c in contacts
    )


def structure_of_contacts(model: ContactModel) -> tuple[dict[str, int], dict[str, list[int]]]:
    """Whole numbers and arrays of them that describe the contacts of a model, by the names of the
    structure.
    """
    e, kin, contacts = model.equations, model.values.kin, model.contacts
    rows = range(len(contacts))
    normals = [e.row_index.get((k, True), -1) for k in rows]
    numbers = {
        "n_state": len(kin.state),
        "n_q": kin.n_q,
        "speed_offset": kin.speed_offset,
        "n_u": kin.n_u,
        "contacts": len(contacts),
        "m": len(e.rows),
        "normals": sum(n >= 0 for n in normals),
        "capacity": _CAPACITY,
        "guards": len(model.guards),
        "always_projects": int(
            e.permanent is not None or any(row.phi is not None for row in kin.rows)
        ),
    }
    arrays = {
        "n_row": normals,
        "t_row": [e.row_index.get((k, False), -1) for k in rows],
        "has_gap": [int(c.gap is not None) for c in contacts],
        "solved": [int(c.N is not None) for c in contacts],
        "poisson": [int(c.law == "poisson") for c in contacts],
        "guard_kind": [GUARD_KINDS[g.kind] for g in model.guards],
        "guard_contact": [g.contact for g in model.guards],
    }
    return numbers, arrays


def array_sizes(model: ContactModel) -> tuple[dict[str, int], dict[str, int]]:
    """Room for one change of mode and for the records: arrays of whole numbers, and of numbers;
    arrays of one size share one text of names.
    """
    n, k = len(model.values.kin.state), len(model.contacts)
    m, guards = len(model.equations.rows), len(model.guards)
    solver_whole, solver_numbers = solver_sizes(k, m)
    whole = {**solver_whole,
             "fired_gap fired_slip fired_cone touching active node_n node_t label resting": k,
             "hit_guard": guards, "modes new_modes earlier": k,
             "log_hit": _CAPACITY, "log_mode log_label": _CAPACITY * k}  # fmt: skip
    numbers = {**solver_numbers, "impulse b size": m,
               "table": N_EVENT_POINTS * guards, "hit_t": guards,
               "log_t log_energy": _CAPACITY, "log_before log_after": _CAPACITY * n,
               "log_impulse log_speed log_rest": _CAPACITY * k}  # fmt: skip
    return whole, numbers


def solver_sizes(k: int, m: int) -> tuple[dict[str, int], dict[str, int]]:
    """Room for the modes and forces of k contacts with m rows."""
    whole = {"c_contact c_n c_t c_slip c_ended c_label c_mode l_n l_t": k,
             "g_c g_row g_n g_t n_options choice held": max(k, m), "options": MOST_OPTIONS * k,
             "f_choice": k * (MOST_FEASIBLE + 1), "f_sticks f_free f_closed": MOST_FEASIBLE + 1,
             "basis": m + k, "nonbasic": m + k + 1}  # fmt: skip
    numbers = {"c_mu c_mu_static c_given l_mu l_pull l_given": k,
               "g_b g_lam g_w g_first l_size l_b lam": m,
               "g_A": m * m, "room": m * (m + 1), "f_lam f_w": m * (MOST_FEASIBLE + 1),
               "z": m + k, "tableau": (m + k) * (m + k + 2)}  # fmt: skip
    return whole, numbers


def allocate_arrays(
    memory: Any, sizes: dict[str, int], kind: type
) -> dict[str, np.ndarray[Any, Any]]:
    """Arrays one after the other in one block of memory, by the names of the structure; they keep
    it alive.
    """
    names = [(name, size) for key, size in sizes.items() for name in key.split()]
    ends = np.cumsum([0, *(size for _, size in names)]).tolist()
    block = np.zeros(ends[-1] + 1, dtype=kind)
    address, arrays = data_address(block), {}
    for (name, size), begin in zip(names, ends, strict=False):
        setattr(memory, name, address + 8 * begin)
        arrays[name] = block[begin : begin + size]
    return arrays


class NativeTransition:
    """The native loop of one run, its memory and the records that Python has not seen yet."""

    def __init__(
        self,
        switcher: ModeTransition,
        watch: GuardMonitor,
        context: Context,
        audit: BoundAudit | None,
        settings: Sequence[tuple[FloatArray, Sequence[tuple[int, int]]]],
    ) -> None:
        self._model = model = switcher.model
        self._alive: list[Any] = [watch, context, audit]
        self._n, self._contacts = len(model.values.kin.state), len(model.contacts)
        self._fields = TransitionMemory(taken=-1)
        # functions with their parameters and scratch space
        self._bound: list[tuple[CompiledFunction, int, int]] = []
        self.address = ctypes.addressof(self._fields)
        self._library = transition_library()
        self._drive, self._begin = (_DRIVE(self._library.address(x)) for x in ("drive", "begin"))
        self._describe(switcher)
        self._attach(watch, context)
        if audit is not None and audit.audit.event_loss is not None:
            self._attach_energy(audit, context)
        self._attach_settings(settings, (*context.prologues, *watch.prologues))
        # guards at which the run stands, where what follows is decided by the general laws
        self.standing: list[Crossing] | None = None

    # ---- memory ------------------------------------------------------------------------------

    def _array(self, name: str, values: Any, kind: type = float) -> np.ndarray[Any, Any]:
        """An array that native code knows by this name."""
        array: np.ndarray[Any, Any] = np.array(values, dtype=kind)
        if not array.size:
            array = np.zeros(1, dtype=kind)
        self._alive.append(array)
        setattr(self._fields, name, data_address(array))
        return array

    def _describe(self, switcher: ModeTransition) -> None:
        """What stays as it is during a run."""
        f, (numbers, arrays) = self._fields, structure_of_contacts(self._model)
        for name, number in numbers.items():
            setattr(f, name, number)
        for name, values in arrays.items():
            self._array(name, values, int)
        f.duration, f.tolerance = switcher.duration, switcher.tolerance
        self.restitution = self._array("restitution", switcher.restitution)

    def _attach(self, watch: GuardMonitor, context: Context) -> None:
        """The compiled functions, and room for their results and for one change."""
        f, compiled = self._fields, self._model.compiled.quantities.function
        f.all, f.cheap, f.watches = watch.address, watch.cheap_address, watch.looked_with
        search = search_library()
        f.first_falls, f.sample = (search.address(x) for x in ("first_falls", "sample"))
        f.context, f.project = context.address, context.project
        f.always_projects |= int(context.projects_energy)
        self._bind("quantities", compiled, self._model.p)
        self._array("x", np.zeros(padded_size(self._n + 1)))
        self._array("q", np.zeros(compiled.n_out))
        whole, numbers = array_sizes(self._model)
        self._arrays = allocate_arrays(f, whole, int) | allocate_arrays(f, numbers, float)

    def _bind(self, name: str, function: CompiledFunction, p: FloatArray) -> None:
        """A compiled function with its parameters and scratch space."""
        work = allocate_workspace(function, p)
        self._alive += [function, p, work]
        self._bound.append((function, data_address(p) if p.size else 0, data_address(work)))
        setattr(self._fields, name, function.address)
        setattr(self._fields, f"{name}_p", data_address(p) if p.size else 0)
        setattr(self._fields, f"{name}_work", data_address(work))

    def _attach_energy(self, bound: BoundAudit, context: Context) -> None:
        """K₂ + 𝒰, and where the audit keeps what a change takes out of it."""
        assert bound.audit.event_loss is not None
        self._bind("energy", bound.audit.energy, bound.p)
        self._array("energy_result", np.zeros(3))
        self._fields.taken = self._n + bound.audit.event_loss
        self._fields.E_start = context.energy_level_address

    def _attach_settings(
        self,
        settings: Sequence[tuple[FloatArray, Sequence[tuple[int, int]]]],
        prologues: Sequence[tuple[int, int, int]],
    ) -> None:
        """Parameters that a mode sets, and the functions that depend on parameters alone."""
        places = [(data_address(p) + 8 * at, k) for p, flags in settings for k, at in flags]
        self._fields.settings, self._fields.prologues = len(places), len(prologues)
        self._array("set_at", [at for at, _ in places], int)
        self._array("set_contact", [k // FLAGS for _, k in places], int)
        self._array("set_flag", [k % FLAGS for _, k in places], int)
        for name, values in zip(
            ("prologue", "prologue_p", "prologue_work"), zip(*prologues, strict=True), strict=True
        ):
            # functions without parameters have no address of these
            self._array(name, [x or 0 for x in values], int)

    # ---- a run -------------------------------------------------------------------------------

    def join(self, integration: Integrator) -> None:
        """Take the place of the native loop of an integration."""
        f, problem = self._fields, integration.problem
        f.run, f.start, f.advance = integration.native_addresses
        f.search, f.t1, f.max_step = problem.events, problem.t1, problem.max_step
        if not f.width:
            f.width = padded_size(problem.size)
            self._array("step", np.zeros(f.width * DENSE_ROWS))
            for name in ("saved", "after", "moved"):
                self._array(name, np.zeros(f.width))
        f.last_impact, f.logged, f.slack, self.standing = -np.inf, 0, 0, None
        integration.loop = self._advance

    def _advance(self, _: int) -> int:
        """Steps and changes of mode; the reason of the integrator for a return."""
        self.standing = None
        while (code := self._drive(self.address)) == Exit.LOG_FULL:
            self.read_records()
        if self._fields.logged:
            self.read_records()
        if code == Exit.DECIDE:
            t, guard = self._arrays["hit_t"], self._arrays["hit_guard"]
            self.standing = [Crossing(float(t[i]), int(guard[i])) for i in range(self._fields.hits)]
            return ExitReason.AT_EVENT
        return int(code)

    def refresh_parameters(self) -> None:
        """The parameters have other values: what follows from them alone is computed again."""
        for each in self._bound:
            run_prologue(*each)

    def run_alone(self, integration: Integrator) -> bool:
        """A whole run without Python: whether native code has reached its end. Records are given
        up.
        """
        integration.grant(_ATTEMPTS)
        if self._begin(self.address):
            return False
        for _ in range(_LOGS):
            code = self._drive(self.address)
            if code != Exit.LOG_FULL:
                return bool(code == ExitReason.AT_END)
            self._fields.logged = 0
        return False

    # what reads the records; set by the run
    read_records: Callable[[], None]

    def read_log(self) -> TransitionLog:
        """What has happened since the last visit."""
        a, count, self._fields.logged = self._arrays, self._fields.logged, 0

        def table(name: str, columns: int) -> Any:
            return a[name][: count * columns].reshape(count, columns).copy()

        n, k = self._n, self._contacts
        names = ("before", "after", "mode", "impulse", "speed", "rest", "label")
        numbers = (a[f"log_{name}"][:count].copy() for name in ("t", "hit", "energy"))
        tables = (table(f"log_{name}", n if i < 2 else k) for i, name in enumerate(names))
        return TransitionLog._make((*numbers, *tables))

    def flags(self, codes: IndexArray, slack: FloatArray) -> FloatArray:
        """The values of all symbols that a run sets, a row for each change."""
        flags = _FLAGS[codes]
        flags[:, :, -1] = slack
        return flags.reshape(len(codes), -1)

    def set_modes(
        self, modes: Sequence[ContactMode], earlier: Sequence[ContactMode], latest: float
    ) -> None:
        """The modes after a change that was decided by the general laws."""
        self._arrays["modes"][:] = codes_of(modes)
        self._arrays["earlier"][:] = codes_of(earlier) or -1
        self._fields.latest = latest

    def note_impact(self, t: float) -> None:
        """An impact that was decided by the general laws."""
        self._fields.last_impact = t
