"""The panel "Try it": where its script builds fields and sliders, and the module, the engine and the data that it runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from html import escape
from importlib import resources
from typing import TYPE_CHECKING, Any, Final

from dalembert.algebra.scalar import Scalar
from dalembert.errors import DalembertError
from dalembert.model.system import units_by_name
from dalembert.page.embedding import script
from dalembert.page.parts.reproduction import event_text, head, written
from dalembert.page.parts.words import shown_name
from dalembert.page.study import Study
from dalembert.simulation.events.event import Event
from dalembert.simulation.jump_times import bends_in_time
from dalembert.simulation.plotting.plot import file_name

if TYPE_CHECKING:
    from dalembert.page.scene import Scene
    from dalembert.simulation.trajectory import Trajectory

ENGINE: Final = ("algebra.js", "beginning.js", "happenings.js", "engine.js", "worker.js")
# of runs in the page: half a picture's point is coarser by far
_RTOL: Final = 1e-9
_BENDS: Final = (
    "New runs are not made here: a load or a specified motion jumps in time, where steps must end. The recorded run is shown; "
    "da.simulate runs others."
)
_CONTACTS: Final = (
    "New runs are not made here: what sticks, slips, lifts or lands is decided while a run goes on, which native code called from Python "
    "does and this page does not. The recorded run is shown; da.simulate runs others."
)
_PANEL: Final = """<div class="trial" id="trial"><h3>Try it</h3>
<div class="knobs"></div>
<p class="said" role="status" aria-live="polite">The recorded run; new ones need scripts.</p>
<p class="deeds"><button class="reset" type="button">Back to the recorded run</button>
<button class="csv" type="button">Download this run as CSV</button>
<button class="python" type="button">Copy Python for this run</button></p></div>"""
PHASE: Final = """<figure class="plot phase" id="phase"><figcaption><span class="title">One over another</span>
<label>across <select aria-label="Quantity across"></select></label><label>up <select aria-label="Quantity up"></select></label>
<span class="power"></span></figcaption><div class="area"><div class="field">
<svg viewBox="0 0 10000 3000" preserveAspectRatio="none" aria-hidden="true"></svg><i class="dot"></i></div></div></figure>"""


@dataclass(frozen=True)
class TrialRequest:
    """A run that may be made again with other numbers: what it was asked for, and the lines of Python that describe its system."""

    run: Trajectory
    duration: float
    start: Mapping[Any, Any]
    values: Mapping[Any, Any]
    inputs: Mapping[Any, Any]
    events: Sequence[Event]
    head: str
    title: str


def of_study(study: Study) -> TrialRequest | None:
    """The run of a report."""
    asked, duration, title = study.request.run, study.request.duration, study.subject.title
    if study.run is None:
        return None
    return TrialRequest(study.run, duration, asked.start, asked.values, asked.inputs, asked.events, head(study), title)


def trial(request: TrialRequest | None, drawn: Scene | None) -> tuple[str, str]:
    """The panel, and the blocks of data behind it; a sentence and nothing where a page cannot run the system."""
    if request is None:
        return "", ""
    contacts = request.run.system.contacts
    why = _CONTACTS if contacts else _BENDS if bends_in_time(request.run.values) else ""
    if not why:
        try:
            return _PANEL, _blocks(request, drawn)
        except DalembertError as problem:
            why = f"New runs are not made here: {problem}. The recorded run is shown."
    return f'<div class="trial"><h3>Try it</h3><p>{escape(why)}</p></div>', ""


def _blocks(request: TrialRequest, drawn: Scene | None) -> str:
    from dalembert.page.live.module import live_module

    module = live_module(request.run, request.start, drawn, request.events)
    known, system = module.data["values"], request.run.system
    kinds: dict[str, str] = {s.name: s.kind for s in system.symbols.values()}
    described = module.data["events"]["list"] if module.data["events"] else []
    chosen = {e["title"]: e["restitution"] for e in described if e.get("restitution")}
    kinds |= dict.fromkeys(chosen.values(), "event")
    used = {name for part in module.data["parts"].values() for name in part["p"]}
    inputs = {str(name): x for name, x in request.inputs.items()}
    data: dict[str, Any] = {
        **module.data,
        "constants": [{"name": n, "value": x, "kind": kinds[n]} for n, x in known.items() if n in kinds and n in used],
        "units": units_by_name(system, [*(f["name"] for f in module.data["starts"]), *kinds, *module.data["state"], "t"]),
        "shown": {name: shown_name(system, name) for name in [*(f["name"] for f in module.data["starts"]), *kinds]},
        "duration": request.duration,
        "rtol": _RTOL,
        "given": {str(name): float(x) for name, x in request.values.items()},
        "inputs": {name: str(written(x)) for name, x in inputs.items() if isinstance(x, Scalar | str) and name not in known},
        "head": request.head,
        "happening": [_event(e, chosen.get(e.title, "")) for e in request.events],
        "file": f"{file_name(request.title)}-try.csv",
    }
    engine = f'<script type="text/plain" id="engine">{engine_text()}</script>'
    code = f'<script type="application/octet-stream" id="module">{module.packed}</script>'
    return "\n".join([script("live", data), engine, code])


def _event(e: Event, restitution: str) -> list[str]:
    """An event as Python takes it: what stands before a coefficient that may be chosen, its name, and what stands after it."""
    before, comma, after = event_text(e).partition(f", {e.restitution!r}") if restitution else (event_text(e), "", "")
    return [before + comma[:2], restitution, after]


@cache
def engine_text() -> str:
    """What the worker of a page runs."""
    folder = resources.files("dalembert.page").joinpath("assets")
    return "\n".join(folder.joinpath(name).read_text(encoding="utf-8") for name in ENGINE)
