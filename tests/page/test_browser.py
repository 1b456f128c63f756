"""The page in a real browser, from a file and without a network."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
from browsing import Visit

DESKTOP, PHONE = {"width": 1280, "height": 900}, {"width": 390, "height": 844}


@pytest.fixture
def visit(browser, disk_file):
    context = browser.new_context(viewport=DESKTOP, offline=True, reduced_motion="reduce")
    yield Visit(context, disk_file)
    context.close()


def test_it_loads_from_a_file_without_a_network_and_without_a_word(visit):
    visit.painted()
    assert [] == visit.said
    assert [visit.file.as_uri()] == [
        url for url in visit.asked if not url.startswith(("data:", "blob:"))
    ]
    assert visit.do("document.querySelector('.stage').classList.contains('live')")
    visit.picture("desktop")


@pytest.mark.slow
def test_the_switch_shows_one_principle_at_a_time_each_with_its_formulas(visit, disk):
    page = visit.page
    for d in disk.derivations:
        page.get_by_role("tab", name=d.principle.title).click()
        page.wait_for_selector(f"#principle-{d.principle.name} .formula math")
        assert [f"principle-{d.principle.name}"] == visit.do(
            "[...document.querySelectorAll('.panel')].filter(p => !p.hidden).map(p => p.id)"
        )
        box = page.locator(f"#principle-{d.principle.name} .formula math").first.bounding_box()
        assert box["width"] > 60
        assert box["height"] > 20
    # and with the keyboard: from the last to the first
    page.keyboard.press("ArrowRight")
    assert f"principle-{disk.derivations[0].principle.name}" == visit.do(
        "document.querySelector('.panel:not([hidden])').id"
    )
    assert [] == visit.said


@pytest.mark.slow
def test_steps_unfold(visit):
    page = visit.page
    step = page.locator("#principle-kane details", has_text="Partial velocities").first
    assert not step.locator("math").first.is_visible()
    step.locator("summary").click()
    step.locator("math").first.wait_for(state="visible")
    step.scroll_into_view_if_needed()
    visit.picture("steps")


@pytest.mark.slow
def test_a_printed_page_shows_the_derivation_and_folds_it_again(visit):
    step = visit.page.locator("#principle-kane details", has_text="Partial velocities").first
    visit.page.emulate_media(media="print")
    assert step.locator("summary").is_visible()
    visit.do("dispatchEvent(new Event('beforeprint'))")
    step.locator("math").first.wait_for(state="visible")
    assert 0 == visit.do("document.querySelectorAll('details:not([open])').length")
    visit.do("dispatchEvent(new Event('afterprint'))")
    visit.page.emulate_media(media="screen")
    assert not step.locator("math").first.is_visible()
    assert [] == visit.said


@pytest.mark.slow
def test_a_formula_is_copied_as_latex(browser, disk_file):
    context = browser.new_context(
        viewport=DESKTOP, offline=True, permissions=["clipboard-read", "clipboard-write"]
    )
    visit = Visit(context, disk_file)
    visit.page.locator("#principle-kane .copy").first.click()
    visit.page.wait_for_selector("#principle-kane .copy:has-text('copied')")
    copied = visit.do("navigator.clipboard.readText()")
    assert r"\ddot{\varphi}" in copied or r"\ddot{\phi}" in copied
    assert r"\frac" in copied
    context.close()


def test_play_pause_slider_and_plots_share_one_clock(visit):
    page = visit.page
    page.locator("#player").scroll_into_view_if_needed()
    assert "t = 0.00" == page.locator("#player .clock").text_content()
    # slowly, so that it is still playing when a busy machine comes back to it
    page.locator("#player .speed").select_option("0.1")
    page.get_by_role("button", name="Play").first.click()
    visit.until("clock.time > 0.01")
    page.locator("#player").get_by_role("button", name="Pause").click()
    played = visit.do("clock.time")
    assert 0.01 < played < 4
    visit.painted()
    assert played == visit.do("clock.time")
    # the slider moves animation, cursor and values
    page.locator("#player input[type=range]").evaluate(
        "e => { e.value = 2; e.dispatchEvent(new Event('input')); }"
    )
    assert "t = 2.00" == page.locator("#player .clock").text_content()
    assert 2 == visit.do("stage.time")
    page.locator(".field").first.scroll_into_view_if_needed()
    visit.until(
        "document.querySelector('.plot[data-plot]').style.getPropertyValue('--at') === '0.5'"
    )
    # and a plot moves the slider
    box = page.locator(".field").first.bounding_box()
    page.mouse.click(box["x"] + 0.25 * box["width"], box["y"] + 40)
    assert 1.0 == pytest.approx(visit.do("clock.time"), abs=0.02)
    assert 1.0 == pytest.approx(
        float(page.locator("#player input[type=range]").input_value()), abs=0.02
    )
    cursor = page.locator(".cursor").first.bounding_box()
    assert box["x"] + 0.25 * box["width"] == pytest.approx(cursor["x"], abs=3)
    visit.painted()
    visit.picture("motion")
    assert [] == visit.said


@pytest.mark.slow
def test_values_at_the_cursor_are_those_of_the_run(visit, disk):
    visit.page.locator(".field").first.scroll_into_view_if_needed()
    # values are written once the plot has been seen
    visit.until("document.querySelector('#group-0 output').textContent !== ''")
    visit.do("clock.set(1.5)")
    shown = [
        float(text.replace("−", "-"))
        for text in visit.page.locator("#group-0 output").all_inner_texts()[:2]
    ]
    assert [disk.run.at(1.5)["x"][0], disk.run.at(1.5)["y"][0]] == pytest.approx(shown, rel=2e-3)


def test_the_scene_is_drawn_and_moves(visit):
    visit.page.locator("#player").scroll_into_view_if_needed()
    pixels = """(() => {
        stage.paint();
        const g = stage.renderer.gl, w = g.drawingBufferWidth, h = g.drawingBufferHeight,
          p = new Uint8Array(4 * w * h);
        g.readPixels(0, 0, w, h, g.RGBA, g.UNSIGNED_BYTE, p);
        let n = 0, s = 0;
        for (let i = 0; i < p.length; i += 4) if (p[i + 3] > 250) { n++; s += p[i + 2] * (i % 997);
          }
        return [n / (w * h), s];
    })()"""
    first = visit.do(pixels)
    assert first[0] > 0.01, "no solid is in the picture"
    visit.do("clock.set(1.3)")
    assert first[1] != visit.do(pixels)[1]
    visit.page.locator("#player canvas").focus()
    before = visit.do("stage.azimuth")
    visit.page.keyboard.press("ArrowLeft")
    assert before != visit.do("stage.azimuth")


@pytest.mark.slow
def test_springs_and_dampers_are_drawn_between_their_ends(browser, tmp_path):
    import dalembert as da

    s = da.System("held block", gravity=9.81)
    x = s.coordinate("x")
    P = s.O.offset(x * s.N.x, "P", s.N)
    s.particle("block", 1, P)
    s.spring(30, s.O, P, rest=0.5)
    s.damper(1, s.O, P)
    context = browser.new_context(viewport=DESKTOP, offline=True, reduced_motion="reduce")
    visit = Visit(
        context, da.write_report(s, tmp_path / "block.html", duration=1.0, start={"x": 1.0})
    )
    # an end that does not move is kept as another kind of array than one that does: no number may
    # be lost on the way
    drawn = visit.do("""(() => {
        const g = stage.renderer.gl, old = g.bufferData, sizes = [];
        g.bufferData = (at, x, how) => {
            if (x instanceof Float32Array) sizes.push([x.length % 3, x.every(Number.isFinite)]);
            old.call(g, at, x, how);
        };
        stage.paint();
        delete g.bufferData;
        return sizes;
    })()""")
    assert len(drawn) >= 2
    assert all(whole == [0, True] for whole in drawn)
    assert [] == visit.said
    context.close()


@pytest.mark.slow
def test_light_and_dark(browser, disk_file):
    context = browser.new_context(
        viewport=DESKTOP, offline=True, color_scheme="dark", reduced_motion="reduce"
    )
    visit = Visit(context, disk_file)
    background = "getComputedStyle(document.body).backgroundColor"
    dark = visit.do(background)
    visit.page.locator("#motion").scroll_into_view_if_needed()
    visit.painted()
    visit.picture("dark")
    visit.page.locator(".theme").click()
    assert dark != visit.do(background)
    assert [] == visit.said
    context.close()


def test_a_phone_shows_all_of_it_without_scrolling_sideways(browser, disk_file):
    context = browser.new_context(
        viewport=PHONE, offline=True, has_touch=True, is_mobile=True, reduced_motion="reduce"
    )
    visit = Visit(context, disk_file)
    assert 390 == visit.do("document.documentElement.scrollWidth")
    visit.picture("phone")
    visit.page.locator("#player").scroll_into_view_if_needed()
    visit.painted()
    assert 390 == visit.do("document.documentElement.scrollWidth")
    visit.picture("phone-motion")
    context.close()


@pytest.mark.slow
def test_the_motion_is_downloaded_as_it_was_computed(visit, disk):
    with visit.page.expect_download() as download:
        visit.page.locator(".download").click()
    lines = Path(download.value.path()).read_text(encoding="utf-8").splitlines()
    assert "rolling-disk.csv" == download.value.suggested_filename
    assert ["t", *disk.run.names] == lines[0].split(",")
    assert len(disk.run) == len(lines) - 1
    assert [disk.run.t[-1], *disk.run.q[-1], *disk.run.u[-1]] == [
        float(x) for x in lines[-1].split(",")
    ]


def test_hostile_names_stay_words_in_the_browser(browser, tmp_path):
    import dalembert as da
    from dalembert.interface.page.report_page import (
        ReportRequest,
        compute_report,
        render_page,
        report_run_options,
    )
    from dalembert.interface.report.system_report import ReportSubject

    name = (
        "</script><script>document.title='broken'</script><img src=x "
        "onerror=\"document.title='broken'\">"
    )
    s = da.System(name, gravity=9.81)
    s.rod(name, s.pin("theta", s.O), mass=1, length=1)
    path = tmp_path / "hostile.html"
    path.write_text(
        render_page(
            compute_report(
                ReportSubject(s, name, name, name),
                ReportRequest(0.5, report_run_options({"theta": 1.0}), f"{name}:f"),
            )
        ),
        encoding="utf-8",
    )
    context = browser.new_context(viewport=DESKTOP, offline=True)
    visit = Visit(context, path)
    visit.page.locator("#player .view summary").click()
    visit.page.locator("[data-show=labels]").click()
    visit.painted()
    assert f"{name} · dalembert" == visit.page.title()
    assert name == visit.page.locator("h1").inner_text()
    assert name in visit.page.locator(".labels span").all_inner_texts()
    assert 0 == visit.page.locator("main img").count()
    assert [] == visit.said
    context.close()


def work(browser, path):
    """Seconds of the processor that the page takes until it can be used; the clock would measure
    what else the machine does.
    """
    context = browser.new_context(viewport=DESKTOP, offline=True)
    visit = Visit(context, path)
    session = context.new_cdp_session(visit.page)
    session.send("Performance.enable")
    metrics = {m["name"]: m["value"] for m in session.send("Performance.getMetrics")["metrics"]}
    assert [] == visit.said
    visit.picture(path.stem)
    context.close()
    return metrics["ProcessTime"]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["spatial-chain-20", "whipple-bicycle"])
def test_large_systems_stay_light_and_quick(browser, tmp_path, name):
    from dalembert import gallery
    from dalembert.gallery import spatial_chain
    from dalembert.interface.page.report_page import (
        ReportRequest,
        compute_report,
        render_page,
        report_run_options,
    )
    from dalembert.interface.report.system_report import ReportSubject

    entry = gallery.entry(name.removesuffix("-20"))
    chain = name.endswith("-20")
    system = spatial_chain.build(20) if chain else entry.build()
    start = {f"q_{i}": 0.3 for i in range(1, 21)} if chain else entry.start
    text = render_page(
        compute_report(
            ReportSubject(system, system.name, entry.source, entry.description),
            ReportRequest(5.0, report_run_options(start)),
        )
    )
    path = tmp_path / f"{name}.html"
    path.write_text(text, encoding="utf-8")
    assert len(text.encode()) < 6e6
    assert min(work(browser, path) for _ in range(3)) < 2.0


@pytest.mark.slow
def test_chromium_is_driven_by_what_the_test_extra_installs():
    assert importlib.util.find_spec("playwright") is not None
