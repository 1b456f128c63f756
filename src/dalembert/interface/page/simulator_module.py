"""M u̇ = f in WebAssembly: a run as a module that the page's engine runs again with other numbers,
and the data that the engine reads.
"""

from __future__ import annotations

import base64
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import TYPE_CHECKING, Any

from dalembert.foundation.deferred_dataclass import dataclass
from dalembert.interface.page.simulator.contacts import contact_functions, page_contact_model
from dalembert.interface.page.simulator.events import event_functions
from dalembert.interface.page.simulator.initial_conditions import initial_condition_functions
from dalembert.interface.page.simulator.integrator_module import ModuleSection, integrator_section
from dalembert.interface.page.simulator.outputs import (
    bar_endpoints,
    outputs,
    physical_properties,
    reaction_functions,
)
from dalembert.interface.page.simulator.slider_forms import limits
from dalembert.interface.page.simulator.tables import knots_name, table_data, table_span
from dalembert.runtime.numerics import wasm
from dalembert.runtime.numerics.jit import merge_modules
from dalembert.runtime.simulation.events.event import Event, EventAction
from dalembert.runtime.states.evaluator import Evaluator

if TYPE_CHECKING:
    from dalembert.interface.page.scene import Scene
    from dalembert.interface.page.simulator.initial_conditions import InitialValueField
    from dalembert.runtime.simulation.trajectory import Trajectory


@dataclass(frozen=True)
class SimulatorModule:
    """The module as bytes, and the data of its engine."""

    code: bytes = field(repr=False)
    data: dict[str, Any] = field(repr=False)

    @property
    def compressed(self) -> str:
        """Compressed, as text."""
        return base64.b64encode(zlib.compress(self.code, 9)).decode("ascii")


def simulator_module(
    run: Trajectory, start: Mapping[Any, Any], drawn: Scene | None, events: Sequence[Event] = ()
) -> SimulatorModule:
    """The run of a trajectory that began from `start` and watched for `events`, ready to be run
    again with other numbers.
    """
    sections, fields = _sections(run, start, drawn, events)
    data = {
        **sections["integrator"].data,
        "parts": {part.name: part.data for each in sections.values() for part in each.parts},
        "values": _values(run, sections["events"]),
        "state": list(run.names),
        "start": sections["start"].data,
        "starts": [vars(f) for f in fields],
        **sections["picture"].data,
        **{name: sections[name].data or None for name in ("events", "contacts", "reactions")},
        **_input_tables(run),
        "bars": [] if drawn is None else [bar_endpoints(b, drawn) for b in drawn.bodies],
    }
    return SimulatorModule(_link(list(sections.values())), data)


def _sections(
    run: Trajectory, start: Mapping[Any, Any], drawn: Scene | None, events: Sequence[Event]
) -> tuple[dict[str, ModuleSection], tuple[InitialValueField, ...]]:
    """All functions of the module by what they are for, in the order of linking, and the initial
    values that may be chosen.
    """
    setting = run.values
    evaluator = Evaluator(setting.kin, setting.numbers, setting.bindings)
    contacts = page_contact_model(run)
    changed = any(e.action in (EventAction.RESET, EventAction.IMPACT) for e in events)
    integrator = integrator_section(
        run,
        changed_by_events=changed or contacts is not None,
        contacts=None if contacts is None else contacts.compiled.native,
    )
    initial, fields = initial_condition_functions(run, evaluator, start)
    nothing = ModuleSection()
    touching = nothing if contacts is None else contact_functions(contacts, evaluator)
    happening = event_functions(evaluator, events) if events else nothing
    picture = _picture(run, drawn, evaluator)
    return {
        "integrator": integrator,
        "start": initial,
        "events": happening,
        "contacts": touching,
        "reactions": reaction_functions(run, evaluator),
        "picture": picture,
    }, fields


def _picture(run: Trajectory, drawn: Scene | None, evaluator: Evaluator) -> ModuleSection:
    """What is drawn and plotted, the masses and sizes of bodies, and what is judged."""
    shown, places = outputs(run, drawn, evaluator)
    properties, laws = physical_properties(run, drawn, evaluator)
    judged = limits(run.residuals, places.pop("entry_names"))
    data = {"outputs": places, "limits": judged, "laws": laws}
    return ModuleSection((shown, properties), data)


def _link(sections: Sequence[ModuleSection]) -> bytes:
    """One WebAssembly module of all functions."""
    parts = [part for each in sections for part in each.parts]
    texts = [text for each in sections for text in each.texts]
    exports = [name for each in sections for name in each.exports]
    exports += [name for part in parts for name in (part.name, f"{part.name}.prologue")]
    merged = merge_modules([*texts, *(("", part.text) for part in parts)])
    return wasm.wasm_module(merged, exports, optimize=0)


def _values(run: Trajectory, events: ModuleSection) -> dict[str, float]:
    """Constants by name, and coefficients of restitution that were given as numbers by the names
    they have in a page.
    """
    tape = run.values.kin.tape
    numbers = {str(tape.nodes[i][1]): x for i, x in run.values.numbers.items()}
    return numbers | {
        e["restitution"]: e["value"] for e in events.data.get("list", ()) if e.get("restitution")
    }


def _input_tables(run: Trajectory) -> dict[str, Any]:
    """Inputs that are tables: their numbers, the names of their knots, and their spans."""
    inputs = run.values.table_inputs
    return {
        "tables": table_data(inputs),
        "knots": [knots_name(each) for each in inputs],
        "spans": [table_span(each) for each in inputs if table_span(each)],
    }
