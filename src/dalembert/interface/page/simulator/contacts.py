"""Contacts in a page: the native loop that changes their modes, its functions, and the sizes of its
memory.

The text is that of a run in Python (`runtime.contact.switch_loop_ir`). A page has native code
alone, so it names what a run would leave to Python.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from dalembert.interface.page.simulator.integrator_module import (
    ModuleSection,
    expression_function,
    field_types,
    names,
    recompile_for_wasm,
)
from dalembert.interface.page.time_plots import band_layout
from dalembert.mechanics.equations.equations_of_motion import ExplicitEquations
from dalembert.runtime.contact.contact_model import ContactModel, contact_model
from dalembert.runtime.contact.native_transition import (
    array_sizes,
    has_native_transition,
    structure_of_contacts,
)
from dalembert.runtime.contact.switch_loop_ir import EXPORTS as LOOP_EXPORTS
from dalembert.runtime.contact.switch_loop_ir import module_ir as loop_ir
from dalembert.runtime.contact.transition_fields import FIELDS, FLAGS, Exit
from dalembert.runtime.contact.transition_records import RESTS, TEXTS
from dalembert.runtime.dynamics.compile import select_equations
from dalembert.runtime.ode.event_detection import EVENT_FIELDS
from dalembert.runtime.ode.guard_search import EXPORTS as SEARCH_EXPORTS
from dalembert.runtime.ode.guard_search import GUARD_FIELDS, N_COARSE_STATES
from dalembert.runtime.ode.guard_search import module_ir as search_ir
from dalembert.runtime.simulation.events.event import Event
from dalembert.runtime.simulation.run_options import NATIVE
from dalembert.runtime.simulation.trajectory import Trajectory
from dalembert.runtime.states.evaluator import Evaluator

_LOOP, _SEARCH = "contacts", "falls"


def page_contact_model(run: Trajectory) -> ContactModel | None:
    """The contacts of a run with its values; None without contacts."""
    if not run.system.contacts:
        return None
    _, equations = select_equations(run.system, NATIVE)
    assert isinstance(equations, ExplicitEquations)
    values = run.values
    bindings = {i: x for i, x in values.bindings.items() if i not in values.state_dependent}
    chosen = replace(values, bindings=bindings, state_dependent=frozenset())
    return contact_model(chosen, equations, as_expressions=True)


def why_contacts_cannot_run(run: Trajectory, events: Sequence[Event]) -> str:
    """The contacts that a page cannot simulate; empty where it can."""
    model = page_contact_model(run)
    if model is None:
        return ""
    if events:
        return "events together with contacts are not available in a page"
    if model.equations.loops is not None:
        return f"its contacts have {len(model.equations.rows)} rows that interact, too many here"
    if has_native_transition(model.contacts):
        return ""
    kinds = {
        "friction in a plane": [c.name for c in model.contacts if c.T_across is not None],
        "a guide with two sides": [c.name for c in model.contacts if c.two_sided],
        "friction pressed by a constraint force": [
            c.name for c in model.contacts if c.row is not None
        ],
        "a contact that is switched on and off": [
            c.name for c in model.contacts if c.active is not None
        ],
    }
    reasons = [f"{kind} ({', '.join(of)})" for kind, of in kinds.items() if of]
    return f"it has {' and '.join(reasons)}, whose changes of mode need Python"


def contact_functions(model: ContactModel, evaluator: Evaluator) -> ModuleSection:
    """A, b, H, v and the data of contacts, the guards of their modes, their coefficients of
    restitution, and the loop.
    """
    tape, compiled = model.values.kin.tape, model.compiled
    state = (*evaluator.kin.state, evaluator.time)
    e = [evaluator.in_state(evaluator.node(c.restitution)) for c in model.contacts]
    functions = {
        "quantities": compiled.quantities,
        "guards": compiled.guards,
        "free_guards": compiled.free,
    }
    parts = (
        *(
            recompile_for_wasm(name, f.function, names(tape, f.parameters))
            for name, f in functions.items()
        ),
        expression_function("restitutions", evaluator.tape, e, state),
    )
    texts = ((_LOOP, loop_ir()), (_SEARCH, search_ir()))
    exports = (
        *(f"{_LOOP}.{name}" for name in LOOP_EXPORTS),
        *(f"{_SEARCH}.{name}" for name in SEARCH_EXPORTS),
    )
    return ModuleSection(parts, _contact_data(model), texts, exports)


def _contact_data(model: ContactModel) -> dict[str, Any]:
    """Names, structures and sizes of memory for the engine of a page."""
    numbers, arrays = structure_of_contacts(model)
    return {
        "names": [c.name for c in model.contacts],
        "bands": band_layout(),
        "texts": list(TEXTS),
        "rests": RESTS,
        "exits": {code.name: int(code) for code in Exit},
        "fields": {
            "transition": field_types(FIELDS),
            "guards": field_types(GUARD_FIELDS),
            "monitor": field_types(EVENT_FIELDS),
        },
        "coarse_states": N_COARSE_STATES,
        "numbers": numbers,
        "arrays": arrays,
        "room": {
            name: size
            for sizes in array_sizes(model)
            for key, size in sizes.items()
            for name in key.split()
        },
        # the symbols that a mode sets, each with its contact and its flag
        "flags": {
            name: [k // FLAGS, k % FLAGS]
            for k, name in enumerate(names(model.values.kin.tape, model.mode_symbols))
        },
    }
