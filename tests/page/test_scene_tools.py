"""What a page offers around its scene: SVG, arrows with values, energy bars, runs kept in the
plots.
"""

from __future__ import annotations

import xml.etree.ElementTree as ET

import pytest
from test_trial import Tried

import dalembert as da
from dalembert import gallery

SIZE = {"width": 1280, "height": 900}


@pytest.fixture
def visit(browser, tmp_path):
    entry = gallery.entry("double-pendulum")
    run = da.simulate(entry.build(), 2.0, start=dict(entry.start), progress=False)
    context = browser.new_context(
        viewport=SIZE, offline=True, reduced_motion="reduce", accept_downloads=True
    )
    yield Tried(context, run.view().save(tmp_path / "run.html"))
    context.close()


@pytest.mark.slow
def test_the_scene_is_saved_as_svg(visit, tmp_path):
    visit.page.locator("#player .view summary").click()
    with visit.page.expect_download() as download:
        visit.page.locator("[data-take=svg]").click()
    file = tmp_path / "scene.svg"
    download.value.save_as(file)
    root = ET.parse(file).getroot()
    paths = root.findall("{http://www.w3.org/2000/svg}path")
    assert len(paths) > 200
    assert not any("NaN" in p.get("d") for p in paths)
    # the scene itself is drawn again afterwards
    visit.painted()
    assert visit.do("stage.renderer instanceof Renderer")
    assert [] == visit.said


@pytest.mark.slow
def test_arrows_have_values_and_names_stay_apart(visit):
    visit.page.locator("#player .view summary").click()
    for kind in ("arrows", "velocities", "labels"):
        visit.page.locator(f"[data-show={kind}]").check()
    visit.painted()
    shown = visit.do(
        "[...document.querySelectorAll('.labels .value')].filter(s => !s.hidden)"
        ".map(s => s.textContent)"
    )
    assert "9.81" in shown
    assert [] == visit.said


@pytest.mark.slow
def test_energy_bars_and_runs_that_are_kept(visit):
    visit.give("alpha", "0.6")
    visit.settled()
    visit.page.locator(".pin").click()
    visit.give("alpha", "0.3")
    visit.settled()
    assert ["α = 0.6 ×"] == visit.page.locator(".pins li").all_inner_texts()
    visit.page.locator(".plot[data-plot]").first.scroll_into_view_if_needed()
    visit.until("document.querySelector('.curve.pinned0') !== null")
    # K + V of the bars is the energy of the motion that is shown
    visit.do("clock.set(1.0)")
    K, V, size, E = visit.do(
        "(() => { const b = trial.energyBars, h = b.bars.map(x => parseFloat(x.fill.style.height));"
        " const e = trial.values('C'), zero = b.bars[1].zero;"
        " return [h[0], h[1], b.size, valueAt(e.t, e.v, 1.0) - zero]; })()"
    )
    assert (K + V) / 100 * size == pytest.approx(E, rel=1e-3)
    visit.page.get_by_label("Remove the pinned run α = 0.6").click()
    assert [] == visit.page.locator(".pins li").all_inner_texts()
    assert [] == visit.said
