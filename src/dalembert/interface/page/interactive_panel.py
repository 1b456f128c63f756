"""The panel "Try it": fields and sliders that run a system again inside the page.

The panel's script builds fields and sliders; the WebAssembly module of the run, the engine that
calls it and the data that it reads (motion, start, what is drawn, what may be changed) come with
it.
"""

from __future__ import annotations

import base64
import zlib
from collections.abc import Mapping, Sequence
from functools import cache
from html import escape
from typing import TYPE_CHECKING, Any, Final

from dalembert.errors import DalembertError
from dalembert.foundation.atomic_write import slug
from dalembert.foundation.deferred_dataclass import dataclass
from dalembert.interface.page.data_blocks import data_block
from dalembert.interface.page.html_elements import asset, shown_name
from dalembert.interface.page.parts.reproduce import as_source, event_text, system_code
from dalembert.interface.page.simulator.contacts import why_contacts_cannot_run
from dalembert.interface.page.simulator.slider_forms import meanings, owners, slider_forms
from dalembert.interface.page.simulator_module import simulator_module
from dalembert.interface.page.typeset_symbols import symbol_html
from dalembert.mechanics.model.system import units_by_name
from dalembert.runtime.simulation.discontinuity_times import has_nonsmooth_inputs
from dalembert.runtime.simulation.events.event import Event
from dalembert.symbolic.algebra.scalar import Scalar

if TYPE_CHECKING:
    from dalembert.interface.page.report_page import ReportData
    from dalembert.interface.page.scene import Scene
    from dalembert.interface.page.simulator_module import SimulatorModule
    from dalembert.mechanics.model.system import System
    from dalembert.runtime.simulation.trajectory import Trajectory

SIMULATOR_SCRIPTS: Final = (
    "initial_conditions.js",
    "events.js",
    "contacts.js",
    "simulator.js",
    "drag_solver.js",
    "push.js",
    "simulation_worker.js",
)
# of runs in the page: half a picture's point is coarser by far
_RTOL: Final = 1e-9
_TIME_DISCONTINUITY: Final = (
    "A load or a prescribed motion jumps in time, where steps must end, so new runs are not "
    "possible in this page. The recorded run is shown; da.simulate runs others."
)
_CONTACTS: Final = (
    "The contacts of this system cannot be simulated in a page: {}. The recorded run is shown; "
    "da.simulate runs others."
)
_CALLBACKS: Final = (
    "This run has inputs that are tables, sampled or Python functions ({}), which cannot be "
    "simulated in the page; use da.simulate in Python. The recorded run is shown."
)
_PANEL: Final = """<div class="trial" id="trial"><h2>Try it</h2>
<div class="knobs"></div>
<p class="status-line" role="status" aria-live="polite">The recorded run; new ones need scripts.</p>
<p class="deeds"><button class="reset" type="button">Back to the recorded run</button> <button
class="csv" type="button">Download this run as CSV</button>
<button class="python" type="button">Copy Python for this run</button>
<button class="pin" type="button">Keep this run in the plots</button></p>
<ul class="pins" aria-label="Runs kept in the plots"></ul>
<datalist id="angle-marks"><option value="-3.14159"></option><option value="-1.5708"></option>
<option value="0"></option><option value="1.5708"></option><option value="3.14159"></option>
</datalist></div>"""
PHASE: Final = """<figure class="plot phase" id="phase"><figcaption>
<span class="title">One over another</span>
<label>across <select aria-label="Quantity across"></select></label>
<label>up <select aria-label="Quantity up"></select></label>
<span class="power"></span></figcaption><div class="area"><div class="field">
<svg viewBox="0 0 10000 3000" preserveAspectRatio="none" aria-hidden="true"></svg>
<i class="dot"></i></div></div></figure>"""


@dataclass(frozen=True)
class InteractiveRequest:
    """A run that may be made again with other numbers: its options, and the lines of Python that
    describe its system.
    """

    run: Trajectory
    duration: float
    start: Mapping[Any, Any]
    values: Mapping[Any, Any]
    inputs: Mapping[Any, Any]
    events: Sequence[Event]
    head: str
    title: str


def interactive_request(study: ReportData) -> InteractiveRequest | None:
    """The run of a report."""
    asked, duration, title = study.request.run, study.request.duration, study.subject.title
    if study.run is None:
        return None
    return InteractiveRequest(
        study.run,
        duration,
        asked.start,
        asked.values,
        asked.inputs,
        asked.events,
        system_code(study),
        title,
    )


def interactive_panel(request: InteractiveRequest | None, drawn: Scene | None) -> tuple[str, str]:
    """The panel, and the blocks of data behind it; a sentence and nothing where a page cannot
    run the system.
    """
    if request is None:
        return "", ""
    why = _why_recorded_only(request.run, request.events)
    if not why:
        try:
            return _PANEL, _data_blocks(request, drawn)
        except DalembertError as problem:
            why = f"New runs are not possible in this page: {problem}. The recorded run is shown."
    return f'<div class="trial"><h2>Try it</h2><p>{escape(why)}</p></div>', ""


def _why_recorded_only(run: Trajectory, events: Sequence[Event]) -> str:
    """Why the page shows only the recorded run; empty where it can simulate."""
    if why := why_contacts_cannot_run(run, events):
        return _CONTACTS.format(why)
    if run.values.callback_inputs:
        return _CALLBACKS.format(", ".join(each.name for each in run.values.callback_inputs))
    return _TIME_DISCONTINUITY if has_nonsmooth_inputs(run.values) else ""


def _data_blocks(request: InteractiveRequest, drawn: Scene | None) -> str:
    """The module with its engine and all that the panel's script reads."""
    module = simulator_module(request.run, request.start, drawn, request.events)
    kinds = _kinds(request.run.system, module)
    data: dict[str, Any] = {
        **module.data,
        **_names(request.run.system, module, kinds),
        **_setting(request, module),
        "constants": _constants(module, kinds),
    }
    code = f'<script type="application/octet-stream" id="module">{module.compressed}</script>'
    return "\n".join([data_block("live", data), engine_block(), code])


def _restitutions(module: SimulatorModule) -> dict[str, str]:
    """{title of an event: the coefficient that may be chosen}"""
    described = module.data["events"]["list"] if module.data["events"] else []
    return {e["title"]: e["restitution"] for e in described if e.get("restitution")}


def _kinds(system: System, module: SimulatorModule) -> dict[str, str]:
    """{name: "constant", "coordinate", …}, coefficients of events included."""
    kinds: dict[str, str] = {s.name: s.kind for s in system.symbols.values()}
    return kinds | dict.fromkeys(_restitutions(module).values(), "event")


def _constants(module: SimulatorModule, kinds: Mapping[str, str]) -> list[dict[str, Any]]:
    """The numbers that the module reads, with the values of the run."""
    used = {name for part in module.data["parts"].values() for name in part["p"]}
    return [
        {"name": name, "value": x, "kind": kinds[name]}
        for name, x in module.data["values"].items()
        if name in kinds and name in used
    ]


def _names(system: System, module: SimulatorModule, kinds: Mapping[str, str]) -> dict[str, Any]:
    """How the numbers of the panel are called, printed, measured and changed."""
    names = [*(f["name"] for f in module.data["starts"]), *kinds]
    tape = system.space.tape
    return {
        "units": units_by_name(system, [*names, *module.data["state"], "t"]),
        "shown": {name: shown_name(system, name) for name in names},
        "typeset": {name: symbol_html(tape, name) for name in names if _is_symbol(name)},
        "forms": slider_forms(system),
        "meanings": meanings(system),
        "owners": owners(system),
    }


def _is_symbol(name: str) -> bool:
    """Whether a name is that of a symbol or its rate; others are words."""
    return name.replace(".dot", "").replace("'", "").isidentifier()


def _setting(request: InteractiveRequest, module: SimulatorModule) -> dict[str, Any]:
    """Duration, tolerance, values and inputs of the run, and the lines of Python that repeat it."""
    inputs = {str(name): x for name, x in request.inputs.items()}
    chosen = _restitutions(module)
    return {
        "duration": request.duration,
        "rtol": _RTOL,
        "given": {str(name): float(x) for name, x in request.values.items()},
        "inputs": {
            name: str(as_source(x))
            for name, x in inputs.items()
            if isinstance(x, Scalar | str) and name not in module.data["values"]
        },
        "head": request.head,
        "happening": [_event_template(e, chosen.get(e.title, "")) for e in request.events],
        "file": f"{slug(request.title)}-try.csv",
    }


def _event_template(e: Event, restitution: str) -> list[str]:
    """An event as Python takes it: what stands before a coefficient that may be chosen, its
    name, and what stands after it.
    """
    before, comma, after = (
        event_text(e).partition(f", {e.restitution!r}") if restitution else (event_text(e), "", "")
    )
    return [before + comma[:2], restitution, after]


@cache
def engine_block() -> str:
    """The scripts of the worker, compressed, as a block of the page."""
    packed = base64.b64encode(zlib.compress(engine_text().encode(), 9)).decode("ascii")
    return f'<script type="application/octet-stream" id="engine">{packed}</script>'


@cache
def engine_text() -> str:
    """What the worker of a page runs."""
    return "\n".join(map(asset, SIMULATOR_SCRIPTS))
