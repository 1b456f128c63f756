"""The panel "Try it" in a real browser: every wait is for a condition."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parent))
from browsing import Visit

import dalembert as da
from dalembert import gallery
from dalembert.interface.page.simulator.outputs import reaction_offsets

SIZE = {"width": 1280, "height": 900}


class Tried(Visit):
    """A page whose panel is ready."""

    def __init__(self, context, file, *, ready=True):
        super().__init__(context, file)
        if ready:
            self.page.wait_for_selector("#trial[data-ready=yes]")

    def field(self, name):
        return self.page.get_by_label(name, exact=True)

    def settled(self):
        self.until("trial.shown === trial.id && trial.id > 0")

    def give(self, name, text):
        self.field(name).fill(text)

    def faults(self):
        return [text for text in self.page.locator(".fault").all_inner_texts() if text]


@pytest.fixture
def visit(browser, disk_file):
    context = browser.new_context(viewport=SIZE, offline=True, reduced_motion="reduce")
    yield Tried(context, disk_file)
    context.close()


def test_another_start_moves_as_python_does_and_the_address_keeps_it(visit, disk, browser):
    visit.give("theta", "1.0")
    visit.give("m", "2")
    visit.settled()
    run = da.simulate(
        disk.system, 4.0, start={"theta": 1.0, "psi.dot": 6.0}, values={"m": 2.0}, progress=False
    )
    t, x = visit.do(
        "(() => { const f = trial.values('q:0'); return [Array.from(f.t), Array.from(f.v)]; })()"
    )
    assert run.at(np.array(t))["x"] == pytest.approx(np.array(x), abs=1e-8)
    # reactions come later
    visit.until("document.querySelector('#trial').dataset.reactions === String(trial.id)")
    t, f = visit.do(
        "(() => { const f = trial.values('f:2'); return [Array.from(f.t), Array.from(f.v)]; })()"
    )
    ((name, what),) = (key for key, place in reaction_offsets(run.reactions).items() if place == 0)
    assert "force" == what
    loads = run.at(np.array(t)).reactions
    assert {**loads.joints, **loads.rows}[name].force[:, 2] == pytest.approx(np.array(f), rel=1e-6)
    # scene and plots follow, the recorded run stays beside them
    assert visit.do("stage.ghost !== null && stage.t.length === trial.result.frames.t.length")
    # a plot is drawn again when it is on the screen
    visit.page.locator("#group-0 .plot").first.scroll_into_view_if_needed()
    visit.until(
        "document.querySelector('#group-0 .plot').querySelectorAll('.curve.pale').length === 1"
    )
    assert "in" in visit.page.locator(".status-line").inner_text()
    assert "#try?Start.theta=1&Constants.m=2" == visit.do("location.hash")
    again = visit.page.context.new_page()
    again.goto(visit.page.url)
    again.wait_for_selector("#trial[data-ready=yes]")
    assert "1" == again.get_by_label("theta", exact=True).input_value()
    again.close()
    visit.page.get_by_role("button", name="Back to the recorded run").click()
    visit.settled()
    assert visit.do("stage.ghost === null && trial.result === null")
    assert "" == visit.do("location.hash")
    assert [] == visit.said


@pytest.mark.each_time(2)
@pytest.mark.parametrize(
    ("name", "text", "sentence"),
    [
        ("m", "0", "a mass must be positive"),
        ("m", "-1", "a mass must be positive"),
        ("theta", "up", "“up” is not a number"),
        ("theta", "", "is not a number"),
        ("theta", "NaN", "is not a number"),
        ("theta", "1e999", "must be a finite number"),
        ("duration", "1e9", "a page follows at most 400 s"),
        ("duration", "-1", "a run goes forward in time"),
        ("tolerance", "5", "give a tolerance between"),
    ],
)
def test_nonsense_gets_a_sentence_and_the_last_run_stays(visit, name, text, sentence):
    visit.give("psi.dot", "5")
    visit.settled()
    before = visit.do("trial.result.count")
    visit.give(name, text)
    visit.until("[...document.querySelectorAll('.fault')].some(p => p.textContent)")
    assert sentence in visit.faults()[0]
    assert before == visit.do("trial.result.count")
    assert "true" == visit.field(name).get_attribute("aria-invalid")
    assert [] == visit.said


@pytest.mark.slow
def test_a_run_with_another_number_leaves_the_sentence_beside_nonsense(visit):
    visit.give("theta", "up")
    visit.give("m", "2")
    visit.settled()
    assert ["“up” is not a number"] == visit.faults()
    assert [] == visit.said


@pytest.mark.slow
def test_a_field_shows_six_digits_and_all_of_them_while_it_is_edited(visit):
    field = visit.field("theta")
    for number, brief, whole in (
        (1.0471975511965976, "1.0472", "1.0471975511966"),
        (0.00000219325, "2.19325e-6", "0.00000219325"),
        (-0.0617138900142764, "-0.0617139", "-0.0617138900142764"),
        (1.2, "1.2", "1.2"),
    ):
        visit.do(f"trial.put(trial.knobs.find((k) => k.name === 'theta'), {number})")
        assert brief == field.input_value()
        field.focus()
        assert whole == field.input_value()
        field.blur()
        assert brief == field.input_value()
    # what is typed after the tabulator replaces all digits
    visit.do("trial.put(trial.knobs.find((k) => k.name === 'theta'), 1.0471975511965976)")
    visit.page.get_by_label("Reset theta", exact=True).focus()
    visit.page.keyboard.press("Shift+Tab")
    visit.page.keyboard.press("Shift+Tab")
    visit.page.keyboard.type("0.5")
    assert "0.5" == field.input_value()
    field.fill("1/3")
    field.blur()
    assert "1/3" == field.input_value()
    visit.settled()
    visit.page.get_by_label("Reset theta", exact=True).click()
    visit.settled()
    assert visit.do("trial.result === null")
    assert "1.2" == field.input_value()


@pytest.mark.slow
def test_another_address_is_another_setting(visit):
    visit.give("m", "2")
    visit.settled()
    visit.do("location.hash = '#try?Start.theta=1'")
    visit.until("trial.knobs.find(k => k.name === 'theta').now === 1 && trial.shown === trial.id")
    assert "1" == visit.field("m").input_value()
    assert "#try?Start.theta=1" == visit.do("location.hash")


@pytest.mark.slow
def test_the_keyboard_suffices(visit):
    slider = visit.page.get_by_role("slider", name="theta, slider")
    slider.focus()
    visit.page.keyboard.press("ArrowRight")
    visit.settled()
    assert visit.do("trial.result !== null")
    assert [] == visit.said


def test_python_and_csv_of_this_run(visit, disk):
    visit.give("theta", "1")
    visit.settled()
    text = visit.do("trial.python()")
    assert (
        "s = gallery.build('rolling-disk')\nrun = da.simulate(s, 4, start={\"theta\": 1, "
        '"psi.dot": 6}, rtol=1e-9, atol=1e-9)' in text
    )
    with visit.page.expect_download() as download:
        visit.page.get_by_role("button", name="Download this run as CSV").click()
    lines = Path(download.value.path()).read_text(encoding="utf-8").splitlines()
    assert ["t", *disk.run.names] == lines[0].split(",")
    assert [0.0, 0.0, 0.0, 0.0, 1.0] == [float(x) for x in lines[1].split(",")[:5]]


@pytest.mark.slow
def test_one_over_another(visit):
    across, up = (visit.page.get_by_label(f"Quantity {way}") for way in ("across", "up"))
    across.select_option(label="θ")
    up.select_option(index=1)
    assert visit.do("document.querySelectorAll('#phase .curve').length") == 1
    visit.give("theta", "1")
    visit.settled()
    assert visit.do("document.querySelectorAll('#phase .curve').length") == 2


@pytest.fixture
def tried(browser, tmp_path):
    """The panel of a run, by itself."""
    context = browser.new_context(viewport=SIZE, offline=True, reduced_motion="reduce")
    yield lambda run: Tried(context, run.view().save(tmp_path / "run.html"))
    context.close()


def falling():
    """A particle that falls into the centre that attracts it: r = 0 is reached from rest at 1
    after π/√8.
    """
    s = da.System("Fall")
    r, (m, k) = s.coordinate("r"), s.constants(m=1.0, k=1.0)
    s.particle("p", m, s.O.offset(r * s.N.x, "P"))
    s.potential(-k / r)
    return da.simulate(s, 0.8, start={"r": 1.0}, progress=False)


def locking():
    """A crank of length 1 that is turned; its rod, of length l, cannot follow beyond sin t = l."""
    s = da.System("Crank")
    x, (m, l) = s.coordinate("x"), s.constants(m=1.0, l=0.8)
    turn = s.specified("turn", s.t)
    P = s.O.offset(da.cos(turn) * s.N.x + da.sin(turn) * s.N.y, "P")
    Q = s.O.offset(x * s.N.x, "Q")
    s.particle("slider", m, Q)
    s.constrain((Q - P) @ (Q - P) - l**2, name="rod")
    return da.simulate(s, 0.5, start={}, guess={"x": 2.0}, progress=False)


@pytest.mark.each_time(1)
@pytest.mark.parametrize(
    ("build", "end", "why"),
    [(falling, 1.1107, "stopped at t = 1.11"), (locking, 0.9273, "stopped at t = 0.927")],
)
def test_a_run_that_cannot_go_on_shows_the_motion_so_far(tried, build, end, why):
    visit = tried(build())
    visit.give("duration", "3")
    visit.settled()
    said = visit.page.locator(".status-line").inner_text()
    assert why in said.lower()
    assert "The motion so far is shown" in said
    assert end == pytest.approx(visit.do("trial.result.frames.t.at(-1)"), abs=2e-4)
    assert visit.do(
        "clock.last === trial.result.frames.t.at(-1) && stage.t.length === "
        "trial.result.frames.t.length"
    )
    assert [] == visit.said


@pytest.mark.slow
def test_what_cannot_be_is_said_beside_the_field(tried):
    entry = gallery.entry("four-bar")
    visit = tried(da.simulate(entry.build(), 0.5, start=dict(entry.start), progress=False))
    visit.give("theta_1", "0.7")
    visit.settled()
    before = visit.do("trial.result.count")
    for name, text, sentence in (
        ("l_1", "100", "no position satisfies"),
        ("rho", "0", "a mass must be positive"),
    ):
        value = visit.field(name).input_value()
        visit.give(name, text)
        visit.until("[...document.querySelectorAll('.fault')].some(p => p.textContent)")
        assert (
            sentence
            in visit.page.locator(".knob", has=visit.field(name)).locator(".fault").inner_text()
        )
        assert before == visit.do("trial.result.count")
        visit.give(name, value)
        visit.until("![...document.querySelectorAll('.fault')].some(p => p.textContent)")
        visit.settled()
    assert [] == visit.said


def test_a_ball_bounces_in_the_page(tried):
    entry = gallery.entry("bouncing-ball")
    s = entry.build()
    visit = tried(da.simulate(s, 2.0, start={"h": 0.3}, events=entry.events, progress=False))
    visit.give("restitution of table", "0.5")
    visit.settled()
    run = da.simulate(
        s, 2.0, start={"h": 0.3}, events=[da.impact("h", 0.5, name="table")], progress=False
    )
    t, h = visit.do(
        "(() => { const f = trial.values('q:0'); return [Array.from(f.t), Array.from(f.v)]; })()"
    )
    assert run.at(np.array(t))["h"] == pytest.approx(np.array(h), abs=1e-7)
    assert (
        f"“table” (impact) {len(run.events)} times, first at t = 0.355126"
        in visit.page.locator(".status-line").inner_text()
    )
    assert "events=[da.impact('h', 0.5, name='table')]" in visit.do("trial.python()")
    visit.give("restitution of table", "1.5")
    visit.until("[...document.querySelectorAll('.fault')].some(p => p.textContent)")
    assert "it must lie between 0 (no rebound) and 1 (nothing lost)" in visit.faults()[0]
    assert [] == visit.said


@pytest.mark.each_time(1)
@pytest.mark.parametrize("missing", ["WebAssembly", "Worker"])
def test_what_a_browser_lacks_is_said(browser, disk_file, missing):
    context = browser.new_context(viewport=SIZE, offline=True)
    context.add_init_script(f"delete window.{missing}; window.{missing} = undefined;")
    visit = Tried(context, disk_file, ready=False)
    assert {"WebAssembly": "WebAssembly", "Worker": "workers"}[missing] in visit.page.locator(
        "#trial .status-line"
    ).text_content()
    assert "the recorded run is shown" in visit.page.locator("#trial .status-line").text_content()
    assert [] == visit.said
    context.close()


@pytest.mark.slow
def test_without_webgl_runs_go_on_and_a_drawing_is_shown(browser, disk_file):
    context = browser.new_context(viewport=SIZE, offline=True)
    context.add_init_script("HTMLCanvasElement.prototype.getContext = () => null;")
    visit = Tried(context, disk_file)
    said = visit.page.get_by_text(
        "3D needs WebGL, which this browser does not offer: a drawing of the start is shown."
    )
    assert said.is_visible()
    visit.give("theta", "1")
    visit.settled()
    assert [] == visit.said
    context.close()


@pytest.mark.slow
def test_every_control_is_reached_by_the_tabulator(visit):
    controls = (
        "[...document.querySelectorAll('#trial input, #trial button')].filter(e => "
        "e.offsetParent && !e.disabled)"
    )
    visit.field("theta").focus()
    while visit.do(f"document.activeElement !== {controls}[0]"):
        visit.page.keyboard.press("Shift+Tab")
    for k in range(1, visit.do(f"{controls}.length")):
        visit.page.keyboard.press("Tab")
        assert visit.do(f"document.activeElement === {controls}[{k}]")
        assert visit.do(
            "Boolean(document.activeElement.getAttribute('aria-label') || "
            "document.activeElement.textContent)"
        )


MARKUP = """<b>x</b> &lt; </script><script>window.pwned = 1</script> "q" 'r' ${1}"""


@pytest.mark.slow
def test_names_that_look_like_markup_are_shown_as_they_are(browser, tmp_path):
    s = da.System(MARKUP, gravity=9.81)
    theta, (m, l) = s.coordinate("theta"), s.constants(m=1.0, l=0.5)
    R = s.N.rotated(theta, s.N.z, MARKUP)
    P = s.O.offset(l * R.x, MARKUP)
    s.particle(MARKUP, m, P)
    s.force(m * s.N.x, at=P, name=f"{MARKUP} wind")
    file = tmp_path / "page.html"
    da.write_report(
        s, file, duration=1, start={"theta": 0.3}, events=[da.event("theta", name=MARKUP)]
    )
    context = browser.new_context(viewport=SIZE, offline=True, reduced_motion="reduce")
    visit = Tried(context, file)
    assert MARKUP == visit.page.locator("h1").inner_text()
    assert visit.do(
        "window.pwned === undefined && ![...document.querySelectorAll('b')].some(b => "
        "b.textContent === 'x')"
    )
    visit.give("theta", "0.4")
    visit.settled()
    assert f"“{MARKUP}”" in visit.page.locator("#trial .status-line").inner_text()
    assert visit.do("window.pwned === undefined")
    assert [] == visit.said
    context.close()


@pytest.mark.slow
def test_the_module_is_small(disk_page):
    code = disk_page.split('id="module">')[1].split("</script>")[0]
    live = disk_page.split('id="live">')[1].split("</script>")[0]
    assert len(code) + len(json.dumps(live)) < 60_000
