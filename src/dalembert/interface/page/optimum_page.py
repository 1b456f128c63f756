"""One page of an optimal motion: animation, states and inputs with bounds and replay, and the
audit.
"""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

import numpy as np

from dalembert.interface.page.data_blocks import data_block, scene_data
from dalembert.interface.page.html_elements import html_document
from dalembert.interface.page.parts.motion import arrow_legend, player
from dalembert.interface.page.scene import build_scene, sample_frames
from dalembert.interface.page.svg_drawing import draw_scene, svg
from dalembert.interface.page.time_plots import Plots
from dalembert.runtime.simulation.plotting.chart import Curve, Panel

if TYPE_CHECKING:
    from dalembert.analysis.optimal.audit import PhaseAudit
    from dalembert.analysis.optimal.optimum import OptimalPhase, Optimum


def optimum_document(optimum: Optimum) -> str:
    """The HTML text; of several phases each has its plots, and the first is animated."""
    phase = optimum.phases[0]
    run = phase.motion
    name, drawn = run.system.name, build_scene(sample_frames(run))
    plots = Plots.of_run(run)
    still = svg(draw_scene(drawn, 0, 900, 460), f"{name} at the start")
    panels = [
        panel
        for p, audit in zip(optimum.phases, optimum.audit.phases, strict=True)
        for panel in _panels(p, audit)
    ]
    body = (
        f"<h1>{escape(name)}: optimal motion</h1>"
        f"{player(still, plots, arrow_legend(drawn, run.system))}"
        f"{plots.grid(panels)}<h2>Audit</h2><pre>{escape(str(optimum))}</pre>"
    )
    data = f"{data_block('plots', plots.json_data())}{data_block('scene', scene_data(drawn))}"
    return html_document(name, f'<main style="padding-top:1rem">{body}</main>{data}')


def _panels(phase: OptimalPhase, audit: PhaseAudit) -> list[Panel]:
    """Coordinates, first-order states and inputs: optimum, replay and bounds."""
    functions, panels = phase.answer.functions, []
    states = [n for n in functions.names[: functions.n_states] if not n.endswith(".dot")]
    replay = (
        None if audit.replay is None else audit.replay.at(np.clip(phase.t, *phase.nodes[[0, -1]]))
    )
    for name in dict.fromkeys((*states, *phase.inputs)):
        curves = [Curve("optimum", phase.t, phase[name])]
        replayed = replay is not None and name in states
        if replay is not None and replayed:
            curves.append(Curve("replay", phase.t, replay[name]))
        if name in functions.names:
            j = functions.names.index(name)
            limits = {"lower bound": functions.lower[j], "upper bound": functions.upper[j]}
            curves += [
                Curve(text, phase.t, np.full(len(phase.t), x))
                for text, x in limits.items()
                if np.isfinite(x)
            ]
        panels.append(Panel(escape(name), tuple(curves), coinciding=replayed))
        apart = Panel("", tuple(curves[:2])).differences(f"{escape(name)}: replay less optimum")
        if replayed and apart is not None:
            panels.append(apart)
    return panels
