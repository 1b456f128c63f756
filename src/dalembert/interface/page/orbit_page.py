"""One page of a periodic motion: the orbit animated in a loop, its coordinates over a period, its
multipliers in the unit circle, and the bifurcation diagram of its family.
"""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np

from dalembert.analysis.periodic.plotting import family_figure, multiplier_figure
from dalembert.interface.page.data_blocks import data_block, scene_data
from dalembert.interface.page.html_elements import (
    html_document,
    inline_svg,
    page_header,
    scientific,
    section,
    table,
)
from dalembert.interface.page.parts.motion import arrow_legend, coordinates, player
from dalembert.interface.page.scene import build_scene, sample_frames
from dalembert.interface.page.svg_drawing import draw_scene, svg
from dalembert.interface.page.time_plots import Plots
from dalembert.interface.page.typeset_symbols import symbol_html
from dalembert.symbolic.algebra.printing.symbol_names import unicode_name

if TYPE_CHECKING:
    from dalembert.analysis.periodic.family import Family
    from dalembert.analysis.periodic.orbit import PeriodicOrbit


def orbit_document(orbit: PeriodicOrbit, family: Family | None, quantity: Any) -> str:
    """The HTML text; with a family also its diagram and special points."""
    name, run = orbit.system.name, orbit.run(_periods(orbit))
    even = sample_frames(run)
    drawn, plots = build_scene(even), Plots.of_run(run)
    still = svg(draw_scene(drawn, 0, 900, 460), f"{name} at the start of a period")
    parts = [
        section("motion", "Motion", player(still, plots, arrow_legend(drawn, run.system)))
        + plots.grid(coordinates(run, even)),
        section("multipliers", "Floquet multipliers", *_multipliers(orbit)),
    ]
    titles = [("motion", "Motion"), ("multipliers", "Multipliers")]
    if family is not None:
        parts.append(section("family", "Family", *_family(family, quantity)))
        titles.append(("family", "Family"))
    links = "".join(f'<a href="#{identity}">{words}</a>' for identity, words in titles)
    head = f"<h1>{escape(name)}: periodic motion</h1>{_summary(orbit)}"
    body = f"{page_header(name, links)}<main>{head}{''.join(parts)}</main>"
    data = f"{data_block('plots', plots.json_data())}{data_block('scene', scene_data(drawn))}"
    return html_document(f"{name} · periodic motion · dalembert", f"{body}{data}")


def _periods(orbit: PeriodicOrbit) -> int:
    """Two where the motion closes after a map that is its own inverse; else one."""
    shooting = orbit.shooting
    if shooting is None or shooting.closing.map is None:
        return 1
    t0, x = shooting.flow.given.t0, orbit.x0
    once = shooting.closing.map(x, t0)[0]
    twice = shooting.closing.map(once, t0)[0]
    return 2 if np.allclose(twice, x, rtol=1e-9, atol=1e-9) else 1


def _error(before: str, error: float) -> str:
    """An error estimate, if there is one."""
    return f"{before}{scientific(error)}" if np.isfinite(error) else ""


def _summary(orbit: PeriodicOrbit) -> str:
    """Period, stability, energy, constants and the start."""
    tape = orbit.system.space.tape
    rows = [
        ["period", f"{orbit.period:.12g}{_error(' ± ', orbit.period_error)}"],
        ["stability", escape(orbit.stability)],
    ]
    if orbit.energy is not None:
        rows.append(["energy", f"{orbit.energy:.12g}"])
    listed = {
        "initial conditions": orbit.start,
        "constants": orbit.constants,
        "advance in a period": {k: v for k, v in orbit.advance.items() if v},
    }
    for title, numbers in listed.items():
        if numbers:
            text = ", ".join(f"{symbol_html(tape, k)} = {v:.9g}" for k, v in numbers.items())
            rows.append([title, text])
    rows += [["note", escape(note)] for note in orbit.notes]
    return table(("", ""), rows)


def _multipliers(orbit: PeriodicOrbit) -> list[str]:
    """The unit circle, a table of the values, and the names of those that are one."""
    rows = [
        [
            f"{m.real:.9g}" + (f" {'−' if m.imag < 0 else '+'} {abs(m.imag):.9g} i" * bool(m.imag)),
            f"{abs(m):.9g}",
        ]
        for m in np.asarray(orbit.multipliers, dtype=complex)
    ]
    rows += [[f"1, exactly: {escape(name)}", "1"] for name in orbit.unit_multipliers]
    error = (
        f"<p>Values to {scientific(orbit.multiplier_error)}; the motion is {orbit.stability}.</p>"
    )
    picture = inline_svg(multiplier_figure(orbit), "multipliers")
    return [f'<figure class="study">{picture}</figure>', table(("μ", "|μ|"), rows), error]


def _family(family: Family, quantity: Any) -> list[str]:
    """The diagram with letters, the special points, and why the family ends."""
    picture = inline_svg(family_figure([family], quantity), "family")
    rows = [[m.letter, m.kind, f"{m.value:.12g}", f"{m.orbit.period:.9g}"] for m in family.marks]
    head = ("", "special point", unicode_name(family.parameter), "period")
    points = table(head, rows) if rows else "<p>No special points.</p>"
    ends = "".join(f"<p>End of the family: {escape(why)}.</p>" for why in family.ends if why)
    return [f'<figure class="study">{picture}</figure>', points, ends]
