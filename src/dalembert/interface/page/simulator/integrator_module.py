"""y = f(x, p) for a page: functions in LLVM text, with the names of the numbers that each of them
takes, and those of a run.

(q̇, u̇), projection and quadratures are functions of the module, with the loop that calls them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import field
from typing import Any, Final

from dalembert.analysis.integrals.run_integrals import (
    PROJECTION_JUMPS,
    Z,
    cached_energies,
    generalized_work_name,
    quadratures,
    transport_work_name,
)
from dalembert.foundation.deferred_dataclass import dataclass
from dalembert.mechanics.kinematics.system_kinematics import Kinematics
from dalembert.runtime.dynamics.compile import select_equations
from dalembert.runtime.numerics import emit
from dalembert.runtime.numerics.compiled_function import CompiledFunction, NativeSource
from dalembert.runtime.numerics.jit import WASM32
from dalembert.runtime.numerics.llvm_types import POINTER
from dalembert.runtime.ode.constrained.saddle_solver_ir import module_ir as solver_text
from dalembert.runtime.ode.constrained.workspace_fields import WORKSPACE_FIELDS as ROW_FIELDS
from dalembert.runtime.ode.integrator_state import ROWS, WorkRow
from dalembert.runtime.ode.integrator_state import STATE_FIELDS as RUN_FIELDS
from dalembert.runtime.ode.step_size_control import loop_ir
from dalembert.runtime.simulation.context import FIELDS as CONTEXT_FIELDS
from dalembert.runtime.simulation.context_ir import context_ir
from dalembert.runtime.simulation.energy_audit import EVENT_LOSS, Audit, native_audit
from dalembert.runtime.simulation.model import Accelerations, NativeModel, native_model
from dalembert.runtime.simulation.run_options import NATIVE
from dalembert.runtime.simulation.trajectory import Trajectory
from dalembert.symbolic.algebra.expression_graph import symbols_of
from dalembert.symbolic.algebra.tape import Tape


@dataclass(frozen=True)
class ModuleFunction:
    """One function of the module: its name and text, the names of its parameters, the sizes of
    its result and its work.
    """

    name: str
    text: str = field(repr=False)
    parameters: tuple[str, ...]
    n_out: int
    work: int

    @property
    def data(self) -> dict[str, Any]:
        """What the engine of the page must know to call it."""
        return {"p": list(self.parameters), "out": self.n_out, "work": self.work}


@dataclass(frozen=True)
class ModuleSection:
    """Functions of the module that belong together, what its engine must know about them, and
    native text with the names it exports.
    """

    parts: tuple[ModuleFunction, ...] = ()
    # nothing where the run has no such thing
    data: dict[str, Any] = field(default_factory=dict)
    texts: tuple[tuple[str, str], ...] = ()
    exports: tuple[str, ...] = ()


def expression_function(
    name: str, tape: Tape, outs: Sequence[int], state: Sequence[int]
) -> ModuleFunction:
    """Nodes of a tape as a function of the state; every other symbol is a parameter."""
    inside = set(state)
    parameters = tuple(i for i in symbols_of(tape, outs) if i not in inside)
    text = emit.emit(tape.nodes, outs, state, parameters, name=name, target=WASM32)
    return ModuleFunction(name, text.ir, names(tape, parameters), len(outs), text.work_size)


def recompile_for_wasm(
    name: str, function: CompiledFunction | NativeSource, parameters: tuple[str, ...]
) -> ModuleFunction:
    """What was compiled for this machine, written for a page."""
    text, work = function.ir_for(WASM32, name)
    return ModuleFunction(name, text, parameters, function.n_out, work)


def names(tape: Tape, symbols: Sequence[int]) -> tuple[str, ...]:
    """The names of symbols."""
    return tuple(str(tape.nodes[i][1]) for i in symbols)


def field_types(fields: Sequence[tuple[str, str]]) -> list[list[str]]:
    """Each field of a structure with the letter of its kind: a number, or an address or whole
    number.
    """
    return [
        [name, "f" if kind == "double" else "p" if kind == POINTER else "i"]
        for name, kind in fields
    ]


# ---- a run -----------------------------------------------------------------------------------

_LOOP: Final = ("start", "advance", "rhs", "rhs_without_time", "project", "interpolate")
_ROWS: Final = ("rates", "project", "choose_rows")
_ROWS_PREFIX: Final = "rows"
_STRUCTURES: Final = {"run": RUN_FIELDS, "context": CONTEXT_FIELDS, "rows": ROW_FIELDS}


def integrator_section(
    run: Trajectory, *, changed_by_events: bool = False, contacts: NativeModel | None = None
) -> ModuleSection:
    """Everything that the native run of a trajectory was made of; what events take out of K₂ + 𝒰 is
    integrated alongside if they change states. Rates with `contacts` are those of all modes.
    """
    setting = run.values
    kin, equations = select_equations(run.system, NATIVE)
    model = contacts or native_model(setting, equations)
    given = names(model.tape, model.parameters)
    texts, exports = [("", loop_ir()), ("", context_ir())], list(_LOOP)
    parts: list[ModuleFunction] = []
    data = _run_layout(setting.kin, autonomous=model.autonomous)
    # as many rows as the recorded run kept
    recorded = run.accelerations if isinstance(run.accelerations, Accelerations) else model
    rank = recorded.rates.max_rank
    parts += [
        recompile_for_wasm(name, function, given)
        for name, function in model.rates_alone.functions(rank).items()
    ]
    data["rows"] = model.rates.solver_data(rank)
    if data["rows"] is not None:
        texts.append((_ROWS_PREFIX, solver_text()))
        exports += [f"{_ROWS_PREFIX}.{name}" for name in _ROWS]
    elif model.projection is not None:
        parts.append(recompile_for_wasm("projection", model.projection, given))
    if run.energy_audit is not None:
        integrated = quadratures(kin)
        audit = native_audit(
            setting, integrated.with_event_loss() if changed_by_events else integrated
        )
        parts += _audit_functions(audit)
        data["audit"] = _audit_layout(audit, cached_energies(kin).powers)
    return ModuleSection(tuple(parts), data, tuple(texts), tuple(exports))


def _run_layout(kin: Kinematics, *, autonomous: bool) -> dict[str, Any]:
    """The sizes of a state, and the structures of native code."""
    return {
        # first-order states stand behind the coordinates
        "n_q": kin.speed_offset,
        "n_u": kin.n_u,
        "autonomous": autonomous,
        "rows": None,
        "fields": {name: field_types(fields) for name, fields in _STRUCTURES.items()},
        "work": {"rows": ROWS, **{row.name.lower(): int(row) for row in WorkRow}},
    }


def _audit_functions(audit: Audit) -> list[ModuleFunction]:
    """The energies, and the rates of the quadratures where there are any."""
    watched = names(audit.tape, audit.parameters)
    energy = NativeSource.from_tape(audit.tape, audit.energies, audit.state, audit.parameters)
    parts = [recompile_for_wasm("energy", energy, watched)]
    if audit.rates is not None:
        parts.append(recompile_for_wasm("audit", audit.rates, watched))
    return parts


def _audit_layout(audit: Audit, loads: Iterable[str]) -> dict[str, Any]:
    """The positions of the quadratures."""
    place = {name: k for k, name in enumerate(audit.names)}
    works = [
        [
            place[name]
            for name in (generalized_work_name(load), transport_work_name(load))
            if name in place
        ]
        for load in loads
    ]
    return {
        "count": len(audit.names),
        "Z": place.get(Z, -1),
        "jump": place.get(PROJECTION_JUMPS, -1),
        "taken": place.get(EVENT_LOSS, -1),
        "autonomous": audit.autonomous,
        "multipliers": audit.takes_multipliers,
        "works": works,
    }
