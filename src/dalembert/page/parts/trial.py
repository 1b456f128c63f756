"""The panel "Try it": where its script builds fields and sliders, and the module, the engine and the data that it runs."""

from __future__ import annotations

from functools import cache
from html import escape
from importlib import resources
from typing import TYPE_CHECKING, Any, Final

from dalembert.algebra.scalar import Scalar
from dalembert.errors import DalembertError
from dalembert.page.embedding import script
from dalembert.page.parts.reproduction import head, written
from dalembert.page.study import Study
from dalembert.simulation.jump_times import bends_in_time
from dalembert.simulation.plotting.plot import file_name

if TYPE_CHECKING:
    from dalembert.page.scene import Scene

ENGINE: Final = ("algebra.js", "beginning.js", "engine.js", "worker.js")
# of runs in the page: half a picture's point is coarser by far
_RTOL: Final = 1e-9
_EVENTS: Final = "New runs are not made here: this run has events, which only Python follows. The recorded run is shown."
_BENDS: Final = (
    "New runs are not made here: a load or a specified motion jumps in time, where steps must end. The recorded run is shown; "
    "da.simulate runs others."
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


def trial(study: Study, drawn: Scene | None) -> tuple[str, str]:
    """The panel, and the blocks of data behind it; a sentence and nothing where a page cannot run the system."""
    why = _refusal(study)
    if not why:
        try:
            return _PANEL, _blocks(study, drawn)
        except DalembertError as problem:
            why = f"New runs are not made here: {problem}. The recorded run is shown."
    return f'<div class="trial"><h3>Try it</h3><p>{escape(why)}</p></div>', ""


def _refusal(study: Study) -> str:
    run = study.run
    assert run is not None
    if study.request.run.events:
        return _EVENTS
    return _BENDS if bends_in_time(run.values) else ""


def _blocks(study: Study, drawn: Scene | None) -> str:
    from dalembert.page.live.module import live_module

    run, asked = study.run, study.request.run
    assert run is not None
    module = live_module(run, asked.start, drawn)
    known = module.data["values"]
    kinds = {s.name: s.kind for s in study.system.symbols.values()}
    used = {name for part in module.data["parts"].values() for name in part["p"]}
    data: dict[str, Any] = {
        **module.data,
        "constants": [{"name": n, "value": x, "kind": kinds[n]} for n, x in known.items() if n in kinds and n in used],
        "duration": study.request.duration,
        "rtol": _RTOL,
        "given": {str(name): float(x) for name, x in asked.values.items()},
        "inputs": {name: str(written(x)) for name, x in asked.inputs.items() if isinstance(x, Scalar | str) and name not in known},
        "head": head(study),
        "file": f"{file_name(study.subject.title)}-try.csv",
    }
    engine = f'<script type="text/plain" id="engine">{engine_text()}</script>'
    code = f'<script type="application/octet-stream" id="module">{module.packed}</script>'
    return "\n".join([script("live", data), engine, code])


@cache
def engine_text() -> str:
    """What the worker of a page runs."""
    folder = resources.files("dalembert.page").joinpath("assets")
    return "\n".join(folder.joinpath(name).read_text(encoding="utf-8") for name in ENGINE)
