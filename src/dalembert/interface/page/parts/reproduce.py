"""The run again: versions, parameters, the command and the Python that make a page, and the panel
"Try it" that runs it in the page.

The panel's script builds fields and sliders; the WebAssembly module of the run, the engine that
calls it and the data that it reads (motion, start, what is drawn, what may be changed) come with
it.
"""

from __future__ import annotations

import base64
import platform
import re
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import field
from functools import cache
from html import escape
from importlib.metadata import PackageNotFoundError, version
from shlex import quote
from typing import TYPE_CHECKING, Any, Final

from dalembert.errors import DalembertError
from dalembert.foundation.atomic_write import slug
from dalembert.foundation.deferred_dataclass import dataclass
from dalembert.interface.page.data_blocks import data_block
from dalembert.interface.page.html_elements import (
    asset,
    demote_headings,
    section,
    shown_name,
    table,
)
from dalembert.interface.page.public_path import public_path
from dalembert.interface.page.simulator.contacts import (
    contact_functions,
    page_contact_model,
    why_contacts_cannot_run,
)
from dalembert.interface.page.simulator.events import event_functions
from dalembert.interface.page.simulator.initial_conditions import initial_condition_functions
from dalembert.interface.page.simulator.integrator_module import ModuleSection, integrator_section
from dalembert.interface.page.simulator.outputs import (
    bar_endpoints,
    outputs,
    physical_properties,
    reaction_functions,
)
from dalembert.interface.page.simulator.slider_forms import limits, meanings, owners, slider_forms
from dalembert.interface.page.simulator.tables import knots_name, table_data, table_span
from dalembert.interface.report import system_report
from dalembert.interface.report.formula_writer import FormulaWriter
from dalembert.interface.report.renderers import HTML
from dalembert.mechanics.model.system import units_by_name
from dalembert.runtime.numerics import wasm
from dalembert.runtime.numerics.jit import merge_modules
from dalembert.runtime.simulation.discontinuity_times import has_nonsmooth_inputs
from dalembert.runtime.simulation.events.event import Event, EventAction
from dalembert.runtime.states.evaluator import Evaluator
from dalembert.symbolic.algebra.printing import source
from dalembert.symbolic.algebra.printing.mathml import math
from dalembert.symbolic.algebra.scalar import Scalar

if TYPE_CHECKING:
    from dalembert.interface.page.report_page import ReportData, ReportRequest
    from dalembert.interface.page.scene import Scene
    from dalembert.runtime.simulation.trajectory import Trajectory


_PACKAGES = ("dalembert", "numpy", "llvmlite", "python-flint")


def reproduction(study: ReportData) -> str:
    """The last part."""
    made_with = table((), [(escape(a), escape(b)) for a, b in versions(study)])
    data = (
        '<p><button class="download" type="button">Download the motion as CSV</button></p>'
        if study.run is not None
        else ""
    )
    asked = (
        f"<h3>Command</h3><pre><code>{escape(shell_command(study.request))}</code></pre>"
        if study.request.name
        else ""
    )
    python = f"<h3>Python</h3><pre><code>{escape(python_program(study))}</code></pre>"
    works = demote_headings(
        HTML.text(
            system_report.sources(
                public_path(study.subject.source), *(d.principle.source for d in study.derivations)
            )
        )
    )
    left = f"<div><h3>Versions, values and tolerances</h3>{made_with}{data}</div>"
    return section(
        "reproduction",
        "How to make this page again",
        f'<div class="columns">{left}<div>{asked}{python}</div></div>',
        works,
    )


def shell_command(request: ReportRequest) -> str:
    """As a shell takes it."""
    words = [request.name, *request.options]
    return " ".join(["dalembert report", *(quote(public_path(word)) for word in words)])


def python_program(study: ReportData) -> str:
    """As Python takes it."""
    request = study.request
    lines = [system_code(study)]
    given = {
        "start": request.run.start,
        "values": request.run.values,
        "inputs": {name: as_source(x) for name, x in request.run.inputs.items()},
    }
    extra = "".join(f", {name}={dict(x)!r}" for name, x in given.items() if x)
    happening = (
        f", events=[{', '.join(map(event_text, request.run.events))}]" if request.run.events else ""
    )
    lines += [
        (
            f"run = da.simulate(s, {request.duration!r}{extra}{happening}, "
            f"rtol={request.run.rtol!r}, "
            f"atol={request.run.atol!r})"
        ),
        "print(da.agreement(s))",
        "print(run)",
        'da.write_report(s, "report.html", duration=' + f"{request.duration!r}{extra}{happening})",
    ]
    return "\n".join(lines)


def system_code(study: ReportData) -> str:
    """The lines that describe the system."""
    name, lines = public_path(study.request.name), ["import dalembert as da"]
    path, colon, function = name.rpartition(":")
    if colon and path:
        lines += ["import runpy", "", f"s = runpy.run_path({path!r})[{function!r}]()"]
    elif name.lower().endswith((".toml", ".json", ".urdf", ".xml", ".mjcf")):
        typed = study.request.options
        drawn = (", meshes=True" if "--meshes" in typed else "") + (
            f", root={public_path(typed[typed.index('--root') + 1])!r}" if "--root" in typed else ""
        )
        lines += ["", f"s = da.load({name!r}{drawn})"]
    elif name:
        lines += ["from dalembert import gallery", "", f"s = gallery.build({name!r})"]
    else:
        lines += ["", f"s = ...  # {study.system.name!r}, as it was described"]
    return "\n".join(lines)


def versions(study: ReportData) -> list[tuple[str, str]]:
    """Packages, values of the constants, tolerances."""
    request = study.request
    entries = [(name, _version(name)) for name in _PACKAGES]
    entries.append(
        ("Python", f"{platform.python_version()} on {platform.system()} {platform.machine()}")
    )
    entries += [
        (s.name, _value(request.run.values, s.name, s.value))
        for s in study.system.symbols.values()
        if s.kind == "constant"
    ]
    entries += [(name, str(as_source(x))) for name, x in request.run.inputs.items()]
    entries += [
        ("duration", f"{request.duration:g}"),
        ("rtol", f"{request.run.rtol:g}"),
        ("atol", f"{request.run.atol:g}"),
    ]
    return entries


def as_source(x: Any) -> Any:
    """An input as it can be given again: text that `s.expression` reads for an expression,
    anything else as it is.
    """
    return source(x) if isinstance(x, Scalar) else x


def event_text(e: Event) -> str:
    """An event as Python takes it."""
    what, name = repr(str(as_source(e.expression))), f", name={e.name!r}" if e.name else ""
    if e.action is EventAction.IMPACT:
        return f"da.impact({what}, {as_source(e.restitution)!r}{name})"
    changes = {str(key): as_source(x) for key, x in e.changes.items()}
    how = (f", direction={e.direction!r}" if e.direction != "any" else "") + ", stop=True" * (
        e.action is EventAction.STOP
    )
    supports = "".join(f", {k}={list(x)!r}" for k, x in (("add", e.add), ("drop", e.drop)) if x)
    return f"da.event({what}{how}{f', reset={changes!r}' if changes else ''}{supports}{name})"


def _value(given: Mapping[str, float], name: str, declared: Any) -> str:
    value = given.get(name, declared)
    return "no value" if value is None else f"{float(value):.12g}"


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "not installed as a package"


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
    module = simulator_module(request.run, request.start, drawn, request.events)
    known, system = module.data["values"], request.run.system
    kinds: dict[str, str] = {s.name: s.kind for s in system.symbols.values()}
    described = module.data["events"]["list"] if module.data["events"] else []
    chosen = {e["title"]: e["restitution"] for e in described if e.get("restitution")}
    kinds |= dict.fromkeys(chosen.values(), "event")
    used = {name for part in module.data["parts"].values() for name in part["p"]}
    inputs = {str(name): x for name, x in request.inputs.items()}
    data: dict[str, Any] = {
        **module.data,
        "constants": [
            {"name": n, "value": x, "kind": kinds[n]}
            for n, x in known.items()
            if n in kinds and n in used
        ],
        "units": units_by_name(
            system,
            [*(f["name"] for f in module.data["starts"]), *kinds, *module.data["state"], "t"],
        ),
        "shown": {
            name: shown_name(system, name)
            for name in [*(f["name"] for f in module.data["starts"]), *kinds]
        },
        "typeset": {
            name: symbol_html(request.run, name)
            for name in [*(f["name"] for f in module.data["starts"]), *kinds]
        },
        "forms": slider_forms(system),
        "meanings": meanings(system),
        "owners": owners(system),
        "duration": request.duration,
        "rtol": _RTOL,
        "given": {str(name): float(x) for name, x in request.values.items()},
        "inputs": {
            name: str(as_source(x))
            for name, x in inputs.items()
            if isinstance(x, Scalar | str) and name not in known
        },
        "head": request.head,
        "happening": [_event_template(e, chosen.get(e.title, "")) for e in request.events],
        "file": f"{slug(request.title)}-try.csv",
    }
    code = f'<script type="application/octet-stream" id="module">{module.compressed}</script>'
    return "\n".join([data_block("live", data), engine_block(), code])


def symbol_html(run: Trajectory, name: str) -> str:
    """A symbol as the equations print it."""
    writer = FormulaWriter().on(run.kinematics.tape)
    shown = math(writer.symbol(name.replace(".dot", "'")).tree)
    extra = r"</?semantics>|<annotation.*?</annotation>| xmlns=\"[^\"]*\""
    return re.sub(extra, "", shown, flags=re.DOTALL)


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
    setting = run.values
    evaluator = Evaluator(setting.kin, setting.numbers, setting.bindings)
    contacts = page_contact_model(run)
    changed = any(e.action in (EventAction.RESET, EventAction.IMPACT) for e in events)
    integrator, (initial_section, fields) = (
        integrator_section(
            run,
            changed_by_events=changed or contacts is not None,
            contacts=None if contacts is None else contacts.compiled.native,
        ),
        initial_condition_functions(run, evaluator, start),
    )
    contact_section = (
        ModuleSection() if contacts is None else contact_functions(contacts, evaluator)
    )
    event_section = event_functions(evaluator, events) if events else ModuleSection()
    seen, places = outputs(run, drawn, evaluator)
    properties_function, laws = physical_properties(run, drawn, evaluator)
    reaction_section = reaction_functions(run, evaluator)
    parts = (
        *integrator.parts,
        *initial_section.parts,
        *event_section.parts,
        *contact_section.parts,
        *reaction_section.parts,
        seen,
        properties_function,
    )
    text = merge_modules(
        [
            *integrator.texts,
            *initial_section.texts,
            *event_section.texts,
            *contact_section.texts,
            *(("", part.text) for part in parts),
        ]
    )
    exports = [
        *integrator.exports,
        *initial_section.exports,
        *event_section.exports,
        *contact_section.exports,
        *(name for part in parts for name in (part.name, f"{part.name}.prologue")),
    ]
    tape = setting.kin.tape
    # coefficients that were given as numbers, by the names they have in a page
    restitutions = {
        e["restitution"]: e["value"]
        for e in event_section.data.get("list", ())
        if e.get("restitution")
    }
    data = {
        **integrator.data,
        "parts": {part.name: part.data for part in parts},
        "values": {str(tape.nodes[i][1]): x for i, x in setting.numbers.items()} | restitutions,
        "state": list(run.names),
        "start": initial_section.data,
        "starts": [vars(f) for f in fields],
        "outputs": places,
        "limits": limits(run.residuals, places.pop("entry_names")),
        "laws": laws,
        "events": event_section.data or None,
        "contacts": contact_section.data or None,
        "reactions": reaction_section.data or None,
        "tables": table_data(setting.table_inputs),
        "knots": [knots_name(each) for each in setting.table_inputs],
        "spans": [table_span(each) for each in setting.table_inputs if table_span(each)],
        "bars": [] if drawn is None else [bar_endpoints(b, drawn) for b in drawn.bodies],
    }
    return SimulatorModule(wasm.wasm_module(text, exports, optimize=0), data)
